//! Questions: what somebody types, as parts that a text has to hold.

use tidegate_core::text::cut::first_bytes;

use super::fold::{Class, Script, class};
use super::scan::{Found, RunChar, hash, hash_of, scan};

/// Parts beyond these are left out: nobody asks for so much.
pub(super) const MOST_PARTS: usize = 24;

/// Bytes beyond these are left out.
const MOST_BYTES: usize = 4096;

/// A word that says little, unless it is all there is.
const SMALL_WORDS: &str = "a an and are as at be by did do does for from had has have how i in is it its of on or \
    that the their then there this to was we were what when where which who why will with you";

/// Something that a text has to hold: a word, a run of characters, or a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What the index has to hold for it: all of them, or any.
    pub tokens: Vec<String>,
    /// Atoms that stand one after another in a text with it; or any of them.
    pub(crate) atoms: Vec<u64>,
    /// The word as it was typed, where it is one that could go on.
    pub prefix: Option<String>,
    /// Of a name that consists of several words: these, by their stems.
    pieces: Vec<String>,
    /// Whether any token does, and not only all.
    pub any: bool,
}

impl Part {
    pub(crate) fn of(tokens: Vec<String>, atoms: Vec<u64>) -> Part {
        Part { tokens, atoms, prefix: None, pieces: Vec::new(), any: false }
    }

    /// Whether a text with its tokens holds it, and nothing has to stand together for that.
    pub(crate) fn is_where_its_tokens_are(&self) -> bool {
        self.any || self.atoms.len() < 2
    }

    /// The words of a name, one after another: what a longer name may hold of it.
    #[must_use]
    pub fn in_pieces(&self) -> Option<Part> {
        let atoms = self.pieces.iter().map(|piece| hash(piece)).collect();
        (!self.pieces.is_empty()).then(|| Part::of(self.pieces.clone(), atoms))
    }

    /// Any of these words of the index, in place of one that it does not have.
    #[must_use]
    pub fn any_of(tokens: Vec<String>) -> Part {
        let atoms = tokens.iter().map(|token| hash(token)).collect();
        Part { any: true, ..Part::of(tokens, atoms) }
    }
}

/// What somebody looks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// What every text that is found holds.
    pub parts: Vec<Part>,
    /// The same, taken to the letter: runs of several scripts as a whole. Where that is nothing else it is empty.
    pub strict: Vec<Part>,
    /// Sequences that speak for a text.
    pub(crate) phrases: Vec<Vec<u64>>,
}

impl Question {
    /// Reads what somebody typed. Whatever it is: at worst there is nothing to look for.
    pub fn parse(text: &str) -> Question {
        let text = first_bytes(text, MOST_BYTES);
        let mut question = Question::default();
        let mut strict = Vec::new();
        let mut all: Vec<u64> = Vec::new();
        // What stands in quotes belongs together; a quote that is never closed is none.
        let pieces: Vec<&str> = text.split(['"', '“', '”']).collect();
        let quotes = pieces.len() - 1;
        for (place, piece) in pieces.into_iter().enumerate() {
            let quoted = place % 2 == 1 && place < quotes + usize::from(quotes.is_multiple_of(2));
            if quoted {
                let phrase = phrase(piece);
                all.extend(&phrase.atoms);
                if !phrase.atoms.is_empty() {
                    question.parts.push(phrase.clone());
                    strict.push(phrase);
                }
            } else {
                loose(piece, &mut question, &mut strict, &mut all);
            }
        }
        let small: Vec<&str> = SMALL_WORDS.split_whitespace().collect();
        let says_little = |part: &Part| {
            part.pieces.is_empty() && part.prefix.as_deref().is_some_and(|word| small.contains(&word))
        };
        for parts in [&mut question.parts, &mut strict] {
            if parts.iter().any(|part| !says_little(part)) {
                parts.retain(|part| !says_little(part));
            }
            unique(parts);
        }
        if all.len() > 1 && question.parts.len() > 1 {
            question.phrases.push(all);
        }
        if strict != question.parts {
            question.strict = strict;
        }
        question
    }

    /// Whether there is anything to look for.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

fn unique(parts: &mut Vec<Part>) {
    let mut seen: Vec<Vec<u64>> = Vec::new();
    parts.retain(|part| {
        let new = !seen.contains(&part.atoms);
        if new {
            seen.push(part.atoms.clone());
        }
        new
    });
    parts.truncate(MOST_PARTS);
}

/// Everything in quotes, as one part.
fn phrase(text: &str) -> Part {
    let mut part = Part::of(Vec::new(), Vec::new());
    scan(text, |found| match found {
        Found::Run(run) => add_run(run, &mut part),
        Found::Word { whole, .. } => {
            part.tokens.push(whole.to_owned());
            part.atoms.push(hash(whole));
        }
    });
    part.tokens.sort_unstable();
    part.tokens.dedup();
    part.tokens.truncate(MOST_PARTS);
    part
}

fn loose(text: &str, question: &mut Question, strict: &mut Vec<Part>, all: &mut Vec<u64>) {
    scan(text, |found| match found {
        Found::Run(run) => {
            let whole = run_part(run);
            all.extend(&whole.atoms);
            let segments: Vec<&[RunChar]> = run.chunk_by(|one, next| one.script == next.script).collect();
            if segments.len() == 1 {
                question.parts.push(whole.clone());
            } else {
                // Between what is written with Chinese characters, hiragana are endings and particles.
                let says = segments.iter().filter(|segment| segment[0].script != Script::Hiragana);
                question.parts.extend(says.map(|segment| run_part(segment)));
                question.phrases.push(whole.atoms.clone());
            }
            strict.push(whole);
        }
        Found::Word { parts, whole } => {
            all.push(hash(whole));
            let typed = parts.first().zip(parts.last()).and_then(|(first, last)| text.get(first.1..last.2));
            let is_of_word = |c: &char| *c != '_' && class(*c) != Class::Mark;
            let prefix =
                typed.map(|word| word.chars().filter(is_of_word).map(super::fold::of_word).collect());
            let pieces = match parts {
                [_] => Vec::new(),
                parts => parts.iter().map(|(piece, ..)| piece.clone()).collect(),
            };
            let part = Part { prefix, pieces, ..Part::of(vec![whole.to_owned()], vec![hash(whole)]) };
            question.parts.push(part.clone());
            strict.push(part);
        }
    });
}

fn run_part(run: &[RunChar]) -> Part {
    let mut part = Part::of(Vec::new(), Vec::new());
    add_run(run, &mut part);
    part.tokens.sort_unstable();
    part.tokens.dedup();
    part.tokens.truncate(MOST_PARTS);
    part
}

fn add_run(run: &[RunChar], part: &mut Part) {
    part.atoms.extend(run.iter().map(|one| hash_of(one.folded)));
    if let [one] = run {
        part.tokens.push(one.folded.to_string());
    }
    // In a long run not every pair is asked for: each costs time, and that they stand together is seen in the text. The second and
    // every other is: two characters each are often words by themselves, and what says most is how they meet.
    let last = run.len().saturating_sub(2);
    let is_asked = |place: usize| last < 3 || place % 2 == 1 || place == 0 || place == last;
    let asked = run.windows(2).enumerate().filter(|(place, _)| is_asked(*place));
    part.tokens.extend(asked.map(|(_, pair)| [pair[0].folded, pair[1].folded].iter().collect::<String>()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<String> {
        Question::parse(text).parts.iter().map(|part| part.tokens.join("+")).collect()
    }

    #[test]
    fn what_a_question_asks_for() {
        for (text, expected) in [
            ("", vec![]),
            ("?!… \" \"", vec![]),
            ("Tests of the parser", vec!["test", "parser"]),
            ("the", vec!["the"]),
            ("設計", vec!["設計"]),
            ("設", vec!["設"]),
            ("設計書", vec!["計書+設計"]),
            ("設計を変更した理由", vec!["設計", "変更", "理由"]),
            ("まとめ", vec!["とめ+まと"]),
            ("設計変更", vec!["変更+計変+設計"]),
            ("データベース", vec!["デー+ベー+ース+ータ"]),
            ("\"busy timeout\" sqlite", vec!["busy+timeout", "sqlit"]),
            ("an open \"quote", vec!["open", "quot"]),
            ("src/lib.rs", vec!["src", "lib", "rs"]),
            ("fooBar foo_bar", vec!["foobar"]),
            ("a a a", vec!["a"]),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
        let strict = Question::parse("設計を変更").strict;
        assert_eq!(strict.len(), 1);
        assert_eq!(strict[0].tokens.len(), 3);
        assert!(Question::parse("設計 変更").strict.is_empty());
    }

    #[test]
    fn a_question_without_end_is_cut() {
        let long: String = (0..5000).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
        assert_eq!(Question::parse(&long).parts.len(), MOST_PARTS);
        assert!(Question::parse(&"設計".repeat(5000)).parts[0].tokens.len() <= MOST_PARTS);
    }
}

//! Search questions, parsed into parts that a text must contain.

use tidegate_core::text::cut::first_bytes;

use super::fold::{CharClass, Script, class_of};
use super::scan::{RunChar, Scanned, hash_char, hash_word, scan};

/// More parts are ignored.
pub(super) const MOST_PARTS: usize = 24;

/// More bytes are ignored.
const MOST_BYTES: usize = 4096;

/// Ignored unless the question has no other words.
const SMALL_WORDS: &str = "a an and are as at be by did do does for from had has have how i in is it its of on or \
    that the their then there this to was we were what when where which who why will with you";

/// A word, a run of characters or a phrase that a text must contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionPart {
    /// The index must contain all of them, or any if `any` is set.
    pub tokens: Vec<String>,
    /// Must follow each other in the text, or any of them if `any` is set.
    pub(crate) atoms: Vec<u64>,
    /// The word as typed, if it may be the start of a longer one.
    pub prefix: Option<String>,
    /// The stems of the words within a name such as `fooBar`.
    pieces: Vec<String>,
    pub any: bool,
}

impl QuestionPart {
    pub(crate) fn of(tokens: Vec<String>, atoms: Vec<u64>) -> QuestionPart {
        QuestionPart { tokens, atoms, prefix: None, pieces: Vec::new(), any: false }
    }

    /// Whether the tokens suffice as proof, without looking at their order in the text.
    pub(crate) fn is_where_its_tokens_are(&self) -> bool {
        self.any || self.atoms.len() < 2
    }

    /// The words of a name in order: a longer name may contain them.
    #[must_use]
    pub fn in_pieces(&self) -> Option<QuestionPart> {
        let atoms = self.pieces.iter().map(|piece| hash_word(piece)).collect();
        (!self.pieces.is_empty()).then(|| QuestionPart::of(self.pieces.clone(), atoms))
    }

    /// Any of these index words in place of a word that the index does not have.
    #[must_use]
    pub fn any_of(tokens: Vec<String>) -> QuestionPart {
        let atoms = tokens.iter().map(|token| hash_word(token)).collect();
        QuestionPart { any: true, ..QuestionPart::of(tokens, atoms) }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Every hit contains all of these.
    pub parts: Vec<QuestionPart>,
    /// The literal reading, with runs of several scripts kept whole. Empty if it equals `parts`.
    pub strict: Vec<QuestionPart>,
    /// Sequences that raise the score of a text.
    pub(crate) phrases: Vec<Vec<u64>>,
}

impl Question {
    /// Accepts any text; the result may be empty.
    pub fn parse(text: &str) -> Question {
        let text = first_bytes(text, MOST_BYTES);
        let mut question = Question::default();
        let mut strict = Vec::new();
        let mut all: Vec<u64> = Vec::new();
        // Quotes keep words together; an unclosed quote is ignored.
        let pieces: Vec<&str> = text.split(['"', '“', '”']).collect();
        let quotes = pieces.len() - 1;
        for (place, piece) in pieces.into_iter().enumerate() {
            let quoted = place % 2 == 1 && place < quotes + usize::from(quotes.is_multiple_of(2));
            if quoted {
                let phrase = parse_phrase(piece);
                all.extend(&phrase.atoms);
                if !phrase.atoms.is_empty() {
                    question.parts.push(phrase.clone());
                    strict.push(phrase);
                }
            } else {
                parse_words(piece, &mut question, &mut strict, &mut all);
            }
        }
        let small: Vec<&str> = SMALL_WORDS.split_whitespace().collect();
        let says_little = |part: &QuestionPart| {
            part.pieces.is_empty() && part.prefix.as_deref().is_some_and(|word| small.contains(&word))
        };
        for parts in [&mut question.parts, &mut strict] {
            if parts.iter().any(|part| !says_little(part)) {
                parts.retain(|part| !says_little(part));
            }
            drop_duplicates(parts);
        }
        if all.len() > 1 && question.parts.len() > 1 {
            question.phrases.push(all);
        }
        if strict != question.parts {
            question.strict = strict;
        }
        question
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

fn drop_duplicates(parts: &mut Vec<QuestionPart>) {
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

/// Everything within quotes becomes one part.
fn parse_phrase(text: &str) -> QuestionPart {
    let mut part = QuestionPart::of(Vec::new(), Vec::new());
    scan(text, |found| match found {
        Scanned::Run(run) => add_run(run, &mut part),
        Scanned::Word { whole, .. } => {
            part.tokens.push(whole.to_owned());
            part.atoms.push(hash_word(whole));
        }
    });
    part.tokens.sort_unstable();
    part.tokens.dedup();
    part.tokens.truncate(MOST_PARTS);
    part
}

fn parse_words(text: &str, question: &mut Question, strict: &mut Vec<QuestionPart>, all: &mut Vec<u64>) {
    scan(text, |found| match found {
        Scanned::Run(run) => {
            let whole = run_part(run);
            all.extend(&whole.atoms);
            let segments: Vec<&[RunChar]> = run.chunk_by(|one, next| one.script == next.script).collect();
            if segments.len() == 1 {
                question.parts.push(whole.clone());
            } else {
                // Between Chinese characters, hiragana are endings and particles.
                let says = segments.iter().filter(|segment| segment[0].script != Script::Hiragana);
                question.parts.extend(says.map(|segment| run_part(segment)));
                question.phrases.push(whole.atoms.clone());
            }
            strict.push(whole);
        }
        Scanned::Word { parts, whole } => {
            all.push(hash_word(whole));
            let typed = parts.first().zip(parts.last()).and_then(|(first, last)| text.get(first.1..last.2));
            let is_of_word = |c: &char| *c != '_' && class_of(*c) != CharClass::Mark;
            let prefix =
                typed.map(|word| word.chars().filter(is_of_word).map(super::fold::fold_word_char).collect());
            let pieces = match parts {
                [_] => Vec::new(),
                parts => parts.iter().map(|(piece, ..)| piece.clone()).collect(),
            };
            let part = QuestionPart {
                prefix,
                pieces,
                ..QuestionPart::of(vec![whole.to_owned()], vec![hash_word(whole)])
            };
            question.parts.push(part.clone());
            strict.push(part);
        }
    });
}

fn run_part(run: &[RunChar]) -> QuestionPart {
    let mut part = QuestionPart::of(Vec::new(), Vec::new());
    add_run(run, &mut part);
    part.tokens.sort_unstable();
    part.tokens.dedup();
    part.tokens.truncate(MOST_PARTS);
    part
}

fn add_run(run: &[RunChar], part: &mut QuestionPart) {
    part.atoms.extend(run.iter().map(|one| hash_char(one.folded)));
    if let [one] = run {
        part.tokens.push(one.folded.to_string());
    }
    // A long run asks for only some of its pairs: each costs time, and the order is checked in the text. It
    // asks for the first, the last, and every second pair from the second one on: those cross the border
    // between two-character words, which is the most specific.
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

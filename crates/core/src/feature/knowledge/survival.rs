//! The key facts that a summary kept.
//!
//! Paths and names in backticks must occur literally. Of any other fact, two thirds of the content words
//! must, near each other, with all names and numbers, and not with the opposite meaning. This compares words,
//! not meanings. In doubt a fact counts as lost: that costs a line in a note, while the other error costs the
//! fact.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::feature::knowledge::key_facts::{KeyFact, list_facts};
use crate::feature::knowledge::terms::{
    Sense, Term, TermLook, for_each_term, has_small_words, is_japanese, latin_runs, longest_latin_run,
};
use crate::text::japanese::is_hiragana;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Survival {
    /// Number of facts in the context after the compaction.
    pub kept: usize,
    /// Number of facts before it.
    pub of: usize,
    /// In their order.
    pub lost: Vec<KeyFact>,
    /// How many of the lost ones the conversation has again: Tidegate gave them, or the host repeated its list.
    #[serde(skip_serializing_if = "is_zero")]
    pub given_back: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Words of a fact count if they are within this many bytes, or within three times the fact's own length.
const NEAR: usize = 600;

/// Most characters searched backwards for the beginning of a path.
const LONGEST_PATH: usize = 1024;

/// `preserved`: messages that the host kept whole.
pub fn measure_survival(facts: &[KeyFact], summary: &str, preserved: &[&str]) -> Survival {
    let literals = Literals::of(facts);
    let mut words = WantedWords::of(facts);
    let mut found = literals.none_found();
    for part in visible_parts(summary).into_iter().chain(preserved.iter().copied()) {
        literals.look(part, &mut found);
        words.look(part);
    }
    let mut survival = Survival { of: facts.len(), ..Survival::default() };
    for (index, fact) in facts.iter().enumerate() {
        if words.facts[index].kept && literals.all_found(index, &found) {
            survival.kept += 1;
        } else {
            survival.lost.push(fact.clone());
        }
    }
    survival
}

/// The text, and the number of facts in it; empty without lost facts or without room for one.
pub fn lost_note(lost: &[KeyFact], budget_chars: usize) -> (String, usize) {
    const FIRST: &str = "The summary of the compaction lost these facts:";
    list_facts(FIRST, lost, budget_chars).unwrap_or_default()
}

/// The model does not see the analysis, and of the rest only the content of the tags.
fn visible_parts(summary: &str) -> Vec<&str> {
    let (before, after) = match summary.find("<analysis>").and_then(|start| {
        let length = summary[start..].find("</analysis>")?;
        Some((start, start + length + "</analysis>".len()))
    }) {
        Some((start, end)) => (&summary[..start], &summary[end..]),
        None => ("", summary),
    };
    for part in [after, before] {
        if let Some(start) = part.find("<summary>") {
            let inner = &part[start + "<summary>".len()..];
            return vec![inner.rfind("</summary>").map_or(inner, |end| &inner[..end])];
        }
    }
    vec![before, after]
}

/// Texts that must occur literally.
struct Literals<'a> {
    all: Vec<Literal<'a>>,
    /// By the run of letters that is searched in the text.
    by_anchor: BTreeMap<&'a str, Vec<usize>>,
}

struct Literal<'a> {
    fact: usize,
    text: &'a str,
    /// The beginning of the path is unknown.
    open: bool,
    anchor_at: usize,
}

impl<'a> Literals<'a> {
    fn of(facts: &'a [KeyFact]) -> Literals<'a> {
        let mut literals = Literals { all: Vec::new(), by_anchor: BTreeMap::new() };
        for (index, fact) in facts.iter().enumerate() {
            if fact.kind.is_path() {
                literals.add(index, &fact.text);
            } else {
                for name in names_in_backticks(&fact.text) {
                    literals.add(index, name);
                }
            }
        }
        literals
    }

    fn add(&mut self, fact: usize, text: &'a str) {
        let (text, open) = match text.strip_prefix("…/") {
            Some(rest) => (rest, true),
            None => (text.strip_prefix("./").unwrap_or(text), false),
        };
        let text = text.trim_end_matches('/');
        // Without a letter or digit there is nothing to search for.
        let Some((anchor_at, anchor)) = longest_latin_run(text) else { return };
        self.by_anchor.entry(anchor).or_default().push(self.all.len());
        self.all.push(Literal { fact, text, open, anchor_at });
    }

    fn none_found(&self) -> Vec<bool> {
        vec![false; self.all.len()]
    }

    fn look(&self, text: &str, found: &mut [bool]) {
        if self.all.is_empty() {
            return;
        }
        for (at, run) in latin_runs(text) {
            let Some(candidates) = self.by_anchor.get(run) else { continue };
            for &index in candidates {
                found[index] = found[index] || self.all[index].stands(text, at);
            }
        }
    }

    fn all_found(&self, fact: usize, found: &[bool]) -> bool {
        self.all.iter().zip(found).all(|(literal, found)| literal.fact != fact || *found)
    }
}

impl Literal<'_> {
    /// Whether it occurs in `text` with its anchor at `at`, and neither inside a longer name nor below
    /// another folder.
    fn stands(&self, text: &str, at: usize) -> bool {
        let Some(start) = at.checked_sub(self.anchor_at) else { return false };
        let Some(there) = text.as_bytes().get(start..start + self.text.len()) else { return false };
        let same = there.iter().zip(self.text.bytes()).all(|(a, b)| *a == b || (*a == b'\\' && b == b'/'));
        same && self.may_begin(&text[..start]) && may_end(&text[start + self.text.len()..])
    }

    fn may_begin(&self, before: &str) -> bool {
        match before.chars().next_back() {
            Some('/' | '\\') => self.open || begins_at_a_root(before),
            Some(c) => {
                // Without spaces the beginning of a Japanese name is unknown, but a particle is not part of
                // it.
                let own = self.text.chars().next().is_some_and(is_japanese);
                if is_japanese(c) { !own || is_hiragana(c) } else { !in_a_name(c) }
            }
            None => true,
        }
    }
}

/// Whether `before` begins a whole path, which may be the same file as a relative one.
fn begins_at_a_root(before: &str) -> bool {
    let from = before
        .char_indices()
        .rev()
        .take(LONGEST_PATH)
        .find(|(_, c)| !(in_a_name(*c) || matches!(c, '/' | '\\' | '~' | '$' | ':' | '{' | '}')))
        .map_or(0, |(at, c)| at + c.len_utf8());
    let path = &before[from..];
    let drive = path.as_bytes().get(1) == Some(&b':');
    drive || path == "./" || path == ".\\" || path.starts_with(['/', '~', '$'])
}

fn may_end(after: &str) -> bool {
    let mut chars = after.chars();
    let goes_on = |c: Option<char>| c.is_some_and(|c| in_a_name(c) && c != '.');
    match chars.next() {
        Some('.' | '/' | '\\' | '-') => !goes_on(chars.next()),
        next => !goes_on(next),
    }
}

fn in_a_name(c: char) -> bool {
    matches!(c, '.' | '-' | '_' | '+' | '@') || (c.is_alphanumeric() && !is_japanese(c))
}

/// Single words in backticks: a name, a path, a flag. A whole command can be said in other words.
fn names_in_backticks(text: &str) -> impl Iterator<Item = &str> {
    let inside = text.split('`').skip(1).step_by(2);
    let closed = text.bytes().filter(|byte| *byte == b'`').count() / 2;
    inside.take(closed).filter(|name| !name.is_empty() && !name.contains(char::is_whitespace))
}

/// The words of all facts, and where they were seen.
struct WantedWords {
    facts: Vec<FactWords>,
    by_word: BTreeMap<String, Vec<(usize, usize)>>,
}

struct FactWords {
    words: Vec<FactWord>,
    total: u32,
    near: usize,
    kept: bool,
    /// Hits near the last one.
    recent: VecDeque<WordHit>,
}

struct FactWord {
    weight: u32,
    must: bool,
    sense: Sense,
    /// Number of recent hits, by agreement.
    hits: [u32; 3],
}

struct WordHit {
    at: usize,
    word: usize,
    agreement: usize,
}

/// 2 for the same sense, 0 for the opposite.
fn agreement(a: Sense, b: Sense) -> usize {
    match (a, b) {
        _ if a == b => 2,
        (Sense::Either, _) | (_, Sense::Either) => 1,
        _ => 0,
    }
}

impl WantedWords {
    fn of(facts: &[KeyFact]) -> WantedWords {
        let mut wanted = WantedWords { facts: Vec::new(), by_word: BTreeMap::new() };
        for fact in facts {
            let mut words = Vec::new();
            if !fact.kind.is_path() {
                wanted.words(&fact.text, &mut words);
            }
            wanted.facts.push(FactWords {
                total: words.iter().map(|word| word.weight).sum(),
                near: NEAR.max(fact.text.len() * 3),
                kept: words.is_empty(),
                recent: VecDeque::new(),
                words,
            });
        }
        wanted
    }

    fn words(&mut self, text: &str, words: &mut Vec<FactWord>) {
        let fact = self.facts.len();
        let capitals_are_names = capitals_are_names(text);
        for_each_term(text, |term| {
            // A name must occur whole, so its parts add nothing.
            if term.look == TermLook::Part {
                return;
            }
            let places = self.by_word.entry(term.word.to_owned()).or_default();
            let known = places.iter().find(|(of, _)| *of == fact).map(|(_, word)| *word);
            let word = known.unwrap_or(words.len());
            if known.is_none() {
                places.push((fact, word));
                words.push(FactWord { weight: term.weight, must: false, sense: term.sense, hits: [0; 3] });
            }
            let word = &mut words[word];
            if word.sense != term.sense {
                word.sense = Sense::Either;
            }
            word.must |= match term.look {
                TermLook::Name | TermLook::Number => true,
                TermLook::Capital | TermLook::Capitals => capitals_are_names,
                TermLook::Plain | TermLook::Part => false,
            };
        });
    }

    fn look(&mut self, text: &str) {
        let WantedWords { facts, by_word } = self;
        for fact in facts.iter_mut() {
            fact.forget();
        }
        for_each_term(text, |term| {
            if let Some(places) = by_word.get(term.word) {
                for (fact, word) in places {
                    facts[*fact].see(*word, &term);
                }
            }
        });
    }
}

impl FactWords {
    fn forget(&mut self) {
        self.recent.clear();
        for word in &mut self.words {
            word.hits = [0; 3];
        }
    }

    fn see(&mut self, word: usize, term: &Term<'_>) {
        if self.kept {
            return;
        }
        while let Some(first) = self.recent.front().filter(|first| first.at + self.near < term.at) {
            self.words[first.word].hits[first.agreement] -= 1;
            self.recent.pop_front();
        }
        let wanted = &mut self.words[word];
        let agreement = agreement(wanted.sense, term.sense);
        wanted.hits[agreement] += 1;
        let new = wanted.hits[agreement] == 1;
        self.recent.push_back(WordHit { at: term.at, word, agreement });
        if new {
            self.kept = self.stands();
        }
    }

    fn stands(&self) -> bool {
        let (mut there, mut agreeing) = (0, 0);
        for word in &self.words {
            match (0..3).rev().find(|agreement| word.hits[*agreement as usize] > 0) {
                Some(agreement) => {
                    there += word.weight;
                    agreeing += word.weight * agreement;
                }
                None if word.must => return false,
                None => {}
            }
        }
        there * 3 >= self.total * 2 && agreeing >= there
    }
}

/// In a Title Like This, or IN CAPITALS, they say nothing. Among Japanese characters every capital belongs to
/// a name.
fn capitals_are_names(text: &str) -> bool {
    text.chars().any(is_japanese) || has_small_words(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::knowledge::key_facts::{FactKind, FactSources, select_key_facts};
    use proptest::prelude::*;

    #[test]
    fn what_is_lost_is_told_in_order() {
        let fact = |kind, text: &str| KeyFact { kind, text: text.into() };
        let facts = [
            fact(FactKind::Constraint, "no regex crate"),
            fact(FactKind::Decision, "索引は SQLite に置く"),
            fact(FactKind::File, "src/a.rs"),
        ];
        let survival = measure_survival(&facts, "There is no regex crate.", &[]);
        assert_eq!((survival.kept, survival.of), (1, 3));
        assert_eq!(survival.lost, facts[1..]);
        assert_eq!(
            lost_note(&survival.lost, 1000).0,
            "The summary of the compaction lost these facts:\nDecisions in the file progress.md:\n\
             - 索引は SQLite に置く\nFiles edited:\n- src/a.rs"
        );
        assert_eq!(lost_note(&[], 1000), (String::new(), 0));
    }

    proptest! {
        #[test]
        fn a_fact_that_stands_there_is_kept(
            texts in proptest::collection::vec(
                prop_oneof!["\\PC{1,60}", "(not |no |[a-zA-Z_`]{1,9}[ ,./-]|[0-9]{1,4}|設計|ない|トークン|、){1,12}"],
                1..8),
            paths in proptest::collection::vec("(/|\\./|\\.\\./)?([a-zA-Z0-9_設+@ -]{1,8}/){0,3}[a-zA-Z0-9_設計-]{1,8}(\\.[a-z]{1,3})?", 0..4),
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let facts = select_key_facts(&FactSources {
                decisions: texts, files: paths.iter().map(String::as_str).collect(), ..FactSources::default()
            });
            let lines: Vec<String> = facts.iter().map(|fact| format!("- {}\n", fact.text)).collect();
            let summary = format!("Summary:\n\n{}\n- The end.\n", lines.concat());
            prop_assert_eq!(measure_survival(&facts, &summary, &[]).lost, vec![]);
            prop_assert_eq!(measure_survival(&facts, "", &[&summary]).lost, vec![]);
        }

        #[test]
        fn any_text_is_survived(fact in "\\PC{0,40}", summary in "\\PC{0,80}", path in any::<bool>()) {
            let kind = if path { FactKind::File } else { FactKind::Note };
            let facts = [KeyFact { kind, text: fact }];
            let survival = measure_survival(&facts, &summary, &[&summary]);
            prop_assert_eq!(survival.kept + survival.lost.len(), survival.of);
        }
    }
}

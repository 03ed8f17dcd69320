//! From texts that were found to an answer, the same for every store: one result per exchange, nothing that fits badly, and
//! the words that none of the results has.

use std::collections::HashMap;

use tidegate_core::text::japanese::{is_any_kanji, is_hiragana, is_katakana};

use crate::record::relay_of_decision;
use crate::text::{Covered, Fit, Question, keep_relevant};

/// What a text is about, to tell which of them are of one exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Log { uid: String, topic: String },
    Decision { uid: String },
    Topic { topic: String, is_automatic: bool },
    Note,
}

/// A text that was found.
#[derive(Clone, Debug)]
pub(crate) struct Candidate<T> {
    pub(crate) text: T,
    pub(crate) identity: Identity,
    /// Its score has the age and the kind of the text in it.
    pub(crate) fit: Fit,
}

/// What a second text of the same exchange adds to its score.
const SECOND: f64 = 0.15;

/// With this many words, a question is about something else if no text has half of them and the best one has nothing for these.
const WORDS: usize = 3;

/// A word in katakana from this length on is a name or a term.
const LONG_KATAKANA: usize = 4;

/// Best first. `newer` orders equals; `nowhere` has a bit per slot that no text has in any way.
pub(crate) fn settle<T>(
    mut found: Vec<Candidate<T>>,
    limit: usize,
    question: &Question,
    nowhere: u32,
    newer: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Vec<Candidate<T>> {
    join_exchanges(&mut found);
    keep_relevant(&mut found, usize::from(!question.wishes.is_empty()), |candidate| candidate.fit);
    found.sort_by(|one, other| {
        other.fit.score.total_cmp(&one.fit.score).then_with(|| newer(&one.text, &other.text))
    });
    if is_about_something_else(question, nowhere, &found) {
        found.clear();
    }
    found.truncate(limit);
    found
}

/// Whether the question is about a thing that no text has: then what is found has only the words around it.
fn is_about_something_else<T>(question: &Question, nowhere: u32, found: &[Candidate<T>]) -> bool {
    let words: Vec<usize> =
        (0..question.slots.len()).filter(|slot| question.slots[*slot].says_something()).collect();
    let unknown: Vec<usize> = words.iter().copied().filter(|slot| nowhere & 1 << slot != 0).collect();
    let is_eastern = |c: char| is_hiragana(c) || is_katakana(c) || is_any_kanji(c);
    let is_japanese = question.slots.iter().any(|slot| slot.typed.contains(is_eastern));
    // Alone, a name may be written otherwise.
    let may_have_name = question.slots.len() > 1;
    let is_any = |is: &dyn Fn(&str) -> bool| {
        may_have_name && unknown.iter().any(|slot| is(&question.slots[*slot].typed))
    };
    if is_any(&|word| is_name(word, is_japanese)) {
        return true;
    }
    // A text with everything else is worth a look.
    let known: u32 = words.iter().filter(|slot| nowhere & 1 << **slot == 0).map(|slot| 1 << slot).sum();
    if known.count_ones() > 1 && found.iter().any(|one| one.fit.names & known == known) {
        return false;
    }
    // The first word of a question begins with a capital letter anyway.
    let begins_large =
        |slot: &usize| *slot > 0 && question.slots[*slot].typed.starts_with(|c: char| c.is_ascii_uppercase());
    let best = found.first().map_or(0, |one| one.fit.has);
    let missed = unknown.iter().filter(|slot| best & 1 << **slot == 0).count();
    // Katakana may be what the text has in Latin letters.
    is_any(&is_long_katakana)
        || unknown.iter().any(begins_large)
        || words.len() >= WORDS && 2 * missed >= words.len()
}

/// MongoDB, or a word in Latin letters among Japanese ones.
fn is_name(word: &str, is_japanese: bool) -> bool {
    let has_inner_capital = word.chars().skip(1).any(|c| c.is_ascii_uppercase());
    let is_latin = word.is_ascii() && word.contains(|c: char| c.is_ascii_alphabetic());
    has_inner_capital || is_japanese && is_latin
}

/// ドローン
fn is_long_katakana(word: &str) -> bool {
    word.chars().count() >= LONG_KATAKANA && word.chars().all(|c| ('ァ'..='ー').contains(&c))
}

/// A log stands for the decisions that were found in it and for the automatic topic of its session.
fn join_exchanges<T>(found: &mut Vec<Candidate<T>>) {
    let (mut logs, mut topics) = (HashMap::new(), HashMap::new());
    for (place, candidate) in found.iter().enumerate() {
        if let Identity::Log { uid, topic } = &candidate.identity {
            logs.insert(uid.clone(), place);
            topics.insert(topic.clone(), place);
        }
    }
    let mut gone = vec![false; found.len()];
    for place in 0..found.len() {
        let log = match &found[place].identity {
            Identity::Decision { uid } => relay_of_decision(uid).and_then(|relay| logs.get(relay)).copied(),
            Identity::Topic { topic, is_automatic: true } => {
                gone[place] = topics.contains_key(topic);
                None
            }
            _ => None,
        };
        if let Some(log) = log {
            gone[place] = true;
            let (other, fit) = (found[place].fit, found[log].fit);
            found[log].fit = Fit {
                score: fit.score.max(other.score) + SECOND * fit.score.min(other.score),
                coverage: fit.coverage.max(other.coverage),
                has: fit.has | other.has,
                names: fit.names | other.names,
                firm: Covered {
                    coverage: fit.firm.coverage.max(other.firm.coverage),
                    has: fit.firm.has | other.firm.has,
                },
            };
        }
    }
    let mut gone = gone.into_iter();
    found.retain(|_| gone.next() != Some(true));
}

/// The share of the question that the best of these has.
pub(crate) fn best_coverage<T>(shown: &[Candidate<T>]) -> f64 {
    shown.iter().map(|candidate| candidate.fit.coverage).fold(0.0, f64::max)
}

/// Words that none of these has.
pub(crate) fn words_without<T>(question: &Question, shown: &[Candidate<T>]) -> Vec<String> {
    if shown.is_empty() {
        return Vec::new();
    }
    let has = shown.iter().fold(0, |has, candidate| has | candidate.fit.names);
    let mut words: Vec<String> = Vec::new();
    for (place, slot) in question.slots.iter().enumerate() {
        if has & 1 << place == 0 && slot.says_something() && !words.contains(&slot.typed) {
            words.push(slot.typed.clone());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Surroundings;

    fn candidate(name: &'static str, identity: Identity, score: f64, has: u32) -> Candidate<&'static str> {
        let firm = Covered { coverage: 1.0, has };
        let fit = Fit { score, coverage: 1.0, has, names: has, firm };
        Candidate { text: name, identity, fit }
    }

    fn log(uid: &str, topic: &str) -> Identity {
        Identity::Log { uid: uid.to_owned(), topic: topic.to_owned() }
    }

    #[test]
    fn an_exchange_is_one_result() {
        let topic = |topic: &str, is_automatic| Identity::Topic { topic: topic.to_owned(), is_automatic };
        let decision = |uid: &str| Identity::Decision { uid: uid.to_owned() };
        let found = vec![
            candidate("its decision", decision("l:0"), 3.0, 1),
            candidate("log", log("l", "t"), 1.0, 2),
            candidate("its topic", topic("t", true), 9.0, 1),
            candidate("a topic by hand", topic("u", false), 2.0, 1),
            candidate("another decision", decision("m:0"), 1.5, 1),
            candidate("the topic of another session", topic("v", true), 1.0, 1),
        ];
        let shown = settle(found, 10, &Question::default(), 0, |_, _| std::cmp::Ordering::Equal);
        let names: Vec<&str> = shown.iter().map(|one| one.text).collect();
        assert_eq!(names, ["log", "a topic by hand", "another decision", "the topic of another session"]);
        assert_eq!(shown[0].fit.has, 3);
    }

    #[test]
    fn a_question_about_something_else_finds_nothing() {
        let is_shown = |question: &str, nowhere: u32, has: u32| {
            let question = Question::parse(question, Surroundings::default());
            let found = vec![candidate("log", log("l", "t"), 1.0, has)];
            !settle(found, 10, &question, nowhere, |_, _| std::cmp::Ordering::Equal).is_empty()
        };
        assert!(is_shown("deploy xyzzyx", 0b10, 0b01));
        assert!(is_shown("café xyzzyx", 0b10, 0b01), "not Japanese");
        assert!(!is_shown("設計 xyzzyx", 0b10, 0b01));
        assert!(is_shown("deploy of the cache to xyzzyx", 0b100, 0b001));
        assert!(is_shown("deploy of the cache to xyzzyx with plugh", 0b1100, 0b0011), "all the rest");
        assert!(!is_shown("deploy of the cache to xyzzyx with plugh", 0b1100, 0b0001));
        assert!(!is_shown("deploy to MongoDB", 0b10, 0b01));
        assert!(!is_shown("設計とドローン", 0b10, 0b01));
        assert!(is_shown("請求書のピーディーエフ フォント", 0b010, 0b101), "all the rest");
        assert!(!is_shown("設計の xyzzyx", 0b10, 0b01));
        assert!(!is_shown("deploy to Cassandra", 0b10, 0b01));
        assert!(is_shown("deploy of the cache to Cassandra", 0b100, 0b011), "all the rest");
        assert!(is_shown("Cassandra deploy", 0b01, 0b10), "every question begins so");
        assert!(is_shown("MongoDB", 0b1, 0b1), "alone, it may be written otherwise");
    }

    #[test]
    fn what_no_result_has_is_named() {
        let question = Question::parse("the kubernetes memory limit", Surroundings::default());
        let shown = [candidate("log", log("l", "t"), 1.0, 0b110)];
        assert_eq!(words_without(&question, &shown), ["kubernetes"]);
        assert!(words_without::<&str>(&question, &[]).is_empty());
    }
}

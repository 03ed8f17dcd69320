//! What a sentence makes of the one before it.

use crate::text::word_list::among;

/// What a sentence makes of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    /// It is no rule, whatever its form.
    Annuls,
    /// The same, unless this sentence adds a rule: "Actually no, never touch the tests either."
    AnnulsIfNoRule,
    Leaves,
}

/// A sentence after which the one before is no rule for Claude: "Implement that.", "Is he right?", "Actually no".
pub(super) fn follow(sentence: &str) -> Follow {
    let mut lower = [0; 24];
    let head = sentence.as_bytes();
    let length = head.len().min(lower.len());
    lower[..length].copy_from_slice(&head[..length]);
    lower[..length].make_ascii_lowercase();
    let begin_in = |list: &[&'static str]| {
        list.iter().copied().find(|begin| lower[..length].starts_with(begin.as_bytes()))
    };
    // "Scratch that", but not "scratch that itch"; "actually no", but not "actually no new dependencies".
    let stands_alone = |begin: &str| stands_alone(&sentence[begin.len()..]);
    if begin_in(&["scratch that"]).is_some_and(stands_alone) {
        return Follow::Annuls;
    }
    if begin_in(&["actually no", "actually, no", "wait no", "wait, no", "no wait", "no, wait"])
        .is_some_and(stands_alone)
    {
        return Follow::AnnulsIfNoRule;
    }
    let begins = |list: &[&'static str]| begin_in(list).is_some();
    if begins(&[
        "is that ",
        "is he ",
        "is she ",
        "is it true",
        "are they ",
        "does that ",
        "what does ",
        "what do they",
    ]) {
        return Follow::Annuls;
    }
    Follow::Leaves
}

/// Whether nothing that follows belongs to the words before it: their clause ends, or a new one begins with its subject.
fn stands_alone(rest: &str) -> bool {
    let is_joined = rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '\'' | '-'));
    let rest = rest.trim_start();
    let next = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default().to_ascii_lowercase();
    !is_joined && (!rest.starts_with(char::is_alphanumeric) || among("i we you it", &next))
}

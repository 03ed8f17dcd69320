//! Whether a later sentence takes a constraint back.
//!
//! A wrongly dropped constraint is lost in silence, so that a shared word is not enough: a permission has to name
//! everything that the constraint names, with its verb, and an order has to have the forbidden verb as its own. The rules were
//! chosen by the training part of `corpus/constraint/lift-*`.

mod english;
mod japanese;

use std::cell::OnceCell;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConstraintKind {
    Forbids,
    Requires,
    /// Only some, or only up to a number.
    Limits,
}

/// Whether a rule that is named by `named` words, `shared` of them in a constraint of `length` words, is that constraint.
/// Without a word like "rule" more of it has to be named.
fn is_about(shared: usize, named: usize, length: usize, names_rule: bool) -> bool {
    let (least_named, least) = if names_rule { (2 * named, 3) } else { (3 * named, 2) };
    shared > 0 && shared * 3 >= least_named && shared * least >= length
}

/// Whether `word` is a path as `path` is one, not two words with a stroke between them.
fn is_sibling(word: &str, path: &str) -> bool {
    let root = |path: &str| path.split('/').next().map(str::to_owned);
    word.contains('/') && (word.ends_with('/') || word.contains('.') || root(word) == root(path))
}

/// A constraint that was said before. What it is about is found out when a sentence first asks.
pub(super) struct Known<'k> {
    pub(super) text: &'k str,
    english: OnceCell<english::Gist>,
    japanese: OnceCell<japanese::Gist>,
}

impl<'k> Known<'k> {
    pub(super) fn new(text: &'k str) -> Known<'k> {
        Known { text, english: OnceCell::new(), japanese: OnceCell::new() }
    }

    fn english(&self) -> &english::Gist {
        self.english.get_or_init(|| english::Gist::of(self.text))
    }

    fn japanese(&self) -> &japanese::Gist {
        self.japanese.get_or_init(|| japanese::Gist::of(self.text))
    }
}

/// "Just this once", 「今回だけ」: the constraint stays.
pub(super) fn is_for_once(sentence: &str) -> bool {
    const ONCE: [&str; 6] =
        ["this once", "this one time", "this time", "one time only", "just once", "only once"];
    const ONCE_JA: [&str; 7] =
        ["今回", "一度だけ", "一回だけ", "1回だけ", "今だけ", "この件だけ", "今日だけ"];
    let lower = sentence.to_ascii_lowercase();
    ONCE.iter().any(|once| lower.contains(once)) || ONCE_JA.iter().any(|once| sentence.contains(once))
}

/// The constraints of `known` that `sentence` takes back, which comes after `before`. `restates`: whether it is itself a
/// constraint.
pub(super) fn lifted_by<'k>(
    known: &[Known<'k>],
    sentence: &str,
    before: &str,
    restates: impl Fn() -> bool,
) -> Vec<&'k str> {
    let those = |is_covered: &dyn Fn(&Known<'k>) -> bool| {
        known.iter().filter(|known| is_covered(known)).map(|known| known.text).collect()
    };
    // A new constraint does not allow anything, but may be the opposite of an old one.
    if super::is_japanese(sentence) {
        let Some(lift) = japanese::Lift::of(sentence, restates()) else { return Vec::new() };
        return those(&|known| lift.covers(known.japanese()));
    }
    let sentence = english::without_consent(english::without_request(sentence));
    // "…, said Alice"
    if sentence.is_empty() || super::english::is_of_others(sentence) || sentence.contains(", said ") {
        return Vec::new();
    }
    let Some(lift) = english::Lift::of(sentence, before, restates()) else { return Vec::new() };
    those(&|known| lift.covers(known.english()))
}

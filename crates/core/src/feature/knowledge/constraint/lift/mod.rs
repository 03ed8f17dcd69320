//! Whether a later sentence takes a constraint back.
//!
//! A wrongly dropped constraint is lost in silence, so that a shared word is not enough: a permission has to name
//! everything that the constraint names, with its verb, and an order has to have the forbidden verb as its own. The rules were
//! chosen by the training part of `corpus/constraint/lift-*`.

mod english;
mod japanese;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConstraintKind {
    Forbids,
    Requires,
    /// Only some, or only up to a number.
    Limits,
}

/// The constraints of `known` that `sentence` takes back.
pub(super) fn lifted_by<'k>(known: &'k [String], sentence: &str) -> Vec<&'k str> {
    if sentence.ends_with(['?', '？']) {
        return Vec::new();
    }
    let known = known.iter().map(String::as_str);
    if super::is_japanese(sentence) {
        let Some(lift) = japanese::Lift::of(sentence) else { return Vec::new() };
        return known.filter(|constraint| lift.covers(constraint)).collect();
    }
    if super::english::is_of_others(sentence) {
        return Vec::new();
    }
    let Some(lift) = english::Lift::of(sentence) else { return Vec::new() };
    known.filter(|constraint| lift.covers(constraint)).collect()
}

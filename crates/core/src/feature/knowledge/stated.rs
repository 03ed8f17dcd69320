//! The constraints of a session in the words of its person.

use crate::event::EventKind;
use crate::feature::facts::Facts;
use crate::feature::knowledge::constraint;
use crate::feature::knowledge::key_facts::{FactKind, KeyFact, stated_fact};
use crate::feature::knowledge::marks::{Mark, StatedConstraint};
use crate::redact::redact;
use crate::text::fnv;

/// The constraints that this prompt takes back, then those that it states.
pub(super) fn changes(facts: &Facts<'_>) -> Vec<Mark> {
    let event = facts.event;
    if event.kind != EventKind::UserPromptSubmit || !event.is_main_thread() {
        return Vec::new();
    }
    let Some(prompt) = facts.typed_prompt() else { return Vec::new() };
    let known = known(facts);
    let lifted = constraint::lifted(known, &prompt);
    let mut marks: Vec<Mark> =
        lifted.iter().map(|text| Mark::ConstraintLifted(fnv::hash(text.bytes()))).collect();
    if constraint::find_constraints(&prompt).is_empty() {
        return marks;
    }
    // All of the prompt: a secret may reach over several sentences.
    let redacted = redact(&prompt);
    for sentence in constraint::find_constraints(&redacted.text) {
        let text = constraint::quotation(sentence);
        if !known.iter().any(|known| known.text == text) || lifted.contains(&text.as_str()) {
            marks.push(Mark::ConstraintSaid { text, at: facts.now });
        }
    }
    marks
}

/// Drops words of the person that they took back since, with this very prompt or before.
pub(super) fn retain_standing(lost: &mut Vec<KeyFact>, facts: &Facts<'_>) {
    if !lost.iter().any(|fact| fact.kind == FactKind::Stated) {
        return;
    }
    let prompt = facts.typed_prompt().unwrap_or_default();
    let standing: Vec<KeyFact> =
        constraint::still_standing(known(facts), &prompt).into_iter().map(stated_fact).collect();
    lost.retain(|fact| fact.kind != FactKind::Stated || standing.contains(fact));
}

fn known<'a>(facts: &'a Facts<'_>) -> &'a [StatedConstraint] {
    facts.marks.value().map(|marks| marks.knowledge.constraints.as_slice()).unwrap_or_default()
}

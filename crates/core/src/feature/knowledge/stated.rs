//! The constraints of a session, and the steps that are reserved, in the words of its person.

use std::borrow::Cow;

use crate::event::EventKind;
use crate::feature::config::Config;
use crate::feature::facts::Facts;
use crate::feature::knowledge::constraint::{self, OwnWords};
use crate::feature::knowledge::key_facts::{FactKind, KeyFact, stated_fact};
use crate::feature::knowledge::marks::{Mark, ReservedStep, StatedConstraint};
use crate::redact::redact;
use crate::text::fnv;
use crate::text::reserved::reserves_any;

/// What the person typed, if this event is their prompt.
pub(super) fn prompt<'f>(facts: &'f Facts<'_>) -> Option<Cow<'f, str>> {
    let event = facts.event;
    let is_prompt = event.kind == EventKind::UserPromptSubmit && event.is_main_thread();
    is_prompt.then(|| facts.typed_prompt())?
}

/// The constraints that this prompt takes back, then those that it states.
pub(super) fn changes(facts: &Facts<'_>, prompt: &str, own: &OwnWords<'_>) -> Vec<Mark> {
    let known = known(facts);
    let lifted = own.lifted(known);
    let mut marks: Vec<Mark> =
        lifted.iter().map(|text| Mark::ConstraintLifted(fnv::hash(text.bytes()))).collect();
    if own.constraints().is_empty() {
        return marks;
    }
    // All of the prompt: a secret may reach over several sentences.
    let redacted = redact(prompt);
    for sentence in constraint::find_constraints(&redacted.text) {
        let text = constraint::quotation(sentence);
        if !known.iter().any(|known| known.text == text) || lifted.contains(&text.as_str()) {
            marks.push(Mark::ConstraintSaid { text, at: facts.now });
        }
    }
    marks
}

/// More are not kept.
const MOST_RESERVED: usize = 5;

/// The steps that this prompt and the ones before it keep for the person.
pub(super) fn reserved(facts: &Facts<'_>, config: &Config, prompt: &str, own: &OwnWords<'_>) -> Option<Mark> {
    let marks = facts.marks.value()?;
    let known = &marks.knowledge.reserved;
    let cycles = &config.policies.cycle;
    let mut new = Vec::new();
    if cycles.may_name_step(prompt) {
        let steps = cycles.steps();
        let is_reserving = |sentence: &str| reserves_any(sentence, &steps);
        new = own.quotations(is_reserving);
        if !new.is_empty() {
            // All of the prompt: a secret may reach over several sentences.
            new = OwnWords::of(&redact(prompt).text).quotations(is_reserving);
        }
    }
    if new.is_empty() && known.is_empty() {
        return None;
    }
    let in_stage = marks.cycle.stage.is_some();
    let texts: Vec<&str> = known.iter().map(|known| known.text.as_str()).collect();
    let lifted = own.lifted(&texts);
    let kept = known.iter().filter(|known| {
        (in_stage || !known.old) && !lifted.contains(&known.text.as_str()) && !new.contains(&known.text)
    });
    let kept = kept.map(|known| ReservedStep { old: known.old || !in_stage, ..known.clone() });
    let mut reserved: Vec<ReservedStep> =
        kept.chain(new.iter().map(|text| ReservedStep { text: text.clone(), old: false })).collect();
    let over = reserved.len().saturating_sub(MOST_RESERVED);
    reserved.drain(..over);
    (reserved != *known).then_some(Mark::Reserved(reserved))
}

/// Drops words of the person that they took back before. How many.
pub(super) fn retain_standing(lost: &mut Vec<KeyFact>, facts: &Facts<'_>) -> usize {
    let before = lost.len();
    if lost.iter().any(|fact| fact.kind == FactKind::Stated) {
        let standing: Vec<KeyFact> = known(facts).iter().map(|known| stated_fact(&known.text)).collect();
        lost.retain(|fact| fact.kind != FactKind::Stated || standing.contains(fact));
    }
    before - lost.len()
}

/// This prompt seems to take one of them back. The next event knows whether a person wrote it.
pub(super) fn may_be_lifted(lost: &[KeyFact], facts: &Facts<'_>) -> bool {
    let stated: Vec<&str> =
        lost.iter().filter(|fact| fact.kind == FactKind::Stated).map(|fact| fact.text.as_str()).collect();
    let prompt = facts.typed_prompt().filter(|_| !stated.is_empty());
    prompt.is_some_and(|prompt| !constraint::lifted(&stated, &prompt).is_empty())
}

fn known<'a>(facts: &'a Facts<'_>) -> &'a [StatedConstraint] {
    facts.marks.value().map(|marks| marks.knowledge.constraints.as_slice()).unwrap_or_default()
}

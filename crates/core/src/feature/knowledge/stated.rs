//! The constraints of a session, and the steps that are reserved, in the words of its person.

use std::borrow::Cow;

use crate::event::EventKind;
use crate::feature::config::Config;
use crate::feature::facts::Facts;
use crate::feature::knowledge::constraint::{self, MOST_OF_PROMPT, OwnWords};
use crate::feature::knowledge::key_facts::{FactKind, KeyFact, stated_fact};
use crate::feature::knowledge::marks::{Mark, ReservedStep, StatedConstraint};
use crate::feature::knowledge::words;
use crate::feature::marks::Marks;
use crate::feature::verdict::{Audience, Effect, Say, Verdict};
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
    let taken = own.taken_back(known);
    let lifted = taken.for_good;
    let mut marks: Vec<Mark> =
        lifted.iter().map(|text| Mark::ConstraintLifted(fnv::hash(text.bytes()))).collect();
    let is_stating = !own.constraints().is_empty();
    if !is_stating && taken.once.is_empty() {
        marks.extend((!allowed_once(facts).is_empty()).then(|| Mark::AllowedOnce(Vec::new())));
        return marks;
    }
    // All of the prompt: a secret may reach over several sentences.
    let redacted = redact(prompt);
    let own = OwnWords::of(&redacted.text);
    let mut allowed: Vec<String> =
        own.taken_back(known).once.iter().map(|(_, sentence)| constraint::quotation(sentence)).collect();
    allowed.dedup();
    if allowed != allowed_once(facts) {
        marks.push(Mark::AllowedOnce(allowed));
    }
    if !is_stating {
        return marks;
    }
    let mut new: Vec<String> = own.constraints().into_iter().map(constraint::quotation).collect();
    new.retain(|text| !known.iter().any(|known| known.text == *text) || lifted.contains(&text.as_str()));
    let left_out = new.split_off(new.len().min(MOST_OF_PROMPT));
    marks.extend(new.into_iter().map(|text| Mark::ConstraintSaid { text, at: facts.now }));
    marks.extend((!left_out.is_empty()).then_some(Mark::LeftOut(left_out)));
    marks
}

fn allowed_once<'a>(facts: &'a Facts<'_>) -> &'a [String] {
    facts.marks.value().map(|marks| marks.knowledge.allowed_once.as_slice()).unwrap_or_default()
}

/// Something about the constraints that the person does not know yet.
pub(super) fn is_untold(marks: &Marks) -> bool {
    !marks.knowledge.lifted.is_empty() || marks.knowledge.left_out_untold > 0
}

/// A constraint counts as taken back by the words of a prompt: a person who did not mean that can say so. And one that is not
/// kept can be said again.
pub(super) fn tell_changes(facts: &Facts<'_>, verdict: &mut Verdict) {
    let Some(marks) = facts.marks.value().filter(|_| facts.event.kind != EventKind::UserPromptSubmit) else {
        return;
    };
    let marks = &marks.knowledge;
    let untold = &marks.left_out[marks.left_out.len() - marks.left_out_untold..];
    let lang = facts.lang;
    let lifted = marks.lifted.first().map(|first| {
        let text = words::constraint_lifted(lang, first, marks.lifted.len() - 1);
        (text, Mark::LiftTold, "the person took a constraint back")
    });
    let left_out = untold.first().map(|first| {
        let text = words::constraint_left_out(lang, first, untold.len() - 1);
        (text, Mark::LeftOutTold, "there is no room for a constraint")
    });
    for (text, told, because) in lifted.into_iter().chain(left_out) {
        let told = Effect::mark(told);
        if !facts.person.may_be_there() {
            verdict.effects.push(told);
            continue;
        }
        verdict.says.push(Say {
            to: Audience::User,
            text,
            weight: 65,
            explains: false,
            when_said: vec![told],
        });
        if verdict.because.is_empty() {
            verdict.because = because;
        }
    }
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
        let texts = known(facts).iter().map(|known| &known.text).chain(allowed_once(facts));
        let standing: Vec<KeyFact> = texts.map(|text| stated_fact(text)).collect();
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

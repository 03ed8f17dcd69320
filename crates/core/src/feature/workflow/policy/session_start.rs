//! A session starts: it takes over the workflow that an ended session left unfinished, or hears of several. One that an agent started
//! stays behind the checkpoints of the session above it.

use std::fmt::Write as _;

use crate::feature::facts::Facts;
use crate::feature::verdict::{Audience, Effect, Say, Verdict};
use crate::feature::workflow::closed::ClosedGate;
use crate::feature::workflow::facts::LeftWorkflow;
use crate::feature::workflow::marks::Mark;
use crate::feature::workflow::{AttachedWorkflow, effect, words};

/// Workflows named in a list.
const MAX_NAMED: usize = 4;

/// More sessions are not told of the same unfinished workflow.
const MAX_TOLD: usize = 3;

/// After this long an unfinished workflow is not mentioned any more.
const FORGOTTEN_MS: u64 = 30 * 24 * 3_600_000;

pub(super) fn decide_start(facts: &Facts<'_>, attached: Option<&AttachedWorkflow>) -> Verdict {
    if let Some(above) = facts.workflow.left.iter().find(|left| left.is_above)
        && attached.is_none_or(|own| {
            own.below || own.kept_gate().is_none() || own.manifest == above.attached.manifest
        })
    {
        return stay_below(above);
    }
    // A person continues what an agent began.
    if attached.is_some_and(|attached| attached.below) {
        let mut verdict = decide_own_start(facts, None);
        verdict.effects.insert(0, Effect::mark(Mark::WorkflowLeft));
        return verdict;
    }
    decide_own_start(facts, attached)
}

/// The session above keeps the workflow, and its checkpoints count here.
fn stay_below(above: &LeftWorkflow) -> Verdict {
    let new = AttachedWorkflow { below: true, failed: Vec::new(), ..above.attached.clone() };
    let remembered = super::remember_pending(&new);
    let mut effects = vec![Effect::mark(Mark::Workflow(Box::new(new)))];
    effects.extend(remembered);
    Verdict { effects, ..Verdict::silent("an agent of the workflow's session started this one") }
}

fn decide_own_start(facts: &Facts<'_>, attached: Option<&AttachedWorkflow>) -> Verdict {
    let session = facts.event.session.as_str();
    let own = facts.workflow.standing.value();
    if attached.is_some() && own.is_none_or(|standing| !standing.belongs_to_other_than(session)) {
        return Verdict::silent("the session continues its workflow");
    }
    let left = &facts.workflow.left;
    let is_recent =
        |left: &&LeftWorkflow| left.is_over && !left.attached.is_untouched(&left.standing, facts.now);
    let mut recent = left.iter().filter(is_recent);
    if let (Some(only), None) = (recent.next(), recent.next()) {
        return take_over(facts, only);
    }
    let is_named = |left: &&LeftWorkflow| {
        left.is_over
            && left.told < MAX_TOLD
            && last_touched(left).is_none_or(|at| facts.now.since(at) < FORGOTTEN_MS)
    };
    let named: Vec<&LeftWorkflow> = left.iter().filter(is_named).collect();
    match named.len() {
        0 => Verdict::silent("no workflow is under way here"),
        1 => name_left(facts, &named, "an unfinished workflow was not touched for a day"),
        _ => name_left(facts, &named, "there are several unfinished workflows"),
    }
}

fn last_touched(left: &LeftWorkflow) -> Option<crate::time::Millis> {
    let written = left.standing.value().and_then(|standing| standing.written);
    let kept = left.attached.pending.iter().chain(&left.attached.due);
    written.max(kept.map(|gate| gate.at).max())
}

fn take_over(facts: &Facts<'_>, left: &LeftWorkflow) -> Verdict {
    let AttachedWorkflow { project, manifest, .. } = &left.attached;
    let own = effect::Effect::OwnManifest { project: project.clone(), manifest: manifest.clone() };
    // The owner in the facts is the session that ended.
    let unowned = left.standing.value().and_then(|standing| standing.owner.clone()).unwrap_or_default();
    let closed = left.attached.closed_gate(&left.standing, &unowned, facts.now);
    let mut text = format!(
        "Continue this workflow, which a session left unfinished: {}. This session uses it from now on.",
        left.attached.key_fact()
    );
    match &closed {
        Some(ClosedGate::Pending(gate)) => {
            let _ = write!(
                text,
                " Checkpoint {0}, after phase {1}, is not passed yet: `tidegate workflow check {0}` shows what is missing.",
                gate.number, gate.after
            );
        }
        Some(ClosedGate::Lost(gate, loss)) => {
            let _ = write!(text, " {}", super::loss_text(&left.attached, gate, loss));
        }
        None => {}
    }
    let mut new = left.attached.clone();
    (new.below, new.failed) = (false, Vec::new());
    let remembered = super::remember_pending(&new);
    let mut effects = vec![Effect::mark(Mark::Workflow(Box::new(new))), Effect::Workflow(own)];
    effects.extend(remembered);
    let gate = closed.as_ref().map(ClosedGate::gate);
    let mut says = vec![say(Audience::Model, text)];
    if facts.person.may_be_there() {
        says.push(say(Audience::User, words::taken_over(facts.lang, &left.attached, gate)));
    }
    Verdict { says, effects, ..Verdict::silent("the session took over an unfinished workflow") }
}

fn name_left(facts: &Facts<'_>, named: &[&LeftWorkflow], because: &'static str) -> Verdict {
    let mut text = String::from(
        "To continue an unfinished workflow, run `tidegate workflow attach PATH`; none blocks this session until then.",
    );
    for left in named.iter().take(MAX_NAMED) {
        let _ = write!(text, "\n- {}", left.attached.key_fact());
    }
    if named.len() > MAX_NAMED {
        let _ = write!(text, "\n- {} more: `tidegate workflow status`", named.len() - MAX_NAMED);
    }
    let mut says = vec![say(Audience::Model, text)];
    if facts.person.may_be_there() {
        let first = &named[0].attached.manifest;
        says.push(say(Audience::User, words::unfinished(facts.lang, named.len(), first)));
    }
    let project = named[0].attached.project.clone();
    let manifests = named.iter().map(|left| left.attached.manifest.clone()).collect();
    let told = Effect::Workflow(effect::Effect::RememberTold { project, manifests });
    says[0].when_said.push(told);
    Verdict { says, ..Verdict::silent(because) }
}

fn say(to: Audience, text: String) -> Say {
    Say { to, text, weight: 80, explains: false, when_said: Vec::new() }
}

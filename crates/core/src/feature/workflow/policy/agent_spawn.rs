//! An agent is about to be spawned: denied behind a gate or in a full context, otherwise with advice.
//!
//! An agent of an agent, a message to an agent and a skill that runs in one are work of an agent, too: denied behind a gate. How
//! full the context is does not matter there, because its answer goes elsewhere or is short.

use std::fmt::Write as _;

use super::{
    ActiveWorkflow, BLOCKED, ID, LAST, NOW, PLAN, SOON, describe_use, find_active, gate_context, gate_marks,
    gate_text, gone_mark, loss_text, new_phase_mark, until_boundary,
};
use crate::event::AgentWork;
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known};
use crate::feature::marks::SessionMark;
use crate::feature::verdict::{Asks, Audience, Call, Effect, Say, Verdict};
use crate::feature::workflow::check::GateReport;
use crate::feature::workflow::closed::{Loss, PendingGate};
use crate::feature::workflow::marks::Mark;
use crate::feature::workflow::settings::WorkflowMode;
use crate::feature::workflow::standing::WorkflowStanding;
use crate::feature::workflow::{AttachedWorkflow, Gate, Manifest, effect, words};
use crate::feature::{CONTEXT_FOLDER, HANDOFF_FILE};

pub(super) fn decide_spawn(
    facts: &Facts<'_>,
    config: &Config,
    attached: Option<&AttachedWorkflow>,
) -> Verdict {
    let settings = &config.policies.workflow_gate;
    let work = facts.event.agent_work();
    if matches!(work, Some(AgentWork::Skill(_))) && !facts.workflow.forks {
        return Verdict::silent("the skill starts no agent");
    }
    let fills_context = work == Some(AgentWork::Spawn) && facts.event.is_main_thread();
    let gone = attached.filter(|_| facts.workflow.standing == Known::Absent);
    let gone = gone.and_then(|attached| gone_mark(facts, attached));
    let mut lost = None;
    let (standing, attached, damaged) = match find_active(facts, attached) {
        ActiveWorkflow::Yes(standing, attached) => (Some(standing), Some(attached), false),
        ActiveWorkflow::Lost(attached, gate, loss) => {
            lost = Some((gate, loss));
            (None, Some(attached), false)
        }
        ActiveWorkflow::Damaged(attached) => (None, Some(attached), true),
        ActiveWorkflow::No(because) if settings.mode != WorkflowMode::Strict || !fills_context => {
            let says =
                attached.filter(|_| gone.is_some()).and_then(|attached| tell_unknown(facts, attached, true));
            let effects = gone.into_iter().collect();
            return Verdict { effects, says: says.into_iter().collect(), ..Verdict::silent(because) };
        }
        ActiveWorkflow::No(_) => (None, None, false),
    };
    let reading = facts.meter.reading().filter(|_| fills_context);
    let level = reading.and_then(|reading| settings.level(reading));
    let pending = standing
        .and_then(|standing| standing.find_blocking_gate(&gate_context(facts, config, standing, attached)));
    let phase = standing.and_then(|standing| Some((standing.manifest.as_ref().ok()?, standing)));
    let mut verdict = if fills_context || pending.is_some() || lost.is_some() {
        AgentSpawn { facts, config, attached, level, pending, lost, phase }.decide()
    } else {
        Verdict::silent("no checkpoint is pending")
    };
    if damaged && verdict.call == Call::Pass && verdict.says.is_empty() {
        verdict.because = "the manifest cannot be used, so nothing is known of checkpoints";
        verdict.says.extend(attached.and_then(|attached| tell_unknown(facts, attached, false)));
    }
    verdict.effects.extend(
        standing.and_then(|standing| new_phase_mark(facts, config, standing, attached?)).map(Effect::mark),
    );
    if let Some((standing, attached)) = standing.zip(attached) {
        verdict.effects.extend(gate_marks(facts, config, standing, attached));
    }
    verdict.effects.extend(gone);
    if let Some(recovered) = facts.workflow.recovered.as_deref() {
        verdict.effects.insert(0, Effect::mark(Mark::Workflow(Box::new(recovered.clone()))));
        verdict.says.extend(tell_recovered(facts, recovered));
    }
    verdict
}

/// Once, because the marks have it again afterwards, unless they cannot be used at all.
fn tell_recovered(facts: &Facts<'_>, recovered: &AttachedWorkflow) -> Option<Say> {
    let gate = recovered.pending.first()?.gate;
    let is_usable = !matches!(facts.marks, Known::Broken(_));
    let text = words::recovered(facts.lang, gate, &recovered.manifest, is_usable);
    Some(Say { to: Audience::User, text, weight: 70, explains: true, when_said: Vec::new() })
}

/// No checkpoint was pending, and none can be seen any more. The person learns it once.
fn tell_unknown(facts: &Facts<'_>, attached: &AttachedWorkflow, is_gone: bool) -> Option<Say> {
    let notice = format!("workflow unknown {}", attached.manifest);
    if facts.marks.value().is_some_and(|marks| marks.session.noticed(&notice)) {
        return None;
    }
    let text = words::unknown(facts.lang, &attached.manifest, is_gone);
    let when_said = vec![Effect::mark(SessionMark::Notice(notice))];
    Some(Say { to: Audience::User, text, weight: 60, explains: false, when_said })
}

/// An agent about to be spawned.
struct AgentSpawn<'a> {
    facts: &'a Facts<'a>,
    config: &'a Config,
    attached: Option<&'a AttachedWorkflow>,
    level: Option<u8>,
    pending: Option<(Gate, GateReport)>,
    /// A pending gate of which the manifest does not tell any more.
    lost: Option<(PendingGate, Loss)>,
    phase: Option<(&'a Manifest, &'a WorkflowStanding)>,
}

impl AgentSpawn<'_> {
    fn decide(self) -> Verdict {
        let level = self.level.unwrap_or_default();
        if level >= BLOCKED || self.pending.is_some() || self.lost.is_some() {
            let denial = self.deny(level);
            return if self.config.stepped_down(ID) { advise_instead(denial) } else { denial };
        }
        self.advise(level)
    }

    fn noticed(&self, what: &str) -> bool {
        self.facts.marks.value().is_some_and(|marks| marks.session.noticed(&until_boundary(what)))
    }

    fn deny(&self, level: u8) -> Verdict {
        let lang = self.facts.lang;
        let (mut reason, mut says, mut effects) = (String::new(), Vec::new(), Vec::new());
        let mut once = |key: String, text: String| {
            if !self.noticed(&key) {
                let when_said = vec![Effect::mark(SessionMark::Notice(until_boundary(&key)))];
                says.push(Say { to: Audience::User, text, weight: 60, explains: true, when_said });
            }
        };
        if level >= BLOCKED {
            reason += if self.facts.person.may_be_there() {
                "Write to files what must survive, then wait for the person to run `/compact`"
            } else {
                "Continue without agents, in this thread and in small steps, and write results to files"
            };
            let _ = write!(reason, ": the context is too full for an agent. {}.", describe_use(self.facts));
            once(BLOCKED.to_string(), words::spawn_blocked(lang, self.facts.meter.reading()));
        }
        if level >= LAST && !self.noticed(&LAST.to_string()) {
            let steps = self.phase.and_then(|(_, standing)| standing.steps());
            effects.push(Effect::Workflow(effect::Effect::WriteHandoff(steps.into_iter().collect())));
            effects.push(Effect::mark(SessionMark::Notice(until_boundary(&LAST.to_string()))));
            let _ = write!(reason, " {CONTEXT_FOLDER}/{HANDOFF_FILE} says how far the work is.");
            once(LAST.to_string(), words::handoff_written(lang, HANDOFF_FILE));
        }
        let mut asks = if level >= BLOCKED { Asks::compacted() } else { Asks::default() };
        if let Some((gate, report)) = &self.pending {
            let claimed = self
                .phase
                .and_then(|(manifest, _)| manifest.section(gate.after))
                .is_some_and(|found| found.skipped);
            let text = gate_text(*gate, report, claimed);
            let space = if reason.is_empty() { "" } else { " " };
            let _ = write!(reason, "{space}{text}");
            let key = format!("gate {}", gate.number);
            once(key, words::gate_pending(lang, gate.number, gate.after, report.missing().len()));
            asks.gate = Some(gate.number);
        }
        if let (Some((gate, loss)), Some(attached)) = (&self.lost, self.attached) {
            let space = if reason.is_empty() { "" } else { " " };
            let _ = write!(reason, "{space}{}", loss_text(attached, gate, loss));
            let key = format!("lost {}", gate.gate);
            once(key, words::manifest_lost(lang, gate.gate, &attached.manifest, loss));
            asks.gate = Some(gate.gate);
        }
        let because = match (level, self.pending.is_some(), self.lost.is_some()) {
            (LAST.., ..) => "the context is full: a handoff is written",
            (BLOCKED.., false, false) => "the context is too full to spawn agents",
            (BLOCKED.., ..) => "the context is too full to spawn agents, and a checkpoint was not passed",
            (_, _, true) => "a checkpoint was not passed, and the manifest does not tell of it any more",
            _ => "a checkpoint was not passed",
        };
        Verdict { call: Call::Deny, reason: Some(reason), because, says, asks, effects }
    }

    /// Number of the phase under way, and whether it spawns many agents.
    fn phase(&self) -> (usize, bool) {
        let current = self.phase.and_then(|(manifest, _)| {
            let number = manifest.current?;
            Some((number, manifest.workflow.phase(number)?.heavy))
        });
        let seen = || {
            self.attached.and_then(AttachedWorkflow::current).map_or((0, false), |seen| (seen.number, false))
        };
        current.unwrap_or_else(seen)
    }

    fn advise(&self, level: u8) -> Verdict {
        if self.level.is_none() {
            return Verdict::silent("the context use is not known");
        }
        let (phase, heavy) = self.phase();
        let step = match level {
            NOW.. => NOW,
            SOON.. => SOON,
            PLAN.. => return Verdict::silent("a compaction can be planned"),
            _ => return Verdict::silent("there is room for agents"),
        };
        let key = format!("{step} {phase}");
        let told = self.noticed(&key);
        if told && !heavy {
            return Verdict::silent("this level was said in this phase");
        }
        let mark = || vec![Effect::mark(SessionMark::Notice(until_boundary(&key)))];
        let mut text = format!("{}.", describe_use(self.facts));
        text += if step == NOW {
            " Tidegate blocks new agents soon. A compaction now keeps only what is in files."
        } else {
            " The end of this phase is a good moment for a compaction."
        };
        text += &self.describe_summaries();
        let mut says =
            vec![Say { to: Audience::Model, text, weight: 70, explains: false, when_said: mark() }];
        if step == NOW && !told {
            let text = words::compact_now(self.facts.lang, self.facts.meter.reading());
            says.push(Say { to: Audience::User, text, weight: 60, explains: false, when_said: mark() });
        }
        let because = if step == NOW { "a compaction is due now" } else { "a compaction is due soon" };
        Verdict { says, asks: Asks::compacted(), ..Verdict::silent(because) }
    }

    /// Counts finished phases with a summary in the manifest.
    fn describe_summaries(&self) -> String {
        let Some((manifest, standing)) = self.phase else { return String::new() };
        let Some(current) = manifest.current else { return String::new() };
        let is_kept =
            |number: &usize| manifest.section(*number).is_some_and(|section| section.summary.is_some());
        let finished: Vec<usize> = (1..current).collect();
        let missing: Vec<String> =
            finished.iter().filter(|number| !is_kept(number)).map(ToString::to_string).collect();
        let kept = finished.len() - missing.len();
        let mut text =
            format!(" {}: {kept} of {} finished phases have a summary", standing.path, finished.len());
        if !missing.is_empty() {
            let _ = write!(text, ", not {}", missing.join(", "));
        }
        text += ".";
        text
    }
}

/// Turns a denial into advice.
fn advise_instead(denial: Verdict) -> Verdict {
    let reason = denial.reason.unwrap_or_default();
    let text = format!(
        "This agent was started all the same: here Tidegate only advises. Before the next one: {reason}"
    );
    let say = Say { to: Audience::Model, text, weight: 70, explains: false, when_said: Vec::new() };
    Verdict {
        says: vec![say],
        asks: denial.asks,
        effects: denial.effects,
        ..Verdict::silent("stepped down: a checkpoint only advises")
    }
}

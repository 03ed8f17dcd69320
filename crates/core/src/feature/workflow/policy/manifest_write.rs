//! A manifest was written: who owns it, and whether a phase ended.

use super::{
    NOW, SOON, describe_use, gate_context, gate_marks, gate_text, gone_mark, is_same_file, list_missing,
    loss_text, new_phase_mark, phase_name, until_boundary,
};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known};
use crate::feature::marks::SessionMark;
use crate::feature::verdict::{Asks, Audience, Effect, Say, Verdict};
use crate::feature::workflow::closed::{ClosedGate, Loss, PendingGate};
use crate::feature::workflow::manifest::is_feature_manifest;
use crate::feature::workflow::marks::Mark;
use crate::feature::workflow::standing::{GateContext, WorkflowStanding};
use crate::feature::workflow::{AttachedWorkflow, Gate, Manifest, PhaseBegan, effect, words};
use crate::text::fnv;

/// Decides who owns the written manifest and whether a phase ended.
pub(super) fn decide_manifest_write(
    facts: &Facts<'_>,
    config: &Config,
    attached: Option<&AttachedWorkflow>,
) -> Verdict {
    let known = &facts.workflow.standing;
    let session = facts.event.session.as_str();
    let concerns = |attached: &&AttachedWorkflow| {
        known.value().is_none_or(|standing| {
            standing.path == attached.manifest && !standing.belongs_to_other_than(session)
        })
    };
    if let Some(attached) = attached.filter(concerns)
        && let Some(ClosedGate::Lost(gate, loss)) = attached.closed_gate(known, session, facts.now)
    {
        return report_loss(facts, attached, &gate, &loss);
    }
    let standing = match known {
        Known::Value(standing) => standing,
        Known::Absent => {
            let gone = attached.and_then(|attached| gone_mark(facts, attached));
            return Verdict {
                effects: gone.into_iter().collect(),
                ..Verdict::silent("no manifest was written")
            };
        }
        Known::Broken(_) => return Verdict::silent("the manifest cannot be read"),
    };
    let is_bound = attached.is_some_and(|attached| attached.manifest == standing.path);
    let manifest = match &standing.manifest {
        Ok(manifest) if is_bound || manifest.is_workflow(&standing.path) => manifest,
        Err(damage) if is_bound || is_feature_manifest(&standing.path) => {
            return report_broken_manifest(facts, standing, &damage.to_string());
        }
        _ => return Verdict::silent("that manifest names no workflow"),
    };
    if manifest.complete {
        let closed = attached.filter(|_| is_bound).filter(|_| !standing.pending_gates().is_empty());
        if let Some(attached) = closed {
            return Verdict {
                effects: gate_marks(facts, config, standing, attached),
                ..Verdict::silent("a checkpoint was not passed")
            };
        }
        let silent = Verdict::silent("the workflow is complete");
        return if is_bound { end_workflow(facts, standing, manifest, silent) } else { silent };
    }
    let anothers = standing.belongs_to_other_than(facts.event.session.as_str());
    let Some(bound) = attached.filter(|_| is_bound && !anothers) else {
        return match standing.held_elsewhere.zip(attached) {
            // An agent may work on a task of its own in a worktree of its own.
            _ if !facts.event.is_main_thread() => Verdict::silent("an agent wrote another manifest"),
            _ if is_bound && !call_wrote(facts, &standing.path) => {
                Verdict::silent("another session has the workflow now")
            }
            Some((gate, attached)) => stay_attached(facts, attached, standing, gate),
            None => attach_session(facts, manifest, standing),
        };
    };
    follow_phase(facts, config, standing, manifest, bound)
}

fn end_workflow(
    facts: &Facts<'_>,
    standing: &WorkflowStanding,
    manifest: &Manifest,
    silent: Verdict,
) -> Verdict {
    let to_model = format!(
        "The workflow {} is complete, and this session no longer uses {}. Start another one with `tidegate workflow start ID`.",
        manifest.name, standing.path
    );
    let say = |to, text| Say { to, text, weight: 60, explains: false, when_said: Vec::new() };
    let mut says = vec![say(Audience::Model, to_model)];
    if facts.person.may_be_there() {
        says.push(say(Audience::User, words::complete(facts.lang, manifest)));
    }
    Verdict { says, effects: vec![Effect::mark(Mark::WorkflowLeft)], ..silent }
}

/// The session's own manifest was written: checks whether a phase ended.
fn follow_phase(
    facts: &Facts<'_>,
    config: &Config,
    standing: &WorkflowStanding,
    manifest: &Manifest,
    bound: &AttachedWorkflow,
) -> Verdict {
    let (Some(number), Some(last)) = (manifest.current, bound.current()) else {
        let mark = new_phase_mark(facts, config, standing, bound).map(Effect::mark);
        return Verdict { effects: mark.into_iter().collect(), ..Verdict::silent("the phase is not known") };
    };
    if last.number == number {
        let effects = gate_marks(facts, config, standing, bound);
        return Verdict { effects, ..Verdict::silent("the phase is the same") };
    }
    let level = facts.meter.reading().and_then(|reading| config.policies.workflow_gate.level(reading));
    let began = |asked| {
        let name = phase_name(manifest, number);
        Mark::PhaseBegan(PhaseBegan { number, name, at: Some(facts.now), level, asked })
    };
    // As if the phase had already ended, at this level.
    let mut then = bound.clone();
    if let Mark::PhaseBegan(new) = &began(false) {
        then.begin(new);
    }
    let at = gate_context(facts, config, standing, Some(&then));
    let change = PhaseChange {
        facts,
        standing,
        level: level.unwrap_or_default(),
        at,
        ended: last.number,
        begins: number,
    };
    let (mut verdict, asked) = change.decide(manifest);
    verdict.effects.insert(0, Effect::mark(began(asked)));
    verdict.effects.extend(gate_marks(facts, config, standing, bound));
    verdict
}

/// As far as the call shows.
fn call_wrote(facts: &Facts<'_>, manifest: &str) -> bool {
    let by_tool = facts.event.written_paths(|_| false).iter().any(|path| is_same_file(path, manifest));
    by_tool
        || facts
            .verification
            .files
            .iter()
            .filter_map(|file| file.inside.as_deref())
            .any(|path| is_same_file(path, manifest))
}

/// Beginning another workflow is not a way around a blocking gate.
fn stay_attached(
    facts: &Facts<'_>,
    attached: &AttachedWorkflow,
    standing: &WorkflowStanding,
    gate: usize,
) -> Verdict {
    let because = "a checkpoint of this session's workflow was not passed";
    let key = format!("stays {}", standing.path);
    if facts.marks.value().is_some_and(|marks| marks.session.noticed(&until_boundary(&key))) {
        return Verdict::silent(because);
    }
    let text = format!(
        "Complete checkpoint {gate} of {} first: this session stays in that workflow until then. `tidegate workflow check {gate}` \
         shows what is missing; `tidegate workflow detach` leaves it, if the person agrees.",
        attached.manifest
    );
    let when_said = vec![Effect::mark(SessionMark::Notice(until_boundary(&key)))];
    let say = Say { to: Audience::Model, text, weight: 60, explains: false, when_said };
    Verdict { says: vec![say], ..Verdict::silent(because) }
}

fn attach_session(facts: &Facts<'_>, manifest: &Manifest, standing: &WorkflowStanding) -> Verdict {
    let new = standing.attach(manifest, None, facts.now);
    let (project, manifest) = (standing.root.clone(), standing.path.clone());
    let own = effect::Effect::OwnManifest { project, manifest };
    let remembered = super::remember_pending(&new);
    let mut effects = vec![Effect::mark(Mark::Workflow(Box::new(new))), Effect::Workflow(own)];
    effects.extend(remembered);
    Verdict { effects, ..Verdict::silent("the workflow is this session's now") }
}

/// Tells once what to restore.
fn report_loss(facts: &Facts<'_>, attached: &AttachedWorkflow, gate: &PendingGate, loss: &Loss) -> Verdict {
    let because = "a checkpoint was not passed, and the manifest does not tell of it any more";
    let gone = gone_mark(facts, attached).filter(|_| *loss == Loss::Gone);
    let silent = Verdict { effects: gone.into_iter().collect(), ..Verdict::silent(because) };
    let text = loss_text(attached, gate, loss);
    let key = format!("loss {}", fnv::hash(text.bytes()));
    if facts.marks.value().is_some_and(|marks| marks.session.noticed(&until_boundary(&key))) {
        return silent;
    }
    let when_said = vec![Effect::mark(SessionMark::Notice(until_boundary(&key)))];
    let say = Say { to: Audience::Model, text, weight: 60, explains: false, when_said };
    Verdict { says: vec![say], asks: Asks::gate(gate.gate), ..silent }
}

/// An unreadable manifest blocks nothing that was not blocked before, but no gate can be passed with it: the model should know.
fn report_broken_manifest(facts: &Facts<'_>, standing: &WorkflowStanding, why: &str) -> Verdict {
    let key = format!("broken {}", fnv::hash(why.bytes()));
    if facts.marks.value().is_some_and(|marks| marks.session.noticed(&until_boundary(&key))) {
        return Verdict::silent("the manifest cannot be used");
    }
    let text = format!(
        "Repair {}: {why}. Tidegate cannot read it, and no checkpoint can be passed until it can.",
        standing.path
    );
    let when_said = vec![Effect::mark(SessionMark::Notice(until_boundary(&key)))];
    let say = Say { to: Audience::Model, text, weight: 60, explains: false, when_said };
    Verdict { says: vec![say], ..Verdict::silent("the manifest cannot be used") }
}

/// One phase ended and another begins.
struct PhaseChange<'a> {
    facts: &'a Facts<'a>,
    standing: &'a WorkflowStanding,
    level: u8,
    at: GateContext<'a>,
    ended: usize,
    begins: usize,
}

impl PhaseChange<'_> {
    /// Also returns whether a compaction is requested without a gate.
    fn decide(&self, manifest: &Manifest) -> (Verdict, bool) {
        let PhaseChange { facts, level, ended, begins, .. } = self;
        let head = format!(
            "Phase {ended} has ended and phase {begins} ({}) begins.",
            phase_name(manifest, *begins).replace('_', " ")
        );
        let gate = self.standing.find_blocking_gate(&self.at);
        let full = (*level >= SOON).then(|| format!(" {}.", describe_use(facts)));
        let (text, because, asks, asked) = match gate {
            Some((gate, report)) => {
                let claimed = manifest.section(gate.after).is_some_and(|found| found.skipped);
                let mut text =
                    format!("{head}{} {}", full.unwrap_or_default(), gate_text(gate, &report, claimed));
                text += " Tidegate blocks new agents until then.";
                let because = if gate.after < *begins {
                    "a gate lies before the phase that begins"
                } else {
                    "a checkpoint was not passed"
                };
                (text, because, Asks::gate(gate.number), false)
            }
            None if *level >= NOW => {
                let report = self
                    .standing
                    .check_gate(Gate { number: 0, after: *ended }, &self.at.moment_after(*ended));
                let missing = if report.is_met() { "nothing".to_owned() } else { list_missing(&report) };
                let text = format!(
                    "{head}{} Tidegate blocks new agents soon. A compaction now keeps only what is in files; missing there of phase \
                     {ended}: {missing}.",
                    full.unwrap_or_default()
                );
                (text, "a phase has ended, and a compaction is due now", Asks::compacted(), true)
            }
            None if *level >= SOON => {
                let text = format!(
                    "{head}{} Before the next compaction, write progress to {} and give each finished phase a short `summary` \
                     there.",
                    full.unwrap_or_default(),
                    self.standing.path
                );
                (text, "a phase has ended, and a compaction is due soon", Asks::compacted(), true)
            }
            None => return (Verdict::silent("a phase has ended"), false),
        };
        // Said at the end of a phase, it is not repeated before the first agent of the next one.
        let said =
            |step| vec![Effect::mark(SessionMark::Notice(until_boundary(&format!("{step} {begins}"))))];
        let when_said = if *level >= SOON { said(SOON) } else { Vec::new() };
        let mut says = vec![Say { to: Audience::Model, text, weight: 75, explains: false, when_said }];
        if *level >= NOW {
            let when_said = said(NOW);
            let text = words::compact_now(facts.lang, facts.meter.reading());
            says.push(Say { to: Audience::User, text, weight: 60, explains: false, when_said });
        }
        (Verdict { says, asks, ..Verdict::silent(because) }, asked)
    }
}

//! Whether a stage reached its goal, by its own definition.

use super::words;
use crate::feature::cycle::standing::StageEvidence;
use crate::feature::cycle::state::NO_COMMIT;
use crate::feature::cycle::{ActiveStage, Cycle, CycleState, CycleStatus, DoneWhen, Stage};
use crate::feature::marks::Marks;
use crate::text::lang::Lang;

/// Why a stage is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    Skill(String),
    /// The files, as they are listed to people.
    Check(String),
    /// The stage has to report its open findings.
    Report,
    OpenFindings(u64),
    /// A metric with another name than `open` counts findings that must not be shipped.
    Severe(String, u64),
    /// The report of the stage says that its work must not be shipped, in these words.
    Forbidden(String),
    Commit,
    File(String),
    /// The last message says that work remains, in these words.
    Unfinished(String),
    /// `tidegate cycle done` was not called.
    Word,
}

/// In the order in which the work is done.
pub fn list_missing(
    stage: &Stage,
    active: &ActiveStage,
    state: &CycleState,
    evidence: &StageEvidence,
    marks: &Marks,
) -> Vec<Missing> {
    let reported = active.findings.map(|reported| reported.open);
    let open = state.open_findings().max(reported);
    let of_sign = |sign: &DoneWhen| match sign {
        DoneWhen::Skill => (!active.invoked).then(|| Missing::Skill(active.skill.clone())),
        DoneWhen::Verified => {
            marks.verification.changes.as_ref().map(|changes| Missing::Check(changes.list_files()))
        }
        DoneWhen::NoOpenFindings => open.is_none().then_some(Missing::Report),
        DoneWhen::Commit => {
            let began = state.progress(&state.stage).and_then(|progress| progress.head.as_ref());
            let moved = began
                .zip(evidence.head.as_deref())
                .is_some_and(|(began, now)| now != NO_COMMIT && now != began.commit);
            let has_new = evidence.commits.is_none_or(|made| made > active.empty_commits);
            (!(active.published || moved && has_new)).then_some(Missing::Commit)
        }
        DoneWhen::File(path) => (!evidence.written.contains(path)).then(|| Missing::File(path.clone())),
    };
    let mut missing: Vec<Missing> = stage.done_when.iter().filter_map(of_sign).collect();
    // Reported in any stage, they are not success.
    missing.extend(open.filter(|open| *open > 0).map(Missing::OpenFindings));
    if stage.done_when.contains(&DoneWhen::NoOpenFindings) && open.is_none_or(|open| open == 0) {
        let severe = state.severe_findings_of(&state.stage);
        missing.extend(severe.map(|(name, count)| Missing::Severe(name.to_owned(), count)));
    }
    missing.extend((!active.done).then_some(Missing::Word));
    missing
}

/// The stage at `at` comes after the session's own, which is not done: an edit moved the file on. A hook that was killed in
/// between moves it on by one stage that is done.
pub fn is_overtaken(active: &ActiveStage, state: &CycleState, cycle: &Cycle, at: usize) -> bool {
    if active.cycle != state.cycle {
        return true;
    }
    let own = cycle.position(&active.stage).filter(|own| *own < at);
    own.is_some_and(|own| at > own + 1 || !is_known_done(active, state, &cycle.stages[own]))
}

/// This session took the run of this file to the stage at `at`, or finished the one before it. What only the file says, anyone may have
/// written.
pub fn has_reached(own: &ActiveStage, state: &CycleState, cycle: &Cycle, at: usize) -> bool {
    let is_run = own.cycle == state.cycle && (own.run.is_none() || own.run == state.started_at);
    cycle.position(&own.stage).filter(|_| is_run).is_some_and(|reached| {
        reached >= at || reached + 1 == at && is_known_done(own, state, &cycle.stages[reached])
    })
}

/// The file says that the cycle has ended, but the session's own stage is not done: an edit ended it.
pub fn is_ended_early(active: &ActiveStage, state: &CycleState, cycle: &Cycle) -> bool {
    let own = cycle.position(&active.stage).filter(|_| active.cycle == state.cycle);
    let is_done = own.is_some_and(|own| is_known_done(active, state, &cycle.stages[own]));
    let is_last = || own.is_some_and(|own| own + 1 == cycle.stages.len());
    active.stage != state.stage || !is_done || state.status == CycleStatus::Complete && !is_last()
}

/// By the session's marks and the findings in the file.
fn is_known_done(active: &ActiveStage, state: &CycleState, stage: &Stage) -> bool {
    let promises = |sign: &DoneWhen| stage.done_when.contains(sign);
    let is_reported = state.open_findings_of(&active.stage).is_some() || !promises(&DoneWhen::NoOpenFindings);
    active.done
        && active.failed.is_none()
        && active.findings.is_none()
        && (active.invoked || !promises(&DoneWhen::Skill))
        && is_reported
        && !has_findings(state, stage)
}

/// Findings of this stage are open, as it reported them.
pub fn has_findings(state: &CycleState, stage: &Stage) -> bool {
    state.open_findings_of(&stage.name).is_some_and(|open| open > 0)
        || stage.done_when.contains(&DoneWhen::NoOpenFindings)
            && state.severe_findings_of(&stage.name).is_some()
}

impl Missing {
    /// For JSON.
    pub fn name(&self) -> String {
        match self {
            Missing::Skill(_) => "skill".to_owned(),
            Missing::Check(_) => "verified".to_owned(),
            Missing::Report | Missing::OpenFindings(_) | Missing::Severe(..) | Missing::Forbidden(_) => {
                "no-open-findings".to_owned()
            }
            Missing::Commit => "commit".to_owned(),
            Missing::File(path) => format!("file:{path}"),
            Missing::Word | Missing::Unfinished(_) => "done".to_owned(),
        }
    }

    /// A clause for a person.
    pub fn describe(&self, lang: Lang) -> String {
        words::missing(lang, self)
    }

    /// What the model has to do, without the call of `tidegate cycle done` that follows.
    pub(super) fn action(&self) -> Option<String> {
        Some(match self {
            Missing::Skill(skill) => format!("invoke the skill `{skill}`"),
            Missing::Check(files) => {
                format!("run the project's checks ({files} changed, and no check has passed since)")
            }
            Missing::Report => "count the findings that are still open".to_owned(),
            Missing::OpenFindings(open) => {
                let them = if *open == 1 { "the open finding" } else { "the open findings" };
                format!("fix {them} ({open} reported), with `tidegate cycle fix-loop` before each round")
            }
            Missing::Severe(name, count) => {
                format!("fix these findings ({name}={count} reported), with `tidegate cycle fix-loop` before each round")
            }
            Missing::Forbidden(said) => {
                format!("fix what must not be shipped (your last message says: \"{said}\")")
            }
            Missing::Commit => {
                "commit the change (the stage has no new commit, and no `git push` or `gh pr create` succeeded)".to_owned()
            }
            Missing::File(path) => format!("write {path} (it has not changed since the stage began)"),
            Missing::Unfinished(said) => format!("finish what remains (your last message says: \"{said}\")"),
            Missing::Word => return None,
        })
    }
}

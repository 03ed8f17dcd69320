//! Whether a stage reached its goal, by its own definition.

use super::words;
use crate::feature::cycle::standing::StageEvidence;
use crate::feature::cycle::state::NO_COMMIT;
use crate::feature::cycle::{ActiveStage, Cycle, CycleState, DoneWhen, Stage};
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
    /// The report of the stage says that its work must not be shipped.
    Forbidden,
    Commit,
    File(String),
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
    let open = state.open_findings();
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

/// The stage at `at` comes after the session's own, which is not done: somebody else than a hook moved the file on. A hook that
/// was killed in between moves it on by one stage that is done.
pub fn is_overtaken(active: &ActiveStage, state: &CycleState, cycle: &Cycle, at: usize) -> bool {
    let own = cycle.position(&active.stage).filter(|own| *own < at && active.cycle == state.cycle);
    own.is_some_and(|own| {
        let promises = |sign: &DoneWhen| cycle.stages[own].done_when.contains(sign);
        let open = state.open_findings_of(&active.stage);
        let is_done = active.done
            && (active.invoked || !promises(&DoneWhen::Skill))
            && (open == Some(0) || open.is_none() && !promises(&DoneWhen::NoOpenFindings))
            && !(promises(&DoneWhen::NoOpenFindings) && state.severe_findings_of(&active.stage).is_some());
        at > own + 1 || !is_done
    })
}

impl Missing {
    /// For JSON.
    pub fn name(&self) -> String {
        match self {
            Missing::Skill(_) => "skill".to_owned(),
            Missing::Check(_) => "verified".to_owned(),
            Missing::Report | Missing::OpenFindings(_) | Missing::Severe(..) | Missing::Forbidden => {
                "no-open-findings".to_owned()
            }
            Missing::Commit => "commit".to_owned(),
            Missing::File(path) => format!("file:{path}"),
            Missing::Word => "done".to_owned(),
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
            Missing::Forbidden => "fix what must not be shipped (your last message says so)".to_owned(),
            Missing::Commit => {
                "commit the change (the stage has no new commit, and no `git push` or `gh pr create` succeeded)".to_owned()
            }
            Missing::File(path) => format!("write {path} (it has not changed since the stage began)"),
            Missing::Word => return None,
        })
    }
}

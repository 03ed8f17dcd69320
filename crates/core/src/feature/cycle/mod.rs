//! Cycles: stages that run one after another in one session, each only while there is room for it.
//!
//! The config defines a cycle ([`definition`]), a file in the project holds its progress ([`state`]), and
//! past runs tell the cost of its stages ([`history`]).
//!
//! The file is authoritative, but other tools write it too. It counts only if everything in it can be true,
//! and a rewrite keeps the order of its members and the notation of unchanged values. The session's marks
//! hold the stage under way ([`ActiveStage`]), so that only a session's start and a stop within a cycle open
//! the file. Each mark changes one thing, so parallel hooks do not undo each other's.
//!
//! The end of a stage needs the model's word and its signs ([`done_when`]; [`success`]): in the
//! marks of the session, in the file, and in the project ([`standing::StageEvidence`]).
//!
//! A stage begins inside the hook that ends the one before. The effect ([`effect::CycleStep`]) runs before
//! the answer, under the session's and then the project's lock, and only if the file is still as it was
//! judged. If it fails, the stop is not blocked. After a kill in between, the file names the next stage and
//! the marks the old one; the file counts. The policy [`yields`](crate::feature::Policy::yields): a stop
//! that `verify-stop` blocks begins no stage. The room left has to be that of this request, so the hook
//! waits up to 150 ms for the transcript (`Needs::current`).

mod budget_copy;
pub mod consent;
mod damage;
pub mod definition;
pub mod done_when;
pub mod effect;
mod findings;
mod go_ahead;
pub mod history;
pub mod marks;
mod not_counted;
pub mod one_line;
mod order;
pub mod policy;
mod prompts;
mod publishing;
mod report;
pub mod reserved;
mod resume_offer;
mod rewrite;
pub mod settings;
mod stage_end;
pub mod standing;
pub mod state;
mod stop;
pub mod success;
mod unfinished;
pub mod waiting;
mod waits;
pub mod words;

pub use definition::{Cycle, MinLeft, Stage};
pub use done_when::DoneWhen;
pub use history::CycleRun;
pub use state::{CycleDamage, CycleState, CycleStatus, Head, StageProgress, StageStart};

use serde::{Deserialize, Serialize};

use crate::feature::Feature;
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Known};
use crate::feature::marks::Mark;
use crate::time::Millis;
use standing::CycleStanding;

pub struct Room;

impl Feature for Room {
    type Needs = bool;
    type Facts = Known<CycleStanding>;
    type Effect = effect::Effect;

    fn observe(facts: &Facts<'_>, _: &Config) -> Vec<Mark> {
        let stage = facts.marks.value().and_then(|marks| marks.cycle.stage.as_ref());
        let Some((command, stage)) = facts.event.finished_command().zip(stage) else { return Vec::new() };
        if !facts.event.is_main_thread() {
            // A subagent does not speak for the stage.
            let says = command.line.as_deref().is_some_and(|line| line.contains("cycle done"));
            return says.then_some(marks::Mark::StageReopened).into_iter().map(Mark::from).collect();
        }
        if stage.published {
            return Vec::new();
        }
        let published = publishing::has_published(command).then_some(marks::Mark::StagePublished);
        let empty = publishing::makes_empty_commit(command).then_some(marks::Mark::EmptyCommit);
        published.into_iter().chain(empty).map(Mark::from).collect()
    }
}

/// Available without any config.
pub const BUILT_IN: &str = "dev-cycle";

/// A stage in the session's marks: enough for every event that can do without the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct ActiveStage {
    pub cycle: String,
    pub stage: String,
    pub skill: String,
    /// Position in the cycle, counted from one.
    pub number: usize,
    /// Number of stages.
    pub of: usize,
    /// The project with the state file: the session may have moved to another worktree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub began: Millis,
    /// It was declared done. In a session of 0.1, its skill may have been invoked instead.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub done: bool,
    /// Its skill was invoked since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub invoked: bool,
    /// A push or a new pull request succeeded since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub published: bool,
    /// Commits since that were allowed to be empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub empty_commits: usize,
    /// Tokens in use at its beginning, or at the first reading since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// A stop was blocked because it was not done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// The person said that it continues, and has not heard since why it waits.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub urged: bool,
    /// Why it failed; the person does not know it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Findings that it reported as open. The file can be edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<ReportedFindings>,
    /// When the cycle began, as its file says: another one is not the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The person was asked for the next stage, because a constraint of theirs concerns it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
    /// Stages that began since the last human prompt.
    #[serde(skip_serializing_if = "is_zero")]
    pub chained: usize,
    pub turn: Turn,
    /// When the public copy of the budget was last written.
    pub copied: Millis,
}

/// Open findings as a stage reported them with `tidegate cycle done`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedFindings {
    pub open: u64,
    pub at: Millis,
    /// Rounds of review and fix before it.
    pub rounds: u64,
}

impl Turn {
    /// Nothing continues before the person said something.
    pub fn waits(self) -> bool {
        match self {
            Turn::Closed | Turn::Open => false,
            Turn::Interrupted | Turn::Declined | Turn::NeedsYes | Turn::NeedsWord | Turn::Waiting => true,
        }
    }
}

/// State of the turn for the person's last prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Turn {
    /// No prompt is being worked on.
    #[default]
    Closed,
    Open,
    /// A prompt came before the previous turn had ended: the person interrupted.
    Interrupted,
    /// The person said something that does not let the cycle continue.
    Declined,
    /// No prompt is being worked on, and only a yes lets the cycle continue: the model asked for one, or the person
    /// declined.
    NeedsYes,
    /// As `NeedsYes`, but a mere assent may be meant for something else: the person has to say that the cycle continues.
    NeedsWord,
    /// No prompt is being worked on, and the person has to answer first: they were asked a question, or they broke
    /// in. Meanwhile the client may start turns by itself, for example when a background command ends.
    Waiting,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl ActiveStage {
    pub fn begin(name: &str, cycle: &Cycle, at: usize, now: Millis, turn: Turn) -> Option<ActiveStage> {
        let stage = cycle.stages.get(at)?;
        Some(ActiveStage {
            cycle: name.to_owned(),
            stage: stage.name.clone(),
            skill: stage.skill.clone(),
            number: at + 1,
            of: cycle.stages.len(),
            began: now,
            turn,
            ..ActiveStage::default()
        })
    }

    /// The facts to keep across a compaction: the stage and the next step.
    pub fn key_fact(&self) -> String {
        let ActiveStage { cycle, stage, skill, number, of, .. } = self;
        let next = if self.failed.is_some() {
            "it was declared failed, and the cycle stops there".to_owned()
        } else if self.done && self.turn.waits() {
            "it was declared done; the cycle waits for the person before the next stage".to_owned()
        } else if self.done {
            "it was declared done; Tidegate checks that when the turn ends".to_owned()
        } else if self.invoked {
            format!("its skill `{skill}` was invoked; `tidegate cycle done` reports its success")
        } else {
            format!("next step: its skill `{skill}`")
        };
        format!("stage {stage} ({number} of {of}) of the cycle {cycle} is under way; {next}")
    }
}

//! Cycles: stages that run one after another in one session, each only while there is room for it.
//!
//! What a cycle is comes from the config ([`definition`]), where one stands from a file in the project ([`state`]), what its
//! stages cost from those that ended ([`history`]).

pub mod definition;
pub mod history;
pub mod policy;
mod rewrite;
pub mod settings;
pub mod standing;
pub mod state;
pub mod words;

pub use definition::{Cycle, MinLeft, Stage};
pub use history::Run;
pub use state::{Damage, Spent, State, Status};

use serde::{Deserialize, Serialize};

use crate::time::Millis;

/// The cycle that is there without any config.
pub const BUILT_IN: &str = "dev-cycle";

/// A stage as the session's marks know it: enough for every event that has no need of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ActiveStage {
    /// The cycle.
    pub cycle: String,
    /// The stage.
    pub stage: String,
    /// Its skill.
    pub skill: String,
    /// Which one of them, counted from one.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// The project whose file says so: the session may stand in another worktree meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// When it began.
    pub began: Millis,
    /// Its skill was invoked since, or somebody said that it is done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub done: bool,
    /// A stop was held because it was not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// How many stages have begun since the last human prompt.
    #[serde(skip_serializing_if = "is_zero")]
    pub chained: usize,
    /// Whether a person's prompt is being worked on.
    pub turn: Turn,
    /// When the public copy of the budget was last written.
    pub copied: Millis,
}

/// A person's prompt, as the cycle sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Turn {
    /// None is worked on.
    #[default]
    Closed,
    /// One is.
    Open,
    /// One came before the last one's turn had ended: the person broke in.
    Interrupted,
    /// None is, and how it goes on is the person's to say: they were asked, or they broke in. The client begins turns of its own,
    /// when a command in the background ends, say.
    Waiting,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl ActiveStage {
    /// The stage of a cycle that begins now.
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

    /// What must not be lost of it: which it is, and what comes next.
    pub fn key_fact(&self) -> String {
        let ActiveStage { cycle, stage, skill, number, of, .. } = self;
        let next = if self.done {
            "its skill was invoked; the next stage begins when this one's turn ends".to_owned()
        } else {
            format!("next step: its skill `{skill}`")
        };
        format!("stage {stage} ({number} of {of}) of the cycle {cycle} is under way; {next}")
    }
}

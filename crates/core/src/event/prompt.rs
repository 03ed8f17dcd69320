//! A prompt of a person or of the host.

use super::action::Exit;
use crate::text::json::LongText;

#[derive(Clone, Debug, PartialEq)]
pub struct Prompt<'a> {
    /// Decoded only as far as it is read.
    pub text: LongText<'a>,
    pub author: Author,
    /// Only in a prompt of the host.
    pub notice: Option<Notice>,
}

/// Hosts submit prompts of their own: results of background tasks, output of commands, feedback of hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// In their own words.
    Person,
    /// As a command.
    PersonByCommand,
    Host,
}

/// The host's report that a background task ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// `None` if the report does not name the task.
    pub ended: Option<EndedTask>,
    pub agent: Option<EndedAgent>,
}

/// An agent, or a script of agents, that ended in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedAgent {
    /// The description of its task.
    pub task: String,
    /// The host reports that it failed.
    pub failed: bool,
    /// The beginning of its answer; may be empty.
    pub answer: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedTask {
    /// The host's id.
    pub id: String,
    pub exit: Exit,
}

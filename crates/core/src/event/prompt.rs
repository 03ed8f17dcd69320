//! A prompt, by a person or by the host.

use crate::text::json::LongText;

/// A prompt that was submitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt<'a> {
    /// The text, decoded only as far as it is looked at.
    pub text: LongText<'a>,
    /// Who wrote it.
    pub author: Author,
    /// What the host tells with a prompt of its own.
    pub notice: Option<Notice>,
}

/// Who wrote a prompt. Hosts submit prompts of their own: results of background tasks, output of commands, feedback of hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// A person, in words of their own.
    Person,
    /// A person, as a command.
    PersonByCommand,
    /// The host.
    Host,
}

/// The end of a task in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The task, if the notice names it.
    pub ended: Option<EndedTask>,
    /// What an agent was to do that has failed.
    pub failed_agent: Option<String>,
}

/// A task in the background that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedTask {
    /// The host's name for it.
    pub id: String,
    /// A command that ended with status 0.
    pub succeeded: bool,
}

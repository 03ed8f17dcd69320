//! The points of a session at which hooks run, whichever host wrote its transcript.

use std::sync::Arc;

use serde_json::Value;
use tidegate_core::time::Millis;

use crate::entry::RequestUsage;
use crate::turn::TurnEnd;

/// A point in a session at which hooks run, or the model answered.
pub struct Moment {
    /// Counted from 1.
    pub line: usize,
    pub at: Millis,
    pub cwd: String,
    /// `None` on the main thread.
    pub agent: Option<String>,
    pub what: Happening,
}

pub enum Happening {
    Start,
    /// The first block of an answer of the main thread.
    Answer(RequestUsage),
    Compaction(CompactionStart),
    /// The summary that a compaction left.
    Summary(String),
    Prompt(String),
    /// A typed command that expands to a prompt, by its name.
    TypedCommand(String),
    Call(Arc<ToolUse>),
    Result(ToolEnd),
    TurnEnd(TurnEnd),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactionStart {
    /// A person asked for it.
    pub is_by_hand: bool,
    pub tokens_before: Option<u64>,
    /// Messages that the host kept whole.
    pub kept: Vec<String>,
    /// The entry's id.
    pub entry: String,
}

/// A call of a tool.
pub struct ToolUse {
    pub id: String,
    pub tool: String,
    /// Without the contents of files.
    pub input: Value,
    pub(crate) at: Millis,
    /// Before the call.
    pub(crate) cwd: String,
    pub(crate) agent: Option<String>,
}

/// The end of a call that ran.
pub struct ToolEnd {
    pub call: Arc<ToolUse>,
    /// The structured result; the error's text if the call failed.
    pub response: Result<Value, String>,
    /// How long it ran, in milliseconds.
    pub millis: u64,
}

/// A task in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningTask {
    pub id: String,
    pub is_agent: bool,
}

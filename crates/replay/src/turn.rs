//! The ends of turns.

use crate::moment::RunningTask;

/// A turn that has not ended.
#[derive(Default)]
pub(super) struct OpenTurn {
    /// The id of the last answer of the main thread.
    pub(super) entry: String,
    pub(super) answered: bool,
    /// A call ended in it.
    pub(super) worked: bool,
    /// The last text for the person.
    pub(super) said: String,
}

/// The last entry of the main thread that matters for the end of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LastEntry {
    #[default]
    Prompt,
    Text,
    Call,
    Result,
    Interruption,
    ApiError,
}

#[derive(Clone, Debug)]
pub struct TurnEnd {
    /// Counted from 1, without turns in which nothing happened.
    pub turn: usize,
    /// The id of the last answer of the main thread.
    pub entry: String,
    pub ending: Ending,
    pub said: String,
    /// Tasks that had not ended.
    pub running: Vec<RunningTask>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The model stopped, and a prompt follows.
    Stop,
    /// It stopped without a word after its last call.
    Silent,
    /// The file ends after an answer.
    EndOfFile,
    /// The file ends before the model stopped.
    InsideTurn,
    Interrupted,
    /// A call has no result, and a prompt follows.
    BrokenOff,
    ApiError,
}

impl Ending {
    /// Whether the client would have asked its Stop hooks. A file that ends inside a turn counts too: it shows a state
    /// that can be judged.
    pub fn asks_hooks(self) -> bool {
        !matches!(self, Ending::Interrupted | Ending::BrokenOff | Ending::ApiError)
    }
}

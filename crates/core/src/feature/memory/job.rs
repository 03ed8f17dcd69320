//! Jobs: work that a hook leaves for the worker, one small file each.

use serde::{Deserialize, Serialize};

use crate::text::lang::Lang;
use crate::time::Millis;

/// The version of the format that this program writes, and the newest that it reads.
pub const VERSION: u32 = 1;

/// Unknown members of newer versions are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// [`VERSION`].
    pub v: u32,
    /// When the hook left it.
    pub at: Millis,
    pub session: String,
    #[serde(flatten)]
    pub work: Work,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "job", rename_all = "kebab-case")]
pub enum Work {
    /// Store the relays in a part of a transcript.
    Relays(TranscriptPart),
    /// Undecided topics were offered at the start of the session.
    Offered {
        /// Their ids.
        topics: Vec<i64>,
    },
}

/// A part of a transcript, with the hook's knowledge at that moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptPart {
    pub transcript: String,
    /// The first byte that no earlier job of the session covers.
    pub from: u64,
    /// The length of the file when the hook looked. The answer may come after it.
    pub to: u64,
    pub because: JobCause,
    /// The last answer at Stop, so that the worker can tell when it has arrived in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerDigest>,
    /// The topic that an MCP call last set in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<i64>,
    /// Relays that began up to this time must not be stored: recording was off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<Millis>,
    /// The default project of the relay.
    pub project: RelayProject,
    /// The language of the person, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<Lang>,
}

/// The event that left a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobCause {
    /// A turn ended.
    Stop,
    /// The session ended: nothing more will come.
    End,
    /// The session was resumed: the rest of an interrupted run.
    Start,
    /// Found by a worker: the session never ended properly.
    Left,
}

/// Identifies the last answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerDigest {
    /// Length of its text in bytes.
    pub bytes: u64,
    /// [`crate::text::fnv`] of its text.
    pub hash: u64,
}

/// The project of a relay, unless a tag or a topic names one within it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayProject {
    /// The git common directory, else the path of its root.
    pub key: String,
    /// The name of the main worktree's folder, else of the root.
    pub name: String,
    /// The root of the session, which may be a worktree.
    pub root: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

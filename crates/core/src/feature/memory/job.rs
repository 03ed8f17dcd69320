//! Jobs: what a hook leaves for the worker, one small file each.

use serde::{Deserialize, Serialize};

use crate::text::lang::Lang;
use crate::time::Millis;

/// The version of the format that this program writes and the newest that it reads.
pub const VERSION: u32 = 1;

/// A piece of work for the worker. Members that a newer version adds are passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// [`VERSION`].
    pub v: u32,
    /// When the hook left it.
    pub at: Millis,
    /// The session.
    pub session: String,
    /// What is to be done.
    #[serde(flatten)]
    pub work: Work,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "job", rename_all = "kebab-case")]
pub enum Work {
    /// Store what a part of a transcript holds of relays.
    Relays(Part),
    /// Undecided topics were offered at the start of the session.
    Offered {
        /// Their ids.
        topics: Vec<i64>,
    },
}

/// A part of a transcript, and what the hook knew when it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The transcript.
    pub transcript: String,
    /// The first byte that no earlier job of the session covers.
    pub from: u64,
    /// The length of the file when the hook looked. The answer may come after it.
    pub to: u64,
    /// Why it was left.
    pub because: Because,
    /// The last answer's text, as the host told it at Stop: its length in bytes and a hash ([`crate::text::fnv`]), so that the worker
    /// knows when it has arrived in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// The topic that an MCP call last set in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<i64>,
    /// What began up to this time and is not stored is not to be: nothing was recorded then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<Millis>,
    /// The default project of the relay.
    pub project: ProjectOf,
    /// The language of the person, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<Lang>,
}

/// Which event left a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Because {
    /// A turn ended.
    Stop,
    /// The session ended: nothing more will come.
    End,
    /// The session was taken up again: what an interrupted run left.
    Start,
    /// A worker found it: the session was never ended.
    Left,
}

/// How the last answer is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Its length in bytes.
    pub bytes: u64,
    /// A hash of its text.
    pub hash: u64,
}

/// Which project a relay belongs to, unless a tag or a topic names one within it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectOf {
    /// What it is known by: the git common directory, else the path of its root.
    pub key: String,
    /// What people call it: the name of the main worktree's folder, else of the root.
    pub name: String,
    /// The root of the session, which may be a worktree.
    pub root: String,
    /// The branch, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

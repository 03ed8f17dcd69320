//! Claude Code as a process: the client that a session belongs to, and the caller of a hook.

pub(crate) mod caller;
pub mod client;

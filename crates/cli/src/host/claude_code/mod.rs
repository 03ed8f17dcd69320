//! Claude Code's own files, as it writes them.

pub(crate) mod transcript;

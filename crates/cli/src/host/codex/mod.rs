//! Codex: its files, and what Tidegate puts into them or checks in them.

pub(crate) mod check;
pub(crate) mod config;
pub(crate) mod hooks_file;
pub(crate) mod plan;
pub(crate) mod registrations;
pub(crate) mod server_text;
pub(crate) mod trust;

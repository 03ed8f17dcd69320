//! Codex's files.

pub mod settings;

//! Files of Claude Code.

pub mod own_files;
pub mod settings;
pub mod skills;

//! Files of Claude Code.

pub mod own_files;
pub mod scheduled_tasks;
pub mod settings;
pub mod skills;

//! Checks of `doctor` that look at Claude Code: its program, its settings, its plugins and its sessions.

pub(crate) mod client;
pub(crate) mod disabled;
pub(crate) mod hooks;
pub(crate) mod installs;
pub(crate) mod life;
pub(crate) mod paths;
pub(crate) mod safety;
pub(crate) mod settings;
pub(crate) mod skills;
pub(crate) mod transcript;

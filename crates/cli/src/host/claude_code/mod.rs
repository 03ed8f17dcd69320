//! Claude Code: its files, as it reads and writes them, and all that Tidegate puts into them or checks in them.

// Its own files.
pub(crate) mod settings_file;
pub(crate) mod hook_shape;
pub(crate) mod settings_command;
pub(crate) mod plugin;
pub(crate) mod project_folder;
pub(crate) mod transcript;
pub(crate) mod client_session;
pub(crate) mod language_model;
// Tidegate's entries in them.
pub(crate) mod registrations;
pub(crate) mod status_line;
pub(crate) mod settings_text;
pub(crate) mod difference;
pub(crate) mod misread;
pub(crate) mod entry_leads;
pub(crate) mod server_text;
pub(crate) mod shipped;
pub(crate) mod listing;
pub(crate) mod used_parts;
// For `init` and `uninstall`.
mod target;
pub(crate) mod plan;
pub(crate) mod server;
pub(crate) mod warnings;
// For `doctor`.
pub(crate) mod client;
pub(crate) mod check;

/// Files in a project that git should not track: a person's own settings, and files that runs leave behind.
pub(crate) const IGNORED: [&str; 7] = [
    ".claude/settings.local.json",
    ".claude/tidegate.local.toml",
    ".claude/.context-budget.json",
    ".claude/dev-cycle.state.json*",
    ".claude/context/*.json",
    ".claude/context/progress.archive.md",
    ".claude/context/handoff.md",
];

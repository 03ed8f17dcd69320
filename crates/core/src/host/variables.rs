//! What a host's variables say.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::host::window::{AutoCompactWindow, HostSettings};

/// Finds a variable by its name.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The variables of one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostVariables {
    /// The folder of its own settings.
    pub config: Option<PathBuf>,
    /// The project's folder.
    pub project: Option<PathBuf>,
    /// The plugin that started this hook.
    pub plugin: Option<PathBuf>,
    /// The client's process.
    pub client: Option<u64>,
    /// The session.
    pub session: Option<String>,
    /// Whether a person is there, if it says so.
    pub attended: Option<String>,
    /// What they say about compaction.
    pub compaction: CompactionVariables,
}

/// What variables say about compaction; they count more than the host's files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompactionVariables {
    /// The host does not compact by itself.
    pub off: bool,
    /// The window to compact in.
    pub window: Option<u64>,
    /// The percentage of the window to compact at.
    pub percent: Option<f64>,
    /// Models with a window of a million tokens have 200K.
    pub no_long_context: bool,
    /// The window of models that the host does not know.
    pub unknown_window: Option<u64>,
}

impl CompactionVariables {
    /// The host's settings as its variables leave them.
    pub fn over(&self, files: &HostSettings) -> HostSettings {
        HostSettings {
            auto_compact: files.auto_compact && !self.off,
            auto_compact_windows: match self.window {
                Some(tokens) => vec![AutoCompactWindow { model: None, tokens: Some(tokens) }],
                None => files.auto_compact_windows.clone(),
            },
            percent: self.percent.or(files.percent),
            no_long_context: self.no_long_context || files.no_long_context,
            unknown_window: self.unknown_window.or(files.unknown_window),
        }
    }
}

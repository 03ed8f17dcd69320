//! Environment variables that a host sets for its hooks or reads itself, as values that are the same for all hosts.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::host::window::{AutoCompactWindow, HostSettings};

/// Finds a variable by its name.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostVariables {
    /// The folder of the host's settings.
    pub config: Option<PathBuf>,
    pub project: Option<PathBuf>,
    /// The plugin that started this hook.
    pub plugin: Option<PathBuf>,
    /// The client's process.
    pub client: Option<u64>,
    pub session: Option<String>,
    /// Whether a person is there, in the host's own word.
    pub attended: Option<String>,
    pub compaction: CompactionVariables,
}

/// Variables about compaction. They override the host's files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompactionVariables {
    /// The host does not compact by itself.
    pub off: bool,
    /// The window to compact in.
    pub window: Option<u64>,
    /// The percentage of the window to compact at.
    pub percent: Option<f64>,
    /// Models with a window of a million tokens get 200K.
    pub no_long_context: bool,
    /// The window of models that the host does not know.
    pub unknown_window: Option<u64>,
}

impl CompactionVariables {
    /// Applies the variables to the settings from the host's files.
    pub fn apply_to(&self, files: &HostSettings) -> HostSettings {
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

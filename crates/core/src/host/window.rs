//! A model's window, and the point in it at which a host compacts.

use serde::{Deserialize, Serialize};

/// A model's window and the token count at which the host compacts by itself, if it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Size of the window.
    pub tokens: u64,
    /// `None`: the host waits for the API's error, or never compacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_at: Option<u64>,
}

impl Window {
    /// What all distances are counted from.
    pub fn reference(&self) -> u64 {
        self.compact_at.unwrap_or(self.tokens)
    }
}

/// What the host's own settings and environment say about compaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostSettings {
    /// The host compacts by itself.
    pub auto_compact: bool,
    /// Windows that the host was told to compact in, for one model or for all; the first that fits the model counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub auto_compact_windows: Vec<AutoCompactWindow>,
    /// Compacts at this percentage of the window; can only lower the point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// Models with a window of a million tokens have 200K.
    pub no_long_context: bool,
    /// The window of models that the host does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_window: Option<u64>,
}

/// A window that the host was told to compact in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoCompactWindow {
    /// Only for this model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `None`: `"auto"`, the model's own way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

impl Default for HostSettings {
    fn default() -> Self {
        HostSettings {
            auto_compact: true,
            auto_compact_windows: Vec::new(),
            percent: None,
            no_long_context: false,
            unknown_window: None,
        }
    }
}

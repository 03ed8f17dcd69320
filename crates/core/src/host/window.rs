//! A model's window, and the point at which a host compacts.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    pub tokens: u64,
    /// `None`: the host waits for the API's error, or never compacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_at: Option<u64>,
}

impl Window {
    /// The point from which all distances are counted.
    pub fn reference(&self) -> u64 {
        self.compact_at.unwrap_or(self.tokens)
    }
}

/// Compaction settings from the host's files and environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostSettings {
    /// The host compacts by itself.
    pub auto_compact: bool,
    /// For one model or for all; the first that fits the model counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub auto_compact_windows: Vec<AutoCompactWindow>,
    /// Percentage of the window at which the host compacts; can only lower the point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// Models with a window of a million tokens get 200K.
    pub no_long_context: bool,
    /// The window of models that the host does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_window: Option<u64>,
}

/// A window from the host's settings to compact in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoCompactWindow {
    /// Only for this model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `None`: `"auto"`, the host's default for the model.
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

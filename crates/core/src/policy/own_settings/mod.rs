//! Own settings: an agent that edits Tidegate's config or state, or the host's hook settings, has a person asked first.
//!
//! The rules, case by case, are in `own_settings.md` beside this file.

use super::{Mode, Policy};
use crate::config::Config;
use crate::config::section::section;
use crate::config::setting::choices;
use crate::event::{Event, EventKind};
use crate::facts::marks::Marks;
use crate::facts::{Facts, Needs, OwnFile};
use crate::verdict::{Call, Verdict};

section! {
    /// Section `[own_settings]`.
    Settings "own_settings" {
        /// Whether a person is asked (`ask`), it is only recorded (`shadow`), or nobody looks.
        mode: OwnSettingsMode = OwnSettingsMode::Ask, Tightens;
    }
}

/// What the policy does with such an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnSettingsMode {
    /// Has a person asked.
    Ask,
    /// Only records.
    Shadow,
    /// Does not look.
    Off,
}

choices!(OwnSettingsMode {
    "off" => OwnSettingsMode::Off,
    "shadow" => OwnSettingsMode::Shadow,
    "ask" => OwnSettingsMode::Ask,
});

/// The policy.
pub struct OwnSettings;

impl Policy for OwnSettings {
    fn id(&self) -> &'static str {
        "own-settings"
    }

    fn mode(&self, config: &Config) -> Mode {
        match config.policies.own_settings.mode {
            OwnSettingsMode::Ask => Mode::Live,
            OwnSettingsMode::Shadow => Mode::Shadow,
            OwnSettingsMode::Off => Mode::Off,
        }
    }

    fn needs(&self, event: &Event<'_>, _: Option<&Marks>) -> Option<Needs> {
        let edits = event.kind == EventKind::PreToolUse && event.edit_target().is_some();
        edits.then_some(Needs { own_file: true, ..Needs::default() })
    }

    fn decide(&self, facts: &Facts<'_>, _: &Config) -> Verdict {
        let Some(file) = facts.own_file else { return Verdict::silent("none of our files") };
        let path = facts.event.edit_target().and_then(Result::ok).unwrap_or_default();
        let because = match file {
            OwnFile::Config => "the file is Tidegate's config",
            OwnFile::Host => "the file holds the host's hooks",
            OwnFile::State => "the file is Tidegate's state",
        };
        let reason = (facts.lang.words().own_file)(file, path);
        Verdict { call: Call::Ask, reason: Some(reason), because, ..Verdict::pass() }
    }
}

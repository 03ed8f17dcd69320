//! Settings, with their defaults: here, once.

use serde::Deserialize;

use crate::policy::{PolicySettings, Sections};
use crate::words::Lang;

/// Everything that can be set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Section-less keys.
    pub general: General,
    /// Section `[meter]`.
    pub meter: MeterSettings,
    /// Section `[journal]`.
    pub journal: JournalSettings,
    /// One section per policy.
    pub policies: PolicySettings,
    /// Policies switched off by `TIDEGATE_OFF`.
    pub off: Vec<String>,
    /// What was wrong with the config files; the defaults stand in.
    pub problems: Vec<String>,
}

/// Keys outside any section.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default)]
pub struct General {
    /// The language for people: `en` or `ja`. Unset: the locale, else the language of the last prompt.
    pub lang: Option<Lang>,
    /// Characters for the model in one reply. The host's own limit is 10,000.
    pub text_budget: usize,
}

impl Default for General {
    fn default() -> Self {
        General { lang: None, text_budget: 1200 }
    }
}

/// Section `[meter]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeterSettings {
    /// The window in tokens, where the host and the model table are wrong.
    pub window: Option<u64>,
}

/// Section `[journal]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JournalSettings {
    /// How long records are kept: `"30 days"`.
    pub keep: Days,
}

impl Default for JournalSettings {
    fn default() -> Self {
        JournalSettings { keep: Days(30) }
    }
}

impl JournalSettings {
    /// How long records are kept.
    pub fn keep_days(&self) -> u64 {
        self.keep.0
    }
}

/// A number of days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Days(pub u64);

impl TryFrom<String> for Days {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let number = text.trim().trim_end_matches("days").trim_end_matches("day").trim();
        let days = number.parse().ok().filter(|days| (1..=36_500).contains(days));
        days.map(Days).ok_or_else(|| format!("`{text}` is no number of days: use \"30 days\""))
    }
}

impl Config {
    /// Reads all sections.
    pub fn read(sections: &mut impl Sections, off: Option<&str>) -> Config {
        let mut config = Config {
            general: sections.section(""),
            meter: sections.section("meter"),
            journal: sections.section("journal"),
            policies: PolicySettings::read(sections),
            off: off.map(split_off).unwrap_or_default(),
            problems: Vec::new(),
        };
        config.general.text_budget = config.general.text_budget.clamp(200, 9_000);
        // A window of nothing is no window.
        config.meter.window = config.meter.window.filter(|window| *window > 0);
        config
    }

    /// Whether a person switched this policy off.
    pub fn switched_off(&self, policy: &str) -> bool {
        self.off.iter().any(|off| off == policy)
    }
}

/// `TIDEGATE_OFF=skill-gate,pressure`.
pub fn split_off(list: &str) -> Vec<String> {
    list.split([',', ' ']).map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

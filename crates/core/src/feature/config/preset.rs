//! The values that a preset sets, across all sections.

use crate::feature::config::Config;
use crate::settings::preset::Preset;
use crate::settings::section::Section;
use crate::settings::value::Value;

impl Config {
    /// Section, key and value.
    pub(super) fn preset_values(&self, preset: Preset) -> Vec<(&'static str, &'static str, Value)> {
        let of_section = |section: &dyn Section| {
            let name = section.name();
            section.preset(preset).into_iter().map(move |(key, value)| (name, key, value))
        };
        self.sections().into_iter().flat_map(of_section).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::section::{Put, Voice};

    #[test]
    fn guide_is_the_default() {
        let config = Config::default();
        for (section, key, value) in config.preset_values(Preset::Guide) {
            let found = config.section(section).expect("the section");
            assert_eq!(found.get(key), value, "{section}.{key}");
        }
    }

    #[test]
    fn every_policys_mode_is_part_of_a_preset() {
        let config = Config::default();
        let values = config.preset_values(Preset::Observe);
        for section in config.policies.sections() {
            let has_mode = section.keys().iter().any(|key| key.name == "mode");
            let is_set = values.iter().any(|(name, key, _)| (*name, *key) == (section.name(), "mode"));
            assert_eq!(is_set, has_mode, "{}", section.name());
        }
    }

    /// So a project's file may choose a stricter one. Except for a gate that `guide` does without: `observe` records
    /// its verdicts, so the step from `observe` to `guide` says less.
    #[test]
    fn presets_only_get_stricter() {
        let values = |preset| Config::default().preset_values(preset);
        let less = |section, from| (section, from) == ("task_gate", Preset::Observe);
        for (from, to) in [(Preset::Observe, Preset::Guide), (Preset::Guide, Preset::Strict)] {
            for ((section, key, old), (_, _, new)) in values(from).into_iter().zip(values(to)) {
                let mut config = Config::default();
                let found = config.section_mut(section).expect("a section");
                assert_ne!(found.put(key, &old, Voice::User), Put::Kept, "{section}.{key}");
                let put = found.put(key, &new, Voice::Untrusted);
                let expected = if less(section, from) {
                    Put::Waits
                } else if old == new {
                    Put::Kept
                } else {
                    Put::Taken
                };
                assert_eq!(put, expected, "{section}.{key}");
            }
        }
    }
}

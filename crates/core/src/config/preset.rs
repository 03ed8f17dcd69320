//! Presets: one word for the mode of every policy.

use super::setting::choices;
use super::value::Value;

/// How much Tidegate does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// Decides and writes down what it would have done, says and blocks nothing.
    Observe,
    /// Blocks where it has a fact, advises where it is asked for.
    #[default]
    Guide,
    /// Everything, to the letter.
    Strict,
}

choices!(Preset { "observe" => Preset::Observe, "guide" => Preset::Guide, "strict" => Preset::Strict });

/// What a preset sets: section, key, and the values of `observe`, `guide` and `strict`. `guide` is the built-in default.
const TABLE: &[(&str, &str, [&str; 3])] = &[
    ("pressure", "mode", ["shadow", "advise", "advise"]),
    ("own_settings", "mode", ["shadow", "ask", "ask"]),
];

impl Preset {
    /// What it sets.
    pub fn values(self) -> impl Iterator<Item = (&'static str, &'static str, Value)> {
        TABLE.iter().map(move |(section, key, values)| (*section, *key, values[self as usize].into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn guide_is_the_default() {
        let config = Config::default();
        for (section, key, value) in Preset::Guide.values() {
            let found = config.sections().into_iter().find(|found| found.name() == section);
            assert_eq!(found.expect("the section").get(key), value, "{section}.{key}");
        }
    }

    #[test]
    fn presets_only_get_stricter() {
        for (section, key, _) in TABLE.iter().map(|row| (row.0, row.1, row.2)) {
            let config = Config::default();
            let found =
                config.sections().into_iter().find(|found| found.name() == section).expect("a section");
            let shape = found.keys().iter().find(|found| found.name == key).expect("a key").shape;
            let crate::config::setting::Shape::Choice(names) = shape else { panic!("{section}.{key}") };
            let rank = |preset: Preset| {
                let value =
                    preset.values().find(|found| (found.0, found.1) == (section, key)).expect("a row").2;
                names.iter().position(|name| Value::from(*name) == value).expect("a known name")
            };
            assert!(rank(Preset::Observe) <= rank(Preset::Guide), "{section}.{key}");
            assert!(rank(Preset::Guide) <= rank(Preset::Strict), "{section}.{key}");
        }
    }
}

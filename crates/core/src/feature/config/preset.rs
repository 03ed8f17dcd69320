//! Presets: one word for the mode of every policy.

use crate::settings::setting::choices;
use crate::settings::value::Value;

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

/// A value in the table.
#[derive(Clone, Copy)]
enum Set {
    Word(&'static str),
    Number(i64),
    Names(&'static [&'static str]),
}

impl From<Set> for Value {
    fn from(set: Set) -> Value {
        match set {
            Set::Word(word) => word.into(),
            Set::Number(number) => Value::Whole(number),
            Set::Names(names) => Value::List(names.iter().map(|name| Value::from(*name)).collect()),
        }
    }
}

const fn words(observe: &'static str, guide: &'static str, strict: &'static str) -> [Set; 3] {
    [Set::Word(observe), Set::Word(guide), Set::Word(strict)]
}

/// What a preset sets: section, key, and the values of `observe`, `guide` and `strict`. `guide` is the built-in default.
const TABLE: &[(&str, &str, [Set; 3])] = &[
    ("pressure", "mode", words("shadow", "advise", "advise")),
    ("own_settings", "mode", words("shadow", "ask", "ask")),
    ("skill_gate", "mode", words("shadow", "deny", "deny")),
    (
        "skill_gate.require",
        "document",
        [Set::Names(&[]), Set::Names(&[]), Set::Names(&["document-quality-rules"])],
    ),
    ("verify_stop", "mode", words("shadow", "block", "block")),
    ("verify_stop", "blocks", [Set::Number(1), Set::Number(1), Set::Number(3)]),
    ("verify_stop", "wants", words("one", "one", "each")),
    ("task_gate", "mode", words("shadow", "off", "block")),
    ("cycle", "mode", words("shadow", "on", "on")),
    ("workflow", "mode", words("shadow", "on", "strict")),
    ("phase", "mode", words("shadow", "advise", "advise")),
    ("compaction", "mode", words("shadow", "on", "on")),
    ("compaction", "hold", words("never", "never", "first")),
    ("compound_nudge", "mode", words("shadow", "user", "both")),
    ("worktree", "mode", words("shadow", "on", "on")),
    ("meta_tag", "mode", words("off", "off", "block")),
    ("topic_decision", "mode", words("off", "note", "block")),
    ("relay_log", "mode", words("on", "on", "on")),
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
    use crate::feature::config::Config;
    use crate::settings::section::{Put, Voice};

    #[test]
    fn guide_is_the_default() {
        let config = Config::default();
        for (section, key, value) in Preset::Guide.values() {
            let found = config.section(section).expect("the section");
            assert_eq!(found.get(key), value, "{section}.{key}");
        }
    }

    /// So a project's file may choose a stricter one. But for a gate that `guide` does without: `observe` records what it
    /// would have done, so the step from there to `guide` says less, not more.
    #[test]
    fn presets_only_get_stricter() {
        let less = |section, from| (section, from) == ("task_gate", Preset::Observe);
        for (from, to) in [(Preset::Observe, Preset::Guide), (Preset::Guide, Preset::Strict)] {
            for ((section, key, old), (_, _, new)) in from.values().zip(to.values()) {
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

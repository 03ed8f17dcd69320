//! Names of version 0.1 that users typed or that its files hold, with the names of today.
//!
//! Readers of files and arguments translate at the edge, so that everything else knows one name only. A former name is
//! never an error. Rows stay for as long as files of 0.1 are read.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};

use crate::feature::switchable_policies;
use crate::settings::near;

/// Ids of policies.
const POLICIES: [(&str, &str); 5] = [
    ("phase", "activity"),
    ("pressure", "context-warning"),
    ("compound-nudge", "learning-reminder"),
    ("workflow-gate", "workflow"),
    ("relay-log", "recording"),
];

/// Top-level sections of the config, with everything in them.
pub(super) const SECTIONS: [(&str, &str); 4] = [
    ("phase", "activity"),
    ("pressure", "context_warning"),
    ("compound_nudge", "learning_reminder"),
    ("relay_log", "recording"),
];

/// Keys, by the name of their section today.
pub(super) const KEYS: [(&str, &str, &str); 2] =
    [("context_warning", "info", "early"), ("context_warning", "urgent", "late")];

/// Commands in `[approval] unattended`.
const COMMANDS: [(&str, &str); 1] = [("gate skip", "workflow skip")];

fn renamed(names: &[(&'static str, &'static str)], name: &str) -> Option<&'static str> {
    names.iter().find(|(former, _)| *former == name).map(|(_, now)| *now)
}

/// The id of today for a former one.
pub fn renamed_policy(id: &str) -> Option<&'static str> {
    renamed(&POLICIES, id)
}

pub fn current_policy(id: &str) -> &str {
    renamed_policy(id).unwrap_or(id)
}

/// The policy that a mistyped id most likely means.
pub fn nearest_policy(id: &str) -> Option<&'static str> {
    let former = POLICIES.iter().map(|(former, _)| *former);
    near::nearest(id, switchable_policies().chain(former)).map(|near| renamed_policy(near).unwrap_or(near))
}

pub(crate) fn current_command(name: &str) -> &str {
    renamed(&COMMANDS, name).unwrap_or(name)
}

/// A path of a section: only its first part has other names.
pub fn current_section(path: &str) -> Cow<'_, str> {
    let (top, rest) = path.split_at(path.find('.').unwrap_or(path.len()));
    match renamed(&SECTIONS, top) {
        Some(now) => Cow::Owned(format!("{now}{rest}")),
        None => Cow::Borrowed(path),
    }
}

/// `section`: the name of today.
pub(super) fn current_key<'k>(section: &str, key: &'k str) -> &'k str {
    let found = KEYS.iter().find(|(within, former, _)| (*within, *former) == (section, key));
    found.map_or(key, |(_, _, now)| now)
}

/// All other ways to write a setting.
pub(super) fn former_spellings(section: &str, key: &str) -> Vec<(String, String)> {
    let top = section.split('.').next().unwrap_or_default();
    let sections = SECTIONS.iter().filter(|(_, now)| *now == top);
    let sections = sections.map(|(former, _)| format!("{former}{}", &section[top.len()..]));
    let keys: Vec<&str> =
        KEYS.iter().filter(|row| (row.0, row.2) == (section, key)).map(|(_, former, _)| *former).collect();
    let sections: Vec<String> = std::iter::once(section.to_owned()).chain(sections).collect();
    let spell = |section: &String| {
        let spelled = std::iter::once(key).chain(keys.iter().copied());
        spelled.map(|key| (section.clone(), key.to_owned())).collect::<Vec<_>>()
    };
    sections.iter().flat_map(spell).skip(1).collect()
}

/// Reads the id of a policy from a file.
pub fn read_policy<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let id = String::deserialize(from)?;
    Ok(renamed_policy(&id).map_or(id, str::to_owned))
}

/// Reads ids of policies from a file.
pub(crate) fn read_policies<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let ids = Vec::<String>::deserialize(from)?;
    Ok(ids.into_iter().map(|id| renamed_policy(&id).map_or(id, str::to_owned)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::config::Config;

    #[test]
    fn every_row_leads_to_a_name_of_today_and_none_is_one() {
        for (former, now) in POLICIES {
            assert!(switchable_policies().any(|id| id == now), "{now}");
            assert!(switchable_policies().all(|id| id != former), "{former}");
        }
        let config = Config::default();
        for (former, now) in SECTIONS {
            assert!(config.section(now).is_some() && config.section(former).is_none(), "{former}");
        }
        for (section, former, now) in KEYS {
            let keys = config.section(section).expect("a section").keys();
            assert!(keys.iter().any(|key| key.name == now) && keys.iter().all(|key| key.name != former));
        }
    }

    #[test]
    fn a_path_is_translated_in_its_first_part() {
        for (path, now) in [
            ("phase.llm", "activity.llm"),
            ("phase", "activity"),
            ("phases", "phases"),
            ("skill_gate.phase", "skill_gate.phase"),
            ("", ""),
        ] {
            assert_eq!(current_section(path), now);
        }
    }

    #[test]
    fn spellings_lead_back() {
        let spellings = former_spellings("context_warning", "early");
        let path = |(section, key): &(String, String)| format!("{section}.{key}");
        let paths: Vec<String> = spellings.iter().map(path).collect();
        assert_eq!(paths, ["context_warning.info", "pressure.early", "pressure.info"]);
        for (section, key) in spellings {
            let section = current_section(&section);
            assert_eq!((&*section, current_key(&section, &key)), ("context_warning", "early"));
        }
        assert_eq!(former_spellings("activity.ship", "skills"), [("phase.ship".into(), "skills".into())]);
        assert_eq!(former_spellings("skill_gate", "mode"), []);
    }

    #[test]
    fn a_mistyped_former_id_leads_to_the_one_of_today() {
        assert_eq!(nearest_policy("presure"), Some("context-warning"));
        assert_eq!(nearest_policy("skil-gate"), Some("skill-gate"));
        assert_eq!(nearest_policy("nonsense"), None);
    }
}

//! Skills that the gates ask for.

use std::path::PathBuf;

use tidegate_state::bounded;

use super::super::finding::{Findings, count};
use super::super::gathered::Gathered;
use crate::install::shell::quoted;
use crate::install::shipped::required_skills;

/// More than this is no skill.
const LARGEST: u64 = 4 * 1024 * 1024;

pub(super) fn check(seen: &Gathered, found: &mut Findings) {
    if !seen.has_hooks() {
        found.ok("none is needed without hooks");
        return;
    }
    let plugin = seen.plugin.as_ref().and_then(|plugin| plugin.folder.clone());
    let places: Vec<PathBuf> =
        [seen.project.as_ref().map(|root| root.join(".claude")), seen.host.clone(), plugin]
            .into_iter()
            .flatten()
            .map(|place| place.join("skills"))
            .collect();
    let is_there = |place: &PathBuf, name: &str| {
        let text = bounded::read(&place.join(name).join("SKILL.md"), LARGEST);
        text.is_ok_and(|text| !text.trim_ascii().is_empty())
    };
    for name in required_skills().filter(|name| !places.iter().any(|place| is_there(place, name))) {
        // `init` keeps what is not its own.
        let there = places.iter().map(|place| place.join(name).join("SKILL.md")).find(|path| path.exists());
        let init = format!("`{}` installs it", seen.init_command(seen.scope()));
        found.warning(
            format!("the skill `{name}` is required, but not installed"),
            match there {
                Some(empty) => format!("remove {}, which has no text; then {init}", quoted(&empty)),
                None => init,
            },
        );
    }
    if found.is_empty() {
        found.ok(format!("{} required, all installed", count(required_skills().count(), "skill")));
    }
}

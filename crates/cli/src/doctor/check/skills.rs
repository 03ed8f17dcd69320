//! Skills that the gates ask for.

use std::path::PathBuf;

use tidegate_state::bounded;

use super::super::finding::{Findings, count};
use super::super::gathered::Gathered;
use crate::install::shell::quoted;
use crate::install::shipped;

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
        !name.contains(['/', '\\']) && text.is_ok_and(|text| !text.trim_ascii().is_empty())
    };
    // Where other plugins keep theirs is not known: `plugin:name` is taken on trust.
    let required: Vec<&str> = seen.config.policies.skills();
    let looked_for: Vec<&str> = required.iter().copied().filter(|name| !name.contains(':')).collect();
    for name in looked_for.iter().filter(|name| !places.iter().any(|place| is_there(place, name))) {
        // `init` keeps what is not its own.
        let there = places.iter().map(|place| place.join(name).join("SKILL.md")).find(|path| path.exists());
        let install = if shipped::has_skill(name) {
            format!("`{}` installs it", seen.init_command(seen.scope()))
        } else {
            format!("put it into `.claude/skills/{name}`; `tidegate config show --origin` says who wants it")
        };
        found.warning(
            format!("the skill `{name}` is required, but not installed"),
            match there {
                Some(empty) => format!("remove {}, which has no text; then {install}", quoted(&empty)),
                None => install,
            },
        );
    }
    if found.is_empty() {
        found.ok(match required.len() - looked_for.len() {
            0 => format!("{} required, all installed", count(required.len(), "skill")),
            of_plugins => format!(
                "{} required, all installed but for {of_plugins} of plugins that were not looked for",
                count(required.len(), "skill")
            ),
        });
    }
}

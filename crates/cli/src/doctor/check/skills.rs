//! Skills that the gates ask for.

use std::path::PathBuf;

use tidegate_state::bounded;

use super::super::finding::{Findings, count};
use super::super::gathered::Gathered;
use super::super::settings_file::Scope;

/// What the gates refer to.
// To be replaced by the names in `[skill_gate.require]`.
const REQUIRED: &[&str] = &["code-quality-rules", "verification-before-completion"];

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
    for name in REQUIRED {
        if !places.iter().any(|place| bounded::open(&place.join(name).join("SKILL.md")).is_ok()) {
            let scope = seen.ours().map(|command| command.scope).min().unwrap_or(Scope::Local);
            found.warning(
                format!("the skill `{name}` is required, but not installed"),
                format!("`{}` installs it", seen.init_command(scope)),
            );
        }
    }
    if found.is_empty() {
        found.ok(format!("{} required, all installed", count(REQUIRED.len(), "skill")));
    }
}

//! Settings in a project's `.claude` folder.

use std::path::Path;

use tidegate_hook::environment::Environment;

use super::{settings_file, settings_text};
use crate::path::is_same_place;

/// Claude Code's or Tidegate's.
pub(crate) fn has_settings(env: &Environment, folder: &Path) -> bool {
    let host = folder.join(".claude");
    let is_users = env.place.host().is_some_and(|users| is_same_place(&host, &users));
    let names = ["settings.json", "settings.local.json", "tidegate.toml", "tidegate.local.toml"];
    !is_users && names.iter().any(|name| host.join(name).is_file())
}

pub(crate) fn has_own_entries(env: &Environment, folder: &Path) -> bool {
    let host = folder.join(".claude");
    // In the home directory `settings.json` is the user's, and counts in every project.
    let is_users = env.place.host().is_some_and(|users| is_same_place(&host, &users));
    let names: &[&str] =
        if is_users { &["settings.local.json"] } else { &["settings.local.json", "settings.json"] };
    let link = env.place.link().map(|link| link.to_string_lossy().into_owned()).unwrap_or_default();
    let has_ours = |text: String| settings_text::has_ours(&text, &link);
    names.iter().any(|name| settings_file::read_text(&host.join(name)).is_some_and(has_ours))
}

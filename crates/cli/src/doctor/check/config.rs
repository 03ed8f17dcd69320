//! Config files and variables: mistakes, values that wait for trust, values without effect.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_core::host::claude_code::settings_file::Guard;
#[cfg(unix)]
use tidegate_memory::postgres::Address;
use tidegate_state::account;
use tidegate_state::file::bounded;
use tidegate_state::host::claude_code::settings::read_project_variables;
use toml_edit::{DocumentMut, Item};

use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::claude_code::settings_file::Scope;
#[cfg(unix)]
use crate::shell::quote_path;

/// More than this is no config.
const LARGEST: u64 = 4 * 1024 * 1024;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let path = seen.env.place.config();
    let file = path.as_ref().map_or_else(|| "the config".to_owned(), |path| path.display().to_string());
    for problem in &seen.config.problems {
        found.warning(
            problem.clone(),
            "mend it; `tidegate config show --origin` shows what counts until then",
        );
    }
    for name in &seen.config.former_names {
        let fix = format!("write `{}` there; the former name works, too", name.now);
        found.note_with(name.to_string(), fix);
    }
    for waiting in &seen.config.waiting {
        let effect = if waiting.in_part { "only adds to the list" } else { "has no effect" };
        let what = format!("{}: `{}` {effect}", waiting.assignment.origin, waiting.assignment.path());
        if waiting.never {
            found.note_with(what, format!("it counts only in {file}"));
        } else {
            found.note_with(what, "`tidegate trust` shows it and asks whether it may count");
        }
    }
    // The check `settings` reports unreadable files.
    let ignored = seen.project.as_deref().and_then(read_project_variables).unwrap_or_default();
    let names = ignored.into_iter().map(|variable| variable.name);
    for name in names.filter(|name| Guard::of(name) == Some(Guard::Ours)) {
        found.warning(
            format!("{name} is set in the project's settings, where it is ignored"),
            format!("take it out there; set {name} in the environment that you start the client from"),
        );
    }
    of_user(seen, found);
    let own = account::config_file();
    if !seen.config.policies.approval.unattended.0.is_empty() && own != path {
        let own = own.map_or_else(
            || "the config in the account's own home".to_owned(),
            |own| own.display().to_string(),
        );
        found.note_with(
            format!("{file}: `[approval]` allows nothing, because HOME or XDG_CONFIG_HOME leads there"),
            format!("it counts only in {own}"),
        );
    }
    #[cfg(unix)]
    if let Some(path) = path.as_deref().filter(|path| holds_password(seen) && is_open(path)) {
        found.warning(
            format!("{file} holds the password of the team's server and is open to other users"),
            format!("`chmod go-rwx {}` makes it yours alone; `[memory.team] password_variable` names a better place", quote_path(path)),
        );
    }
    for root in path.as_deref().map(lost_projects).unwrap_or_default() {
        found.note_with(
            format!("{file}: `[project.\"{root}\"]` is of a folder that is gone"),
            "write the folder's new path there if it was moved, or take the section out",
        );
    }
    if found.is_empty() {
        let there = path.is_some_and(|path| path.exists());
        found.ok(if there { file } else { "defaults only".to_owned() });
    }
}

#[cfg(unix)]
fn holds_password(seen: &Gathered) -> bool {
    let team = &seen.config.memory.team;
    let read = |url| Address::read(url, None, team.tls, None).ok();
    team.url.as_ref().and_then(read).is_some_and(|address| address.has_password())
}

#[cfg(unix)]
fn is_open(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

/// Variables in the user's own settings count in every client, and not in this terminal.
fn of_user(seen: &Gathered, found: &mut Findings) {
    let Some(file) = seen.client.settings.iter().find(|file| file.scope == Scope::User) else { return };
    let path = file.path.display();
    let variable = |name: &str| file.get("env")?.get(name).and_then(Value::as_str);
    if variable("TIDEGATE_GUARD").is_some_and(|value| !value.is_empty()) {
        found.warning(
            format!("TIDEGATE_GUARD is set in {path}: in no client anything is gated or said"),
            format!("take it out of {path}"),
        );
    }
    let here = seen.env.place.state().ok();
    if let Some(there) = variable("TIDEGATE_STATE_DIR").filter(|there| here != Some(PathBuf::from(there))) {
        let here = here.map_or_else(|| "nothing".to_owned(), |here| here.display().to_string());
        found.warning(
            format!(
                "TIDEGATE_STATE_DIR is {there} in {path}: hooks write there, commands here look at {here}"
            ),
            format!("take it out of {path}, or set it to the same in the environment of your shell"),
        );
    }
}

/// Sections of projects that were moved: these projects lost their preset.
fn lost_projects(config: &Path) -> Vec<String> {
    let text = bounded::read(config, LARGEST).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let document = text.and_then(|text| text.parse::<DocumentMut>().ok());
    let projects =
        document.as_ref().and_then(|document| document.get("project")).and_then(Item::as_table_like);
    let roots = projects.into_iter().flat_map(|projects| projects.iter().map(|(root, _)| root));
    let is_gone = |root: &&str| {
        let found = fs::metadata(root);
        Path::new(root).is_absolute() && found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    roots.filter(is_gone).map(str::to_owned).collect()
}

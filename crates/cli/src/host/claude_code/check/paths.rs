//! Programs that the settings call: the client silently skips a hook that it cannot start.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::super::registrations::Calls;
use super::super::settings_command::{CommandTarget, SettingsCommand};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::print::format_count;
use crate::program::{is_program, real_place};
use crate::shell::quote_path;

/// A bare name does not count: it is looked for on the person's own `PATH`.
fn is_elsewhere(program: &Path, link: &Path) -> bool {
    program.is_absolute() && real_place(program) != real_place(link)
}

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let mut ours: BTreeMap<(&Path, &str, Calls), Vec<&SettingsCommand>> = BTreeMap::new();
    for command in seen.ours() {
        ours.entry((&command.file, command.name(), command.calls)).or_default().push(command);
    }
    let link = seen.link.as_ref().and_then(|link| fs::canonicalize(link).ok());
    let (right, name) = match &link {
        Some(link) => (Some(link), "the one behind the stable link"),
        None => (seen.exe.as_ref(), "this one"),
    };
    for ((file, program, calls), commands) in &ours {
        let entries = if commands.len() == 1 { "1 entry" } else { &format!("{} entries", commands.len()) };
        let anew = if *calls == Calls::UsSomehow {
            format!("mend it or take it out of {} by hand: it is no entry of `tidegate init`", file.display())
        } else {
            format!("`{}` writes the path anew", seen.mending_command(commands[0].scope))
        };
        match commands[0].target(seen.around()) {
            CommandTarget::Missing(why) => {
                found.problem(format!("{}: {entries} of ours stale: {why}", file.display()), anew);
            }
            CommandTarget::File(path) if right.is_some_and(|right| path != *right) => found.warning(
                format!(
                    "{}: {entries} of ours call a foreign tidegate, {program}, not {name}",
                    file.display()
                ),
                anew,
            ),
            // The right program, but by a path that can be pointed elsewhere.
            CommandTarget::File(_)
                if *calls == Calls::Us
                    && !commands[0].selected
                    && seen
                        .link
                        .as_deref()
                        .is_some_and(|link| link.exists() && is_elsewhere(Path::new(program), link)) =>
            {
                found.warning(
                    format!("{}: {entries} of ours call {program}, not the stable link", file.display()),
                    anew,
                );
            }
            CommandTarget::File(_) | CommandTarget::Unclear => {}
        }
    }
    if let Some(plugin) = &seen.client.plugin
        && let Some(folder) = &plugin.folder
    {
        let (id, selector) = (&plugin.id, folder.join("bin/tidegate"));
        if !folder.is_dir() {
            found.problem(
                format!("the plugin {id} is enabled, but its folder {} is gone", folder.display()),
                format!("`claude plugin install {id}` puts it back"),
            );
        } else if let Err(why) = is_program(&selector) {
            found.problem(
                format!("the hooks of the plugin {id} do nothing: {} {why}", selector.display()),
                format!("`chmod +x {}`, or install the plugin again", quote_path(&selector)),
            );
        }
    }
    for command in &seen.client.commands {
        for path in command.gone_from_cache(seen.around()) {
            found.warning(
                format!(
                    "{}: {} calls {}, which an update of that plugin left behind",
                    command.file.display(),
                    command.event.as_deref().unwrap_or("the status line"),
                    path.display()
                ),
                "take that entry out of the file: a plugin registers its hooks by itself",
            );
        }
    }
    if found.is_empty() {
        let entries = ours.values().map(Vec::len).sum();
        found.ok(format!("{} of ours in the settings, all callable", format_count(entries, "command")));
    }
}

//! The registration of hooks: all of them, in the right form, and seen firing at least once.

use super::super::difference::{self, NEEDED};
use super::super::registrations::Calls;
use super::super::settings_file::{Content, Scope};
use crate::doctor::check::NO_STATE;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let init = seen.init_command(seen.scope());
    if !seen.has_hooks() {
        let place =
            seen.project.as_ref().map_or_else(|| "here".to_owned(), |root| root.display().to_string());
        found.problem(
            format!("no hook of ours is registered for {place}, neither in settings nor by a plugin"),
            format!("`{init}` registers them"),
        );
        return;
    }
    check_differences(seen, found);
    let missing: Vec<&str> = NEEDED.into_iter().filter(|event| !seen.is_registered(event)).collect();
    if !missing.is_empty() && found.is_empty() {
        found.problem(
            format!("not registered: {}", missing.join(", ")),
            format!("`{init}` registers all of them"),
        );
    }
    check_status_line(seen, found);
    let heard = seen.sessions_here().next().is_some()
        || seen.history.records.iter().any(|record| seen.is_here(record));
    if seen.state.is_err() {
        found.note(NO_STATE);
    } else if !heard {
        let text = "hooks are registered, but none has ever been seen firing in this project";
        // Only a session with a turn could have fired a hook.
        if seen.client.sessions.iter().any(|session| session.shown.has_turn()) {
            found.warning(text, super::life::CURE);
        } else {
            found.note_with(text, "start the client in this project, trust the folder, and send a prompt");
        }
    }
    if found.is_empty() {
        found.ok("registered, and seen firing");
    }
}

/// An entry can be there and do nothing.
fn check_differences(seen: &Gathered, found: &mut Findings) {
    for file in &seen.client.settings {
        let Content::Object(object) = &file.content else { continue };
        let differences = difference::find_differences(object, &seen.call);
        if differences.is_empty() {
            continue;
        }
        let whats: Vec<&str> = differences.iter().map(|difference| difference.what.as_str()).collect();
        let text =
            format!("{} differs from what this version registers: {}", file.path.display(), whats.join("; "));
        let is_theirs = seen.hooks().any(|hook| hook.file == file.path && hook.calls == Calls::UsSomehow);
        let cure = match file.scope {
            Scope::Managed => "ask whoever manages this machine".to_owned(),
            scope if is_theirs => format!(
                "take out by hand what calls `tidegate hook` in another way, then `{}`",
                seen.init_command(scope)
            ),
            scope => format!("`{}` registers them anew", seen.init_command(scope)),
        };
        if differences.iter().any(|difference| difference.is_grave) {
            found.problem(text, cure);
        } else {
            found.warning(text, cure);
        }
    }
}

/// The plugin brings none; `init` does.
fn check_status_line(seen: &Gathered, found: &mut Findings) {
    // The nearest file that has one counts.
    let shown = seen.client.settings.iter().find(|file| file.get("statusLine").is_some());
    let is_ours = |path: &std::path::PathBuf| {
        seen.ours().any(|command| command.event.is_none() && command.file == *path)
    };
    if seen.hooks().next().is_some() && !shown.is_some_and(|file| is_ours(&file.path)) {
        let what = match shown {
            Some(file) => format!("the status line in {} does not call us", file.path.display()),
            None => "there is no status line of ours".to_owned(),
        };
        // A line in a file nearer than the hooks' hides one in theirs.
        let scope = shown.map_or(seen.scope(), |file| file.scope.min(seen.scope()));
        let cure = match scope {
            Scope::Managed => "ask whoever manages this machine".to_owned(),
            // With a team's hooks, `--shared` writes only the line; a person's own hooks would be registered twice.
            Scope::Shared if seen.scope() != Scope::Shared => {
                format!("`{}` puts ours beside it", seen.init_command(Scope::Local))
            }
            scope => format!("`{}` puts ours beside it", seen.mending_command(scope)),
        };
        found.note_with(format!("{what}: the meter and silent hooks are not shown"), cure);
    }
}

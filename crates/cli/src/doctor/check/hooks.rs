//! Whether hooks are registered, all that have to be, and whether one was ever seen.

use super::super::finding::Findings;
use super::super::gathered::Gathered;
use super::super::settings_file::Scope;

/// Without these Tidegate is not at work.
const NEEDED: [&str; 5] = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];

pub(super) fn check(seen: &Gathered, found: &mut Findings) {
    let scope = seen.ours().map(|command| command.scope).min().unwrap_or(Scope::Local);
    let init = seen.init_command(scope);
    if !seen.has_hooks() {
        let place =
            seen.project.as_ref().map_or_else(|| "here".to_owned(), |root| root.display().to_string());
        found.problem(
            format!("no hook of ours is registered for {place}, neither in settings nor by a plugin"),
            format!("`{init}` registers them"),
        );
        return;
    }
    let missing: Vec<&str> = NEEDED.into_iter().filter(|event| !seen.is_registered(event)).collect();
    if !missing.is_empty() {
        found.problem(
            format!("not registered: {}", missing.join(", ")),
            format!("`{init}` registers all of them"),
        );
    }
    let heard = seen.sessions_here().next().is_some()
        || seen.history.records.iter().any(|record| seen.is_here(record));
    if seen.state.is_err() {
        found.note(super::NO_STATE);
    } else if !heard {
        let text = "hooks are registered, but none has ever been seen firing in this project";
        // The client's own sessions say whether there was an occasion.
        if seen.client_sessions.iter().any(|session| session.shown.has_turn()) {
            found.warning(text, super::life::CURE);
        } else {
            found.note_with(text, "start the client in this project, trust the folder, and send a prompt");
        }
    }
    if found.is_empty() {
        found.ok("registered, and seen firing");
    }
}

//! Our entries in the client's settings, and every other command that stands in them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::registrations::{self, Calls, OwnEntry, Starts, is_tidegate};
use super::settings_file::{Scope, SettingsFile};
use super::status_line;
use crate::path::real_path;
use crate::program::{find_on_path, is_program};
use crate::shell;

/// One command in a settings file.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) scope: Scope,
    pub(crate) file: PathBuf,
    /// `None`: the status line.
    pub(crate) event: Option<String>,
    /// The program and its arguments, as they are written.
    pub(crate) words: Vec<String>,
    /// Whether a shell reads it.
    shell: bool,
    /// Whether the program is looked for: behind the link, then on `PATH`.
    pub(crate) selected: bool,
    /// What it is to us, as `init` and `uninstall` see it.
    pub(crate) calls: Calls,
}

/// What a program's name in a settings file comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// This file.
    File(PathBuf),
    /// Nothing: the reason.
    Missing(String),
    /// It cannot be told without the client.
    Unclear,
}

/// What names in commands stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around<'a> {
    pub(crate) home: Option<&'a Path>,
    pub(crate) project: Option<&'a Path>,
    pub(crate) path: &'a [PathBuf],
    pub(crate) link: Option<&'a Path>,
}

/// Every command of a settings file: hooks, then the status line. `program` is what settings call us by.
pub(crate) fn commands(file: &SettingsFile, program: &str) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut take = |event: Option<&String>, handler: &Value| {
        let Some(command) = handler.get("command").and_then(Value::as_str) else { return };
        let args = handler.get("args").and_then(Value::as_array);
        let entry = event.and_then(|_| OwnEntry::read(handler));
        let selected = entry.as_ref().is_some_and(|entry| entry.starts == Starts::Selector);
        let (words, shell) = match (entry, args) {
            // In settings that a team shares, a line of shell looks for whatever each of them has.
            (Some(entry), _) if selected => {
                (std::iter::once("tidegate".to_owned()).chain(entry.words).collect(), false)
            }
            (_, Some(args)) => {
                let args = args.iter().filter_map(Value::as_str);
                (std::iter::once(command).chain(args).map(str::to_owned).collect(), false)
            }
            (_, None) => match status_line::called(command) {
                Some(program) => (vec![program, "statusline".to_owned()], false),
                None => (shell::words(command), true),
            },
        };
        let calls = match event {
            Some(_) => registrations::calls(handler, program),
            None => status_line::calls(command, program),
        };
        let (scope, file, event) = (file.scope, file.path.clone(), event.cloned());
        commands.push(Command { scope, file, event, words, shell, selected, calls });
    };
    for (event, entries) in file.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for entry in entries.as_array().into_iter().flatten() {
            for handler in entry.get("hooks").and_then(Value::as_array).into_iter().flatten() {
                take(Some(event), handler);
            }
        }
    }
    if let Some(line) = file.get("statusLine") {
        take(None, line);
    }
    commands
}

impl Command {
    /// The program as it is written, without variables set before it.
    fn program(&self) -> Option<&str> {
        let mut words = self.words.iter().map(String::as_str);
        words.find(|word| !(self.shell && shell::is_assignment(word)))
    }

    /// The program as it is written.
    pub(crate) fn name(&self) -> &str {
        self.program().unwrap_or_default()
    }

    /// Where its program is.
    pub(crate) fn target(&self, around: Around<'_>) -> Target {
        let name = self.name();
        // What somebody wrote around us says only by its first word what it starts.
        if self.calls == Calls::UsSomehow && !is_tidegate(name, "") {
            return Target::Unclear;
        }
        if let Some(link) = around.link.filter(|link| self.selected && is_program(link).is_ok()) {
            return Target::File(real_path(link));
        }
        let Some(name) = self.expand(name, around) else { return Target::Unclear };
        let path = Path::new(&name);
        let path = if path.components().count() <= 1 && !name.contains('/') {
            match find_on_path(around.path, &name) {
                Some(path) => path,
                None => return Target::Missing(format!("`{name}` is not on PATH")),
            }
        } else {
            around.project.map_or_else(|| path.to_owned(), |project| project.join(path))
        };
        match is_program(&path) {
            Ok(()) => Target::File(real_path(&path)),
            Err(why) => Target::Missing(format!("{} {why}", path.display())),
        }
    }

    /// Paths into the client's plugin cache that are not there any more: an update moves a plugin, and a copied path
    /// stays behind.
    pub(crate) fn gone_from_cache(&self, around: Around<'_>) -> Vec<PathBuf> {
        let in_cache = self.words.iter().filter(|word| word.contains("plugins/cache/"));
        let paths = in_cache.filter_map(|word| {
            let path = self.expand(word, around)?;
            // `--flag=/path` and `sh -c 'run /path/x'` hold one inside.
            let word = path.split_whitespace().find(|word| word.contains("plugins/cache/"))?.to_owned();
            let start = word.find('/').unwrap_or_default();
            Some(PathBuf::from(&word[start..]))
        });
        paths.filter(|path| path.is_absolute() && !path.exists()).collect()
    }

    /// With its variables filled in, as far as the client or the shell fills them in.
    fn expand(&self, text: &str, around: Around<'_>) -> Option<String> {
        let mut text = text.to_owned();
        let mut fill = |name: &str, value: Option<&Path>| {
            if let Some(value) = value {
                let value = value.to_string_lossy();
                text = text.replace(&format!("${{{name}}}"), &value).replace(&format!("${name}"), &value);
            }
        };
        fill("CLAUDE_PROJECT_DIR", around.project);
        if self.shell {
            fill("HOME", around.home);
            if let (Some(rest), Some(home)) = (text.strip_prefix("~/"), around.home) {
                text = home.join(rest).to_string_lossy().into_owned();
            }
            if text.contains(['$', '`']) {
                return None;
            }
        }
        (!text.contains("${")).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    use super::super::settings_file::Content;

    fn commands_of(settings: &Value) -> Vec<Command> {
        let content = Content::Object(settings.as_object().unwrap().clone());
        let file = SettingsFile { scope: Scope::User, path: "/s.json".into(), content, modified: None };
        commands(&file, "/opt/tidegate")
    }

    const AROUND: Around<'static> = Around { home: None, project: None, path: &[], link: None };

    #[test]
    fn ours_is_found_in_every_form() {
        let settings = json!({
            "hooks": {
                "Stop": [{ "hooks": [
                    { "type": "command", "command": "/opt/it's/tidegate", "args": ["hook", "--event", "Stop"] },
                    { "type": "command", "command": "A=1 '/opt/it'\\''s/tidegate' hook --event Stop" },
                    { "type": "command", "command": "tidegate.exe hook" },
                    { "type": "command", "command": "tidegate journal" },
                    { "type": "command", "command": "their-hook", "args": ["hook"] },
                    { "type": "prompt", "prompt": "?" },
                    7,
                ] }, {}, { "hooks": 5 }],
                "Start": {},
            },
            "statusLine": { "type": "command", "command": "'/opt/tidegate' statusline --wrap 'theirs'" },
        });
        let ours: Vec<Calls> = commands_of(&settings).iter().map(|command| command.calls).collect();
        assert_eq!(ours, [Calls::Us, Calls::UsSomehow, Calls::Us, Calls::Not, Calls::Not, Calls::Us]);
        assert!(commands_of(&json!({ "hooks": [], "statusLine": 5 })).is_empty());
    }

    #[test]
    fn what_cannot_be_told_is_not_missing() {
        let target = |command: &str| {
            let settings = json!({ "statusLine": { "command": command } });
            commands_of(&settings)[0].target(AROUND)
        };
        assert_eq!(target("$UNKNOWN/tidegate statusline"), Target::Unclear);
        assert_eq!(target("`which tidegate` statusline"), Target::Unclear);
        assert!(matches!(target("/no/such/tidegate statusline"), Target::Missing(_)));
        assert!(matches!(target("tidegate statusline"), Target::Missing(_)));
    }
}

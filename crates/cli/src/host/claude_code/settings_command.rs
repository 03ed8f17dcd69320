//! Commands in the client's settings, Tidegate's and others'.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::registrations::{self, Calls, OwnEntry, Starts, is_tidegate};
use super::settings_file::{Scope, SettingsFile};
use super::status_line;
use crate::path::real_path;
use crate::program::{find_on_path, is_program};
use crate::shell;

#[derive(Clone, Debug)]
pub(crate) struct SettingsCommand {
    pub(crate) scope: Scope,
    pub(crate) file: PathBuf,
    /// `None` for the status line.
    pub(crate) event: Option<String>,
    /// Program and arguments, as written.
    pub(crate) words: Vec<String>,
    /// A shell runs it.
    shell: bool,
    /// The program is looked for: behind the link, then on `PATH`.
    pub(crate) selected: bool,
    /// As `init` and `uninstall` see it.
    pub(crate) calls: Calls,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandTarget {
    File(PathBuf),
    /// With the reason.
    Missing(String),
    /// Only the client could tell.
    Unclear,
}

/// Values of names in commands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameValues<'a> {
    pub(crate) home: Option<&'a Path>,
    pub(crate) project: Option<&'a Path>,
    pub(crate) path: &'a [PathBuf],
    pub(crate) link: Option<&'a Path>,
}

/// Hooks, then the status line. `program` is the path of this program in settings.
pub(crate) fn list_commands(file: &SettingsFile, program: &str) -> Vec<SettingsCommand> {
    let mut commands = Vec::new();
    let mut take = |event: Option<&String>, handler: &Value| {
        let Some(command) = handler.get("command").and_then(Value::as_str) else { return };
        let args = handler.get("args").and_then(Value::as_array);
        let entry = event.and_then(|_| OwnEntry::read(handler));
        let selected = entry.as_ref().is_some_and(|entry| entry.starts == Starts::Selector);
        let (words, shell) = match (entry, args) {
            // In shared settings, a line of shell looks for each teammate's own program.
            (Some(entry), _) if selected => {
                (std::iter::once("tidegate".to_owned()).chain(entry.words).collect(), false)
            }
            (_, Some(args)) => {
                let args = args.iter().filter_map(Value::as_str);
                (std::iter::once(command).chain(args).map(str::to_owned).collect(), false)
            }
            (_, None) => match status_line::called_program(command) {
                Some(program) => (vec![program, "statusline".to_owned()], false),
                None => (shell::split_words(command), true),
            },
        };
        let calls = match event {
            Some(_) => registrations::classify_handler(handler, program),
            None => status_line::classify_command(command, program),
        };
        let (scope, file, event) = (file.scope, file.path.clone(), event.cloned());
        commands.push(SettingsCommand { scope, file, event, words, shell, selected, calls });
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

impl SettingsCommand {
    /// Without variables set before it.
    fn program(&self) -> Option<&str> {
        let mut words = self.words.iter().map(String::as_str);
        words.find(|word| !(self.shell && shell::is_assignment(word)))
    }

    /// As it is written.
    pub(crate) fn name(&self) -> &str {
        self.program().unwrap_or_default()
    }

    pub(crate) fn target(&self, around: NameValues<'_>) -> CommandTarget {
        let name = self.name();
        // Of a person's own script, only the first word shows which program it starts.
        if self.calls == Calls::UsSomehow && !is_tidegate(name, "") {
            return CommandTarget::Unclear;
        }
        if let Some(link) = around.link.filter(|link| self.selected && is_program(link).is_ok()) {
            return CommandTarget::File(real_path(link));
        }
        let Some(name) = self.expand(name, around) else { return CommandTarget::Unclear };
        let path = Path::new(&name);
        let path = if path.components().count() <= 1 && !name.contains('/') {
            match find_on_path(around.path, &name) {
                Some(path) => path,
                None => return CommandTarget::Missing(format!("`{name}` is not on PATH")),
            }
        } else {
            around.project.map_or_else(|| path.to_owned(), |project| project.join(path))
        };
        match is_program(&path) {
            Ok(()) => CommandTarget::File(real_path(&path)),
            Err(why) => CommandTarget::Missing(format!("{} {why}", path.display())),
        }
    }

    /// Missing paths in the client's plugin cache: an update moves a plugin, and a copied path is left behind.
    pub(crate) fn gone_from_cache(&self, around: NameValues<'_>) -> Vec<PathBuf> {
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

    /// Fills in the variables that the client or the shell would fill in.
    fn expand(&self, text: &str, around: NameValues<'_>) -> Option<String> {
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

    fn commands_of(settings: &Value) -> Vec<SettingsCommand> {
        let content = Content::Object(settings.as_object().unwrap().clone());
        let file = SettingsFile { scope: Scope::User, path: "/s.json".into(), content, modified: None };
        list_commands(&file, "/opt/tidegate")
    }

    const AROUND: NameValues<'static> = NameValues { home: None, project: None, path: &[], link: None };

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
        assert_eq!(target("$UNKNOWN/tidegate statusline"), CommandTarget::Unclear);
        assert_eq!(target("`which tidegate` statusline"), CommandTarget::Unclear);
        assert!(matches!(target("/no/such/tidegate statusline"), CommandTarget::Missing(_)));
        assert!(matches!(target("tidegate statusline"), CommandTarget::Missing(_)));
    }
}

//! Commands in the client's settings, Tidegate's and others'.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_state::file::bounded;

use super::registrations::{self, Calls, OwnEntry, Starts, is_tidegate};
use super::settings_file::{Scope, SettingsFile};
use super::status_line;
use crate::bilingual::{Bilingual, both};
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
    /// A person's own script whose text names Tidegate.
    pub(crate) is_script_around: bool,
    pub(crate) on_failure: OnFailure,
}

/// What Claude Code does with a call whose hook fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnFailure {
    Continue,
    Block,
}

/// A longer script is not searched.
const LARGEST_SCRIPT: u64 = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandTarget {
    File(PathBuf),
    /// Its name, and words that follow it.
    Missing(String, Bilingual),
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
        let is_script_around =
            event.is_some() && calls == Calls::Not && registrations::is_script_around(handler);
        let on_failure = match handler.get("onFailure").and_then(Value::as_str) {
            Some("block") => OnFailure::Block,
            _ => OnFailure::Continue,
        };
        let (scope, file, event) = (file.scope, file.path.clone(), event.cloned());
        commands.push(SettingsCommand {
            scope,
            file,
            event,
            words,
            shell,
            selected,
            calls,
            is_script_around,
            on_failure,
        });
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
                None => return CommandTarget::Missing(name, not_on_path()),
            }
        } else {
            around.project.map_or_else(|| path.to_owned(), |project| project.join(path))
        };
        match is_program(&path) {
            Ok(()) => CommandTarget::File(real_path(&path)),
            Err(why) => CommandTarget::Missing(path.display().to_string(), why),
        }
    }

    /// For a person's own command around Tidegate: what it starts, if that is certainly missing. Each program that it names is
    /// looked for, and one that is there is enough.
    pub(crate) fn missing_inside(&self, around: NameValues<'_>) -> Option<(String, Bilingual)> {
        let wrapper = PathBuf::from(self.expand(self.name(), around)?);
        if wrapper.is_absolute()
            && let Err(why) = is_program(&wrapper)
        {
            return Some((wrapper.display().to_string(), why));
        }
        let script = Some(&wrapper).filter(|path| path.is_absolute());
        let script = script.and_then(|path| bounded::read(path, LARGEST_SCRIPT).ok());
        let text = match script.filter(|bytes| bytes.starts_with(b"#!")) {
            Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            None => self.words.join(" "),
        };
        let mut missing = None;
        for name in named_programs(&text) {
            let name = expand_home(name, around.home)?;
            let why = if !name.contains('/') {
                find_on_path(around.path, &name).is_none().then(not_on_path)
            } else if Path::new(&name).is_absolute() {
                is_program(Path::new(&name)).err()
            } else {
                return None;
            };
            missing = missing.or(Some((name, why?)));
        }
        missing
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

fn not_on_path() -> Bilingual {
    both!("is not on PATH", "が PATH にありません")
}

/// Words of a script that name the program, outside of comments.
fn named_programs(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let words =
        lines.flat_map(|line| line.split(|c: char| c.is_whitespace() || "'\";|&()<>=`[],".contains(c)));
    words.filter(|word| is_tidegate(word, "tidegate"))
}

/// `None` if it holds another variable.
fn expand_home(path: &str, home: Option<&Path>) -> Option<String> {
    let below = ["$HOME/", "${HOME}/", "~/"].iter().find_map(|prefix| path.strip_prefix(prefix));
    let path = match below {
        Some(below) => home?.join(below).to_string_lossy().into_owned(),
        None => path.to_owned(),
    };
    (!path.contains('$')).then_some(path)
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
        assert!(matches!(target("/no/such/tidegate statusline"), CommandTarget::Missing(..)));
        assert!(matches!(target("tidegate statusline"), CommandTarget::Missing(..)));
    }

    #[test]
    fn a_wrapper_misses_its_program_only_where_that_is_certain() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let write = |name: &str, text: &str| {
            std::fs::write(at(name), text).unwrap();
            std::fs::set_permissions(at(name), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        };
        let path = [at("")];
        let around = NameValues { home: Some(home.path()), path: &path, ..AROUND };
        let missing = |script: &str| {
            write("gate.sh", script);
            let settings =
                json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "command": at("gate.sh") }] }] } });
            let command = &commands_of(&settings)[0];
            assert!(command.is_script_around, "{script}");
            command.missing_inside(around).map(|(name, _)| name)
        };
        let gone = at("gone/tidegate").display().to_string();
        assert_eq!(missing(&format!("#!/bin/sh\nexec '{gone}' \"$@\"\n")), Some(gone.clone()));
        assert_eq!(missing("#!/bin/sh\nexec \"$HOME/gone/tidegate\" hook\n"), Some(gone.clone()));
        assert_eq!(missing("#!/bin/sh\nexec tidegate hook\n"), Some("tidegate".to_owned()));
        for unclear in ["exec $WHERE/tidegate hook", "# calls tidegate\n./x", "exec bin/tidegate"] {
            assert_eq!(missing(&format!("#!/bin/sh\n{unclear}\n")), None, "{unclear}");
        }
        write("tidegate", "#!/bin/sh\n");
        assert_eq!(missing(&format!("#!/bin/sh\n[ -x {gone} ] && exec {gone}; exec tidegate\n")), None);
        // The script itself.
        let handler = json!({ "command": at("no.sh"), "args": ["hook", "--event", "PreToolUse"], "onFailure": "block" });
        let command = &commands_of(&json!({ "hooks": { "PreToolUse": [{ "hooks": [handler] }] } }))[0];
        assert!(command.calls == Calls::UsSomehow && command.on_failure == OnFailure::Block);
        assert_eq!(
            command.missing_inside(around).map(|(name, _)| name),
            Some(at("no.sh").display().to_string())
        );
    }
}

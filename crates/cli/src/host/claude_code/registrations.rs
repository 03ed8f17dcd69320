//! Hooks that Tidegate registers, and their form for each kind of install: settings, shared settings, the
//! plugin.
//!
//! A host may ignore any part of an entry, above all `args`. So `command` alone must do no harm: it is one
//! whole line of shell, or the program, which without arguments is a hook that never blocks
//! (`hook::run_bare`). `misread.rs` replaces entries of 0.1.0 that break this rule.
//!
//! An entry is Tidegate's if it runs the program and nothing else, as `init` or a person would write it
//! ([`OwnEntry`]). Such entries are replaced and removed. Anything that a person built around the program is
//! theirs. `doctor` uses the same definition, because an entry can be there and do nothing
//! (`difference.rs`).
//!
//! Without a program the plugin's selector answers no hook, and SessionStart tells the person: it must not
//! stop work that it cannot judge. With a program that cannot run, the gate stays closed.

use serde_json::{Map, Value, json};
use tidegate_core::event::EventKind;
use tidegate_core::host::Host;
use tidegate_state::file::bounded;

use crate::host::registered::HostHooks;
use crate::shell;

/// A registration costs a process per event, so only events in use are listed.
#[derive(Debug)]
pub(crate) struct Registration {
    pub(crate) event: EventKind,
    /// All calls if absent.
    pub(crate) matcher: Option<&'static str>,
    /// A failed check closes it.
    pub(crate) gate: bool,
}

const fn advice(event: EventKind) -> Registration {
    Registration { event, matcher: None, gate: false }
}

pub(crate) const REGISTRATIONS: &[Registration] = &[
    advice(EventKind::SessionStart),
    advice(EventKind::UserPromptSubmit),
    advice(EventKind::UserPromptExpansion),
    Registration {
        event: EventKind::PreToolUse,
        matcher: Some("Edit|Write|MultiEdit|NotebookEdit"),
        gate: true,
    },
    // A failure of Tidegate is no reason to stop an agent from being spawned.
    Registration {
        event: EventKind::PreToolUse,
        matcher: Some("AskUserQuestion|ExitWorktree|Agent|Task|Workflow|SendMessage|Skill"),
        gate: false,
    },
    advice(EventKind::PostToolUse),
    advice(EventKind::PostToolUseFailure),
    advice(EventKind::Stop),
    advice(EventKind::SubagentStop),
    advice(EventKind::TaskCompleted),
    advice(EventKind::PreCompact),
    advice(EventKind::PostCompact),
    advice(EventKind::PostModelSwitch),
    advice(EventKind::ConfigChange),
    advice(EventKind::DirectoryAdded),
    advice(EventKind::WorktreeRemove),
    advice(EventKind::SessionEnd),
];

#[derive(Clone, Copy, Debug)]
pub(crate) enum Caller<'a> {
    /// A person's own settings: this program.
    Program(&'a str),
    /// Settings that a team shares: the program of each teammate, if any.
    Shared,
    /// The plugin's own selector.
    Plugin,
    /// Another host's own file: this program.
    OfHost(&'static HostHooks, &'a str),
    /// The plugin's hooks for another host.
    PluginOf(&'static HostHooks),
}

impl Caller<'_> {
    /// The host reads its MCP servers from the file with its hooks.
    pub(crate) fn keeps_server(&self) -> bool {
        matches!(self, Caller::OfHost(hooks, _) if hooks.host == Host::Qwen)
    }

    pub(crate) fn registrations(&self) -> &'static [Registration] {
        match self {
            Caller::OfHost(hooks, _) | Caller::PluginOf(hooks) => hooks.registrations,
            Caller::Program(_) | Caller::Shared | Caller::Plugin => REGISTRATIONS,
        }
    }
}

/// Finds the program in a person's home or on their path and becomes it. Without one it is silent and gates nothing: a
/// teammate without Tidegate must be neither locked out nor nagged. Only absolute places: the current folder must not
/// choose the program. Builtins only, since it runs at every event.
const SHARED: ShellLine = ShellLine {
    before: concat!(
        r#"set -f; IFS=:; for d in "${XDG_DATA_HOME:-$HOME/.local/share}/tidegate/bin" $PATH; do "#,
        r#"case $d in /*) [ -f "$d/tidegate" ] && [ -x "$d/tidegate" ] && exec "$d/tidegate" "#,
    ),
    after: ";; esac; done; exit 0",
};

/// Becomes the plugin's selector. Quoted, since a home may have a space in its name; braces, since some hosts fill the
/// variable in and do not set it; and without the file silent, since some hosts take every failure for a denial.
const PLUGIN: ShellLine = ShellLine {
    before: concat!(
        r#"[ ! -x "${CLAUDE_PLUGIN_ROOT}/bin/tidegate" ] || "#,
        r#"exec "${CLAUDE_PLUGIN_ROOT}/bin/tidegate" "#,
    ),
    after: "",
};

fn program_line(program: &str, words: &[&str]) -> String {
    format!("{} {}", shell::quote_text(program), words.join(" "))
}

struct ShellLine {
    before: &'static str,
    after: &'static str,
}

impl ShellLine {
    fn around(&self, words: &[&str]) -> String {
        format!("{}{}{}", self.before, words.join(" "), self.after)
    }

    fn words(&self, line: &str) -> Option<Vec<String>> {
        let words = line.strip_prefix(self.before)?.strip_suffix(self.after)?;
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        words.iter().all(|word| is_own_word(word)).then_some(words)
    }
}

/// Tidegate wrote only arguments in which a shell finds nothing to expand.
fn is_own_word(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

impl Registration {
    pub(crate) fn group(&self, caller: Caller<'_>) -> Value {
        let mut group = Map::new();
        if let Some(matcher) = self.matcher {
            group.insert("matcher".to_owned(), json!(matcher));
        }
        group.insert("hooks".to_owned(), json!([self.handler(caller)]));
        Value::Object(group)
    }

    /// Other agents read these files, too, and ignore keys that they do not know, such as `args`. So `command` alone
    /// must be harmless: one whole line of shell, or the program, which treats a call without arguments as a hook. A
    /// shell or another interpreter would run the payload on its standard input.
    pub(crate) fn handler(&self, caller: Caller<'_>) -> Value {
        let mut words = vec!["hook", "--event", self.event.name()];
        if self.event == EventKind::PreToolUse && !self.gate {
            words.push("--advice");
        }
        let mut handler = json!({ "type": "command" });
        match caller {
            Caller::OfHost(hooks, program) => {
                words.extend(["--host", hooks.host.name()]);
                return (hooks.handler)(program, &words);
            }
            Caller::PluginOf(hooks) => {
                words.extend(["--via", "plugin", "--host", hooks.host.name()]);
                return (hooks.plugin_handler)(&words);
            }
            // A shell would cost half as much again as the hook itself.
            Caller::Program(program) if shell::is_plain(program) || cfg!(windows) => {
                handler["command"] = json!(program);
                handler["args"] = json!(words);
            }
            Caller::Program(program) => {
                handler["command"] = json!(program_line(program, &words));
            }
            Caller::Shared => {
                words.extend(["--via", "shared"]);
                handler["command"] = json!(SHARED.around(&words));
            }
            Caller::Plugin => {
                words.extend(["--via", "plugin"]);
                handler["command"] = json!(PLUGIN.around(&words));
            }
        }
        if self.gate && !matches!(caller, Caller::Shared) {
            // Older clients do not know the key; for them the exit code has to do.
            handler["onFailure"] = json!("block");
        }
        handler
    }
}

pub(crate) fn group_handlers(caller: Caller<'_>) -> Vec<(&'static str, Vec<Value>)> {
    let mut events: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for registration in caller.registrations() {
        let (name, group) = (registration.event.name(), registration.group(caller));
        match events.iter_mut().find(|(event, _)| *event == name) {
            Some((_, groups)) => groups.push(group),
            None => events.push((name, vec![group])),
        }
    }
    events
}

pub(crate) fn plugin_hooks() -> Value {
    plugin_hooks_of(Caller::Plugin)
}

pub(crate) fn plugin_hooks_of(caller: Caller<'_>) -> Value {
    let hooks: Map<String, Value> =
        group_handlers(caller).into_iter().map(|(event, groups)| (event.to_owned(), json!(groups))).collect();
    json!({ "description": "Meters the context, gates edits, records every ruling", "hooks": hooks })
}

/// A hook entry that starts Tidegate and nothing else, in this form or an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnEntry {
    pub(crate) starts: Starts,
    /// For example `hook --event Stop`.
    pub(crate) words: Vec<String>,
    /// `command` is a shell, which runs the payload in hosts that ignore `args`.
    pub(crate) runs_payload: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Starts {
    /// By its path.
    Program(String),
    /// Looked for in a person's home and on `PATH`.
    Selector,
    PluginSelector,
}

impl OwnEntry {
    /// `None` if the handler does something else, or more.
    pub(crate) fn read(handler: &Value) -> Option<OwnEntry> {
        // `exec` starts a program without a shell, with `args`, in the hosts that know it. With both, one host would
        // start the one and another the other.
        let command = match (handler.get("exec"), handler.get("command")) {
            (Some(one), None) | (None, Some(one)) => one.as_str()?,
            _ => return None,
        };
        let entry = |starts: Starts, words: &[String], runs_payload: bool| {
            Some(OwnEntry { starts, words: words.to_vec(), runs_payload })
        };
        let args: Vec<String> =
            given_args(handler).iter().map(|arg| arg.as_str().unwrap_or_default().into()).collect();
        match args.as_slice() {
            [] => {
                if let Some(words) = SHARED.words(command) {
                    return entry(Starts::Selector, &words, false);
                }
                if let Some(words) = PLUGIN.words(command) {
                    return entry(Starts::PluginSelector, &words, false);
                }
                match shell::plain_words(command)?.as_slice() {
                    // Copied by agents that do not know `args`.
                    [program] if is_named_tidegate(program) => {
                        entry(Starts::Program(program.clone()), &[], false)
                    }
                    [program, words @ ..] if words.first()? == "hook" => {
                        entry(Starts::Program(program.clone()), words, false)
                    }
                    _ => None,
                }
            }
            [hook, ..] if hook == "hook" => entry(Starts::Program(command.to_owned()), &args, false),
            [c, line, _, words @ ..]
                if is_shell(command) && c == "-c" && (is_old_selector(line) || only_starts_us(line)) =>
            {
                entry(Starts::Selector, words, true).filter(|_| words.first().is_some_and(|it| it == "hook"))
            }
            [selector, words @ ..] if is_shell(command) && words.first().is_some_and(|it| it == "hook") => {
                if selector == "${CLAUDE_PLUGIN_ROOT}/bin/tidegate" {
                    entry(Starts::PluginSelector, words, true)
                } else if selector.ends_with("/bin/tidegate") {
                    // An importer filled in the variable.
                    entry(Starts::Program(selector.clone()), words, true)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// From a registration that gates nothing.
    pub(crate) fn is_advice(&self) -> bool {
        self.words.iter().any(|word| word == "--advice")
    }

    /// As one line of shell. `None` for arguments that Tidegate never wrote, since a shell might expand them.
    pub(crate) fn line(&self) -> Option<String> {
        if !self.words.iter().all(|word| is_own_word(word)) {
            return None;
        }
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        match &self.starts {
            Starts::Program(program) => Some(program_line(program, &words)),
            Starts::Selector => Some(SHARED.around(&words)),
            Starts::PluginSelector => Some(PLUGIN.around(&words)),
        }
    }

    pub(crate) fn caller(&self) -> Caller<'_> {
        match &self.starts {
            Starts::Program(program) => Caller::Program(program),
            Starts::Selector => Caller::Shared,
            Starts::PluginSelector => Caller::Plugin,
        }
    }
}

/// An empty list counts as none.
pub(crate) fn given_args(handler: &Value) -> &[Value] {
    handler.get("args").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Lines by which versions up to 0.1.0 looked for the program.
fn is_old_selector(line: &str) -> bool {
    let begins = line.starts_with("set -f; IFS=:; for d in ") || line.starts_with("for t in ");
    begins && line.contains("\"$@\"") && line.ends_with("done; exit 0")
}

/// The script looks for the program on `PATH`, starts it with its own arguments, and does nothing else.
fn only_starts_us(script: &str) -> bool {
    const WORDS: [&str; 17] = [
        "if",
        "then",
        "else",
        "fi",
        "&&",
        "||",
        "command",
        "-v",
        "exec",
        "tidegate",
        "\"$@\"",
        "exit",
        "0",
        "true",
        ">/dev/null",
        "2>/dev/null",
        "2>&1",
    ];
    let words = || script.split(|c: char| c == ';' || c.is_whitespace()).filter(|word| !word.is_empty());
    script.contains("tidegate \"$@\"") && words().all(|word| WORDS.contains(&word))
}

fn is_shell(command: &str) -> bool {
    let name = std::path::Path::new(command.trim()).file_name();
    ["sh", "bash", "dash", "zsh"].iter().any(|shell| name == Some(shell.as_ref()))
}

/// An argument names the program, or a script called after it. A folder of that name does not count.
pub(crate) fn mentions_us(handler: &Value) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let names = |arg: &str| {
        arg.match_indices("tidegate").any(|(at, name)| {
            !arg[..at].ends_with(is_part) && !arg[at + name.len()..].starts_with(|c| is_part(c) || c == '/')
        })
    };
    given_args(handler).iter().filter_map(Value::as_str).any(names)
}

/// Without `args` an interpreter runs its standard input as a script.
pub(crate) fn is_interpreter(handler: &Value) -> bool {
    const INTERPRETERS: [&str; 12] = [
        "sh",
        "bash",
        "dash",
        "zsh",
        "ksh",
        "fish",
        "busybox",
        "pwsh",
        "powershell",
        "python3",
        "python",
        "node",
    ];
    let command = handler.get("command").and_then(Value::as_str).unwrap_or_default();
    let name = std::path::Path::new(command.trim()).file_stem().unwrap_or_default();
    INTERPRETERS.iter().any(|interpreter| name == *interpreter)
}

/// The relation of an entry to Tidegate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Calls {
    Not,
    /// Tidegate's own: `init` replaces it and `uninstall` removes it.
    Us,
    /// A person's own script around Tidegate: only they can remove it.
    UsSomehow,
}

/// Tidegate's own entries run this program, one called tidegate, or a selector, and nothing else.
pub(crate) fn classify_handler(handler: &Value, program: &str) -> Calls {
    match OwnEntry::read(handler).map(|entry| entry.starts) {
        Some(Starts::Selector | Starts::PluginSelector) => Calls::Us,
        Some(Starts::Program(called)) if is_tidegate(&called, program) => Calls::Us,
        // Another program with Tidegate's own arguments can only pass them on.
        Some(Starts::Program(_)) if names_event(handler) => Calls::UsSomehow,
        _ => {
            let lines = handler.get("command").into_iter().chain(given_args(handler));
            lines.filter_map(Value::as_str).map(classify_line).max().unwrap_or(Calls::Not)
        }
    }
}

fn names_event(handler: &Value) -> bool {
    let words = OwnEntry::read(handler).map(|entry| entry.words).unwrap_or_default();
    let event = words.iter().position(|word| word == "--event").and_then(|at| words.get(at + 1));
    event.is_some_and(|event| REGISTRATIONS.iter().any(|known| known.event.name() == event))
}

/// A script that names the program in its text. `uninstall` and `doctor` read it: a hook that starts a missing program may
/// block every edit.
pub(crate) fn is_script_around(handler: &Value) -> bool {
    const LARGEST: u64 = 64 * 1024;
    let command = handler.get("command").and_then(Value::as_str).unwrap_or_default();
    let words = shell::plain_words(command).unwrap_or_default();
    let script = words.iter().map(String::as_str).chain(given_args(handler).iter().filter_map(Value::as_str));
    let mut files = script.map(std::path::Path::new).filter(|path| path.is_absolute());
    files.any(|path| {
        bounded::read(path, LARGEST).is_ok_and(|text| {
            text.starts_with(b"#!") && text.windows(b"tidegate".len()).any(|part| part == b"tidegate")
        })
    })
}

/// By the words in a line of shell.
fn classify_line(line: &str) -> Calls {
    let ends = ["tidegate hook", "tidegate' hook", "tidegate\" hook", "tidegate.exe hook"];
    if ends.iter().any(|end| line.contains(end)) { Calls::UsSomehow } else { Calls::Not }
}

pub(crate) fn is_ours(handler: &Value, program: &str) -> bool {
    classify_handler(handler, program) == Calls::Us
}

/// A script called tidegate does not count.
fn is_named_tidegate(path: &str) -> bool {
    let name = std::path::Path::new(path).file_name();
    name.is_some_and(|name| name == "tidegate" || name == "tidegate.exe")
}

/// This program, or that of another version.
pub(crate) fn is_tidegate(path: &str, program: &str) -> bool {
    path == program || is_named_tidegate(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::host::claude_code::tools::{AGENT_TOOLS, SPAWNING_TOOLS};

    #[test]
    fn only_gates_block_and_only_where_everybody_has_the_program() {
        for registration in REGISTRATIONS {
            for (caller, blocks) in
                [(Caller::Program("/x/tidegate"), true), (Caller::Shared, false), (Caller::Plugin, true)]
            {
                let handler = registration.handler(caller);
                assert_eq!(handler.get("onFailure").is_some(), blocks && registration.gate, "{handler}");
                let is_advice = registration.event == EventKind::PreToolUse && !registration.gate;
                assert_eq!(OwnEntry::read(&handler).unwrap().is_advice(), is_advice, "{handler}");
            }
            assert!(is_ours(&registration.handler(Caller::Program("/opt/gate")), "/opt/gate"));
            assert!(is_ours(&registration.handler(Caller::Program("/opt/a gate")), "/opt/a gate"));
            assert!(is_ours(&registration.handler(Caller::Program("/old/tidegate")), "/new/tidegate"));
            assert!(is_ours(&registration.handler(Caller::Shared), "/x/tidegate"));
        }
    }

    #[test]
    fn every_tool_that_starts_agents_is_matched() {
        let advised = REGISTRATIONS.iter().find(|it| it.event == EventKind::PreToolUse && !it.gate).unwrap();
        let matched: Vec<&str> = advised.matcher.unwrap().split('|').collect();
        for tool in SPAWNING_TOOLS.iter().chain(AGENT_TOOLS) {
            assert!(matched.contains(tool), "{tool}");
        }
    }

    #[test]
    fn ours_is_told_from_what_others_wrote() {
        for foreign in [
            json!({ "command": "sh", "args": ["-c", "x", "y", "hook"] }),
            json!({ "command": "/x/tidegate", "args": ["status"] }),
            json!({ "command": "/x/other", "args": ["hook"] }),
            json!("tidegate hook"),
            json!({ "command": "/x/tidegate journal" }),
            json!({ "command": "/x/other", "exec": "/x/tidegate", "args": ["hook", "--event", "Stop"] }),
            json!({ "command": "/x/tidegate", "exec": "/x/other", "args": ["hook", "--event", "Stop"] }),
            json!({ "command": "/x/other hook" }),
            json!({ "command": "/x/other" }),
            json!({ "command": "/hooks/tidegate.sh" }),
            json!({ "command": "/hooks/tidegate.sh", "args": ["hook", "--log", "/x"] }),
            json!({ "command": "python3", "args": ["-c", "import my; my.run()", "tidegate", "hook"] }),
            json!({ "command": "node", "args": ["/x/bin/tidegate", "hook"] }),
            json!({ "command": "bash", "args": ["-c", "exec 2>>log; exec tidegate \"$@\"", "tidegate", "hook"] }),
        ] {
            assert_eq!(classify_handler(&foreign, "/x/tidegate"), Calls::Not, "{foreign}");
        }
        for line in [
            "/old/tidegate hook --event Stop",
            "$HOME/bin/tidegate hook",
            "'/it'\\''s/tidegate' hook",
            // As agents copy it that do not know `args`.
            "/x/tidegate",
        ] {
            assert_eq!(classify_handler(&json!({ "command": line }), "/x/tidegate"), Calls::Us, "{line}");
        }
        for own in [
            json!({ "command": "A=1 tidegate hook --event Stop" }),
            json!({ "command": "cd x && '/opt/tidegate' hook" }),
            json!({ "command": "bash", "args": ["-c", "tidegate hook | tee log"] }),
            json!({ "command": "/hooks/tidegate.py hook --event Stop" }),
            json!({ "command": "/hooks/wrapper", "args": ["hook", "--event", "PreToolUse"], "onFailure": "block" }),
        ] {
            assert_eq!(classify_handler(&own, "/x/tidegate"), Calls::UsSomehow, "{own}");
        }
        let earlier = [
            json!({ "command": "sh", "args": ["-c", "for t in x; do exec \"$t\" \"$@\"; done; exit 0", "tidegate", "hook"] }),
            json!({ "command": "sh", "args": ["/home/me/plugins/bin/tidegate", "hook", "--event", "Stop"] }),
            json!({ "command": "/bin/bash", "args": ["-c", "exec tidegate \"$@\"", "_", "hook", "--event", "Stop"] }),
            json!({ "command": "zsh", "args": ["-c", "if command -v tidegate >/dev/null 2>&1; then exec tidegate \"$@\"; fi", "x", "hook"] }),
        ];
        for entry in earlier {
            assert!(is_ours(&entry, "/x/tidegate") && is_interpreter(&entry), "{entry}");
        }
    }

    #[test]
    fn a_command_is_harmless_without_the_rest_of_its_entry() {
        let callers = [
            Caller::Program("/x/tidegate"),
            Caller::Program("/a b/$(x)`/tidegate"),
            Caller::Shared,
            Caller::Plugin,
        ];
        for (caller, registration) in
            callers.iter().flat_map(|caller| REGISTRATIONS.iter().map(move |it| (caller, it)))
        {
            let handler = registration.handler(*caller);
            let command = handler["command"].as_str().unwrap();
            assert!(!is_interpreter(&handler), "{command}");
            // With `args` a shell must take the command for one word; without, the command says everything.
            match handler.get("args") {
                Some(_) => assert!(shell::is_plain(command), "{command}"),
                None => assert!(command.contains(&format!("hook --event {}", registration.event.name()))),
            }
        }
    }

    #[test]
    fn the_plugin_calls_its_own_selector() {
        let hooks = plugin_hooks();
        assert_eq!(hooks["description"], "Meters the context, gates edits, records every ruling");
        let line = concat!(
            r#"[ ! -x "${CLAUDE_PLUGIN_ROOT}/bin/tidegate" ] || exec "${CLAUDE_PLUGIN_ROOT}/bin/tidegate" "#,
            "hook --event PreToolUse --via plugin",
        );
        let gate = json!({
            "matcher": "Edit|Write|MultiEdit|NotebookEdit",
            "hooks": [{ "type": "command", "command": line, "onFailure": "block" }],
        });
        assert_eq!(hooks["hooks"]["PreToolUse"][0], gate);
        let advice = hooks["hooks"]["PreToolUse"][1]["hooks"][0]["command"].as_str().unwrap();
        assert!(advice.ends_with("hook --event PreToolUse --advice --via plugin"), "{advice}");
        assert_eq!(hooks["hooks"].as_object().unwrap().len(), REGISTRATIONS.len() - 1);
    }
}

//! What is registered with the host, and how each kind of install writes it.

use serde_json::{Map, Value, json};
use tidegate_core::event::EventKind;

use super::shell;

/// One entry: the event, its matcher, and whether it gates. A registration costs a process per event, so only what
/// somebody uses is here.
#[derive(Debug)]
pub(crate) struct Registration {
    /// The event.
    pub(crate) event: EventKind,
    /// Which calls of it; all when absent.
    pub(crate) matcher: Option<&'static str>,
    /// Whether a failed check closes it.
    pub(crate) gate: bool,
}

const fn advice(event: EventKind) -> Registration {
    Registration { event, matcher: None, gate: false }
}

/// All of them.
pub(crate) const REGISTRATIONS: &[Registration] = &[
    advice(EventKind::SessionStart),
    advice(EventKind::UserPromptSubmit),
    advice(EventKind::UserPromptExpansion),
    Registration {
        event: EventKind::PreToolUse,
        matcher: Some("Edit|Write|MultiEdit|NotebookEdit"),
        gate: true,
    },
    // Before an agent is spawned a failure of ours is no reason to hold the work up.
    Registration {
        event: EventKind::PreToolUse,
        matcher: Some("AskUserQuestion|ExitWorktree|Agent|Task"),
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

/// Who starts us, and by which command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Caller<'a> {
    /// A person's own settings: this program.
    Program(&'a str),
    /// Settings that a team shares: whatever each of them has, or nothing.
    Shared,
    /// The plugin: its own selector.
    Plugin,
}

/// Finds the program in somebody's home or on their path. Where there is none it is silent and nothing is gated: a
/// teammate without it must be neither locked out nor nagged. Only absolute places: the folder that somebody works in
/// must not choose the program. Builtins only, since it runs at every event.
const SELECTOR: &str = concat!(
    r#"set -f; IFS=:; for d in "${XDG_DATA_HOME:-$HOME/.local/share}/tidegate/bin" $PATH; do "#,
    r#"case $d in /*) [ -f "$d/tidegate" ] && [ -x "$d/tidegate" ] && exec "$d/tidegate" "$@";; esac; done; exit 0"#,
);

impl Registration {
    /// The group that the host's settings hold for it.
    pub(crate) fn group(&self, caller: Caller<'_>) -> Value {
        let mut group = Map::new();
        if let Some(matcher) = self.matcher {
            group.insert("matcher".to_owned(), json!(matcher));
        }
        group.insert("hooks".to_owned(), json!([self.handler(caller)]));
        Value::Object(group)
    }

    /// What the host runs.
    pub(crate) fn handler(&self, caller: Caller<'_>) -> Value {
        let (command, before, via): (&str, &[&str], Option<&str>) = match caller {
            Caller::Program(program) => (program, &[], None),
            Caller::Shared => ("sh", &["-c", SELECTOR, "tidegate"], Some("shared")),
            Caller::Plugin => ("sh", &["${CLAUDE_PLUGIN_ROOT}/bin/tidegate"], Some("plugin")),
        };
        let mut args = before.to_vec();
        args.extend(["hook", "--event", self.event.name()]);
        if self.event == EventKind::PreToolUse && !self.gate {
            args.push("--advice");
        }
        args.extend(via.into_iter().flat_map(|via| ["--via", via]));
        let mut handler = json!({ "type": "command", "command": command, "args": args });
        if self.gate && !matches!(caller, Caller::Shared) {
            // Older clients do not know the key; for them the exit code has to do.
            handler["onFailure"] = json!("block");
        }
        handler
    }
}

/// The groups of each event, in order.
pub(crate) fn groups(caller: Caller<'_>) -> Vec<(&'static str, Vec<Value>)> {
    let mut events: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for registration in REGISTRATIONS {
        let (name, group) = (registration.event.name(), registration.group(caller));
        match events.iter_mut().find(|(event, _)| *event == name) {
            Some((_, groups)) => groups.push(group),
            None => events.push((name, vec![group])),
        }
    }
    events
}

/// The plugin's `hooks.json`.
pub(crate) fn plugin_hooks() -> Value {
    let hooks: Map<String, Value> =
        groups(Caller::Plugin).into_iter().map(|(event, groups)| (event.to_owned(), json!(groups))).collect();
    json!({ "description": "Meters the context, gates edits, records every ruling", "hooks": hooks })
}

/// What an entry in somebody's settings is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Calls {
    Not,
    /// Ours: `init` replaces it and `uninstall` takes it out.
    Us,
    /// Somebody's own work around us: only they can take it out.
    UsSomehow,
}

/// What a handler is to us. Ours is one that runs our program, one called tidegate, or the selector, and nothing else.
pub(crate) fn calls(handler: &Value, program: &str) -> Calls {
    let command = handler.get("command").and_then(Value::as_str).unwrap_or_default();
    let Some(args) = handler.get("args").and_then(Value::as_array) else {
        return match shell::plain(command).as_deref() {
            Some([called, told, ..]) if told == "hook" && is_tidegate(called, program) => Calls::Us,
            _ => somehow(command),
        };
    };
    let args: Vec<&str> = args.iter().map(|arg| arg.as_str().unwrap_or_default()).collect();
    let is_ours = match args.as_slice() {
        ["hook", ..] => is_tidegate(command, program),
        ["-c", _, "tidegate", "hook", ..] => command == "sh",
        _ => false,
    };
    if is_ours { Calls::Us } else { args.iter().map(|arg| somehow(arg)).max().unwrap_or(Calls::Not) }
}

/// By the words in a line of shell.
fn somehow(line: &str) -> Calls {
    let ends = ["tidegate hook", "tidegate' hook", "tidegate\" hook", "tidegate.exe hook"];
    if ends.iter().any(|end| line.contains(end)) { Calls::UsSomehow } else { Calls::Not }
}

/// Whether a handler is ours.
pub(crate) fn is_ours(handler: &Value, program: &str) -> bool {
    calls(handler, program) == Calls::Us
}

/// Whether a path is this program, or that of another version.
pub(crate) fn is_tidegate(path: &str, program: &str) -> bool {
    path == program || std::path::Path::new(path).file_stem().is_some_and(|name| name == "tidegate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gates_block_and_only_where_everybody_has_the_program() {
        for registration in REGISTRATIONS {
            for (caller, blocks) in
                [(Caller::Program("/x/tidegate"), true), (Caller::Shared, false), (Caller::Plugin, true)]
            {
                let handler = registration.handler(caller);
                assert_eq!(handler.get("onFailure").is_some(), blocks && registration.gate, "{handler}");
                let args = handler["args"].as_array().unwrap();
                let is_advice = registration.event == EventKind::PreToolUse && !registration.gate;
                assert_eq!(args.contains(&json!("--advice")), is_advice, "{handler}");
            }
            assert!(is_ours(&registration.handler(Caller::Program("/opt/gate")), "/opt/gate"));
            assert!(is_ours(&registration.handler(Caller::Program("/old/tidegate")), "/new/tidegate"));
            assert!(is_ours(&registration.handler(Caller::Shared), "/x/tidegate"));
        }
        for foreign in [
            json!({ "command": "sh", "args": ["-c", "x", "y", "hook"] }),
            json!({ "command": "/x/tidegate" }),
            json!({ "command": "/x/tidegate", "args": ["status"] }),
            json!({ "command": "/x/other", "args": ["hook"] }),
            json!("tidegate hook"),
            json!({ "command": "/x/tidegate journal" }),
            json!({ "command": "/x/other hook" }),
        ] {
            assert_eq!(calls(&foreign, "/x/tidegate"), Calls::Not, "{foreign}");
        }
        for line in
            ["/old/tidegate hook --event Stop", "$HOME/bin/tidegate hook", "'/it'\\''s/tidegate' hook"]
        {
            assert_eq!(calls(&json!({ "command": line }), "/x/tidegate"), Calls::Us, "{line}");
        }
        for own in [
            json!({ "command": "A=1 tidegate hook --event Stop" }),
            json!({ "command": "cd x && '/opt/tidegate' hook" }),
            json!({ "command": "bash", "args": ["-c", "tidegate hook | tee log"] }),
        ] {
            assert_eq!(calls(&own, "/x/tidegate"), Calls::UsSomehow, "{own}");
        }
        // As an earlier version looked for the program.
        let earlier =
            json!({ "command": "sh", "args": ["-c", "for t in x; do exec $t; done", "tidegate", "hook"] });
        assert!(is_ours(&earlier, "/x/tidegate"));
    }

    #[test]
    fn the_plugin_calls_its_own_selector() {
        let hooks = plugin_hooks();
        assert_eq!(hooks["description"], "Meters the context, gates edits, records every ruling");
        let gate = json!({
            "matcher": "Edit|Write|MultiEdit|NotebookEdit",
            "hooks": [{
                "type": "command",
                "command": "sh",
                "args": ["${CLAUDE_PLUGIN_ROOT}/bin/tidegate", "hook", "--event", "PreToolUse", "--via", "plugin"],
                "onFailure": "block",
            }],
        });
        assert_eq!(hooks["hooks"]["PreToolUse"][0], gate);
        let args = &hooks["hooks"]["PreToolUse"][1]["hooks"][0]["args"];
        assert_eq!(
            args.as_array().unwrap()[3..],
            [json!("PreToolUse"), json!("--advice"), json!("--via"), json!("plugin")]
        );
        assert_eq!(hooks["hooks"].as_object().unwrap().len(), REGISTRATIONS.len() - 1);
    }
}

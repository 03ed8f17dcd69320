//! Hook entries that other agents misread, and the form that they cannot.
//!
//! Version 0.1.0 registered `"command": "sh"` with the rest in `args`. Agents that ignore `args` start that shell alone, with
//! the payload on its standard input, and it runs the text of prompts and files. The files that can hold such an entry, or a
//! copy of one, are in [`crate::host::agent_homes`].

use serde_json::Value;

use super::json_text::{Document, Fault, Node};
use super::registrations::{self, Calls, OwnEntry};
use super::settings::{handlers_of, hook_groups};

/// How many entries of a file have the payload run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Misread {
    /// Written by Tidegate: [`replace`] gives them the safe form.
    pub(crate) ours: usize,
    /// An interpreter and nothing else. Importers drop `args`, so nothing tells their origin.
    pub(crate) bare: usize,
    /// A person's own script that calls Tidegate, in `args`.
    pub(crate) wrapped: usize,
}

/// Counts them in a settings file of any agent that uses Claude Code's form, with comments or without.
pub(crate) fn count_in(text: &str) -> Misread {
    let mut misread = Misread::default();
    let Ok(document) = Document::parse(text) else { return misread };
    for handler in
        handlers(&document.root).map(|node| document.value(node)).filter(registrations::is_interpreter)
    {
        if OwnEntry::read(&handler).is_some_and(|entry| entry.runs_payload && entry.line().is_some()) {
            misread.ours += 1;
        } else if registrations::given_args(&handler).is_empty() {
            misread.bare += 1;
        } else if registrations::calls(&handler, "") != Calls::Not {
            misread.wrapped += 1;
        }
    }
    misread
}

/// The text with each entry of 0.1.0 in the safe form; `None` where there is none.
pub(crate) fn replace(text: &str) -> Result<Option<String>, Fault> {
    let document = Document::parse(text)?;
    let safe = |handler: &Node| {
        let mut value = document.value(handler);
        let line = OwnEntry::read(&value).filter(|entry| entry.runs_payload)?.line()?;
        let members = value.as_object_mut()?;
        members.insert("command".to_owned(), Value::String(line));
        // Keeps the order of the keys: people read this file.
        members.shift_remove("args");
        Some(value)
    };
    let found = handlers(&document.root).filter_map(|handler| Some((handler, safe(handler)?)));
    let found: Vec<(&Node, Value)> = found.collect();
    Ok((!found.is_empty()).then(|| document.replace_values(&found)))
}

/// Every handler. Some agents have handlers where Claude Code has groups of them, so a group may be one, too.
fn handlers(root: &Node) -> impl Iterator<Item = &Node> {
    hook_groups(root).flat_map(|group| std::iter::once(group).chain(handlers_of(group)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn old(event: &str, more: &[&str]) -> Value {
        let line = r#"for t in x; do exec "$t" "$@"; done; exit 0"#;
        let mut args = vec!["-c", line, "tidegate", "hook", "--event", event];
        args.extend(more);
        json!({ "type": "command", "command": "sh", "args": args })
    }

    #[test]
    fn old_entries_are_counted_and_get_the_safe_form() {
        let plugin = json!({
            "type": "command",
            "command": "sh",
            "args": ["${CLAUDE_PLUGIN_ROOT}/bin/tidegate", "hook", "--event", "PreToolUse", "--via", "plugin"],
            "onFailure": "block",
        });
        let settings = json!({
            "model": "opus",
            "hooks": {
                "Stop": [{ "hooks": [{ "type": "command", "command": "theirs" }, old("Stop", &["--via", "shared"])] }],
                "PreToolUse": [{ "matcher": "Edit", "hooks": [plugin] }],
                "BeforeTool": [{ "hooks": [{ "type": "command", "command": "sh" }] }],
                "agentStop": [{ "type": "command", "command": "bash", "args": [] }],
            },
        });
        assert_eq!(count_in(&settings.to_string()), Misread { ours: 2, bare: 2, wrapped: 0 });
        for text in [settings.to_string(), serde_json::to_string_pretty(&settings).unwrap()] {
            let new = replace(&text).unwrap().unwrap();
            let safe: Value = serde_json::from_str(&new).unwrap();
            assert_eq!(count_in(&safe.to_string()), Misread { ours: 0, bare: 2, wrapped: 0 }, "{new}");
            assert_eq!(replace(&new).unwrap(), None);
            let stop = &safe["hooks"]["Stop"][0]["hooks"];
            assert_eq!(stop[0], json!({ "type": "command", "command": "theirs" }));
            let line = stop[1]["command"].as_str().unwrap();
            assert!(
                line.ends_with(r#"exec "$d/tidegate" hook --event Stop --via shared;; esac; done; exit 0"#)
            );
            let gate = &safe["hooks"]["PreToolUse"][0]["hooks"][0];
            assert_eq!((gate["onFailure"].as_str(), gate.get("args")), (Some("block"), None));
            assert_eq!(safe["model"], "opus");
        }
        // An importer filled in where the plugin was.
        let args = json!(["/home/a b/bin/tidegate", "hook", "--event", "Stop"]);
        let filled = json!({ "hooks": { "Stop": [{ "type": "command", "command": "sh", "args": args }] } });
        let new: Value = serde_json::from_str(&replace(&filled.to_string()).unwrap().unwrap()).unwrap();
        assert_eq!(new["hooks"]["Stop"][0]["command"], "'/home/a b/bin/tidegate' hook --event Stop");
    }

    #[test]
    fn everything_else_is_left_alone() {
        for settings in [
            json!({}),
            json!({ "hooks": [] }),
            json!({ "hooks": { "Stop": [{ "hooks": [{ "command": "/x/tidegate", "args": ["hook"] }] }] } }),
            json!({ "hooks": { "Stop": [{ "hooks": [{ "command": "sh x.sh" }, { "command": 5 }, 7] }, 3] } }),
            // Not ours: their own to judge.
            json!({ "hooks": { "Stop": [{ "hooks": [{ "command": "bash", "args": ["-c", "make lint"] }] }] } }),
        ] {
            assert_eq!(count_in(&settings.to_string()), Misread::default(), "{settings}");
            assert_eq!(replace(&settings.to_string()).unwrap(), None, "{settings}");
        }
        // A script of a person's around the program stays theirs.
        let own = json!(["-c", "exec 2>>log; exec tidegate \"$@\"", "tidegate", "hook"]);
        let own = json!({ "hooks": { "Stop": [{ "hooks": [{ "command": "sh", "args": own }] }] } });
        assert_eq!(
            count_in(&own.to_string()),
            Misread::default(),
            "nothing says that it calls the program as a hook"
        );
        assert_eq!(replace(&own.to_string()).unwrap(), None);
        let own = json!(["-c", "tidegate hook | tee log"]);
        let own = json!({ "hooks": { "Stop": [{ "hooks": [{ "command": "bash", "args": own }] }] } });
        assert_eq!(count_in(&own.to_string()), Misread { wrapped: 1, ..Misread::default() });
        assert_eq!(replace(&own.to_string()).unwrap(), None);
        // Arguments that we never wrote do not get into a line of shell.
        let odd = json!({ "hooks": { "Stop": [{ "hooks": [old("Stop", &["; rm x"])] }] } });
        assert_eq!(replace(&odd.to_string()).unwrap(), None);
        assert!(replace("{").is_err());
    }
}

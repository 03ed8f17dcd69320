//! Hook entries that other agents misread, and the form that they cannot.
//!
//! Version 0.1.0 registered `"command": "sh"` with the rest in `args`. Agents that ignore `args` start that shell alone, with
//! the payload on its standard input, and it runs the text of prompts and files. The files that can hold such an entry, or a
//! copy of one, are in [`crate::host::agent_homes`].

use std::path::Path;

use serde_json::Value;

use super::registrations::{self, OwnEntry};
use super::settings_file;
use super::settings_text::{handlers_of, has_shared_hooks, hook_groups};
use crate::bilingual::{Bilingual, both, count_en};
use crate::json_text::{Document, Fault, Node};
use crate::shell::quote_path;

/// Entries in one file that run the payload as a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Misread {
    /// Written by Tidegate: [`replace_entries`] gives them the safe form.
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
        all_handlers(&document.root).map(|node| document.value(node)).filter(registrations::is_interpreter)
    {
        if OwnEntry::read(&handler).is_some_and(|entry| entry.runs_payload && entry.line().is_some()) {
            misread.ours += 1;
        } else if registrations::given_args(&handler).is_empty() {
            misread.bare += 1;
        } else if registrations::mentions_us(&handler) {
            misread.wrapped += 1;
        }
    }
    misread
}

#[derive(Clone, Debug)]
pub(crate) enum Origin {
    Managed,
    Settings {
        init: String,
    },
    OtherAgent {
        init: String,
    },
    PluginCopy {
        init: String,
    },
    /// A plugin that agents run in place.
    LivePlugin,
}

impl Origin {
    /// If the team shares the hooks, the person's own file holds only the status line.
    pub(crate) fn project(root: &Path, file: &Path) -> Origin {
        let shares = |text: String| has_shared_hooks(&text, "");
        let is_shared = file.ends_with("settings.json")
            || settings_file::read_text(&root.join(".claude/settings.json")).is_some_and(shares);
        let shared = if is_shared { " --shared" } else { "" };
        Origin::Settings { init: format!("tidegate init --project {}{shared}", quote_path(root)) }
    }

    pub(crate) fn user() -> Origin {
        Origin::Settings { init: "tidegate init --user".to_owned() }
    }
}

/// Pairs of problem and fix.
pub(crate) fn describe_problems(
    file: &Path,
    origin: &Origin,
    misread: Misread,
) -> Vec<(Bilingual, Bilingual)> {
    let Misread { ours, mut bare, mut wrapped } = misread;
    if matches!(origin, Origin::PluginCopy { .. } | Origin::LivePlugin) {
        // Hooks of other plugins are for their authors to change.
        (bare, wrapped) = (0, 0);
    }
    let (shown, mut problems) = (file.display(), Vec::new());
    if ours > 0 {
        let text = both!(
            "{shown} has {entries} of Tidegate 0.1.0. Agents that ignore `args` (Codex, Copilot CLI, Qwen, Claude Code before \
             2.1.139) run prompts and files as shell scripts through them.",
            "{shown} に Tidegate 0.1.0のフックが{ours}個あります。`args` を無視するエージェント（Codex、Copilot CLI、Qwen、2.1.139より前の \
             Claude Code）は、プロンプトやファイルをシェルスクリプトとして実行します。",
            entries = count_en(ours, "hook entry")
        );
        problems.push((text, describe_replacement(file, origin)));
    }
    let by_hand = |number: usize| {
        let these = if number == 1 { "this entry".to_owned() } else { format!("these {number} entries") };
        match origin {
            Origin::Managed => ask_to_remove(),
            Origin::Settings { init } => both!(
                "Delete {these} in {shown}, then run `{init}`.",
                "{shown} からその項目（{number}個）を削除し、`{init}` を実行してください。"
            ),
            _ => {
                both!("Delete {these} in {shown}.", "{shown} からその項目（{number}個）を削除してください。")
            }
        }
    };
    if bare > 0 {
        let text = both!(
            "{shown} has {entries} with only a shell's name as `command`: agents run prompts and files as shell scripts. Importers \
             of other agents made such entries from those of Tidegate 0.1.0.",
            "{shown} に、`command` がシェルの名前だけの項目が{bare}個あります。エージェントがプロンプトやファイルをシェルスクリプトとして実行します。\
             ほかのエージェントが Tidegate 0.1.0の項目を取り込むと、こうなります。",
            entries = count_en(bare, "hook entry")
        );
        problems.push((text, by_hand(bare)));
    }
    if wrapped > 0 {
        let text = both!(
            "{shown} has {entries} with a shell as `command` and a script around Tidegate in `args`. Agents that ignore `args` run \
             prompts and files as shell scripts.",
            "{shown} に、`command` がシェルで `args` の中から Tidegate を呼ぶ項目が{wrapped}個あります。`args` を無視するエージェントは、\
             プロンプトやファイルをシェルスクリプトとして実行します。",
            entries = count_en(wrapped, "hook entry")
        );
        problems.push((text, by_hand(wrapped)));
    }
    problems
}

fn describe_replacement(file: &Path, origin: &Origin) -> Bilingual {
    match origin {
        Origin::Managed => ask_to_remove(),
        Origin::Settings { init } if init.ends_with(" --shared") && file.ends_with("settings.json") => both!(
            "Run `{init}`: it replaces them. Then commit {shown}.",
            "`{init}` を実行すると置き換えます。そのあと {shown} をコミットしてください。",
            shown = file.display()
        ),
        Origin::Settings { init } => {
            both!("Run `{init}`: it replaces them.", "`{init}` を実行すると置き換えます。")
        }
        Origin::OtherAgent { init } => both!(
            "Run `{init}`: it replaces them. Then restart that agent.",
            "`{init}` を実行すると置き換えます。そのあと、そのエージェントを再起動してください。"
        ),
        Origin::PluginCopy { init } => both!(
            "Update the plugin in that agent (Claude Code: `claude plugin update tidegate@tidegate`), or run `{init}`, which \
             replaces them, too.",
            "そのエージェントでプラグインを更新するか（Claude Code では `claude plugin update tidegate@tidegate`）、置き換えるために \
             `{init}` を実行してください。"
        ),
        Origin::LivePlugin => both!(
            "Update that checkout with `git pull`, then restart the agents that use it.",
            "そのチェックアウトを `git pull` で更新し、使っているエージェントを再起動してください。"
        ),
    }
}

fn ask_to_remove() -> Bilingual {
    both!(
        "Ask the person who manages this machine to remove them.",
        "このマシンの管理者に削除を頼んでください。"
    )
}

/// Gives each entry of 0.1.0 the safe form; `None` if there is none.
pub(crate) fn replace_entries(text: &str) -> Result<Option<String>, Fault> {
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
    let found = all_handlers(&document.root).filter_map(|handler| Some((handler, safe(handler)?)));
    let found: Vec<(&Node, Value)> = found.collect();
    Ok((!found.is_empty()).then(|| document.replace_values(&found)))
}

/// Some agents have handlers where Claude Code has groups of them, so a group may be one, too.
fn all_handlers(root: &Node) -> impl Iterator<Item = &Node> {
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
            let new = replace_entries(&text).unwrap().unwrap();
            let safe: Value = serde_json::from_str(&new).unwrap();
            assert_eq!(count_in(&safe.to_string()), Misread { ours: 0, bare: 2, wrapped: 0 }, "{new}");
            assert_eq!(replace_entries(&new).unwrap(), None);
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
        let new: Value =
            serde_json::from_str(&replace_entries(&filled.to_string()).unwrap().unwrap()).unwrap();
        assert_eq!(new["hooks"]["Stop"][0]["command"], "'/home/a b/bin/tidegate' hook --event Stop");
    }

    #[test]
    fn a_shell_of_any_name_with_a_script_that_names_the_program_counts() {
        let settings = |command: &str, args: Value| {
            json!({ "hooks": { "Stop": [{ "hooks": [{ "command": command, "args": args }] }] } }).to_string()
        };
        for shell in ["sh", "/bin/sh", "bash", "/usr/bin/bash", "dash", "zsh"] {
            for script in [
                r#"exec tidegate "$@""#,
                r#"command -v tidegate >/dev/null 2>&1 && exec tidegate "$@"; exit 0"#,
                r#"for t in x; do exec "$t" "$@"; done; exit 0"#,
            ] {
                let text = settings(shell, json!(["-c", script, "_", "hook", "--event", "Stop"]));
                assert_eq!(count_in(&text), Misread { ours: 1, ..Misread::default() }, "{text}");
                let new = replace_entries(&text).unwrap().unwrap();
                assert!(new.contains("hook --event Stop;; esac") && !new.contains("args"), "{new}");
            }
            // Each does more than that, or something else.
            for args in [
                json!(["-c", r#"export TIDEGATE_OFF=1; exec tidegate "$@""#, "_", "hook", "--event", "Stop"]),
                json!(["-c", r#"tidegate "$@" | tee log"#, "_", "hook", "--event", "Stop"]),
                json!(["-c", "command -v tidegate && tidegate status"]),
                json!(["-c", r#"exec "$HOME/bin/tidegate" hook --event Stop"#]),
                json!([".claude/hooks/tidegate.sh"]),
            ] {
                let text = settings(shell, args);
                assert_eq!(count_in(&text), Misread { wrapped: 1, ..Misread::default() }, "{text}");
                assert_eq!(replace_entries(&text).unwrap(), None, "{text}");
            }
        }
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
            json!({ "hooks": { "Stop": [{ "hooks": [{ "command": "bash", "args": ["/src/tidegate/lint.sh", "/src/my-tidegate"] }] }] } }),
        ] {
            assert_eq!(count_in(&settings.to_string()), Misread::default(), "{settings}");
            assert_eq!(replace_entries(&settings.to_string()).unwrap(), None, "{settings}");
        }
        // A script of a person's around the program stays theirs.
        let own = json!(["-c", "exec 2>>log; exec tidegate \"$@\"", "tidegate", "hook"]);
        let own = json!({ "hooks": { "Stop": [{ "hooks": [{ "command": "sh", "args": own }] }] } });
        assert_eq!(count_in(&own.to_string()), Misread { wrapped: 1, ..Misread::default() });
        assert_eq!(replace_entries(&own.to_string()).unwrap(), None);
        let own = json!(["-c", "tidegate hook | tee log"]);
        let own = json!({ "hooks": { "Stop": [{ "hooks": [{ "command": "bash", "args": own }] }] } });
        assert_eq!(count_in(&own.to_string()), Misread { wrapped: 1, ..Misread::default() });
        assert_eq!(replace_entries(&own.to_string()).unwrap(), None);
        // Arguments that we never wrote do not get into a line of shell.
        let odd = json!({ "hooks": { "Stop": [{ "hooks": [old("Stop", &["; rm x"])] }] } });
        assert_eq!(replace_entries(&odd.to_string()).unwrap(), None);
        assert!(replace_entries("{").is_err());
    }
}

//! opencode runs no hooks: its plugin calls the program for these events.

use serde_json::{Value, json};
use tidegate_core::event::EventKind;
use tidegate_core::host::Host;

use crate::bilingual::{Bilingual, both};
use crate::host::claude_code::registrations::Registration;
use crate::host::registered::HostHooks;

pub(crate) static HOOKS: HostHooks = HostHooks {
    host: Host::OpenCode,
    in_project: ".opencode/plugins/tidegate.js",
    in_home: "plugins/tidegate.js",
    home: ".opencode",
    other_folders: &[".config/opencode", ".local/share/opencode"],
    home_variable: "OPENCODE_CONFIG_DIR",
    project_home: ".opencode",
    registrations: REGISTRATIONS,
    handler,
    plugin_handler,
    next,
    fault: |_| None,
    denies_without_program: false,
};

const fn advice(event: EventKind) -> Registration {
    Registration { event, matcher: None, gate: false }
}

const REGISTRATIONS: &[Registration] = &[
    advice(EventKind::SessionStart),
    advice(EventKind::UserPromptSubmit),
    Registration {
        event: EventKind::PreToolUse,
        matcher: Some("edit|write|multiedit|apply_patch|patch"),
        gate: true,
    },
    Registration { event: EventKind::PreToolUse, matcher: Some("task|question"), gate: false },
    advice(EventKind::PostToolUse),
    advice(EventKind::Stop),
    advice(EventKind::SubagentStop),
    advice(EventKind::PreCompact),
    advice(EventKind::PostCompact),
];

/// The plugin starts it without a shell.
fn handler(program: &str, words: &[&str]) -> Value {
    let line: Vec<&str> = std::iter::once(program).chain(words.iter().copied()).collect();
    json!(line)
}

fn plugin_handler(words: &[&str]) -> Value {
    handler("tidegate", words)
}

fn next() -> Bilingual {
    both!(
        "start `opencode` here. It loads the plugin at its start.",
        "ここで `opencode` を起動してください。プラグインは起動時に読み込まれます。"
    )
}

//! Hooks for Copilot CLI, in a file of their own. An entry starts the program without a shell; a name that other hosts
//! do not know (`exec`) keeps them from running it.

use serde_json::{Value, json};
use tidegate_core::event::EventKind;
use tidegate_core::host::Host;

use crate::bilingual::{Bilingual, both};
use crate::host::claude_code::registrations::Registration;
use crate::host::registered::HostHooks;
use crate::json_text::Document;

pub(crate) static HOOKS: HostHooks = HostHooks {
    host: Host::Copilot,
    in_project: ".github/hooks/tidegate.json",
    in_home: "hooks/tidegate.json",
    home: ".copilot",
    other_folders: &[],
    home_variable: "COPILOT_HOME",
    project_home: ".github",
    registrations: REGISTRATIONS,
    handler,
    plugin_handler,
    next,
    fault: Document::find_fault,
    denies_without_program: true,
};

const fn advice(event: EventKind) -> Registration {
    Registration { event, matcher: None, gate: false }
}

const REGISTRATIONS: &[Registration] = &[
    advice(EventKind::SessionStart),
    advice(EventKind::UserPromptSubmit),
    // Patches of several files have the name of an edit.
    Registration { event: EventKind::PreToolUse, matcher: Some("Edit|Write"), gate: true },
    Registration { event: EventKind::PreToolUse, matcher: Some("Agent"), gate: false },
    advice(EventKind::PostToolUse),
    advice(EventKind::PostToolUseFailure),
    // Ends of commands in the background.
    advice(EventKind::Notification),
    advice(EventKind::Stop),
    advice(EventKind::SubagentStop),
    advice(EventKind::PreCompact),
    advice(EventKind::SessionEnd),
];

fn handler(program: &str, words: &[&str]) -> Value {
    json!({ "type": "command", "exec": program, "args": words })
}

/// Silent without the file: Copilot takes every failure for a denial.
fn plugin_handler(words: &[&str]) -> Value {
    const SELECTOR: &str = "\"${PLUGIN_ROOT:-$CLAUDE_PLUGIN_ROOT}/bin/tidegate\"";
    let command = format!("[ ! -x {SELECTOR} ] || exec {SELECTOR} {}", words.join(" "));
    json!({ "type": "command", "command": command })
}

fn next() -> Bilingual {
    both!(
        "start `copilot` and trust the folder: a project's hooks run only there. `tidegate doctor` then shows whether they run.",
        "`copilot` を起動し、フォルダを信頼してください。プロジェクトのフックは信頼したフォルダでだけ動きます。動いているかは `tidegate \
         doctor` で確認できます。"
    )
}

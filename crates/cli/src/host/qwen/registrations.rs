//! Hooks for Qwen Code. An entry is one line of shell: Qwen Code ignores `args`. Its settings file has the MCP server, too.

use serde_json::{Value, json};
use tidegate_core::event::EventKind;
use tidegate_core::host::Host;

use crate::bilingual::{Bilingual, both};
use crate::host::claude_code::registrations::Registration;
use crate::host::registered::HostHooks;
use crate::json_text::{COMMENT, Document, Fault};
use crate::shell;

pub(crate) static HOOKS: HostHooks = HostHooks {
    host: Host::Qwen,
    in_project: ".qwen/settings.json",
    in_home: "settings.json",
    home: ".qwen",
    other_folders: &[],
    home_variable: "QWEN_HOME",
    project_home: ".qwen",
    registrations: REGISTRATIONS,
    handler,
    plugin_handler,
    next,
    fault: find_fault,
    denies_without_program: false,
};

const fn advice(event: EventKind) -> Registration {
    Registration { event, matcher: None, gate: false }
}

const REGISTRATIONS: &[Registration] = &[
    advice(EventKind::SessionStart),
    advice(EventKind::UserPromptSubmit),
    Registration { event: EventKind::PreToolUse, matcher: Some("edit|write_file|notebook_edit"), gate: true },
    Registration {
        event: EventKind::PreToolUse,
        matcher: Some("agent|workflow|create_sub_session|send_message|ask_user_question|exit_worktree"),
        gate: false,
    },
    advice(EventKind::PostToolUse),
    advice(EventKind::PostToolUseFailure),
    advice(EventKind::Stop),
    advice(EventKind::SubagentStop),
    advice(EventKind::PreCompact),
    advice(EventKind::PostCompact),
    advice(EventKind::SessionEnd),
];

/// Qwen Code runs it in a shell. Its usual limit is a minute, which no hook needs.
fn handler(program: &str, words: &[&str]) -> Value {
    json!({ "type": "command", "command": format!("{} {}", shell::quote_text(program), words.join(" ")) })
}

/// The plugin has no hooks of its own for Qwen Code, which reads those for Claude Code.
fn plugin_handler(words: &[&str]) -> Value {
    handler("tidegate", words)
}

/// It takes comments out before it reads its settings.
fn find_fault(text: &str) -> Option<Fault> {
    match Document::parse(text) {
        Ok(document) => document.oddities.into_iter().find(|oddity| oddity.what != COMMENT),
        Err(fault) => Some(fault),
    }
}

fn next() -> Bilingual {
    both!(
        "start `qwen` here. In a folder that it does not trust, it reads no settings of the project, and no hook runs.",
        "ここで `qwen` を起動してください。信頼されていないフォルダでは、プロジェクトの設定もフックも読み込まれません。"
    )
}

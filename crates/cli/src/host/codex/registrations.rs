//! Hooks for Codex. An entry is one line of shell: Codex ignores `args`. It never changes with a version of Tidegate,
//! because any change ends the person's trust in it.

use serde_json::{Value, json};
use tidegate_core::event::EventKind;
use tidegate_core::host::Host;

use super::hooks_file;
use crate::bilingual::{Bilingual, both};
use crate::host::claude_code::registrations::Registration;
use crate::host::registered::HostHooks;
use crate::shell;

pub(crate) static HOOKS: HostHooks = HostHooks {
    host: Host::Codex,
    in_project: ".codex/hooks.json",
    in_home: "hooks.json",
    home: ".codex",
    other_folders: &[],
    home_variable: "CODEX_HOME",
    project_home: ".codex",
    registrations: REGISTRATIONS,
    handler,
    plugin_handler,
    next,
    fault: hooks_file::find_fault,
    denies_without_program: false,
};

const fn advice(event: EventKind) -> Registration {
    Registration { event, matcher: None, gate: false }
}

const REGISTRATIONS: &[Registration] = &[
    advice(EventKind::SessionStart),
    advice(EventKind::UserPromptSubmit),
    Registration { event: EventKind::PreToolUse, matcher: Some("apply_patch"), gate: true },
    // Some models call the tool by a name with a prefix.
    Registration { event: EventKind::PreToolUse, matcher: Some(".*spawn_agent"), gate: false },
    // Patches through the shell. Last, because trust in an entry ends where its place changes.
    Registration { event: EventKind::PreToolUse, matcher: Some("Bash"), gate: true },
    advice(EventKind::PostToolUse),
    advice(EventKind::Stop),
    advice(EventKind::SubagentStop),
    advice(EventKind::PreCompact),
    advice(EventKind::PostCompact),
    advice(EventKind::SessionEnd),
];

/// Codex runs it in a login shell.
fn handler(program: &str, words: &[&str]) -> Value {
    json!({ "type": "command", "command": format!("{} {}", shell::quote_text(program), words.join(" ")) })
}

/// Braces and quotes, as in the plugin's hooks for Claude Code.
fn plugin_handler(words: &[&str]) -> Value {
    const SELECTOR: &str = "\"${PLUGIN_ROOT:-$CLAUDE_PLUGIN_ROOT}/bin/tidegate\"";
    let command = format!("[ ! -x {SELECTOR} ] || exec {SELECTOR} {}", words.join(" "));
    json!({ "type": "command", "command": command })
}

fn next() -> Bilingual {
    both!(
        "start `codex`, open `/hooks` and trust Tidegate's hooks: until then Codex skips them without a word. `tidegate doctor` \
         then shows whether they run.",
        "`codex` を起動し、`/hooks` で Tidegate のフックを信頼してください。それまで Codex は何も言わずにフックを飛ばします。動いているかは \
         `tidegate doctor` で確認できます。"
    )
}

//! The host that calls a hook. Other agents read Claude Code's files and call the hooks in them, so the host is detected
//! and never assumed.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};

use crate::host::Host;
use crate::text::json::{Field, Member, read_object, wire_key, wire_object};

/// Variables that another host sets for its hooks, in the order in which they count: Qwen sets Gemini's, too.
pub const VARIABLES: [(&str, Host); 4] = [
    ("COPILOT_CLI", Host::Copilot),
    ("QWEN_CODE_SESSION_ID", Host::Qwen),
    ("GEMINI_SESSION_ID", Host::Gemini),
    ("FACTORY_PROJECT_DIR", Host::Factory),
];

/// Variables that hosts set for commands of their shell tool.
pub const AGENT_VARIABLES: [&str; 12] = [
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "AI_AGENT",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT_SESSION_ID",
    "COPILOT_CLI",
    "QWEN_CODE",
    "QWEN_CODE_SESSION_ID",
    "GEMINI_CLI",
    "GEMINI_SESSION_ID",
    "OPENCODE",
];

/// Programs that run a model's commands, by the names of their executables.
const AGENT_PROGRAMS: [&str; 8] =
    ["claude", "codex", "copilot", "cursor-agent", "droid", "gemini", "opencode", "qwen"];

/// The first variable of an agent in a block of `NAME=value` that zero bytes divide.
pub fn agent_variable(environment: &[u8]) -> Option<&'static str> {
    let name = |variable: &[u8]| {
        let name = variable.split(|byte| *byte == b'=').next()?;
        AGENT_VARIABLES.into_iter().find(|known| known.as_bytes() == name)
    };
    environment.split(|byte| *byte == 0).find_map(name)
}

/// Whether an executable is an agent's, by its path: also one that an update replaced, or that is named by its version.
pub fn is_agent_program(path: &str) -> bool {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    AGENT_PROGRAMS.contains(&name) || (parts.next() == Some("versions") && parts.next() == Some("claude"))
}

wire_object! {
    /// Members that tell hosts apart. Claude Code 2.1.325 sends only the first three.
    struct Signs<'a> {
        hook_event_name: Cow<'a, str>,
        transcript_path: Cow<'a, str>,
        tool_name: Cow<'a, str>,
        turn_id: Cow<'a, str>,
        timestamp: Anything,
        session as "sessionId": Anything,
        event as "hookEventName": Anything,
        tool_result: Anything,
        tool_call_id: Anything,
        submitted_prompt: Anything,
        context_limit: Anything,
        cursor_version: Anything,
        conversation_id: Anything,
    }
}

/// A member whose presence is all that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Anything;

impl<'de> Member<'de> for Anything {
    fn text(_: Cow<'de, str>) -> Option<Self> {
        Some(Anything)
    }
    fn truth(_: bool) -> Option<Self> {
        Some(Anything)
    }
    fn number(_: f64) -> Option<Self> {
        Some(Anything)
    }
}

impl Host {
    /// Tells the host that sent a payload. The payload counts more than `by_variable`: one host may have been started from
    /// the shell of another.
    pub fn detect(payload: &[u8], by_variable: Option<Host>) -> Host {
        match by_payload(payload) {
            Some(Host::Unknown) => by_variable.unwrap_or(Host::Unknown),
            Some(host) => host,
            None => by_variable.unwrap_or_default(),
        }
    }
}

/// The host by its payload; `None` where nothing tells it from Claude Code's.
fn by_payload(payload: &[u8]) -> Option<Host> {
    let signs: Signs<'_> = read_object(payload).ok()?;
    let there = |member: &Field<Anything>| *member != Field::Missing;
    let path = signs.transcript_path.get().map_or("", AsRef::as_ref).replace('\\', "/");
    let event = signs.hook_event_name.get().map_or("", AsRef::as_ref);
    let tool = signs.tool_name.get().map_or("", AsRef::as_ref);
    if there(&signs.cursor_version) || there(&signs.conversation_id) {
        return Some(Host::Cursor);
    }
    if signs.turn_id != Field::Missing || path.contains("/.codex/") || tool == "apply_patch" {
        return Some(Host::Codex);
    }
    if there(&signs.tool_result) || path.contains("/.copilot/") {
        return Some(Host::Copilot);
    }
    if there(&signs.tool_call_id)
        || there(&signs.submitted_prompt)
        || there(&signs.context_limit)
        || path.contains("/.qwen/")
    {
        return Some(Host::Qwen);
    }
    let gemini =
        ["BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "PreCompress", "BeforeModel", "AfterModel"];
    if path.contains("/.gemini/") || gemini.contains(&event) {
        return Some(Host::Gemini);
    }
    let is_foreign = there(&signs.timestamp) || there(&signs.session) || there(&signs.event);
    is_foreign.then_some(Host::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_told_by_their_variables_and_programs() {
        for (environment, found) in [
            (&b"HOME=/h\0CLAUDECODE=1\0"[..], Some("CLAUDECODE")),
            (b"AI_AGENT=x_agent", Some("AI_AGENT")),
            (b"GEMINI_CLI=", Some("GEMINI_CLI")),
            (b"X=CLAUDECODE=1\0CLAUDECODES=1\0=CLAUDECODE\0\0\xff", None),
            (b"", None),
        ] {
            assert_eq!(agent_variable(environment), found);
        }
        for path in
            ["/usr/bin/claude", "/h/.local/share/claude/versions/2.1.325", "/opt/codex (deleted)", "qwen"]
        {
            assert!(is_agent_program(path), "{path}");
        }
        for path in
            ["/usr/bin/bash", "/h/claude/bash", "/h/versions/2", "/usr/bin/claudette", "", " (deleted)"]
        {
            assert!(!is_agent_program(path), "{path}");
        }
    }

    /// One line per payload as hosts send it, shortened to the members that tell.
    #[test]
    fn hosts_are_told_by_what_they_send() {
        let claude = r#"{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"/h/.claude/projects/p/s.jsonl","permission_mode":"default","tool_name":"Edit","tool_use_id":"t"}"#;
        for (payload, variable, host) in [
            (claude, None, Host::ClaudeCode),
            // Without a sign of another host a broken payload is Claude Code's, and closes its gate.
            ("{", None, Host::ClaudeCode),
            ("[]", None, Host::ClaudeCode),
            ("{}", None, Host::ClaudeCode),
            ("{", Some(Host::Copilot), Host::Copilot),
            (claude, Some(Host::Copilot), Host::Copilot),
            (r#"{"hook_event_name":"Stop","session_id":"s","turn_id":"t"}"#, None, Host::Codex),
            (
                r#"{"hook_event_name":"SessionStart","transcript_path":"/h/.codex/sessions/2026/r.jsonl"}"#,
                None,
                Host::Codex,
            ),
            (
                r#"{"hook_event_name":"SessionStart","transcript_path":"C:\\h\\.codex\\r.jsonl"}"#,
                None,
                Host::Codex,
            ),
            (
                r#"{"hook_event_name":"PostToolUse","timestamp":"2026","tool_result":{"text":"x"}}"#,
                None,
                Host::Copilot,
            ),
            (
                r#"{"hook_event_name":"PreToolUse","timestamp":"2026","tool_input":{"path":"x"}}"#,
                None,
                Host::Unknown,
            ),
            (r#"{"hook_event_name":"PreToolUse","timestamp":"2026"}"#, Some(Host::Copilot), Host::Copilot),
            (r#"{"sessionId":"s","timestamp":1,"toolName":"edit"}"#, None, Host::Unknown),
            (r#"{"hook_event_name":"PreToolUse","timestamp":"2026","tool_call_id":"c"}"#, None, Host::Qwen),
            (
                r#"{"hook_event_name":"UserPromptSubmit","timestamp":"2026","submitted_prompt":"x"}"#,
                None,
                Host::Qwen,
            ),
            (r#"{"hook_event_name":"BeforeTool","timestamp":"2026"}"#, None, Host::Gemini),
            (r#"{"hook_event_name":"beforeShellExecution","cursor_version":"2"}"#, None, Host::Cursor),
            // A Codex that was started from a shell of Copilot's.
            (r#"{"hook_event_name":"Stop","turn_id":"t"}"#, Some(Host::Copilot), Host::Codex),
        ] {
            assert_eq!(Host::detect(payload.as_bytes(), variable), host, "{payload} {variable:?}");
        }
    }
}

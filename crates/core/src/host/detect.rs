//! The host that calls a hook. Other agents read Claude Code's files and call the hooks in them, so the host is detected
//! and never assumed. The signs of a host are in its folder.

use std::borrow::Cow;

use serde::de::MapAccess;
use serde_json::value::RawValue;

use crate::host::Host;
use crate::text::json::{Field, Member, read_object};

/// What a host leaves where its processes are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traces {
    /// Variables that it sets for its hooks, and Claude Code does not.
    pub hook_variables: &'static [&'static str],
    /// Variables that it sets for commands of its shell tool.
    pub shell_variables: &'static [&'static str],
    /// The names of its executables.
    pub programs: &'static [&'static str],
    /// Folders that hold its executables below `versions`, each named by its version.
    pub folders: &'static [&'static str],
}

/// What a payload shows of the host that sent it.
#[derive(Clone, Debug, Default)]
pub struct Signs<'a> {
    members: Vec<Cow<'a, str>>,
    event: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    transcript: String,
}

impl Signs<'_> {
    /// Whether it has one of these members.
    pub fn has(&self, members: &[&str]) -> bool {
        self.members.iter().any(|known| members.contains(&known.as_ref()))
    }

    /// The event's name.
    pub fn event(&self) -> &str {
        self.event.as_deref().unwrap_or_default()
    }

    /// The tool's name.
    pub fn tool(&self) -> &str {
        self.tool.as_deref().unwrap_or_default()
    }

    /// Whether the transcript is below a folder, which is written as `/name/`.
    pub fn is_below(&self, folder: &str) -> bool {
        self.transcript.contains(folder)
    }
}

/// Nothing is decoded but the few texts that tell: a payload may be megabytes long.
impl<'de> Member<'de> for Signs<'de> {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut signs = Signs::default();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let json = map.next_value::<&'de RawValue>()?.get();
            if json == "null" {
                continue;
            }
            let text = || serde_json::from_str::<Field<Cow<'de, str>>>(json).ok().and_then(Field::value);
            match &*key {
                "hook_event_name" => signs.event = text(),
                "tool_name" => signs.tool = text(),
                "transcript_path" => signs.transcript = text().unwrap_or_default().replace('\\', "/"),
                _ => {}
            }
            signs.members.push(key);
        }
        Ok(Some(signs))
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

    /// The other host that set a variable for this hook.
    pub fn by_variable(is_set: impl Fn(&str) -> bool) -> Option<Host> {
        let sets = |host: &Host| host.traces().hook_variables.iter().any(|name| is_set(name));
        Host::ALL.iter().copied().find(sets)
    }

    /// Variables that hosts set for commands of their shell tools.
    pub fn agent_variables() -> impl Iterator<Item = &'static str> {
        Host::ALL.iter().flat_map(|host| host.traces().shell_variables).copied()
    }

    /// The first of them in a block of `NAME=value` that zero bytes divide.
    pub fn agent_variable(environment: &[u8]) -> Option<&'static str> {
        let name = |variable: &[u8]| {
            let name = variable.split(|byte| *byte == b'=').next()?;
            Host::agent_variables().find(|known| known.as_bytes() == name)
        };
        environment.split(|byte| *byte == 0).find_map(name)
    }

    /// Whether an executable is a host's, by its path: also one that an update replaced, or that is named by its version.
    pub fn is_agent_program(path: &str) -> bool {
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        let mut parts = path.rsplit('/');
        let name = parts.next().unwrap_or_default();
        let folder = parts.next().filter(|folder| *folder == "versions").and_then(|_| parts.next());
        Host::ALL.iter().map(|host| host.traces()).any(|traces| {
            traces.programs.contains(&name) || folder.is_some_and(|folder| traces.folders.contains(&folder))
        })
    }
}

/// The host by its payload; `None` where nothing tells it from Claude Code's.
fn by_payload(payload: &[u8]) -> Option<Host> {
    let signs: Signs<'_> = read_object(payload).ok()?;
    Host::ALL.iter().copied().find(|host| host.sent(&signs))
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
            assert_eq!(Host::agent_variable(environment), found);
        }
        for path in
            ["/usr/bin/claude", "/h/.local/share/claude/versions/2.1.325", "/opt/codex (deleted)", "qwen"]
        {
            assert!(Host::is_agent_program(path), "{path}");
        }
        for path in
            ["/usr/bin/bash", "/h/claude/bash", "/h/versions/2", "/usr/bin/claudette", "", " (deleted)"]
        {
            assert!(!Host::is_agent_program(path), "{path}");
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

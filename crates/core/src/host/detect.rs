//! Detects the host that calls a hook. Other agents read Claude Code's files and call the hooks in them, so
//! the host is never assumed: an answer in the wrong form would deny every edit there. Hosts without a
//! protocol here get no answer, and their calls are recorded. The signs of each host are in its folder.

use std::borrow::Cow;

use serde::de::MapAccess;
use serde_json::value::RawValue;

use crate::host::Host;
use crate::text::json::{Field, Member, read_object};

/// Names by which a host's processes are recognised.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traces {
    /// Set for its hooks, and not by Claude Code.
    pub hook_variables: &'static [&'static str],
    /// Set for commands of its shell tool.
    pub shell_variables: &'static [&'static str],
    /// Executables.
    pub programs: &'static [&'static str],
    /// Folders with executables below `versions`, each named by its version.
    pub folders: &'static [&'static str],
    /// Folders of packages with scripts for an interpreter.
    pub packages: &'static [&'static str],
    /// Scripts among them that only start the executable and wait for it.
    pub launchers: &'static [&'static str],
}

/// These run any script, so their own name says nothing.
const INTERPRETERS: [&str; 4] = ["node", "nodejs", "bun", "deno"];

/// Their options that take the next word as a value.
const WITH_VALUE: [&str; 8] =
    ["-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--preload"];

/// The parts of a payload that tell which host sent it.
#[derive(Clone, Debug, Default)]
pub struct Signs<'a> {
    members: Vec<Cow<'a, str>>,
    event: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    transcript: String,
}

impl Signs<'_> {
    pub fn has(&self, members: &[&str]) -> bool {
        self.members.iter().any(|known| members.contains(&known.as_ref()))
    }

    pub fn event(&self) -> &str {
        self.event.as_deref().unwrap_or_default()
    }

    pub fn tool(&self) -> &str {
        self.tool.as_deref().unwrap_or_default()
    }

    /// `folder` is written as `/name/`.
    pub fn is_below(&self, folder: &str) -> bool {
        self.transcript.contains(folder)
    }
}

/// Decodes only the few texts that identify a host: a payload may be megabytes long.
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
    /// The payload counts more than the registration, and that more than `by_variable`, because one host may have been
    /// started from another one's shell.
    pub fn detect(
        payload: &[u8],
        registered: Option<Host>,
        by_variable: impl FnOnce() -> Option<Host>,
    ) -> Host {
        let by_variable = || registered.or_else(by_variable);
        match by_payload(payload) {
            Some(Host::Unknown) => by_variable().unwrap_or(Host::Unknown),
            Some(host) => host,
            None => by_variable().unwrap_or_default(),
        }
    }

    /// Finds a host other than Claude Code.
    pub fn by_variable(is_set: impl Fn(&str) -> bool) -> Option<Host> {
        let sets = |host: &Host| host.traces().hook_variables.iter().any(|name| is_set(name));
        Host::ALL.iter().copied().find(sets)
    }

    /// Variables that hosts set for commands of their shell tools.
    pub fn agent_variables() -> impl Iterator<Item = &'static str> {
        Host::ALL.iter().flat_map(|host| host.traces().shell_variables).copied()
    }

    /// The first of them in a block of `NAME=value` separated by zero bytes.
    pub fn agent_variable(environment: &[u8]) -> Option<&'static str> {
        let name = |variable: &[u8]| {
            let name = variable.split(|byte| *byte == b'=').next()?;
            Host::agent_variables().find(|known| known.as_bytes() == name)
        };
        environment.split(|byte| *byte == 0).find_map(name)
    }

    /// Also for an executable that an update replaced, or that is named by its version.
    pub fn by_program(path: &str) -> Option<Host> {
        let mut parts = without_deleted(path).rsplit('/');
        let name = parts.next().unwrap_or_default();
        // npm gives Claude Code's executable this ending on every system (2.1.325).
        let name = name.strip_suffix(".exe").unwrap_or(name);
        let folder = parts.next().filter(|folder| *folder == "versions").and_then(|_| parts.next());
        Host::by_traces(|traces| {
            traces.programs.contains(&name) || folder.is_some_and(|folder| traces.folders.contains(&folder))
        })
    }

    /// Whether it runs the script named on its command line.
    pub fn is_interpreter(path: &str) -> bool {
        let name = without_deleted(path).rsplit('/').next().unwrap_or_default();
        // Some systems have several, such as `node-22`.
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
        INTERPRETERS.contains(&name)
    }

    /// The host whose script an interpreter runs, and the word that shows it. Zero bytes separate the words
    /// of `line`.
    pub fn by_command_line(line: &[u8]) -> Option<(Host, &str)> {
        let mut words =
            line.split(|byte| *byte == 0).map(|word| std::str::from_utf8(word).unwrap_or_default());
        // A program may have replaced the words with its own name.
        let title = words.next()?.trim_end();
        if let Some(host) = Host::by_traces(|traces| traces.programs.contains(&title)) {
            return Some((host, title));
        }
        let script = script(words)?;
        Host::by_script(script).map(|host| (host, script))
    }

    fn by_script(path: &str) -> Option<Host> {
        let (folders, file) = path.rsplit_once('/')?;
        // `@scope/package` names a package that is still to be started.
        if path.starts_with('@') {
            return None;
        }
        let stem = [".js", ".mjs", ".cjs"].iter().find_map(|ending| file.strip_suffix(ending));
        let is_in = |packages: &[&str]| folders.split('/').any(|folder| packages.contains(&folder));
        Host::by_traces(|traces| {
            let is_in_package = stem.is_some() && is_in(traces.packages) && !traces.launchers.contains(&file);
            traces.programs.contains(&stem.unwrap_or(file)) || is_in_package
        })
    }

    fn by_traces(is_it: impl Fn(&Traces) -> bool) -> Option<Host> {
        Host::ALL.iter().copied().find(|host| is_it(&host.traces()))
    }
}

/// Linux appends this to the path of a program that was deleted or replaced.
fn without_deleted(path: &str) -> &str {
    path.strip_suffix(" (deleted)").unwrap_or(path)
}

/// The script among the words after an interpreter's name.
fn script<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    loop {
        let word = words.next()?;
        if WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') && word != "run" {
            return Some(word);
        }
    }
}

/// `None` if it looks like Claude Code's.
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
            (b"CURSOR_AGENT=1", Some("CURSOR_AGENT")),
            (b"CODEX_CI=1", Some("CODEX_CI")),
            (b"AGENT=1", Some("AGENT")),
            (b"USER_AGENT=x\0AGENTS=1", None),
            (b"X=CLAUDECODE=1\0CLAUDECODES=1\0=CLAUDECODE\0\0\xff", None),
            (b"", None),
        ] {
            assert_eq!(Host::agent_variable(environment), found);
        }
        for (path, host) in [
            ("/usr/bin/claude", Some(Host::ClaudeCode)),
            ("/h/.local/share/claude/versions/2.1.325", Some(Host::ClaudeCode)),
            ("/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe", Some(Host::ClaudeCode)),
            ("/opt/codex (deleted)", Some(Host::Codex)),
            ("qwen", Some(Host::Qwen)),
            ("/usr/bin/bash", None),
            ("/h/claude/bash", None),
            ("/h/versions/2", None),
            ("/usr/bin/claudette", None),
            ("/usr/bin/node", None),
            ("", None),
            (" (deleted)", None),
        ] {
            assert_eq!(Host::by_program(path), host, "{path}");
        }
    }

    #[test]
    fn agents_that_an_interpreter_runs_are_told_by_their_scripts() {
        for path in ["/usr/bin/node", "/usr/bin/node-22", "/opt/node22 (deleted)", "bun", "/usr/bin/nodejs"] {
            assert!(Host::is_interpreter(path), "{path}");
        }
        for path in ["/usr/bin/bash", "/usr/bin/claude", "/usr/bin/nodemon", "/usr/bin/python3.12", ""] {
            assert!(!Host::is_interpreter(path), "{path}");
        }
        let modules = "/usr/lib/node_modules";
        for (line, host) in [
            (format!("node {modules}/@anthropic-ai/claude-code/cli.js -p x"), Some(Host::ClaudeCode)),
            (
                format!("node --no-warnings -r /h/a.js {modules}/@qwen-code/qwen-code/cli.js"),
                Some(Host::Qwen),
            ),
            (format!("node {modules}/@google/gemini-cli/bundle/gemini.js"), Some(Host::Gemini)),
            (format!("node {modules}/@github/copilot/index.js"), Some(Host::Copilot)),
            (format!("node {modules}/@openai/codex/bin/codex.js"), Some(Host::Codex)),
            ("bun run /h/opencode-ai/dist/main.mjs".to_owned(), Some(Host::OpenCode)),
            ("node /usr/local/bin/gemini --yolo".to_owned(), Some(Host::Gemini)),
            ("claude".to_owned(), Some(Host::ClaudeCode)),
            // Launchers of an agent, and lines that only mention one.
            (format!("node {modules}/@anthropic-ai/claude-code/cli-wrapper.cjs"), None),
            ("bun x @anthropic-ai/claude-code".to_owned(), None),
            ("node /h/serve.js /usr/bin/claude".to_owned(), None),
            ("node /h/claude-code/node_modules/.bin/vite".to_owned(), None),
            ("node --eval claude".to_owned(), None),
            ("node".to_owned(), None),
            (String::new(), None),
        ] {
            let words = line.replace(' ', "\0") + "\0";
            assert_eq!(Host::by_command_line(words.as_bytes()).map(|(host, _)| host), host, "{line}");
        }
        assert_eq!(Host::by_command_line(b"npm exec @anthropic-ai/claude-code\0\0"), None);
        let found = Host::by_command_line(b"node\0/h/bin/claude\0\xff\0");
        assert_eq!(found, Some((Host::ClaudeCode, "/h/bin/claude")));
    }

    /// Payloads as hosts send them, shortened to the members that identify the host.
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
            // A Codex started from Copilot's shell.
            (r#"{"hook_event_name":"Stop","turn_id":"t"}"#, Some(Host::Copilot), Host::Codex),
        ] {
            let found = Host::detect(payload.as_bytes(), None, || variable);
            assert_eq!(found, host, "{payload} {variable:?}");
        }
    }

    #[test]
    fn a_registration_counts_more_than_a_variable_and_less_than_a_payload() {
        let detect = |payload: &str, registered, variable| {
            Host::detect(payload.as_bytes(), Some(registered), || variable)
        };
        // The folder of its sessions may have been moved.
        let start =
            r#"{"hook_event_name":"SessionStart","session_id":"s","transcript_path":"/m/sessions/r.jsonl"}"#;
        assert_eq!(detect(start, Host::Codex, Some(Host::Copilot)), Host::Codex);
        assert_eq!(detect("{", Host::Codex, None), Host::Codex);
        assert_eq!(detect(r#"{"timestamp":1}"#, Host::Codex, None), Host::Codex);
        assert_eq!(detect(r#"{"turn_id":"t"}"#, Host::Copilot, None), Host::Codex);
    }
}

//! The same session on hosts other than Claude Code, with payloads and transcripts in the form of each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tidegate_core::host::Host;

use super::{Answer, Case, MEGABYTE, Stage, StagedSession};
use xtask::failure::{Done, While};

/// Payloads have the members that the host was seen to send.
macro_rules! host_hook {
    ($host:ident, $folder:literal, $event:literal) => {
        Case {
            name: concat!($folder, "/", $event),
            host: Host::$host,
            arguments: &["hook", "--event", $event, "--host", $folder],
            payload: include_str!(concat!("../../payloads/", $folder, "/", $event, ".json")),
            answer: Answer::Json,
        }
    };
}

/// A gate, and the event after a check.
pub(crate) const HOST_CASES: [Case; 8] = [
    host_hook!(Codex, "codex", "PreToolUse"),
    host_hook!(Codex, "codex", "PostToolUse"),
    host_hook!(Copilot, "copilot", "PreToolUse"),
    host_hook!(Copilot, "copilot", "PostToolUse"),
    host_hook!(Qwen, "qwen", "PreToolUse"),
    host_hook!(Qwen, "qwen", "PostToolUse"),
    host_hook!(OpenCode, "opencode", "PreToolUse"),
    host_hook!(OpenCode, "opencode", "PostToolUse"),
];

fn start_of(host: Host) -> Case {
    match host {
        Host::Codex => host_hook!(Codex, "codex", "SessionStart"),
        Host::Copilot => host_hook!(Copilot, "copilot", "SessionStart"),
        Host::Qwen => host_hook!(Qwen, "qwen", "SessionStart"),
        _ => host_hook!(OpenCode, "opencode", "SessionStart"),
    }
}

/// As the host calls its hooks.
pub(super) fn set_variables(command: &mut Command, host: Host, session: &StagedSession) {
    let (variable, value) = match host {
        Host::Copilot => ("COPILOT_CLI", "1"),
        Host::Qwen => ("QWEN_CODE_SESSION_ID", session.id.as_str()),
        _ => {
            command.env_remove("CLAUDE_PROJECT_DIR");
            return;
        }
    };
    command.env(variable, value);
}

/// The place of a transcript below the home, its first line and one turn; `None` if Tidegate reads none.
fn transcript_of(host: Host, id: &str) -> Option<(PathBuf, &'static str, &'static str)> {
    const META: &str = "{\"timestamp\":\"2026-11-16T18:11:47.116Z\",\"ordinal\":0,\"type\":\"session_meta\",\"payload\":{\"id\":\"@SESSION@\",\
                        \"cwd\":\"@PROJECT@\",\"originator\":\"codex_cli\",\"cli_version\":\"0.166.0\",\"source\":\"cli\"}}\n";
    let found = match host {
        Host::Codex => (
            format!(".codex/sessions/2026/11/16/rollout-2026-11-16T18-11-47-{id}.jsonl"),
            META,
            include_str!("../../payloads/codex/turn.jsonl"),
        ),
        Host::Copilot => (
            format!(".copilot/session-state/{id}/events.jsonl"),
            "",
            include_str!("../../payloads/copilot/turn.jsonl"),
        ),
        Host::Qwen => (
            format!(".qwen/projects/-project/chats/{id}.jsonl"),
            "",
            include_str!("../../payloads/qwen/turn.jsonl"),
        ),
        _ => return None,
    };
    Some((PathBuf::from(found.0), found.1, found.2))
}

impl Stage {
    /// `program` has seen its start; its transcript has a megabyte.
    pub(super) fn session_of_host(&self, program: &Path, host: Host, number: u64) -> Done<StagedSession> {
        let id = format!("00000000-0000-4000-8000-{number:012}");
        let Some((place, first, turn)) = transcript_of(host, &id) else {
            let session = StagedSession { id, transcript: PathBuf::new() };
            return self.start(program, host, session);
        };
        let transcript = self.at("home").join(place);
        let session = StagedSession { id, transcript };
        let mut text = self.fill(first, &session, 0);
        for number in 0..(MEGABYTE / turn.len()) as u64 {
            text += &self.fill(turn, &session, number).replace("@READ@", "60000");
        }
        let folder = session.transcript.parent().unwrap_or(&session.transcript);
        fs::create_dir_all(folder).while_(folder.display())?;
        fs::write(&session.transcript, &text).while_(session.transcript.display())?;
        self.start(program, host, session)
    }

    fn start(&self, program: &Path, host: Host, session: StagedSession) -> Done<StagedSession> {
        let case = start_of(host);
        self.run(program, &case, &session, &self.payload(&case, &session, 1, ""))?;
        Ok(session)
    }

    /// The call of this number is the last one in the transcript.
    pub(super) fn begin_turn_of_host(&self, session: &StagedSession, host: Host, number: u64) -> Done {
        match transcript_of(host, &session.id) {
            Some((_, _, turn)) => {
                session.append(&self.fill(turn, session, number).replace("@READ@", "61000"))
            }
            None => Ok(()),
        }
    }
}

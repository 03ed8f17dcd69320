//! How to recognise hosts whose calls are only recorded. Without this, they would be answered as if they were Claude Code.

use crate::host::Host;
use crate::host::detect::{Signs, Traces};

/// A host with a folder of its own has no line here.
pub(super) fn traces(host: Host) -> Traces {
    let none = Traces::default();
    match host {
        Host::Cursor => Traces {
            shell_variables: &["CURSOR_AGENT"],
            programs: &["cursor-agent"],
            packages: &["cursor-agent"],
            ..none
        },
        Host::Gemini => Traces {
            hook_variables: &["GEMINI_SESSION_ID"],
            shell_variables: &["GEMINI_CLI", "GEMINI_SESSION_ID"],
            programs: &["gemini"],
            packages: &["gemini-cli"],
            ..none
        },
        // Several agents set it.
        Host::Unknown => Traces { shell_variables: &["AGENT"], ..none },
        Host::Factory => Traces { hook_variables: &["FACTORY_PROJECT_DIR"], programs: &["droid"], ..none },
        _ => none,
    }
}

/// Recognises payloads by members and names that Claude Code 2.1.325 does not send.
pub(super) fn sent(host: Host, signs: &Signs<'_>) -> bool {
    match host {
        Host::Cursor => signs.has(&["cursor_version", "conversation_id"]),
        Host::Gemini => signs.is_below("/.gemini/") || GEMINI_EVENTS.contains(&signs.event()),
        // Documented for VS Code's agent and for Factory's droid; neither was seen on a wire.
        Host::VsCode => {
            signs.has(&["hookEventName"]) && signs.has(&["sessionId"]) && !signs.has(&FACTORY_MEMBERS)
        }
        Host::Factory => signs.has(&["hookEventName"]) && signs.has(&FACTORY_MEMBERS),
        Host::Unknown => signs.has(&["timestamp", "sessionId", "hookEventName"]),
        _ => false,
    }
}

const GEMINI_EVENTS: [&str; 7] =
    ["BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "PreCompress", "BeforeModel", "AfterModel"];

const FACTORY_MEMBERS: [&str; 2] = ["transcriptPath", "permissionMode"];

//! Copilot CLI: its payloads, tools, replies, events file, windows and status line.

mod capabilities;
mod event;
mod payload;
mod reply;
mod shell_line;
mod status;
mod transcript;
mod variables;
mod window;

use crate::event::action::RawTool;
use crate::event::status::StatusInput;
use crate::event::{Event, EventKind, UnreadableEvent};
use crate::host::answer::{Answer, Call, Channels, Reply};
use crate::host::capability::{Capability, Support};
use crate::host::detect::{Signs, Traces};
use crate::host::transcript::{ConversationOrigin, Sought, TranscriptEntry, TranscriptParser};
use crate::host::variables::{HostVariables, Lookup};
use crate::host::window::{HostSettings, Window};
use crate::host::{Host, HostWing, common_reply, head};

pub struct Wing;

impl HostWing for Wing {
    const SKILL_HOME: &'static str = ".github";

    const MCP_SEPARATOR: Option<&'static str> = Some("-");

    const SETTINGS_NAMES: &'static [&'static str] = &[".github/hooks", ".github/copilot", ".copilot"];

    const TELLS_BY_TRANSCRIPT: bool = true;

    const COMPACTS_SILENTLY: bool = true;

    fn support(capability: Capability) -> Support {
        capabilities::support(capability)
    }

    fn traces(_: Host) -> Traces {
        Traces {
            hook_variables: &["COPILOT_CLI"],
            shell_variables: &["COPILOT_AGENT_SESSION_ID", "COPILOT_CLI"],
            programs: &["copilot"],
            packages: &["copilot"],
            ..Traces::default()
        }
    }

    fn sent(_: Host, signs: &Signs<'_>) -> bool {
        signs.has(&["tool_result", "parent_agent_id"]) || signs.is_below("/.copilot/")
    }

    fn read(
        _: Host,
        payload: &[u8],
        registered: Option<EventKind>,
    ) -> Result<Event<'_>, UnreadableEvent<'_>> {
        event::parse(payload, registered)
    }

    fn channels(kind: EventKind) -> Channels {
        reply::form(kind).channels()
    }

    fn deliverable(kind: EventKind, call: Call) -> Call {
        reply::form(kind).deliverable(kind, call)
    }

    fn reply(kind: EventKind, answer: &Answer<'_>) -> Reply {
        reply::reply(kind, answer)
    }

    fn refuse(model: &str, user: &str) -> Reply {
        common_reply::refuse(model, user)
    }

    fn raw_tool(payload: &[u8]) -> RawTool<'_> {
        head::raw_tool(payload)
    }

    fn parser(kinds: &[Sought]) -> TranscriptParser {
        transcript::parser(kinds)
    }

    fn wrote(line: &[u8]) -> bool {
        transcript::wrote(line)
    }

    fn origin(entry: &TranscriptEntry<'_>) -> Option<ConversationOrigin> {
        transcript::origin(entry)
    }

    fn status(payload: &[u8]) -> Option<StatusInput<'_>> {
        status::read(payload)
    }

    fn window(_: &str, told: Option<u64>, _: u64, _: &HostSettings) -> Option<Window> {
        window::window(told)
    }

    fn variables(get: Lookup<'_>) -> HostVariables {
        variables::read(get)
    }
}

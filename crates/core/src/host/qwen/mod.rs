//! Qwen Code: its payloads, tools, replies, chat records and windows.

mod capabilities;
mod event;
mod payload;
mod reply;
pub mod tools;
mod transcript;
mod variables;
mod window;

use crate::event::action::RawTool;
use crate::event::{Event, EventKind, Start, UnreadableEvent};
use crate::host::answer::{Answer, Call, Channels, Reply};
use crate::host::capability::{Capability, Support};
use crate::host::detect::{Signs, Traces};
use crate::host::transcript::{ConversationOrigin, Sought, TranscriptEntry, TranscriptParser};
use crate::host::variables::{HostVariables, Lookup};
use crate::host::window::{HostSettings, Window};
use crate::host::{Host, HostWing, common_reply, head};

pub use window::compaction_percent;

pub struct Wing;

impl HostWing for Wing {
    const SKILL_HOME: &'static str = ".qwen";

    const COMPACT_COMMAND: &'static str = "/compress";

    const SETTINGS_NAMES: &'static [&'static str] = &["settings.json", ".qwen"];

    fn support(capability: Capability) -> Support {
        capabilities::support(capability)
    }

    fn traces(_: Host) -> Traces {
        Traces {
            hook_variables: &["QWEN_CODE_SESSION_ID"],
            shell_variables: &["QWEN_CODE", "QWEN_CODE_SESSION_ID"],
            programs: &["qwen"],
            packages: &["qwen-code"],
            ..Traces::default()
        }
    }

    fn sent(_: Host, signs: &Signs<'_>) -> bool {
        signs.has(&["tool_call_id", "submitted_prompt", "context_limit"]) || signs.is_below("/.qwen/")
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

    /// The system prompt is made once: what a hook says after a compaction is not in it (0.24.4).
    fn hears_at(start: Start) -> bool {
        start != Start::Compact
    }

    fn deliverable(kind: EventKind, call: Call) -> Call {
        reply::form(kind).deliverable(kind, call)
    }

    fn reply(kind: EventKind, answer: &Answer<'_>) -> Reply {
        reply::form(kind).reply(kind, answer)
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

    fn window(_: &str, told: Option<u64>, used: u64, settings: &HostSettings) -> Option<Window> {
        window::window(told, used, settings)
    }

    fn variables(get: Lookup<'_>) -> HostVariables {
        variables::read(get)
    }
}

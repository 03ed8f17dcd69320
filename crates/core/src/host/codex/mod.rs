//! Codex: its payloads, tools, replies, rollouts and windows.

mod capabilities;
mod event;
mod payload;
mod reply;
mod transcript;
mod variables;
mod window;

use crate::event::action::RawTool;
use crate::event::{Event, EventKind, UnreadableEvent};
use crate::host::answer::{Answer, Call, Channels, Reply};
use crate::host::capability::{Capability, Support};
use crate::host::detect::{Signs, Traces};
use crate::host::person::Person;
use crate::host::transcript::{ConversationOrigin, Sought, TranscriptEntry, TranscriptParser};
use crate::host::variables::{HostVariables, Lookup};
use crate::host::window::{HostSettings, Window};
use crate::host::{Host, HostWing, common_reply, head};

pub struct Wing;

impl HostWing for Wing {
    const SKILL_HOME: &'static str = ".codex";

    const SETTINGS_NAMES: &'static [&'static str] = &["hooks.json", "config.toml", ".codex"];

    const SKILL_HINT: &'static str =
        " (Print its whole SKILL.md with `cat`, in a command that does nothing else.)";

    const SKILL_PREFIX: &'static str = "$";

    const TELLS_BY_TRANSCRIPT: bool = true;

    fn support(capability: Capability) -> Support {
        capabilities::support(capability)
    }

    fn traces(_: Host) -> Traces {
        Traces {
            shell_variables: &["CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_CI"],
            programs: &["codex"],
            packages: &["codex"],
            ..Traces::default()
        }
    }

    fn sent(_: Host, signs: &Signs<'_>) -> bool {
        signs.has(&["turn_id"]) || signs.is_below("/.codex/") || signs.tool() == event::PATCH
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

    fn person(first_line: &[u8]) -> Person {
        transcript::person(first_line)
    }

    fn window(_: &str, told: Option<u64>, used: u64, settings: &HostSettings) -> Option<Window> {
        window::window(told, used, settings)
    }

    fn variables(get: Lookup<'_>) -> HostVariables {
        variables::read(get)
    }
}

//! opencode, which runs plugins instead of hooks: the payloads and answers of Tidegate's own plugin
//! (`cli/src/host/opencode/shim.js`).

mod capabilities;
mod event;
mod reply;

use crate::event::action::RawTool;
use crate::event::{Event, EventKind, Start, UnreadableEvent};
use crate::host::answer::{Answer, Call, Channels, Reply};
use crate::host::capability::{Capability, Support};
use crate::host::detect::{Signs, Traces};
use crate::host::variables::{HostVariables, Lookup};
use crate::host::window::{HostSettings, Window};
use crate::host::{Host, HostWing, head};

pub struct Wing;

impl HostWing for Wing {
    const SKILL_HOME: &'static str = ".opencode";

    const MCP_SEPARATOR: Option<&'static str> = Some("_");

    const SETTINGS_NAMES: &'static [&'static str] = &["opencode", "tidegate.js"];

    fn support(capability: Capability) -> Support {
        capabilities::support(capability)
    }

    fn traces(_: Host) -> Traces {
        Traces {
            shell_variables: &["OPENCODE"],
            programs: &["opencode"],
            packages: &["opencode", "opencode-ai"],
            ..Traces::default()
        }
    }

    fn sent(_: Host, signs: &Signs<'_>) -> bool {
        signs.has(&["opencode"])
    }

    fn read(
        _: Host,
        payload: &[u8],
        registered: Option<EventKind>,
    ) -> Result<Event<'_>, UnreadableEvent<'_>> {
        event::parse(payload, registered)
    }

    fn channels(kind: EventKind) -> Channels {
        reply::channels(kind)
    }

    fn deliverable(kind: EventKind, call: Call) -> Call {
        reply::deliverable(kind, call)
    }

    fn reply(kind: EventKind, answer: &Answer<'_>) -> Reply {
        reply::reply(kind, answer)
    }

    fn refuse(model: &str, _: &str) -> Reply {
        reply::refuse(model)
    }

    /// The plugin hears of a compaction's end, and has no place for a text there.
    fn hears_at(start: Start) -> bool {
        start != Start::Compact
    }

    fn raw_tool(payload: &[u8]) -> RawTool<'_> {
        head::raw_tool(payload)
    }

    /// The plugin reports the part of the window that opencode fills before it compacts.
    fn window(_: &str, told: Option<u64>, used: u64, settings: &HostSettings) -> Option<Window> {
        let tokens = told.filter(|tokens| *tokens >= used)?;
        Some(Window { tokens, compact_at: settings.auto_compact.then_some(tokens) })
    }

    fn variables(_: Lookup<'_>) -> HostVariables {
        HostVariables::default()
    }
}

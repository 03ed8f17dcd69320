//! Copilot CLI: its transcripts. Its calls are recorded and answered with nothing, as those of an unknown host.

mod transcript;

use crate::event::{Event, EventKind, UnreadableEvent};
use crate::host::detect::{Signs, Traces};
use crate::host::transcript::{ConversationOrigin, Sought, TranscriptEntry, TranscriptParser};
use crate::host::{Host, HostWing, unknown};

pub struct Wing;

impl HostWing for Wing {
    const IS_ONLY_RECORDED: bool = true;

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
        signs.has(&["tool_result"]) || signs.is_below("/.copilot/")
    }

    fn read(
        host: Host,
        payload: &[u8],
        registered: Option<EventKind>,
    ) -> Result<Event<'_>, UnreadableEvent<'_>> {
        unknown::Wing::read(host, payload, registered)
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
}

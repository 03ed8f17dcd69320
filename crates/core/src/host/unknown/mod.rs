//! A host without a protocol in Tidegate. Its calls are recorded, as far as they look like Claude Code's, and
//! answered with nothing: a wrong answer could deny every edit there.

mod signs;

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};

use crate::event::{Event, EventKind, UnreadableEvent};
use crate::host::detect::{Signs, Traces};
use crate::host::{Host, HostWing, head};
use crate::text::json::{Field, Member, read_object, wire_key, wire_object};

pub struct Wing;

impl HostWing for Wing {
    const IS_ONLY_RECORDED: bool = true;

    fn traces(host: Host) -> Traces {
        signs::traces(host)
    }

    fn sent(host: Host, signs: &Signs<'_>) -> bool {
        signs::sent(host, signs)
    }

    fn read(
        host: Host,
        payload: &[u8],
        registered: Option<EventKind>,
    ) -> Result<Event<'_>, UnreadableEvent<'_>> {
        let payload: Payload<'_> =
            read_object(payload).map_err(|why| head::broken(payload, registered, why))?;
        let mut event = head::begin(host, payload.hook_event_name, &payload.session_id, registered)?;
        event.cwd = payload.cwd.value();
        if let Field::Value(tool) = payload.tool_name {
            event.tool = Ok(tool);
        }
        Ok(event)
    }
}

wire_object! {
    /// The members that go into a record.
    struct Payload<'a> {
        hook_event_name: Cow<'a, str>,
        session_id: Cow<'a, str>,
        cwd: Cow<'a, str>,
        tool_name: Cow<'a, str>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Action;
    use crate::host::answer::{Answer, Call, Channels, Reply};

    #[test]
    fn an_unknown_host_is_recorded_and_answered_with_nothing() {
        let payload =
            br#"{"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": "Edit",
            "tool_input": {"file_path": "a.rs"}}"#;
        for host in [Host::Unknown, Host::Gemini] {
            let event = host.read(payload, None).unwrap();
            assert_eq!(
                (event.host, event.kind, event.tool_name()),
                (host, EventKind::PreToolUse, Some("Edit"))
            );
            assert_eq!((event.cwd.as_deref(), &event.action), (Some("/p"), &Action::Other));
            for kind in EventKind::ALL {
                let answer = Answer { call: Call::Halt, reason: "r", context: "c", user: "u" };
                assert_eq!(host.reply(*kind, &answer), Reply::default());
                assert_eq!(host.channels(*kind), Channels::default());
            }
            assert_eq!(host.refuse("m", "u"), Reply::default());
            assert!(host.is_only_recorded());
        }
    }
}

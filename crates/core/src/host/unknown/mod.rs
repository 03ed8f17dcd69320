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
        let name = first_of([payload.hook_event_name, payload.event_name]);
        let session = first_of([payload.session_id, payload.session, payload.conversation_id]);
        let mut event = head::begin(host, name, &session, registered)?;
        event.cwd = payload.cwd.value();
        if let Field::Value(tool) = payload.tool_name {
            event.tool = Ok(tool);
        }
        Ok(event)
    }
}

/// Hosts spell the same member in different ways.
fn first_of<const N: usize>(spellings: [Field<Cow<'_, str>>; N]) -> Field<Cow<'_, str>> {
    spellings.into_iter().find(|member| *member != Field::Missing).unwrap_or_default()
}

wire_object! {
    /// The members that go into a record.
    struct Payload<'a> {
        hook_event_name: Cow<'a, str>,
        event_name as "hookEventName": Cow<'a, str>,
        session_id: Cow<'a, str>,
        session as "sessionId": Cow<'a, str>,
        conversation_id: Cow<'a, str>,
        cwd: Cow<'a, str>,
        tool_name: Cow<'a, str>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Action;
    use crate::host::answer::{Answer, Call, Channels, Reply};

    /// Shapes that vendors document. No test runs these agents.
    #[test]
    fn documented_payloads_are_recorded_as_of_their_hosts() {
        for (payload, host, event, tool) in [
            (
                r#"{"timestamp": "2026", "cwd": "/p", "sessionId": "s", "hookEventName": "PreToolUse", "transcript_path": "/t",
                "tool_name": "editFiles", "tool_input": {"files": ["a"]}, "tool_use_id": "t"}"#,
                Host::VsCode,
                "PreToolUse",
                Some("editFiles"),
            ),
            (
                r#"{"sessionId": "s", "transcriptPath": "/t", "cwd": "/p", "permissionMode": "off", "hookEventName": "PreToolUse",
                "tool_name": "Edit", "tool_input": {"file_path": "a"}}"#,
                Host::Factory,
                "PreToolUse",
                Some("Edit"),
            ),
            (
                r#"{"conversation_id": "s", "generation_id": "g", "model": "m", "hook_event_name": "preToolUse",
                "cursor_version": "2", "workspace_roots": ["/p"], "transcript_path": null, "tool_name": "Write"}"#,
                Host::Cursor,
                "preToolUse",
                Some("Write"),
            ),
            (
                r#"{"session_id": "s", "transcript_path": "/h/.gemini/tmp/p/chats/s.jsonl", "cwd": "/p", "timestamp": "2026",
                "hook_event_name": "BeforeTool", "tool_name": "replace", "tool_input": {"file_path": "a"}}"#,
                Host::Gemini,
                "BeforeTool",
                Some("replace"),
            ),
        ] {
            assert_eq!(Host::detect(payload.as_bytes(), None, || None), host, "{payload}");
            let read = host.read(payload.as_bytes(), None).unwrap();
            assert_eq!((read.session.in_host(), &*read.name, read.tool_name()), ("s", event, tool));
            assert!(host.is_only_recorded() && read.edit_paths().is_none(), "{payload}");
        }
    }

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

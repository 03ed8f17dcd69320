//! The first members of every payload in Claude Code's form, which other hosts adopted: the event's name and
//! the session; and names of tools that they share.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::event::action::RawTool;
use crate::event::{Event, EventKind, FailedStep, SessionId, UnreadableEvent};
use crate::host::Host;
use crate::text::json::{Field, NotAnObject};
use crate::text::search;

/// An event with only these two members.
pub(super) fn begin<'a>(
    host: Host,
    name: Field<Cow<'a, str>>,
    session: &Field<Cow<'a, str>>,
    registered: Option<EventKind>,
) -> Result<Event<'a>, UnreadableEvent<'a>> {
    let (kind, name) = match (name, registered) {
        (Field::Value(name), _) if !name.is_empty() => (EventKind::from_name(&name), name),
        (_, Some(kind)) => (kind, Cow::Borrowed(kind.name())),
        (_, None) => (EventKind::Other, Cow::Borrowed("")),
    };
    let session = match session {
        Field::Value(id) => SessionId::parse(id),
        Field::Missing => Err(FailedStep::SessionMissing),
        Field::WrongType => Err(FailedStep::SessionType),
    };
    match session {
        Ok(session) => Ok(Event::new(host, kind, name, session)),
        Err(step) => Err(UnreadableEvent { kind: Some(kind), name, step }),
    }
}

pub(super) fn broken(payload: &[u8], registered: Option<EventKind>, why: NotAnObject) -> UnreadableEvent<'_> {
    let name = name_in_broken_json(payload);
    UnreadableEvent {
        kind: name.map(EventKind::from_name).or(registered),
        name: name.unwrap_or_default().into(),
        step: FailedStep::Payload(why),
    }
}

/// Works for a truncated payload: the name comes before the tool's input.
fn name_in_broken_json(bytes: &[u8]) -> Option<&str> {
    const MEMBER: &[u8] = b"\"hook_event_name\"";
    let after = search::find(bytes, MEMBER)? + MEMBER.len();
    let rest =
        bytes.get(after..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = search::first(rest, b'"')?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// From `mcp__SERVER__TOOL`, for a server named after Tidegate: the user's own entry or the plugin's
/// (`mcp__plugin_PLUGIN_SERVER__TOOL`).
pub(super) fn own_tool<'a>(name: &Cow<'a, str>) -> Option<Cow<'a, str>> {
    fn tool(name: &str) -> Option<&str> {
        let (server, tool) = name.strip_prefix("mcp__")?.rsplit_once("__")?;
        server.contains("tidegate").then_some(tool)
    }
    match name {
        Cow::Borrowed(name) => tool(name).map(Cow::Borrowed),
        Cow::Owned(name) => tool(name).map(|tool| Cow::Owned(tool.to_owned())),
    }
}

pub(super) fn raw_tool(payload: &[u8]) -> RawTool<'_> {
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct RawPayload<'a> {
        #[serde(borrow)]
        tool_input: Option<&'a RawValue>,
        #[serde(borrow)]
        tool_response: Option<&'a RawValue>,
    }
    let payload = payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(payload);
    let tool: RawPayload<'_> = serde_json::from_slice(payload).unwrap_or_default();
    RawTool {
        input: tool.tool_input.map_or("", RawValue::get),
        response: tool.tool_response.map_or("", RawValue::get),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_tools_are_ours() {
        for (name, ours) in [
            ("mcp__tidegate__set_topic", Some("set_topic")),
            ("mcp__plugin_tidegate_tidegate__add_topic", Some("add_topic")),
            ("mcp__plugin_x_my-tidegate__search", Some("search")),
            ("mcp__memory__set_topic", None),
            ("mcp__memory__tidegate", None),
            ("set_topic", None),
            ("mcp__tidegate", None),
        ] {
            assert_eq!(own_tool(&Cow::Borrowed(name)).as_deref(), ours, "{name}");
        }
    }
}

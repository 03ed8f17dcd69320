//! The first members of every payload in Claude Code's form, which other hosts adopted: the event's name and
//! the session.

use std::borrow::Cow;

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

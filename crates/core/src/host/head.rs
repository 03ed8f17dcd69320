//! The first members of every payload in Claude Code's form, which other hosts adopted: the event's name and
//! the session; members that several hosts share, and names of tools.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess, SeqAccess};
use serde_json::value::RawValue;

use crate::event::action::RawTool;
use crate::event::prompt::Author;
use crate::event::{Event, EventKind, FailedStep, PROMPT_HEAD, SessionId, Start, Thread, UnreadableEvent};
use crate::host::Host;
use crate::shell::tidy;
use crate::text::json::{Field, LongText, Member, NotAnObject, wire_key, wire_object};
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
        Field::Value(id) => SessionId::of(host, id),
        Field::Missing => Err(FailedStep::SessionMissing),
        Field::WrongType => Err(FailedStep::SessionType),
    };
    match session {
        Ok(session) => Ok(Event::new(host, kind, name, session)),
        Err(step) => Err(UnreadableEvent { kind: Some(kind), name, step }),
    }
}

/// A member that a gate needs.
pub(super) fn required<T>(member: Field<T>, name: &'static str) -> Result<T, FailedStep> {
    match member {
        Field::Value(value) => Ok(value),
        Field::Missing => Err(FailedStep::MemberMissing(name)),
        Field::WrongType => Err(FailedStep::MemberType(name)),
    }
}

/// No tool has an empty name.
pub(super) fn tool_name(name: Field<Cow<'_, str>>) -> Result<Cow<'_, str>, FailedStep> {
    let name = required(name, "tool_name")?;
    if name.is_empty() { Err(FailedStep::MemberEmpty("tool_name")) } else { Ok(name) }
}

/// For a tool that writes exactly one file.
pub(super) fn one_path<'a>(
    path: Field<Cow<'a, str>>,
    name: &'static str,
) -> Result<Vec<Cow<'a, str>>, FailedStep> {
    match required(path, name)? {
        path if path.is_empty() => Err(FailedStep::MemberMissing(name)),
        path => Ok(vec![path]),
    }
}

/// The path of the one file in an edit's input.
pub(super) fn edited<'a, I>(
    input: Field<I>,
    name: &'static str,
    path: impl FnOnce(I) -> Field<Cow<'a, str>>,
) -> Result<Vec<Cow<'a, str>>, FailedStep> {
    one_path(path(required(input, "tool_input")?), name)
}

/// The model may write a skill as a person would type it, with a slash.
pub(super) fn skill_name(name: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    let name = match name? {
        Cow::Borrowed(name) => Cow::Borrowed(name.strip_prefix('/').unwrap_or(name)),
        Cow::Owned(name) => Cow::Owned(name.strip_prefix('/').map(str::to_owned).unwrap_or(name)),
    };
    Some(name).filter(|name| !name.is_empty())
}

wire_object! {
    struct TextBlock<'a> {
        text: LongText<'a>,
    }
}

/// The first text in a list of blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FirstText<'a>(pub(super) Option<LongText<'a>>);

impl<'de> Member<'de> for FirstText<'de> {
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut first = None;
        while let Some(block) = seq.next_element::<Field<TextBlock<'de>>>()? {
            first = first.or_else(|| block.value()?.text.value());
        }
        Ok(Some(FirstText(first)))
    }
}

/// A longer command line is not inspected.
const COMMAND_LONGEST: usize = 64 * 1024;

pub(super) fn command_line<'a>(line: &Field<LongText<'a>>) -> Option<Cow<'a, str>> {
    line.get().and_then(|line| line.whole(COMMAND_LONGEST))
}

/// Of a call that names one, from the session's folder on.
pub(super) fn command_folder(folder: &Field<Cow<'_, str>>, cwd: Option<&str>) -> Option<String> {
    let folder = folder.get().filter(|folder| !folder.is_empty())?;
    if folder.starts_with('/') {
        return Some(tidy(folder));
    }
    Some(tidy(&format!("{}/{folder}", cwd?)))
}

pub(super) fn thread<'a>(agent: Field<Cow<'a, str>>, kind: Field<Cow<'a, str>>) -> Thread<'a> {
    match agent {
        Field::Missing => Thread::Main,
        id => Thread::Agent { id: id.value(), kind: kind.value() },
    }
}

pub(super) fn start(source: Option<&Cow<'_, str>>) -> Start {
    match source.map(AsRef::as_ref) {
        Some("startup") => Start::Startup,
        Some("resume") => Start::Resume,
        Some("clear") => Start::Clear,
        Some("compact") => Start::Compact,
        Some("fork") => Start::Fork,
        _ => Start::Other,
    }
}

/// `machine`: beginnings of texts that the host puts in the place of prompts.
pub(super) fn author(text: LongText<'_>, machine: &[&str]) -> Author {
    let head = text.head(PROMPT_HEAD);
    let head = head.trim_start();
    match head {
        _ if machine.iter().any(|start| head.starts_with(start)) => Author::Host,
        _ if head.starts_with('/') => Author::PersonByCommand,
        _ => Author::Person,
    }
}

/// Of the memory.
pub(super) fn topic(id: Field<u64>) -> Option<i64> {
    id.value().and_then(|id| i64::try_from(id).ok()).filter(|id| *id > 0)
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

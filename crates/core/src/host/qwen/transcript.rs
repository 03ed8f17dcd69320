//! The chat records of Qwen Code: one JSON object per line with an id, a type and a message in parts, into neutral
//! entries.
//!
//! Each answer has its tokens, and the window of its model if Qwen Code knows the model. Lines that do not parse are
//! skipped, and so are unknown types.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess, SeqAccess};

use super::tools::{self, AGENT, EDITORS, SHELL};
use crate::event::action::Exit;
use crate::host::transcript::{
    AnswerEntry, BoundaryEntry, CallResult, CallTask, CallText, ContentPart, ConversationOrigin,
    EntryContent, EntryKind, LazyText, PromptEntry, RequestTokens, Sought, ToolCall, ToolResult,
    TranscriptEntry, TranscriptParser,
};
use crate::text::json::{Field, LongText, Member, Verbatim, read_object, wire_key, wire_object};
use crate::text::search::Needle;
use crate::time::Millis;

/// Beginnings of texts that Qwen Code itself puts in the place of prompts.
pub(super) const MACHINE: [&str; 3] = ["<qwen:", "<system-reminder>", "<task-notification>"];

const BOUNDARY: &str = "chat_compression";

pub(super) fn parser(kinds: &[Sought]) -> TranscriptParser {
    let needles = |kind: &Sought| -> &[&'static str] {
        match kind {
            Sought::Prompts => &["\"type\":\"user\"", "\"type\":\"tool_result\""],
            Sought::Added => &["\"mid_turn_user_message\""],
            Sought::Answers => &["\"type\":\"assistant\""],
            Sought::Results => &["\"type\":\"tool_result\""],
            Sought::Boundaries => &[BOUNDARY],
            // Every prompt has the place; counts are in the answers.
            Sought::Rewritten
            | Sought::RepeatedOutput
            | Sought::Beginnings
            | Sought::Endings
            | Sought::Patches
            | Sought::Counts
            | Sought::Origins => &[],
        }
    };
    let needles = kinds.iter().flat_map(needles).map(|text| Needle::new(text.as_bytes()));
    TranscriptParser::new(needles.collect(), entry)
}

/// Claude Code's lines have a session and a type, too, but never these.
pub(super) fn wrote(line: &[u8]) -> bool {
    read_object::<WireLine<'_>>(line).is_ok_and(|wire| {
        let has_parts = wire.message.get().is_some_and(|message| message.parts != Field::Missing);
        let is_own = has_parts || wire.provenance.get().is_some() || wire.payload.get().is_some();
        wire.id.get().is_some() && is_own
    })
}

pub(super) fn origin(entry: &TranscriptEntry<'_>) -> Option<ConversationOrigin> {
    if !matches!(entry.kind, EntryKind::Prompt(_)) {
        return None;
    }
    let wire = read_object::<WireLine<'_>>(entry.line).ok()?;
    Some(ConversationOrigin {
        session: wire.session.value().map(Cow::into_owned),
        folder: wire.folder.value().map(Cow::into_owned),
        ..ConversationOrigin::default()
    })
}

fn entry(line: &[u8]) -> Option<TranscriptEntry<'_>> {
    let wire = read_object::<WireLine<'_>>(line).ok()?;
    let whole = std::str::from_utf8(line).ok()?;
    let parts = wire.message.get().and_then(|message| message.parts.get()).map(|parts| parts.0);
    let content = |read| parts.map(|json| EntryContent { json, read });
    let subtype = wire.subtype.get().map(AsRef::as_ref);
    let (kind, content) = match (wire.kind.get().map(AsRef::as_ref), subtype) {
        (Some("user"), None) => {
            let of_person = wire.provenance.get().is_none_or(|provenance| provenance == "real_user");
            let typed = of_person.then_some(LazyText { json: whole, read: typed_text });
            (EntryKind::Prompt(PromptEntry { is_hidden: !of_person, typed, ..untyped() }), None)
        }
        (Some("user"), Some("mid_turn_user_message")) => {
            let typed = Some(LazyText { json: whole, read: typed_text });
            (EntryKind::Added(PromptEntry { is_hidden: false, typed, ..untyped() }), None)
        }
        (Some("user"), Some("notification" | "cron")) => {
            let sent = Some(LazyText { json: whole, read: sent_text });
            (EntryKind::Prompt(PromptEntry { sent, ..untyped() }), None)
        }
        (Some("assistant"), _) => {
            let usage = wire.usage.get();
            let tokens = usage.and_then(WireUsage::tokens);
            let answer = AnswerEntry {
                message: Cow::Borrowed(""),
                model: wire.model.value(),
                tokens,
                window: wire.window.value().filter(|window| *window > 0),
                ends_turn: false,
                is_of_host: false,
            };
            (EntryKind::Answer(answer), content(answer_parts))
        }
        (Some("tool_result"), _) => {
            let result = ToolResult { output: "", is_by_hook: false, answers: |_| None };
            (EntryKind::Result(result), Some(EntryContent { json: whole, read: result_parts }))
        }
        (Some("system"), Some(BOUNDARY)) => {
            let payload = wire.payload.get().map(|payload| payload.0)?;
            let done = read_object::<WireCompression<'_>>(payload.as_bytes()).ok()?;
            let info = done.info.get();
            let is_done = info.and_then(|info| info.status.get()).is_none_or(|status| *status == 1);
            let left = info.and_then(|info| info.left.get()).copied();
            let summary = Some(LazyText { json: payload, read: summary });
            let boundary = BoundaryEntry { left, kept: Vec::new(), summary };
            let kind = if is_done { EntryKind::Boundary(boundary) } else { EntryKind::Other };
            (kind, Some(EntryContent { json: payload, read: kept_parts }))
        }
        _ => (EntryKind::Other, None),
    };
    Some(TranscriptEntry {
        line,
        kind,
        at: wire.timestamp.get().and_then(|text| Millis::from_iso(text)),
        session: wire.session.value(),
        branch: wire.branch.value(),
        version: wire.version.value(),
        is_of_agent: wire.is_sidechain.get() == Some(&true) || wire.agent.get().is_some(),
        is_error: false,
        content,
        id: wire.id.value(),
    })
}

fn untyped<'a>() -> PromptEntry<'a> {
    PromptEntry { is_hidden: true, repeats_output: false, typed: None, sent: None, conclusion: None }
}

/// As the person saw it, without the files and the output of hooks that joined it.
fn typed_text(line: &str) -> Option<String> {
    let wire = read_object::<WireLine<'_>>(line.as_bytes()).ok()?;
    let payload = wire.payload.get().and_then(|it| read_object::<WireShown<'_>>(it.0.as_bytes()).ok());
    let shown = payload.and_then(|payload| payload.text.value()).map(|text| text.lossy().trim().to_owned());
    let typed = shown.or_else(|| {
        let texts = texts(wire.message.get()?.parts.get()?.0)?;
        let typed = texts.iter().map(|text| text.trim()).filter(|text| !is_machine(text));
        Some(typed.collect::<Vec<_>>().join("\n"))
    });
    typed.filter(|typed| !typed.is_empty() && !is_machine(typed))
}

fn sent_text(line: &str) -> Option<String> {
    let wire = read_object::<WireLine<'_>>(line.as_bytes()).ok()?;
    Some(texts(wire.message.get()?.parts.get()?.0)?.join("\n")).filter(|text| !text.is_empty())
}

fn is_machine(text: &str) -> bool {
    MACHINE.iter().any(|start| text.starts_with(start))
}

/// Without thoughts.
fn texts(parts: &str) -> Option<Vec<String>> {
    let parts = serde_json::from_str::<Field<Parts<'_>>>(parts).ok()?.value()?;
    let said = parts.0.into_iter().filter(|part| part.is_thought.get() != Some(&true));
    Some(said.filter_map(|part| Some(part.text.value()?.lossy().into_owned())).collect())
}

fn answer_parts(json: &str) -> Option<Vec<ContentPart<'_>>> {
    let parts = serde_json::from_str::<Field<Parts<'_>>>(json).ok()?.value()?;
    let said = parts.0.into_iter().filter(|part| part.is_thought.get() != Some(&true));
    Some(
        said.filter_map(|part| part.call.value().map(call_part).or(part.text.value().map(ContentPart::Text)))
            .collect(),
    )
}

fn call_part(call: WireCall<'_>) -> ContentPart<'_> {
    let tool = call.name.value().unwrap_or_default();
    let input = call.arguments.value().unwrap_or_default();
    let is_edit = EDITORS.contains(&tool.as_ref());
    let task = match tool.as_ref() {
        SHELL => input
            .command
            .value()
            .map_or(CallTask::Other, |command| CallTask::Command(CallText::InLine(command))),
        AGENT => CallTask::Agent(input.description.value().map(CallText::InLine)),
        "ask_user_question" => CallTask::Question,
        _ => CallTask::Other,
    };
    let file = input.file_path.value().or(input.notebook_path.value());
    ContentPart::Call(ToolCall {
        id: call.id.value().unwrap_or_default(),
        tool,
        is_edit,
        files: file.filter(|path| is_edit && !path.is_empty()).into_iter().collect(),
        task,
    })
}

fn result_parts(line: &str) -> Option<Vec<ContentPart<'_>>> {
    let wire = read_object::<WireLine<'_>>(line.as_bytes()).ok()?;
    let outcome = wire.outcome.value().unwrap_or_default();
    let has_failed = outcome.status.get().is_some_and(|status| status == "error");
    let ran = outcome.execution.get().is_none_or(|execution| execution != "not_started");
    let parts = wire.message.value()?.parts.value()?;
    let parts = serde_json::from_str::<Field<Parts<'_>>>(parts.0).ok()?.value()?;
    let results = parts.0.into_iter().filter_map(|part| part.result.value());
    Some(
        results
            .map(|result| {
                let response = result.response.value().unwrap_or_default();
                let (output, error) = (response.output.value(), response.error.value());
                let failed = has_failed || error.is_some();
                let is_of = |tool: &str| result.name.get().is_some_and(|name| name == tool);
                let is_of_shell = is_of(SHELL);
                let concludes = is_of_shell || is_of(AGENT);
                let report = output.as_ref().or(error.as_ref()).filter(|_| is_of_shell && ran);
                ContentPart::Result(CallResult {
                    call: result.id.value(),
                    failed,
                    exit: report
                        .and_then(|report| long_text(report.0))
                        .map_or(Exit::Unknown, tools::exit_before_notes),
                    conclusion: output.filter(|_| !failed && concludes).map(|it| lazy(it, conclusion)),
                    failure: error.or(output).filter(|_| failed && ran).map(|it| lazy(it, printed_failure)),
                })
            })
            .collect(),
    )
}

fn lazy<'a>(json: Verbatim<'a>, read: fn(&'a str) -> Option<String>) -> LazyText<'a> {
    LazyText { json: json.0, read }
}

fn long_text(json: &str) -> Option<LongText<'_>> {
    serde_json::from_str::<Field<LongText<'_>>>(json).ok()?.value()
}

fn plain_text(json: &str) -> Option<String> {
    let text = long_text(json)?.lossy().trim().to_owned();
    Some(text).filter(|text| !text.is_empty())
}

/// An agent in the background gives its answer later, as a prompt.
fn conclusion(json: &str) -> Option<String> {
    let text = plain_text(json).filter(|text| !text.starts_with("Background agent launched"))?;
    Some(tools::without_notes(&text).to_owned())
}

/// Without the lines about the process around it, unless that is all.
fn printed_failure(json: &str) -> Option<String> {
    let text = tools::without_notes(&plain_text(json)?).to_owned();
    let printed = text.split_once("\nOutput: ").map_or(text.as_str(), |(_, rest)| rest);
    let printed = printed.rsplit_once("\nError: ").map_or(printed, |(printed, _)| printed).trim();
    Some(if printed.is_empty() || printed == "(empty)" { text.clone() } else { printed.to_owned() })
}

/// The first text of the new conversation.
fn summary(payload: &str) -> Option<String> {
    let history = read_object::<WireCompression<'_>>(payload.as_bytes()).ok()?.history.value()?;
    history
        .0
        .into_iter()
        .filter_map(|message| message.parts.value())
        .find_map(|parts| texts(parts.0)?.into_iter().next())
}

fn kept_parts(payload: &str) -> Option<Vec<ContentPart<'_>>> {
    let history = read_object::<WireCompression<'_>>(payload.as_bytes()).ok()?.history.value()?;
    let parts = history.0.into_iter().filter_map(|message| message.parts.value());
    let parts = parts.filter_map(|parts| serde_json::from_str::<Field<Parts<'_>>>(parts.0).ok()?.value());
    Some(
        parts.flat_map(|parts| parts.0).filter_map(|part| part.text.value().map(ContentPart::Text)).collect(),
    )
}

wire_object! {
    struct WireLine<'a> {
        id as "uuid": Cow<'a, str>,
        session as "sessionId": Cow<'a, str>,
        timestamp: Cow<'a, str>,
        kind as "type": Cow<'a, str>,
        subtype: Cow<'a, str>,
        provenance: Cow<'a, str>,
        folder as "cwd": Cow<'a, str>,
        version: Cow<'a, str>,
        branch as "gitBranch": Cow<'a, str>,
        message: WireMessage<'a>,
        usage as "usageMetadata": WireUsage<'a>,
        model: Cow<'a, str>,
        window as "contextWindowSize": u64,
        outcome as "toolCallResult": WireOutcome<'a>,
        payload as "systemPayload": Verbatim<'a>,
        agent as "agentId": Cow<'a, str>,
        is_sidechain as "isSidechain": bool,
    }
}

wire_object! {
    struct WireMessage<'a> {
        parts: Verbatim<'a>,
    }
}

wire_object! {
    struct WireUsage<'a> {
        prompt as "promptTokenCount": u64,
        answer as "candidatesTokenCount": u64,
        total as "totalTokenCount": u64,
    }
}

impl WireUsage<'_> {
    /// With the answer, as Qwen Code counts when it decides to compact: the next request holds it.
    fn tokens(&self) -> Option<RequestTokens> {
        let answer = self.answer.get().copied().unwrap_or_default();
        let total = self.total.get().copied().filter(|total| *total > 0);
        let used = total.or_else(|| self.prompt.get()?.checked_add(answer)).filter(|used| *used > 0)?;
        Some(RequestTokens { used, answer })
    }
}

wire_object! {
    struct WireOutcome<'a> {
        status: Cow<'a, str>,
        execution as "executionStatus": Cow<'a, str>,
    }
}

wire_object! {
    struct WireShown<'a> {
        text as "displayText": LongText<'a>,
    }
}

wire_object! {
    struct WireCompression<'a> {
        info: WireInfo<'a>,
        history as "compressedHistory": Messages<'a>,
    }
}

wire_object! {
    struct WireInfo<'a> {
        left as "newTokenCount": u64,
        status as "compressionStatus": u64,
    }
}

wire_object! {
    struct WirePart<'a> {
        text: LongText<'a>,
        is_thought as "thought": bool,
        call as "functionCall": WireCall<'a>,
        result as "functionResponse": WireResult<'a>,
    }
}

wire_object! {
    struct WireCall<'a> {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments as "args": WireArguments<'a>,
    }
}

wire_object! {
    struct WireArguments<'a> {
        command: LongText<'a>,
        description: LongText<'a>,
        file_path: Cow<'a, str>,
        notebook_path: Cow<'a, str>,
    }
}

wire_object! {
    struct WireResult<'a> {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        response: WireResponse<'a>,
    }
}

wire_object! {
    struct WireResponse<'a> {
        output: Verbatim<'a>,
        error: Verbatim<'a>,
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Parts<'a>(Vec<WirePart<'a>>);

impl<'de> Member<'de> for Parts<'de> {
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = seq.next_element::<Field<WirePart<'de>>>()? {
            parts.extend(part.value());
        }
        Ok(Some(Parts(parts)))
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Messages<'a>(Vec<WireMessage<'a>>);

impl<'de> Member<'de> for Messages<'de> {
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut messages = Vec::new();
        while let Some(message) = seq.next_element::<Field<WireMessage<'de>>>()? {
            messages.extend(message.value());
        }
        Ok(Some(Messages(messages)))
    }
}

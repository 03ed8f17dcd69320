//! The transcript of Claude Code: one JSON object per line, into neutral entries.
//!
//! The format is the client's own and changes: a line that does not parse is skipped, and so is an unknown
//! member or block. The tables of `feature/memory/relay.md` show which lines count as a person's prompts.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess, SeqAccess};

use super::MACHINE;
use super::payload::Usage;
use super::question;
use crate::event::action::Exit;
use crate::host::transcript::{
    AnswerEntry, BoundaryEntry, CallResult, CallTask, CallText, ContentPart, ConversationOrigin,
    EntryContent, EntryKind, LazyText, PromptEntry, RequestTokens, Sought, ToolCall, ToolResult,
    TranscriptEntry, TranscriptParser,
};
use crate::text::cut::first_bytes;
use crate::text::json::{Field, LongText, Member, TextList, Verbatim, read_object, wire_key, wire_object};
use crate::text::search;
use crate::text::search::Needle;
use crate::time::Millis;

/// The client repeats the output of hooks in the conversation after `/compact` (seen with 2.1.325), but not
/// after an automatic compaction or a summary requested while rewinding.
fn repeats_hook_output(text: &str) -> bool {
    // In a terminal there is a hint and escape sequences between the words.
    let is_of_compaction = |output| {
        let head = first_bytes(output, 160);
        head.contains("Compacted") && head.contains("PreCompact [")
    };
    text.strip_prefix(COMMAND_OUTPUT).is_some_and(is_of_compaction)
}

const COMMAND_OUTPUT: &str = "<local-command-stdout>";

/// A command that becomes a prompt. One that runs in the client alone begins with its name (seen from 1.0 to 2.1).
const PROMPT_COMMAND: &str = "<command-message>";

/// Of work in the background that has ended.
const NOTIFICATION: &str = "<task-notification>";

const BOUNDARY: &str = "compact_boundary";
const QUEUED: &str = "queued_command";

/// In the answer of a hook that changes the arguments of a call.
const REWRITTEN: &str = "updatedInput";

/// The client's name for the model of its own answers.
const NO_MODEL: &str = "<synthetic>";

const EDITORS: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

pub(super) fn parser(kinds: &[Sought]) -> TranscriptParser {
    let needle = |kind: &Sought| {
        Some(Needle::new(match kind {
            Sought::Prompts => b"\"user\"",
            Sought::Added => QUEUED.as_bytes(),
            Sought::Rewritten => REWRITTEN.as_bytes(),
            Sought::Answers => b"\"assistant\"",
            Sought::Results => b"\"tool_result\"",
            Sought::Boundaries => BOUNDARY.as_bytes(),
            Sought::RepeatedOutput => COMMAND_OUTPUT.as_bytes(),
            // Every prompt says it.
            Sought::Origins | Sought::Beginnings | Sought::Endings | Sought::Patches | Sought::Counts => {
                return None;
            }
        }))
    };
    TranscriptParser::new(kinds.iter().filter_map(needle).collect(), entry)
}

/// Clients since 2.1 name how they were started; those of an SDK have no person in them.
pub(super) fn origin(entry: &TranscriptEntry<'_>) -> Option<ConversationOrigin> {
    if !matches!(entry.kind, EntryKind::Prompt(_)) {
        return None;
    }
    let wire = read_object::<WireOfSession<'_>>(entry.line).ok()?;
    Some(ConversationOrigin {
        session: wire.session.value().map(Cow::into_owned),
        folder: wire.folder.value().map(Cow::into_owned),
        branch: None,
        is_of_agent: false,
        is_unattended: wire.entrypoint.get().is_some_and(|name| name.starts_with("sdk")),
    })
}

pub(super) fn wrote(line: &[u8]) -> bool {
    let Ok(wire) = read_object::<WireOfSession<'_>>(line) else { return false };
    match wire.kind.get().map(AsRef::as_ref) {
        Some("summary") => wire.leaf.get().is_some(),
        Some("file-history-snapshot") => true,
        Some(_) => wire.session.get().is_some(),
        None => false,
    }
}

fn entry(line: &[u8]) -> Option<TranscriptEntry<'_>> {
    read_object::<WireLine<'_>>(line).ok().map(|wire| wire.entry(line))
}

impl<'a> WireLine<'a> {
    fn entry(self, line: &'a [u8]) -> TranscriptEntry<'a> {
        let kind = self.kind.get().map(AsRef::as_ref);
        let content = match self.message.get() {
            Some(message) => message.content.get(),
            None => self.attachment.get().and_then(|attachment| attachment.content.get()),
        };
        let is_answer = kind == Some("assistant");
        let read = if is_answer { answer_parts } else { input_parts };
        TranscriptEntry {
            line,
            at: self.timestamp.get().and_then(|text| Millis::from_iso(text)),
            is_of_agent: is_set(&self.sidechain),
            is_error: is_set(&self.api_error),
            content: content.map(|content| EntryContent { json: content.0, read }),
            kind: match kind {
                Some("user") => match self.result.get() {
                    Some(result) => EntryKind::Result(ToolResult {
                        output: result.0,
                        is_by_hook: self.decision.is_by_hook(),
                        answers: question::parse_response,
                    }),
                    None => EntryKind::Prompt(self.prompt()),
                },
                Some("assistant") => self.message.value().map_or(EntryKind::Other, |message| {
                    EntryKind::Answer(message.answer(self.requested_model))
                }),
                Some("attachment") => match self.attachment.get().and_then(WireAttachment::queued_prompt) {
                    Some(prompt) => EntryKind::Added(prompt),
                    None => call_rewritten_by_hook(line).map_or(EntryKind::Other, EntryKind::Rewritten),
                },
                Some("system") if self.subtype.get().is_some_and(|kind| kind == BOUNDARY) => {
                    EntryKind::Boundary(self.compaction.value().unwrap_or_default().boundary())
                }
                _ => EntryKind::Other,
            },
            id: self.uuid.value(),
            session: self.session.value(),
            branch: self.branch.value(),
            version: self.version.value(),
        }
    }

    fn prompt(&self) -> PromptEntry<'a> {
        let content = self.message.get().and_then(|message| message.content.get());
        let origin = self.turn_origin.get().map(AsRef::as_ref);
        let source = self.source.get().map(AsRef::as_ref);
        let is_sent = source == Some("system") || !matches!(origin, None | Some("human" | "sdk"));
        let is_of_client =
            is_sent || is_set(&self.meta) || is_set(&self.summary) || is_set(&self.visible_only);
        // Neither older clients nor a command that runs in the client alone name the origin of a turn.
        let read = if origin.is_some() { typed_in_turn } else { typed_without_turn };
        let text = content.and_then(|content| content.0.strip_prefix('"'));
        PromptEntry {
            is_hidden: is_set(&self.meta),
            repeats_output: text.is_some_and(repeats_hook_output),
            typed: content.filter(|_| !is_of_client).map(|content| LazyText { json: content.0, read }),
            sent: content.filter(|_| is_sent).map(|content| LazyText { json: content.0, read: all_words }),
            conclusion: content.and_then(|content| conclusion_in(content.0)),
        }
    }
}

fn conclusion_in(content: &str) -> Option<LazyText<'_>> {
    let text = content.strip_prefix('"')?;
    text.starts_with(NOTIFICATION).then_some(LazyText { json: content, read: notified_conclusion })
}

impl Field<WireDecision<'_>> {
    fn is_by_hook(&self) -> bool {
        let is_hook = |member: &Field<Cow<'_, str>>| member.get().is_some_and(|name| name == "hook");
        self.get().is_some_and(|decision| is_hook(&decision.source) || is_hook(&decision.reason))
    }
}

/// A hook that changed the input of a call may have answered the question in it.
pub(super) fn is_changed_by_hook(line: &[u8], call: &str) -> bool {
    search::find(line, call.as_bytes()).is_some()
        && call_rewritten_by_hook(line).is_some_and(|rewritten| rewritten == call)
}

fn call_rewritten_by_hook(line: &[u8]) -> Option<String> {
    search::find(line, REWRITTEN.as_bytes())?;
    let entry: serde_json::Value = serde_json::from_slice(line).ok()?;
    let attachment = &entry["attachment"];
    let is_before = attachment["type"].as_str().is_some_and(|kind| kind.contains("hook"))
        && attachment["hookEvent"] != "PostToolUse";
    attachment["toolUseID"].as_str().filter(|_| is_before).map(str::to_owned)
}

fn is_set(flag: &Field<bool>) -> bool {
    flag.get() == Some(&true)
}

impl<'a> WireMessage<'a> {
    fn answer(self, requested_model: Field<Cow<'a, str>>) -> AnswerEntry<'a> {
        let is_of_host = self.model.get().is_some_and(|model| model == NO_MODEL);
        let usage = self.usage.get();
        AnswerEntry {
            tokens: usage
                .and_then(|usage| Some(RequestTokens { used: usage.used()?, answer: usage.answer() })),
            window: None,
            ends_turn: self.stop_reason.get().is_some_and(|reason| reason == "end_turn"),
            is_of_host,
            message: self.id.value().unwrap_or_default(),
            // Only the requested model has the `[1m]` of a long window.
            model: requested_model.value().or(self.model.value()),
        }
    }
}

impl<'a> WireAttachment<'a> {
    /// What came while the model worked: a prompt that a person typed, or the conclusion of an agent in the background.
    fn queued_prompt(&self) -> Option<PromptEntry<'a>> {
        let origin = self.origin.get().and_then(|origin| origin.kind.get());
        let of_person = is_set(&self.human_turn) || origin.is_some_and(|kind| kind == "human");
        let mode = self.mode.get().map(AsRef::as_ref);
        let is_queued = self.kind.get().is_some_and(|kind| kind == QUEUED);
        let conclusion = self.prompt.get().and_then(|prompt| conclusion_in(prompt.0));
        if is_queued && conclusion.is_some() {
            return Some(PromptEntry {
                is_hidden: true,
                repeats_output: false,
                typed: None,
                sent: None,
                conclusion,
            });
        }
        if !is_queued || !of_person || !matches!(mode, None | Some("prompt")) {
            return None;
        }
        let typed = self.prompt.get().map(|prompt| LazyText { json: prompt.0, read: typed_meanwhile });
        Some(PromptEntry { is_hidden: false, repeats_output: false, typed, sent: None, conclusion: None })
    }
}

impl<'a> WireCompaction<'a> {
    fn boundary(self) -> BoundaryEntry<'a> {
        let kept = self.preserved.value().and_then(|kept| kept.uuids.value()).unwrap_or_default();
        BoundaryEntry { left: self.left.value(), kept: kept.0, summary: None }
    }
}

/// A model answers in a list of blocks, never in a plain text.
fn answer_parts(json: &str) -> Option<Vec<ContentPart<'_>>> {
    match parse_content(json)? {
        MessageContent::Text(_) => None,
        MessageContent::Blocks(blocks) => Some(blocks.into_iter().filter_map(WireBlock::part).collect()),
    }
}

/// Also for results of tools and texts of the client.
fn input_parts(json: &str) -> Option<Vec<ContentPart<'_>>> {
    let parts = match parse_content(json)? {
        MessageContent::Text(text) => vec![ContentPart::Text(text)],
        MessageContent::Blocks(blocks) => blocks.into_iter().filter_map(WireBlock::part).collect(),
    };
    let note = |part| match part {
        ContentPart::Text(text) if is_interruption(&text.head(64)) => ContentPart::Interruption,
        other => other,
    };
    Some(parts.into_iter().map(note).collect())
}

impl<'a> WireBlock<'a> {
    fn part(self) -> Option<ContentPart<'a>> {
        Some(match self.kind.get()?.as_ref() {
            "text" => ContentPart::Text(self.text.value()?),
            "tool_use" => {
                let tool = self.name.value().unwrap_or_default();
                let is_edit = EDITORS.contains(&tool.as_ref());
                let input = self.input.value().unwrap_or_default();
                let task = match tool.as_ref() {
                    "Bash" => input
                        .command
                        .value()
                        .map_or(CallTask::Other, |command| CallTask::Command(CallText::InLine(command))),
                    "Agent" | "Task" => CallTask::Agent(input.description.value().map(CallText::InLine)),
                    question::TOOL => CallTask::Question,
                    _ => CallTask::Other,
                };
                let file = input.file_path.value().or(input.notebook_path.value()).filter(|_| is_edit);
                let files = file.into_iter().filter(|file| !file.is_empty()).collect();
                ContentPart::Call(ToolCall {
                    id: self.id.value().unwrap_or_default(),
                    tool,
                    is_edit,
                    files,
                    task,
                })
            }
            "tool_result" => {
                let failed = is_set(&self.failed);
                let content = self.content.value();
                let lazily = |read| move |content: Verbatim<'a>| LazyText { json: content.0, read };
                ContentPart::Result(CallResult {
                    call: self.call.value(),
                    failed,
                    exit: Exit::Unknown,
                    conclusion: content.filter(|_| !failed).map(lazily(conclusion)),
                    failure: content.filter(|_| failed).map(lazily(printed_failure)),
                })
            }
            _ => return None,
        })
    }
}

fn all_words(json: &str) -> Option<String> {
    parse_content(json).map(join_text)
}

/// Of an agent that works in the background, the call tells only that it began.
fn conclusion(json: &str) -> Option<String> {
    all_words(json).filter(|text| !text.is_empty() && !text.starts_with("Async agent launched"))
}

/// `None` for a call that was refused or stopped. Older clients do not name the exit code.
fn printed_failure(json: &str) -> Option<String> {
    const NOT_RUN: [&str; 6] = [
        "The user doesn't want",
        "[Request interrupted",
        "<tool_use_error>",
        "Permission to use",
        "Claude requested permissions",
        "PreToolUse:",
    ];
    let text = all_words(json)?;
    let text = text.strip_prefix("Error: ").unwrap_or(&text);
    if NOT_RUN.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    let (first, printed) = text.split_once('\n').unwrap_or((text, ""));
    match first.strip_prefix("Exit code ") {
        Some(_) if printed.trim().is_empty() => Some(first.to_lowercase()),
        Some(_) => Some(printed.to_owned()),
        None => Some(text.to_owned()).filter(|text| !text.is_empty()),
    }
}

fn notified_conclusion(json: &str) -> Option<String> {
    let text = all_words(json)?;
    let result = text.split_once("<result>")?.1;
    Some(result.rsplit_once("</result>").map_or(result, |(result, _)| result).trim().to_owned())
}

fn typed_in_turn(json: &str) -> Option<String> {
    let text = join_text(parse_content(json)?);
    typed_command(&text).or_else(|| typed(text))
}

fn typed_without_turn(json: &str) -> Option<String> {
    let text = join_text(parse_content(json)?);
    match typed_command(&text) {
        Some(command) => Some(command).filter(|_| text.starts_with(PROMPT_COMMAND)),
        None => typed(text),
    }
}

fn typed_meanwhile(json: &str) -> Option<String> {
    Some(join_text(parse_content(json)?)).filter(|text| is_of_a_person(text))
}

fn typed(text: String) -> Option<String> {
    let line = between(&text, "<bash-input>", "</bash-input>").filter(|_| text.starts_with("<bash-input>"));
    match line {
        Some(line) => Some(format!("! {}", line.trim())),
        None => is_of_a_person(&text).then_some(text),
    }
}

/// With placeholders for images; empty for results of tools.
fn join_text(said: MessageContent<'_>) -> String {
    let blocks = match said {
        MessageContent::Text(text) => return text.lossy().trim().to_owned(),
        MessageContent::Blocks(blocks) => blocks,
    };
    let mut text = String::new();
    for block in &blocks {
        let part = match block.kind.get().map(AsRef::as_ref) {
            Some("tool_result") => return String::new(),
            Some("image") => Cow::Borrowed("[image]"),
            Some("document") => Cow::Borrowed("[document]"),
            Some("text") => block.text.get().map(|text| text.lossy()).unwrap_or_default(),
            _ => continue,
        };
        // The client puts its reminders next to the typed text.
        let part = part.trim();
        if part.is_empty() || blocks.len() > 1 && part.starts_with("<system-reminder>") {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(part);
    }
    text
}

fn is_of_a_person(text: &str) -> bool {
    const OUTPUT: [&str; 2] = ["<bash-stdout>", "<bash-stderr>"];
    let text = text.trim_start();
    let machine = MACHINE.iter().chain(&OUTPUT).any(|start| text.starts_with(start));
    !text.is_empty() && !machine && !is_interruption(text)
}

fn is_interruption(text: &str) -> bool {
    text.trim_start().starts_with("[Request interrupted by user")
}

/// `/name arguments`, from the client's form of a typed command.
fn typed_command(text: &str) -> Option<String> {
    if !text.starts_with(PROMPT_COMMAND) && !text.starts_with("<command-name>") {
        return None;
    }
    let name = between(text, "<command-name>", "</command-name>")
        .or_else(|| between(text, "<command-message>", "</command-message>"))?;
    let name = name.trim().trim_start_matches('/');
    let arguments = between(text, "<command-args>", "</command-args>").unwrap_or_default().trim();
    Some(format!("/{name} {arguments}").trim_end().to_owned())
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inner, _)| inner)
}

wire_object! {
    struct WireLine<'a> {
        kind as "type": Cow<'a, str>,
        subtype: Cow<'a, str>,
        uuid: Cow<'a, str>,
        timestamp: Cow<'a, str>,
        session as "sessionId": Cow<'a, str>,
        branch as "gitBranch": Cow<'a, str>,
        version: Cow<'a, str>,
        sidechain as "isSidechain": bool,
        meta as "isMeta": bool,
        summary as "isCompactSummary": bool,
        visible_only as "isVisibleInTranscriptOnly": bool,
        api_error as "isApiErrorMessage": bool,
        source as "promptSource": Cow<'a, str>,
        turn_origin as "turnOrigin": Cow<'a, str>,
        requested_model as "requestedModel": Cow<'a, str>,
        result as "toolUseResult": Verbatim<'a>,
        decision as "permissionDecision": WireDecision<'a>,
        message: WireMessage<'a>,
        attachment: WireAttachment<'a>,
        compaction as "compactMetadata": WireCompaction<'a>,
    }
}

wire_object! {
    struct WireOfSession<'a> {
        kind as "type": Cow<'a, str>,
        session as "sessionId": Cow<'a, str>,
        folder as "cwd": Cow<'a, str>,
        entrypoint: Cow<'a, str>,
        leaf as "leafUuid": Cow<'a, str>,
    }
}

wire_object! {
    struct WireMessage<'a> {
        id: Cow<'a, str>,
        model: Cow<'a, str>,
        stop_reason: Cow<'a, str>,
        usage: Usage<'a>,
        content: Verbatim<'a>,
    }
}

wire_object! {
    struct WireAttachment<'a> {
        kind as "type": Cow<'a, str>,
        prompt: Verbatim<'a>,
        content: Verbatim<'a>,
        mode as "commandMode": Cow<'a, str>,
        human_turn as "humanTurn": bool,
        origin: WireOrigin<'a>,
    }
}

wire_object! {
    struct WireDecision<'a> {
        source: Cow<'a, str>,
        reason as "reasonType": Cow<'a, str>,
    }
}

wire_object! {
    struct WireOrigin<'a> {
        kind: Cow<'a, str>,
    }
}

wire_object! {
    struct WireCompaction<'a> {
        left as "postTokens": u64,
        preserved as "preservedMessages": WireKept<'a>,
    }
}

wire_object! {
    struct WireKept<'a> {
        uuids: TextList<'a>,
    }
}

wire_object! {
    struct WireBlock<'a> {
        kind as "type": Cow<'a, str>,
        text: LongText<'a>,
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: WireInput<'a>,
        call as "tool_use_id": Cow<'a, str>,
        failed as "is_error": bool,
        content: Verbatim<'a>,
    }
}

wire_object! {
    struct WireInput<'a> {
        file_path: Cow<'a, str>,
        notebook_path: Cow<'a, str>,
        command: LongText<'a>,
        description: LongText<'a>,
    }
}

enum MessageContent<'a> {
    Text(LongText<'a>),
    Blocks(Vec<WireBlock<'a>>),
}

/// The JSON was parsed once already, so this fails only for odd texts.
fn parse_content(json: &str) -> Option<MessageContent<'_>> {
    match json.as_bytes().first()? {
        b'"' => {
            let text = serde_json::from_str::<Field<LongText<'_>>>(json).ok()?;
            text.value().map(MessageContent::Text)
        }
        b'[' => {
            let blocks = serde_json::from_str::<Field<Blocks<'_>>>(json).ok()?;
            blocks.value().map(|blocks| MessageContent::Blocks(blocks.0))
        }
        _ => None,
    }
}

struct Blocks<'a>(Vec<WireBlock<'a>>);

impl<'de> Member<'de> for Blocks<'de> {
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = seq.next_element::<Field<WireBlock<'de>>>()? {
            blocks.extend(block.value());
        }
        Ok(Some(Blocks(blocks)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = r#"{"type":"user","uuid":"u1","message":{"content":"go"}}"#;
    const QUEUED_PROMPT: &str = r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"and more","commandMode":"prompt","humanTurn":true}}"#;
    const REWRITTEN_CALL: &str = r#"{"type":"attachment","attachment":{"type":"hook_success","hookEvent":"PreToolUse","toolUseID":"t1","stdout":"{\"updatedInput\":{}}"}}"#;
    const ANSWER: &str = r#"{"type":"assistant","timestamp":"2026-11-15T11:51:30.000Z","message":{"id":"m1","model":"m","stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":2},"content":[{"type":"text","text":"so"},{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/p/a"}},{"type":"thinking","thinking":"hm"}]}}"#;
    const RESULT: &str = r#"{"type":"user","toolUseResult":{"x":1},"message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true}]}}"#;
    const COMPACTION: &str = r#"{"type":"system","subtype":"compact_boundary","compactMetadata":{"postTokens":9,"preservedMessages":{"uuids":["u1",7]}}}"#;
    const REPEATED: &str =
        r#"{"type":"user","message":{"content":"<local-command-stdout>Compacted PreCompact [x] y"}}"#;

    fn entry(line: &str) -> TranscriptEntry<'_> {
        parser(&[]).entry(line.as_bytes()).unwrap()
    }

    #[test]
    fn only_lines_that_are_sought_are_parsed() {
        for (kind, line) in [
            (Sought::Prompts, PROMPT),
            (Sought::Added, QUEUED_PROMPT),
            (Sought::Rewritten, REWRITTEN_CALL),
            (Sought::Answers, ANSWER),
            (Sought::Results, RESULT),
            (Sought::Boundaries, COMPACTION),
            (Sought::RepeatedOutput, REPEATED),
        ] {
            let parser = parser(&[kind]);
            assert!(parser.entry(line.as_bytes()).is_some(), "{kind:?}");
            assert!(parser.entry(b"{\"type\":\"mode\"}").is_none(), "{kind:?}");
        }
        assert!(matches!(entry("{\"type\":\"mode\"}").kind, EntryKind::Other));
        let parser = parser(&[]);
        for line in ["", "not json", "[]", "null", &ANSWER[..40]] {
            assert!(parser.entry(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn an_answer_with_its_call_and_the_result() {
        let said = entry(ANSWER);
        let EntryKind::Answer(answer) = &said.kind else { panic!("{said:?}") };
        assert_eq!((answer.message.as_ref(), answer.model.as_deref()), ("m1", Some("m")));
        assert_eq!(answer.tokens, Some(RequestTokens { used: 7, answer: 2 }));
        assert!(answer.ends_turn && !answer.is_of_host && said.at.is_some());
        let parts = said.parts();
        let [ContentPart::Text(text), ContentPart::Call(call)] = parts.as_slice() else {
            panic!("{parts:?}")
        };
        assert_eq!(text.lossy(), "so");
        assert_eq!((call.id.as_ref(), call.tool.as_ref(), call.is_edit), ("t1", "Edit", true));
        assert_eq!(call.files, ["/p/a"]);
        let result = entry(RESULT);
        assert!(matches!(&result.kind, EntryKind::Result(result) if result.output == "{\"x\":1}"));
        assert!(
            matches!(result.parts().as_slice(), [ContentPart::Result(CallResult { call: Some(id), failed: true, .. })] if id == "t1")
        );
    }

    #[test]
    fn prompts_and_boundaries() {
        assert_eq!(entry(PROMPT).typed_prompt().as_deref(), Some("go"));
        assert_eq!(entry(QUEUED_PROMPT).typed_prompt().as_deref(), Some("and more"));
        for (is, other) in [("\"humanTurn\":true", "\"humanTurn\":false"), ("\"prompt\",", "\"bash\",")] {
            assert_eq!(entry(&QUEUED_PROMPT.replace(is, other)).typed_prompt(), None, "{other}");
        }
        let of_agent = PROMPT.replace("\"uuid\"", "\"isSidechain\":true,\"uuid\"");
        assert!(entry(&of_agent).is_of_agent && entry(&of_agent).typed_prompt().is_none());
        let in_terminal = REPEATED.replace(
            "Compacted PreCompact [",
            r"\u001b[2mCompacted (ctrl+o to see full summary)\u001b[22m\n\u001b[2mPreCompact [",
        );
        for repeated in [REPEATED, &in_terminal].map(entry) {
            assert!(matches!(&repeated.kind, EntryKind::Prompt(prompt) if prompt.repeats_output));
            assert_eq!(repeated.typed_prompt(), None);
        }
        let other = REPEATED.replace("Compacted PreCompact [", "Set model to ");
        assert!(matches!(entry(&other).kind, EntryKind::Prompt(prompt) if !prompt.repeats_output));
        let boundary = entry(COMPACTION);
        assert!(matches!(&boundary.kind, EntryKind::Boundary(boundary)
            if boundary.left == Some(9) && boundary.kept == ["u1"]));
    }

    #[test]
    fn a_prompt_says_where_the_conversation_takes_place() {
        let line = PROMPT
            .replace("\"uuid\"", "\"sessionId\":\"s1\",\"cwd\":\"/p/shop\",\"entrypoint\":\"cli\",\"uuid\"");
        let found = origin(&entry(&line)).unwrap();
        assert_eq!((found.session.as_deref(), found.folder.as_deref()), (Some("s1"), Some("/p/shop")));
        assert!(!found.is_unattended && wrote(line.as_bytes()));
        let unattended = line.replace("\"cli\"", "\"sdk-cli\"");
        assert!(origin(&entry(&unattended)).unwrap().is_unattended);
        assert_eq!(origin(&entry(ANSWER)), None);
    }

    #[test]
    fn its_lines_are_told_from_others() {
        for line in [
            r#"{"type":"summary","summary":"x","leafUuid":"u"}"#,
            r#"{"type":"file-history-snapshot","messageId":"m","snapshot":{}}"#,
            r#"{"type":"queue-operation","sessionId":"s"}"#,
        ] {
            assert!(wrote(line.as_bytes()), "{line}");
        }
        for line in [
            r#"{"sessionId":"s","projectHash":"h"}"#,
            r#"{"type":"session.start","data":{"sessionId":"s"}}"#,
            r#"{"kind":"log","uid":"u"}"#,
            "{",
            "",
        ] {
            assert!(!wrote(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_text_that_is_no_text_costs_only_itself() {
        let odd = ANSWER.replace("\"so\"", "\"so \\ud800\"");
        assert_eq!(
            entry(&odd).parts()[0].text().map(|text| text.lossy().into_owned()).unwrap(),
            "so \u{fffd}"
        );
        let odd = RESULT.replace("{\"x\":1}", "\"Error: \\ud800\"");
        assert!(matches!(entry(&odd).kind, EntryKind::Result(_)));
    }
}

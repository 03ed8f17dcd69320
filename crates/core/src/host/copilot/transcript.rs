//! The events of Copilot CLI: one JSON object per line with a type, data, an id and a time, into neutral entries.
//!
//! Subagents write into the file of their session; their lines name the agent. Lines that do not parse are skipped,
//! and so are unknown types.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess, SeqAccess};

use super::event::MACHINE;
use crate::event::action::Exit;
use crate::host::transcript::{
    AnswerEntry, BoundaryEntry, CallResult, CallTask, CallText, CommandStart, ContentPart, ContextCount,
    ConversationOrigin, Counted, EntryContent, EntryKind, LazyText, PromptEntry, RequestTokens, Sought,
    ToolCall, ToolResult, TranscriptEntry, TranscriptParser,
};
use crate::text::json::{Field, LongText, Member, Verbatim, read_object, wire_key, wire_object};
use crate::text::patch::patched_files;
use crate::text::search::Needle;
use crate::time::Millis;

const PROMPT: &str = "user.message";
const ANSWER: &str = "assistant.message";
const RESULT: &str = "tool.execution_complete";
const BOUNDARY: &str = "session.compaction_complete";
const START: &str = "session.start";
const USAGE: &str = "session.usage_record";
const CALL: &str = "tool.execution_start";
/// The newest line at the time of an event.
const HOOK: &str = "hook.start";

const PATCH: &str = "apply_patch";
const EDITORS: [&str; 3] = ["create", "edit", "str_replace_editor"];

pub(super) fn parser(kinds: &[Sought]) -> TranscriptParser {
    let needles = |kind: &Sought| -> &[&'static str] {
        match kind {
            Sought::Prompts => &[PROMPT, RESULT],
            Sought::Answers => &[ANSWER],
            Sought::Results => &[RESULT],
            Sought::Boundaries => &[BOUNDARY],
            Sought::Origins => &[START],
            Sought::Counts => &[USAGE, HOOK],
            Sought::Beginnings => &[CALL, RESULT, ANSWER],
            // Everything that is typed becomes a prompt, and results say how a command ended.
            Sought::Added
            | Sought::Rewritten
            | Sought::RepeatedOutput
            | Sought::Endings
            | Sought::Patches => &[],
        }
    };
    let needles = kinds.iter().flat_map(needles).map(|text| Needle::new(text.as_bytes()));
    TranscriptParser::new(needles.collect(), entry)
}

pub(super) fn wrote(line: &[u8]) -> bool {
    const GROUPS: [&str; 6] = ["session", "user", "assistant", "tool", "hook", "system"];
    read_object::<WireLine<'_>>(line).is_ok_and(|wire| {
        let group = wire.kind.get().and_then(|kind| kind.split_once('.')).map(|(group, _)| group);
        wire.data.get().is_some() && wire.id.get().is_some() && group.is_some_and(|it| GROUPS.contains(&it))
    })
}

pub(super) fn origin(entry: &TranscriptEntry<'_>) -> Option<ConversationOrigin> {
    if !matches!(entry.kind, EntryKind::Other) {
        return None;
    }
    let wire = read_object::<WireLine<'_>>(entry.line).ok()?;
    wire.kind.get().filter(|kind| **kind == START)?;
    let start = read_object::<WireStart<'_>>(wire.data.get()?.0.as_bytes()).ok()?;
    let place = start.context.value().unwrap_or_default();
    Some(ConversationOrigin {
        session: start.session.value().map(Cow::into_owned),
        folder: place.cwd.value().map(Cow::into_owned),
        branch: place.branch.value().map(Cow::into_owned),
        is_of_agent: false,
        is_unattended: false,
    })
}

fn entry(line: &[u8]) -> Option<TranscriptEntry<'_>> {
    let wire = read_object::<WireLine<'_>>(line).ok()?;
    let data = wire.data.get().map_or("{}", |data| data.0);
    let content = |read| Some(EntryContent { json: data, read });
    let (kind, content) = match wire.kind.get().map(AsRef::as_ref) {
        Some(PROMPT) => {
            let said = read_object::<WirePrompt<'_>>(data.as_bytes()).ok()?;
            // Messages of skills, agents and hooks name their source.
            let is_typed = said.source.get().is_none_or(|source| source == "user");
            let typed = said.content.get().filter(|_| is_typed);
            let typed = typed.map(|content| LazyText { json: content.0, read: prompt_text });
            let prompt = PromptEntry {
                is_hidden: !is_typed,
                repeats_output: false,
                typed,
                sent: None,
                conclusion: None,
            };
            (EntryKind::Prompt(prompt), None)
        }
        Some(ANSWER) => {
            let said = read_object::<WireAnswer<'_>>(data.as_bytes()).ok()?;
            let answer = AnswerEntry {
                message: said.message.value().unwrap_or_default(),
                model: said.model.value(),
                tokens: None,
                window: None,
                ends_turn: false,
                is_of_host: false,
            };
            (EntryKind::Answer(answer), content(answer_parts))
        }
        Some(RESULT) => {
            let result = ToolResult { output: "", is_by_hook: false, answers: |_| None };
            (EntryKind::Result(result), content(result_parts))
        }
        Some(CALL) => {
            let begun = read_object::<WireBegun<'_>>(data.as_bytes()).ok()?;
            let line = begun.arguments.value().and_then(|arguments| arguments.command.value());
            let start = begun
                .call
                .value()
                .zip(line)
                .map(|(call, line)| CommandStart { call, line: CallText::InLine(line) });
            (start.map_or(EntryKind::Other, EntryKind::Began), None)
        }
        Some(BOUNDARY) => {
            let done = read_object::<WireCompaction<'_>>(data.as_bytes()).ok()?;
            let summary = Some(LazyText { json: data, read: summary });
            let boundary = BoundaryEntry { left: done.left.value(), kept: Vec::new(), summary };
            let kind = if done.success.get() == Some(&false) {
                EntryKind::Other
            } else {
                EntryKind::Boundary(boundary)
            };
            (kind, None)
        }
        Some(USAGE) => {
            let record = read_object::<WireRecord<'_>>(data.as_bytes()).ok()?;
            let usage = record.usage.value().unwrap_or_default();
            // The input counts what came from the cache, too, and the next request holds the answer.
            let answer = usage.output.get().copied().unwrap_or_default();
            let used = usage.input.get().copied().filter(|input| *input > 0);
            let tokens = used.map(|input| RequestTokens { used: input.saturating_add(answer), answer });
            let window = usage.window.value().filter(|window| *window > 0);
            (EntryKind::Count(ContextCount { of: Counted::Request, tokens, window }), None)
        }
        _ => (EntryKind::Other, None),
    };
    Some(TranscriptEntry {
        line,
        kind,
        at: wire.timestamp.get().and_then(|text| Millis::from_iso(text)),
        session: None,
        branch: None,
        version: None,
        is_of_agent: wire.agent.get().is_some(),
        is_error: false,
        content,
        id: wire.id.value(),
    })
}

fn summary(data: &str) -> Option<String> {
    let done = read_object::<WireCompaction<'_>>(data.as_bytes()).ok()?;
    done.summary.get().map(|summary| summary.lossy().into_owned())
}

/// The reason of a blocked stop is written down like a prompt.
fn prompt_text(json: &str) -> Option<String> {
    typed_text(json).filter(|text| !MACHINE.iter().any(|start| text.starts_with(start)))
}

fn typed_text(json: &str) -> Option<String> {
    let text = serde_json::from_str::<Field<LongText<'_>>>(json).ok()?.value()?.lossy().trim().to_owned();
    Some(text).filter(|text| !text.is_empty())
}

fn answer_parts(json: &str) -> Option<Vec<ContentPart<'_>>> {
    let said = read_object::<WireAnswer<'_>>(json.as_bytes()).ok()?;
    let mut parts = Vec::new();
    parts.extend(said.content.value().filter(|text| !text.is_empty()).map(ContentPart::Text));
    let calls = said.requests.value().unwrap_or_default().0;
    parts.extend(calls.into_iter().map(|call| {
        let tool = call.name.value().unwrap_or_default();
        let is_patch = tool == PATCH;
        let json = call.arguments.get().map(|arguments| arguments.0).unwrap_or_default();
        let input = read_object::<WireArguments<'_>>(json.as_bytes()).unwrap_or_default();
        let is_edit = is_patch || EDITORS.contains(&tool.as_ref());
        let task = match tool.as_ref() {
            "bash" | "powershell" => input
                .command
                .value()
                .map_or(CallTask::Other, |command| CallTask::Command(CallText::InLine(command))),
            "task" => CallTask::Agent(input.description.value().map(CallText::InLine)),
            _ => CallTask::Other,
        };
        let file = input.path.value().filter(|path| is_edit && !path.is_empty());
        let files = if is_patch {
            let patch = serde_json::from_str::<Field<LongText<'_>>>(json).ok().and_then(Field::value);
            let files = patch.map(|patch| patched_files(&patch.lossy())).unwrap_or_default();
            files.into_iter().map(Cow::Owned).collect()
        } else {
            file.into_iter().collect()
        };
        ContentPart::Call(ToolCall { id: call.id.value().unwrap_or_default(), tool, is_edit, files, task })
    }));
    Some(parts)
}

fn result_parts(json: &str) -> Option<Vec<ContentPart<'_>>> {
    let done = read_object::<WireResult<'_>>(json.as_bytes()).ok()?;
    let exit = done.shell.get().and_then(|shell| shell.exit.get()).copied();
    let failed = done.success.get() == Some(&false) || exit.is_some_and(|code| code != 0.0);
    let error = done.error.value();
    // A call that a person or a hook refused did not run.
    let is_refused = error.as_ref().and_then(|it| it.code.get()).is_some_and(|code| code == "denied");
    let printed = done.result.value().and_then(|result| result.content.value());
    let reason = error.and_then(|error| error.message.value());
    let is_whole = |code: &f64| code.fract() == 0.0 && code.abs() < f64::from(i32::MAX);
    Some(vec![ContentPart::Result(CallResult {
        call: done.call.value(),
        failed,
        exit: exit.filter(is_whole).map_or(Exit::Unknown, |code| Exit::Known(code as i32)),
        conclusion: printed.filter(|_| !failed).map(|content| LazyText { json: content.0, read: typed_text }),
        failure: reason
            .or(printed)
            .filter(|_| failed && !is_refused)
            .map(|content| LazyText { json: content.0, read: printed_failure }),
    })])
}

/// Without the line about the shell that ends it, unless that is all.
fn printed_failure(json: &str) -> Option<String> {
    let text = typed_text(json)?;
    let printed = text.rsplit_once("<shellId:").map_or(text.as_str(), |(printed, _)| printed).trim();
    Some(if printed.is_empty() { text.clone() } else { printed.to_owned() })
}

wire_object! {
    struct WireLine<'a> {
        kind as "type": Cow<'a, str>,
        data: Verbatim<'a>,
        id: Cow<'a, str>,
        timestamp: Cow<'a, str>,
        agent as "agentId": Cow<'a, str>,
    }
}

wire_object! {
    struct WireStart<'a> {
        session as "sessionId": Cow<'a, str>,
        context: WirePlace<'a>,
    }
}

wire_object! {
    struct WirePlace<'a> {
        cwd: Cow<'a, str>,
        branch: Cow<'a, str>,
    }
}

wire_object! {
    struct WirePrompt<'a> {
        content: Verbatim<'a>,
        source: Cow<'a, str>,
    }
}

wire_object! {
    struct WireAnswer<'a> {
        message as "messageId": Cow<'a, str>,
        model: Cow<'a, str>,
        content: LongText<'a>,
        requests as "toolRequests": Requests<'a>,
    }
}

wire_object! {
    struct WireRequest<'a> {
        id as "toolCallId": Cow<'a, str>,
        name: Cow<'a, str>,
        // An object, or the text of a patch.
        arguments: Verbatim<'a>,
    }
}

wire_object! {
    struct WireBegun<'a> {
        call as "toolCallId": Cow<'a, str>,
        arguments: WireArguments<'a>,
    }
}

wire_object! {
    struct WireArguments<'a> {
        command: LongText<'a>,
        description: LongText<'a>,
        path: Cow<'a, str>,
    }
}

wire_object! {
    struct WireResult<'a> {
        call as "toolCallId": Cow<'a, str>,
        success: bool,
        result: WireOutput<'a>,
        error: WireError<'a>,
        shell as "shellExecution": WireShell<'a>,
    }
}

wire_object! {
    struct WireOutput<'a> {
        content: Verbatim<'a>,
    }
}

wire_object! {
    struct WireError<'a> {
        message: Verbatim<'a>,
        code: Cow<'a, str>,
    }
}

wire_object! {
    struct WireShell<'a> {
        exit as "exitCode": f64,
    }
}

wire_object! {
    struct WireCompaction<'a> {
        success: bool,
        left as "postCompactionTokens": u64,
        summary as "summaryContent": LongText<'a>,
    }
}

wire_object! {
    struct WireRecord<'a> {
        usage: WireUsage<'a>,
    }
}

wire_object! {
    struct WireUsage<'a> {
        input as "inputTokens": u64,
        output as "outputTokens": u64,
        window as "maxPromptTokens": u64,
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Requests<'a>(Vec<WireRequest<'a>>);

impl<'de> Member<'de> for Requests<'de> {
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut requests = Vec::new();
        while let Some(request) = seq.next_element::<Field<WireRequest<'de>>>()? {
            requests.extend(request.value());
        }
        Ok(Some(Requests(requests)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::memory::relay::RelayExtract;
    use crate::feature::memory::said;

    fn line(kind: &str, id: &str, data: &str) -> String {
        format!(r#"{{"type":"{kind}","data":{data},"id":"{id}","timestamp":"2026-11-15T12:00:01.000Z"}}"#)
    }

    fn start() -> String {
        let data =
            r#"{"sessionId":"s1","copilotVersion":"1.0.102","context":{"cwd":"/p/shop","branch":"feat/x"}}"#;
        line(START, "e0", data)
    }

    #[test]
    fn events_give_their_exchange() {
        let of_agent = |line: String| line.replace("\"id\"", "\"agentId\":\"g1\",\"id\"");
        let lines = [
            start(),
            line(PROMPT, "e1", r#"{"content":"Why is the queue slow?","transformedContent":"x"}"#),
            line(
                ANSWER,
                "e2",
                r#"{"messageId":"a1","content":"The cause is a lock.","toolRequests":[
                {"toolCallId":"c1","name":"bash","arguments":{"command":"make test","description":"test"}},
                {"toolCallId":"c2","name":"create","arguments":{"path":"/p/new.rs","file_text":"x"}},
                {"toolCallId":"c3","name":"edit","arguments":{"path":"/p/old.rs"}},
                {"toolCallId":"c4","name":"task","arguments":{"description":"look around"}}]}"#,
            ),
            line(
                RESULT,
                "e3",
                r#"{"toolCallId":"c1","success":true,"shellExecution":{"exitCode":2},"result":{"content":"building\nerror: no rule\n<shellId: 0 completed with exit code 2>"}}"#,
            ),
            line(RESULT, "e4", r#"{"toolCallId":"c2","success":true,"result":{"content":"Created"}}"#),
            line(
                RESULT,
                "e5",
                r#"{"toolCallId":"c3","success":false,"error":{"message":"no","code":"denied"}}"#,
            ),
            of_agent(line(PROMPT, "e6", r#"{"content":"look around","source":"agent-s1"}"#)),
            of_agent(line(ANSWER, "e7", r#"{"messageId":"a2","content":"I am looking"}"#)),
            line(RESULT, "e8", r#"{"toolCallId":"c4","success":true,"result":{"content":"two callers"}}"#),
            line(BOUNDARY, "e9", r#"{"success":true,"postCompactionTokens":11688}"#),
            line(PROMPT, "e10", r#"{"content":"the body of a skill","source":"skill-pdf"}"#),
            line(ANSWER, "e11", r#"{"messageId":"a3","content":"Fixed.","toolRequests":[]}"#),
        ];
        let parser = parser(&RelayExtract::SOUGHT);
        let mut extract = RelayExtract::new(None);
        for line in &lines {
            if let Some(entry) = parser.entry(line.as_bytes()) {
                extract.entry(&entry);
            }
        }
        let relay = extract.finish().unwrap();
        assert_eq!((relay.uid.as_str(), relay.prompt.as_str()), ("e1", "Why is the queue slow?"));
        assert_eq!(
            said::join(&relay.said),
            "The cause is a lock.\n\nFailed: make test: error: no rule\n\nAgent: look around: two callers\n\nFixed."
        );
        assert_eq!(relay.files, ["/p/new.rs"]);
        assert!(relay.compacted && relay.tools["bash"] == 1);
    }

    #[test]
    fn its_first_line_says_where_it_takes_place() {
        let start = start();
        let found = origin(&parser(&[Sought::Origins]).entry(start.as_bytes()).unwrap()).unwrap();
        assert_eq!((found.session.as_deref(), found.folder.as_deref()), (Some("s1"), Some("/p/shop")));
        assert_eq!(found.branch.as_deref(), Some("feat/x"));
        assert!(wrote(start.as_bytes()) && !wrote(b"{\"type\":\"session.start\"}"));
        assert!(!wrote(b"{\"type\":\"user\",\"sessionId\":\"s\",\"data\":{},\"id\":\"x\"}"));
    }
}

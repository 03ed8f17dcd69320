//! The rollout of Codex: one JSON object per line with a time, a type and a payload, into neutral entries.
//!
//! Codex writes most things twice, as an item of the model's history and as an event. Of the conversation only the
//! items are read: every version has them. Exit statuses, token counts and the window are in events alone. Lines that do not parse are skipped, and so are unknown types.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess, SeqAccess};

use crate::event::action::Exit;
use crate::host::person::Person;
use crate::host::transcript::{
    AnswerEntry, BoundaryEntry, CallResult, CallTask, CallText, CommandEnd, ContentPart, ContextCount,
    ConversationOrigin, Counted, EntryContent, EntryKind, LazyText, PatchEnd, PromptEntry, RequestTokens,
    Sought, ToolCall, ToolResult, TranscriptEntry, TranscriptParser,
};
use crate::text::json::{Field, LongText, Member, TextList, Verbatim, read_object, wire_key, wire_object};
use crate::text::patch::patched_files;
use crate::text::search::Needle;
use crate::time::Millis;

/// Beginnings of texts that Codex itself puts in the place of prompts. Versions since 0.160 also say so in the line.
pub(super) const MACHINE: [&str; 13] = [
    "<environment_context>",
    "<environments_instructions>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<hook_prompt",
    "<turn_aborted>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<skill>",
    "<codex_internal_context",
    "<goal_context>",
    "<startup_context>",
    "<system_reminder>",
];

/// Tools that run one command line.
const SHELLS: [&str; 4] = ["exec_command", "shell", "shell_command", "container.exec"];
const PATCH: &str = "apply_patch";

pub(super) fn parser(kinds: &[Sought]) -> TranscriptParser {
    let needles = |kind: &Sought| -> &[&'static [u8]] {
        match kind {
            Sought::Prompts => &[b"\"user\"", b"call_output\"", b"\"turn_aborted\""],
            Sought::Answers => &[b"\"assistant\"", b"_call\""],
            Sought::Results => &[b"call_output\""],
            Sought::Boundaries => &[b"\"compacted\""],
            Sought::Endings => &[b"\"CommandExecution\""],
            Sought::Patches => &[b"\"FileChange\""],
            Sought::Counts => &[b"\"token_usage_record\"", b"\"model_context_window\""],
            Sought::Origins => &[b"\"session_meta\"", b"\"turn_context\""],
            // Everything that is typed becomes a prompt.
            Sought::Added | Sought::Rewritten | Sought::RepeatedOutput | Sought::Beginnings => &[],
        }
    };
    TranscriptParser::new(kinds.iter().flat_map(needles).map(|text| Needle::new(text)).collect(), entry)
}

pub(super) fn wrote(line: &[u8]) -> bool {
    const TYPES: [&str; 6] =
        ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"];
    read_object::<WireLine<'_>>(line).is_ok_and(|wire| {
        wire.payload.get().is_some() && wire.kind.get().is_some_and(|kind| TYPES.contains(&kind.as_ref()))
    })
}

/// The first line of a rollout, and one at the beginning of each turn.
pub(super) fn origin(entry: &TranscriptEntry<'_>) -> Option<ConversationOrigin> {
    if !matches!(entry.kind, EntryKind::Other) {
        return None;
    }
    let wire = read_object::<WireLine<'_>>(entry.line).ok()?;
    let payload = wire.payload.get()?;
    let about = read_object::<WireAbout<'_>>(payload.0.as_bytes()).ok()?;
    let is_first = match wire.kind.get()?.as_ref() {
        "session_meta" => true,
        "turn_context" => false,
        _ => return None,
    };
    let source = about.source.get().map(|source| source.0).unwrap_or_default();
    Some(ConversationOrigin {
        session: about.id.value().filter(|_| is_first).map(Cow::into_owned),
        folder: about.cwd.value().map(Cow::into_owned),
        branch: about.git.get().and_then(|git| git.branch.get()).map(|branch| branch.clone().into_owned()),
        is_of_agent: source.starts_with("{\"subagent\"") || source.starts_with("{\"internal\""),
        is_unattended: matches!(source, "\"exec\"" | "\"mcp\""),
    })
}

fn entry(line: &[u8]) -> Option<TranscriptEntry<'_>> {
    let wire = read_object::<WireLine<'_>>(line).ok()?;
    let mut entry = TranscriptEntry {
        line,
        kind: EntryKind::Other,
        id: None,
        at: wire.timestamp.get().and_then(|text| Millis::from_iso(text)),
        session: None,
        branch: None,
        version: None,
        is_of_agent: false,
        is_error: false,
        content: None,
    };
    let Some(payload) = wire.payload.get().map(|payload| payload.0) else { return Some(entry) };
    match wire.kind.get().map(AsRef::as_ref) {
        Some("compacted") => {
            let summary = Some(LazyText { json: payload, read: summary });
            entry.kind = EntryKind::Boundary(BoundaryEntry { left: None, kept: Vec::new(), summary });
            entry.content = Some(EntryContent { json: payload, read: kept_parts });
        }
        Some("token_usage_record") => {
            let record = read_object::<WireUsageRecord<'_>>(payload.as_bytes()).ok()?;
            let tokens = record.usage.get().and_then(WireUsage::tokens);
            entry.kind = EntryKind::Count(ContextCount { of: Counted::Request, tokens, window: None });
        }
        Some("event_msg") => read_event(&mut entry, payload)?,
        Some("response_item") => read_item(&mut entry, payload, &wire.metadata)?,
        _ => {}
    }
    Some(entry)
}

fn read_event<'a>(entry: &mut TranscriptEntry<'a>, payload: &'a str) -> Option<()> {
    let about = read_object::<WireEvent<'_>>(payload.as_bytes()).ok()?;
    match about.kind.get().map(AsRef::as_ref) {
        Some("turn_aborted") => {
            entry.kind = EntryKind::Prompt(untyped());
            entry.content =
                Some(EntryContent { json: payload, read: |_| Some(vec![ContentPart::Interruption]) });
        }
        Some("item_completed") => {
            let (Some(item), thread) = (about.item.value(), about.thread.value()) else { return Some(()) };
            let Some(call) = item.id.value() else { return Some(()) };
            let status = item.status.get().map(AsRef::as_ref);
            match item.kind.get().map(AsRef::as_ref) {
                Some("CommandExecution") => {
                    let line = item.command.get().and_then(|command| ran_line(command.0));
                    let exit = exit(status, item.exit_code.get());
                    let began = about.began.value().map(Millis);
                    entry.kind = EntryKind::Ended(CommandEnd { call, line, thread, began, exit });
                }
                Some("FileChange") => {
                    let failed = status == Some("failed");
                    let files = item.changes.value().filter(|_| failed || status == Some("completed"));
                    let files = files.unwrap_or_default().0;
                    let (began, at) = (about.began.value().map(Millis), about.completed.value().map(Millis));
                    entry.kind = EntryKind::Patched(PatchEnd { call, thread, began, at, files, failed });
                }
                _ => {}
            }
        }
        Some("task_started") => {
            let window = about.window.value().filter(|window| *window > 0);
            entry.kind = EntryKind::Count(ContextCount { of: Counted::Earlier, tokens: None, window });
        }
        Some("token_count") => {
            let Some(info) = about.info.value() else { return Some(()) };
            let window = info.window.value().filter(|window| *window > 0);
            let last = info.last.get();
            // After a compaction only the total is set.
            let is_estimate = last.is_some_and(|last| last.input_tokens.get() == Some(&0));
            let of = if is_estimate { Counted::Estimate } else { Counted::Earlier };
            let tokens = last.and_then(WireUsage::tokens);
            entry.kind = EntryKind::Count(ContextCount { of, tokens, window });
        }
        _ => {}
    }
    Some(())
}

/// A number that is not a status says nothing, and neither does one that the word for it contradicts.
fn exit(status: Option<&str>, code: Option<&f64>) -> Exit {
    let whole = |code: &f64| code.fract() == 0.0 && (-2_147_483_648.0..=2_147_483_647.0).contains(code);
    match (status, code.filter(|code| whole(code)).map(|code| *code as i32)) {
        (Some("completed"), Some(0)) => Exit::Known(0),
        (Some("completed" | "failed"), Some(code)) if code != 0 => Exit::Known(code),
        _ => Exit::Unknown,
    }
}

/// The last argument of the shell that ran it.
fn ran_line(json: &str) -> Option<CallText<'_>> {
    let command = serde_json::from_str::<Field<TextList<'_>>>(json).ok()?.value()?;
    command.0.into_iter().next_back().map(|line| CallText::Decoded(line.into_owned()))
}

impl WireUsage<'_> {
    /// Codex counts the answer, too: the next request holds it.
    fn tokens(&self) -> Option<RequestTokens> {
        let used = self.total_tokens.get().copied().filter(|used| *used > 0)?;
        Some(RequestTokens { used, answer: self.output_tokens.get().copied().unwrap_or_default() })
    }
}

/// Whether a person is there, from the first line. A run of `exec` has none.
pub(super) fn person(first_line: &[u8]) -> Person {
    let Ok(wire) = read_object::<WireLine<'_>>(first_line) else { return Person::Unknown };
    let is_first = wire.kind.get().is_some_and(|kind| kind == "session_meta");
    let Some(payload) = wire.payload.get().filter(|_| is_first) else { return Person::Unknown };
    let about = read_object::<WireAbout<'_>>(payload.0.as_bytes()).ok();
    match about.as_ref().and_then(|about| about.source.get()).map(|source| source.0) {
        Some("\"exec\"" | "\"mcp\"") => Person::Absent,
        Some("\"cli\"" | "\"vscode\"") => Person::There,
        _ => Person::Unknown,
    }
}

fn summary(payload: &str) -> Option<String> {
    let compacted = read_object::<WireCompacted<'_>>(payload.as_bytes()).ok()?;
    compacted.message.get().map(|message| message.lossy().into_owned())
}

/// The texts of the person and the model that are still in the context. The summary is one of them.
fn kept_parts(payload: &str) -> Option<Vec<ContentPart<'_>>> {
    let compacted = read_object::<WireCompacted<'_>>(payload.as_bytes()).ok()?;
    let history = compacted.history.value()?;
    let is_said =
        |item: &WireItem<'_>| item.role.get().is_some_and(|role| role == "user" || role == "assistant");
    let contents = history.0.into_iter().filter(is_said).filter_map(|item| item.content.value());
    let blocks =
        contents.filter_map(|content| serde_json::from_str::<Field<Blocks<'_>>>(content.0).ok()?.value());
    let texts = blocks.flat_map(|blocks| blocks.0).filter_map(|block| block.text.value());
    Some(texts.map(ContentPart::Text).collect())
}

fn untyped<'a>() -> PromptEntry<'a> {
    PromptEntry { is_hidden: true, repeats_output: false, typed: None, sent: None, conclusion: None }
}

fn read_item<'a>(
    entry: &mut TranscriptEntry<'a>,
    payload: &'a str,
    metadata: &Field<WireMetadata<'a>>,
) -> Option<()> {
    let item = read_object::<WireItem<'_>>(payload.as_bytes()).ok()?;
    let answer = |message: Cow<'a, str>| {
        EntryKind::Answer(AnswerEntry {
            message,
            model: None,
            tokens: None,
            window: None,
            ends_turn: false,
            // A summary before a compaction is for the model alone.
            is_of_host: metadata.get().is_some_and(|it| it.compaction_output.get() == Some(&true)),
        })
    };
    let (kind, role) = (item.kind.get().map(AsRef::as_ref), item.role.get().map(AsRef::as_ref));
    match (kind, role) {
        (Some("message"), Some("user")) => {
            let of_person = item.about.get().and_then(|about| about.kinds.get()).is_none_or(|kinds| {
                kinds.0.is_empty() || kinds.0.iter().any(|kind| kind.starts_with("user."))
            });
            let typed = item.content.get().filter(|_| of_person);
            let typed = typed.map(|content| LazyText { json: content.0, read: typed_text });
            entry.kind = EntryKind::Prompt(PromptEntry { is_hidden: !of_person, typed, ..untyped() });
            entry.id = item.id.value();
        }
        (Some("message"), Some("assistant")) => {
            entry.kind = answer(item.id.value().unwrap_or_default());
            entry.content =
                item.content.get().map(|content| EntryContent { json: content.0, read: answer_parts });
        }
        (Some("function_call" | "custom_tool_call" | "local_shell_call"), _) => {
            entry.kind = answer(Cow::Borrowed(""));
            entry.content = Some(EntryContent { json: payload, read: call_parts });
        }
        (Some("function_call_output" | "custom_tool_call_output"), _) => {
            entry.kind = EntryKind::Result(ToolResult { output: "", is_by_hook: false, answers: |_| None });
            entry.content = Some(EntryContent { json: payload, read: result_parts });
        }
        _ => {}
    }
    Some(())
}

fn typed_text(json: &str) -> Option<String> {
    let parts = serde_json::from_str::<Field<Blocks<'_>>>(json).ok()?.value()?;
    let mut typed = String::new();
    for block in &parts.0 {
        let part = match block.kind.get().map(AsRef::as_ref) {
            Some("input_text") => block.text.get().map(|text| text.lossy()).unwrap_or_default(),
            Some("input_image") => Cow::Borrowed("[image]"),
            _ => continue,
        };
        let part = part.trim();
        if part.is_empty() || MACHINE.iter().any(|start| part.starts_with(start)) {
            continue;
        }
        if !typed.is_empty() {
            typed.push('\n');
        }
        typed.push_str(part);
    }
    Some(typed).filter(|typed| !typed.is_empty())
}

fn answer_parts(json: &str) -> Option<Vec<ContentPart<'_>>> {
    let blocks = serde_json::from_str::<Field<Blocks<'_>>>(json).ok()?.value()?;
    let is_text = |block: &WireBlock<'_>| block.kind.get().is_some_and(|kind| kind == "output_text");
    let texts = blocks.0.into_iter().filter(is_text).filter_map(|block| block.text.value());
    Some(texts.map(ContentPart::Text).collect())
}

fn call_parts(json: &str) -> Option<Vec<ContentPart<'_>>> {
    let item = read_object::<WireItem<'_>>(json.as_bytes()).ok()?;
    let is_local = item.kind.get().is_some_and(|kind| kind == "local_shell_call");
    let tool = item.name.value().unwrap_or(Cow::Borrowed(if is_local { "local_shell" } else { "" }));
    let arguments = item.arguments.get().map(|text| text.lossy()).unwrap_or_default();
    let is_edit = tool == PATCH;
    let task = if is_local {
        let command = item.action.get().and_then(|action| action.command.get());
        command.and_then(|command| command_line(command.0)).map(CallTask::Command)
    } else if SHELLS.contains(&tool.as_ref()) {
        let input = read_object::<WireArguments<'_>>(arguments.as_bytes()).ok();
        let command = input.and_then(|input| input.cmd.value().or(input.command.value()));
        command.and_then(|command| command_line(command.0)).map(CallTask::Command)
    } else if tool.ends_with("spawn_agent") {
        let input = read_object::<WireArguments<'_>>(arguments.as_bytes()).ok();
        let task = input.and_then(|input| input.message.value());
        Some(CallTask::Agent(task.map(|task| CallText::Decoded(task.lossy().into_owned()))))
    } else {
        None
    };
    let files = if is_edit {
        let input = item.input.get().map(|text| text.lossy());
        let wrapped = || {
            let input = read_object::<WireArguments<'_>>(arguments.as_bytes()).ok()?.input.value()?;
            Some(Cow::Owned(input.lossy().into_owned()))
        };
        let files = input.or_else(wrapped).map(|patch| patched_files(&patch)).unwrap_or_default();
        files.into_iter().map(Cow::Owned).collect()
    } else {
        Vec::new()
    };
    Some(vec![ContentPart::Call(ToolCall {
        id: item.call_id.value().unwrap_or_default(),
        tool,
        is_edit,
        files,
        task: task.unwrap_or(CallTask::Other),
    })])
}

/// A text, or a program with its arguments.
fn command_line<'a>(json: &str) -> Option<CallText<'a>> {
    let line = match serde_json::from_str(json).ok()? {
        serde_json::Value::String(line) => line,
        serde_json::Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(serde_json::Value::as_str).collect();
            match words.as_slice() {
                [shell, "-c" | "-lc", line] if shell.ends_with("sh") => (*line).to_owned(),
                words => words.join(" "),
            }
        }
        _ => return None,
    };
    Some(CallText::Decoded(line))
}

fn result_parts(json: &str) -> Option<Vec<ContentPart<'_>>> {
    let item = read_object::<WireItem<'_>>(json.as_bytes()).ok()?;
    let output = item.output.get().map(|output| output.0);
    let status = output.and_then(printed_output).and_then(|printed| printed.exit);
    let failed = status.is_some_and(|code| code != 0);
    let exit = status.and_then(|code| i32::try_from(code).ok()).map_or(Exit::Unknown, Exit::Known);
    let lazily = |read: fn(&str) -> Option<String>| output.map(|json| LazyText { json, read });
    Some(vec![ContentPart::Result(CallResult {
        call: item.call_id.value(),
        failed,
        exit,
        conclusion: lazily(conclusion).filter(|_| !failed),
        failure: lazily(failure).filter(|_| failed),
    })])
}

struct Printed {
    /// `None` if the output does not tell.
    exit: Option<i64>,
    text: String,
}

/// The three forms of a command's output, newest first: a head with the exit code, a line with it, or JSON.
fn printed_output(json: &str) -> Option<Printed> {
    let text = match serde_json::from_str::<Field<LongText<'_>>>(json) {
        Ok(Field::Value(text)) => text.lossy().into_owned(),
        _ => read_object::<WireOutput<'_>>(json.as_bytes()).ok()?.content.value()?.lossy().into_owned(),
    };
    if text.starts_with('{')
        && let Ok(wrapped) = read_object::<WireOutput<'_>>(text.as_bytes())
        && let Some(output) = wrapped.output.get()
    {
        let exit = wrapped.metadata.get().and_then(|it| it.exit_code.get()).map(|code| *code as i64);
        return Some(Printed { exit, text: output.lossy().into_owned() });
    }
    let (head, printed) = text.split_once("Output:\n").unwrap_or((&text, ""));
    let code = ["Process exited with code ", "Exit code: "].iter().find_map(|before| {
        let line = head.lines().find_map(|line| line.strip_prefix(before))?;
        line.trim().parse().ok()
    });
    Some(match code {
        Some(code) => Printed { exit: Some(code), text: printed.to_owned() },
        None => Printed { exit: None, text },
    })
}

fn failure(json: &str) -> Option<String> {
    let printed = printed_output(json)?;
    let exit = printed.exit?;
    Some(if printed.text.trim().is_empty() { format!("exit code {exit}") } else { printed.text })
}

/// An agent's call returns its id first, and its answer only when it is awaited.
fn conclusion(json: &str) -> Option<String> {
    let text = printed_output(json)?.text;
    Some(text).filter(|text| !text.is_empty() && !text.trim_start().starts_with('{'))
}

wire_object! {
    struct WireLine<'a> {
        kind as "type": Cow<'a, str>,
        timestamp: Cow<'a, str>,
        payload: Verbatim<'a>,
        metadata: WireMetadata<'a>,
    }
}

wire_object! {
    struct WireMetadata<'a> {
        compaction_output: bool,
    }
}

wire_object! {
    struct WireAbout<'a> {
        id: Cow<'a, str>,
        cwd: Cow<'a, str>,
        source: Verbatim<'a>,
        git: WireGit<'a>,
    }
}

wire_object! {
    struct WireGit<'a> {
        branch: Cow<'a, str>,
    }
}

wire_object! {
    struct WireItem<'a> {
        kind as "type": Cow<'a, str>,
        role: Cow<'a, str>,
        id: Cow<'a, str>,
        content: Verbatim<'a>,
        name: Cow<'a, str>,
        arguments: LongText<'a>,
        input: LongText<'a>,
        action: WireAction<'a>,
        call_id: Cow<'a, str>,
        output: Verbatim<'a>,
        about as "internal_chat_message_metadata_passthrough": WireItemAbout<'a>,
    }
}

wire_object! {
    struct WireEvent<'a> {
        kind as "type": Cow<'a, str>,
        thread as "thread_id": Cow<'a, str>,
        item: WireDone<'a>,
        began as "started_at_ms": u64,
        completed as "completed_at_ms": u64,
        info: WireCount<'a>,
        window as "model_context_window": u64,
    }
}

wire_object! {
    /// A command or a patch.
    struct WireDone<'a> {
        kind as "type": Cow<'a, str>,
        id: Cow<'a, str>,
        status: Cow<'a, str>,
        command: Verbatim<'a>,
        exit_code: f64,
        changes: Changes<'a>,
    }
}

wire_object! {
    struct WireChange<'a> {
        moved as "move_path": Cow<'a, str>,
    }
}

/// The files that are members of an object, and those that they were renamed to.
#[derive(Clone, Debug, Default, PartialEq)]
struct Changes<'a>(Vec<Cow<'a, str>>);

impl<'de> Member<'de> for Changes<'de> {
    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut files = Vec::new();
        while let Some((file, change)) = map.next_entry::<Cow<'de, str>, Field<WireChange<'de>>>()? {
            files.push(file);
            files.extend(change.value().and_then(|change| change.moved.value()));
        }
        Ok(Some(Changes(files)))
    }
}

wire_object! {
    struct WireCount<'a> {
        last as "last_token_usage": WireUsage<'a>,
        window as "model_context_window": u64,
    }
}

wire_object! {
    struct WireUsageRecord<'a> {
        usage: WireUsage<'a>,
    }
}

wire_object! {
    struct WireUsage<'a> {
        input_tokens: u64,
        output_tokens: u64,
        total_tokens: u64,
    }
}

wire_object! {
    struct WireCompacted<'a> {
        message: LongText<'a>,
        history as "replacement_history": Items<'a>,
    }
}

wire_object! {
    struct WireItemAbout<'a> {
        kinds as "content_item_kinds": TextList<'a>,
    }
}

wire_object! {
    struct WireAction<'a> {
        command: Verbatim<'a>,
    }
}

wire_object! {
    struct WireArguments<'a> {
        cmd: Verbatim<'a>,
        command: Verbatim<'a>,
        message: LongText<'a>,
        input: LongText<'a>,
    }
}

wire_object! {
    struct WireOutput<'a> {
        output: LongText<'a>,
        content: LongText<'a>,
        metadata: WireExit<'a>,
    }
}

wire_object! {
    struct WireExit<'a> {
        exit_code: f64,
    }
}

wire_object! {
    struct WireBlock<'a> {
        kind as "type": Cow<'a, str>,
        text: LongText<'a>,
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

#[derive(Clone, Debug, Default, PartialEq)]
struct Items<'a>(Vec<WireItem<'a>>);

impl<'de> Member<'de> for Items<'de> {
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<Field<WireItem<'de>>>()? {
            items.extend(item.value());
        }
        Ok(Some(Items(items)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::memory::relay::{Relay, RelayExtract, RelayStep};
    use crate::feature::memory::said;

    fn item(payload: &str) -> String {
        format!(r#"{{"timestamp":"2026-11-15T12:00:01.000Z","type":"response_item","payload":{payload}}}"#)
    }

    fn message(id: &str, role: &str, text: &str) -> String {
        let kind = if role == "assistant" { "output_text" } else { "input_text" };
        item(&format!(
            r#"{{"type":"message","id":"{id}","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}"#
        ))
    }

    fn relays(lines: &[String]) -> Vec<Relay> {
        let parser = parser(&RelayExtract::SOUGHT);
        let mut extract = RelayExtract::new(None);
        let mut relays = Vec::new();
        for line in lines {
            if let Some(entry) = parser.entry(line.as_bytes())
                && let RelayStep::Begins(Some(relay)) = extract.entry(&entry)
            {
                relays.push(*relay);
            }
        }
        relays.extend(extract.finish());
        relays
    }

    #[test]
    fn a_rollout_gives_its_exchanges() {
        let call = |name: &str, arguments: &str, id: &str| {
            item(&format!(
                r#"{{"type":"function_call","name":"{name}","arguments":{arguments:?},"call_id":"{id}"}}"#
            ))
        };
        let output = |text: &str, id: &str| {
            item(&format!(r#"{{"type":"function_call_output","call_id":"{id}","output":{text:?}}}"#))
        };
        let patch = "*** Begin Patch\n*** Add File: src/new.rs\n+x\n*** Update File: src/old.rs\n*** Move to: src/moved.rs\n*** End Patch";
        let lines = [
            message("m0", "user", "<environment_context>\\n<cwd>/p</cwd>"),
            message("m1", "user", "Why is the queue slow?"),
            message("a1", "assistant", "The cause is a lock."),
            call("exec_command", r#"{"cmd": "make test"}"#, "c1"),
            output("Chunk ID: 1\nProcess exited with code 2\nOutput:\nbuilding\nerror: no rule\n", "c1"),
            call("shell", r#"{"command": ["bash", "-lc", "ls missing"]}"#, "c2"),
            output(r#"{"output":"ls: cannot access 'missing'","metadata":{"exit_code":2}}"#, "c2"),
            item(&format!(
                r#"{{"type":"custom_tool_call","name":"apply_patch","input":{patch:?},"call_id":"c3"}}"#
            )),
            item(r#"{"type":"custom_tool_call_output","call_id":"c3","output":"Exit code: 0\nOutput:\nok"}"#),
            message("a2", "assistant", "Fixed."),
            message("m2", "user", "<hook_prompt hook_run_id=\\\"1\\\">check it</hook_prompt>"),
            message("m3", "user", "Thanks, now document it"),
            r#"{"timestamp":"2026-11-15T12:00:02.000Z","type":"compacted","payload":{"message":"s"}}"#.to_owned(),
            item(r#"{"type":"message","id":"a3","role":"assistant","content":[{"type":"output_text","text":"SUMMARY"}]}"#)
                .replace("\"payload\"", "\"metadata\":{\"compaction_output\":true},\"payload\""),
            r#"{"timestamp":"2026-11-15T12:00:03.000Z","type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}"#
                .to_owned(),
        ];
        let found = relays(&lines);
        let [first, second] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((first.uid.as_str(), first.prompt.as_str()), ("m1", "Why is the queue slow?"));
        assert_eq!(
            said::join(&first.said),
            "The cause is a lock.\n\nFailed: make test: error: no rule\n\n\
             Failed: ls missing: ls: cannot access 'missing'\n\nFixed."
        );
        assert_eq!(first.files, ["src/new.rs", "src/old.rs", "src/moved.rs"]);
        assert_eq!((first.tools["exec_command"], first.tools["apply_patch"]), (1, 1));
        assert_eq!((second.uid.as_str(), second.answer.as_str()), ("m3", ""));
        assert!(second.compacted && second.interrupted);
    }

    #[test]
    fn the_line_says_who_wrote_a_prompt() {
        let by = |kinds: &str| {
            let line = message("m1", "user", "do it").replace(
                "\"role\"",
                &format!("\"internal_chat_message_metadata_passthrough\":{{\"content_item_kinds\":{kinds}}},\"role\""),
            );
            parser(&[]).entry(line.as_bytes()).unwrap().typed_prompt()
        };
        assert_eq!(by("[\"user.text\"]").as_deref(), Some("do it"));
        assert_eq!(by("[\"hooks.additional_context\"]"), None);
        assert_eq!(by("[]").as_deref(), Some("do it"));
    }

    #[test]
    fn its_first_line_says_where_it_takes_place() {
        let meta = |source: &str| {
            format!(
                r#"{{"timestamp":"2026-11-15T12:00:00.000Z","type":"session_meta","payload":{{"id":"s1","cwd":"/p/shop","source":{source},"git":{{"branch":"feat/x"}}}}}}"#
            )
        };
        let read = |line: &str| origin(&parser(&[Sought::Origins]).entry(line.as_bytes()).unwrap()).unwrap();
        let by_person = ConversationOrigin {
            session: Some("s1".to_owned()),
            folder: Some("/p/shop".to_owned()),
            branch: Some("feat/x".to_owned()),
            is_of_agent: false,
            is_unattended: false,
        };
        assert_eq!(read(&meta("\"cli\"")), by_person);
        assert!(read(&meta("\"exec\"")).is_unattended);
        assert!(read(&meta("{\"subagent\":{\"thread_spawn\":{}}}")).is_of_agent);
        let turn = r#"{"type":"turn_context","payload":{"turn_id":"t","cwd":"/p/other"}}"#;
        let later = read(turn);
        assert_eq!((later.session, later.folder.as_deref()), (None, Some("/p/other")));
        assert!(wrote(turn.as_bytes()) && wrote(meta("\"cli\"").as_bytes()));
        assert!(!wrote(b"{\"type\":\"user\",\"sessionId\":\"s\"}") && !wrote(b"{\"payload\":{}}"));
    }
}

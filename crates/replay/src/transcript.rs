//! A transcript of Claude Code as the calls that its hooks would have had, in the order of the file.
//!
//! A call of a tool takes its place twice: where the model made it, and where its result is. Prompts, compactions and the
//! ends of turns are between them. The core's own parser reads no more than its policies need; a payload needs the whole
//! input of a call and its structured result.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use tidegate_core::time::Millis;

use crate::seen_files::{self, SeenFile};
use crate::turn::{Ending, LastEntry, OpenTurn, TurnEnd};

/// One transcript.
pub struct ReplaySession {
    /// The file's name.
    pub name: String,
    /// Working folders in the order in which they appear, each once.
    pub folders: Vec<String>,
    pub moments: Vec<Moment>,
    /// What the session shows of the project's own files.
    pub seen: Vec<SeenFile>,
    /// Lines that are not JSON objects.
    pub unread_lines: usize,
}

/// A point in a session at which hooks run.
pub struct Moment {
    /// Counted from 1.
    pub line: usize,
    pub at: Millis,
    pub cwd: String,
    /// `None` on the main thread.
    pub agent: Option<String>,
    pub what: Happening,
}

pub enum Happening {
    Start,
    Compaction,
    Prompt(String),
    /// A typed command that expands to a prompt, by its name.
    TypedCommand(String),
    Call(Arc<ToolUse>),
    Result(ToolEnd),
    TurnEnd(TurnEnd),
}

/// A call of a tool.
pub struct ToolUse {
    pub id: String,
    pub tool: String,
    /// Without the contents of files.
    pub input: Value,
    at: Millis,
    /// Before the call.
    cwd: String,
    agent: Option<String>,
}

/// The end of a call that ran.
pub struct ToolEnd {
    pub call: Arc<ToolUse>,
    /// The structured result; the error's text if the call failed.
    pub response: Result<Value, String>,
    /// How long it ran, in milliseconds.
    pub millis: u64,
}

/// A task in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningTask {
    pub id: String,
    pub is_agent: bool,
}

/// Beginnings of results of calls that no hook saw the end of, because they did not run.
const NEVER_RAN: [&str; 5] = [
    "<tool_use_error>",
    "The user doesn't want to proceed",
    "The user doesn't want to take this action",
    "Claude requested permissions",
    "Permission to use",
];

/// Beginnings of entries that are neither prompts nor ends of turns.
const NOT_PROMPTS: [&str; 11] = [
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "<user-memory-input",
    "<user-prompt-submit-hook>",
    "Caveat: The messages below",
    "Operation stopped by hook",
    "Stop hook feedback",
    "[Request interrupted",
];

const INTERRUPTION: &str = "[Request interrupted";

pub fn read_session(name: &str, text: &str) -> ReplaySession {
    let mut entries = Vec::new();
    let mut unread_lines = 0;
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str::<Value>(line) {
            Ok(entry) if entry.is_object() => entries.push((number + 1, entry)),
            _ => unread_lines += 1,
        }
    }
    let mut walk = Walk::default();
    for at in 0..entries.len() {
        walk.enter(&entries, at);
    }
    walk.close_file();
    ReplaySession {
        name: name.to_owned(),
        folders: walk.folders,
        moments: walk.moments,
        seen: walk.seen,
        unread_lines,
    }
}

#[derive(Default)]
struct Walk {
    moments: Vec<Moment>,
    folders: Vec<String>,
    seen: Vec<SeenFile>,
    /// By id, until the result is there.
    open_calls: BTreeMap<String, Arc<ToolUse>>,
    known_calls: BTreeSet<String>,
    running: Vec<RunningTask>,
    turn: Option<OpenTurn>,
    turns: usize,
    last: LastEntry,
    /// Of each thread: calls of one answer run one after the other.
    last_result: BTreeMap<Option<String>, Millis>,
    line: usize,
    at: Millis,
    cwd: String,
}

/// The parts of an entry that matter here, taken out of the form in which a subagent's entry is wrapped.
struct Entry<'a> {
    whole: &'a Value,
    kind: &'a str,
    content: &'a Value,
    model: &'a str,
    result: &'a Value,
    agent: Option<String>,
}

impl<'a> Entry<'a> {
    fn of(whole: &'a Value) -> Entry<'a> {
        let text = |value: &'a Value| value.as_str().unwrap_or_default();
        let data = &whole["data"];
        let wrapped = whole["type"] == "progress" && data["type"] == "agent_progress";
        let inner = if wrapped { &data["message"] } else { whole };
        let agent = match (wrapped, whole["isSidechain"] == true) {
            (true, _) => Some(text(&data["agentId"])),
            (false, true) => Some(text(&whole["agentId"])),
            (false, false) => None,
        };
        Entry {
            whole,
            kind: text(&inner["type"]),
            content: &inner["message"]["content"],
            model: text(&inner["message"]["model"]),
            result: &inner["toolUseResult"],
            agent: agent.map(|id| if id.is_empty() { "agent" } else { id }.to_owned()),
        }
    }

    fn blocks(&self) -> &'a [Value] {
        self.content.as_array().map_or(&[], Vec::as_slice)
    }

    fn has(&self, flag: &str) -> bool {
        self.whole[flag] == true
    }
}

impl Walk {
    fn enter(&mut self, entries: &[(usize, Value)], index: usize) {
        let (line, whole) = &entries[index];
        let entry = Entry::of(whole);
        self.line = *line;
        if let Some(at) = whole["timestamp"].as_str().and_then(Millis::from_iso) {
            self.at = at;
        }
        if let Some(cwd) = whole["cwd"].as_str().filter(|cwd| !cwd.is_empty()) {
            cwd.clone_into(&mut self.cwd);
            if !self.folders.iter().any(|known| known == cwd) {
                self.folders.push(cwd.to_owned());
            }
        }
        if self.moments.is_empty() && !self.cwd.is_empty() {
            self.happen(None, Happening::Start);
        }
        match entry.kind {
            "system" => self.enter_system(&entry),
            "attachment" => self.enter_attachment(&entry),
            "assistant" => self.enter_answer(&entry),
            "user" => self.enter_input(&entry, entries, index),
            _ => {}
        }
    }

    fn happen(&mut self, agent: Option<String>, what: Happening) {
        self.moments.push(Moment { line: self.line, at: self.at, cwd: self.cwd.clone(), agent, what });
    }

    fn enter_system(&mut self, entry: &Entry<'_>) {
        match entry.whole["subtype"].as_str() {
            Some("compact_boundary") => self.happen(None, Happening::Compaction),
            // The host saw a stop, although the last answer may have been empty.
            Some("stop_hook_summary" | "turn_duration")
                if entry.agent.is_none() && self.last == LastEntry::Result =>
            {
                self.last = LastEntry::Text;
            }
            _ => {}
        }
    }

    fn enter_attachment(&mut self, entry: &Entry<'_>) {
        let attachment = &entry.whole["attachment"];
        if attachment["type"] == "queued_command" {
            self.submit(join_text(&attachment["prompt"]));
        }
    }

    fn enter_answer(&mut self, entry: &Entry<'_>) {
        let is_main = entry.agent.is_none();
        if entry.has("isApiErrorMessage") {
            if is_main && self.turn.is_some() {
                self.last = LastEntry::ApiError;
            }
            return;
        }
        if entry.model == "<synthetic>" {
            return;
        }
        if is_main {
            let turn = self.turn.get_or_insert_default();
            turn.answered = true;
            entry.whole["uuid"].as_str().unwrap_or_default().clone_into(&mut turn.entry);
            if self.last == LastEntry::Interruption {
                self.last = LastEntry::Prompt;
            }
        }
        if let Some(text) = entry.content.as_str() {
            self.say(entry, text);
        }
        for block in entry.blocks() {
            match block["type"].as_str() {
                Some("text") => self.say(entry, block["text"].as_str().unwrap_or_default()),
                Some("tool_use") => self.call(entry, block),
                _ => {}
            }
        }
    }

    fn say(&mut self, entry: &Entry<'_>, text: &str) {
        if let (None, Some(turn), false) = (&entry.agent, &mut self.turn, text.trim().is_empty()) {
            text.clone_into(&mut turn.said);
            self.last = LastEntry::Text;
        }
    }

    fn call(&mut self, entry: &Entry<'_>, block: &Value) {
        let id = block["id"].as_str().unwrap_or_default().to_owned();
        // The client writes an answer block by block, and may repeat one.
        if !self.known_calls.insert(id.clone()) {
            return;
        }
        let call = Arc::new(ToolUse {
            id: id.clone(),
            tool: block["name"].as_str().unwrap_or_default().to_owned(),
            input: block["input"].clone(),
            at: self.at,
            cwd: self.cwd.clone(),
            agent: entry.agent.clone(),
        });
        self.open_calls.insert(id, call.clone());
        if entry.agent.is_none() {
            self.last = LastEntry::Call;
        }
        self.happen(entry.agent.clone(), Happening::Call(without_contents(&call)));
    }

    fn enter_input(&mut self, entry: &Entry<'_>, entries: &[(usize, Value)], index: usize) {
        let results: Vec<&Value> =
            entry.blocks().iter().filter(|block| block["type"] == "tool_result").collect();
        let is_main = entry.agent.is_none();
        for block in &results {
            self.end_call(entry, block);
        }
        let text = join_text(entry.content);
        if !results.is_empty() {
            if is_main {
                self.last = LastEntry::Result;
            }
            if !(is_main && text.contains(INTERRUPTION)) {
                return;
            }
            self.interrupt();
            return;
        }
        if !is_main || entry.has("isMeta") || entry.has("isCompactSummary") {
            return;
        }
        let text = text.trim_start();
        if text.starts_with(INTERRUPTION) {
            self.interrupt();
        } else if !text.is_empty() && !NOT_PROMPTS.iter().any(|start| text.starts_with(start)) {
            self.enter_prompt(entry, text, entries, index);
        }
    }

    fn interrupt(&mut self) {
        self.close_turn(Ending::Interrupted);
        self.last = LastEntry::Interruption;
    }

    fn enter_prompt(&mut self, entry: &Entry<'_>, text: &str, entries: &[(usize, Value)], index: usize) {
        let command = typed_command(text);
        if command.is_some() && is_answered_by_client(entries, index) {
            return;
        }
        let is_notice = text.starts_with("<task-notification");
        let is_message = text.starts_with("<agent-message") || text.starts_with("<cross-session-message");
        let is_working = matches!(self.last, LastEntry::Call | LastEntry::Result);
        if self.turn.is_some() && is_working {
            if is_notice || is_message || was_queued(entry, entries, index) {
                self.submit(text.to_owned());
                return;
            }
            let unanswered = self.open_calls.values().any(|call| call.agent.is_none());
            self.close_turn(if unanswered { Ending::BrokenOff } else { Ending::Silent });
        } else {
            let failed = self.last == LastEntry::ApiError;
            self.close_turn(if failed { Ending::ApiError } else { Ending::Stop });
        }
        self.turn = Some(OpenTurn::default());
        self.last = LastEntry::Prompt;
        self.submit(text.to_owned());
        if let Some(name) = command {
            self.happen(None, Happening::TypedCommand(name));
        }
    }

    fn submit(&mut self, prompt: String) {
        if let Some(task) = between(&prompt, "<task-id>", "</task-id>") {
            self.running.retain(|running| running.id != task);
        }
        self.happen(None, Happening::Prompt(prompt));
    }

    fn end_call(&mut self, entry: &Entry<'_>, block: &Value) {
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        let Some(call) = self.open_calls.remove(id) else { return };
        let output = join_text(&block["content"]);
        let failed = block["is_error"] == true;
        if let Some(turn) = &mut self.turn {
            turn.worked = true;
        } else if entry.agent.is_none() {
            self.turn = Some(OpenTurn { worked: true, ..OpenTurn::default() });
        }
        if failed && NEVER_RAN.iter().any(|start| output.trim_start().starts_with(start)) {
            return;
        }
        // Calls of one answer run one after the other: this one began when the one before it had ended.
        let before = self.last_result.insert(call.agent.clone(), self.at).unwrap_or_default();
        let millis = self.at.since(call.at.max(before));
        if !failed {
            self.seen.extend(seen_files::of_tool(&call.tool, &call.input, entry.result, self.at));
        }
        if call.tool == "Bash" {
            let line = call.input["command"].as_str().unwrap_or_default();
            self.seen.extend(seen_files::of_run(line, &call.cwd, &output, self.at));
        }
        let response = if failed { Err(output) } else { Ok(response_of(&call, entry.result, &output)) };
        self.keep_tasks(&call, response.as_ref().ok());
        let call = without_contents(&call);
        self.happen(call.agent.clone(), Happening::Result(ToolEnd { call, response, millis }));
    }

    fn keep_tasks(&mut self, call: &ToolUse, response: Option<&Value>) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let Some(response) = response else { return };
        match call.tool.as_str() {
            "Bash" => {
                let task = text(&response["backgroundTaskId"]);
                self.running.extend(task.map(|id| RunningTask { id, is_agent: false }));
            }
            "Agent" | "Task" if response["status"] == "async_launched" => {
                let task = text(&response["agentId"]);
                self.running.extend(task.map(|id| RunningTask { id, is_agent: true }));
            }
            "KillShell" | "KillBash" | "TaskStop" => self.end_task(&call.input),
            "BashOutput" | "TaskOutput" if ended_status(response) => self.end_task(&call.input),
            _ => {}
        }
    }

    fn end_task(&mut self, input: &Value) {
        let id = ["task_id", "shell_id", "bash_id"].iter().find_map(|key| input[*key].as_str());
        self.running.retain(|task| Some(task.id.as_str()) != id);
    }

    fn close_turn(&mut self, ending: Ending) {
        if ending != Ending::Stop {
            self.open_calls.retain(|_, call| call.agent.is_some());
        }
        let Some(turn) = self.turn.take().filter(|turn| turn.answered || turn.worked) else { return };
        self.turns += 1;
        let end = TurnEnd {
            turn: self.turns,
            entry: turn.entry,
            ending,
            said: turn.said,
            running: self.running.clone(),
        };
        self.happen(None, Happening::TurnEnd(end));
    }

    fn close_file(&mut self) {
        self.close_turn(match self.last {
            LastEntry::Text | LastEntry::Prompt => Ending::EndOfFile,
            LastEntry::ApiError => Ending::ApiError,
            LastEntry::Call | LastEntry::Result | LastEntry::Interruption => Ending::InsideTurn,
        });
    }
}

fn ended_status(response: &Value) -> bool {
    let status = response["status"].as_str().or(response["task"]["status"].as_str());
    status.is_some_and(|status| status != "running")
}

/// The hook's `tool_response`. Results of subagents have only the text.
fn response_of(call: &ToolUse, result: &Value, output: &str) -> Value {
    match (call.tool.as_str(), result.is_object()) {
        ("Bash", false) => json!({"stdout": output, "stderr": "", "interrupted": false}),
        ("Bash" | "Skill" | "Agent" | "Task", true) => result.clone(),
        ("BashOutput" | "TaskOutput", true) => result.clone(),
        _ => json!({}),
    }
}

/// The contents of files are large, and hooks do not look at them.
fn without_contents(call: &Arc<ToolUse>) -> Arc<ToolUse> {
    const CONTENTS: [&str; 6] = ["content", "old_string", "new_string", "edits", "new_source", "prompt"];
    let mut input = call.input.clone();
    if let Some(members) = input.as_object_mut() {
        for name in CONTENTS {
            members.remove(name);
        }
    }
    Arc::new(ToolUse {
        id: call.id.clone(),
        tool: call.tool.clone(),
        input,
        at: call.at,
        cwd: call.cwd.clone(),
        agent: call.agent.clone(),
    })
}

pub(super) fn join_text(content: &Value) -> String {
    let text = |block: &Value| match block {
        Value::String(text) => Some(text.clone()),
        block if block["type"] == "text" => block["text"].as_str().map(str::to_owned),
        _ => None,
    };
    match content {
        Value::Array(blocks) => blocks.iter().filter_map(text).collect::<Vec<_>>().join("\n"),
        other => text(other).unwrap_or_default(),
    }
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    text.split_once(open)?.1.split_once(close).map(|(inner, _)| inner)
}

/// The name of a typed command, from the form in which the client writes it down.
fn typed_command(text: &str) -> Option<String> {
    if !text.starts_with("<command-name>") && !text.starts_with("<command-message>") {
        return None;
    }
    let name = between(text, "<command-name>", "</command-name>")
        .or_else(|| between(text, "<command-message>", "</command-message>"))?;
    Some(name.trim().trim_start_matches('/').to_owned())
}

/// How far to look for the answer to a typed command.
const NEAR: usize = 12;

/// Whether the client answers a typed command itself: then its output follows, not the model's.
fn is_answered_by_client(entries: &[(usize, Value)], index: usize) -> bool {
    for (_, whole) in entries.iter().skip(index + 1).take(NEAR - 1) {
        let entry = Entry::of(whole);
        if entry.agent.is_some() {
            continue;
        }
        let text = join_text(entry.content);
        match entry.kind {
            "assistant" => return entry.model == "<synthetic>",
            "system" if whole["subtype"] == "local_command" => return true,
            "user" if text.starts_with("<local-command-std") => return true,
            "user" if !entry.has("isMeta") => return true,
            "user" if !text.starts_with("Caveat") && !text.starts_with("<local-command-caveat") => {
                return false;
            }
            _ => {}
        }
    }
    true
}

/// Whether a prompt was typed while the model worked, and given to the running turn.
fn was_queued(entry: &Entry<'_>, entries: &[(usize, Value)], index: usize) -> bool {
    let before = &entries[index.saturating_sub(NEAR)..index];
    entry.has("isQueued") || before.iter().any(|(_, whole)| whole["type"] == "queue-operation")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::MadeUp;

    /// Each end of a turn by the id of its last answer, and its ending.
    fn ends(made: MadeUp) -> Vec<(String, Ending)> {
        let ends = made.read().moments.into_iter().filter_map(|moment| match moment.what {
            Happening::TurnEnd(end) => Some((end.entry, end.ending)),
            _ => None,
        });
        ends.collect()
    }

    fn end(entry: &str, ending: Ending) -> (String, Ending) {
        (entry.to_owned(), ending)
    }

    #[test]
    fn a_prompt_ends_the_turn_before_it() {
        let made = MadeUp::new().prompt("a").says("one").prompt("b").runs("ls", "").says("two");
        assert_eq!(ends(made), [end("e2", Ending::Stop), end("e6", Ending::EndOfFile)]);
        let silent = MadeUp::new().prompt("a").runs("ls", "").prompt("b").says("two");
        assert_eq!(ends(silent), [end("e2", Ending::Silent), end("e5", Ending::EndOfFile)]);
        let inside = MadeUp::new().prompt("a").says("one").calls("Bash", &json!({"command": "ls"}));
        assert_eq!(ends(inside), [end("e3", Ending::InsideTurn)]);
    }

    #[test]
    fn entries_that_are_not_prompts_end_nothing() {
        let made = MadeUp::new()
            .prompt("a")
            .says("one")
            .prompt("<bash-input>ls</bash-input>")
            .prompt("<bash-stdout></bash-stdout>")
            .entry(json!({"type": "user", "isMeta": true, "message": {"content": "Stop hook feedback: x"}}))
            .prompt("<command-name>/model</command-name>")
            .prompt("<local-command-stdout>Set</local-command-stdout>")
            .entry(json!({"type": "user", "isCompactSummary": true, "message": {"content": "Earlier: x"}}))
            .says("two");
        assert_eq!(ends(made), [end("e9", Ending::EndOfFile)]);
    }

    #[test]
    fn a_prompt_into_a_running_turn_belongs_to_it() {
        let made = MadeUp::new()
            .prompt("a")
            .runs("ls", "")
            .entry(json!({"type": "queue-operation"}))
            .prompt("also b")
            .says("done");
        assert_eq!(ends(made), [end("e6", Ending::EndOfFile)]);
    }

    #[test]
    fn interruptions_and_errors_are_no_stops() {
        let made = MadeUp::new()
            .prompt("a")
            .says("one")
            .prompt("[Request interrupted by user]")
            .prompt("b")
            .says("two")
            .entry(json!({"type": "assistant", "isApiErrorMessage": true, "message": {"content": []}}))
            .prompt("c")
            .calls("Bash", &json!({"command": "ls"}))
            .prompt("d")
            .says("four");
        let endings: Vec<Ending> = ends(made).into_iter().map(|(_, ending)| ending).collect();
        assert_eq!(endings, [Ending::Interrupted, Ending::ApiError, Ending::BrokenOff, Ending::EndOfFile]);
        assert_eq!(endings.iter().filter(|ending| ending.asks_hooks()).count(), 1);
    }

    #[test]
    fn calls_of_one_answer_run_one_after_the_other() {
        let (edit, test) = (json!({"file_path": "/w/shop/a.rs"}), json!({"command": "cargo test"}));
        let made = MadeUp::new().prompt("a").calls("Edit", &edit).calls("Bash", &test);
        let made = made.result(1, false, "", &json!({})).result(2, false, "ok", &json!({"stdout": "ok"}));
        let times: Vec<u64> = made
            .read()
            .moments
            .iter()
            .filter_map(|moment| match &moment.what {
                Happening::Result(end) => Some(end.millis),
                _ => None,
            })
            .collect();
        assert_eq!(times, [2_000, 1_000]);
    }

    #[test]
    fn calls_that_never_ran_have_no_result() {
        let denied = "The user doesn't want to proceed with this tool use.";
        let made = MadeUp::new().prompt("a").fails("rm -rf x", denied).fails("cargo test", "Exit code 1");
        let results =
            made.read().moments.into_iter().filter(|moment| matches!(moment.what, Happening::Result(_)));
        assert_eq!(results.count(), 1);
    }

    #[test]
    fn tasks_run_until_their_notice() {
        let started = json!({"stdout": "", "backgroundTaskId": "b1"});
        let notice = "<task-notification><task-id>b1</task-id><status>completed</status></task-notification>";
        let made = MadeUp::new()
            .prompt("a")
            .calls("Bash", &json!({"command": "npm test"}))
            .result(1, false, "", &started)
            .says("started")
            .prompt(notice)
            .says("ended");
        let running: Vec<usize> = made
            .read()
            .moments
            .iter()
            .filter_map(|moment| match &moment.what {
                Happening::TurnEnd(end) => Some(end.running.len()),
                _ => None,
            })
            .collect();
        assert_eq!(running, [1, 0]);
    }

    #[test]
    fn broken_lines_are_counted() {
        let session = read_session("a.jsonl", "{\"type\": \"user\", \"cwd\": \"/w\"}\n{\"ty\n7\n");
        assert_eq!((session.unread_lines, session.folders.len()), (2, 1));
        assert_eq!(read_session("b.jsonl", "").moments.len(), 0);
    }
}

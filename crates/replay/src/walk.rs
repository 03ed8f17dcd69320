//! From entries to moments, in the order of the file.
//!
//! A call of a tool takes its place twice: where the model made it, and where its result is. Prompts, answers, compactions
//! and the ends of turns are between them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::{Value, json};
use tidegate_core::time::Millis;

use crate::entry::{self, BoundaryMeta, CONTENTS, Entry, EntryKind, Part};
use crate::moment::{CompactionStart, Happening, Moment, RunningTask, ToolEnd, ToolUse};
use crate::seen_files::{self, SeenFiles};
use crate::transcript::Reads;
use crate::turn::{Ending, LastEntry, OpenTurn, TurnEnd};

/// Beginnings of results of calls that no hook saw the end of, because they did not run.
pub(crate) const NEVER_RAN: [&str; 5] = [
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

pub(crate) const INTERRUPTION: &str = "[Request interrupted";

/// How far to look for the answer to a typed command, or back for a sign that a prompt was queued.
pub(crate) const NEAR: usize = 12;

/// Messages that a compaction may keep are among the last of the main thread.
const MOST_KEPT: usize = 64;

/// Working folders that are kept: the project's is the first, or one above it.
const MOST_FOLDERS: usize = 1000;

/// Bytes of all kept messages together.
const LONGEST_KEPT: usize = 256 * 1024;

#[derive(Default)]
pub(crate) struct Walk {
    reads: Reads,
    has_begun: bool,
    pub(crate) has_main_thread: bool,
    pub(crate) moments: Vec<Moment>,
    pub(crate) folders: Vec<String>,
    known_folders: BTreeSet<String>,
    pub(crate) seen: SeenFiles,
    /// By id, until the result is there.
    open_calls: BTreeMap<String, Arc<ToolUse>>,
    known_calls: BTreeSet<String>,
    running: Vec<RunningTask>,
    turn: Option<OpenTurn>,
    turns: usize,
    last: LastEntry,
    /// Of each thread: calls of one answer run one after the other.
    last_result: BTreeMap<Option<String>, Millis>,
    /// The answer whose usage was seen last.
    last_message: String,
    /// Entries since the last one about the queue of prompts.
    since_queue: Option<usize>,
    /// The last messages of the main thread: id and content.
    recent: VecDeque<(String, String)>,
    line: usize,
    at: Millis,
    /// A time to come says nothing, and would be within every period.
    pub(crate) latest: Option<Millis>,
    cwd: String,
}

impl Walk {
    pub(crate) fn new(reads: Reads) -> Walk {
        Walk { reads, ..Walk::default() }
    }

    pub(crate) fn enter(&mut self, mut entry: Entry, following: &VecDeque<Entry>) {
        self.line = entry.line;
        if let Some(at) = entry.at {
            self.at = self.latest.map_or(at, |latest| at.min(latest));
        }
        if let Some(cwd) = entry.cwd.take() {
            if self.folders.len() < MOST_FOLDERS && self.known_folders.insert(cwd.clone()) {
                self.folders.push(cwd.clone());
            }
            self.cwd = cwd;
        }
        if !self.has_begun && !self.cwd.is_empty() {
            self.happen(None, Happening::Start);
        }
        let is_said = matches!(entry.kind, EntryKind::Answer | EntryKind::Input);
        self.has_main_thread |= is_said && entry.agent.is_none();
        self.since_queue = self.since_queue.map(|entries| entries + 1);
        if !entry.content.is_empty() {
            if self.recent.len() == MOST_KEPT {
                self.recent.pop_front();
            }
            self.recent.push_back((entry.uuid.clone(), std::mem::take(&mut entry.content)));
        }
        match entry.kind {
            EntryKind::System => self.enter_system(&entry),
            EntryKind::Attachment if entry.subtype == "queued_command" => self.submit(entry.text),
            EntryKind::Answer => self.enter_answer(entry),
            EntryKind::Input => self.enter_input(entry, following),
            EntryKind::QueueOperation => self.since_queue = Some(0),
            EntryKind::Attachment | EntryKind::Other => {}
        }
    }

    fn happen(&mut self, agent: Option<String>, what: Happening) {
        self.has_begun = true;
        if self.reads == Reads::Files {
            return;
        }
        self.moments.push(Moment { line: self.line, at: self.at, cwd: self.cwd.clone(), agent, what });
    }

    fn enter_system(&mut self, entry: &Entry) {
        if entry.agent.is_some() {
            return;
        }
        match (entry.subtype.as_str(), &entry.boundary) {
            (_, Some(boundary)) => self.compact(&entry.uuid, boundary),
            // The host saw a stop, although the last answer may have been empty.
            ("stop_hook_summary" | "turn_duration", _) if self.last == LastEntry::Result => {
                self.last = LastEntry::Text;
            }
            _ => {}
        }
    }

    fn compact(&mut self, entry: &str, boundary: &BoundaryMeta) {
        let mut room = LONGEST_KEPT;
        let named = self.recent.iter().rev().filter(|(id, _)| boundary.kept.contains(id));
        let named = named.map(|(_, content)| entry::words_of(content));
        let mut kept = Vec::new();
        for content in named.chain(boundary.texts.iter().cloned()) {
            let Some(rest) = room.checked_sub(content.len()) else { break };
            room = rest;
            kept.push(content);
        }
        self.recent.clear();
        let start = CompactionStart {
            is_by_hand: boundary.is_by_hand,
            tokens_before: boundary.tokens_before,
            kept,
            entry: entry.to_owned(),
        };
        self.happen(None, Happening::Compaction(start));
    }

    fn enter_answer(&mut self, mut entry: Entry) {
        let is_main = entry.agent.is_none();
        if entry.is_api_error {
            if is_main && self.turn.is_some() {
                self.last = LastEntry::ApiError;
            }
            return;
        }
        if entry.is_synthetic {
            return;
        }
        if is_main {
            let turn = self.turn.get_or_insert_default();
            turn.answered = true;
            turn.entry.clone_from(&entry.uuid);
            if self.last == LastEntry::Interruption {
                self.last = LastEntry::Prompt;
            }
        }
        if let Some(usage) = entry.usage.take()
            && (usage.message.is_empty() || usage.message != self.last_message)
        {
            self.last_message.clone_from(&usage.message);
            self.happen(None, Happening::Answer(usage));
        }
        for part in std::mem::take(&mut entry.parts) {
            match part {
                Part::Text(text) => self.say(&entry, &text),
                Part::Call { id, tool, input } => self.call(&entry, id, tool, input),
                Part::Result { .. } => {}
            }
        }
    }

    fn say(&mut self, entry: &Entry, text: &str) {
        if let (None, Some(turn), false) = (&entry.agent, &mut self.turn, text.trim().is_empty()) {
            text.clone_into(&mut turn.said);
            self.last = LastEntry::Text;
        }
    }

    fn call(&mut self, entry: &Entry, id: String, tool: String, input: Value) {
        // The client writes an answer block by block, and may repeat one.
        if !self.known_calls.insert(id.clone()) {
            return;
        }
        let call = Arc::new(ToolUse {
            id: id.clone(),
            tool,
            input,
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

    fn enter_input(&mut self, mut entry: Entry, following: &VecDeque<Entry>) {
        let is_main = entry.agent.is_none();
        let has_results = !entry.parts.is_empty();
        for part in std::mem::take(&mut entry.parts) {
            if let Part::Result { id, failed, output, result } = part {
                self.end_call(&entry, &id, failed, output, &result);
            }
        }
        if has_results {
            if is_main {
                self.last = LastEntry::Result;
            }
            if is_main && entry.text.contains(INTERRUPTION) {
                self.interrupt();
            }
            return;
        }
        if is_main && entry.is_summary {
            self.happen(None, Happening::Summary(entry.text));
            return;
        }
        if !is_main || entry.is_meta || entry.is_summary {
            return;
        }
        let text = entry.text.trim_start();
        if text.starts_with(INTERRUPTION) {
            self.interrupt();
        } else if !text.is_empty() && !NOT_PROMPTS.iter().any(|start| text.starts_with(start)) {
            self.enter_prompt(&entry, text, following);
        }
    }

    fn interrupt(&mut self) {
        self.close_turn(Ending::Interrupted);
        self.last = LastEntry::Interruption;
    }

    fn enter_prompt(&mut self, entry: &Entry, text: &str, following: &VecDeque<Entry>) {
        let command = typed_command(text);
        if command.is_some() && is_answered_by_client(following) {
            return;
        }
        let is_notice = text.starts_with("<task-notification");
        let is_message = text.starts_with("<agent-message") || text.starts_with("<cross-session-message");
        let is_working = matches!(self.last, LastEntry::Call | LastEntry::Result);
        if self.turn.is_some() && is_working {
            if is_notice || is_message || self.was_queued(entry) {
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

    fn end_call(&mut self, entry: &Entry, id: &str, failed: bool, output: String, result: &Value) {
        let Some(call) = self.open_calls.remove(id) else { return };
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
        if self.reads != Reads::Moments {
            self.look_for_files(&call, failed, &output, result);
        }
        if self.reads == Reads::Files {
            return;
        }
        let response = if failed { Err(output) } else { Ok(response_of(&call, result, &output)) };
        self.keep_tasks(&call, response.as_ref().ok());
        let call = without_contents(&call);
        self.happen(call.agent.clone(), Happening::Result(ToolEnd { call, response, millis }));
    }

    fn look_for_files(&mut self, call: &ToolUse, failed: bool, output: &str, result: &Value) {
        if !failed {
            self.seen.add(seen_files::of_tool(&call.tool, &call.input, result, self.at));
        }
        if call.tool == "Bash" {
            let line = call.input["command"].as_str().unwrap_or_default();
            self.seen.add(seen_files::of_run(line, &call.cwd, output, self.at));
        }
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

    pub(crate) fn close_file(&mut self) {
        self.close_turn(match self.last {
            LastEntry::Text | LastEntry::Prompt => Ending::EndOfFile,
            LastEntry::ApiError => Ending::ApiError,
            LastEntry::Call | LastEntry::Result | LastEntry::Interruption => Ending::InsideTurn,
        });
    }

    /// Whether a prompt was typed while the model worked, and given to the running turn.
    fn was_queued(&self, entry: &Entry) -> bool {
        entry.is_queued || self.since_queue.is_some_and(|entries| entries <= NEAR)
    }
}

fn ended_status(response: &Value) -> bool {
    let status = response["status"].as_str().or(response["task"]["status"].as_str());
    status.is_some_and(|status| status != "running")
}

/// The hook's `tool_response`.
fn response_of(call: &ToolUse, result: &Value, output: &str) -> Value {
    match (call.tool.as_str(), result.is_object()) {
        ("Bash", false) => entry::plain_response(output),
        ("Bash" | "Skill" | "Agent" | "Task", true) => result.clone(),
        ("BashOutput" | "TaskOutput", true) => result.clone(),
        _ => json!({}),
    }
}

fn without_contents(call: &Arc<ToolUse>) -> Arc<ToolUse> {
    let has_contents = CONTENTS.iter().any(|name| call.input.get(name).is_some());
    if !has_contents {
        return call.clone();
    }
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

/// Whether the client answers a typed command itself: then its output follows, not the model's.
fn is_answered_by_client(following: &VecDeque<Entry>) -> bool {
    for entry in following.iter().take(NEAR - 1).filter(|entry| entry.agent.is_none()) {
        let text = entry.text.as_str();
        match entry.kind {
            EntryKind::Answer => return entry.is_synthetic,
            EntryKind::System if entry.subtype == "local_command" => return true,
            EntryKind::Input if text.starts_with("<local-command-std") => return true,
            EntryKind::Input if !entry.is_meta => return true,
            EntryKind::Input if !text.starts_with("Caveat") && !text.starts_with("<local-command-caveat") => {
                return false;
            }
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::MadeUp;
    use crate::transcript::read_session;

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

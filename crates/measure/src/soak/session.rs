//! One session as a client would have it: two exchanges with edits and checks, agents, failures, sometimes a compaction. Payloads are those
//! of a real client; the numbers of session and exchange are in each prompt and answer, so that a lost one has a name.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_state::clock;
use xtask::failure::{Done, Failure, While};
use xtask::workspace;

const PAYLOADS: &str = "crates/cli/tests/fixtures/claude-code-2.1.325";

/// Sessions of one project share its marks, so several of them run at once.
pub(crate) const PROJECTS: u64 = 20;

pub(crate) const EXCHANGES: u64 = 2;

/// Words that the memory's index gets in ever new combinations.
const WORDS: [&str; 24] = [
    "listener",
    "cookie",
    "parser",
    "migration",
    "index",
    "queue",
    "retry",
    "budget",
    "token",
    "render",
    "設計",
    "認証",
    "cache",
    "socket",
    "worker",
    "schema",
    "timeout",
    "branch",
    "release",
    "upload",
    "検索",
    "圧縮",
    "invoice",
    "planner",
];

#[derive(Clone, Debug)]
pub(crate) struct SoakSession {
    number: u64,
    pub(crate) id: String,
    pub(crate) project: PathBuf,
    transcript: PathBuf,
}

/// One call of the program, and what the client had written before it.
#[derive(Debug)]
pub(crate) struct Step {
    /// `None` for the status line.
    pub(crate) event: Option<String>,
    pub(crate) payload: String,
    lines: String,
}

/// In the text of a prompt and of its answer.
pub(crate) fn marker(session: u64, exchange: u64) -> String {
    format!("soak{session:06}x{exchange}")
}

impl SoakSession {
    pub(crate) fn new(number: u64, home: &Path) -> Done<SoakSession> {
        let id = format!("00000000-0000-4000-8000-{number:012}");
        let project = home.join(format!("projects/p{}", number % PROJECTS));
        let folder = home.join(format!("home/.claude/projects/p{}", number % PROJECTS));
        fs::create_dir_all(&folder).while_(folder.display())?;
        Ok(SoakSession { number, transcript: folder.join(format!("{id}.jsonl")), id, project })
    }

    /// Every kind of call that a real client makes, the rare ones in some sessions.
    pub(crate) fn steps(&self) -> Done<Vec<Step>> {
        let mut steps = Steps { session: self, made: Vec::new(), lines: String::new(), turn: 0 };
        steps.call("SessionStart.startup", &[])?;
        for exchange in 0..EXCHANGES {
            steps.exchange(exchange)?;
            if exchange == 0 && self.is_each(3) {
                steps.compaction()?;
            }
        }
        if self.is_each(10) {
            for rare in ["PostModelSwitch", "ConfigChange.local-settings", "DirectoryAdded"] {
                steps.call(rare, &[])?;
            }
        }
        steps.call("SessionEnd.other", &[])?;
        Ok(steps.made)
    }

    fn is_each(&self, one_of: u64) -> bool {
        self.number.is_multiple_of(one_of)
    }

    pub(crate) fn write_lines(&self, step: &Step) -> Done {
        if step.lines.is_empty() {
            return Ok(());
        }
        let file = File::options().append(true).create(true).open(&self.transcript);
        file.and_then(|mut file| file.write_all(step.lines.as_bytes())).while_(self.transcript.display())
    }

    fn text(&self, exchange: u64, about: &str) -> String {
        let marker = marker(self.number, exchange);
        let word = |place: u64| WORDS[((self.number * 7 + exchange * 5 + place * 11) % 24) as usize];
        format!(
            "{about} {} {} of the {} ({marker})",
            word(0),
            word(self.number % 13),
            word(self.number % 5 + 2)
        )
    }
}

struct Steps<'a> {
    session: &'a SoakSession,
    made: Vec<Step>,
    /// For the next step.
    lines: String,
    turn: u64,
}

impl Steps<'_> {
    fn exchange(&mut self, exchange: u64) -> Done {
        let session = self.session;
        self.turn = exchange;
        let prompt = session.text(exchange, "Look at the");
        let answer = session.text(exchange, "It was the");
        if exchange == 1 && session.is_each(6) {
            self.call("UserPromptExpansion.project", &[])?;
        }
        self.call("UserPromptSubmit.plain", &[("prompt", json!(prompt))])?;
        self.line("user", &json!({ "role": "user", "content": prompt }));
        let file = session.project.join("src/b.ts");
        let edit = json!({ "file_path": file, "old_string": "1", "new_string": "2", "replace_all": false });
        self.said("Editing it first.");
        self.call("PreToolUse.Edit", &[("tool_input", edit.clone())])?;
        self.call("PostToolUse.Edit", &[("tool_input", edit)])?;
        if session.is_each(4) {
            self.call("PreToolUse.Agent", &[])?;
            self.call("PostToolUse.subagent-Bash", &[])?;
            self.call("SubagentStop.agent", &[])?;
        }
        let check = json!({ "command": "npm test", "description": "Run the tests" });
        if session.is_each(3) {
            self.call("PostToolUseFailure.Bash", &[("tool_input", check.clone())])?;
        }
        // Some sessions end their turn without a check, and are asked for it.
        if !session.is_each(7) {
            self.call("PostToolUse.Bash", &[("tool_input", check)])?;
        }
        self.status();
        if session.is_each(5) {
            self.call("TaskCompleted", &[])?;
        }
        self.said(&answer);
        self.call("Stop.first", &[("last_assistant_message", json!(answer))])
    }

    fn compaction(&mut self) -> Done {
        self.call("PreCompact.auto", &[])?;
        let boundary = json!({ "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "uuid": self.uuid(70), "timestamp": now(), "sessionId": self.session.id, "cwd": self.session.project,
            "compactMetadata": { "trigger": "auto", "preTokens": 160_000, "postTokens": 9_000 } });
        self.lines.push_str(&boundary.to_string());
        self.lines.push('\n');
        let summary = self.session.text(0, "The conversation was about the");
        self.call(
            "PostCompact.auto",
            &[("compact_summary", json!(format!("<summary>{summary}</summary>")))],
        )?;
        self.call("SessionStart.compact", &[])
    }

    fn call(&mut self, name: &str, members: &[(&str, Value)]) -> Done {
        let path = workspace::root().join(PAYLOADS).join(format!("hooks/{name}.json"));
        let text = fs::read_to_string(&path).while_(path.display())?;
        let project = self.session.project.display().to_string();
        let mut payload: Value =
            serde_json::from_str(&text.replace("/home/u/proj", &project)).while_(path.display())?;
        self.name_session(&mut payload);
        for (member, value) in members {
            payload[*member] = value.clone();
        }
        if payload.get("tool_use_id").is_some() {
            payload["tool_use_id"] = json!(format!("toolu_{}_{}", self.session.id, self.made.len()));
        }
        let event = payload["hook_event_name"].as_str().map(str::to_owned);
        let event = event.ok_or_else(|| Failure::new(format!("{} names no event", path.display())))?;
        self.push(Some(event), &payload);
        Ok(())
    }

    /// How full the context is: it grows with each exchange.
    fn status(&mut self) {
        let used = self.used();
        let mut payload = json!({ "model": { "id": "claude-sonnet-4-6", "display_name": "Sonnet 4.6" },
            "workspace": { "current_dir": self.session.project, "project_dir": self.session.project, "added_dirs": [] },
            "version": "2.1.325", "cost": { "total_cost_usd": 0.2, "total_duration_ms": 26_434 },
            "context_window": { "total_input_tokens": used, "total_output_tokens": 500, "context_window_size": 200_000,
                "current_usage": { "input_tokens": 10, "output_tokens": 500, "cache_creation_input_tokens": 1990,
                    "cache_read_input_tokens": used - 2000 },
                "used_percentage": used / 2000, "remaining_percentage": 100 - used / 2000 } });
        self.name_session(&mut payload);
        self.push(None, &payload);
    }

    fn used(&self) -> u64 {
        60_000 + 40_000 * self.turn + self.session.number % 50 * 1000
    }

    fn name_session(&self, payload: &mut Value) {
        payload["session_id"] = json!(self.session.id);
        payload["transcript_path"] = json!(self.session.transcript);
        payload["cwd"] = json!(self.session.project);
        payload["prompt_id"] = json!(self.prompt_id());
    }

    fn prompt_id(&self) -> String {
        format!("00000000-0000-4000-9000-{:012}", self.session.number * EXCHANGES + self.turn)
    }

    /// Of a line in the transcript.
    fn uuid(&self, place: u64) -> String {
        let number = (self.session.number * EXCHANGES + self.turn) * 100 + place;
        format!("00000000-0000-4000-a000-{number:012}")
    }

    fn said(&mut self, text: &str) {
        let usage = json!({ "input_tokens": 10, "cache_creation_input_tokens": 1990,
            "cache_read_input_tokens": self.used() - 2000, "output_tokens": 500 });
        let message = json!({ "id": format!("msg_{}", self.uuid(self.made.len() as u64)), "type": "message",
            "role": "assistant", "model": "claude-sonnet-4-6", "content": [{ "type": "text", "text": text }],
            "usage": usage });
        self.line("assistant", &message);
    }

    fn line(&mut self, kind: &str, message: &Value) {
        let place = self.made.len() as u64 * 2 + u64::from(kind == "assistant");
        let line = json!({ "type": kind, "isSidechain": false, "uuid": self.uuid(place), "promptId": self.prompt_id(),
            "timestamp": now(), "sessionId": self.session.id, "cwd": self.session.project, "version": "2.1.325",
            "userType": "external", "entrypoint": "cli", "turnOrigin": "human", "gitBranch": "main", "message": message });
        self.lines.push_str(&line.to_string());
        self.lines.push('\n');
    }

    fn push(&mut self, event: Option<String>, payload: &Value) {
        let lines = std::mem::take(&mut self.lines);
        self.made.push(Step { event, payload: payload.to_string(), lines });
    }
}

fn now() -> String {
    clock::now().iso()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A new kind of call has to be in the soak, too.
    #[test]
    fn the_sessions_have_every_event_that_the_plugin_registers() {
        let folder = tempfile::tempdir().unwrap();
        let mut events = BTreeSet::new();
        for number in 0..60 {
            let session = SoakSession::new(number, folder.path()).unwrap();
            events.extend(session.steps().unwrap().into_iter().filter_map(|step| step.event));
        }
        let path = workspace::root().join("plugin/hooks/hooks.json");
        let plugin: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let registered: BTreeSet<String> = plugin["hooks"].as_object().unwrap().keys().cloned().collect();
        let missing: Vec<&String> = registered.difference(&events).collect();
        // The client's payload of it was never recorded.
        assert_eq!(missing, ["WorktreeRemove"]);
    }

    #[test]
    fn each_exchange_is_in_the_transcript_once() {
        let folder = tempfile::tempdir().unwrap();
        let session = SoakSession::new(21, folder.path()).unwrap();
        for step in session.steps().unwrap() {
            session.write_lines(&step).unwrap();
        }
        let text = fs::read_to_string(&session.transcript).unwrap();
        for exchange in 0..EXCHANGES {
            // The prompt and the answer.
            assert_eq!(text.matches(&marker(21, exchange)).count(), 2, "{text}");
        }
        let uuids = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["uuid"].to_string());
        let uuids: Vec<String> = uuids.collect();
        assert_eq!(uuids.iter().collect::<BTreeSet<_>>().len(), uuids.len());
    }
}

//! Sessions of Codex, Copilot CLI and Qwen Code, line by line as they write them, through a whole replay.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use serde_json::{Value, json};
use tidegate_core::feature::config::Config;
use tidegate_replay::folder::replay_files;
use tidegate_replay::report::{HostCounts, ReplayReport};
use tidegate_state::feature::memory::transcript_files;

const FOLDER: &str = "/home/u/shop";

fn replay(folder: &Path) -> ReplayReport {
    let files = transcript_files::find(folder).expect("a fixture");
    let replayed =
        replay_files(&files, &Config::default(), Some(2), &|_| ControlFlow::Continue(())).expect("a fixture");
    ReplayReport::of(&replayed, None)
}

fn replay_lines(lines: &[Value]) -> ReplayReport {
    let folder = tempfile::tempdir().expect("a fixture");
    write(folder.path(), "session.jsonl", lines);
    replay(folder.path())
}

fn write(folder: &Path, name: &str, lines: &[Value]) {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(folder.join(name), text.join("\n") + "\n").expect("a fixture");
}

fn time(line: usize) -> String {
    format!("2026-11-15T12:{:02}:{:02}.000Z", line / 60, line % 60)
}

/// A rollout of Codex, numbered from its first line.
#[derive(Default)]
struct Rollout(Vec<Value>);

impl Rollout {
    fn new() -> Rollout {
        let meta =
            json!({"session_id": "s1", "id": "s1", "cwd": FOLDER, "source": "cli", "cli_version": "0.166.0"});
        let started = json!({"type": "task_started", "model_context_window": 258_400});
        Rollout::default().line("session_meta", meta).line("event_msg", started)
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write `json!` in place")]
    fn line(mut self, kind: &str, payload: Value) -> Rollout {
        let number = self.0.len();
        self.0.push(json!({"timestamp": time(number), "ordinal": number, "type": kind, "payload": payload}));
        self
    }

    fn message(self, role: &str, text: &str) -> Rollout {
        let kind = if role == "user" { "input_text" } else { "output_text" };
        let id = format!("msg_{}", self.0.len());
        let content = json!([{"type": kind, "text": text}]);
        self.line("response_item", json!({"type": "message", "id": id, "role": role, "content": content}))
    }

    fn uses(self, tokens: u64) -> Rollout {
        let usage = json!({"input_tokens": tokens - 50, "output_tokens": 50, "total_tokens": tokens});
        let count = json!({"type": "token_count", "info": {"last_token_usage": usage, "model_context_window": 258_400}});
        // Codex writes a request's tokens twice.
        self.line("token_usage_record", json!({"response_id": "r", "usage": usage})).line("event_msg", count)
    }

    fn patches(self, files: &[&str]) -> Rollout {
        let changes: Vec<String> = files.iter().map(|file| format!("*** Add File: {file}\n+x\n")).collect();
        let patch = format!("*** Begin Patch\n{}*** End Patch", changes.concat());
        let id = format!("p{}", self.0.len());
        let call = json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": id, "input": patch});
        let done = json!({"type": "custom_tool_call_output", "call_id": id, "output": "Exit code: 0\nOutput:\nSuccess."});
        self.line("response_item", call).line("response_item", done)
    }

    /// `None`: the command still runs when its call returns.
    fn runs(self, line: &str, status: Option<i32>) -> Rollout {
        let id = format!("c{}", self.0.len());
        let arguments = json!({ "cmd": line }).to_string();
        let call =
            json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id});
        let head = status.map_or("Process running with session ID 7".to_owned(), |status| {
            format!("Process exited with code {status}")
        });
        let made = self.line("response_item", call);
        let made = match status {
            Some(status) => {
                let ended = if status == 0 { "completed" } else { "failed" };
                let item = json!({"type": "CommandExecution", "id": id, "command": ["/bin/bash", "-lc", line], "status": ended, "exit_code": status});
                made.line("event_msg", json!({"type": "item_completed", "item": item}))
            }
            None => made,
        };
        let output = format!("Chunk ID: 1\n{head}\nOutput:\nsome words\n");
        made.line("response_item", json!({"type": "function_call_output", "call_id": id, "output": output}))
    }

    fn compacts(self, summary: &str) -> Rollout {
        let number = self.0.len();
        let mut made = self.message("assistant", summary);
        made.0[number]["metadata"] = json!({"compaction_output": true});
        let kept = json!([{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go on"}]}]);
        made.uses(1_100).line("compacted", json!({"message": summary, "replacement_history": kept}))
    }

    fn stops(self) -> HostCounts {
        let mut report = replay_lines(&self.message("assistant", "Done.").0);
        report.hosts.remove("codex").expect("a fixture")
    }
}

#[test]
fn a_rollout_has_turns_compactions_and_a_curve() {
    let made = Rollout::new()
        .message("user", "<environment_context>\n<cwd>/home/u/shop</cwd>")
        .message("user", "Add the parts. No new dependencies.")
        .patches(&["src/a.rs", "src/b.rs"])
        .uses(53_010)
        .runs("cargo test", Some(101))
        .uses(250_050)
        .message("assistant", "The tests fail.")
        .compacts("The parts were added.")
        .message("user", "Fix them")
        .patches(&["src/a.rs"])
        .runs("cargo test", Some(0))
        .message("assistant", "They pass.")
        .uses(9_000);
    let report = replay_lines(&made.0);
    let [session] = report.session_list.as_slice() else { panic!("{:?}", report.left_out) };
    assert_eq!((session.host, session.project.as_str()), ("codex", FOLDER));
    assert_eq!((session.window, &session.curve), (Some(258_400), &vec![53_010, 250_050, 9_000]));
    let [untested] = session.untested.as_slice() else { panic!("{:?}", session.untested) };
    assert_eq!((untested.cause.as_str(), untested.command.as_deref()), ("failed", Some("cargo test")));
    let [compaction] = session.compactions.as_slice() else { panic!("{:?}", session.compactions) };
    assert_eq!((compaction.tokens_before, compaction.trigger), (Some(250_050), "auto"));
    assert!(compaction.facts.is_some_and(|facts| facts > 0), "{compaction:?}");
    let counts = &report.hosts["codex"];
    assert_eq!((counts.turns, counts.stops.verified, counts.stops.untested), (2, 1, 1));
    assert_eq!((&counts.stops, &counts.compactions), (&report.stops, &report.compactions));
}

#[test]
fn a_status_that_no_line_tells_proves_nothing() {
    let edited = || Rollout::new().message("user", "Add it").patches(&["src/a.rs"]);
    assert_eq!(edited().runs("cargo test", Some(0)).stops().stops.verified, 1);
    assert_eq!(edited().runs("cargo test", None).stops().stops.untested, 1);
    assert_eq!(edited().stops().stops.untested, 1);
    // All files of an edit count.
    let both = Rollout::new().message("user", "Add it").patches(&["README.md", "src/a.rs"]);
    assert_eq!(both.stops().stops.untested, 1);
    let neither = Rollout::new().message("user", "Add it").patches(&["README.md", "notes.md"]);
    assert_eq!(neither.stops().stops.nothing_to_check, 1);
}

#[test]
fn an_interrupted_turn_is_no_stop() {
    let made = Rollout::new().message("user", "Add it").patches(&["src/a.rs"]);
    let made = made.line("event_msg", json!({"type": "turn_aborted", "reason": "interrupted"}));
    assert_eq!(replay_lines(&made.0).stops.all, 0);
}

#[test]
fn a_rollout_of_a_subagent_is_counted_apart() {
    let mut made = Rollout::new().message("user", "Look around").message("assistant", "Two callers.");
    made.0[0]["payload"]["source"] = json!({"subagent": {"thread_spawn": {}}});
    let report = replay_lines(&made.0);
    assert_eq!((report.sessions, report.left_out.subagent_files), (0, 1));
}

#[expect(clippy::needless_pass_by_value, reason = "callers write `json!` in place")]
fn event(number: usize, kind: &str, data: Value) -> Value {
    json!({"type": kind, "data": data, "id": format!("e{number}"), "timestamp": time(number), "parentId": null})
}

fn of_copilot(status: i32) -> Vec<Value> {
    let usage = |tokens: u64| json!({"usage": {"inputTokens": tokens - 20, "outputTokens": 20, "maxPromptTokens": 128_000}});
    let request = |id: &str, name: &str, arguments: Value| json!({"toolCallId": id, "name": name, "arguments": arguments});
    let says = |text: &str, requests: Value| json!({"messageId": format!("m-{text}"), "model": "gpt-5.5", "content": text, "toolRequests": requests});
    let create = request("c1", "create", json!({"path": "/home/u/shop/src/a.rs", "file_text": "fn a() {}"}));
    let test = request("c2", "bash", json!({"command": "cargo test", "description": "test"}));
    let printed = format!("some words\n<shellId: 1 completed with exit code {status}>");
    let ended = json!({"toolCallId": "c2", "success": true, "shellExecution": {"exitCode": status}, "result": {"content": printed}});
    let lines = [
        (
            "session.start",
            json!({"sessionId": "s2", "copilotVersion": "1.0.102", "context": {"cwd": FOLDER, "branch": "main"}}),
        ),
        ("user.message", json!({"content": "Add the login page. No new dependencies.", "delivery": "idle"})),
        ("session.usage_record", usage(100_000)),
        ("assistant.message", says("adding", json!([create, test]))),
        (
            "tool.execution_complete",
            json!({"toolCallId": "c1", "success": true, "result": {"content": "Created"}}),
        ),
        ("tool.execution_complete", ended),
        ("session.usage_record", usage(120_000)),
        (
            "session.compaction_start",
            json!({"currentTokens": 120_000, "tokenLimit": 128_000, "trigger": "threshold"}),
        ),
        (
            "session.compaction_complete",
            json!({"success": true, "summaryContent": "The page was added.", "postCompactionTokens": 11_688}),
        ),
        ("session.usage_record", usage(20_000)),
        ("assistant.message", says("done", json!([]))),
    ];
    lines.into_iter().enumerate().map(|(number, (kind, data))| event(number, kind, data)).collect()
}

#[test]
fn events_of_copilot_have_turns_compactions_and_a_curve() {
    let report = replay_lines(&of_copilot(0));
    let session = &report.session_list[0];
    assert_eq!((session.host, session.window), ("copilot", Some(128_000)));
    assert_eq!(session.curve, [100_000, 120_000, 20_000]);
    assert_eq!((report.stops.verified, report.compactions.all), (1, 1));
    assert_eq!(session.compactions[0].tokens_before, Some(120_000));
    assert!(session.compactions[0].warned, "it compacts at 102,400");
    let failed = replay_lines(&of_copilot(1));
    assert_eq!((failed.stops.untested, failed.session_list[0].untested[0].cause.as_str()), (1, "failed"));
}

fn of_qwen(status: i32) -> Vec<Value> {
    let line = |number: usize, kind: &str, members: Value| {
        let mut line = json!({"uuid": format!("q{number}"), "sessionId": "s3", "timestamp": time(number), "type": kind, "cwd": FOLDER, "version": "0.24.4"});
        line.as_object_mut().expect("a fixture").extend(members.as_object().expect("a fixture").clone());
        line
    };
    let call =
        |id: &str, name: &str, input: Value| json!({"functionCall": {"id": id, "name": name, "args": input}});
    let gives = |id: &str, name: &str, output: &str| json!({"functionResponse": {"id": id, "name": name, "response": {"output": output}}});
    let report = format!(
        "Command: cargo test\nDirectory: (root)\nOutput: some words\nError: (none)\nExit Code: {status}\nSignal: (none)"
    );
    let usage = json!({"promptTokenCount": 40_000, "candidatesTokenCount": 50, "totalTokenCount": 40_050});
    let edit = call(
        "t1",
        "edit",
        json!({"file_path": "/home/u/shop/src/a.rs", "old_string": "a", "new_string": "b"}),
    );
    let test = call("t2", "run_shell_command", json!({"command": "cargo test"}));
    let of_model = |parts: Value| json!({"message": {"role": "model", "parts": parts}, "model": "qwen3-coder", "usageMetadata": usage, "contextWindowSize": 262_144});
    let result = |part: Value| json!({"message": {"role": "user", "parts": [part]}, "toolCallResult": {"status": "success"}});
    vec![
        line(
            0,
            "user",
            json!({"message": {"role": "user", "parts": [{"text": "Fix it"}]}, "provenance": "user"}),
        ),
        line(1, "assistant", of_model(json!([edit, test]))),
        line(2, "tool_result", result(gives("t1", "edit", "Edited"))),
        line(3, "tool_result", result(gives("t2", "run_shell_command", &report))),
        line(4, "assistant", of_model(json!([{"text": "Done."}]))),
    ]
}

#[test]
fn a_chat_of_qwen_code_has_turns_and_a_curve() {
    let report = replay_lines(&of_qwen(0));
    let Some(session) = report.session_list.first() else { panic!("{:?}", report.left_out) };
    assert_eq!((session.host, session.window), ("qwen", Some(262_144)));
    assert_eq!(session.curve, [40_050, 40_050]);
    assert_eq!((report.stops.verified, report.stops.untested), (1, 0));
    assert_eq!(replay_lines(&of_qwen(1)).stops.untested, 1);
}

/// Qwen Code puts what hooks say to the model behind a result.
#[test]
fn a_note_behind_a_result_of_qwen_code_is_not_a_part_of_it() {
    let with_note = |status: i32| {
        let note = "Signal: (none)\\nProcess Group PGID: (none)\\n\\n<context left=\\\"9k\\\">\\n2 failed\\n</context>";
        let noted = |line: Value| {
            serde_json::from_str(&line.to_string().replace("Signal: (none)", note)).expect("a fixture")
        };
        let lines: Vec<Value> = of_qwen(status).into_iter().map(noted).collect();
        replay_lines(&lines).stops
    };
    assert_eq!((with_note(0).verified, with_note(1).untested), (1, 1));
}

/// The same folder gives the same numbers, and those of all agents are the sum of each one's.
#[test]
fn sessions_of_several_agents_are_added_up() {
    let folder = tempfile::tempdir().expect("a fixture");
    let rollout =
        Rollout::new().message("user", "Add it").patches(&["src/a.rs"]).message("assistant", "Done.");
    for (name, lines) in [("a.jsonl", rollout.0), ("b.jsonl", of_copilot(1)), ("c.jsonl", of_qwen(0))] {
        write(folder.path(), name, &lines);
    }
    let report = replay(folder.path());
    let again = replay(folder.path());
    assert_eq!(
        serde_json::to_string(&report).expect("a fixture"),
        serde_json::to_string(&again).expect("a fixture")
    );
    assert_eq!(report.hosts.keys().copied().collect::<Vec<_>>(), ["codex", "copilot", "qwen"]);
    assert_eq!((report.sessions, report.turns, report.stops.untested, report.stops.verified), (3, 3, 2, 1));
    let sum = |of: fn(&HostCounts) -> usize| report.hosts.values().map(of).sum::<usize>();
    assert_eq!((sum(|counts| counts.sessions), sum(|counts| counts.turns)), (3, 3));
    assert_eq!(sum(|counts| counts.stops.all), report.stops.all);
}

/// A line that breaks off costs itself: the same lines without it give the same numbers.
#[test]
fn broken_lines_are_counted_and_passed_over() {
    let whole = replay_lines(&of_copilot(0));
    let folder = tempfile::tempdir().expect("a fixture");
    let mut text: Vec<String> = of_copilot(0).iter().map(Value::to_string).collect();
    text.insert(3, text[3][..text[3].len() / 2].to_owned());
    fs::write(folder.path().join("session.jsonl"), text.join("\n")).expect("a fixture");
    let broken = replay(folder.path());
    assert_eq!((whole.left_out.damaged_lines, broken.left_out.damaged_lines), (0, 1));
    assert_eq!((whole.stops, whole.compactions), (broken.stops, broken.compactions));
}

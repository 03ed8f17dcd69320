//! Codex: its payloads as events, its answers on the wire, its rollout as meter and evidence. The payloads have the
//! members and values that 0.166.0 sends.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};
use tidegate_core::event::action::Exit;
use tidegate_core::event::prompt::Author;
use tidegate_core::event::{Action, Event, EventKind, FailedStep, Start, Thread};
use tidegate_core::feature::knowledge::preserved::PreservedScan;
use tidegate_core::host::Host;
use tidegate_core::host::answer::{Answer, Call};
use tidegate_core::host::person::Person;
use tidegate_core::host::transcript::{EntryKind, Sought};
use tidegate_core::meter::transcript::{EventTrace, MeterScan, TranscriptReading};
use tidegate_core::pipeline::gate::check_members;
use tidegate_core::time::Millis;

const PATCH: &str = "*** Begin Patch\n*** Add File: src/b.ts\n+export const b = 2;\n*** Update File: src/app.ts\n@@\n\
                     -export const a = 1;\n+export const a = 2;\n*** End Patch\n";

fn payload(event: &str, more: &Value) -> Value {
    let mut all = json!({
        "session_id": "01a1e58e-daee-7621-a652-e5b7056fe0b7",
        "turn_id": "01a1e58e-db16-7ee3-b4c2-1ee11cb93c50",
        "transcript_path": "/home/u/.codex/sessions/2026/11/16/rollout-1.jsonl",
        "cwd": "/home/u/proj",
        "hook_event_name": event,
        "model": "gpt-5.5",
        "permission_mode": "bypassPermissions",
    });
    let members = more.as_object().expect("an object").clone();
    all.as_object_mut().expect("an object").extend(members);
    all
}

/// One of every kind that Codex sends.
fn payloads() -> Vec<Value> {
    let tool = |event: &str, name: &str, input: &Value, more: &Value| {
        let mut members = json!({ "tool_name": name, "tool_input": input, "tool_use_id": "call_1" });
        members.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        payload(event, &members)
    };
    let none = json!({});
    let patch = json!({ "command": PATCH });
    vec![
        payload("SessionStart", &json!({ "source": "startup" })),
        payload("SessionStart", &json!({ "source": "compact" })),
        payload("UserPromptSubmit", &json!({ "prompt": "Fix the login bug" })),
        tool("PreToolUse", "apply_patch", &patch, &none),
        tool(
            "PostToolUse",
            "apply_patch",
            &patch,
            &json!({ "tool_response": "Exit code: 0\nOutput:\nSuccess." }),
        ),
        tool("PreToolUse", "Bash", &json!({ "command": "npm test" }), &none),
        tool(
            "PostToolUse",
            "Bash",
            &json!({ "command": "npm test" }),
            &json!({ "tool_response": "1 failed\n" }),
        ),
        tool(
            "PreToolUse",
            "collaborationspawn_agent",
            &json!({ "task_name": "look", "message": "find it" }),
            &none,
        ),
        tool("PreToolUse", "spawn_agent", &json!({ "message": "find it", "agent_type": "explorer" }), &none),
        tool(
            "PostToolUse",
            "mcp__tidegate__search",
            &json!({ "query": "x" }),
            &json!({ "tool_response": { "content": [] } }),
        ),
        tool("PreToolUse", "update_plan", &json!({ "plan": [] }), &none),
        payload("PreCompact", &json!({ "trigger": "auto" })),
        payload("PostCompact", &json!({ "trigger": "manual" })),
        payload("SubagentStart", &json!({ "agent_id": "a1", "agent_type": "default" })),
        payload(
            "SubagentStop",
            &json!({ "agent_id": "a1", "agent_type": "default", "stop_hook_active": false }),
        ),
        payload("Stop", &json!({ "stop_hook_active": true, "last_assistant_message": "done" })),
        payload("SessionEnd", &json!({ "reason": "other" })),
    ]
}

fn with_event<T>(payload: &Value, then: impl FnOnce(Event<'_>) -> T) -> T {
    let text = payload.to_string();
    assert_eq!(Host::detect(text.as_bytes(), None, || None), Host::Codex, "{text}");
    then(Host::Codex.read(text.as_bytes(), None).expect("an event"))
}

#[test]
fn a_patch_is_an_edit_of_all_its_files() {
    for event in ["PreToolUse", "PostToolUse"] {
        let call =
            json!({ "tool_name": "apply_patch", "tool_use_id": "c", "tool_input": { "command": PATCH } });
        with_event(&payload(event, &call), |event| {
            let paths = event.edit_paths().expect("an edit").expect("its paths");
            assert_eq!(paths, ["/home/u/proj/src/b.ts", "/home/u/proj/src/app.ts"]);
            assert_eq!(check_members(&event), Ok(()));
        });
    }
    // A gate cannot judge these.
    for (input, step) in [
        (json!({ "command": "no patch" }), FailedStep::MemberMissing("a file in tool_input.command")),
        (json!({ "command": 7 }), FailedStep::MemberType("tool_input.command")),
        (json!({}), FailedStep::MemberMissing("tool_input.command")),
        (json!("text"), FailedStep::MemberType("tool_input")),
    ] {
        let call = json!({ "tool_name": "apply_patch", "tool_input": input });
        with_event(&payload("PreToolUse", &call), |event| assert_eq!(check_members(&event), Err(step)));
    }
}

/// Codex runs such a line as a patch. Afterwards it reports only lines that it left to the shell.
#[test]
fn a_patch_through_the_shell_is_an_edit_before_it_runs() {
    let edited = |event: &str, line: &str| {
        let call = json!({ "tool_name": "Bash", "tool_use_id": "c", "tool_input": { "command": line } });
        with_event(&payload(event, &call), |event| {
            let paths = event.edit_paths().map(|paths| paths.expect("its paths").to_vec());
            paths.map(|paths| paths.iter().map(ToString::to_string).collect::<Vec<_>>())
        })
    };
    let here = vec!["/home/u/proj/src/b.ts".to_owned(), "/home/u/proj/src/app.ts".to_owned()];
    let below = vec!["/home/u/proj/web/src/b.ts".to_owned(), "/home/u/proj/web/src/app.ts".to_owned()];
    let long = format!("*** Add File: big.rs\n{}", "+x\n".repeat(32 * 1024));
    let long = PATCH.replace("*** End Patch", &format!("{long}*** End Patch"));
    for (line, files) in [
        (format!("apply_patch <<'EOF'\n{PATCH}EOF"), &here),
        (format!("applypatch <<EOF\n{PATCH}EOF\n"), &here),
        (format!("cd web && apply_patch <<'PATCH'\n{PATCH}PATCH"), &below),
        (format!("cd /home/u/proj/web && apply_patch <<\"EOF\"\n{PATCH}EOF"), &below),
        (format!("apply_patch '{PATCH}'"), &here),
        (format!("cat <<'EOF' | apply_patch\n{PATCH}EOF"), &here),
        (format!("git status; apply_patch <<'EOF'\n{PATCH}EOF\nnpm test"), &here),
        (format!("bash -lc \"apply_patch <<'EOF'\n{PATCH}EOF\""), &here),
        // Not understood as a line of shell.
        (format!("if apply_patch <<'EOF'\n{PATCH}EOF"), &here),
    ] {
        assert_eq!(edited("PreToolUse", &line).as_ref(), Some(files), "{line}");
        assert_eq!(edited("PostToolUse", &line), None, "{line}");
    }
    let files = edited("PreToolUse", &format!("apply_patch <<'EOF'\n{long}EOF")).expect("an edit");
    assert_eq!(files.last().map(String::as_str), Some("/home/u/proj/big.rs"));
    // Behind many other names, and behind lines that look like heads of another kind of patch.
    let many: Vec<String> = (0..300).map(|n| format!("*** Add File: n{n}.txt\n+x\n")).collect();
    let many = many.concat();
    let heads = format!("*** Add File: n.txt\n{}", "+++ x\n".repeat(300));
    for before in [many, heads] {
        let patch = format!("*** Begin Patch\n{before}*** Update File: a.js\n@@\n-1\n+2\n*** End Patch\n");
        let files = edited("PreToolUse", &format!("apply_patch <<'EOF'\n{patch}EOF")).expect("an edit");
        assert_eq!(files.last().map(String::as_str), Some("/home/u/proj/a.js"));
    }
    // One folder of two is known.
    let two = format!(
        "cd web && apply_patch <<'A'\n{PATCH}A\ncd \"$X\" && apply_patch <<'B'\n{}B",
        PATCH.replace("b.ts", "c.ts")
    );
    let files = edited("PreToolUse", &two).expect("an edit");
    assert!(files.contains(&below[0]) && files.iter().any(|file| file.ends_with("src/c.ts")), "{files:?}");
    for line in [
        "npm test".to_owned(),
        "echo apply_patch".to_owned(),
        "apply_patch --help".to_owned(),
        format!("cat > notes.md <<'EOF'\nUse apply_patch:\n{PATCH}EOF"),
        format!("printf '%s' '{PATCH}' > a.patch"),
    ] {
        assert_eq!(edited("PreToolUse", &line), None, "{line}");
    }
}

#[test]
fn a_commands_exit_status_is_unknown_until_the_rollout_tells() {
    let call = json!({
        "tool_name": "Bash", "tool_use_id": "call_1",
        "tool_input": { "command": "npm test" }, "tool_response": "1 failed\n",
    });
    with_event(&payload("PostToolUse", &call), |mut event| {
        assert!(event.lacks_run());
        assert_eq!(event.command_line(), Some("npm test"));
        event.set_run(Some(Millis(5)), Exit::Known(1));
        let command = event.finished_command().expect("a command");
        assert!(command.exit == Exit::Known(1) && command.says("failed") && !event.lacks_run());
    });
}

#[test]
fn a_skill_is_invoked_by_reading_its_file_and_nothing_else() {
    const TEXT: &str = "---\nname: code-quality-rules\n---\n";
    let invoked = |line: &str, output: &str| {
        let call = json!({ "tool_name": "Bash", "tool_input": { "command": line }, "tool_response": output });
        with_event(&payload("PostToolUse", &call), |event| event.invoked_skill().map(str::to_owned))
    };
    let path = "/home/u/.codex/skills/code-quality-rules/SKILL.md";
    for line in [
        format!("cat {path}"),
        format!("cat -- '{path}'"),
        format!("bat --plain {path}"),
        format!("less {path}"),
        format!("tail -n +1 {path}"),
        // More than the file has.
        format!("sed -n '1,200p' {path}"),
        format!("sed -n 1,4p {path}"),
        format!("sed -n '1,$p' {path}"),
        format!("head -n 4 {path}"),
        format!("head -4 {path}"),
        format!("head {path}"),
        format!("head -c 4096 {path}"),
    ] {
        assert_eq!(invoked(&line, TEXT).as_deref(), Some("code-quality-rules"), "{line}");
    }
    // A part of it, or perhaps one.
    for line in [
        format!("head -1 {path}"),
        format!("head -n 3 {path}"),
        format!("head -n3 {path}"),
        format!("head --lines=3 {path}"),
        format!("head -c 10 {path}"),
        format!("head -n -5 {path}"),
        format!("tail -5 {path}"),
        format!("tail -n 200 {path}"),
        format!("sed -n 1,3p {path}"),
        format!("sed -n '2,200p' {path}"),
        format!("sed -n 1p {path}"),
        format!("sed '3q' {path}"),
        format!("sed -n '/^---/p' {path}"),
        format!("bat -r 1:3 {path}"),
        format!("less +G {path}"),
        format!("cat {path} {path}.old"),
    ] {
        assert_eq!(invoked(&line, TEXT), None, "{line}");
    }
    assert_eq!(invoked(&format!("cat {path}"), "cat: No such file or directory"), None);
    for line in [
        format!("cat {path} && npm test"),
        format!("rm {path}"),
        format!("cat {path} | head -1"),
        "cat SKILL.md".to_owned(),
        "cat $X/SKILL.md".to_owned(),
        "echo a/SKILL.md".to_owned(),
    ] {
        assert_eq!(invoked(&line, TEXT), None, "{line}");
    }
}

#[test]
fn events_say_who_and_what() {
    let read = |event: &str, more: Value| {
        with_event(&payload(event, &more), |event| {
            (event.thread == Thread::Main, event.start, event.held_before, event.by_hand)
        })
    };
    for (source, start) in [("startup", Start::Startup), ("resume", Start::Resume), ("clear", Start::Clear)] {
        assert_eq!(read("SessionStart", json!({ "source": source })), (true, Some(start), false, false));
    }
    assert_eq!(read("SessionStart", json!({ "source": "new" })).1, Some(Start::Other));
    assert!(read("Stop", json!({ "stop_hook_active": true })).2);
    assert!(read("PreCompact", json!({ "trigger": "manual" })).3);
    assert!(!read("SubagentStop", json!({ "agent_id": "a", "agent_type": "x" })).0);
    let author = |prompt: &str| {
        with_event(&payload("UserPromptSubmit", &json!({ "prompt": prompt })), |event| {
            event.prompt.map(|prompt| prompt.author)
        })
    };
    assert_eq!(author("Fix it"), Some(Author::Person));
    assert_eq!(author("<hook_prompt hook_run_id=\"1\">run the tests</hook_prompt>"), Some(Author::Host));
    assert_eq!(author(" <environment_context>"), Some(Author::Host));
    let spawn = json!({ "tool_name": "collaborationspawn_agent", "tool_input": { "task_name": "look", "message": "m" } });
    with_event(&payload("PreToolUse", &spawn), |event| assert_eq!(event.spawned_agent(), Some(("look", ""))));
    let own = json!({ "tool_name": "mcp__tidegate__search", "tool_input": {}, "tool_response": {} });
    with_event(&payload("PostToolUse", &own), |event| assert_eq!(event.memory_call(), Some("search")));
}

/// Codex drops an answer with any member that it does not know, and runs the call.
#[test]
fn every_event_with_every_call() {
    let mut all = String::new();
    for kind in EventKind::ALL {
        for (call, says) in [Call::Pass, Call::Ask, Call::Deny, Call::Halt]
            .into_iter()
            .flat_map(|call| [(call, false), (call, true)])
        {
            let text = |text: &'static str| if says { text } else { "" };
            let reason = if call == Call::Pass { "" } else { "REASON" };
            let answer = Answer { call, reason, context: text("CONTEXT"), user: text("MESSAGE") };
            let reply = Host::Codex.reply(*kind, &answer);
            assert!(reply.exit == 0 && reply.stderr.is_empty());
            if !reply.stdout.is_empty() {
                let name = call.name();
                writeln!(
                    all,
                    "{} {name}{}: {}",
                    kind.name(),
                    if says { " + texts" } else { "" },
                    sorted(&reply.stdout)
                )
                .unwrap();
                check_schema(*kind, &reply.stdout);
            }
        }
    }
    let refused = Host::Codex.refuse("could not check", "blocked");
    check_schema(EventKind::PreToolUse, &refused.stdout);
    writeln!(all, "refused: {}", sorted(&refused.stdout)).unwrap();
    insta::assert_snapshot!("codex_every_event_with_every_call", all);
}

/// The order of members depends on features that other crates choose.
fn sorted(stdout: &str) -> String {
    fn text(json: &Value) -> String {
        let Value::Object(members) = json else { return json.to_string() };
        let member = |(name, value): (&String, &Value)| format!("{}:{}", json!(name), text(value));
        let members: BTreeSet<String> = members.iter().map(member).collect();
        format!("{{{}}}", members.into_iter().collect::<Vec<_>>().join(","))
    }
    serde_json::from_str(stdout).map_or_else(|_| stdout.to_owned(), |json| text(&json))
}

fn check_schema(kind: EventKind, stdout: &str) {
    let json: Value = serde_json::from_str(stdout).expect("JSON");
    for (member, value) in json.as_object().expect("an object") {
        let is_known = match member.as_str() {
            "systemMessage" => value.is_string(),
            "decision" => value == "block" && kind != EventKind::PreToolUse && json["reason"].is_string(),
            "reason" => json["decision"] == "block" && value.as_str().is_some_and(|it| !it.is_empty()),
            "hookSpecificOutput" => !matches!(kind, EventKind::Stop | EventKind::SubagentStop),
            _ => false,
        };
        assert!(is_known, "{kind:?} {member}: {stdout}");
    }
    let Some(specific) = json.get("hookSpecificOutput") else { return };
    assert_eq!(specific["hookEventName"], kind.name());
    for (member, value) in specific.as_object().expect("an object") {
        let is_known = match member.as_str() {
            "hookEventName" | "additionalContext" => value.is_string(),
            "permissionDecision" => value == "deny" && kind == EventKind::PreToolUse,
            "permissionDecisionReason" => specific["permissionDecision"] == "deny" && value != "",
            _ => false,
        };
        assert!(is_known, "{kind:?} {member}: {stdout}");
    }
}

/// What is recorded as said is what arrives.
#[test]
fn only_what_arrives_counts_as_said() {
    for kind in EventKind::ALL {
        let channels = Host::Codex.channels(*kind);
        let answer = Answer { call: Call::Pass, reason: "", context: "CONTEXT", user: "MESSAGE" };
        let stdout = Host::Codex.reply(*kind, &answer).stdout;
        assert_eq!(
            (stdout.contains("CONTEXT"), stdout.contains("MESSAGE")),
            (channels.context, channels.user)
        );
        for call in [Call::Ask, Call::Deny, Call::Halt] {
            let says_no = Host::Codex.reply(*kind, &Answer { call, reason: "REASON", ..Answer::default() });
            let is_delivered = Host::Codex.deliverable(*kind, call) == Call::Deny;
            assert_eq!(says_no.stdout.contains("REASON"), is_delivered, "{kind:?} {call:?}");
        }
    }
}

fn line(kind: &str, payload: &Value) -> String {
    json!({ "timestamp": "2026-11-16T18:11:47.069Z", "ordinal": 1, "type": kind, "payload": payload })
        .to_string()
}

fn usage(total: u64) -> Value {
    json!({ "input_tokens": total - 20, "cached_input_tokens": 10, "output_tokens": 20, "total_tokens": total })
}

fn record(total: u64) -> String {
    line("token_usage_record", &json!({ "usage": usage(total), "thread_token_usage": usage(total * 7) }))
}

fn count(total: u64) -> String {
    let info = json!({ "total_token_usage": usage(total * 7), "last_token_usage": usage(total), "model_context_window": 258_400 });
    line("event_msg", &json!({ "type": "token_count", "info": info }))
}

fn started() -> String {
    line("event_msg", &json!({ "type": "task_started", "model_context_window": 258_400 }))
}

fn call(id: &str) -> String {
    let item = json!({ "type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}", "call_id": id });
    line("response_item", &item)
}

fn ended(id: &str, exit: &Value) -> String {
    let item = json!({ "type": "CommandExecution", "id": id, "aggregated_output": "x", "status": "completed", "exit_code": exit });
    line("event_msg", &json!({ "type": "item_completed", "item": item }))
}

fn said(text: &str) -> String {
    let item = json!({ "type": "message", "id": "m", "role": "assistant", "content": [{ "type": "output_text", "text": text }] });
    line("response_item", &item)
}

fn compacted() -> String {
    let history = json!([
        { "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": "instructions" }] },
        { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "No new dependencies." }] },
    ]);
    line("compacted", &json!({ "message": "The login page was added.", "replacement_history": history }))
}

fn estimate(total: u64) -> String {
    let last = json!({ "input_tokens": 0, "output_tokens": 0, "total_tokens": total });
    let info = json!({ "last_token_usage": last, "model_context_window": 258_400 });
    line("event_msg", &json!({ "type": "token_count", "info": info }))
}

fn meter(lines: &[String], trace: EventTrace<'_>) -> Option<TranscriptReading> {
    let parser = Host::Codex.parser(&MeterScan::SOUGHT);
    let mut scan = MeterScan::new(trace).seeking_window(true);
    let _ = lines.iter().rev().try_for_each(|line| scan.take_line(parser.entry(line.as_bytes()).as_ref()));
    scan.finish()
}

#[test]
fn the_rollout_is_the_meter() {
    let read = |lines: &[String], trace| {
        meter(lines, trace).map(|found| (found.used, found.window, found.current, found.boundary))
    };
    let first = [started(), call("c1"), record(30_000)];
    // Before the tool: its call and the count of its answer are there.
    assert_eq!(read(&first, EventTrace::ToolUse("c1")), Some((30_000, Some(258_400), true, false)));
    let after = [&first[..], &[ended("c1", &json!(0)), count(30_000), call("c2"), record(42_000)]].concat();
    assert_eq!(read(&after, EventTrace::ToolUse("c2")), Some((42_000, Some(258_400), true, false)));
    assert_eq!(read(&after[..5], EventTrace::ToolUse("c2")), Some((30_000, Some(258_400), false, false)));
    let stop = [&after[..], &[said("done"), record(50_000), count(50_000)]].concat();
    let trace = EventTrace::LastMessage("done".into());
    assert_eq!(read(&stop, trace), Some((50_000, Some(258_400), true, false)));
    // Versions without the record of an answer.
    let old = [started(), said("done"), count(50_000)];
    assert_eq!(read(&old, EventTrace::None), Some((50_000, Some(258_400), false, false)));
    // A compaction voids what was before.
    let boundary = [&stop[..], &[compacted()]].concat();
    assert_eq!(read(&boundary, EventTrace::None), None);
    let estimated = [&boundary[..], &[estimate(6814)]].concat();
    assert_eq!(read(&estimated, EventTrace::None), Some((6814, Some(258_400), false, true)));
    let next = [&estimated[..], &[call("c3"), record(9000)]].concat();
    assert_eq!(read(&next, EventTrace::ToolUse("c3")), Some((9000, Some(258_400), true, false)));
    for nothing in [vec![], vec![started()], vec![line("token_usage_record", &json!({ "usage": [] }))]] {
        assert_eq!(read(&nothing, EventTrace::None), None);
    }
}

#[test]
fn the_rollout_tells_how_a_command_ended() {
    let parser = Host::Codex.parser(&[Sought::Endings]);
    let exit = |line: &str| match parser.entry(line.as_bytes()).map(|entry| entry.kind) {
        Some(EntryKind::Ended(end)) => Some(end.exit),
        _ => None,
    };
    assert_eq!(exit(&ended("c", &json!(0))), Some(Exit::Known(0)));
    assert_eq!(exit(&ended("c", &json!(101))), Some(Exit::Known(101)));
    for odd in [json!(null), json!("0"), json!(0.5), json!(1e300), json!([0]), json!(true)] {
        assert_eq!(exit(&ended("c", &odd)), Some(Exit::Unknown), "{odd}");
    }
    assert_eq!(exit(&call("c")), None);
    // The word for it counts, too.
    for (status, code, found) in [
        ("failed", 3, Exit::Known(3)),
        ("failed", 0, Exit::Unknown),
        ("declined", 0, Exit::Unknown),
        ("declined", 1, Exit::Unknown),
        ("in_progress", 0, Exit::Unknown),
        ("", 0, Exit::Unknown),
    ] {
        let text = ended("c", &json!(code)).replace("\"completed\"", &format!("\"{status}\""));
        assert_eq!(exit(&text), Some(found), "{text}");
    }
    assert_eq!(exit(&ended("c", &json!(0)).replace("\"status\"", "\"state\"")), Some(Exit::Unknown));
}

#[test]
fn the_rollout_tells_which_command_ended_and_when_it_began() {
    let parser = Host::Codex.parser(&[Sought::Endings]);
    let text = line(
        "event_msg",
        &json!({
            "type": "item_completed", "thread_id": "t-1", "started_at_ms": 1_794_852_708_239_u64, "completed_at_ms": 1_794_852_709_300_u64,
            "item": {
                "type": "CommandExecution", "id": "c", "command": ["/bin/bash", "-lc", "npm test"], "status": "completed",
                "exit_code": 0,
            },
        }),
    );
    let Some(EntryKind::Ended(end)) = parser.entry(text.as_bytes()).map(|entry| entry.kind) else {
        panic!("{text}")
    };
    assert_eq!((end.thread.as_deref(), end.began), (Some("t-1"), Some(Millis(1_794_852_708_239))));
    let ran = end.line.expect("a line");
    assert!(ran.is("npm test") && !ran.is("npm") && !ran.is("npm test "));
}

#[test]
fn the_rollout_names_the_files_of_a_patch_that_was_applied() {
    let parser = Host::Codex.parser(&[Sought::Patches]);
    let files = |status: &str| {
        let changes = json!({
            "/p/a.rs": { "type": "update", "unified_diff": "@@", "move_path": "/p/b.rs" },
            "/p/c.rs": { "type": "add", "content": "x" },
            "/p/d.rs": { "type": "delete", "content": "x" },
            "/p/e.rs": 7,
        });
        let item = json!({ "type": "FileChange", "id": "c", "changes": changes, "status": status });
        let text = line(
            "event_msg",
            &json!({ "type": "item_completed", "thread_id": "t-1", "started_at_ms": 5, "completed_at_ms": 7, "item": item }),
        );
        match parser.entry(text.as_bytes()).map(|entry| entry.kind) {
            Some(EntryKind::Patched(end)) => {
                assert_eq!((&*end.call, end.thread.as_deref(), end.at), ("c", Some("t-1"), Some(Millis(7))));
                assert_eq!((end.began, end.failed), (Some(Millis(5)), status == "failed"));
                end.files.iter().map(ToString::to_string).collect::<BTreeSet<_>>()
            }
            other => panic!("{other:?}"),
        }
    };
    let all = ["/p/a.rs", "/p/b.rs", "/p/c.rs", "/p/d.rs", "/p/e.rs"].map(str::to_owned);
    assert_eq!(files("completed"), BTreeSet::from(all.clone()));
    assert_eq!(files("failed"), BTreeSet::from(all), "some of them may be changed");
    for status in ["declined", "in_progress", ""] {
        assert_eq!(files(status), BTreeSet::new(), "{status}");
    }
}

#[test]
fn the_rollout_holds_the_summary_and_what_was_kept() {
    let parser = Host::Codex.parser(&PreservedScan::SOUGHT);
    let mut scan = PreservedScan::new(Millis(0));
    for text in [compacted(), estimate(6814)].iter().rev() {
        let _ = scan.take_line(parser.entry(text.as_bytes()).as_ref());
    }
    let found = scan.finish();
    assert_eq!(found.summary.as_deref(), Some("The login page was added."));
    assert!(found.known && found.texts == ["No new dependencies."]);
}

#[test]
fn the_first_line_tells_whether_a_person_is_there() {
    let person =
        |source: &Value| Host::Codex.person(line("session_meta", &json!({ "source": source })).as_bytes());
    assert_eq!(person(&json!("exec")), Person::Absent);
    assert_eq!(person(&json!("cli")), Person::There);
    assert_eq!(person(&json!({ "subagent": {} })), Person::Unknown);
    assert_eq!(Host::Codex.person(b"{"), Person::Unknown);
    assert_eq!(
        Host::Codex.person(line("turn_context", &json!({ "source": "cli" })).as_bytes()),
        Person::Unknown
    );
}

/// Payloads of other hosts, shortened.
fn foreign() -> Vec<Value> {
    vec![
        json!({ "hook_event_name": "PreToolUse", "session_id": "s", "timestamp": "t", "tool_name": "Edit", "tool_input": { "path": "/p/a.rs" } }),
        json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Edit", "tool_input": { "file_path": "/p/a.rs" } }),
        json!({ "hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash", "tool_result": { "text_result_for_llm": "x" } }),
        json!({ "hook_event_name": "BeforeTool", "session_id": "s", "tool_name": "replace", "tool_input": { "file_path": "a" } }),
        json!({ "sessionId": "s", "toolName": "edit", "toolArgs": {} }),
        json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "run_shell_command", "tool_input": { "command": "ls" } }),
    ]
}

/// Nothing of a foreign payload is taken for an edit or for evidence.
#[test]
fn payloads_of_other_hosts_are_no_edits_and_prove_nothing() {
    for payload in foreign() {
        let text = payload.to_string();
        if let Ok(event) = Host::Codex.read(text.as_bytes(), None) {
            assert!(event.edit_paths().is_none(), "{text}");
            assert!(event.finished_command().is_none_or(|command| command.exit == Exit::Unknown), "{text}");
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z*/ \n]{0,20}".prop_map(Value::from),
        Just(json!([])),
        Just(json!([[], {}])),
        Just(json!({ "command": { "command": [] } })),
    ]
}

proptest! {
    #[test]
    fn a_payload_that_was_cut_is_refused_and_still_tells_its_event(which in 0usize..17, at in 0.0f64..1.0) {
        let text = payloads()[which].to_string();
        let mut cut = ((text.len() as f64) * at) as usize;
        while !text.is_char_boundary(cut) { cut -= 1; }
        let read = Host::Codex.read(&text.as_bytes()[..cut], Some(EventKind::PreToolUse));
        prop_assert!(read.is_err());
    }

    #[test]
    fn a_member_of_another_type_is_no_edit_and_no_evidence(
        which in 0usize..17, member in any::<prop::sample::Index>(), with in value(), in_input: bool,
    ) {
        let mut payload = payloads()[which].clone();
        let is_patch = payload["tool_name"] == "apply_patch";
        {
            let members = match payload.get_mut("tool_input").filter(|_| in_input) {
                Some(input) => input.as_object_mut().expect("an object"),
                None => payload.as_object_mut().expect("an object"),
            };
            if members.is_empty() { return Ok(()) }
            let name = members.keys().nth(member.index(members.len())).expect("a member").clone();
            members.insert(name, with);
        }
        let text = payload.to_string();
        let Ok(event) = Host::Codex.read(text.as_bytes(), None) else { return Ok(()) };
        prop_assert!(event.finished_command().is_none_or(|command| command.exit == Exit::Unknown));
        if !is_patch {
            prop_assert!(event.edit_paths().is_none());
        }
        // A call of the tool that edits is judged, or the gate says that it could not.
        if is_patch && event.tool_name() == Some("apply_patch") {
            match event.edit_paths() {
                Some(Ok(paths)) => prop_assert!(!paths.is_empty()),
                Some(Err(_)) => prop_assert!(check_members(&event).is_err()),
                None => prop_assert!(false, "{}", text),
            }
        }
        let is_skill = matches!(event.action, Action::Skill { .. });
        prop_assert!(!is_skill);
    }

    #[test]
    fn a_damaged_rollout_is_read(which in 0usize..9, at in 0.0f64..1.0) {
        let lines = [started(), call("c1"), record(30_000), ended("c1", &json!(0)), count(30_000), said("x"), compacted(), estimate(5), call("c2")];
        let text = &lines[which];
        let cut = ((text.len() as f64) * at) as usize;
        let torn = String::from_utf8_lossy(&text.as_bytes()[..cut]).into_owned();
        let parser = Host::Codex.parser(&[]);
        prop_assert!(parser.entry(torn.as_bytes()).is_none());
        prop_assert_eq!(Host::Codex.person(torn.as_bytes()), Person::Unknown);
    }
}

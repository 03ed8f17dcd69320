//! A workflow from end to end: manifests that are written, agents that are spawned, gates that are passed and skipped.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::answer::{Answer, Ran};
use crate::people::{SESSION, attended, by_agent, by_agent_of, code_of, types};
use crate::sandbox::Sandbox;
use crate::transcript::{Transcript, addressed, answer};

mod closed;
mod continued;
mod own_record;
mod two_sessions;

const PATH: &str = ".claude/.output/features/x/MANIFEST.yaml";

/// As somebody writes it by hand.
const MANIFEST: &str = "\
# what we do here
feature_name: x          # short
current_phase: 3

phases:
  1_setup: {status: complete}
  3_discovery:   # three agents
    status: in_progress
";

const DISCOVERY: &str = "    findings: |
      everything that was found, file by file, as the agents told it, with all the details that nobody needs again,
      and then once more, because there were three agents and each of them had looked at the same files
    summary: |
      Phase 3 (Discovery): COMPLETE
      - Key decisions: keep the hooks
      - Full details: discovery.md
";

struct Play {
    sandbox: Sandbox,
}

impl Play {
    fn new() -> Play {
        Play::in_sandbox(attended())
    }

    fn in_sandbox(sandbox: Sandbox) -> Play {
        let play = Play { sandbox };
        let _ = play.event("SessionStart", json!({ "source": "startup" }));
        play.uses(20_000);
        play
    }

    fn transcript(&self) -> PathBuf {
        self.sandbox.path().join("t.jsonl")
    }

    fn uses(&self, tokens: u64) {
        Transcript::at(self.transcript()).line(&answer(tokens));
    }

    fn event(&self, event: &str, more: Value) -> Answer {
        let mut payload = json!({ "hook_event_name": event });
        if let Value::Object(more) = more {
            for (member, value) in more {
                payload[member] = value;
            }
        }
        let payload = addressed(payload, SESSION, &self.transcript(), &self.sandbox.project());
        self.sandbox.event(&payload)
    }

    fn event_of(&self, session: &str, event: &str, more: Value) -> Answer {
        let mut payload = addressed(more, session, &self.transcript(), &self.sandbox.project());
        payload["hook_event_name"] = json!(event);
        self.sandbox.event(&payload)
    }

    fn path(&self) -> PathBuf {
        self.sandbox.project().join(PATH)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap_or_default()
    }

    /// The model writes the manifest.
    fn writes(&self, text: &str) -> Answer {
        fs::create_dir_all(self.path().parent().expect("a folder")).expect("the folder");
        fs::write(self.path(), text).expect("the file");
        let id = format!("toolu_{}", self.sandbox.records().len());
        let call =
            json!({ "tool_name": "Write", "tool_input": { "file_path": self.path() }, "tool_use_id": id });
        self.event("PostToolUse", call)
    }

    fn spawns(&self) -> Answer {
        let id = format!("toolu_{}", self.sandbox.records().len());
        let input = json!({ "description": "look", "subagent_type": "general-purpose", "prompt": "x" });
        self.event("PreToolUse", json!({ "tool_name": "Agent", "tool_input": input, "tool_use_id": id }))
    }

    /// Why an agent was not spawned.
    fn denied(&self) -> String {
        let answer = self.spawns();
        let output = answer.output();
        assert_eq!(output["hookSpecificOutput"]["permissionDecision"], "deny", "{answer:?}");
        output["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default().to_owned()
    }

    fn gate(&self, args: &[&str]) -> Ran {
        let mut words = vec!["workflow"];
        words.extend(args);
        by_agent(&self.sandbox, &words)
    }

    fn because(&self) -> String {
        let records = self.sandbox.records();
        let verdicts = records.last().expect("a record")["verdicts"].as_array().cloned().unwrap_or_default();
        let ours = verdicts.iter().find(|verdict| verdict["policy"] == "workflow");
        ours.and_then(|verdict| verdict["because"].as_str()).unwrap_or("-").to_owned()
    }

    /// At phase 4, with what the gate before it wants.
    fn at_gate() -> Play {
        let play = Play::new();
        let _ = play.writes(MANIFEST);
        fs::write(play.path().with_file_name("discovery.md"), "found\n".repeat(100)).expect("the file");
        let whole = format!("{MANIFEST}{DISCOVERY}").replace("current_phase: 3", "current_phase: 4");
        let _ = play.writes(&whole);
        play
    }
}

#[test]
fn a_gate_holds_agents_back_until_it_is_passed() {
    let play = Play::new();
    play.writes(MANIFEST).silent();
    play.spawns().silent();
    assert_eq!(play.because(), "there is room for agents");
    let at_four = MANIFEST.replace("current_phase: 3", "current_phase: 4");
    let told = play.writes(&at_four).context().expect("the model is told");
    assert!(told.contains("Complete checkpoint 1, after phase 3 (discovery). Missing: "), "{told}");
    let reason = play.denied();
    assert!(reason.contains("has no `summary`"), "{reason}");
    let checked = play.gate(&["check"]);
    assert_eq!(checked.code, Some(1));
    assert!(checked.stdout.contains("Gate status: NOT PASSED."), "{checked:?}");
    assert_eq!(play.gate(&["pass", "1"]).code, Some(1));

    fs::write(play.path().with_file_name("discovery.md"), "found\n".repeat(100)).expect("the file");
    let whole = format!("{at_four}{DISCOVERY}");
    let _ = play.writes(&whole);
    assert!(play.denied().contains("has all it needs"));
    assert_eq!(play.text(), whole);
    let passed = play.gate(&["pass", "1"]);
    assert!(passed.ok().contains("Gate status: PASSED. Proceeding to Phase 4."), "{passed:?}");
    assert!(passed.stdout.contains("   - discovery.md exists (100 lines)\n"), "{passed:?}");
    assert!(play.text().starts_with(&whole), "what people wrote stays:\n{}", play.text());
    assert!(play.text()[whole.len()..].starts_with("gates:\n  1:\n    status: passed\n    at: \""));
    play.spawns().silent();
    let status = play.gate(&["status", "--json"]).json();
    let states: Vec<&Value> =
        status["gates"].as_array().expect("gates").iter().map(|gate| &gate["state"]).collect();
    assert_eq!(states, ["passed", "ahead", "ahead"]);
    assert_eq!((&status["phase"], &status["session"]), (&json!(4), &json!(SESSION)));
}

#[test]
fn only_a_person_skips_a_gate() {
    let play = Play::new();
    let _ = play.writes(MANIFEST);
    let _ = play.writes(&MANIFEST.replace("current_phase: 3", "current_phase: 4"));
    // Whoever writes it into the manifest has not been asked.
    let claims = format!("{}    compaction_skipped: true\n", play.text());
    let _ = play.writes(&claims);
    assert!(play.denied().contains("the person did not say so here"));
    let _ = play.writes(&MANIFEST.replace("current_phase: 3", "current_phase: 4"));

    let skip = ["skip", "1", "--reason", "it was one file"];
    let with = |more: &'static str| [&skip[..], &[more]].concat();
    let early = play.gate(&with("--approved"));
    assert!(early.failed().contains("there is no approval of"), "{early:?}");
    let asked = play.gate(&skip);
    let code = code_of(&asked);
    for risk in ["context window runs out", "agents work worse", "has to start again", "Instead, "] {
        assert!(asked.stdout.contains(risk), "{risk}: {asked:?}");
    }
    play.denied();
    let before = play.text();
    let _ = types(&play.sandbox, &format!("approve {code}"));
    let other = play.gate(&["skip", "1", "--reason", "something else", "--approved"]);
    assert!(other.failed().contains("there is no approval of"), "{other:?}");
    assert_eq!(play.text(), before);
    assert!(play.gate(&with("--approved")).words().contains("blocks nothing now: it was one file"));
    let new: Vec<String> = play
        .text()
        .lines()
        .filter(|line| !before.lines().any(|old| old == *line))
        .map(str::to_owned)
        .collect();
    assert_eq!(new[..2], ["    compaction_skipped: true", "    skip_reason: \"it was one file\""]);
    assert!(new[2].starts_with("    skip_timestamp: \"20"), "{new:?}");
    play.spawns().silent();
    let records = play.sandbox.records();
    let record =
        records.iter().find(|record| record["event"] == "tidegate workflow skip 1").expect("a record");
    assert_eq!(record["cause"], format!("approved with the code {code}: it was one file"));
}

/// Between the approval and its use another workflow is attached.
#[test]
fn an_approval_to_skip_a_gate_is_for_one_manifest() {
    let play = Play::at_gate();
    let skip = ["skip", "1", "--reason", "it was one file"];
    let asked = play.gate(&skip);
    let named = format!("workflow skip 1 --manifest {PATH} --reason 'it was one file'");
    assert!(asked.stdout.contains(&named) && asked.stdout.contains("(workflow feature"), "{asked:?}");
    let _ = types(&play.sandbox, &format!("approve {}", code_of(&asked)));
    let left = code_of(&play.gate(&["detach"]));
    let _ = types(&play.sandbox, &format!("approve {left}"));
    play.gate(&["detach", "--approved"]).ok();
    play.gate(&["start", "larger"]).ok();
    for phase in ["2", "3", "4"] {
        let _ = play.gate(&["phase", phase]);
    }
    let ran = play.gate(&[&skip[..], &["--approved"]].concat());
    assert!(ran.failed().contains("there is no approval of"), "{ran:?}");
    let ran = play.gate(&[&skip[..], &["--manifest", PATH, "--approved"]].concat());
    assert!(ran.failed().contains("is not the manifest of this session"), "{ran:?}");
}

#[test]
fn the_ladder_before_agents() {
    let play = Play::new();
    let _ = play.writes(&MANIFEST.replace("current_phase: 3", "current_phase: 2"));
    let levels = [
        (148_000, "a compaction can be planned"),
        (151_000, "a compaction is due soon"),
        (152_000, "this level was said in this phase"),
        (156_000, "a compaction is due now"),
        (161_000, "the context is too full to spawn agents"),
        (166_000, "the context is full: a handoff is written"),
    ];
    for (used, because) in levels {
        play.uses(used);
        let answer = play.spawns();
        assert_eq!(play.because(), because, "{answer:?}");
        let shown = !answer.stdout.is_empty() && answer.output()["systemMessage"].is_string();
        assert_eq!(shown, [156_000, 161_000, 166_000].contains(&used), "the person is told once: {answer:?}");
    }
    let handoff =
        fs::read_to_string(play.sandbox.project().join(".claude/context/handoff.md")).expect("a handoff");
    assert!(handoff.contains("workflow feature") && handoff.contains("3 discovery"), "{handoff}");
    let _ = play.event("SessionStart", json!({ "source": "compact" }));
    Transcript::at(play.transcript()).line(&crate::transcript::boundary(20_000));
    play.uses(21_000);
    play.spawns().silent();
}

#[test]
fn a_compaction_makes_the_check_green() {
    let play = Play::new();
    let _ = play.writes(MANIFEST);
    fs::write(play.path().with_file_name("discovery.md"), "found\n".repeat(100)).expect("the file");
    play.uses(157_000);
    let whole = format!("{MANIFEST}{DISCOVERY}").replace("current_phase: 3", "current_phase: 4");
    let told = play.writes(&whole);
    let text = told.context().expect("the model is told");
    assert!(
        text.contains("tokens are used") && text.contains("checkpoint 1") && text.contains("not compacted"),
        "{text}"
    );
    assert!(told.output()["systemMessage"].as_str().is_some_and(|text| text.contains("/compact")));
    let missing = play.gate(&["check", "--json"]).stdout;
    assert!(missing.contains("was not compacted since phase 3 ended"), "{missing}");
    let reminded = play.event("SessionStart", json!({ "source": "compact" })).context().expect("a reminder");
    assert!(
        reminded.contains("phase 4 of 16 (skill_discovery)") && reminded.contains("Checkpoint 1"),
        "{reminded}"
    );
    Transcript::at(play.transcript()).line(&crate::transcript::boundary(20_000));
    assert_eq!(play.gate(&["check"]).code, Some(0));
    assert_eq!(play.gate(&["pass", "1"]).code, Some(0));
    play.spawns().silent();
}

#[test]
fn a_compaction_that_was_asked_for_is_noted() {
    let play = Play::new();
    let at_two = MANIFEST.replace("current_phase: 3", "current_phase: 1");
    let _ = play.writes(&at_two);
    play.uses(151_000);
    let at_two = MANIFEST.replace("current_phase: 3", "current_phase: 2");
    let told = play.writes(&at_two).context().expect("the model is told");
    assert!(told.contains("Phase 1 has ended and phase 2 (triage) begins. 76% of"), "{told}");
    play.spawns().silent();
    assert_eq!(play.because(), "this level was said in this phase");
    let _ = play.event("SessionStart", json!({ "source": "compact" }));
    let noted = at_two.replace("{status: complete}", "{status: complete, token_triggered_compaction: true}");
    assert_eq!(play.text(), noted);
}

#[test]
fn a_workflow_is_started_attached_and_let_go() {
    let play = Play::new();
    let started = play.gate(&["start", "x"]);
    assert!(
        started.words().contains("now uses the workflow feature. phase 1 of 16 (setup) manifest"),
        "{started:?}"
    );
    assert!(play.gate(&["start", "x"]).failed().contains("already exists"));
    for id in ["", "../x", ".x", "a/b", "a b"] {
        assert_ne!(play.gate(&["start", id]).code, Some(0), "{id}");
    }
    assert!(
        play.gate(&["start", "y", "--workflow", "release"]).failed().contains("there is no workflow release")
    );
    assert!(play.gate(&["template", "2"]).ok().contains("8_implementation:"));
    assert!(play.gate(&["template", "4"]).failed().contains("has no checkpoint 4"));
    assert!(play.gate(&["report"]).ok().contains("has not reached a checkpoint yet"));
    assert!(play.gate(&["pass", "1"]).failed().contains("phase 3 is not finished"));
    let code = code_of(&play.gate(&["detach"]));
    let _ = types(&play.sandbox, &format!("approve {code}"));
    play.gate(&["detach", "--approved"]).ok();
    assert!(play.gate(&["detach"]).failed().contains("does not use a workflow"));
    play.spawns().silent();
    assert_eq!(play.because(), "no workflow is under way here");
    play.gate(&["attach", PATH]).ok();
    assert!(play.gate(&["attach", "/etc/hostname"]).failed().contains("leads out of the project"));
    play.spawns().silent();
    assert_eq!(play.because(), "there is room for agents");
}

#[test]
fn a_gate_is_not_left_behind_by_letting_go() {
    let play = Play::at_gate();
    let asked = play.gate(&["detach"]);
    let code = code_of(&asked);
    assert!(play.gate(&["start", "y"]).failed().contains("checkpoint 1 of this session's workflow"));
    play.denied();
    let _ = types(&play.sandbox, &format!("approve {code}"));
    play.gate(&["detach", "--approved"]).ok();
    play.spawns().silent();
}

#[test]
fn a_broken_manifest_opens_nothing_and_passes_nothing() {
    let play = Play::at_gate();
    play.denied();
    let told = play.writes("current_phase: 4\nphases: {").context().expect("the model is told");
    assert!(told.contains(&format!("Repair {PATH}: ")) && told.contains("stays closed"), "{told}");
    assert!(play.denied().contains(&format!("Repair {PATH}: ")));
    for command in [&["check"][..], &["pass", "1"]] {
        let ran = play.gate(command);
        assert!(ran.failed().contains("error: cannot use .claude/"), "{ran:?}");
    }
    let shown = play.sandbox.run(&["status"]).words();
    assert!(
        shown.contains("its manifest cannot be used") && shown.contains("checkpoint 1 blocks agents"),
        "{shown}"
    );
    // Neither another workflow nor this one again is a way around it.
    assert!(play.gate(&["start", "y"]).failed().contains("checkpoint 1 of this session's workflow"));
    let _ = play.writes("phases: {}\n");
    play.gate(&["attach", PATH]).ok();
    assert!(play.denied().contains("Restore the phases and `current_phase`"));
    // A person can always leave it.
    let code = code_of(&play.gate(&["detach"]));
    let _ = types(&play.sandbox, &format!("approve {code}"));
    play.gate(&["detach", "--approved"]).ok();
    play.spawns().silent();
}

#[test]
fn a_workflow_of_the_config() {
    let sandbox = attended();
    sandbox.config("[workflow.release]\nphases = [\"plan\", { name = \"build\", gate = true }, \"ship\"]\n");
    let play = Play::in_sandbox(sandbox);
    play.gate(&["start", "x", "--workflow", "release"]).ok();
    let text = play.text().replace("current_phase: 1", "current_phase: ship");
    let _ = play.writes(&text);
    let reason = play.denied();
    assert!(reason.contains("heckpoint 1, after phase 2 (build)"), "{reason}");
}

/// Lists of artifacts have the same name in other folders, and other tools have other phases.
#[test]
fn a_manifest_of_something_else_is_left_alone() {
    let play = Play::at_gate();
    let other = play.sandbox.project().join(".claude/.output/research/y/MANIFEST.yaml");
    fs::create_dir_all(other.parent().expect("a folder")).expect("the folder");
    for text in ["status: in-progress\nartifacts: [a.md]\n", "current_phase: 1\n", "current_phase: deploy\n"]
    {
        fs::write(&other, text).expect("the file");
        let call =
            json!({ "tool_name": "Write", "tool_input": { "file_path": other }, "tool_use_id": "toolu_y" });
        play.event("PostToolUse", call).silent();
        assert_eq!(play.because(), "that manifest names no workflow", "{text}");
        play.denied();
    }
}

#[test]
fn another_session_is_not_held_back() {
    let play = Play::at_gate();
    play.denied();
    let mut payload = json!({ "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": "toolu_other",
        "tool_input": { "description": "look", "subagent_type": "x" } });
    payload = addressed(payload, "another-session", &play.transcript(), &play.sandbox.project());
    play.sandbox.event(&payload).silent();
}

#[test]
fn a_manifest_is_of_the_session_that_wrote_it_last() {
    let play = Play::at_gate();
    let _ = play.denied();
    let second = |event: &str, more: Value| play.event_of("s-2", event, more);
    let spawn = |id: &str| {
        let input = json!({ "description": "look", "subagent_type": "general-purpose", "prompt": "x" });
        second("PreToolUse", json!({ "tool_name": "Agent", "tool_input": input, "tool_use_id": id }))
    };
    let _ = second("SessionStart", json!({ "source": "startup" }));
    spawn("toolu_a").silent();
    let _ = second(
        "PostToolUse",
        json!({ "tool_name": "Edit", "tool_input": { "file_path": play.path() }, "tool_use_id": "toolu_b" }),
    );
    assert!(spawn("toolu_c").stdout.contains("deny"));
    // Nobody's doing takes the first one out of a gate that it saw closed. Looking at the manifest changes no owner.
    let look = json!({ "tool_name": "Bash", "tool_input": { "command": "tidegate workflow status" }, "tool_use_id": "toolu_d" });
    play.event("PostToolUse", look).silent();
    assert_eq!(play.because(), "another session has the workflow now");
    assert!(play.denied().contains("heckpoint 1"));
    assert!(spawn("toolu_e").stdout.contains("deny"));
    // Passed by the second one, it is open for both; the workflow is the second one's.
    by_agent_of(&play.sandbox, &["workflow", "pass", "1"], "s-2").ok();
    spawn("toolu_f").silent();
    play.spawns().silent();
    assert_eq!(play.because(), "another session has the workflow now");
    let _ = play.writes(&play.text().replace("current_phase: 4", "current_phase: 9"));
    assert!(play.denied().contains("heckpoint 2"));
    // The second one never saw that checkpoint closed.
    spawn("toolu_g").silent();
}

#[test]
fn another_manifest_is_no_way_around_a_gate() {
    let play = Play::at_gate();
    let other = play.sandbox.project().join(".claude/.output/features/y/MANIFEST.yaml");
    fs::create_dir_all(other.parent().expect("a folder")).expect("the folder");
    fs::write(&other, "current_phase: 1\nphases: {}\n").expect("the file");
    let writes = |id: &str| {
        let call = json!({ "tool_name": "Write", "tool_input": { "file_path": other }, "tool_use_id": id });
        play.event("PostToolUse", call)
    };
    let told = writes("toolu_y");
    assert!(told.stdout.contains("Complete checkpoint 1 of .claude/.output/features/x/"), "{told:?}");
    writes("toolu_z").silent();
    assert!(play.denied().contains("heckpoint 1"));
}

#[test]
fn the_status_line_shows_the_phase() {
    let play = Play::at_gate();
    let payload = json!({ "session_id": SESSION, "cwd": play.sandbox.project(), "model": { "id": "claude-opus-4-6" },
        "context_window": { "context_window_size": 200_000,
            "current_usage": { "input_tokens": 121_000, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0 } } });
    let shown = play.sandbox.run_with(&["statusline"], payload.to_string().as_bytes());
    assert!(shown.stdout.contains("phase 4/16 skill discovery · compact at the phase's end"), "{shown:?}");
    let status = by_agent(&play.sandbox, &["status"]);
    assert!(
        status
            .words()
            .contains("workflow feature: phase 4 of 16 (skill discovery); checkpoint 1 blocks agents"),
        "{status:?}"
    );
}

#[test]
fn a_section_is_written_where_the_client_would_refuse() {
    let play = Play::new();
    play.gate(&["start", "x"]).ok();
    let at_one = play.text();
    assert!(play.gate(&["phase", "3"]).ok().contains("Phase 3 has started"));
    assert!(play.gate(&["phase", "discovery"]).failed().contains("has already started"));
    let summary = "Key decisions: none.\nDetails: discovery.md";
    play.gate(&["note", "3", "--summary", summary, "--status", "complete"]).ok();
    let mut words = vec!["workflow", "note", "3", "--output", "discovery.md", "--session", SESSION];
    let written = play.sandbox.run_with(&words, "found\n".repeat(200).as_bytes());
    written.ok();
    words[4] = "../discovery.md";
    assert!(play.sandbox.run_with(&words, b"x").failed().contains("cannot be the name of a file"));
    assert!(play.gate(&["note", "3"]).failed().contains("there is nothing to write"));
    assert!(play.gate(&["note", "17", "--status", "complete"]).failed().contains("has no phase 17"));
    assert!(play.gate(&["phase", "4"]).failed().contains("checkpoint 1 after phase 3 is not recorded yet"));
    assert!(play.gate(&["pass", "1"]).ok().contains("discovery.md exists (200 lines)"));
    assert!(play.gate(&["phase", "4"]).ok().contains("Phase 4 has started"));
    play.spawns().silent();
    for line in at_one
        .lines()
        .filter(|line| !line.starts_with("current_phase") && !line.contains("status: in_progress"))
    {
        assert!(play.text().contains(line), "{line}");
    }
}

/// Neither a command nor the manifest moves past a checkpoint.
#[test]
fn no_phase_is_reached_past_a_checkpoint() {
    let play = Play::new();
    play.gate(&["start", "x"]).ok();
    let refused = play.gate(&["phase", "9"]);
    assert!(refused.failed().contains("checkpoint 1 after phase 3 comes first. Missing: "), "{refused:?}");
    assert!(refused.failed().contains("then run `tidegate workflow pass 1`"), "{refused:?}");
    play.gate(&["note", "3", "--status", "skipped"]).ok();
    assert!(play.gate(&["phase", "4"]).failed().contains("checkpoint 1 after phase 3 comes first"));
    play.spawns().silent();
    let refused = play.gate(&["note", "4", "--status", "in_progress"]);
    assert!(refused.failed().contains("checkpoint 1 after phase 3 comes first"), "{refused:?}");
}

/// The last phase ends it, and no later session takes it over.
#[test]
fn the_last_phase_ends_the_workflow() {
    let play = Play::new();
    play.sandbox
        .config("[workflow.short]\nphases = [\"plan\", { name = \"build\", gate = true }, \"end\"]\n");
    play.gate(&["start", "x", "--workflow", "short"]).ok();
    play.gate(&["phase", "2"]).ok();
    let summary = "Built the parser. Key decisions: none.";
    let words =
        ["workflow", "note", "2", "--output", "build.md", "--summary", summary, "--status", "complete"];
    let words = [&words[..], &["--session", SESSION]].concat();
    let noted = play.sandbox.run_with(&words, "built\n".repeat(200).as_bytes());
    assert!(noted.ok().contains("Next: `tidegate workflow pass 1`"), "{noted:?}");
    play.gate(&["pass", "1"]).ok();
    assert!(play.gate(&["phase", "3"]).ok().contains("It is the last phase."));
    assert!(play.gate(&["status"]).words().contains("ends the workflow"));
    assert!(
        play.gate(&["note", "3", "--status", "complete"]).ok().contains("The workflow short is complete.")
    );
    assert!(play.text().contains("status: complete\n"), "{}", play.text());
    let start = |session: &str| {
        let payload = json!({ "hook_event_name": "SessionStart", "source": "startup" });
        play.sandbox.event(&addressed(payload, session, &play.transcript(), &play.sandbox.project()))
    };
    let _ = play.event("SessionEnd", json!({ "reason": "exit" }));
    assert!(!start("s-2").stdout.contains("workflow"), "nothing to take over");
}

/// A terminal knows no session: who goes on there means the one that is in a workflow.
#[test]
fn at_a_terminal_the_session_in_a_workflow_is_meant() {
    let play = Play::at_gate();
    let other = play.path().parent().expect("a folder").with_file_name("other");
    fs::create_dir_all(&other).expect("the folder");
    fs::write(other.join("MANIFEST.yaml"), MANIFEST).expect("the file");
    let mut begins = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    begins = addressed(begins, "another-session", &play.transcript(), &play.sandbox.project());
    let _ = play.sandbox.event(&begins);
    let status = play.sandbox.run(&["workflow", "status", "--json"]).json();
    assert_eq!((&status["session"], &status["manifest"]), (&json!(SESSION), &json!(PATH)));
    assert_eq!(play.sandbox.run(&["gate", "status", "--json"]).json(), status, "by the former name");
    play.sandbox.run(&["workflow", "pass", "1"]).ok();
    play.spawns().silent();
    let passed = play.sandbox.run(&["report", "--json"]).json();
    assert!(passed.to_string().contains("\"policy\":\"workflow\""), "{passed}");
    // Who is in a session means that one.
    let asked = by_agent_of(&play.sandbox, &["workflow", "status"], "another-session");
    assert!(asked.failed().contains("this session does not use a workflow"), "{asked:?}");
}

#[test]
fn a_gate_that_was_let_through_says_so() {
    let play = Play::at_gate();
    let checked = play.gate(&["check", "1"]);
    assert_eq!(
        (checked.code, checked.stderr.as_str()),
        (Some(0), "hint: `tidegate workflow pass 1` records it\n")
    );
    assert!(checked.stdout.ends_with("Gate status: NOT RECORDED. Nothing is missing.\n"), "{checked:?}");
    let checked = play.gate(&["check", "1", "--json"]).json();
    assert_eq!((&checked["complete"], &checked["passed"]), (&json!(true), &json!(false)), "it only looks");
    assert_eq!(checked.get("recorded"), None);
    assert!(play.gate(&["pass", "1"]).ok().ends_with("Gate status: PASSED. Proceeding to Phase 4.\n"));
    let checked = play.gate(&["check", "1", "--json"]).json();
    assert_eq!((&checked["passed"], &checked["recorded"]), (&json!(true), &json!("passed")));
    assert!(play.gate(&["check", "1"]).ok().ends_with("Gate status: PASSED. Proceeding to Phase 4.\n"));
    let again = play.gate(&["skip", "1", "--reason", "late"]);
    assert!(again.failed().contains("checkpoint 1 has already passed ("), "{again:?}");

    let _ = play.writes(&play.text().replace("current_phase: 4", "current_phase: 9"));
    let skip = ["skip", "2", "--reason", "it was small"];
    let code = code_of(&play.gate(&skip));
    let _ = types(&play.sandbox, &format!("approve {code}"));
    play.gate(&[&skip[..], &["--approved"]].concat()).ok();
    let record = play.sandbox.records().pop().expect("a record");
    assert_eq!(record["cause"], format!("approved with the code {code}: it was small"));
    let report = play.gate(&["report", "2"]);
    assert!(report.ok().contains("NOT PASSED"), "{report:?}");
    assert!(report.stdout.contains("\nA person skipped it ("), "{report:?}");
    assert_eq!(play.gate(&["report", "2", "--json"]).json()[0]["recorded"], "skipped");
}

#[test]
fn the_status_of_a_session_shows_its_workflow() {
    let play = Play::at_gate();
    let shown = |play: &Play| play.sandbox.run(&["status"]).words();
    let line = "workflow feature: phase 4 of 16 (skill discovery); checkpoint 1 blocks agents, `tidegate workflow check 1` says why";
    assert!(shown(&play).contains(line), "{}", shown(&play));
    let json = play.sandbox.run(&["status", "--json"]).json();
    assert_eq!((&json["workflow"]["phase"], &json["workflow"]["pending"]), (&json!(4), &json!([1])));
    play.gate(&["pass", "1"]).ok();
    assert!(
        shown(&play).contains("workflow feature: phase 4 of 16 (skill discovery) hooks "),
        "{}",
        shown(&play)
    );
    fs::write(play.path(), "phases: {").expect("the file");
    assert!(shown(&play).contains("its manifest cannot be used"), "{}", shown(&play));
    fs::remove_file(play.path()).expect("it can go");
    assert!(shown(&play).contains("its manifest is gone"), "{}", shown(&play));
}

#[test]
fn errors_say_how_to_go_on() {
    let play = Play::new();
    let template = play.gate(&["template", "3"]);
    assert!(
        template.ok().contains("E2E tests: N/N passed"),
        "without a workflow, the built-in one: {template:?}"
    );
    assert!(
        play.gate(&["template", "4"]).failed().contains("use one of: 1 (after phase 3), 2 (after phase 8)")
    );
    play.gate(&["start", "x"]).ok();
    let hint = format!("hint: `tidegate workflow attach {PATH}` uses it");
    assert!(play.gate(&["start", "x"]).failed().contains(&hint));
    let hint = "`tidegate workflow note 3 --status complete` completes it";
    assert!(play.gate(&["pass", "1"]).failed().contains(hint));
    assert!(
        play.gate(&["attach", "/etc/hostname"]).failed().contains("hint: name a manifest inside the project")
    );
    let before = play.text();
    for (name, why) in [("nope.md", "there is no file nope.md"), ("/etc/hostname", "is outside the project")]
    {
        assert!(play.gate(&["note", "3", "--artifact", name]).failed().contains(why), "{name}");
    }
    assert_eq!(play.text(), before);
    fs::write(play.path(), "phases: {").expect("the file");
    assert!(play.gate(&["check", "1"]).failed().contains("hint: correct the file by hand"));
}

/// Manifests of other tools, which no session used: nothing is said that only their writers know.
#[test]
fn the_status_of_a_manifest_that_no_session_used_says_only_what_it_says() {
    const LIST: &str = "feature_name: \"Importer review\"\nstatus: STATUS\nartifacts:\n  - path: review.md\n";
    const CAPABILITY: &str = "capability_name: Importer\nstatus: STATUS\ncurrent_phase: 16\nphases:\n  5_complexity: {status: complete}\n";
    let shown = |path: &str, text: &str| {
        let sandbox = attended();
        let path = sandbox.project().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs::write(&path, text).expect("the file");
        let checked = sandbox.run(&["workflow", "check"]);
        (sandbox.run(&["workflow", "status"]).words(), checked)
    };
    let finished = ["Nothing is left", "ended before", "all complete", "ended with", "not reached"];
    for status in ["in-progress", "complete"] {
        let path = ".claude/.output/agents/2026-03-04-importer/MANIFEST.yaml";
        let (words, checked) = shown(path, &LIST.replace("STATUS", status));
        assert!(
            words.contains("Manifest: Importer review phase none: the manifest lists no phases"),
            "{words}"
        );
        assert!(words.contains("cannot tell what is left to do"), "{words}");
        assert!(finished.iter().all(|text| !words.contains(text)), "{words}");
        assert!(!words.contains("Checkpoints"), "{words}");
        assert!(checked.failed().contains("lists no phases, so it has no checkpoints"), "{checked:?}");
    }
    // Next to such a list, the one with phases is meant.
    let play = Play::at_gate();
    let list = play.sandbox.project().join(".claude/.output/agents/x/MANIFEST.yaml");
    fs::create_dir_all(list.parent().expect("a folder")).expect("the folder");
    fs::write(list, LIST).expect("the file");
    let asked = by_agent_of(&play.sandbox, &["workflow", "status", "--json"], "another-session").json();
    assert_eq!(asked["manifest"], PATH, "{asked}");
    // A session's own manifest that lost its phases still has its checkpoint.
    play.denied();
    let _ = play.writes("feature_name: x\nstatus: complete\n");
    let words = play.gate(&["status"]).words();
    assert!(words.contains("phase not known: the manifest lost its phases"), "{words}");
    let asked = play.gate(&["detach"]);
    assert!(asked.stdout.contains("Instead, Claude can restore what that file said"), "{asked:?}");
    assert!(words.contains("1 phase 3 blocks agents") && !words.contains("ended with"), "{words}");
    let path = ".capability-development/MANIFEST.yaml";
    let (words, checked) = shown(path, &CAPABILITY.replace("STATUS", "complete"));
    assert!(words.contains("feature: Importer phase complete, as the manifest says"), "{words}");
    assert!(words.contains("3 phase 13 no record"), "{words}");
    assert!(words.contains("cannot tell whether all of it was done"), "{words}");
    assert!(finished.iter().all(|text| !words.contains(text)), "{words}");
    assert_eq!(checked.code, Some(1), "{checked:?}");
    let (words, _) = shown(
        path,
        &CAPABILITY
            .replace("STATUS", "in-progress")
            .replace("current_phase: 16\n", "")
            .replace("5_complexity", "2_triage"),
    );
    assert!(words.contains("names no current phase. Start the next one"), "{words}");
    assert!(finished[..4].iter().all(|text| !words.contains(text)), "{words}");
}

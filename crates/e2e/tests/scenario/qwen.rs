//! Qwen Code, with the hooks that `init --host qwen` writes: each policy as it works there.

use std::fs;

use serde_json::json;
use tidegate_core::host::qwen::tools::{AGENT_TOOLS, OTHER_TOOLS, SPAWNING_TOOLS};
use tidegate_e2e::home::Home;
use tidegate_e2e::host::qwen::{Qwen, edit, invoke, read, shell, write};
use tidegate_e2e::host::trial::{
    AFTER, BEFORE, PASSING, SOURCE, TEST, Trial, add_stages, cycle, growing, note_progress, project, rulings,
};
use tidegate_e2e::openai::{OpenAi, Step};
use tidegate_e2e::tidegate::binary;

/// It edits only a file that it has read.
fn edits(home: &Home) -> [Step; 2] {
    let file = home.in_project(SOURCE);
    [read(&file), edit(&file, BEFORE, AFTER)]
}

#[test]
fn edits_of_two_files_wait_for_the_skill() {
    let home = project();
    let [look, change] = edits(&home);
    let new = write(&home.in_project("src/B.java"), "class B {}\n");
    let model = OpenAi::start(vec![
        look,
        Step::all([change.clone(), new.clone()]),
        invoke("code-quality-rules"),
        Step::all([change, new]),
        shell(PASSING),
        Step::text("done"),
    ]);
    let host = Qwen::new(&home, &model);
    let trial = Trial::new(&host, &["--preset", "strict"]);
    trial.ask("Change the constants");
    let results = trial.results();
    assert!(
        results[1].contains("code-quality-rules") && results[2].contains("code-quality-rules"),
        "{results:#?}"
    );
    assert!(results[3].contains("Base directory for this skill"), "{results:#?}");
    assert_eq!(fs::read_to_string(home.in_project(SOURCE)).expect("a file"), AFTER);
    assert!(home.in_project("src/B.java").is_file());
    trial.assert_gates(&["edit", "write_file"], &["deny", "deny", "pass", "pass"]);
}

/// Qwen Code reports a command that failed as a failure: "done" has to wait.
#[test]
fn done_waits_for_a_check_that_passed() {
    let home = project();
    let [look, change] = edits(&home);
    let model = OpenAi::start(vec![
        look,
        change,
        shell(TEST),
        Step::text("It is done."),
        shell(PASSING),
        Step::text("Now it is done."),
    ]);
    let host = Qwen::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask("Change the constants");
    trial.assert_rulings("Stop", &["deny", "pass"]);
    let turns = model.turns();
    assert_eq!(turns.len(), 6, "the block started one more turn, and no more");
    assert!(turns[4].says(TEST));
    trial.assert_check_failed_and_passed("PostToolUseFailure");
    // One prompt was a person's: the block's reason and the results of tools were not.
    assert_eq!(trial.tidegate.records_of("UserPromptSubmit").len(), 2);
}

/// A model that never runs a check is held once, not for ever.
#[test]
fn a_hold_does_not_loop() {
    let home = project();
    let [look, change] = edits(&home);
    let model = OpenAi::start(vec![look, change, Step::text("It is done.")]);
    let host = Qwen::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask("Change the constants");
    trial.assert_held_without_a_loop();
}

#[test]
fn notes_reach_the_model_and_the_meter_is_the_models_own() {
    let home = project();
    let model = OpenAi::start(growing(shell));
    let host = Qwen::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    note_progress(&home, "- next: logout button\n");
    trial.ask("Go on");
    assert!(model.turns()[0].says("progress.md"));
    // The answer counts, too: the model reports ten tokens for each.
    trial.assert_meter(53_010, 200_000, 167_000);
}

/// What is said right after a compaction is dropped, so lost facts come with the next result.
#[test]
fn what_a_compaction_lost_comes_back_after_it() {
    let home = project();
    let [look, change] = edits(&home);
    let model = OpenAi::start(vec![
        look.used(30_000),
        change.used(31_000),
        shell("echo again").used(172_000),
        shell(PASSING).used(9_000),
        shell("echo last").used(9_200),
        Step::text("done").used(9_500),
    ]);
    let host = Qwen::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    note_progress(
        &home,
        "- constraint: never touch `vendor/payments.lock`\n- next: logout button in `src/logout.py`\n",
    );
    trial.ask("Change the constants");
    // Named to the summariser before.
    let before = trial.said("PreCompact");
    assert!(before.iter().any(|said| said.contains(SOURCE)), "{before:#?}");
    assert!(model.summaries().iter().any(|request| request.says(SOURCE)));
    let starts = trial.tidegate.records_of("SessionStart");
    let after = starts.iter().find(|it| it["cause"] == "compact").unwrap_or_else(|| panic!("{starts:#?}"));
    // What would be dropped is not recorded as said.
    assert!(after["said"]["model"].is_null(), "{after:#}");
    let results = trial.said("PostToolUse");
    let said = results.iter().find(|said| said.contains("lost these facts"));
    // Qwen Code itself puts the files of the last steps behind the summary.
    assert!(said.is_some_and(|said| said.contains("src/logout.py")), "{results:#?}");
    assert!(model.turns().last().expect("a request").says("lost these facts"));
}

/// What is said right after a compaction is dropped, so a tool result reminds the model of the stage, once.
#[test]
fn a_stage_outlives_a_compaction() {
    let home = project();
    let model = OpenAi::start(vec![
        shell(&cycle("start")).used(20_000),
        invoke("sprint").used(30_000),
        shell("echo again").used(172_000),
        shell("echo more").used(9_000),
        shell("echo last").used(9_200),
        Step::text("Which schema shall I use?").used(9_500),
    ]);
    let host = Qwen::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    add_stages(&home, ".qwen");
    trial.ask("Run a cycle");
    let said = trial.said("PostToolUse");
    let reminders = said.iter().filter(|said| said.contains("Before this compaction:")).count();
    assert_eq!(reminders, 1, "{:#?}", trial.tidegate.journal());
    assert!(model.turns().last().expect("a request").says("Before this compaction:"));
    assert_eq!(trial.stage(), ("sprint".to_owned(), "running".to_owned()));
}

/// Fails if Qwen Code has a tool whose place is not decided: whether it gives work to agents decides where it belongs.
#[test]
fn every_tool_is_known() {
    let home = project();
    let model = OpenAi::start(vec![Step::text("done")]);
    let host = Qwen::with_every_tool(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask("hello");
    let offered = model.turns()[0].tools();
    let known = [SPAWNING_TOOLS, AGENT_TOOLS, OTHER_TOOLS].concat();
    let is_known = |name: &String| known.contains(&name.as_str()) || name.starts_with("mcp__");
    let unknown: Vec<&String> = offered.iter().filter(|name| !is_known(name)).collect();
    assert!(unknown.is_empty(), "tools to classify in core/src/host/qwen/tools.rs: {unknown:?}");
    for name in ["agent", "workflow", "send_message", "skill", "run_shell_command", "exit_worktree"] {
        assert!(offered.iter().any(|tool| tool == name), "{name} is among {offered:?}");
    }
}

/// Behind a checkpoint work for an agent is denied, whatever tool gives it.
#[test]
fn agents_wait_for_a_checkpoint() {
    let home = project();
    let gate = |arguments: &str| shell(&format!("{} workflow {arguments}", binary().display()));
    let manifest = ".claude/.output/features/x/MANIFEST.yaml";
    let agent = json!({ "description": "look", "prompt": "look around", "subagent_type": "general-purpose" });
    let message = json!({ "task_id": "t1", "message": "go on" });
    let model = OpenAi::start(vec![
        gate("start x"),
        shell(&format!("perl -pi -e 's/^current_phase: .*/current_phase: 4/' {manifest}")),
        Step::call("agent", agent),
        Step::call("send_message", message.clone()),
        // A tool that was not loaded is called through this one.
        Step::call("tool_call", json!({ "name": "send_message", "arguments": message })),
        Step::text("done"),
    ]);
    let host = Qwen::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask("Go through the phases");
    let results = trial.results();
    for denied in &results[2..] {
        assert!(
            denied.contains("checkpoint 1, after phase 3"),
            "{results:#?} {:#?}",
            trial.tidegate.journal()
        );
    }
    assert_eq!(rulings(&trial.gates(&["agent", "send_message"])), ["deny", "deny", "deny"]);
}

#[test]
fn a_conversation_is_found_from_claude_code() {
    let home = project();
    let model = OpenAi::start(vec![Step::text("The zebra queue drains at night, because of a lock.")]);
    let host = Qwen::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask_as_person("Why is the zebra queue slow?");
    trial.assert_found_from_claude_code("Why is the zebra queue slow?", "zebra queue", "slow");
}

/// The memory's server is in the settings, too, and everything goes again.
#[test]
fn the_model_has_the_memory_and_uninstall_takes_all_back() {
    let home = project();
    let search = Step::call("mcp__tidegate__search", json!({ "query": "zebra" }));
    let model = OpenAi::start(vec![search, Step::text("done")]);
    let host = Qwen::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask("Was the zebra queue ever discussed?");
    let results = trial.results();
    assert!(!results[0].contains("not found"), "{results:#?}");
    trial.uninstall();
    // Qwen Code adds a version of its own to the file.
    let settings = fs::read_to_string(home.in_project(".qwen/settings.json")).unwrap_or_default();
    assert!(!settings.contains("tidegate") && !home.in_project(".qwen/skills").exists(), "{settings}");
}

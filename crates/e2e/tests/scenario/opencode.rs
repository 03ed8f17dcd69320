//! opencode, with the plugin that `init --host opencode` writes: each policy as it works there.

use std::fs;

use serde_json::json;
use tidegate_e2e::home::Home;
use tidegate_e2e::host::opencode::{LIMITS, OpenCode, edit, invoke, read, shell, write};
use tidegate_e2e::host::trial::{
    AFTER, BEFORE, PASSING, SOURCE, TEST, Trial, growing, note_progress, project,
};
use tidegate_e2e::openai::{OpenAi, Step};

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
        change.clone(),
        new.clone(),
        invoke("code-quality-rules"),
        change,
        new,
        shell(PASSING),
        Step::text("done"),
    ]);
    let host = OpenCode::new(&home, &model);
    let trial = Trial::new(&host, &["--preset", "strict"]);
    trial.ask("Change the constants");
    let results = trial.results();
    assert!(
        results[1].contains("code-quality-rules") && results[2].contains("code-quality-rules"),
        "{results:#?}"
    );
    assert_eq!(fs::read_to_string(home.in_project(SOURCE)).expect("a file"), AFTER, "{results:#?}");
    assert!(home.in_project("src/B.java").is_file(), "{results:#?}");
    trial.assert_gates(&["edit", "write"], &["deny", "deny", "pass", "pass"]);
}

/// A plugin hears of an end of a turn too late to block it: the reason becomes the next prompt.
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
    let host = OpenCode::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask("Change the constants");
    let results = trial.tidegate.records_of("PostToolUse");
    assert!(
        results.iter().any(|it| it["did"]["failed"].as_str().is_some_and(|line| line.contains(TEST))),
        "{results:#?}"
    );
    let stops = trial.tidegate.records_of("Stop");
    assert_eq!(stops.first().map(|stop| &stop["ruling"]), Some(&json!("deny")), "{stops:#?}");
    // `opencode run` ends with the turn, or a little later: whatever was sent by then was the reason.
    if let Some(next) = model.turns().get(4) {
        assert!(next.says(TEST));
    }
}

#[test]
fn notes_reach_the_model_and_the_meter_is_the_models_own() {
    let home = project();
    let model = OpenAi::start(growing(shell));
    let host = OpenCode::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    note_progress(&home, "- next: logout button\n");
    trial.ask("Go on");
    assert!(model.turns()[0].says("progress.md"));
    let results = trial.tidegate.records_of("PostToolUse");
    let meter = &results[1]["meter"];
    // opencode counts an answer after its tools: ten tokens of it are the answer's, as the model reports.
    let (context, answer) = LIMITS;
    assert_eq!(
        (&meter["used"], &meter["window"]),
        (&json!(31_010), &json!(context - answer)),
        "{results:#?}"
    );
}

#[test]
fn what_a_compaction_lost_comes_back_after_it() {
    let home = project();
    let [look, change] = edits(&home);
    let model = OpenAi::start(vec![
        look.used(30_000),
        change.used(31_000),
        shell("echo again").used(99_000),
        shell(PASSING).used(9_000),
        shell("echo last").used(9_200),
        Step::text("done").used(9_500),
    ]);
    let host = OpenCode::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    note_progress(
        &home,
        "- constraint: never touch `vendor/payments.lock`\n- next: logout button in `src/logout.py`\n",
    );
    trial.ask("Change the constants");
    let before = trial.said("PreCompact");
    assert!(before.iter().any(|said| said.contains(SOURCE)), "{before:#?}");
    assert!(!trial.tidegate.records_of("PostCompact").is_empty());
    let last = model.turns().pop().expect("a request");
    assert!(last.says("lost these facts"), "{:#?}", trial.tidegate.journal());
}

/// Without the program opencode works on, and the model hears that nothing is gated.
#[test]
fn a_missing_program_breaks_nothing_and_is_said_once() {
    let home = project();
    let [look, change] = edits(&home);
    let model = OpenAi::start(vec![look, change, shell("echo two"), Step::text("done")]);
    let host = OpenCode::new(&home, &model);
    let trial = Trial::new(&host, &["--preset", "strict"]);
    fs::remove_file(home.link()).expect("the link to the program");
    let output = host.ask("Change the constants");
    assert_eq!(output.exit, Some(0), "{output:#?}");
    assert_eq!(fs::read_to_string(home.in_project(SOURCE)).expect("a file"), AFTER);
    let results = trial.results();
    let said = results.iter().filter(|result| result.contains("Tidegate could not run")).count();
    assert_eq!(said, 1, "{results:#?}");
}

#[test]
fn the_model_has_the_memory_and_uninstall_takes_all_back() {
    let home = project();
    let search = Step::call("tidegate_search", json!({ "query": "zebra" }));
    let model = OpenAi::start(vec![search, Step::text("done")]);
    let host = OpenCode::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask("Was the zebra queue ever discussed?");
    let called = trial.tidegate.records_of("PostToolUse");
    assert!(called.iter().any(|it| it["tool"] == "tidegate_search"), "{called:#?}");
    trial.uninstall();
    assert!(!home.in_project(".opencode/plugins").exists() && !home.in_project(".opencode/skills").exists());
}

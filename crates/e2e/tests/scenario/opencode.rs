//! opencode, with the plugin that `init --host opencode` writes: each policy as it works there.

use std::fs;

use serde_json::{Value, json};
use tidegate_e2e::home::Home;
use tidegate_e2e::host::opencode::{LIMITS, OpenCode, edit, invoke, read, shell, write};
use tidegate_e2e::host::{Output, settle};
use tidegate_e2e::openai::{OpenAi, Request, Step};
use tidegate_e2e::tidegate::Tidegate;

use super::work::gradle;

const TEST: &str = "./gradlew test";
const BEFORE: &str = "class A {}\n";
const AFTER: &str = "final class A {}\n";

/// A project with code and a check that passes once `ok` exists.
fn project() -> Home {
    let home = Home::new();
    gradle(&home);
    home.write("src/A.java", BEFORE);
    home.write("gradlew", "#!/bin/sh\n[ -f ok ] || { echo '1 test failed'; exit 1; }\n");
    home
}

fn install<'a>(home: &'a Home, flags: &[&str]) -> Tidegate<'a> {
    Tidegate::init_with(home, &[&["--host", "opencode"], flags].concat())
}

fn edits(home: &Home) -> [Step; 2] {
    let file = home.in_project("src/A.java");
    [read(&file), edit(&file, BEFORE, AFTER)]
}

fn assert_healthy(output: &Output, tidegate: &Tidegate<'_>) {
    assert_eq!(output.exit, Some(0), "{output:#?}");
    tidegate.assert_unfailing();
    let journal = tidegate.journal();
    assert!(!journal.is_empty() && journal.iter().all(|record| record["host"] == "opencode"), "{journal:#?}");
}

fn results(model: &OpenAi) -> Vec<String> {
    model.turns().last().map(Request::tool_results).unwrap_or_default()
}

fn rulings(records: &[Value]) -> Vec<&Value> {
    records.iter().map(|record| &record["ruling"]).collect()
}

#[test]
fn edits_of_two_files_wait_for_the_skill() {
    let home = project();
    let tidegate = install(&home, &["--preset", "strict"]);
    let [look, change] = edits(&home);
    let new = write(&home.in_project("src/B.java"), "class B {}\n");
    let model = OpenAi::start(vec![
        look,
        change.clone(),
        new.clone(),
        invoke("code-quality-rules"),
        change,
        new,
        shell("touch ok && ./gradlew test"),
        Step::text("done"),
    ]);
    let host = OpenCode::new(&home, &model);
    let output = host.ask("Change the constants");
    assert_healthy(&output, &tidegate);
    let results = results(&model);
    assert!(
        results[1].contains("code-quality-rules") && results[2].contains("code-quality-rules"),
        "{results:#?}"
    );
    assert_eq!(fs::read_to_string(home.in_project("src/A.java")).expect("a file"), AFTER, "{results:#?}");
    assert!(home.in_project("src/B.java").is_file(), "{results:#?}");
    let gates = tidegate.records_of("PreToolUse");
    let edits: Vec<Value> =
        gates.into_iter().filter(|it| it["tool"] == "edit" || it["tool"] == "write").collect();
    assert_eq!(rulings(&edits), ["deny", "deny", "pass", "pass"], "{edits:#?}");
    settle(&home);
}

/// A plugin hears of an end of a turn too late to block it: the reason becomes the next prompt.
#[test]
fn done_waits_for_a_check_that_passed() {
    let home = project();
    let tidegate = install(&home, &[]);
    let [look, change] = edits(&home);
    let model = OpenAi::start(vec![
        look,
        change,
        shell(TEST),
        Step::text("It is done."),
        shell("touch ok && ./gradlew test"),
        Step::text("Now it is done."),
    ]);
    let host = OpenCode::new(&home, &model);
    let output = host.ask("Change the constants");
    assert_healthy(&output, &tidegate);
    let results = tidegate.records_of("PostToolUse");
    assert!(
        results.iter().any(|it| it["did"]["failed"].as_str().is_some_and(|line| line.contains(TEST))),
        "{results:#?}"
    );
    let stops = tidegate.records_of("Stop");
    assert_eq!(stops.first().map(|stop| &stop["ruling"]), Some(&json!("deny")), "{stops:#?}");
    // `opencode run` ends with the turn, or a little later: whatever was sent by then was the reason.
    if let Some(next) = model.turns().get(4) {
        assert!(next.says(TEST));
    }
    settle(&home);
}

#[test]
fn notes_reach_the_model_and_the_meter_is_the_models_own() {
    let home = project();
    let tidegate = install(&home, &[]);
    home.write(
        ".claude/context/progress.md",
        "# Progress\n\n## 2026-11-15 login page added\n\n- next: logout button\n",
    );
    let model = OpenAi::start(vec![
        shell("true").used(31_000),
        shell("echo two").used(42_000),
        Step::text("done").used(53_000),
    ]);
    let host = OpenCode::new(&home, &model);
    let output = host.ask("Go on");
    assert_healthy(&output, &tidegate);
    assert!(model.turns()[0].says("progress.md"));
    let results = tidegate.records_of("PostToolUse");
    let meter = &results[1]["meter"];
    // opencode counts an answer after its tools: ten tokens of it are the answer's, as the model reports.
    let (context, answer) = LIMITS;
    assert_eq!(
        (&meter["used"], &meter["window"]),
        (&json!(31_010), &json!(context - answer)),
        "{results:#?}"
    );
    settle(&home);
}

#[test]
fn what_a_compaction_lost_comes_back_after_it() {
    let home = project();
    let tidegate = install(&home, &[]);
    home.write(
        ".claude/context/progress.md",
        "# Progress\n\n## 2026-11-15 login page added\n\n- constraint: never touch `vendor/payments.lock`\n- next: logout button in `src/logout.py`\n",
    );
    let [look, change] = edits(&home);
    let model = OpenAi::start(vec![
        look.used(30_000),
        change.used(31_000),
        shell("echo again").used(99_000),
        shell("touch ok && ./gradlew test").used(9_000),
        shell("echo last").used(9_200),
        Step::text("done").used(9_500),
    ]);
    let host = OpenCode::new(&home, &model);
    let output = host.ask("Change the constants");
    assert_healthy(&output, &tidegate);
    let before = tidegate.records_of("PreCompact");
    assert!(
        before.iter().filter_map(|it| it["said"]["model"].as_str()).any(|it| it.contains("src/A.java")),
        "{before:#?}"
    );
    assert!(!tidegate.records_of("PostCompact").is_empty());
    assert!(model.turns().last().expect("a request").says("lost these facts"), "{:#?}", tidegate.journal());
    settle(&home);
}

/// Without the program opencode works on, and the model hears that nothing is gated.
#[test]
fn a_missing_program_breaks_nothing_and_is_said_once() {
    let home = project();
    install(&home, &["--preset", "strict"]);
    fs::remove_file(home.link()).expect("the link to the program");
    let [look, change] = edits(&home);
    let model = OpenAi::start(vec![look, change, shell("echo two"), Step::text("done")]);
    let host = OpenCode::new(&home, &model);
    let output = host.ask("Change the constants");
    assert_eq!(output.exit, Some(0), "{output:#?}");
    assert_eq!(fs::read_to_string(home.in_project("src/A.java")).expect("a file"), AFTER);
    let said = results(&model).iter().filter(|result| result.contains("Tidegate could not run")).count();
    assert_eq!(said, 1, "{:#?}", results(&model));
}

#[test]
fn the_model_has_the_memory_and_uninstall_takes_all_back() {
    let home = project();
    let tidegate = install(&home, &[]);
    let model =
        OpenAi::start(vec![Step::call("tidegate_search", json!({ "query": "zebra" })), Step::text("done")]);
    let host = OpenCode::new(&home, &model);
    let output = host.ask("Was the zebra queue ever discussed?");
    assert_healthy(&output, &tidegate);
    let called = tidegate.records_of("PostToolUse");
    assert!(called.iter().any(|it| it["tool"] == "tidegate_search"), "{called:#?}");
    let project = home.project().display().to_string();
    tidegate.run(&["uninstall", "--host", "opencode", "--project", &project]);
    assert!(!home.in_project(".opencode/plugins").exists() && !home.in_project(".opencode/skills").exists());
    settle(&home);
}

//! Qwen Code, with the hooks that `init --host qwen` writes: each policy as it works there.

use std::fs;

use serde_json::{Value, json};
use tidegate_e2e::client::Launch;
use tidegate_e2e::home::Home;
use tidegate_e2e::host::qwen::{Qwen, edit, invoke, read, shell, warnings, write};
use tidegate_e2e::host::{Output, settle};
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::openai::{OpenAi, Request, Step};
use tidegate_e2e::tidegate::{Tidegate, binary};

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
    Tidegate::init_with(home, &[&["--host", "qwen"], flags].concat())
}

fn edits(home: &Home) -> [Step; 2] {
    let file = home.in_project("src/A.java");
    [read(&file), edit(&file, BEFORE, AFTER)]
}

fn assert_healthy(output: &Output, tidegate: &Tidegate<'_>) {
    assert_eq!(output.exit, Some(0), "{output:#?}");
    tidegate.assert_unfailing();
    let journal = tidegate.journal();
    assert!(!journal.is_empty() && journal.iter().all(|record| record["host"] == "qwen"), "{journal:#?}");
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
        Step::all([change.clone(), new.clone()]),
        invoke("code-quality-rules"),
        Step::all([change, new]),
        shell("touch ok && ./gradlew test"),
        Step::text("done"),
    ]);
    let host = Qwen::new(&home, &model);
    let output = host.ask("Change the constants");
    assert_healthy(&output, &tidegate);
    let results = results(&model);
    assert!(
        results[1].contains("code-quality-rules") && results[2].contains("code-quality-rules"),
        "{results:#?}"
    );
    assert!(results[3].contains("Base directory for this skill"), "{results:#?}");
    assert_eq!(fs::read_to_string(home.in_project("src/A.java")).expect("a file"), AFTER);
    assert!(home.in_project("src/B.java").is_file());
    let gates = tidegate.records_of("PreToolUse");
    assert_eq!(rulings(&gates), ["deny", "deny", "pass", "pass"], "{gates:#?}");
    settle(&home);
}

/// Qwen Code reports a command that failed as a failure: "done" has to wait.
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
    let host = Qwen::new(&home, &model);
    let output = host.ask("Change the constants");
    assert_healthy(&output, &tidegate);
    let stops = tidegate.records_of("Stop");
    assert_eq!(rulings(&stops), ["deny", "pass"], "{stops:#?}");
    let turns = model.turns();
    assert_eq!(turns.len(), 6, "the block started one more turn, and no more");
    assert!(turns[4].says(TEST));
    let failed = tidegate.records_of("PostToolUseFailure");
    assert!(
        failed.iter().any(|it| it["did"]["failed"].as_str().is_some_and(|line| line.contains(TEST))),
        "{failed:#?}"
    );
    let passed = tidegate.records_of("PostToolUse");
    assert!(passed.iter().any(|it| it["did"]["verified"][0] == "test"), "{passed:#?}");
    // One prompt was a person's: the block's reason and the results of tools were not.
    assert_eq!(tidegate.records_of("UserPromptSubmit").len(), 2);
    settle(&home);
}

/// A model that never runs a check is held once, not for ever.
#[test]
fn a_hold_does_not_loop() {
    let home = project();
    let tidegate = install(&home, &[]);
    let [look, change] = edits(&home);
    let model = OpenAi::start(vec![look, change, Step::text("It is done.")]);
    let host = Qwen::new(&home, &model);
    let output = host.ask("Change the constants");
    assert_healthy(&output, &tidegate);
    let stops = tidegate.records_of("Stop");
    let held = stops.iter().filter(|stop| stop["ruling"] == "deny").count();
    assert!((1..=2).contains(&held) && stops.last().expect("a stop")["ruling"] == "pass", "{stops:#?}");
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
    let host = Qwen::new(&home, &model);
    let output = host.ask("Go on");
    assert_healthy(&output, &tidegate);
    assert!(warnings(&output).is_empty(), "{output:#?}");
    assert!(model.turns()[0].says("progress.md"));
    let session = tidegate.records_of("Stop")[0]["session"].as_str().expect("a session").to_owned();
    let meter = tidegate.meter(&session);
    // The answer counts, too: the model reports ten tokens for each.
    assert_eq!(
        (&meter["used"], &meter["window"], &meter["compact_at"]),
        (&json!(53_010), &json!(200_000), &json!(167_000)),
        "{meter}"
    );
    settle(&home);
}

/// What is said right after a compaction is dropped, so lost facts come with the next result.
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
        shell("echo again").used(172_000),
        shell("touch ok && ./gradlew test").used(9_000),
        shell("echo last").used(9_200),
        Step::text("done").used(9_500),
    ]);
    let host = Qwen::new(&home, &model);
    let output = host.ask("Change the constants");
    assert_healthy(&output, &tidegate);
    // Named to the summariser before.
    let before = tidegate.records_of("PreCompact");
    let named =
        before.iter().filter_map(|it| it["said"]["model"].as_str()).any(|it| it.contains("src/A.java"));
    assert!(named, "{before:#?}");
    assert!(model.summaries().iter().any(|request| request.says("src/A.java")));
    let starts = tidegate.records_of("SessionStart");
    let after = starts.iter().find(|it| it["cause"] == "compact").unwrap_or_else(|| panic!("{starts:#?}"));
    // What would be dropped is not recorded as said.
    assert!(after["said"]["model"].is_null(), "{after:#}");
    let results = tidegate.records_of("PostToolUse");
    let said = results
        .iter()
        .filter_map(|it| it["said"]["model"].as_str())
        .find(|it| it.contains("lost these facts"));
    // Qwen Code itself puts the files of the last steps behind the summary.
    assert!(said.is_some_and(|said| said.contains("src/logout.py")), "{results:#?}");
    assert!(model.turns().last().expect("a request").says("lost these facts"));
    settle(&home);
}

/// One memory: what was said in Qwen Code is found on the command line and by the model in Claude Code.
#[test]
fn a_conversation_is_found_from_claude_code() {
    let home = project();
    let tidegate = install(&home, &[]);
    let model = OpenAi::start(vec![Step::text("The zebra queue drains at night, because of a lock.")]);
    let host = Qwen::new(&home, &model);
    let output = host.ask_as_person("Why is the zebra queue slow?");
    assert_healthy(&output, &tidegate);
    tidegate.run(&["worker", "--once"]);
    let printed = tidegate.run(&["memory", "search", "zebra queue", "--json"]);
    assert!(printed.contains("Why is the zebra queue slow?"), "{printed}");

    let search = Reply::tool("mcp__tidegate__search", json!({ "query": "zebra queue" }));
    let model = Model::start(Script::new().main(search).main(Reply::text("found")));
    let server = json!({ "mcpServers": { "tidegate": { "command": binary(), "args": ["mcp"] } } });
    let run = Launch::new(&home, &model)
        .argument("--mcp-config")
        .argument(server.to_string())
        .argument("--strict-mcp-config")
        .argument("--allowedTools")
        .argument("mcp__tidegate")
        .ask("Was the zebra queue ever discussed?");
    let found = model.main_requests().last().expect("a request").last_tool_result().text;
    assert!(found.contains("zebra") && found.contains("slow"), "{found} {run:?}");
}

/// The memory's server is in the settings, too, and everything goes again.
#[test]
fn the_model_has_the_memory_and_uninstall_takes_all_back() {
    let home = project();
    let tidegate = install(&home, &[]);
    let model = OpenAi::start(vec![
        Step::call("mcp__tidegate__search", json!({ "query": "zebra" })),
        Step::text("done"),
    ]);
    let host = Qwen::new(&home, &model);
    let output = host.ask("Was the zebra queue ever discussed?");
    assert_healthy(&output, &tidegate);
    let results = results(&model);
    assert!(!results[0].contains("not found"), "{results:#?}");
    let project = home.project().display().to_string();
    tidegate.run(&["uninstall", "--host", "qwen", "--project", &project]);
    // Qwen Code adds a version of its own to the file.
    let settings = fs::read_to_string(home.in_project(".qwen/settings.json")).unwrap_or_default();
    assert!(!settings.contains("tidegate") && !home.in_project(".qwen/skills").exists(), "{settings}");
    settle(&home);
}

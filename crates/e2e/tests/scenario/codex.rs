//! Codex, with the hooks that `init --host codex` writes: each policy as it works there.

use std::fs;

use serde_json::{Value, json};
use tidegate_e2e::client::Launch;
use tidegate_e2e::home::Home;
use tidegate_e2e::host::Output;
use tidegate_e2e::host::codex::{Codex, hook_runs, shell};
use tidegate_e2e::host::settle;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::openai::{OpenAi, Request, Step};
use tidegate_e2e::tidegate::{Tidegate, binary};

use super::work::gradle;

const PATCH: &str = "*** Begin Patch\n*** Add File: src/B.java\n+class B {}\n*** Update File: src/A.java\n@@\n-class A {}\n\
                     +final class A {}\n*** End Patch\n";

const TEST: &str = "./gradlew test";

/// A project with code and a check that passes once `ok` exists.
fn project() -> Home {
    let home = Home::new();
    gradle(&home);
    home.write("src/A.java", "class A {}\n");
    home.write("gradlew", "#!/bin/sh\n[ -f ok ] || { echo '1 test failed'; exit 1; }\n");
    home
}

fn install<'a>(home: &'a Home, flags: &[&str]) -> Tidegate<'a> {
    Tidegate::init_with(home, &[&["--host", "codex"], flags].concat())
}

fn assert_healthy(output: &Output, tidegate: &Tidegate<'_>) {
    assert_eq!(output.exit, Some(0), "{output:#?}");
    let runs = hook_runs(output);
    assert!(runs.iter().any(|run| run.starts_with("UserPromptSubmit ")), "no hook was run: {output:#?}");
    let failed: Vec<_> = runs.iter().filter(|run| run.ends_with(" Failed")).collect();
    assert!(failed.is_empty(), "{failed:?} {output:#?}");
    tidegate.assert_unfailing();
    let journal = tidegate.journal();
    assert!(journal.iter().all(|record| record["host"] == "codex"), "{journal:#?}");
}

fn results(model: &OpenAi) -> Vec<String> {
    model.turns().last().map(Request::tool_results).unwrap_or_default()
}

/// One patch of two files is denied as a whole, until the skill was read.
#[test]
fn an_edit_of_two_files_waits_for_the_skill() {
    let home = project();
    let tidegate = install(&home, &["--preset", "strict"]);
    let model = OpenAi::start(vec![
        Step::freeform("apply_patch", PATCH),
        shell("cat .codex/skills/code-quality-rules/SKILL.md"),
        Step::freeform("apply_patch", PATCH),
        shell("touch ok && ./gradlew test"),
        Step::text("done"),
    ]);
    let host = Codex::new(&home, &model);
    let output = host.ask("Change the constants");
    assert_healthy(&output, &tidegate);
    let results = results(&model);
    assert!(results[0].contains("code-quality-rules") && results[0].contains("SKILL.md"), "{results:#?}");
    assert!(results[2].contains("Success"), "{results:#?}");
    assert_eq!(fs::read_to_string(home.in_project("src/A.java")).expect("a file"), "final class A {}\n");
    let gates = tidegate.records_of("PreToolUse");
    let rulings: Vec<&Value> =
        gates.iter().filter(|it| it["tool"] == "apply_patch").map(|it| &it["ruling"]).collect();
    assert_eq!(rulings, ["deny", "pass"], "{gates:#?}");
    settle(&home);
}

/// The status of a check is in the rollout alone: the first one fails, and "done" has to wait.
#[test]
fn done_waits_for_a_check_that_passed() {
    let home = project();
    let tidegate = install(&home, &[]);
    let model = OpenAi::start(vec![
        Step::freeform("apply_patch", PATCH),
        shell(TEST),
        Step::text("It is done."),
        shell("touch ok && ./gradlew test"),
        Step::text("Now it is done."),
    ]);
    let host = Codex::new(&home, &model);
    let output = host.ask("Change the constants");
    assert_healthy(&output, &tidegate);
    let stops = tidegate.records_of("Stop");
    let rulings: Vec<&Value> = stops.iter().map(|stop| &stop["ruling"]).collect();
    assert_eq!(rulings, ["deny", "pass"], "{stops:#?}");
    let turns = model.turns();
    assert_eq!(turns.len(), 5, "the block started one more turn, and no more");
    assert!(turns[3].says("<hook_prompt") && turns[3].says(TEST));
    let checks = tidegate.records_of("PostToolUse");
    let did: Vec<(&Value, &Value)> =
        checks.iter().map(|it| (&it["did"]["failed"], &it["did"]["verified"])).collect();
    assert!(did.iter().any(|(failed, _)| failed.as_str().is_some_and(|line| line.contains(TEST))), "{did:?}");
    assert!(did.iter().any(|(_, verified)| verified[0] == "test"), "{did:?}");
    settle(&home);
}

/// A model that never runs a check is held once, not for ever.
#[test]
fn a_hold_does_not_loop() {
    let home = project();
    let tidegate = install(&home, &[]);
    let model = OpenAi::start(vec![Step::freeform("apply_patch", PATCH), Step::text("It is done.")]);
    let host = Codex::new(&home, &model);
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
    let host = Codex::new(&home, &model);
    let output = host.ask("Go on");
    assert_healthy(&output, &tidegate);
    let turns = model.turns();
    assert!(turns[0].says("progress.md"));
    let session = tidegate.records_of("Stop")[0]["session"].as_str().expect("a session").to_owned();
    let meter = tidegate.meter(&session);
    // The answer counts, too: the model reports ten tokens for each.
    assert_eq!(
        (&meter["used"], &meter["window"], &meter["compact_at"]),
        (&json!(53_010), &json!(258_400), &json!(244_800)),
        "{meter}"
    );
    // What a hook saw at the time of its event.
    let stop = &tidegate.records_of("Stop")[0]["meter"];
    assert!(stop.is_null() || stop["used"] == 53_010, "{stop}");
    settle(&home);
}

#[test]
fn what_a_compaction_lost_comes_back_with_it() {
    let home = project();
    let tidegate = install(&home, &[]);
    home.write(
        ".claude/context/progress.md",
        "# Progress\n\n## 2026-11-15 login page added\n\n- constraint: never touch `vendor/payments.lock`\n- next: logout button in `src/logout.py`\n",
    );
    let model = OpenAi::start(vec![
        Step::freeform("apply_patch", PATCH).used(30_000),
        shell("echo again").used(90_000),
        shell("touch ok && ./gradlew test").used(9_000),
        Step::text("done").used(9_500),
    ]);
    let host = Codex::new(&home, &model);
    host.configure("model_auto_compact_token_limit = 60000");
    let output = host.ask("Change the constants");
    assert_healthy(&output, &tidegate);
    let starts = tidegate.records_of("SessionStart");
    let after =
        starts.iter().find(|start| start["cause"] == "compact").unwrap_or_else(|| panic!("{starts:#?}"));
    let said = after["said"]["model"].as_str().unwrap_or_default();
    assert!(said.contains("lost these facts") && said.contains("src/A.java"), "{after:#}");
    let turns = model.turns();
    assert!(turns[2].says("lost these facts"));
    // It compacts where its settings say.
    let session = after["session"].as_str().expect("a session").to_owned();
    assert_eq!(tidegate.meter(&session)["compact_at"], 60_000);
    // What would be dropped is not recorded as said.
    assert!(tidegate.records_of("PreCompact").iter().all(|it| it["said"]["model"].is_null()));
    settle(&home);
}

/// An agent's result would not fit any more.
#[test]
fn an_agent_needs_room() {
    let home = project();
    let tidegate = install(&home, &["--preset", "strict"]);
    let task = json!({ "task_name": "look", "message": "find the bug", "agent_type": "default" });
    let spawn = || Step::call_in(Some("collaboration"), "spawn_agent", task.clone());
    let model = OpenAi::start(vec![spawn().used(243_000), Step::text("done").used(243_500)]);
    let host = Codex::new(&home, &model);
    host.use_model("gpt-6.1-sol");
    let output = host.ask("Look around");
    assert_healthy(&output, &tidegate);
    let gates = tidegate.records_of("PreToolUse");
    let rulings: Vec<&Value> = gates.iter().map(|it| &it["ruling"]).collect();
    assert_eq!(rulings, ["deny"], "{gates:#?}");
    let results = results(&model);
    assert!(results[0].contains("the context is too full for an agent"), "{results:#?}");
    settle(&home);
}

/// One memory: what was said in Codex is found on the command line and by the model in Claude Code.
#[test]
fn a_conversation_is_found_from_claude_code() {
    let home = project();
    let tidegate = install(&home, &[]);
    let model = OpenAi::start(vec![Step::text("The zebra queue drains at night, because of a lock.")]);
    let host = Codex::new(&home, &model);
    let output = host.ask_as_person("Why is the zebra queue slow?");
    assert_healthy(&output, &tidegate);
    tidegate.run(&["worker", "--once"]);
    let printed = tidegate.run(&["memory", "search", "zebra queue", "--json"]);
    assert!(printed.contains("Why is the zebra queue slow?"), "{printed}");
    // A session without a person is not recorded.
    let output = host.ask("What about the giraffe queue?");
    assert_eq!(output.exit, Some(0));
    tidegate.run(&["worker", "--once"]);
    assert!(!tidegate.run(&["memory", "search", "giraffe", "--json"]).contains("What about the giraffe"));

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

/// Codex says nothing when it skips a hook: doctor does, and knows by the same hash when a person has trusted it.
#[test]
fn doctor_knows_which_hooks_codex_runs() {
    let home = project();
    let tidegate = install(&home, &[]);
    let model = OpenAi::start(vec![Step::text("done")]);
    let host = Codex::new(&home, &model);
    let found = |tidegate: &Tidegate<'_>| -> Vec<(String, String)> {
        let project = home.project().display().to_string();
        let output = tidegate
            .command(&["doctor", "--all", "--json", "--project", &project])
            .output()
            .expect("doctor runs");
        let findings: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let list = findings["checks"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        list.iter()
            .filter(|it| it["id"] == "codex")
            .map(|it| (text(&it["state"]), text(&it["found"])))
            .collect()
    };
    let untrusted = found(&tidegate);
    assert!(
        untrusted.iter().any(|(state, text)| state == "problem" && text.contains("skips 10 of 10")),
        "{untrusted:?}"
    );
    let output = host.ask_with_trusted_hooks("Go on");
    assert_eq!((output.exit, tidegate.journal().len()), (Some(0), 0), "Codex skipped them without a word");
    // As the person's review writes it.
    host.trust_hooks();
    let trusted = found(&tidegate);
    assert!(trusted.iter().any(|(state, text)| state == "ok" && text.contains("runs all 10")), "{trusted:?}");
    let output = host.ask_with_trusted_hooks("Go on");
    assert_eq!(output.exit, Some(0));
    let events: Vec<Value> = tidegate.journal().iter().map(|record| record["event"].clone()).collect();
    assert!(events.contains(&json!("Stop")) && events.contains(&json!("SessionStart")), "{events:?}");
    settle(&home);
}

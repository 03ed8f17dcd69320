//! Copilot CLI, with the hooks that `init --host copilot` writes: each policy as it works there.

use std::fs;

use serde_json::{Value, json};
use tidegate_e2e::client::Launch;
use tidegate_e2e::home::Home;
use tidegate_e2e::host::Output;
use tidegate_e2e::host::copilot::{Copilot, edit, shell};
use tidegate_e2e::host::settle;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::openai::{OpenAi, Request, Step};
use tidegate_e2e::plugin::{copy, link_binary};
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
    Tidegate::init_with(home, &[&["--host", "copilot"], flags].concat())
}

fn assert_healthy(host: &Copilot<'_>, output: &Output, tidegate: &Tidegate<'_>) {
    assert_eq!(output.exit, Some(0), "{output:#?}");
    assert_eq!(host.hook_failures(), Vec::<String>::new(), "{output:#?}");
    tidegate.assert_unfailing();
    let journal = tidegate.journal();
    assert!(!journal.is_empty() && journal.iter().all(|it| it["host"] == "copilot"), "{journal:#?}");
}

fn results(model: &OpenAi) -> Vec<String> {
    model.turns().last().map(Request::tool_results).unwrap_or_default()
}

fn load_skill(name: &str) -> Step {
    Step::call("skill", json!({ "skill": name }))
}

/// Some models edit file by file.
#[test]
fn two_edits_wait_for_the_skill() {
    let home = project();
    let tidegate = install(&home, &["--preset", "strict"]);
    let (old, new) = (home.in_project("src/A.java"), home.in_project("src/B.java"));
    let create = || Step::call("create", json!({ "path": new, "file_text": "class B {}\n" }));
    let change = || edit(&old, "class A", "final class A");
    let model = OpenAi::start(vec![
        create(),
        change(),
        load_skill("code-quality-rules"),
        create(),
        change(),
        shell("touch ok && ./gradlew test"),
        Step::text("done"),
    ]);
    let host = Copilot::trusting(&home, &model);
    let output = host.ask("Change the constants");
    assert_healthy(&host, &output, &tidegate);
    let results = results(&model);
    for denied in &results[..2] {
        assert!(denied.contains("Denied") && denied.contains("code-quality-rules"), "{results:#?}");
    }
    assert_eq!(fs::read_to_string(&old).expect("a file"), "final class A {}\n");
    assert!(new.is_file());
    let gates = tidegate.records_of("PreToolUse");
    let rulings: Vec<&Value> = gates.iter().map(|it| &it["ruling"]).collect();
    assert_eq!(rulings, ["deny", "deny", "pass", "pass"], "{gates:#?}");
    settle(&home);
}

/// Others patch both at once: the patch is denied as a whole.
#[test]
fn a_patch_of_two_files_waits_for_the_skill() {
    let home = project();
    let tidegate = install(&home, &["--preset", "strict"]);
    let patch = || Step::freeform("apply_patch", PATCH);
    let model = OpenAi::start(vec![
        patch(),
        load_skill("code-quality-rules"),
        patch(),
        shell("touch ok && ./gradlew test"),
        Step::text("done"),
    ]);
    let host = Copilot::trusting(&home, &model).patching();
    let output = host.ask("Change the constants");
    assert_healthy(&host, &output, &tidegate);
    let results = results(&model);
    assert!(results[0].contains("code-quality-rules"), "{results:#?}");
    assert_eq!(fs::read_to_string(home.in_project("src/A.java")).expect("a file"), "final class A {}\n");
    let gates = tidegate.records_of("PreToolUse");
    let rulings: Vec<&Value> = gates.iter().map(|it| &it["ruling"]).collect();
    assert_eq!(rulings, ["deny", "pass"], "{gates:#?}");
    settle(&home);
}

/// The first check fails, and "done" has to wait. The reason comes back as a prompt, which is not a person's.
#[test]
fn done_waits_for_a_check_that_passed() {
    let home = project();
    let tidegate = install(&home, &[]);
    let model = OpenAi::start(vec![
        edit(&home.in_project("src/A.java"), "class A", "final class A"),
        shell(TEST),
        Step::text("It is done."),
        shell("touch ok && ./gradlew test"),
        Step::text("Now it is done."),
    ]);
    let host = Copilot::trusting(&home, &model);
    let output = host.ask_as_person("Change the constants");
    assert_healthy(&host, &output, &tidegate);
    let stops = tidegate.records_of("Stop");
    let rulings: Vec<&Value> = stops.iter().map(|stop| &stop["ruling"]).collect();
    assert_eq!(rulings, ["deny", "pass"], "{stops:#?}");
    let turns = model.turns();
    assert_eq!(turns.len(), 5, "the block started one more turn, and no more");
    assert!(turns[3].says("Stop hook feedback:") && turns[3].says(TEST));
    let checks = tidegate.records_of("PostToolUse");
    let did: Vec<(&Value, &Value)> =
        checks.iter().map(|it| (&it["did"]["failed"], &it["did"]["verified"])).collect();
    assert!(did.iter().any(|(failed, _)| failed.as_str().is_some_and(|line| line.contains(TEST))), "{did:?}");
    assert!(did.iter().any(|(_, verified)| verified[0] == "test"), "{did:?}");
    // Nor is it remembered as one.
    tidegate.run(&["worker", "--once"]);
    let found = tidegate.run(&["memory", "search", "constants", "--json"]);
    assert!(found.contains("Change the constants"), "{found}");
    assert!(!found.contains("Stop hook feedback"), "{found}");
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
    let host = Copilot::trusting(&home, &model);
    let output = host.ask("Go on");
    assert_healthy(&host, &output, &tidegate);
    assert!(model.turns()[0].says("progress.md"));
    let session = tidegate.records_of("Stop")[0]["session"].as_str().expect("a session").to_owned();
    let meter = tidegate.meter(&session);
    // The answer counts, too: the model reports ten tokens for each.
    assert_eq!(
        (&meter["used"], &meter["window"], &meter["compact_at"]),
        (&json!(53_010), &json!(128_000), &json!(102_400)),
        "{meter}"
    );
    let stop = &tidegate.records_of("Stop")[0]["meter"];
    assert!(stop.is_null() || stop["used"] == 53_010, "{stop}");
    settle(&home);
}

/// It compacts in the background and says nothing of the end: the next tool brings the facts.
#[test]
fn what_a_compaction_lost_comes_back_with_the_next_tool() {
    let home = project();
    let tidegate = install(&home, &[]);
    home.write(
        ".claude/context/progress.md",
        "# Progress\n\n## 2026-11-15 login page added\n\n- next: logout button in `src/logout.py`\n",
    );
    // The summary comes in a request of its own, and takes its place when a later turn begins.
    let works = || shell("sleep 1").used(9_000);
    let model = OpenAi::start(vec![
        edit(&home.in_project("src/A.java"), "class A", "final class A").used(30_000),
        shell("echo again").used(110_000),
        works(),
        works(),
        works(),
        shell("touch ok && ./gradlew test").used(9_000),
        shell("echo more").used(9_200),
        Step::text("done").used(9_500),
    ]);
    let host = Copilot::trusting(&home, &model);
    let output = host.ask("Change the constants");
    assert_healthy(&host, &output, &tidegate);
    assert!(!tidegate.records_of("PreCompact").is_empty());
    let turns = model.turns();
    let told = turns.iter().position(|turn| turn.says("lost these facts"));
    assert!(told.is_some(), "{:#?}", tidegate.records_of("PostToolUse"));
    let after = tidegate.records_of("PostToolUse");
    let said = after.iter().filter_map(|it| it["said"]["model"].as_str());
    let lost: Vec<&str> = said.filter(|said| said.contains("lost these facts")).collect();
    assert_eq!(lost.len(), 1, "said once: {after:#?}");
    assert!(lost[0].contains("src/A.java"), "{lost:?}");
    // What would be dropped is not recorded as said.
    assert!(tidegate.records_of("PreCompact").iter().all(|it| it["said"]["model"].is_null()));
    settle(&home);
}

/// One memory: what was said in Copilot is found on the command line and by the model in Claude Code.
#[test]
fn a_conversation_is_found_from_claude_code() {
    let home = project();
    let tidegate = install(&home, &[]);
    let model = OpenAi::start(vec![Step::text("The zebra queue drains at night, because of a lock.")]);
    let host = Copilot::trusting(&home, &model);
    let output = host.ask_as_person("Why is the zebra queue slow?");
    assert_healthy(&host, &output, &tidegate);
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

/// Its prompt, its end and its session are its own; the records name the parent's.
#[test]
fn a_subagent_belongs_to_its_parent() {
    let home = project();
    let tidegate = install(&home, &[]);
    let spawn = json!({ "name": "explorer", "description": "explore", "prompt": "look around", "agent_type": "explore" });
    let model =
        OpenAi::start(vec![Step::call("task", spawn), Step::text("nothing there"), Step::text("done")]);
    let host = Copilot::trusting(&home, &model);
    let output = host.ask("Look around");
    assert_healthy(&host, &output, &tidegate);
    let journal = tidegate.journal();
    let first = &journal[0]["session"];
    assert!(journal.iter().all(|record| record["session"] == *first), "{journal:#?}");
    assert_eq!(tidegate.records_of("SubagentStop").len(), 1, "{journal:#?}");
    settle(&home);
}

/// An agent's result would not fit any more. Copilot writes a request's usage a moment after it has asked the gate
/// about that request's calls.
#[test]
fn an_agent_needs_room() {
    let home = project();
    let tidegate = install(&home, &["--preset", "strict"]);
    let task = json!({ "name": "explorer", "description": "explore", "prompt": "look around", "agent_type": "explore" });
    let model = OpenAi::start(vec![
        shell("until grep -q usage_record ~/.copilot/session-state/*/events.jsonl; do sleep 0.1; done")
            .used(101_000),
        Step::call("task", task).used(101_200),
        Step::text("done").used(101_500),
    ]);
    let host = Copilot::trusting(&home, &model);
    let output = host.ask("Look around");
    assert_healthy(&host, &output, &tidegate);
    let gates = tidegate.records_of("PreToolUse");
    let spawns: Vec<&Value> =
        gates.iter().filter(|it| it["tool"] == "Agent").map(|it| &it["ruling"]).collect();
    assert_eq!(spawns, ["deny"], "{gates:#?}");
    let results = results(&model);
    assert!(results.iter().any(|it| it.contains("the context is too full for an agent")), "{results:#?}");
    settle(&home);
}

/// Copilot prefers its own manifest, whose hooks name it.
#[test]
fn the_plugin_has_hooks_of_its_own_for_copilot() {
    let home = project();
    let marketplace = home.scratch("marketplace");
    copy(&home, &marketplace);
    link_binary(&home);
    let tidegate = Tidegate::of(&home);
    let model = OpenAi::start(vec![
        edit(&home.in_project("src/A.java"), "class A", "final class A"),
        Step::text("It is done."),
        shell("touch ok && ./gradlew test"),
        Step::text("Now it is done."),
    ]);
    let host = Copilot::new(&home, &model);
    host.install_plugin(&marketplace);
    let output = host.ask("Change the constants");
    assert_healthy(&host, &output, &tidegate);
    let stops = tidegate.records_of("Stop");
    let rulings: Vec<&Value> = stops.iter().map(|stop| &stop["ruling"]).collect();
    assert_eq!(rulings, ["deny", "pass"], "{stops:#?}");
    settle(&home);
}

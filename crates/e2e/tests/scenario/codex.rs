//! Codex, with the hooks that `init --host codex` writes: each policy as it works there.

use std::fs;

use serde_json::{Value, json};
use tidegate_e2e::host::codex::{Codex, shell};
use tidegate_e2e::host::trial::{
    AFTER, PASSING, PATCH, SOURCE, TEST, Trial, add_stages, cycle, growing, note_progress, project,
};
use tidegate_e2e::openai::{OpenAi, Step};

fn patch() -> Step {
    Step::freeform("apply_patch", PATCH)
}

/// One patch of two files is denied as a whole, until the skill was read.
#[test]
fn an_edit_of_two_files_waits_for_the_skill() {
    let home = project();
    let model = OpenAi::start(vec![
        patch(),
        shell("cat .codex/skills/code-quality-rules/SKILL.md"),
        patch(),
        shell(PASSING),
        Step::text("done"),
    ]);
    let host = Codex::new(&home, &model);
    let trial = Trial::new(&host, &["--preset", "strict"]);
    trial.ask("Change the constants");
    let results = trial.results();
    assert!(results[0].contains("code-quality-rules") && results[0].contains("SKILL.md"), "{results:#?}");
    assert!(results[2].contains("Success"), "{results:#?}");
    assert_eq!(fs::read_to_string(home.in_project(SOURCE)).expect("a file"), AFTER);
    trial.assert_gates(&["apply_patch"], &["deny", "pass"]);
}

/// Codex applies it itself, whatever tool it came by, and reports only that it is about to.
#[test]
fn a_patch_through_the_shell_is_an_edit() {
    let home = project();
    let by_shell = || shell(&format!("apply_patch <<'EOF'\n{PATCH}EOF"));
    let model = OpenAi::start(vec![
        by_shell(),
        shell("head -1 .codex/skills/code-quality-rules/SKILL.md"),
        by_shell(),
        shell("cat .codex/skills/code-quality-rules/SKILL.md"),
        by_shell(),
        Step::text("It is done."),
        shell(PASSING),
        Step::text("Now it is done."),
    ]);
    let host = Codex::new(&home, &model);
    let trial = Trial::new(&host, &["--preset", "strict"]);
    trial.ask("Change the constants");
    let results = trial.results();
    assert!(results[0].contains("code-quality-rules"), "{results:#?}");
    assert!(results[2].contains("code-quality-rules"), "its first line is not the skill: {results:#?}");
    assert!(results[4].contains("Success"), "{results:#?}");
    assert_eq!(fs::read_to_string(home.in_project(SOURCE)).expect("a file"), AFTER);
    let denied = trial.gates(&["Bash"]).iter().filter(|record| record["ruling"] == "deny").count();
    assert_eq!(denied, 2);
    trial.assert_rulings("Stop", &["deny", "pass"]);
    assert!(trial.said("Stop")[0].contains(SOURCE), "{:?}", trial.said("Stop"));
    assert_eq!(model.turns().len(), 8, "the check verified the patch");
}

/// The status of a check is in the rollout alone: the first one fails, and "done" has to wait.
#[test]
fn done_waits_for_a_check_that_passed() {
    let home = project();
    let model = OpenAi::start(vec![
        patch(),
        shell(TEST),
        Step::text("It is done."),
        shell(PASSING),
        Step::text("Now it is done."),
    ]);
    let host = Codex::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask("Change the constants");
    trial.assert_rulings("Stop", &["deny", "pass"]);
    let turns = model.turns();
    assert_eq!(turns.len(), 5, "the block started one more turn, and no more");
    assert!(turns[3].says("<hook_prompt") && turns[3].says(TEST));
    trial.assert_check_failed_and_passed("PostToolUse");
}

/// A model that never runs a check is held once, not for ever.
#[test]
fn a_hold_does_not_loop() {
    let home = project();
    let model = OpenAi::start(vec![patch(), Step::text("It is done.")]);
    let host = Codex::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask("Change the constants");
    trial.assert_held_without_a_loop();
}

#[test]
fn notes_reach_the_model_and_the_meter_is_the_models_own() {
    let home = project();
    let model = OpenAi::start(growing(shell));
    let host = Codex::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    note_progress(&home, "- next: logout button\n");
    trial.ask("Go on");
    assert!(model.turns()[0].says("progress.md"));
    // The answer counts, too: the model reports ten tokens for each.
    trial.assert_meter(53_010, 258_400, 244_800);
    // What a hook saw at the time of its event.
    let stop = &trial.tidegate.records_of("Stop")[0]["meter"];
    assert!(stop.is_null() || stop["used"] == 53_010, "{stop}");
}

#[test]
fn what_a_compaction_lost_comes_back_with_it() {
    let home = project();
    let model = OpenAi::start(vec![
        patch().used(30_000),
        shell("echo again").used(90_000),
        shell(PASSING).used(9_000),
        Step::text("done").used(9_500),
    ]);
    let host = Codex::new(&home, &model);
    host.configure("model_auto_compact_token_limit = 60000");
    let trial = Trial::new(&host, &[]);
    note_progress(
        &home,
        "- constraint: never touch `vendor/payments.lock`\n- next: logout button in `src/logout.py`\n",
    );
    trial.ask("Change the constants");
    let starts = trial.tidegate.records_of("SessionStart");
    let after =
        starts.iter().find(|start| start["cause"] == "compact").unwrap_or_else(|| panic!("{starts:#?}"));
    let said = after["said"]["model"].as_str().unwrap_or_default();
    assert!(said.contains("lost these facts") && said.contains(SOURCE), "{after:#}");
    assert!(model.turns()[2].says("lost these facts"));
    // It compacts where its settings say.
    assert_eq!(trial.meter()["compact_at"], 60_000);
    // What would be dropped is not recorded as said.
    assert_eq!(trial.said("PreCompact"), Vec::<String>::new());
}

/// An agent's result would not fit any more.
#[test]
fn an_agent_needs_room() {
    let home = project();
    let task = json!({ "task_name": "look", "message": "find the bug", "agent_type": "default" });
    let spawn = Step::call_in(Some("collaboration"), "spawn_agent", task);
    let model = OpenAi::start(vec![spawn.used(243_000), Step::text("done").used(243_500)]);
    let host = Codex::new(&home, &model);
    host.use_model("gpt-6.1-sol");
    let trial = Trial::new(&host, &["--preset", "strict"]);
    trial.ask("Look around");
    trial.assert_rulings("PreToolUse", &["deny"]);
    let results = trial.results();
    assert!(results[0].contains("the context is too full for an agent"), "{results:#?}");
}

/// A blocked stop begins the next stage: two of them follow the first one in the same turn, until the model asks something.
#[test]
fn stages_follow_each_other_in_one_turn() {
    let home = project();
    let read_skill = |name: &str| shell(&format!("cat .codex/skills/{name}/SKILL.md"));
    let model = OpenAi::start(vec![
        shell(&cycle("start")).used(20_000),
        read_skill("sprint").used(22_000),
        patch().used(23_000),
        shell(PASSING).used(24_000),
        shell(&cycle("done")).used(25_000),
        Step::text("The sprint is over.").used(26_000),
        read_skill("audit").used(27_000),
        shell(&cycle("done --metric open=0")).used(28_000),
        Step::text("The audit is over.").used(29_000),
        Step::text("Which remote shall I push to?").used(30_000),
    ]);
    let host = Codex::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    add_stages(&home, ".codex");
    trial.ask("Run a cycle");
    trial.assert_rulings("Stop", &["deny", "deny", "pass"]);
    let turns = model.turns();
    assert_eq!(turns.len(), 10, "{:#?}", trial.tidegate.records_of("Stop"));
    for (at, stage) in [(6, "audit"), (9, "ship")] {
        assert!(turns[at].says(&format!("Invoke the skill `{stage}` for stage {stage}")), "{stage}");
    }
    assert_eq!(trial.stage(), ("ship".to_owned(), "running".to_owned()));
}

#[test]
fn a_conversation_is_found_from_claude_code() {
    let home = project();
    let model = OpenAi::start(vec![Step::text("The zebra queue drains at night, because of a lock.")]);
    let host = Codex::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask_as_person("Why is the zebra queue slow?");
    trial.assert_found_from_claude_code("Why is the zebra queue slow?", "zebra queue", "slow");
    // A session without a person is not recorded.
    trial.ask("What about the giraffe queue?");
    assert!(!trial.search("giraffe").contains("What about the giraffe"));
}

/// Codex says nothing when it skips a hook: doctor does, and knows by the same hash when a person has trusted it.
#[test]
fn doctor_knows_which_hooks_codex_runs() {
    let home = project();
    let model = OpenAi::start(vec![Step::text("done")]);
    let host = Codex::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    let found = || -> Vec<(String, String)> {
        let project = home.project().display().to_string();
        let output = trial
            .tidegate
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
    let untrusted = found();
    assert!(
        untrusted.iter().any(|(state, text)| state == "problem" && text.contains("skips 11 of 11")),
        "{untrusted:?}"
    );
    let output = host.ask_with_trusted_hooks("Go on");
    assert_eq!(
        (output.exit, trial.tidegate.journal().len()),
        (Some(0), 0),
        "Codex skipped them without a word"
    );
    // As the person's review writes it.
    host.trust_hooks();
    let trusted = found();
    assert!(trusted.iter().any(|(state, text)| state == "ok" && text.contains("runs all 11")), "{trusted:?}");
    let output = host.ask_with_trusted_hooks("Go on");
    assert_eq!(output.exit, Some(0));
    let events: Vec<Value> = trial.tidegate.journal().iter().map(|record| record["event"].clone()).collect();
    assert!(events.contains(&json!("Stop")) && events.contains(&json!("SessionStart")), "{events:?}");
}

/// Codex writes file by file, and tells no hook about a patch that ended half-way.
#[test]
fn a_patch_that_failed_half_way_is_an_edit() {
    let home = project();
    // The second file would be below another file.
    let torn = |new: &str| {
        format!(
            "*** Begin Patch\n*** Add File: src/{new}.java\n+class {new} {{}}\n*** Add File: src/A.java/B.java\n+class B {{}}\n*** End Patch\n"
        )
    };
    let model = OpenAi::start(vec![
        Step::freeform("apply_patch", torn("C")),
        shell(&format!("apply_patch <<'EOF'\n{}EOF", torn("D"))),
        Step::text("It is done."),
        shell(PASSING),
        Step::text("Now it is done."),
    ]);
    let host = Codex::new(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask("Add two classes");
    for new in ["src/C.java", "src/D.java"] {
        assert!(home.in_project(new).is_file(), "it was written before the other one failed");
        assert!(trial.said("Stop")[0].contains(new), "{:?}", trial.said("Stop"));
    }
    assert!(!trial.said("Stop")[0].contains("B.java"), "{:?}", trial.said("Stop"));
    trial.assert_rulings("Stop", &["deny", "pass"]);
}

/// The shell tool runs in the folder that the model names, and the payload has it as the session's.
#[test]
fn a_folder_of_the_call_does_not_leave_the_project() {
    let home = project();
    home.write("below/C.java", "class C {}\n");
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: C.java\n@@\n-class C {}\n+final class C {}\n*** End Patch\nEOF";
    let by_shell = || Step::call("exec_command", json!({ "cmd": patch, "workdir": "below" }));
    let model = OpenAi::start(vec![
        by_shell(),
        shell("cat .codex/skills/code-quality-rules/SKILL.md"),
        by_shell(),
        shell(PASSING),
        Step::text("done"),
    ]);
    let host = Codex::new(&home, &model);
    let trial = Trial::new(&host, &["--preset", "strict"]);
    trial.ask("Change the class");
    assert!(trial.results()[0].contains("code-quality-rules"), "{:#?}", trial.results());
    assert_eq!(fs::read_to_string(home.in_project("below/C.java")).expect("a file"), "final class C {}\n");
    trial.assert_rulings("Stop", &["pass"]);
}

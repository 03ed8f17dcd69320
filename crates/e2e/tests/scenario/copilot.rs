//! Copilot CLI, with the hooks that `init --host copilot` writes: each policy as it works there.

use std::fs;

use serde_json::json;
use tidegate_e2e::home::Home;
use tidegate_e2e::host::copilot::{Copilot, edit, shell};
use tidegate_e2e::host::trial::{
    AFTER, PASSING, PATCH, SOURCE, TEST, Trial, add_stages, cycle, growing, note_progress, project,
};
use tidegate_e2e::openai::{OpenAi, Step};
use tidegate_e2e::plugin::{copy, link_binary};

fn change(home: &Home) -> Step {
    edit(&home.in_project(SOURCE), "class A", "final class A")
}

fn load_skill(name: &str) -> Step {
    Step::call("skill", json!({ "skill": name }))
}

fn explore() -> Step {
    let task = json!({ "name": "explorer", "description": "explore", "prompt": "look around", "agent_type": "explore" });
    Step::call("task", task)
}

/// Some models edit file by file.
#[test]
fn two_edits_wait_for_the_skill() {
    let home = project();
    let new = home.in_project("src/B.java");
    let create = || Step::call("create", json!({ "path": new, "file_text": "class B {}\n" }));
    let model = OpenAi::start(vec![
        create(),
        change(&home),
        load_skill("code-quality-rules"),
        create(),
        change(&home),
        shell(PASSING),
        Step::text("done"),
    ]);
    let host = Copilot::trusting(&home, &model);
    let trial = Trial::new(&host, &["--preset", "strict"]);
    trial.ask("Change the constants");
    let results = trial.results();
    for denied in &results[..2] {
        assert!(denied.contains("Denied") && denied.contains("code-quality-rules"), "{results:#?}");
    }
    assert_eq!(fs::read_to_string(home.in_project(SOURCE)).expect("a file"), AFTER);
    assert!(new.is_file());
    trial.assert_rulings("PreToolUse", &["deny", "deny", "pass", "pass"]);
}

/// Others patch both at once: the patch is denied as a whole.
#[test]
fn a_patch_of_two_files_waits_for_the_skill() {
    let home = project();
    let patch = || Step::freeform("apply_patch", PATCH);
    let model = OpenAi::start(vec![
        patch(),
        load_skill("code-quality-rules"),
        patch(),
        shell(PASSING),
        Step::text("done"),
    ]);
    let host = Copilot::trusting(&home, &model).patching();
    let trial = Trial::new(&host, &["--preset", "strict"]);
    trial.ask("Change the constants");
    let results = trial.results();
    assert!(results[0].contains("code-quality-rules"), "{results:#?}");
    assert_eq!(fs::read_to_string(home.in_project(SOURCE)).expect("a file"), AFTER);
    trial.assert_rulings("PreToolUse", &["deny", "pass"]);
}

/// The first check fails, and "done" has to wait. The reason comes back as a prompt, which is not a person's.
#[test]
fn done_waits_for_a_check_that_passed() {
    let home = project();
    let model = OpenAi::start(vec![
        change(&home),
        shell(TEST),
        Step::text("It is done."),
        shell(PASSING),
        Step::text("Now it is done."),
    ]);
    let host = Copilot::trusting(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask_as_person("Change the constants");
    trial.assert_rulings("Stop", &["deny", "pass"]);
    let turns = model.turns();
    assert_eq!(turns.len(), 5, "the block started one more turn, and no more");
    assert!(turns[3].says("Stop hook feedback:") && turns[3].says(TEST));
    trial.assert_check_failed_and_passed("PostToolUse");
    // Nor is it remembered as one.
    let found = trial.search("constants");
    assert!(found.contains("Change the constants"), "{found}");
    assert!(!found.contains("Stop hook feedback"), "{found}");
}

#[test]
fn notes_reach_the_model_and_the_meter_is_the_models_own() {
    let home = project();
    let model = OpenAi::start(growing(shell));
    let host = Copilot::trusting(&home, &model);
    let trial = Trial::new(&host, &[]);
    note_progress(&home, "- next: logout button\n");
    trial.ask("Go on");
    assert!(model.turns()[0].says("progress.md"));
    // The answer counts, too: the model reports ten tokens for each.
    trial.assert_meter(53_010, 128_000, 102_400);
    let stop = &trial.tidegate.records_of("Stop")[0]["meter"];
    assert!(stop.is_null() || stop["used"] == 53_010, "{stop}");
}

/// It compacts in the background and says nothing of the end: the next tool brings the facts.
#[test]
fn what_a_compaction_lost_comes_back_with_the_next_tool() {
    let home = project();
    // The summary comes in a request of its own, and takes its place when a later turn begins.
    let works = || shell("sleep 1").used(9_000);
    let model = OpenAi::start(vec![
        change(&home).used(30_000),
        shell("echo again").used(110_000),
        works(),
        works(),
        works(),
        shell(PASSING).used(9_000),
        shell("echo more").used(9_200),
        Step::text("done").used(9_500),
    ]);
    let host = Copilot::trusting(&home, &model);
    let trial = Trial::new(&host, &[]);
    note_progress(&home, "- next: logout button in `src/logout.py`\n");
    trial.ask("Change the constants");
    assert!(!trial.tidegate.records_of("PreCompact").is_empty());
    let said = trial.said("PostToolUse");
    assert!(model.turns().iter().any(|turn| turn.says("lost these facts")), "{said:#?}");
    let lost: Vec<&String> = said.iter().filter(|said| said.contains("lost these facts")).collect();
    assert_eq!(lost.len(), 1, "said once: {said:#?}");
    assert!(lost[0].contains(SOURCE), "{lost:?}");
    // What would be dropped is not recorded as said.
    assert_eq!(trial.said("PreCompact"), Vec::<String>::new());
}

/// No event follows its compaction: a tool result after it reminds the model of the stage, once.
#[test]
fn a_stage_outlives_a_compaction() {
    let home = project();
    let works = || shell("sleep 1").used(9_000);
    let model = OpenAi::start(vec![
        shell(&cycle("start")).used(20_000),
        load_skill("sprint").used(30_000),
        shell("echo again").used(110_000),
        works(),
        works(),
        works(),
        shell("echo more").used(9_100),
        shell("echo more").used(9_200),
        Step::text("Which schema shall I use?").used(9_500),
    ]);
    let host = Copilot::trusting(&home, &model);
    let trial = Trial::new(&host, &[]);
    add_stages(&home, ".github");
    trial.ask("Run a cycle");
    assert!(!trial.tidegate.records_of("PreCompact").is_empty());
    let said = trial.said("PostToolUse");
    let reminders = said.iter().filter(|said| said.contains("Before this compaction:")).count();
    assert_eq!(reminders, 1, "{:#?}", trial.tidegate.journal());
    assert!(model.turns().iter().any(|turn| turn.says("Before this compaction:")));
    assert_eq!(trial.stage(), ("sprint".to_owned(), "running".to_owned()));
}

#[test]
fn a_conversation_is_found_from_claude_code() {
    let home = project();
    let model = OpenAi::start(vec![Step::text("The zebra queue drains at night, because of a lock.")]);
    let host = Copilot::trusting(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask_as_person("Why is the zebra queue slow?");
    trial.assert_found_from_claude_code("Why is the zebra queue slow?", "zebra queue", "slow");
}

/// Its prompt, its end and its session are its own; the records name the parent's.
#[test]
fn a_subagent_belongs_to_its_parent() {
    let home = project();
    let model = OpenAi::start(vec![explore(), Step::text("nothing there"), Step::text("done")]);
    let host = Copilot::trusting(&home, &model);
    let trial = Trial::new(&host, &[]);
    trial.ask("Look around");
    let journal = trial.tidegate.journal();
    let first = &journal[0]["session"];
    assert!(journal.iter().all(|record| record["session"] == *first), "{journal:#?}");
    assert_eq!(trial.tidegate.records_of("SubagentStop").len(), 1, "{journal:#?}");
}

/// An agent's result would not fit any more. Copilot writes a request's usage a moment after it has asked the gate
/// about that request's calls.
#[test]
fn an_agent_needs_room() {
    let home = project();
    let model = OpenAi::start(vec![
        shell("until grep -q 'usage_recor[d]' ~/.copilot/session-state/*/events.jsonl; do sleep 0.1; done")
            .used(101_000),
        explore().used(101_200),
        Step::text("done").used(101_500),
    ]);
    let host = Copilot::trusting(&home, &model);
    let trial = Trial::new(&host, &["--preset", "strict"]);
    trial.ask("Look around");
    trial.assert_gates(&["Agent"], &["deny"]);
    let results = trial.results();
    assert!(results.iter().any(|it| it.contains("the context is too full for an agent")), "{results:#?}");
}

/// Copilot prefers its own manifest, whose hooks name it.
#[test]
fn the_plugin_has_hooks_of_its_own_for_copilot() {
    let home = project();
    let marketplace = home.scratch("marketplace");
    copy(&home, &marketplace);
    link_binary(&home);
    let model = OpenAi::start(vec![
        change(&home),
        Step::text("It is done."),
        shell(PASSING),
        Step::text("Now it is done."),
    ]);
    let host = Copilot::new(&home, &model);
    host.install_plugin(&marketplace);
    let trial = Trial::of_installed(&host);
    trial.ask("Change the constants");
    trial.assert_rulings("Stop", &["deny", "pass"]);
}

/// Copilot says nothing about a project's hooks that it leaves out: doctor does, and knows the folders by the same file.
#[test]
fn doctor_knows_whether_copilot_trusts_the_folder() {
    for (file, trusts) in [("config.json", true), ("settings.json", false)] {
        let home = project();
        let model = OpenAi::start(vec![Step::text("done")]);
        let host = Copilot::new(&home, &model);
        let trial = Trial::new(&host, &[]);
        let folder = home.user_home().join(".copilot");
        fs::create_dir_all(&folder).expect("a folder in the temporary home");
        let above = home.project().parent().expect("a folder").display().to_string();
        fs::write(folder.join(file), json!({ "trustedFolders": [above] }).to_string()).expect("a new file");
        let _ = host.ask("Go on");
        assert_eq!(!trial.tidegate.journal().is_empty(), trusts, "{file}");
        let project = home.project().display().to_string();
        let doctor =
            trial.tidegate.command(&["doctor", "--project", &project]).output().expect("doctor runs");
        let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert_eq!(!doctor.contains("does not trust"), trusts, "{file}: {doctor}");
    }
}

//! A workflow whose session was killed continues in the next one, with its closed checkpoint.

use tidegate_e2e::client::SONNET_4_5;
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::tidegate::{Tidegate, binary};

use super::super::work::launch;
use super::{MANIFEST, gate, persist, phase, spawns};

fn until_the_gate() -> Script {
    Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(3).used(21_000))
        .main(phase(4).used(22_000))
        .main(Reply::text("phase 4").used(23_000))
}

/// The client is killed, so that no event tells of the session's end.
#[test]
fn a_killed_session_leaves_its_gate_closed() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let model = Model::start(until_the_gate());
    let mut first = launch(&home, &model).on(SONNET_4_5).start();
    first.ask("go through the phases");
    drop(first);
    model.finish();
    assert!(tidegate.records_of("SessionEnd").is_empty(), "it was killed");

    let script = Script::new()
        .main(Reply::agent("STILL CLOSED").used(20_000))
        .main(persist().used(21_000))
        .main(gate("pass 1").used(22_000))
        .main(Reply::agent("OPEN").used(23_000))
        .subagent("OPEN", Reply::text("here").used(9_000))
        .main(Reply::text("done").used(24_000));
    let model = Model::start(script);
    launch(&home, &model).on(SONNET_4_5).ask("what is next?");
    tidegate.assert_unfailing();
    assert_eq!(spawns(&tidegate), ["a checkpoint was not passed", "there is room for agents"]);
    let requests = model.main_requests();
    let told = requests[0].hook_contexts().join("\n");
    assert!(told.contains("phase 4 of 16 (skill_discovery)") && told.contains("Checkpoint 1"), "{told}");
    assert!(requests[1].last_tool_result().is_error);
    let passed = requests[3].last_tool_result().text;
    assert!(passed.contains("Gate status: PASSED") && !passed.contains("Context compacted"), "{passed}");
    model.finish();
}

/// Between the sessions the manifest goes, and the checkpoint stays closed all the same.
#[test]
fn a_manifest_that_goes_between_sessions_opens_nothing() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let model = Model::start(until_the_gate());
    launch(&home, &model).on(SONNET_4_5).ask("go through the phases");
    model.finish();
    std::fs::remove_file(home.in_project(MANIFEST)).expect("the manifest can go");

    let script =
        Script::new().main(Reply::agent("STILL CLOSED").used(20_000)).main(Reply::text("done").used(21_000));
    let model = Model::start(script);
    launch(&home, &model).on(SONNET_4_5).ask("go on");
    tidegate.assert_unfailing();
    let denied = model.last_main().last_tool_result();
    assert!(denied.is_error && denied.text.contains(&format!("Restore {MANIFEST}")), "{denied:?}");
    model.finish();
}

/// The model names the session that ended, with the option and in its variables, and goes back. None of it opens the checkpoint.
#[test]
fn an_agent_does_not_give_its_workflow_away() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let model = Model::start(until_the_gate());
    launch(&home, &model).on(SONNET_4_5).ask("go through the phases");
    model.finish();
    let ended = tidegate.records_of("SessionEnd");
    let ended = ended.first().and_then(|record| record["session"].as_str()).expect("a session");

    let attach = format!("attach {MANIFEST}");
    let script = Script::new()
        .main(gate(&format!("{attach} --session {ended}")).used(20_000))
        .main(
            Reply::bash(format!("CLAUDE_CODE_SESSION_ID={ended} {} gate {attach}", binary().display()))
                .used(21_000),
        )
        .main(Reply::agent("NOT GIVEN AWAY").used(22_000))
        .main(phase(3).used(23_000))
        .main(Reply::agent("NOT BACK").used(24_000))
        .main(Reply::text("done").used(25_000));
    let model = Model::start(script);
    launch(&home, &model).on(SONNET_4_5).ask("what is next?");
    tidegate.assert_unfailing();
    assert_eq!(spawns(&tidegate), ["a checkpoint was not passed"; 2]);
    let requests = model.main_requests();
    for at in [1, 2] {
        let refused = requests[at].last_tool_result();
        assert!(refused.is_error && refused.text.contains("it does not run in session"), "{refused:?}");
    }
    model.finish();
}

/// A manifest that came with a clone gates no session, until a session uses it.
#[test]
fn a_manifest_of_a_clone_gates_no_session() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    home.write(MANIFEST, "current_phase: 4\nphases:\n  3_discovery:\n    status: complete\n");
    let script = Script::new()
        .main(Reply::agent("NOT OURS").used(20_000))
        .subagent("NOT OURS", Reply::text("here").used(9_000))
        .main(gate("note 4 --status in_progress").used(21_000))
        .main(Reply::agent("OURS").used(22_000))
        .main(Reply::text("done").used(23_000));
    let model = Model::start(script);
    launch(&home, &model).on(SONNET_4_5).ask("go on");
    tidegate.assert_unfailing();
    assert_eq!(spawns(&tidegate), ["no workflow is under way here", "a checkpoint was not passed"]);
    assert!(!model.main_requests()[0].mentions("unfinished"));
    model.finish();
}

/// Two sessions ran at once and ended; the third hears of both and uses none.
#[test]
fn of_several_workflows_the_session_hears_the_names() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let begins = |id: &str| {
        Model::start(
            Script::new()
                .main(gate(&format!("start {id}")).used(20_000))
                .main(Reply::text("begun").used(21_000)),
        )
    };
    let (one, other) = (begins("x"), begins("y"));
    let mut first = launch(&home, &one).on(SONNET_4_5).start();
    first.ask("begin");
    let mut second = launch(&home, &other).on(SONNET_4_5).start();
    second.ask("begin");
    first.finish();
    second.finish();
    one.finish();
    other.finish();
    let script = Script::new()
        .main(Reply::agent("FREE").used(20_000))
        .subagent("FREE", Reply::text("here").used(9_000))
        .main(Reply::text("done").used(21_000));
    let model = Model::start(script);
    launch(&home, &model).on(SONNET_4_5).ask("what is next?");
    tidegate.assert_unfailing();
    let first = &model.main_requests()[0];
    for id in ["x", "y"] {
        assert!(first.mentions(&format!(".claude/.output/features/{id}/MANIFEST.yaml")), "{id}");
    }
    assert_eq!(spawns(&tidegate), ["no workflow is under way here"]);
    model.finish();
}

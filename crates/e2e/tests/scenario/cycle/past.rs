//! Nothing leads past open findings, a failure, or the person's word.

use super::*;

/// An audit that ends with these calls and this message.
fn audit(calls: impl IntoIterator<Item = Reply>, end: &str) -> Script {
    let begun = sprint_is_done().main(Reply::text("the sprint is over")).main(skill("audit"));
    calls.into_iter().fold(begun, Script::main).main(Reply::text(end))
}

#[test]
fn a_file_that_says_stopped_takes_nothing_past_open_findings() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let edit = r#"printf '{"stage":"audit","status":"stopped","stopped_reason":"context_budget","skipped_stages":["ship","retrospective"],"cycle":"dev-cycle"}' > .claude/dev-cycle.state.json"#;
    let script = audit(
        [cycle("done --metric open=2"), Reply::bash(edit), cycle("resume --anyway || true")],
        "The audit is over.",
    )
    .main(Reply::text("It is over, really."));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("run a cycle");
    session.finish();
    tidegate.assert_unfailing();
    assert_never_begun(&model, "ship");
    assert_eq!(stands(&home).0, "audit");
    model.finish();
}

#[test]
fn a_failure_is_told_whatever_the_file_says_then() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let edit = r#"sed -i 's/"failed"/"running"/' .claude/dev-cycle.state.json"#;
    let script = audit(
        [cycle("fail 'SQL injection'"), Reply::bash(edit), cycle("done --metric open=0 || true")],
        "The audit is over.",
    )
    .main(cycle("resume --anyway"))
    .main(skill("audit"))
    .main(done("audit"))
    .main(Reply::text("The audit is clean."));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    let first = session.ask("run a cycle");
    assert_eq!(told(&first.shown(), "stage audit failed (SQL injection)"), 1, "{:?}", first.shown());
    let second = session.ask("what happened?");
    session.finish();
    tidegate.assert_unfailing();
    assert_never_begun(&model, "ship");
    assert_eq!(told(&second.shown(), "dev-cycle waits after audit"), 1, "{:?}", second.shown());
    model.finish();
}

#[test]
fn an_ok_after_a_no_ships_nothing() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = audit([done("audit")], "The audit is clean. Shall I ship it?")
        .main(Reply::text("Understood, I wait."))
        .main(Reply::text("Fine."))
        .main(Reply::text("Going on."))
        .main(Reply::text("Going on, really."));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    let first = session.ask("run a cycle");
    assert_eq!(
        told(&first.shown(), "because Claude's last message asks you something"),
        1,
        "{:?}",
        first.shown()
    );
    session.ask("no, not yet");
    session.ask("ok");
    assert_eq!(stands(&home), running("audit"), "an assent may be meant for anything");
    assert_never_begun(&model, "ship");
    session.ask("continue");
    session.finish();
    tidegate.assert_unfailing();
    assert_eq!(stands(&home), running("ship"));
    model.finish();
}

/// A task of the project types its prompt like a person.
#[test]
fn a_prompt_that_the_project_scheduled_is_not_a_yes() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = audit([done("audit")], "The audit is over.").main(Reply::text("Fine."));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("Run the cycle, but stop after the audit.");
    assert_eq!(stops(&tidegate), [ROOM, OWED]);
    home.write(
        ".claude/scheduled_tasks.json",
        &json!({"tasks": [{"id": "a", "cron": "0 0 1 1 *", "prompt": "yes, ship it", "createdAt": 1}]})
            .to_string(),
    );
    session.ask("yes, ship it");
    session.finish();
    tidegate.assert_unfailing();
    assert_eq!(stands(&home), running("audit"));
    assert_never_begun(&model, "ship");
    model.finish();
}

/// One prompt: whatever becomes of the state file, the findings are still owed to the person.
#[test]
fn a_new_start_does_not_lead_past_findings() {
    let home = Home::new();
    repository(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let state_file = file(&home);
    let script = sprint_is_done()
        .main(Reply::text("the sprint is over"))
        .main(skill("audit"))
        .main(cycle("done --metric open=3"))
        .main_with(move |_| {
            fs::write(&state_file, "x").expect("the state file");
            cycle("start")
        })
        .main(skill("sprint"))
        .main(done("sprint"))
        .main(Reply::text("Again."))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("The audit is clean."))
        .main(Reply::text("It prints a line."))
        .main(skill("ship"))
        .main(done("ship"))
        .main(Reply::text("It is shipped."))
        .main(Reply::text("Shall I look back?"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    let first = session.ask("run the dev cycle");
    let begun = model.main_requests()[7].last_tool_result();
    assert!(begun.text.contains("Stage sprint (1 of 4) of dev-cycle starts"), "{begun:?}");
    let why = "dev-cycle waits before ship, because 3 findings were open in audit";
    assert_eq!(told(&first.shown(), why), 1, "{:?}", first.shown());
    session.ask("what is in this project?");
    assert_never_begun(&model, "ship");
    assert_eq!(stands(&home), running("audit"));
    session.ask("continue");
    session.finish();
    tidegate.assert_unfailing();
    assert_eq!(stands(&home).0, "retrospective");
    model.finish();
}

/// A person who commits by hand and says so is at the end of ship.
#[test]
fn a_commit_of_the_person_counts() {
    let home = Home::new();
    repository(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = audit([done("audit")], "The audit is clean.")
        .main(skill("ship"))
        .main(cycle("done"))
        .main(Reply::text("It is shipped."))
        .main(Reply::text("Shall I look back?"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("Run the dev cycle. I will commit myself.");
    assert_eq!(stops(&tidegate), [ROOM, OWED]);
    home.write("b.txt", "new");
    home.git(&["add", "b.txt"]);
    home.git(&["commit", "-q", "-m", "By hand"]);
    let turn = session.ask("I committed it. Continue.");
    assert_eq!(told(&turn.shown(), "counts for ship"), 1, "{:?}", turn.shown());
    session.finish();
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ROOM, OWED, ROOM, ASKS]);
    assert_eq!(stands(&home), running("retrospective"));
    model.finish();
}

/// What Claude does after the yes, in the same turn, is the work of ship.
#[test]
fn a_yes_begins_the_stage_at_once() {
    let home = Home::new();
    repository(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = audit([done("audit")], "The audit is clean. Shall I commit it?")
        .main(skill("ship"))
        .main(done("ship"))
        .main(Reply::text("It is committed."))
        .main(Reply::text("Shall I look back?"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("run the dev cycle");
    session.ask("yes");
    session.finish();
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ROOM, ASKS, ROOM, ASKS]);
    assert_eq!(stands(&home), running("retrospective"));
    model.finish();
}

//! A stage is done when the model says so and its promise can be seen; nothing else leads to the next one.

use super::super::work::{CODE_RULES, gradle};
use super::*;

#[test]
fn one_step_of_five_ends_nothing() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start"))
        .main(skill("sprint"))
        .main(Reply::text("Step 1 of 5 is done, 2 to 5 remain."))
        .main_with(|request| {
            let held = request.held_stops().pop().unwrap_or_default();
            assert!(
                held.contains("Finish the work and run `tidegate cycle done`: stage sprint (1 of 4)"),
                "{held}"
            );
            assert!(held.contains("`tidegate cycle fail REASON`"), "{held}");
            Reply::text("Step 2 of 5 is done.")
        })
        .main(Reply::text("Step 3 of 5 is done."))
        .main(cycle("done"))
        .main(Reply::text("All five steps are done."))
        .main(skill("audit"))
        .main(Reply::text("Ship it?"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    let first = session.ask("run a cycle");
    assert_eq!(stops(&tidegate), [NOT_DONE, HELD_ONCE]);
    let waits = "dev-cycle waits at sprint, which is not done: Claude did not report it as done.";
    assert_eq!(told(&first.shown(), waits), 1, "{:?}", first.shown());
    let second = session.ask("go on");
    assert_eq!(told(&second.shown(), waits), 1, "once after each word of theirs: {:?}", second.shown());
    assert_eq!(stands(&home), running("sprint"));
    session.ask("finish it");
    session.finish();
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [NOT_DONE, HELD_ONCE, HELD_ONCE, ROOM, ASKS]);
    assert_eq!(stands(&home), running("audit"));
    model.finish();
}

#[test]
fn an_audit_with_a_critical_finding_never_reaches_ship() {
    let home = Home::new();
    repository(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(Reply::text("the sprint is over"))
        .main(skill("audit"))
        .main(Reply::text("CRITICAL: the token is logged. This must not be shipped."))
        .main(cycle("done --metric findings=1 --metric open=1"))
        .main_with(|request| {
            let said = request.last_tool_result().text;
            assert!(said.contains("Stage audit of dev-cycle is not done yet: 1 finding is open."), "{said}");
            Reply::text("I reported it.")
        })
        // The next turn: the rounds are used up, and the finding is still there.
        .main(cycle("fix-loop"))
        .main(cycle("fix-loop"))
        .main(cycle("fix-loop"))
        .main(cycle("done --metric open=1"))
        .main_with(|request| {
            let said = request.last_tool_result().text;
            assert!(said.contains("Ended dev-cycle at stage audit: 1 finding is open"), "{said}");
            Reply::text("The token is still logged.")
        })
        // A model that wants to go on all the same.
        .main(skill("ship"))
        .main(cycle("resume --from ship"))
        .main(cycle("done"))
        .main(Reply::text("I could not ship it."));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("run a cycle");
    assert_eq!(stops(&tidegate), [ROOM, NOT_DONE, HELD_ONCE]);
    assert_eq!(stands(&home), running("audit"));
    let second = session.ask("fix it");
    let failed = "Tidegate stopped dev-cycle: stage audit failed (1 finding is open after the last round of fixes). No later stage \
                  begins.";
    assert_eq!(told(&second.shown(), failed), 1, "{:?}", second.shown());
    assert_eq!(stands(&home), ("audit".to_owned(), "failed".to_owned()));
    session.ask("ship it");
    session.finish();

    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ROOM, NOT_DONE, HELD_ONCE, FAILED]);
    let requests = model.main_requests();
    let refused = |at: usize| requests[requests.len() - at].last_tool_result();
    assert!(refused(2).text.contains("ship comes after audit, which is not done"), "{:?}", refused(2));
    assert!(refused(1).text.contains("dev-cycle is not running (failed)"), "{:?}", refused(1));
    assert_never_begun(&model, "ship");
    assert_eq!(stands(&home), ("audit".to_owned(), "failed".to_owned()));
    assert_eq!(state(&home)["skipped_stages"], json!(["ship", "retrospective"]));
    let status = tidegate.run(&["cycle", "status"]);
    let audit = status.lines().find(|line| line.trim_start().starts_with("audit")).unwrap_or_default();
    assert!(audit.ends_with("failed"), "{status}");
    model.finish();
}

#[test]
fn a_word_without_the_work_is_not_success() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start"))
        .main(cycle("done"))
        .main_with(|request| {
            let said = request.last_tool_result().text;
            assert!(said.contains("is not done yet: the skill `sprint` was not used."), "{said}");
            Reply::text("the sprint is done")
        })
        .main_with(|request| {
            let held = request.held_stops().pop().unwrap_or_default();
            assert!(held.contains("Invoke the skill `sprint`: stage sprint (1 of 4)"), "{held}");
            skill("sprint")
        })
        .main(skill(CODE_RULES))
        .main(Reply::write(home.in_project("src/B.java"), "class B {}\n"))
        .main(Reply::text("the sprint is over"))
        .main(Reply::text("nothing to check"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::text("now it is checked"))
        .main(skill("audit"))
        .main(Reply::text("Ship it?"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("run a cycle");
    assert_eq!(stops(&tidegate), [NOT_DONE, "another policy blocks it", HELD_ONCE]);
    assert_eq!(stands(&home), running("sprint"), "no check has passed");
    session.ask("check it");
    session.finish();
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate)[3..], [ROOM, ASKS]);
    assert_eq!(stands(&home), running("audit"));
    model.finish();
}

#[test]
fn a_request_without_a_question_mark_is_waited_for() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(Reply::text("どちらの方式がよいか教えてください。"))
        .main(Reply::text("新しい方式にしました。"))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("Waiting for your confirmation before shipping."));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("run a cycle");
    assert_eq!((stops(&tidegate), stands(&home)), (vec![ASKS.to_owned()], running("sprint")));
    session.ask("新しいほうで");
    session.finish();
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ASKS, ROOM, ASKS]);
    assert_eq!(stands(&home), running("audit"));
    assert_never_begun(&model, "ship");
    model.finish();
}

/// Code is written, checked, reviewed and committed.
#[test]
fn a_cycle_ships_a_real_commit() {
    let home = Home::new();
    gradle(&home);
    repository(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start"))
        .main(skill("sprint"))
        .main(skill(CODE_RULES))
        .main(Reply::write(home.in_project("src/B.java"), "class B {}\n"))
        .main(Reply::bash("./gradlew test"))
        .main(cycle("done --metric files_changed=1"))
        .main(Reply::text("the sprint is over"))
        .main(skill("audit"))
        .main(cycle("fix-loop"))
        .main(Reply::write(home.in_project("src/B.java"), "/** Second. */\nclass B {}\n"))
        .main(Reply::bash("./gradlew test"))
        .main(cycle("done --metric findings=1 --metric open=0"))
        .main(Reply::text("the audit is over"))
        .main(skill("ship"))
        .main(cycle("done"))
        .main(Reply::text("it is shipped"))
        .main_with(|request| {
            let held = request.held_stops().pop().unwrap_or_default();
            assert!(held.contains("Commit the change (the stage has no new commit"), "{held}");
            Reply::bash("git add src && git commit -q -m 'Add B'")
        })
        .main(Reply::text("now it is"))
        .main(skill("retrospective"))
        .main(cycle("done"))
        .main(Reply::text("all of it is done"));
    let model = Model::start(script);
    let run = launch(&home, &model).ask("run a cycle");

    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ROOM, ROOM, NOT_DONE, ROOM, COMPLETE]);
    let log =
        home.command("git").args(["log", "--format=%s", "--name-only"]).current_dir(home.project()).output();
    let log = String::from_utf8(log.expect("git").stdout).expect("text");
    assert!(log.starts_with("Add B\n\nsrc/"), "{log}");
    let complete = "dev-cycle is complete. Tokens by stage: sprint ";
    assert_eq!(told(&run.shown(), complete), 1, "{:?}", run.shown());
    assert!(!file(&home).exists());
    assert_eq!(run.answer(), "all of it is done");
    model.finish();
}

#[test]
fn a_push_is_a_sign_of_ship() {
    let home = Home::new();
    repository(&home);
    let remote = home.root().join("remote.git");
    home.git(&["init", "-q", "--bare", &remote.display().to_string()]);
    home.git(&["remote", "add", "origin", &remote.display().to_string()]);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(Reply::text("the sprint is over"))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("the audit is over"))
        .main(skill("ship"))
        .main(Reply::bash("git push -q nowhere HEAD:main; true"))
        .main(cycle("done"))
        .main(Reply::text("it is shipped"))
        .main(Reply::bash("git push -q origin HEAD:main"))
        .main(Reply::text("pushed"))
        .main(Reply::text("the retrospective?"));
    let model = Model::start(script);
    launch(&home, &model).ask("run a cycle");
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ROOM, ROOM, NOT_DONE, ROOM, ASKS]);
    assert_eq!(stands(&home), running("retrospective"));
    model.finish();
}

#[test]
fn a_cycle_is_resumed_only_where_there_is_room() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start").used(60_000))
        .main(skill("sprint").used(80_000))
        .main(done("sprint").used(87_000))
        .main(Reply::text("the sprint is over").used(87_000))
        .main(cycle("resume").used(87_000))
        .main(cycle("resume --anyway").used(87_000))
        .main(Reply::text("Shall I begin?").used(87_000));
    let model = Model::start(script).paced(&home);
    let mut session = launch(&home, &model).start();
    let first = session.ask("run a cycle");
    let stopped = "Tidegate stopped dev-cycle after sprint: 80k tokens are left, the rest needs about 100k.";
    assert_eq!(told(&first.shown(), stopped), 1, "{:?}", first.shown());
    session.ask("go on with it");
    session.finish();
    tidegate.assert_unfailing();
    let requests = model.main_requests();
    let refused = requests[5].last_tool_result();
    let why =
        "no room for audit: from here on the cycle needs about 100k tokens, 80k are left; 20k are missing";
    assert!(refused.is_error && refused.text.contains(why), "{refused:?}");
    let begun = requests[6].last_tool_result();
    assert!(begun.text.contains("Stage audit (2 of 4) of dev-cycle starts"), "{begun:?}");
    assert_eq!(stands(&home), running("audit"));
    model.finish();
}

/// `open=0` outweighs neither another metric nor the report itself, and an empty commit ships nothing.
#[test]
fn a_report_that_contradicts_itself_ends_nothing() {
    let home = Home::new();
    repository(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(Reply::text("the sprint is over"))
        .main(skill("audit"))
        .main(cycle("done --metric open=0 --metric critical=5"))
        .main_with(|request| {
            let said = request.last_tool_result().text;
            assert!(said.contains("is not done yet: 5 findings are open."), "{said}");
            Reply::text("The audit is over.")
        })
        .main_with(|request| {
            let held = request.held_stops().pop().unwrap_or_default();
            assert!(held.contains("--metric open=N"), "{held}");
            cycle("done --metric open=0 --metric critical=0")
        })
        .main_with(|request| {
            let said = request.last_tool_result().text;
            assert!(said.contains("nothing has changed since"), "{said}");
            cycle("fix-loop")
        })
        .main(cycle("done --metric open=0 --metric critical=0"))
        .main(Reply::text("CRITICAL: the token is logged. This must not be shipped."))
        .main(Reply::text("Understood."))
        .main(cycle("done --metric open=0"))
        .main(Reply::text("The token is no longer logged."))
        .main(skill("ship"))
        .main(Reply::bash("git commit -q --allow-empty -m 'Nothing'"))
        .main(cycle("done"))
        .main_with(|request| {
            let said = request.last_tool_result().text;
            assert!(said.contains("is not done yet: nothing was committed."), "{said}");
            Reply::text("It is committed.")
        })
        .main(Reply::text("It is committed, really."));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    let first = session.ask("run a cycle");
    let waits =
        "dev-cycle waits at audit, which is not done: Claude's report says: \"This must not be shipped\"";
    assert_eq!(told(&first.shown(), waits), 1, "{:?}", first.shown());
    session.ask("go on");
    assert_eq!(stands(&home), running("audit"), "other words are not enough");
    let fixed = session.ask("fix it");
    let why = "dev-cycle waits before ship, because you said something else since the order";
    assert_eq!(told(&fixed.shown(), why), 1, "{:?}", fixed.shown());
    assert_eq!(stands(&home), running("audit"));
    session.ask("continue");
    session.finish();
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ROOM, NOT_DONE, HELD_ONCE, HELD_ONCE, OWED, NOT_DONE, HELD_ONCE]);
    assert_eq!(stands(&home), running("ship"));
    model.finish();
}

/// The prompt that starts the cycle reserves a stage.
#[test]
fn a_stage_that_the_person_reserved_waits_for_their_yes() {
    let home = Home::new();
    repository(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(Reply::text("the sprint is over"))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("The audit found nothing."))
        .main(Reply::text("a.js has one function."))
        .main(Reply::text("All right."))
        .main(skill("ship"))
        .main(done("ship"))
        .main(Reply::text("shipped"))
        .main(skill("retrospective"))
        .main(done("retrospective"))
        .main(Reply::text("all of it is over"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    let first = session.ask("Run the dev cycle, but do not ship before I looked at it.");
    assert_eq!(stops(&tidegate), [ROOM, OWED]);
    let waits = "dev-cycle waits before ship, because you said: ";
    assert_eq!(told(&first.shown(), waits), 1, "{:?}", first.shown());
    assert_eq!(stands(&home), running("audit"));
    session.ask("What does a.js do?");
    assert_eq!(stands(&home), running("audit"), "a question is not a yes");
    session.ask("I looked at it, you can ship");
    session.finish();
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate).last().map(String::as_str), Some(COMPLETE));
    model.finish();
}

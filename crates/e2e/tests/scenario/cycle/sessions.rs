//! Ownership of a cycle: a second session is not steered, and a resumed one is.

use super::*;

#[test]
fn a_second_session_is_not_steered() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let first = sprint_is_done()
        .main(Reply::text("Shall I go on?"))
        .main(Reply::text("the sprint is over"))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("Ship it?"));
    let first = Model::start(first);
    let mut owner = launch(&home, &first).start();
    let id = owner.ask("run a cycle").session_id().to_owned();
    let before = fs::read(file(&home)).expect("the state file");

    let second = Script::new()
        .main(skill("sprint"))
        .main(Reply::text("I am somebody else"))
        .main(cycle("start"))
        .main(cycle("resume"))
        .main(cycle("done"))
        .main(cycle("fail 'not mine'"))
        .main(Reply::text("it is not mine"));
    let second = Model::start(second);
    let mut other = launch(&home, &second).start();
    other.ask("hello");
    other.ask("take it over");
    let run = other.finish();

    tidegate.assert_unfailing();
    let requests = second.main_requests();
    for (at, refused) in [
        (3, format!("session {id} is in stage sprint of dev-cycle here")),
        (4, format!("session {id} is in stage sprint of dev-cycle here")),
        (5, format!("dev-cycle belongs to session {id}, not to {}", run.session_id())),
        (6, format!("dev-cycle belongs to session {id}, not to {}", run.session_id())),
    ] {
        let result = requests[at].last_tool_result();
        assert!(result.is_error && result.text.contains(&refused), "{refused}: {result:?}");
    }
    assert_eq!(fs::read(file(&home)).expect("the state file"), before, "nothing was changed");
    assert_eq!(stops(&tidegate), [ASKS], "its stops are not looked at");
    assert_eq!(told(&run.shown(), "dev-cycle"), 0, "{:?}", run.shown());
    second.finish();

    owner.ask("yes");
    owner.finish();
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ASKS, ROOM, ASKS]);
    assert_eq!(stands(&home), running("audit"));
    assert_eq!(state(&home)["session_id"], json!(id));
    first.finish();
}

#[test]
fn a_session_that_comes_back_is_in_the_same_stage() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(Reply::text("Which of the two?"))
        .main(cycle("status"))
        .main(Reply::text("the first one"))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("Ship it?"));
    let model = Model::start(script);
    let first = launch(&home, &model).ask("run a cycle");
    assert_eq!(stands(&home), running("sprint"));
    let again = launch(&home, &model).resume(first.session_id()).ask("the first one");

    tidegate.assert_unfailing();
    assert_eq!(again.session_id(), first.session_id());
    let status = model.main_requests()[5].last_tool_result();
    assert!(status.text.contains("dev-cycle: running, stage sprint (1 of 4)"), "{status:?}");
    assert_eq!(stops(&tidegate), [ASKS, ROOM, ASKS]);
    assert_eq!(begun(&model.last_main()), ["audit"]);
    assert_eq!(stands(&home), running("audit"));
    model.finish();
}

/// A fork copies the conversation and the marks, but not the cycle.
#[test]
fn a_fork_is_not_steered() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(Reply::text("Which of the two?"))
        .main(Reply::text("the sprint is over"))
        .main(skill("audit"))
        .main(Reply::text("the audit is over"));
    let model = Model::start(script);
    let first = launch(&home, &model).ask("run a cycle");
    let before = state(&home);
    let mut fork = launch(&home, &model).resume(first.session_id()).argument("--fork-session").start();
    fork.ask("the first one");
    fork.ask("and now");
    let fork = fork.finish();

    tidegate.assert_unfailing();
    assert_ne!(fork.session_id(), first.session_id());
    assert_eq!(stops(&tidegate), [ASKS], "the fork is in no cycle");
    assert_eq!(untold(state(&home)), before, "it was told that nobody is in it any more");
    model.finish();
}

/// The client's new session in the same window continues where the old one was.
#[test]
fn after_a_clear_the_stage_is_begun_again() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(Reply::text("Which of the two?"))
        .main(Reply::text("hello"))
        .main(cycle("resume"))
        .main(skill("sprint"))
        .main(done("sprint"))
        .main(Reply::text("the sprint is over"))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("Ship it?"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("run a cycle");
    let before = state(&home);
    session.ask("/clear");
    session.ask("hello");
    assert_eq!(untold(state(&home)), before, "the new session was told of it, and that is all");
    assert_eq!(stops(&tidegate), [ASKS], "the new session is in no cycle");
    session.ask("go on with the cycle");
    session.finish();

    tidegate.assert_unfailing();
    let requests = model.main_requests();
    assert_ne!(requests[0].session, requests[6].session);
    let resumed = requests[6].last_tool_result();
    assert!(resumed.text.contains("Stage sprint (1 of 4) of dev-cycle starts"), "{resumed:?}");
    assert_eq!(stops(&tidegate), [ASKS, ROOM, ASKS], "the person's word before it counts");
    assert_eq!(stands(&home), running("audit"));
    assert_eq!(state(&home)["session_id"], json!(requests[6].session));
    model.finish();
}

/// The person spoke of something else, and the agent resumes all the same.
#[test]
fn after_a_clear_an_agents_resume_is_not_the_answer() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(Reply::text("Shall I continue with the audit?"))
        .main(cycle("resume"))
        .main(skill("sprint"))
        .main(done("sprint"))
        .main(Reply::text("the sprint is over"))
        .main(Reply::text("on to the audit"))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("Ship it?"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("run a cycle");
    session.ask("/clear");
    session.ask("what was left to do here?");
    assert_never_begun(&model, "audit");
    session.ask("continue");
    session.finish();
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ASKS, "the person has not answered", ROOM, ASKS]);
    assert_eq!(stands(&home), running("audit"));
    model.finish();
}

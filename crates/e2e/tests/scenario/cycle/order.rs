//! Stages in their order: what is out of it is refused or held, and then done right.

use super::*;

fn says(request: &Request, expected: &str) {
    let said = request.last_tool_result().text;
    assert!(said.contains(expected), "{said}");
}

/// The model would begin a later stage.
#[test]
fn a_stage_is_not_skipped() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start"))
        .main(cycle("resume --from ship"))
        .main_with(|request| {
            says(request, "ship comes after sprint, which is not done");
            Reply::text("I am at ship now.")
        })
        .main(skill("sprint"))
        .main(done("sprint"))
        .main(Reply::text("The sprint is over."))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("Shall I ship it?"));
    let model = Model::start(script);
    launch(&home, &model).ask("run a cycle");
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [NOT_DONE, ROOM, ASKS]);
    assert_eq!(begun(&model.last_main()), ["audit"]);
    assert_eq!(stands(&home), running("audit"));
    model.finish();
}

/// A second word for the same stage is none for the next.
#[test]
fn done_twice_ends_one_stage() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(cycle("done"))
        .main(Reply::text("The sprint is over."))
        .main(cycle("done --metric open=0"))
        .main_with(|request| {
            says(request, "Stage audit of dev-cycle is not done yet: the skill `audit` was not used.");
            Reply::text("The audit is over, too.")
        })
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("Shall I ship it?"));
    let model = Model::start(script);
    launch(&home, &model).ask("run a cycle");
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ROOM, NOT_DONE, ASKS]);
    assert_eq!(begun(&model.last_main()), ["audit"]);
    assert_eq!(stands(&home), running("audit"));
    model.finish();
}

/// The work of a later stage ends no earlier one, and a commit of that time is not the later stage's.
#[test]
fn ship_before_audit_ends_neither() {
    let home = Home::new();
    repository(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(Reply::text("The sprint is over."))
        .main(skill("ship"))
        .main(done("ship"))
        .main_with(|request| {
            says(request, "Stage audit of dev-cycle is not done yet: the skill `audit` was not used");
            Reply::text("It is shipped.")
        })
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("The audit is over."))
        .main(skill("ship"))
        .main(cycle("done"))
        .main_with(|request| {
            says(request, "Stage ship of dev-cycle is not done yet: nothing was committed.");
            Reply::bash(COMMIT)
        })
        .main(cycle("done"))
        .main(Reply::text("It is shipped."))
        .main(Reply::text("Shall I look back?"));
    let model = Model::start(script);
    launch(&home, &model).ask("run a cycle");
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ROOM, NOT_DONE, ROOM, ROOM, ASKS]);
    assert_eq!(stands(&home), running("retrospective"));
    model.finish();
}

/// A stage that begins again is done again.
#[test]
fn a_repeated_stage_needs_its_work_anew() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(Reply::text("The sprint is over."))
        .main(skill("audit"))
        .main(cycle("resume --from sprint"))
        .main(cycle("done"))
        .main_with(|request| {
            says(request, "Stage sprint of dev-cycle is not done yet: the skill `sprint` was not used.");
            Reply::text("The sprint is over again.")
        })
        .main(skill("sprint"))
        .main(done("sprint"))
        .main(Reply::text("Now it is."))
        .main(Reply::text("Shall I audit it?"));
    let model = Model::start(script);
    launch(&home, &model).ask("run a cycle");
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ROOM, NOT_DONE, ROOM, ASKS]);
    assert_eq!(stands(&home), running("audit"));
    model.finish();
}

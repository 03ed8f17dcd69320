//! A denial reaches the model; the way past it reaches only the user.

use tidegate_core::event::{EventKind, FailedStep};
use tidegate_core::feature::verdict::Call;
use tidegate_core::host::answer::Reply as Answer;
use tidegate_e2e::client::{Launch, OPUS_5_5};
use tidegate_e2e::home::Home;
use tidegate_e2e::hooks::Hooks;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::terminal::Terminal;
use tidegate_e2e::wire;

const WAY_OUT: &str = "TIDEGATE_OFF=skill-gate";

fn denies(answer: &Answer, reason: &str) {
    let home = Home::new();
    let file = home.in_project("made.txt");
    let model = Model::start(Script::new().main(Reply::write(&file, "text\n")).main(Reply::text("stopped")));
    let hooks = Hooks::new().answering(&home, "PreToolUse", Some("Edit|Write"), answer);

    let run = Launch::new(&home, &model).on(OPUS_5_5).settings(&hooks.settings()).ask("write it");

    let result = model.last_main().last_tool_result();
    assert!(result.is_error && result.text.contains(reason), "the model is told why: {result:?}");
    assert!(
        !model.requests().iter().any(|request| request.mentions(WAY_OUT)),
        "the model is not told the way out"
    );
    assert!(run.shown().iter().any(|text| text.contains(WAY_OUT)), "the user is: {:?}", run.shown());
    assert_eq!(run.denials(), ["Write"]);
    assert!(!file.exists(), "nothing was written");
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn of_a_policy() {
    let (reason, user) = ("the tests have not run yet", format!("past it with {WAY_OUT}"));
    denies(&wire::ruling(EventKind::PreToolUse, Call::Deny, reason, &user), reason);
}

#[test]
fn of_a_gate_that_could_not_check() {
    denies(&wire::could_not_check(&FailedStep::SessionMissing), "Tidegate could not check: ");
}

#[test]
fn is_shown_in_a_terminal() {
    let home = Home::new();
    let file = home.in_project("made.txt");
    let model =
        Model::start(Script::new().main(Reply::write(&file, "text\n")).main(Reply::text("that is all")));
    let answer = wire::could_not_check(&FailedStep::SessionMissing);
    let hooks = Hooks::new().answering(&home, "PreToolUse", Some("Edit|Write"), &answer);

    let terminal = Terminal::start(&Launch::new(&home, &model).on(OPUS_5_5).settings(&hooks.settings()));
    terminal.enter("write it");
    let screen = terminal.wait_for("that is all");

    assert!(screen.contains(WAY_OUT), "the user sees the way out:\n{screen}");
    assert!(!file.exists(), "nothing was written");
    assert!(!model.requests().iter().any(|request| request.mentions(WAY_OUT)));
    model.finish();
}

//! Context in the wire form of the reply table reaches the model, once, at each event that can carry it.

use tidegate_core::event::EventKind;
use tidegate_e2e::client::{Launch, OPUS_5_5, SONNET_4_5, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::hooks::Hooks;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::wire;

const EVENTS: [EventKind; 3] = [EventKind::SessionStart, EventKind::UserPromptSubmit, EventKind::PostToolUse];

fn reaches_the_model(id: &str) {
    let home = Home::new();
    let script = Script::new().main(Reply::bash("echo one")).main(Reply::text("first"));
    let model = Model::start(script.main(Reply::text("second")));
    let hooks = EVENTS.iter().fold(Hooks::new(), |hooks, event| {
        let answer = wire::context(*event, &format!("fact-from-{}", event.name()));
        hooks.answering(&home, event.name(), None, &answer)
    });

    let mut session = Launch::new(&home, &model).on(id).settings(&hooks.settings()).start();
    session.ask("begin");
    session.ask("go on");
    let run = session.finish();

    let requests = model.main_requests();
    assert_eq!(
        requests[0].hook_contexts(),
        ["SessionStart: fact-from-SessionStart", "UserPromptSubmit: fact-from-UserPromptSubmit"],
    );
    assert_eq!(requests[1].count("fact-from-PostToolUse"), 1, "beside the tool's result");
    let last = model.last_main();
    assert_eq!(last.count("fact-from-SessionStart"), 1, "said once, kept in the conversation");
    assert_eq!(last.count("fact-from-UserPromptSubmit"), 2, "said at each of two prompts");
    assert_eq!(last.count("fact-from-PostToolUse"), 1);
    assert!(!run.shown().iter().any(|text| text.contains("fact-from-")), "context is not for the user");
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn reaches_a_model_that_takes_system_messages() {
    reaches_the_model(OPUS_5_5);
}

#[test]
fn reaches_a_model_that_takes_reminders() {
    reaches_the_model(SONNET_4_5);
}

#[test]
fn is_replayed_on_resume_and_not_said_again() {
    let home = Home::new();
    let model = Model::start(Script::new().main(Reply::text("first")).main(Reply::text("second")));
    let answer = wire::context(EventKind::UserPromptSubmit, "fact-from-UserPromptSubmit");
    let settings = Hooks::new().answering(&home, "UserPromptSubmit", None, &answer).settings();

    let first = Launch::new(&home, &model).on(SONNET_4_6).settings(&settings).ask("begin");
    let resumed = Launch::new(&home, &model).on(SONNET_4_6).settings(&settings).resume(first.session_id());
    let second = resumed.ask("go on");

    assert_eq!(first.session_id(), second.session_id());
    assert_eq!(
        model.last_main().count("fact-from-UserPromptSubmit"),
        2,
        "one replayed, one for the new prompt"
    );
    assert_extending(&model.requests());
    model.finish();
}

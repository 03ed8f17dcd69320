//! Rows of the reply table on the real client: a wrong form would silently count as no answer.

use tidegate_core::event::EventKind;
use tidegate_core::feature::verdict::Call;
use tidegate_core::host::Host;
use tidegate_core::host::answer::Reply as Answer;
use tidegate_e2e::client::{Launch, OPUS_5_5, Run};
use tidegate_e2e::home::Home;
use tidegate_e2e::hooks::Hooks;
use tidegate_e2e::model::{Model, Reply, Route, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::wire;

/// One turn with a single hook that always gives the same answer.
fn turn(event: EventKind, answer: &Answer, script: Script, home: &Home) -> (Model, Run) {
    let model = Model::start(script);
    let hooks = Hooks::new().answering(home, event.name(), None, answer);
    let launch = Launch::new(home, &model).on(OPUS_5_5).settings(&hooks.settings());
    let run = launch.environment("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "1").ask("begin");
    assert_extending(&model.requests());
    model.finish();
    (model, run)
}

fn denying(event: EventKind, call: Call) -> Answer {
    wire::ruling(event, call, "reason-for-it", "message-to-the-user")
}

#[test]
fn texts_at_every_event_that_a_session_passes() {
    use EventKind as E;
    let events = [
        E::SessionStart,
        E::UserPromptSubmit,
        E::PreToolUse,
        E::PostToolUse,
        E::PostToolUseFailure,
        E::PostToolBatch,
        E::SubagentStart,
        E::SubagentStop,
        E::Stop,
        E::StopFailure,
        E::PreCompact,
        E::PostCompact,
        E::SessionEnd,
    ];
    let home = Home::new();
    let hooks = events.iter().fold(Hooks::new(), |hooks, event| {
        let name = event.name();
        let answer = wire::texts(*event, &format!("context-{name}."), &format!("message-{name}."));
        hooks.answering(&home, name, None, &answer)
    });
    let task = "look around";
    let script = Script::new()
        .main(Reply::bash("true"))
        .main(Reply::bash("exit 1"))
        .main(Reply::agent(task))
        .subagent(task, Reply::text("nothing found"))
        .main(Reply::text("first"))
        .main(Reply::error(500, "api_error", "scripted"))
        .main(Reply::text("second"));
    let model = Model::start(script);

    let mut session = Launch::new(&home, &model).on(OPUS_5_5).settings(&hooks.settings()).start();
    session.ask("begin");
    session.ask("fail");
    session.ask("/compact");
    session.ask("go on");
    let run = session.finish();

    let failed: Vec<_> = run.hook_responses().into_iter().filter(|hook| hook.outcome != "success").collect();
    assert!(failed.is_empty(), "every answer was taken: {failed:#?}");
    let shown = run.shown();
    let sent = |needle: &str| model.requests().iter().any(|request| request.count(needle) > 0);
    for event in events {
        let (context, message) = (format!("context-{}.", event.name()), format!("message-{}.", event.name()));
        let channels = Host::ClaudeCode.channels(event);
        assert_eq!(sent(&context), channels.context, "{event:?}: context for the model");
        assert!(!sent(&message), "{event:?}: what is for the user is not for the model");
        // The stream does not show a subagent's events.
        let expected = channels.user && !matches!(event, E::SubagentStart | E::SubagentStop);
        assert_eq!(shown.iter().any(|text| text.contains(&message)), expected, "{event:?}: {shown:#?}");
    }
    model.finish();
}

#[test]
fn a_denied_prompt_never_reaches_the_model() {
    let home = Home::new();
    let event = EventKind::UserPromptSubmit;
    let (model, run) = turn(event, &denying(event, Call::Deny), Script::new(), &home);
    assert_eq!(model.requests().len(), 0);
    // Here the reason is for the user, and the client drops a message in addition to it.
    assert!(run.shown().iter().any(|text| text.contains("reason-for-it")), "{:?}", run.shown());
}

#[test]
fn a_question_nobody_can_answer_is_a_denial() {
    let home = Home::new();
    let file = home.in_project("made.txt");
    let script = Script::new().main(Reply::write(&file, "text\n")).main(Reply::text("done"));
    let event = EventKind::PreToolUse;
    let (model, run) = turn(event, &denying(event, Call::Ask), script, &home);
    assert!(model.last_main().last_tool_result().text.contains("reason-for-it"));
    assert_eq!(run.denials(), ["Write"]);
    assert!(!file.exists());
}

#[test]
fn a_halt_before_a_tool_denies_it_and_ends_the_turn() {
    let home = Home::new();
    let file = home.in_project("made.txt");
    let event = EventKind::PreToolUse;
    let script = Script::new().main(Reply::write(&file, "text\n"));
    let (model, run) = turn(event, &denying(event, Call::Halt), script, &home);
    assert_eq!(model.main_requests().len(), 1);
    assert!(!file.exists());
    assert_eq!(run.result()["terminal_reason"], "hook_stopped", "{}", run.result());
}

#[test]
fn a_block_after_a_tool_is_feedback() {
    let home = Home::new();
    let script = Script::new().main(Reply::bash("true")).main(Reply::text("done"));
    let event = EventKind::PostToolUse;
    let (model, run) = turn(event, &denying(event, Call::Deny), script, &home);
    assert_eq!(model.last_main().count("reason-for-it"), 1);
    assert!(run.shown().iter().any(|text| text.contains("message-to-the-user")), "{:?}", run.shown());
}

#[test]
fn a_block_at_stop_goes_on() {
    let home = Home::new();
    let script = Script::new().main(Reply::text("first")).main(Reply::text("second"));
    let event = EventKind::Stop;
    let (model, run) = turn(event, &denying(event, Call::Deny), script, &home);
    assert!(model.last_main().count("reason-for-it") > 0);
    assert!(run.shown().iter().any(|text| text.contains("message-to-the-user")), "{:?}", run.shown());
}

#[test]
fn a_held_compaction_does_not_happen() {
    let home = Home::new();
    let model = Model::start(Script::new().main(Reply::text("first")).main(Reply::text("second")));
    let event = EventKind::PreCompact;
    let hooks = Hooks::new().answering(&home, event.name(), None, &denying(event, Call::Deny));

    let mut session = Launch::new(&home, &model).on(OPUS_5_5).settings(&hooks.settings()).start();
    session.ask("begin");
    let turn = session.ask("/compact");
    session.ask("go on");
    session.finish();

    assert_eq!(turn.compactions(), Vec::<&str>::new());
    assert!(turn.answer().contains("reason-for-it"), "the user is told why: {}", turn.result());
    assert_eq!(model.requests_on(&Route::Compaction).len(), 0);
    assert_extending(&model.requests());
    model.finish();
}

//! Compaction fires its events in the measured order, whoever started it, and the instructions reach the
//! summary.

use serde_json::Value;
use tidegate_e2e::client::{ClientSession, Launch, OPUS_5_5, SONNET_4_5, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::hooks::{Hooks, Recorder};
use tidegate_e2e::model::{Model, Reply, Route, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::tidegate::Tidegate;

use super::filler;

const EVENTS: [&str; 6] =
    ["UserPromptSubmit", "SubagentStop", "SessionStart", "PreCompact", "PostCompact", "Stop"];

/// A session whose hooks record their payloads and add instructions for the summary.
fn start(home: &Home, model: &Model, id: &str) -> (ClientSession, Recorder) {
    let recorder = Recorder::new(home);
    let keep = ["/bin/sh", "-c", "cat >/dev/null; echo keep-this-fact"];
    let hooks = Hooks::new().recording(&recorder, &EVENTS).program("PreCompact", None, &keep, false);
    (Launch::new(home, model).on(id).settings(&hooks.settings()).start(), recorder)
}

/// The events since the compaction, each with its distinguishing field.
fn chain(recorder: &Recorder) -> Vec<String> {
    let named = |payload: &Value| {
        let event = payload["hook_event_name"].as_str().unwrap_or_default();
        let detail = ["source", "trigger", "agent_type"].iter().find_map(|member| payload[*member].as_str());
        detail.map_or(event.to_owned(), |detail| format!("{event}({detail})"))
    };
    let all: Vec<String> = recorder.payloads().iter().map(named).collect();
    let from = all.iter().position(|event| event.starts_with("PreCompact")).expect("a compaction");
    all[from..].to_vec()
}

/// True for every compaction.
fn check(model: &Model) {
    let asked = model.requests_on(&Route::Compaction);
    assert_eq!(asked.len(), 1, "one summary was asked for");
    assert_eq!(asked[0].count("keep-this-fact"), 1, "PreCompact's text stands in the instructions");
    let after = model.last_main();
    assert_eq!(after.conversation, 1);
    assert!(after.count("The work so far, in short.") == 1, "the model goes on from the summary");
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn by_the_user() {
    let home = Home::new();
    let model = Model::start(Script::new().main(Reply::text("first")).main(Reply::text("second")));
    let (mut session, recorder) = start(&home, &model, OPUS_5_5);

    session.ask("begin");
    let turn = session.ask("/compact");
    assert_eq!(turn.compactions(), ["manual"]);
    session.ask("go on");
    session.finish();

    let expected = [
        "PreCompact(manual)",
        "SubagentStop()",
        "SessionStart(compact)",
        "PostCompact(manual)",
        "UserPromptSubmit",
        "Stop",
    ];
    assert_eq!(chain(&recorder), expected);
    check(&model);
}

/// Two long turns; in the second the client compacts by itself, without a prompt in between.
fn by_the_client(id: &str, script: Script) {
    let home = Home::new();
    let model = Model::start(script);
    let (mut session, recorder) = start(&home, &model, id);

    session.ask(&filler());
    let turn = session.ask(&filler());
    assert_eq!(turn.compactions(), ["auto"]);
    session.finish();

    let expected =
        ["PreCompact(auto)", "SubagentStop()", "SessionStart(compact)", "PostCompact(auto)", "Stop"];
    assert_eq!(chain(&recorder), expected, "inside the turn: no prompt comes between");
    check(&model);
}

#[test]
fn by_the_client_before_its_limit() {
    let script = Script::new()
        .main(Reply::text("first").used(40_000))
        .main(Reply::bash("echo one").used(100_000))
        .main(Reply::bash("echo two").used(168_000))
        .main(Reply::text("second").used(30_000));
    by_the_client(SONNET_4_6, script);
}

#[test]
fn by_the_client_when_the_api_refuses() {
    let script = Script::new()
        .main(Reply::text("first").used(40_000))
        .main(Reply::bash("echo one").used(190_000))
        .main(Reply::prompt_too_long(201_000, 200_000))
        .main(Reply::text("second").used(30_000));
    by_the_client(SONNET_4_5, script);
}

#[test]
fn with_tidegate_installed() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(Reply::text("first").used(40_000))
        .main(Reply::bash("echo one").used(60_000))
        .main(Reply::bash("echo two").used(168_000))
        .main(Reply::text("second").used(30_000))
        .main(Reply::text("third").used(31_000));
    let model = Model::start(script).paced(&home);

    let mut session = Launch::new(&home, &model).on(SONNET_4_6).start();
    session.ask(&filler());
    assert_eq!(session.ask(&filler()).compactions(), ["auto"]);
    assert_eq!(session.ask("/compact").compactions(), ["manual"]);
    session.ask("go on");
    session.finish();

    tidegate.assert_unfailing();
    let chain = ["PreCompact", "SessionStart", "PostCompact"];
    let journal = tidegate.journal();
    let events = journal.iter().filter_map(|record| record["event"].as_str());
    let seen: Vec<&str> = events.filter(|event| chain.contains(event)).collect();
    assert_eq!(seen, [&["SessionStart"], &chain[..], &chain[..]].concat(), "startup, then two compactions");
    assert_eq!(model.requests_on(&Route::Compaction).len(), 2);
    assert_extending(&model.requests());
    model.finish();
}

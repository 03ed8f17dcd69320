//! Requests of the client without any hook: the baseline for the prefix checks of the other scenarios.

use serde_json::json;
use tidegate_e2e::client::{Launch, OPUS_5_5, SONNET_4_5, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Route, Script};
use tidegate_e2e::prefix::{assert_extending, extends};

fn kept_by_the_client(id: &str, window: u64) {
    let home = Home::new();
    let file = home.in_project("made.txt");
    let task = "look around";
    let script = Script::new()
        .main(Reply::bash("echo one"))
        .main(Reply::write(&file, "text\n"))
        .main(Reply::text("first"))
        .main(Reply::bash("echo two").and_tool("Read", json!({ "file_path": file })))
        .main(Reply::agent(task))
        .subagent(task, Reply::bash("ls"))
        .subagent(task, Reply::text("one file"))
        .main_with(|request| Reply::text(format!("{} results", request.tool_results().len())))
        .main(Reply::error(500, "api_error", "scripted"))
        .main(Reply::text("third"))
        .main(Reply::text("fourth"));
    let model = Model::start(script);

    let mut session = Launch::new(&home, &model).on(id).start();
    session.ask("begin");
    let turn = session.ask("go on");
    assert_eq!(turn.window(id), Some(window));
    assert_eq!(turn.answer(), "5 results", "the answers follow the conversation");
    assert_eq!(session.ask("fail").result()["is_error"], true);
    session.ask("again");
    let first = session.finish();
    let second = Launch::new(&home, &model).on(id).resume(first.session_id()).ask("resume");

    assert_eq!(first.session_id(), second.session_id());
    assert_eq!(model.main_requests().len(), 9);
    assert_eq!(model.requests_on(&Route::Subagent(task.to_owned())).len(), 2);
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn kept_on_a_large_window() {
    kept_by_the_client(OPUS_5_5, 1_000_000);
}

#[test]
fn kept_on_a_small_window() {
    kept_by_the_client(SONNET_4_6, 200_000);
}

#[test]
fn kept_on_a_small_window_without_proactive_compaction() {
    kept_by_the_client(SONNET_4_5, 200_000);
}

#[test]
fn a_compaction_begins_anew() {
    let home = Home::new();
    let model = Model::start(Script::new().main(Reply::text("first")).main(Reply::text("second")));

    let mut session = Launch::new(&home, &model).on(OPUS_5_5).start();
    session.ask("begin");
    session.ask("/compact");
    session.ask("go on");
    session.finish();

    let requests = model.main_requests();
    assert!(extends(&requests[0], &requests[1]).is_err(), "the check can fail");
    assert_extending(&model.requests());
    model.finish();
}

//! Context warnings: once per level, at the right number of tokens for the window, to the main thread.

use serde_json::json;
use tidegate_e2e::client::{Launch, OPUS_5_5, SONNET_4_5, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request, Route, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::tidegate::Tidegate;

use super::filler;

/// The numbers of one model.
struct Window {
    model: &'static str,
    /// Below every level, although most of a large window.
    quiet: u64,
    /// Past the first level, with the percentage and the tokens left that the advice must name.
    info: (u64, &'static str, &'static str),
    /// Past the second level.
    urgent: (u64, &'static str, &'static str),
}

/// The client compacts at 167,000 by itself: levels are 47,000 and 17,000 tokens before that.
const SMALL: Window = Window {
    model: SONNET_4_6,
    quiet: 118_000,
    info: (124_000, "62%", "43k tokens"),
    urgent: (154_000, "77%", "13k tokens"),
};

/// The client compacts when the API rejects the prompt: levels are 80,000 and 50,000 tokens before the end of
/// the window.
const SMALL_REACTIVE: Window = Window {
    model: SONNET_4_5,
    quiet: 118_000,
    info: (124_000, "62%", "76k tokens"),
    urgent: (154_000, "77%", "46k tokens"),
};

/// The client compacts at 967,000 by itself: far beyond 60 % and 75 % of the window.
const LARGE: Window = Window {
    model: OPUS_5_5,
    quiet: 900_000,
    info: (930_000, "93%", "37k tokens"),
    urgent: (950_000, "95%", "17k tokens"),
};

/// Only context warnings: around a compaction there are other texts too.
fn advice(request: &Request) -> Vec<String> {
    let of_pressure = |context: &String| context.contains(": Write down decisions");
    request.hook_contexts().into_iter().filter(of_pressure).collect()
}

fn assert_says(advice: &str, event: &str, (_, percentage, left): (u64, &str, &str)) {
    assert!(advice.starts_with(event), "given at {event}: {advice}");
    assert!(advice.contains(percentage), "names {percentage}: {advice}");
    assert!(advice.contains(left), "names {left}: {advice}");
}

/// One prompt per size: the advice is in the request of the prompt after the level was reached.
fn at_prompts(window: &Window) {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let sizes =
        [window.quiet, window.info.0, window.info.0 + 1_000, window.urgent.0, window.urgent.0 + 1_000];
    let script =
        sizes.iter().fold(Script::new(), |script, size| script.main(Reply::text("done").used(*size)));
    let model = Model::start(script.main(Reply::text("done").used(window.urgent.0 + 2_000))).paced(&home);

    let mut session = Launch::new(&home, &model).on(window.model).start();
    let mut said = Vec::new();
    for _ in 0..=sizes.len() {
        let turn = session.ask("go on");
        // A person is slower than the client's writes.
        model.await_transcript(turn.session_id());
        said.push(model.last_main().hook_contexts().len());
    }
    session.finish();

    tidegate.assert_unfailing();
    assert_eq!(said, [0, 0, 1, 1, 2, 2], "once per level, at the next prompt");
    let advice = model.last_main().hook_contexts();
    assert_says(&advice[0], "UserPromptSubmit", window.info);
    assert_says(&advice[1], "UserPromptSubmit", window.urgent);
    assert_extending(&model.requests());
    model.finish();
}

/// One prompt, then tool after tool.
fn in_one_turn(window: &Window) {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let sizes = [
        window.quiet,
        window.info.0,
        window.info.0 + 100,
        window.info.0 + 200,
        window.urgent.0,
        window.urgent.0 + 100,
        window.urgent.0 + 200,
    ];
    let script =
        sizes.iter().fold(Script::new(), |script, size| script.main(Reply::bash("true").used(*size)));
    let model = Model::start(script.main(Reply::text("done").used(window.urgent.0 + 300))).paced(&home);

    Launch::new(&home, &model).on(window.model).ask("work for an hour");

    tidegate.assert_unfailing();
    let said: Vec<usize> =
        model.main_requests().iter().map(|request| request.hook_contexts().len()).collect();
    // The transcript may lag one request behind the event, so the advice comes at the tool call that reached
    // the level or at the next one.
    assert_eq!(said[..2], [0, 0], "nothing below the level");
    assert_eq!(said[3..5], [1, 1], "the first level, once");
    assert_eq!(said[6..], [2, 2], "the second level, once");
    let advice = model.last_main().hook_contexts();
    assert!(advice[0].starts_with("PostToolUse:Bash") && advice[0].contains(window.info.1), "{}", advice[0]);
    assert!(
        advice[1].starts_with("PostToolUse:Bash") && advice[1].contains(window.urgent.1),
        "{}",
        advice[1]
    );
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn at_prompts_on_a_small_window() {
    at_prompts(&SMALL);
}

#[test]
fn at_prompts_on_a_small_window_without_proactive_compaction() {
    at_prompts(&SMALL_REACTIVE);
}

#[test]
fn at_prompts_on_a_large_window() {
    at_prompts(&LARGE);
}

#[test]
fn in_one_turn_on_a_small_window() {
    in_one_turn(&SMALL);
}

#[test]
fn in_one_turn_on_a_small_window_without_proactive_compaction() {
    in_one_turn(&SMALL_REACTIVE);
}

#[test]
fn in_one_turn_on_a_large_window() {
    in_one_turn(&LARGE);
}

#[test]
fn once_although_tools_end_at_once() {
    let home = Home::new();
    let file = home.write("read-me.txt", "text\n");
    let tidegate = Tidegate::init(&home);
    // The client runs reads, and their hooks, in parallel.
    let read = || json!({ "file_path": file });
    let batch = |used| {
        let four = Reply::tool("Read", read()).and_tool("Read", read()).and_tool("Read", read());
        four.and_tool("Read", read()).used(used)
    };
    let script = Script::new().main(batch(SMALL.quiet)).main(batch(SMALL.info.0)).main(batch(SMALL.info.0));
    let model = Model::start(script.main(Reply::text("done").used(SMALL.info.0))).paced(&home);

    Launch::new(&home, &model).on(SMALL.model).ask("read it again and again");

    tidegate.assert_unfailing();
    let advice = model.last_main().hook_contexts();
    assert_eq!(advice.len(), 1, "{advice:#?}");
    assert_eq!(tidegate.records_of("PostToolUse").len(), 12, "one record for each call");
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn is_not_swallowed_by_a_subagent() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let task = "look around";
    let script = Script::new()
        .main(Reply::bash("true").used(SMALL.quiet))
        // The request that starts the agent reaches the level, so the agent's events are the first to see it.
        .main(Reply::agent(task).used(SMALL.info.0))
        .subagent(task, Reply::bash("true").used(9_000))
        .subagent(task, Reply::bash("true").used(9_100))
        .subagent(task, Reply::bash("true").used(9_200))
        .subagent(task, Reply::text("nothing found").used(9_300))
        .main(Reply::bash("true").used(SMALL.info.0 + 100))
        .main(Reply::text("done").used(SMALL.info.0 + 200));
    let model = Model::start(script).paced(&home);

    Launch::new(&home, &model).on(SMALL.model).ask("look around with an agent");

    let agent = model.requests_on(&Route::Subagent(task.to_owned()));
    assert_eq!(agent.len(), 4);
    assert!(agent.iter().all(|request| request.hook_contexts().is_empty()), "the agent is told nothing");
    tidegate.assert_unfailing();
    let said: Vec<usize> =
        model.main_requests().iter().map(|request| request.hook_contexts().len()).collect();
    assert_eq!(said, [0, 0, 1, 1], "the main thread is told at its next event");
    assert_says(&model.last_main().hook_contexts()[0], "PostToolUse:Agent", SMALL.info);
    let told =
        tidegate.records_of("PostToolUse").into_iter().filter(|record| record["said"]["model"].is_string());
    assert_eq!(told.count(), 1, "and the journal says so once");
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn is_armed_again_by_a_compaction() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let (info, urgent) = (SMALL.info.0, SMALL.urgent.0);
    // The client compacts at 168,000, within the turn, and keeps the last call and its result.
    let climb = [info, info + 100, urgent, urgent + 100, 168_000, 30_000, info, info];
    let begin = Script::new().main(Reply::text("first").used(40_000));
    let script = climb.iter().fold(begin, |script, size| script.main(Reply::bash("true").used(*size)));
    let model = Model::start(script.main(Reply::text("done").used(info))).paced(&home);

    let mut session = Launch::new(&home, &model).on(SMALL.model).start();
    session.ask(&filler());
    let turn = session.ask(&filler());
    assert_eq!(turn.compactions(), ["auto"]);
    session.finish();

    tidegate.assert_unfailing();
    let (before, after): (Vec<_>, Vec<_>) =
        model.main_requests().into_iter().partition(|request| request.conversation == 0);
    let before = advice(before.last().expect("a request before the compaction"));
    assert_eq!(before.len(), 2, "both levels: {before:?}");
    let after: Vec<_> = after.iter().map(advice).collect();
    assert_eq!(after[0].len(), 0, "nothing right after the drop: {:?}", after[0]);
    let last = after.last().expect("a request after the compaction");
    assert_eq!(last.len(), 1, "the first level again, once: {last:?}");
    assert_says(&last[0], "PostToolUse:Bash", SMALL.info);
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn says_nothing_of_the_time_before_a_compaction() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let begin = Script::new().main(Reply::text("first").used(40_000));
    // The client compacts at 168,000. Its batched writes lag, so the first events after that can still find
    // the old number at the end of the transcript.
    let sizes = [SMALL.quiet, 168_000, 30_000, 30_000, 30_000];
    let script = sizes.iter().fold(begin, |script, size| script.main(Reply::bash("true").used(*size)));
    let model = Model::start(script.main(Reply::text("done").used(30_000)));

    let mut session = Launch::new(&home, &model).on(SMALL.model).start();
    session.ask(&filler());
    assert_eq!(session.ask(&filler()).compactions(), ["auto"]);
    session.finish();

    tidegate.assert_unfailing();
    let requests = model.main_requests();
    let after: Vec<_> = requests.iter().filter(|request| request.conversation == 1).collect();
    // The client keeps the last call before a compaction, and with it the advice that was rightly given
    // there.
    assert_eq!(advice(&model.last_main()), advice(after[0]), "nothing new");
    assert_extending(&model.requests());
    model.finish();
}

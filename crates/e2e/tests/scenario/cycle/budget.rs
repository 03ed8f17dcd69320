//! Room is counted in tokens on every model; without room the cycle stops in a state that another session
//! resumes.

use super::*;
use tidegate_e2e::client::{OPUS_5_5, SONNET_4_5};

const LAST_ANSWER: &str = "the sprint is over";

/// Delays the Stop hook until the client has written the last answer into its transcript. Otherwise the finding
/// depends on whether that takes longer than the hook waits.
fn stop_after_the_transcript(home: &Home, tidegate: &Tidegate<'_>) {
    // The payload is left to the hook, which accepts only a socket of the client.
    let script = format!(
        "looks=0
        until grep -rqs '{LAST_ANSWER}' '{}' || [ $looks -ge 200 ]; do
            looks=$((looks + 1))
            sleep 0.05
        done
        exec \"$0\" \"$@\"",
        home.client_config().join("projects").display()
    );
    tidegate.rewire(|event, handler| {
        if event == "Stop" {
            let mut arguments = vec![json!("-c"), json!(script), handler["command"].clone()];
            arguments.extend(handler["args"].as_array().into_iter().flatten().cloned());
            handler["command"] = json!("/bin/sh");
            handler["args"] = Value::Array(arguments);
        }
    });
}

/// Only the last answer says that the sprint took too much.
#[test]
fn the_answer_that_ends_the_turn_is_counted() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    stop_after_the_transcript(&home, &tidegate);
    let script = Script::new()
        .main(cycle("start").used(60_000))
        .main(skill("sprint").used(62_000))
        .main(done("sprint").used(62_000))
        .main(Reply::text(LAST_ANSWER).used(70_000));
    let model = Model::start(script);
    launch(&home, &model).ask("run a cycle");
    tidegate.assert_unfailing();
    assert_eq!(stops_of(&tidegate, "cycle"), [NO_ROOM]);
    model.finish();
}

#[test]
fn without_room_it_stops_and_another_session_goes_on() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start").used(60_000))
        .main(skill("sprint").used(70_000))
        .main(done("sprint").used(70_000))
        .main(Reply::text("the sprint is over").used(70_000));
    let model = Model::start(script).paced(&home);
    let run = launch(&home, &model).ask("run a cycle");
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [NO_ROOM]);
    assert_eq!(told(&run.shown(), "Tidegate stopped dev-cycle after sprint"), 1, "{:?}", run.shown());
    assert_eq!(stands(&home), ("sprint".to_owned(), "stopped".to_owned()));
    model.finish();

    let script = Script::new()
        .main(cycle("resume").used(20_000))
        .main(Reply::text("Shall I begin?").used(21_000))
        .main(Reply::text("nothing done").used(22_000))
        .main(skill("audit").used(23_000))
        .main(done("audit").used(23_000))
        .main(Reply::text("the audit is over").used(24_000))
        .main(cycle("fail 'the branch is locked'").used(25_000))
        .main(Reply::text("it cannot be shipped").used(26_000));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("go on with it");
    session.ask("continue");
    session.finish();
    tidegate.assert_unfailing();
    let begins = tidegate.records_of("SessionStart").pop().unwrap_or_default();
    let told = begins["said"]["user"].as_str().unwrap_or_default().to_owned();
    assert!(
        told.contains("dev-cycle has stopped in this project (") && told.contains("). Done: sprint."),
        "{begins}"
    );
    let requests = model.main_requests();
    assert!(requests[0].mentions("Open: audit, ship, retrospective"), "the model knows");
    assert_eq!(stops(&tidegate)[1..], [ASKS, NOT_DONE, ROOM, FAILED]);
    assert_eq!(stands(&home), ("ship".to_owned(), "failed".to_owned()));
    model.finish();
}

#[test]
fn it_stops_before_ship_and_another_session_ships() {
    let home = Home::new();
    repository(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start").used(20_000))
        .main(skill("sprint").used(60_000))
        .main(done("sprint").used(60_000))
        .main(Reply::text("the sprint is over").used(60_000))
        .main(skill("audit").used(110_000))
        .main(done("audit").used(110_000))
        .main(Reply::text("the audit is over").used(110_000));
    let model = Model::start(script).paced(&home);
    let run = launch(&home, &model).ask("run a cycle");
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ROOM, NO_ROOM]);
    assert_eq!(run.answer(), "the audit is over");
    let stopped = "Tidegate stopped dev-cycle after audit: 57k tokens are left, the rest needs about 60k. Open: ship, \
                   retrospective. Continue in a new session with `/dev-cycle`.";
    assert_eq!(told(&run.shown(), stopped), 1, "{:?}", run.shown());
    let said = state(&home);
    for (member, value) in [
        ("stage", json!("audit")),
        ("status", json!("stopped")),
        ("stopped_reason", json!("context_budget")),
        ("skipped_stages", json!(["ship", "retrospective"])),
        ("remaining_pct", json!(45.0)),
        ("left_tokens", json!(57_000)),
        ("needed_tokens", json!(60_000)),
        ("cycle", json!("dev-cycle")),
        ("session_id", json!(run.session_id())),
        ("project", json!(home.project().display().to_string())),
    ] {
        assert_eq!(said[member], value, "{member}: {said:#}");
    }
    assert_eq!(said["stages"]["audit"]["tokens_at_end"], 110_000, "{said:#}");
    model.finish();

    // A new session is told once, both the model and the person; the resumed session is not told again.
    let model = Model::start(Script::new().main(Reply::text("hello")).main(Reply::text("hello again")));
    let mut session = launch(&home, &model).start();
    session.ask("hello");
    session.ask("and hello");
    let second = session.finish();
    let waits = "Done: sprint, audit. Open: ship, retrospective (needs 60k tokens, 57k were \
                 left).";
    assert_eq!(told(&greetings(&second), waits), 1, "{:?}", greetings(&second));
    let guide = "Done: sprint, audit. Open: ship, retrospective. `tidegate cycle resume` continues with ship in this session";
    assert_eq!(model.last_main().count(guide), 1, "{:#?}", model.last_main().hook_contexts());
    assert_eq!(state(&home)["resume_told"], json!([second.session_id()]));
    assert_eq!(stops(&tidegate).len(), 2, "its stops are its own");
    model.finish();

    let script = Script::new()
        .main(cycle("resume").used(20_000))
        .main(skill("ship").used(21_000))
        .main(done("ship").used(21_000))
        .main(Reply::text("it is shipped").used(30_000))
        .main(skill("retrospective").used(31_000))
        .main(done("retrospective").used(31_000))
        .main(Reply::text("all of it is done").used(40_000));
    let model = Model::start(script);
    let third = launch(&home, &model).resume(second.session_id()).ask("go on with it");
    tidegate.assert_unfailing();
    assert_eq!(told(&greetings(&third), waits), 0, "{:?}", greetings(&third));
    assert_eq!(model.last_main().count(guide), 1, "the client replays it, and it is not said again");
    let resumed = model.main_requests()[1].last_tool_result();
    assert!(resumed.text.contains("Stage ship (3 of 4) of dev-cycle starts"), "{resumed:?}");
    assert_eq!(stops(&tidegate)[2..], [ROOM, COMPLETE]);
    assert_eq!(begun(&model.last_main()), ["retrospective"]);
    let costs = "dev-cycle is complete. Tokens by stage: sprint 40k, audit 50k, ship 10k, retrospective 10k.";
    assert_eq!(told(&third.shown(), costs), 1, "{:?}", third.shown());
    assert!(!file(&home).exists());
    let ended = history(&home);
    assert_eq!((ended.len(), &ended[0]["ended"]), (1, &json!("complete")), "{ended:#?}");
    let names: Vec<&Value> =
        ended[0]["stages"].as_array().expect("stages").iter().map(|stage| &stage["name"]).collect();
    assert_eq!(names, ["sprint", "audit", "ship", "retrospective"]);
    model.finish();
}

/// A sprint that ends at this use; the audit needs 100,000 tokens.
fn sprint_until(model_id: &str, used: u64) -> (Vec<String>, Value) {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start").used(20_000))
        .main(skill("sprint").used(used))
        .main(done("sprint").used(used))
        .main(Reply::text("the sprint is over").used(used));
    let model = Model::start(script).paced(&home);
    let mut session = launch(&home, &model).on(model_id).start();
    model.then(skill("audit"));
    model.then(Reply::text("Ship it?"));
    session.ask("run a cycle");
    session.finish();
    tidegate.assert_unfailing();
    (stops(&tidegate), state(&home))
}

#[test]
fn the_last_token_that_is_enough() {
    for (model_id, enough, remaining) in
        [(SONNET_4_6, 67_000, 66.5), (SONNET_4_5, 100_000, 50.0), (OPUS_5_5, 867_000, 13.3)]
    {
        let (stops, state) = sprint_until(model_id, enough);
        assert_eq!(
            (stops, &state["stage"]),
            (vec![ROOM.to_owned(), ASKS.to_owned()], &json!("audit")),
            "{model_id}"
        );
        let (stops, state) = sprint_until(model_id, enough + 1);
        assert_eq!((stops, &state["status"]), (vec![NO_ROOM.to_owned()], &json!("stopped")), "{model_id}");
        assert_eq!(state["remaining_pct"], remaining, "{model_id}: of the window");
        assert_eq!(state["stages"]["sprint"]["tokens_at_end"], enough + 1, "{model_id}");
    }
}

#[test]
fn what_stages_took_is_what_the_model_reported() {
    let home = Home::new();
    repository(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    // The start of each run, and the growth in each of its stages.
    let runs: [(u64, [u64; 4]); 2] =
        [(20_000, [9_000, 8_000, 7_000, 6_000]), (60_000, [3_000, 4_000, 5_000, 1_000])];
    let mut script = Script::new();
    for (from, stages) in runs {
        script = script.main(Reply::text("ready").used(from)).main(cycle("start").used(from));
        let mut used = from;
        for (name, took) in ["sprint", "audit", "ship", "retrospective"].into_iter().zip(stages) {
            used += took;
            script = script
                .main(skill(name).used(used))
                .main(done(name).used(used))
                .main(Reply::text(format!("{name} is over")).used(used));
        }
    }
    let model = Model::start(script).paced(&home);
    let mut session = launch(&home, &model).start();
    for _ in runs {
        let turn = session.ask("are you ready");
        model.await_transcript(turn.session_id());
        let turn = session.ask("run a cycle");
        assert_eq!(told(&turn.shown(), "dev-cycle is complete"), 1, "{:?}", turn.shown());
    }
    session.finish();

    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ROOM, ROOM, ROOM, COMPLETE, ROOM, ROOM, ROOM, COMPLETE]);
    let stats: Value = serde_json::from_str(&tidegate.run(&["cycle", "stats", "--json"])).expect("JSON");
    assert_eq!((&stats["cycle"], &stats["runs"]), (&json!("dev-cycle"), &json!(2)));
    let numbers = |least: u64, most: u64| json!({ "count": 2, "least": least, "median": least, "p80": most, "most": most });
    let row = |stage: &str, took: Value, from_here: Value, written: &str, min_left: u64| json!({ "stage": stage, "took": took, "from_here": from_here, "written": written, "min_left": min_left });
    assert_eq!(
        stats["stages"],
        json!([
            row("sprint", numbers(3_000, 9_000), numbers(13_000, 30_000), "auto", 0),
            row("audit", numbers(4_000, 8_000), numbers(10_000, 21_000), "50%", 100_000),
            row("ship", numbers(5_000, 7_000), numbers(6_000, 13_000), "30%", 60_000),
            row("retrospective", numbers(1_000, 6_000), numbers(1_000, 6_000), "15%", 30_000),
        ])
    );
    let table = tidegate.run(&["cycle", "stats"]);
    assert!(table.starts_with("dev-cycle: 2 cycles in this project"), "{table}");
    let line = table.lines().find(|line| line.trim_start().starts_with("audit")).unwrap_or_default();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells, ["audit", "2", "4.0k", "8.0k", "8.0k"]);
    model.finish();
}

/// The cycle is started between two turns, so that no tool wrote the copy before the stop.
#[test]
fn a_stop_publishes_what_is_left() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let asks = Reply::text("Shall I begin?").used(70_000);
    let script = Script::new().main(Reply::text("hello").used(40_000)).main(asks);
    let model = Model::start(script).paced(&home);
    let copy = home.in_project(".claude/.context-budget.json");
    let mut session = launch(&home, &model).start();
    session.ask("hello");
    assert!(!copy.exists(), "no cycle is under way");
    tidegate.run(&["cycle", "start"]);
    session.ask("run it");
    let run = session.finish();

    let text = fs::read_to_string(&copy).expect("the copy");
    let budget: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&budget["remaining"], &budget["sessionId"]),
        (&json!(65.0), &json!(run.session_id())),
        "{text}"
    );
    assert_eq!(stops(&tidegate), [ASKS]);
    tidegate.assert_unfailing();
    model.finish();
}

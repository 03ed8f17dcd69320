//! Stages that follow each other in one turn, and stop where there is no room for the next.

use serde_json::Value;
use tidegate_e2e::client::SONNET_4_6;
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::tidegate::{Tidegate, binary};

use super::work::{launch, skill};

fn cycle(arguments: &str) -> Reply {
    Reply::bash(format!("{} cycle {arguments}", binary().display()))
}

/// What the Stop records say the policy found, oldest first.
fn stops(tidegate: &Tidegate<'_>) -> Vec<String> {
    let because = |record: Value| {
        let verdicts = record["verdicts"].as_array().cloned().unwrap_or_default();
        let ours = verdicts.into_iter().find(|verdict| verdict["policy"] == "cycle");
        ours.map(|verdict| verdict["because"].as_str().unwrap_or_default().to_owned())
    };
    tidegate.records_of("Stop").into_iter().filter_map(because).collect()
}

/// The newest feedback of a held stop.
fn feedback(request: &Request) -> String {
    let texts = request.texts();
    let held = texts.iter().rev().find(|text| text.contains("Stop hook feedback"));
    held.map(|text| (*text).to_owned()).unwrap_or_default()
}

#[test]
fn four_stages_in_one_turn() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(cycle("start").used(20_000))
        .main(skill("sprint").used(22_000))
        .main(Reply::text("the sprint is over").used(30_000))
        .main(skill("audit").used(31_000))
        .main(Reply::text("the audit is over").used(40_000))
        .main(cycle("done --metric pr_url=https://example.org/1").used(41_000))
        .main(Reply::text("it is shipped").used(45_000))
        .main(skill("retrospective").used(46_000))
        .main(Reply::text("all of it is done").used(50_000));
    let model = Model::start(script);
    let run = launch(&home, &model).on(SONNET_4_6).ask("run a cycle");

    tidegate.assert_unfailing();
    let room = "there is room for the next stage";
    assert_eq!(stops(&tidegate), [room, room, room, "the last stage is done"]);
    let requests = model.main_requests();
    for (at, stage) in [(3, "audit"), (5, "ship"), (7, "retrospective")] {
        let said = feedback(&requests[at]);
        assert!(said.contains(&format!("The next stage is {stage}, with the skill `{stage}`")), "{said}");
    }
    let shown = run.shown();
    assert!(shown.iter().any(|text| text.contains("dev-cycle is complete. Tokens by stage: ")), "{shown:?}");
    assert!(!home.in_project(".claude/dev-cycle.state.json").exists());
    assert_eq!(run.answer(), "all of it is done");
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn without_room_it_stops_and_another_session_goes_on() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(cycle("start").used(60_000))
        .main(skill("sprint").used(62_000))
        .main(Reply::text("the sprint is over").used(70_000));
    let model = Model::start(script);
    let run = launch(&home, &model).on(SONNET_4_6).ask("run a cycle");
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), ["there is no room for the next stage"]);
    let shown = run.shown();
    assert!(shown.iter().any(|text| text.contains("dev-cycle stopped after sprint")), "{shown:?}");
    model.finish();

    let script = Script::new()
        .main(cycle("resume").used(20_000))
        .main(Reply::text("Shall I begin?").used(21_000))
        .main(Reply::text("nothing done").used(22_000))
        .main(skill("audit").used(23_000))
        .main(Reply::text("the audit is over").used(24_000))
        .main(cycle("fail 'the branch is locked'").used(25_000))
        .main(Reply::text("it cannot be shipped").used(26_000));
    let model = Model::start(script);
    let mut session = launch(&home, &model).on(SONNET_4_6).environment("TIDEGATE_ATTENDED", "1").start();
    session.ask("go on with it");
    session.ask("yes");
    session.finish();
    tidegate.assert_unfailing();
    let begins = tidegate.records_of("SessionStart").pop().unwrap_or_default();
    let told = begins["said"]["user"].as_str().unwrap_or_default().to_owned();
    assert!(told.contains("A dev-cycle of this project has stopped. Done: sprint."), "{begins}");
    let requests = model.main_requests();
    assert!(requests[0].mentions("Not begun: audit, ship, retrospective"), "the model knows");
    assert_eq!(
        stops(&tidegate)[1..],
        ["the last message asks something", "the stage is not done", "there is room for the next stage"]
    );
    model.finish();
}

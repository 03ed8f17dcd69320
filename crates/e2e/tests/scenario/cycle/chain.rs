//! The chain: conditions for the start of the next stage, and events that start nothing.

use super::super::filler;
use super::super::work::{CODE_RULES, gradle};
use super::*;
use tidegate_e2e::prefix::assert_extending;

#[test]
fn four_stages_in_one_turn() {
    let home = Home::new();
    repository(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start").used(20_000))
        .main(skill("sprint").used(22_000))
        .main(done("sprint").used(22_000))
        .main(Reply::text("the sprint is over").used(30_000))
        .main(skill("audit").used(31_000))
        .main(done("audit").used(31_000))
        .main(Reply::text("the audit is over").used(40_000))
        .main(skill("ship").used(41_000))
        .main(Reply::bash(COMMIT).used(41_000))
        .main(cycle("done --metric pr_url=https://example.org/1").used(41_000))
        .main(Reply::text("it is shipped").used(45_000))
        .main(skill("retrospective").used(46_000))
        .main(done("retrospective").used(46_000))
        .main(Reply::text("all of it is done").used(50_000));
    let model = Model::start(script);
    let run = super::super::work::launch(&home, &model).on(SONNET_4_6).ask("run a cycle");

    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ROOM, ROOM, ROOM, COMPLETE]);
    let requests = model.main_requests();
    for (at, stage) in [(4, "audit"), (7, "ship"), (11, "retrospective")] {
        let said = requests[at].held_stops().pop().unwrap_or_default();
        assert!(said.contains(&begins(stage)), "{said}");
    }
    let shown = run.shown();
    assert!(shown.iter().any(|text| text.contains("dev-cycle is complete. Tokens by stage: ")), "{shown:?}");
    assert!(!file(&home).exists());
    assert_eq!(run.answer(), "all of it is done");
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn a_question_begins_nothing_until_it_is_answered() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(Reply::text("Both would do. **Which schema shall I use?**"))
        .main(Reply::text("the new one it is"))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("監査は終わりました。出荷してよいですか？"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("run a cycle");
    assert_eq!(stops(&tidegate), [ASKS]);
    assert_eq!(stands(&home), running("sprint"));
    assert_eq!(model.main_requests().len(), 4, "the turn has ended");
    session.ask("the new one");
    session.finish();

    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ASKS, ROOM, ASKS]);
    assert_eq!(begun(&model.last_main()), ["audit"]);
    assert_eq!(stands(&home), running("audit"));
    model.finish();
}

/// A no, a question and a greeting are no yes, whatever the model makes of them.
#[test]
fn a_stage_is_never_begun_against_a_persons_word() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = sprint_is_done()
        .main(Reply::text("the sprint is over"))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("The audit is over. Shall I ship this now?"))
        .main(Reply::text("OK, I will not ship it."))
        .main(Reply::text("It adds two numbers."))
        .main(Reply::text("Welcome back."))
        .main(Reply::text("Then I continue."))
        .main(skill("ship"))
        .main(Reply::text("Which remote shall I push to?"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("run a cycle");
    let declined = session.ask("No. Do not ship this yet.");
    assert_eq!(
        told(&declined.shown(), "dev-cycle waits after audit. It continues when you say \"continue\""),
        1,
        "{:?}",
        declined.shown()
    );
    for prompt in ["What does a.js do?", "hello, I am back from holiday"] {
        let turn = session.ask(prompt);
        assert_eq!(told(&turn.shown(), "dev-cycle waits"), 0, "said once: {:?}", turn.shown());
    }
    assert_eq!(stands(&home), running("audit"));
    assert_eq!(model.main_requests().len(), 10, "nothing was ordered");
    session.ask("continue");
    session.finish();

    tidegate.assert_unfailing();
    let declined = "the person does not let it continue";
    assert_eq!(stops(&tidegate), [ROOM, ASKS, declined, declined, declined, NOT_DONE, ASKS]);
    assert_eq!(stands(&home), running("ship"));
    model.finish();
}

#[test]
fn who_does_nothing_gets_no_further() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start"))
        .main(Reply::text("the sprint is done"))
        .main(Reply::text("I said that it is done"))
        .main(Reply::text("and the audit, too"))
        .main(skill("ship"))
        .main(Reply::text("it is shipped"))
        .main(Reply::text("all of it"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    for prompt in ["run a cycle", "go on", "and on", "is it done"] {
        session.ask(prompt);
    }
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [NOT_DONE, HELD_ONCE, HELD_ONCE, HELD_ONCE, HELD_ONCE]);
    let held = model.last_main().held_stops();
    assert_eq!(held.len(), 1, "{held:#?}");
    for way in ["`sprint`", "`tidegate cycle done`", "`tidegate cycle fail REASON`"] {
        assert!(held[0].contains(way), "{way}: {held:#?}");
    }
    assert_eq!(stands(&home), running("sprint"));

    // Each stage holds one stop of its own.
    for reply in [
        skill("sprint"),
        cycle("done"),
        Reply::text("done with that"),
        Reply::text("the audit is done"),
        Reply::text("really"),
        Reply::text("for good"),
    ] {
        model.then(reply);
    }
    session.ask("say so then");
    session.ask("and the audit");
    session.finish();
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate)[5..], [ROOM, NOT_DONE, HELD_ONCE, HELD_ONCE]);
    assert_eq!(begun(&model.last_main()), ["audit"]);
    assert_eq!(stands(&home), running("audit"));
    model.finish();
}

/// Unverified edits hold the stop first, alone; the stage ends when they are verified, in the same turn.
#[test]
fn unverified_code_holds_the_next_stage_back() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let at_hold = file(&home);
    let script = sprint_is_done()
        .main(skill(CODE_RULES))
        .main(Reply::write(home.in_project("src/B.java"), "class B {}\n"))
        .main(Reply::text("the sprint is over"))
        .main_with(move |request| {
            let state = fs::read_to_string(&at_hold).expect("the state file");
            assert!(state.contains(r#""stage": "sprint""#), "nothing has begun: {state}");
            let held = request.held_stops();
            assert_eq!(held.len(), 1, "{held:#?}");
            assert!(held[0].contains("no check has passed since") && !held[0].contains("stage"), "{held:#?}");
            Reply::bash("./gradlew test")
        })
        .main(Reply::text("tested and over"))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("the audit is over. Ship it?"));
    let model = Model::start(script);
    let run = launch(&home, &model).ask("run a cycle");

    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), ["another policy blocks it", ROOM, ASKS]);
    assert_eq!(
        stops_of(&tidegate, "verify-stop")[..2],
        ["code was edited and not verified since", "verified since the last edit"]
    );
    let held = model.last_main().held_stops();
    assert_eq!(held.len(), 2, "{held:#?}");
    assert!(held[1].contains(&begins("audit")), "{held:#?}");
    assert_eq!(stands(&home), running("audit"));
    assert_eq!(
        told(&run.shown(), "stage 1 of 4 (sprint) is done. Claude continues with audit"),
        1,
        "{:?}",
        run.shown()
    );
    model.finish();
}

#[test]
fn what_a_subagent_invokes_is_not_the_stage() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start"))
        .main(Reply::agent("errand"))
        .subagent("errand", skill("sprint"))
        .subagent("errand", Reply::text("the sprint is done"))
        .main(Reply::text("my agent did the sprint"))
        .main(skill("sprint"))
        .main(done("sprint"))
        .main(Reply::text("now I did"))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("Ship it?"));
    let model = Model::start(script);
    launch(&home, &model).ask("run a cycle");

    tidegate.assert_unfailing();
    let skills = tidegate.records_of("PostToolUse").iter().filter(|record| record["tool"] == "Skill").count();
    assert_eq!(skills, 3, "the agent's call was seen");
    assert_eq!(stops(&tidegate), [NOT_DONE, ROOM, ASKS]);
    assert_eq!(stands(&home), running("audit"));
    model.finish();
}

#[test]
fn an_agent_in_the_background_is_awaited() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let background = json!({ "description": "errand", "prompt": "background errand",
        "subagent_type": "general-purpose", "run_in_background": true });
    let script = sprint_is_done()
        .main(Reply::tool("Agent", background))
        .subagent("background errand", Reply::bash("sleep 2"))
        .subagent("background errand", Reply::text("looked at"))
        .main(Reply::text("the agent still works"))
        .main(Reply::text("the agent is back"))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("Ship it?"));
    let model = Model::start(script);
    launch(&home, &model).ask("run a cycle");

    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), ["agents still run in the background", ROOM, ASKS]);
    let requests = model.main_requests();
    assert_eq!(requests[5].held_stops(), Vec::<String>::new(), "nothing began before it was back");
    assert_eq!(begun(&requests[6]), ["audit"]);
    assert_eq!(stands(&home), running("audit"));
    model.finish();
}

#[test]
fn a_compaction_in_a_stage_is_survived() {
    let home = Home::new();
    repository(&home);
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start").used(20_000))
        .main(Reply::bash("echo work").used(60_000))
        .main(Reply::bash("echo more work").used(168_000))
        .main(skill("sprint").used(32_000))
        .main(done("sprint").used(32_000))
        .main(Reply::text("the sprint is over").used(32_000))
        .main(skill("audit").used(40_000))
        .main(done("audit").used(40_000))
        .main(Reply::text("the audit is over").used(40_000))
        .main(skill("ship").used(46_000))
        .main(done("ship").used(46_000))
        .main(Reply::text("it is shipped").used(46_000))
        .main(skill("retrospective").used(53_000))
        .main(done("retrospective").used(53_000))
        .main(Reply::text("all of it is done").used(53_000));
    let model = Model::start(script).paced(&home);
    let mut session = launch(&home, &model).start();
    let turn = session.ask(&format!("run a cycle\n{}", filler()));
    session.finish();

    tidegate.assert_unfailing();
    assert_eq!(turn.compactions(), ["auto"]);
    let after = &model.main_requests()[3];
    assert_eq!(after.conversation, 1);
    assert_eq!(
        after.count("Before this compaction: stage sprint (1 of 4) of the cycle dev-cycle is under way"),
        1,
        "{:#?}",
        after.hook_contexts()
    );
    assert_eq!(stops(&tidegate), [ROOM, ROOM, ROOM, COMPLETE]);
    assert!(!file(&home).exists());
    let ended = history(&home);
    assert_eq!(ended.len(), 1, "{ended:#?}");
    assert_eq!(
        ended[0]["stages"],
        json!([{ "name": "sprint" }, { "name": "audit", "tokens": 8_000 }, { "name": "ship", "tokens": 6_000 },
            { "name": "retrospective", "tokens": 7_000 }]),
        "what the compacted stage took is not known"
    );
    let stats: Value = serde_json::from_str(&tidegate.run(&["cycle", "stats", "--json"])).expect("JSON");
    let samples = |part: &str| -> Vec<Value> {
        let rows = stats["stages"].as_array().expect("rows");
        rows.iter().map(|row| row[part]["count"].clone()).collect()
    };
    assert_eq!(samples("took"), [0, 1, 1, 1]);
    assert_eq!(samples("from_here"), [0, 1, 1, 1]);
    assert_extending(&model.requests());
    model.finish();
}

/// The client starts a turn by itself when a background command ends. That is not an answer.
#[test]
fn a_turn_that_nobody_asked_for_answers_no_question() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let background = json!({ "command": "sleep 2", "description": "a server", "run_in_background": true });
    let script = sprint_is_done()
        .main(Reply::tool("Bash", background))
        .main(Reply::text("Which schema shall I use?"))
        .main_with(|request| {
            assert!(request.mentions("completed (exit code 0)"), "the client tells the end of it");
            Reply::text("the server has ended")
        });
    let model = Model::start(script);
    launch(&home, &model).ask("run a cycle");

    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), [ASKS, "the person has not answered"]);
    assert_eq!(stands(&home), running("sprint"));
    model.finish();
}

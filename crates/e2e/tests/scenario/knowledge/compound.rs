//! Promotion: `/compound` in a terminal, and the context warning before and after it.

use tidegate_e2e::client::Launch;
use tidegate_e2e::model::{Model, Reply, Request, Script};
use tidegate_e2e::terminal::Terminal;

use super::*;

/// The word after a mark in the request.
fn word_after(request: &Request, mark: &str) -> String {
    let text = request.last_tool_result().text;
    let (_, after) = text.split_once(mark).unwrap_or_else(|| panic!("{mark:?} in {text}"));
    after
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .trim_matches(|c: char| !c.is_ascii_alphanumeric())
        .to_owned()
}

const LEARNING: &str = "The bank rounds half-even";

#[test]
fn a_person_goes_through_the_entries() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let promote = |id: &str| {
        call(&format!(
            "compound promote --entry {id} --to coding --title \"Round half-even\" --learning \"{LEARNING}\" \
             --context \"invoices\" --implication \"ask for the mode first\""
        ))
    };
    let id = {
        let listed: Value =
            serde_json::from_str(&tidegate.run(&["compound", "list", "--json"])).expect("JSON");
        listed["entries"][0]["id"].as_str().expect("an id").to_owned()
    };
    let command = promote(&id);
    let script = Script::new()
        .main(Reply::bash(call("compound list --json")))
        .main(Reply::bash(command.clone()))
        .main(Reply::text("it needs your yes"))
        .main(Reply::bash(format!("{command} --approved")))
        .main(Reply::bash(call("compound done")))
        .main(Reply::text("it is kept now"));
    let model = Model::start(script);
    let launch = Launch::new(&scene.home, &model).argument("--permission-mode").argument("default");
    let terminal = Terminal::start(&launch);
    terminal.enter("/compound");
    terminal.wait_for("it needs your yes");
    let requests = model.main_requests();
    assert!(
        requests[0].mentions("From progress notes to learnings"),
        "the skill's text: {:#?}",
        requests[0].texts()
    );
    let listed = requests[1].last_tool_result();
    assert!(listed.text.contains(HEADING), "{listed:?}");
    let code = word_after(&requests[2], "Code ");
    assert!(!scene.path("learnings-coding.md").exists(), "not before a yes");

    terminal.enter(&format!("approve {code}"));
    terminal.wait_for("it is kept now");
    let stock = scene.text("learnings-coding.md");
    assert!(stock.contains("## Round half-even") && stock.contains(LEARNING), "{stock}");
    let run = scene.json("compound-last-run.json");
    assert_eq!(run["promotedCount"], 1, "{run:#}");
    let left: Value = serde_json::from_str(&tidegate.run(&["compound", "list", "--json"])).expect("JSON");
    assert_eq!(left["entries"], serde_json::json!([]));
    model.finish();
}

const NOT_REVIEWED: &str = "1 progress note is not reviewed: `/compound`";

#[test]
fn pressure_names_what_would_be_lost_until_it_is_promoted() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let script = Script::new()
        .main(Reply::text("first").used(124_000))
        .main(Reply::bash(call("compound list")).used(125_000))
        .main(Reply::bash(call("compound done")).used(126_000))
        .main(Reply::text("gone through").used(154_000))
        .main(Reply::text("quiet").used(155_000))
        .main(Reply::bash(call("progress add \"a new step\"")).used(156_000))
        .main(Reply::text("written").used(157_000))
        .main(Reply::text("urgent").used(158_000));
    let model = Model::start(script).paced(&scene.home);
    let mut session = scene.launch(&model).start();
    let mut seen = Vec::new();
    for prompt in ["begin", "go through the entries", "go on", "write it down", "and on"] {
        let turn = session.ask(prompt);
        model.await_transcript(turn.session_id());
        seen.push(turn.shown().iter().filter(|text| text.contains(NOT_REVIEWED)).count());
    }
    session.finish();

    let requests = model.main_requests();
    let of_pressure = |request: &Request| {
        request.hook_contexts().iter().filter(|context| context.contains("tokens are left")).count()
    };
    let said: Vec<usize> = requests.iter().map(of_pressure).collect();
    let info = requests[1].hook_contexts().concat();
    assert!(info.contains("62% of 200k used") && !info.contains("/compound"), "{info}");
    assert_eq!(said[..6], [0, 1, 1, 1, 1, 1], "the late one is silent: every note is reviewed");
    assert_eq!(seen, [0, 1, 0, 1, 0], "the person hears the same, after the new entry at once");
    let last = model.last_main().hook_contexts();
    assert_eq!(said.last(), Some(&2), "a new entry arms it again: {last:#?}");
    assert!(last.iter().any(|context| context.contains("the next step now:")), "{last:#?}");
    settle(&tidegate, &model);
}

/// In the middle of a turn it names what the model can do alone.
#[test]
fn pressure_in_a_turn_names_what_the_model_can_do() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let script = Script::new()
        .main(Reply::bash("true").used(40_000))
        .main(Reply::bash("true").used(124_000))
        .main(Reply::bash("true").used(124_100))
        .main(Reply::text("done").used(124_200));
    let model = Model::start(script).paced(&scene.home);
    let run = scene.launch(&model).ask("work for an hour");

    let seen: Vec<String> = run.shown().into_iter().filter(|text| text.contains(NOT_REVIEWED)).collect();
    assert!(
        matches!(&seen[..], [text] if text.starts_with("PostToolUse:Bash says: Tidegate: 4")),
        "{seen:#?}"
    );
    let contexts = model.last_main().hook_contexts();
    let advice: Vec<&String> =
        contexts.iter().filter(|context| context.contains("tokens are left")).collect();
    assert_eq!(advice.len(), 1, "{contexts:#?}");
    assert!(
        advice[0].starts_with("PostToolUse:Bash") && advice[0].contains("tidegate progress add"),
        "{advice:#?}"
    );
    assert!(!advice[0].contains("/compound"), "only a person can type it: {advice:#?}");
    settle(&tidegate, &model);
}

//! At the end of work: entries wait to be promoted, or none was written. Never a block, never an extra turn.

use serde_json::json;
use tidegate_e2e::model::{Model, Reply, Script};

use super::super::work::{CODE_RULES, skill};
use super::*;

const NUDGE: &str = "`/compound` at a pause saves";
const TO_MODEL: &str = "Tidegate told the user, who can run `/compound`.";
const NO_ENTRY: &str = "code was edited since the last note in progress.md";

fn shown(turn: &Stream) -> usize {
    turn.shown().iter().filter(|text| text.contains(NUDGE)).count()
}

/// An edit, a check that passes, and an answer.
fn work(scene: &Scene, script: Script, number: usize) -> Script {
    let path = scene.home.in_project(format!("src/Step{number}.java"));
    script
        .main(Reply::write(path, "class Step {}\n"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::text("tested and done"))
}

fn entry_of_the_future(scene: &Scene) {
    // Newer than every edit of the scenario, so that no entry is missing.
    scene.put(PROGRESS, "# Progress\n\n## [2099-01-01T00:00:00Z] — the newest step\n");
}

#[test]
fn the_person_is_told_once_per_set_of_entries() {
    let scene = Scene::new();
    entry_of_the_future(&scene);
    let tidegate = Tidegate::init(&scene.home);
    let script = work(&scene, Script::new().main(skill(CODE_RULES)), 1);
    let script = work(&scene, script, 2);
    let script = work(&scene, script, 3);
    let model = Model::start(script.main(Reply::text("hello"))).paced(&scene.home);
    let mut session = scene.launch(&model).start();
    let (first, second) = (session.ask("add a class"), session.ask("add another class"));
    // As many more as are worth another line.
    let more: Vec<String> =
        (1..=6).map(|day| format!("## [2099-01-0{day}T00:00:00Z] — step {day}\n")).collect();
    scene.put(PROGRESS, &format!("# Progress\n\n{}", more.join("\n")));
    let third = session.ask("add one more class");
    session.finish();
    // Another session does not repeat it.
    let other = scene.launch(&model).ask("hello");

    assert_eq!([&first, &second, &third, &other.stream].map(shown), [1, 0, 1, 0], "{:#?}", first.shown());
    assert_eq!(model.last_main().count(TO_MODEL), 0, "the model is not told");
    settle(&tidegate, &model);
}

#[test]
fn strict_tells_the_model_with_the_next_prompt() {
    let scene = Scene::new();
    entry_of_the_future(&scene);
    let tidegate = Tidegate::init_with(&scene.home, &["--preset", "strict"]);
    let script = work(&scene, Script::new().main(skill(CODE_RULES)), 1);
    let model =
        Model::start(script.main(Reply::text("all right")).main(Reply::text("yes"))).paced(&scene.home);
    let mut session = scene.launch(&model).start();
    let turn = session.ask("add a class");
    let before = model.last_main().count(TO_MODEL);
    session.ask("thanks");
    session.ask("anything else?");
    session.finish();

    assert_eq!((shown(&turn), before), (1, 0), "{:#?}", turn.shown());
    let requests = model.main_requests();
    assert_eq!(counts(&requests[requests.len() - 2..], TO_MODEL), [1, 1], "once");
    settle(&tidegate, &model);
}

#[test]
fn an_edit_without_an_entry_is_noted_and_an_entry_settles_it() {
    let scene = Scene::new();
    let tidegate = Tidegate::init(&scene.home);
    let add = "progress add \"one more step\" --decision \"classes are final\" --next \"the other package\"";
    let script = work(&scene, Script::new().main(skill(CODE_RULES)), 1)
        .main(Reply::bash(call(add)))
        .main(Reply::text("written"))
        .main(Reply::text("no"));
    let model = Model::start(script).paced(&scene.home);
    let mut session = scene.launch(&model).start();
    session.ask("add a class");
    session.ask("go on");
    session.ask("anything else?");
    session.finish();

    let requests = model.main_requests();
    assert_eq!(counts(&requests, NO_ENTRY), [0, 0, 0, 0, 1, 1, 1], "with the prompt after the edit, once");
    assert!(requests[4].texts().concat().contains("src/Step1.java"));
    assert!(!requests[5].last_tool_result().is_error, "{:?}", requests[5].last_tool_result());
    let flow = scene.text(PROGRESS);
    assert!(flow.contains("— one more step\n") && flow.contains("- Decision: classes are final\n"), "{flow}");
    assert!(flow.contains("- Next: the other package\n") && flow.contains(HEADING), "{flow}");
    let report: Value = serde_json::from_str(&tidegate.run(&["report", "--json"])).expect("JSON");
    let text = report.to_string();
    assert!(text.contains("learning-reminder"), "{report:#}");
    let policy = report["policies"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|policy| policy["policy"] == "learning-reminder");
    assert_eq!(policy.map(|policy| policy["satisfied"].clone()), Some(json!(1)), "{report:#}");
    settle(&tidegate, &model);
}

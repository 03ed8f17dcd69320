//! Constraints that only a prompt of the person has.

use tidegate_e2e::model::{Model, Reply, Script};

use super::*;

const STATED: &str = "No new dependencies please.";
const TITLE: &str = "The user's own words in this session, as written:";

/// Three prompts and a compaction in the middle of the third turn; the second prompt has the constraint.
fn play(scene: &Scene, model: &Model, second: &str) {
    let mut session = scene.launch(model).start();
    session.ask(&filler());
    session.ask(second);
    assert_eq!(session.ask("now the rest").compactions(), ["auto"]);
    session.finish();
}

fn script(scene: &Scene) -> Script {
    Script::new()
        .main(Reply::text("first").used(40_000))
        .main(Reply::text("second").used(60_000))
        .main(Reply::bash("true").used(90_000))
        .main(Reply::bash("true").used(FULL))
        .main(scene.until_the_boundary_is_written().used(30_000))
        .main(Reply::bash("true").used(30_000))
        .main(Reply::text("done").used(30_000))
}

/// The script's summary keeps nothing, and no file has the words.
#[test]
fn a_constraint_of_the_second_prompt_is_in_the_context_after_a_compaction() {
    let scene = Scene::without_flow();
    let tidegate = scene.install();
    let model = Model::start(script(&scene)).paced(&scene.home);
    play(&scene, &model, &format!("Add the export. {STATED}"));

    let told = instructions(&model);
    assert!(told.contains(&format!("{TITLE}\n- {STATED}")), "{told}");
    let requests = after(&model);
    let last = requests.last().expect("a request after the compaction");
    let note = last.hook_contexts().into_iter().find(|context| context.contains(LOST)).expect("the note");
    assert!(note.contains(&format!("{TITLE}\n- {STATED}")), "{note}");
    let copy = scene.text("last-compact.json");
    assert!(!copy.contains(STATED) && copy.contains("a constraint of the user"), "{copy}");
    let status: Value = serde_json::from_str(&tidegate.run(&["status", "--json"])).expect("JSON");
    assert_eq!(status["constraints"][0]["text"], STATED, "{status:#}");
    let survival = &status["survival"];
    assert_eq!((&survival["kept"], &survival["given_back"]), (&0.into(), &survival["of"]), "{survival:#}");
    let of = &survival["of"];
    let page = tidegate.run(&["status"]);
    assert!(page.contains(STATED) && page.contains(&format!("given back {of}")), "{page}");
    let report = tidegate.run(&["report"]);
    assert!(report.contains(&format!("given back {of}")), "{report}");
    settle(&tidegate, &model);
}

/// Quoted, and in code: another person's words and a program's.
#[test]
fn words_of_others_are_not_given_out_as_the_users() {
    let scene = Scene::without_flow();
    let tidegate = scene.install();
    let model = Model::start(script(&scene)).paced(&scene.home);
    play(
        &scene,
        &model,
        "> Never touch the export.\n```\n# no new dependencies\n```\nerror: you must not do it\nWhat is that?",
    );

    assert!(!instructions(&model).contains(TITLE), "{}", instructions(&model));
    assert_eq!(after(&model).last().expect("a request").count(TITLE), 0);
    settle(&tidegate, &model);
}

/// Taken back before the compaction: it is neither named to the summariser nor given back.
#[test]
fn a_constraint_that_was_taken_back_does_not_return() {
    let scene = Scene::without_flow();
    let tidegate = scene.install();
    let script = scene.by_hand().main(Reply::text("more"));
    let model = Model::start(script).paced(&scene.home);
    let mut session = scene.launch(&model).start();
    session.ask(&format!("begin. {STATED}"));
    let lifted = session.ask("forget what I said about dependencies").shown();
    let told = format!("you took back \"{STATED}\"");
    assert!(lifted.iter().any(|text| text.contains(&told)), "{lifted:?}");
    assert_eq!(session.ask("/compact").compactions(), ["manual"]);
    let later = session.ask("go on").shown();
    assert!(!later.iter().any(|text| text.contains(&told)), "once: {later:?}");
    session.finish();

    assert!(!instructions(&model).contains(STATED), "{}", instructions(&model));
    assert_eq!(after(&model).last().expect("a request").count(TITLE), 0);
    tidegate.assert_unfailing();
}

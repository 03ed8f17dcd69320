//! The preset strict holds the first manual compaction while entries wait, and no other.

use tidegate_e2e::model::{Model, Reply, Route, Script};

use super::*;

const HELD: &str = "Tidegate paused this compaction: 1 progress note is not reviewed.";

#[test]
fn the_first_manual_one_is_held_and_the_second_passes() {
    let scene = Scene::new();
    let tidegate = Tidegate::init_with(&scene.home, &["--preset", "strict"]);
    let script =
        Script::new().main(Reply::text("hello")).main(Reply::text("again")).main(Reply::text("on it"));
    let model = Model::start(script).paced(&scene.home);
    let mut session = scene.launch(&model).start();
    session.ask("begin");
    session.ask("anything else?");
    let held = session.ask("/compact");
    assert_eq!(held.compactions(), Vec::<&str>::new());
    assert!(held.answer().contains(HELD) && held.answer().contains("`/compact` again"), "{}", held.answer());
    assert_eq!(model.requests_on(&Route::Compaction).len(), 0);
    assert!(!scene.path("last-compact.json").exists(), "nothing else happens");
    assert_eq!(session.ask("/compact").compactions(), ["manual"]);
    session.ask("go on");
    session.finish();

    assert_eq!(counts(&after(&model), OCCURRED), [1]);
    let rulings: Vec<Value> =
        tidegate.records_of("PreCompact").iter().map(|record| record["ruling"].clone()).collect();
    assert_eq!(rulings, ["deny", "pass"]);
    settle(&tidegate, &model);
}

#[test]
fn an_automatic_one_is_never_held() {
    let scene = Scene::new();
    let tidegate = Tidegate::init_with(&scene.home, &["--preset", "strict"]);
    let script = Script::new()
        .main(Reply::text("first").used(40_000))
        .main(Reply::bash("true").used(60_000))
        .main(Reply::bash("true").used(FULL))
        .main(Reply::text("done").used(30_000));
    let model = Model::start(script).paced(&scene.home);
    scene.automatic(&model).finish();

    assert!(instructions(&model).contains(DECISION));
    settle(&tidegate, &model);
}

//! What the model is told right after a compaction: once, and what is true.

use tidegate_e2e::model::{Model, Reply};

use super::*;

/// The text after a manual compaction, from the next request.
fn told(scene: &Scene, tidegate: &Tidegate<'_>) -> String {
    let model = Model::start(scene.by_hand().main(Reply::text("more"))).paced(&scene.home);
    let mut session = scene.manual(&model, "/compact");
    session.ask("and on");
    session.finish();

    let requests = after(&model);
    assert_eq!(counts(&requests, OCCURRED), [1, 1], "once");
    settle(tidegate, &model);
    let contexts = requests[0].hook_contexts();
    let text = contexts.into_iter().find(|context| context.contains(OCCURRED)).expect("the text");
    assert!(text.starts_with("SessionStart: "), "{text}");
    text
}

#[test]
fn entries_that_nobody_promoted() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let text = told(&scene, &tidegate);
    let sentence = "Compact occurred. Recent work entries were not promoted to learnings. Run /compound to review and \
                    preserve knowledge.";
    assert!(text.contains(sentence), "{text}");
    assert!(text.contains("progress.md (1 entry,") && text.contains("task_plan.md"), "{text}");
    let copy = scene.json("last-compact.json");
    assert_eq!(copy["compoundRun"], false);
    assert_eq!(copy["progressSummary"]["entryCount"], 1);
    assert_eq!(copy["progressSummary"]["recentHeadings"][0], HEADING);
}

#[test]
fn entries_that_somebody_went_through() {
    let scene = Scene::new();
    let tidegate = scene.install();
    tidegate.run(&["compound", "done"]);
    let text = told(&scene, &tidegate);
    let sentence = "Compact occurred. Learnings preserved via /compound. Read persistence files to resume.";
    assert!(text.contains(sentence), "{text}");
    assert_eq!(scene.json("last-compact.json")["compoundRun"], true);
}

#[test]
fn no_entries_at_all() {
    let scene = Scene::without_flow();
    let tidegate = scene.install();
    let text = told(&scene, &tidegate);
    assert!(!text.contains("/compound") && !text.contains("progress.md"), "{text}");
}

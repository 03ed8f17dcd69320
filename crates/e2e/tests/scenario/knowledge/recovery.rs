//! The text to the model right after a compaction: once, and true.

use tidegate_e2e::model::{Model, Reply};

use super::*;

/// From the request after a manual compaction.
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
    let sentence = "Read task_plan.md and progress.md in .claude/context before you continue: Claude Code compacted the \
                    conversation. 1 progress note is not reviewed; the user can run `/compound`.";
    assert!(text.contains(sentence), "{text}");
    assert!(text.contains("- progress.md (1 note,") && text.contains("- task_plan.md"), "{text}");
    assert!(!text.contains(".json"), "only files to read: {text}");
    let copy = scene.json("last-compact.json");
    assert_eq!(copy["compoundRun"], false);
    assert_eq!(copy["progressSummary"]["entryCount"], 1);
    assert_eq!(copy["progressSummary"]["recentHeadings"][0], format!("[{}] — {HEADING}", today()));
}

#[test]
fn entries_that_somebody_went_through() {
    let scene = Scene::new();
    let tidegate = scene.install();
    tidegate.run(&["compound", "done"]);
    let text = told(&scene, &tidegate);
    assert!(text.contains("Every progress note is reviewed.") && !text.contains("not reviewed"), "{text}");
    let copy = scene.json("last-compact.json");
    assert_eq!(
        (&copy["compoundRun"], &copy["progressSummary"]["entryCount"]),
        (&Value::Bool(true), &0.into())
    );
}

#[test]
fn no_entries_at_all() {
    let scene = Scene::without_flow();
    let tidegate = scene.install();
    let text = told(&scene, &tidegate);
    assert!(!text.contains("/compound") && !text.contains("progress.md"), "{text}");
}

/// The client calls the hook before it knows whether there will be a summary.
#[test]
fn a_compaction_that_failed_did_not_occur() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let script =
        scene.by_hand().main(Reply::text("more")).summary(Reply::error(500, "api_error", "scripted"));
    let model = Model::start(script.summary_with(faithful)).paced(&scene.home);
    let mut session = scene.launch(&model).start();
    session.ask("begin");
    session.ask("anything else?");
    assert_eq!(session.ask("/compact").compactions(), Vec::<&str>::new());
    session.ask("go on");
    assert_eq!(model.last_main().count(OCCURRED), 0);
    assert!(!scene.path("last-compact.json").exists(), "there was none");
    assert_eq!(session.ask("/compact").compactions(), ["manual"]);
    session.ask("and on");
    session.finish();

    let requests = after(&model);
    assert_eq!(counts(&requests, OCCURRED), [1]);
    assert_eq!(counts(&requests, LOST), [0]);
    let survival = &scene.json("last-compact.json")["survival"];
    assert_eq!(survival["kept"], survival["of"], "{survival:#}");
    settle(&tidegate, &model);
}

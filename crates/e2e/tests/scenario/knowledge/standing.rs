//! Decisions of earlier sessions, which only the memory has.

use tidegate_e2e::model::{Model, Script};

use super::*;

const STANDING: &str = "Sessions live in signed cookies for thirty days";

fn remember(tidegate: &Tidegate<'_>) {
    tidegate.run(&["memory", "topic", "add", "Where sessions live"]);
    tidegate.run(&["memory", "decision", "add", "1", STANDING]);
}

/// The script's default summary keeps nothing.
#[test]
fn a_standing_decision_is_named_to_the_summariser_and_given_back() {
    let scene = Scene::without_flow();
    let tidegate = scene.install();
    remember(&tidegate);
    let model = Model::start(scene.by_hand()).paced(&scene.home);
    scene.manual(&model, "/compact").finish();

    let told = instructions(&model);
    assert_eq!(told.matches(STANDING).count(), 1, "{told}");
    let requests = after(&model);
    let last = requests.last().expect("a request after the compaction");
    // At the start of the new conversation, so that the note about lost facts need not have it.
    let said = last.hook_contexts();
    let begins = said.iter().find(|context| context.starts_with("SessionStart: ")).expect("the first text");
    assert!(begins.contains(OCCURRED) && begins.contains(STANDING), "{said:#?}");
    assert_eq!(begins.matches(STANDING).count(), 1, "{begins}");
    assert!(!said.iter().any(|context| context.contains(LOST) && context.contains(STANDING)), "{said:#?}");
    settle(&tidegate, &model);
}

#[test]
fn a_standing_decision_that_the_summary_kept_is_not_said_again() {
    let scene = Scene::without_flow();
    let tidegate = scene.install();
    remember(&tidegate);
    let script: Script = scene.by_hand();
    let model = Model::start(script.summary_with(faithful)).paced(&scene.home);
    scene.manual(&model, "/compact").finish();

    assert!(instructions(&model).contains(STANDING), "{}", instructions(&model));
    let requests = after(&model);
    let last = requests.last().expect("a request after the compaction");
    assert!(
        !last.hook_contexts().iter().any(|context| context.contains(LOST)),
        "{:#?}",
        last.hook_contexts()
    );
    assert!(last.count(STANDING) > 0, "{:#?}", last.texts());
    settle(&tidegate, &model);
}

//! A `progress.md` that a person keeps as a status page.

use std::fmt::Write as _;

use tidegate_e2e::model::Model;

use super::*;

#[test]
fn a_status_page_survives_a_compaction_to_the_byte() {
    let scene = Scene::without_flow();
    let mut page = "# Status\n".to_owned();
    for area in 1..=14 {
        let _ = write!(page, "\n## Area {area}\n\n- Decision: as agreed\n- Next: ask the team\n");
    }
    scene.put(PROGRESS, &page);
    let tidegate = scene.install();
    let model = Model::start(scene.by_hand()).paced(&scene.home);
    scene.manual(&model, "/compact").finish();

    assert_eq!(scene.text(PROGRESS), page);
    assert!(!scene.path(ARCHIVE).exists(), "nothing was moved");
    let told = instructions(&model);
    assert!(!told.contains("Area 1") && !told.contains("as agreed"), "{told}");
    let copy = scene.json("last-compact.json");
    assert_eq!(copy["progressSummary"]["entryCount"], 0);
    let request = &after(&model)[0];
    let context =
        request.hook_contexts().into_iter().find(|context| context.contains(OCCURRED)).expect("the text");
    assert!(context.contains("- progress.md (changed") && !context.contains("not reviewed"), "{context}");
    settle(&tidegate, &model);
}

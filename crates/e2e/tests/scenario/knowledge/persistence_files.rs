//! Persistence files are named at the start of a session: once, by names and numbers.

use tidegate_e2e::model::{Model, Reply, Script};

use super::*;

const LISTING: &str = "Read these files in .claude/context";

#[test]
fn at_startup_and_on_resume_only_when_they_changed() {
    let scene = Scene::new();
    scene.put(
        "learnings-coding.md",
        "## one\n\n- **Learning**: a\n- **Confirmed**: 3 times | 2026-02-18 | implement\n",
    );
    let tidegate = scene.install();
    let model = Model::start(Script::new()).paced(&scene.home);
    let mut said = Vec::new();
    let mut id: Option<String> = None;
    for step in 0..4 {
        if step == 2 {
            let more = scene.text(PROGRESS) + "\n## [2099-01-01] — one more step\n";
            scene.put(PROGRESS, &more);
        }
        model.then(Reply::text("all right"));
        let launch = scene.launch(&model);
        let launch = match &id {
            Some(id) => launch.resume(id),
            None => launch,
        };
        let run = launch.ask("hello");
        id = Some(run.session_id().to_owned());
        model.await_transcript(run.session_id());
        said.push(model.last_main().count(LISTING));
    }

    assert_eq!(said, [1, 1, 2, 2], "again only after the third entry was written");
    let text = model.main_requests()[0].hook_contexts().concat();
    assert!(text.contains("progress.md (1 note, changed"), "{text}");
    assert!(
        text.contains("learnings-coding.md (1 learning, confirmed 3.0 times on average, 0 never confirmed"),
        "{text}"
    );
    for said in [
        format!("The file progress.md says, as next step: {NEXT}"),
        format!("The file task_plan.md says, as constraint: {CONSTRAINT}"),
    ] {
        assert_eq!(text.matches(&said).count(), 1, "{text}");
    }
    for fact in [DECISION, HEADING] {
        assert_eq!(model.last_main().count(fact), 0, "not the files themselves: {fact}");
    }
    settle(&tidegate, &model);
}

#[test]
fn where_there_are_none_nothing_is_said() {
    let scene = Scene::without_flow();
    let tidegate = scene.install();
    let model = Model::start(Script::new().main(Reply::text("hello"))).paced(&scene.home);
    scene.launch(&model).ask("hello");

    assert_eq!(model.last_main().hook_contexts(), Vec::<String>::new());
    settle(&tidegate, &model);
}

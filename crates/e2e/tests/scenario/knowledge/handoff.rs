//! The next session is told once of a handoff that the model wrote.

use tidegate_e2e::model::{Model, Reply, Script};

use super::*;

const TOLD: &str = "it is a handoff written";

#[test]
fn the_next_session_is_told_once() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let script = Script::new()
        .main(scene.edit())
        .main(Reply::bash(call("handoff")))
        .main(Reply::text("written"))
        .main(Reply::text("still here"))
        .main(Reply::text("hello"))
        .main(Reply::text("again"));
    let model = Model::start(script).paced(&scene.home);
    let first = scene.launch(&model).ask("write a handoff");
    model.await_transcript(first.session_id());
    let written = scene.text("handoff.md");
    for fact in
        ["- task_plan.md: rounding\n", CONSTRAINT, DECISION, HEADING, NEXT, OPEN, FILE, first.session_id()]
    {
        assert!(written.contains(fact), "{fact}: {written}");
    }
    let resumed = scene.launch(&model).resume(first.session_id()).ask("go on");
    model.await_transcript(resumed.session_id());
    assert_eq!(model.last_main().count(TOLD), 0, "who wrote it knows");

    let second = scene.launch(&model).ask("hello");
    model.await_transcript(second.session_id());
    let context = model.last_main().hook_contexts().concat();
    assert_eq!(context.matches(TOLD).count(), 1, "{context}");
    assert!(context.contains("Read .claude/context/handoff.md before you continue"), "{context}");
    let begins = tidegate.records_of("SessionStart").pop().unwrap_or_default();
    assert!(begins["said"]["user"].as_str().is_some_and(|text| text.contains("handoff.md")), "{begins:#}");

    let again = scene.launch(&model).resume(second.session_id()).ask("and now?");
    model.await_transcript(again.session_id());
    assert_eq!(model.last_main().count(TOLD), 1, "only where it was said before");
    settle(&tidegate, &model);
}

#[test]
fn who_wrote_it_is_told_when_the_conversation_is_gone() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let script = scene
        .climb([Reply::bash(call("handoff"))])
        .main(Reply::bash("true").used(FULL))
        .main(Reply::text("done").used(30_000))
        .main(Reply::text("more").used(31_000));
    let model = Model::start(script).paced(&scene.home);
    let mut session = scene.automatic(&model);
    session.ask("go on");
    session.finish();

    assert_eq!(counts(&after(&model), TOLD), [1, 1], "at the boundary, and not again");
    settle(&tidegate, &model);
}

//! Before and after one compaction: instructions, survival, and lost facts.

use tidegate_e2e::model::{Model, Reply, Route, Script};

use super::*;

#[test]
fn an_automatic_one_is_told_what_must_survive() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let script = scene.over_the_boundary([Reply::text("done")]);
    let model = Model::start(script).paced(&scene.home);
    scene.automatic(&model).finish();

    let told = instructions(&model);
    for fact in FACTS.iter().chain(&[FILE]) {
        assert_eq!(told.matches(fact).count(), 1, "{fact}: {told}");
    }
    assert_eq!(boundaries(&tidegate)[0]["trigger"], "auto");
    settle(&tidegate, &model);
}

#[test]
fn a_manual_one_is_told_beside_what_the_person_said() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let model = Model::start(scene.by_hand()).paced(&scene.home);
    scene.manual(&model, "/compact keep the name of the auditors").finish();

    let told = instructions(&model);
    assert!(told.starts_with("keep the name of the auditors\n\n"), "{told}");
    for fact in FACTS.iter().chain(&[FILE]) {
        assert_eq!(told.matches(fact).count(), 1, "{fact}: {told}");
    }
    assert_eq!(boundaries(&tidegate)[0]["trigger"], "manual");
    settle(&tidegate, &model);
}

/// The script's default summary keeps nothing.
#[test]
fn what_an_automatic_one_lost_is_told_once_in_the_middle_of_the_turn() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let script = scene.over_the_boundary([
        scene.until_the_boundary_is_written(),
        Reply::bash("true"),
        Reply::text("done"),
        Reply::text("more"),
    ]);
    let model = Model::start(script).paced(&scene.home);
    let mut session = scene.automatic(&model);
    session.ask("go on");
    session.finish();

    let requests = after(&model);
    assert_eq!(counts(&requests, LOST), [0, 1, 1, 1], "at the first call after it, and never again");
    assert_eq!(counts(&requests, OCCURRED), [1, 1, 1, 1]);
    let note =
        requests[1].hook_contexts().into_iter().find(|context| context.contains(LOST)).expect("the note");
    assert!(note.starts_with("PostToolUse:Bash: "), "{note}");
    for fact in FACTS.iter().chain(&[FILE]) {
        assert_eq!(note.matches(fact).count(), 1, "{fact}: {note}");
    }
    for fact in FACTS {
        assert_eq!(requests[1].count(fact), 1, "nowhere else: {fact}");
    }
    // There is no status line here.
    let pressure = scene.json("context-pressure.json");
    let used = pressure["usedPercentage"].as_f64();
    assert!(used.is_some_and(|used| used < 20.0), "of the new conversation: {pressure:#}");
    let survival = &scene.json("last-compact.json")["survival"];
    let (kept, of) = (survival["kept"].as_u64(), survival["of"].as_u64());
    assert_eq!(kept, Some(0), "{survival:#}");
    assert_eq!(of, survival["lost"].as_array().map(|lost| lost.len() as u64), "{survival:#}");
    assert!(of >= Some(6), "{survival:#}");
    let last = boundaries(&tidegate).pop().expect("a boundary in the journal");
    assert_eq!((last["kept"].as_u64(), last["of"].as_u64()), (kept, of), "{last:#}");
    settle(&tidegate, &model);
}

#[test]
fn what_an_automatic_one_lost_is_told_with_the_next_prompt() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let script = scene.over_the_boundary([Reply::text("done"), Reply::bash("true"), Reply::text("more")]);
    let model = Model::start(script).paced(&scene.home);
    let mut session = scene.automatic(&model);
    session.ask("go on");
    session.finish();

    let requests = after(&model);
    assert_eq!(counts(&requests, LOST), [0, 1, 1]);
    assert_eq!(counts(&requests, DECISION), [0, 1, 1]);
    let told = requests[1].hook_contexts().into_iter().find(|context| context.contains(LOST));
    assert!(
        told.is_some_and(|told| told.starts_with("UserPromptSubmit")),
        "{:#?}",
        requests[1].hook_contexts()
    );
    settle(&tidegate, &model);
}

/// The client repeats the output of a hook before a manual compaction.
#[test]
fn what_a_manual_one_lost_stands_there_already() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let model = Model::start(scene.by_hand()).paced(&scene.home);
    scene.manual(&model, "/compact").finish();

    let requests = after(&model);
    assert_eq!(counts(&requests, LOST), [0], "not said twice");
    for fact in FACTS {
        assert_eq!(requests[0].count(fact), 1, "{fact}: {:#?}", requests[0].texts());
    }
    let survival = &scene.json("last-compact.json")["survival"];
    assert_eq!(survival["kept"], 0, "measured all the same: {survival:#}");
    settle(&tidegate, &model);
}

#[test]
fn a_summary_that_keeps_everything_needs_no_note() {
    for trigger in ["auto", "manual"] {
        let scene = Scene::new();
        let tidegate = scene.install();
        let script = match trigger {
            "auto" => {
                scene.over_the_boundary([Reply::bash("true"), Reply::text("done"), Reply::text("more")])
            }
            _ => scene.by_hand().main(Reply::text("more")),
        };
        let model = Model::start(script.summary_with(faithful)).paced(&scene.home);
        let mut session = match trigger {
            "auto" => scene.automatic(&model),
            _ => scene.manual(&model, "/compact"),
        };
        session.ask("and on");
        session.finish();

        let survival = &scene.json("last-compact.json")["survival"];
        assert_eq!(survival["kept"], survival["of"], "{trigger}: {survival:#}");
        assert!(survival["of"].as_u64() >= Some(6), "{trigger}: {survival:#}");
        assert_eq!(counts(&after(&model), LOST), [0, 0, 0][..after(&model).len()], "{trigger}");
        settle(&tidegate, &model);
    }
}

/// The client keeps the last call and its result across the boundary.
#[test]
fn what_stands_in_a_kept_message_is_not_lost() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let script = scene
        .climb([])
        .main(Reply::bash("cat .claude/context/task_plan.md .claude/context/progress.md").used(FULL))
        .main(Reply::bash("true").used(30_000))
        .main(Reply::text("done").used(30_000))
        .main(Reply::text("more").used(30_000));
    let model = Model::start(script).paced(&scene.home);
    let mut session = scene.automatic(&model);
    session.ask("go on");
    session.finish();

    let survival = &scene.json("last-compact.json")["survival"];
    let lost: Vec<&str> =
        survival["lost"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert!(lost.contains(&FILE), "{survival:#}");
    for fact in FACTS {
        assert!(!lost.contains(&fact), "{fact}: {survival:#}");
    }
    let last = model.last_main();
    assert_eq!(last.count(LOST), 1);
    assert_eq!(last.count(DECISION), 1, "only where the client kept it: {:#?}", last.hook_contexts());
    settle(&tidegate, &model);
}

#[test]
fn two_sessions_of_a_project_keep_their_boundaries_apart() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let files = ["src/One.java", "src/Two.java"];
    let script = Script::new();
    let model = Model::start(script).paced(&scene.home);
    let mut sessions = [scene.launch(&model).start(), scene.launch(&model).start()];
    let say = |session: &mut ClientSession, prompt: &str, replies: Vec<Reply>| {
        for reply in replies {
            model.then(reply);
        }
        session.ask(prompt)
    };
    for (session, file) in sessions.iter_mut().zip(files) {
        let write = Reply::write(scene.home.in_project(file), "class X {}\n");
        say(session, "begin", vec![write, Reply::text("edited")]);
        say(session, "anything else?", vec![Reply::text("no")]);
    }
    for session in &mut sessions {
        assert_eq!(session.ask("/compact").compactions(), ["manual"]);
    }
    for session in &mut sessions {
        say(session, "go on", vec![Reply::text("on it")]);
    }
    for session in sessions {
        session.finish();
    }

    let asked = model.requests_on(&Route::Compaction);
    let told: Vec<&str> = asked.iter().filter_map(|request| request.summary_instructions()).collect();
    let named = |text: &str| files.map(|file| text.matches(file).count());
    assert_eq!(told.iter().map(|text| named(text)).collect::<Vec<_>>(), [[1, 0], [0, 1]]);
    let requests = after(&model);
    assert_eq!(counts(&requests, OCCURRED), [1, 1], "each is told about its own");
    settle(&tidegate, &model);
}

/// A subagent's compaction does not concern the main thread: the subagent is not told what that has to
/// remember.
#[test]
fn a_subagent_is_left_alone() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let task = "look at every file";
    let script = Script::new()
        .main(Reply::agent(task).used(40_000))
        .subagent(task, Reply::bash("true").used(100_000))
        .subagent(task, Reply::bash("true").used(120_000))
        .subagent(task, Reply::bash("true").used(FULL))
        // After it the agent's conversation starts with its summary, not with its prompt.
        .main(Reply::text("nothing found").used(20_000))
        .main(Reply::text("done").used(41_000));
    let model = Model::start(script).paced(&scene.home);
    scene.launch(&model).ask("look around with an agent");

    assert_eq!(instructions(&model), "", "no text of ours");
    assert!(model.requests().iter().all(|request| request.count(OCCURRED) == 0));
    assert!(!scene.path("last-compact.json").exists());
    assert_eq!(boundaries(&tidegate), Vec::<Value>::new());
    tidegate.assert_unfailing();
    model.finish();
}

/// There is no status line here.
#[test]
fn after_one_by_hand_the_copy_of_the_meter_is_that_of_the_new_conversation() {
    let scene = Scene::without_flow();
    let tidegate = scene.install();
    let script = Script::new()
        .main(Reply::bash("true").used(110_000))
        .main(Reply::text("begun").used(120_000))
        .main(Reply::text("no").used(140_000))
        .main(Reply::text("on it").used(20_000))
        .main(Reply::text("more").used(24_000));
    let model = Model::start(script).paced(&scene.home);
    let used = || scene.json("context-pressure.json")["usedPercentage"].as_f64();
    let mut session = scene.launch(&model).start();
    session.ask("begin");
    session.ask("anything else?");
    assert!(used().is_some_and(|used| used > 50.0), "{:?}", used());
    assert_eq!(session.ask("/compact").compactions(), ["manual"]);
    assert!(used().is_none_or(|used| used < 20.0), "of the new conversation: {:?}", used());
    session.ask("go on");
    session.ask("and then");
    assert!(used().is_some_and(|used| used < 20.0), "of the new conversation: {:?}", used());
    session.finish();
    settle(&tidegate, &model);
}

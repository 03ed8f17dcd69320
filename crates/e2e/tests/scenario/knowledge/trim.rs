//! The flow is trimmed after a compaction, and nothing of it is lost.

use std::fs;

use tidegate_e2e::model::Model;

use super::*;

fn entry(day: usize) -> String {
    format!(
        "## [2026-10-{day:02}T09:00:00Z] — ledger migration, part {day}\n\n- Decision: choice {day}\n\n```md\n## not an entry\n```\n\n"
    )
}

/// Fifteen entries, the newest at the top.
fn fifteen() -> String {
    let entries: String = (1..=15).rev().map(entry).collect();
    format!("# Progress\n\n{entries}")
}

#[test]
fn the_newest_ten_stay_and_the_others_are_archived() {
    let scene = Scene::new();
    scene.put(PROGRESS, &fifteen());
    let plan = scene.text(PLAN);
    let tidegate = scene.install();
    let model = Model::start(scene.by_hand()).paced(&scene.home);
    scene.manual(&model, "/compact").finish();

    let kept: String = (6..=15).rev().map(entry).collect();
    assert_eq!(scene.text(PROGRESS), format!("# Progress\n\n{kept}"));
    let archive = scene.text(ARCHIVE);
    for day in 1..=5 {
        assert_eq!(archive.matches(entry(day).trim_end()).count(), 1, "byte for byte: {archive}");
    }
    let after_it = scene.text(PLAN);
    let (line, rest): (Vec<&str>, Vec<&str>) =
        after_it.split_inclusive('\n').partition(|line| line.starts_with("Last compacted: 20"));
    assert_eq!((line.len(), rest.concat()), (1, plan), "{after_it}");
    assert_eq!(scene.json("last-compact.json")["progressSummary"]["entryCount"], 15, "counted before");
    let told = after(&model)[0].texts().concat();
    assert!(told.contains("Tidegate moved 5 older notes from progress.md to progress.archive.md"), "{told}");
    settle(&tidegate, &model);
}

#[test]
fn the_preset_observe_only_measures() {
    let scene = Scene::new();
    scene.put(PROGRESS, &fifteen());
    let plan = scene.text(PLAN);
    let tidegate = Tidegate::init_with(&scene.home, &["--preset", "observe"]);
    let script = scene.over_the_boundary([Reply::bash("true"), Reply::text("done"), Reply::text("more")]);
    let model = Model::start(script).paced(&scene.home);
    let mut session = scene.automatic(&model);
    session.ask("go on");
    session.finish();

    assert_eq!((scene.text(PROGRESS), scene.text(PLAN)), (fifteen(), plan));
    let mut files: Vec<_> =
        fs::read_dir(scene.path("")).expect("the folder").flatten().map(|entry| entry.file_name()).collect();
    files.sort();
    assert_eq!(files, [PROGRESS, PLAN], "nothing else was written");
    assert_eq!(instructions(&model), "");
    assert!(
        model.main_requests().iter().all(|request| request.hook_contexts().is_empty()),
        "nothing is said"
    );
    let last = boundaries(&tidegate).pop().expect("a boundary in the journal");
    assert_eq!(last["kept"], 0, "{last:#}");
    assert!(last["of"].as_u64() >= Some(3), "{last:#}");
    settle(&tidegate, &model);
}

/// Git left both sides of a merge in it: only a person knows which is right.
#[test]
fn a_merge_that_is_not_resolved_stays_to_the_byte() {
    let scene = Scene::new();
    let merged = format!("{}<<<<<<< HEAD\n{}=======\n{}>>>>>>> theirs\n", fifteen(), entry(16), entry(17));
    scene.put(PROGRESS, &merged);
    let tidegate = scene.install();
    let model = Model::start(scene.by_hand()).paced(&scene.home);
    let run = scene.manual(&model, "/compact").finish();

    assert_eq!(scene.text(PROGRESS), merged);
    assert!(!scene.path(ARCHIVE).exists());
    let said =
        run.hook_responses().into_iter().filter(|hook| hook.stdout.contains("conflict markers")).count();
    assert_eq!(said, 1, "once");
    settle(&tidegate, &model);
}

//! Damaged files never fail a compaction.

use std::fs;

use tidegate_e2e::model::Model;

use super::*;

/// A name, the damage, and whether the flow is still readable.
type Case<'a> = (&'a str, &'a dyn Fn(&Scene), bool);

#[test]
fn files_of_every_bad_kind() {
    let directory = |scene: &Scene| {
        fs::remove_file(scene.path(PROGRESS)).expect("the file");
        fs::create_dir(scene.path(PROGRESS)).expect("a directory in its place");
    };
    let large = |scene: &Scene| {
        let text = "## a step\n\nmany words\n\n".repeat(50 * 1024 * 1024 / 24);
        scene.put(PROGRESS, &text);
    };
    let foreign = |scene: &Scene| {
        let windows = scene.text(PROGRESS).replace('\n', "\r\n");
        scene.put(PROGRESS, &windows);
        scene.put("last-compact.json", "{\"timestamp\": \"2026-");
        scene.put("compound-last-run.json", "[1, 2");
        fs::write(scene.path("learnings.md"), b"## \xff\xfe\n").expect("a file");
    };
    let cases: [Case<'_>; 3] = [
        ("a directory", &directory, false),
        ("50 MB", &large, false),
        ("CRLF and half JSON", &foreign, true),
    ];
    for (name, damage, readable) in cases {
        let scene = Scene::new();
        damage(&scene);
        let tidegate = scene.install();
        let model = Model::start(scene.by_hand()).paced(&scene.home);
        scene.manual(&model, "/compact").finish();

        let told = instructions(&model);
        assert!(told.contains(CONSTRAINT), "{name}: what can be read counts: {told}");
        assert_eq!(told.contains(DECISION), readable, "{name}: {told}");
        assert!(!told.contains('\r'), "{name}: {told:?}");
        assert_eq!(counts(&after(&model), OCCURRED), [1], "{name}");
        settle(&tidegate, &model);
        if readable {
            assert!(scene.json("last-compact.json")["survival"].is_object());
            assert!(scene.text(PROGRESS).contains("\r\n"), "the file's own line ends");
        }
    }
}

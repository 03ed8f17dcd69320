//! `init` and `uninstall` on what they may find.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::sandbox::Sandbox;

fn settings(sandbox: &Sandbox) -> PathBuf {
    sandbox.project().join(".claude/settings.local.json")
}

fn write(sandbox: &Sandbox, text: &str) {
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a new folder");
    fs::write(settings(sandbox), text).expect("a new file");
}

#[test]
fn a_missing_folder_is_an_error_with_a_hint() {
    let sandbox = Sandbox::new();
    let missing = sandbox.path().join("missing");
    for command in ["init", "uninstall"] {
        let ran = sandbox.run(&[command, "--project", &missing.to_string_lossy()]);
        let text = ran.failed();
        assert!(text.contains("is not a folder") && text.contains("\nhint: "), "{text}");
    }
    assert!(!missing.exists());
}

#[test]
fn broken_settings_are_left_as_they_are() {
    for broken in ["{", "[]", "\"x\"", "{\"hooks\": 5}", "{\"hooks\": {\"Stop\": {}}}", "{\"a\": 1,}"] {
        let sandbox = Sandbox::new();
        write(&sandbox, broken);
        let ran = sandbox.run(&["init", "--project", "."]);
        let text = ran.failed();
        assert!(text.contains("settings.local.json") && text.contains("nothing was changed"), "{text}");
        assert_eq!(fs::read_to_string(settings(&sandbox)).expect("the file"), broken);
        assert!(!sandbox.project().join(".claude/context").exists());
    }
}

#[test]
fn twice_is_once_and_out_again_is_as_before() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(&["init", "--project", "."]);
    assert!(first.ok().contains("written"), "{first:?}");
    let once = fs::read_to_string(settings(&sandbox)).expect("the file");
    let second = sandbox.run(&["init", "--project", "."]);
    assert!(second.ok().contains("there already"), "{second:?}");
    assert_eq!(fs::read_to_string(settings(&sandbox)).expect("the file"), once);
    assert!(sandbox.run(&["uninstall", "--project", "."]).ok().contains("removed"));
    assert_eq!(fs::read_dir(sandbox.project()).expect("the project").count(), 0, "nothing is left");
    assert!(sandbox.run(&["uninstall", "--project", "."]).ok().contains("nothing of ours there"));
}

#[test]
fn a_dry_run_changes_nothing() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["init", "--project", ".", "--dry-run"]);
    assert!(ran.ok().contains("\"PreToolUse\""), "{ran:?}");
    assert_eq!(fs::read_dir(sandbox.project()).expect("the project").count(), 0);
}

#[test]
fn what_is_registered_runs_and_only_gates_block() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run(&["init", "--project", "."]).ok();
    let text = fs::read_to_string(settings(&sandbox)).expect("the file");
    let written: Value = serde_json::from_str(&text).expect("JSON");
    for (event, entries) in written["hooks"].as_object().expect("an object") {
        let handler = &entries[0]["hooks"][0];
        assert_eq!(handler.get("onFailure").is_some(), event == "PreToolUse", "{event}");
        let args: Vec<&str> =
            handler["args"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        assert_eq!(args, ["hook", "--event", event], "{event}");
        let binary = fs::canonicalize(env!("CARGO_BIN_EXE_tidegate")).expect("the executable");
        assert_eq!(handler["command"].as_str(), binary.to_str(), "{event}");
    }
}

#[test]
fn it_says_what_it_did() {
    let sandbox = Sandbox::new();
    write(&sandbox, "{ \"model\": \"opus\" }\n");
    let ran = sandbox.run(&["init", "--project", "."]);
    assert!(ran.ok().contains("hooks and status line written"), "{ran:?}");
    let ran = sandbox.run(&["uninstall", "--project", "."]);
    assert!(ran.ok().contains("removed"), "{ran:?}");
}

#[test]
fn out_again_is_byte_for_byte_as_before() {
    for theirs in [
        "{ \"model\": \"opus\" }\n",
        "{\n    \"model\": \"opus\",\n    \"env\": {\"A\": \"1\"}\n}",
        "{\"statusLine\": {\"type\": \"command\", \"command\": \"echo hi\"}}\n",
        "{}\n",
    ] {
        let sandbox = Sandbox::new();
        write(&sandbox, theirs);
        let _ = sandbox.run(&["init", "--project", "."]).ok();
        let _ = sandbox.run(&["uninstall", "--project", "."]).ok();
        assert_eq!(fs::read_to_string(settings(&sandbox)).ok().as_deref(), Some(theirs));
    }
}

/// A second install over entries of ours, from a program that has moved, must not bring the old ones back.
#[test]
fn an_upgrade_leaves_nothing_of_the_old_path() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run(&["init", "--project", "."]).ok();
    let path = settings(&sandbox);
    let text = fs::read_to_string(&path).expect("the file");
    let moved = text.replace(env!("CARGO_BIN_EXE_tidegate"), "/old/place/tidegate");
    let edited = moved.replacen('{', "{\n  \"model\": \"opus\",", 1);
    fs::write(&path, edited).expect("our own file");
    assert!(sandbox.run(&["init", "--project", "."]).ok().contains("written"));
    assert!(!fs::read_to_string(&path).expect("the file").contains("/old/place"));
    assert!(sandbox.run(&["uninstall", "--project", "."]).ok().contains("removed"));
    let left = fs::read_to_string(&path).expect("the file");
    assert!(left.contains("opus") && !left.contains("tidegate"), "{left}");
}

#[test]
fn without_a_place_for_the_backup_nothing_is_changed() {
    let sandbox = Sandbox::new().with("TIDEGATE_STATE_DIR", "relative");
    let ran = sandbox.run(&["init", "--project", "."]);
    assert!(ran.failed().contains("nothing was changed"), "{ran:?}");
    assert!(!settings(&sandbox).exists());
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let sandbox = Sandbox::new();
    let theirs = sandbox.project().join(".claude/context/context-pressure.json");
    fs::create_dir_all(theirs.parent().expect("a folder")).expect("new folders");
    fs::write(&theirs, "{}").expect("a new file");
    assert!(sandbox.run(&["uninstall", "--project", "."]).ok().contains("nothing of ours"));
    assert!(theirs.exists());
}

#[test]
fn projects_with_like_names_keep_their_own() {
    let sandbox = Sandbox::new();
    for (name, text) in
        [("日本", "{ \"a\":1 }"), ("中国", "{ \"b\":2 }"), ("x-y", "{ \"c\":3 }"), ("x/y", "{ \"d\":4 }")]
    {
        let folder = sandbox.project().join(name);
        fs::create_dir_all(folder.join(".claude")).expect("new folders");
        fs::write(folder.join(".claude/settings.local.json"), text).expect("a new file");
        let _ = sandbox.run(&["init", "--project", name]).ok();
    }
    for (name, text) in [
        ("日本", "{ \"a\":1 }"),
        ("中国", "{ \"b\":2 }"),
        ("x-y", "{ \"c\":3 }"),
        ("x/../x/y", "{ \"d\":4 }"),
    ] {
        let _ = sandbox.run(&["uninstall", "--project", name]).ok();
        let left = fs::read_to_string(sandbox.project().join(name).join(".claude/settings.local.json"));
        assert_eq!(left.expect("the file"), text, "{name}");
    }
}

//! Hooks that are there but do nothing are found, and doctor's own command fixes them.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde_json::{Value, json};
use tidegate_state::clock;

use super::{age, change, findings, first, healthy, local, only, says, script, transcript, user, wrong};
use crate::sandbox::Sandbox;

const HOUR: u64 = super::HOUR;

/// Runs the command of the first fix.
#[track_caller]
fn fix(sandbox: &Sandbox) {
    let findings = findings(sandbox);
    let finding = findings.iter().find(|finding| super::is_wrong(finding)).expect("something is wrong");
    let fix = finding["cure"].as_str().expect("a fix");
    let command = fix.split('`').nth(1).unwrap_or_else(|| panic!("no command: {fix}"));
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(words[0], "tidegate", "{fix}");
    let ran = sandbox.run(&words[1..]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

type Change = fn(&mut Value);

/// Each alone, and each found and fixed.
const CHANGES: [(Change, &str, &str); 10] = [
    (
        |hooks| drop(hooks["PreToolUse"].as_array_mut().expect("ours").remove(0)),
        "hooks problem",
        "PreToolUse is not registered for Edit|Write|MultiEdit|NotebookEdit",
    ),
    (|hooks| hooks["PreToolUse"][0]["matcher"] = json!("Read"), "hooks problem", "`matcher` is \"Read\""),
    (|hooks| hooks["Stop"][0]["hooks"][0]["async"] = json!(true), "hooks problem", "Stop: `async` is true"),
    (|hooks| hooks["Stop"][0]["hooks"][0]["if"] = json!("Bash(ls)"), "hooks problem", "`if` is \"Bash(ls)\""),
    (
        |hooks| hooks["PreToolUse"][0]["hooks"][0]["type"] = json!("comand"),
        "hooks problem",
        "`type` is \"comand\"",
    ),
    (
        |hooks| hooks["PreToolUse"][1]["hooks"][0]["timeout"] = json!("5"),
        "hooks problem",
        "`timeout` is \"5\"",
    ),
    (
        |hooks| {
            let handler = &mut hooks["Stop"][0]["hooks"][0];
            *handler =
                serde_json::from_str(&handler.to_string().replace("Stop", "PostToolUse")).expect("JSON");
        },
        "hooks problem",
        "Stop: it calls `hook --event PostToolUse",
    ),
    (|hooks| hooks["PreCompact"] = json!([]), "hooks warning", "PreCompact is not registered"),
    (
        |hooks| {
            let again = hooks["Stop"][0].clone();
            hooks["Stop"].as_array_mut().expect("ours").push(again);
        },
        "hooks warning",
        "Stop is registered more than once",
    ),
    (
        |hooks| drop(hooks.as_object_mut().expect("ours").remove("SessionStart")),
        "hooks problem",
        "SessionStart is not",
    ),
];

/// Only a person's own hooks have this.
const CLOSE: Change = |hooks| {
    hooks["PreToolUse"][0]["hooks"][0].as_object_mut().expect("ours").remove("onFailure");
};

#[test]
fn entries_that_differ() {
    for shared in [false, true] {
        let sandbox = healthy();
        let file = if shared {
            let _ = sandbox.run(&["uninstall"]).ok();
            assert_eq!(sandbox.run(&["init", "--shared"]).code, Some(0));
            sandbox.project().join(".claude/settings.json")
        } else {
            local(&sandbox)
        };
        age(&file, 10 * HOUR);
        assert_eq!(wrong(&sandbox), [""; 0]);
        let own = (!shared).then_some((CLOSE, "hooks problem", "PreToolUse: `onFailure` is missing"));
        for (alter, state, what) in CHANGES.into_iter().chain(own) {
            change(&file, |settings| alter(&mut settings["hooks"]));
            only(&sandbox, state, &["differ from those of this version", what]);
            // With the flags of this install, or it would be a second one.
            fix(&sandbox);
            assert_eq!(wrong(&sandbox), [""; 0], "{what}");
        }
    }
}

#[test]
fn a_status_line_that_is_not_ours_is_a_note() {
    let sandbox = healthy();
    for line in [None, Some(json!({ "type": "command", "command": "theirs" }))] {
        change(&local(&sandbox), |settings| {
            settings.as_object_mut().expect("settings").remove("statusLine");
            if let Some(line) = &line {
                settings["statusLine"] = line.clone();
            }
        });
        assert_eq!(wrong(&sandbox), [""; 0]);
        let (state, text) = says(&sandbox, "hooks");
        assert!(state == "note" && text.contains("status line"), "{state}: {text}");
        assert_eq!(sandbox.run(&["init"]).code, Some(0));
        assert_eq!(says(&sandbox, "hooks").0, "ok");
    }
}

#[test]
fn invalid_entries_of_others_cost_the_whole_file() {
    for (entry, what) in [
        (json!({ "type": "command" }), "without a `command`"),
        (json!({ "type": "command", "command": "x", "timeout": "5" }), "`timeout` is \"5\""),
        (json!({ "type": "shell", "command": "x" }), "unknown type `shell`"),
    ] {
        let sandbox = healthy();
        change(&local(&sandbox), |settings| {
            let groups = settings["hooks"]["PreToolUse"].as_array_mut().expect("ours");
            groups.push(json!({ "matcher": "Bash", "hooks": [entry] }));
        });
        only(
            &sandbox,
            "settings warning",
            &["Claude Code ignores all of", "settings.local.json: PreToolUse: ", what],
        );
        let ran = sandbox.run(&["init"]);
        assert_eq!(ran.stderr.lines().filter(|line| line.contains(what)).count(), 1, "{ran:?}");
        assert!(ran.stderr.lines().all(|line| line.starts_with("warning: ")), "{ran:?}");
        change(&local(&sandbox), |settings| {
            settings["hooks"]["Stop"]
                .as_array_mut()
                .expect("ours")
                .push(json!({ "hooks": [{ "type": "x" }] }));
            settings["hooks"]["PreToolUse"].as_array_mut().expect("ours").pop();
        });
        assert_eq!(wrong(&sandbox), [""; 0], "elsewhere it costs itself alone");
    }
}

#[test]
fn lines_of_shell_that_call_us() {
    let event = |command: &str| json!({ "hooks": [{ "type": "command", "command": command }] });
    for command in ["/old/bin/tidegate hook --event Stop", "$HOME/.cargo/bin/tidegate hook --event Stop"] {
        let sandbox = healthy();
        change(&local(&sandbox), |settings| {
            settings["hooks"]["Stop"] = json!([event(command), event("theirs")]);
            settings["statusLine"]["command"] = json!("/old/bin/tidegate statusline");
        });
        first(&sandbox, "paths problem", &["Tidegate checks nothing", "`tidegate init --project"]);
        fix(&sandbox);
        assert_eq!(wrong(&sandbox), [""; 0]);
        let text = fs::read_to_string(local(&sandbox)).expect("settings");
        assert!(!text.contains("/old/") && !text.contains(".cargo") && text.contains("theirs"), "{text}");
        let _ = sandbox.run(&["uninstall"]).ok();
        let left = fs::read_to_string(local(&sandbox)).expect("settings");
        assert_eq!(
            serde_json::from_str::<Value>(&left).expect("JSON"),
            json!({ "hooks": { "Stop": [event("theirs")] } })
        );
    }
    // What somebody made around us is theirs to take out.
    let sandbox = healthy();
    let own = "A=1 /old/bin/tidegate hook --event Stop | tee log";
    change(&local(&sandbox), |settings| {
        settings["hooks"]["Stop"].as_array_mut().expect("ours").push(event(own));
    });
    only(&sandbox, "paths problem", &["/old/bin/tidegate, which does not exist", "entries that you wrote"]);
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    assert!(fs::read_to_string(local(&sandbox)).expect("settings").contains("tee log"));
}

/// The client writes its settings itself, at each "always allow".
#[test]
fn life_after_the_client_changed_its_settings() {
    let sandbox = healthy();
    fs::remove_dir_all(sandbox.state().join("journal")).expect("our own");
    fs::remove_dir_all(sandbox.state().join("sessions")).expect("our own");
    fs::remove_dir_all(sandbox.home().join(".claude/projects")).expect("our own");
    for session in ["silent-1", "silent-2"] {
        transcript(&sandbox, session, 0);
    }
    let rewrite = || {
        change(&local(&sandbox), |settings| settings["permissions"] = json!({ "allow": ["Bash(ls:*)"] }));
        let file = fs::File::options().append(true).open(local(&sandbox)).expect("settings");
        let later = std::time::UNIX_EPOCH + std::time::Duration::from_millis(clock::now().0 + HOUR);
        file.set_modified(later).expect("our own file");
    };
    rewrite();
    let is_told = |texts: &[String]| {
        texts
            .iter()
            .any(|text| text.starts_with("life problem: Claude Code did not run Tidegate's hooks in 2"))
    };
    assert!(is_told(&wrong(&sandbox)), "{:#?}", wrong(&sandbox));
    // Nor does a later `init` move the beginning.
    change(&local(&sandbox), |settings| settings["hooks"]["PreCompact"] = json!([]));
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    rewrite();
    assert!(is_told(&wrong(&sandbox)), "{:#?}", wrong(&sandbox));
}

#[test]
fn shared_hooks_need_no_link() {
    let sandbox = healthy();
    let _ = sandbox.run(&["uninstall"]).ok();
    assert_eq!(sandbox.run(&["init", "--shared"]).code, Some(0));
    age(&sandbox.project().join(".claude/settings.json"), 10 * HOUR);
    // A teammate has the program on PATH, and none of what `init` leaves with a person.
    fs::remove_file(local(&sandbox)).expect("our own");
    fs::remove_dir_all(sandbox.home().join(".local")).expect("our own");
    assert_eq!(wrong(&sandbox), [""; 0]);
}

#[test]
fn programs_in_the_project_are_named_and_not_run() {
    let sandbox = healthy();
    let bin = sandbox.project().join("node_modules/.bin");
    fs::create_dir_all(&bin).expect("new folders");
    let ran = sandbox.path().join("ran");
    for name in ["tidegate", "claude"] {
        script(&bin.join(name), &format!("echo x > {}; echo 2.1.325", ran.display()));
    }
    let path = format!("{}:{}", bin.display(), sandbox.path().join("bin").display());
    let sandbox = sandbox.with("PATH", path);
    only(&sandbox, "binary warning", &["node_modules/.bin/tidegate, inside this project", "it was not run"]);
    let (state, text) = says(&sandbox, "client");
    assert!(state == "note" && text.contains("node_modules/.bin/claude"), "{state}: {text}");
    assert!(!ran.exists());
}

#[test]
fn a_section_of_a_folder_that_is_gone() {
    let sandbox = healthy();
    let here = sandbox.project();
    sandbox.config(format!(
        "[project.\"{}\"]\npreset = \"guide\"\n[project.\"/moved/away\"]\npreset = \"strict\"\n",
        here.display()
    ));
    assert_eq!(wrong(&sandbox), [""; 0]);
    let (state, text) = says(&sandbox, "config");
    assert!(state == "note" && text.contains("`[project.\"/moved/away\"]`"), "{state}: {text}");
    assert!(text.contains("is for a folder that does not exist"), "{text}");
}

#[test]
fn variables_in_the_users_own_settings() {
    let sandbox = healthy();
    change(&user(&sandbox), |settings| settings["env"] = json!({ "TIDEGATE_GUARD": "1" }));
    only(&sandbox, "config warning", &["sets TIDEGATE_GUARD", "Remove TIDEGATE_GUARD from"]);
    change(&user(&sandbox), |settings| settings["env"] = json!({ "TIDEGATE_STATE_DIR": "/elsewhere" }));
    only(&sandbox, "config warning", &["sets TIDEGATE_STATE_DIR to /elsewhere", "hooks write there"]);
    let same = sandbox.state();
    change(&user(&sandbox), |settings| settings["env"] = json!({ "TIDEGATE_STATE_DIR": same }));
    assert_eq!(wrong(&sandbox), [""; 0]);
}

#[test]
fn for_machines_it_says_what_was_looked_at() {
    let sandbox = healthy();
    let ran = sandbox.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["project"].as_str().map(Path::new), Some(sandbox.project().as_path()));
    let odd = sandbox.project().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&odd).expect("a new folder");
    let output = sandbox.command(&["doctor", "--json", "--project"]).arg(&odd).output().expect("it runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(report["project"].as_str().is_some_and(|path| path.ends_with("caf\u{fffd}")), "{report}");
}

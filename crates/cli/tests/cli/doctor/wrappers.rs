//! `doctor` where people call Tidegate in their own way, and where a repository tries to steer it.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{change, healthy, link, local, only, says, script, wrong};
use crate::sandbox::Sandbox;

const EVENTS: [&str; 5] = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];

/// Hooks in the local settings that run a person's own script, instead of those of `init`.
fn wrapped(sandbox: &Sandbox, events: &[&str], text: &str) -> PathBuf {
    let path = sandbox.path().join("gate.sh");
    script(&path, text);
    let hook = |event: &&str| {
        let mut handler = json!({ "type": "command", "command": path });
        if *event == "PreToolUse" {
            handler["onFailure"] = json!("block");
        }
        ((*event).to_owned(), json!([{ "hooks": [handler] }]))
    };
    let hooks: serde_json::Map<String, Value> = events.iter().map(hook).collect();
    change(&local(sandbox), |settings| *settings = json!({ "hooks": hooks }));
    path
}

#[test]
fn a_script_of_a_persons_own_is_a_registration() {
    let sandbox = healthy();
    wrapped(&sandbox, &EVENTS, "exec tidegate hook");
    assert_eq!(wrong(&sandbox), [""; 0]);
    let (state, text) = says(&sandbox, "hooks");
    assert!(state == "ok" && text.contains("through your own script ") && text.contains("gate.sh"), "{text}");

    wrapped(&sandbox, &["PreToolUse", "Stop"], "exec tidegate hook");
    only(
        &sandbox,
        "hooks problem",
        &[
            "gate.sh, but not at these events: SessionStart, UserPromptSubmit, PostToolUse.",
            "`tidegate init --project",
        ],
    );
    // A script of another tool is none.
    wrapped(&sandbox, &EVENTS, "exec make lint");
    only(&sandbox, "hooks problem", &["Claude Code does not call Tidegate in "]);
}

#[test]
fn a_script_whose_program_is_gone_blocks_every_edit() {
    let sandbox = healthy();
    let program = link(&sandbox);
    wrapped(&sandbox, &EVENTS, &format!("exec '{}' hook", program.display()));
    assert_eq!(wrong(&sandbox), [""; 0]);
    fs::remove_file(&program).expect("our own");
    let blocked = "Claude Code blocks every edit: ";
    only(
        &sandbox,
        "paths problem",
        &[blocked, "through your own", "bin/tidegate does not exist", "`tidegate init"],
    );
    // `init` brings the program back.
    assert_eq!(sandbox.run(&["init"]).code, Some(0));
    assert_eq!(wrong(&sandbox), [""; 0]);

    wrapped(&sandbox, &EVENTS, "exec /opt/gone/tidegate hook");
    only(&sandbox, "paths problem", &[blocked, "/opt/gone/tidegate does not exist", "Correct the path in "]);
    let wrapper = wrapped(&sandbox, &["PreToolUse"], "exec tidegate hook");
    change(&local(&sandbox), |settings| {
        let handler = &mut settings["hooks"]["PreToolUse"][0]["hooks"][0];
        handler["args"] = json!(["hook", "--event", "PreToolUse"]);
    });
    fs::remove_file(wrapper).expect("our own");
    let found = wrong(&sandbox);
    assert!(found[0].starts_with(&format!("paths problem: {blocked}")), "{found:#?}");
    assert!(
        found[0].contains("gate.sh does not exist") && found[0].contains("or remove its entries"),
        "{found:#?}"
    );
}

#[test]
fn a_missing_program_without_a_gate_blocks_nothing() {
    let sandbox = healthy();
    change(&local(&sandbox), |settings| {
        settings["hooks"] = json!({ "Stop": [{ "hooks": [
            { "type": "command", "command": "/gone/tidegate", "args": ["hook", "--event", "Stop"] }] }] });
    });
    let found = wrong(&sandbox);
    assert!(found[0].starts_with("paths problem: Tidegate checks nothing: "), "{found:#?}");
    let sandbox = healthy();
    change(&local(&sandbox), |settings| {
        settings["statusLine"] = json!({ "type": "command", "command": "/gone/tidegate statusline" });
    });
    only(
        &sandbox,
        "paths problem",
        &["Tidegate's status line is missing: ", "/gone/tidegate, which does not exist"],
    );
}

/// Without `tidegate` on PATH the command names the program that was just run.
#[test]
fn a_fix_can_be_run_as_it_is_printed() {
    let sandbox = healthy().with("PATH", "/usr/bin:/bin");
    fs::remove_file(link(&sandbox)).expect("our own");
    let command = format!("Run `{} init --project ", super::EXE);
    only(&sandbox, "paths problem", &["does not exist", &command]);
}

#[test]
fn a_repository_that_tries_to_change_tidegate() {
    let sandbox = healthy();
    let shared = sandbox.project().join(".claude/settings.json");
    let state = sandbox.project().join("state");
    change(&shared, |settings| {
        settings["env"] =
            json!({ "TIDEGATE_OFF": "skill-gate", "TIDEGATE_LANG": "ja", "XDG_STATE_HOME": state, "A": "b" });
    });
    only(
        &sandbox,
        "config warning",
        &[
            "This repository tries to change Tidegate's settings: ",
            ".claude/settings.json sets TIDEGATE_OFF, TIDEGATE_LANG, XDG_STATE_HOME. Tidegate ignores that.",
            "(Remove TIDEGATE_OFF, TIDEGATE_LANG, XDG_STATE_HOME from ",
        ],
    );
    // Outside of the repository that is a place like any other.
    change(&shared, |settings| settings["env"] = json!({ "XDG_STATE_HOME": "/elsewhere" }));
    assert_eq!(wrong(&sandbox), [""; 0]);
}

#[test]
fn a_state_folder_in_the_project() {
    let sandbox = healthy();
    let state = sandbox.project().join(".state");
    for (variable, folder) in
        [("TIDEGATE_STATE_DIR", state.clone()), ("XDG_STATE_HOME", state.join("tidegate"))]
    {
        let sandbox = healthy().without("TIDEGATE_STATE_DIR");
        let state = sandbox.project().join(".state");
        let sandbox = sandbox.with(variable, &state);
        let found = wrong(&sandbox);
        let [named] = &found.iter().filter(|text| text.starts_with("state ")).collect::<Vec<_>>()[..] else {
            panic!("{variable}: {found:#?}");
        };
        assert!(named.starts_with(&format!("state warning: {variable} makes Tidegate keep")), "{named}");
        assert!(named.contains(&format!("`unset {variable}`")), "{named}");
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(named.contains(&format!("/{name}. Your agent and this repository")), "{named}");
    }
    // A home that is a project holds the usual place.
    let home = sandbox.home();
    let sandbox = sandbox.without("TIDEGATE_STATE_DIR").with("XDG_STATE_HOME", home.join(".local/state"));
    let sandbox = sandbox.with("CLAUDE_PROJECT_DIR", &home);
    assert!(!wrong(&sandbox).iter().any(|text| text.starts_with("state ")), "{:#?}", wrong(&sandbox));
}

/// Consequences of a state folder that is not usable do not count.
#[test]
fn failures_that_follow_from_the_state_folder_are_not_reported_twice() {
    use tidegate_core::pipeline::record::FailedCheck;
    let sandbox = healthy();
    let at = tidegate_state::clock::now();
    super::record(&sandbox, at, "PreToolUse", super::SESSION, |record| {
        record.failure = Some(FailedCheck {
            class: "marks".to_owned(),
            step: "it is not a folder".to_owned(),
            closed: true,
        });
    });
    only(&sandbox, "crashes warning", &["(marks)"]);
    let sessions = sandbox.state().join("sessions");
    fs::remove_dir_all(&sessions).expect("our own");
    fs::write(&sessions, "").expect("a new file");
    only(&sandbox, "state problem", &["sessions: it is not a folder"]);
    assert_eq!(
        says(&sandbox, "crashes").1,
        "Not checked: the check `state` found a problem that explains the rest."
    );
}

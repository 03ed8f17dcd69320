//! Files of a newer version: each is refused in words or left alone, by hooks and commands alike, and never written over.

use std::fs;
use std::path::Path;

use crate::answer::Ran;
use crate::fixtures;
use crate::people::{SESSION, attended, event};
use crate::sandbox::Sandbox;

/// Events that read and write every file of a session, and of the project.
const EVENTS: [&str; 6] = [
    "SessionStart.startup",
    "UserPromptSubmit.plain",
    "PreToolUse.Write",
    "PostToolUse.Write",
    "PreCompact.auto",
    "Stop.first",
];

/// Puts the file there, plays a session over it, runs the commands, and returns what they said.
fn play(sandbox: &Sandbox, file: &Path, text: &str, commands: &[&[&str]]) -> Vec<Ran> {
    fs::create_dir_all(file.parent().expect("a folder")).expect("a new folder");
    fs::write(file, text).expect("a new file");
    for capture in EVENTS {
        let mut payload = event(sandbox, capture);
        payload["cwd"] = serde_json::json!(sandbox.project());
        let _ = sandbox.event(&payload);
    }
    commands.iter().map(|args| sandbox.run(args)).collect()
}

fn now(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[test]
fn a_config_keeps_what_this_version_does_not_know() {
    let sandbox = attended();
    let file = sandbox.home().join(".config/tidegate/config.toml");
    let text =
        "[teleport]\nbeam = true\n\n[skill_gate]\nradius = 3\n\n[skill_gate.require]\ncode = [\"rules\"]\n";
    let ran = play(&sandbox, &file, text, &[&["doctor"], &["config", "show"]]);
    assert_eq!(now(&file), text);
    let said = ran.iter().flat_map(|ran| [ran.stdout.as_str(), &ran.stderr]).collect::<String>();
    assert!(said.contains("teleport") && said.contains("radius"), "{said}");
    // What it does know counts.
    assert!(ran[1].stdout.contains("rules"), "{ran:?}");
    // `init` adds its own lines.
    let _ = sandbox.run(&["init", "--preset", "strict"]);
    for line in text.lines() {
        assert!(now(&file).lines().any(|now| now == line), "{line}: {}", now(&file));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn switches_of_another_kind_stay() {
    let sandbox = attended();
    let file = sandbox.state().join("off.json");
    let text = r#"[{"policy":"cycle","scope":{"branch":"main"},"since":1,"newer":true}]"#;
    let ran = play(&sandbox, &file, text, &[&["doctor"]]);
    assert!(ran[0].stdout.contains("cannot be read"), "{ran:?}");
    assert_eq!(now(&file), text);
    let _ = crate::people::at_terminal(&sandbox, &["off", "skill-gate", "--for", "1h"], "y\n");
    let after: serde_json::Value = serde_json::from_str(&now(&file)).expect("a list");
    let before: serde_json::Value = serde_json::from_str(text).expect("a list");
    let after = after.as_array().expect("a list");
    assert!(after.len() == 2 && after.contains(&before[0]), "{after:?}");
}

#[test]
fn marks_that_no_room_reads_stay_also_when_they_are_folded() {
    let sandbox = attended();
    let file = sandbox.session(SESSION).join("marks");
    // So many that the marks are rewritten short.
    let known = now(&file);
    let newer = r#"{"teleport":{"to":"dock 9"}}"#;
    let line = known.lines().find(|line| line.contains("\"cwd\"")).expect("a mark");
    let text = format!("{known}{newer}\n{}", format!("{line}\n").repeat(20_000 / line.len()));
    fs::write(&file, &text).expect("our own file");
    for capture in ["UserPromptSubmit.plain", "Stop.first"] {
        let _ = sandbox.event(&event(&sandbox, capture));
    }
    let after = now(&file);
    assert!(after.len() < text.len(), "it was rewritten");
    assert_eq!(after.lines().filter(|line| *line == newer).count(), 1, "{after}");
}

#[test]
fn the_journal_goes_on_behind_records_of_another_form() {
    let sandbox = Sandbox::new();
    let day = tidegate_state::clock::now().day();
    let file = sandbox.state().join(format!("journal/{day}.jsonl"));
    let newer = "{\"v\":2,\"when\":1,\"ruling\":{\"is\":\"new\"}}\n";
    fs::create_dir_all(file.parent().expect("a folder")).expect("a new folder");
    fs::write(&file, newer).expect("a new file");
    let _ = sandbox.event(&fixtures::hook("UserPromptSubmit.plain"));
    let ran = sandbox.run(&["journal"]);
    assert!(ran.stderr.contains("written by a newer version"), "{ran:?}");
    let text = now(&file);
    assert!(text.starts_with(newer) && text.lines().count() == 2, "{text}");
}

/// It cannot be driven by a status that this version does not know: the file is put aside, whole, and the person learns of it.
#[test]
fn a_cycle_in_a_state_of_another_version_is_put_aside() {
    let sandbox = attended();
    let file = sandbox.project().join(".claude/dev-cycle.state.json");
    let text = format!(
        "{{\n  \"stage\": \"sprint\",\n  \"status\": \"hibernating\",\n  \"session_id\": \"{SESSION}\"\n}}\n"
    );
    fs::create_dir_all(file.parent().expect("a folder")).expect("a new folder");
    fs::write(&file, &text).expect("a new file");
    for command in ["status", "done", "resume"] {
        let refused = sandbox.run(&["cycle", command]);
        let said = refused.failed();
        assert!(said.contains("`status` has a value that does not fit"), "{command}: {said}");
        assert_eq!(now(&file), text);
    }
    let said = sandbox.event(&event(&sandbox, "SessionStart.startup")).stdout;
    assert!(said.contains("cannot use the cycle's file"), "{said}");
    let aside = file.with_file_name("dev-cycle.state.json.bad");
    assert_eq!((file.exists(), now(&aside)), (false, text));
}

#[test]
fn a_job_of_another_form_waits_for_its_program() {
    let sandbox = attended();
    let file = sandbox.state().join("spool/000000000000001-newer.json");
    let text = r#"{"v":2,"work":"teleport"}"#;
    let ran = play(&sandbox, &file, text, &[&["worker", "--once"], &["doctor"]]);
    assert_eq!(now(&file), text);
    assert_eq!(ran[0].code, Some(1), "{ran:?}");
    assert!(
        ran[1].stdout.split_whitespace().collect::<Vec<_>>().join(" ").contains("a newer Tidegate"),
        "{ran:?}"
    );
}

/// Written over, the way back to the files before `init` would be lost.
#[test]
fn a_record_of_an_install_is_not_written_over() {
    for (damage, own) in [(r#""kind": "settings""#, true), (r#""kind": "settings""#, false), ("{", true)] {
        let sandbox = Sandbox::new();
        assert_eq!(sandbox.run(&["init"]).code, Some(0));
        let records = fs::read_dir(sandbox.state().join("installs")).expect("records").flatten();
        let file = records.map(|entry| entry.path().join("record.json")).find(|path| path.exists());
        let file = file.expect("a record");
        let text = now(&file).replacen(damage, r#""kind": "teleporter""#, 1);
        fs::write(&file, &text).expect("our own file");
        let settings = sandbox.project().join(".claude/settings.local.json");
        let before = now(&settings);
        let other = sandbox.path().join("other");
        fs::create_dir_all(&other).expect("a new folder");
        let other = other.to_string_lossy().into_owned();
        let place: &[&str] = if own { &[] } else { &["--project", &other] };
        for command in ["init", "uninstall"] {
            let ran = sandbox.run(&[&[command], place].concat());
            let said = ran.failed();
            assert!(
                said.contains("a newer Tidegate wrote it") && said.contains("nothing was changed"),
                "{said}"
            );
        }
        assert_eq!((now(&file), now(&settings)), (text, before));
        // The way out that the hint names.
        fs::rename(&file, sandbox.path().join("away")).expect("our own file");
        assert_eq!(sandbox.run(&["init"]).code, Some(0));
    }
}

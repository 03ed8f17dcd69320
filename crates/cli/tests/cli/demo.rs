//! The demo as people see it, and that nothing of it is left.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use unicode_width::UnicodeWidthStr;

use crate::sandbox::{Running, Sandbox};

fn play(lang: &str, columns: &'static str, args: &[&str]) -> String {
    let sandbox = Sandbox::new().with("LANG", lang).with("COLUMNS", columns);
    let before = sandbox.everything();
    let shown = sandbox.run(&[&["demo"], args].concat()).ok().to_owned();
    assert_eq!(sandbox.everything(), before, "nothing is left, and nothing is installed");
    let widest = shown.lines().map(UnicodeWidthStr::width).max();
    assert!(widest <= columns.parse().ok(), "{widest:?} of {columns}: {shown}");
    shown
}

#[test]
fn four_scenes_on_one_screen() {
    for (lang, name) in [("en_US.UTF-8", "en"), ("ja_JP.UTF-8", "ja")] {
        for columns in ["40", "60", "79", "80"] {
            let shown = play(lang, columns, &[]);
            let lines = shown.lines().count();
            assert!(lines <= 45, "{lines} at {columns}: {shown}");
            if columns == "79" {
                continue;
            }
            insta::assert_snapshot!(format!("demo-{name}-{columns}"), shown);
        }
    }
}

/// As a terminal does it at Ctrl-C, as a system does it, and without a chance to do anything.
#[test]
fn an_interrupted_demo_leaves_nothing() {
    for signal in ["-INT", "-TERM", "-KILL"] {
        if signal == "-INT" && is_interrupt_ignored() {
            continue;
        }
        // It may be faster than the signal.
        assert!((0..10).any(|_| is_interrupted_by(signal)), "{signal}");
    }
}

/// Shells without job control let what they start in the background ignore SIGINT, and children inherit that.
fn is_interrupt_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 2 != 0))
}

fn is_interrupted_by(signal: &str) -> bool {
    let sandbox = Sandbox::new();
    let before = sandbox.everything();
    let mut command = sandbox.command(&["demo"]);
    command.process_group(0);
    let mut running = Running::start(command);
    running.close();
    let temporary = sandbox.path().join("tmp");
    let is_under_way = || {
        let mut folders = fs::read_dir(&temporary).expect("a folder").flatten();
        folders.any(|folder| folder.path().join("monday.jsonl").exists())
    };
    while !is_under_way() && !running.has_ended() {
        std::thread::yield_now();
    }
    let group = format!("-{}", running.id());
    let sent = Command::new("kill").args([signal, "--", &group]).status().expect("kill runs");
    assert!(sent.success(), "{signal}");
    // Its end is also that of the process that cleans up.
    let ran = running.end();
    assert_eq!(sandbox.everything(), before, "{signal}");
    if ran.code == Some(0) {
        return false;
    }
    assert_eq!((ran.code, ran.stdout.as_str()), (None, ""), "{signal}: {ran:?}");
    true
}

#[test]
fn a_demo_deletes_what_an_earlier_one_left() {
    let sandbox = Sandbox::new();
    let temporary = sandbox.path().join("tmp");
    for (name, file) in [("tidegate-demo-abc123", ".demo-lock"), ("tidegate-demo-of-mine", "notes.md")] {
        fs::create_dir(temporary.join(name)).expect("a new folder");
        fs::write(temporary.join(name).join(file), "").expect("a new file");
    }
    sandbox.run(&["demo", "--scene", "1"]).ok();
    let left: Vec<_> =
        fs::read_dir(&temporary).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["tidegate-demo-of-mine"]);
}

#[test]
fn one_scene() {
    let all = play("C.UTF-8", "80", &[]);
    let third = play("C.UTF-8", "80", &["--scene", "3"]);
    assert!(third.starts_with("3. A compaction") && third.contains("\n  For you "), "{third}");
    assert!(all.contains(&third), "{third}");
    for wrong in ["0", "5", "x"] {
        let ran = Sandbox::new().run(&["demo", "--scene", wrong]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{wrong}: {ran:?}");
    }
}

#[test]
fn every_hook_call_with_its_reasons() {
    play("ja_JP.UTF-8", "60", &["--verbose"]);
    let shown = play("C.UTF-8", "80", &["--verbose"]);
    let parts = [
        "SessionStart",
        "PreToolUse",
        "code was edited: login.ts",
        "To Claude    Run `npm test`",
        "verify-stop        code was edited and not verified since",
        "a check passed: `npm test` (test",
        "verify-stop        verified since the last edit",
        "PostToolUse  61% of the context used",
        "To you       Tidegate: about 2 turns",
        "context-warning  a level was reached",
        "45k to compaction",
        "To summary   Keep these facts",
        "- a signed cookie, valid for 30 days",
        "PostCompact",
        "compaction  the summary lost something",
        "UserPromptSubmit  5% of the context used",
        "To Claude    The summary of the compaction lost",
        "SessionEnd",
        "Found ",
        " hook calls took ",
    ];
    let mut rest = shown.as_str();
    for part in parts {
        let found = rest.find(part).unwrap_or_else(|| panic!("{part:?} in {rest}"));
        rest = &rest[found..];
    }
}

/// For pictures: other commands find what the demo left.
#[test]
fn a_home_that_is_kept() {
    let sandbox = Sandbox::new();
    let home = sandbox.path().join("kept").display().to_string();
    sandbox.run(&["demo", "--scene", "1", "--keep", &home]).ok();
    let again = sandbox.run(&["demo", "--keep", &home]);
    assert!(again.failed().contains("cannot make a folder"), "{again:?}");
    let mut log = sandbox.command(&["log"]);
    log.env("HOME", &home).env_remove("TIDEGATE_STATE_DIR").env_remove("CLAUDE_PROJECT_DIR");
    log.current_dir(format!("{home}/shop"));
    let ran = Running::start(log).end();
    assert!(ran.ok().contains("verify-stop blocked \"done\""), "{ran:?}");
}

/// The words come from the person's own language, wherever it is set.
#[test]
fn the_hooks_speak_the_language_of_the_page() {
    let sandbox = Sandbox::new();
    sandbox.config("lang = \"ja\"\n");
    let ran = sandbox.run(&["demo", "--scene", "2"]);
    assert!(ran.ok().contains("あなたへ     Tidegate: Claude Code の圧縮まで"), "{ran:?}");
}

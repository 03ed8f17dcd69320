//! Commands for people on every screen: how wide it is, whether it takes colours, and which language it speaks.

use serde_json::json;

use crate::fixtures;
use crate::sandbox::Sandbox;
use crate::transcript::{Transcript, addressed, answer};

const SESSION: &str = "91b38a40-3ead-4aa8-8407-24d36ddad7be";

/// Each prints something for people; those with `--json` besides are not meant here.
const COMMANDS: [&[&str]; 37] = [
    &["help"],
    &["help", "--all"],
    &["off", "--help"],
    &["off"],
    &["on", "skill-gate"],
    &["status"],
    &["log"],
    &["log", "--verbose"],
    &["explain"],
    &["report"],
    &["meter"],
    &["trust", "--revoke"],
    &["learnings"],
    &["learnings", "check"],
    &["progress", "list"],
    &["progress", "show", "c0e1"],
    &["compound", "list"],
    &["handoff"],
    &["memory", "search", "cookie"],
    &["memory", "list"],
    &["memory", "list", "logs"],
    &["memory", "list", "decisions"],
    &["memory", "list", "projects"],
    &["memory", "show", "topic", "1"],
    &["memory", "show", "decision", "1"],
    &["memory", "show", "log", "a1"],
    &["memory", "show", "session", "none"],
    &["memory", "forget", "topic", "99"],
    &["memory", "import", "missing.jsonl"],
    &["memory", "decision", "add", "x"],
    &["memory", "stats"],
    &["memory", "check"],
    &["memory", "team"],
    &["cycle", "status"],
    &["cycle", "stats"],
    &["workflow", "status"],
    &["no-such-command"],
];

/// A project with a name of wide characters, and notes with escapes in them. Nothing of it is in kana.
fn played() -> Sandbox {
    let sandbox = Sandbox::new();
    let project = sandbox.path().join("東京都千代田区");
    let context = project.join(".claude/context");
    std::fs::create_dir_all(&context).expect("new folders");
    std::fs::write(
        context.join("progress.md"),
        "## [2026-02-18T14:00:00Z] — \u{1b}[31m第一工程完了。題名長大、画面狭小、故折返必要、次工程開始可能、全試験合格済。\n\
         - Decision: signed **cookie**, valid for 30 days\n",
    )
    .expect("a new file");
    std::fs::write(
        context.join("learnings.md"),
        "## One \u{202e}lock per project\n- **Learning**: flock ends with its process, so no stale lock file stays behind\n\
         - **Context**: c\n- **Implication**: i\n- **Confirmed**: 2 times | 2026-02-01 | implement\n\n## Empty\n",
    )
    .expect("a new file");
    let sandbox = sandbox.with("CLAUDE_PROJECT_DIR", &project);
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(155_000));
    for (capture, tool) in
        [("SessionStart.startup", ""), ("UserPromptSubmit.plain", ""), ("PreToolUse.Write", "\u{1b}[2JWrite")]
    {
        let mut payload = addressed(fixtures::hook(capture), SESSION, &transcript.path, &project);
        if !tool.is_empty() {
            payload["tool_name"] = json!(tool);
        }
        let event = payload["hook_event_name"].as_str().expect("an event").to_owned();
        let _ = sandbox.hook(&["--event", &event], payload.to_string());
    }
    let row = |kind: &str, more: serde_json::Value| {
        let mut row = json!({ "kind": kind, "created": 1, "updated": 1_790_000_000_000_u64 });
        row.as_object_mut().expect("a row").extend(more.as_object().expect("members").clone());
        row.to_string()
    };
    let rows = [
        row("project", json!({ "uid": "p", "key": project.join(".git"), "name": "東京都千代田区" })),
        row(
            "topic",
            json!({ "uid": "t", "project": "p", "title": "\u{1b}[31mcookie 期限設定方針", "status": "open" }),
        ),
        row(
            "log",
            json!({ "uid": "a1", "topic": "t", "source": "hand", "at": 1_790_000_000_000_u64,
            "title": "cookie \u{202e}期限三十日、署名付、再発行可能、試験済、文書更新済、次回確認予定", "text": "cookie\u{1b}[2J" }),
        ),
        row(
            "decision",
            json!({ "uid": "d", "topic": "t", "text": "signed cookie, valid for 30 days", "reason": "\u{7}r" }),
        ),
    ];
    let imported = sandbox.run_with(&["memory", "import"], rows.join("\n").as_bytes());
    assert_eq!(imported.code, Some(0), "{imported:?}");
    sandbox
}

fn columns(line: &str) -> usize {
    tidegate_core::text::terminal::count_columns(line)
}

fn is_kana(c: char) -> bool {
    matches!(c, 'ぁ'..='ヿ')
}

#[test]
fn nothing_is_wider_than_the_screen_or_steers_it() {
    let sandbox = played();
    let mut seen = 0;
    for (width, lang) in [
        ("40", "C"),
        ("60", "ja_JP.UTF-8"),
        ("80", "de_DE.UTF-8"),
        ("120", "ja_JP.UTF-8"),
        ("7", "C.UTF-8"),
        ("x", ""),
    ] {
        let screen = match width {
            "7" => 40,
            "x" => 80,
            width => width.parse().expect("a number"),
        };
        for args in COMMANDS {
            let mut command = sandbox.command(args);
            command.env("COLUMNS", width).env("LANG", lang);
            let output = command.output().expect("it starts");
            let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
            assert!(!text.is_empty(), "{args:?}");
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{args:?}: {text:?}");
            let is_japanese = text.chars().any(is_kana);
            // A list of notes has hardly a word of its own.
            let is_wanted = lang.starts_with("ja") && args[0] != "progress";
            assert!(is_japanese == is_wanted || args[0] == "progress", "{args:?} {lang}: {text}");
            // An example is copied, so it is never folded. In a pipe, a path or an id stays whole.
            let is_long = |word: &str| columns(word) > 30;
            let is_whole = |line: &&str| {
                !line.contains("tidegate ") && !line.contains('/') && !line.split(' ').any(is_long)
            };
            let too_wide = text.lines().filter(is_whole).find(|line| columns(line) > screen);
            assert_eq!(too_wide, None, "{args:?} at {width}: {text}");
            seen += 1;
        }
    }
    assert_eq!(seen, COMMANDS.len() * 6);
}

/// Colours only where they are wanted, and nothing but colours.
#[test]
fn colours_are_asked_for_or_left_out() {
    let sandbox = played();
    let run = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = sandbox.command(args);
        command.env_remove("NO_COLOR").env("COLUMNS", "80").envs(variables.iter().copied());
        String::from_utf8(command.output().expect("it starts").stdout).expect("UTF-8")
    };
    for args in [&["off"] as &[&str], &["help"], &["off", "--help"], &["learnings"]] {
        let plain = run(args, &[]);
        assert!(!plain.contains('\u{1b}'), "{args:?}: {plain:?}");
        for variables in [&[("NO_COLOR", "1")] as &[(&str, &str)], &[("TERM", "dumb")]] {
            assert_eq!(run(args, variables), plain, "{args:?}");
        }
        let colored = run(args, &[("CLICOLOR_FORCE", "1")]);
        assert!(colored.contains("\u{1b}["), "{args:?}: {colored:?}");
        assert_eq!(strip(&colored), plain, "{args:?}");
    }
}

fn strip(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = after.split_once('m').expect("a colour ends").1;
    }
    out + rest
}

/// A config's `lang` counts before the locale; an agent is spoken to in English.
#[test]
fn the_language_is_chosen() {
    let sandbox = Sandbox::new().with("LANG", "ja_JP.UTF-8");
    assert!(sandbox.run(&["off"]).ok().contains("のポリシー"));
    let mut by_agent = sandbox.command(&["off"]);
    by_agent.env("CLAUDECODE", "1");
    let said = String::from_utf8(by_agent.output().expect("it starts").stdout).expect("UTF-8");
    assert!(said.starts_with("Policies in "), "{said}");
    sandbox.config("lang = \"en\"\n");
    assert!(sandbox.run(&["off"]).ok().starts_with("Policies in "));
    assert!(sandbox.run(&["help"]).ok().contains("\nStart\n"));
    let sandbox = Sandbox::new();
    sandbox.config("lang = \"ja\"\n");
    assert!(sandbox.run(&["help"]).ok().contains("\nはじめる\n"));
    let error = sandbox.run(&["off", "nothing-like-it"]);
    assert!(error.stderr.starts_with("エラー: "), "{error:?}");
}

/// Somebody who has installed it is not told to install it.
#[test]
fn before_the_first_session_the_next_step_is_named() {
    let sandbox = Sandbox::new();
    assert!(sandbox.run(&["status"]).failed().contains("hint: `tidegate init` installs the hooks"));
    let settings = sandbox.project().join(".claude/settings.local.json");
    std::fs::create_dir_all(settings.parent().expect("a folder")).expect("a new folder");
    std::fs::write(
        &settings,
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/x/tidegate hook"}]}]}}"#,
    )
    .expect("a new file");
    assert!(sandbox.run(&["status"]).failed().contains("hint: Tidegate is installed here: start `claude`"));
}

/// Times for people are in their zone, those for programs in UTC.
#[test]
fn times_are_local() {
    let sandbox = Sandbox::new().with("TZ", "Asia/Tokyo");
    sandbox.config("[approval]\nunattended = [\"off\"]\n");
    let off = sandbox.run(&["off", "skill-gate", "--for", "2h"]);
    assert!(off.words().contains(" JST. Switch"), "{off:?}");
    let listed = sandbox.run(&["off", "--json"]).json();
    assert!(listed[0]["until"].as_str().is_some_and(|until| until.ends_with('Z')), "{listed}");
}

#[test]
fn an_unreadable_progress_file_does_not_stop_learnings() {
    let sandbox = Sandbox::new();
    let context = sandbox.project().join(".claude/context");
    std::fs::create_dir_all(&context).expect("new folders");
    std::fs::write(context.join("progress.md"), b"\xff").expect("a new file");
    std::fs::write(context.join("learnings.md"), "## One\n- **Learning**: l\n").expect("a new file");
    let ran = sandbox.run(&["learnings"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("  One  "), "{ran:?}");
    assert!(ran.stderr.starts_with("warning: left out: ") && ran.stderr.contains("progress.md"), "{ran:?}");
}

//! The status line: one line whatever comes in, and the bridge first.

use std::fs;

use serde_json::{Value, json};

use crate::fixtures;
use crate::sandbox::Sandbox;
use crate::transcript::addressed;

const SESSION: &str = "5baaddad-4136-48e5-b2ca-88ce0e9e343e";

fn bridge(sandbox: &Sandbox) -> Option<Value> {
    let text = fs::read_to_string(sandbox.session(SESSION).join("bridge")).ok()?;
    text.lines().rev().find_map(|line| serde_json::from_str(line).ok())
}

fn payload(number: usize) -> Value {
    let payload = fixtures::status_lines()[number].json();
    assert_eq!(payload["session_id"], SESSION);
    payload
}

#[test]
fn every_capture_draws_one_line() {
    let sandbox = Sandbox::new();
    // A hook was here, so nothing is amiss.
    let start =
        addressed(fixtures::hook("SessionStart.startup"), SESSION, "none".as_ref(), &sandbox.project());
    sandbox.event(&start).silent();
    let mut lines = String::new();
    for capture in fixtures::status_lines() {
        let ran = sandbox.run_with(&["statusline"], capture.text.as_bytes());
        assert_eq!(ran.ok().lines().count(), 1, "{ran:?}");
        lines += ran.ok();
        let usage = &capture.json()["context_window"]["current_usage"];
        let used: u64 = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
            .iter()
            .filter_map(|name| usage[name].as_u64())
            .sum();
        if used > 0 {
            assert_eq!(bridge(&sandbox).expect("a bridge")["used"], used, "{}", capture.name);
        }
    }
    insta::assert_snapshot!(lines, @"
    context not measured yet
    ▰▱▱▱▱▱▱▱ 917k to compaction
    ▰▰▱▱▱▱▱▱ 816k to compaction
    ▰▰▱▱▱▱▱▱ 816k to compaction
    ▰▰▰▱▱▱▱▱ 716k to compaction
    context not measured yet
    ▰▱▱▱▱▱▱▱ 957k to compaction
    ▰▱▱▱▱▱▱▱ 190k left
    ");
}

#[test]
fn garbage_draws_a_line_and_leaves_the_bridge() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run_with(&["statusline"], payload(2).to_string().as_bytes()).ok();
    let before = bridge(&sandbox);
    assert!(before.is_some());
    let mut foreign = payload(2);
    foreign["session_id"] = json!("../../x");
    let whole = payload(2).to_string();
    let foreign = foreign.to_string();
    let inputs: Vec<&[u8]> = vec![
        b"",
        b"null",
        b"[]",
        b"{}",
        b"{\"session_id\": 7}",
        b"\xff\xfe",
        b"{\"session_id\":\"\xff\"}",
        foreign.as_bytes(),
        &whole.as_bytes()[..whole.len() / 2],
        &whole.as_bytes()[..whole.len() - 1],
    ];
    for input in inputs {
        let ran = sandbox.run_with(&["statusline"], input);
        assert_eq!(ran.ok(), "context not measured yet\n", "{}", String::from_utf8_lossy(input));
        assert_eq!(bridge(&sandbox), before);
    }
    assert!(!sandbox.path().join("x").exists() && !sandbox.state().join("x").exists());
}

#[test]
fn members_of_another_type_are_unknown() {
    let sandbox = Sandbox::new();
    let names: Vec<String> = payload(1).as_object().expect("an object").keys().cloned().collect();
    for name in names {
        for value in [json!(null), json!(7), json!("x"), json!([]), json!({}), json!(true)] {
            let mut payload = payload(1);
            payload[&name] = value;
            let ran = sandbox.run_with(&["statusline"], payload.to_string().as_bytes());
            assert_eq!(ran.ok().lines().count(), 1, "{name}: {ran:?}");
        }
    }
    // Zero is unknown, not empty.
    let mut zero = payload(1);
    zero["context_window"]["current_usage"] = Value::Null;
    zero["context_window"]["total_input_tokens"] = json!(0);
    let ran = sandbox.run_with(&["statusline"], zero.to_string().as_bytes());
    assert!(ran.ok().ends_with("context not measured yet\n"), "{ran:?}");
}

#[test]
fn a_session_without_hooks_shows() {
    let sandbox = Sandbox::new();
    let draw = || sandbox.run_with(&["statusline"], payload(1).to_string().as_bytes()).ok().to_owned();
    insta::assert_snapshot!(draw(), @"! hooks silent (tidegate doctor) · ▰▱▱▱▱▱▱▱ 917k to compaction");
    let prompt =
        addressed(fixtures::hook("UserPromptSubmit.plain"), SESSION, "none".as_ref(), &sandbox.project());
    sandbox.event(&prompt).silent();
    insta::assert_snapshot!(draw(), @"▰▱▱▱▱▱▱▱ 917k to compaction");
}

#[test]
fn a_session_whose_hooks_stopped_shows() {
    let sandbox = Sandbox::new();
    let prompt =
        addressed(fixtures::hook("UserPromptSubmit.plain"), SESSION, "none".as_ref(), &sandbox.project());
    sandbox.event(&prompt).silent();
    let draw = |sandbox: &Sandbox, used: u64| {
        let mut status = payload(1);
        status["context_window"]["current_usage"]["cache_read_input_tokens"] = json!(used);
        sandbox.run_with(&["statusline"], status.to_string().as_bytes()).ok().to_owned()
    };
    // As if the last hook had run an hour ago.
    let claims = fs::File::options().append(true).open(sandbox.session(SESSION).join("claims"));
    let an_hour_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    claims.expect("every event is claimed").set_modified(an_hour_ago).expect("our own file");
    for answer in 1..5 {
        assert!(!draw(&sandbox, answer).contains('!'), "calls that fail have no event of ours");
    }
    for answer in 5..8 {
        insta::allow_duplicates! {
            insta::assert_snapshot!(draw(&sandbox, answer), @"! hooks stopped (tidegate doctor) · ▰▱▱▱▱▱▱▱ 963k to compaction");
        }
    }
    let sandbox = sandbox.with("LANG", "ja_JP.UTF-8");
    assert!(draw(&sandbox, 8).contains("! フック停止 (tidegate doctor)"));
    // The next hook is a sign of life.
    sandbox.event(&prompt).silent();
    assert!(!draw(&sandbox, 8).contains('!'));
    assert!(!draw(&sandbox, 9).contains('!'));
}

#[test]
fn the_hooks_read_the_bridge() {
    let sandbox = Sandbox::new();
    let mut status = payload(1);
    status["model"]["id"] = json!("claude-opus-4-6");
    status["context_window"]["context_window_size"] = json!(200_000);
    status["context_window"]["current_usage"]["cache_read_input_tokens"] = json!(122_000);
    let _ = sandbox.run_with(&["statusline"], status.to_string().as_bytes()).ok();
    let prompt =
        addressed(fixtures::hook("UserPromptSubmit.plain"), SESSION, "none".as_ref(), &sandbox.project());
    let text = sandbox.event(&prompt).context().expect("info is said");
    assert!(text.contains("63% of 200k used"), "{text}");
    let record = sandbox.one_record();
    assert_eq!((&record["meter"]["used"], &record["meter"]["source"]), (&json!(125_000), &json!("bridge")));
    // One that was damaged is no bridge, and no error.
    fs::write(sandbox.session(SESSION).join("bridge"), b"{\"used\": 1").expect("our own file");
    sandbox.event(&prompt).silent();
    assert!(sandbox.one_record()["meter"]["unknown"].is_string());
}

#[test]
fn theirs_and_ours() {
    let sandbox = Sandbox::new();
    let text = payload(1).to_string();
    let wrap_in = |sandbox: &Sandbox, command: &[&str]| {
        let args = [&["statusline", "--wrap"], command].concat();
        let ran = sandbox.run_with(&args, text.as_bytes());
        ran.ok().to_owned()
    };
    let wrap = |command: &[&str]| wrap_in(&sandbox, command);
    let ours = "! hooks silent (tidegate doctor) · ▰▱▱▱▱▱▱▱ 917k to compaction\n";
    assert_eq!(wrap(&["echo theirs"]), format!("theirs · {ours}"));
    assert_eq!(wrap(&["printf 'one\\ntwo'"]), format!("one\ntwo · {ours}"));
    assert_eq!(wrap(&["grep -o '\"Opus 5.5\"'"]), format!("\"Opus 5.5\" · {ours}"), "it gets the payload");
    // Given without quotes.
    assert_eq!(wrap(&["echo", "their", "words"]), format!("their words · {ours}"));
    for failing in ["exit 3", "no-such-command", "kill -9 $$", "echo oops >&2; false", "'", "true"] {
        assert_eq!(wrap(&[failing]), ours, "{failing}");
    }
    // A command that hangs, one that leaves its output to another that hangs, and one that never stops.
    let sandbox = sandbox.hurried();
    std::thread::scope(|scope| {
        for slow in ["cat >/dev/null; exec sleep 3600", "exec yes", "exec sleep 3600 <&-"] {
            let (sandbox, wrap_in) = (&sandbox, &wrap_in);
            scope.spawn(move || {
                let line = wrap_in(sandbox, &[slow]);
                assert!(line.ends_with(ours), "{slow}");
            });
        }
    });
    assert_eq!(bridge(&sandbox).expect("the bridge comes first")["used"], 50_000);
}

#[test]
fn a_wrapped_command_may_have_options() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run_with(&["statusline", "--wrap", "echo", "-h"], payload(1).to_string().as_bytes());
    assert!(ran.ok().contains("917k to compaction"), "ours is drawn: {ran:?}");
}

#[test]
fn it_fits_the_terminal() {
    for (columns, expected) in [
        ("200", "! hooks silent (tidegate doctor) · ▰▱▱▱▱▱▱▱ 917k to compaction\n"),
        ("50", "! hooks silent (tidegate doctor)\n"),
        ("12", "! hooks sil…\n"),
        ("0", "! hooks silent (tidegate doctor) · ▰▱▱▱▱▱▱▱ 917k to compaction\n"),
        ("wide", "! hooks silent (tidegate doctor) · ▰▱▱▱▱▱▱▱ 917k to compaction\n"),
    ] {
        let sandbox = Sandbox::new().with("COLUMNS", columns);
        let ran = sandbox.run_with(&["statusline"], payload(1).to_string().as_bytes());
        assert_eq!(ran.ok(), expected, "{columns}");
    }
}

#[test]
fn killed_in_between_it_leaves_whole_files() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run_with(&["statusline"], payload(1).to_string().as_bytes()).ok();
    for number in 0..60 {
        let mut child = sandbox
            .command(&["statusline"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("it starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let _ = std::io::Write::write_all(&mut stdin, payload(1 + number % 6).to_string().as_bytes());
        drop(stdin);
        // Whenever that is: a spin of another length each time.
        for turn in 0..number * 3_000 {
            std::hint::black_box(turn);
        }
        let _ = child.kill();
        let _ = child.wait();
        let bridge = bridge(&sandbox).expect("there is always one");
        assert!(bridge["seen"].is_u64(), "{bridge}");
    }
}

/// A person who looks at the line sees what is off and for how long, and what no check covers.
#[test]
fn what_waits_for_the_person_is_in_the_line() {
    const ALLOWED: &str = "[approval]\nunattended = [\"off\"]\n";
    let sandbox = Sandbox::new();
    let start =
        addressed(fixtures::hook("SessionStart.startup"), SESSION, "none".as_ref(), &sandbox.project());
    sandbox.event(&start).silent();
    let draw = |sandbox: &Sandbox| {
        let mut input = payload(2);
        input["workspace"]["project_dir"] = json!(sandbox.project());
        sandbox.run_with(&["statusline"], input.to_string().as_bytes()).ok().to_owned()
    };
    sandbox.config(ALLOWED);
    sandbox.run(&["off", "verify-stop", "--for", "30m"]).ok();
    assert!(draw(&sandbox).contains("verify-stop off for 30 min"), "{}", draw(&sandbox));
    sandbox.run(&["off", "verify-stop"]).ok();
    assert!(draw(&sandbox).trim_end().ends_with("verify-stop off"), "{}", draw(&sandbox));
    sandbox.run(&["on", "verify-stop"]).ok();
    assert!(!draw(&sandbox).contains("verify-stop"), "{}", draw(&sandbox));
    sandbox.config(format!("{ALLOWED}[statusline]\nshow = [\"checks\", \"context\"]\n"));
    sandbox.run(&["off", "verify-stop"]).ok();
    assert!(!draw(&sandbox).contains("verify-stop"), "{}", draw(&sandbox));
}

#[test]
fn the_preview_shows_every_part() {
    let shown = |lang: &str| {
        let sandbox = Sandbox::new().with("LANG", lang.to_owned()).with("COLUMNS", "60");
        let home = sandbox.home().display().to_string();
        sandbox.run(&["statusline", "--preview"]).ok().replace(&home, "~")
    };
    insta::assert_snapshot!(shown("C"));
    insta::assert_snapshot!(shown("ja_JP.UTF-8"));
}

#[test]
fn colours_are_for_terminals_that_have_them() {
    let line = |variable: Option<(&'static str, &str)>| {
        let sandbox = Sandbox::new();
        let sandbox = match variable {
            Some((name, value)) => sandbox.with("NO_COLOR", "").with(name, value),
            None => sandbox.with("NO_COLOR", ""),
        };
        let input = payload(2).to_string();
        sandbox.run_with(&["statusline"], input.as_bytes()).ok().contains('\x1b')
    };
    assert!(line(None), "hooks are silent here, which is red");
    assert!(!line(Some(("NO_COLOR", "1"))));
    assert!(!line(Some(("TERM", "dumb"))));
    assert!(line(Some(("TERM", "xterm"))));
}

//! The commands for people: what they print, their exit codes, and errors that say what to do.

use std::io::{BufRead, Read};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fixtures;
use crate::sandbox::Sandbox;
use crate::transcript::{Transcript, addressed, answer, plain_reading};

const SESSION: &str = "91b38a40-3ead-4aa8-8407-24d36ddad7be";

/// A session with something in its journal: a start, an advice, a closed gate.
fn played() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(124_000));
    let run = |capture: &str| {
        let payload = addressed(fixtures::hook(capture), SESSION, &transcript.path, &sandbox.project());
        sandbox.event(&payload)
    };
    run("SessionStart.startup").silent();
    assert!(run("UserPromptSubmit.plain").context().is_some());
    run("Stop.first").silent();
    sandbox
}

/// Times, ids, durations and folders are different each time.
fn redacted(sandbox: &Sandbox, text: &str) -> String {
    let mut text = text.replace(&*sandbox.path().to_string_lossy(), "[sandbox]");
    let records = sandbox.records();
    let texts =
        |name: &str| -> Vec<&str> { records.iter().filter_map(|record| record[name].as_str()).collect() };
    for id in texts("id") {
        text = text.replace(id, "[id]");
    }
    for at in texts("at") {
        text = text.replace(at, "[time]");
    }
    for at in texts("at") {
        text =
            text.replace(&at[11..19], "[clock]").replace(&format!("({} UTC)", &at[11..16]), "([minute] UTC)");
        text = text.replace(&format!("{} [clock] UTC", &at[..10]), "[day] [clock] UTC");
    }
    // The worker may have taken the job already.
    let lines = text.lines().filter(|line| !line.starts_with("memory "));
    lines.map(without_durations).collect::<Vec<_>>().join("\n")
}

/// Columns closed up, numbers before `µs`, `ms` and `s ago` taken out.
fn without_durations(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let tidy = |(at, word): (usize, &&str)| -> String {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let number = word.trim_start_matches('(').trim_end_matches("µs");
        let duration = matches!(next, "ms" | "s") || next.starts_with("µs") || word.ends_with("µs");
        if duration && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            word.replace(number, "[n]")
        } else {
            (*word).to_owned()
        }
    };
    words.iter().enumerate().map(tidy).collect::<Vec<_>>().join(" ")
}

#[test]
fn meter_reads_captured_transcripts() {
    let sandbox = Sandbox::new();
    for path in fixtures::transcripts() {
        let plain = plain_reading(&std::fs::read(&path).expect("a fixture"));
        let ran = sandbox.run(&["meter", "--transcript", &path.to_string_lossy(), "--json"]);
        assert_eq!(ran.code, Some(if plain.is_some() { 0 } else { 3 }), "{ran:?}");
        let json: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(json["used"].as_u64(), plain, "{json}");
        assert!(json.as_object().expect("an object").values().all(|value| !value.is_null()), "{json}");
        if let (Some(used), Some(window)) = (json["used"].as_f64(), json["window"].as_f64()) {
            let percent = json["used_pct"].as_f64().expect("a percentage");
            assert!((percent - 100.0 * used / window).abs() < 0.06, "{json}");
            let rest = json["remaining_pct"].as_f64().expect("a percentage");
            assert!((percent + rest - 100.0).abs() < 0.11, "{json}");
        }
    }
}

#[test]
fn meter_on_one_transcript() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(124_000));
    let path = transcript.path.to_string_lossy().into_owned();
    let mut json = sandbox.run(&["meter", "--transcript", &path, "--json"]).json();
    assert!(json["age_s"].is_u64(), "{json}");
    json.as_object_mut().expect("an object").remove("age_s");
    insta::assert_snapshot!(json, @r#"{"used":124000,"window":200000,"compact_at":167000,"used_pct":62.0,"remaining_pct":38.0,"left":43000,"level":60,"source":"transcript","freshness":"stale_by_one"}"#);
}

#[test]
fn meter_that_does_not_know() {
    let sandbox = Sandbox::new();
    let at = |name: &str| sandbox.path().join(name).to_string_lossy().into_owned();
    std::fs::write(at("empty"), b"").expect("a new file");
    for path in [at("missing"), at("empty"), at("project")] {
        let ran = sandbox.run(&["meter", "--transcript", &path]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""), "{ran:?}");
        assert!(ran.stdout.starts_with("context  not known"), "{ran:?}");
        let ran = sandbox.run(&["meter", "--transcript", &path, "--json"]);
        let json: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(ran.code, Some(3));
        assert!(json.get("used").is_none() && json.get("window").is_none(), "{json}");
    }
}

#[test]
fn no_session_yet() {
    let sandbox = Sandbox::new();
    for command in ["status", "meter"] {
        let ran = sandbox.run(&[command]);
        let text = ran.failed();
        assert!(
            text.contains("no session has been seen yet") && text.contains("hint: `tidegate init"),
            "{text}"
        );
    }
    let ran = sandbox.run(&["explain", "last"]);
    assert!(ran.failed().contains("\nhint: --all looks in every project"), "{ran:?}");
    let ran = sandbox.run(&["journal"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.stderr.contains("no records of this project yet"), "{ran:?}");
    assert_eq!(sandbox.run(&["journal", "--json"]).ok(), "");
}

#[test]
fn a_session_that_is_none() {
    let sandbox = played();
    for command in ["status", "meter"] {
        let ran = sandbox.run(&[command, "--session", "never-seen"]);
        assert!(ran.failed().contains("session never-seen has not been seen\nhint: "), "{ran:?}");
        let ran = sandbox.run(&[command, "--session", "../../x"]);
        assert!(ran.failed().contains("session_id has characters"), "{ran:?}");
        let ran = sandbox.run(&[command, "--session", ""]);
        assert!(ran.failed().contains("session_id is empty"), "{ran:?}");
    }
    let ran = sandbox.run(&["explain", "no-such-id"]);
    assert!(ran.failed().contains("no record `no-such-id`\nhint: "), "{ran:?}");
    let near = "91b38a41";
    for args in [&["explain", "last", "--session", near] as &[&str], &["log", "--session", near]] {
        let ran = sandbox.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        let said = format!("error: there is no session `{near}`\nhint: sessions: {SESSION}");
        assert!(ran.stderr.starts_with(&said), "{ran:?}");
    }
    assert!(!sandbox.run(&["log", "--session", SESSION]).ok().is_empty());
}

#[test]
fn a_log_of_a_policy_that_does_not_exist() {
    let sandbox = played();
    for (typed, nearest) in
        [("nonsense", ""), ("verify", "`verify-stop`, "), ("presure", "`context-warning`, ")]
    {
        let ran = sandbox.run(&["log", "--policy", typed]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        let said = format!("error: there is no policy `{typed}`\nhint: policies: {nearest}");
        assert!(ran.stderr.starts_with(&said) && ran.stderr.contains("`skill-gate`"), "{ran:?}");
    }
    for known in ["approval", "pressure"] {
        assert_eq!(sandbox.run(&["log", "--policy", known]).code, Some(0), "{known}");
    }
}

#[test]
fn wrong_arguments() {
    let sandbox = Sandbox::new();
    for args in [
        &["meter", "--transcript", "a", "--session", "b"] as &[&str],
        &["meter", "--bogus"],
        &["journal", "--last", "many"],
        &["journal", "--last", "-1"],
        &["explain", "a", "b"],
        &["no-such-command"],
        &["status", "--session"],
    ] {
        let ran = sandbox.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains("\nhint: "), "{ran:?}");
    }
    let made = std::fs::read_dir(sandbox.state()).expect("the folder").count();
    assert_eq!(made, 1, "nothing is made by a mistake");
}

#[test]
fn help_and_version() {
    let sandbox = Sandbox::new();
    for args in [&["--help"] as &[&str], &["hook", "--help"], &["statusline", "-h"], &["meter", "--help"]] {
        assert!(sandbox.run(args).ok().contains("Usage: tidegate"), "{args:?}");
    }
    assert!(sandbox.run(&["--version"]).ok().starts_with("tidegate 0."));
}

#[test]
fn status_for_people_and_machines() {
    let sandbox = played();
    sandbox.hook(&["--event", "PreToolUse"], "{").closed("the payload is not JSON");
    let ran = sandbox.run(&["status"]);
    insta::assert_snapshot!(redacted(&sandbox, ran.ok()), @"
    project [sandbox]/project
    session 91b38a40-3ead-4aa8-8407-24d36ddad7be, started just now ([minute] UTC)
    context ▰▰▰▰▰▰▱▱ 62% of 200k tokens used
    43k tokens left before Claude Code compacts
    read from the transcript, [n] s ago; may be one request behind
    warnings the early one was given; a late one may follow
    hooks 3 runs, 1 message, 0 errors in Tidegate, about 73 tokens added to the
    context
    ");
    let json = sandbox.run(&["status", "--json"]).json();
    assert_eq!((&json["session"], &json["pressure_said"]), (&json!(SESSION), &json!("info")), "{json}");
    assert_eq!((&json["events"], &json["interruptions"]), (&json!(3), &json!(1)), "{json}");
    assert_eq!(json["meter"]["used"], 124_000);
    // The session of the environment, as commands inside the host have it.
    let other = played().with("CLAUDE_CODE_SESSION_ID", SESSION).without("CLAUDE_PROJECT_DIR");
    assert_eq!(other.run(&["status", "--json"]).json()["session"], SESSION);
}

#[test]
fn another_projects_session_is_not_ours() {
    let sandbox = played();
    let elsewhere = sandbox.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a new folder");
    let sandbox = sandbox.with("CLAUDE_PROJECT_DIR", elsewhere);
    let ran = sandbox.run(&["status"]);
    let text = ran.failed();
    assert!(text.contains("no session has been seen in this project") && text.contains(SESSION), "{text}");
    assert!(text.contains("hint: name one with --session"), "{text}");
}

/// The client may be started below the top of a repository; commands are run from anywhere in it.
#[test]
fn a_session_below_the_top_of_its_repository_is_found() {
    let sandbox = Sandbox::new().without("CLAUDE_PROJECT_DIR");
    let below = sandbox.project().join("packages/one");
    std::fs::create_dir_all(below.join("src")).expect("new folders");
    std::fs::create_dir_all(sandbox.project().join(".git")).expect("a new folder");
    let mut start = crate::fixtures::hook("SessionStart.startup");
    start["cwd"] = serde_json::json!(below);
    let mut command = sandbox.command(&["hook", "--event", "SessionStart"]);
    command.env("CLAUDE_PROJECT_DIR", &below);
    crate::sandbox::feed(command, start.to_string().as_bytes());
    for folder in [&below, &below.join("src")] {
        let mut command = sandbox.command(&["status", "--json"]);
        let output = command.current_dir(folder).output().expect("it starts");
        let status: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(status["project"], serde_json::json!(below), "{status}");
    }
}

#[test]
fn journal_and_explain() {
    let sandbox = played();
    sandbox.hook(&["--event", "PreToolUse"], "{").closed("the payload is not JSON");
    insta::assert_snapshot!(redacted(&sandbox, sandbox.run(&["journal"]).ok()), @r#"
    [clock] [id] pass [n]µs SessionStart(startup)
    [clock] [id] pass 62% [n]µs UserPromptSubmit "Write down decisions and the next step: `tidegate progress …"
    [clock] [id] pass [n]µs Stop
    [clock] [id] failed [n]µs PreToolUse could not check: the payload is not JSON (line 1, column 1) (gate closed)
    "#);
    insta::assert_snapshot!(redacted(&sandbox, sandbox.run(&["explain", "last", "--session", SESSION]).ok()), @r#"
    context-warning told you and Claude
    [day] [clock] UTC UserPromptSubmit [id]

    Why
    - context-warning: a level was reached

    Tidegate told you
    Tidegate: 43k tokens left until Claude Code compacts. Claude was asked to
    write down what matters with `tidegate progress add`; allow it if Claude Code
    asks.

    Tidegate told Claude
    Write down decisions and the next step: `tidegate progress add "what was done"
    --decision "if any" --next "the next step"`. 43k tokens are left before Claude
    Code compacts the conversation to a summary (62% of 200k used).

    Other policies that took part
    activity no objection: the prompt asks for nothing new

    Facts
    session 91b38a40-3ead-4aa8-8407-24d36ddad7be
    project [sandbox]/project
    context ▰▰▰▰▰▰▱▱ 62% of 200k tokens used
    43k tokens left before Claude Code compacts
    read from the transcript, [n] s ago; may be one request behind
    cost about 73 tokens of context, 0 extra turns, [n] ms
    "#);
    insta::assert_snapshot!({
        let text = redacted(&sandbox, sandbox.run(&["explain"]).ok());
        text.split_once("\ncost ").expect("the last line is the cost").0.to_owned()
    }, @"
    Tidegate could not check a tool call and blocked it: the payload is not JSON
    (line 1, column 1)
    [day] [clock] UTC PreToolUse [id]

    Why
    - this step failed: the payload is not JSON (line 1, column 1) (payload)
    - a check that cannot be made blocks: `tidegate doctor` looks for the cause

    Tidegate told you
    Tidegate blocked this call because it could not check it: the payload is not
    JSON (line 1, column 1). Details: `tidegate log`. Skip:
    `tidegate off skill-gate --for 1h`, or start Claude Code with
    TIDEGATE_OFF=skill-gate.

    Tidegate told Claude
    Tidegate could not check: the payload is not JSON (line 1, column 1). It
    blocked this call.

    Facts
    project [sandbox]/project
    ");

    let lines = |args: &[&str]| sandbox.run(&[&["journal", "--json"], args].concat()).ok().lines().count();
    assert_eq!((lines(&[]), lines(&["--last", "2"]), lines(&["--last", "0"])), (4, 2, 0));
    assert_eq!((lines(&["--session", SESSION]), lines(&["--policy", "context-warning"])), (3, 2));
    assert_eq!(lines(&["--policy", "pressure"]), 2, "by its former id");
    assert_eq!(lines(&["--session", "never-seen"]), 0);
    // As they were written.
    let json: Vec<Value> = sandbox
        .run(&["journal", "--json"])
        .ok()
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(json, sandbox.records());
    let id = json[1]["id"].as_str().expect("an id");
    assert_eq!(sandbox.run(&["explain", id, "--json"]).json(), json[1]);
}

#[test]
fn a_damaged_journal_is_read_around() {
    let sandbox = played();
    let folder = sandbox.state().join("journal");
    let day = std::fs::read_dir(&folder).expect("a journal").next().expect("a day").expect("an entry").path();
    let mut bytes = std::fs::read(&day).expect("our own file");
    let torn = bytes[..40].to_vec();
    bytes.extend_from_slice(&torn);
    bytes.extend_from_slice(b"\n\xff\xfe\n{\"v\":99,\"id\":\"newer\"}\n");
    std::fs::write(&day, bytes).expect("our own file");
    let ran = sandbox.run(&["journal", "--json"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(0), 3), "{ran:?}");
    assert!(ran.stderr.contains("note: 3 lines of the journal could not be read"), "{ran:?}");
    assert_eq!(sandbox.run(&["status", "--json"]).json()["unreadable_lines"], 3);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = Sandbox::new();
    // More than a pipe holds.
    for number in 0..40 {
        let payload = json!({ "session_id": "s", "hook_event_name": "Stop", "agent_id": "a".repeat(4000), "prompt_id": number.to_string() });
        sandbox.event(&payload).silent();
    }
    for args in [
        &["journal", "--json", "--last", "100"] as &[&str],
        &["journal"],
        &["explain", "--help"],
        &["--help"],
    ] {
        let mut child = sandbox
            .command(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("text");
        let status = child.wait().expect("it ends");
        assert_eq!((status.code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let sandbox = played();
    for words in [
        vec!["status"],
        vec!["status", "--json"],
        vec!["log", "--verbose"],
        vec!["log", "--json"],
        vec!["report", "--html", "-"],
        vec!["completions", "bash"],
        vec!["man"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
        let ran = sandbox.command(&words).stdin(Stdio::null()).stdout(full).output().expect("it runs");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{words:?}: {said}");
        assert!(said.contains("error: cannot write the output: the disk is full"), "{words:?}: {said}");
    }
}

/// Tables show eight characters of an id.
#[test]
fn a_session_is_known_by_the_beginning_of_its_id() {
    let sandbox = played();
    for words in
        [["status", "--session"], ["log", "--session"], ["explain", "--session"], ["report", "--session"]]
    {
        for beginning in ["91b38a40", "91b38a40…"] {
            let ran = sandbox.run(&[words[0], words[1], beginning]);
            assert_eq!(ran.code, Some(0), "{words:?} {beginning}: {}", ran.stderr);
        }
    }
    let other = "91b38a40-0000-4aa8-8407-24d36ddad7be";
    let payload = addressed(
        fixtures::hook("SessionStart.startup"),
        other,
        &sandbox.path().join("o.jsonl"),
        &sandbox.project(),
    );
    sandbox.event(&payload).silent();
    for words in
        [["status", "--session"], ["log", "--session"], ["explain", "--session"], ["report", "--session"]]
    {
        let ran = sandbox.run(&[words[0], words[1], "91b38a40"]);
        assert_ne!(ran.code, Some(0), "{words:?}");
        assert!(ran.stderr.contains("more than one session begins with `91b38a40`"), "{}", ran.stderr);
        assert_eq!(sandbox.run(&[words[0], words[1], "91b38a40-3"]).code, Some(0), "{words:?}");
    }
    // The host writes a transcript with the first prompt.
    let fresh = sandbox.run(&["status", "--session", other]);
    assert!(fresh.ok().contains("not known yet"), "{}", fresh.ok());
}

#[test]
fn a_followed_journal_shows_what_comes_and_ends_with_its_reader() {
    let sandbox = played();
    let mut child = sandbox
        .command(&["journal", "--follow", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let stdout = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let (sender, lines) = std::sync::mpsc::channel::<Value>();
    std::thread::spawn(move || {
        // Three that are there, one that comes, and then nobody reads any more.
        for line in stdout.lines().take(4) {
            let record = serde_json::from_str(&line.expect("text")).expect("JSON");
            sender.send(record).expect("the test waits");
        }
    });
    let shown: Vec<Value> = (0..3).map(|_| lines.recv().expect("a record")).collect();
    assert_eq!(shown, sandbox.records());
    let mut come = None;
    for number in 0..2000 {
        let payload =
            json!({ "session_id": "new", "hook_event_name": "Stop", "prompt_id": number.to_string() });
        sandbox.event(&payload).silent();
        come = come.or_else(|| lines.try_recv().ok());
        if let Some(status) = child.try_wait().expect("our own process") {
            assert_eq!(status.code(), Some(0));
            assert_eq!(come.expect("it was shown")["session"], "new");
            return;
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    panic!("it does not end with its reader");
}

#[test]
fn a_followed_log_tells_what_comes() {
    let sandbox = played();
    let mut child = sandbox
        .command(&["log", "--follow"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let stdout = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let (sender, lines) = std::sync::mpsc::channel::<String>();
    std::thread::spawn(move || stdout.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
    let next = |text: &str| loop {
        // Far beyond what it takes.
        let line = lines.recv_timeout(std::time::Duration::from_mins(1)).expect("a line");
        if line.contains(text) {
            return;
        }
    };
    let begin = |id: &str| {
        let payload = json!({ "session_id": id, "hook_event_name": "SessionStart", "source": "startup", "cwd": sandbox.project() });
        let _ = sandbox.event(&payload);
    };
    next("A session started");
    // What is there is told before anything comes.
    for id in ["first", "second"] {
        begin(id);
        next("A session started");
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[test]
fn completions_and_pages_know_every_command() {
    let sandbox = Sandbox::new();
    let help = sandbox.run(&["help", "--all"]);
    // A line that is indented further belongs to the one before it.
    let commands: Vec<&str> = help
        .ok()
        .lines()
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sandbox.run(&["completions", shell]);
        for command in &commands {
            assert!(script.ok().contains(command), "{shell}: {command}");
        }
    }
    let ran = sandbox.run(&["man", "--out", "pages"]);
    assert!(ran.ok().contains("pages"), "{ran:?}");
    for command in commands.iter().filter(|command| **command != "help") {
        let page = sandbox.project().join(format!("pages/tidegate-{command}.1"));
        let text =
            std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        assert!(text.contains(".TH") && text.contains("SYNOPSIS"), "{text}");
    }
    assert!(sandbox.run(&["man"]).ok().contains(".TH"));
}

#[test]
fn a_number_that_is_none_is_explained_in_both_languages() {
    for (lang, words) in [
        ("en", ["use a whole number", "use a number from 1 to 3650"]),
        ("ja", ["整数を", "1 から 3650 まで"]),
    ] {
        let sandbox = Sandbox::new().with("LANG", lang);
        for (value, word) in ["x", "0"].into_iter().zip(words) {
            let ran = sandbox.run(&["report", "--days", value]);
            assert_eq!(ran.code, Some(2));
            assert!(ran.stderr.contains(word), "{ran:?}");
        }
    }
}

#[test]
fn an_empty_memory_says_why() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["memory", "search", "x"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.contains("headless = true") && ran.stderr.contains("memory import"), "{ran:?}");
    sandbox.config("[recording]\nmode = \"off\"\n");
    let ran = sandbox.run(&["memory", "search", "x"]);
    assert!(ran.stderr.contains("Recording is off here"), "{ran:?}");
}

#[test]
fn a_status_that_is_watched_waits_for_the_first_session() {
    use std::io::{BufRead, BufReader};

    let sandbox = Sandbox::new();
    let mut watching = sandbox.command(&["status", "--watch"]);
    let mut watching = watching.stdout(std::process::Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(watching.stdout.take().expect("its output")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.starts_with("waiting: no session has been seen yet")));
    let payload = serde_json::json!({
        "hook_event_name": "SessionStart", "source": "startup", "session_id": "5e55-9", "cwd": sandbox.project(),
        "transcript_path": sandbox.path().join("t.jsonl"),
    });
    let _ = sandbox.event(&payload);
    assert!(lines.any(|line| line.contains("5e55-9")), "it shows the session");
    watching.kill().expect("it runs still");
    let _ = watching.wait();
}

//! `tidegate replay` and `tidegate tune`: past sessions, before anything is installed.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::people::at_terminal;
use crate::sandbox::{Sandbox, contents, is_root, make_fifo};
use crate::state::as_another_person;

/// Lines of a transcript, a minute apart, from two hours ago on.
struct Session {
    lines: Vec<Value>,
    cwd: String,
    /// Begins the ids of its lines: the same ones are copies.
    name: String,
}

impl Session {
    fn new(cwd: &Path) -> Session {
        Session { lines: Vec::new(), cwd: cwd.display().to_string(), name: String::new() }
    }

    fn line(mut self, mut line: Value) -> Session {
        let number = self.lines.len();
        let at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock");
        let at = tidegate_core::time::Millis(at.as_millis() as u64 - 7_200_000 + 60_000 * number as u64);
        line["timestamp"] = json!(at.iso());
        line["cwd"] = json!(self.cwd);
        line["sessionId"] = json!("5e55");
        line["uuid"] = json!(format!("{}u{number}", self.name));
        self.lines.push(line);
        self
    }

    fn prompt(self, text: &str) -> Session {
        self.line(json!({"type": "user", "message": {"content": text}}))
    }

    fn answer(self, used: u64, blocks: &Value) -> Session {
        let id = format!("{}m{}", self.name, self.lines.len());
        let message = json!({"id": id, "model": "claude-sonnet-4-5", "usage": {"input_tokens": used}, "content": blocks});
        self.line(json!({"type": "assistant", "message": message}))
    }

    fn edit(self, used: u64) -> Session {
        let path = format!("{}/src/a.rs", self.cwd);
        let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
        let call = format!("c{}", self.lines.len());
        let block = json!({"type": "tool_use", "id": call, "name": "Edit", "input": input});
        let result = json!({"type": "tool_result", "tool_use_id": call, "content": "updated"});
        let entry =
            json!({"type": "user", "toolUseResult": {"filePath": path}, "message": {"content": [result]}});
        self.answer(used, &json!([block])).line(entry)
    }

    fn text(self, used: u64, text: &str) -> Session {
        self.answer(used, &json!([{"type": "text", "text": text}]))
    }

    fn write(self, path: &Path) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("new folders");
        let lines: Vec<String> = self.lines.iter().map(ToString::to_string).collect();
        fs::write(path, lines.join("\n") + "\n").expect("a transcript");
    }
}

/// A turn with an untested edit, a climb, and a compaction that loses a constraint.
fn month(sandbox: &Sandbox) {
    let meta = json!({"trigger": "auto", "preTokens": 170_000});
    Session::new(&sandbox.project())
        .prompt("Never touch the file src/old.rs in this task. \u{1b}[2J")
        .edit(60_000)
        .text(90_000, "Done.")
        .prompt("more")
        .text(125_000, "Yes.")
        .prompt("more")
        .text(155_000, "Yes.")
        .prompt("and more")
        .line(json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": meta}))
        .line(json!({"type": "user", "isCompactSummary": true, "message": {"content": "Edited src/a.rs."}}))
        .text(20_000, "On it.")
        .write(&sandbox.home().join(".claude/projects/-shop/0d9f3c1e-1111-2222-3333-444455556666.jsonl"));
}

#[test]
fn the_finding_is_the_first_line_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    month(&sandbox);
    fs::write(sandbox.home().join(".claude/projects/-shop/notes.jsonl"), "{\"a\":1}\n")
        .expect("another file");
    let before = sandbox.everything();
    let ran = sandbox.run(&["replay"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let first = ran.stdout.lines().take(2).collect::<Vec<_>>().join(" ");
    assert!(first.contains("last 30 days:") && first.contains("1 turn ended with untested code"), "{first}");
    assert!(first.contains("1 compaction, 0 without a warning"), "{first}");
    assert!(ran.stdout.contains("src/old.rs") && ran.stdout.contains(".jsonl:"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'));
    assert_eq!(sandbox.everything(), before);
}

#[test]
fn the_numbers_are_the_same_as_json() {
    let sandbox = Sandbox::new();
    month(&sandbox);
    let read = |more: &[&str]| -> Value {
        let mut words = vec!["replay", "--json"];
        words.extend(more);
        let ran = sandbox.run(&words);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        serde_json::from_str(&ran.stdout).expect("JSON")
    };
    let report = read(&[]);
    assert_eq!(report["compactions"]["all"], 1);
    assert_eq!(report["compactions"]["facts_lost"], 1);
    assert_eq!(report["warnings"], json!({"early": 1, "late": 1}));
    let session = &report["session_list"][0];
    assert_eq!(session["curve"].as_array().map(Vec::len), Some(5));
    assert_eq!(session["compactions"][0]["first_warning"]["turns"], 1);
    assert_eq!(session["untested"][0]["cause"], "nothing run");
    assert_eq!(read(&[])["session_list"], report["session_list"], "the same twice");
    let changed = read(&["--set", "context-warning.early=5k", "--set", "context-warning.late=4k"]);
    assert_eq!(changed["compactions"]["without_warning"], 1);
    assert_eq!(changed["unchanged"]["compactions"]["without_warning"], 0);
    assert_eq!(read(&["--preset", "observe"])["stops"]["blocked"], 0);
}

#[test]
fn errors_say_what_to_do() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.project().join("empty")).expect("a folder");
    for (words, code, says) in [
        (vec!["replay"], 1, "no sessions"),
        (vec!["replay", "empty"], 1, "no transcripts in"),
        (vec!["tune", "empty"], 1, "no transcripts in"),
        (vec!["replay", "missing"], 1, "cannot read missing"),
        (vec!["replay", "--set", "context-warning.late=soon"], 2, "context-warning.late=soon"),
        (vec!["replay", "--set", "context-warning.late=60k"], 2, "before the early one"),
        (vec!["tune"], 1, "tidegate tune PATH"),
    ] {
        let ran = sandbox.run(&words);
        assert_eq!(ran.code, Some(code), "{words:?} {}", ran.stderr);
        assert!(ran.stderr.contains(says) && ran.stderr.contains("hint:"), "{}", ran.stderr);
    }
}

#[test]
fn tune_proposes_nothing_without_evidence() {
    let sandbox = Sandbox::new();
    month(&sandbox);
    let ran = sandbox.run(&["tune", "--apply"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("Not enough evidence"), "{}", ran.stdout);
    assert!(!sandbox.home().join(".config/tidegate").exists());
}

/// Each of these sessions compacts after five turns, in which it grows by so many tokens.
fn write_compactions(sandbox: &Sandbox, number: u64) {
    for n in 0..number {
        let mut session = Session { name: format!("s{n}-"), ..Session::new(&sandbox.project()) };
        for turn in 0..5 {
            session = session.prompt("go").text(158_000 - (4 - turn) * (8_000 + n * 100), "Done.");
        }
        let meta = json!({"trigger": "auto", "preTokens": 160_000});
        let file = format!(".claude/projects/-shop/{n:08}-1111-2222-3333-444455556666.jsonl");
        session
            .prompt("go")
            .line(json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": meta}))
            .line(json!({"type": "user", "isCompactSummary": true, "message": {"content": "Summary."}}))
            .text(20_000, "On it.")
            .write(&sandbox.home().join(file));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_proposal_is_written_after_a_yes_at_the_terminal() {
    let sandbox = Sandbox::new().with("COLUMNS", "80");
    write_compactions(&sandbox, 24);
    let config = sandbox.home().join(".config/tidegate/config.toml");
    let proposed = sandbox.run(&["tune"]).ok().to_owned();
    assert!(proposed.starts_with("Warn ") && proposed.contains("tidegate tune --apply"), "{proposed}");
    let lines = |name: &str| -> Option<String> {
        proposed.lines().find_map(|line| line.trim().strip_prefix(&format!("+{name} = "))).map(str::to_owned)
    };
    let (early, late) = (lines("early").expect("a proposal"), lines("late").expect("a proposal"));
    let refused = at_terminal(&sandbox, &["tune", "--apply"], "n\n");
    assert!(refused.stdout.contains("+early = ") && !config.exists(), "{refused:?}");
    let ran = at_terminal(&sandbox, &["tune", "--apply"], "y\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let asked = ran.stdout.find("This would write").expect("a question");
    // What is decided about comes before the question, and the end after it.
    assert!(ran.stdout.find("+early = ").is_some_and(|diff| diff < asked), "{ran:?}");
    assert!(ran.stdout.find("Written.").is_some_and(|end| end > asked), "{ran:?}");
    let text = fs::read_to_string(&config).expect("a config");
    assert_eq!(text, format!("[context_warning]\nearly = {early}\nlate = {late}\n"));
    assert!(sandbox.run(&["tune"]).words().contains("Your config says so already"));
}

#[test]
fn both_commands_count_the_same_and_say_when_nothing_is_there() {
    let sandbox = Sandbox::new();
    month(&sandbox);
    let (replayed, tuned) =
        (read_json(&sandbox, &["replay", "--json"]), read_json(&sandbox, &["tune", "--json"]));
    for name in ["sessions", "turns"] {
        assert_eq!(replayed[name], tuned[name], "{name}");
    }
    assert_eq!(tuned["present"], json!({"early": "47k", "late": "17k", "warnings": {"early": 1, "late": 1}}));
    fs::create_dir_all(sandbox.home().join("junk")).expect("a folder");
    fs::write(sandbox.home().join("junk/a.jsonl"), "{\"a\":1}\n").expect("a file");
    let junk = sandbox.home().join("junk").display().to_string();
    for command in ["replay", "tune"] {
        let ran = sandbox.run(&[command, "--since", "2099-01-01"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{command}");
        assert!(ran.stderr.contains("no session since"), "{}", ran.stderr);
        let ran = sandbox.run(&[command, &junk]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{command}");
        assert!(ran.stderr.contains("no transcripts in"), "{}", ran.stderr);
    }
    let ran = sandbox.run(&["replay", "--set", "context-warning.late=5k"]);
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("late=5k: 1 early warning and 0 late warnings. Without it:"), "{text}");
    assert!(text.contains("0 without a warning, 1 early warning and 1 late warning"), "{text}");
}

fn read_json(sandbox: &Sandbox, words: &[&str]) -> Value {
    let ran = sandbox.run(words);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

/// A section with a wrong key is not used, and the numbers are those of other settings.
#[test]
fn settings_that_are_not_used_are_named() {
    let sandbox = Sandbox::new();
    month(&sandbox);
    let config = sandbox.home().join(".config/tidegate/config.toml");
    fs::create_dir_all(config.parent().expect("a folder")).expect("a folder");
    fs::write(&config, "[context_warning]\nearly = \"90k\"\nlatee = \"20k\"\n").expect("a config");
    for words in [["replay", "--json"], ["tune", "--json"]] {
        let ran = sandbox.run(&words);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stderr.contains("warning:") && ran.stderr.contains("latee"), "{}", ran.stderr);
    }
}

#[cfg(unix)]
#[test]
fn one_file_is_one_session_however_it_is_written() {
    let sandbox = Sandbox::new().without("CLAUDE_PROJECT_DIR");
    month(&sandbox);
    let folder = sandbox.home().join(".claude/projects/-shop");
    std::os::unix::fs::symlink(&folder, sandbox.home().join("link")).expect("a link");
    let one = folder.display().to_string();
    let spelled = [one.clone(), format!("{one}/../-shop"), sandbox.home().join("link").display().to_string()];
    let once = read_json(&sandbox, &["replay", "--json", &one]);
    let often = read_json(&sandbox, &["replay", "--json", &spelled[0], &spelled[1], &spelled[2]]);
    assert_eq!((&once["turns"], &once["session_list"]), (&often["turns"], &often["session_list"]));
    assert_eq!(once["left_out"], often["left_out"]);
    assert_eq!(once["left_out"]["repeated_turns"], 0);
}

/// A transcript is the text of others.
#[test]
fn a_replayed_transcript_writes_nothing_of_its_own() {
    let sandbox = Sandbox::new();
    let victim = sandbox.home().join("victim");
    fs::create_dir(&victim).expect("a folder");
    fs::write(victim.join("deploy.sh"), "mine").expect("a file");
    let up = "../".repeat(30);
    let odd = [
        format!("/w/shop/{up}{}/deploy.sh", victim.display()),
        format!("{}/deploy.sh", victim.display()),
        format!("/w/shop/{}.sh", "x".repeat(300)),
        "/w/shop/a\0b.sh".to_owned(),
    ];
    let mut session = Session::new(Path::new("/w/shop")).prompt("go").edit(1_000);
    for (number, path) in odd.iter().enumerate() {
        let call = format!("w{number}");
        let input = json!({"file_path": path, "content": "echo theirs"});
        session = session
            .answer(1_000, &json!([{"type": "tool_use", "id": call, "name": "Write", "input": input}]))
            .line(json!({
                "type": "user", "toolUseResult": {"type": "create"},
                "message": {"content": [{"type": "tool_result", "tool_use_id": call, "content": "ok"}]},
            }));
    }
    session.text(2_000, "Done.").write(&sandbox.home().join("past/a.jsonl"));
    let root = format!("/w/{up}{}/made", victim.display());
    Session::new(Path::new(&root))
        .prompt("go")
        .text(1_000, "Yes.")
        .write(&sandbox.home().join("past/b.jsonl"));
    let before = sandbox.everything();
    let folder = sandbox.home().join("past").display().to_string();
    let report = read_json(&sandbox, &["replay", &folder, "--json"]);
    assert_eq!(report["stops"]["untested"], 1, "an odd name does not end the session");
    assert_eq!(report["left_out"]["unreadable_files"], 0);
    assert_eq!(sandbox.everything(), before, "also no scratch folder is left");
    assert_eq!(fs::read_to_string(victim.join("deploy.sh")).expect("a file"), "mine");
}

#[test]
fn what_a_continued_session_copied_counts_once_and_open_turns_apart() {
    let sandbox = Sandbox::new();
    month(&sandbox);
    let folder = sandbox.home().join(".claude/projects/-shop");
    let first = folder.join("0d9f3c1e-1111-2222-3333-444455556666.jsonl");
    let once = read_json(&sandbox, &["replay", "--json"]);
    let text = fs::read_to_string(&first).expect("a transcript");
    // Without its last line the copy ends inside a turn.
    let copied: Vec<&str> = text.lines().collect();
    fs::write(
        folder.join("1d9f3c1e-1111-2222-3333-444455556666.jsonl"),
        copied[..copied.len() - 1].join("\n") + "\n",
    )
    .expect("a copy");
    let twice = read_json(&sandbox, &["replay", "--json"]);
    for member in ["stops", "compactions", "warnings", "forecast"] {
        assert_eq!(once[member], twice[member], "{member}");
    }
    let killed = Session::new(&sandbox.project()).prompt("go").edit(1_000);
    killed.write(&sandbox.home().join("live/a.jsonl"));
    let live = sandbox.home().join("live").display().to_string();
    let live = read_json(&sandbox, &["replay", &live, "--json"]);
    assert_eq!((&live["stops"]["untested"], &live["left_out"]["unfinished_turns"]), (&json!(0), &json!(1)));
}

#[test]
fn a_turn_counts_only_if_it_changed_code() {
    let sandbox = Sandbox::new();
    Session::new(&sandbox.project())
        .prompt("fix it")
        .edit(1_000)
        .text(2_000, "Done.")
        .prompt("what does it do?")
        .text(3_000, "It adds.")
        .prompt("and why?")
        .text(4_000, "Because.")
        .write(&sandbox.home().join("past/a.jsonl"));
    let folder = sandbox.home().join("past").display().to_string();
    let report = read_json(&sandbox, &["replay", &folder, "--json"]);
    assert_eq!((&report["turns"], &report["stops"]["untested"]), (&json!(3), &json!(1)));
    assert_eq!((&report["stops"]["blocked"], &report["stops"]["nothing_to_check"]), (&json!(1), &json!(2)));
}

/// Cut, doubled, emptied and mixed up; the same each time.
#[test]
fn damaged_transcripts_are_replayed_as_far_as_they_go() {
    let sandbox = Sandbox::new();
    month(&sandbox);
    let first = sandbox.home().join(".claude/projects/-shop/0d9f3c1e-1111-2222-3333-444455556666.jsonl");
    let text = fs::read_to_string(first).expect("a transcript");
    let lines: Vec<&str> = text.lines().collect();
    let folder = sandbox.home().join("mutated");
    fs::create_dir(&folder).expect("a folder");
    let whole = |lines: &[&str]| lines.join("\n") + "\n";
    for at in 0..lines.len() {
        let mut without = lines.clone();
        let line = without.remove(at);
        let with = |line: &str| {
            let mut lines = lines.clone();
            lines[at] = line;
            whole(&lines)
        };
        let mutations = [
            whole(&without),
            whole(&lines[..at]) + &line[..line.len() / 2],
            with(&line.replace(':', ":[{}],\"x\":")),
            with(&line.replace("message", "massage")),
            with(&line.replace("tool_use_id", "id")),
            with(&line.replace("\"content\":", "\"content\":null,\"was\":")),
            with(&line.replace('a', "\u{0}\u{1b}[2J\u{202e}")),
            with(&format!("{line}\n{line}")),
            with(&format!("{line}{}", "x".repeat(100_000))),
        ];
        for (number, mutated) in mutations.iter().enumerate() {
            fs::write(folder.join(format!("{at}-{number}.jsonl")), mutated).expect("a file");
        }
    }
    fs::write(folder.join("empty.jsonl"), "").expect("a file");
    fs::write(folder.join("nul.jsonl"), [0; 4096]).expect("a file");
    let folder = folder.display().to_string();
    let words = ["replay", &folder, "--json", "--since", "365d"];
    let report = read_json(&sandbox, &words);
    assert!(report["sessions"].as_u64() > Some(50), "{report}");
    assert_eq!(read_json(&sandbox, &words)["stops"], report["stops"], "the same twice");
    let shown = sandbox.run(&["replay", &folder, "--all"]);
    assert!(shown.code == Some(0) && !shown.stdout.contains('\u{1b}'), "{}", shown.stderr);
}

const HOSTILE: &str =
    "<script>window.hacked=1</script><img src=x onerror=window.hacked=2>\"\u{1b}[31m\u{9b}2J\u{7}\u{202e}";

/// Members that decide what an entry is, or are hostile already; every other text becomes hostile.
const STRUCTURE: [&str; 9] =
    ["type", "subtype", "timestamp", "trigger", "name", "cwd", "command", "file_path", "filePath"];

fn make_hostile(value: &mut Value) {
    match value {
        Value::String(text) => text.push_str(HOSTILE),
        Value::Array(elements) => elements.iter_mut().for_each(make_hostile),
        Value::Object(members) => {
            let texts = members.iter_mut().filter(|(name, _)| !STRUCTURE.contains(&name.as_str()));
            texts.for_each(|(_, value)| make_hostile(value));
        }
        _ => {}
    }
}

/// Of the project that a hostile folder names. Returns the transcript.
fn write_hostile(sandbox: &Sandbox) -> std::path::PathBuf {
    let root = format!("{}/{HOSTILE}", sandbox.project().display());
    let command = json!({"command": format!("npm test -- '{HOSTILE}' | tail -3")});
    let output = json!({"stdout": "ok", "stderr": "", "interrupted": false});
    let result = json!({"type": "tool_result", "tool_use_id": "piped", "content": "ok"});
    let meta = json!({"trigger": "auto", "preTokens": 170_000});
    let mut session = Session::new(Path::new(&root))
        .prompt("Never touch the file src/old.rs in this task. ")
        .edit(60_000)
        .answer(90_000, &json!([{"type": "tool_use", "id": "piped", "name": "Bash", "input": command}]))
        .line(json!({"type": "user", "toolUseResult": output, "message": {"content": [result]}}))
        .text(120_000, "Done.")
        .prompt("more")
        .text(155_000, "Yes.")
        .prompt("and more")
        .line(json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": meta}))
        .line(json!({"type": "user", "isCompactSummary": true, "message": {"content": "Edited src/a.rs."}}))
        .text(20_000, "On it.");
    session.lines.iter_mut().for_each(make_hostile);
    let path = sandbox.home().join(".claude/projects/-shop/0d9f3c1e-1111-2222-3333-444455556666.jsonl");
    session.write(&path);
    path
}

#[test]
fn a_hostile_transcript_is_only_text() {
    let sandbox = Sandbox::new();
    write_hostile(&sandbox);
    let is_harmless = |text: &str| {
        let mut letters = text.chars();
        letters.all(|letter| letter == '\n' || !letter.is_control() && letter != '\u{202e}')
    };
    for words in
        [&["replay"][..], &["replay", "--all"], &["replay", "--set", "context-warning.late=5k"], &["tune"]]
    {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(is_harmless(&ran.stdout) && is_harmless(&ran.stderr), "{words:?}: {:?}", ran.stdout);
    }
    let all = sandbox.run(&["replay", "--all"]).stdout;
    assert!(all.contains("<script>") && all.contains("src/old.rs"), "the text is shown as text: {all}");
    assert_eq!(sandbox.run(&["replay", "--html", "replay.html"]).code, Some(0));
    let page = fs::read_to_string(sandbox.project().join("replay.html")).expect("a file");
    assert!(is_harmless(&page), "{page:?}");
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script") && !page.contains("<img"), "{page}");
}

#[test]
fn a_file_for_a_browser_has_everything_in_it() {
    let sandbox = Sandbox::new();
    month(&sandbox);
    let ran = sandbox.run(&["replay", "--html", "replay.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let page = fs::read_to_string(sandbox.project().join("replay.html")).expect("a file");
    assert!(page.contains("turns that changed code") && page.contains("svg class=\"small\""), "{page}");
    let head =
        page.find("<h1>last 30 days: 1 turn ended with untested code, 1 compaction").expect("the finding");
    assert!(page.find("<dl class=\"bars\">").is_some_and(|chart| head < chart), "{page}");
    assert!(page.contains("fill=\"url(#fill-bad)\"") && page.contains("<pattern id=\"fill-bad\""), "{page}");
    for outside in ["http://", "https://", "<script", "src="] {
        assert!(!page.replace("http://www.w3.org", "").contains(outside), "{outside}");
    }
}

#[test]
fn a_page_replaces_only_a_page_of_tidegate() {
    use std::os::unix::fs::PermissionsExt;

    let sandbox = Sandbox::new();
    month(&sandbox);
    let project = sandbox.project();
    let transcript = sandbox.home().join(".claude/projects/-shop/0d9f3c1e-1111-2222-3333-444455556666.jsonl");
    make_fifo(&project.join("fifo"));
    fs::write(project.join("notes.html"), "<!DOCTYPE html><p>mine").expect("a file");
    assert_eq!(sandbox.run(&["report"]).code, Some(0));
    let before = contents(sandbox.path());
    let named = transcript.display().to_string();
    for command in ["replay", "report"] {
        for file in [named.as_str(), "notes.html", "fifo", "/dev/null", ".", "none/x.html"] {
            let ran = sandbox.run(&[command, "--html", file]);
            let said = ran.failed();
            assert!(said.contains("cannot write") && said.contains("name a new file"), "{file}: {said}");
            assert!(!said.contains("os error"), "{said}");
        }
    }
    assert!(contents(sandbox.path()) == before);
    for _ in 0..2 {
        assert_eq!(sandbox.run(&["report", "--html", "page.html"]).code, Some(0));
        let mode = fs::metadata(project.join("page.html")).expect("a page").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    fs::set_permissions(project.join("page.html"), fs::Permissions::from_mode(0o644)).expect("a page");
    let ran = sandbox.run(&["replay", "--html", "page.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mode = fs::metadata(project.join("page.html")).expect("a page").permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "it stays as the person made it");
    let page = fs::read_to_string(project.join("page.html")).expect("a page");
    assert!(page.contains("<title>Tidegate replay"), "{page}");
    let ran = sandbox.run(&["replay", "--html", "-"]);
    assert_eq!((ran.code, ran.stdout.trim_end(), ran.stderr.as_str()), (Some(0), page.as_str(), ""));
    let reader = {
        let fifo = project.join("fifo");
        std::thread::spawn(move || fs::read_to_string(fifo).expect("a page"))
    };
    // Until the reader is there, it is refused.
    while sandbox.run(&["replay", "--html", "fifo"]).code != Some(0) {}
    assert_eq!(reader.join().expect("an end"), page);
}

#[test]
fn times_to_come_and_a_mark_at_the_beginning_do_no_harm() {
    let sandbox = Sandbox::new();
    month(&sandbox);
    let file = sandbox.home().join(".claude/projects/-shop/0d9f3c1e-1111-2222-3333-444455556666.jsonl");
    let report = read_json(&sandbox, &["replay", "--json"]);
    let text = fs::read_to_string(&file).expect("a transcript");
    fs::write(&file, format!("\u{feff}{text}")).expect("a transcript");
    let marked = read_json(&sandbox, &["replay", "--json"]);
    assert_eq!(marked["left_out"], report["left_out"], "the first line counts");
    assert_eq!((&marked["turns"], &marked["stops"]), (&report["turns"], &report["stops"]));
    let year = &report["to"].as_str().expect("a time")[..4];
    let ahead = text.replace(&format!("\"timestamp\":\"{year}"), "\"timestamp\":\"2199");
    assert_ne!(ahead, text);
    // Whoever copied or unpacked it has not made its turns any older.
    let unpacked = fs::File::options().write(true).open(&file).expect("a transcript");
    fs::write(&file, &text).expect("a transcript");
    unpacked.set_modified(std::time::UNIX_EPOCH).expect("an old time");
    let old = read_json(&sandbox, &["replay", "--json"]);
    assert_eq!((&old["from"], &old["to"]), (&report["from"], &report["to"]));
    fs::write(&file, &ahead).expect("a transcript");
    let future = read_json(&sandbox, &["replay", "--json"]);
    assert_eq!((&future["turns"], &future["stops"]), (&report["turns"], &report["stops"]));
    assert!(!future.to_string().contains("2199"), "{future}");
}

#[test]
fn a_folder_that_cannot_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;

    let sandbox = Sandbox::new();
    if is_root(&sandbox) && !cfg!(target_os = "linux") {
        eprintln!("left out: modes do not bind root, and there is no `setpriv`");
        return;
    }
    month(&sandbox);
    let closed = sandbox.home().join(".claude/projects/-closed");
    fs::create_dir_all(&closed).expect("a folder");
    let sandbox = if is_root(&sandbox) { as_another_person(sandbox) } else { sandbox };
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("our own");
    let ran = sandbox.run(&["replay"]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).expect("our own");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("-closed: you may not access it"), "{}", ran.stderr);
    assert!(ran.stdout.contains("1 compaction"), "{}", ran.stdout);
}

#[test]
fn thresholds_are_only_written_into_a_file() {
    let config = |sandbox: &Sandbox| sandbox.home().join(".config/tidegate/config.toml");
    let plant: [fn(&Path); 4] = [
        make_fifo,
        |path| fs::create_dir(path).expect("a folder"),
        |path| std::os::unix::fs::symlink("gone.toml", path).expect("a link"),
        |path| fs::write(path, [0xff, 0xfe, 0]).expect("a file"),
    ];
    for plant in plant {
        let sandbox = Sandbox::new();
        fs::create_dir_all(config(&sandbox).parent().expect("a folder")).expect("a folder");
        plant(&config(&sandbox));
        let before = contents(&sandbox.home());
        let ran = sandbox.run(&["tune", "--apply", "--early", "61k", "--late", "22k"]);
        let said = ran.failed();
        assert!(said.contains("cannot change") && said.contains("correct the file"), "{said}");
        assert!(!said.contains("os error"), "{said}");
        assert!(contents(&sandbox.home()) == before);
    }
}

#[test]
fn approved_thresholds_are_those_that_are_written() {
    let sandbox = Sandbox::new();
    let words = ["tune", "--apply", "--early", "61k", "--late", "22k"];
    let refused = sandbox.run(&words);
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert!(
        refused.stderr.contains("tidegate tune --apply --early 61k --late 22k")
            && refused.stderr.contains("unattended = [\"tune\"]"),
        "{}",
        refused.stderr
    );
    let config = sandbox.home().join(".config/tidegate/config.toml");
    assert!(!config.exists());
    let swapped = sandbox.run(&["tune", "--apply", "--early", "22k", "--late", "61k"]);
    assert!(swapped.stderr.contains("not come after the early one"), "{}", swapped.stderr);
    sandbox.config("[approval]\nunattended = [\"tune\"]\n");
    let written = sandbox.run(&words);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    let text = fs::read_to_string(&config).expect("a config");
    assert!(text.contains("early = \"61k\"\nlate = \"22k\""), "{text}");
    assert!(sandbox.records().iter().any(|record| record["ruling"] == "command"), "it is recorded");
}

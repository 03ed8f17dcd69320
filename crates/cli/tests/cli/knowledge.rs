//! Flow and stock by command: `progress`, `compound`, `learnings`, and what `status` and the status line say of them.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::answer::Ran;
use crate::answer::unfold;
use crate::fixtures;
use crate::people::{SESSION, attended, by_agent, by_agent_of, code_of, event, types};
use crate::sandbox::{Running, Sandbox, make_fifo};
use crate::transcript::addressed;

fn context(sandbox: &Sandbox) -> PathBuf {
    sandbox.project().join(".claude/context")
}

/// Writes a persistence file.
fn put(sandbox: &Sandbox, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(context(sandbox)).expect("a new folder");
    let path = context(sandbox).join(name);
    fs::write(&path, text).expect("a new file");
    path
}

fn text(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(context(sandbox).join(name)).unwrap_or_default()
}

/// A command in another folder, as the host's shell tool runs it.
fn by_agent_in(sandbox: &Sandbox, folder: &Path, args: &[&str]) -> Ran {
    let mut command = sandbox.command(args);
    command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", SESSION).env_remove("CLAUDE_PROJECT_DIR");
    command.current_dir(folder);
    let mut running = Running::start(command);
    running.close();
    running.end()
}

const FLOW: &str = "\
# Progress

## [2026-02-18T14:30:00Z] — One lock per project chosen
- Decision: flock instead of a lock file
- Next: the same for the archive

## [2026-02-17T09:00:00Z] — Parser reads CRLF files
- Key change: src/parser.rs
";

const STOCK: &str = "\
# Learnings

## One lock per project
- **Learning**: flock instead of a lock file: it ends with its process
- **Context**: two terminals
- **Implication**: no stale lock files
- **Confirmed**: 2 times | 2026-02-01 | implement

## Clocks go backwards
- **Learning**: never subtract times without saturation
- **Context**: a laptop that slept
- **Implication**: `since` saturates
- **Confirmed**: 1 time | 2026-01-01 | debug
";

fn ids(report: &Value) -> Vec<String> {
    let entries = report["entries"].as_array().expect("entries");
    entries.iter().map(|entry| entry["id"].as_str().expect("an id").to_owned()).collect()
}

fn learning_ids(sandbox: &Sandbox) -> Vec<String> {
    let report = sandbox.run(&["learnings", "--json"]).json();
    let files = report["files"].as_array().expect("files");
    let all = files.iter().flat_map(|file| file["learnings"].as_array().expect("learnings").clone());
    all.map(|learning| learning["id"].as_str().expect("an id").to_owned()).collect()
}

/// The day as the program saw it.
fn today(sandbox: &Sandbox) -> String {
    sandbox.records().last().expect("a record")["at"].as_str().expect("a time")[..10].to_owned()
}

#[test]
fn an_entry_is_written_where_the_session_works() {
    let sandbox = attended();
    let below = sandbox.project().join("src/deep");
    fs::create_dir_all(&below).expect("a new folder");
    let _ = sandbox.new_records();
    let args = [
        "progress",
        "add",
        "Parser reads\n## CRLF files\u{1b}[31m",
        "--change",
        "src/parser.rs",
        "--change",
        "  ",
        "--decision",
        "one pass\r\n\r\n## not an entry",
        "--rationale",
        "```",
        "--next",
        "the archive",
        "--json",
    ];
    let added = by_agent_in(&sandbox, &below, &args).json();
    assert_eq!(added["file"], json!(context(&sandbox).join("progress.md")));
    let written = text(&sandbox, "progress.md");
    let (first, rest) = written.split_once("## [").expect("a heading");
    assert_eq!(first, "# Progress\n\n");
    let (at, rest) = rest.split_once("] — ").expect("a time");
    assert!(at.len() == 20 && at.ends_with('Z'), "{at}");
    assert_eq!(
        rest,
        "Parser reads ## CRLF files [31m\n- Key change: src/parser.rs\n- Decision: one pass ## not an entry\n\
         - Rationale: ```\n- Next: the archive\n"
    );
    let record = sandbox.one_record();
    assert_eq!(
        (&record["event"], &record["did"]),
        (&json!("tidegate progress add"), &json!({ "entry": true }))
    );
    assert_eq!(record["session"], SESSION);

    let listed = sandbox.run(&["progress", "list", "--json"]).json();
    assert_eq!(ids(&listed), [added["id"].as_str().expect("an id")]);
    let shown = sandbox.run(&["progress", "show", &ids(&listed)[0][..6]]);
    assert_eq!(shown.ok(), written.trim_start_matches("# Progress\n\n## "));

    // A session that no hook has seen, by its folder.
    let unseen = by_agent_of(&sandbox, &["progress", "add", "Second"], "unseen");
    assert!(unseen.ok().starts_with("Added note "), "{unseen:?}");
    assert_eq!(ids(&sandbox.run(&["progress", "list", "--unpromoted", "--json"]).json()).len(), 2);
    // By name, from elsewhere.
    let mut command = sandbox.command(&["progress", "add", "Third", "--session", SESSION]);
    command.env_remove("CLAUDE_PROJECT_DIR").current_dir(sandbox.path());
    let mut running = Running::start(command);
    running.close();
    let _ = running.end().ok();
    assert_eq!(text(&sandbox, "progress.md").matches("\n## [").count(), 3);
}

#[test]
fn a_decision_in_a_note_is_in_the_memory_too() {
    let sandbox = attended();
    let add = [
        "progress",
        "add",
        "One lock",
        "--decision",
        "flock, no lock file",
        "--rationale",
        "it goes with the process",
    ];
    for ids in [json!([1]), Value::Null] {
        let added = by_agent_in(&sandbox, &sandbox.project(), &[&add[..], &["--json"]].concat()).json();
        assert_eq!(added["decisions"], ids, "the same decision counts once");
    }
    let decided = || sandbox.run(&["memory", "list", "decisions", "--json"]).json()["decisions"].clone();
    let [decision] = decided().as_array().expect("decisions").clone().try_into().expect("one decision");
    assert_eq!(
        (&decision["text"], &decision["reason"], &decision["by"], &decision["in_topic"]["name"]),
        (
            &json!("flock, no lock file"),
            &json!("it goes with the process"),
            &json!("agent, session 91b38a40"),
            &json!("One lock")
        )
    );
    // An agent cannot make it the person's.
    let refused = by_agent_in(&sandbox, &sandbox.project(), &["memory", "decision", "confirm", "1"]);
    assert!(refused.code == Some(4) && refused.stdout.contains("needs a person's yes"), "{refused:?}");
    sandbox.config("[approval]\nunattended = [\"memory decision\"]\n");
    let _ = sandbox.run(&["memory", "decision", "confirm", "1"]).ok();
    assert_eq!(decided()[0]["by"], "the person, session 91b38a40");
    // At a terminal, without a session.
    let _ = sandbox.run(&["progress", "add", "Two", "--decision", "whole cents"]).ok();
    assert_eq!(decided()[0]["in_topic"]["name"], "Progress notes");
    // Recording is off.
    sandbox.config("[recording]\nmode = \"off\"\n");
    let _ = sandbox.run(&["progress", "add", "Three", "--decision", "half cents"]).ok();
    assert_eq!(decided().as_array().expect("decisions").len(), 2);
}

#[test]
fn a_worktree_has_entries_of_its_own() {
    let sandbox = attended().with("COLUMNS", "200");
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(args);
        let ran = git.current_dir(sandbox.project()).env("HOME", sandbox.home()).output().expect("git runs");
        assert!(ran.status.success(), "{ran:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&["worktree", "add", "-q", "../tree", "-b", "tree"]);
    let tree = sandbox.path().join("tree");
    let ran = by_agent_in(&sandbox, &tree, &["progress", "add", "In the worktree"]);
    assert!(ran.ok().contains("/tree/.claude/context/progress.md"), "{ran:?}");
    assert!(!context(&sandbox).exists());
    let ran = by_agent_in(&sandbox, &sandbox.project(), &["progress", "add", "In the main one"]);
    assert!(ran.ok().contains("/project/.claude/context/progress.md"), "{ran:?}");
}

#[test]
fn entries_stay_in_the_style_of_the_file() {
    for (before, after) in [
        ("", "# Progress\n\n{}\n"),
        (
            "# 進捗\r\n\r\n## [2026-02-18] — 一\r\nあ\r\n",
            "# 進捗\r\n\r\n{}\r\n\r\n## [2026-02-18] — 一\r\nあ\r\n",
        ),
        ("\u{feff}## [2026-02-18] — a\n", "\u{feff}{}\n\n## [2026-02-18] — a\n"),
        (
            "## [2026-02-17] — a\n\n## [2026-02-18] — b\n",
            "## [2026-02-17] — a\n\n## [2026-02-18] — b\n\n{}\n",
        ),
    ] {
        let sandbox = Sandbox::new();
        put(&sandbox, "progress.md", before);
        let _ = sandbox.run(&["progress", "add", "new"]).ok();
        let written = text(&sandbox, "progress.md");
        let from = written.find("## [20").and_then(|_| written.find(" — new")).expect("the entry");
        let start = written[..from].rfind("## [").expect("its heading");
        let entry = &written[start..from + " — new".len()];
        assert_eq!(written, after.replace("{}", entry), "{before:?}");
    }
}

/// Why it cannot be written, and what makes it so.
type Case<'a> = (&'a str, &'a dyn Fn(&Sandbox));

#[test]
fn what_cannot_be_written_is_left_alone() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let cases: [Case<'_>; 7] = [
        ("not UTF-8", &|sandbox| drop(put(sandbox, "progress.md", b"## a\n\xff\xfe"))),
        ("Is a directory", &|sandbox| {
            fs::create_dir_all(context(sandbox).join("progress.md")).expect("a new folder");
        }),
        ("read-only", &|sandbox| {
            let path = put(sandbox, "progress.md", FLOW);
            fs::set_permissions(path, fs::Permissions::from_mode(0o444)).expect("ours");
        }),
        ("leads out of the project", &|sandbox| {
            fs::create_dir_all(context(sandbox)).expect("a new folder");
            fs::write(elsewhere.path().join("p.md"), FLOW).expect("a file");
            symlink(elsewhere.path().join("p.md"), context(sandbox).join("progress.md")).expect("a link");
        }),
        ("leads out of the project", &|sandbox| {
            symlink(elsewhere.path(), sandbox.project().join(".claude")).expect("a link");
        }),
        ("not a file", &|sandbox| {
            fs::create_dir_all(context(sandbox)).expect("a new folder");
            make_fifo(&context(sandbox).join("progress.md"));
        }),
        ("too large", &|sandbox| drop(put(sandbox, "progress.md", vec![b'x'; 65 * 1024 * 1024]))),
    ];
    for (why, prepare) in cases {
        let sandbox = Sandbox::new();
        prepare(&sandbox);
        // Reading a pipe would wait for a writer.
        let before =
            (why != "not a file").then(|| fs::read(context(&sandbox).join("progress.md")).ok()).flatten();
        let ran = sandbox.run(&["progress", "add", "new"]);
        let said = ran.failed();
        let known = said.contains(why) || (why == "Is a directory" && said.contains("not a file"));
        assert!(known && said.contains("progress.md") && said.contains("\nhint: "), "{why}: {said}");
        if let Some(before) = before {
            assert_eq!(fs::read(context(&sandbox).join("progress.md")).ok(), Some(before), "{why}");
        }
        assert_eq!(
            fs::read_dir(elsewhere.path()).expect("a folder").count(),
            usize::from(elsewhere.path().join("p.md").exists())
        );
        assert!(sandbox.records().is_empty(), "{why}: nothing was done");
    }
}

#[test]
fn a_flow_that_was_let_grow_takes_entries_and_says_why_it_is_not_listed() {
    let sandbox = Sandbox::new();
    let old = format!("## [2026-02-18] — a\n{}", "words\n".repeat(512 * 1024));
    put(&sandbox, "progress.md", &old);
    let _ = sandbox.run(&["progress", "add", "new"]).ok();
    let written = text(&sandbox, "progress.md");
    assert!(written.ends_with(&old) && written.contains(" — new\n"));
    let listed = sandbox.run(&["progress", "list"]);
    assert!(listed.failed().contains("too large"), "{listed:?}");
    let status = sandbox.run(&["compound", "done"]);
    assert!(status.failed().contains("too large"), "{status:?}");
}

#[test]
fn done_means_what_was_listed() {
    let sandbox = attended();
    put(&sandbox, "progress.md", FLOW);
    put(&sandbox, "learnings-coding.md", STOCK);
    put(&sandbox, "context-pressure.json", "{\"usedPercentage\":80,\"lastNotifiedLevel\":\"urgent\"}");

    let early = by_agent(&sandbox, &["compound", "done"]);
    assert!(
        early.failed().contains("no notes were listed") && early.stderr.contains("compound list"),
        "{early:?}"
    );

    let listed = by_agent(&sandbox, &["compound", "list", "--json"]).json();
    let entries = listed["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[0]["what"], "One lock per project chosen");
    assert_eq!(entries[0]["similar"][0]["title"], "One lock per project", "{listed}");
    assert_eq!(entries[0]["similar"][0]["file"], "learnings-coding.md");
    assert_eq!(entries[1]["similar"], json!([]));
    let shown = by_agent(&sandbox, &["compound", "list"]);
    assert!(shown.ok().contains("  - Decision: flock instead of a lock file\n"), "{shown:?}");
    assert!(
        shown.words().contains("\"One lock per project\" in learnings-coding.md, confirmed 2 times"),
        "{shown:?}"
    );

    let later = by_agent(&sandbox, &["progress", "add", "After the list", "--json"]).json();
    let _ = sandbox.new_records();
    let done = by_agent(&sandbox, &["compound", "done", "--json"]).json();
    assert_eq!(done["entries"], json!(ids(&listed)));
    assert_eq!((&done["promoted"], &done["unpromoted"]), (&json!(0), &json!(1)));
    assert_eq!(sandbox.one_record()["did"], json!({ "compound": true }));
    let run: Value = serde_json::from_str(&text(&sandbox, "compound-last-run.json")).expect("JSON");
    assert_eq!(run["promotedCount"], 0);
    assert!(run["timestamp"].as_str().is_some_and(|at| at.ends_with('Z')), "{run}");
    let pressure: Value = serde_json::from_str(&text(&sandbox, "context-pressure.json")).expect("JSON");
    assert_eq!(pressure, json!({ "usedPercentage": 80, "lastNotifiedLevel": "none" }));
    let marks = fs::read_to_string(sandbox.session(SESSION).join("marks")).expect("marks");
    assert!(marks.contains("promoted"), "{marks}");

    let left = by_agent(&sandbox, &["compound", "list", "--json"]).json();
    assert_eq!(ids(&left), [later["id"].as_str().expect("an id")]);
    // What moved to the archive stays promoted.
    put(&sandbox, "progress.archive.md", FLOW);
    assert_eq!(ids(&by_agent(&sandbox, &["compound", "list", "--json"]).json()).len(), 1);
    let _ = by_agent(&sandbox, &["compound", "done", "--promoted", "3"]).ok();
    let run: Value = serde_json::from_str(&text(&sandbox, "compound-last-run.json")).expect("JSON");
    assert_eq!(run["promotedCount"], 3);
    let none = by_agent(&sandbox, &["compound", "list"]);
    assert!(none.words().ends_with("are reviewed."), "{none:?}");
}

/// The host cuts off what its shell prints: what did not fit was shown to nobody, in JSON as little as in words.
#[test]
fn a_long_list_comes_in_parts() {
    let sandbox = attended();
    let entry =
        |n: usize| format!("## [2026-02-18T14:{n:02}:00Z] — step {n}\n{}\n\n", "a \"word\"\n".repeat(90));
    let long = format!("## [2026-02-19] — the longest\n{}\n\n", "長い行\n".repeat(9000));
    put(&sandbox, "progress.md", long + &(0..40).rev().map(entry).collect::<String>());

    let ran = by_agent(&sandbox, &["compound", "list", "--json"]);
    assert!(ran.stdout.chars().count() < 30_000, "{}", ran.stdout.len());
    let listed = ran.json();
    let (first, left) = (ids(&listed).len(), listed["not_listed"].as_u64());
    assert!(first > 5 && left == Some(41 - first as u64), "{first} {left:?}");
    assert_eq!((&listed["entries"][0]["cut"], &listed["entries"][1]["cut"]), (&json!(true), &Value::Null));
    let done = by_agent(&sandbox, &["compound", "done", "--json"]).json();
    assert_eq!((&done["entries"], &done["unpromoted"]), (&json!(ids(&listed)), &json!(41 - first)));
    let next = by_agent(&sandbox, &["compound", "list", "--json"]).json();
    assert_eq!(next["entries"][0]["what"], format!("step {}", 40 - first), "the next part");
}

/// Where nobody is there, nobody has gone through anything.
#[test]
fn done_takes_somebody_who_saw_it() {
    let sandbox = Sandbox::new().with("CLAUDE_CODE_SESSION_ATTENDED", "0");
    sandbox.event(&event(&sandbox, "SessionStart.startup")).silent();
    put(&sandbox, "progress.md", FLOW);
    assert_eq!(ids(&by_agent(&sandbox, &["compound", "list", "--json"]).json()).len(), 2);
    let alone = by_agent(&sandbox, &["compound", "done"]);
    assert!(alone.failed().contains("no person in this session"), "{alone:?}");
    assert_eq!(ids(&by_agent(&sandbox, &["compound", "list", "--json"]).json()).len(), 2, "they wait");
    sandbox.config("[approval]\nunattended = [\"compound promote\"]\n");
    let _ = by_agent(&sandbox, &["compound", "done"]).ok();
}

/// Another tool has gone through entries before us: what counted by its time still counts after our first time.
#[test]
fn what_another_tool_promoted_stays_promoted() {
    let sandbox = Sandbox::new();
    put(&sandbox, "progress.md", FLOW);
    put(&sandbox, "compound-last-run.json", "{\"timestamp\":\"2026-02-17T12:00:00Z\",\"promotedCount\":1}");
    let listed = sandbox.run(&["compound", "list", "--json"]).json();
    assert_eq!(listed["entries"][0]["what"], "One lock per project chosen");
    assert_eq!(ids(&listed).len(), 1);
    let _ = sandbox.run(&["compound", "done"]).ok();
    assert_eq!(ids(&sandbox.run(&["compound", "list", "--json"]).json()), [""; 0]);
}

const PROMOTE: [&str; 15] = [
    "compound",
    "promote",
    "--to",
    "coding",
    "--title",
    "Trim last",
    "--learning",
    "archive before\n## trim",
    "--context",
    "a killed hook",
    "--implication",
    "nothing is lost",
    "--phase",
    "implement",
    "--entry",
];

fn promoting(id: &str) -> Vec<&str> {
    PROMOTE.iter().copied().chain([id]).collect()
}

#[test]
fn what_a_person_approved_is_what_is_written() {
    let sandbox = attended();
    put(&sandbox, "progress.md", FLOW);
    let stock = put(&sandbox, "learnings-coding.md", STOCK);
    let listed = by_agent(&sandbox, &["compound", "list", "--json"]).json();
    let id = &ids(&listed)[1][..6];
    let asked = by_agent(&sandbox, &promoting(id));
    let code = code_of(&asked);
    for line in ["  + ## Trim last", "  + - **Learning**: archive before ## trim", "| implement"] {
        assert!(asked.stdout.contains(line), "{line}: {asked:?}");
    }
    assert!(asked.stdout.contains(&format!("write to {}:\n", stock.display())), "{asked:?}");
    let then =
        asked.stdout.lines().last().expect("what to run").strip_prefix("Then run: tidegate ").expect("it");
    let then: Vec<&str> = then.split(' ').collect();
    assert_eq!(text(&sandbox, "learnings-coding.md"), STOCK);
    let early = by_agent(&sandbox, &then);
    assert!(early.failed().contains("there is no approval"), "{early:?}");

    let told = types(&sandbox, &format!("approve {code}"));
    assert_eq!(
        told.output()["systemMessage"],
        "You approved: \"Trim last\" → learnings-coding.md: archive before ## trim · context: a killed hook · implication: nothing \
         is lost. Claude can run it once, within ten minutes.",
        "by what it is, not by a digest"
    );
    // Another text under the same approval.
    let mut other = promoting(id);
    other[5] = "Something else";
    other.push("--approved");
    assert!(by_agent(&sandbox, &other).failed().contains("there is no approval"));
    // The file has changed since.
    fs::write(&stock, format!("{STOCK}\n## More\n- **Learning**: x\n")).expect("ours");
    let changed = by_agent(&sandbox, &then);
    assert!(changed.failed().contains("have changed since"), "{changed:?}");
    fs::write(&stock, STOCK).expect("ours");
    let _ = sandbox.new_records();
    let done = by_agent(&sandbox, &then);
    assert!(done.ok().starts_with("Saved 1 learning in"), "{done:?}");
    let written = text(&sandbox, "learnings-coding.md");
    let day = today(&sandbox);
    assert_eq!(
        written,
        format!(
            "{STOCK}\n## Trim last\n- **Learning**: archive before ## trim\n- **Context**: a killed hook\n\
             - **Implication**: nothing is lost\n- **Confirmed**: 1 time | {day} | implement\n"
        )
    );
    assert_eq!(sandbox.one_record()["cause"], format!("approved with the code {code}"));
    assert!(by_agent(&sandbox, &then).failed().contains("waits in this session"), "once");
    let twice = by_agent(&sandbox, &promoting(id));
    assert!(twice.failed().contains("is there already"), "{twice:?}");
    assert_eq!(by_agent(&sandbox, &["compound", "done", "--json"]).json()["promoted"], 1);
}

/// With the user's own config saying yes: what the files come to.
#[test]
fn one_plan_for_several() {
    let sandbox = Sandbox::new().with("LANG", "ja_JP.UTF-8");
    sandbox.config(
        "[approval]\nunattended = [\"compound promote\"]\n[knowledge]\nglobal = \"~/notes/learnings.md\"\n",
    );
    put(&sandbox, "progress.md", FLOW);
    put(&sandbox, "learnings-coding.md", STOCK);
    put(
        &sandbox,
        "learnings.md",
        "# 学び\n\n## 時計\n- **Learning**: 時計は戻る\n- **Confirmed**: 3回 | 2026-03-03 | review\n\n## 残る\n- **Learning**: 残る\n",
    );
    let entry = ids(&sandbox.run(&["progress", "list", "--json"]).json()).remove(0);
    let learnings = learning_ids(&sandbox);
    let [lock, clock, tokei, _] = learnings.as_slice() else { panic!("{learnings:?}") };
    let plan = json!([
        { "entry": entry[..8], "to": "design", "title": "設計", "learning": "鍵は一つ", "context": "端末二つ", "implication": "残らない" },
        { "entry": [entry], "to": "global", "title": "全体", "learning": "どこでも", "context": "c", "implication": "i", "phase": "design" },
        { "confirm": lock[..6], "phase": "review" },
        { "merge": [clock, tokei] },
    ]);
    let mut running = Running::start(sandbox.command(&["compound", "promote", "--plan", "-", "--json"]));
    running.send(plan.to_string().as_bytes());
    running.close();
    let done = running.end().json();
    assert_eq!(done["promoted"], 3, "{done}");
    assert_eq!(done["files"].as_array().map(Vec::len), Some(4));
    let day = today(&sandbox);
    assert_eq!(
        text(&sandbox, "learnings-design.md"),
        format!(
            "# Learnings\n\n## 設計\n- **Learning**: 鍵は一つ\n- **Context**: 端末二つ\n- **Implication**: 残らない\n\
             - **Confirmed**: 1回 | {day}\n"
        )
    );
    let global = fs::read_to_string(sandbox.home().join("notes/learnings.md")).expect("the global file");
    assert!(global.contains(&format!("- **Confirmed**: 1回 | {day} | design\n")), "{global}");
    let coding = text(&sandbox, "learnings-coding.md");
    assert!(coding.contains(&format!("- **Confirmed**: 3 times | {day} | implement, review\n")), "{coding}");
    assert!(coding.contains("- **Confirmed**: 4 times | 2026-03-03 | debug, review\n"), "{coding}");
    assert!(coding.contains("時計は戻る"), "what only the other says stays: {coding}");
    assert_eq!(text(&sandbox, "learnings.md"), "# 学び\n\n## 残る\n- **Learning**: 残る\n");
    let listed = sandbox.run(&["learnings"]);
    assert!(listed.ok().contains("notes/learnings.md\n学び1件"), "{listed:?}");
}

#[test]
fn a_plan_that_cannot_be_followed_changes_nothing() {
    let sandbox = Sandbox::new();
    sandbox.config("[approval]\nunattended = [\"compound promote\"]\n");
    put(&sandbox, "progress.md", FLOW);
    put(&sandbox, "learnings-coding.md", STOCK);
    let entry = ids(&sandbox.run(&["progress", "list", "--json"]).json()).remove(0);
    let learnings = learning_ids(&sandbox);
    let whole = json!({ "entry": entry, "to": "coding", "title": "t", "learning": "l", "context": "c", "implication": "i" });
    let with = |name: &str, value: Value| {
        let mut changed = whole.clone();
        changed[name] = value;
        changed
    };
    for (plan, why) in [
        ("", "the plan cannot be read"),
        ("[]", "the plan is empty"),
        ("{}", "the plan cannot be read"),
        ("[{}]", "element 1 of the plan: there is nothing to save"),
        (&json!([with("title", json!(" \n"))]).to_string(), "`title` is empty"),
        (&json!([with("titel", json!("x"))]).to_string(), "unknown field `titel`"),
        (&json!([with("to", json!("elsewhere"))]).to_string(), "unknown variant `elsewhere`"),
        (&json!([with("entry", json!("0000"))]).to_string(), "there is no note `0000`"),
        (&json!([with("entry", json!("a"))]).to_string(), "too short"),
        (&json!([with("to", json!("global"))]).to_string(), "no file for learnings of all projects"),
        (&json!([with("confirm", json!(learnings[0]))]).to_string(), "cannot be one element"),
        (
            &json!([whole, { "confirm": "0000" }]).to_string(),
            "element 2 of the plan: there is no learning `0000`",
        ),
        (&json!([{ "merge": [learnings[0], learnings[0]] }]).to_string(), "are not two learnings"),
        (&json!([{ "merge": [learnings[0]] }]).to_string(), "takes two ids"),
        (
            &json!([{ "merge": [learnings[0], learnings[1]] }, { "confirm": learnings[1] }]).to_string(),
            "any more",
        ),
    ] {
        let mut running = Running::start(sandbox.command(&["compound", "promote", "--plan", "-"]));
        running.send(plan.as_bytes());
        running.close();
        let ran = running.end();
        assert!(ran.failed().contains(why), "{why}: {ran:?}");
        assert_eq!(text(&sandbox, "learnings-coding.md"), STOCK, "{why}");
    }
    // A target that cannot be read is not replaced.
    put(&sandbox, "learnings-design.md", b"\xff");
    let plan = json!([with("to", json!("design"))]).to_string();
    let file = sandbox.path().join("plan.json");
    fs::write(&file, &plan).expect("a plan");
    let ran = sandbox.run(&["compound", "promote", "--plan", &file.to_string_lossy()]);
    assert!(ran.failed().contains("not UTF-8"), "{ran:?}");
    // One that its owner does not want changed.
    let stock = context(&sandbox).join("learnings-coding.md");
    fs::set_permissions(&stock, fs::Permissions::from_mode(0o444)).expect("ours");
    let ran = sandbox.run(&["compound", "promote", "--confirm", &learnings[0]]);
    assert!(
        ran.failed().contains("read-only") && ran.stderr.contains("hint: nothing was changed"),
        "{ran:?}"
    );
    // A project cannot name the global file.
    fs::write(sandbox.project().join(".claude/tidegate.toml"), "[knowledge]\nglobal = \"/tmp/x.md\"\n")
        .expect("ours");
    let ran = sandbox.run(&[
        "compound",
        "promote",
        "--entry",
        &entry,
        "--to",
        "global",
        "--title",
        "t",
        "--learning",
        "l",
        "--context",
        "c",
        "--implication",
        "i",
    ]);
    assert!(ran.failed().contains("no file for learnings of all projects"), "{ran:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_it_asks_for_what_it_shows() {
    let sandbox = Sandbox::new();
    put(&sandbox, "learnings-coding.md", STOCK);
    let id = learning_ids(&sandbox).remove(0);
    let args = ["compound", "promote", "--confirm", &id, "--phase", "ship"];
    let no = crate::people::at_terminal(&sandbox, &args, "n\n");
    assert!(no.stdout.contains("    ## One lock per project\r\n  - - **Confirmed**: 2 times"), "{no:?}");
    assert!(no.stdout.contains("  + - **Confirmed**: 3 times | "), "{no:?}");
    assert_eq!(text(&sandbox, "learnings-coding.md"), STOCK);
    let yes = crate::people::at_terminal(&sandbox, &args, "y\n");
    assert_eq!(yes.code, Some(0), "{yes:?}");
    assert!(text(&sandbox, "learnings-coding.md").contains("| implement, ship\n"));
}

#[test]
fn learnings_are_counted_and_checked() {
    let sandbox = Sandbox::new().with("COLUMNS", "200");
    assert!(sandbox.run(&["learnings"]).ok().starts_with("There are no learnings in"));
    assert!(sandbox.run(&["learnings", "check"]).ok().contains("none malformed"));
    put(&sandbox, "learnings-coding.md", STOCK);
    put(
        &sandbox,
        "learnings.md",
        format!(
            "## Lock\n- **Learning**: flock instead of a lock file: it ends with its process\n- **Confirmed**: often\n{}",
            "\n## Empty\n"
        ),
    );
    let listed = sandbox.run(&["learnings"]);
    assert!(
        listed.ok().starts_with(
            "learnings-coding.md\n2 learnings, confirmed 1.5 times on average, 0 not confirmed yet\n"
        ),
        "{listed:?}"
    );
    assert!(
        listed
            .ok()
            .contains("\nlearnings.md\n2 learnings, confirmed 0.0 times on average, 2 not confirmed yet\n"),
        "{listed:?}"
    );
    let report = sandbox.run(&["learnings", "--json"]).json();
    assert_eq!(report["duplicates"].as_array().map(Vec::len), Some(1), "{report}");
    let check = sandbox.run(&["learnings", "check"]);
    assert_eq!((check.code, check.stderr.as_str()), (Some(1), ""), "{check:?}");
    let file = context(&sandbox).join("learnings.md");
    let words = unfold(&check.stdout);
    for what in ["3: no count", "5: no `Learning` line"] {
        assert!(words.contains(&format!("malformed: {}:{what}", file.display())), "{words}");
    }
    put(&sandbox, "learnings.md", b"\xff");
    let check = sandbox.run(&["learnings", "check"]);
    assert!(
        check.code == Some(1) && unfold(&check.stdout).contains("learnings.md cannot be read: not UTF-8"),
        "{check:?}"
    );
}

#[test]
fn status_and_status_line_say_what_waits() {
    let sandbox = attended();
    let line = |sandbox: &Sandbox| {
        let mut payload =
            addressed(fixtures::status_lines()[2].json(), SESSION, "none".as_ref(), &sandbox.project());
        payload["workspace"]["project_dir"] = json!(sandbox.project());
        // Notes are named shortly before a compaction.
        payload["context_window"]["current_usage"]["input_tokens"] = json!(950_000);
        sandbox.run_with(&["statusline"], payload.to_string().as_bytes()).ok().to_owned()
    };
    assert!(!line(&sandbox).contains("to review"), "{}", line(&sandbox));
    put(&sandbox, "progress.md", FLOW);
    assert!(line(&sandbox).ends_with("2 notes to review\n"), "{}", line(&sandbox));
    let status = sandbox.run(&["status"]);
    assert!(status.ok().contains("\nnotes     2 progress notes are not reviewed yet: "), "{status:?}");
    let boundary = json!({
        "noted": 1_800_000_000_000_u64, "trigger": "auto", "entries": 2, "unpromoted": 2, "headings": [],
        "facts": [], "named": 0,
        "survival": { "kept": 3, "of": 4, "lost": [{ "kind": "decision", "text": "flock, not a lock file" }] },
    });
    fs::write(sandbox.session(SESSION).join("boundaries"), boundary.to_string()).expect("a file");
    let status = sandbox.run(&["status"]);
    assert!(status.words().contains("compaction the summary kept 3 of 4 facts"), "{status:?}");
    assert!(status.ok().contains("not in it: flock, not a lock file\n"), "{status:?}");
    assert_eq!(sandbox.run(&["status", "--json"]).json()["unpromoted"], 2);
    let _ = by_agent(&sandbox, &["compound", "list"]).ok();
    let _ = by_agent(&sandbox, &["compound", "done"]).ok();
    assert!(!line(&sandbox).contains("to review"));
    // Too long to be looked at all the time, and unreadable: nothing, and no harm.
    put(&sandbox, "progress.md", format!("## a\n{}", "x\n".repeat(200 * 1024)));
    assert!(!line(&sandbox).contains("to review"));
    put(&sandbox, "progress.md", b"## a\n\xff");
    assert!(!line(&sandbox).contains("to review"));
}

#[test]
fn a_note_is_written_only_into_a_project() {
    let sandbox = Sandbox::new();
    let home = sandbox.home();
    let add = || by_agent_in(&sandbox, &home, &["progress", "add", "Done"]);
    let refused = add();
    let refused = refused.failed();
    assert!(refused.contains(" is not a project, so nothing was written"), "{refused}");
    let named = sandbox.run(&["progress", "add", "Done", "--project", &home.display().to_string()]);
    assert!(named.failed().contains(" is not a project"), "{named:?}");
    assert!(!home.join(".claude/context").exists());
    fs::create_dir_all(home.join(".git")).expect("a repository of settings");
    assert!(add().ok().contains("Added note "), "a repository is a project, wherever it is");
}

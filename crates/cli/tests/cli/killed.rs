//! A process that is killed at any system call leaves every file whole: old or new, never half.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::fixtures;
use crate::sandbox::Sandbox;
use crate::worker::Machine;

/// The calls by which files come about, change and go. What is killed at any other, also at `flock` and `fsync`, leaves the
/// same as at the next of these.
const CALLS: [&str; 7] = ["openat", "write", "pwrite64", "rename", "fchmod", "mkdir", "unlink"];

/// Without the empty files that come first. An install opens many.
const CHANGES: [&str; 6] = ["write", "rename", "mkdir", "unlink", "symlink", "rmdir"];

/// Runs the binary once for each system call it makes, killed there; `check` looks at what is left each time. Returns how
/// often it was killed.
fn killed_everywhere(
    sandbox: &Sandbox,
    calls: &[&str],
    args: &[&str],
    input: &[u8],
    mut check: impl FnMut(&str),
) -> usize {
    let mut kills = 0;
    for call in calls {
        for count in 1.. {
            let inject = format!("inject={call}:signal=SIGKILL:when={count}");
            let killed = traced(sandbox, &inject, args, input).status.signal() == Some(9);
            check(&format!("killed at {call} number {count}"));
            if !killed {
                break;
            }
            kills += 1;
        }
    }
    kills
}

/// A run in which a system call goes differently.
fn traced(sandbox: &Sandbox, inject: &str, args: &[&str], input: &[u8]) -> Output {
    let plain = sandbox.command(args);
    let call = inject.trim_start_matches("inject=").split(':').next().expect("a system call");
    let mut command = Command::new(STRACE.as_deref().expect("it was asked for"));
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e", inject]);
    if !inject.contains(":signal=") {
        // Stops at that call and at no other, which is most of what tracing costs. No signal is sent from there.
        command.arg("--seccomp-bpf");
    }
    command.arg(plain.get_program()).args(plain.get_args()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(plain.get_current_dir().unwrap_or(sandbox.path()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("strace starts");
    // It may be gone before it reads.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("it ends")
}

/// With its folder: a bare name is looked up by a copy of this process, and copying it takes longer than a whole run.
static STRACE: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join("strace")).find(|program| program.is_file())
});

/// Without strace there is nothing to kill with at the right moment. CI does not accept that.
#[expect(clippy::print_stdout, reason = "says what a run left out")]
pub(crate) fn can_trace() -> bool {
    let found = STRACE.is_some();
    assert!(found || std::env::var_os("CI").is_none(), "strace is missing: `cargo xtask test` installs it");
    if !found {
        println!("left out: strace is missing");
    }
    found
}

fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty())
}

#[test]
fn a_hook_leaves_whole_lines() {
    if !can_trace() {
        return;
    }
    let sandbox = Sandbox::new();
    let transcript = sandbox.path().join("t.jsonl");
    let answer = json!({
        "type": "assistant",
        "timestamp": "2026-11-15T11:51:30.000Z",
        "message": { "id": "m", "model": "claude-opus-4-6", "usage": { "input_tokens": 155_000 } },
    });
    fs::write(&transcript, format!("{answer}\n")).expect("a transcript");
    let mut payload = fixtures::hook("UserPromptSubmit.plain");
    payload["transcript_path"] = json!(transcript);
    payload["cwd"] = json!(sandbox.project());
    let input = payload.to_string();
    let session = payload["session_id"].as_str().expect("a session").to_owned();

    let kills = killed_everywhere(
        &sandbox,
        &CALLS,
        &["hook", "--event", "UserPromptSubmit"],
        input.as_bytes(),
        |when| {
            for day in fs::read_dir(sandbox.state().join("journal")).into_iter().flatten().flatten() {
                let text = fs::read_to_string(day.path()).expect("the journal");
                assert!(text.is_empty() || text.ends_with('\n'), "{when}: a torn end");
                for line in lines_of(&text) {
                    serde_json::from_str::<Value>(line)
                        .unwrap_or_else(|error| panic!("{when}: {error}: {line}"));
                }
            }
            let marks = fs::read_to_string(sandbox.session(&session).join("marks")).unwrap_or_default();
            for line in lines_of(&marks) {
                serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{when}: {error}: {line}"));
            }
        },
    );
    assert!(kills > 20, "killed only {kills} times");
    // All that did not get so far as to mark it as said did not say it either; the next one goes on as if nothing was.
    let answer = sandbox.hook(&["--event", "UserPromptSubmit"], &input);
    assert_eq!(answer.exit, 0);
    let marks = fs::read_to_string(sandbox.session(&session).join("marks")).expect("the marks");
    assert_eq!(marks.matches("\"urgent\"").count(), 1, "said once: {marks}");
}

/// What there is to install into, as new.
fn prepare(sandbox: &Sandbox) {
    for folder in [sandbox.project(), sandbox.home(), sandbox.state()] {
        let _ = fs::remove_dir_all(&folder);
    }
    fs::create_dir_all(sandbox.project().join(".git")).expect("a project");
    fs::create_dir_all(sandbox.project().join(".claude")).expect("a project");
    fs::create_dir(sandbox.home()).expect("a home");
    fs::write(sandbox.project().join(".claude/settings.local.json"), OLD).expect("settings");
    fs::write(sandbox.project().join(".gitignore"), "target").expect("ignored files");
    sandbox.config("# mine\n");
}

const OLD: &str = "{ \"model\": \"opus\" }";

/// Every file a person has or gets; private state is looked at through what `uninstall` makes of it.
fn files(sandbox: &Sandbox) -> BTreeMap<PathBuf, String> {
    let link = |path: &PathBuf| Some(fs::read_link(path).ok()?.to_string_lossy().into_owned());
    let read = |path: PathBuf| Some((path.clone(), link(&path).or_else(|| fs::read_to_string(&path).ok())?));
    let all = sandbox.everything().into_iter().filter(|path| !path.starts_with(sandbox.state()));
    // What a killed process was about to rename is left beside the file, and hidden.
    let is_left = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "tmp");
    all.filter(|path| !is_left(path)).filter_map(read).collect()
}

/// All that a next run could go by: without times, and names of files that were about to be renamed.
fn state_left(sandbox: &Sandbox) -> Vec<(PathBuf, String)> {
    let without_numbers = |name: &str| name.replace(|c: char| c.is_ascii_digit(), "");
    let state = sandbox.everything().into_iter().map(|path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let is_temporary = path.extension().is_some_and(|ending| ending == "tmp");
        let content = match fs::read_link(&path) {
            Ok(target) => target.to_string_lossy().into_owned(),
            Err(_) => fs::read_to_string(&path).unwrap_or_default(),
        };
        let lines: Vec<&str> = content.lines().filter(|line| !line.contains("\"since\": ")).collect();
        let path = if is_temporary { path.with_file_name(without_numbers(&name)) } else { path };
        (path, lines.join("\n"))
    });
    let mut state: Vec<_> = state.collect();
    state.sort();
    state
}

/// Puts everything back.
fn restore(sandbox: &Sandbox, saved: &Path) {
    for folder in [sandbox.project(), sandbox.home(), sandbox.state()] {
        let _ = fs::remove_dir_all(&folder);
    }
    copy_tree(saved, sandbox.path());
}

fn copy_tree(from: &Path, to: &Path) {
    let copied = Command::new("/bin/cp").arg("-a").arg(from.join(".")).arg(to).status();
    assert!(copied.expect("cp runs").success());
}

#[test]
fn an_install_leaves_every_file_old_or_new() {
    if !can_trace() {
        return;
    }
    let sandbox = Sandbox::new();
    let init = ["init", "--project", ".", "--preset", "strict"];
    let uninstall = ["uninstall", "--project", "."];
    prepare(&sandbox);
    let old = files(&sandbox);
    assert_eq!(sandbox.run(&init).code, Some(0));
    let new = files(&sandbox);
    assert!(new.len() > old.len() + 2, "{new:?}");
    let mut checked = BTreeSet::new();
    let mut check = |when: &str| {
        for (path, text) in files(&sandbox) {
            let is_whole = old.get(&path) == Some(&text) || new.get(&path) == Some(&text);
            assert!(is_whole, "{when}: {}: {}", path.display(), text);
        }
        assert!(old.keys().all(|path| path.exists()), "{when}: a file is missing");
        // From wherever it stopped there is a way on, and then a way back. Several calls leave the same behind.
        if !checked.insert(state_left(&sandbox)) {
            return;
        }
        assert_eq!(sandbox.run(&init).code, Some(0), "{when}");
        assert_eq!(files(&sandbox), new, "{when}");
        let out = sandbox.run(&uninstall);
        assert_eq!(out.code, Some(0), "{when}: {out:?}");
        assert_eq!(files(&sandbox), old, "{when}");
        let left =
            sandbox.everything().into_iter().filter(|path| path.extension().is_some_and(|it| it == "tmp"));
        assert_eq!(left.collect::<Vec<_>>(), [""; 0].map(PathBuf::from), "{when}");
    };
    let kills = killed_everywhere(&sandbox, &CHANGES, &init, b"", |when| {
        check(when);
        prepare(&sandbox);
    });
    assert!(kills > 40, "killed only {kills} times");

    assert_eq!(sandbox.run(&init).code, Some(0));
    let installed = tempfile::tempdir().expect("a folder");
    copy_tree(sandbox.path(), installed.path());
    let kills = killed_everywhere(&sandbox, &CHANGES, &uninstall, b"", |when| {
        check(when);
        restore(&sandbox, installed.path());
    });
    assert!(kills > 20, "killed only {kills} times");
    assert!(checked.len() > 40, "only {} different states were left", checked.len());
}

/// What a worker was to store is stored once, wherever it ended: the job goes last.
#[test]
fn a_worker_loses_nothing() {
    const STORES: [&str; 4] = ["pwrite64", "write", "unlink", "rename"];
    if !can_trace() {
        return;
    }
    let machine = Machine::new();
    let mut uids = BTreeSet::new();
    let mut more = || {
        let uid = format!("u{}", uids.len());
        machine.turn("s", &uid);
        uids.insert(uid);
    };
    more();
    let kills = killed_everywhere(&machine.sandbox, &STORES, &["worker"], b"", |_| {
        if machine.jobs() == 0 {
            more();
        }
    });
    assert!(kills > 30, "killed only {kills} times");
    machine.emptied();
    machine.holds(&uids);
}

/// A full disk in the middle: it says what was done by then, and the way on and back is open.
#[test]
fn an_install_that_fails_in_the_middle_says_so() {
    if !can_trace() {
        return;
    }
    let sandbox = Sandbox::new();
    let init = ["init", "--project", ".", "--preset", "strict"];
    prepare(&sandbox);
    let old = files(&sandbox);
    let mut told = Vec::new();
    for call in ["fsync", "rename", "symlink"] {
        for count in 1.. {
            let output = traced(&sandbox, &format!("inject={call}:error=ENOSPC:when={count}"), &init, b"");
            if output.status.success() {
                break;
            }
            let said = String::from_utf8(output.stderr).expect("text");
            assert_eq!(output.status.code(), Some(1), "{said}");
            assert!(said.starts_with("error: ") && said.contains("No space left"), "{said}");
            let nothing = said.contains("nothing was changed");
            assert!(nothing || said.contains("changed before this: "), "{said}");
            assert!(!nothing || files(&sandbox) == old, "{said}");
            told.push(nothing);
            assert_eq!(sandbox.run(&["uninstall", "--project", "."]).code, Some(0));
            assert_eq!(files(&sandbox), old, "{said}");
            prepare(&sandbox);
        }
        let _ = sandbox.run(&["uninstall", "--project", "."]).ok();
    }
    assert!(told.contains(&true) && told.iter().filter(|nothing| !**nothing).count() > 5, "{told:?}");
}

/// Twelve entries, so that two are too many.
fn flow() -> String {
    let entry =
        |day: usize| format!("\n## [2026-02-{day:02}T08:00:00Z] — entry number {day}\n- Decision: d{day}\n");
    (1..=12).rev().map(entry).fold("# Progress\n".to_owned(), |text, entry| text + &entry)
}

fn knowledge(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(sandbox.project().join(".claude/context").join(name)).unwrap_or_default()
}

/// Every entry is in one of the two files, whole.
fn has_all_entries(sandbox: &Sandbox, when: &str) {
    let all = knowledge(sandbox, "progress.md") + &knowledge(sandbox, "progress.archive.md");
    for day in 1..=12 {
        let entry = format!("## [2026-02-{day:02}T08:00:00Z] — entry number {day}\n- Decision: d{day}\n");
        assert!(all.contains(&entry), "{when}: {entry}: {all}");
    }
}

/// No half of a temporary file is taken for one of the persistence files.
fn prepare_knowledge(sandbox: &Sandbox, stock: &str) {
    let folder = sandbox.project().join(".claude/context");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("progress.md"), flow()).expect("a flow");
    fs::write(folder.join("task_plan.md"), "# Current Task: x\n").expect("a plan");
    fs::write(folder.join("learnings-coding.md"), stock).expect("stock");
}

const STOCK: &str = "# Learnings\n\n## a\n- **Learning**: b\n- **Confirmed**: 1 time | 2026-01-01 | debug\n";

#[test]
fn an_entry_is_added_or_not() {
    if !can_trace() {
        return;
    }
    let sandbox = Sandbox::new();
    prepare_knowledge(&sandbox, STOCK);
    let old = flow();
    let add = ["progress", "add", "the new one", "--decision", "whole"];
    let kills = killed_everywhere(&sandbox, &CALLS, &add, b"", |when| {
        let now = knowledge(&sandbox, "progress.md");
        let is_new = now.contains(" — the new one\n- Decision: whole\n\n") && now.len() > old.len();
        assert!(now == old || is_new, "{when}: {now}");
        has_all_entries(&sandbox, when);
        prepare_knowledge(&sandbox, STOCK);
    });
    assert!(kills > 20, "killed only {kills} times");
}

#[test]
fn stock_is_old_or_new() {
    if !can_trace() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.config("[approval]\nunattended = [\"compound promote\"]\n");
    prepare_knowledge(&sandbox, STOCK);
    let listed = sandbox.run(&["progress", "list", "--json"]).json();
    let id = listed["entries"][0]["id"].as_str().expect("an id").to_owned();
    let promote = [
        "compound",
        "promote",
        "--entry",
        &id,
        "--to",
        "coding",
        "--title",
        "t",
        "--learning",
        "l",
        "--context",
        "c",
        "--implication",
        "i",
    ];
    assert_eq!(sandbox.run(&promote).code, Some(0));
    let new = knowledge(&sandbox, "learnings-coding.md");
    assert!(new.starts_with(STOCK) && new.len() > STOCK.len(), "{new}");
    prepare_knowledge(&sandbox, STOCK);
    let kills = killed_everywhere(&sandbox, &CALLS, &promote, b"", |when| {
        let now = knowledge(&sandbox, "learnings-coding.md");
        assert!(now == STOCK || now == new, "{when}: {now}");
        has_all_entries(&sandbox, when);
        prepare_knowledge(&sandbox, STOCK);
    });
    assert!(kills > 20, "killed only {kills} times");
}

/// A hook that trims: each entry is in one of the two files or in both, and the next trim does not archive it twice.
#[test]
fn a_trim_loses_no_entry() {
    if !can_trace() {
        return;
    }
    let sandbox = Sandbox::new();
    let session = "91b38a40-3ead-4aa8-8407-24d36ddad7be";
    let of = |capture: &str| {
        let mut payload = fixtures::hook(capture);
        payload["session_id"] = json!(session);
        payload["cwd"] = json!(sandbox.project());
        payload["transcript_path"] = json!(sandbox.path().join("none.jsonl"));
        payload
    };
    let compacted = of("SessionStart.compact").to_string();
    let begin = || {
        let _ = fs::remove_dir_all(sandbox.session(session));
        prepare_knowledge(&sandbox, STOCK);
        let _ = sandbox.event(&of("SessionStart.startup"));
        let _ = sandbox.event(&of("PreCompact.auto"));
    };
    let args = ["hook", "--event", "SessionStart"];
    begin();
    let _ = sandbox.hook(&args[1..], &compacted);
    let archived = knowledge(&sandbox, "progress.archive.md");
    assert_eq!(archived.matches("\n## [").count(), 2, "{archived}");
    begin();
    let kills = killed_everywhere(&sandbox, &CALLS, &args, compacted.as_bytes(), |when| {
        has_all_entries(&sandbox, when);
        let _ = fs::remove_dir_all(sandbox.session(session));
        let _ = sandbox.event(&of("SessionStart.startup"));
        let _ = sandbox.event(&of("PreCompact.auto"));
        let _ = sandbox.hook(&args[1..], &compacted);
        has_all_entries(&sandbox, when);
        let archived = knowledge(&sandbox, "progress.archive.md");
        assert_eq!(archived.matches("\n## [").count(), 2, "{when}: {archived}");
        begin();
    });
    assert!(kills > 20, "killed only {kills} times");
}

const MINE: &str = "# My own notes\n";

/// What a person wrote there is under one of its two names, and the handoff is whole.
#[test]
fn a_handoff_loses_nothing() {
    if !can_trace() {
        return;
    }
    let sandbox = Sandbox::new();
    let begin = || {
        prepare_knowledge(&sandbox, STOCK);
        fs::write(sandbox.project().join(".claude/context/handoff.md"), MINE).expect("a file");
        let _ = fs::remove_file(sandbox.project().join(".claude/context/handoff.kept.md"));
    };
    begin();
    let calls: Vec<&str> = CALLS.into_iter().chain(["linkat"]).collect();
    let mut replaced = 0;
    let kills = killed_everywhere(&sandbox, &calls, &["handoff"], b"", |when| {
        let (now, kept) = (knowledge(&sandbox, "handoff.md"), knowledge(&sandbox, "handoff.kept.md"));
        assert!(now == MINE || kept == MINE, "{when}: {now}");
        assert!(kept.is_empty() || kept == MINE, "{when}: {kept}");
        if now != MINE {
            replaced += 1;
            assert!(
                now.starts_with("<!-- tidegate handoff ") && now.ends_with("/learnings-coding.md\n"),
                "{when}: {now}"
            );
        }
        has_all_entries(&sandbox, when);
        assert_eq!(sandbox.run(&["handoff"]).code, Some(0), "{when}");
        assert_eq!(knowledge(&sandbox, "handoff.kept.md"), MINE, "{when}");
        assert!(!sandbox.project().join(".claude/context/handoff.kept.2.md").exists(), "{when}");
        begin();
    });
    assert!(kills > 20 && replaced > 0, "killed {kills} times, replaced {replaced} times");
}

#[test]
fn a_stage_begins_whole_or_not_at_all() {
    if !can_trace() {
        return;
    }
    let play = crate::cycle::Play::new();
    play.uses(10_000);
    play.start();
    play.finishes("sprint");
    let sandbox = &play.sandbox;
    let paths =
        [sandbox.project().join(".claude/dev-cycle.state.json"), sandbox.session("s-1").join("marks")];
    let before = paths.each_ref().map(|path| fs::read(path).expect("it is there"));
    let stop = play.payload("Stop", json!({ "last_assistant_message": "done", "stop_hook_active": false }));
    let mut begun = 0;
    let check = |when: &str| {
        let state: Value =
            serde_json::from_str(&play.text()).unwrap_or_else(|error| panic!("{when}: {error}"));
        assert_eq!(state["session_id"], "s-1", "{when}");
        match state["stage"].as_str() {
            Some("sprint") => assert_eq!(state["stages"]["sprint"].get("ended"), None, "{when}"),
            Some("audit") => {
                begun += 1;
                assert_eq!(state["stages"]["sprint"]["tokens_at_end"], 10_000, "{when}");
            }
            other => panic!("{when}: {other:?}"),
        }
        for (path, bytes) in paths.iter().zip(&before) {
            fs::write(path, bytes).expect("it can be written");
        }
    };
    let kills = killed_everywhere(
        sandbox,
        &CHANGES,
        &["hook", "--event", "Stop"],
        stop.to_string().as_bytes(),
        check,
    );
    assert!(kills > 5 && begun > 0, "killed {kills} times, begun {begun} times");
}

/// The store is made, brought to its version and written to: whoever is killed in it leaves what was there before, or after.
#[test]
fn a_store_is_made_and_written_whole() {
    // Every call would be hundreds of runs; pages of one transaction do not differ.
    const STEPS: [(&str, usize); 4] = [("pwrite64", 9), ("ftruncate", 1), ("unlink", 1), ("rename", 1)];
    if !can_trace() {
        return;
    }
    let data = |sandbox: &Sandbox| sandbox.home().join(".local/share/tidegate");
    let titles = |sandbox: &Sandbox| {
        let ran = sandbox.run(&["memory", "list", "--json"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
        ran.json()["topics"].as_array().expect("topics").len()
    };
    let mut kills = 0;
    for is_there in [false, true] {
        for (call, step) in STEPS {
            for count in (1..).step_by(step) {
                let sandbox = Sandbox::new();
                if is_there {
                    assert_eq!(sandbox.run(&["memory", "topic", "add", "first"]).code, Some(0));
                }
                let inject = format!("inject={call}:signal=SIGKILL:when={count}");
                let ended = traced(&sandbox, &inject, &["memory", "topic", "add", "second"], b"");
                let killed = ended.status.signal() == Some(9);
                let when = format!("killed at {call} number {count}, there before: {is_there}");
                let before = usize::from(is_there);
                let found = titles(&sandbox);
                assert!(found == before + 1 || killed && found == before, "{when}: {found}");
                let ran = sandbox.run(&["memory", "topic", "add", "third"]);
                assert_eq!(ran.code, Some(0), "{when}: {ran:?}");
                assert_eq!(titles(&sandbox), found + 1, "{when}");
                assert!(!data(&sandbox).join("memory/damaged").exists(), "{when}: taken for damage");
                if !killed {
                    break;
                }
                kills += 1;
            }
        }
    }
    assert!(kills > 20, "killed only {kills} times");
}

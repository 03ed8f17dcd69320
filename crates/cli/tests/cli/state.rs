//! A state directory that cannot be used: gates close, the end of a turn is held once, advice is silent, nobody waits.

use std::fs::{self, File};
use std::os::unix::fs::{chown, lchown, symlink};

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::fixtures;
use crate::sandbox::{Sandbox, copy_program, is_root, make_fifo};
use crate::transcript::{Transcript, addressed, answer};

const SESSION: &str = "a42a0a81-ec39-4d28-90fe-ddc2eeec6678";

/// Today's file of the journal. Tomorrow's too, should midnight come in between.
fn journal_days(sandbox: &Sandbox) -> [std::path::PathBuf; 2] {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock");
    let day = |seconds: u64| tidegate_core::time::Millis(seconds * 1000).day();
    [now.as_secs(), now.as_secs() + 86_400]
        .map(|seconds| sandbox.state().join("journal").join(format!("{}.jsonl", day(seconds))))
}

fn folder(path: &std::path::Path) {
    fs::create_dir_all(path).expect("a new folder");
}

/// Whether the journal can still be written when the rest cannot.
#[derive(Clone, Copy, PartialEq)]
enum Journal {
    Works,
    Fails,
}

/// Events at a level at which there would be something to say; `sandbox` has something broken in it.
fn gate_closed_advice_silent(sandbox: Sandbox, step: &str, journal: Journal) {
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(155_000));
    let payload =
        |capture: &str| addressed(fixtures::hook(capture), SESSION, &transcript.path, &sandbox.project());
    let write = payload("PreToolUse.Write");
    let records = |what: &str| -> Option<Value> {
        if journal == Journal::Fails {
            return None;
        }
        let mut records = sandbox.new_records();
        assert_eq!(records.len(), 1, "{step}, {what}: one record, {records:?}");
        records.pop()
    };
    sandbox.event(&write).closed(step);
    if let Some(record) = records("gate") {
        assert_eq!(
            (&record["failure"]["closed"], &record["session"]),
            (&json!(true), &json!(SESSION)),
            "{record}"
        );
    }
    for capture in ["PostToolUse.Write", "UserPromptSubmit.plain", "SessionStart.startup", "PreCompact.auto"]
    {
        sandbox.event(&payload(capture)).silent();
        records(capture);
    }
    // Edits are not known: the turn is held, but not twice.
    for active in [false, true] {
        let mut stop = payload("Stop.first");
        stop["stop_hook_active"] = json!(active);
        let answer = sandbox.event(&stop);
        assert_eq!(answer.stdout.contains("\"decision\":\"block\""), !active, "{step}: {answer:?}");
        records("Stop");
    }
    sandbox.hook(&["--event", "PreToolUse", "--advice"], write.to_string()).silent();
    records("advice");
    // The status line is drawn all the same.
    let line = sandbox.run_with(&["statusline"], fixtures::status_lines()[1].text.as_bytes());
    assert!(!line.ok().trim().is_empty(), "{step}: {line:?}");
    // And a person can go on.
    let sandbox = sandbox.with("TIDEGATE_OFF", "skill-gate");
    sandbox.event(&write).silent();
}

fn without_state() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::remove_dir_all(sandbox.state()).expect("our own folder");
    sandbox
}

#[test]
fn a_file_in_its_place() {
    let sandbox = without_state();
    fs::write(sandbox.state(), b"").expect("a new file");
    gate_closed_advice_silent(sandbox, "the state directory cannot be used", Journal::Fails);
}

#[test]
fn below_a_file() {
    let sandbox = Sandbox::new();
    let file = sandbox.path().join("file");
    fs::write(&file, b"").expect("a new file");
    let sandbox = sandbox.with("TIDEGATE_STATE_DIR", file.join("state"));
    gate_closed_advice_silent(sandbox, "the state directory cannot be used", Journal::Fails);
}

#[test]
fn a_relative_path() {
    let sandbox = Sandbox::new().with("TIDEGATE_STATE_DIR", "state/here");
    let project = sandbox.project();
    gate_closed_advice_silent(
        sandbox,
        "the state directory cannot be used (TIDEGATE_STATE_DIR",
        Journal::Fails,
    );
    assert!(!project.exists(), "the sandbox is gone with its project");
}

#[test]
fn no_home() {
    for home in [None, Some(""), Some("relative")] {
        let mut sandbox = Sandbox::new().without("TIDEGATE_STATE_DIR").without("HOME");
        if let Some(home) = home {
            sandbox = sandbox.with("HOME", home);
        }
        gate_closed_advice_silent(
            sandbox,
            "the state directory cannot be used (neither HOME",
            Journal::Fails,
        );
    }
}

#[test]
fn a_link_in_a_circle() {
    let sandbox = without_state();
    symlink(sandbox.path().join("other"), sandbox.state()).expect("a new link");
    symlink(sandbox.state(), sandbox.path().join("other")).expect("a new link");
    gate_closed_advice_silent(sandbox, "the state directory cannot be used", Journal::Fails);
}

#[test]
fn somebody_elses() {
    let sandbox = Sandbox::new();
    if !is_root(&sandbox) {
        eprintln!("left out: only root can give a folder away");
        return;
    }
    folder(&sandbox.state());
    chown(sandbox.state(), Some(12_345), None).expect("root may");
    gate_closed_advice_silent(sandbox, "the state directory cannot be used", Journal::Fails);

    let sandbox = without_state();
    let real = sandbox.path().join("real");
    folder(&real);
    symlink(&real, sandbox.state()).expect("a new link");
    lchown(sandbox.state(), Some(12_345), None).expect("root may");
    gate_closed_advice_silent(sandbox, "the state directory cannot be used", Journal::Fails);
}

#[test]
fn read_only() {
    use std::os::unix::fs::PermissionsExt;
    let lock = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our own folder");
    };
    for exists in [false, true] {
        let mut sandbox = Sandbox::new();
        let above = sandbox.path().join("above");
        folder(&above.join(if exists { "state" } else { "" }));
        if exists {
            lock(&above.join("state"), 0o500);
        }
        lock(&above, 0o500);
        if is_root(&sandbox) && !cfg!(target_os = "linux") {
            eprintln!("left out: modes do not bind root, and there is no `setpriv`");
            return;
        }
        if is_root(&sandbox) {
            sandbox = as_another_person(sandbox);
        }
        let sandbox = sandbox.with("TIDEGATE_STATE_DIR", above.join("state"));
        let step =
            if exists { "the session's state cannot be used" } else { "the state directory cannot be used" };
        gate_closed_advice_silent(sandbox, step, Journal::Fails);
        // So that the sandbox can be removed.
        if above.exists() {
            lock(&above, 0o700);
        }
    }
}

/// Modes do not bind root: everything is given away, and the program runs as its owner.
pub(crate) fn as_another_person(sandbox: Sandbox) -> Sandbox {
    use std::os::unix::fs::PermissionsExt;
    const PERSON: &str = "65534";
    let program = sandbox.path().join("tmp/tidegate");
    copy_program(env!("CARGO_BIN_EXE_tidegate").as_ref(), &program);
    let id = PERSON.parse().expect("a number");
    for path in sandbox.everything().iter().chain([&sandbox.path().to_owned()]) {
        lchown(path, Some(id), Some(id)).expect("root may");
    }
    fs::set_permissions(sandbox.path(), fs::Permissions::from_mode(0o755)).expect("our own folder");
    let by_person = ["setpriv", "--reuid", PERSON, "--regid", PERSON, "--clear-groups", "--"];
    let exec = ["/bin/sh", "-c", "shift; exec \"$0\" \"$@\"", &program.to_string_lossy()];
    sandbox.below(&[&by_person[..], &exec].concat())
}

#[test]
fn a_journal_that_is_a_file() {
    let sandbox = Sandbox::new();
    folder(&sandbox.state());
    fs::write(sandbox.state().join("journal"), b"").expect("a new file");
    gate_closed_advice_silent(sandbox, "the record could not be written", Journal::Fails);
}

/// Only Linux has a file that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let sandbox = Sandbox::new();
    folder(&sandbox.state().join("journal"));
    for day in journal_days(&sandbox) {
        symlink("/dev/full", day).expect("a new link");
    }
    gate_closed_advice_silent(sandbox, "the record could not be written", Journal::Fails);
}

#[test]
fn marks_that_are_a_folder() {
    let sandbox = Sandbox::new();
    folder(&sandbox.session(SESSION).join("marks"));
    gate_closed_advice_silent(sandbox, "the session's state cannot be used", Journal::Works);
}

#[test]
fn sessions_that_are_a_file() {
    let sandbox = Sandbox::new();
    folder(&sandbox.state());
    fs::write(sandbox.state().join("sessions"), b"").expect("a new file");
    gate_closed_advice_silent(sandbox, "the session's state cannot be used", Journal::Works);
}

#[test]
fn marks_that_are_a_pipe() {
    let sandbox = Sandbox::new();
    folder(&sandbox.session(SESSION));
    make_fifo(&sandbox.session(SESSION).join("marks"));
    gate_closed_advice_silent(sandbox, "the session's state cannot be used", Journal::Works);
}

fn once(sandbox: &Sandbox, capture: &str) -> Answer {
    let payload = addressed(fixtures::hook(capture), SESSION, "none".as_ref(), &sandbox.project());
    let event = capture.split('.').next().unwrap_or_default();
    let answer = sandbox.hook(&["--event", event], payload.to_string());
    answer.check(event);
    answer
}

#[test]
fn a_lock_that_is_not_given_back() {
    let sandbox = Sandbox::new().waiting();
    folder(&sandbox.session(SESSION));
    let lock = File::create(sandbox.session(SESSION).join("lock")).expect("a new file");
    lock.lock().expect("nobody else has it");
    let run = |capture: &str| once(&sandbox, capture);
    let gate = run("PreToolUse.Write");
    assert_eq!(gate.exit, 2, "{gate:?}");
    assert_eq!(sandbox.one_record()["failure"]["closed"], true);
    let held = run("Stop.first");
    assert_eq!(held.output()["decision"], "block", "{held:?}");
    assert_eq!(sandbox.new_records().len(), 1);
    lock.unlock().expect("our own");
    let write = addressed(fixtures::hook("PreToolUse.Write"), SESSION, "none".as_ref(), &sandbox.project());
    sandbox.event(&write).silent();
    assert_eq!(sandbox.one_record()["ruling"], "pass");
}

/// Neither of them waits for another end: a turn would end unchecked with the deadline.
#[test]
fn a_journal_that_is_a_pipe() {
    let sandbox = Sandbox::new();
    folder(&sandbox.state().join("journal"));
    for day in journal_days(&sandbox) {
        make_fifo(&day);
    }
    gate_closed_advice_silent(sandbox, "the record could not be written", Journal::Fails);
}

/// It takes everything and keeps nothing.
#[test]
fn a_journal_that_is_a_device() {
    let sandbox = Sandbox::new();
    folder(&sandbox.state().join("journal"));
    for day in journal_days(&sandbox) {
        symlink("/dev/null", day).expect("a new link");
    }
    gate_closed_advice_silent(sandbox, "the record could not be written (not a file)", Journal::Fails);
}

#[test]
fn marks_that_are_a_device() {
    for device in ["/dev/null", "/dev/zero"] {
        let sandbox = Sandbox::new();
        folder(&sandbox.session(SESSION));
        symlink(device, sandbox.session(SESSION).join("marks")).expect("a new link");
        gate_closed_advice_silent(sandbox, "the session's state cannot be used", Journal::Works);
    }
}

#[test]
fn a_lock_that_is_a_pipe() {
    let sandbox = Sandbox::new();
    folder(&sandbox.session(SESSION));
    make_fifo(&sandbox.session(SESSION).join("lock"));
    let run = |capture: &str| once(&sandbox, capture);
    run("PreToolUse.Write").closed("the session's state cannot be used (not a file)");
    assert_eq!(run("Stop.first").output()["decision"], "block");
}

/// The hook waits for the session's lock beyond its deadline, as for a file system that does not answer.
fn hanging() -> (Sandbox, File) {
    let sandbox = Sandbox::new().without("TEST_TIDEGATE_PATIENCE").with("TEST_TIDEGATE_LOCK_MS", "60000");
    folder(&sandbox.session(SESSION));
    let lock = File::create(sandbox.session(SESSION).join("lock")).expect("a new file");
    lock.lock().expect("nobody else has it");
    (sandbox, lock)
}

#[test]
fn state_that_hangs_does_not_hang_the_gate() {
    let (sandbox, _lock) = hanging();
    once(&sandbox, "PreToolUse.Write").closed("no answer within 2000 ms");
    once(&sandbox, "Stop.first").silent();
}

/// The same with a pipe in its place.
#[test]
fn advice_kept_back_by_a_journal_that_is_a_pipe_is_not_lost() {
    let sandbox = Sandbox::new();
    folder(&sandbox.state().join("journal"));
    for day in journal_days(&sandbox) {
        make_fifo(&day);
    }
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(155_000));
    let prompt =
        addressed(fixtures::hook("UserPromptSubmit.plain"), SESSION, &transcript.path, &sandbox.project());
    sandbox.hook(&["--event", "UserPromptSubmit"], prompt.to_string()).silent();
    for day in journal_days(&sandbox) {
        fs::remove_file(day).expect("our own file");
    }
    let answer = sandbox.with("TEST_TIDEGATE_PATIENCE", "100").event(&prompt);
    assert!(answer.context().is_some_and(|text| text.contains("tokens are left")), "{answer:?}");
}

/// Once it is read, the payload itself says that it gates.
#[test]
fn late_without_event_is_still_a_gate() {
    let (sandbox, _lock) = hanging();
    let write = addressed(fixtures::hook("PreToolUse.Write"), SESSION, "none".as_ref(), &sandbox.project());
    sandbox.hook(&[], write.to_string()).closed("no answer within 2000 ms");
}

/// Said once means said: what was kept back because it could not be recorded comes when it can.
#[test]
fn advice_kept_back_by_a_broken_journal_is_not_lost() {
    let sandbox = Sandbox::new();
    folder(&sandbox.state());
    let in_the_way = sandbox.state().join("journal");
    fs::write(&in_the_way, b"").expect("a new file");
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(155_000));
    let prompt =
        addressed(fixtures::hook("UserPromptSubmit.plain"), SESSION, &transcript.path, &sandbox.project());
    sandbox.event(&prompt).silent();
    fs::remove_file(in_the_way).expect("our own file");
    let answer = sandbox.event(&prompt);
    assert!(answer.context().is_some_and(|text| text.contains("tokens are left")), "{answer:?}");
}

#[test]
fn where_it_is_and_that_it_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let xdg = Sandbox::new();
    let place = xdg.path().join("xdg");
    let xdg = xdg.without("TIDEGATE_STATE_DIR").with("XDG_STATE_HOME", &place);
    let home = Sandbox::new().without("TIDEGATE_STATE_DIR");
    let own = Sandbox::new();
    // One that others could read is closed to them.
    folder(&own.state());
    fs::set_permissions(own.state(), fs::Permissions::from_mode(0o755)).expect("our own folder");
    for (sandbox, state) in [
        (&xdg, place.join("tidegate")),
        (&home, home.home().join(".local/state/tidegate")),
        (&own, own.state()),
    ] {
        sandbox.event(&fixtures::hook("PreToolUse.Write")).silent();
        let _ = sandbox.run_with(&["statusline"], fixtures::status_lines()[1].text.as_bytes()).ok();
        let made: Vec<_> = sandbox.everything().into_iter().filter(|path| path.starts_with(&state)).collect();
        assert!(made.len() >= 8, "{made:?}");
        for path in made {
            let mode = fs::metadata(&path).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}", path.display());
        }
    }
}

#[test]
fn damaged_marks_cost_only_what_is_damaged() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(155_000));
    let prompt =
        addressed(fixtures::hook("UserPromptSubmit.plain"), SESSION, &transcript.path, &sandbox.project());
    assert!(sandbox.event(&prompt).context().is_some());
    let marks = sandbox.session(SESSION).join("marks");
    let mut bytes = fs::read(&marks).expect("the marks");
    bytes.extend_from_slice(b"\n\xff\xfe{\"pressure\":\n{\"some-newer-mark\":{}}\n{\"press");
    fs::write(&marks, bytes).expect("our own file");
    // What was said is still known: it is not said again.
    sandbox.event(&prompt).silent();
    transcript.line(&answer(20_000));
    sandbox.event(&prompt).silent();
    transcript.line(&answer(156_000));
    assert!(sandbox.event(&prompt).context().is_some(), "a mark behind a torn line counts");
}

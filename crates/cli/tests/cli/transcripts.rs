//! Transcripts as they are found in the field: missing, torn, huge, growing, and not files at all.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};
use tidegate_core::host::Host;
use tidegate_core::meter::transcript::EventTrace;

use crate::fixtures;
use crate::sandbox::{Sandbox, is_root, make_fifo};
use crate::transcript::{Transcript, addressed, answer, boundary, plain_reading};

const SESSION: &str = "91b38a40-3ead-4aa8-8407-24d36ddad7be";

/// What a prompt's record says about the meter with this transcript; nothing is said at such readings.
fn meter(sandbox: &Sandbox, transcript: &Path) -> Value {
    let prompt = addressed(fixtures::hook("UserPromptSubmit.plain"), SESSION, transcript, &sandbox.project());
    sandbox.event(&prompt).silent();
    let record = sandbox.one_record();
    assert_eq!(record["ruling"], "pass", "{record}");
    record["meter"].clone()
}

#[test]
fn what_cannot_be_read_is_unknown_and_nothing_else() {
    let sandbox = Sandbox::new();
    let at = |name: &str| sandbox.path().join(name);
    fs::create_dir(at("folder")).expect("a new folder");
    make_fifo(&at("fifo"));
    symlink(at("loop"), at("loop")).expect("a new link");
    symlink(at("nowhere"), at("dangling")).expect("a new link");
    fs::write(at("file"), b"").expect("a new file");
    fs::write(at("binary"), [0_u8, 159, 146, 150].repeat(50_000)).expect("a new file");
    fs::write(at("forbidden"), answer(50_000)).expect("a new file");
    fs::set_permissions(at("forbidden"), fs::Permissions::from_mode(0o000)).expect("our own file");
    let mut paths = vec![
        at("missing"),
        at("folder"),
        at("fifo"),
        at("loop"),
        at("dangling"),
        at("file"),
        at("file").join("below"),
        at("binary"),
        at(&"long".repeat(100)),
        "/dev/zero".into(),
        "/dev/full".into(),
        "/proc/self/mem".into(),
        "".into(),
    ];
    if is_root(&sandbox) {
        eprintln!("left out: a forbidden file, since modes do not bind root");
    } else {
        paths.push(at("forbidden"));
    }
    for path in paths {
        let meter = meter(&sandbox, &path);
        assert!(meter["unknown"].as_str().is_some_and(|why| !why.is_empty()), "{}: {meter}", path.display());
        assert!(meter.get("used").is_none(), "{}: {meter}", path.display());
        // The gate does not depend on it.
        let write = addressed(fixtures::hook("PreToolUse.Write"), SESSION, &path, &sandbox.project());
        sandbox.event(&write).silent();
        assert_eq!(sandbox.one_record()["ruling"], "pass");
    }
}

#[test]
fn a_gigabyte() {
    let sandbox = Sandbox::new();
    let path = sandbox.path().join("t.jsonl");
    // Sparse: it takes no room, but whoever reads it whole will notice.
    fs::File::create(&path).and_then(|file| file.set_len(1 << 30)).expect("a sparse file");
    let mut transcript = Transcript::at(path.clone());
    transcript.line("");
    transcript.line(&answer(30_000));
    transcript.line(&answer(40_000));
    transcript.line(&json!({ "type": "api-request-blob", "text": "x".repeat(300_000) }).to_string());
    assert_eq!(meter(&sandbox, &path)["used"], 40_000);
    // Nothing but nothing is given up on.
    fs::File::create(&path).and_then(|file| file.set_len(1 << 30)).expect("a sparse file");
    let meter = meter(&sandbox, &path);
    assert!(meter.get("used").is_none(), "{meter}");
}

#[test]
fn a_torn_last_line() {
    let sandbox = Sandbox::new();
    let path = sandbox.path().join("t.jsonl");
    let (old, new) = (answer(30_000), answer(40_000));
    for length in (0..new.len()).step_by(new.len() / 12) {
        fs::write(&path, format!("{old}\n{}", &new[..length])).expect("a new file");
        let meter = meter(&sandbox, &path);
        assert_eq!(meter["used"], 30_000, "cut at {length}: {meter}");
    }
    // Whole but for its end, and one with a carriage return.
    fs::write(&path, format!("{old}\n{new}")).expect("a new file");
    assert_eq!(meter(&sandbox, &path)["used"], 40_000);
    fs::write(&path, format!("{old}\r\n{new}\r\n")).expect("a new file");
    assert_eq!(meter(&sandbox, &path)["used"], 40_000);
    // Torn, and the next line right behind it.
    fs::write(&path, format!("{old}\n{}{new}\n", &new[..90])).expect("a new file");
    assert_eq!(meter(&sandbox, &path)["used"], 30_000);
}

#[test]
fn growing_while_it_is_read() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    let path = transcript.path.clone();
    transcript.line(&answer(10_000));
    let (written, stop) = (AtomicU64::new(10_000), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (written, stop) = (&written, &stop);
        scope.spawn(move || {
            // Each line in two pieces, so that most readings see half a line.
            for used in (10_001..100_000).take_while(|_| !stop.load(Ordering::Relaxed)) {
                let line = answer(used) + "\n";
                let (first, second) = line.split_at(line.len() / 2);
                transcript.write(first);
                transcript.write(second);
                written.store(used, Ordering::SeqCst);
            }
        });
        let mut last = 0;
        for _ in 0..80 {
            let before = written.load(Ordering::SeqCst);
            let used = meter(&sandbox, &path)["used"].as_u64().expect("a reading");
            let after = written.load(Ordering::SeqCst);
            assert!((before..=after + 1).contains(&used), "{used} is not one of {before} to {after}");
            assert!(used >= last, "{used} after {last}");
            last = used;
        }
        stop.store(true, Ordering::Relaxed);
        assert!(last > 10_000, "it grew");
    });
}

#[test]
fn replaced_by_a_shorter_one() {
    let sandbox = Sandbox::new();
    let path = sandbox.path().join("t.jsonl");
    fs::write(&path, (1..3000).map(|n| answer(10_000 + n) + "\n").collect::<String>()).expect("a new file");
    assert_eq!(meter(&sandbox, &path)["used"], 12_999);
    fs::write(&path, answer(5_000)).expect("our own file");
    assert_eq!(meter(&sandbox, &path)["used"], 5_000);
    fs::write(&path, boundary(2_600)).expect("our own file");
    let meter = meter(&sandbox, &path);
    assert_eq!((&meter["used"], &meter["source"]), (&json!(2_600), &json!("boundary")));
}

#[test]
fn captured_transcripts_read_as_they_do_the_plain_way() {
    for path in fixtures::transcripts() {
        let bytes = fs::read(&path).expect("a fixture");
        let plain = plain_reading(&bytes);
        let sandbox = Sandbox::new();
        // One that was captured from a subagent holds sidechains only, which are not the session's context.
        let meter = meter(&sandbox, &path);
        assert_eq!(meter["used"].as_u64(), plain, "{}: {meter}", path.display());
    }
}

#[test]
fn captured_transcripts_cut_anywhere() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cut = folder.path().join("t.jsonl");
    let (mut readings, mut values) = (0, std::collections::BTreeSet::new());
    for path in fixtures::transcripts() {
        let bytes = fs::read(&path).expect("a fixture");
        for length in (0..bytes.len()).step_by(bytes.len() / 400 + 1).chain([bytes.len()]) {
            fs::write(&cut, &bytes[..length]).expect("our own file");
            let found = tidegate_state::host::transcript::last_reading(
                Host::ClaudeCode,
                &cut,
                EventTrace::None,
                &|| true,
            );
            let used = found.expect("it is a file").map(|found| found.used);
            assert_eq!(used, plain_reading(&bytes[..length]), "{} cut at {length}", path.display());
            readings += usize::from(used.is_some());
            values.extend(used);
        }
    }
    assert!(readings > 500 && values.len() > 5, "{readings} readings of {values:?}");
}

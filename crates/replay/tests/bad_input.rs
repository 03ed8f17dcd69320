//! Transcripts that no host wrote: damaged at random, and with lines longer than any request. The same ones each time.
//!
//! Real transcripts are damaged, too, where their folder is: `TIDEGATE_TEST_TRANSCRIPTS`, or the one of `cargo xtask replay-corpus`.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_core::feature::config::Config;
use tidegate_replay::folder::{Replayed, replay_files};
use tidegate_replay::report::ReplayReport;
use tidegate_state::feature::memory::transcript_files;

const SEED: u64 = 22;

/// Damaged copies of one transcript.
const COPIES: usize = 5;

/// Of the folder of real ones; larger files would only take longer.
const MOST_FILES: usize = 40;
const LARGEST: u64 = 200_000;

/// Pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// A part that is not longer than `most`.
    fn part(&mut self, length: usize, most: usize) -> std::ops::Range<usize> {
        let start = self.below(length);
        start..length.min(start + 1 + self.below(most))
    }
}

/// One kind of damage at one place.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let length = bytes.len();
    match random.below(8) {
        0 => bytes.truncate(random.below(length)),
        1 => drop(bytes.drain(random.part(length, 2_000))),
        2 => {
            let part = random.part(length, 2_000);
            let again = bytes[part].to_vec();
            let at = random.below(length);
            bytes.splice(at..at, again);
        }
        3 => {
            let part = random.part(length, 64);
            bytes[part].iter_mut().for_each(|byte| *byte = random.next() as u8);
        }
        4 => {
            let inserts: [&[u8]; 6] = [b"\0", b"\x1b[2J", "\u{202e}".as_bytes(), b"\xff\xfe", b"\n", b"\"}]"];
            let at = random.below(length);
            bytes.splice(at..at, inserts[random.below(inserts.len())].to_vec());
        }
        5 => {
            let marks = b"\"{}[]:,\\";
            let at = random.below(length);
            bytes[at] = marks[random.below(marks.len())];
        }
        6 => {
            let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
            let (one, other) = (random.below(lines.len()), random.below(lines.len()));
            lines.swap(one, other);
            *bytes = lines.join(&b'\n');
        }
        _ => {
            let digits = bytes.iter_mut().filter(|byte| byte.is_ascii_digit());
            digits.skip(random.below(length / 8)).take(20).for_each(|digit| *digit = b'9');
        }
    }
    if bytes.is_empty() {
        bytes.push(b'{');
    }
}

fn replay(folder: &Path, threads: usize) -> Replayed {
    let mut files = transcript_files::find(folder).expect("a folder");
    files.sort();
    replay_files(&files, &Config::default(), Some(threads), &|_| ControlFlow::Continue(()))
        .expect("only a file can fail")
}

/// Everything that was read has a place, and the numbers depend on nothing else.
fn check_replay(folder: &Path) -> ReplayReport {
    let replayed = replay(folder, 2);
    let files = transcript_files::find(folder).expect("a folder").len();
    let placed =
        [replayed.sessions.len(), replayed.of_agents, replayed.other_files, replayed.unreadable.len()];
    assert_eq!(placed.iter().sum::<usize>(), files);
    assert_eq!(replayed.unreadable, []);
    let report = ReplayReport::of(&replayed, None);
    let again = ReplayReport::of(&replay(folder, 1), None);
    let [one, other] = [&report, &again].map(|report| {
        let mut json = serde_json::to_value(report).expect("a report");
        leave_out_times(&mut json);
        json
    });
    assert_eq!(one, other);
    report
}

/// A damaged time can be one to come, which counts as now.
fn leave_out_times(json: &mut Value) {
    match json {
        Value::Array(elements) => elements.iter_mut().for_each(leave_out_times),
        Value::Object(members) => {
            members.retain(|name, _| !["from", "to", "at"].contains(&name.as_str()));
            members.values_mut().for_each(leave_out_times);
        }
        _ => {}
    }
}

/// Lines of a session in which code is edited, tested and compacted.
fn made_up() -> Vec<Value> {
    let call = |id: &str, tool: &str, input: Value| {
        let usage = json!({"input_tokens": 90_000, "output_tokens": 5});
        let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        json!({"type": "assistant", "message": {"id": id, "model": "claude-sonnet-4-5", "usage": usage, "content": [block]}})
    };
    let result = |id: &str, result: Value| {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
        json!({"type": "user", "toolUseResult": result, "message": {"content": [block]}})
    };
    let prompt = |text: &str| json!({"type": "user", "message": {"content": text}});
    let says =
        json!({"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "Done."}]}});
    let edit = |id: &str| {
        call(id, "Edit", json!({"file_path": "/w/shop/src/a.rs", "old_string": "a", "new_string": "b"}))
    };
    let edited = |id: &str| result(id, json!({"filePath": "/w/shop/src/a.rs"}));
    let ran = json!({"stdout": "test result: ok. 3 passed; 0 failed", "stderr": "", "interrupted": false});
    vec![
        prompt("Never touch the file src/old.rs in this task."),
        edit("c1"),
        edited("c1"),
        says.clone(),
        prompt("test it"),
        edit("c2"),
        edited("c2"),
        call("c3", "Bash", json!({"command": "cargo test"})),
        result("c3", ran),
        says.clone(),
        json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", "preTokens": 170_000}}),
        json!({"type": "user", "isCompactSummary": true, "message": {"content": "Edited src/a.rs."}}),
        prompt("more"),
        edit("c4"),
        edited("c4"),
        says,
    ]
}

fn lines_of(entries: Vec<Value>) -> Vec<String> {
    let line = |(at, mut entry): (usize, Value)| {
        entry["timestamp"] = json!(format!("2026-01-01T10:00:{at:02}.000Z"));
        entry["cwd"] = json!("/w/shop");
        entry["sessionId"] = json!("s1");
        entry["uuid"] = json!(format!("e{at}"));
        entry.to_string()
    };
    entries.into_iter().enumerate().map(line).collect()
}

fn name(number: usize) -> String {
    format!("{number:08x}-1111-2222-3333-444455556666.jsonl")
}

#[test]
fn damaged_copies_of_an_invented_transcript_are_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = (lines_of(made_up()).join("\n") + "\n").into_bytes();
    fs::write(folder.path().join(name(0)), &whole).expect("a transcript");
    let mut random = Random(SEED);
    for number in 1..200 {
        // Turns of another session: copied ones would count once.
        let own = format!("\"uuid\":\"e{number}-");
        let mut bytes = lines_of(made_up()).join("\n").replace("\"uuid\":\"e", &own).into_bytes();
        (0..=number % 4).for_each(|_| damage(&mut bytes, &mut random));
        fs::write(folder.path().join(name(number)), &bytes).expect("a transcript");
    }
    let report = check_replay(folder.path());
    assert!(report.sessions > 150, "{} sessions", report.sessions);
    assert!(report.left_out.damaged_lines > 50, "{:?}", report.left_out);
}

fn real_transcripts() -> Option<PathBuf> {
    let named = std::env::var_os("TIDEGATE_TEST_TRANSCRIPTS").map(PathBuf::from);
    let next_to = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/transcripts");
    Some(named.unwrap_or_else(next_to)).filter(|folder| folder.is_dir())
}

#[test]
fn damaged_copies_of_real_transcripts_are_replayed() {
    let Some(real) = real_transcripts() else {
        eprintln!("left out: no folder of transcripts; TIDEGATE_TEST_TRANSCRIPTS names one");
        return;
    };
    let mut files = transcript_files::find(&real).expect("a folder");
    files.sort();
    files.retain(|file| file.bytes <= LARGEST);
    // From all parts of the folder.
    let step = files.len().div_ceil(MOST_FILES).max(1);
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = Random(SEED);
    let mut number = 0;
    for file in files.iter().step_by(step) {
        let whole = fs::read(&file.path).expect("a transcript");
        for _ in 0..COPIES {
            let mut bytes = whole.clone();
            (0..=number % 4).for_each(|_| damage(&mut bytes, &mut random));
            fs::write(folder.path().join(name(number)), &bytes).expect("a transcript");
            number += 1;
        }
    }
    let report = check_replay(folder.path());
    assert!(report.sessions > number / 2, "{} sessions of {number} files", report.sessions);
}

/// With a result of that many bytes in the first turn.
fn write_with_long_line(path: &Path, bytes: usize) {
    let lines = lines_of(made_up());
    let mut out = BufWriter::new(File::create(path).expect("a file"));
    for (at, line) in lines.iter().enumerate() {
        if at == 3 {
            let long = "\\u001b[31mok \\n".repeat(bytes / 15);
            let (before, after) = line.split_once("Done.").expect("an answer");
            writeln!(out, "{before}{long}Done.{after}").expect("a line");
        } else {
            writeln!(out, "{line}").expect("a line");
        }
    }
    out.flush().expect("a file");
}

#[test]
fn a_line_of_ten_megabytes_is_read_and_one_of_thirty_three_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    write_with_long_line(&folder.path().join(name(1)), 10_000_000);
    let report = check_replay(folder.path());
    assert_eq!((report.turns, report.left_out.damaged_lines), (3, 0));
    assert_eq!((report.stops.untested, report.stops.verified), (2, 1));
    write_with_long_line(&folder.path().join(name(1)), 34_700_000);
    let report = check_replay(folder.path());
    assert_eq!((report.turns, report.left_out.damaged_lines), (3, 1), "the other lines count");
}

#[test]
fn an_empty_folder_is_a_report_without_sessions() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(check_replay(folder.path()).sessions, 0);
    fs::write(folder.path().join(name(1)), "").expect("a file");
    let report = check_replay(folder.path());
    assert_eq!((report.sessions, report.left_out.other_files), (0, 1));
}

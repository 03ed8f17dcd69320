//! Reading a transcript from its end, in steps, until the scan has what it needs.
//!
//! The cost does not depend on the file's size. The file grows while it is read, may end in half a line, and
//! may not be a file at all.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use tidegate_core::feature::knowledge::preserved;
use tidegate_core::feature::knowledge::preserved::Preserved;
use tidegate_core::feature::memory::answer;
use tidegate_core::feature::memory::answer::Said;
use tidegate_core::host::claude_code::usage::{Evidence, Found, Scan};
use tidegate_core::meter::Unknown;
use tidegate_core::text::search;
use tidegate_core::time::Millis;

use crate::file::bounded;

/// The first step; most answers are in it. Each further one is twice as long, up to [`LONGEST_STEP`].
const STEP: usize = 16 * 1024;
const LONGEST_STEP: usize = 1024 * 1024;

/// A line longer than this (a whole file in a tool's result) is passed over, not held.
const LONGEST_LINE: usize = 1024 * 1024;

/// Further back nothing is current any more.
const FURTHEST: u64 = 32 * 1024 * 1024;

/// The last usable reading of a transcript; `Ok(None)` when there is none yet. `in_time` is asked before each
/// step.
pub fn last_reading(
    path: &Path,
    evidence: Evidence<'_>,
    in_time: &dyn Fn() -> bool,
) -> Result<Option<Found>, Unknown> {
    let mut scan = Scan::new(evidence);
    let read = backwards(path, in_time, &mut |line| scan.line(line))?;
    Ok(if read { scan.finish() } else { None })
}

/// What stands in the conversation beside the summary of the boundary that was noted at `since`; nothing where that cannot
/// be read.
pub fn preserved(path: &Path, since: Millis, in_time: &dyn Fn() -> bool) -> Preserved {
    let mut scan = preserved::Scan::new(since);
    match backwards(path, in_time, &mut |line| scan.line(line)) {
        Ok(true) => scan.finish(),
        Ok(false) | Err(_) => Preserved::default(),
    }
}

/// The text of the last turn's answer, as far as the host has written it down: what the assistant said last, on the main
/// thread, since a person spoke.
pub fn last_answer(path: &Path, in_time: &dyn Fn() -> bool) -> Option<Said> {
    let mut scan = answer::Scan::default();
    match backwards(path, in_time, &mut |line| scan.line(line)) {
        Ok(true) => scan.finish(),
        Ok(false) | Err(_) => None,
    }
}

/// Whether a line is in it that `is_wanted` recognises. Without a bound on time: for commands.
pub fn holds(path: &Path, is_wanted: &dyn Fn(&[u8]) -> bool) -> bool {
    let mut found = false;
    let read = backwards(path, &|| true, &mut |line| {
        found = is_wanted(line);
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    read.is_ok() && found
}

/// Whole lines, newest first, until `take` breaks. Tells whether there was something to read.
fn backwards(
    path: &Path,
    in_time: &dyn Fn() -> bool,
    take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<bool, Unknown> {
    let (mut file, length) = match bounded::open_sized(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Unknown::Broken(format!("{}: {error}", path.display()))),
        Ok(opened) => opened,
    };
    let broken = |error: io::Error| Unknown::Broken(format!("{}: {error}", path.display()));
    let mut start = length;
    let stop = start.saturating_sub(FURTHEST);
    // What is at hand: bytes from `start`, whose first line may begin earlier.
    let mut held: Vec<u8> = Vec::new();
    let mut skipping = false;
    let mut next = STEP;
    while start > stop {
        if !in_time() {
            return Err(Unknown::TimedOut);
        }
        let step = next.min((start - stop) as usize);
        next = (next * 2).min(LONGEST_STEP);
        start -= step as u64;
        let mut bytes = Vec::with_capacity(step + held.len());
        file.seek(SeekFrom::Start(start)).map_err(broken)?;
        (&mut file).take(step as u64).read_to_end(&mut bytes).map_err(broken)?;
        if bytes.len() < step {
            // Shorter than a moment ago: somebody replaced it.
            return Ok(false);
        }
        if skipping {
            let Some(end) = search::last(&bytes, b'\n') else { continue };
            bytes.truncate(end);
            skipping = false;
        }
        bytes.extend_from_slice(&held);
        held = bytes;
        // The first line stays until its beginning is read too.
        while let Some(end) = search::last(&held, b'\n') {
            if take(&held[end + 1..]).is_break() {
                return Ok(true);
            }
            held.truncate(end);
        }
        if held.len() > LONGEST_LINE {
            held.clear();
            skipping = true;
        }
    }
    if start == 0 && !skipping {
        let _ = take(&held);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    fn answer(used: u64) -> String {
        format!(
            r#"{{"type":"assistant","timestamp":"2026-11-15T11:51:30.000Z","message":{{"id":"m{used}","model":"claude-opus-4-6","usage":{{"input_tokens":{used}}}}}}}"#
        )
    }

    fn reading(text: &str) -> Result<Option<u64>, Unknown> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        fs::write(&path, text).unwrap();
        last_reading(&path, Evidence::None, &|| true).map(|found| found.map(|found| found.used))
    }

    #[test]
    fn wherever_the_answer_lies() {
        let padding = |bytes: usize| {
            format!("{{\"type\":\"api-request-blob\",\"message\":\"{}\"}}\n", "x".repeat(bytes))
        };
        for before in [0, 10, STEP - 50, STEP, 3 * STEP] {
            for after in [0, 10, STEP - 150, STEP - 1, STEP, 5 * STEP, LONGEST_LINE + STEP] {
                let text = format!("{}{}\n{}", padding(before), answer(42), padding(after));
                assert_eq!(reading(&text), Ok(Some(42)), "{before} before, {after} after");
            }
        }
        let many: String = (0..3000).map(|n| padding(n % 97)).collect();
        assert_eq!(reading(&format!("{}\n{many}", answer(42))), Ok(Some(42)));
    }

    #[test]
    fn torn_and_missing_ends() {
        assert_eq!(reading(""), Ok(None));
        assert_eq!(reading("\n\n"), Ok(None));
        assert_eq!(reading(&answer(1)), Ok(Some(1)));
        assert_eq!(reading(&format!("{}\n{}", answer(1), &answer(2)[..60])), Ok(Some(1)));
        assert_eq!(reading(&format!("{}\r\n{}\r\n", answer(1), answer(2))), Ok(Some(2)));
    }

    #[test]
    fn what_is_no_transcript() {
        let folder = tempfile::tempdir().unwrap();
        let ask = |path: &Path| last_reading(path, Evidence::None, &|| true);
        assert_eq!(ask(&folder.path().join("missing")), Ok(None));
        assert!(matches!(ask(folder.path()), Err(Unknown::Broken(_))));
        let file = folder.path().join("t");
        fs::write(&file, answer(1)).unwrap();
        assert_eq!(last_reading(&file, Evidence::None, &|| false), Err(Unknown::TimedOut));
        #[cfg(unix)]
        {
            let fifo = folder.path().join("fifo");
            assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
            assert!(matches!(ask(&fifo), Err(Unknown::Broken(_))));
        }
    }

    #[test]
    fn a_huge_file_is_not_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        // Sparse: a gigabyte of nothing, then an answer.
        let mut file = File::create(&path).unwrap();
        file.set_len(1 << 30).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        io::Write::write_all(&mut file, format!("\n{}\n", answer(7)).as_bytes()).unwrap();
        let steps = std::cell::Cell::new(0);
        let counted = || {
            steps.set(steps.get() + 1);
            true
        };
        assert_eq!(last_reading(&path, Evidence::None, &counted).unwrap().unwrap().used, 7);
        assert_eq!(steps.get(), 1);
        // Nothing but nothing: given up after a while.
        file.set_len(1 << 30).unwrap();
        steps.set(0);
        assert_eq!(last_reading(&path, Evidence::None, &counted), Ok(None));
        assert!(steps.get() < 40, "{} steps", steps.get());
    }
}

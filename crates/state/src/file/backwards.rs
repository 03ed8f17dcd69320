//! Reads the lines of a file from its end, in steps, until the caller has enough.
//!
//! The cost does not depend on the file's size. The file may grow meanwhile, end in half a line, or not be a regular
//! file.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use tidegate_core::text::search;

use crate::file::bounded;

/// Most answers are in the first step. Each further one is twice as long, up to [`LONGEST_STEP`].
const STEP: usize = 16 * 1024;
const LONGEST_STEP: usize = 1024 * 1024;

/// Longer lines are skipped.
const LONGEST_LINE: usize = 1024 * 1024;

/// Older lines are outdated.
const FURTHEST: u64 = 32 * 1024 * 1024;

#[derive(Debug)]
pub(crate) enum Stopped {
    Unreadable(io::Error),
    TimedOut,
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Stopped {
        Stopped::Unreadable(error)
    }
}

/// Passes whole lines, newest first, until `take` breaks. Asks `in_time` before each step. Returns `false` if there
/// was nothing to read.
pub(crate) fn read_lines(
    path: &Path,
    in_time: &dyn Fn() -> bool,
    take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<bool, Stopped> {
    let (mut file, length) = match bounded::open_sized(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error.into()),
        Ok(opened) => opened,
    };
    let mut start = length;
    let stop = start.saturating_sub(FURTHEST);
    // The bytes from `start`; the first line may begin earlier.
    let mut held: Vec<u8> = Vec::new();
    let mut skipping = false;
    let mut next = STEP;
    while start > stop {
        if !in_time() {
            return Err(Stopped::TimedOut);
        }
        let step = next.min((start - stop) as usize);
        next = (next * 2).min(LONGEST_STEP);
        start -= step as u64;
        let mut bytes = Vec::with_capacity(step + held.len());
        file.seek(SeekFrom::Start(start))?;
        (&mut file).take(step as u64).read_to_end(&mut bytes)?;
        if bytes.len() < step {
            // It became shorter: another program replaced it.
            return Ok(false);
        }
        if skipping {
            let Some(end) = search::last(&bytes, b'\n') else { continue };
            bytes.truncate(end);
            skipping = false;
        }
        bytes.extend_from_slice(&held);
        held = bytes;
        // The first line may be incomplete: it stays for the next step.
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

    fn newest(path: &Path, in_time: &dyn Fn() -> bool) -> Result<Option<u64>, Stopped> {
        let mut found = None;
        read_lines(path, in_time, &mut |line| {
            found = str::from_utf8(line).ok().and_then(|line| line.trim_end().parse().ok());
            if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(found)
    }

    fn newest_of(text: &str) -> Option<u64> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        fs::write(&path, text).unwrap();
        newest(&path, &|| true).unwrap()
    }

    #[test]
    fn wherever_the_line_lies() {
        let padding = |bytes: usize| format!("{}\n", "x".repeat(bytes));
        for before in [0, 10, STEP - 50, STEP, 3 * STEP] {
            for after in [0, 10, STEP - 150, STEP - 4, STEP - 1, STEP, 5 * STEP, LONGEST_LINE + STEP] {
                let text = format!("{}42\n{}", padding(before), padding(after));
                assert_eq!(newest_of(&text), Some(42), "{before} before, {after} after");
            }
        }
        let many: String = (0..3000).map(|n| padding(n % 97)).collect();
        assert_eq!(newest_of(&format!("42\n{many}")), Some(42));
    }

    #[test]
    fn torn_and_missing_ends() {
        for (text, number) in
            [("", None), ("\n\n", None), ("1", Some(1)), ("1\nx", Some(1)), ("1\r\n2\r\n", Some(2))]
        {
            assert_eq!(newest_of(text), number, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_file_of_lines() {
        let folder = tempfile::tempdir().unwrap();
        let ask = |path: &Path| newest(path, &|| true);
        assert_eq!(ask(&folder.path().join("missing")).unwrap(), None);
        assert!(matches!(ask(folder.path()), Err(Stopped::Unreadable(_))));
        let file = folder.path().join("t");
        fs::write(&file, "1").unwrap();
        assert!(matches!(newest(&file, &|| false), Err(Stopped::TimedOut)));
        #[cfg(unix)]
        {
            let fifo = folder.path().join("fifo");
            assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
            assert!(matches!(ask(&fifo), Err(Stopped::Unreadable(_))));
        }
    }

    #[test]
    fn a_huge_file_is_not_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        // Sparse: a gigabyte of zeros, then a line.
        let mut file = File::create(&path).unwrap();
        file.set_len(1 << 30).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        io::Write::write_all(&mut file, b"\n7\n").unwrap();
        let steps = std::cell::Cell::new(0);
        let counted = || {
            steps.set(steps.get() + 1);
            true
        };
        assert_eq!(newest(&path, &counted).unwrap(), Some(7));
        assert_eq!(steps.get(), 1);
        // Only zeros: the search gives up.
        file.set_len(1 << 30).unwrap();
        steps.set(0);
        assert_eq!(newest(&path, &counted).unwrap(), None);
        assert!(steps.get() < 40, "{} steps", steps.get());
    }
}

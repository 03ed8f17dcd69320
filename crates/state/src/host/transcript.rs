//! Searches in the transcript of a session, from its end.

use std::borrow::Cow;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use tidegate_core::event::Event;
use tidegate_core::event::action::Exit;
use tidegate_core::feature::knowledge::preserved;
use tidegate_core::feature::knowledge::preserved::Preserved;
use tidegate_core::feature::memory::answer;
use tidegate_core::feature::memory::answer::LastAnswer;
use tidegate_core::feature::verification::work::AnnouncedPatch;
use tidegate_core::host::Host;
use tidegate_core::host::person::Person;
use tidegate_core::host::transcript::{
    CommandEnd, ContentPart, EntryKind, Sought, TranscriptEntry, TranscriptParser,
};
use tidegate_core::meter::NoReading;
use tidegate_core::meter::transcript::{EventTrace, MeterScan, TranscriptReading};
use tidegate_core::time::Millis;

use crate::file::backwards::{Stopped, read_lines};
use crate::file::bounded;
use crate::file::lines::{BoundedLine, BoundedLines};

/// `Ok(None)` if there is no reading yet. `in_time` is asked before each step.
pub fn last_reading(
    host: Host,
    path: &Path,
    evidence: EventTrace<'_>,
    in_time: &dyn Fn() -> bool,
) -> Result<Option<TranscriptReading>, NoReading> {
    let parser = host.parser(&MeterScan::SOUGHT);
    let mut scan = MeterScan::new(evidence).seeking_window(host.tells_by_transcript());
    match read_lines(path, in_time, &mut |line| scan.take_line(parser.entry(line).as_ref())) {
        Ok(true) => Ok(scan.finish()),
        Ok(false) => Ok(None),
        Err(Stopped::Unreadable(error)) => Err(NoReading::Broken(format!("{}: {error}", path.display()))),
        Err(Stopped::TimedOut) => Err(NoReading::TimedOut),
    }
}

/// Other calls of the same answer may have ended since, and a summary of each is a few lines.
const FURTHEST: usize = 512;

/// When a command began and how it ended, from a host that does not tell its hooks.
pub fn read_run(
    event: &Event<'_>,
    path: &Path,
    in_time: &dyn Fn() -> bool,
) -> Option<(Option<Millis>, Exit)> {
    let (call, line) = (event.call.as_deref()?, event.command_line()?);
    let parser = event.host.parser(&[Sought::Endings]);
    let is_it = |end: &CommandEnd<'_>| {
        end.call == call
            && end.line.as_ref().is_some_and(|ran| ran.is(line))
            && end.thread.as_deref().is_some_and(|thread| is_of_thread(event, path, thread))
    };
    find_last(&parser, path, in_time, |entry| match entry.kind {
        EntryKind::Ended(end) if is_it(&end) => Some((end.began, end.exit)),
        _ => None,
    })
    .ok()
    .flatten()
}

/// Ids of calls come again in other conversations, whose entries a fork copies. A transcript is named after its own.
fn is_of_thread(event: &Event<'_>, path: &Path, thread: &str) -> bool {
    let own = event.agent_id().unwrap_or(event.session.in_host());
    let named = || path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| stem.ends_with(thread));
    thread == own || !thread.is_empty() && named()
}

/// A search did not see all that it had to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incomplete;

/// What became of a patch: when, and its files.
pub type PatchEnd = (Option<Millis>, Vec<String>);

/// What became of a patch, from a host that reports it in no event. `Ok(None)` if nothing did so far.
pub fn read_patch(
    host: Host,
    patch: &AnnouncedPatch,
    in_time: &dyn Fn() -> bool,
) -> Result<Option<PatchEnd>, Incomplete> {
    let parser = host.parser(&[Sought::Patches]);
    find_last(&parser, Path::new(&patch.transcript), in_time, |entry| match entry.kind {
        EntryKind::Patched(end) if end.call == patch.call => {
            let began = end.began.filter(|_| end.failed);
            let files = end.files.into_iter().map(Cow::into_owned);
            Some((end.at, files.filter(|file| began.is_none_or(|began| is_changed(file, began))).collect()))
        }
        _ => None,
    })
}

/// A file that was deleted is not seen.
fn is_changed(file: &str, since: Millis) -> bool {
    // The times of a file system are some milliseconds behind.
    const BEHIND: Duration = Duration::from_secs(1);
    let since = UNIX_EPOCH + Duration::from_millis(since.0) - BEHIND;
    fs::metadata(file).and_then(|found| found.modified()).is_ok_and(|at| at >= since)
}

fn find_last<T>(
    parser: &TranscriptParser,
    path: &Path,
    in_time: &dyn Fn() -> bool,
    is_it: impl Fn(TranscriptEntry<'_>) -> Option<T>,
) -> Result<Option<T>, Incomplete> {
    let (mut found, mut lines) = (None, 0);
    let read = read_lines(path, in_time, &mut |line| {
        lines += 1;
        found = parser.entry(line).and_then(&is_it);
        if found.is_some() || lines > FURTHEST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match read {
        _ if found.is_some() => Ok(found),
        Ok(true) => Ok(None),
        // Not there, not readable, or not in time.
        Ok(false) | Err(_) => Err(Incomplete),
    }
}

/// When a command began, from a host whose hooks name no call: of those with the same line that have not ended, the
/// first. They are newer than the answer that called them.
pub fn read_beginning(event: &Event<'_>, path: &Path, in_time: &dyn Fn() -> bool) -> Option<Millis> {
    let line = event.command_line().filter(|_| event.call.is_none())?;
    let parser = event.host.parser(&[Sought::Beginnings]);
    let is_of_agent = !event.is_main_thread();
    let (mut began, mut ended, mut lines) = (None, Vec::new(), 0);
    let _ = read_lines(path, in_time, &mut |text| {
        lines += 1;
        let Some(entry) = parser.entry(text) else {
            return if lines > FURTHEST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        };
        let results = entry.parts().into_iter().filter_map(|part| match part {
            ContentPart::Result(result) => Some(result.call?.into_owned()),
            _ => None,
        });
        ended.extend(results);
        match entry.kind {
            EntryKind::Answer(_) if entry.is_of_agent == is_of_agent => return ControlFlow::Break(()),
            EntryKind::Began(start)
                if start.line.is(line) && !ended.iter().any(|call| *call == start.call) =>
            {
                began = entry.at;
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
    began
}

/// Whether a person is there, by the first line.
pub fn read_person(host: Host, path: &Path) -> Person {
    /// It may hold the host's instructions to the model.
    const LONGEST: u64 = 1024 * 1024;
    let Ok(file) = bounded::open(path) else { return Person::Unknown };
    // In small pieces: every hook asks, and a reader of whole transcripts would fill a quarter of a megabyte first.
    let mut line = Vec::new();
    match BufReader::new(file.take(LONGEST)).read_until(b'\n', &mut line) {
        Ok(length) if (length as u64) < LONGEST => host.person(&line),
        _ => Person::Unknown,
    }
}

/// The host that wrote a transcript.
pub fn find_writer(path: &Path) -> Option<Host> {
    /// Some hosts begin with lines of another kind.
    const FIRST_LINES: usize = 50;
    const LONGEST: usize = 4 * 1024 * 1024;
    let mut lines = BoundedLines::new(bounded::open(path).ok()?, LONGEST);
    for _ in 0..FIRST_LINES {
        match lines.next_line().ok()?? {
            BoundedLine::TooLong => {}
            BoundedLine::Whole(line) => {
                if let Some(host) = Host::that_wrote(line) {
                    return Some(host);
                }
            }
        }
    }
    None
}

/// Messages that the compaction noted at `since` preserved next to its summary. Empty if the transcript is
/// unreadable.
pub fn read_preserved(host: Host, path: &Path, since: Millis, in_time: &dyn Fn() -> bool) -> Preserved {
    let (sought, all) = (host.parser(&preserved::PreservedScan::SOUGHT), host.parser(&[]));
    let mut scan = preserved::PreservedScan::new(since);
    let read = read_lines(path, in_time, &mut |line| {
        let parser = if scan.is_past_boundary() { &all } else { &sought };
        scan.take_line(parser.entry(line).as_ref())
    });
    if matches!(read, Ok(true)) { scan.finish() } else { Preserved::default() }
}

/// The last text of the assistant on the main thread since the person's last prompt, as far as the host has written
/// it.
pub fn last_answer(host: Host, path: &Path, in_time: &dyn Fn() -> bool) -> Option<LastAnswer> {
    let parser = host.parser(&answer::AnswerScan::SOUGHT);
    let mut scan = answer::AnswerScan::default();
    let read = read_lines(path, in_time, &mut |line| scan.take_line(parser.entry(line).as_ref()));
    if matches!(read, Ok(true)) { scan.finish() } else { None }
}

/// Whether an entry satisfies `is_wanted`. Other lines than those that `may_be` allows are not parsed. Without a time limit: for
/// commands.
pub fn has_entry(
    host: Host,
    path: &Path,
    may_be: &dyn Fn(&[u8]) -> bool,
    is_wanted: &dyn Fn(&TranscriptEntry<'_>) -> bool,
) -> bool {
    let parser = host.parser(&[]);
    let mut found = false;
    let read = read_lines(path, &|| true, &mut |line| {
        found = may_be(line) && parser.entry(line).is_some_and(|entry| is_wanted(&entry));
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    read.is_ok() && found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn answer(used: u64) -> String {
        format!(
            r#"{{"type":"assistant","timestamp":"2026-11-15T11:51:30.000Z","message":{{"id":"m{used}","model":"claude-opus-4-6","usage":{{"input_tokens":{used}}}}}}}"#
        )
    }

    #[test]
    fn a_reading_of_whatever_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let reading = |path: &Path, in_time| {
            last_reading(Host::ClaudeCode, path, EventTrace::None, &|| in_time)
                .map(|found| found.map(|found| found.used))
        };
        assert_eq!(reading(&path, true), Ok(None));
        assert!(matches!(reading(folder.path(), true), Err(NoReading::Broken(_))));
        for (text, used) in [
            (String::new(), None),
            (answer(1), Some(1)),
            (format!("{}\n{}", answer(1), &answer(2)[..60]), Some(1)),
            (format!("{}\r\n{}\r\n", answer(1), answer(2)), Some(2)),
        ] {
            fs::write(&path, &text).unwrap();
            assert_eq!(reading(&path, true), Ok(used), "{text}");
        }
        assert_eq!(reading(&path, false), Err(NoReading::TimedOut));
    }
}

//! Jobs for sessions that could not leave one themselves: the client was killed, the machine went down, or
//! the disk was full.

use std::fs;
use std::path::Path;

use tidegate_core::event::SessionId;
use tidegate_core::feature::memory::job::{Job, JobCause, TranscriptPart, VERSION, Work};
use tidegate_core::feature::memory::marks::{Mark as MemoryMark, Spooled};
use tidegate_core::host::person::Person;
use tidegate_core::time::Millis;
use tidegate_state::feature::cycle;
use tidegate_state::feature::memory::spool;
use tidegate_state::place::StateDir;
use tidegate_state::project;
use tidegate_state::session::marks;

/// Whether conversations in a project are recorded, with or without a person in the session.
pub type IsRecorded<'a> = dyn Fn(&Path, bool) -> bool + 'a;

/// Adds a job for each ended session with text after its last job. Returns the number of jobs.
pub fn queue_abandoned_sessions(
    state: &StateDir,
    now: Millis,
    records: &IsRecorded<'_>,
) -> std::io::Result<usize> {
    let folders = match fs::read_dir(state.sessions()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        folders => folders?,
    };
    let mut found = 0;
    for folder in folders.flatten() {
        let name = folder.file_name();
        let Some(session) = name.to_str().and_then(|name| SessionId::parse(name).ok()) else { continue };
        found += usize::from(queue_session(state, &session, now, records)?);
    }
    Ok(found)
}

fn queue_session(
    state: &StateDir,
    session: &SessionId,
    now: Millis,
    records: &IsRecorded<'_>,
) -> std::io::Result<bool> {
    let folder = state.session(session);
    let known = marks::read(&folder);
    let Some(known) = known.value() else { return Ok(false) };
    let (Some(transcript), Some(root)) = (&known.session.transcript, &known.session.root) else {
        return Ok(false);
    };
    // A live session leaves its own job.
    if cycle::is_live(state, session.as_str(), now, |_| None) {
        return Ok(false);
    }
    let from = known.memory.spooled.map_or(0, |spooled| spooled.to);
    let length = fs::metadata(transcript).ok().filter(fs::Metadata::is_file).map(|file| file.len());
    let Some(to) = length.filter(|length| *length > from) else { return Ok(false) };
    if !records(Path::new(root), known.session.person.is_some_and(Person::may_be_there)) {
        return Ok(false);
    }
    let part = TranscriptPart {
        transcript: transcript.clone(),
        from,
        to,
        because: JobCause::Left,
        answer: None,
        topic: known.memory.topic_set.as_ref().map(|set| set.topic.id),
        passed: known.memory.spooled.and_then(|spooled| spooled.passed),
        project: project::memory_project(Path::new(root)),
        lang: known.session.lang,
    };
    let passed = part.passed;
    // The job comes first: a crash in between repeats it, which changes nothing.
    spool::put(state, &Job { v: VERSION, at: now, session: session.to_string(), work: Work::Relays(part) })?;
    marks::lock_shared(&folder)?.append(&[MemoryMark::Spooled(Spooled { to, at: now, passed }).into()])?;
    Ok(true)
}

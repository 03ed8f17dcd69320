//! 32 hooks at once in one session, 10,000 records; then the cost of such a long session.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::Value;

use super::programs::Programs;
use super::{Problems, growth};
use crate::stage::{Case, POST_TOOL_USE, PRE_TOOL_USE, STOP, Stage, StagedSession, USER_PROMPT_SUBMIT};
use xtask::failure::{Done, Failure, While};
use xtask::print;

const AT_ONCE: usize = 32;
const RECORDS: u64 = 10_000;

/// In turns. Prompts leave marks, so the marks are compacted while other hooks append.
const EVENTS: [Case; 4] = [USER_PROMPT_SUBMIT, PRE_TOOL_USE, POST_TOOL_USE, STOP];

/// Beyond the ids of the warm-up.
const FIRST: u64 = 100_000;

pub(crate) fn measure(programs: &Programs, runs: usize, problems: &mut Problems) -> Done {
    let stage = Stage::new()?;
    // Each has seen about ten events.
    let (short, long) = (stage.session(&programs.shipped, 1)?, stage.session(&programs.shipped, 2)?);
    let before = stage.journal()?.records.len();
    run_crowd(&stage, programs, &long)?;
    check_records(&stage, &long, before, problems)?;
    for case in [USER_PROMPT_SUBMIT, POST_TOOL_USE] {
        growth::compare_sessions(
            programs,
            &case,
            [(&stage, &short), (&stage, &long)],
            runs,
            "session 10 to 10,000 events",
        )?;
    }
    Ok(())
}

fn run_crowd(stage: &Stage, programs: &Programs, session: &StagedSession) -> Done {
    let next = AtomicU64::new(0);
    let failed: Mutex<Option<Failure>> = Mutex::new(None);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= RECORDS {
                        return;
                    }
                    let case = &EVENTS[number as usize % EVENTS.len()];
                    let payload = stage.payload(case, session, FIRST + number, "");
                    if let Err(failure) = stage.run(&programs.shipped, case, session, &payload) {
                        next.store(RECORDS, Ordering::Relaxed);
                        *failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(failure);
                    }
                }
            });
        }
    });
    print::line(&format!(
        "    {RECORDS} hook runs, {AT_ONCE} at once, in one session: {:.1} s",
        start.elapsed().as_secs_f64()
    ));
    match failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

fn check_records(stage: &Stage, session: &StagedSession, before: usize, problems: &mut Problems) -> Done {
    let journal = stage.journal()?;
    let records = &journal.records[before..];
    let text = |record: &Value, member: &str| record[member].as_str().unwrap_or_default().to_owned();
    let ids: BTreeSet<String> = records.iter().map(|record| text(record, "id")).collect();
    let late = records.iter().filter(|record| record["failure"]["class"] == "deadline").count();
    let foreign = records.iter().filter(|record| {
        // A run that missed its deadline may not have read its session yet.
        record["session"] != session.id.as_str() && record["failure"].is_null()
    });
    let foreign = foreign.count();
    let mut by_event: BTreeMap<String, u64> = BTreeMap::new();
    for record in records {
        *by_event.entry(text(record, "event")).or_default() += 1;
    }
    let wanted = RECORDS as usize;
    print::line(&format!(
        "    records: {} ({} lost, {} twice), {} torn, {} in another day's file, {foreign} of another session; \
         {late} met their own deadline",
        records.len(),
        wanted.saturating_sub(ids.len()),
        records.len() - ids.len(),
        journal.torn,
        journal.misplaced,
    ));
    if ids.len() != wanted || records.len() != wanted || journal.torn + journal.misplaced + foreign > 0 {
        problems.push(format!("{AT_ONCE} at once: not {RECORDS} whole records in their place: {by_event:?}"));
    }
    let folder = stage.state().join("sessions");
    let sessions = fs::read_dir(&folder).while_(folder.display())?.count();
    if sessions != 2 {
        problems.push(format!("{AT_ONCE} at once: {sessions} sessions where there are two"));
    }
    let path = folder.join(&session.id).join("marks");
    let marks = fs::read(&path).while_(path.display())?;
    let lines = marks.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let torn = lines.filter(|line| serde_json::from_slice::<Value>(line).is_err()).count();
    print::line(&format!("    marks of the session: {} bytes, {torn} torn lines", marks.len()));
    if torn > 0 {
        problems.push(format!("{AT_ONCE} at once: {torn} torn marks"));
    }
    Ok(())
}

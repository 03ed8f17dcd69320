//! The cost of a long transcript and of a large memory. ([`super::crowd`] measures a long session, because it
//! creates one.)

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};

use tidegate_core::feature::memory::catalogue::{
    Decided, MOST, NamedId, ProjectPage, TopicRecord, Undecided, UndecidedTopic,
};
use tidegate_core::time::Millis;
use tidegate_state::feature::memory::catalogue;
use tidegate_state::place::StateDir;

use super::Problems;
use super::programs::Programs;
use super::samples::Samples;
use super::table::format_ratio;
use crate::stage::{Case, POST_TOOL_USE, SESSION_START, STOP, Stage, StagedSession, USER_PROMPT_SUBMIT};
use xtask::failure::{Done, While};
use xtask::print;

pub(crate) const GOAL: f64 = 1.2;

const GIGABYTE: u64 = 1_000_000_000;

/// Of a million logs, including automatic topics.
const TOPICS: i64 = 100_000;

pub(crate) fn measure(programs: &Programs, runs: usize, problems: &mut Problems) -> Done {
    let stage = Stage::new()?;
    let (short, long) = (stage.session(&programs.shipped, 1)?, stage.session(&programs.shipped, 2)?);
    lengthen_transcript(&long)?;
    for case in [USER_PROMPT_SUBMIT, POST_TOOL_USE] {
        stage.begin_turn(&short, &case, 1000)?;
        stage.begin_turn(&long, &case, 1000)?;
        let what = "transcript 1 MB to 1 GB (sparse, real lines in its first and last MB)";
        compare_sessions(programs, &case, [(&stage, &short), (&stage, &long)], runs, what)?;
    }
    let used: Vec<_> =
        stage.journal()?.records.iter().rev().take(2).map(|r| r["meter"]["used"].clone()).collect();
    if used.len() < 2 || used[0] != used[1] || used[0].is_null() {
        problems.push(format!("a long transcript is read as another one than a short one: {used:?}"));
    }
    compare_memory(programs, runs)
}

/// Compares a memory of a million logs with none: hooks read one record and two short lists of its catalogue,
/// never the store.
fn compare_memory(programs: &Programs, runs: usize) -> Done {
    let (none, large) = (Stage::new()?, Stage::new()?);
    let (without, with) = (none.session(&programs.shipped, 1)?, large.session(&programs.shipped, 1)?);
    let _held = (none.hold_workers_off()?, with_a_large_memory(&large)?);
    for case in [STOP, SESSION_START] {
        none.begin_turn(&without, &case, 1000)?;
        large.begin_turn(&with, &case, 1000)?;
        let what = "memory 0 to 1,000,000 logs, 100,000 topics";
        compare_sessions(programs, &case, [(&none, &without), (&large, &with)], runs, what)?;
    }
    Ok(())
}

/// Keep the returned lock: it keeps workers away from this fake store.
pub(crate) fn with_a_large_memory(stage: &Stage) -> Done<Option<File>> {
    let held = stage.hold_workers_off()?;
    fill_memory(stage, &stage.opened()?).while_("writing a catalogue")?;
    Ok(Some(held))
}

/// Writes a real catalogue, and in place of the store a file of that size that cannot be read.
fn fill_memory(stage: &Stage, state: &StateDir) -> std::io::Result<()> {
    let topic = |id| TopicRecord {
        id,
        project: id % 300 + 1,
        automatic: id % 2 == 0,
        closed: id % 8 == 1,
        recorded: Some(Millis(1_800_000_000_000)),
    };
    catalogue::write_topics(state, (1..=TOPICS).map(topic))?;
    let named = |id: i64| NamedId { id, name: format!("how the importer reads long files, {id}") };
    let ids = || (1..).take(MOST);
    let topics =
        ids().map(|id| UndecidedTopic { topic: named(id), project: named(id), by: String::new() }).collect();
    catalogue::write_undecided(state, &Undecided { topics })?;
    let key = fs::canonicalize(stage.at("project"))?.to_string_lossy().into_owned();
    let decided = |id: i64| Decided { id, name: named(id).name, by: "agent, session 91b38a40".to_owned() };
    let decisions = ids().map(decided).collect();
    catalogue::write_project(state, &ProjectPage::new(key, named(1), decisions))?;
    let folder = stage.at("home/.local/share/tidegate/memory");
    fs::create_dir_all(&folder)?;
    let mut store = File::create(folder.join("memory.db"))?;
    store.write_all(b"whoever opens this is told that it is no store")?;
    store.set_len(3 * GIGABYTE)
}

/// Moves the lines to the end of a one-gigabyte file, with a copy at its start and a hole between.
fn lengthen_transcript(session: &StagedSession) -> Done {
    let path = &session.transcript;
    let lines = fs::read(path).while_(path.display())?;
    let extend = || {
        let mut file = File::options().write(true).open(path)?;
        file.seek(SeekFrom::Start(GIGABYTE - lines.len() as u64 - 1))?;
        file.write_all(b"\n")?;
        file.write_all(&lines)
    };
    extend().while_(path.display())
}

/// Times one event in two sessions alternately and prints the ratio. Restores the marks before each run,
/// because runs would make the short session grow.
pub(crate) fn compare_sessions(
    programs: &Programs,
    case: &Case,
    sessions: [(&Stage, &StagedSession); 2],
    runs: usize,
    what: &str,
) -> Done {
    let mut times = [Samples::default(), Samples::default()];
    let marks =
        sessions.map(|(stage, session)| stage.state().join("sessions").join(&session.id).join("marks"));
    let mut saved = Vec::new();
    for path in &marks {
        saved.push(fs::read(path).while_(path.display())?);
    }
    let mut id = 1_000_000;
    for round in 0..runs {
        for turn in 0..2 {
            let which = (turn + round) % 2;
            id += 1;
            fs::write(&marks[which], &saved[which]).while_(marks[which].display())?;
            let (stage, session) = sessions[which];
            let payload = stage.payload(case, session, id, "");
            times[which].push(stage.run(&programs.shipped, case, session, &payload)?);
        }
    }
    let [p50, long_p50] = [times[0].percentile(50), times[1].percentile(50)];
    print::line(&format!(
        "    {what}, {}: p50 {p50:.0} to {long_p50:.0} µs, × {} (goal ≤ {GOAL}); p99 {:.0} to {:.0} µs; \
         marks {} to {} bytes",
        case.name,
        format_ratio(long_p50 / p50, GOAL),
        times[0].percentile(99),
        times[1].percentile(99),
        saved[0].len(),
        saved[1].len(),
    ));
    Ok(())
}

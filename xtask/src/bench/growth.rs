//! What a long transcript costs. (What a long session costs is measured where one is made: [`super::crowd`].)

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};

use super::Problems;
use super::programs::Programs;
use super::samples::Samples;
use super::table::ratio;
use crate::failure::{Done, While};
use crate::print;
use crate::stage::{Case, POST_TOOL_USE, Session, Stage, USER_PROMPT_SUBMIT};

pub(crate) const GOAL: f64 = 1.2;

const GIGABYTE: u64 = 1_000_000_000;

pub(crate) fn measure(programs: &Programs, runs: usize, problems: &mut Problems) -> Done {
    let stage = Stage::new()?;
    let (short, long) = (stage.session(&programs.shipped, 1)?, stage.session(&programs.shipped, 2)?);
    lengthen(&long)?;
    for case in [USER_PROMPT_SUBMIT, POST_TOOL_USE] {
        stage.begin_turn(&short, &case, 1000)?;
        stage.begin_turn(&long, &case, 1000)?;
        let what = "transcript 1 MB to 1 GB (sparse, real lines in its first and last MB)";
        compare(&stage, programs, &case, [&short, &long], runs, what)?;
    }
    let used: Vec<_> =
        stage.journal()?.records.iter().rev().take(2).map(|r| r["meter"]["used"].clone()).collect();
    if used.len() < 2 || used[0] != used[1] || used[0].is_null() {
        problems.push(format!("a long transcript is read as another one than a short one: {used:?}"));
    }
    Ok(())
}

/// Moves the lines to the end of a file of a gigabyte, with a copy of them at its start and a hole between.
fn lengthen(session: &Session) -> Done {
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

/// Times one event in two sessions, in turns, and prints the ratio. Each run finds the marks as they were at first,
/// else the short session would grow by being measured.
pub(crate) fn compare(
    stage: &Stage,
    programs: &Programs,
    case: &Case,
    sessions: [&Session; 2],
    runs: usize,
    what: &str,
) -> Done {
    let mut times = [Samples::default(), Samples::default()];
    let marks = sessions.map(|session| stage.state().join("sessions").join(&session.id).join("marks"));
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
            let payload = stage.payload(case, sessions[which], id, "");
            times[which].push(stage.run(&programs.shipped, case, &payload)?);
        }
    }
    let [p50, long_p50] = [times[0].percentile(50), times[1].percentile(50)];
    print::line(&format!(
        "    {what}, {}: p50 {p50:.0} to {long_p50:.0} µs, × {} (goal ≤ {GOAL}); p99 {:.0} to {:.0} µs; \
         marks {} to {} bytes",
        case.name,
        ratio(long_p50 / p50, GOAL),
        times[0].percentile(99),
        times[1].percentile(99),
        saved[0].len(),
        saved[1].len(),
    ));
    Ok(())
}

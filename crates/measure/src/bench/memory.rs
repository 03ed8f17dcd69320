//! Peak memory of a hook run, by payload size.

use super::Problems;
use super::programs::Programs;
use super::table::{goal_verdict, with_thousands};
use super::usage::{self, Count};
use crate::stage::{Case, POST_TOOL_USE, PRE_TOOL_USE, STOP, Stage, USER_PROMPT_SUBMIT};
use xtask::failure::{Done, Failure};
use xtask::print;
use xtask::tools;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

const RUNS: [(Case, usize); 8] = [
    (PRE_TOOL_USE, KIB),
    (PRE_TOOL_USE, MIB),
    (USER_PROMPT_SUBMIT, MIB),
    (STOP, MIB),
    (POST_TOOL_USE, MIB),
    (PRE_TOOL_USE, 32 * MIB),
    (POST_TOOL_USE, 32 * MIB),
    (USER_PROMPT_SUBMIT, 32 * MIB),
];

/// JSON-escaped tool output: a parser cannot borrow text with escapes.
const TEXT: &str = "test listener::takes_a_port ... \\\"ok\\\"\\n";

pub(crate) fn measure(programs: &Programs, problems: &mut Problems) -> Done {
    if !cfg!(target_os = "linux") {
        print::line("    left out: only GNU time tells the peak");
        return Ok(());
    }
    if !tools::is_on_path("time") {
        return Err(Failure::new("time is missing").next("install it (Debian: `apt-get install time`)"));
    }
    let stage = Stage::new()?;
    let session = stage.session(&programs.shipped, 1)?;
    for (number, (case, size)) in RUNS.iter().enumerate() {
        stage.begin_turn(&session, case, 1000)?;
        let bare = stage.payload(case, &session, 2000 + number as u64, "").len();
        let room = size.saturating_sub(bare);
        let padding = TEXT.repeat(room / TEXT.len()) + &"x".repeat(room % TEXT.len());
        let payload = stage.payload(case, &session, 2000 + number as u64, &padding);
        let call = stage.call(&programs.shipped, case, &session);
        let (peak, output) = usage::count_usage(&stage, &call, &payload, Count::Peak)?;
        let goal = if *size <= MIB { 8 * KIB } else { size / KIB + 8 * KIB };
        let records = stage.journal()?.records;
        if records.last().is_none_or(|record| record["event"] != case.name) {
            problems.push(format!("{}: no record of a payload of {} KiB", case.name, payload.len() / KIB));
        }
        let late = records.last().is_some_and(|record| record["failure"]["class"] == "deadline");
        print::line(&format!(
            "    {:<18}{:>8} KiB payload: peak {:>7} KiB (goal ≤ {}) {}{}",
            case.name,
            payload.len() / KIB,
            with_thousands(peak as u64),
            with_thousands(goal as u64),
            goal_verdict(peak <= goal),
            if late { ", met its own deadline" } else { "" },
        ));
        // Unless the gate ran out of time; `time` passes on the exit code.
        if !late {
            case.check(&output)?;
        }
        if peak > goal {
            problems.push(format!("{}: {peak} KiB for a payload of {} KiB", case.name, payload.len() / KIB));
        }
    }
    Ok(())
}

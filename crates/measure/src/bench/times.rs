//! Each event against the floor, in one interleaved run.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::Problems;
use super::programs::Programs;
use super::samples::Samples;
use super::table::{format_ratio, with_thousands};
use super::usage::{self, Count};
use crate::callgrind;
use crate::stage::{self, CASES, Stage, StagedSession};
use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::tools;

const GOAL_P50: f64 = 1.2;
const GOAL_P99: f64 = 3.0;

/// Not used by a warm-up: a new id for each run, as in a session.
const FIRST: u64 = 100_000;

pub(crate) fn measure(stage: &Stage, programs: &Programs, runs: usize, problems: &mut Problems) -> Done {
    // Floors first, then hooks.
    let variants: [Option<&Path>; 5] = [
        Some(&programs.floor),
        programs.floor_static.as_deref(),
        Some(&programs.shipped),
        programs.dynamic.as_deref(),
        programs.static_pie.as_deref(),
    ];
    let mut times: [[Samples; 5]; CASES.len()] = Default::default();
    let _held = stage.hold_workers_off()?;
    let mut sessions = Vec::new();
    for (number, case) in CASES.iter().enumerate() {
        let session = stage.session(&programs.shipped, number as u64)?;
        stage.begin_turn(&session, case, 1000)?;
        sessions.push(session);
    }
    let (before, load_before) = (stage.journal()?.records.len(), machine_load());
    let (mut id, mut recorded) = (FIRST, 0);
    let mut files = Samples::default();
    for round in 0..runs {
        files.push(time_new_file(stage, round)?);
        // Rotates the order, so that no variant always follows the same other one.
        for place in 0..CASES.len() {
            let number = (place * 7 + round * 3) % CASES.len();
            let case = &CASES[number];
            for turn in 0..variants.len() {
                let variant = (turn + round) % variants.len();
                let Some(program) = variants[variant] else { continue };
                id += 1;
                let payload = stage.payload(case, &sessions[number], id, "");
                let time = if variant < 2 {
                    stage::run_with_input(&mut stage.command(program), payload.as_bytes())?.0
                } else {
                    recorded += usize::from(case.is_recorded());
                    stage.run(program, case, &sessions[number], &payload)?
                };
                times[number][variant].push(time);
            }
        }
    }
    let journal = stage.journal()?;
    let late = journal.records[before..].iter().filter(|record| record["failure"]["class"] == "deadline");
    print::line(&format!("    met their own deadline: {}", late.count()));
    print::line(&format!("    load average of this machine: {load_before} before, {} after", machine_load()));
    print::line(&format!("    a new file beside the jobs: p50 {:.0} µs", files.percentile(50)));
    if journal.records.len() - before != recorded || journal.torn > 0 {
        let found = journal.records.len() - before;
        problems.push(format!("{recorded} runs left {found} records and {} torn lines", journal.torn));
    }
    let faults = count_faults(stage, programs, &sessions)?;
    print_times(programs, &times, &faults)
}

/// The median of a few runs, if page faults can be counted.
fn count_faults(stage: &Stage, programs: &Programs, sessions: &[StagedSession]) -> Done<Vec<String>> {
    const RUNS: u64 = 9;
    if !cfg!(target_os = "linux") || !tools::is_on_path("time") {
        return Ok(vec!["-".to_owned(); CASES.len() + 1]);
    }
    let median = |call: &Command, payload: &dyn Fn(u64) -> String| -> Done<String> {
        let mut counts = Vec::new();
        for run in 0..RUNS {
            counts.push(usage::count_usage(stage, call, &payload(FIRST - 1 - run), Count::Faults)?.0);
        }
        counts.sort_unstable();
        Ok(counts[counts.len() / 2].to_string())
    };
    let mut all = vec![median(&stage.command(&programs.floor), &|_| String::new())?];
    for (case, session) in CASES.iter().zip(sessions) {
        let payload = |id| stage.payload(case, session, id, "");
        all.push(median(&stage.call(&programs.shipped, case, session), &payload)?);
    }
    Ok(all)
}

/// The time to create a file such as a hook leaves at the end of a turn. After many deletions it can be most
/// of a hook's time: ext4 does not reuse fresh inodes and inspects each of them.
fn time_new_file(stage: &Stage, number: usize) -> Done<Duration> {
    let folder = stage.state().join("spool");
    let (half, whole) = (folder.join(format!(".{number}.half")), folder.join(format!(".{number}.whole")));
    let start = Instant::now();
    fs::write(&half, [b'x'; 200]).and_then(|()| fs::rename(&half, &whole)).while_(whole.display())?;
    Ok(start.elapsed())
}

/// The load of the machine, if known.
fn machine_load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

fn print_times(programs: &Programs, times: &[[Samples; 5]; CASES.len()], faults: &[String]) -> Done {
    let pooled = |variant: usize| {
        let mut all = Samples::default();
        for case in times {
            all.extend(&case[variant]);
        }
        all
    };
    let (floor, floor_static) = (pooled(0), pooled(1));
    let (p50, p99) = (floor.percentile(50), floor.percentile(99));
    print::line("");
    print::line(&format!(
        "{:<18}{:>8}{:>12}{:>10}{:>12}{:>16}{:>13}",
        "event", "p50 µs", "× floor", "p99 µs", "× floor", "instructions", "page faults"
    ));
    print::line(&format!("{:<18}{:>8}{:>12}{:>10}{:>12}", "goal", "", "≤ 1.2", "", "≤ 3"));
    print::line(&format!(
        "{:<18}{p50:>8.0}{:>12}{p99:>10.0}{:>12}{:>16}{:>13}",
        "floor", "1.00", "1.00", "", faults[0]
    ));
    for ((case, samples), faults) in CASES.iter().zip(times).zip(&faults[1..]) {
        let ours = &samples[2];
        let instructions = if tools::is_on_path("valgrind") {
            with_thousands(callgrind::count_instructions(&programs.shipped, case)?)
        } else {
            "no valgrind".to_owned()
        };
        print::line(&format!(
            "{:<18}{:>8.0}{:>12}{:>10.0}{:>12}{instructions:>16}{faults:>13}",
            case.name,
            ours.percentile(50),
            format_ratio(ours.percentile(50) / p50, GOAL_P50),
            ours.percentile(99),
            format_ratio(ours.percentile(99) / p99, GOAL_P99),
        ));
    }
    print::line("");
    print::line("linking: p50 in µs and × floor");
    let heads = ["event", "static (shipped)", "dynamic", "static-pie"];
    print::line(&format!("{:<18}{:>22}{:>22}{:>24}", heads[0], heads[1], heads[2], heads[3]));
    let cell = |samples: &Samples| {
        let median = samples.percentile(50);
        if samples.is_empty() { "-".to_owned() } else { format!("{median:.0}  {:.2}", median / p50) }
    };
    print::line(&format!("{:<18}{:>22}{:>22}", "floor", cell(&floor_static), cell(&floor)));
    for (case, samples) in CASES.iter().zip(times) {
        print::line(&format!(
            "{:<18}{:>22}{:>22}{:>24}",
            case.name,
            cell(&samples[2]),
            cell(&samples[3]),
            cell(&samples[4])
        ));
    }
    if floor.is_empty() { Err(Failure::new("nothing was measured")) } else { Ok(()) }
}

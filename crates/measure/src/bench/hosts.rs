//! Hooks of hosts other than Claude Code against the floor, in one interleaved run. What a host itself adds, such as a login
//! shell, is not in it.

use std::path::Path;

use serde_json::Value;

use super::RUNS;
use super::programs;
use super::samples::Samples;
use super::table::{format_ratio, with_thousands};
use crate::binary::{self, Link};
use crate::callgrind;
use crate::stage::{self, HOST_CASES, Stage};
use xtask::failure::{Done, Failure};
use xtask::print;
use xtask::tools;
use xtask::workspace::step;

const GOAL_P50: f64 = 1.3;

/// Not used by a warm-up.
const FIRST: u64 = 500_000;

/// `cargo xtask bench hosts`: this table alone.
pub(crate) fn run() -> Done {
    let stage = Stage::new()?;
    let shipped = step("program", || binary::build(Link::Shipped))?;
    let floor = programs::compile_floor(&stage.at("bin/floor"), &[])?;
    step(&format!("other hosts, {RUNS} rounds"), || measure(&shipped, &floor, RUNS))
}

pub(crate) fn measure(shipped: &Path, floor: &Path, runs: usize) -> Done {
    let stage = Stage::new()?;
    let shipped = &stage.install(shipped)?;
    let _held = stage.hold_workers_off()?;
    let mut sessions = Vec::new();
    for (number, case) in HOST_CASES.iter().enumerate() {
        sessions.push(stage.session_for(shipped, case, number as u64)?);
    }
    let mut times: [[Samples; 2]; HOST_CASES.len()] = Default::default();
    let mut id = FIRST;
    for round in 0..runs {
        for place in 0..HOST_CASES.len() {
            let number = (place * 3 + round) % HOST_CASES.len();
            let (case, session) = (&HOST_CASES[number], &sessions[number]);
            id += 1;
            stage.begin_turn(session, case, id)?;
            let payload = stage.payload(case, session, id, "");
            let empty_process = || -> Done<_> {
                let mut command = stage.command(floor);
                Ok(stage::run_with_input(&mut command, payload.as_bytes())?.0)
            };
            let hook = || stage.run(shipped, case, session, &payload);
            // Neither always comes first.
            let (empty, ours) = if round % 2 == 0 {
                let empty = empty_process()?;
                (empty, hook()?)
            } else {
                let ours = hook()?;
                (empty_process()?, ours)
            };
            times[number][0].push(empty);
            times[number][1].push(ours);
        }
    }
    check_records(&stage, runs)?;
    print_times(shipped, &times)
}

/// Every hook was recorded for its host. On a busy machine some miss their deadline.
fn check_records(stage: &Stage, runs: usize) -> Done {
    let journal = stage.journal()?;
    for case in HOST_CASES {
        let host = case.host.name();
        let is_run = |record: &&Value| record["host"] == host && record["event"] != "SessionStart";
        let found = journal.records.iter().filter(is_run).count();
        // Two cases each.
        if found != 2 * runs {
            return Err(Failure::new(format!("{host}: {} runs left {found} records", 2 * runs)));
        }
    }
    let late = journal.records.iter().filter(|record| record["failure"]["class"] == "deadline").count();
    print::line(&format!("    met their own deadline: {late}"));
    Ok(())
}

fn print_times(shipped: &Path, times: &[[Samples; 2]; HOST_CASES.len()]) -> Done {
    let mut floor = Samples::default();
    for [empty, _] in times {
        floor.extend(empty);
    }
    let p50 = floor.percentile(50);
    print::line("");
    print::line(&format!(
        "{:<22}{:>8}{:>12}{:>16}",
        "hook of another host", "p50 µs", "× floor", "instructions"
    ));
    print::line(&format!("{:<22}{:>8}{:>12}", "goal", "", "≤ 1.3"));
    print::line(&format!("{:<22}{p50:>8.0}{:>12}", "floor", "1.00"));
    for (case, [_, ours]) in HOST_CASES.iter().zip(times) {
        let instructions = if tools::is_on_path("valgrind") {
            with_thousands(callgrind::count_instructions(shipped, case)?)
        } else {
            "no valgrind".to_owned()
        };
        let median = ours.percentile(50);
        print::line(&format!(
            "{:<22}{median:>8.0}{:>12}{instructions:>16}",
            case.name,
            format_ratio(median / p50, GOAL_P50)
        ));
    }
    Ok(())
}

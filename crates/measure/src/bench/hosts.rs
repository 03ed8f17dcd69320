//! Hooks of hosts other than Claude Code against the floor, in one interleaved run. What a host itself adds, such as a login
//! shell, is not in it.

use super::programs::Programs;
use super::samples::Samples;
use super::table::{format_ratio, with_thousands};
use crate::callgrind;
use crate::stage::{self, HOST_CASES, Stage};
use xtask::failure::{Done, Failure};
use xtask::print;
use xtask::tools;

const GOAL_P50: f64 = 1.3;

/// Not used by a warm-up.
const FIRST: u64 = 500_000;

pub(crate) fn measure(programs: &Programs, runs: usize) -> Done {
    let stage = Stage::new()?;
    let _held = stage.hold_workers_off()?;
    let mut sessions = Vec::new();
    for (number, case) in HOST_CASES.iter().enumerate() {
        let session = stage.session_for(&programs.shipped, case, number as u64)?;
        stage.begin_turn(&session, case, FIRST)?;
        sessions.push(session);
    }
    let mut times: [[Samples; 2]; HOST_CASES.len()] = Default::default();
    for round in 0..runs {
        for place in 0..HOST_CASES.len() {
            let number = (place * 3 + round) % HOST_CASES.len();
            let (case, session) = (&HOST_CASES[number], &sessions[number]);
            let payload = stage.payload(case, session, FIRST, "");
            let floor = || -> Done<_> {
                let mut command = stage.command(&programs.floor);
                Ok(stage::run_with_input(&mut command, payload.as_bytes())?.0)
            };
            let hook = || stage.run(&programs.shipped, case, session, &payload);
            // Neither always comes first.
            let (empty, ours) = if round % 2 == 0 {
                let empty = floor()?;
                (empty, hook()?)
            } else {
                let ours = hook()?;
                (floor()?, ours)
            };
            times[number][0].push(empty);
            times[number][1].push(ours);
        }
    }
    check_records(&stage)?;
    print_times(programs, &times)
}

/// Every hook knew its host, and the meter where there is a transcript or a number in the payload.
fn check_records(stage: &Stage) -> Done {
    let journal = stage.journal()?;
    for case in HOST_CASES {
        let host = case.host.name();
        let of_host = || journal.records.iter().filter(|record| record["host"] == host);
        let failed = of_host().filter(|record| !record["failure"].is_null()).count();
        if of_host().count() == 0 || failed > 0 {
            return Err(Failure::new(format!("{host}: {} records, {failed} failures", of_host().count())));
        }
    }
    Ok(())
}

fn print_times(programs: &Programs, times: &[[Samples; 2]; HOST_CASES.len()]) -> Done {
    let mut floor = Samples::default();
    times.iter().for_each(|[empty, _]| floor.extend(empty));
    let p50 = floor.percentile(50);
    print::line("");
    print::line(&format!("{:<22}{:>8}{:>12}{:>16}", "hook of another host", "p50 µs", "× floor", "instructions"));
    print::line(&format!("{:<22}{:>8}{:>12}", "goal", "", "≤ 1.3"));
    print::line(&format!("{:<22}{p50:>8.0}{:>12}", "floor", "1.00"));
    for (case, [_, ours]) in HOST_CASES.iter().zip(times) {
        let instructions = if tools::is_on_path("valgrind") {
            with_thousands(callgrind::count_instructions(&programs.shipped, case)?)
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

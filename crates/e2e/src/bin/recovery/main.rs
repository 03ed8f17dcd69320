//! Measures recovery: sessions with planted facts go through a compaction on the real client, with and
//! without Tidegate. Counted are the facts in the model's first two requests afterwards. `cargo xtask
//! recovery` runs it.

mod play;
mod sessions;
mod table;

use std::io::Write;
use std::process::ExitCode;
use std::sync::Mutex;

use play::{Outcome, PlayMode, SummaryStyle, Trigger, play};
use sessions::SESSIONS;
use table::{PlayedRow, format_table, modes_below_goal, modes_without_gain};

fn main() -> ExitCode {
    let mut rows: Vec<PlayedRow> = ways().map(|way| PlayedRow { way, outcomes: Vec::new() }).collect();
    let plays: Vec<(usize, usize)> =
        (0..rows.len()).flat_map(|row| (0..SESSIONS.len()).map(move |session| (row, session))).collect();
    let (left, done) = (Mutex::new(plays.iter()), Mutex::new(Vec::<(usize, Outcome)>::new()));
    let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let next = left.lock().expect("another session failed").next();
                    let Some(&(row, session)) = next else { return };
                    let outcome = play(&SESSIONS[session], rows[row].way);
                    done.lock().expect("another session failed").push((row, outcome));
                }
            });
        }
    });
    for (row, outcome) in done.into_inner().expect("every session was played") {
        rows[row].outcomes.push(outcome);
    }

    let mut out = std::io::stdout().lock();
    let _ = writeln!(
        out,
        "{} sessions. Facts that stand literally in one of the model's next two requests, and what Tidegate added per \
         session (tokens by estimate: to the request for a summary, to the second request after it).\n\n{}",
        SESSIONS.len(),
        format_table(&rows)
    );
    let failed: usize = rows.iter().flat_map(|row| &row.outcomes).map(|outcome| outcome.failed).sum();
    if failed > 0 {
        let _ =
            writeln!(out, "{failed} hooks failed: the machine was too busy, and the figures are too low.");
    }
    let worse = modes_without_gain(&rows);
    for line in &worse {
        let _ = writeln!(out, "NO HELP: {line}");
    }
    let below = modes_below_goal(&rows);
    for line in &below {
        let _ = writeln!(out, "BELOW THE GOAL: {line}");
    }
    if worse.is_empty() && below.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// In pairs: without Tidegate, then with it.
fn ways() -> impl Iterator<Item = PlayMode> {
    [Trigger::Automatic, Trigger::Manual].into_iter().flat_map(|trigger| {
        [SummaryStyle::Follows, SummaryStyle::Ignores].into_iter().flat_map(move |summariser| {
            [false, true].into_iter().map(move |tidegate| PlayMode { trigger, summariser, tidegate })
        })
    })
}

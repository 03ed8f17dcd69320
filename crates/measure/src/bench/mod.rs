//! `cargo xtask bench [--runs N]`: the cost of a hook against its goals; `cargo xtask bench hosts`: that of other hosts alone. `cargo xtask bench store`, `team`, `worker` and `import`:
//! the speed of the memory.
//!
//! Times are printed and not asserted, because they depend on the machine. Answers, records and memory are
//! asserted.

mod crowd;
mod growth;
pub(crate) mod hosts;
mod memory;
pub(crate) mod pages;
mod phase;
mod programs;
mod samples;
pub(crate) mod store;
mod table;
mod times;
mod usage;

pub(crate) use growth::with_a_large_memory;

use crate::stage::Stage;
use xtask::failure::{Done, Failure};
use xtask::print;
use xtask::workspace::step;

pub(crate) const RUNS: usize = 500;

/// Printed after the tables.
pub(crate) type Problems = Vec<String>;

pub(crate) fn run(runs: usize) -> Done {
    let stage = Stage::new()?;
    let programs = step("programs", || programs::build(&stage))?;
    let mut problems = Problems::new();
    step(&format!("times, {runs} rounds"), || times::measure(&stage, &programs, runs, &mut problems))?;
    step(&format!("other hosts, {runs} rounds"), || {
        hosts::measure(&programs.shipped, &programs.floor, runs)
    })?;
    step("growth", || growth::measure(&programs, runs, &mut problems))?;
    step("32 hooks at once", || crowd::measure(&programs, runs, &mut problems))?;
    step("phase classification", || phase::measure(&stage, &programs, runs))?;
    step("memory", || memory::measure(&programs, &mut problems))?;
    if problems.is_empty() {
        print::line("Answers, records and memory are as they have to be.");
        return Ok(());
    }
    Err(Failure::new(format!("{} things are wrong:\n  {}", problems.len(), problems.join("\n  "))))
}

//! Benchmarks of the memory: `cargo xtask bench store` (searches, lists and writes in a store of up to a million logs), `bench team`
//! (a team on one server), `bench worker` and `bench import` (how fast conversations are stored).
//!
//! Each is an optimised example of `crates/memory`. Linked into this program it would be measured without
//! optimisation, and every other task would wait for SQLite to compile.

use std::process::Command;

use crate::binary::{self, Link};
use xtask::failure::Done;
use xtask::workspace::{self, cargo, step};

/// Passes its arguments on; `--processes` also measures the binary as shipped.
pub(crate) fn run(arguments: &[&str]) -> Done {
    let mut rest = arguments.to_vec();
    let processes =
        rest.iter().position(|word| *word == "--processes").map(|place| rest.remove(place)).is_some();
    let program = if processes { Some(step("program", || binary::build(Link::Shipped))?) } else { None };
    step("store", || {
        let mut command = example("store_bench");
        command.args(&rest);
        if let Some(program) = &program {
            command.arg("--program").arg(program);
        }
        workspace::run(&mut command)
    })
}

/// Passes its arguments on.
pub(crate) fn run_team(arguments: &[&str]) -> Done {
    step("team", || workspace::run(example("team_bench").args(arguments)))
}

/// `worker` or `import`, with their arguments.
pub(crate) fn run_recording(arguments: &[&str]) -> Done {
    step("recording", || workspace::run(example("recording_bench").args(arguments)))
}

pub(crate) fn run_replay(arguments: &[&str]) -> Done {
    step("replay", || workspace::run(example_of("tidegate-replay", "replay_bench").args(arguments)))
}

fn example(name: &str) -> Command {
    example_of("tidegate-memory", name)
}

fn example_of(package: &str, name: &str) -> Command {
    let mut command = cargo(&["run", "--quiet", "--locked", "--profile", "bench"]);
    command.args(["--package", package, "--example", name, "--"]);
    command
}

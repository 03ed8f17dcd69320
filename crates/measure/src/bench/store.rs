//! Benchmarks of the memory: `cargo xtask bench store` (searches, lists and writes in a store of up to a million logs), `bench team`
//! (a team on one server), `bench worker` and `bench import` (how fast conversations are stored).
//!
//! Each is an optimised example of `crates/memory`. Linked into this program it would be measured without
//! optimisation, and every other task would wait for SQLite to compile.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary::{self, Link};
use xtask::failure::Done;
use xtask::room;
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

/// A store with so many logs, in `memory` below the folder.
pub(crate) fn fill(folder: &Path, logs: usize) -> Done {
    let mut command = example("store_bench");
    workspace::run(command.args(["--fill", &logs.to_string(), "--in"]).arg(folder))
}

/// 5 GB, unless the arguments say otherwise.
const REPLAYED_MEGABYTES: u64 = 5_000;

/// Transcripts are made in cargo's output folder: that for temporary files is in memory on some machines.
pub(crate) fn run_replay(arguments: &[&str]) -> Done {
    let after =
        |name: &str| arguments.iter().position(|word| *word == name).and_then(|at| arguments.get(at + 1));
    let mut command = example_of("tidegate-replay", "replay_bench");
    command.args(arguments);
    if after("--of").is_none() {
        let folder = match after("--in") {
            Some(folder) => PathBuf::from(folder),
            None => workspace::target_folder()?,
        };
        let megabytes = after("--megabytes").and_then(|number| number.parse().ok());
        room::require(&folder, megabytes.unwrap_or(REPLAYED_MEGABYTES))?;
        if after("--in").is_none() {
            command.arg("--in").arg(&folder);
        }
    }
    step("replay", || workspace::run(&mut command))
}

fn example(name: &str) -> Command {
    example_of("tidegate-memory", name)
}

fn example_of(package: &str, name: &str) -> Command {
    let mut command = cargo(&["run", "--quiet", "--locked", "--profile", "bench"]);
    command.args(["--package", package, "--example", name, "--"]);
    command
}

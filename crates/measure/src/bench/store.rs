//! `cargo xtask bench store`: searches, lists and writes in a store of up to a million logs.
//!
//! Runs an optimised example of `crates/memory`. Linked into this program it would be measured without
//! optimisation, and every other task would wait for SQLite to compile.

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
        let mut command = cargo(&["run", "--quiet", "--locked", "--profile", "bench"]);
        command.args(["--package", "tidegate-memory", "--example", "store_bench", "--"]).args(&rest);
        if let Some(program) = &program {
            command.arg("--program").arg(program);
        }
        workspace::run(&mut command)
    })
}

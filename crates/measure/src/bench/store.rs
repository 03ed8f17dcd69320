//! `cargo xtask bench store`: searches, lists and writing in a store of up to a million logs.
//!
//! The measuring program is an example of `crates/memory`, built with optimisation: linked into this one it would be measured
//! as `cargo xtask` is built, and every other task would wait for SQLite to be compiled.

use crate::binary::{self, Link};
use xtask::failure::Done;
use xtask::workspace::{self, cargo, step};

/// The command. What it is given goes to the program; `--processes` also asks the binary as shipped.
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

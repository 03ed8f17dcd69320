//! Everything that `cargo xtask test` runs, compiled once and linted on the way.
//!
//! Clippy's driver is a compiler: where it builds the tests, no second pass over dependencies and sources is needed to lint. All
//! commands name the whole workspace, since a choice of packages is a choice of features, and with others of those most of it
//! would be compiled again.

use std::path::PathBuf;
use std::process::Command;

use xtask::failure::Done;
use xtask::workspace::{self, cargo};

/// A proof that it is there.
pub(crate) struct Built {
    programs: PathBuf,
}

impl Built {
    /// Compiles; a lint is an error.
    pub(crate) fn make() -> Done<Built> {
        workspace::run(linting(&mut cargo(&[
            "test",
            "--workspace",
            "--all-targets",
            "--no-run",
            "--locked",
        ])))?;
        Ok(Built { programs: workspace::target()?.join("debug") })
    }

    /// A program that was compiled together with its tests.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.programs.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// The tests of these packages and targets.
    pub(crate) fn tests(&self, selected: &[&str]) -> Command {
        let mut tests = cargo(&["test", "--workspace", "--locked"]);
        linting(&mut tests).args(selected).env("INSTA_UPDATE", "no");
        tests
    }
}

/// As `cargo clippy -- -D warnings` does it.
fn linting(cargo: &mut Command) -> &mut Command {
    cargo.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__")
}

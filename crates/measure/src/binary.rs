//! The executable under measurement, and the ways to link it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::failure::{Done, While};
use xtask::{shipped, workspace};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// As `cargo build --profile dist` does it.
    Shipped,
    /// With the system's shared libraries.
    Dynamic,
    StaticPie,
}

pub(crate) fn build(link: Link) -> Done<PathBuf> {
    let (verb, tail): (&str, &[&str]) = match link {
        Link::Shipped | Link::Dynamic => ("build", &[]),
        Link::StaticPie => ("rustc", &["--", "-Ctarget-feature=+crt-static"]),
    };
    let mut command = shipped::cargo_for_program(verb);
    command.args(tail);
    match link {
        Link::Shipped => command.env_remove("TIDEGATE_LINK"),
        // Otherwise the link arguments of the build script would interfere.
        Link::Dynamic | Link::StaticPie => command.env("TIDEGATE_LINK", "dynamic"),
    };
    run_build(&mut command)
}

/// As shipped, but with function names.
pub(crate) fn build_with_names() -> Done<PathBuf> {
    // A profile setting would change the hashes in the names of all crates.
    run_build(shipped::cargo_for_program("rustc").args(["--", "-Cstrip=none"]).env_remove("TIDEGATE_LINK"))
}

fn run_build(build: &mut Command) -> Done<PathBuf> {
    workspace::run(build)?;
    shipped::program()
}

/// Keeps a copy, because the next build writes to the same place.
pub(crate) fn build_copy(link: Link, copy: &Path) -> Done<PathBuf> {
    let built = build(link)?;
    fs::copy(&built, copy).while_(built.display())?;
    Ok(copy.to_owned())
}

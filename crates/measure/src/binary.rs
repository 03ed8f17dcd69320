//! The executable under measurement, and the ways to link it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::failure::{Done, While};
use xtask::workspace::{self, cargo};

/// How the last step of the build is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// As `cargo build --profile dist` does it.
    Shipped,
    /// With the system's shared libraries.
    Dynamic,
    /// Statically, position-independent.
    StaticPie,
}

/// What ships is built with this profile. That of `--release` is for a first look, and nothing is measured on it.
const PROFILE: &str = "dist";

/// Builds the binary.
pub(crate) fn build(link: Link) -> Done<PathBuf> {
    let (verb, tail): (&str, &[&str]) = match link {
        Link::Shipped | Link::Dynamic => ("build", &[]),
        Link::StaticPie => ("rustc", &["--", "-Ctarget-feature=+crt-static"]),
    };
    let mut command = of_the_program(verb);
    command.args(tail);
    match link {
        Link::Shipped => command.env_remove("TIDEGATE_LINK"),
        // Else the build script's own link arguments would get in the way.
        Link::Dynamic | Link::StaticPie => command.env("TIDEGATE_LINK", "dynamic"),
    };
    made(&mut command)
}

/// Builds it as shipped, but with the names of its functions.
pub(crate) fn build_with_names() -> Done<PathBuf> {
    // Not by the profile: the hashes in the names of all crates depend on that.
    made(of_the_program("rustc").args(["--", "-Cstrip=none"]).env_remove("TIDEGATE_LINK"))
}

fn of_the_program(verb: &str) -> Command {
    cargo(&[verb, "--profile", PROFILE, "--package", "tidegate", "--bin", "tidegate", "--locked"])
}

fn made(build: &mut Command) -> Done<PathBuf> {
    workspace::run(build)?;
    Ok(workspace::target()?.join(PROFILE).join(format!("tidegate{}", std::env::consts::EXE_SUFFIX)))
}

/// Builds it and keeps a copy: the next build writes to the same place.
pub(crate) fn build_copy(link: Link, copy: &Path) -> Done<PathBuf> {
    let built = build(link)?;
    fs::copy(&built, copy).while_(built.display())?;
    Ok(copy.to_owned())
}

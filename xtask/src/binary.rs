//! The executable under measurement, and the ways to link it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Done, While};
use crate::workspace::{self, cargo};

/// How the last step of the build is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// As `cargo build --release` does it.
    Shipped,
    /// With the system's shared libraries.
    Dynamic,
    /// Statically, position-independent.
    StaticPie,
}

/// Builds the release binary.
pub(crate) fn build(link: Link) -> Done<PathBuf> {
    let (verb, tail): (&str, &[&str]) = match link {
        Link::Shipped | Link::Dynamic => ("build", &[]),
        Link::StaticPie => ("rustc", &["--", "-Ctarget-feature=+crt-static"]),
    };
    let mut command = cargo(&[verb, "--release", "--package", "tidegate", "--bin", "tidegate", "--locked"]);
    command.args(tail);
    match link {
        Link::Shipped => command.env_remove("TIDEGATE_LINK"),
        // Else the build script's own link arguments would get in the way.
        Link::Dynamic | Link::StaticPie => command.env("TIDEGATE_LINK", "dynamic"),
    };
    at_release(&mut command)
}

/// Builds it as shipped, but with the names of its functions.
pub(crate) fn build_with_names() -> Done<PathBuf> {
    // Not by the profile: the hashes in the names of all crates depend on that.
    let build = [
        "rustc",
        "--release",
        "--package",
        "tidegate",
        "--bin",
        "tidegate",
        "--locked",
        "--",
        "-Cstrip=none",
    ];
    at_release(cargo(&build).env_remove("TIDEGATE_LINK"))
}

fn at_release(build: &mut Command) -> Done<PathBuf> {
    workspace::run(build)?;
    Ok(workspace::target()?.join("release").join(format!("tidegate{}", std::env::consts::EXE_SUFFIX)))
}

/// Builds it and keeps a copy: the next build writes to the same place.
pub(crate) fn build_copy(link: Link, copy: &Path) -> Done<PathBuf> {
    let built = build(link)?;
    fs::copy(&built, copy).while_(built.display())?;
    Ok(copy.to_owned())
}

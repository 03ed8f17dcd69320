//! `cargo xtask upgrade`: moves a home that the program of an earlier release wrote, on the real client, to this version and back.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::failure::{Done, Failure, While};
use xtask::workspace::{self, step};

use crate::{e2e, package};

/// The only release before this one, and the commit of it.
const FORMER: (&str, &str) = ("0.1.0", "96aecf6357b377eca68998fe80638adf468bc8fe");

/// Builds what it needs.
pub(crate) fn run() -> Done {
    let former = step(&format!("program of {}", FORMER.0), former_program)?;
    step("program", || {
        workspace::run(&mut workspace::cargo(&["build", "--package", "tidegate", "--locked"]))
    })?;
    let program = workspace::target_folder()?.join("debug/tidegate");
    let mut scenarios = workspace::cargo(&["test", "--package", "tidegate-e2e", "--locked", "--"]);
    scenarios.env("TIDEGATE_FORMER", former).arg("--ignored");
    e2e::run_built(&program, scenarios, &["scenario::upgrade::"])
}

/// In the cache next to the clients: it never changes.
fn former_program() -> Done<PathBuf> {
    let (version, commit) = FORMER;
    let home = package::cache_folder()?.with_file_name("former").join(version);
    let program = home.join("tidegate");
    if program.is_file() {
        return Ok(program);
    }
    fs::create_dir_all(&home).while_(home.display())?;
    let scratch = tempfile::Builder::new().prefix(".build-").tempdir_in(&home).while_(home.display())?;
    unpack(commit, scratch.path())?;
    let mut build = workspace::cargo(&["build", "--package", "tidegate", "--locked"]);
    build.current_dir(scratch.path()).env("CARGO_TARGET_DIR", scratch.path().join("target"));
    workspace::run(build.env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
    let built = scratch.path().join("target/debug/tidegate");
    fs::rename(&built, &program).while_(built.display())?;
    Ok(program)
}

fn unpack(commit: &str, to: &Path) -> Done {
    let archive = to.with_extension("tar");
    let mut git = Command::new("git");
    git.current_dir(workspace::root()).args(["archive", "--output"]).arg(&archive).arg(commit);
    workspace::read_output(&mut git).map_err(|failure| {
        Failure::new(failure.what()).next("fetch the whole history: `git fetch --unshallow`")
    })?;
    workspace::read_output(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(to))?;
    fs::remove_file(&archive).while_(archive.display())
}

//! `cargo xtask recovery`: what survives a compaction on the real client, with and without Tidegate.

use crate::client;
use xtask::failure::Done;
use xtask::workspace::{self, cargo, step};

pub(crate) fn run() -> Done {
    let version = client::pinned()?;
    let client = step(&format!("client {version}"), || client::fetch(&version))?;
    step("binary", || workspace::run(&mut cargo(&["build", "--package", "tidegate", "--locked"])))?;
    let binary =
        workspace::target_folder()?.join("debug").join(format!("tidegate{}", std::env::consts::EXE_SUFFIX));
    let mut played = cargo(&["run", "--quiet", "--package", "tidegate-e2e", "--bin", "recovery", "--locked"]);
    played.env("TIDEGATE_CLIENT", client).env("TIDEGATE_BIN", binary);
    step(&format!("sessions on client {version}"), || workspace::run(&mut played))
}

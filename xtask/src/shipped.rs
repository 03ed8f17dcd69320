//! The program as it ships. Every task that needs it builds it here, so that all have the same bytes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Done;
use crate::workspace::{self, cargo};

/// The shipped profile. `--release` is for a quick build and is not measured.
pub const PROFILE: &str = "dist";

/// Cargo with everything but the verb's own arguments.
pub fn cargo_for_program(verb: &str) -> Command {
    let mut command =
        cargo(&[verb, "--profile", PROFILE, "--package", "tidegate", "--bin", "tidegate", "--locked"]);
    command.env("CARGO_ENCODED_RUSTFLAGS", without_local_paths().join("\u{1f}"));
    command
}

/// Where the built program is.
pub fn program() -> Done<PathBuf> {
    Ok(workspace::target_folder()?.join(PROFILE).join(format!("tidegate{}", std::env::consts::EXE_SUFFIX)))
}

/// Messages of panics name source files: two people who build one commit should get the same names.
fn without_local_paths() -> Vec<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let sources = home.map(|home| home.join("registry/src"));
    let registries = sources.iter().filter_map(|sources| std::fs::read_dir(sources).ok()).flatten().flatten();
    let mut folders: Vec<PathBuf> = registries.map(|entry| entry.path()).collect();
    folders.sort();
    let renamed = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let packages = folders.iter().map(|folder| renamed(folder, "packages"));
    packages.chain([renamed(workspace::root(), "tidegate")]).collect()
}

//! The workspace and its cargo.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::failure::{Done, Failure, While};
use crate::print;

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

/// The cargo that started this program.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments).current_dir(root());
    // Build scripts read these. With the values of this program they, and much that depends on them, would
    // run again whenever a person and a task build in turns.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_")
            || name.to_string_lossy().starts_with("CARGO_MANIFEST_")
        {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// Twice as many as cores, for tests that wait for other processes half of the time.
pub fn many_test_threads() -> String {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    format!("--test-threads={}", cores * 2)
}

/// Cargo's output directory.
pub fn target_folder() -> Done<PathBuf> {
    let metadata = read_output(&mut cargo(&["metadata", "--no-deps", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata).while_("reading what cargo metadata prints")?;
    let target = metadata["target_directory"].as_str();
    target.map(PathBuf::from).ok_or_else(|| Failure::new("cargo metadata names no target_directory"))
}

pub fn run(command: &mut Command) -> Done {
    let status = command.status().while_(command_line(command))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` ended with {status}", command_line(command))))
}

/// Returns stdout; stderr goes to the screen.
pub fn read_stdout(command: &mut Command) -> Done<String> {
    let ran = command.stderr(Stdio::inherit()).output().while_(command_line(command))?;
    if ran.status.success() {
        return Ok(String::from_utf8_lossy(&ran.stdout).into_owned());
    }
    Err(Failure::new(format!("`{}` ended with {}", command_line(command), ran.status)))
}

/// Fails with the stderr of the command.
pub fn read_output(command: &mut Command) -> Done<String> {
    let Output { status, stdout, stderr } = command.output().while_(command_line(command))?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&stderr);
    Err(Failure::new(format!("`{}` ended with {status}:\n{}", command_line(command), stderr.trim_end())))
}

/// As a person would type it.
pub fn command_line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut text = program.to_string_lossy().into_owned();
    for argument in command.get_args() {
        let _ = write!(text, " {}", argument.to_string_lossy());
    }
    text
}

/// Prints the name before and the time after the step.
pub fn step<T>(name: &str, work: impl FnOnce() -> Done<T>) -> Done<T> {
    print::line(&format!("==> {name}"));
    let start = Instant::now();
    let done = work();
    let verdict = if done.is_ok() { "done" } else { "FAILED" };
    print::line(&format!("    {verdict}: {name}, {:.1} s", start.elapsed().as_secs_f64()));
    done
}

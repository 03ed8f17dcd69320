//! External programs that the checks need.

use std::process::{Command, Stdio};

use crate::failure::Done;
use crate::print;
use crate::workspace;

pub fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Installs missing programs with `apt-get`, and returns those still missing with the reason. Program and
/// Debian package must have the same name.
pub fn ensure_programs(programs: &[&str]) -> Vec<String> {
    let missing: Vec<&str> = programs.iter().copied().filter(|program| !is_on_path(program)).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    print::line(&format!("    missing: {}; installing", missing.join(", ")));
    let why = match install_packages(&missing) {
        Ok(()) => "installed, but not on the path".to_owned(),
        Err(failure) => failure.what().to_owned(),
    };
    missing
        .into_iter()
        .filter(|program| !is_on_path(program))
        .map(|program| format!("{program} ({why})"))
        .collect()
}

pub fn install_packages(packages: &[&str]) -> Done {
    workspace::run(apt_get().args(["-qq", "update"]))?;
    workspace::run(apt_get().args(["-qq", "install", "-y", "--no-install-recommends"]).args(packages))
}

fn apt_get() -> Command {
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.trim_ascii() == b"0");
    let mut command = if root || !is_on_path("sudo") {
        Command::new("apt-get")
    } else {
        // Without a password prompt: no one may be there to answer it.
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", "apt-get"]);
        sudo
    };
    command.env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()).stdout(Stdio::null());
    command
}

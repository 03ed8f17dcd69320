//! The real client, in the version that the scenarios are pinned to or in another.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::package::{self, Package, platform};
use xtask::failure::{Done, Failure, While};
use xtask::workspace;

/// The only place of this version.
pub(crate) fn pinned() -> Done<String> {
    let path = workspace::root().join("crates/e2e/client-version");
    let text = fs::read_to_string(&path).while_(path.display())?;
    check_version(text.trim())
}

pub(crate) fn latest() -> Done<String> {
    package::need_npm()?;
    let text = workspace::read_output(Command::new("npm").args(["view", &package_name()?, "version"]))?;
    check_version(text.trim())
}

/// A version becomes part of a path and of a command line.
pub(crate) fn check_version(version: &str) -> Done<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    if version.starts_with(|c: char| c.is_ascii_digit()) && version.chars().all(plain) {
        return Ok(version.to_owned());
    }
    Err(Failure::new(format!("`{version}` is no version of the client"))
        .next("give one like 2.1.325, or `latest`"))
}

pub(crate) fn in_cache(version: &str) -> bool {
    package(version).is_ok_and(|package| package.in_cache())
}

/// Fetched if it is not in the cache.
pub(crate) fn fetch(version: &str) -> Done<PathBuf> {
    package(version)?.fetch()
}

fn package(version: &str) -> Done<Package> {
    Ok(Package {
        folder: version.to_owned(),
        spec: format!("{}@{version}", package_name()?),
        version: version.to_owned(),
        executable: PathBuf::from("claude"),
        run_by: None,
    })
}

fn package_name() -> Done<String> {
    Ok(format!("@anthropic-ai/claude-code-{}", platform()?.npm))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_cannot_leave_the_cache() {
        assert!(check_version("2.1.325").is_ok());
        assert!(check_version("2.2.0-beta.1").is_ok());
        for bad in ["", "..", "../x", "latest", "1/2", "1 2", "-1"] {
            assert!(check_version(bad).is_err(), "{bad}");
        }
    }
}

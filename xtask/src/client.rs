//! The real client: fetched once per version, kept in the user's cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Done, Failure, While};
use crate::print;
use crate::tools;
use crate::workspace;

/// The version that the scenarios are pinned to, in its only home.
pub(crate) fn pinned() -> Done<String> {
    let path = workspace::root().join("crates/e2e/client-version");
    let text = fs::read_to_string(&path).while_(path.display())?;
    checked(text.trim())
}

/// The newest version that the registry has.
pub(crate) fn latest() -> Done<String> {
    need_npm()?;
    let text = workspace::output(Command::new("npm").args(["view", &package()?, "version"]))?;
    checked(text.trim())
}

/// A version becomes part of a path and of a command line.
pub(crate) fn checked(version: &str) -> Done<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    if version.starts_with(|c: char| c.is_ascii_digit()) && version.chars().all(plain) {
        return Ok(version.to_owned());
    }
    Err(Failure::new(format!("`{version}` is no version of the client"))
        .next("give one like 2.1.325, or `latest`"))
}

/// Whether nothing has to be fetched.
pub(crate) fn in_cache(version: &str) -> bool {
    cache().is_ok_and(|cache| cache.join(version).join("package/claude").is_file())
}

/// The client's executable, fetched if it is not in the cache.
pub(crate) fn fetch(version: &str) -> Done<PathBuf> {
    let home = cache()?.join(version);
    let executable = home.join("package/claude");
    if executable.is_file() {
        return Ok(executable);
    }
    need_npm()?;
    let clients = cache()?;
    fs::create_dir_all(&clients).while_(clients.display())?;
    // Beside its final place, so that one rename brings it there whole.
    let temporary = tempfile::Builder::new().prefix(".fetch-").tempdir_in(&clients);
    let temporary = temporary.while_(clients.display())?;
    let package = format!("{}@{version}", package()?);
    print::line(&format!("    fetching {package}"));
    let mut npm = Command::new("npm");
    npm.args(["pack", "--loglevel=error", &package, "--pack-destination"]).arg(temporary.path());
    let archive = workspace::output(&mut npm)
        .map_err(|failure| failure.next("check the version, and that npm reaches its registry"))?;
    let archive = temporary.path().join(archive.lines().last().unwrap_or_default().trim());
    let unpacked = temporary.path().join("unpacked");
    fs::create_dir(&unpacked).while_(unpacked.display())?;
    workspace::output(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&unpacked))?;
    verify(&unpacked.join("package/claude"), version, temporary.path())?;
    // Another run may have been faster; its copy is as good.
    match fs::rename(&unpacked, &home) {
        Err(error) if !executable.is_file() => Err(error).while_(home.display()),
        _ => Ok(executable),
    }
}

/// Whether it starts and says the version that was asked for. It sees nothing of the caller's environment.
fn verify(executable: &Path, version: &str, home: &Path) -> Done {
    let mut command = Command::new(executable);
    command.arg("--version").env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin").current_dir(home);
    let said = workspace::output(&mut command)?;
    if said.split_whitespace().next() == Some(version) {
        return Ok(());
    }
    Err(Failure::new(format!("the client that was fetched as {version} calls itself {:?}", said.trim())))
}

fn need_npm() -> Done {
    if tools::present("npm") {
        return Ok(());
    }
    Err(Failure::new("npm is missing, and with it the client")
        .next("install npm (Debian: `apt-get install npm`), or run `cargo xtask test`, which does"))
}

fn package() -> Done<String> {
    let platform = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "linux-x64",
        ("linux", "aarch64") => "linux-arm64",
        ("macos", "x86_64") => "darwin-x64",
        ("macos", "aarch64") => "darwin-arm64",
        (os, arch) => return Err(Failure::new(format!("there is no client for {os} on {arch}"))),
    };
    Ok(format!("@anthropic-ai/claude-code-{platform}"))
}

/// Where the scenarios look for it too.
fn cache() -> Done<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let cache = cache.ok_or_else(|| Failure::new("no place for the client: HOME is not set"))?;
    Ok(cache.join("tidegate/clients"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_cannot_leave_the_cache() {
        assert!(checked("2.1.325").is_ok());
        assert!(checked("2.2.0-beta.1").is_ok());
        for bad in ["", "..", "../x", "latest", "1/2", "1 2", "-1"] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }
}

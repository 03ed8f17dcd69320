//! Programs from npm packages, fetched once per version into the user's cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::tools;
use xtask::workspace;

/// A package with an executable.
pub(crate) struct Package {
    /// In the cache, with the version in its name.
    pub(crate) folder: String,
    /// Name and version for npm.
    pub(crate) spec: String,
    /// As the program prints it.
    pub(crate) version: String,
    /// Relative to the package.
    pub(crate) executable: PathBuf,
    /// The interpreter, if the system cannot run the executable directly.
    pub(crate) run_by: Option<PathBuf>,
}

impl Package {
    /// Whether or not it was fetched.
    pub(crate) fn path(&self) -> Done<PathBuf> {
        Ok(self.executable_in(&cache_folder()?.join(&self.folder)))
    }

    pub(crate) fn in_cache(&self) -> bool {
        self.path().is_ok_and(|path| path.is_file())
    }

    /// Fetched if it is not in the cache.
    pub(crate) fn fetch(&self) -> Done<PathBuf> {
        let executable = self.path()?;
        if executable.is_file() {
            return Ok(executable);
        }
        need_npm()?;
        let packages = cache_folder()?;
        fs::create_dir_all(&packages).while_(packages.display())?;
        // On the same file system, so that a rename puts it in place as a whole.
        let temporary = tempfile::Builder::new().prefix(".fetch-").tempdir_in(&packages);
        let temporary = temporary.while_(packages.display())?;
        let unpacked = unpack(&self.spec, temporary.path())?;
        self.verify(&self.executable_in(&unpacked), temporary.path())?;
        link_executable(&Path::new("package").join(&self.executable), &unpacked.join("executable"))?;
        let home = packages.join(&self.folder);
        // Another run may have been faster; its copy is as good.
        match fs::rename(&unpacked, &home) {
            Err(error) if !executable.is_file() => Err(error).while_(home.display()),
            _ => Ok(executable),
        }
    }

    fn executable_in(&self, folder: &Path) -> PathBuf {
        folder.join("package").join(&self.executable)
    }

    /// Starts it without the caller's environment and compares its version.
    fn verify(&self, executable: &Path, home: &Path) -> Done {
        let mut command = match &self.run_by {
            Some(program) => Command::new(program),
            None => Command::new(executable),
        };
        if self.run_by.is_some() {
            command.arg(executable);
        }
        command.arg("--version").env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin").current_dir(home);
        let said = workspace::read_output(&mut command)?;
        if prints_version(&said, &self.version) {
            return Ok(());
        }
        Err(Failure::new(format!("{} calls itself {:?}", self.spec, said.trim())))
    }
}

/// Fetches a package of npm into a folder below this one.
fn unpack(spec: &str, folder: &Path) -> Done<PathBuf> {
    print::line(&format!("    fetching {spec}"));
    let mut npm = Command::new("npm");
    npm.args(["pack", "--loglevel=error", spec, "--pack-destination"]).arg(folder);
    let archive = workspace::read_output(&mut npm)
        .map_err(|failure| failure.next("check the version, and that npm reaches its registry"))?;
    let archive = folder.join(archive.lines().last().unwrap_or_default().trim());
    let unpacked = folder.join("unpacked");
    fs::create_dir(&unpacked).while_(unpacked.display())?;
    workspace::read_output(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&unpacked))?;
    Ok(unpacked)
}

/// A package of scripts; the folder with its files.
pub(crate) fn fetch_scripts(name: &str, version: &str) -> Done<PathBuf> {
    let packages = cache_folder()?;
    let home = packages.join(format!("{name}-{version}"));
    let inside = home.join("package");
    if inside.is_dir() {
        return Ok(inside);
    }
    need_npm()?;
    fs::create_dir_all(&packages).while_(packages.display())?;
    let temporary = tempfile::Builder::new().prefix(".fetch-").tempdir_in(&packages);
    let temporary = temporary.while_(packages.display())?;
    let unpacked = unpack(&format!("{name}@{version}"), temporary.path())?;
    match fs::rename(&unpacked, &home) {
        Err(error) if !inside.is_dir() => Err(error).while_(home.display()),
        _ => Ok(inside),
    }
}

/// Accepts `codex-cli 0.166.0`, `v22.23.3` and `2.1.138 (Claude Code)`.
fn prints_version(said: &str, version: &str) -> bool {
    let bare = |word: &str| word.trim_start_matches('v').trim_end_matches('.') == version;
    said.split_whitespace().any(bare)
}

/// Gives the executable the same path on every platform.
#[cfg(unix)]
fn link_executable(to: &Path, at: &Path) -> Done {
    std::os::unix::fs::symlink(to, at).while_(at.display())
}

/// There are no packages for this system.
#[cfg(not(unix))]
fn link_executable(_to: &Path, _at: &Path) -> Done {
    Ok(())
}

pub(crate) fn need_npm() -> Done {
    if tools::is_on_path("npm") {
        return Ok(());
    }
    Err(Failure::new("npm is missing, and with it the client")
        .next("install npm (Debian: `apt-get install npm`), or run `cargo xtask test`, which does"))
}

/// The names of this system in packages.
pub(crate) struct Platform {
    /// Most packages: `linux-x64`.
    pub(crate) npm: &'static str,
    /// Rust programs: `x86_64-unknown-linux-musl`.
    pub(crate) target: &'static str,
    /// Node: `linux-x64`, `bin-darwin-arm64`.
    pub(crate) node: &'static str,
}

pub(crate) fn platform() -> Done<Platform> {
    let (npm, target, node) = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => ("linux-x64", "x86_64-unknown-linux-musl", "linux-x64"),
        ("linux", "aarch64") => ("linux-arm64", "aarch64-unknown-linux-musl", "linux-arm64"),
        ("macos", "x86_64") => ("darwin-x64", "x86_64-apple-darwin", "darwin-x64"),
        ("macos", "aarch64") => ("darwin-arm64", "aarch64-apple-darwin", "bin-darwin-arm64"),
        (os, arch) => return Err(Failure::new(format!("there is no client for {os} on {arch}"))),
    };
    Ok(Platform { npm, target, node })
}

/// The scenarios look here too.
pub(crate) fn cache_folder() -> Done<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let cache = cache.ok_or_else(|| Failure::new("no place for the client: HOME is not set"))?;
    Ok(cache.join("tidegate/clients"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_programs_say_them() {
        for said in
            ["0.166.0\n", "codex-cli 0.166.0", "v0.166.0", "Copilot CLI 0.166.0.\nRun it", "0.166.0 (x)"]
        {
            assert!(prints_version(said, "0.166.0"), "{said}");
        }
        for said in ["", "0.166.01", "10.166.0", "0.166.0-beta"] {
            assert!(!prints_version(said, "0.166.0"), "{said}");
        }
    }
}

//! Running other programs: finding them, checking that they can run, reading their output. Bounded in time and size.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tidegate_state::child;

use crate::bilingual::{Bilingual, both};
use crate::path::real_path;

/// The client takes about a second to say its version; more is a hang.
const LIMIT: Duration = Duration::from_secs(5);

/// No version is longer.
const LARGEST_VERSION: u64 = 4096;

const PAUSE: Duration = Duration::from_millis(5);

/// Absolute folders of `PATH` only: a relative one means another place in every directory.
pub(crate) fn search_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect()
}

/// Also if a link leads there.
pub(crate) fn is_in(program: &Path, folder: &Path) -> bool {
    let (folder, place) = (real_path(folder), program.parent().map(real_path).unwrap_or_default());
    place.starts_with(&folder) || real_path(program).starts_with(&folder)
}

/// Resolves links of its folders, but not the last one: the place at which it can be pointed elsewhere.
pub(crate) fn real_place(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    folder.zip(path.file_name()).map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name))
}

pub(crate) fn find_on_path(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let file = if cfg!(windows) && !name.contains('.') { format!("{name}.exe") } else { name.to_owned() };
    folders.iter().map(|folder| folder.join(&file)).find(|path| is_program(path).is_ok())
}

/// Returns why it cannot be started, as far as its file shows: words that follow its path.
pub(crate) fn is_program(path: &Path) -> Result<(), Bilingual> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let dangling = fs::symlink_metadata(path).is_ok();
            return Err(if dangling {
                both!("is a link to nothing", "はリンク切れです")
            } else {
                both!("does not exist", "は存在しません")
            });
        }
        Err(error) => return Err(both!("cannot be examined: {error}", "を調べられません: {error}")),
    };
    if !found.is_file() {
        return Err(both!("is not a file", "はファイルではありません"));
    }
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 == 0 {
        return Err(both!("is not executable", "には実行権限がありません"));
    }
    Ok(())
}

/// Output of `PROGRAM --version`, or words that follow its path. Only for programs that the person installed, never for a path out of a project's
/// settings: that would run any program a repository names.
pub(crate) fn read_version(program: &Path) -> Result<String, Bilingual> {
    version_within(program, LIMIT)
}

fn version_within(program: &Path, limit: Duration) -> Result<String, Bilingual> {
    let mut command = Command::new(program);
    command.arg("--version");
    let ran = run(&mut command, b"", LARGEST_VERSION, limit).map_err(|why| match why {
        NotRun::Start(error) => both!("does not run: {error}", "を起動できません: {error}"),
        NotRun::Late => both!(
            "did not print its version within {s} s",
            "は{s}秒以内にバージョンを表示しませんでした",
            s = limit.as_secs()
        ),
    })?;
    if !ran.status.success() {
        let status = ran.status;
        return Err(both!("cannot print its version: {status}", "のバージョンを確認できません: {status}"));
    }
    let text = String::from_utf8_lossy(&ran.stdout);
    match text.lines().next().map(str::trim).filter(|line| !line.is_empty()) {
        Some(line) => Ok(line.to_owned()),
        None => Err(both!("prints no version", "はバージョンを表示しません")),
    }
}

pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
}

pub(crate) enum NotRun {
    Start(io::Error),
    /// Killed at the time limit, with everything it started.
    Late,
}

/// Reads at most `largest` bytes of its output.
pub(crate) fn run(command: &mut Command, input: &[u8], largest: u64, limit: Duration) -> Result<Ran, NotRun> {
    let until = Instant::now() + limit;
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::null());
    child::set_own_group(command);
    let mut child = loop {
        match command.spawn() {
            // An upgrade is just writing it; a moment later it can run.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < until => {
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(NotRun::Start(error)),
            Ok(child) => break child,
        }
    };
    // Separate threads: the program may neither read nor print nor end.
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        std::thread::spawn(move || stdin.write_all(&input));
    }
    let stdout = child.stdout.take().expect("it was asked for");
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(largest).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    });
    let printed = receiver.recv_timeout(limit);
    let status = loop {
        match child.try_wait() {
            Ok(None) if printed.is_ok() && Instant::now() < until => std::thread::sleep(PAUSE),
            Ok(status) => break status,
            Err(_) => break None,
        }
    };
    let Some(status) = status else {
        child::kill_group(&mut child);
        return Err(NotRun::Late);
    };
    Ok(Ran { status, stdout: printed.ok().and_then(Result::ok).unwrap_or_default() })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn whatever_it_does_there_is_an_answer() {
        let folder = tempfile::tempdir().unwrap();
        let ask = |script: &str, limit| {
            let path = folder.path().join("program");
            let _ = fs::remove_file(&path);
            fs::write(&path, script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
            version_within(&path, limit)
        };
        assert_eq!(ask("#!/bin/sh\necho 1.2.3\necho more\n", LIMIT), Ok("1.2.3".to_owned()));
        assert!(ask("#!/bin/sh\nexit 3\n", LIMIT).unwrap_err().en.contains("exit status: 3"));
        assert!(ask("#!/bin/sh\n", LIMIT).unwrap_err().en.contains("prints no version"));
        assert!(ask("#!/no/such/shell\n", LIMIT).unwrap_err().en.contains("does not run"));
        assert!(ask("neither a script nor a program", LIMIT).is_err());
        // Longer than any test may take: only the limit can end them.
        for hangs in ["#!/bin/sh\nsleep 600\n", "#!/bin/sh\nexec >&-\nsleep 600 & wait\n"] {
            assert!(ask(hangs, Duration::from_millis(300)).unwrap_err().en.contains("within"), "{hangs}");
        }
    }

    #[test]
    fn what_is_no_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        assert_eq!(is_program(&path).unwrap_err().en, "does not exist");
        assert_eq!(is_program(folder.path()).unwrap_err().en, "is not a file");
        std::os::unix::fs::symlink(folder.path().join("gone"), &path).unwrap();
        assert_eq!(is_program(&path).unwrap_err().en, "is a link to nothing");
        fs::write(folder.path().join("gone"), b"").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(is_program(&path).unwrap_err().en, "is not executable");
        assert_eq!(find_on_path(&[folder.path().to_owned()], "x"), None);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(find_on_path(&["/nowhere".into(), folder.path().to_owned()], "x"), Some(path));
    }
}

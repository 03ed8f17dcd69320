//! The account that this process runs as, from the system's user database. Environment variables do not count: any
//! caller can set them.

#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;
#[cfg(target_os = "linux")]
use std::process::Command;
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use crate::child;

/// Ignores `XDG_CONFIG_HOME`.
pub fn config_file() -> Option<PathBuf> {
    Some(find_home()?.join(".config/tidegate/config.toml"))
}

/// `None` if the system does not know the account.
#[cfg(unix)]
fn find_home() -> Option<PathBuf> {
    // Tests use their own homes. Release builds ignore this variable.
    if cfg!(debug_assertions)
        && let Some(home) = std::env::var_os("TEST_TIDEGATE_HOME")
    {
        return Some(PathBuf::from(home));
    }
    let user = rustix::process::getuid().as_raw();
    let home_in = |database: &[u8]| tidegate_core::text::passwd::home_of(user, database).map(PathBuf::from);
    let local = crate::file::bounded::read(Path::new("/etc/passwd"), LARGEST).ok();
    local.and_then(|local| home_in(&local)).or_else(|| home_in(&ask_directory(user)?))
}

/// In bytes; a larger user database is not read.
#[cfg(unix)]
const LARGEST: u64 = 16 * 1024 * 1024;

/// Asks a network directory, which only the C library's modules can reach. Without our environment: variables can
/// redirect them.
#[cfg(target_os = "linux")]
fn ask_directory(user: u32) -> Option<Vec<u8>> {
    let program =
        ["/usr/bin/getent", "/bin/getent"].into_iter().find(|program| Path::new(program).exists())?;
    let mut getent = Command::new(program);
    getent.args(["passwd", &user.to_string()]).env_clear().current_dir("/");
    output_of(getent, PATIENCE)
}

/// A network directory may not answer.
#[cfg(target_os = "linux")]
const PATIENCE: Duration = Duration::from_secs(2);

/// `None` if the command fails or takes longer.
#[cfg(target_os = "linux")]
fn output_of(mut command: Command, patience: Duration) -> Option<Vec<u8>> {
    use std::io::Read;
    use std::process::Stdio;
    use std::sync::mpsc;
    child::set_own_group(&mut command);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(LARGEST).read_to_end(&mut bytes);
        sender.send(read.is_ok().then_some(bytes))
    });
    let until = Instant::now() + patience;
    let printed = receiver.recv_timeout(patience).ok().flatten();
    // The output closes a moment before the process ends.
    let mut status = None;
    while printed.is_some() && status.is_none() && Instant::now() < until {
        status = child.try_wait().ok()?;
        std::thread::sleep(Duration::from_millis(1));
    }
    if status.is_none() {
        child::kill_group(&mut child);
    }
    printed.filter(|_| status.is_some_and(|status| status.success()))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn ask_directory(_: u32) -> Option<Vec<u8>> {
    None
}

#[cfg(not(unix))]
fn find_home() -> Option<PathBuf> {
    std::env::home_dir()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_does_not_answer_is_not_waited_for() {
        let shell = |line: &str| {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", line]);
            shell
        };
        assert_eq!(output_of(shell("echo x"), Duration::from_mins(1)).as_deref(), Some(&b"x\n"[..]));
        assert_eq!(output_of(shell("echo x; exit 2"), Duration::from_mins(1)), None);
        // Longer than any test may take: only the limit can end them.
        for line in ["sleep 600", "echo x; sleep 600", "sleep 600 & echo x", "exec >&-; sleep 600"] {
            assert_eq!(output_of(shell(line), Duration::from_millis(50)), None, "{line}");
        }
    }
}

//! The account that this process runs as, by the system's user database. Variables do not count: whoever starts a command sets
//! them.

use std::path::PathBuf;

/// The user's own config file, where a moved config folder does not count.
pub fn config() -> Option<PathBuf> {
    Some(home()?.join(".config/tidegate/config.toml"))
}

/// The home of the account. `None` where the system does not say.
#[cfg(unix)]
fn home() -> Option<PathBuf> {
    // Tests have homes of their own. A build for use has no such variable.
    if cfg!(debug_assertions)
        && let Some(home) = std::env::var_os("TEST_TIDEGATE_HOME")
    {
        return Some(PathBuf::from(home));
    }
    let user = rustix::process::getuid().as_raw();
    let home = |database: &[u8]| tidegate_core::text::passwd::home_of(user, database).map(PathBuf::from);
    let local = crate::file::bounded::read(std::path::Path::new("/etc/passwd"), LARGEST).ok();
    local.and_then(|local| home(&local)).or_else(|| home(&directory(user)?))
}

/// Larger is not a user database of one machine.
#[cfg(unix)]
const LARGEST: u64 = 16 * 1024 * 1024;

/// The user's line in a directory of the network, which only the C library's modules can ask. Without our environment:
/// variables can lead them elsewhere.
#[cfg(target_os = "linux")]
fn directory(user: u32) -> Option<Vec<u8>> {
    use std::process::{Command, Stdio};
    ["/usr/bin/getent", "/bin/getent"].iter().find_map(|program| {
        let mut getent = Command::new(program);
        getent.args(["passwd", &user.to_string()]).env_clear().current_dir("/");
        let output = getent.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then_some(output.stdout)
    })
}

#[cfg(all(unix, not(target_os = "linux")))]
fn directory(_: u32) -> Option<Vec<u8>> {
    None
}

#[cfg(not(unix))]
fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

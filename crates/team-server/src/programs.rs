//! The server's programs, and the user that runs them.

use std::fs;
use std::path::PathBuf;

/// Debian does not put the server on the path.
pub(crate) fn find_folder() -> Result<PathBuf, String> {
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<(u32, PathBuf)> = debian
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    folders.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = folders.into_iter().rev().map(|(_, folder)| folder).chain(std::env::split_paths(&path));
    all.into_iter()
        .find(|folder| ["initdb", "pg_ctl", "postgres"].iter().all(|name| folder.join(name).is_file()))
        .ok_or_else(|| "there is no PostgreSQL server (Debian: `apt-get install postgresql`)".to_owned())
}

/// User and group for the server if this process is root: it refuses to run as root.
pub(crate) fn unprivileged_user() -> Result<Option<(u32, u32)>, String> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd").map_err(|error| format!("/etc/passwd: {error}"))?;
    let ids = |wanted: &str| {
        users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let named = fields.next() == Some(wanted);
            let uid = fields.nth(1)?.parse().ok()?;
            named.then_some((uid, fields.next()?.parse().ok()?))
        })
    };
    let found = ids("postgres").or_else(|| ids("nobody"));
    found.map(Some).ok_or_else(|| "there is no user `postgres` or `nobody` to run a server as".to_owned())
}

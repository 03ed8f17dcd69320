//! The key of a project in the team: its git remote, else its name. Two repositories called `app` are two
//! projects, and clones in folders of different names are one.

use std::path::Path;

use tidegate_state::file::bounded;

use crate::act::WITHIN;
use crate::record::ProjectRow;

/// Begins the key of a local project that has no folder yet; the key in the team follows. No path begins so.
const WITHOUT_FOLDER: &str = "team:";

/// In bytes.
const LARGEST_CONFIG: u64 = 256 * 1024;
const LONGEST_KEY: usize = 200;

pub(crate) fn key_in_team(project: &ProjectRow) -> String {
    key_of(project.key.as_deref(), &project.name)
}

pub(crate) fn key_of(key: Option<&str>, name: &str) -> String {
    match key {
        None => name.to_owned(),
        Some(key) => match key.strip_prefix(WITHOUT_FOLDER) {
            Some(of_team) => of_team.to_owned(),
            None => remote_of(key).unwrap_or_else(|| name.to_owned()),
        },
    }
}

pub(crate) fn key_without_folder(of_team: &str) -> String {
    format!("{WITHOUT_FOLDER}{of_team}")
}

pub fn has_folder(key: &str) -> bool {
    !key.starts_with(WITHOUT_FOLDER)
}

/// `key` is a git folder, or a project within one.
fn remote_of(key: &str) -> Option<String> {
    let (folder, within) = key.split_once(WITHIN).map_or((key, None), |(folder, name)| (folder, Some(name)));
    let config = bounded::read(&Path::new(folder).join("config"), LARGEST_CONFIG).ok()?;
    let remote = normalise_remote(&find_url(&String::from_utf8_lossy(&config))?)?;
    Some(match within {
        Some(name) => format!("{remote}{WITHIN}{name}"),
        None => remote,
    })
}

/// Of `origin`, else of the first remote.
fn find_url(config: &str) -> Option<String> {
    let mut section: Option<&str> = None;
    let mut first = None;
    for line in config.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let remote = header.strip_prefix("remote \"").and_then(|rest| rest.split_once('"'));
            section = remote.map(|(name, _)| name);
        } else if let (Some(remote), Some((name, value))) = (section, line.split_once('='))
            && name.trim().eq_ignore_ascii_case("url")
        {
            let value = value.trim().trim_matches('"').to_owned();
            if remote == "origin" {
                return Some(value);
            }
            first = first.or(Some(value));
        }
    }
    first
}

/// `host/path`, in lower case, without login, usual ports and `.git`. `None` for a folder of this machine.
fn normalise_remote(url: &str) -> Option<String> {
    let (host, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?,
        // `git@host:path`; a Windows path has one letter before the colon.
        None => url.split_once(':').filter(|(host, _)| host.len() > 1 && !host.contains('/'))?,
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host).to_lowercase();
    let host =
        [":22", ":80", ":443", ":9418"].iter().find_map(|port| host.strip_suffix(port)).unwrap_or(&host);
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_matches('/').to_lowercase();
    let path = path.strip_suffix(".git").unwrap_or(&path);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let remote = format!("{host}/{}", parts.join("/"));
    let plain = |c: char| c.is_alphanumeric() || "-._~/:+%[]".contains(c);
    let sound =
        !host.is_empty() && !parts.is_empty() && remote.len() <= LONGEST_KEY && remote.chars().all(plain);
    sound.then_some(remote)
}

/// Whether an entry of the config is a remote, not a name or a path.
pub(crate) fn is_remote(entry: &str) -> bool {
    entry.contains('/') && !entry.starts_with(['/', '~', '.'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_remote_is_one_key_without_a_login() {
        for url in [
            "https://github.com/Acme/App.git",
            "https://me:t0ken@GitHub.com:443/acme/app",
            "git@github.com:acme/app.git",
            "ssh://git@github.com:22/acme/app.git/",
            "git://github.com/acme//app?x=t0ken",
        ] {
            assert_eq!(normalise_remote(url).as_deref(), Some("github.com/acme/app"), "{url}");
        }
        assert_eq!(
            normalise_remote("ssh://git@db.example.com:2222/a/b").as_deref(),
            Some("db.example.com:2222/a/b")
        );
        for url in
            ["/srv/app.git", "../app", "file:///srv/app.git", "C:\\app", "https://", "https://h", "a b:c/d"]
        {
            assert_eq!(normalise_remote(url), None, "{url}");
        }
    }

    #[test]
    fn the_url_is_that_of_origin_else_of_the_first_remote() {
        let both = "[core]\n\turl = no\n[remote \"fork\"]\n\turl = git@h:f/app\n[remote \"origin\"]\n\turl = git@h:o/app\n";
        assert_eq!(find_url(both).as_deref(), Some("git@h:o/app"));
        let one = "[remote \"fork\"]\n\tfetch = x\n\tURL = \"git@h:f/app\"\n[branch \"main\"]\n\turl = no\n";
        assert_eq!(find_url(one).as_deref(), Some("git@h:f/app"));
        assert_eq!(find_url("[remote]\nurl = x"), None);
    }
}

//! The RustSec database of vulnerabilities, as a clone in the user's cache that is updated once a day.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use semver::{Version, VersionReq};
use toml::Table;

use crate::package;
use xtask::failure::{Done, Failure, While};
use xtask::workspace;

const DATABASE: &str = "https://github.com/rustsec/advisory-db";

/// An older clone says little about today.
const OLDEST: Duration = Duration::from_hours(14 * 24);

const DAY: Duration = Duration::from_hours(24);

pub(super) enum Checked {
    With {
        vulnerable: Vec<String>,
        remarks: Vec<String>,
        date: String,
    },
    /// No database, for this reason.
    Not(String),
}

pub(super) fn check(packages: &[(&str, &str)], ignored: &[String]) -> Done<Checked> {
    let database = match update_database()? {
        Ok(database) => database,
        Err(why) => return Ok(Checked::Not(why)),
    };
    let (vulnerable, remarks) = find_vulnerabilities(&database, packages, ignored)?;
    let date =
        workspace::read_output(git_command(&database).args(["log", "-1", "--format=%cs"]))?.trim().to_owned();
    Ok(Checked::With { vulnerable, remarks, date })
}

/// Vulnerabilities of these packages, and remarks.
fn find_vulnerabilities(
    database: &Path,
    packages: &[(&str, &str)],
    ignored: &[String],
) -> Done<(Vec<String>, Vec<String>)> {
    let (mut vulnerable, mut remarks) = (Vec::new(), Vec::new());
    let crates = database.join("crates");
    if !crates.is_dir() {
        return Err(Failure::new(format!("{} is not there", crates.display()))
            .next("delete the folder above it, and run this again"));
    }
    for (name, version) in packages {
        let folder = crates.join(name);
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            let text = fs::read_to_string(&file).while_(file.display())?;
            let advisory = Advisory::parse(&text).while_(file.display())?;
            if ignored.contains(&advisory.id) || !advisory.concerns(version).while_(file.display())? {
                continue;
            }
            let line = format!("{name} {version}: {} {}", advisory.id, advisory.title);
            if advisory.is_remark { remarks.push(line) } else { vulnerable.push(line) }
        }
    }
    Ok((vulnerable, remarks))
}

/// The clone or, if there is none, the reason. An old one is better than none.
fn update_database() -> Done<Result<PathBuf, String>> {
    update_clone(package::cache_folder()?.with_file_name("advisory-db"), DATABASE)
}

fn update_clone(folder: PathBuf, source: &str) -> Done<Result<PathBuf, String>> {
    // Git's own files change also when it could not fetch.
    let stamp = folder.join(".git/tidegate-renewed");
    let time = fs::metadata(&stamp).and_then(|found| found.modified()).ok();
    let age = time.and_then(|time| SystemTime::now().duration_since(time).ok());
    if age.is_some_and(|age| age < DAY) {
        return Ok(Ok(folder));
    }
    let renewed = if folder.join(".git").is_dir() {
        workspace::read_output(
            git_command(&folder).args(["fetch", "--quiet", "--depth", "1", "origin", "HEAD"]),
        )
        .and_then(|_| {
            workspace::read_output(git_command(&folder).args(["reset", "--quiet", "--hard", "FETCH_HEAD"]))
        })
    } else {
        let parent = folder.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent).while_(parent.display())?;
        workspace::read_output(
            git_command(parent).args(["clone", "--quiet", "--depth", "1", source]).arg(&folder),
        )
    };
    Ok(match renewed {
        Err(failure) if age.is_none_or(|age| age > OLDEST) => Err(failure.what().replace('\n', " ")),
        Err(_) => Ok(folder),
        Ok(_) => {
            fs::write(&stamp, "").while_(stamp.display())?;
            Ok(folder)
        }
    })
}

/// With short timeouts and without password prompts.
fn git_command(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=10"]);
    git.env("GIT_TERMINAL_PROMPT", "0");
    // An interrupted clone is not a repository, and git would use the one around it.
    git.env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder));
    git
}

#[derive(Debug, Default)]
struct Advisory {
    id: String,
    title: String,
    /// For example unmaintained: worth knowing, but not a vulnerability.
    is_remark: bool,
    is_withdrawn: bool,
    /// Versions without the problem.
    sound: Vec<String>,
}

impl Advisory {
    /// Markdown that starts with a block of TOML.
    fn parse(text: &str) -> Result<Advisory, String> {
        let rest = text.trim_start().strip_prefix("```toml").ok_or("no block of TOML")?;
        let (head, body) = rest.split_once("```").ok_or("its block of TOML has no end")?;
        let head: Table = head.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let advisory = head.get("advisory").ok_or("it has no `advisory`")?;
        let text = |key: &str| advisory.get(key).and_then(|value| value.as_str());
        let ranges = |key: &str| {
            let ranges = head.get("versions").and_then(|versions| versions.get(key)?.as_array());
            ranges
                .into_iter()
                .flatten()
                .filter_map(|range| range.as_str().map(str::to_owned))
                .collect::<Vec<_>>()
        };
        let title = body.lines().find_map(|line| line.strip_prefix("# "));
        Ok(Advisory {
            id: text("id").ok_or("it has no `id`")?.to_owned(),
            title: title.unwrap_or_default().trim().to_owned(),
            // Unsound code is a vulnerability for its callers.
            is_remark: text("informational").is_some_and(|kind| kind != "unsound"),
            is_withdrawn: advisory.get("withdrawn").is_some(),
            sound: [ranges("patched"), ranges("unaffected")].concat(),
        })
    }

    fn concerns(&self, version: &str) -> Result<bool, semver::Error> {
        if self.is_withdrawn {
            return Ok(false);
        }
        let version = Version::parse(version)?;
        for range in &self.sound {
            if VersionReq::parse(range)?.matches(&version) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(more: &str, versions: &str) -> String {
        format!(
            "```toml\n[advisory]\nid = \"RUSTSEC-2020-0001\"\npackage = \"p\"\n{more}\n[versions]\n{versions}\n```\n\n# A hole\n\nText.\n"
        )
    }

    fn advisory(more: &str, versions: &str) -> Advisory {
        Advisory::parse(&text(more, versions)).unwrap()
    }

    #[test]
    fn versions_that_are_neither_patched_nor_unaffected_are_concerned() {
        let found = advisory(
            "",
            "patched = [\">= 0.2.23, < 0.3.0\", \">= 0.3.7\"]\nunaffected = [\"=0.2.0\", \"< 0.1\"]",
        );
        assert_eq!((found.id.as_str(), found.title.as_str()), ("RUSTSEC-2020-0001", "A hole"));
        for (version, concerned) in [
            ("0.0.9", false),
            ("0.1.43", true),
            ("0.2.0", false),
            ("0.2.1", true),
            ("0.2.23", false),
            ("0.3.6", true),
            ("0.3.7", false),
            ("1.0.0+build.5", false),
        ] {
            assert_eq!(found.concerns(version).unwrap(), concerned, "{version}");
        }
        assert!(advisory("", "patched = []").concerns("9.9.9").unwrap());
    }

    #[test]
    fn withdrawn_ones_do_not_count_and_remarks_are_only_said() {
        assert!(!advisory("withdrawn = \"2021-01-01\"", "patched = []").concerns("1.0.0").unwrap());
        assert!(advisory("informational = \"unmaintained\"", "patched = []").is_remark);
        assert!(!advisory("informational = \"unsound\"", "patched = []").is_remark);
        assert!(!advisory("", "patched = []").is_remark);
        assert!(Advisory::parse("no advisory").is_err());
    }

    #[test]
    fn a_database_that_could_not_be_renewed_grows_old() {
        let place = tempfile::tempdir().unwrap();
        let (source, folder) = (place.path().join("source"), place.path().join("advisory-db"));
        fs::create_dir(&source).unwrap();
        workspace::read_output(git_command(&source).args(["init", "--quiet"])).unwrap();
        let user = ["-c", "user.name=x", "-c", "user.email=x@localhost"];
        workspace::read_output(git_command(&source).args(user).args([
            "commit",
            "--quiet",
            "--allow-empty",
            "-m",
            "x",
        ]))
        .unwrap();
        let address = format!("file://{}", source.display());
        let update = || update_clone(folder.clone(), &address).unwrap();
        update().unwrap();
        fs::rename(&source, place.path().join("gone")).unwrap();
        let stamp = fs::File::options().write(true).open(folder.join(".git/tidegate-renewed")).unwrap();
        stamp.set_modified(SystemTime::now() - DAY * 2).unwrap();
        update().unwrap();
        stamp.set_modified(SystemTime::now() - OLDEST - DAY).unwrap();
        // A try that fails makes it no younger.
        for _ in 0..2 {
            update().unwrap_err();
        }
    }

    #[test]
    fn a_locked_version_with_a_known_hole_is_named() {
        let database = tempfile::tempdir().unwrap();
        let folder = database.path().join("crates/p");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("RUSTSEC-2020-0001.md"), text("", "patched = [\">= 1.2.0\"]")).unwrap();
        let hole = "p 1.1.9: RUSTSEC-2020-0001 A hole".to_owned();
        let packages = [("p", "1.1.9"), ("p", "1.2.0"), ("other", "1.0.0")];
        assert_eq!(find_vulnerabilities(database.path(), &packages, &[]).unwrap(), (vec![hole], Vec::new()));
        let ignored = ["RUSTSEC-2020-0001".to_owned()];
        assert_eq!(
            find_vulnerabilities(database.path(), &packages, &ignored).unwrap(),
            (Vec::new(), Vec::new())
        );
    }
}

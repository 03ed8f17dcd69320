//! Other hosts that read Tidegate's hook files, for the scenarios in `foreign_host`. Their versions are only
//! in `crates/e2e/hosts.txt`.

use std::fs;
use std::path::PathBuf;

use crate::package::{self, Package, Platform, platform};
use xtask::failure::{Done, Failure, While};
use xtask::workspace;

pub(crate) fn in_cache() -> bool {
    host_packages().is_ok_and(|packages| packages.iter().all(Package::in_cache))
}

/// The folder that holds all hosts; missing ones are fetched.
pub(crate) fn fetch() -> Done<PathBuf> {
    for package in host_packages()? {
        package.fetch()?;
    }
    package::cache_folder()
}

/// The executable of one of them, fetched if it is missing.
pub(crate) fn program(name: &str) -> Done<PathBuf> {
    let package =
        host_packages()?.into_iter().find(|package| package.folder.starts_with(&format!("{name}-")));
    package.ok_or_else(|| Failure::new(format!("crates/e2e/hosts.txt does not name {name}")))?.fetch()
}

fn host_packages() -> Done<Vec<Package>> {
    let path = workspace::root().join("crates/e2e/hosts.txt");
    let text = fs::read_to_string(&path).while_(path.display())?;
    parse_hosts(&text, &platform()?)
}

/// A row can name an earlier one as the program that runs it.
fn parse_hosts(text: &str, platform: &Platform) -> Done<Vec<Package>> {
    let mut packages: Vec<(String, Package)> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let unreadable = || Failure::new(format!("crates/e2e/hosts.txt: cannot read `{line}`"));
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, version, spec, executable, run_by) = match words.as_slice() {
            [name, version, spec, executable] => (*name, *version, *spec, *executable, None),
            [name, version, spec, executable, run_by] => (*name, *version, *spec, *executable, Some(*run_by)),
            _ => return Err(unreadable()),
        };
        let fill = |text: &str| {
            let text = text.replace("{version}", version).replace("{platform}", platform.npm);
            text.replace("{target}", platform.target).replace("{node}", platform.node)
        };
        let run_by = match run_by {
            None => None,
            Some(other) => {
                let other = packages.iter().find(|(known, _)| known == other).ok_or_else(unreadable)?;
                Some(other.1.path()?)
            }
        };
        let package = Package {
            folder: format!("{name}-{version}"),
            spec: fill(spec),
            version: version.to_owned(),
            executable: PathBuf::from(fill(executable)),
            run_by,
        };
        packages.push((name.to_owned(), package));
    }
    Ok(packages.into_iter().map(|(_, package)| package).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_for_every_platform() {
        let linux = Platform { npm: "linux-x64", target: "x86_64-unknown-linux-musl", node: "linux-x64" };
        let table = "# a comment\n\ncodex 0.1.2 @openai/codex@{version}-{platform} vendor/{target}/bin/codex\n\
                     other 1.0.0 other@{version} entry.js codex\n";
        let packages = parse_hosts(table, &linux).expect("a table");
        assert_eq!(packages[0].spec, "@openai/codex@0.1.2-linux-x64");
        assert_eq!(packages[0].folder, "codex-0.1.2");
        assert_eq!(packages[0].executable, PathBuf::from("vendor/x86_64-unknown-linux-musl/bin/codex"));
        assert!(packages[0].run_by.is_none() && packages[1].run_by.is_some());
        for bad in ["codex", "codex 1 a b missing", "a b c d e f"] {
            assert!(parse_hosts(bad, &linux).is_err(), "{bad}");
        }
    }
}

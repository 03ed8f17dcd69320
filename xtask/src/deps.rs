//! `cargo xtask deps [--write]`: no heavy dependencies on the hook path, and none but computation in the
//! core.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::workspace::{self, cargo};

/// Both, so that the list does not depend on the machine.
pub(crate) const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// A runtime, a database, an argument parser, a regular expression engine or a network client would slow the
/// start of every hook, on any platform. The list cannot accept these.
const HEAVY: [&str; 14] = [
    "async-std",
    "clap",
    "clap_builder",
    "hyper",
    "libsqlite3-sys",
    "postgres",
    "regex",
    "regex-automata",
    "reqwest",
    "rusqlite",
    "smol",
    "sqlx",
    "tokio",
    "tokio-postgres",
];

/// Policies are pure: the core cannot even name the system.
const IMPURE: [&str; 3] = ["libc", "rustix", "tempfile"];

pub(crate) fn check() -> Done {
    refuse_heavy()?;
    let path = list_path();
    let text = fs::read_to_string(&path).while_(path.display())?;
    let (wanted, found) = (text.lines().map(str::to_owned).collect(), crates_of("tidegate-hook", &TARGETS)?);
    let differences = describe_differences(&wanted, &found);
    if differences.is_empty() {
        print::line(&format!("    {} crates on the hook path, as listed", found.len()));
        return Ok(());
    }
    let what = format!("the hook's dependencies differ from {}:\n{differences}", path.display());
    Err(Failure::new(what).next("`cargo xtask deps --write` accepts them, if each is worth its start-up"))
}

pub(crate) fn write() -> Done {
    refuse_heavy()?;
    let found: Vec<String> = crates_of("tidegate-hook", &TARGETS)?.into_iter().collect();
    let path = list_path();
    fs::write(&path, found.join("\n") + "\n").while_(path.display())?;
    print::line(&format!("    {} crates written to {}", found.len(), path.display()));
    Ok(())
}

fn list_path() -> PathBuf {
    workspace::root().join("crates/hook/dependencies.txt")
}

fn refuse_heavy() -> Done {
    let hook: Vec<&str> = HEAVY.to_vec();
    let core: Vec<&str> = HEAVY.into_iter().chain(IMPURE).collect();
    for (package, denied) in [("tidegate-hook", hook), ("tidegate-core", core)] {
        let tree = crates_of(package, &["all"])?;
        let found: Vec<&str> = denied.into_iter().filter(|name| tree.contains(*name)).collect();
        if !found.is_empty() {
            let culprit = found[0];
            return Err(Failure::new(format!("{package} must not depend on {}", found.join(", "))).next(
                format!(
                    "`cargo tree -p {package} -e normal --target all -i {culprit}` shows who brings it in"
                ),
            ));
        }
    }
    Ok(())
}

fn crates_of(package: &str, targets: &[&str]) -> Done<BTreeSet<String>> {
    let mut command =
        cargo(&["tree", "--package", package, "--edges", "normal", "--prefix", "none", "--locked"]);
    for target in targets {
        command.args(["--target", target]);
    }
    let text = workspace::read_output(&mut command)?;
    Ok(text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}

fn describe_differences(wanted: &BTreeSet<String>, found: &BTreeSet<String>) -> String {
    let added = found.difference(wanted).map(|name| format!("  added:   {name}"));
    let removed = wanted.difference(found).map(|name| format!("  removed: {name}"));
    added.chain(removed).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_say_which_way() {
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        assert_eq!(describe_differences(&set(&["a", "b"]), &set(&["a", "b"])), "");
        assert_eq!(describe_differences(&set(&["a", "b"]), &set(&["b", "c"])), "  added:   c\n  removed: a");
    }
}

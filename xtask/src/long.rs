//! `cargo xtask long`: checks that take longer than a change should wait for, each selectable, none of them in CI. The soak and the
//! benchmarks with goals are in `crates/measure`; this module has two builds of one commit, and the fuzzer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::tools;
use xtask::workspace::{self, step};

const INPUTS: &str = "crates/parser-laws/inputs";

/// For each law.
const FUZZ_SECONDS: u64 = 60;

pub(crate) fn run(words: &[&str]) -> Done {
    match words {
        [] => {
            step("two builds of one commit", build_twice)?;
            step("fuzzing", || fuzz(FUZZ_SECONDS, &laws()?))?;
            step("pages", || crate::measure(&["bench", "serve"]))?;
            step("replay", || crate::measure(&["bench", "replay"]))?;
            step("soak", || crate::measure(&["soak"]))
        }
        ["soak", ..] => crate::measure(words),
        ["serve" | "replay", ..] => crate::measure(&[&["bench"], words].concat()),
        ["double"] => build_twice(),
        ["fuzz"] => fuzz(FUZZ_SECONDS, &laws()?),
        ["fuzz", "--seconds", seconds, chosen @ ..] => {
            let seconds =
                seconds.parse().map_err(|_| Failure::new(format!("`{seconds}` is not a number")))?;
            fuzz(seconds, &choose(chosen)?)
        }
        ["fuzz", chosen @ ..] => fuzz(FUZZ_SECONDS, &choose(chosen)?),
        _ => Err(Failure::new(format!("cannot read `long {}`", words.join(" ")))
            .next("`cargo xtask long [soak [--minutes N]|double|fuzz [--seconds N] [LAW…]|serve|replay]`")),
    }
}

/// In folders of different names and depths: neither may be in what comes out.
fn build_twice() -> Done {
    let folder = tempfile::tempdir().while_("a temporary folder")?;
    let mut packages = Vec::new();
    for name in ["one", "in/another/place"] {
        let checkout = folder.path().join(name);
        let mut clone = Command::new("git");
        workspace::run(
            clone.args(["clone", "--quiet", "--no-hardlinks"]).arg(workspace::root()).arg(&checkout),
        )?;
        let made = checkout.join("packages");
        let mut dist = workspace::cargo(&["xtask", "dist", "--out"]);
        // A shared output directory would be the same place twice.
        dist.arg(&made).current_dir(&checkout).env_remove("CARGO_TARGET_DIR");
        step(name, || workspace::run(&mut dist))?;
        packages.push(made);
    }
    let differing = differences(&packages[0], &packages[1])?;
    if differing.is_empty() {
        print::line("    both builds have the same bytes");
        return Ok(());
    }
    Err(Failure::new(format!("two builds of one commit differ:\n  {}", differing.join("\n  "))))
}

/// Of all files below.
fn differences(one: &Path, other: &Path) -> Done<Vec<String>> {
    let names: BTreeSet<PathBuf> = files_below(one)?.into_iter().chain(files_below(other)?).collect();
    if names.is_empty() {
        return Err(Failure::new(format!("{} has no files", one.display())));
    }
    let mut found = Vec::new();
    for name in names {
        match (fs::read(one.join(&name)), fs::read(other.join(&name))) {
            (Ok(one), Ok(other)) if one == other => {
                print::line(&format!("    {:>10}  {}", one.len(), name.display()));
            }
            (Ok(one), Ok(other)) => {
                let at = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
                found.push(format!(
                    "{}: {} and {} bytes, the first different one is {at}",
                    name.display(),
                    one.len(),
                    other.len()
                ));
            }
            _ => found.push(format!("{}: only in one of them", name.display())),
        }
    }
    Ok(found)
}

/// Relative to the folder.
fn files_below(folder: &Path) -> Done<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).while_(folder.display())? {
        let path = entry.while_(folder.display())?.path();
        let name = path.file_name().map(PathBuf::from).unwrap_or_default();
        if path.is_dir() {
            files.extend(files_below(&path)?.into_iter().map(|below| name.join(below)));
        } else {
            files.push(name);
        }
    }
    Ok(files)
}

fn laws() -> Done<Vec<String>> {
    let folder = workspace::root().join(INPUTS);
    let entries = fs::read_dir(&folder).while_(folder.display())?.flatten();
    let mut laws: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    laws.sort();
    Ok(laws)
}

fn choose(words: &[&str]) -> Done<Vec<String>> {
    let laws = laws()?;
    if let Some(unknown) = words.iter().find(|word| !laws.iter().any(|law| law == *word)) {
        return Err(Failure::new(format!("no law `{unknown}`")).next(format!("one of {}", laws.join(", "))));
    }
    Ok(if words.is_empty() { laws } else { words.iter().map(|word| (*word).to_owned()).collect() })
}

/// Begins with the kept inputs and with what earlier runs found.
fn fuzz(seconds: u64, laws: &[String]) -> Done {
    if !tools::is_on_path("cargo-fuzz") {
        return Err(Failure::new("cargo-fuzz is not installed")
            .next("`cargo install cargo-fuzz`; it also needs `rustup toolchain install nightly`"));
    }
    for law in laws {
        let found = format!("fuzz/corpus/{law}");
        fs::create_dir_all(workspace::root().join(&found)).while_(&found)?;
        let mut fuzzer = Command::new("rustup");
        fuzzer
            .args(["run", "nightly", "cargo", "fuzz", "run", law, &found, &format!("{INPUTS}/{law}")])
            .args(["--", &format!("-max_total_time={seconds}"), "-verbosity=0", "-print_final_stats=1"])
            .current_dir(workspace::root())
            .env_remove("CARGO");
        step(law, || workspace::run(&mut fuzzer)).map_err(|failure| {
            failure.next(format!(
                "keep the input in fuzz/artifacts/{law} in {INPUTS}/{law}, under a name that says what it is"
            ))
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_that_differ_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        for build in [&one, &other] {
            fs::create_dir_all(build.join("npm")).unwrap();
            fs::write(build.join("npm/same"), "same").unwrap();
        }
        assert!(differences(&one, &other).unwrap().is_empty());
        fs::write(one.join("sums"), "abcd").unwrap();
        fs::write(other.join("sums"), "abXd").unwrap();
        fs::write(other.join("npm/new"), "").unwrap();
        assert_eq!(
            differences(&one, &other).unwrap(),
            ["npm/new: only in one of them", "sums: 4 and 4 bytes, the first different one is 2"]
        );
        let empty = folder.path().join("empty");
        fs::create_dir(&empty).unwrap();
        assert!(differences(&empty, &empty).is_err(), "nothing was compared");
    }

    #[test]
    fn each_law_has_a_target() {
        for law in laws().unwrap() {
            let target = workspace::root().join(format!("fuzz/fuzz_targets/{law}.rs"));
            assert!(target.is_file(), "{law}");
        }
        assert_eq!(choose(&["glob"]).unwrap(), ["glob"]);
        assert!(choose(&["globs"]).is_err());
    }
}

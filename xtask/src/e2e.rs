//! `cargo xtask e2e [--client VERSION|latest] [FILTER]`: the scenarios on the real client and on other hosts.

use std::path::Path;
use std::process::Command;

use crate::client;
use crate::hosts;
use xtask::failure::{Done, Failure};
use xtask::tools;
use xtask::workspace::{self, cargo, step};

pub(crate) fn run(arguments: &[&str]) -> Done {
    let (version, filter) = match arguments {
        [] => (None, None),
        ["--client", version] => (Some(*version), None),
        ["--client", version, filter] | [filter, "--client", version] => (Some(*version), Some(*filter)),
        [filter] if !filter.starts_with('-') => (None, Some(*filter)),
        _ => {
            return Err(Failure::new(format!("cannot read `e2e {}`", arguments.join(" ")))
                .next("`cargo xtask e2e [--client VERSION|latest] [FILTER]`"));
        }
    };
    for program in ["git", "tmux"] {
        if !tools::is_on_path(program) {
            return Err(Failure::new(format!("{program} is missing; the scenarios use it")).next(format!(
                "install it (Debian: `apt-get install {program}`), or run `cargo xtask test`"
            )));
        }
    }
    let version = match version {
        None => client::pinned()?,
        Some("latest") => step("newest version of the client", client::latest)?,
        Some(version) => client::check_version(version)?,
    };
    step("binary", || workspace::run(&mut cargo(&["build", "--package", "tidegate", "--locked"])))?;
    let binary =
        workspace::target_folder()?.join("debug").join(format!("tidegate{}", std::env::consts::EXE_SUFFIX));
    let filter: Vec<&str> = filter.into_iter().collect();
    run_scenarios(&version, &binary, &filter, || {
        cargo(&["test", "--package", "tidegate-e2e", "--locked", "--"])
    })
}

/// Compiles nothing.
pub(crate) fn run_built(program: &Path, scenarios: impl Fn() -> Command) -> Done {
    run_scenarios(&client::pinned()?, program, &[], scenarios)
}

/// Runs scenarios once more if hooks ran out of time in them.
fn run_scenarios(version: &str, binary: &Path, filter: &[&str], harness: impl Fn() -> Command) -> Done {
    let client = step(&format!("client {version}"), || client::fetch(version))?;
    let hosts = step("other hosts", hosts::fetch)?;
    let tests = |arguments: &[&str]| {
        let mut tests = harness();
        tests.args(arguments).env("TIDEGATE_CLIENT", &client).env("TIDEGATE_HOSTS", &hosts);
        tests.env("TIDEGATE_BIN", binary).env("INSTA_UPDATE", "no");
        tests
    };
    // Twice as many as cores: scenarios wait most of the time, and `crates/e2e/src/slots.rs` limits the
    // running clients.
    let threads = std::thread::available_parallelism().map_or(4, |cores| cores.get() * 2);
    let threads = format!("--test-threads={threads}");
    let all: Vec<&str> = [threads.as_str()].into_iter().chain(filter.iter().copied()).collect();
    let mut printed = String::new();
    let done = step(&format!("scenarios on client {version}"), || {
        workspace::run_and_read(&mut tests(&all), &mut printed)
    });
    let Err(failure) = done else { return Ok(()) };
    let Some(late) = scenarios_out_of_time(&printed) else { return Err(failure) };
    step(&format!("once more, alone, since hooks ran out of time: {}", late.join(", ")), || {
        let alone: Vec<&str> = ["--exact", "--test-threads=1"].into_iter().chain(late).collect();
        workspace::run(&mut tests(&alone))
    })
}

/// Printed by `crates/e2e/src/tidegate.rs`.
const OUT_OF_TIME: &str = "a hook ran out of time in this scenario";

/// The failed scenarios, if hooks ran out of time in each of them: the machine was busy, and the product may
/// be right. A single failure for another reason fails the run.
fn scenarios_out_of_time(printed: &str) -> Option<Vec<&str>> {
    let failed = printed.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    let failed: Vec<&str> = failed.collect();
    let was_late = |name: &&str| {
        let (_, output) = printed.split_once(&format!("---- {name} stdout ----"))?;
        let output = output.split("\n---- ").next()?;
        output.contains(OUT_OF_TIME).then_some(())
    };
    (!failed.is_empty() && failed.iter().all(|name| was_late(name).is_some())).then_some(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(first: &str, second: &str) -> String {
        format!(
            "running 3 tests\ntest a::one ... FAILED\ntest a::two ... ok\ntest a::three ... FAILED\n\nfailures:\n\n\
             ---- a::one stdout ----\n{first}\n\n---- a::three stdout ----\n{second}\n\n\nfailures:\n    a::one\n"
        )
    }

    #[test]
    fn only_scenarios_that_were_late_get_a_second_run() {
        let late_one = format!("thread panicked\n{OUT_OF_TIME}");
        assert_eq!(scenarios_out_of_time(&printed(&late_one, &late_one)), Some(vec!["a::one", "a::three"]));
        assert_eq!(scenarios_out_of_time(&printed(&late_one, "thread panicked")), None);
        assert_eq!(scenarios_out_of_time(&printed("thread panicked", &late_one)), None);
        assert_eq!(scenarios_out_of_time("error: could not compile\n"), None);
    }
}

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
    let scenarios = cargo(&["test", "--package", "tidegate-e2e", "--locked", "--"]);
    run_scenarios(&version, &binary, scenarios, &filter)
}

/// Compiles nothing. Without filters, all scenarios.
pub(crate) fn run_built(program: &Path, scenarios: Command, filters: &[&str]) -> Done {
    run_scenarios(&client::pinned()?, program, scenarios, filters)
}

fn run_scenarios(version: &str, binary: &Path, mut scenarios: Command, filters: &[&str]) -> Done {
    let client = step(&format!("client {version}"), || client::fetch(version))?;
    let hosts = step("other hosts", hosts::fetch)?;
    // `crates/e2e/src/slots.rs` limits the running clients.
    scenarios.arg(workspace::many_test_threads()).args(filters);
    scenarios.env("TIDEGATE_CLIENT", &client).env("TIDEGATE_HOSTS", &hosts);
    scenarios.env("TIDEGATE_BIN", binary);
    // A person who changes texts can set it.
    if std::env::var_os("INSTA_UPDATE").is_none() {
        scenarios.env("INSTA_UPDATE", "no");
    }
    step(&format!("scenarios on client {version}"), || workspace::run(&mut scenarios))
}

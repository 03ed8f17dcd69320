//! `cargo xtask e2e [--client VERSION|latest] [FILTER]`: the scenarios on the real client and on other hosts.

use crate::client;
use crate::failure::{Done, Failure};
use crate::hosts;
use crate::tools;
use crate::workspace::{self, cargo, step};

/// The command.
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
        if !tools::present(program) {
            return Err(Failure::new(format!("{program} is missing; the scenarios use it")).next(format!(
                "install it (Debian: `apt-get install {program}`), or run `cargo xtask test`"
            )));
        }
    }
    let version = match version {
        None => client::pinned()?,
        Some("latest") => step("newest version of the client", client::latest)?,
        Some(version) => client::checked(version)?,
    };
    let client = step(&format!("client {version}"), || client::fetch(&version))?;
    let hosts = step("other hosts", hosts::fetch)?;
    step("binary", || workspace::run(&mut cargo(&["build", "--package", "tidegate", "--locked"])))?;
    let binary = workspace::target()?.join("debug").join(format!("tidegate{}", std::env::consts::EXE_SUFFIX));
    let mut tests = cargo(&["test", "--package", "tidegate-e2e", "--locked", "--"]);
    tests.args(filter).env("TIDEGATE_CLIENT", client).env("TIDEGATE_HOSTS", hosts);
    tests.env("TIDEGATE_BIN", binary).env("INSTA_UPDATE", "no");
    step(&format!("scenarios on client {version}"), || workspace::run(&mut tests))
}

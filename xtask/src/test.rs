//! `cargo xtask test`: everything that CI checks, in the order of how soon it fails.

use crate::client;
use crate::failure::{Done, Failure};
use crate::print;
use crate::workspace::{self, cargo, step};
use crate::{budget, deps, docs, e2e, hosts, notices, phase, postgres, supply, tools};

/// The command.
pub(crate) fn run() -> Done {
    let start = std::time::Instant::now();
    let mut left_out = Vec::new();
    step("format", || workspace::run(&mut cargo(&["fmt", "--all", "--check"])))?;
    step("clippy", || {
        let lint = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
        workspace::run(&mut cargo(&lint))
    })?;
    step("dependencies of the hook", deps::check)?;
    step("third-party notices", notices::check)?;
    let missing = step("programs that the rest needs", || Ok(needed_programs()))?;
    let without = |program: &str| missing.iter().find(|missing| missing.starts_with(program));
    left_out.extend(
        without("curl").map(|missing| format!("endpoints that are asked about prompts: no {missing}")),
    );
    left_out.extend(without("strace").map(|missing| format!("kills at every system call: no {missing}")));
    // Git may just have been installed for it.
    let no_advisories = step("licences, sources and advisories of packages", supply::check)?;
    let no_server = step("a PostgreSQL server", || Ok(postgres::ensure().err()))?;
    left_out.extend(no_server.iter().map(|failure| format!("the team store: no server: {}", failure.what())));
    step("tests", || {
        let mut tests = cargo(&["test", "--workspace", "--exclude", "tidegate-e2e", "--locked"]);
        if no_server.is_some() {
            tests.env(postgres::WITHOUT, "1");
        }
        workspace::run(tests.env("INSTA_UPDATE", "no"))
    })?;
    step("parameters of the phase classifier", phase::check)?;
    step("accuracy of the phase classifier", phase::evaluate)?;
    step("generated references", docs::check)?;
    match without("valgrind") {
        Some(missing) => left_out.push(format!("instruction budgets: no {missing}")),
        None => step("instruction budgets", budget::check)?,
    }
    let no_client = || {
        let version = client::pinned().ok()?;
        let fetched = client::fetch(&version).and_then(|_| hosts::fetch());
        fetched.err().map(|failure| format!("no client: {}", failure.what()))
    };
    match without("git").or_else(|| without("tmux")).map(|missing| format!("no {missing}")).or_else(no_client)
    {
        Some(why) => left_out.push(format!("end-to-end scenarios: {why}")),
        None => step("end-to-end scenarios", || e2e::run(&[]))?,
    }
    for what in &left_out {
        print::line(&format!("LEFT OUT: {what}"));
    }
    if !left_out.is_empty() && std::env::var_os("CI").is_some() {
        return Err(Failure::new(format!("in CI nothing may be left out:\n  {}", left_out.join("\n  ")))
            .next("make what is missing available to the runner"));
    }
    // Not every runner reaches the database; its absence is said and does not fail.
    if let Some(why) = &no_advisories {
        print::line(&format!("LEFT OUT: advisories of packages: {why}"));
    }
    let all = if left_out.is_empty() && no_advisories.is_none() {
        "All checks passed"
    } else {
        "The other checks passed"
    };
    print::line(&format!("{all}, {:.0} s.", start.elapsed().as_secs_f64()));
    Ok(())
}

/// Installs what is missing; what cannot be had is returned, with the reason.
fn needed_programs() -> Vec<String> {
    let mut programs = vec!["git", "curl", "strace", "tmux", "valgrind", "time"];
    // Only to fetch the client and other hosts, and large: not where they are in the cache.
    if client::pinned().is_ok_and(|version| !client::in_cache(&version)) || !hosts::in_cache() {
        programs.push("npm");
    }
    tools::ensure(&programs)
}

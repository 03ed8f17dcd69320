//! `cargo xtask test`: everything that CI checks, quick failures first; steps that only compute run next to
//! those that wait.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::background::BackgroundStep;
use crate::built::Built;
use crate::client;
use crate::passed::PassedStep;
use crate::scratch::Scratch;
use crate::{deps, docs, e2e, hosts, notices, postgres, supply, tools};
use xtask::failure::{Done, Failure};
use xtask::print;
use xtask::workspace::{self, cargo, step};

pub(crate) fn run() -> Done {
    let start = std::time::Instant::now();
    let mut left_out = Vec::new();
    step("format", || workspace::run(&mut cargo(&["fmt", "--all", "--check"])))?;
    // Takes minutes of linking on one core.
    let ship = ["build", "--profile", "dist", "--package", "tidegate", "--bin", "tidegate", "--locked"];
    let shipped = BackgroundStep::start("binary as shipped", &cargo(&ship));
    step("dependencies of the hook", deps::check)?;
    step("third-party notices", notices::check)?;
    let missing = step("programs that the rest needs", || Ok(needed_programs()))?;
    let without = |program: &str| missing.iter().find(|missing| missing.starts_with(program));
    left_out.extend(
        without("curl").map(|missing| format!("endpoints that are asked about prompts: no {missing}")),
    );
    left_out.extend(without("strace").map(|missing| format!("kills at every system call: no {missing}")));
    // Needs git, which may just have been installed.
    let no_advisories = step("licences, sources and advisories of packages", supply::check)?;
    let no_server = step("a PostgreSQL server", || Ok(postgres::ensure_server().err()))?;
    left_out.extend(no_server.iter().map(|failure| format!("the team store: no server: {}", failure.what())));
    let built = step("everything compiled, without a lint", Built::make)?;
    let (scenarios, tests) = built.tests()?;
    let (program, measuring) = (built.program("tidegate")?, built.program("measure")?);
    let measure = |task: &str| {
        let mut measure = Command::new(measuring);
        measure.arg(task);
        measure
    };
    let (scratch, mut beside) = (Scratch::new(), Vec::new());
    for (name, task) in [
        ("parameters of the phase classifier", "train-phase"),
        ("accuracy of the phase classifier", "eval-phase"),
    ] {
        if let Some(passed) = unless_passed(name, &[measuring])? {
            beside.push(BackgroundStep::start(name, &measure(task)).remembered(passed));
        }
    }
    beside.push(shipped);
    step("generated references", || docs::check_with(program))?;
    for test in tests {
        step(&format!("tests of {}", test.name), || {
            let mut command = scratch.with_folder(test.command());
            if no_server.is_some() {
                command.env(postgres::WITHOUT, "1");
            }
            workspace::run(&mut command)
        })?;
    }
    if let Some(why) = scenarios_unavailable(&missing) {
        left_out.push(format!("end-to-end scenarios: {why}"));
    } else if let Some(passed) = unless_passed("end-to-end scenarios", &[program, &scenarios.executable])? {
        step("end-to-end scenarios", || {
            e2e::run_built(program, || scratch.with_folder(scenarios.command()))
        })?;
        passed.remember()?;
    }
    for step in beside {
        step.end()?;
    }
    // Last and alone: on a busy machine a hook runs out of time and does less.
    if let Some(missing) = without("valgrind") {
        left_out.push(format!("instruction budgets: no {missing}"));
    } else if let Some(passed) = unless_passed("instruction budgets", &[measuring, &shipped_binary()?])? {
        step("instruction budgets", || workspace::run(&mut measure("budget")))?;
        passed.remember()?;
    }
    for what in &left_out {
        print::line(&format!("LEFT OUT: {what}"));
    }
    if !left_out.is_empty() && std::env::var_os("CI").is_some() {
        return Err(Failure::new(format!("in CI nothing may be left out:\n  {}", left_out.join("\n  ")))
            .next("make what is missing available to the runner"));
    }
    // Some runners cannot reach the database; that is reported and does not fail.
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

/// `None` if the step already passed with the same programs and files.
fn unless_passed(name: &str, programs: &[&Path]) -> Done<Option<PassedStep>> {
    let passed = PassedStep::of(name, programs)?;
    if passed.is_current() {
        print::line(&format!("==> {name}: unchanged since the last pass, not run again"));
        return Ok(None);
    }
    Ok(Some(passed))
}

fn shipped_binary() -> Done<PathBuf> {
    Ok(workspace::target_folder()?.join("dist").join(format!("tidegate{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns why the scenarios cannot run, after trying to fetch what they need.
fn scenarios_unavailable(missing: &[String]) -> Option<String> {
    let without = |program| missing.iter().find(|missing| missing.starts_with(program));
    if let Some(missing) = without("git").or_else(|| without("tmux")) {
        return Some(format!("no {missing}"));
    }
    let version = client::pinned().ok()?;
    let fetched = client::fetch(&version).and_then(|_| hosts::fetch());
    fetched.err().map(|failure| format!("no client: {}", failure.what()))
}

/// Returns the programs that could not be installed, with the reason.
fn needed_programs() -> Vec<String> {
    let mut programs = vec!["git", "curl", "strace", "tmux", "valgrind", "time"];
    // Large, and needed only to fetch the client and other hosts.
    if client::pinned().is_ok_and(|version| !client::in_cache(&version)) || !hosts::in_cache() {
        programs.push("npm");
    }
    tools::ensure_programs(&programs)
}

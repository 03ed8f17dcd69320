//! `cargo xtask test [--all]`: everything that CI checks, quick failures first; steps that only compute run next to
//! those that wait.
//!
//! After a change in rooms only, what takes longest and is hardly affected is left to CI, until it is asked for with
//! `--all` or something else changes: the other scenarios, the binary as shipped and its budgets. Nothing of that is
//! remembered as passed, so that changes add up.

use std::path::Path;
use std::process::Command;

use crate::background::BackgroundStep;
use crate::built::{Built, TestProgram};
use crate::client;
use crate::passed::PassedStep;
use crate::scratch::Scratch;
use crate::selection::{Affected, ScenarioTable};
use crate::{
    browser, deps, docs, e2e, hosts, installs, layers, notices, pictures, postgres, supply, tools, words,
};
use xtask::failure::{Done, Failure};
use xtask::workspace::{self, cargo, step};
use xtask::{print, shipped};

/// The binary as shipped is built for them.
const BUDGETS: &str = "instruction budgets";

const SCENARIOS: &str = "end-to-end scenarios";

/// Packages whose tests are slow and see only two rooms.
const STORES: [&str; 2] = ["memory", "team-server"];

pub(crate) fn run(all: bool) -> Done {
    let start = std::time::Instant::now();
    let (mut left_out, mut left_for_ci) = (Vec::new(), Vec::new());
    let changes = Changes { table: ScenarioTable::read()?, all };
    step("format", || workspace::run(&mut cargo(&["fmt", "--all", "--check"])))?;
    step("words", words::check)?;
    let mut shipping = None;
    match changes.since_pass(&PassedStep::of(BUDGETS, &[])?) {
        Affected::Everything => {
            // Takes minutes of linking on one core.
            shipping = Some(BackgroundStep::start("binary as shipped", &shipped::cargo_for_program("build")));
        }
        Affected::Part { rooms, .. } if rooms.is_empty() => print_unchanged(BUDGETS),
        Affected::Part { .. } => left_for_ci.push(format!("the binary as shipped and its {BUDGETS}")),
    }
    step("layers of the core", layers::check)?;
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
    for (name, task, rooms) in [
        ("parameters of the phase classifier", "train-phase", &["feature/activity"][..]),
        ("accuracy of the phase classifier", "eval-phase", &["feature/activity"]),
        (
            "parameters of the classifier of constraints",
            "train-constraints",
            // The exponential function is in the first one.
            &["feature/activity", "feature/knowledge"],
        ),
        ("precision and recall of the classifier of constraints", "eval-constraints", &["feature/knowledge"]),
    ] {
        let passed = PassedStep::of(name, &[measuring])?;
        let affected = changes.since_pass(&passed);
        if passed.is_current() || !rooms.iter().any(|room| affected.reaches(room)) {
            print_unchanged(name);
        } else {
            beside.push(BackgroundStep::start(name, &measure(task)).remembered(passed));
        }
    }
    let is_shipped = shipping.is_some();
    beside.extend(shipping);
    step("generated references", || docs::check_with(program))?;
    let (of_stores, others): (Vec<&TestProgram>, Vec<&TestProgram>) =
        tests.into_iter().partition(|test| STORES.contains(&test.package()));
    let stores_passed =
        PassedStep::of("stores", &of_stores.iter().map(|test| &*test.executable).collect::<Vec<_>>())?;
    let runs_stores = !stores_passed.is_current() && changes.reach_stores(&stores_passed);
    if !runs_stores {
        print_unchanged("tests of stores");
    }
    for test in others.into_iter().chain(of_stores.into_iter().filter(|_| runs_stores)) {
        step(&format!("tests of {}", test.name), || {
            let mut command = scratch.with_folder(test.command());
            command.arg(workspace::many_test_threads());
            if no_server.is_some() {
                command.env(postgres::WITHOUT, "1");
            }
            workspace::run(&mut command)
        })?;
    }
    if runs_stores && no_server.is_none() {
        stores_passed.remember()?;
    }
    if let Some(why) = scenarios_unavailable(&missing) {
        left_out.push(format!("end-to-end scenarios: {why}"));
    } else {
        let run = |filters: &[&str]| {
            let scenarios = scratch.with_folder(scenarios.command());
            step(SCENARIOS, || e2e::run_built(program, scenarios, filters))
        };
        left_for_ci.extend(run_scenarios(&changes, &[program, &scenarios.executable], run)?);
    }
    if missing.iter().any(|program| *program == "tmux") {
        left_out.push("pictures of the documentation: no tmux".to_owned());
    } else {
        step("pictures of the documentation", || pictures::check_with(program))?;
    }
    match browser::unavailable() {
        Some(why) => left_out.push(format!("pages in a browser: {why}")),
        None => step("pages in a browser", || browser::run_built(program))?,
    }
    for step in beside {
        step.end()?;
    }
    if is_shipped {
        if scenarios_unavailable(&missing).is_none() {
            let scenarios = || scratch.with_folder(scenarios.command());
            step("packages of a release, installed", || installs::check(program, &scenarios))?;
        } else {
            left_out.push("packages of a release".to_owned());
        }
    }
    // Last and alone: on a busy machine a hook runs out of time and does less.
    if let Some(missing) = without("valgrind") {
        left_out.push(format!("{BUDGETS}: no {missing}"));
    } else if is_shipped {
        let passed = PassedStep::of(BUDGETS, &[measuring, &shipped::program()?])?;
        if passed.is_current() {
            print_unchanged(BUDGETS);
        } else {
            step(BUDGETS, || workspace::run(&mut measure("budget")))?;
            passed.remember()?;
        }
    }
    if !left_for_ci.is_empty() {
        print::line(&format!("left for CI or `cargo xtask test --all`: {}", left_for_ci.join("; ")));
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
    let all = if left_out.is_empty() && left_for_ci.is_empty() && no_advisories.is_none() {
        "All checks passed"
    } else {
        "The other checks passed"
    };
    print::line(&format!("{all}, {:.0} s.", start.elapsed().as_secs_f64()));
    Ok(())
}

/// What changed since a step passed, and whether that may be used to leave something out.
struct Changes {
    table: ScenarioTable,
    all: bool,
}

impl Changes {
    fn since_pass(&self, step: &PassedStep) -> Affected {
        let changed = step.changed_files().filter(|_| !self.all);
        changed.map_or(Affected::Everything, |changed| self.table.affected_by(&changed))
    }

    fn reach_stores(&self, step: &PassedStep) -> bool {
        let of_stores =
            |file: &String| STORES.iter().any(|name| file.starts_with(&format!("crates/{name}/")));
        let affected = self.since_pass(step);
        ["feature/memory", "feature/knowledge"].iter().any(|room| affected.reaches(room))
            || step.changed_files().is_some_and(|files| files.iter().any(of_stores))
    }
}

/// Returns which ones were left out.
fn run_scenarios(
    changes: &Changes,
    programs: &[&Path],
    run: impl Fn(&[&str]) -> Done,
) -> Done<Option<String>> {
    let passed = PassedStep::of(SCENARIOS, programs)?;
    if passed.is_current() {
        print_unchanged(SCENARIOS);
        return Ok(None);
    }
    let Affected::Part { rooms, scenarios } = changes.since_pass(&passed) else {
        run(&[])?;
        passed.remember()?;
        return Ok(None);
    };
    let names = scenarios.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let part = PassedStep::of(&format!("{SCENARIOS} of rooms"), programs)?.and("which", &names);
    if scenarios.is_empty() || part.is_current() {
        print_unchanged(SCENARIOS);
    } else {
        let filters: Vec<String> = scenarios.iter().map(|module| format!("scenario::{module}::")).collect();
        run(&filters.iter().map(String::as_str).collect::<Vec<_>>())?;
        part.remember()?;
    }
    if rooms.is_empty() {
        // The program is the same, and so are the other scenarios.
        passed.remember()?;
        return Ok(None);
    }
    Ok(Some(format!("all scenarios but {names}")))
}

fn print_unchanged(step: &str) {
    print::line(&format!("==> {step}: unchanged since the last pass, not run again"));
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

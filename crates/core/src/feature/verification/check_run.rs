//! What became of the checks in a command line that ended: by its exit status, and by what it printed.

use crate::event::action::{Exit, ShellCommand};
use crate::feature::verification::checks::{
    CheckEvidence, CheckKind, Ending, Kinds, LONGEST_OUTPUT, LineProof, read_ending,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CheckRun {
    /// No check ran, or nothing is known of it.
    Nothing,
    Passed(Vec<CheckEvidence>),
    /// The strongest kind that failed, and its check.
    Failed(CheckKind, CheckEvidence),
    /// A check ran, and neither the status nor the output shows how it ended.
    Hidden,
    NoTests,
}

const ALL: Kinds = Kinds::COMPILED_TEST.and(Kinds::LINT);

/// `takes_output`: closing lines count where the status does not show.
pub(super) fn judge_run(command: &ShellCommand<'_>, checks: LineProof, takes_output: bool) -> CheckRun {
    let LineProof { visible, hidden, shows_output, only_checks } = checks;
    let Exit::Known(status) = command.exit else { return CheckRun::Nothing };
    if visible.is_empty() && hidden.is_empty() {
        return CheckRun::Nothing;
    }
    let (commits, visible): (Vec<_>, Vec<_>) = visible.into_iter().partition(|found| found.by_output);
    if command.background.is_some() {
        return match (visible.is_empty(), hidden.is_empty()) {
            (true, true) => CheckRun::Nothing,
            (true, false) => CheckRun::Hidden,
            (false, _) => CheckRun::Passed(visible),
        };
    }
    let output = command.last_output(LONGEST_OUTPUT);
    let ending = read_ending(&output);
    let takes_output = takes_output && shows_output && !command.is_cut && !output.contains("truncated]");
    if status == 0 {
        return judge_success(ending, commits, visible, hidden, takes_output);
    }
    if was_ended(status) || never_ran(&output) {
        return CheckRun::Nothing;
    }
    let all: Vec<&CheckEvidence> = visible.iter().chain(&hidden).chain(&commits).collect();
    let kinds = all.iter().fold(Kinds::NONE, |all, found| all.and(found.kinds));
    if let Some(kind) = kinds.common(ending.failed).strongest() {
        // `test && lint`, where the tests passed.
        let passed = only_kinds(visible.clone(), ending.passed.stronger_than(kind));
        if takes_output && !passed.is_empty() {
            return CheckRun::Passed(passed);
        }
        return fail(kind, &all);
    }
    if ending.no_tests {
        return CheckRun::NoTests;
    }
    // Anything else in the line may have failed, or one of several checks of which one says that it passed.
    let is_certain = only_checks && (visible.len() == 1 || ending == Ending::default());
    let kinds = visible.iter().fold(Kinds::NONE, |all, found| all.and(found.kinds));
    match kinds.strongest().filter(|_| is_certain) {
        Some(kind) => fail(kind, &visible.iter().collect::<Vec<_>>()),
        None => CheckRun::Nothing,
    }
}

fn judge_success(
    ending: Ending,
    commits: Vec<CheckEvidence>,
    visible: Vec<CheckEvidence>,
    hidden: Vec<CheckEvidence>,
    takes_output: bool,
) -> CheckRun {
    let kinds = hidden.iter().fold(Kinds::NONE, |all, found| all.and(found.kinds));
    let shown = visible.iter().fold(Kinds::NONE, |all, found| all.and(found.kinds));
    if let Some(kind) = kinds.common(ending.failed).strongest()
        && shown.stronger_than(kind).is_empty()
    {
        return fail(kind, &hidden.iter().collect::<Vec<_>>());
    }
    if !visible.is_empty() {
        let passed = without_tests(visible, ending);
        return if passed.is_empty() { CheckRun::NoTests } else { CheckRun::Passed(passed) };
    }
    if hidden.is_empty() {
        let passed = only_kinds(commits, ending.passed);
        let counts = takes_output && !passed.is_empty() && ending.failed.is_empty();
        return if counts { CheckRun::Passed(passed) } else { CheckRun::Nothing };
    }
    // The lines of several checks cannot be told apart, and tests that were built may not have ended.
    let is_whole = hidden.len() == 1 && (!kinds.has(CheckKind::Test) || ending.passed.has(CheckKind::Test));
    let passed = only_kinds(hidden, ending.passed);
    if takes_output && is_whole && ending.failed.is_empty() && !passed.is_empty() {
        CheckRun::Passed(passed)
    } else if ending.no_tests {
        CheckRun::NoTests
    } else {
        CheckRun::Hidden
    }
}

fn fail(kind: CheckKind, evidence: &[&CheckEvidence]) -> CheckRun {
    // The last one: a line that ends with a failure ends at it.
    let found = evidence.iter().rev().find(|found| found.kinds.has(kind)).or(evidence.last());
    found.map_or(CheckRun::Nothing, |found| CheckRun::Failed(kind, (*found).clone()))
}

/// A whole suite without tests was at least compiled. A name that matched no test proves nothing.
fn without_tests(visible: Vec<CheckEvidence>, ending: Ending) -> Vec<CheckEvidence> {
    if !ending.no_tests {
        return only_kinds(visible, ALL);
    }
    let whole = visible.into_iter().filter(|found| found.scope.selected.is_empty()).collect();
    only_kinds(whole, Kinds::COMPILES.and(Kinds::LINT))
}

fn only_kinds(evidence: Vec<CheckEvidence>, kinds: Kinds) -> Vec<CheckEvidence> {
    let of = |found: CheckEvidence| CheckEvidence { kinds: found.kinds.common(kinds), ..found };
    evidence.into_iter().map(of).filter(|found| !found.kinds.is_empty()).collect()
}

/// The command was not found or cannot be run, or something ended it.
pub(super) fn was_ended(status: i32) -> bool {
    matches!(status, 124 | 126 | 127 | 130 | 137 | 143)
}

/// Beginnings of lines of shells and runners that did not start the check.
const NOT_STARTED: [&str; 17] = [
    "bash: ",
    "/bin/bash: ",
    "/usr/bin/bash: ",
    "sh: ",
    "/bin/sh: ",
    "zsh: ",
    "npm error Missing script",
    "npm ERR! Missing script",
    "npm error Unknown command",
    "error: Script not found",
    "error: no such command",
    "error: could not find `Cargo.toml`",
    "error: Justfile does not contain recipe",
    "mise ERROR no task",
    "task: Task ",
    "error TS6053",
    "error TS5058",
];

fn never_ran(output: &str) -> bool {
    let short = output.lines().count() <= 12;
    let begins = |line: &str| NOT_STARTED.iter().any(|beginning| line.starts_with(beginning));
    let told = output.lines().any(|line| {
        begins(line)
            || line.starts_with("make: *** No rule to make target")
            || line.starts_with("No files matching the pattern")
            || line.starts_with("ERR_PNPM_NO_SCRIPT")
    });
    short && told
}

//! What became of the checks in a command line that ended: by its exit status, and by what it printed.

use crate::event::action::{Exit, ShellCommand};
use crate::feature::verification::checks::{
    CheckEvidence, CheckKind, Closers, Ending, Kinds, LONGEST_OUTPUT, LineProof, kinds_of, read_ending,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CheckRun {
    /// No check ran, or nothing is known of it.
    Nothing,
    Passed(Vec<CheckEvidence>),
    /// The strongest kind that failed, and its check.
    Failed(CheckKind, Box<CheckEvidence>),
    /// A check ran, and neither the status nor the output shows how it ended; its step.
    Hidden(usize),
    NoTests,
}

const ALL: Kinds = Kinds::COMPILED_TEST.and(Kinds::LINT);

/// `takes_output`: closing lines count where the status does not show.
pub(super) fn judge_run(command: &ShellCommand<'_>, checks: LineProof, takes_output: bool) -> CheckRun {
    let LineProof { visible, hidden, shows_output, cut_from, only_checks } = checks;
    let Exit::Known(status) = command.exit else { return CheckRun::Nothing };
    if visible.is_empty() && hidden.is_empty() {
        return CheckRun::Nothing;
    }
    let (commits, visible): (Vec<_>, Vec<_>) = visible.into_iter().partition(|found| found.by_output);
    if command.background.is_some() {
        return match (visible.is_empty(), strongest_step(&hidden)) {
            (true, None) => CheckRun::Nothing,
            (true, Some(step)) => CheckRun::Hidden(step),
            (false, _) => CheckRun::Passed(visible),
        };
    }
    let output = command.last_output(LONGEST_OUTPUT);
    let ending = read_ending(&output);
    let is_cut = command.is_cut || output.trim_end().trim_end_matches(['.', ' ']).ends_with("truncated]");
    let is_short = |from: usize| output.len() < LONGEST_OUTPUT && output.lines().count() < from;
    let takes_output = takes_output && shows_output && !is_cut && cut_from.is_none_or(is_short);
    if status == 0 {
        return judge_success(ending, commits, visible, hidden, takes_output);
    }
    if was_ended(status) || never_ran(&output) {
        return CheckRun::Nothing;
    }
    let all: Vec<&CheckEvidence> = visible.iter().chain(&hidden).chain(&commits).collect();
    let kinds = kinds_of(all.iter().copied());
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
    let kinds = kinds_of(&visible);
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
    let kinds = kinds_of(&hidden);
    let shown = kinds_of(&visible);
    if let Some(kind) = kinds.common(ending.failed).strongest()
        && shown.stronger_than(kind).is_empty()
    {
        return fail(kind, &hidden.iter().collect::<Vec<_>>());
    }
    if !visible.is_empty() {
        let passed = if ending.did_nothing { Vec::new() } else { without_tests(visible, ending) };
        return if passed.is_empty() { CheckRun::NoTests } else { CheckRun::Passed(passed) };
    }
    let Some(step) = strongest_step(&hidden) else {
        let passed = only_kinds(commits, ending.passed);
        let counts = takes_output && !passed.is_empty() && ending.failed.is_empty();
        return if counts { CheckRun::Passed(passed) } else { CheckRun::Nothing };
    };
    // The lines of several checks cannot be told apart, and tests that were built may not have ended.
    let is_whole = hidden.len() == 1
        && (!kinds.has(CheckKind::Test) || ending.passed.has(CheckKind::Test))
        && hidden.iter().all(|found| closers_of(found).has_all(ending.told_by));
    let passed = only_kinds(hidden, ending.passed);
    if takes_output && is_whole && ending.failed.is_empty() && !passed.is_empty() {
        CheckRun::Passed(passed)
    } else if ending.no_tests {
        CheckRun::NoTests
    } else {
        CheckRun::Hidden(step)
    }
}

fn strongest_step(hidden: &[CheckEvidence]) -> Option<usize> {
    hidden.iter().min_by_key(|found| found.kinds.strongest()).map(|found| found.step)
}

/// A recipe may run any program.
fn closers_of(found: &CheckEvidence) -> Closers {
    Closers::of(if found.scope.recipe.is_empty() { &found.program } else { "" })
}

fn fail(kind: CheckKind, evidence: &[&CheckEvidence]) -> CheckRun {
    // The last one: a line that ends with a failure ends at it.
    let found = evidence.iter().rev().find(|found| found.kinds.has(kind)).or(evidence.last());
    found.map_or(CheckRun::Nothing, |found| CheckRun::Failed(kind, Box::new((*found).clone())))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::verification::checks::{ExtraChecks, RunPlace, SeenFile, read_project};
    use crate::host::Host;
    use crate::shell;
    use serde_json::json;

    /// How a line ended, in a project of npm.
    fn ended(line: &str, status: i32, output: &str) -> String {
        judged(line, status, output, true)
    }

    fn judged(line: &str, status: i32, output: &str, takes_output: bool) -> String {
        let scripts = r#"{"scripts": {"test": "jest", "build": "tsc", "lint": "eslint ."}}"#;
        let project = read_project(&[SeenFile { folder: "", name: "package.json", text: Some(scripts) }]);
        let place = RunPlace { roots: &["/r"], cwd: "/r", end: None, links: &[] };
        let proof = project.proof(&shell::parse(line).unwrap(), place, &ExtraChecks::default());
        let mut payload = json!({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": line}});
        if status == 0 {
            payload["hook_event_name"] = json!("PostToolUse");
            payload["tool_response"] = json!({"stdout": output, "stderr": "", "interrupted": false});
        } else {
            payload["hook_event_name"] = json!("PostToolUseFailure");
            payload["error"] = json!(format!("Exit code {status}\n{output}"));
        }
        let payload = payload.to_string();
        let event = Host::ClaudeCode.read(payload.as_bytes(), None).unwrap();
        let names = |kinds: Kinds| kinds.iter().map(CheckKind::name).collect::<Vec<_>>().join(" ");
        match judge_run(event.finished_command().unwrap(), proof, takes_output) {
            CheckRun::Nothing => "nothing".into(),
            CheckRun::Hidden(_) => "hidden".into(),
            CheckRun::NoTests => "no tests".into(),
            CheckRun::Failed(kind, _) => format!("{} failed", kind.name()),
            CheckRun::Passed(evidence) => {
                let kinds = kinds_of(&evidence);
                format!("{} passed", names(kinds))
            }
        }
    }

    const PASSED: &str = "Test Suites: 1 passed, 1 total\nTests:       5 passed, 5 total";
    const FAILED: &str = "Tests:       1 failed, 4 passed, 5 total";

    #[test]
    fn a_visible_status_decides() {
        assert_eq!(ended("npm test", 0, ""), "test passed");
        assert_eq!(ended("npm test", 1, ""), "test failed");
        assert_eq!(ended("npm test", 1, FAILED), "test failed");
        // A threshold of coverage, for instance.
        assert_eq!(ended("npm test", 1, PASSED), "test failed");
        assert_eq!(ended("npm test", 0, "Tests:       0 total"), "no tests");
        assert_eq!(ended("npm test", 1, "No tests found, exiting with code 1"), "no tests");
        assert_eq!(ended("cd web && npm test", 1, ""), "test failed");
        assert_eq!(ended("npm test", 0, "make: 'test' is up to date."), "no tests");
        assert_eq!(ended("ls", 1, ""), "nothing");
    }

    #[test]
    fn what_did_not_run_or_was_ended_has_not_failed() {
        assert_eq!(ended("npm test", 127, ""), "nothing");
        assert_eq!(ended("npm test", 143, ""), "nothing");
        assert_eq!(ended("npm test", 1, "npm error Missing script: \"test\""), "nothing");
        assert_eq!(
            ended("cd x && npm test", 1, "/bin/bash: line 1: cd: x: No such file or directory"),
            "nothing"
        );
        assert_eq!(ended("npm test", 1, "a.js: ENOENT: No such file or directory"), "test failed");
    }

    #[test]
    fn something_else_in_the_line_may_have_failed() {
        assert_eq!(ended("npm test && grep -r TODO src", 1, ""), "nothing");
        assert_eq!(ended("npm test && ./deploy.sh", 1, PASSED), "nothing");
        assert_eq!(ended("npm test && ./deploy.sh", 1, FAILED), "test failed");
        let lint = "error: script \"lint\" exited with code 1";
        assert_eq!(ended("npm test && npm run lint", 1, &format!("{PASSED}\n{lint}")), "test passed");
        assert_eq!(judged("npm test && npm run lint", 1, &format!("{PASSED}\n{lint}"), false), "lint failed");
    }

    #[test]
    fn a_hidden_status_leaves_the_closing_lines() {
        assert_eq!(ended("npm test | tail -5", 0, PASSED), "test passed");
        assert_eq!(judged("npm test | tail -5", 0, PASSED, false), "hidden");
        assert_eq!(ended("npm test | tail -5", 0, FAILED), "test failed");
        assert_eq!(ended("npm test | tail -5", 0, ""), "hidden");
        assert_eq!(ended("npm test | tail -4", 0, "Tests:       5 passed, 5 total"), "hidden");
        assert_eq!(ended("npm test; echo \"exit: $?\"", 0, &format!("{PASSED}\nexit: 1")), "test failed");
        assert_eq!(ended("npm test | head -5", 0, PASSED), "test passed");
        assert_eq!(ended("npm test | head -n 3", 0, PASSED), "test passed");
        assert_eq!(ended("npm test | head -2", 0, PASSED), "hidden", "there may be more");
        assert_eq!(ended("npm test | head -50 | tail -5", 0, PASSED), "hidden");
        assert_eq!(ended("npm test | head -c 500", 0, PASSED), "hidden");
        assert_eq!(ended("npm test | head -5", 0, FAILED), "test failed");
        assert_eq!(ended("npm test | tail -5; npm run build | tail -5", 0, PASSED), "hidden");
        assert_eq!(
            ended("npm test | tail -5", 0, &format!("{PASSED}\n... [9 lines truncated] ...")),
            "hidden"
        );
        // A recipe may run any program, a program closes with its own lines.
        assert_eq!(ended("npm test | tail -5", 0, "5 passed in 0.12s"), "test passed");
        assert_eq!(ended("npx jest | tail -5", 0, PASSED), "test passed");
        assert_eq!(ended("npx jest | tail -5", 0, "5 passed in 0.12s"), "hidden");
        assert_eq!(ended("npx jest | tail -5", 0, &format!("{PASSED}\n5 passed in 0.12s")), "hidden");
        // A build that shows is weaker than the tests that do not.
        assert_eq!(ended("npm test | tail -5; npm run build", 0, FAILED), "test failed");
    }

    #[test]
    fn a_commit_counts_by_what_its_hooks_print() {
        assert_eq!(
            ended("git commit -m x", 0, &format!("{PASSED}\n[main 1a2b] x")),
            "test typecheck build passed"
        );
        assert_eq!(ended("git commit -m x", 0, "[main 1a2b] x"), "nothing");
        assert_eq!(ended("git commit -m x", 1, "nothing to commit"), "nothing");
        assert_eq!(ended("git commit -m x", 1, FAILED), "test failed");
        assert_eq!(ended("git commit --no-verify -m x", 0, PASSED), "nothing");
    }
}

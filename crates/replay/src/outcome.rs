//! What the gate says at the end of a turn, and why.

use std::fmt;

use tidegate_core::feature::verification::checks::{Kinds, ProjectChecks};
use tidegate_core::shell::{self, Status, Step, Why};

/// A command line that ended, and what the core saw in it.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is seen by itself")]
pub struct JudgedRun {
    /// In the transcript.
    pub line: usize,
    pub command: String,
    pub succeeded: bool,
    /// Kinds that its success proves.
    pub proves: Kinds,
    /// It contains a check whose failure would not have shown.
    pub hides: bool,
    /// It counts as a check that passed, or failed, for the files that were open then.
    pub passed: bool,
    pub failed: bool,
    /// The project's checks at that moment.
    pub checks: Option<ProjectChecks>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopOutcome {
    /// Passed as verified.
    Verified,
    Held(HoldCause),
    /// Passed for now: a task still runs.
    Waiting,
    /// Passed for now: the agent needs the person's answer.
    Asking,
    /// Passed: no code was edited, or it is gone.
    NothingToCheck,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HoldCause {
    /// No command since the last edit looks like a check.
    NothingRun,
    /// A check passed, but only before the last edit.
    OnlyBefore,
    /// A check ran before the last edit, and its status did not show even then; the construct that hid it.
    HiddenBefore(String),
    /// A command looks like a check that the core does not know.
    Unknown,
    /// A check ran whose status the line does not show; the construct that hides it.
    Hidden(String),
    Failed,
    /// A check passed that is not enough.
    TooWeak,
}

impl StopOutcome {
    pub fn name(&self) -> &'static str {
        match self {
            StopOutcome::Verified => "verified",
            StopOutcome::Held(_) => "held",
            StopOutcome::Waiting => "waiting",
            StopOutcome::Asking => "asking",
            StopOutcome::NothingToCheck => "nothing to check",
        }
    }

    pub fn is_held(&self) -> bool {
        matches!(self, StopOutcome::Held(_))
    }
}

impl HoldCause {
    /// Without the construct.
    pub fn name(&self) -> &'static str {
        match self {
            HoldCause::NothingRun => "nothing run",
            HoldCause::OnlyBefore => "only before the last edit",
            HoldCause::HiddenBefore(_) => "hidden status before the last edit",
            HoldCause::Unknown => "a check that is not known",
            HoldCause::Hidden(_) => "hidden status",
            HoldCause::Failed => "failed",
            HoldCause::TooWeak => "too weak",
        }
    }
}

impl fmt::Display for StopOutcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopOutcome::Held(cause) => write!(out, "held, {cause}"),
            other => out.write_str(other.name()),
        }
    }
}

impl fmt::Display for HoldCause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HoldCause::Hidden(construct) | HoldCause::HiddenBefore(construct) => {
                write!(out, "{}: {construct}", self.name())
            }
            other => out.write_str(other.name()),
        }
    }
}

/// Checks of the same turn or change set, before its last edit.
#[derive(Clone, Debug, Default)]
pub struct EarlierChecks {
    /// The last one that passed, unless one failed after it.
    pub passed: Option<JudgedRun>,
    /// The last one that failed, unless one passed after it.
    pub failed: Option<JudgedRun>,
    /// The last one whose status did not show.
    pub hidden: Option<JudgedRun>,
}

impl EarlierChecks {
    /// An edit makes these runs history.
    pub fn add(&mut self, runs: &[JudgedRun]) {
        for run in runs {
            if run.has_failed() {
                (self.passed, self.failed) = (None, Some(run.clone()));
            } else if run.has_passed() {
                (self.passed, self.failed) = (Some(run.clone()), None);
            } else if run.succeeded && run.hides && !is_only_commit(run) {
                self.hidden = Some(run.clone());
            }
        }
    }
}

impl JudgedRun {
    fn has_passed(&self) -> bool {
        self.passed || self.succeeded && !self.proves.is_empty() && !is_only_commit(self)
    }

    /// A commit that failed may have had nothing to commit.
    fn has_failed(&self) -> bool {
        self.failed || !self.succeeded && (self.hides || !self.proves.is_empty()) && !makes_commit(self)
    }
}

/// The cause of a hold by the runs since the last edit, with the run that shows it. Without a check, no run does.
pub fn find_cause<'r>(
    since_edit: &'r [JudgedRun],
    earlier: &'r EarlierChecks,
) -> (HoldCause, Option<&'r JudgedRun>) {
    for run in since_edit.iter().rev().filter(|run| !is_only_commit(run)) {
        let cause = match (run.succeeded, run.proves.is_empty(), run.hides) {
            _ if run.failed => HoldCause::Failed,
            (false, _, true) | (false, false, _) => HoldCause::Failed,
            (true, _, true) => HoldCause::Hidden(find_construct(run)),
            (true, false, false) => HoldCause::TooWeak,
            (_, true, false) => continue,
        };
        return (cause, Some(run));
    }
    if let Some(run) = since_edit.iter().rev().find(|run| looks_like_check(&run.command)) {
        return (HoldCause::Unknown, Some(run));
    }
    match (&earlier.failed, &earlier.passed, &earlier.hidden) {
        (Some(run), ..) => (HoldCause::Failed, Some(run)),
        (None, Some(run), _) => (HoldCause::OnlyBefore, Some(run)),
        (None, None, Some(run)) => (HoldCause::HiddenBefore(find_construct(run)), Some(run)),
        (None, None, None) => (HoldCause::NothingRun, None),
    }
}

/// A commit whose hooks may check the code. It is a check only if it fails, or with a check next to it.
fn is_only_commit(run: &JudgedRun) -> bool {
    run.succeeded && makes_commit(run)
}

/// Without a check next to it.
fn makes_commit(run: &JudgedRun) -> bool {
    let Some(script) = shell::parse(&run.command) else { return false };
    let is_commit = |step: &Step| step.words.get(1).is_some_and(|word| word.text == "commit");
    let proves = |step: &Step| {
        let words: Vec<&str> = step.words.iter().map(|word| word.text.as_str()).collect();
        run.checks.as_ref().is_some_and(|checks| !checks.proves(&words.join(" ")).is_empty())
    };
    let (git, others): (Vec<&Step>, Vec<&Step>) =
        script.steps.iter().partition(|step| step.name() == Some("git"));
    git.into_iter().any(is_commit) && !others.into_iter().any(proves)
}

/// The construct that hides the status of a line's first hidden check.
fn find_construct(run: &JudgedRun) -> String {
    let Some(script) = shell::parse(&run.command) else { return "not understood".to_owned() };
    let is_check = |step: &Step| {
        let words: Vec<&str> = step.words.iter().map(|word| word.text.as_str()).collect();
        run.checks.as_ref().is_some_and(|checks| !checks.proves(&words.join(" ")).is_empty())
    };
    let hidden = |step: &Step| match step.status {
        Status::Hidden(why) => Some(why),
        Status::Decides => None,
    };
    let mut steps = script.steps.iter().enumerate().filter(|(_, step)| hidden(step).is_some());
    let mut first = steps.clone();
    let Some((at, step)) = steps.find(|(_, step)| is_check(step)).or_else(|| first.next()) else {
        return "other".to_owned();
    };
    let next = script.steps.get(at + 1).and_then(Step::name).unwrap_or("…");
    match hidden(step) {
        Some(Why::Piped) => format!("| {next}"),
        Some(Why::Followed) => "; …".to_owned(),
        Some(Why::Alternative) => format!("|| {next}"),
        Some(why) => why.name().to_owned(),
        None => "other".to_owned(),
    }
}

/// Parts of names of checks in all ecosystems.
const CHECK_WORDS: [&str; 20] = [
    "test",
    "tests",
    "spec",
    "check",
    "typecheck",
    "lint",
    "build",
    "vet",
    "tsc",
    "jest",
    "vitest",
    "pytest",
    "bats",
    "clippy",
    "golangci",
    "shellcheck",
    "biome",
    "eslint",
    "compile",
    "verify",
];

/// Commands that only look, whatever their arguments are called.
const ONLY_LOOK: [&str; 28] = [
    "git", "grep", "rg", "echo", "printf", "cat", "ls", "rm", "mkdir", "cp", "mv", "find", "sed", "awk",
    "head", "tail", "cd", "wc", "chmod", "touch", "gh", "curl", "jq", "diff", "tree", "which", "sort",
    "test",
];

/// For people: whether a person would take the line for a check.
pub fn looks_like_check(command: &str) -> bool {
    let Some(script) = shell::parse(command) else { return false };
    let is_check_word =
        |word: &str| word.split(|c: char| !c.is_alphanumeric()).any(|part| CHECK_WORDS.contains(&part));
    script.steps.iter().any(|step| {
        step.name().is_some_and(|name| {
            // The value of an option is seldom the name of a check.
            let words = step.words.iter().skip(1).map(|word| word.text.as_str());
            let words = words.take_while(|word| !word.starts_with('-')).take(3);
            !ONLY_LOOK.contains(&name) && std::iter::once(name).chain(words).any(is_check_word)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::feature::verification::checks::{SeenFile, read_project};

    fn run(command: &str, succeeded: bool, proves: Kinds, hides: bool) -> JudgedRun {
        let checks = read_project(&[SeenFile { folder: "", name: "Cargo.toml", text: Some("") }]);
        JudgedRun {
            line: 1,
            command: command.to_owned(),
            succeeded,
            proves,
            hides,
            passed: false,
            failed: false,
            checks: Some(checks),
        }
    }

    fn cause(runs: &[JudgedRun]) -> String {
        find_cause(runs, &EarlierChecks::default()).0.to_string()
    }

    #[test]
    fn the_last_judged_run_is_the_cause() {
        let passed = || run("cargo fmt --check", true, Kinds::LINT, false);
        let failed = || run("cargo test", false, Kinds::TEST, false);
        assert_eq!(cause(&[]), "nothing run");
        let earlier = |run: JudgedRun| {
            let mut earlier = EarlierChecks::default();
            earlier.add(&[run]);
            find_cause(&[], &earlier).0.to_string()
        };
        assert_eq!(earlier(passed()), "only before the last edit");
        let piped = run("cargo test | tail -5", true, Kinds::NONE, true);
        assert_eq!(earlier(piped), "hidden status before the last edit: | tail");
        assert_eq!(earlier(failed()), "failed");
        let commit = |succeeded| run("git commit -am x", succeeded, Kinds::TEST, false);
        assert_eq!(
            (earlier(commit(true)), earlier(commit(false))),
            ("nothing run".into(), "nothing run".into())
        );
        assert_eq!(
            earlier(run("cargo test && git commit -am x", true, Kinds::TEST, false)),
            "only before the last edit"
        );
        let mut earlier = EarlierChecks::default();
        earlier.add(&[failed(), passed(), run("cargo test | tail", true, Kinds::NONE, true)]);
        let (found, shown) = find_cause(&[], &earlier);
        assert_eq!((found, shown.unwrap().command.as_str()), (HoldCause::OnlyBefore, "cargo fmt --check"));
        // A command that is not a check shows nothing.
        let listed = [run("ls", true, Kinds::NONE, false)];
        assert!(find_cause(&listed, &EarlierChecks::default()).1.is_none());
        assert_eq!(cause(&[passed(), failed()]), "failed");
        assert_eq!(cause(&[failed(), passed()]), "too weak");
        assert_eq!(cause(&[run("ls", true, Kinds::NONE, false)]), "nothing run");
        assert_eq!(cause(&[run("mise run test", true, Kinds::NONE, false)]), "a check that is not known");
    }

    #[test]
    fn the_construct_is_that_of_the_check() {
        let construct = |line: &str| cause(&[run(line, true, Kinds::NONE, true)]);
        assert_eq!(construct("cargo test 2>&1 | tail -5"), "hidden status: | tail");
        assert_eq!(construct("echo a | cat; cargo test | grep ok | head"), "hidden status: | grep");
        assert_eq!(construct("cargo test; echo done"), "hidden status: ; …");
        assert_eq!(construct("cargo test || true"), "hidden status: || true");
        assert_eq!(construct("if cargo test; then echo ok; fi"), "hidden status: conditional");
    }

    #[test]
    fn a_person_would_know_a_check() {
        for line in [
            "mise run test:ci",
            "./scripts/run-unit-tests.sh",
            "node tests/a.test.js",
            "bash -n x && npx foo lint",
        ] {
            assert!(looks_like_check(line), "{line}");
        }
        for line in
            ["git commit -m 'fix tests'", "grep -r test src", "ls tests", "node a.js --in test/b.json"]
        {
            assert!(!looks_like_check(line), "{line}");
        }
    }
}

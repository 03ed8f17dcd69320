//! The closing lines of test runners, compilers and linters: what a run says about itself where its exit status
//! does not show. The rows are in `closing_line.md`.
//!
//! A whole line has to fit, and no other line may tell of a failure. Runners that close with nothing when they
//! succeed (`tsc`, `eslint`) tell only of failures.

use super::kind::{CheckKind, Kinds};
use super::recipe::kinds_of_name;
use crate::text::terminal::without_styles;
use crate::text::word_list::{Words, among};

/// What a run says about itself, kind by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    pub passed: Kinds,
    pub failed: Kinds,
    /// A runner found no test, and none found one.
    pub no_tests: bool,
    /// A runner had nothing to do.
    pub did_nothing: bool,
    /// The programs whose closing lines tell that it passed.
    pub told_by: Closers,
}

/// A set of programs, by their closing lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closers(u32);

/// Programs with closing lines of their own; the position is the bit. `python3` runs two of them.
static CLOSERS: [Words; 20] = [
    "cargo cross",
    "jest vitest",
    "pytest py.test python3",
    "unittest python3 manage.py",
    "go gotestsum",
    "node tsx",
    "mocha",
    "bun",
    "playwright",
    "rspec ruby rails m minitest",
    "phpunit pest paratest artisan php",
    "dotnet",
    "swift",
    "ctest",
    "deno",
    "gradle gradlew mvn mvnw mvnd",
    "golangci-lint",
    "pyright basedpyright",
    "mypy",
    "ruff",
];

impl Closers {
    /// Of a program; any, if its lines are not known.
    pub fn of(program: &str) -> Closers {
        let bits = CLOSERS.iter().enumerate().filter(|(_, names)| among(names, program));
        match bits.fold(0, |all, (bit, _)| all | 1 << bit) {
            0 => Closers(u32::MAX),
            bits => Closers(bits),
        }
    }

    pub fn has_all(self, others: Closers) -> bool {
        self.0 & others.0 == others.0
    }

    /// By a line that tells of a success; none, if several programs may have written it.
    fn of_line(line: &str) -> Closers {
        let starts = |beginnings: &[&str]| beginnings.iter().any(|beginning| line.starts_with(beginning));
        let word = line.split_once(' ').map(|(_, rest)| rest.split([' ', ',']).next().unwrap_or_default());
        let name = if starts(&["test result: ", "Summary [", "Finished "]) {
            "cargo"
        } else if starts(&["Tests:"]) && !line.ends_with("total") || starts(&["OK ("]) {
            "phpunit"
        } else if starts(&["Tests", "Test Suites:", "Test Files "]) {
            "jest"
        } else if starts(&["ok | "]) {
            "deno"
        } else if starts(&["ok ", "DONE "]) {
            "go"
        } else if starts(&["OK", "Ran "]) {
            "unittest"
        } else if starts(&["# ", "ℹ "]) {
            "node"
        } else if starts(&["Passed!", "Build succeeded."]) {
            "dotnet"
        } else if starts(&["Executed ", "Build complete!"]) || line.contains("Test run with ") {
            "swift"
        } else if line.contains("% tests passed, ") {
            "ctest"
        } else if starts(&["BUILD SUCC", "[INFO] BUILD"]) {
            "gradle"
        } else if starts(&["Success: no issues"]) {
            "mypy"
        } else if starts(&["All checks passed!"]) {
            "ruff"
        } else {
            match word {
                Some("passing") => "mocha",
                Some("pass") => "bun",
                Some("example" | "examples" | "runs") => "rspec",
                Some("issues" | "issues." | "issues:") => "golangci-lint",
                Some("errors" | "error") => "pyright",
                Some("passed") if line.ends_with(')') => "playwright",
                _ if judge_pytest(line).is_some() => "pytest",
                _ => return Closers(0),
            }
        };
        let bit = CLOSERS.iter().position(|names| among(names, name));
        Closers(bit.map_or(0, |bit| 1 << bit))
    }

    fn and(self, other: Closers) -> Closers {
        Closers(self.0 | other.0)
    }
}

/// Bytes of output, from its end, that are read.
pub const LONGEST: usize = 16 * 1024;

/// By the lines at the end of an output.
pub fn read_ending(output: &str) -> Ending {
    let mut ending = Ending::default();
    // Python's unittest counts in one line and judges in another.
    let mut ran = None;
    let mut somehow = false;
    // Jest and Vitest count suites, which can fail without a test, and then tests.
    let (mut suites, mut tests) = (false, false);
    // Cargo runs one program after the other, and may be ended in between.
    let mut is_running = false;
    for line in output.lines() {
        let plain = without_styles(line);
        let judged = judge_line(plain.trim());
        if let Some(Line::Passed(_) | Line::Suites | Line::TestsOfSuites | Line::Ok) = judged {
            ending.told_by = ending.told_by.and(Closers::of_line(plain.trim()));
        }
        is_running = match judged {
            Some(Line::Begins) => true,
            _ => is_running && !plain.trim_start().starts_with("test result: "),
        };
        match judged {
            Some(Line::Passed(kinds)) => ending.passed = ending.passed.and(kinds),
            Some(Line::Failed(kinds)) => ending.failed = ending.failed.and(kinds),
            Some(Line::FailedSomehow) => somehow = true,
            Some(Line::Suites) => suites = true,
            Some(Line::TestsOfSuites) => tests = true,
            Some(Line::Nothing) => ending.did_nothing = true,
            Some(Line::NoTests) => ending.no_tests = true,
            Some(Line::Ran(count)) => ran = Some(count),
            Some(Line::Ok) if ran == Some(0) => ending.no_tests = true,
            Some(Line::Ok) if ran.is_some() => ending.passed = ending.passed.and(Kinds::COMPILED_TEST),
            Some(Line::Ok | Line::Begins) | None => {}
        }
    }
    if suites && tests {
        ending.passed = ending.passed.and(Kinds::COMPILED_TEST);
    }
    if somehow && ending.failed.is_empty() {
        ending.failed = ALL;
    }
    ending.passed = if is_running { Kinds::NONE } else { ending.passed.without(ending.failed) };
    ending.no_tests &= !ending.passed.has(CheckKind::Test);
    ending
}

/// A line by itself.
enum Line {
    Passed(Kinds),
    Failed(Kinds),
    /// npm tells the name of the script once, and then a lot more.
    FailedSomehow,
    Suites,
    TestsOfSuites,
    NoTests,
    Nothing,
    Ran(u64),
    Ok,
    /// A program of tests has started.
    Begins,
}

fn judge_line(line: &str) -> Option<Line> {
    if line.is_empty() || line.len() > 400 {
        return None;
    }
    judge_failure(line).or_else(|| judge_counts(line)).or_else(|| judge_words(line))
}

/// Beginnings of lines with which tests and compilers tell of a failure.
const FAILED_TESTS: [&str; 12] = [
    "error: test run failed",
    "error: 1 target failed",
    "Jest: \"global\" coverage threshold",
    "--- FAIL:",
    "FAIL\t",
    "FAIL ",
    "error: test failed",
    "Failed!  - ",
    "FAILED (",
    "FAILURES!",
    "ERRORS!",
    "panic: ",
];

const FAILED_BUILDS: [&str; 3] = ["error: could not compile", "error: aborting due to", "error[E"];

/// Beginnings of lines with which the runners of recipes tell of a failure; the recipe's name may follow.
const FAILED_RECIPES: [&str; 15] = [
    "npm ERR!",
    "npm error Lifecycle script `",
    "npm error",
    "ERR_PNPM_",
    "error: script \"",
    "error: Recipe `",
    "error: recipe `",
    "task: Failed to run task \"",
    "make: *** [",
    "gmake: *** [",
    "mise ERROR",
    "error Command failed with exit code",
    "BUILD FAILED",
    "[ERROR] BUILD FAILURE",
    "[INFO] BUILD FAILURE",
];

const ALL: Kinds = Kinds::COMPILED_TEST.and(Kinds::LINT);

fn judge_failure(line: &str) -> Option<Line> {
    let begins = |list: &[&str]| list.iter().any(|beginning| line.starts_with(beginning));
    if begins(&FAILED_TESTS) || line == "FAIL" {
        // A build that fails fails its tests.
        return Some(Line::Failed(Kinds::COMPILED_TEST));
    }
    // `a.ts(1,2): error TS2304: …` and `a.ts:1:2 - error TS2304: …`
    let typescript = line.split_once("error TS").is_some_and(|(before, after)| {
        (before.is_empty() || before.ends_with(": ") || before.ends_with("- "))
            && after.starts_with(|c: char| c.is_ascii_digit())
    });
    if begins(&FAILED_BUILDS) || typescript || line == "Build FAILED." {
        return Some(Line::Failed(Kinds::COMPILES));
    }
    let beginning = FAILED_RECIPES.iter().find(|beginning| line.starts_with(**beginning));
    if let Some(beginning) = beginning {
        let rest = line[beginning.len()..].rsplit(": ").next().unwrap_or_default();
        let name = rest.split(['`', '"', ']', ' ']).next().unwrap_or_default();
        if *beginning == "npm error" || *beginning == "npm ERR!" {
            return Some(Line::FailedSomehow);
        }
        let kinds = kinds_of_name(name);
        return Some(Line::Failed(if kinds.is_empty() { ALL } else { kinds }));
    }
    // `echo "exit: $?"` behind the check.
    let told = line.to_ascii_lowercase();
    // The host's own first line of a failure.
    let is_own = line.starts_with("Exit code ");
    let status = told
        .strip_prefix("exit")
        .filter(|_| !is_own)
        .map(|rest| rest.trim_start_matches(|c: char| !c.is_ascii_digit()));
    let exact = status.and_then(|status| status.parse::<u8>().ok()).is_some_and(|status| status != 0);
    (exact || line.contains("ELIFECYCLE")).then_some(Line::Failed(ALL))
}

/// Lines that count, such as `Tests: 1 failed, 5 passed, 6 total`.
fn judge_counts(line: &str) -> Option<Line> {
    if let Some((_, rest)) = line.strip_prefix("running ").and_then(leading_number) {
        return matches!(rest, "test" | "tests").then_some(Line::Begins);
    }
    if let Some(rest) = line.strip_prefix("test result: ") {
        return Some(of_counts(count(rest.split_once(". ")?.1)));
    }
    if let Some(rest) = line.strip_prefix("Tests:") {
        if rest.contains("Assertions:") {
            return (rest.contains("Failures:") || rest.contains("Errors:")).then_some(FAILED_TEST);
        }
        let counts = count(rest);
        let none = counts.passed == 0 && counts.failed == 0;
        return match of_counts(counts) {
            _ if none => rest.contains("total").then_some(Line::NoTests),
            Line::Passed(_) if rest.ends_with("total") => Some(Line::TestsOfSuites),
            line => Some(line),
        };
    }
    // Suites that cannot start fail without a failed test.
    for beginning in ["Test Suites:", "Test Files ", "Errors  "] {
        if let Some(rest) = line.strip_prefix(beginning) {
            let Counts { passed, failed } = count(rest);
            return if failed > 0 { Some(FAILED_TEST) } else { (passed > 0).then_some(Line::Suites) };
        }
    }
    // Vitest.
    if let Some(rest) = line.strip_prefix("Tests  ") {
        return Some(match of_counts(count(rest)) {
            Line::Passed(_) => Line::TestsOfSuites,
            line => line,
        });
    }
    for beginning in ["ok | ", "FAILED | "] {
        if let Some(rest) = line.strip_prefix(beginning) {
            return Some(of_counts(count(rest)));
        }
    }
    if let Some(rest) = line.strip_prefix("Passed!  - ") {
        return rest.starts_with("Failed:     0").then_some(Line::Passed(Kinds::COMPILED_TEST));
    }
    if let Some(rest) = line.strip_prefix("Summary [")
        && let Some((_, rest)) = rest.split_once(" run: ")
    {
        return Some(of_counts(count(rest)));
    }
    judge_pytest(line).or_else(|| judge_sentences(line))
}

/// `=== 5 passed, 1 warning in 0.12s ===`, with or without the bars.
fn judge_pytest(line: &str) -> Option<Line> {
    let line = line.trim_matches('=').trim();
    let (counted, time) = line.rsplit_once(" in ")?;
    let time = time.split(' ').next()?.strip_suffix('s')?;
    time.parse::<f64>().ok()?;
    if counted == "no tests ran" {
        return Some(Line::NoTests);
    }
    if let Some(rest) = counted.strip_prefix("DONE ") {
        // gotestsum
        let failed = rest.contains("failure") || rest.contains("error");
        return Some(if failed { FAILED_TEST } else { Line::Passed(Kinds::COMPILED_TEST) });
    }
    let starts = counted.starts_with(|c: char| c.is_ascii_digit());
    let plain = starts
        && counted.split(", ").all(|part| leading_number(part).is_some_and(|(_, word)| !word.contains(' ')));
    plain.then(|| of_counts(count(counted)))
}

/// Lines that begin with a number: `5 examples, 0 failures`, `69 pass`, `5 passed (3.2s)`.
fn judge_sentences(line: &str) -> Option<Line> {
    for beginning in ["# ", "ℹ "] {
        if let Some((word, number)) = line.strip_prefix(beginning).and_then(|rest| rest.split_once(' '))
            && let Ok(number) = number.parse::<u64>()
        {
            return match (word, number) {
                ("fail" | "cancelled", 1..) => Some(FAILED_TEST),
                ("pass", 1..) => Some(Line::Passed(Kinds::COMPILED_TEST)),
                // Tests that were skipped prove nothing.
                ("tests" | "pass", 0) => Some(Line::NoTests),
                _ => None,
            };
        }
    }
    if let Some((number, rest)) = line.strip_prefix("Ran ").and_then(leading_number) {
        return (rest.starts_with("test in ") || rest.starts_with("tests in ")).then_some(Line::Ran(number));
    }
    if let Some((number, rest)) = line.strip_prefix("Executed ").and_then(leading_number) {
        let (_, failures) = rest.split_once("with ")?;
        return Some(of_failures(number, leading_number(failures)?.0));
    }
    if let Some((_, rest)) = line.split_once("Test run with ")
        && let Some((number, rest)) = leading_number(rest)
    {
        return Some(of_failures(number, u64::from(!rest.contains("passed"))));
    }
    if let Some((_, rest)) = line.split_once("% tests passed, ") {
        let (failed, rest) = leading_number(rest)?;
        let total = rest.rsplit(' ').next()?.parse::<u64>().ok()?;
        return Some(of_failures(total, failed));
    }
    if let Some(rest) = line.strip_prefix("OK (") {
        let (number, rest) = leading_number(rest)?;
        return rest.starts_with("test").then(|| of_failures(number, 0));
    }
    let (number, rest) = leading_number(line.trim_start_matches(['✖', '✔', '×', '✗', ' ']))?;
    let word = rest.split([' ', ',']).next().unwrap_or_default();
    let ends = |text: &str| text.is_empty() || text.starts_with(" (") && text.ends_with(')');
    match word {
        "pass" | "passing" | "passed" if ends(&rest[word.len()..]) => Some(of_failures(number, 0)),
        "fail" | "failing" | "failed" | "error" | "errors" if ends(&rest[word.len()..]) => {
            (number > 0).then_some(FAILED_TEST)
        }
        "example" | "examples" | "runs" | "tests" | "test" | "scenarios" if rest.contains("failure") => {
            let counts = count(rest);
            Some(of_failures(number, counts.failed))
        }
        "errors" | "error" if rest.contains("warning") => {
            Some(if number > 0 { Line::Failed(Kinds::TYPECHECK) } else { Line::Passed(Kinds::TYPECHECK) })
        }
        "problems" | "problem" => {
            (count(rest.trim_start_matches(word).trim()).failed > 0).then_some(Line::Failed(Kinds::LINT))
        }
        "issues." | "issues:" | "issues" => Some(if number > 0 {
            Line::Failed(Kinds::LINT)
        } else {
            Line::Passed(Kinds::LINT.and(Kinds::TYPECHECK))
        }),
        _ => None,
    }
}

/// Lines that are the same in every run, but for a time or a number of files.
fn judge_words(line: &str) -> Option<Line> {
    if line == "OK" || line.starts_with("OK (") {
        return Some(Line::Ok);
    }
    let begins = |beginning: &str| line.starts_with(beginning);
    if line.starts_with("ok \t") || line.starts_with("ok  \t") || begins("ok   ") && line.contains('/') {
        let none = line.ends_with("[no tests to run]");
        return Some(if none { Line::NoTests } else { Line::Passed(Kinds::COMPILED_TEST) });
    }
    if begins("? ") && line.ends_with("[no test files]") {
        return Some(Line::NoTests);
    }
    if begins("Finished ") && (line.contains(" profile [") || line.contains(" target(s) in ")) {
        return Some(Line::Passed(Kinds::COMPILES.and(Kinds::LINT)));
    }
    if begins("BUILD SUCCESSFUL in ") || line == "[INFO] BUILD SUCCESS" {
        return Some(Line::Passed(Kinds::COMPILED_TEST.and(Kinds::LINT)));
    }
    if line == "Build succeeded." || begins("Build complete! (") {
        return Some(Line::Passed(Kinds::COMPILES));
    }
    if begins("Success: no issues found in ") {
        return Some(Line::Passed(Kinds::TYPECHECK));
    }
    if line == "All checks passed!"
        || begins("Checked ") && line.contains(" files in ") && line.contains(". No fixes")
    {
        return Some(Line::Passed(Kinds::LINT));
    }
    if begins("Found ") && (line.contains(" error") || line.contains(" errors")) {
        let failed =
            line["Found ".len()..].split(' ').next().is_some_and(|number| number != "0" && number != "no");
        return failed.then_some(Line::Failed(Kinds::LINT.and(Kinds::TYPECHECK)));
    }
    let none = [
        "No tests found",
        "No test files found",
        "No tests executed!",
        "No test is available",
        "No tests were found!!!",
        "NO TESTS RAN",
        "no tests to run",
    ];
    if none.iter().any(|told| begins(told)) {
        return Some(Line::NoTests);
    }
    let is_made =
        (begins("make: '") || begins("task: Task \"")) && line.trim_end_matches('.').ends_with("up to date");
    (is_made || begins("make: Nothing to be done for")).then_some(Line::Nothing)
}

const FAILED_TEST: Line = Line::Failed(Kinds::COMPILED_TEST);

#[derive(Clone, Copy, Default)]
struct Counts {
    passed: u64,
    failed: u64,
}

/// Numbers with their words, whatever stands between them: `1 failed | 9 passed (10)`.
fn count(text: &str) -> Counts {
    let mut counts = Counts::default();
    for part in text.split([',', '|', ';', '(', ')']) {
        let Some((number, word)) = leading_number(part.trim()) else { continue };
        match word.split(' ').next().unwrap_or_default() {
            "passed" | "passing" | "pass" => counts.passed += number,
            "timed" | "exec" | "failed" | "failing" | "fail" | "failure" | "failures" | "error"
            | "errors" => {
                counts.failed += number;
            }
            _ => {}
        }
    }
    counts
}

fn leading_number(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = text.split_once(' ')?;
    Some((number.parse().ok()?, rest.trim_start()))
}

fn of_counts(counts: Counts) -> Line {
    match (counts.failed, counts.passed) {
        (1.., _) => FAILED_TEST,
        (0, 0) => Line::NoTests,
        (0, _) => Line::Passed(Kinds::COMPILED_TEST),
    }
}

fn of_failures(number: u64, failed: u64) -> Line {
    of_counts(Counts { passed: number, failed })
}

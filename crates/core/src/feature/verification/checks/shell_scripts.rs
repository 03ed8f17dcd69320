//! Shell scripts: bats, ShellCheck, `bash -n`. And a project's own scripts that are tests by their name, in whatever
//! language.

use crate::shell::{Step, Word};
use crate::text::word_list::{Words, among};

use super::kind::Kinds;
use super::language::Languages;
use super::proven::Proven;
use super::tool::{Tool, has_option, judge_tool, operands, tool};
use super::{CheckCall, Contents, Ecosystem, runs_nothing};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "",
    other_files: "",
    texts: "",
    commands: "bash sh zsh dash ksh shellcheck bats shellspec",
    alone: "bash sh zsh dash ksh shellcheck bats shellspec",
    read: |_, _| Contents::default(),
    judge: judge_shell,
    reads: Languages::SHELL.and(Languages::TESTS),
    folder_options: "",
    runs: runs_nothing,
    examples: |_, _| Vec::new(),
};

static TOOLS: &[Tool] = &[
    tool("shellcheck", "", Kinds::LINT).unless("-V --list-optional"),
    tool("bats", "", Kinds::TEST).unless("-c --count -v"),
    tool("shellspec", "", Kinds::TEST).unless("--init --count --syntax-check"),
];

fn judge_shell(call: &CheckCall<'_>) -> Proven {
    if among("bash sh zsh dash ksh", call.name) {
        // It checks only the syntax.
        let checks = has_option(call.arguments, "-n") && operands(call.arguments, "-o -O").next().is_some();
        return Proven::from(if checks { Kinds::LINT } else { Kinds::NONE });
    }
    let kinds = judge_tool(TOOLS, call.name, call.arguments).unwrap_or_default();
    // Tests in shell are of whatever program they start.
    if kinds == Kinds::TEST { Proven::from(kinds).reading(Languages::ALL) } else { kinds.into() }
}

/// Programs that run the file they are given.
const INTERPRETERS: Words =
    "bash sh zsh dash ksh node tsx ts-node bun deno python python3 ruby perl php Rscript lua pwsh";

/// Endings of files that a program runs; a file without an ending runs itself.
const ENDINGS: Words = "sh bash zsh py js mjs cjs ts mts cts rb pl php lua ps1";

const TEST_WORDS: Words = "test tests spec specs e2e unittest unittests";

/// Words behind `test-` with which a script only prepares.
const PREPARES: Words = "setup create deploy make generate prepare install start seed data env db fixtures fixture helper helpers utils util common lib clean cleanup deps image server runner-setup init";

/// The file that a command runs.
pub(super) fn script_of(step: &Step) -> Option<&Word> {
    let (first, rest) = step.words.split_first()?;
    let name = first.text.rsplit('/').next().unwrap_or_default();
    if among(INTERPRETERS, name) {
        let mut words = rest.iter().skip_while(|word| word.text.starts_with('-') || word.text == "run");
        // With these the program reads no file, or only checks it.
        let other = rest.iter().any(|word| among("-c -e -n -m -l --eval --check -p --print", &word.text));
        return words.next().filter(|_| !other);
    }
    first.text.contains('/').then_some(first)
}

/// A script of the project that is a test by its name.
pub(super) fn is_own_script(step: &Step) -> bool {
    script_of(step).and_then(Word::known).is_some_and(is_test_script)
}

pub(super) fn judge_own_script(step: &Step) -> Option<Proven> {
    is_own_script(step).then(|| Proven::from(Kinds::TEST).reading(Languages::ALL))
}

fn is_test_script(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    if folders.contains("node_modules") || !ending.is_empty() && !among(ENDINGS, ending) {
        return false;
    }
    let stem = stem.to_ascii_lowercase();
    if matches!(stem.as_str(), "runtests" | "runtest" | "testall" | "alltests") {
        return true;
    }
    let words: Vec<&str> = stem.split(['-', '_', '.']).collect();
    let (first, last) =
        (words.first().copied().unwrap_or_default(), words.last().copied().unwrap_or_default());
    let in_tests = folders.split('/').any(|folder| among("tests test __tests__ spec e2e", folder));
    let is_test = |word: &str| among(TEST_WORDS, word);
    if in_tests
        && matches!(stem.as_str(), "run" | "run-all" | "run_all" | "all" | "main" | "runner" | "suite")
    {
        return true;
    }
    // A file without an ending may be anything unless all of its name says so.
    let runs = first == "run" && words.iter().any(|word| is_test(word));
    let prepares = |word: &str| among(PREPARES, word) && !in_tests;
    let named =
        !prepares(first) && !prepares(last) && (is_test(first) || is_test(last) && words.len() > 1 || runs);
    named
        && (!ending.is_empty()
            || folders == "."
            || folders.ends_with("bin")
            || folders.ends_with("scripts")
            || in_tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_script_is_told_by_its_name() {
        for path in [
            "./test.sh",
            "test-setup/../tests/test-setup.sh",
            "scripts/run-unit-tests.sh",
            "./scripts/test",
            "tests/run.sh",
            "tests/a.test.js",
            "e2e/login.spec.ts",
            "runTests.sh",
            "scripts/integration_test.py",
        ] {
            assert!(is_test_script(path), "{path}");
        }
        for path in [
            "scripts/test-setup.sh",
            "latest.sh",
            "scripts/check-prerequisites.sh",
            "tests/data/make.sh",
            "tests/helpers.sh",
            "node_modules/x/test.js",
            "src/test.rs",
            "target/debug/test",
        ] {
            assert!(!is_test_script(path), "{path}");
        }
    }
}

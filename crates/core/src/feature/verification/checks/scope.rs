//! The part of a project that one run of a check goes through.

use serde::{Deserialize, Serialize};

use super::language::Languages;
use super::selection::{RUNNERS, Selection, WHOLE};
use crate::redact::redact;
use crate::shell::{self, Step};
use crate::text::cut::cut_after;
use crate::text::fnv;
use crate::text::word_list::{Words, among};

/// A failure is cleared only by a run that goes through at least as much.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckScope {
    /// The package it ran in; empty for the root.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// The recipe or script that was run; empty for a tool by itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub recipe: String,
    /// The packages it was told to run; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// Files, names and patterns that it was told to run; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selected: Vec<String>,
    /// Files, names and packages that it was told to leave out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<String>,
    /// Tags and features with which it has more code than without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// The program that ran by itself; programs that run the same tests have the same name here.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub runner: String,
    /// The languages whose code it reads.
    #[serde(skip_serializing_if = "Languages::is_none")]
    pub reads: Languages,
}

/// Programs that run the same checks: the first one names them all.
const SAME: [Words; 11] = [
    "cargo cross",
    "go gotestsum ginkgo",
    "pytest py.test",
    "unittest python3 python manage.py",
    "tsc tsgo vue-tsc",
    "pyright basedpyright",
    "phpunit pest paratest artisan php",
    "rspec rails ruby m minitest",
    "cmake ninja",
    "dart flutter",
    "bazel bazelisk",
];

/// Programs that run whichever check they are told to.
const CARRIERS: Words = "c8 nyc coverage pre-commit prek hatch bash sh npm pnpm yarn";

/// Recipes with these names go through everything.
const WHOLE_RECIPES: Words = "test tests check ci all verify lint build typecheck types type-check";

/// More words than a person selects by hand.
const MOST: usize = 16;

const LONGEST: usize = 80;

impl CheckScope {
    /// Of a script of the project.
    pub(super) fn of_script(step: &Step, folder: String, reads: Languages) -> CheckScope {
        let script = super::shell_scripts::script_of(step);
        let recipe = script.map(|script| shell::tidy(&script.text)).unwrap_or_default();
        CheckScope { folder, recipe, reads: reads.without(Languages::TESTS), ..CheckScope::default() }
    }

    pub(super) fn of(selection: &Selection<'_>, folder: String, reads: Languages) -> CheckScope {
        let mut scope =
            CheckScope { folder, reads: reads.without(Languages::TESTS), ..CheckScope::default() };
        selection.recipe.clone_into(&mut scope.recipe);
        let program = selection.program;
        if scope.recipe.is_empty() && !among(RUNNERS, program) && !among(CARRIERS, program) {
            let same = SAME.iter().find(|names| among(names, program));
            let first = same.and_then(|names| names.split(' ').next());
            first.unwrap_or(program).clone_into(&mut scope.runner);
        }
        // With these a run goes through more.
        let parts = selection.parts.iter().filter(|part| !among("--tests --all-targets", part));
        let values =
            selection.tests.iter().map(|(_, value)| value).chain(parts).map(|part| (*part).to_owned());
        let operands = selection.operands.iter().filter(|word| !among(WHOLE, &word.text));
        scope.selected = bounded(values.chain(operands.map(|word| shell::tidy(&word.text))).collect());
        let texts = |words: &[&str]| bounded(words.iter().map(|word| (*word).to_owned()).collect());
        scope.packages = texts(&selection.packages);
        scope.excluded = texts(&selection.excluded.iter().map(|(_, value)| *value).collect::<Vec<_>>());
        scope.added = texts(&selection.added);
        scope
    }

    pub(in crate::feature::verification) fn is_empty(&self) -> bool {
        *self == CheckScope::default()
    }

    /// Whether this run goes through all that the other one went through.
    pub fn covers(&self, other: &CheckScope) -> bool {
        let is_above = shell::below(&other.folder, &self.folder).is_some();
        let has =
            |part: &String| self.selected.iter().any(|own| own == part || shell::below(part, own).is_some());
        let selects =
            self.selected.is_empty() || !other.selected.is_empty() && other.selected.iter().all(has);
        let named = |name: &String| self.packages.contains(name);
        let packages =
            self.packages.is_empty() || !other.packages.is_empty() && other.packages.iter().all(named);
        let leaves_out = self.excluded.iter().any(|part| !other.excluded.contains(part));
        is_above
            && selects
            && packages
            && !leaves_out
            && self.has_code_of(other)
            && self.is_runner_of(other)
            && self.runs_recipe_of(other)
            && self.reads.has(other.reads)
    }

    fn has_code_of(&self, other: &CheckScope) -> bool {
        let has = |name: &String| self.added.iter().any(|own| own == name || own == "--all-features");
        other.added.iter().all(has)
    }

    /// Tests that one runner failed say nothing about those of another. A recipe may run either.
    fn is_runner_of(&self, other: &CheckScope) -> bool {
        self.runner.is_empty() || other.runner.is_empty() || self.runner == other.runner
    }

    fn runs_recipe_of(&self, other: &CheckScope) -> bool {
        let is_part = |rest: &str| rest.is_empty() || rest.starts_with([':', '-', '_']);
        self.recipe.is_empty()
            || other.recipe.strip_prefix(&self.recipe).is_some_and(is_part)
            || other.recipe.is_empty() && among(WHOLE_RECIPES, &self.recipe)
    }
}

/// Sorted, without secrets. Of too many words only a number is kept, which is the same only for the same words.
fn bounded(mut words: Vec<String>) -> Vec<String> {
    words.sort_unstable();
    words.dedup();
    if words.len() > MOST {
        return vec![format!("#{:x}", fnv::hash(words.join(" ").bytes()))];
    }
    words.iter().map(|word| cut_after(&redact(word).text, LONGEST).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(line: &str) -> CheckScope {
        let script = shell::parse(line).unwrap();
        let step = &script.steps[0];
        if super::super::shell_scripts::is_own_script(step) {
            return CheckScope::of_script(step, String::new(), Languages::RUST);
        }
        CheckScope::of(&Selection::of(step, step.name().unwrap()), String::new(), Languages::RUST)
    }

    #[test]
    fn a_wider_run_covers_a_narrower_one() {
        for (wide, narrow) in [
            ("cargo test", "cargo test -p a"),
            ("cargo test", "cargo test --lib"),
            ("cargo test --release", "cargo test"),
            ("npm test", "npm test -- a.test.ts"),
            ("npm test", "npm run test:unit"),
            ("npm test", "npx jest"),
            ("npx jest", "npm test"),
            ("pytest tests", "pytest -x tests/a.py"),
            ("go test ./...", "go test -v ./pkg"),
            ("mise run test", "mise run test:ci"),
            ("./test.sh", "./test.sh --fast"),
            ("cargo nextest run", "cargo test"),
            ("cargo test --all-features", "cargo test --features a,b"),
            ("cargo test", "cargo test build"),
            ("cargo test", "cargo test --exclude a"),
            ("go test -tags a,b ./...", "go test -tags b ./..."),
            ("python -m pytest", "pytest tests"),
            ("npm test", "npx vitest run"),
            ("python manage.py test", "python manage.py test app"),
        ] {
            assert!(scope(wide).covers(&scope(narrow)), "{wide} covers {narrow}");
        }
        for (narrow, wide) in [
            ("cargo test -p a", "cargo test"),
            ("cargo test one_test", "cargo test"),
            ("npm run test:unit", "npm test"),
            ("make test-unit", "make test"),
            ("pytest -x tests/a.py", "pytest"),
            ("pytest -v tests/a.py", "pytest"),
            ("go test -v ./pkg", "go test ./..."),
            ("go test -run TestA ./...", "go test ./..."),
            ("./scripts/test-x.sh", "cargo test"),
            ("npx vitest --run a.test.ts", "npx vitest --run"),
            ("npx vitest run", "npx jest"),
            ("npx jest", "npx playwright test"),
            ("mypy .", "pyright"),
            ("pytest --ignore=tests/a.py", "pytest"),
            ("pytest --deselect tests/a.py::b", "pytest"),
            ("cargo test --exclude a", "cargo test"),
            ("cargo test -- --skip slow", "cargo test"),
            ("npx vitest run --shard=1/2", "npx vitest run"),
            ("cargo nextest run --partition count:1/2", "cargo nextest run"),
            ("go test ./...", "go test -tags integration ./..."),
            ("cargo test", "cargo test --features a"),
            ("cargo test build", "cargo test"),
            ("pytest test", "pytest"),
            ("npx jest build", "npx jest"),
        ] {
            assert!(!scope(narrow).covers(&scope(wide)), "{narrow} does not cover {wide}");
        }
        let python = CheckScope { reads: Languages::PYTHON, ..scope("pytest") };
        assert!(!python.covers(&scope("cargo test")));
        assert!(scope("cargo clippy --tests -- -D warnings").covers(&scope("cargo clippy")));
    }

    #[test]
    fn what_is_kept_is_short_and_without_secrets() {
        let many: Vec<String> = (0..40).map(|number| format!("src/{number}.ts")).collect();
        assert_eq!(scope(&format!("eslint {}", many.join(" "))).selected.len(), 1);
        let kept = scope("pytest -k postgres://u:hunter2@h/x").selected.join(" ");
        assert!(!kept.contains("hunter2"), "{kept}");
    }
}

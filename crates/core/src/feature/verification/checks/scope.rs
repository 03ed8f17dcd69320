//! The part of a project that one run of a check goes through.

use serde::{Deserialize, Serialize};

use super::language::Languages;
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
    /// The languages whose code it reads.
    #[serde(skip_serializing_if = "Languages::is_none")]
    pub reads: Languages,
}

/// Options whose value is a package.
const PACKAGES: Words = "-p --package --filter -F -w --workspace -pl --projects --scope";

/// Options whose value selects tests.
const SELECTING: Words = "-k -t -m --test --testNamePattern --testPathPattern --testPathPatterns -run --grep -g --tests --only \
    --project --bin --example -Dtest --test-name-pattern --testsuite --group --suite";

/// Options without a value that select a part.
const PARTS: Words = "--lib --bins --doc --examples --benches --onlyChanged --changed --related";

/// Options whose value is neither a part nor a file of tests.
const VALUED: Words = "--manifest-path --config -c --target --target-dir --features --profile -j --jobs --color --reporter \
    --timeout --maxWorkers --max-workers --prefix -C --dir --cwd --exclude -W -X --env -e --tsconfig --project-dir -f --file \
    --outputFile --log-level --loglevel -count -timeout -coverprofile -bench -parallel -cpu -o --test-threads";

/// Options with which these runners take no value, though others do.
static FLAGS: [(&str, Words); 5] = [
    ("pytest", "-p -f -c -o -e"),
    ("vitest", "--run"),
    ("node", "--test"),
    ("cargo", "--tests -f -o"),
    ("bun", "-t"),
];

/// Words that mean everything.
const WHOLE: Words = ". ./ ./... ... all //...";

/// Their operands are names of recipes and goals.
const RUNNERS: Words = "make gmake just task go-task mise turbo nx lerna gradle gradlew mvn mvnw mvnd rake run-s run-p npm-run-all \
    tox nox sbt ant poe inv invoke";

/// Verbs that stand before the first part.
const VERBS: Words = "test t run r run-script check c build b nextest vet clippy lint exec rum urn tst type-check analyze \
    compile install related";

/// Package managers: the first word that is not a verb is a script.
const MANAGERS: Words = "npm pnpm yarn bun deno composer";

/// Recipes with these names go through everything.
const WHOLE_RECIPES: Words = "test tests check ci all verify lint build typecheck types type-check";

/// More words than a person selects by hand.
const MOST: usize = 16;

const LONGEST: usize = 80;

impl CheckScope {
    pub(super) fn of(step: &Step, name: &str, folder: String, reads: Languages) -> CheckScope {
        let mut scope =
            CheckScope { folder, reads: reads.without(Languages::TESTS), ..CheckScope::default() };
        if let Some(script) = super::shell_scripts::script_of(step)
            && super::shell_scripts::is_own_script(step)
        {
            scope.recipe = shell::tidy(&script.text);
            return scope;
        }
        let flags = FLAGS.iter().find(|(runner, _)| *runner == name).map_or("", |(_, flags)| *flags);
        let takes_value = |list: Words, option: &str| among(list, option) && !among(flags, option);
        let mut words = step.words.get(1..).unwrap_or_default().iter();
        let mut before = true;
        let mut recipes = usize::from(among(MANAGERS, name) || among(RUNNERS, name));
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            // What follows goes to the tests, or to the compiler.
            if text == "--"
                && name == "cargo"
                && !step.words.iter().any(|word| matches!(word.text.as_str(), "test" | "t"))
            {
                break;
            }
            if text.starts_with('-') {
                let (option, value) = text.split_once('=').map_or((text, None), |(o, v)| (o, Some(v)));
                let is_module = option == "-m" && name.starts_with("python");
                let mut next =
                    || value.or_else(|| words.next().map(|word| word.text.as_str())).map(str::to_owned);
                if is_module {
                    next();
                } else if takes_value(PACKAGES, option) {
                    scope.packages.extend(next());
                } else if takes_value(SELECTING, option) {
                    scope.selected.extend(next());
                } else if among(PARTS, option) {
                    scope.selected.push(option.to_owned());
                } else if takes_value(VALUED, option) {
                    next();
                }
                continue;
            }
            if before && among(VERBS, text) {
                // `npm test`: the verb is the script.
                let only_runs = matches!(text, "run" | "run-script" | "exec" | "rum" | "urn" | "r");
                if recipes > 0 && !only_runs {
                    recipes = 0;
                    text.clone_into(&mut scope.recipe);
                }
                before = recipes > 0;
                continue;
            }
            before = false;
            if recipes > 0 {
                recipes -= 1;
                text.clone_into(&mut scope.recipe);
            } else if !among(RUNNERS, name) && !among(WHOLE, text) {
                scope.selected.push(shell::tidy(text));
            }
        }
        scope.packages = bounded(scope.packages);
        scope.selected = bounded(scope.selected);
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
        is_above && selects && packages && self.runs_recipe_of(other) && self.reads.has(other.reads)
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
        CheckScope::of(step, step.name().unwrap(), String::new(), Languages::RUST)
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

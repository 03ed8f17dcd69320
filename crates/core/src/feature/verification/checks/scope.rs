//! The part of a project that one run of a check goes through.

use serde::{Deserialize, Serialize};

use crate::shell::{self, Step, Word};
use crate::text::word_list::{Words, among};

/// A failure is cleared only by a run that goes through at least as much.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckScope {
    /// The package it ran in; empty for the root.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// Files, names and patterns that it was told to run, sorted; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selected: Vec<String>,
}

/// Options whose value selects a part: packages, files, names of tests.
const SELECTING: Words = "-p --package -k -t -m --test --testNamePattern --testPathPattern --testPathPatterns -run --run \
    --filter -F -w --workspace --grep -g --tests --only --project --scope --bin --example -pl --projects -Dtest \
    --test-name-pattern --testsuite --group --suite";

/// Options without a value that select a part.
const PARTS: Words = "--lib --bins --doc --examples --benches --onlyChanged --changed --related -o";

/// Options whose value is neither a part nor a file of tests.
const VALUED: Words = "--manifest-path --config -c --target --target-dir --features --profile -j --jobs --color --reporter \
    --timeout --maxWorkers --max-workers -n --prefix -C --dir --cwd --exclude -x -W -X --env -e --tsconfig --project-dir -f --file \
    --coverage-reporter --outputFile --log-level --loglevel -count -timeout -v -coverprofile -bench -parallel -cpu";

/// Words that mean everything.
const WHOLE: Words = ". ./ ./... ... all //...";

/// Their operands are names of recipes and goals, not parts.
const RUNNERS: Words = "make gmake just task go-task mise turbo nx lerna gradle gradlew mvn mvnw mvnd rake run-s run-p npm-run-all tox nox sbt";

/// Verbs that stand before the first part.
const VERBS: Words = "test t run r run-script check c build b nextest vet clippy lint exec rum urn tst type-check analyze \
    compile install watch related";

/// Package managers: the first word that is not a verb is a script.
const MANAGERS: Words = "npm pnpm yarn bun deno composer";

impl CheckScope {
    pub(super) fn of(step: &Step, name: &str, folder: String) -> CheckScope {
        let mut selected = Vec::new();
        let mut words = step.words.get(1..).unwrap_or_default().iter().peekable();
        let takes_operands = !among(RUNNERS, name);
        let mut before = true;
        let mut scripts = usize::from(among(MANAGERS, name));
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            if text.starts_with('-') {
                let (option, value) = text.split_once('=').map_or((text, None), |(o, v)| (o, Some(v)));
                // `python -m pytest`: the module is the program.
                if option == "-m" && name.starts_with("python") {
                    words.next();
                } else if among(SELECTING, option) {
                    let value = value.or_else(|| words.next().map(|word| word.text.as_str()));
                    selected.extend(value.map(str::to_owned));
                } else if among(PARTS, option) {
                    selected.push(option.to_owned());
                } else if among(VALUED, option) && value.is_none() {
                    words.next();
                }
                continue;
            }
            if before && among(VERBS, text) {
                // `npm test`: the verb is the script.
                if scripts > 0 && !matches!(text, "run" | "run-script" | "exec" | "rum" | "urn") {
                    scripts = 0;
                }
                continue;
            }
            before = false;
            if scripts > 0 {
                scripts -= 1;
                continue;
            }
            if takes_operands && !among(WHOLE, text) && !is_redirect(word) {
                selected.push(shell::tidy(text));
            }
        }
        selected.sort_unstable();
        selected.dedup();
        CheckScope { folder, selected }
    }

    /// Whether this run goes through all that the other one went through.
    pub fn covers(&self, other: &CheckScope) -> bool {
        let is_above = shell::below(&other.folder, &self.folder).is_some();
        let has =
            |part: &String| self.selected.iter().any(|own| own == part || shell::below(part, own).is_some());
        is_above && (self.selected.is_empty() || !other.selected.is_empty() && other.selected.iter().all(has))
    }
}

fn is_redirect(word: &Word) -> bool {
    word.text.starts_with(['>', '<'])
}

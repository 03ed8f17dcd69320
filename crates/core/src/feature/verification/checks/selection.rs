//! The words of a check, sorted by their part in what it goes through.

use crate::shell::{Step, Word};
use crate::text::word_list::{Words, among};

#[derive(Debug, Default)]
pub(super) struct Selection<'a> {
    /// The program, or the module that Python runs.
    pub program: &'a str,
    pub verb: &'a str,
    /// The recipe or script that is run; empty for a tool by itself.
    pub recipe: &'a str,
    /// Values of options that name packages.
    pub packages: Vec<&'a str>,
    /// Options that select tests, with their values.
    pub tests: Vec<(&'a str, &'a str)>,
    /// Options without a value that select a part.
    pub parts: Vec<&'a str>,
    /// Options that leave something out, with their values.
    pub excluded: Vec<(&'a str, &'a str)>,
    /// Values of options that add code: tags and features.
    pub added: Vec<&'a str>,
    /// All recipes and goals of a runner.
    pub goals: Vec<&'a str>,
    /// Words that are neither options nor their values, verbs or recipes.
    pub operands: Vec<&'a Word>,
    /// An operand may be the value of an option that is not known.
    pub is_unsure: bool,
}

/// Options whose value is a package.
const PACKAGES: Words = "-p --package --filter -F -w --workspace -pl --projects --scope";

/// Options whose value selects tests.
const SELECTING: Words = "-k -t -m --test --testNamePattern --testPathPattern --testPathPatterns -run --grep -g --tests --only \
    --project --bin --example -Dtest --test-name-pattern --testsuite --group --suite --shard --partition -E --filter-expr \
    --splits --bench";

/// Options without a value that select a part.
const PARTS: Words =
    "--lib --bins --doc --examples --benches --onlyChanged --changed --related --lf --last-failed --sw --ff";

/// Options whose value is left out.
const EXCLUDING: Words = "--exclude --skip -skip --deselect --ignore-glob --testPathIgnorePatterns --exclude-group --ignore-pattern --exclude-task";

/// Options whose value adds code, or tests.
const ADDING: Words = "-tags --tags --features --build-tags -P --activate-profiles";

/// Options whose value is none of these.
const VALUED: Words = "--manifest-path --config -c --target --target-dir --profile -j --jobs --color --reporter \
    --timeout --maxWorkers --max-workers --prefix -C --dir --cwd -W -X --env -e --tsconfig --project-dir -f --file \
    --outputFile --log-level --loglevel -count -timeout -coverprofile -bench -parallel -cpu -o --test-threads \
    --cov --cov-report --cov-config --tb --maxfail --durations --rootdir --junitxml --junit-xml -n --numprocesses --dist --ds \
    --log-cli-level --verbosity --retries --workers --format --formatter --ext --require --import --loader \
    --coverage-reporter --ignore-path --parser --plugin --require -coverpkg -covermode -shuffle -vet -exec -ldflags -gcflags \
    --rcfile --error-format --message-format --toolchain --seed --order --testTimeout --environment --pool --root -r";

/// Options without a value.
const FLAGS: Words = "-v -vv -vvv -q -qq -s -x -l -xvs -xv -vs -sv -qx -xq -vx -xvv -vvs -i -u -b --verbose --quiet --silent \
    --run --coverage --noEmit --no-emit --strict --fix --bail --ci --runInBand --passWithNoTests --no-coverage --no-cov \
    --update -race -short -cover -json -failfast --release --workspace --all --all-features --all-targets --no-fail-fast \
    --locked --frozen --offline --no-header --no-summary --showlocals --exitfirst --build --pretty --skipLibCheck \
    --if-present --no-cache --cache --force --headed --watch=false --no-watch --nocapture --ignored --include-ignored \
    --exact --syntax-check --check --test -n --color --colors --no-color --forceExit --detectOpenHandles --json \
    --no-build --no-restore --stacktrace --info --continue --rerun-tasks -D --parallel --trace --stale --failed \
    --ignore-missing-imports --check-untyped-defs --show-error-codes --no-error-summary --max-warnings=0";

/// Options that mean something else to these programs, and take no value there.
static OWN_FLAGS: [(&str, Words); 13] = [
    ("pytest", "-f -e -s -v -q -x"),
    ("py.test", "-f -e"),
    ("vitest", "--run"),
    ("node", "--test -c"),
    ("ruby", "-c -w"),
    ("perl", "-c -w"),
    ("tsx", "--test"),
    ("cargo", "-f -o -r --workspace"),
    ("bun", "-t"),
    ("pnpm", "-r -w"),
    ("jest", "-i -o -b"),
    ("bash", "-n -e -x"),
    ("sh", "-n -e -x"),
];

/// Options that mean something else to these programs, and take a value there.
static OWN_VALUED: [(&str, Words); 3] =
    [("pytest", "-p -c -o -W -r"), ("py.test", "-p -c -o -W -r"), ("mocha", "-t -r")];

/// What `--ignore` leaves out is a path only here; elsewhere it is a rule.
const IGNORES_PATHS: Words = "pytest py.test";

/// Words that mean everything.
pub(super) const WHOLE: Words = ". ./ ./... ... all //...";

/// Their operands are names of recipes and goals.
pub(super) const RUNNERS: Words = "make gmake just task go-task mise turbo nx lerna gradle gradlew mvn mvnw mvnd rake run-s run-p \
    npm-run-all tox nox sbt ant poe inv invoke";

/// Verbs that stand before the first part.
const VERBS: Words = "test t run r run-script check c build b nextest vet clippy lint exec rum urn tst type-check analyze analyse \
    compile install related task llvm-cov miri hack tarpaulin ci format";

/// Verbs that stand before another one.
const OUTER_VERBS: Words = "nextest miri hack llvm-cov run run-script exec rum urn r task";

/// The first word of these is never a verb.
const WITHOUT_VERB: Words = "pytest py.test unittest jest mocha ava tap qunit jasmine eslint oxlint stylelint xo standard tslint tsc tsgo \
    vue-tsc mypy pyright basedpyright pytype flake8 pylint rspec phpunit pest paratest psalm phpcs bats shellcheck shellspec node tsx \
    bash sh zsh dash ksh perl behave ward nose2 minitest m cucumber rubocop standardrb py_compile compileall cc gcc g++ c++ clang \
    clang++ javac rustc swiftc";

/// Most of their options have their value in the same word.
pub(super) const COMPILERS: Words = "cc gcc g++ c++ clang clang++ javac rustc swiftc";

const VALUED_BY_COMPILERS: Words = "-o -I -L -x -include -isystem -D -U -cp -classpath -d -sourcepath --edition --crate-type --crate-name --emit";

/// Package managers: the first word that is not a verb is a script.
const MANAGERS: Words = "npm pnpm yarn bun deno composer";

fn own<'a>(table: &[(&str, &'a str)], name: &str) -> &'a str {
    table.iter().find(|(runner, _)| *runner == name).map_or("", |(_, words)| *words)
}

impl<'a> Selection<'a> {
    pub(super) fn of(step: &'a Step, name: &'a str) -> Selection<'a> {
        let mut selection = Selection { program: name, ..Selection::default() };
        let is_cargo = matches!(name, "cargo" | "cross");
        let is_python = name.starts_with("python") || name == "coverage";
        let mut recipes = usize::from(among(MANAGERS, name) || among(RUNNERS, name));
        let mut words = step.words.get(1..).unwrap_or_default().iter();
        let mut before = !among(WITHOUT_VERB, name);
        // An option before the operand that may take it as its value.
        let mut is_open = false;
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            // What follows goes to the tests, or to the compiler.
            if text == "--" && name == "cargo" && !matches!(selection.verb, "test" | "t" | "nextest") {
                break;
            }
            if text.starts_with('-') && text.len() > 1 {
                let (option, value) = text.split_once('=').map_or((text, None), |(o, v)| (o, Some(v)));
                let mut next = || value.or_else(|| words.next().map(|word| word.text.as_str()));
                is_open = false;
                let program = selection.program;
                if among(COMPILERS, program) {
                    if among(VALUED_BY_COMPILERS, text) {
                        next();
                    }
                    continue;
                }
                // It runs tests of projects that are not named.
                selection.is_unsure |= matches!(option, "-amd" | "--also-make-dependents");
                if option == "-m" && is_python && program == name {
                    selection.program = next().unwrap_or_default();
                    before = false;
                } else if among(own(&OWN_VALUED, program), option) {
                    next();
                } else if among(own(&OWN_FLAGS, program), option) {
                } else if is_cargo && matches!(option, "--tests" | "--all-targets") {
                    selection.parts.push(option);
                } else if among(PACKAGES, option) {
                    selection.packages.extend(next());
                } else if among(EXCLUDING, option) || option == "--ignore" && among(IGNORES_PATHS, program) {
                    selection.excluded.extend(next().map(|value| (option, value)));
                } else if among(SELECTING, option) {
                    selection.tests.extend(next().map(|value| (option, value)));
                } else if among(ADDING, option) {
                    selection.added.extend(next().into_iter().flat_map(|value| value.split([',', ' '])));
                } else if among(PARTS, option) {
                    selection.parts.push(option);
                } else if option == "--all-features" {
                    selection.added.push(option);
                } else if among(VALUED, option) {
                    next();
                } else {
                    is_open = text != "--" && value.is_none() && !among(FLAGS, option);
                }
                continue;
            }
            if among(RUNNERS, name) {
                selection.goals.push(text);
            }
            if before && among(VERBS, text) {
                // `npm test`: the verb is the script.
                let only_runs = matches!(text, "run" | "run-script" | "exec" | "rum" | "urn" | "r" | "task");
                if recipes > 0 && !only_runs {
                    recipes = 0;
                    selection.recipe = text;
                }
                if selection.verb.is_empty() || among(OUTER_VERBS, selection.verb) {
                    selection.verb = text;
                }
                before = recipes > 0 || among(OUTER_VERBS, text) && is_cargo;
                is_open = false;
                continue;
            }
            // `manage.py test` and `artisan test` are programs of the project, with a verb.
            if selection.operands.is_empty()
                && matches!(text.rsplit('/').next(), Some("manage.py" | "artisan"))
            {
                before = true;
                continue;
            }
            before = false;
            if recipes > 0 {
                recipes -= 1;
                selection.recipe = text;
            } else if !among(RUNNERS, name) {
                selection.is_unsure |= is_open;
                selection.operands.push(word);
            }
            is_open = false;
        }
        selection
    }
}

//! The files and packages that a run is told to go through. A run that clearly goes through other parts of a project
//! says nothing about an edited file. Where it may well reach the file (tests elsewhere, an entry file, a word that is
//! not understood), it counts.

use super::kind::{CheckKind, Kinds};
use super::language::{is_named_test, is_test_file};
use super::place::RunPlace;
use super::selection::{COMPILERS, Selection, WHOLE};
use crate::shell::{self, Sort, Spot, Word};
use crate::text::word_list::{Words, among};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    sort: TargetSort,
    /// Empty for everything.
    named: Vec<Target>,
    /// Paths that are left out.
    excluded: Vec<String>,
    /// The same as they are written: they may be names of packages.
    names: Vec<String>,
}

/// The meaning of the named paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TargetSort {
    /// Not known.
    #[default]
    Any,
    /// Folders of Go.
    GoPackages,
    /// Files and folders of tests, or parts of their names.
    Tests,
    /// The same of pytest: folders of code are packages.
    PythonTests,
    /// Files and folders to be read, and nothing else.
    Files,
    /// The same, with whatever they include.
    Sources,
    /// Folders of Gradle, Maven and .NET: each has its own manifest.
    Projects,
    /// Targets of Cargo: `lib`, `tests`, `test:NAME`, `other`.
    CargoParts,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    /// In the form of [`RunPlace::name`].
    path: String,
    /// As written: some runners look for it anywhere in a path.
    text: String,
    /// `./...`: with everything below.
    deep: bool,
}

/// Linters and syntax checkers that read what they are given.
const READ_FILES: Words = "eslint oxlint stylelint xo standard tslint biome @biomejs/biome ruff flake8 pylint rubocop standardrb phpcs \
    shellcheck py_compile compileall luac";

/// They check the syntax of a file, or run its tests.
const INTERPRETERS: Words = "php ruby perl bash sh zsh dash ksh node";

/// Compilers and type checkers, which follow imports.
const READ_SOURCES: Words = "tsc mypy pyright basedpyright ty phpstan psalm dart flutter deno";

const RUN_TESTS: Words = "jest vitest mocha ava tap playwright rspec rails phpunit pest paratest bats bun deno node tsx flutter dart mix behave npm pnpm yarn";

/// Files from which the rest of a program is reached.
const ENTRIES: Words = "index main mod lib app cli server program";

/// The module that has all others of an app in it.
const APP_MODULES: Words = "app application androidApp composeApp";

impl Targets {
    pub(super) fn of(selection: &Selection<'_>, kinds: Kinds, folder: &Spot, place: RunPlace<'_>) -> Targets {
        let path = |text: &str| place.name(&folder.join(text));
        let is_whole = |option: &str, value: &str| {
            among("--exclude --ignore", option) && !is_pattern(value) && !value.contains("::")
        };
        let excluded = selection.excluded.iter().filter(|(option, value)| is_whole(option, value));
        let filtered = selection.packages.iter().filter_map(|name| name.strip_prefix('!'));
        let names: Vec<String> =
            excluded.map(|(_, value)| *value).chain(filtered).map(str::to_owned).collect();
        let excluded = names.iter().filter_map(|name| path(name)).collect();
        let (sort, named) = named_targets(selection, kinds, path).unwrap_or_default();
        Targets { sort, named, excluded, names }
    }

    /// `package`: the name of the file's package.
    pub(super) fn exclude(&self, file: &str, package: Option<&str>) -> bool {
        let is_named = package.is_some_and(|package| self.names.iter().any(|name| name == package));
        is_named || self.excluded.iter().any(|part| is_at_or_below(file, part))
    }

    /// Tests and sources reach more files than they name.
    pub(super) fn may_reach_more(&self) -> bool {
        matches!(self.sort, TargetSort::Tests | TargetSort::PythonTests | TargetSort::Sources)
    }

    /// `own`: the deepest folder above the file with a manifest of the program, if that is below the run's own one.
    pub(super) fn leave_out(&self, file: &str, own: Option<&str>) -> bool {
        let any = |reaches: &dyn Fn(&Target) -> bool| self.named.is_empty() || self.named.iter().any(reaches);
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        !match self.sort {
            TargetSort::Any => true,
            TargetSort::GoPackages if file.ends_with("_test.go") => {
                any(&|target| folder == target.path || target.deep && is_at_or_below(folder, &target.path))
            }
            TargetSort::GoPackages => {
                // Commands are built from the other packages.
                let is_command = |path: &str| is_at_or_below(path, "cmd");
                any(&|target| {
                    is_related(folder, &target.path)
                        || is_test_path(&target.path)
                        || is_command(&target.path) && !is_command(folder)
                })
            }
            TargetSort::Tests | TargetSort::PythonTests if is_named_test(file) => {
                any(&|target| is_at_or_below(file, &target.path) || file.contains(&target.text))
            }
            TargetSort::Tests | TargetSort::PythonTests if own.is_some() => {
                let own = own.unwrap_or_default();
                any(&|target| is_related(&target.path, own) || before_tests(&target.path).is_empty())
            }
            TargetSort::PythonTests => any(&|target| {
                let is_folder = !target.path.contains('.');
                let first = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
                !is_folder
                    || is_test_path(&target.path)
                    || folder.is_empty()
                    || first(&target.path) == first(folder)
            }),
            TargetSort::Tests => true,
            TargetSort::Files => any(&|target| is_at_or_below(file, &target.path)),
            TargetSort::Sources => {
                any(&|target| is_at_or_below(file, &target.path) || is_entry(target, file))
            }
            TargetSort::Projects => match own {
                Some(own) => any(&|target| target.path == own || target.path.is_empty()),
                None => true,
            },
            TargetSort::CargoParts => any(&|target| is_part_of_cargo(&target.text, file)),
        }
    }
}

type Named = (TargetSort, Vec<Target>);

/// `None` for everything.
fn named_targets(
    selection: &Selection<'_>,
    kinds: Kinds,
    path: impl Fn(&str) -> Option<String>,
) -> Option<Named> {
    let program = selection.program;
    let of_path = |text: &str| {
        let path = path(text).unwrap_or_else(|| "/".to_owned());
        Target { path, text: shell::tidy(text), deep: false }
    };
    match program {
        "cargo" | "cross" => return Some((TargetSort::CargoParts, cargo_parts(selection)?)),
        "gradle" | "gradlew" => return Some((TargetSort::Projects, gradle_projects(selection)?)),
        "mvn" | "mvnw" | "mvnd" => {
            let names = selection.packages.iter().flat_map(|names| names.split(','));
            let names: Vec<&str> = names.filter(|name| !name.starts_with('!')).collect();
            let is_unsure = selection.is_unsure || names.iter().any(|name| name.contains(':'));
            return (!is_unsure && !names.is_empty())
                .then(|| (TargetSort::Projects, names.into_iter().map(of_path).collect()));
        }
        _ => {}
    }
    let here = Word::literal(".");
    let is_go = program == "go" && matches!(selection.verb, "test" | "vet" | "t") || program == "gotestsum";
    let operands: &[&Word] = match selection.operands.as_slice() {
        [] if program == "go" && is_go => &[&here],
        operands => operands,
    };
    if selection.is_unsure || operands.is_empty() || operands.iter().any(|word| word.sort == Sort::Unknown) {
        return None;
    }
    let texts = || operands.iter().map(|word| word.text.as_str());
    if is_go {
        // Any other word is the path of an import.
        let is_local = |text: &str| text == "." || text.starts_with("./") || text.starts_with("../");
        if texts().any(|text| !is_local(text)) {
            return None;
        }
        let of = |text: &str| match text.strip_suffix("...") {
            Some(above) => Target { deep: true, ..of_path(above) },
            None => of_path(text),
        };
        return Some((TargetSort::GoPackages, texts().map(of).collect()));
    }
    if program == "dotnet" {
        return dotnet_project(selection, of_path);
    }
    if texts().any(|text| among(WHOLE, text)) {
        return None;
    }
    let tests = kinds.has(CheckKind::Test);
    let sort = match program {
        "pytest" | "py.test" => TargetSort::PythonTests,
        name if among(READ_FILES, name) => TargetSort::Files,
        name if among(INTERPRETERS, name) && !tests => TargetSort::Files,
        name if among(RUN_TESTS, name) && tests => TargetSort::Tests,
        name if among(READ_SOURCES, name) || among(COMPILERS, name) => TargetSort::Sources,
        _ => return None,
    };
    let is_tests = matches!(sort, TargetSort::Tests);
    let mut named = Vec::new();
    for text in texts() {
        let text = text.split("::").next().unwrap_or(text);
        // `a_spec.rb:12`
        let text = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':');
        let looks_like_path = text.contains('/') || is_named_test(text);
        if is_pattern(text) {
            let start = text.find(is_wild).unwrap_or_default();
            let above = text[..start].rsplit_once('/').map(|(above, _)| above)?;
            named.push(of_path(above));
        } else if is_tests && !looks_like_path {
            // A part of a name, or the name of something else.
            return None;
        } else {
            named.push(of_path(text));
        }
    }
    Some((sort, named))
}

fn is_wild(c: char) -> bool {
    "*?[]{}|^$()+\\".contains(c)
}

fn is_pattern(text: &str) -> bool {
    text.contains(is_wild)
}

fn cargo_parts(selection: &Selection<'_>) -> Option<Vec<Target>> {
    let part = |text: String| Target { path: String::new(), text, deep: false };
    let of_part = |part: &&str| match *part {
        "--tests" | "--all-targets" => "all".to_owned(),
        "--lib" => "lib".to_owned(),
        _ => "other".to_owned(),
    };
    let mut parts: Vec<String> = selection.parts.iter().map(of_part).collect();
    for (option, value) in &selection.tests {
        match *option {
            "--test" => parts.push(format!("test:{value}")),
            "--bin" | "--example" | "--bench" => parts.push("other".to_owned()),
            _ => {}
        }
    }
    let is_whole = parts.is_empty() || parts.iter().any(|part| part == "all");
    (!is_whole).then(|| parts.into_iter().map(part).collect())
}

/// Whether a target of Cargo may have this file in it.
fn is_part_of_cargo(part: &str, file: &str) -> bool {
    let below = |folder: &str| {
        let inside = format!("/{file}");
        inside.find(&format!("/{folder}/")).map(|at| inside[at + folder.len() + 2..].to_owned())
    };
    let is_program = format!("/{file}").ends_with("/src/main.rs") || below("src/bin").is_some();
    match (below("tests").filter(|_| below("src").is_none()), part.strip_prefix("test:")) {
        // A folder below `tests` may be shared.
        (Some(rest), Some(name)) => {
            rest.contains('/') || is_pattern(name) || rest.strip_suffix(".rs").is_none_or(|stem| stem == name)
        }
        (Some(_), None) => false,
        (None, Some(_)) => true,
        (None, None) => part != "lib" || !is_program,
    }
}

/// `:a:test` runs the tests of the project `a`.
fn gradle_projects(selection: &Selection<'_>) -> Option<Vec<Target>> {
    let mut named = Vec::new();
    for task in &selection.goals {
        let (project, _) = task.rsplit_once(':')?;
        let path = project.trim_start_matches(':').replace(':', "/");
        let last = path.rsplit('/').next().unwrap_or_default();
        if path.is_empty() || among(APP_MODULES, last) {
            return None;
        }
        named.push(Target { text: path.clone(), path, deep: false });
    }
    (!named.is_empty()).then_some(named)
}

/// A project of tests may test any other; one that is no test project by its name has only its own tests.
fn dotnet_project(selection: &Selection<'_>, of_path: impl Fn(&str) -> Target) -> Option<Named> {
    let [operand] = selection.operands.as_slice() else { return None };
    let text = operand.text.as_str();
    let is_solution = among("sln slnx slnf dll", ending_of(text));
    let may_reach = selection.verb != "test" || text.to_ascii_lowercase().contains("test");
    if is_solution || may_reach {
        return None;
    }
    let target = of_path(text);
    let is_file = text.ends_with("proj");
    let folder =
        if is_file { target.path.rsplit_once('/').map_or("", |(folder, _)| folder) } else { &target.path };
    Some((TargetSort::Projects, vec![Target { path: folder.to_owned(), ..target.clone() }]))
}

fn ending_of(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

fn is_at_or_below(path: &str, above: &str) -> bool {
    path.starts_with('/') == above.starts_with('/') && shell::below(path, above).is_some()
}

fn is_related(one: &str, other: &str) -> bool {
    is_at_or_below(one, other) || is_at_or_below(other, one)
}

fn is_test_path(path: &str) -> bool {
    is_test_file(&format!("{path}/x")) || path.split('/').any(is_named_test)
}

/// The folder that has these tests in it; all of a project's tests may be in one folder at the top.
fn before_tests(path: &str) -> &str {
    let mut end = 0;
    for part in path.split('/') {
        if is_test_path(part) || is_named_test(part) {
            return path[..end].trim_end_matches('/');
        }
        end += part.len() + 1;
    }
    path
}

/// An entry file reaches its folder, and a source its headers.
fn is_entry(target: &Target, file: &str) -> bool {
    let (folder, name) = target.path.rsplit_once('/').unwrap_or(("", &target.path));
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    let is_header = among("h hh hpp hxx", ending_of(file));
    is_header || name.contains('.') && among(ENTRIES, &stem) && is_at_or_below(file, folder)
}

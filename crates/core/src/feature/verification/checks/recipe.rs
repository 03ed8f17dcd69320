//! Named commands of a project: scripts of `package.json`, targets of a Makefile, recipes of a justfile. A
//! recipe is judged by its body, and by its name if the body runs unknown commands.

use crate::shell::{self, Spot, Status, Step, Word};
use crate::text::word_list::{Words, among};

use crate::feature::verification::checks::kind::{CheckKind, Kinds};
use crate::feature::verification::checks::language::Languages;
use crate::feature::verification::checks::proven::Proven;
use crate::feature::verification::checks::{ProjectChecks, ProjectFile};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Recipe {
    pub name: String,
    /// Each runs in its own shell, as long as the earlier ones succeeded.
    pub lines: Vec<String>,
    /// Recipes that must succeed first.
    pub first: Vec<String>,
}

/// Commands that neither verify nor hide anything.
const TRIVIAL: Words = "echo printf true false : exit cd rm mkdir cp mv cat tee tail head grep sleep export set source \
    . touch ls find sed awk wait kill wc sort test [ rimraf del-cli shx unset";

/// Programs that succeed whatever they are given.
pub(super) fn runs_nothing(program: &str) -> bool {
    among("true : echo printf cat", program)
}

fn watches(name: &str) -> bool {
    name.split([':', '.', '/', '-', '_']).any(|part| part == "watch")
}

/// The kinds that a name promises.
pub fn kinds_of_name(name: &str) -> Kinds {
    if watches(name) {
        return Kinds::NONE;
    }
    let first = name.split([':', '.', '/']).next().unwrap_or(name);
    let exact = |word: &str| match word {
        "test" | "tests" | "testall" | "unit" | "unittest" | "unittests" | "e2e" | "spec" | "specs"
        | "integration" | "check" => Kinds::TEST,
        "typecheck" | "typechecks" | "types" | "tsc" | "mypy" | "pyright" | "phpstan" | "psalm" => {
            Kinds::TYPECHECK
        }
        "build" | "compile" | "all" | "dist" | "bundle" => Kinds::BUILD,
        "lint" | "linter" | "eslint" | "clippy" | "rubocop" | "ruff" | "flake8" | "vet" => Kinds::LINT,
        _ => Kinds::NONE,
    };
    match name {
        "type-check" | "type_check" | "check-types" | "check:types" | "check_types" | "ts:check"
        | "tsc:check" | "typecheck:all" | "check-type" | "lint:types" | "types:check" => {
            return Kinds::TYPECHECK;
        }
        "test:ui" | "test:debug" | "test:update" | "test:setup" | "test:prepare" | "test:open"
        | "lint:fix" | "lint-fix" | "build:docs" | "test:install" => return Kinds::NONE,
        _ => {}
    }
    let whole = exact(name);
    if !whole.is_empty() {
        return whole;
    }
    if first != name {
        return exact(first).without(if first == "check" || first == "all" {
            Kinds::TEST.and(Kinds::BUILD)
        } else {
            Kinds::NONE
        });
    }
    let mut parts = name.split(['-', '_']);
    let (head, tail) = (parts.next().unwrap_or_default(), name.rsplit(['-', '_']).next().unwrap_or_default());
    match (head, tail) {
        ("test" | "tests", "setup" | "data" | "deps" | "image" | "env" | "clean" | "db") => Kinds::NONE,
        ("test" | "tests", _) | (_, "test" | "tests") => Kinds::TEST,
        ("lint", "fix") => Kinds::NONE,
        ("lint", _) | (_, "lint") => Kinds::LINT,
        ("build", "image" | "docker" | "docs" | "env") => Kinds::NONE,
        ("build", _) => Kinds::BUILD,
        _ => Kinds::NONE,
    }
}

/// `None` if the file has no such recipe. `more`: additional words for the last command.
pub(super) fn judge(
    project: &ProjectChecks,
    file: &ProjectFile,
    name: &str,
    more: &[Word],
    depth: usize,
) -> Option<Proven> {
    let recipe = file.contents.recipes.iter().find(|recipe| recipe.name == name)?;
    if depth > super::DEEPEST || watches(name) {
        return Some(Proven::NONE);
    }
    let mut proven = Proven { hollow: true, ..Proven::NONE };
    for before in recipe.first.iter().filter(|before| *before != name) {
        proven = proven.and(judge(project, file, before, &[], depth + 1).unwrap_or_default());
    }
    let (mut strange, mut hides) = (false, false);
    for (number, line) in recipe.lines.iter().enumerate() {
        let Some(mut script) = shell::parse_process(line) else { return Some(Proven::NONE) };
        if number + 1 == recipe.lines.len()
            && let Some(last) = script.steps.last_mut()
        {
            last.words.extend(more.iter().cloned());
        }
        for step in &script.steps {
            let known = judge_step(project, file, step, depth);
            match step.status {
                Status::Decides if !step.background && !known.kinds.is_empty() => proven = proven.and(known),
                // A command that never ends is not strange, whatever the recipe is called.
                _ if super::watch::may_stay(project, step) => hides = true,
                Status::Decides if !step.background => strange |= !known.hollow && !is_trivial(step),
                _ => hides |= !known.kinds.is_empty(),
            }
        }
    }
    if strange && !hides {
        proven = proven.and(Proven::from(kinds_of_name(name)).reading(Languages::ALL));
    }
    proven.hollow &= proven.kinds.is_empty() && !strange && !hides;
    Some(proven)
}

/// Of a `Makefile`'s first target, if no name tells of a kind: in many small projects, `make` is the only check.
pub(super) fn kinds_of_first(project: &ProjectChecks, file: &ProjectFile) -> Kinds {
    let recipes = &file.contents.recipes;
    if !file.name.ends_with("akefile") || recipes.iter().any(|recipe| !kinds_of_name(&recipe.name).is_empty())
    {
        return Kinds::NONE;
    }
    let first = recipes.first().and_then(|recipe| judge(project, file, &recipe.name, &[], 0));
    first.unwrap_or_default().kinds.common(Kinds::COMPILES)
}

/// A line by itself, without the name of a recipe.
pub(super) fn judge_line(project: &ProjectChecks, file: &ProjectFile, line: &str, depth: usize) -> Proven {
    let Some(script) = shell::parse_process(line).filter(|_| depth <= super::DEEPEST) else {
        return Proven::NONE;
    };
    let decides = script.steps.iter().filter(|step| step.status == Status::Decides && !step.background);
    decides.map(|step| judge_step(project, file, step, depth)).reduce(Proven::and).unwrap_or_default()
}

fn judge_step(project: &ProjectChecks, file: &ProjectFile, step: &Step, depth: usize) -> Proven {
    let elsewhere = file.folder.starts_with('/');
    let folder = match super::folder_of(step) {
        Spot::Start(path) => shell::tidy(&format!("/{}/{path}", file.folder)),
        Spot::Top(path) if !elsewhere => path,
        _ => return Proven::NONE,
    };
    let folder = if elsewhere { &folder } else { folder.trim_start_matches('/') };
    project.judge(step, folder, &step.words, depth + 1)
}

pub(super) fn is_trivial(step: &Step) -> bool {
    match step.name() {
        Some(name) => among(TRIVIAL, name) || super::only_tells(&step.words[1..]),
        None => step.words.is_empty(),
    }
}

/// Commands that run a recipe, per kind: the recipe named after it, and the one with the fewest other kinds.
pub(super) fn examples(
    project: &ProjectChecks,
    file: &ProjectFile,
    run: &str,
) -> (Vec<Example>, Vec<Example>) {
    let named: Vec<(&str, Kinds)> = file
        .contents
        .recipes
        .iter()
        .filter(|recipe| !kinds_of_name(&recipe.name).is_empty())
        .map(|recipe| {
            (recipe.name.as_str(), judge(project, file, &recipe.name, &[], 0).unwrap_or_default().kinds)
        })
        .collect();
    let (mut sure, mut other) = (Vec::new(), Vec::new());
    for kind in CheckKind::ALL {
        let giving = || named.iter().filter(|(_, kinds)| kinds.has(kind));
        let best = giving()
            .filter(|(name, _)| kinds_of_name(name).has(kind))
            .min_by_key(|(name, _)| (*name != kind.name(), name.len()));
        let any = giving().min_by_key(|(name, kinds)| (kinds.iter().count(), name.len()));
        sure.extend(best.map(|(name, _)| (kind, command_of(run, name))));
        other.extend(any.map(|(name, _)| (kind, command_of(run, name))));
    }
    (sure, other)
}

/// The short form for tests is what people allow and type.
fn command_of(run: &str, name: &str) -> String {
    match (run, name) {
        ("npm run" | "pnpm run" | "yarn run", "test") => run.replace("run", name),
        _ => format!("{run} {name}"),
    }
}

pub(super) type Example = (CheckKind, String);

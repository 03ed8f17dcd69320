//! The verifying commands of a project, and whether a command line is evidence that one of them succeeded.
//!
//! One file per ecosystem: which files show that a project belongs to it, which commands verify there and what their
//! success tells. A command counts only where the project has the ecosystem's file in the folder meant or above it, and
//! only if the line could not have succeeded without it ([`Status::Decides`]). What success implies is part of the
//! table: `cargo test` has built what it tests, so nobody is asked for `cargo build` besides.

mod extra;
mod kind;
mod place;
mod recipe;
mod tool;
mod watch;

mod dotnet;
mod go;
mod java;
mod just;
mod make;
mod node;
mod other;
mod php;
mod python;
mod ruby;
mod rust;

use crate::shell::{self, Script, Sort, Spot, Status, Step, Word};
use crate::text::word_list::{Words, among, each_word};

pub use extra::Extra;
pub(crate) use extra::command;
pub use kind::{Kind, Kinds};
pub use place::Place;
use recipe::{Example, Recipe};

/// One ecosystem's rows.
struct Ecosystem {
    /// Files of which one has to be there for its commands to mean anything.
    manifests: Words,
    /// Other files that tell something.
    beside: Words,
    /// Those of both whose text is needed.
    texts: Words,
    /// The commands that are judged here.
    commands: Words,
    /// What a file says.
    read: fn(&str, &str) -> Contents,
    /// What the success of a command tells.
    judge: fn(&Call<'_>) -> Kinds,
    /// Options by which a command is told to work in another folder, or on a file in one; `npm:--prefix` is npm's alone.
    folder_options: Words,
    /// What runs a recipe of the file; empty where it has none.
    runs: fn(&Project, &File) -> &'static str,
    /// What a person would run besides, where this is the project's file.
    examples: fn(&Project, &File) -> Vec<Example>,
}

static ECOSYSTEMS: [&Ecosystem; 11] = [
    &rust::ECOSYSTEM,
    &node::ECOSYSTEM,
    &python::ECOSYSTEM,
    &go::ECOSYSTEM,
    &java::ECOSYSTEM,
    &ruby::ECOSYSTEM,
    &php::ECOSYSTEM,
    &dotnet::ECOSYSTEM,
    &other::ECOSYSTEM,
    &make::ECOSYSTEM,
    &just::ECOSYSTEM,
];

/// Files that say that the project's commands may run in a container.
const COMPOSE: Words = "compose.yaml compose.yml docker-compose.yml docker-compose.yaml";

/// A file that is there.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Its folder relative to the root, empty for the root itself; whole where it is elsewhere ([`Place::roots`]).
    pub folder: &'a str,
    /// Its name.
    pub name: &'a str,
    /// What is in it, where [`wants_text`] says so and it could be read.
    pub text: Option<&'a str>,
}

/// Every name that is worth looking for in a folder.
pub fn names() -> impl Iterator<Item = &'static str> {
    let of =
        |ecosystem: &&'static Ecosystem| each_word(ecosystem.manifests).chain(each_word(ecosystem.beside));
    ECOSYSTEMS.iter().flat_map(of).filter(|name| !name.starts_with('*')).chain(each_word(COMPOSE))
}

/// Whether the text of a file is needed, too.
pub fn wants_text(name: &str) -> bool {
    ECOSYSTEMS.iter().any(|ecosystem| among(ecosystem.texts, name))
}

/// Endings of files that can only be found by listing a folder.
pub fn endings() -> impl Iterator<Item = &'static str> {
    ECOSYSTEMS
        .iter()
        .flat_map(|ecosystem| each_word(ecosystem.manifests))
        .filter_map(|name| name.strip_prefix('*'))
}

/// What a manifest says.
#[derive(Clone, Debug, Default)]
struct Contents {
    recipes: Vec<Recipe>,
    /// Kinds that the file itself shows the project has.
    shows: Kinds,
    /// Recipes may also stand somewhere else: workspaces, includes.
    open: bool,
}

impl Contents {
    fn shows(shows: Kinds) -> Contents {
        Contents { shows, ..Contents::default() }
    }
}

#[derive(Clone, Debug)]
struct File {
    folder: String,
    name: String,
    contents: Contents,
}

/// What a project's files say about how it is verified.
#[derive(Clone, Debug, Default)]
pub struct Project {
    files: Vec<File>,
    /// Nobody waits for the line that is judged.
    background: bool,
}

/// One verification that a line's success proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What was verified.
    pub kind: Kind,
    /// By which step of the line.
    pub step: usize,
}

/// A command that is to be judged.
struct Call<'a> {
    project: &'a Project,
    name: &'a str,
    arguments: &'a [Word],
    step: &'a Step,
    /// Where it runs, as [`Place::name`] has it.
    folder: &'a str,
    depth: usize,
}

impl Call<'_> {
    /// The nearest of the files, from the folder up to the root.
    fn nearest(&self, names: &str) -> Option<&File> {
        self.project.nearest(self.folder, names)
    }

    fn recipe(&self, file: &File, name: &str, more: &[Word]) -> Option<Kinds> {
        recipe::judge(self.project, file, name, more, self.depth + 1)
    }
}

/// With one of these, a command lists, prints or explains.
const ONLY_TELLS: Words = "--help -h -help --version -version --dry-run --dryrun --list --listTests --list-tests \
    --collect-only --co --collectonly --show-only --print-config --showConfig --no-run --explain";

/// Deepest chain of recipes that call recipes.
const DEEPEST: usize = 5;

/// Takes in the files of a project.
pub fn project(seen: &[Seen<'_>]) -> Project {
    let files = seen.iter().map(|seen| {
        let mut contents = Contents::default();
        let reader = ECOSYSTEMS
            .iter()
            .find(|ecosystem| is_manifest(ecosystem, seen.name) || among(ecosystem.beside, seen.name));
        if let Some(ecosystem) = reader {
            contents = (ecosystem.read)(seen.name, seen.text.unwrap_or_default());
        }
        File { folder: shell::tidy(seen.folder), name: seen.name.to_owned(), contents }
    });
    Project { files: files.collect(), background: false }
}

fn is_manifest(ecosystem: &Ecosystem, name: &str) -> bool {
    among(ecosystem.manifests, name) || has_ending(ecosystem, name)
}

/// Whether a name has an ending of the ecosystem's (`*.csproj`).
fn has_ending(ecosystem: &Ecosystem, name: &str) -> bool {
    each_word(ecosystem.manifests)
        .filter_map(|known| known.strip_prefix('*'))
        .any(|ending| name.ends_with(ending))
}

/// Whether a line may contain a verifying command at all, so that the project's files are worth reading.
pub fn could_check(script: &Script, extra: &Extra) -> bool {
    script.steps.iter().any(|step| matters(step, extra))
}

fn matters(step: &Step, extra: &Extra) -> bool {
    worth_judging(step) && (is_known(step) || extra.could_be(step))
}

fn worth_judging(step: &Step) -> bool {
    step.status == Status::Decides && !step.background
}

/// The name under which a command stands in the tables.
fn name_of(step: &Step) -> Option<&str> {
    let name = step.name()?;
    let interpreter = name == "py" || name == "pypy3" || name.starts_with("python3.");
    Some(if interpreter { "python3" } else { name })
}

fn is_known(step: &Step) -> bool {
    name_of(step).is_some_and(|name| ECOSYSTEMS.iter().any(|ecosystem| among(ecosystem.commands, name)))
}

/// The folders of the project in which the files that matter to a line may be; those above them matter, too.
pub fn folders(script: &Script, place: Place<'_>) -> Vec<String> {
    let known = script.steps.iter().filter(|step| worth_judging(step) && is_known(step));
    each_once(known.filter_map(|step| place.name(&folder_of(step))))
}

/// Where the commands that matter run, as whole paths, if not in the project as far as the text tells.
pub fn outside(script: &Script, place: Place<'_>, extra: &Extra) -> Vec<String> {
    let spots = script.steps.iter().filter(|step| matters(step, extra)).map(folder_of);
    each_once(spots.filter(|spot| place.name(spot).is_none()).filter_map(|spot| place.whole(&spot)))
}

fn each_once(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut once = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

/// Where a command works, by its own options.
fn folder_of(step: &Step) -> Spot {
    let name = name_of(step).unwrap_or_default();
    let options = ECOSYSTEMS
        .iter()
        .filter(|ecosystem| among(ecosystem.commands, name))
        .flat_map(|ecosystem| each_word(ecosystem.folder_options))
        // The same option means something else elsewhere: `pnpm -C` is a folder.
        .filter_map(|option| match option.split_once(':') {
            Some((command, option)) => (command == name).then_some(option),
            None => Some(option),
        });
    let mut folder = step.folder.clone();
    for option in options {
        let found = step.words.iter().enumerate().find_map(|(number, word)| {
            if word.text == option {
                return step.words.get(number + 1).cloned();
            }
            let value = word.text.strip_prefix(option)?.strip_prefix('=')?;
            Some(Word { text: value.to_owned(), sort: word.sort })
        });
        let Some(value) = found else { continue };
        let Some(path) = value.known() else { return Spot::Unknown };
        // A file: its folder is meant.
        let file = path.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "toml" | "xml"));
        let path = if file { path.rsplit_once('/').map_or("", |(folder, _)| folder) } else { path };
        if !path.is_empty() {
            folder = folder.join(path);
        }
    }
    folder
}

impl Project {
    /// The kinds of verification that this project's own files show it has.
    pub fn kinds(&self) -> Kinds {
        let mut kinds = Kinds::NONE;
        for file in &self.files {
            kinds = kinds.and(file.contents.shows);
            for recipe in &file.contents.recipes {
                if !recipe::kinds_of_name(&recipe.name).is_empty() {
                    kinds = kinds.and(recipe::judge(self, file, &recipe.name, &[], 0).unwrap_or_default());
                }
            }
        }
        kinds
    }

    /// What a person would run here, at most one command per kind, the most telling kind first. What the project itself
    /// has named after a kind comes before what its tools have; and the part of the project, the root or elsewhere, whose
    /// files were seen first before the other.
    pub fn examples(&self) -> Vec<Example> {
        let elsewhere = |folder: &str| folder.starts_with('/');
        let first = self.files.first().is_some_and(|file| elsewhere(&file.folder));
        let mut found: Vec<(usize, usize, &str, Example)> = Vec::new();
        for file in &self.files {
            let Some(ecosystem) = ECOSYSTEMS.iter().find(|ecosystem| is_manifest(ecosystem, &file.name))
            else {
                continue;
            };
            let depth = file.folder.split('/').filter(|part| !part.is_empty()).count();
            let (named, other) = recipe::examples(self, file, (ecosystem.runs)(self, file));
            for (rank, examples) in [named, (ecosystem.examples)(self, file), other].into_iter().enumerate() {
                found
                    .extend(examples.into_iter().map(|example| (depth, rank, file.folder.as_str(), example)));
            }
        }
        found.sort_by_key(|(depth, rank, folder, _)| (elsewhere(folder) != first, *depth, *rank));
        let kinds = self.kinds();
        let mut examples: Vec<Example> = Vec::new();
        for (_, _, folder, (kind, command)) in found {
            if kinds.has(kind) && !examples.iter().any(|(known, _)| *known == kind) {
                let command = if folder.is_empty() { command } else { format!("cd {folder} && {command}") };
                examples.push((kind, command));
            }
        }
        examples.sort_by_key(|(kind, _)| *kind);
        examples
    }

    /// The same project, for a line that runs in the background: what may watch for changes there proves nothing, since
    /// its end may never come.
    #[must_use]
    pub fn in_background(&self) -> Project {
        Project { background: true, ..self.clone() }
    }

    /// What the success of a line proves about this project.
    pub fn evidence(&self, script: &Script, place: Place<'_>, extra: &Extra) -> Vec<Evidence> {
        let mut evidence = Vec::new();
        for (number, step) in script.steps.iter().enumerate().filter(|(_, step)| worth_judging(step)) {
            let Some(folder) = place.name(&folder_of(step)) else { continue };
            let own = self.judge(step, &folder, &step.words, 0);
            let added = if only_tells(&step.words) || watch::may_stay(self, step) {
                Kinds::NONE
            } else {
                extra.kinds(step, place)
            };
            evidence.extend(own.and(added).iter().map(|kind| Evidence { kind, step: number }));
        }
        evidence
    }

    /// What the success of a line in the root would prove.
    pub fn proves(&self, line: &str) -> Kinds {
        // A root that nobody has, so that whole paths stay elsewhere.
        let place = Place { roots: &["/\0", "/"], cwd: "/\0", end: None, links: &[] };
        let evidence = shell::parse(line).map(|script| self.evidence(&script, place, &Extra::default()));
        evidence.unwrap_or_default().iter().map(|found| found.kind).collect()
    }

    /// What the success of one command tells.
    fn judge(&self, step: &Step, folder: &str, words: &[Word], depth: usize) -> Kinds {
        let Some(name) = name_of(step) else { return Kinds::NONE };
        let arguments = words.get(1..).unwrap_or_default();
        if depth > DEEPEST
            || only_tells(arguments)
            || watch::watches(name, arguments)
            || self.background && watch::may_watch(name, arguments)
            || step.contained && self.nearest(folder, COMPOSE).is_none()
        {
            return Kinds::NONE;
        }
        let call = Call { project: self, name, arguments, step, folder, depth };
        ECOSYSTEMS
            .iter()
            .filter(|ecosystem| among(ecosystem.commands, name))
            .filter(|ecosystem| self.has_manifest(ecosystem, folder))
            .map(|ecosystem| (ecosystem.judge)(&call))
            .fold(Kinds::NONE, Kinds::and)
    }

    fn has_manifest(&self, ecosystem: &Ecosystem, folder: &str) -> bool {
        self.nearest(folder, ecosystem.manifests).is_some()
            || self
                .files
                .iter()
                .any(|file| has_ending(ecosystem, &file.name) && is_at_or_above(&file.folder, folder))
    }

    fn nearest(&self, folder: &str, names: &str) -> Option<&File> {
        self.files
            .iter()
            .filter(|file| among(names, &file.name) && is_at_or_above(&file.folder, folder))
            .max_by_key(|file| file.folder.len())
    }
}

fn only_tells(arguments: &[Word]) -> bool {
    arguments.iter().any(|word| word.sort != Sort::Unknown && among(ONLY_TELLS, &word.text))
}

fn is_at_or_above(above: &str, folder: &str) -> bool {
    // What is elsewhere is not below the root.
    above.starts_with('/') == folder.starts_with('/') && shell::below(folder, above).is_some()
}

/// Examples that are the same in every project, as far as it has the kind.
fn examples_of(list: &[(Kind, &str)]) -> Vec<Example> {
    list.iter().map(|(kind, command)| (*kind, (*command).to_owned())).collect()
}

/// A file without recipes.
fn runs_nothing(_: &Project, _: &File) -> &'static str {
    ""
}

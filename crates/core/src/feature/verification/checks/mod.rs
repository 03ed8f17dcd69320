//! The verifying commands of a project, and whether the success of a command line proves that one of them
//! succeeded. The rules are the tables in `checks.md`.
//!
//! One file per ecosystem: its manifests, its verifying commands, and what their success proves. A command
//! counts only if the project has the ecosystem's manifest in the command's folder or above it, and only if
//! the line could not have succeeded without it ([`Status::Decides`]). The tables include implied kinds:
//! `cargo test` has built the code, so `cargo build` is not asked for as well.
//!
//! A path is relative to the project's root. In another folder that belongs to the project (an added
//! directory, another worktree) it is the full path, in the marks too. Links and `~` are resolved before:
//! the reader in `state` looks at the folders that a line names and those above them, and passes their
//! manifests in.

mod closing_line;
mod extra;
mod kind;
mod language;
mod place;
mod program;
mod proven;
mod recipe;
mod scope;
mod selection;
mod targets;
mod tool;
mod tree;
mod visible_output;
mod watch;

mod compiler;
mod dotnet;
mod go;
mod java;
mod just;
mod make;
mod mise;
mod node;
mod other;
mod php;
mod python;
mod ruby;
mod rust;
mod shell_scripts;
mod taskfile;

use std::sync::LazyLock;

use crate::shell::{self, Script, Sort, Spot, Status, Step, Why, Word};
use crate::text::word_list::{Words, among, each_word};

pub use closing_line::{Closers, Ending, LONGEST as LONGEST_OUTPUT, read_ending};
pub use extra::ExtraChecks;
pub(crate) use extra::parse_simple_command;
pub use kind::{CheckKind, Kinds};
pub use language::{Languages, is_test_file};
pub use place::RunPlace;
use proven::Proven;
pub use recipe::kinds_of_name;
use recipe::{Example, Recipe};
pub use scope::CheckScope;
use selection::Selection;
pub use targets::Targets;
pub use tree::{RestoredFiles, TreeMove, last_move, makes_commit, restored_files};

struct Ecosystem {
    /// The ecosystem's commands count only if one of these exists.
    manifests: Words,
    /// Further files that show something about the project.
    other_files: Words,
    /// Files whose text is needed.
    texts: Words,
    /// The commands judged by this ecosystem.
    commands: Words,
    /// Those that count without a manifest: a single file can be checked with them.
    alone: Words,
    /// From a file's name and text.
    read: fn(&str, &str) -> Contents,
    /// What the success of a command proves. Without languages, it is those of `reads`.
    judge: fn(&CheckCall<'_>) -> Proven,
    /// The languages whose code its commands read; with [`Languages::TESTS`] if even a build reads tests.
    reads: Languages,
    /// Options that move a command to another folder, or to a file in one; `npm:--prefix` applies to npm
    /// only.
    folder_options: Words,
    /// The command that runs a recipe of the file; empty if it has none.
    runs: fn(&ProjectChecks, &ProjectFile) -> &'static str,
    /// Commands for a project with this file, besides its recipes.
    examples: fn(&ProjectChecks, &ProjectFile) -> Vec<Example>,
}

static ECOSYSTEMS: [&Ecosystem; 15] = [
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
    &mise::ECOSYSTEM,
    &taskfile::ECOSYSTEM,
    &shell_scripts::ECOSYSTEM,
    &compiler::ECOSYSTEM,
];

/// Their presence means that the project's commands may run in a container.
const COMPOSE: Words = "compose.yaml compose.yml docker-compose.yml docker-compose.yaml";

/// A file that exists.
#[derive(Clone, Copy, Debug)]
pub struct SeenFile<'a> {
    /// Relative to the root, empty for the root itself; a whole path outside of it ([`RunPlace::roots`]).
    pub folder: &'a str,
    pub name: &'a str,
    /// Present if [`wants_text`] asks for it and the file could be read.
    pub text: Option<&'a str>,
}

/// File names to look for in each folder.
pub fn manifest_names() -> impl Iterator<Item = &'static str> {
    let of = |ecosystem: &&'static Ecosystem| {
        each_word(ecosystem.manifests).chain(each_word(ecosystem.other_files))
    };
    ECOSYSTEMS.iter().flat_map(of).filter(|name| !name.starts_with('*')).chain(each_word(COMPOSE))
}

/// The same for one name. A folder may have hundreds.
pub fn is_manifest_name(name: &str) -> bool {
    static SORTED: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let mut names: Vec<&str> = manifest_names().collect();
        names.sort_unstable();
        names
    });
    SORTED.binary_search(&name).is_ok()
}

/// Those of them that are in a folder below.
pub fn manifest_names_below() -> &'static [&'static str] {
    static BELOW: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| manifest_names().filter(|name| name.contains('/')).collect());
    &BELOW
}

/// The file that a project has in which this program ran; `None` for programs that need none, and for those that share only
/// their room in the tables.
pub fn manifest_of(program: &str) -> Option<&'static str> {
    let needs = |ecosystem: &&&Ecosystem| {
        among(ecosystem.commands, program) && !among(ecosystem.alone, program) && !is_other(ecosystem)
    };
    let ecosystem = ECOSYSTEMS.iter().find(needs)?;
    each_word(ecosystem.manifests).find(|name| !name.starts_with('*'))
}

fn is_other(ecosystem: &Ecosystem) -> bool {
    std::ptr::eq(ecosystem, &raw const other::ECOSYSTEM)
}

pub fn wants_text(name: &str) -> bool {
    ECOSYSTEMS.iter().any(|ecosystem| among(ecosystem.texts, name))
}

/// Endings of manifests with variable names, found only by listing a folder.
pub fn manifest_endings() -> impl Iterator<Item = &'static str> {
    ECOSYSTEMS
        .iter()
        .flat_map(|ecosystem| each_word(ecosystem.manifests))
        .filter_map(|name| name.strip_prefix('*'))
}

#[derive(Clone, Debug, Default)]
struct Contents {
    recipes: Vec<Recipe>,
    /// Kinds that the file itself shows the project has.
    shows: Kinds,
    /// Recipes may also be defined elsewhere: workspaces, includes.
    open: bool,
    /// The name of the package that the file describes.
    package: Option<String>,
    /// The languages of the file's own checks; empty for those of its ecosystem.
    reads: Languages,
    /// The program for its checks, if the file tells.
    program: Option<&'static str>,
}

impl Contents {
    fn shows(shows: Kinds) -> Contents {
        Contents { shows, ..Contents::default() }
    }
}

#[derive(Clone, Debug)]
struct ProjectFile {
    folder: String,
    name: String,
    contents: Contents,
}

impl ProjectFile {
    fn reads(&self) -> Languages {
        let own = self.contents.reads;
        let reader = || reader_of(&self.name).map_or(Languages::NONE, |reader| reader.reads);
        if own.is_empty() { reader() } else { own.and(Languages::OTHER) }
    }
}

/// A project's files, as far as they show how it is verified.
#[derive(Clone, Debug, Default)]
pub struct ProjectChecks {
    files: Vec<ProjectFile>,
    /// The judged line runs in the background.
    background: bool,
}

/// A check that a line's success proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckEvidence {
    pub kinds: Kinds,
    /// Index of the step in the line.
    pub step: usize,
    /// The languages whose code it reads.
    pub reads: Languages,
    pub scope: CheckScope,
    /// Its name.
    pub program: String,
    /// What it was told to go through.
    pub targets: Targets,
    /// Only what the output shows counts: a commit runs its hooks, whatever they are.
    pub by_output: bool,
}

/// The kinds of all these checks together.
pub fn kinds_of<'e>(evidence: impl IntoIterator<Item = &'e CheckEvidence>) -> Kinds {
    evidence.into_iter().fold(Kinds::NONE, |all, found| all.and(found.kinds))
}

/// The checks in a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineProof {
    /// Without them it could not have succeeded.
    pub visible: Vec<CheckEvidence>,
    /// It could have: a failure would not have shown.
    pub hidden: Vec<CheckEvidence>,
    /// The output is that of the checks, with its last lines.
    pub shows_output: bool,
    /// Only if it has fewer lines than these: `head` may have cut it.
    pub cut_from: Option<usize>,
    /// Nothing but a visible check could have failed.
    pub only_checks: bool,
}

/// A command to be judged.
struct CheckCall<'a> {
    project: &'a ProjectChecks,
    name: &'a str,
    arguments: &'a [Word],
    /// Its working folder, in the form of [`RunPlace::name`].
    folder: &'a str,
    depth: usize,
}

impl CheckCall<'_> {
    /// From the folder up to the root.
    fn nearest(&self, names: &str) -> Option<&ProjectFile> {
        self.project.nearest(self.folder, names)
    }

    fn recipe(&self, file: &ProjectFile, name: &str, more: &[Word]) -> Option<Proven> {
        recipe::judge(self.project, file, name, more, self.depth + 1)
    }
}

/// With one of these, a command only lists, prints or explains.
const ONLY_TELLS: Words = "--help -h -help --version -version --dry-run --dryrun --list --listTests --list-tests \
    --collect-only --co --collectonly --show-only --print-config --showConfig --explain";

/// Deepest chain of recipes that call recipes.
const DEEPEST: usize = 5;

pub fn read_project(seen: &[SeenFile<'_>]) -> ProjectChecks {
    let files = seen.iter().map(|seen| {
        let mut contents = Contents::default();
        if let Some(ecosystem) = reader_of(seen.name) {
            contents = (ecosystem.read)(seen.name, seen.text.unwrap_or_default());
        }
        ProjectFile { folder: shell::tidy(seen.folder), name: seen.name.to_owned(), contents }
    });
    ProjectChecks { files: files.collect(), background: false }
}

fn reader_of(name: &str) -> Option<&'static Ecosystem> {
    let reads = |ecosystem: &&&Ecosystem| is_manifest(ecosystem, name) || among(ecosystem.other_files, name);
    ECOSYSTEMS.iter().find(reads).copied()
}

fn is_manifest(ecosystem: &Ecosystem, name: &str) -> bool {
    among(ecosystem.manifests, name) || has_ending(ecosystem, name)
}

/// For manifests such as `*.csproj`.
fn has_ending(ecosystem: &Ecosystem, name: &str) -> bool {
    each_word(ecosystem.manifests)
        .filter_map(|known| known.strip_prefix('*'))
        .any(|ending| name.ends_with(ending))
}

/// A cheap test before the project's files are read.
pub fn could_check(script: &Script, extra: &ExtraChecks) -> bool {
    script.steps.iter().any(|step| matters(step, extra))
}

fn matters(step: &Step, extra: &ExtraChecks) -> bool {
    worth_judging(step) && (is_known(step) || extra.could_be(step))
}

fn worth_judging(step: &Step) -> bool {
    step.status == Status::Decides && !step.background
}

/// The command's name in the tables.
fn name_of(step: &Step) -> Option<&str> {
    let name = step.name()?;
    let interpreter = name == "py" || name == "pypy3" || name.starts_with("python3.");
    Some(if interpreter { "python3" } else { name })
}

fn is_known(step: &Step) -> bool {
    let has = |name: &str| ECOSYSTEMS.iter().any(|ecosystem| among(ecosystem.commands, name));
    name_of(step).is_some_and(has) || shell_scripts::is_own_script(step) || tree::is_commit(step)
}

/// Folders whose files, and those of their parents, matter to a line.
pub fn folders_of_line(script: &Script, place: RunPlace<'_>) -> Vec<String> {
    let known = script.steps.iter().filter(|step| worth_judging(step) && is_known(step));
    each_once(known.filter_map(|step| place.name(&folder_of(step))))
}

/// Whole paths of folders that, by the text alone, are not in the project.
pub fn folders_outside(script: &Script, place: RunPlace<'_>, extra: &ExtraChecks) -> Vec<String> {
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

/// By the command's own options.
pub fn folder_of(step: &Step) -> Spot {
    let name = name_of(step).unwrap_or_default();
    let options = ECOSYSTEMS
        .iter()
        .filter(|ecosystem| among(ecosystem.commands, name))
        .flat_map(|ecosystem| each_word(ecosystem.folder_options))
        // The same option means something else for other commands: `pnpm -C` is a folder.
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

impl ProjectChecks {
    /// The kinds that the project's own files show it has.
    pub fn kinds(&self) -> Kinds {
        self.kinds_that(|_| true)
    }

    /// The kinds for the languages of these files; all of them if a language has no entry.
    pub fn kinds_for(&self, files: &[String]) -> Kinds {
        let languages = files.iter().fold(Languages::NONE, |all, file| all.and(Languages::of_file(file)));
        if languages.is_empty() || languages.has(Languages::OTHER) {
            return self.kinds();
        }
        self.kinds_that(|reads| !reads.common(languages).is_empty())
    }

    /// The kinds of checks that read such languages.
    fn kinds_that(&self, fits: impl Fn(Languages) -> bool) -> Kinds {
        let mut kinds = Kinds::NONE;
        for file in &self.files {
            if fits(file.reads()) {
                kinds = kinds.and(file.contents.shows);
            }
            let first = recipe::kinds_of_first(self, file);
            if !first.is_empty() && fits(Languages::C.and(Languages::OTHER)) {
                kinds = kinds.and(first);
            }
            for recipe in &file.contents.recipes {
                if !recipe::kinds_of_name(&recipe.name).is_empty() {
                    let proven = recipe::judge(self, file, &recipe.name, &[], 0).unwrap_or_default();
                    kinds = if fits(proven.reads) { kinds.and(proven.kinds) } else { kinds };
                }
            }
        }
        kinds
    }

    /// At most one command per kind, the strongest kind first, each of which reads one of these files. Recipes named
    /// after a kind come before commands of the ecosystem's tools. Of the root and other folders, the one seen first
    /// comes first.
    pub fn examples_for(&self, files: &[String]) -> Vec<Example> {
        let fits = |line: &str| {
            let evidence = self.evidence_in_root(line);
            files.is_empty() || evidence.is_empty() || self.left_by(&evidence, files).len() < files.len()
        };
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
            let is_new = kinds.has(kind) && !examples.iter().any(|(known, _)| *known == kind);
            let command = if folder.is_empty() { command } else { format!("cd {folder} && {command}") };
            if is_new && fits(&command) {
                examples.push((kind, command));
            }
        }
        examples.sort_by_key(|(kind, _)| *kind);
        examples
    }

    /// For a line in the background: a command that may watch for changes proves nothing there, because it
    /// may never end.
    #[must_use]
    pub fn in_background(&self) -> ProjectChecks {
        ProjectChecks { background: true, ..self.clone() }
    }

    pub fn evidence(&self, script: &Script, place: RunPlace<'_>, extra: &ExtraChecks) -> Vec<CheckEvidence> {
        let mut evidence = Vec::new();
        for (number, step) in script.steps.iter().enumerate().filter(|(_, step)| worth_judging(step)) {
            let Some(folder) = place.name(&folder_of(step)) else { continue };
            if !tree::reads_edits(script, number) {
                continue;
            }
            if tree::is_commit(step) {
                evidence.push(CheckEvidence {
                    kinds: Kinds::COMPILED_TEST.and(Kinds::LINT),
                    step: number,
                    reads: Languages::ALL,
                    scope: CheckScope::default(),
                    program: String::new(),
                    targets: Targets::default(),
                    by_output: true,
                });
                continue;
            }
            // A script of another project, or one for this moment only.
            let script_path = shell_scripts::script_of(step).and_then(Word::known);
            let is_outside = |path: &str| place.name(&step.folder.join(path)).is_none();
            if shell_scripts::is_own_script(step) && script_path.is_some_and(is_outside) {
                continue;
            }
            let own = self.judge(step, &folder, &step.words, 0);
            let added = if only_tells(&step.words) || watch::may_stay(self, step) {
                Kinds::NONE
            } else {
                extra.kinds(step, place)
            };
            let added = Proven::from(added).reading(Languages::ALL);
            let proven = own.and(added);
            if !proven.kinds.is_empty() {
                let name = name_of(step).unwrap_or_default();
                let package = self.package_folder(name, &folder);
                let Proven { kinds, reads, .. } = proven;
                let (scope, targets) = if shell_scripts::is_own_script(step) {
                    (CheckScope::of_script(step, package, reads), Targets::default())
                } else {
                    let selection = Selection::of(step, name);
                    let targets = Targets::of(&selection, kinds, &folder_of(step), place);
                    (CheckScope::of(&selection, package, reads), targets)
                };
                // A command of the config may be anything.
                let is_added = own.kinds.is_empty();
                let targets = if is_added { Targets::default() } else { targets };
                let program = if is_added { String::new() } else { name.to_owned() };
                let step = number;
                evidence.push(CheckEvidence {
                    kinds,
                    step,
                    reads,
                    scope,
                    program,
                    targets,
                    by_output: false,
                });
            }
        }
        evidence
    }

    /// Everything that a line proves, or would prove if it showed.
    pub fn proof(&self, script: &Script, place: RunPlace<'_>, extra: &ExtraChecks) -> LineProof {
        let visible = self.evidence(script, place, extra);
        // Where nothing is hidden, everything is seen already.
        let mut hidden = if script.steps.iter().all(worth_judging) {
            visible.clone()
        } else {
            self.evidence(&script.revealed(), place, extra)
        };
        let shows_output = visible_output::is_of_checks(script, &hidden);
        // Another program of the same name is not that check.
        let is_other = |step: usize| script.steps[step].status == Status::Hidden(Why::Redefined);
        hidden.retain(|found| {
            let is_shown = visible.iter().any(|shown| shown.step == found.step);
            !found.by_output && !is_shown && !is_other(found.step)
        });
        let only_checks = is_only_checks(script, &visible);
        let cut_from = visible_output::cut_from(script);
        LineProof { visible, hidden, shows_output, cut_from, only_checks }
    }

    /// The folder of the manifest by which a command is judged.
    fn package_folder(&self, name: &str, folder: &str) -> String {
        let is_read = |file: &ProjectFile| {
            ECOSYSTEMS
                .iter()
                .any(|ecosystem| among(ecosystem.commands, name) && is_manifest(ecosystem, &file.name))
        };
        let above = self.files.iter().filter(|file| is_at_or_above(&file.folder, folder) && is_read(file));
        above
            .map(|file| file.folder.as_str())
            .max_by_key(|folder| folder.len())
            .unwrap_or_default()
            .to_owned()
    }

    /// The edited files that none of these checks reads.
    pub fn left_by<'f>(&self, evidence: &[CheckEvidence], files: &'f [String]) -> Vec<&'f String> {
        let reached: Vec<bool> = evidence.iter().map(|found| self.reaches_one(found, files)).collect();
        let reads = |file: &str| {
            evidence.iter().zip(&reached).any(|(found, reached)| self.is_read_by(found, file, *reached))
        };
        let any = files.iter().any(|file| reads(file));
        // Code in a language for which the project has no check is checked along with the rest, if at all.
        let known = self.languages();
        let along = |file: &str| {
            let language = Languages::of_file(file);
            any && !known.has(language)
        };
        files.iter().filter(|file| !reads(file) && !along(file)).collect()
    }

    /// Whether a run that is told which files to go through was told one of the edited ones: then others may well be
    /// reached from there.
    fn reaches_one(&self, found: &CheckEvidence, files: &[String]) -> bool {
        found.targets.may_reach_more() && files.iter().any(|file| self.is_read_by(found, file, false))
    }

    /// `reached`: another edited file is what the run was told to go through.
    fn is_read_by(&self, found: &CheckEvidence, file: &str, reached: bool) -> bool {
        let language = Languages::of_file(file);
        if !found.reads.has(language) || is_test_file(file) && !found.reads.has(Languages::TESTS) {
            return false;
        }
        // Paths that were shortened, or could not be noted, are in no folder.
        let is_path = !file.starts_with(['…', '(']);
        let is_below = file.starts_with('/') == found.scope.folder.starts_with('/')
            && shell::below(file, &found.scope.folder).is_some();
        !is_path || is_below && self.is_selected(found, file) && !self.is_left_out(found, file, reached)
    }

    /// Whether a run clearly goes through other parts of the project.
    fn is_left_out(&self, found: &CheckEvidence, file: &str, reached: bool) -> bool {
        if found.targets == Targets::default() {
            return false;
        }
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let own = self.package_folder(&found.program, folder);
        let is_deeper = own.len() > found.scope.folder.len();
        let package = self.package_of(file);
        let own = is_deeper.then_some(own.as_str());
        let package = package.map(|(_, name)| name);
        found.targets.exclude(file, package) || !reached && found.targets.leave_out(file, own)
    }

    /// Whether a run that names packages names the one of this file.
    fn is_selected(&self, found: &CheckEvidence, file: &str) -> bool {
        let packages: Vec<&String> =
            found.scope.packages.iter().filter(|name| !name.starts_with('!')).collect();
        if packages.is_empty()
            || packages.iter().any(|name| name.contains(['*', '.', '/', '{']) && !name.starts_with('@'))
        {
            return true;
        }
        self.package_of(file).is_none_or(|(_, name)| packages.iter().any(|known| *known == name))
    }

    /// The deepest package with a name that has this file in it: the length of its folder, and its name.
    fn package_of(&self, file: &str) -> Option<(usize, &str)> {
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let above = self.files.iter().filter(|known| is_at_or_above(&known.folder, folder));
        let own = above.filter_map(|known| Some((known.folder.len(), known.contents.package.as_deref()?)));
        own.max_by_key(|(depth, _)| *depth)
    }

    /// The languages for which the project's files show a check.
    fn languages(&self) -> Languages {
        let mut languages = Languages::NONE;
        for file in &self.files {
            let shows = !file.contents.shows.is_empty() || !file.contents.recipes.is_empty();
            if shows && file.reads() != Languages::ALL {
                languages = languages.and(file.reads());
            }
        }
        languages
    }

    /// For a line that runs in the root.
    pub fn proves(&self, line: &str) -> Kinds {
        kinds_of(&self.evidence_in_root(line))
    }

    fn evidence_in_root(&self, line: &str) -> Vec<CheckEvidence> {
        // A root that cannot exist, so that whole paths stay outside of it.
        let place = RunPlace { roots: &["/\0", "/"], cwd: "/\0", end: None, links: &[] };
        let evidence =
            shell::parse(line).map(|script| self.evidence(&script, place, &ExtraChecks::default()));
        evidence.unwrap_or_default()
    }

    fn judge(&self, step: &Step, folder: &str, words: &[Word], depth: usize) -> Proven {
        let Some(name) = name_of(step) else { return Proven::NONE };
        let arguments = words.get(1..).unwrap_or_default();
        if depth > DEEPEST
            || only_tells(arguments)
            || watch::watches(name, arguments)
            || self.background && watch::may_watch(name, arguments)
            || step.contained && self.nearest(folder, COMPOSE).is_none()
            || !program::is_in_place(step) && !shell_scripts::is_own_script(step)
            || program::is_disarmed(step)
        {
            return Proven::NONE;
        }
        let call = CheckCall { project: self, name, arguments, folder, depth };
        ECOSYSTEMS
            .iter()
            .filter(|ecosystem| among(ecosystem.commands, name))
            .filter(|ecosystem| among(ecosystem.alone, name) || self.has_manifest(ecosystem, folder))
            .map(|ecosystem| (ecosystem.judge)(&call).reading(ecosystem.reads))
            .chain(shell_scripts::judge_own_script(step))
            .reduce(Proven::and)
            .unwrap_or_default()
    }

    fn has_manifest(&self, ecosystem: &Ecosystem, folder: &str) -> bool {
        self.nearest(folder, ecosystem.manifests).is_some()
            || self
                .files
                .iter()
                .any(|file| has_ending(ecosystem, &file.name) && is_at_or_above(&file.folder, folder))
    }

    fn nearest(&self, folder: &str, names: &str) -> Option<&ProjectFile> {
        self.files
            .iter()
            .filter(|file| among(names, &file.name) && is_at_or_above(&file.folder, folder))
            .max_by_key(|file| file.folder.len())
    }
}

fn only_tells(arguments: &[Word]) -> bool {
    arguments.iter().any(is_telling)
}

pub(super) fn is_telling(word: &Word) -> bool {
    word.sort != Sort::Unknown && among(ONLY_TELLS, &word.text)
}

/// Commands that fail only if something is very wrong.
const HARDLY_FAILS: Words =
    "cd pushd popd set export unset echo printf true : mkdir rm touch sleep pwd date source .";

/// Whether nothing else in the line could have failed. Commands that hardly ever fail do not count.
fn is_only_checks(script: &Script, evidence: &[CheckEvidence]) -> bool {
    script.steps.iter().enumerate().all(|(number, step)| {
        evidence.iter().any(|found| found.step == number)
            || step.status != Status::Decides
            || step.name().is_none_or(|name| among(HARDLY_FAILS, name))
    })
}

fn is_at_or_above(above: &str, folder: &str) -> bool {
    // Whole paths are outside of the root.
    above.starts_with('/') == folder.starts_with('/') && shell::below(folder, above).is_some()
}

fn examples_of(list: &[(CheckKind, &str)]) -> Vec<Example> {
    list.iter().map(|(kind, command)| (*kind, (*command).to_owned())).collect()
}

fn runs_nothing(_: &ProjectChecks, _: &ProjectFile) -> &'static str {
    ""
}

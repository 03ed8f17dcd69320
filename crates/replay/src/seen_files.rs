//! Files of a project as far as a session shows them.
//!
//! Whether a command is a check depends on the project's manifests, and a transcript comes without the project. But sessions
//! read and edit manifests, runners print the recipe that they run, and a runner that ran had its manifest. Each file counts in
//! the version that was seen last before a moment, else first after it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use tidegate_core::feature::verification::checks;
use tidegate_core::shell::{self, Script, Step, Surroundings};
use tidegate_core::time::Millis;

/// One sight of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFile {
    /// Whole, with `/`.
    pub path: String,
    pub at: Millis,
    pub what: Sight,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    /// From here on it has this content.
    Text(Arc<str>),
    /// Before, it was not there.
    Created(Arc<str>),
    /// It is there.
    Exists,
    /// It has a recipe: its name and the line that it runs.
    Recipe(String, String),
    /// It has a recipe that ran, and whose line no output shows.
    Ran(String),
    /// It names the packages of a workspace.
    Workspaces,
}

/// Manifests that no rule reads yet.
const OTHER_MANIFESTS: [&str; 6] =
    ["mise.toml", ".mise.toml", "Taskfile.yml", "Taskfile.yaml", ".pre-commit-config.yaml", "lefthook.yml"];

/// Endings of scripts that a project may test with, and of files that say what a type checker reads.
const ENDINGS: [&str; 4] = [".sh", ".bash", ".bats", "config.json"];

/// Files beyond this size are not manifests.
const LONGEST: usize = 256 * 1024;

/// Tools whose result shows a file.
pub(crate) fn shows_file(tool: &str) -> bool {
    matches!(tool, "Read" | "Write" | "Edit" | "MultiEdit")
}

/// `path` with `/`.
pub(crate) fn is_of_interest(path: &str) -> bool {
    /// The tables of all ecosystems are long, and this is asked for every call that names a file.
    static MANIFEST_ENDINGS: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| checks::manifest_endings().collect());
    let name = path.rsplit('/').next().unwrap_or(path);
    checks::is_manifest_name(name)
        || MANIFEST_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || OTHER_MANIFESTS.contains(&name)
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The form in which paths of all systems are kept.
pub fn with_slashes(path: &str) -> String {
    path.replace('\\', "/")
}

/// From the result of a tool that read or wrote a file.
pub fn of_tool(tool: &str, input: &Value, result: &Value, at: Millis) -> Vec<SeenFile> {
    let path = with_slashes(input["file_path"].as_str().unwrap_or_default());
    if !is_of_interest(&path) {
        return Vec::new();
    }
    let seen = |at: Millis, what| SeenFile { path: path.clone(), at, what };
    let text = |text: String| if text.len() <= LONGEST { Sight::Text(text.into()) } else { Sight::Exists };
    let original = result["originalFile"].as_str();
    match tool {
        "Read" => {
            let file = &result["file"];
            let is_whole = file["startLine"] == 1 && file["numLines"] == file["totalLines"];
            let content = file["content"].as_str().filter(|_| is_whole);
            vec![seen(at, content.map_or(Sight::Exists, |content| text(content.to_owned())))]
        }
        "Write" => {
            let content = input["content"].as_str().unwrap_or_default();
            let is_new = result["type"] == "create" && content.len() <= LONGEST;
            let what = if is_new { Sight::Created(content.into()) } else { text(content.to_owned()) };
            vec![seen(at, what)]
        }
        "Edit" | "MultiEdit" => {
            let Some(before) = original else { return vec![seen(at, Sight::Exists)] };
            let single = std::slice::from_ref(input);
            let edits = input["edits"].as_array().map_or(single, Vec::as_slice);
            let after = edits.iter().fold(before.to_owned(), |text, edit| replace(&text, edit));
            vec![seen(at.before(1), text(before.to_owned())), seen(at, text(after))]
        }
        _ => Vec::new(),
    }
}

fn replace(text: &str, edit: &Value) -> String {
    let part = |name: &str| edit[name].as_str().unwrap_or_default();
    let (old, new) = (part("old_string"), part("new_string"));
    match (old.is_empty(), edit["replace_all"] == true) {
        (true, _) => new.to_owned(),
        (false, true) => text.replace(old, new),
        (false, false) => text.replacen(old, new, 1),
    }
}

/// Messages of runners without a manifest or without the recipe, and of missing programs.
const NOT_THERE: [&str; 19] = [
    "go.mod file not found",
    "cannot find main module",
    "could not find `Cargo.toml`",
    "Could not read package.json",
    "ENOENT",
    "No package.json",
    "no package.json",
    "ERR_PNPM_NO_IMPORTER_MANIFEST",
    "No such file or directory",
    "command not found",
    "unrecognized subcommand",
    "No makefile found",
    "not recognized as an internal or external command",
    "issing script",
    "Script not found",
    "ERR_PNPM_NO_SCRIPT",
    "No rule to make target",
    "does not contain recipe",
    "error Command \"",
];

/// Whoever did not start has little to say; the log of a test may contain all of these messages.
const LINES_OF_NOT_THERE: usize = 25;

/// How `tsc` begins to explain itself, if there is nothing to compile.
const EXPLAINS: &str = "The TypeScript Compiler - Version";

/// Programs that need no file of a project, but seldom run without one.
const SELDOM_ALONE: [(&str, &str); 3] =
    [("npx", "package.json"), ("mise", "mise.toml"), ("pytest", "pyproject.toml")];

/// A program that ran had this file, in its folder or above it.
fn manifest_of(program: &str) -> Option<&'static str> {
    let seldom = SELDOM_ALONE.iter().find(|(name, _)| *name == program);
    seldom.map(|(_, file)| *file).or_else(|| checks::manifest_of(program))
}

/// From a command line and its output.
pub fn of_run(line: &str, cwd: &str, output: &str, at: Millis) -> Vec<SeenFile> {
    let cwd = with_slashes(cwd);
    let surroundings = Surroundings { cwd: Some(&cwd), ..Surroundings::default() };
    let Some(script) = shell::parse_in(line, surroundings) else { return Vec::new() };
    let mut seen = recipes(&script, &cwd, output);
    for step in &script.steps {
        let Some(folder) = checks::folder_of(step).resolve(&cwd, &cwd, None) else { continue };
        if let Some(file) = step.name().and_then(manifest_of) {
            seen.push((format!("{folder}/{file}"), Sight::Exists));
            let ran = |name: &str| (format!("{folder}/{file}"), Sight::Ran(name.to_owned()));
            seen.extend(recipes_of(step).into_iter().map(ran));
            if file == "package.json" && step.name() != Some("pnpm") && has_word(step, &WORKSPACES) {
                seen.push((format!("{folder}/{file}"), Sight::Workspaces));
            }
        }
        // With the name of a file it needs none, but a project whose types are checked has one.
        if step.name() == Some("tsc") && !has_word(step, &["-p", "--project"]) {
            seen.push((format!("{folder}/tsconfig.json"), Sight::Exists));
        }
        if step.name() == Some("pnpm") && has_word(step, &["--filter", "-F", "-r", "--recursive"]) {
            seen.push((format!("{folder}/pnpm-workspace.yaml"), Sight::Exists));
        }
        seen.extend(own_script(step).map(|path| (shell_path(&folder, path), Sight::Exists)));
    }
    // Last, because most lines show nothing, and outputs are long.
    if !seen.is_empty() && (did_not_start(output) || holds(output, EXPLAINS)) {
        return Vec::new();
    }
    seen.into_iter().map(|(path, what)| SeenFile { path, at, what }).collect()
}

fn did_not_start(output: &str) -> bool {
    output.lines().nth(LINES_OF_NOT_THERE).is_none() && NOT_THERE.iter().any(|message| holds(output, message))
}

fn holds(output: &str, message: &str) -> bool {
    memchr::memmem::find(output.as_bytes(), message.as_bytes()).is_some()
}

/// Also before a value: `--workspace=api`.
fn has_word(step: &Step, words: &[&str]) -> bool {
    step.words.iter().any(|word| words.contains(&word.text.split('=').next().unwrap_or_default()))
}

fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| end == extension)
}

/// The script of a project that a step runs, by itself or with a shell.
fn own_script(step: &Step) -> Option<&str> {
    let mut words = step.words.iter().filter_map(|word| word.known());
    let first = words.next()?;
    let script = match first.rsplit('/').next()? {
        "bash" | "sh" | "zsh" | "bats" => words.find(|word| !word.starts_with('-'))?,
        _ => first,
    };
    (script.contains('/') && is_of_interest(script)).then_some(script)
}

fn shell_path(folder: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Options that run the recipe of another package.
const WORKSPACES: [&str; 6] = ["-w", "--workspace", "--workspaces", "-ws", "workspace", "workspaces"];
const ELSEWHERE: [&str; 8] =
    ["-w", "--workspace", "--workspaces", "-ws", "--filter", "-F", "-r", "workspace"];

/// Options of these runners that take the next word as a value.
const VALUED: [&str; 8] = ["-C", "--dir", "--cwd", "--directory", "-f", "--file", "--prefix", "--loglevel"];

/// What Yarn does itself, whatever the scripts are called.
const YARN_VERBS: [&str; 32] = [
    "add", "audit", "bin", "cache", "check", "config", "create", "dedupe", "dlx", "exec", "import", "info",
    "init", "install", "link", "list", "node", "npm", "outdated", "pack", "patch", "plugin", "publish",
    "rebuild", "remove", "set", "unlink", "up", "upgrade", "version", "versions", "why",
];

/// More targets than a person types.
const MOST_TARGETS: usize = 20;

/// The recipes that a step runs, in the folder that it names.
fn recipes_of(step: &Step) -> Vec<&str> {
    let Some(runner) = step.name().filter(|_| !has_word(step, &ELSEWHERE)) else { return Vec::new() };
    let mut operands = Vec::new();
    let mut words =
        step.words.iter().skip(1).filter_map(|word| word.known()).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        if VALUED.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            operands.push(word);
        }
    }
    let is_own = |name: &str| runner == "yarn" && YARN_VERBS.contains(&name);
    let is_script = |name: &&str| checks::manifest_of(name).is_none() && !is_own(name);
    match (runner, operands.as_slice()) {
        ("npm" | "pnpm" | "yarn" | "bun", ["run" | "run-script", name, ..])
        | ("deno", ["task", name, ..]) => vec![*name],
        ("npm" | "pnpm", ["t" | "tst", ..]) => vec!["test"],
        ("npm", [name @ "test", ..]) => vec![*name],
        ("pnpm" | "yarn", [name, ..]) => Some(*name).filter(is_script).into_iter().collect(),
        ("just", [name, ..]) if !name.contains('=') => vec![*name],
        // A number belongs to `-j`.
        ("make" | "gmake", targets) => {
            let is_target = |word: &&str| !word.contains('=') && word.parse::<u32>().is_err();
            targets.iter().copied().filter(is_target).take(MOST_TARGETS).collect()
        }
        _ => Vec::new(),
    }
}

/// The one recipe that a package manager runs.
fn recipe_of(step: &Step) -> Option<&str> {
    recipes_of(step).first().copied()
}

/// What was typed behind the name of a recipe is printed at the end of its line.
fn without_arguments<'a>(body: &'a str, step: &Step, name: &str) -> &'a str {
    let words = step.words.iter().map(|word| word.text.as_str());
    let typed = words.skip_while(|word| *word != name).skip(1).filter(|word| *word != "--");
    let typed: Vec<&str> = typed.collect();
    let mut rest = body.trim_end();
    for word in typed.iter().rev() {
        let Some(before) = before_word(rest, word) else { break };
        rest = before;
    }
    rest
}

/// What is before the last word, which may have quotes.
fn before_word<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let quoted = ["\"", "'"]
        .iter()
        .find_map(|quote| line.strip_suffix(quote)?.strip_suffix(word)?.strip_suffix(quote));
    let before = quoted.or_else(|| line.strip_suffix(word))?.strip_suffix(' ')?.trim_end();
    (!before.is_empty()).then_some(before)
}

/// Recipes that runners print: before they run them, or when they failed.
fn recipes(script: &Script, cwd: &str, output: &str) -> Vec<(String, Sight)> {
    let runner = |names: &[&str]| {
        script.steps.iter().find(|step| step.name().is_some_and(|name| names.contains(&name)))
    };
    let folder = |step: &Step| checks::folder_of(step).resolve(cwd, cwd, None);
    let mut seen = Vec::new();
    let mut add = |folder: &str, file: &str, name: &str, body: &str| {
        for step in shell::parse(body).into_iter().flat_map(|script| script.steps) {
            let needs = step.name().and_then(checks::manifest_of).filter(|needed| *needed != file);
            seen.extend(needs.map(|needed| (format!("{folder}/{needed}"), Sight::Exists)));
            if file == "package.json" && has_word(&step, &WORKSPACES) {
                seen.push((format!("{folder}/{file}"), Sight::Workspaces));
            }
        }
        let recipe = Sight::Recipe(name.trim().to_owned(), body.trim().to_owned());
        seen.push((format!("{folder}/{file}"), recipe));
    };
    // Each of them prints a recipe at the beginning of a line, behind one of these, or in a message.
    if ![b'$', b'>', b'`'].iter().any(|sign| memchr::memchr(*sign, output.as_bytes()).is_some()) {
        return seen;
    }
    let lines: Vec<&str> = output.lines().map(str::trim_end).collect();
    if let Some(folder) = runner(&["mise"]).and_then(folder) {
        for line in &lines {
            if let Some((name, body)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] $ ")) {
                add(&folder, "mise.toml", name, body);
            }
        }
    }
    if let Some(step) = runner(&["bun", "yarn"]) {
        let body = lines.iter().find_map(|line| line.strip_prefix("$ "));
        if let (Some(folder), Some(name), Some(body)) = (folder(step), recipe_of(step), body) {
            add(&folder, "package.json", name, without_arguments(body, step, name));
        }
    }
    let here = runner(&["npm", "pnpm"]);
    let script = here.and_then(recipe_of);
    // A recipe may run those of other packages.
    let mut own_package = None;
    for pair in lines.windows(2) {
        let (Some(head), Some(body)) = (pair[0].strip_prefix("> "), pair[1].strip_prefix("> ")) else {
            continue;
        };
        // `> name@1.0.0 test` of npm, `> test` if the package has no name; pnpm adds the folder.
        let mut words = head.split(' ');
        let package = words.next().filter(|package| package.contains('@'));
        let named = package.and_then(|_| words.next());
        let Some(name) = named.or_else(|| script.filter(|script| *script == head)) else { continue };
        let printed = words.next().filter(|folder| folder.starts_with('/')).map(str::to_owned);
        if script == Some(name) {
            own_package.get_or_insert(package);
        }
        let step = here.filter(|_| own_package == Some(package));
        let body = here.map_or(body, |step| without_arguments(body, step, name));
        if let Some(folder) = printed.or_else(|| step.and_then(folder)) {
            add(&folder, "package.json", name, body);
        }
    }
    let after = |beginning: &str| lines.iter().find_map(|line| line.strip_prefix(beginning));
    let failed = after("npm error Lifecycle script `").and_then(|rest| rest.split('`').next());
    if let (Some(name), Some(folder), Some(body), Some(step)) =
        (failed, after("npm error path "), after("npm error command sh -c "), here)
    {
        add(&with_slashes(folder), "package.json", name, without_arguments(body, step, name));
    }
    seen
}

/// The files of a project, over the time of one session.
#[derive(Default)]
pub struct ProjectFiles {
    /// By path below the project's root, in the order of time.
    texts: BTreeMap<String, Vec<(Millis, Sight)>>,
    /// By path, then by name.
    recipes: BTreeMap<String, BTreeMap<String, Vec<(Millis, String)>>>,
    /// Recipes without a line, by path.
    ran: BTreeMap<String, BTreeSet<String>>,
    workspaces: BTreeSet<String>,
    exist: BTreeSet<String>,
    /// Times at which a file or recipe has another version, in order.
    changes: Vec<Millis>,
}

/// Texts that several sights share.
#[derive(Default)]
struct SharedTexts {
    known: BTreeSet<Arc<str>>,
    bytes: usize,
}

/// Beyond so many bytes, of a new text only its existence counts.
const MOST_TEXT: usize = 6 * 1024 * 1024;

/// What one session shows: each text once, and nothing that it showed before.
#[derive(Default)]
pub struct SeenFiles {
    files: Vec<SeenFile>,
    texts: SharedTexts,
    /// Sights other than texts, with the line of a recipe apart: the last one counts.
    last: BTreeMap<(String, Sight), String>,
}

impl SeenFiles {
    pub(crate) fn add(&mut self, seen: Vec<SeenFile>) {
        for SeenFile { path, at, what } in seen {
            let what = match &what {
                Sight::Text(text) => self.texts.share(text).map_or(Sight::Exists, Sight::Text),
                Sight::Created(text) => self.texts.share(text).map_or(Sight::Exists, Sight::Created),
                Sight::Exists | Sight::Recipe(..) | Sight::Ran(_) | Sight::Workspaces => what,
            };
            let line = match &what {
                Sight::Text(_) | Sight::Created(_) => None,
                Sight::Recipe(name, line) => Some((Sight::Recipe(name.clone(), String::new()), line.clone())),
                Sight::Exists | Sight::Ran(_) | Sight::Workspaces => Some((what.clone(), String::new())),
            };
            let again = line.is_some_and(|(known, line)| {
                self.last.insert((path.clone(), known), line.clone()).as_ref() == Some(&line)
            });
            if !again {
                self.files.push(SeenFile { path, at, what });
            }
        }
    }

    pub fn into_files(self) -> Vec<SeenFile> {
        self.files
    }
}

impl SharedTexts {
    fn share(&mut self, text: &Arc<str>) -> Option<Arc<str>> {
        if let Some(known) = self.known.get(text) {
            return Some(known.clone());
        }
        if self.bytes + text.len() > MOST_TEXT {
            return None;
        }
        self.bytes += text.len();
        self.known.insert(text.clone());
        Some(text.clone())
    }
}

impl ProjectFiles {
    /// Of the sights, those of files below `root`.
    pub fn of(root: &str, seen: &[SeenFile]) -> ProjectFiles {
        let mut files = ProjectFiles::default();
        for SeenFile { path, at, what } in seen {
            let Some(below) = path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) else {
                continue;
            };
            // A path that leaves the project is not one of its files.
            if below.split('/').any(|part| matches!(part, ".." | "." | "")) {
                continue;
            }
            let below = below.to_owned();
            match what {
                Sight::Exists => _ = files.exist.insert(below),
                Sight::Ran(name) => _ = files.ran.entry(below).or_default().insert(name.clone()),
                Sight::Workspaces => _ = files.workspaces.insert(below),
                Sight::Recipe(name, body) => {
                    let versions = files.recipes.entry(below).or_default().entry(name.clone()).or_default();
                    versions.push((*at, body.clone()));
                }
                Sight::Text(_) | Sight::Created(_) => {
                    files.texts.entry(below).or_default().push((*at, what.clone()));
                }
            }
        }
        files.sort();
        files
    }

    fn sort(&mut self) {
        self.texts.values_mut().for_each(|versions| versions.sort_by_key(|(at, _)| *at));
        self.recipes.values_mut().flat_map(BTreeMap::values_mut).for_each(|all| {
            all.sort_by_key(|(at, _)| *at);
            all.dedup_by(|next, one| next.1 == one.1);
        });
        let texts = self.texts.values().flatten().map(|(at, _)| *at);
        let recipes = self.recipes.values().flat_map(BTreeMap::values).flatten().map(|(at, _)| *at);
        self.changes = texts.chain(recipes).collect();
        self.changes.sort_unstable();
        self.changes.dedup();
    }

    /// The same number for times at which all files are the same.
    pub fn version_at(&self, time: Millis) -> usize {
        self.changes.partition_point(|change| *change <= time)
    }

    /// All files as they were at that time, by path below the root.
    pub fn at(&self, time: Millis) -> BTreeMap<String, Arc<str>> {
        let mut files: BTreeMap<String, Arc<str>> = BTreeMap::new();
        for (path, versions) in &self.texts {
            if let Some(text) = text_at(versions, time) {
                files.insert(path.clone(), text.clone());
            }
        }
        let shown: BTreeSet<&String> =
            self.recipes.keys().chain(self.ran.keys()).chain(&self.workspaces).collect();
        for path in shown.into_iter().filter(|path| !self.texts.contains_key(*path)) {
            let known = self.recipes.get(path).into_iter().flatten();
            let known =
                known.filter_map(|(name, all)| Some((name.as_str(), version_at(all, time)?.as_str())));
            let mut recipes: BTreeMap<&str, &str> = known.collect();
            for name in self.ran.get(path).into_iter().flatten() {
                recipes.entry(name).or_insert(UNSHOWN);
            }
            let text = write_recipes(path, &recipes, self.workspaces.contains(path));
            files.insert(path.clone(), text.into());
        }
        // A manifest nearer to the root covers those below it.
        let mut exist: Vec<&String> = self.exist.iter().collect();
        exist.sort_by_key(|path| path.matches('/').count());
        for path in exist.into_iter().filter(|path| !self.texts.contains_key(*path)) {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let is_covered = name != "tsconfig.json"
                && ancestors(folder).any(|above| files.contains_key(&join(above, name)));
            if !is_covered {
                files.entry(path.clone()).or_insert_with(|| "".into());
            }
        }
        files
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The folder, and those above it up to the root.
fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| match folder.rsplit_once('/') {
        Some((above, _)) => Some(above),
        None => (!folder.is_empty()).then_some(""),
    })
}

/// The last version before the time, else the first one after it.
fn version_at<T>(versions: &[(Millis, T)], time: Millis) -> Option<&T> {
    let before = versions.iter().rev().find(|(at, _)| *at <= time);
    before.or(versions.first()).map(|(_, version)| version)
}

fn text_at(versions: &[(Millis, Sight)], time: Millis) -> Option<&Arc<str>> {
    let is_before = |(at, _): &&(Millis, Sight)| *at <= time;
    match versions.iter().rev().find(is_before).or(versions.first())? {
        (at, Sight::Created(_)) if *at > time => None,
        (_, Sight::Created(text) | Sight::Text(text)) => Some(text),
        _ => None,
    }
}

/// In the place of a line that no output shows: a program without rules, so that the recipe's name decides.
const UNSHOWN: &str = "unshown";

/// A manifest with nothing but these recipes.
fn write_recipes(path: &str, recipes: &BTreeMap<&str, &str>, is_workspace: bool) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    if has_extension(path, "toml") {
        let task = |(name, body): (&&str, &&str)| format!("[tasks.{}]\nrun = {}\n", json!(name), json!(body));
        return recipes.iter().map(task).collect();
    }
    if name != "package.json" && !has_extension(name, "json") {
        let recipes: Vec<_> = recipes.iter().map(|(name, body)| format!("{name}:\n\t{body}\n")).collect();
        return recipes.concat();
    }
    let scripts: serde_json::Map<String, Value> =
        recipes.iter().map(|(name, body)| ((*name).to_owned(), json!(body))).collect();
    if is_workspace { json!({"scripts": scripts, "workspaces": []}) } else { json!({ "scripts": scripts }) }
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs_show(line: &str, output: &str) -> Vec<(String, Sight)> {
        of_run(line, "/p", output, Millis(1)).into_iter().map(|seen| (seen.path, seen.what)).collect()
    }

    fn recipe(path: &str, name: &str, body: &str) -> (String, Sight) {
        (path.to_owned(), Sight::Recipe(name.to_owned(), body.to_owned()))
    }

    #[test]
    fn runners_show_their_recipes() {
        assert!(runs_show("mise run test", "[test] $ go test ./...\nok").contains(&recipe(
            "/p/mise.toml",
            "test",
            "go test ./..."
        )));
        let npm = "\n> shop@1.0.0 test\n> vitest run\n\n";
        assert!(runs_show("cd web && npm test", npm).contains(&recipe(
            "/p/web/package.json",
            "test",
            "vitest run"
        )));
        let pnpm = "> @shop/api@0.1.0 build /p/apps/api\n> tsc -b\n";
        assert!(runs_show("pnpm --filter api build", pnpm).contains(&recipe(
            "/p/apps/api/package.json",
            "build",
            "tsc -b"
        )));
        assert!(runs_show("bun run lint", "$ biome check\n").contains(&recipe(
            "/p/package.json",
            "lint",
            "biome check"
        )));
        let root = |what| ("/p/package.json".to_owned(), what);
        assert_eq!(runs_show("npm test -w api", npm), [root(Sight::Exists), root(Sight::Workspaces)]);
        // Without a name or a version of the package.
        assert!(runs_show("npm test", "\n> test\n> vitest run\n").contains(&recipe(
            "/p/package.json",
            "test",
            "vitest run"
        )));
        let yarn = "yarn run v1.22.19\n$ jest --ci\nDone in 1.2s.\n";
        assert!(runs_show("yarn test", yarn).contains(&recipe("/p/package.json", "test", "jest --ci")));
        // What was typed is not a part of it.
        let one = "> shop@1.0.0 test\n> jest src/a.test.ts\n";
        assert!(runs_show("npm test -- src/a.test.ts", one).contains(&recipe(
            "/p/package.json",
            "test",
            "jest"
        )));
        // The recipe has the same word.
        let same = "> shop@1.0.0 test\n> jest src --dir src 'a b'\n";
        assert!(runs_show("npm test -- src 'a b'", same).contains(&recipe(
            "/p/package.json",
            "test",
            "jest src --dir"
        )));
        let inner = "> shop@1.0.0 ci\n> npm test --workspaces\n> api@1.0.0 test\n> jest\n";
        let inner = runs_show("npm run ci", inner);
        assert!(inner.contains(&recipe("/p/package.json", "ci", "npm test --workspaces")), "{inner:?}");
        assert!(inner.contains(&root(Sight::Workspaces)));
        assert!(!inner.contains(&recipe("/p/package.json", "test", "jest")));
        let failed = "npm error Lifecycle script `test` failed with error:\nnpm error code 1\n\
            npm error path /p/packages/api\nnpm error command sh -c jest\n";
        assert!(runs_show("npm test -w api", failed).contains(&recipe(
            "/p/packages/api/package.json",
            "test",
            "jest"
        )));
        let mise = runs_show("mise run lint", "[lint] $ golangci-lint run ./...\n0 issues.");
        assert!(mise.contains(&("/p/go.mod".to_owned(), Sight::Exists)));
    }

    #[test]
    fn a_recipe_that_ran_exists() {
        let ran = |line: &str, output: &str| {
            let seen = runs_show(line, output).into_iter();
            let names = seen.filter_map(|(path, what)| match what {
                Sight::Ran(name) => Some(format!("{path} {name}")),
                _ => None,
            });
            names.collect::<Vec<_>>()
        };
        assert_eq!(ran("npm test 2>&1 | tail -3", "Tests: 3 passed, 3 total"), ["/p/package.json test"]);
        assert_eq!(ran("cd web && yarn build", "done"), ["/p/web/package.json build"]);
        assert_eq!(ran("make -j 4 lint test V=1", "ok"), ["/p/Makefile lint", "/p/Makefile test"]);
        assert_eq!(ran("make -C web test", "ok"), ["/p/web/Makefile test"]);
        assert_eq!(ran("npm --prefix web test", "ok"), ["/p/web/package.json test"]);
        assert_eq!(ran("pnpm -C apps/api test | tail -3", "ok"), ["/p/apps/api/package.json test"]);
        let many: Vec<String> = (0..5_000).map(|n| format!("t{n}")).collect();
        assert_eq!(ran(&format!("make {}", many.join(" ")), "ok").len(), MOST_TARGETS);
        for (line, output) in [
            ("npm test", "npm error Missing script: \"test\""),
            ("make check", "make: *** No rule to make target 'check'.  Stop."),
            ("yarn jest", "ok"),
            ("yarn check", "ok"),
            ("yarn install --immutable", "ok"),
            ("bun test", "ok"),
            ("npm install", "ok"),
            ("npm test -w api", "ok"),
        ] {
            assert!(ran(line, output).is_empty(), "{line}");
        }
    }

    #[test]
    fn a_runner_that_ran_had_its_manifest() {
        let exists = |path: &str| (path.to_owned(), Sight::Exists);
        assert_eq!(runs_show("cd a && go test ./... | tail", "ok"), [exists("/p/a/go.mod")]);
        assert_eq!(runs_show("go test", "go: go.mod file not found in current directory"), []);
        assert_eq!(runs_show("bash ./scripts/test-all.sh", "fine"), [exists("/p/scripts/test-all.sh")]);
        assert_eq!(runs_show("gradle test | tail", "BUILD SUCCESSFUL in 3s"), [exists("/p/pom.xml")]);
        assert_eq!(runs_show("mvn -q verify", ""), [exists("/p/pom.xml")]);
        assert_eq!(runs_show("bundle exec rspec", "3 examples, 0 failures"), [exists("/p/Gemfile")]);
        assert_eq!(runs_show("docker ps", ""), []);
        // A log of many lines may say anything.
        let log = format!("{}cat: a.txt: No such file or directory\n", "ok  shop/a  0.1s\n".repeat(40));
        assert_eq!(runs_show("go test ./...", &log), [exists("/p/go.mod")]);
    }

    #[test]
    fn what_was_shown_before_is_not_kept_again() {
        let mut seen = SeenFiles::default();
        let sight = |what| SeenFile { path: "/p/Makefile".to_owned(), at: Millis(1), what };
        let ran = |name: usize| sight(Sight::Ran(format!("t{name}")));
        // Each of them looked through all others once.
        for _ in 0..2 {
            seen.add((0..100_000).map(ran).collect());
            seen.add(vec![sight(Sight::Workspaces), sight(Sight::Exists)]);
        }
        let lines = ["a", "a", "b", "a"].map(|line| sight(Sight::Recipe("t0".into(), line.into())));
        seen.add(lines.into());
        assert_eq!(seen.into_files().len(), 100_000 + 2 + 3);
    }

    #[test]
    fn a_file_has_the_version_of_its_time() {
        let seen = |path: &str, at, what| SeenFile { path: format!("/p/{path}"), at: Millis(at), what };
        let text = |text: &str| Sight::Text(text.into());
        let files = ProjectFiles::of(
            "/p",
            &[
                seen("package.json", 20, text("b")),
                seen("package.json", 10, text("a")),
                seen("tsconfig.json", 15, Sight::Created("{}".into())),
                seen("web/package.json", 12, Sight::Recipe("test".into(), "jest".into())),
                seen("web/src/package.json", 12, Sight::Exists),
                seen("go.mod", 12, Sight::Exists),
            ],
        );
        let at = |time, path: &str| files.at(Millis(time)).get(path).cloned();
        assert_eq!(at(5, "package.json").as_deref(), Some("a"));
        assert_eq!(at(25, "package.json").as_deref(), Some("b"));
        assert_eq!((at(14, "tsconfig.json"), at(15, "tsconfig.json").as_deref()), (None, Some("{}")));
        assert_eq!(at(1, "web/package.json").as_deref(), Some(r#"{"scripts":{"test":"jest"}}"#));
        assert_eq!((at(1, "web/src/package.json"), at(1, "go.mod").as_deref()), (None, Some("")));
    }

    #[test]
    fn edits_show_a_file_before_and_after() {
        let input = json!({"file_path": "/p/package.json", "old_string": "jest", "new_string": "vitest"});
        let result = json!({"originalFile": "run jest"});
        let seen = of_tool("Edit", &input, &result, Millis(9));
        let texts: Vec<_> = seen.into_iter().map(|seen| (seen.at.0, seen.what)).collect();
        assert_eq!(texts, [(8, Sight::Text("run jest".into())), (9, Sight::Text("run vitest".into()))]);
        let source = json!({"file_path": "/p/src/a.ts"});
        assert_eq!(of_tool("Write", &source, &json!({}), Millis(1)), []);
    }
}

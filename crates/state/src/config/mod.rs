//! The config files, read and laid over each other: user < the user's section for this project < project < local <
//! environment. A section that cannot be used is left out, a file that cannot be read counts as it last could be, and the config
//! says so.

mod copies;
pub mod off;
pub mod trust;

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tidegate_core::feature as policy;
use tidegate_core::feature::config::layer::{Assignment, Layer, Origin, key_path as path_of};
use tidegate_core::feature::config::{BrokenFile, Config, ConfigOwner, parse_off_list};
use tidegate_core::settings::near;
use tidegate_core::settings::section::Voice;
use tidegate_core::settings::value::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::copies::Copies;
use crate::file::bounded;
use crate::place::StateDir;
use crate::project;

/// More than this is no config file.
pub const LARGEST: u64 = 256 * 1024;

/// More keys than anybody would set; a file of a stranger must not cost us our time.
const MOST_KEYS: usize = 1000;

/// In a longer file with mistakes nothing is looked for: each mistake costs time.
const LONGEST_REST: usize = 16 * 1024;

/// So many are written down; the rest is counted.
const MOST_PROBLEMS: usize = 20;

/// A project's own files, the nearer last.
pub const PROJECT_FILES: [&str; 2] = [".claude/tidegate.toml", ".claude/tidegate.local.toml"];

/// Where the config comes from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sources<'a> {
    /// The user's own file.
    pub user: Option<&'a Path>,
    /// The project.
    pub root: Option<&'a Path>,
    /// Where it is remembered which files a person trusts.
    pub state: Option<&'a StateDir>,
    /// `TIDEGATE_*` variables that stand for keys.
    pub variables: &'a [(String, String)],
    /// `TIDEGATE_OFF`.
    pub off: Option<&'a str>,
}

/// Reads all of it. A missing file is no problem.
pub fn read(sources: &Sources<'_>) -> Config {
    let mut config = Config::default();
    if let Some(user) = sources.user {
        let (settled, stricter) = match read_whole(user, ConfigOwner::User, sources.state, &mut config) {
            Found::Nothing => (None, None),
            Found::Now(parsed, _) => (Some(parsed), None),
            Found::Broken { copy, rest } => (copy, rest),
        };
        if let Some(parsed) = settled {
            config.problems.extend(parsed.problems);
            config.apply(&Layer { voice: Voice::User, assignments: parsed.assignments });
            for assignments in of_project(parsed.projects, sources.root) {
                config.apply(&Layer { voice: Voice::User, assignments });
            }
        }
        if let Some(parsed) = stricter {
            apply_stricter(&mut config, parsed.assignments);
            for assignments in of_project(parsed.projects, sources.root) {
                apply_stricter(&mut config, assignments);
            }
        }
    }
    for path in project_files(sources.root) {
        match read_whole(&path, ConfigOwner::Project, sources.state, &mut config) {
            Found::Nothing => {}
            Found::Now(parsed, text) => {
                if !parsed.projects.is_empty() {
                    config.problems.push(format!(
                        "{}: [project] is for the user's own config and left out here",
                        path.display()
                    ));
                }
                let trusted = sources.state.is_some_and(|state| trust::is_trusted(state, &path, &text));
                let voice = if trusted { Voice::Trusted } else { Voice::Untrusted };
                config.apply(&Layer { voice, assignments: parsed.assignments });
            }
            // Any change revokes trust; this one, too.
            Found::Broken { copy, rest } => {
                for parsed in [copy, rest].into_iter().flatten() {
                    apply_stricter(&mut config, parsed.assignments);
                }
            }
        }
    }
    if !sources.variables.is_empty() {
        let layer = config.layer_of_environment(sources.variables);
        config.apply(&layer);
    }
    if let Some(off) = sources.off {
        config.off = parse_off_list(off);
        let unknown =
            config.off.iter().filter(|id| !policy::switchable_policies().any(|known| known == id.as_str()));
        let problem = |id: &String| {
            format!(
                "TIDEGATE_OFF: there is no policy `{id}`{}",
                near::hint(id, policy::switchable_policies())
            )
        };
        let problems: Vec<String> = unknown.map(problem).collect();
        config.problems.extend(problems);
    }
    let more = config.problems.len().saturating_sub(MOST_PROBLEMS);
    if more > 0 {
        config.problems.truncate(MOST_PROBLEMS);
        config.problems.push(format!("and {more} more"));
    }
    config
}

/// The files of a project that can hold settings.
pub fn project_files(root: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    root.into_iter().flat_map(|root| PROJECT_FILES.map(|file| root.join(file)))
}

/// What there is of a file.
enum Found {
    Nothing,
    /// The file as it is, and its text.
    Now(Parsed, String),
    /// It cannot be read as a whole.
    Broken {
        /// The file as it could last be read.
        copy: Option<Parsed>,
        /// What is readable between mistakes and not in the copy. Its keys may stand in a wrong section, so it may only make
        /// something stricter.
        rest: Option<Parsed>,
    },
}

/// Reads a file. Of one that cannot be read as a whole the last copy counts that could be, since a stray bracket must not open
/// a gate, and what was made stricter since.
fn read_whole(path: &Path, owner: ConfigOwner, state: Option<&StateDir>, config: &mut Config) -> Found {
    let file = path.to_string_lossy().into_owned();
    let (wrong, text) = match read_file(path) {
        Ok(None) => return Found::Nothing,
        Err(error) => (Wrong { line: None, what: error.to_string() }, None),
        Ok(Some(text)) => match parse(&text, &file, config) {
            Ok(parsed) => return Found::Now(parsed, text),
            Err(wrong) => (wrong, Some(text)),
        },
    };
    let copy = state.and_then(|state| LAST_GOOD.read(state, path));
    let copy = copy.and_then(|copy| parse(&copy, &format!("{file} (last copy)"), config).ok());
    let copy = copy.map(|mut copy| {
        copy.retain(|_, assignment| assignment.value != Value::Text(ADDRESS.to_owned()));
        copy
    });
    let broken = BrokenFile { file: file.clone(), line: wrong.line, has_copy: copy.is_some(), owner };
    let counts = match (broken.has_copy, owner) {
        (true, ConfigOwner::User) => "its last copy that could be read counts, and what is stricter in it",
        (true, ConfigOwner::Project) => {
            "of it and its last copy that could be read only what is stricter counts"
        }
        (false, ConfigOwner::User) => {
            "there is no earlier copy, so built-in values count, and what is stricter in it"
        }
        (false, ConfigOwner::Project) => "there is no earlier copy, so only what is stricter in it counts",
    };
    config.problems.push(format!("{}: {}; {counts}", broken.location(), wrong.what));
    config.broken.push(broken);
    let text = text.filter(|text| text.len() <= LONGEST_REST);
    let mut rest = text.and_then(|text| rest(&text, &file, config));
    if let (Some(copy), Some(rest)) = (&copy, &mut rest) {
        // A line that was there before has had its say, and another one may have said more.
        rest.retain(|project, assignment| !copy.has(project, assignment));
    }
    Found::Broken { copy, rest }
}

/// Only what makes something stricter counts. Of the rest nothing is said: the file's own problem is said.
fn apply_stricter(config: &mut Config, assignments: Vec<Assignment>) {
    let (problems, waiting) = (config.problems.len(), config.waiting.len());
    config.apply(&Layer { voice: Voice::Untrusted, assignments });
    config.problems.truncate(problems);
    config.waiting.truncate(waiting);
}

/// Config files as they could last be read.
const LAST_GOOD: Copies = Copies("config");

/// Keeps copies of the config files as they are now, of each that can be read and has changed. Each copy has the time of its
/// file, so that of a file that was not written since no more is looked at.
pub fn keep_copies(state: &StateDir, user: Option<&Path>, root: Option<&Path>) {
    for path in user.map(Path::to_owned).into_iter().chain(project_files(root)) {
        let Ok(written) = fs::metadata(&path).and_then(|found| found.modified()) else { continue };
        if LAST_GOOD.time(state, &path) == Some(written) {
            continue;
        }
        let Ok(Some(text)) = read_file(&path) else { continue };
        let text = without_addresses(&text);
        let is_kept = || LAST_GOOD.read(state, &path).is_some_and(|copy| copy == text);
        let keep = || {
            LAST_GOOD.remove_unfinished(state, &path);
            LAST_GOOD.write(state, &path, &text).is_ok()
        };
        // Without a copy a mistake costs more, but nothing else.
        if is_kept() || (parse(&text, "", &Config::default()).is_ok() && keep()) {
            let _ = LAST_GOOD.set_time(state, &path, written);
        }
    }
}

/// Stands in a copy for a text with an address in it. No setting has this value.
const ADDRESS: &str = "://";

/// An address may hold a password, which belongs in no other file. Sections, keys and lines stay as they are.
fn without_addresses(text: &str) -> String {
    let mut spans = Vec::new();
    if let Ok(table) = DeTable::parse(text) {
        table.get_ref().values().for_each(|value| addresses(value, &mut spans));
    }
    spans.sort_by_key(|span| span.start);
    let (mut kept, mut at) = (String::with_capacity(text.len()), 0);
    for span in spans {
        push_without_comments(&text[at..span.start], &mut kept);
        kept.extend(["\"", ADDRESS, "\""]);
        kept.extend(text[span.clone()].matches('\n'));
        at = span.end;
    }
    push_without_comments(&text[at..], &mut kept);
    kept
}

/// Where the texts are that have an address in them.
fn addresses(value: &Spanned<DeValue<'_>>, spans: &mut Vec<Range<usize>>) {
    match value.get_ref() {
        DeValue::String(text) if text.contains(ADDRESS) => spans.push(value.span()),
        DeValue::Array(items) => items.iter().for_each(|item| addresses(item, spans)),
        DeValue::Table(table) => table.values().for_each(|value| addresses(value, spans)),
        _ => {}
    }
}

/// Outside values an address is in a comment, which ends there. (In a key it leaves an open quote, and a text that cannot be
/// read is not kept.)
fn push_without_comments(text: &str, kept: &mut String) {
    for line in text.split_inclusive('\n') {
        match line.find(ADDRESS) {
            Some(at) => {
                kept.push_str(&line[..at]);
                kept.extend(line.ends_with('\n').then_some('\n'));
            }
            None => kept.push_str(line),
        }
    }
}

/// The text of a config file, if there is one.
fn read_file(path: &Path) -> io::Result<Option<String>> {
    let read = bounded::read(path, LARGEST)
        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8")));
    match read {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Why a file cannot be read as a whole.
struct Wrong {
    line: Option<usize>,
    what: String,
}

/// What a file sets.
struct Parsed {
    assignments: Vec<Assignment>,
    /// Settings for single projects, by their root.
    projects: Vec<(String, Vec<Assignment>)>,
    /// What is wrong with them.
    problems: Vec<String>,
}

impl Parsed {
    /// Keeps what is wanted, told by the project it is for and what it sets.
    fn retain(&mut self, is_wanted: impl Fn(Option<&str>, &Assignment) -> bool) {
        self.assignments.retain(|assignment| is_wanted(None, assignment));
        for (project, assignments) in &mut self.projects {
            assignments.retain(|assignment| is_wanted(Some(project), assignment));
        }
    }

    /// Whether it sets the same, on whichever line.
    fn has(&self, project: Option<&str>, wanted: &Assignment) -> bool {
        let assignments = match project {
            None => Some(&self.assignments),
            Some(project) => {
                let found = self.projects.iter().find(|(path, _)| path == project);
                found.map(|(_, assignments)| assignments)
            }
        };
        assignments.is_some_and(|assignments| {
            assignments.iter().any(|found| {
                (&found.section, &found.key, &found.value) == (&wanted.section, &wanted.key, &wanted.value)
            })
        })
    }
}

/// Everything that a file sets, also what no section or key is there for, each with its value as it is written.
pub fn everything(text: &str, file: &str, config: &Config) -> Vec<(Assignment, String)> {
    let lines = Lines::of(text);
    let Ok(table) = DeTable::parse(text) else { return Vec::new() };
    let mut all = Vec::new();
    Reader { file, lines: &lines, config }.everything("", table.get_ref(), &mut all);
    all.sort_by_key(|(assignment, _)| line_of(assignment));
    all
}

/// A value as it would stand in a file.
fn written(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| written(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(table) => {
            let member = |(key, value): (&Name<'_>, &Spanned<DeValue<'_>>)| {
                format!("{} = {}", path_of("", key.get_ref()), written(value.get_ref()))
            };
            format!("{{{}}}", table.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        DeValue::Datetime(date) => date.to_string(),
        value => read_value(value).to_string(),
    }
}

fn parse(text: &str, file: &str, config: &Config) -> Result<Parsed, Wrong> {
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| Wrong {
        line: Some(error.span().map_or(1, |span| lines.line(span.start))),
        // The first line: what follows repeats the text around it.
        what: error.message().lines().next().unwrap_or_default().to_owned(),
    })?;
    read_table(&table.into_inner(), file, &lines, config)
}

/// What a file with mistakes sets all the same.
fn rest(text: &str, file: &str, config: &Config) -> Option<Parsed> {
    let (table, _) = DeTable::parse_recoverable(text);
    read_table(&table.into_inner(), file, &Lines::of(text), config).ok()
}

fn read_table(table: &DeTable<'_>, file: &str, lines: &Lines, config: &Config) -> Result<Parsed, Wrong> {
    let reader = Reader { file, lines, config };
    let mut assignments = Vec::new();
    let (mut projects, mut problems) = (Vec::new(), Vec::new());
    for (name, value) in table {
        match value.get_ref() {
            DeValue::Table(of_projects) if name.get_ref() == "project" => {
                for (root, value) in of_projects {
                    let path = root.get_ref().to_string();
                    match value.get_ref() {
                        DeValue::Table(table) if Path::new(&path).is_absolute() => {
                            let mut inner = Vec::new();
                            table.iter().for_each(|(name, value)| reader.collect(name, value, &mut inner));
                            projects.push((path, inner));
                        }
                        _ => problems.push(format!(
                            "{file}:{}: [project] takes tables named by absolute paths, as in [project.\"/home/me/app\"]",
                            lines.line(root.span().start)
                        )),
                    }
                }
            }
            _ => reader.collect(name, value, &mut assignments),
        }
    }
    let count = assignments.len() + projects.iter().map(|(_, inner)| inner.len()).sum::<usize>();
    if count > MOST_KEYS {
        return Err(Wrong { line: None, what: format!("more than {MOST_KEYS} keys") });
    }
    // The parser sorts by name; people read from top to bottom.
    assignments.sort_by_key(line_of);
    Ok(Parsed { assignments, projects, problems })
}

fn line_of(assignment: &Assignment) -> usize {
    match &assignment.origin {
        Origin::Line(_, line) => *line,
        _ => 0,
    }
}

/// Turns tables into assignments.
struct Reader<'a> {
    file: &'a str,
    lines: &'a Lines,
    /// Knows what sections there are.
    config: &'a Config,
}

impl Reader<'_> {
    /// A key above all sections, or a section's keys.
    fn collect(&self, name: &Name<'_>, value: &Spanned<DeValue<'_>>, assignments: &mut Vec<Assignment>) {
        match value.get_ref() {
            DeValue::Table(table) => self.section(&path_of("", name.get_ref()), table, assignments),
            _ => assignments.push(self.assignment("", name, value)),
        }
    }

    /// A table in a section is a section if there is one of that name, and otherwise a wrong value.
    fn section(&self, section: &str, table: &DeTable<'_>, assignments: &mut Vec<Assignment>) {
        for (key, value) in table {
            if let DeValue::Table(table) = value.get_ref() {
                let within = path_of(section, key.get_ref());
                if self.config.section(&within).is_some() {
                    self.section(&within, table, assignments);
                    continue;
                }
            }
            assignments.push(self.assignment(section, key, value));
        }
    }

    /// Every value, however deep in tables.
    fn everything(&self, section: &str, table: &DeTable<'_>, all: &mut Vec<(Assignment, String)>) {
        for (key, value) in table {
            match value.get_ref() {
                DeValue::Table(table) if !table.is_empty() => {
                    self.everything(&path_of(section, key.get_ref()), table, all);
                }
                found => all.push((self.assignment(section, key, value), written(found))),
            }
        }
    }

    fn assignment(&self, section: &str, key: &Name<'_>, value: &Spanned<DeValue<'_>>) -> Assignment {
        Assignment {
            section: section.to_owned(),
            key: key.get_ref().to_string(),
            value: read_value(value.get_ref()),
            origin: Origin::Line(self.file.to_owned(), self.lines.line(key.span().start)),
        }
    }
}

type Name<'a> = Spanned<toml::de::DeString<'a>>;

fn read_value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            i64::from_str_radix(&digits, number.radix())
                .map_or(Value::Other("a number out of range"), Value::Whole)
        }
        DeValue::Float(number) => {
            number.as_str().parse().map_or(Value::Other("a number out of range"), Value::Number)
        }
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Array(items) => Value::List(items.iter().map(|item| read_value(item.get_ref())).collect()),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Table(table) => {
            let member = |(key, value): (&Name<'_>, &Spanned<DeValue<'_>>)| {
                (key.get_ref().to_string(), read_value(value.get_ref()))
            };
            Value::Table(table.iter().map(member).collect())
        }
    }
}

/// Where lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    fn line(&self, at: usize) -> usize {
        self.0.partition_point(|end| *end < at) + 1
    }
}

/// The user's settings for this project: those of the nearest folder last. A worktree is its repository's project too, but
/// what is said about the worktree itself counts more.
fn of_project(projects: Vec<(String, Vec<Assignment>)>, root: Option<&Path>) -> Vec<Vec<Assignment>> {
    let Some(root) = root.filter(|_| !projects.is_empty()) else { return Vec::new() };
    let mut places: Vec<PathBuf> = project::main_worktree(root).into_iter().collect();
    let of_worktree = places.len();
    places.push(root.to_owned());
    places.extend(fs::canonicalize(root).ok());
    let rank = |path: &str| {
        let nearest = places.iter().rposition(|place| place.starts_with(path))?;
        Some((nearest >= of_worktree, Path::new(path).components().count()))
    };
    let ranked = projects.into_iter().filter_map(|(path, assignments)| Some((rank(&path)?, assignments)));
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, assignments)| assignments).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::PlaceEnv;
    use tidegate_core::feature::pressure::PressureMode;
    use tidegate_core::feature::skill_gate::settings::SkillGateMode;
    use tidegate_core::meter::Threshold;
    use tidegate_core::settings::preset::Preset;
    use tidegate_core::settings::setting::Whole;
    use tidegate_core::text::lang::Lang;

    /// A user's file, a project's two files, and a state directory.
    struct Scene(tempfile::TempDir);

    impl Scene {
        fn new() -> Scene {
            let scene = Scene(tempfile::tempdir().unwrap());
            fs::create_dir_all(scene.root().join(".claude")).unwrap();
            scene
        }

        fn root(&self) -> PathBuf {
            self.0.path().join("project")
        }

        fn user(&self) -> PathBuf {
            self.0.path().join("config.toml")
        }

        fn state(&self) -> StateDir {
            let env = PlaceEnv { state_dir: Some(self.0.path().join("state")), ..PlaceEnv::default() };
            StateDir::open(&env).unwrap()
        }

        fn set(&self, user: &str, project: &str, local: &str) {
            fs::write(self.user(), user).unwrap();
            fs::write(self.root().join(PROJECT_FILES[0]), project).unwrap();
            fs::write(self.root().join(PROJECT_FILES[1]), local).unwrap();
        }

        fn read(&self) -> Config {
            self.read_with(&[])
        }

        fn read_with(&self, variables: &[(&str, &str)]) -> Config {
            let variables: Vec<(String, String)> =
                variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            read(&Sources {
                user: Some(&self.user()),
                root: Some(&self.root()),
                state: Some(&self.state()),
                variables: &variables,
                off: None,
            })
        }
    }

    fn user_config(text: &str) -> Config {
        let scene = Scene::new();
        scene.set(text, "", "");
        scene.read()
    }

    #[test]
    fn values_are_taken_and_know_where_they_come_from() {
        let scene = Scene::new();
        scene.set("lang = \"ja\"\n[meter]\nwindow = 150_000\n\n[pressure]\ninfo = \"50%\"\n", "", "");
        let config = scene.read();
        assert_eq!(config.general.lang, Some(Lang::Ja));
        assert_eq!(config.meter.window.map(Whole::get), Some(150_000));
        assert_eq!(config.policies.pressure.info, Threshold::Level(50.0));
        assert_eq!(config.problems, Vec::<String>::new());
        let origin = |path: &str| config.origin(path).to_string();
        assert_eq!(origin("pressure.info"), format!("{}:6", scene.user().display()));
        assert_eq!(origin("pressure.urgent"), "built in");
    }

    #[test]
    fn a_broken_section_is_left_out_alone() {
        let config = user_config("lang = \"ja\"\n[meter]\nwindow = \"much\"\n[pressure]\nurgent = \"80%\"\n");
        assert_eq!(config.general.lang, Some(Lang::Ja));
        assert_eq!(config.meter.window, None);
        assert_eq!(config.policies.pressure.urgent, Threshold::Level(80.0));
        assert_eq!(config.problems.len(), 1, "{:?}", config.problems);
        let problem = &config.problems[0];
        assert!(problem.contains("config.toml:3: `meter.window`: \"much\" is no value for it"), "{problem}");
        assert!(problem.ends_with("[meter] is left out here"), "{problem}");
    }

    #[test]
    fn a_broken_file_is_named_with_its_line() {
        let config = user_config("lang = \"ja\"\n[meter\n");
        assert_eq!(config.policies, Config::default().policies);
        assert!(config.problems[0].contains("config.toml:2:"), "{:?}", config.problems);
    }

    fn keep(scene: &Scene) {
        keep_copies(&scene.state(), Some(&scene.user()), Some(&scene.root()));
    }

    const STRICT: &str = "preset = \"strict\"\n[skill_gate.require]\ncode = [\"team-rules\"]\n";

    #[test]
    fn a_stray_bracket_changes_nothing_that_a_user_set() {
        let scene = Scene::new();
        let user = "preset = \"strict\"\nlang = \"ja\"\n";
        scene.set(user, "", "");
        keep(&scene);
        let before = scene.read();
        scene.set(&format!("{user}[pressure\n"), "", "");
        // What cannot be read is not kept.
        keep(&scene);
        let config = scene.read();
        assert_eq!(config.policies, before.policies);
        assert_eq!((config.general.preset, config.general.lang), (Preset::Strict, Some(Lang::Ja)));
        let broken = BrokenFile {
            file: scene.user().display().to_string(),
            line: Some(3),
            has_copy: true,
            owner: ConfigOwner::User,
        };
        assert_eq!(config.broken, [broken]);
        let problem = &config.problems[0];
        assert!(problem.contains("config.toml:3: ") && problem.contains("could be read counts"), "{problem}");
        let origin = config.origin("lang").to_string();
        assert!(origin.ends_with("config.toml (last copy):2"), "{origin}");
        // A file that is not text, too large or closed is no other case.
        fs::write(scene.user(), b"lang = \"\xff\"").unwrap();
        assert_eq!(scene.read().policies, before.policies);
        assert_eq!(scene.read().broken[0].line, None);
        fs::write(scene.user(), "#".repeat(LARGEST as usize + 1)).unwrap();
        assert_eq!(scene.read().policies, before.policies);
        // A file that is gone was taken away.
        fs::remove_file(scene.user()).unwrap();
        assert_eq!((scene.read().general.preset, scene.read().broken.len()), (Preset::Guide, 0));
    }

    #[test]
    fn a_stray_bracket_drops_nothing_that_a_team_requires() {
        for at in [0, 1] {
            let scene = Scene::new();
            let mut texts = [String::new(), String::new()];
            texts[at] = STRICT.to_owned();
            scene.set("", &texts[0], &texts[1]);
            keep(&scene);
            texts[at] = "[pressure\n".to_owned();
            scene.set("", &texts[0], &texts[1]);
            let config = scene.read();
            let skills = config.policies.skill_gate.require.skills("a.rs");
            assert!(skills.contains(&"team-rules"), "{skills:?}");
            assert_eq!(config.general.preset, Preset::Strict);
            assert!(
                config.broken[0].location().ends_with(&format!("{}:1", PROJECT_FILES[at])),
                "{:?}",
                config.broken
            );
        }
    }

    /// Whatever the copy of a project's file says: it can do no more than the file could before anybody trusted it.
    #[test]
    fn the_copy_of_a_projects_file_only_tightens() {
        let scene = Scene::new();
        let loose = "preset = \"observe\"\nlang = \"ja\"\n[pressure]\nmode = \"off\"\ninfo = \"5%\"\n";
        scene.set("", loose, "");
        let file = scene.root().join(PROJECT_FILES[0]);
        trust::remember(&scene.state(), &file, loose).unwrap();
        keep(&scene);
        assert_eq!(scene.read().policies.pressure.mode, PressureMode::Off, "trusted as it is");
        scene.set("", &format!("{loose}[x\n"), "");
        let config = scene.read();
        let default =
            Config { problems: config.problems.clone(), broken: config.broken.clone(), ..Config::default() };
        assert_eq!(config, default, "any change revokes trust");
        assert!(config.broken[0].has_copy);
    }

    #[test]
    fn without_a_copy_only_what_is_stricter_counts() {
        let scene = Scene::new();
        let user = "preset = \"strict\"\nlang = \"ja\"\n[pressure]\nmode = \"off\"\n[meter\n";
        scene.set(user, "", "");
        let config = scene.read();
        assert_eq!((config.general.preset, config.general.lang), (Preset::Strict, None));
        assert_eq!(config.policies.pressure.mode, PressureMode::Advise);
        assert!(config.problems[0].contains("config.toml:5: "), "{:?}", config.problems);
        assert_eq!((config.problems.len(), config.waiting.len(), config.broken[0].has_copy), (1, 0, false));
        let root = fs::canonicalize(scene.root()).unwrap();
        scene.set(&format!("[project.\"{}\"]\npreset = \"strict\"\n[x\n", root.display()), "", "");
        assert_eq!(scene.read().general.preset, Preset::Strict);
        scene.set("preset = \"observe\"\n[meter\n", "", "");
        assert_eq!(scene.read().general.preset, Preset::Guide);
    }

    #[test]
    fn a_copy_holds_no_password() {
        let scene = Scene::new();
        let url = "postgres://me:hidden@localhost/m";
        scene.set(
            &format!("preset = \"strict\"\n[memory.team]\nurl = \"{url}\"\nprojects = [\"a\"]\n"),
            "",
            "",
        );
        keep(&scene);
        for copy in fs::read_dir(scene.state().root().join("config")).unwrap() {
            assert!(!fs::read_to_string(copy.unwrap().path()).unwrap().contains("hidden"));
        }
        scene.set("[x\n", "", "");
        let config = scene.read();
        assert_eq!((config.general.preset, config.memory.team.projects.0.len()), (Preset::Strict, 1));
        assert!(config.memory.team.url.is_none() && config.broken[0].has_copy);
        // One that does not parse without them is not kept.
        for key in ["\"a://b\" = 1", "\"a://b\" = \"c://d\"", "x = { 'a://b' = \"c://d\", y = 1 }"] {
            scene.set(&format!("preset = \"strict\"\n{key}\n"), "", "");
            fs::remove_dir_all(scene.state().root().join("config")).unwrap();
            keep(&scene);
            scene.set("[x\n", "", "");
            assert!(!scene.read().broken[0].has_copy, "{key}");
        }
    }

    /// However an address stands there, all that is not an address is in the copy.
    #[test]
    fn an_address_takes_nothing_along_from_the_copy() {
        for text in [
            "[skill_gate]\nmode = \"remind\" # see https://me:hidden@example.com\n",
            "[pressure]\nmode = \"advise\"\n[skill_gate] # https://me:hidden@example.com\nmode = \"remind\"\n",
            "[verify_stop.commands]\ntest = [\n  \"curl http://me:hidden@localhost\", # http://hidden\n  \"x\",\n]\n[skill_gate]\nmode = \"remind\"\n",
            "[memory.team]\nurl = \"\"\"\npostgres://me:hidden@h\n/m\"\"\"\n[skill_gate]\nmode = \"remind\"\n",
            "memory.team = { url = 'postgres://h/m?password=hidden', projects = [\"a\"] }\nskill_gate.mode = \"remind\"\n",
            "[memory.team]\nurl = \"postgres:\\u002F/me:hidden@h/m\"\n[skill_gate]\nmode = \"remind\"\n",
        ] {
            let scene = Scene::new();
            scene.set(text, "", "");
            keep(&scene);
            let copy = LAST_GOOD.read(&scene.state(), &scene.user()).unwrap();
            assert!(!copy.contains("hidden"), "{copy}");
            assert_eq!(copy.lines().count(), text.lines().count(), "{copy}");
            scene.set("[x\n", "", "");
            let config = scene.read();
            assert_eq!(config.policies.skill_gate.mode, SkillGateMode::Remind, "{text}");
            assert_eq!(
                (config.problems.len(), config.broken[0].has_copy),
                (1, true),
                "{:?}",
                config.problems
            );
        }
    }

    /// The copy may be older than the last edit of the file.
    #[test]
    fn what_was_made_stricter_since_the_copy_counts() {
        for is_users in [true, false] {
            let scene = Scene::new();
            let set = |text: &str| if is_users { scene.set(text, "", "") } else { scene.set("", text, "") };
            set("preset = \"guide\"\n");
            keep(&scene);
            set("preset = \"strict\"\n[x\n");
            let config = scene.read();
            assert_eq!((config.general.preset, config.broken[0].has_copy), (Preset::Strict, true));
            set("preset = \"observe\"\n[x\n");
            assert_eq!(scene.read().general.preset, Preset::Guide, "nothing that is looser");
        }
        // What is in both files is no news: here the user's section for the project counts more.
        let scene = Scene::new();
        let root = fs::canonicalize(scene.root()).unwrap();
        let user = format!("preset = \"strict\"\n[project.\"{}\"]\npreset = \"observe\"\n", root.display());
        scene.set(&user, "", "");
        keep(&scene);
        scene.set(&format!("{user}[x\n"), "", "");
        assert_eq!(scene.read().general.preset, Preset::Observe);
    }

    /// Sessions in several projects share the state, and the user's file may be newer than those of a project.
    #[test]
    fn each_project_has_its_copies() {
        let (scene, other) = (Scene::new(), Scene::new());
        let before = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
        for project in [&scene, &other] {
            project.set("lang = \"ja\"\n", STRICT, "");
            for path in project_files(Some(&project.root())).filter(|path| path.exists()) {
                fs::File::options().write(true).open(path).unwrap().set_modified(before).unwrap();
            }
            keep_copies(&scene.state(), Some(&scene.user()), Some(&project.root()));
        }
        // Also one that is put there with an old time, as an archive does.
        let local = other.root().join(PROJECT_FILES[1]);
        fs::write(&local, STRICT).unwrap();
        fs::File::options().write(true).open(&local).unwrap().set_modified(before).unwrap();
        keep_copies(&scene.state(), Some(&scene.user()), Some(&other.root()));
        for file in [scene.root().join(PROJECT_FILES[0]), other.root().join(PROJECT_FILES[0]), local] {
            assert!(LAST_GOOD.read(&scene.state(), &file).is_some(), "{}", file.display());
        }
    }

    /// A copy is for one file, by its true path, and in private state.
    #[test]
    fn the_copy_of_another_file_does_not_count() {
        let (scene, other) = (Scene::new(), Scene::new());
        other.set("", STRICT, "");
        keep_copies(&scene.state(), None, Some(&other.root()));
        let names = fs::read_dir(scene.state().root().join("config")).unwrap();
        let planted = names.map(|entry| entry.unwrap().path()).next().unwrap();
        scene.set("", "lang = \"ja\"\n", "");
        keep(&scene);
        let files = fs::read_dir(scene.state().root().join("config")).unwrap();
        for slot in files.map(|entry| entry.unwrap().path()).filter(|slot| *slot != planted) {
            fs::copy(&planted, slot).unwrap();
        }
        scene.set("", "[x\n", "");
        let config = scene.read();
        assert_eq!((config.general.preset, config.broken[0].has_copy), (Preset::Guide, false));
    }

    #[test]
    fn what_is_not_known_is_said_with_what_may_be_meant() {
        let config = user_config(
            "langg = \"ja\"\n[presure]\nmode = \"off\"\n[pressure]\nmoed = \"off\"\ninfo = \"50%\"\n",
        );
        assert_eq!(config.problems.len(), 3, "{:?}", config.problems);
        for (problem, near) in config.problems.iter().zip(["`lang`", "`pressure`", "`mode`"]) {
            assert!(problem.ends_with(&format!("did you mean {near}?")), "{problem}");
        }
        // An unknown key takes nothing else along.
        assert_eq!(config.policies.pressure.info, Threshold::Level(50.0));
    }

    #[test]
    fn a_project_can_tighten_and_nothing_else() {
        let scene = Scene::new();
        let project = "lang = \"ja\"\npreset = \"observe\"\n[pressure]\nmode = \"advise\"\ninfo = \"5%\"\n[approval]\nunattended = [\"off\"]\n";
        scene.set("[pressure]\nmode = \"shadow\"\n", project, "[pressure]\nmode = \"off\"\n");
        let config = scene.read();
        assert_eq!(config.policies.pressure.mode, PressureMode::Advise, "stricter than the user's");
        assert_eq!(config.policies.pressure.info, Threshold::Level(60.0));
        assert_eq!((config.general.lang, config.general.preset), (None, Preset::Guide));
        let waiting: Vec<(String, bool)> =
            config.waiting.iter().map(|waiting| (waiting.assignment.path(), waiting.never)).collect();
        let expected = [
            ("preset", false),
            ("lang", false),
            ("pressure.info", false),
            ("approval.unattended", true),
            ("pressure.mode", false),
        ];
        assert_eq!(waiting, expected.map(|(path, never)| (path.to_owned(), never)));
        assert!(config.problems.is_empty(), "{:?}", config.problems);

        // Trusted as it is, it may do what the user may, but for what is the user's alone.
        let file = scene.root().join(PROJECT_FILES[0]);
        trust::remember(&scene.state(), &file, project).unwrap();
        let config = scene.read();
        assert_eq!(config.general.lang, Some(Lang::Ja));
        assert_eq!(config.policies.pressure.info, Threshold::Level(5.0));
        assert!(config.policies.approval.unattended.0.is_empty());
        fs::write(&file, format!("{project}\n")).unwrap();
        assert_eq!(scene.read().general.lang, None, "any change revokes it");
    }

    #[test]
    fn a_stricter_preset_of_a_project_loosens_nothing() {
        let scene = Scene::new();
        scene.set("preset = \"observe\"\n[own_settings]\nmode = \"ask\"\n", "preset = \"guide\"\n", "");
        let config = scene.read();
        assert_eq!(config.general.preset, Preset::Guide);
        assert_eq!(config.policies.pressure.mode, PressureMode::Advise);
        let origin = config.origin("pressure.mode").to_string();
        assert!(origin.starts_with("preset at ") && origin.ends_with("tidegate.toml:1"), "{origin}");
        assert!(config.origin("own_settings.mode").to_string().ends_with("config.toml:3"));
    }

    #[test]
    fn a_projects_broken_section_does_not_undo_the_users() {
        let scene = Scene::new();
        scene.set("[pressure]\nmode = \"off\"\ninfo = \"40%\"\n", "[pressure]\nmode = 7\n", "[[pressure]]\n");
        let config = scene.read();
        assert_eq!(config.policies.pressure.info, Threshold::Level(40.0));
        assert_eq!(config.problems.len(), 2, "{:?}", config.problems);
    }

    #[test]
    fn the_user_can_set_things_for_one_project() {
        let scene = Scene::new();
        let (root, above) = (scene.root(), scene.0.path().to_owned());
        let user = format!(
            "[pressure]\ninfo = \"10%\"\n[project.\"{}\"]\npreset = \"observe\"\n[project.\"{}\".pressure]\ninfo = \"20%\"\n[project.\"/elsewhere\"]\nlang = \"ja\"\n",
            root.display(),
            above.display(),
        );
        scene.set(&user, "", "");
        let config = scene.read();
        assert_eq!(config.general.preset, Preset::Observe);
        assert_eq!(config.policies.pressure.mode, PressureMode::Shadow);
        assert_eq!((config.policies.pressure.info, config.general.lang), (Threshold::Level(20.0), None));
        scene.set("", &user, "");
        let config = scene.read();
        assert_eq!(config.general.preset, Preset::Guide, "not in a project's own file");
        assert!(config.problems[0].contains("[project] is for the user's own config"));
    }

    #[test]
    fn variables_count_most() {
        let scene = Scene::new();
        scene.set("[pressure]\nmode = \"off\"\n", "", "");
        let config = scene.read_with(&[
            ("TIDEGATE_PRESSURE_MODE", "shadow"),
            ("TIDEGATE_TEXT_BUDGET", "900"),
            ("TIDEGATE_APPROVAL_UNATTENDED", "off, trust"),
            ("TIDEGATE_LANGG", "ja"),
        ]);
        assert_eq!(config.policies.pressure.mode, PressureMode::Shadow);
        assert_eq!(config.general.text_budget.get(), 900);
        assert!(config.policies.approval.unattended.0.is_empty(), "an agent can set a variable");
        assert!(config.waiting[0].never, "{:?}", config.waiting);
        assert_eq!(config.origin("pressure.mode").to_string(), "TIDEGATE_PRESSURE_MODE");
        assert_eq!(
            config.problems,
            ["TIDEGATE_LANGG: no setting has this variable; did you mean `TIDEGATE_LANG`?"]
        );
        let config = scene.read_with(&[
            ("TIDEGATE_SKILL_GATE_MOD", "off"),
            ("TIDEGATE_PRESSURE", "off"),
            ("TIDEGATE_XYZ", "1"),
        ]);
        assert_eq!(
            config.problems,
            [
                "TIDEGATE_SKILL_GATE_MOD: no setting has this variable; did you mean `TIDEGATE_SKILL_GATE_MODE`?",
                "TIDEGATE_PRESSURE: no setting has this variable",
                "TIDEGATE_XYZ: no setting has this variable"
            ]
        );
        let config = scene.read_with(&[("TIDEGATE_PRESSURE_MODE", "loud")]);
        assert_eq!(config.policies.pressure.mode, PressureMode::Off);
        assert!(config.problems[0].contains("use one of \"off\", \"shadow\", \"advise\""));
    }

    #[test]
    fn a_mistake_beside_it_does_not_loosen() {
        let config = user_config("preset = \"strict\"\nlang = \"fr\"\ntext_budget = 300\n");
        assert_eq!(config.general.preset, Preset::Strict, "it only makes things stricter");
        assert_eq!(config.general.text_budget.get(), 1200, "the rest of the section is left out");
        let config = user_config("preset = \"observe\"\nlang = \"fr\"\n");
        assert_eq!(config.general.preset, Preset::Guide);
        assert_eq!((config.problems.len(), config.waiting.len()), (1, 0));
    }

    #[test]
    fn names_that_others_wrote_are_made_plain() {
        let scene = Scene::new();
        let long = "x".repeat(100_000);
        scene.set(
            "",
            &format!("\"\\u001b[31mX\" = 1\n[\"\\u001b]0;t\\u0007\"]\na = 1\n[{long}]\nb = 1\n"),
            "",
        );
        let problems = scene.read().problems;
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(
            problems.iter().all(|problem| !problem.contains('\u{1b}') && problem.len() < 400),
            "{problems:?}"
        );
    }

    #[test]
    fn a_table_of_projects_is_looked_at() {
        let config = user_config("[project]\n\"/p\" = 3\n[project.\"~/x\"]\npreset = \"strict\"\n");
        assert_eq!(config.problems.len(), 2, "{:?}", config.problems);
        assert!(config.problems[0].contains(":2: [project] takes tables named by absolute paths"));
    }

    #[test]
    fn a_flood_is_bounded() {
        let scene = Scene::new();
        let keys = |count: usize| (0..count).map(|n| format!("k{n} = 1")).collect::<Vec<_>>().join("\n");
        scene.set("", &keys(MOST_KEYS + 1), &"x = 1\n".repeat(50_000));
        let config = scene.read();
        assert_eq!(config.problems.len(), 2, "{:?}", config.problems);
        scene.set("", &keys(100), "");
        let config = scene.read();
        assert_eq!(config.problems.len(), MOST_PROBLEMS + 1);
        assert_eq!(config.problems.last().unwrap(), "and 80 more");
    }

    #[test]
    fn sections_within_sections_and_keys_that_are_patterns() {
        let config = user_config(
            "[skill_gate]\nmode = \"remind\"\nexempt = [\"generated/\"]\n\
             [skill_gate.require]\ncode = [\"a\", \"b\"]\n\"migrations/**/*.sql\" = [\"sql\"]\n\
             [phase]\nship.skills = [\"release\"]\n[verify_stop]\ncommands = { test = [\"make check\"] }\n",
        );
        assert_eq!(config.problems, Vec::<String>::new());
        let gates = &config.policies;
        assert_eq!(gates.skill_gate.require.skills("migrations/1/up.sql"), ["a", "b", "sql"]);
        assert_eq!(gates.skill_gate.require.skills("src/main.rs"), ["a", "b"]);
        assert_eq!(gates.skill_gate.require.skills("README.md"), Vec::<&str>::new());
        assert!(gates.skill_gate.exempt.0[0].matches("generated/x.rs"));
        assert_eq!(gates.phase.label("ship").unwrap().names().collect::<Vec<_>>(), ["release"]);
        assert_eq!(gates.verify_stop.commands.test.0[0].0, "make check");
        assert_eq!(
            tidegate_core::feature::skills(&config),
            ["a", "b", "sql", "verification-before-completion", "code-quality-rules", "release"]
        );
        let origin = config.origin("skill_gate.require.\"migrations/**/*.sql\"").to_string();
        assert!(origin.ends_with("config.toml:6"), "{origin}");
    }

    #[test]
    fn what_is_wrong_within_sections_is_said() {
        // What stands there, what is said about it.
        for (text, said) in [
            (
                "[skill_gate.requir]\ncode = []\n",
                "1: there is no section `skill_gate.requir`; did you mean `require`?",
            ),
            (
                "[phase.implment]\nskills = []\n",
                "1: there is no section `phase.implment`; did you mean `implement`?",
            ),
            (
                "[phase]\nimplement = 3\n",
                "2: `phase.implement` is a section, not a key: write it as [phase.implement]",
            ),
            ("phase = 3\n", "1: `phase` is a section, not a key: write it as [phase]"),
            (
                "[\"phase.ship\"]\nskills = []\n",
                "2: there is no section [\"phase.ship\"]; did you mean `phase.ship`?",
            ),
            (
                "[skill_gate.require]\ncdoe = []\n",
                "2: there is no key `skill_gate.require.cdoe`; did you mean `code`?",
            ),
            (
                "[skill_gate.require]\nMakefile = [\"x\"]\n",
                "2: there is no key `skill_gate.require.Makefile`; a pattern for files of this name is written \"**/Makefile\"",
            ),
            (
                "[skill_gate.require]\nmain.rs = [\"x\"]\n",
                "2: there is no section `skill_gate.require.main`; a pattern with a dot in it stands in quotes",
            ),
            (
                "[tools]\nwriters = [\"Write\"]\n",
                "2: `tools.writers`: \"Write\" is none of the names of MCP tools: it does not begin with `mcp__`; [tools] is left out here",
            ),
            (
                "[skill_gate.require]\n\"src/[a\" = []\n",
                "2: `skill_gate.require.\"src/[a\"`: this is no path pattern: a `[` is not closed; [skill_gate.require] is left out here",
            ),
            (
                "[skill_gate.require]\n\"*.rs\" = \"a\"\n",
                "2: `skill_gate.require.\"*.rs\"`: \"a\" is no value for it: use a list of names of skills, such as [\"code-quality-rules\"]; [skill_gate.require] is left out here",
            ),
            (
                "[skill_gate.require.code]\nx = 1\n",
                "1: `skill_gate.require.code`: a table is no value for it: use a list of names of skills, such as [\"code-quality-rules\"]; [skill_gate.require] is left out here",
            ),
            (
                "[skill_gate]\nexempt = [\"a**\"]\n",
                "2: `skill_gate.exempt`: \"a**\" is none of the path patterns: `**` stands for whole folders, between slashes: `a/**/b`; [skill_gate] is left out here",
            ),
            (
                "[pressure.mode]\n",
                "1: `pressure.mode`: a table is no value for it: use one of \"off\", \"shadow\", \"advise\"; [pressure] is left out here",
            ),
        ] {
            let config = user_config(text);
            assert_eq!(config.policies, Config::default().policies, "{text}");
            assert_eq!(config.problems.len(), 1, "{text}: {:?}", config.problems);
            let problem = &config.problems[0];
            assert!(problem.ends_with(&format!("config.toml:{said}")), "{text}: {problem}");
        }
    }

    #[test]
    fn a_project_adds_to_what_is_required_and_drops_nothing() {
        let scene = Scene::new();
        let user = "[skill_gate]\nexempt = [\"gen/\", \"vendor/\"]\n[skill_gate.require]\ncode = [\"a\"]\n\"*.rs\" = [\"rust\"]\n";
        let project = "[skill_gate]\nexempt = [\"gen/\"]\nsubagents = \"exempt\"\n[skill_gate.require]\ncode = [\"x\"]\n\"*.rs\" = []\n\"*.sql\" = [\"sql\"]\n[verify_stop.commands]\ntest = [\"true\"]\n";
        scene.set(user, project, "[skill_gate]\nexempt = [\"src/\"]\n[skill_gate.require]\ncode = []\n");
        let config = scene.read();
        let gate = &config.policies.skill_gate;
        assert_eq!(gate.require.skills("a.rs"), ["a", "x", "rust"]);
        assert_eq!(gate.require.skills("a.sql"), ["a", "x", "sql"]);
        let exempt: Vec<&str> = gate.exempt.0.iter().map(tidegate_core::text::glob::Glob::text).collect();
        assert_eq!(exempt, ["gen/"], "a shorter list tightens, another one does not");
        assert!(config.policies.verify_stop.commands.test.0.is_empty());
        let waiting: Vec<String> = config.waiting.iter().map(|waiting| waiting.assignment.path()).collect();
        let expected = [
            "skill_gate.subagents",
            "skill_gate.require.code",
            "skill_gate.require.\"*.rs\"",
            "verify_stop.commands.test",
            "skill_gate.exempt",
            "skill_gate.require.code",
        ];
        assert_eq!(waiting, expected);
        let origin = config.origin("skill_gate.require.code").to_string();
        assert!(origin.contains("config.toml:4 and ") && origin.ends_with("tidegate.toml:5"), "{origin}");

        trust::remember(&scene.state(), &scene.root().join(PROJECT_FILES[0]), project).unwrap();
        let config = scene.read();
        assert_eq!(config.policies.skill_gate.require.skills("a.rs"), ["x"]);
    }

    #[test]
    fn everything_that_a_file_sets_is_told() {
        let text = "moon = 1\n[skill_gate]\nmode = \"loud\"\n[skill_gate.require]\nmain.rs = [\"x\"]\n\
                    [recorder]\nsince = 2026-01-01\nargs = [{ a = \"b\\u001b\" }]\nempty = {}\n\
                    [project.\"/p\"]\nlang = \"ja\"\n[[list]]\nx = 1\n";
        let told: Vec<String> = everything(text, "f", &Config::default())
            .into_iter()
            .map(|(found, value)| format!("{}: {} = {value}", line_of(&found), found.path()))
            .collect();
        let expected = [
            "1: moon = 1",
            "3: skill_gate.mode = \"loud\"",
            "5: skill_gate.require.main.rs = [\"x\"]",
            "7: recorder.since = 2026-01-01",
            "8: recorder.args = [{a = \"b\\u001b\"}]",
            "9: recorder.empty = {}",
            "11: project.\"/p\".lang = \"ja\"",
            "12: list = [{x = 1}]",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn presets_and_variables_set_lists() {
        let scene = Scene::new();
        scene.set("preset = \"strict\"\n", "", "");
        let config = scene.read();
        assert_eq!(config.policies.skill_gate.require.skills("README.md"), ["document-quality-rules"]);
        assert_eq!(config.policies.verify_stop.blocks.get(), 3);
        scene.set("[skill_gate.require]\ndocument = [\"mine\"]\n", "preset = \"strict\"\n", "");
        let config = scene.read();
        assert_eq!(config.policies.skill_gate.require.skills("a.md"), ["mine", "document-quality-rules"]);
        let origin = config.origin("skill_gate.require.document").to_string();
        assert!(origin.contains(" and preset at "), "{origin}");
        scene.set("", "", "");
        let config = scene.read_with(&[
            ("TIDEGATE_SKILL_GATE_REQUIRE_CODE", "a, b"),
            ("TIDEGATE_PHASE_SHIP_SKILLS", "c"),
            ("TIDEGATE_FRICTION_STEP_DOWN", "false"),
        ]);
        assert_eq!(config.problems, Vec::<String>::new());
        assert_eq!(config.policies.skill_gate.require.skills("a.rs"), ["a", "b"]);
        assert_eq!(config.policies.phase.ship.names().collect::<Vec<_>>(), ["c"]);
        assert!(!config.policies.friction.step_down);
    }
}

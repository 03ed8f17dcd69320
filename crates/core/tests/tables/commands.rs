//! The tables of `shell.md` and `checks.md`: what a command line does, and what it proves.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use tidegate_core::feature::verification::checks::{
    CheckKind, ExtraChecks, Kinds, ProjectChecks, RunPlace, SeenFile, could_check, folders_of_line,
    read_ending, read_project,
};
use tidegate_core::feature::verification::named_check::{NamedCheck, name_checks};
use tidegate_core::feature::verification::void_check::find_void;
use tidegate_core::shell::{self, Script, Spot, Status, Step, Surroundings};

use crate::markdown::code;
use crate::vocabulary::{Case, Report, Vocabulary};

const PLACE: RunPlace<'static> =
    RunPlace { roots: &["/repo", "/other"], cwd: "/repo", end: None, links: &[] };

const SURROUNDINGS: Surroundings<'static> =
    Surroundings { home: Some("/home/me"), project: Some("/repo"), cwd: Some("/repo/app") };

const CHECKS: &str = "feature/verification/checks/checks.md";

const NAMED: &str = "feature/verification/named_check.md";

const CLOSING_LINES: &str = "feature/verification/checks/closing_line.md";

/// The files of the projects that the tables name, by project.
static PROJECTS: LazyLock<BTreeMap<String, Vec<(String, String)>>> =
    LazyLock::new(|| projects(&crate::source(CHECKS)));

pub(crate) fn run(report: &mut Report) -> Vec<String> {
    ["shell/shell.md", CHECKS, CLOSING_LINES, NAMED]
        .map(|file| {
            report.run(file, &crate::source(file), &[&COLUMNS], CommandLine::default);
            file.to_owned()
        })
        .into()
}

#[derive(Default)]
struct CommandLine {
    text: String,
    project: Option<ProjectChecks>,
    background: bool,
    edited: Vec<String>,
}

impl Case for CommandLine {
    type Outcome = CommandLine;

    fn outcome(self) -> CommandLine {
        self
    }
}

static COLUMNS: Vocabulary<CommandLine> = Vocabulary {
    name: "commands",
    given: &[
        ("line", |case, cell| case.text = line(cell)),
        ("background", |case, cell| (case.text, case.background) = (line(cell), true)),
        ("project", |case, cell| case.project = Some(load(cell))),
        ("edited", |case, cell| case.edited = cell.split(' ').map(str::to_owned).collect()),
    ],
    expected: &[
        ("decides", |case| {
            show(case, |step| (step.status == Status::Decides).then(|| first_word(step)), " ")
        }),
        ("hidden", |case| {
            let hidden = |step: &Step| match step.status {
                Status::Decides => None,
                Status::Hidden(why) => Some(format!("{} {}", first_word(step), why.name())),
            };
            show(case, hidden, ", ")
        }),
        ("runs", |case| first_word(script(case).steps.last().expect("a command"))),
        ("in", |case| spot(&script(case).steps.last().expect("a command").folder)),
        ("writes", |case| {
            or_dash(
                &script(case).writes().iter().map(|write| spot(&write.path)).collect::<Vec<_>>().join(", "),
            )
        }),
        ("evidence", evidence),
        ("left", left),
        ("output", output),
        ("by itself", |case| shown_checks(case, |check| Some(format!("`{}`", check.text)))),
        ("hidden by", |case| shown_checks(case, |check| check.hidden.map(|why| why.name().to_owned()))),
        ("proves nothing", |case| {
            let void = find_void(loaded(case), &script(case), PLACE, &ExtraChecks::default());
            or_dash(&void.map(|why| format!("{why:?}")).unwrap_or_default())
        }),
        ("passed", |case| named(read_ending(&case.text).passed)),
        ("failed", |case| named(read_ending(&case.text).failed)),
        ("no tests", |case| if read_ending(&case.text).no_tests { "yes".into() } else { "-".into() }),
        ("kinds", |case| {
            or_dash(&loaded(case).kinds().iter().map(CheckKind::name).collect::<Vec<_>>().join(" "))
        }),
        ("examples for it", |case| {
            let kinds = loaded(case).kinds_for(&case.edited);
            let examples = loaded(case).examples_for(&case.edited).into_iter();
            let examples = examples.filter(|(kind, _)| kinds.has(*kind)).map(|(_, command)| command);
            or_dash(&examples.collect::<Vec<_>>().join(", "))
        }),
        ("examples", |case| {
            let examples = loaded(case).examples_for(&[]).into_iter().map(|(_, command)| command);
            or_dash(&examples.collect::<Vec<_>>().join(", "))
        }),
    ],
};

/// The space before the end of a line is there for the reader.
fn line(cell: &str) -> String {
    code(&cell.replace(" ⏎", "⏎"))
}

/// Blocks that begin with a line of three backticks and `project NAME`; `== path` begins a file.
fn projects(text: &str) -> BTreeMap<String, Vec<(String, String)>> {
    let mut projects: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("```project ") else { continue };
        let files = projects.entry(name.to_owned()).or_default();
        for line in lines.by_ref().take_while(|line| *line != "```") {
            if let Some(path) = line.strip_prefix("== ") {
                files.push((path.to_owned(), String::new()));
                continue;
            }
            let (_, text) = files.last_mut().expect("a file begins with `== path`");
            text.push_str(line);
            text.push('\n');
        }
    }
    projects
}

fn load(name: &str) -> ProjectChecks {
    let files = PROJECTS.get(name).unwrap_or_else(|| panic!("no project `{name}`"));
    let seen = files.iter().map(|(path, text)| {
        let (folder, name) = match path.rsplit_once('/') {
            // The name of a file that is looked for in a folder of the project's.
            Some(_) if path == "bin/rails" || path.starts_with(".mise/") => ("", path.as_str()),
            Some((folder, name)) => (folder, name),
            None => ("", path.as_str()),
        };
        SeenFile { folder, name, text: Some(text) }
    });
    read_project(&seen.collect::<Vec<_>>())
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".into() } else { text.into() }
}

fn first_word(step: &Step) -> String {
    step.words.first().map_or("=".into(), |word| word.text.clone())
}

/// Of each step of the line, or `?` where that is not understood.
fn show(case: &CommandLine, shown: impl Fn(&Step) -> Option<String>, between: &str) -> String {
    match shell::parse(&case.text) {
        None => "?".into(),
        Some(script) => or_dash(&script.steps.iter().filter_map(shown).collect::<Vec<_>>().join(between)),
    }
}

fn script(case: &CommandLine) -> Script {
    shell::parse_in(&case.text, SURROUNDINGS).expect("understood")
}

fn spot(spot: &Spot) -> String {
    match spot {
        Spot::Start(path) if path.is_empty() => ".".into(),
        Spot::Start(path) | Spot::Absolute(path) => path.clone(),
        Spot::Top(path) => format!("top:{path}"),
        Spot::End(path) => format!("end:{path}"),
        Spot::Unknown => "?".into(),
    }
}

fn loaded(case: &CommandLine) -> &ProjectChecks {
    case.project.as_ref().expect("a project")
}

fn evidence(case: &CommandLine) -> String {
    let mut extra = ExtraChecks::default();
    extra.add(CheckKind::Test, "cargo xtask test");
    extra.add(CheckKind::Lint, "./scripts/lint.sh");
    let Some(script) = shell::parse(&case.text) else { return "?".into() };
    let found = if case.background {
        loaded(case).in_background().evidence(&script, PLACE, &extra)
    } else {
        let _ = folders_of_line(&script, PLACE);
        loaded(case).evidence(&script, PLACE, &extra)
    };
    if !found.is_empty() {
        assert!(could_check(&script, &extra), "not worth a look, yet evidence");
    }
    // A commit proves only what its output shows.
    let shown = found.iter().filter(|evidence| !evidence.by_output);
    named(shown.fold(Kinds::NONE, |all, evidence| all.and(evidence.kinds)))
}

fn named(kinds: Kinds) -> String {
    or_dash(&kinds.iter().map(CheckKind::name).collect::<Vec<_>>().join(" "))
}

/// The edited files that the line's checks do not read.
fn left(case: &CommandLine) -> String {
    let found = loaded(case).evidence(&script(case), PLACE, &ExtraChecks::default());
    if found.is_empty() {
        return "no check".into();
    }
    or_dash(&loaded(case).left_by(&found, &case.edited).into_iter().cloned().collect::<Vec<_>>().join(" "))
}

fn shown_checks(case: &CommandLine, show: impl Fn(&NamedCheck) -> Option<String>) -> String {
    let script = script(case);
    let proof = loaded(case).proof(&script, PLACE, &ExtraChecks::default());
    let named = name_checks(&case.text, &script, &proof, false);
    or_dash(&named.iter().filter_map(show).collect::<Vec<_>>().join(", "))
}

fn output(case: &CommandLine) -> String {
    let proof = loaded(case).proof(&script(case), PLACE, &ExtraChecks::default());
    match (proof.shows_output, proof.cut_from) {
        (false, _) => "-".into(),
        (true, None) => "whole".into(),
        (true, Some(lines)) => format!("whole below {lines} lines"),
    }
}

//! Runs the tables of `src/shell/shell.md` and `src/checks/checks.md`: what a command line does, and what it proves.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tidegate_core::feature::verification::checks::{
    CheckKind, ExtraChecks, ProjectChecks, RunPlace, SeenFile, could_check, folders_of_line, read_project,
};
use tidegate_core::shell::{self, Script, Spot, Status, Step, Surroundings};

const PLACE: RunPlace<'static> =
    RunPlace { roots: &["/repo", "/other"], cwd: "/repo", end: None, links: &[] };

const SURROUNDINGS: Surroundings<'static> =
    Surroundings { home: Some("/home/me"), project: Some("/repo"), cwd: Some("/repo/app") };

/// The files of the projects that the tables name, by project.
type Projects = BTreeMap<String, Vec<(String, String)>>;

type Row = Vec<String>;

/// Runs one row and gives it back as it should read.
type Runner = fn(&Row, &Projects) -> Row;

const TABLES: [(&str, Runner); 6] = [
    ("line decides hidden", statuses),
    ("line runs in", places),
    ("line writes", writes),
    ("line project evidence", evidence),
    ("background project evidence", in_background),
    ("project kinds examples", kinds),
];

#[test]
fn every_row_of_every_table() {
    let mut rows = 0;
    let mut wrong = String::new();
    for file in ["shell/shell.md", "feature/verification/checks/checks.md"] {
        let path = format!("{}/src/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap();
        let projects = projects(&text);
        for (line, header, row) in table_rows(&text) {
            let Some((_, run)) = TABLES.iter().find(|(columns, _)| *columns == header) else {
                panic!("{path}:{line}: no test knows a table with the columns `{header}`");
            };
            let is = run(&row, &projects);
            rows += 1;
            if is != row {
                writeln!(
                    wrong,
                    "{file}:{line}\n  written: {}\n  is:      {}",
                    row.join(" | "),
                    is.join(" | ")
                )
                .unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(rows > 300, "only {rows} rows found");
}

/// Cells without the quotes of Markdown; `⏎` is a new line.
fn cells(line: &str) -> Row {
    let line = line.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\u{1}");
    let cell = |cell: &str| {
        cell.trim().trim_matches('`').replace('\u{1}', "|").replace(" ⏎", "\n").replace('⏎', "\n")
    };
    line.split('|').map(cell).collect()
}

fn table_rows(text: &str) -> Vec<(usize, String, Row)> {
    let mut rows = Vec::new();
    let mut header: Option<String> = None;
    for (number, line) in text.lines().enumerate() {
        if !line.starts_with('|') {
            header = None;
            continue;
        }
        match &header {
            None => header = Some(cells(line).join(" ")),
            Some(_) if line.starts_with("| ---") => {}
            Some(header) => rows.push((number + 1, header.clone(), cells(line))),
        }
    }
    rows
}

/// Blocks that begin with a line of three backticks and `project NAME`; `== path` begins a file.
fn projects(text: &str) -> Projects {
    let mut projects = Projects::new();
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

fn load(name: &str, projects: &Projects) -> ProjectChecks {
    let files = projects.get(name).unwrap_or_else(|| panic!("no project `{name}`"));
    let seen: Vec<SeenFile<'_>> = files
        .iter()
        .map(|(path, text)| {
            let (folder, name) = match path.rsplit_once('/') {
                // The name of a file that is looked for in a folder of the project's.
                Some(_) if path == "bin/rails" => ("", path.as_str()),
                Some((folder, name)) => (folder, name),
                None => ("", path.as_str()),
            };
            SeenFile { folder, name, text: Some(text) }
        })
        .collect();
    read_project(&seen)
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".into() } else { text.into() }
}

fn first_word(step: &Step) -> String {
    step.words.first().map_or("=".into(), |word| word.text.clone())
}

fn statuses(row: &Row, _: &Projects) -> Row {
    let Some(script) = shell::parse(&row[0]) else { return vec![row[0].clone(), "?".into(), "?".into()] };
    let decides: Vec<String> =
        script.steps.iter().filter(|step| step.status == Status::Decides).map(first_word).collect();
    let hidden: Vec<String> = script
        .steps
        .iter()
        .filter_map(|step| match step.status {
            Status::Decides => None,
            Status::Hidden(why) => Some(format!("{} {}", first_word(step), why.name())),
        })
        .collect();
    vec![row[0].clone(), or_dash(&decides.join(" ")), or_dash(&hidden.join(", "))]
}

fn spot(spot: &Spot) -> String {
    match spot {
        Spot::Start(path) => or_dash(path).replace('-', if path.is_empty() { "." } else { "-" }),
        Spot::Top(path) => format!("top:{path}"),
        Spot::End(path) => format!("end:{path}"),
        Spot::Absolute(path) => path.clone(),
        Spot::Unknown => "?".into(),
    }
}

fn places(row: &Row, _: &Projects) -> Row {
    let script = shell::parse_in(&row[0], SURROUNDINGS).expect("understood");
    let last = script.steps.last().expect("a command");
    vec![row[0].clone(), first_word(last), spot(&last.folder)]
}

fn writes(row: &Row, _: &Projects) -> Row {
    let script = shell::parse_in(&row[0], SURROUNDINGS).expect("understood");
    let names: Vec<String> = script.writes().iter().map(|write| spot(&write.path)).collect();
    vec![row[0].clone(), or_dash(&names.join(", "))]
}

fn extra() -> ExtraChecks {
    let mut extra = ExtraChecks::default();
    extra.add(CheckKind::Test, "cargo xtask test");
    extra.add(CheckKind::Lint, "./scripts/lint.sh");
    extra
}

fn evidence_of(script: &Script, project: &ProjectChecks) -> String {
    let extra = extra();
    let found = project.evidence(script, PLACE, &extra);
    if !found.is_empty() {
        assert!(could_check(script, &extra), "not worth a look, yet evidence");
    }
    let mut kinds: Vec<&str> = Vec::new();
    for kind in CheckKind::ALL {
        if found.iter().any(|evidence| evidence.kind == kind) {
            kinds.push(kind.name());
        }
    }
    or_dash(&kinds.join(" "))
}

fn evidence(row: &Row, projects: &Projects) -> Row {
    let is = match shell::parse(&row[0]) {
        None => "?".into(),
        Some(script) => {
            let _ = folders_of_line(&script, PLACE);
            evidence_of(&script, &load(&row[1], projects))
        }
    };
    vec![row[0].clone(), row[1].clone(), is]
}

fn in_background(row: &Row, projects: &Projects) -> Row {
    let script = shell::parse(&row[0]).expect("understood");
    let is = evidence_of(&script, &load(&row[1], projects).in_background());
    vec![row[0].clone(), row[1].clone(), is]
}

fn kinds(row: &Row, projects: &Projects) -> Row {
    let project = load(&row[0], projects);
    let kinds: Vec<&str> = project.kinds().iter().map(CheckKind::name).collect();
    let examples: Vec<String> = project.examples().into_iter().map(|(_, command)| command).collect();
    vec![row[0].clone(), or_dash(&kinds.join(" ")), or_dash(&examples.join(", "))]
}

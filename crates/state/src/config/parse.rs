//! The text of a config file as assignments, each with its line.

use std::path::Path;

use tidegate_core::feature::config::Config;
use tidegate_core::feature::config::former_names::current_section;
use tidegate_core::feature::config::layer::{Assignment, Origin, key_path as path_of};
use tidegate_core::settings::value::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A file with more keys is refused: a stranger's file must not slow down every call.
pub(super) const MOST_KEYS: usize = 1000;

pub(super) struct ParseError {
    pub(super) line: Option<usize>,
    pub(super) message: String,
}

pub(super) struct Parsed {
    pub(super) assignments: Vec<Assignment>,
    /// `[project."…"]` sections, by the project's root.
    pub(super) projects: Vec<(String, Vec<Assignment>)>,
    pub(super) problems: Vec<String>,
}

impl Parsed {
    /// The first argument of `is_wanted` is the project that the assignment is for.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(Option<&str>, &Assignment) -> bool) {
        self.assignments.retain(|assignment| is_wanted(None, assignment));
        for (project, assignments) in &mut self.projects {
            assignments.retain(|assignment| is_wanted(Some(project), assignment));
        }
    }

    /// Whether it contains this assignment, on any line.
    pub(super) fn has(&self, project: Option<&str>, wanted: &Assignment) -> bool {
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

/// Everything that a file sets, including unknown sections and keys, each with its value as TOML.
pub fn list_assignments(text: &str, file: &str, config: &Config) -> Vec<(Assignment, String)> {
    let lines = LineEnds::find(text);
    let Ok(table) = DeTable::parse(text) else { return Vec::new() };
    let mut all = Vec::new();
    TableReader { file, lines: &lines, config }.collect_all("", table.get_ref(), &mut all);
    all.sort_by_key(|(assignment, _)| line_of(assignment));
    all
}

fn write_value(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| write_value(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(table) => {
            let member = |(key, value): (&Name<'_>, &Spanned<DeValue<'_>>)| {
                format!("{} = {}", path_of("", key.get_ref()), write_value(value.get_ref()))
            };
            format!("{{{}}}", table.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        DeValue::Datetime(date) => date.to_string(),
        value => read_value(value).to_string(),
    }
}

pub(super) fn parse(text: &str, file: &str, config: &Config) -> Result<Parsed, ParseError> {
    let lines = LineEnds::find(text);
    let table = DeTable::parse(text).map_err(|error| ParseError {
        line: Some(error.span().map_or(1, |span| lines.line_at(span.start))),
        // Further lines repeat the text around the mistake.
        message: error.message().lines().next().unwrap_or_default().to_owned(),
    })?;
    read_table(&table.into_inner(), file, &lines, config)
}

/// The valid lines of a file with mistakes.
pub(super) fn parse_between_mistakes(text: &str, file: &str, config: &Config) -> Option<Parsed> {
    let (table, _) = DeTable::parse_recoverable(text);
    read_table(&table.into_inner(), file, &LineEnds::find(text), config).ok()
}

fn read_table(
    table: &DeTable<'_>,
    file: &str,
    lines: &LineEnds,
    config: &Config,
) -> Result<Parsed, ParseError> {
    let reader = TableReader { file, lines, config };
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
                            lines.line_at(root.span().start)
                        )),
                    }
                }
            }
            _ => reader.collect(name, value, &mut assignments),
        }
    }
    let count = assignments.len() + projects.iter().map(|(_, inner)| inner.len()).sum::<usize>();
    if count > MOST_KEYS {
        return Err(ParseError { line: None, message: format!("more than {MOST_KEYS} keys") });
    }
    // The parser sorts by name; problems are reported from top to bottom.
    assignments.sort_by_key(line_of);
    Ok(Parsed { assignments, projects, problems })
}

pub(super) fn line_of(assignment: &Assignment) -> usize {
    match &assignment.origin {
        Origin::Line(_, line) => *line,
        _ => 0,
    }
}

/// Turns tables into assignments.
struct TableReader<'a> {
    file: &'a str,
    lines: &'a LineEnds,
    /// Defines the known sections.
    config: &'a Config,
}

impl TableReader<'_> {
    /// A top-level key, or all keys of a section.
    fn collect(&self, name: &Name<'_>, value: &Spanned<DeValue<'_>>, assignments: &mut Vec<Assignment>) {
        match value.get_ref() {
            DeValue::Table(table) => self.collect_section(&path_of("", name.get_ref()), table, assignments),
            _ => assignments.push(self.assignment("", name, value)),
        }
    }

    /// A table with the name of a known section is that section; any other is an invalid value.
    fn collect_section(&self, section: &str, table: &DeTable<'_>, assignments: &mut Vec<Assignment>) {
        for (key, value) in table {
            if let DeValue::Table(table) = value.get_ref() {
                let within = path_of(section, key.get_ref());
                if self.config.section(&current_section(&within)).is_some() {
                    self.collect_section(&within, table, assignments);
                    continue;
                }
            }
            assignments.push(self.assignment(section, key, value));
        }
    }

    fn collect_all(&self, section: &str, table: &DeTable<'_>, all: &mut Vec<(Assignment, String)>) {
        for (key, value) in table {
            match value.get_ref() {
                DeValue::Table(table) if !table.is_empty() => {
                    self.collect_all(&path_of(section, key.get_ref()), table, all);
                }
                found => all.push((self.assignment(section, key, value), write_value(found))),
            }
        }
    }

    fn assignment(&self, section: &str, key: &Name<'_>, value: &Spanned<DeValue<'_>>) -> Assignment {
        let origin = Origin::Line(self.file.to_owned(), self.lines.line_at(key.span().start));
        Assignment::new(section, key.get_ref(), read_value(value.get_ref()), origin)
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

/// Offsets of line breaks.
struct LineEnds(Vec<usize>);

impl LineEnds {
    fn find(text: &str) -> LineEnds {
        LineEnds(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    fn line_at(&self, at: usize) -> usize {
        self.0.partition_point(|end| *end < at) + 1
    }
}

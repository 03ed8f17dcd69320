//! Runs the tables of `src/knowledge`: what survives a compaction, and how a `Confirmed` line is read.

use std::fmt::Write as _;

use tidegate_core::feature::knowledge::key_facts::{FactKind, KeyFact};
use tidegate_core::feature::knowledge::stock::Stock;
use tidegate_core::feature::knowledge::survival::measure_survival;

type Row = Vec<String>;

/// Runs one row and gives it back as it should read.
type Runner = fn(&Row) -> Row;

const TABLES: [(&str, Runner); 3] = [
    ("kind fact summary is", one_fact),
    ("fact summary preserved is", where_it_stands),
    ("line count date phases problem", confirmed_line),
];

#[test]
fn every_row_of_every_table() {
    let mut rows = 0;
    let mut wrong = String::new();
    for file in ["survival.md", "stock.md"] {
        let path = format!("{}/src/feature/knowledge/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap();
        for (line, header, row) in table_rows(&text) {
            let Some((_, run)) = TABLES.iter().find(|(columns, _)| *columns == header) else {
                panic!("{path}:{line}: no test knows a table with the columns `{header}`");
            };
            let is = run(&row);
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
    assert!(rows > 150, "only {rows} rows found");
}

/// A cell that is one piece of code is without its backticks; `⏎` is a new line.
fn cells(line: &str) -> Row {
    let line = line.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\u{1}");
    let cell = |cell: &str| {
        let cell = cell.trim();
        let code = cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`'));
        let cell = code.filter(|code| !code.contains('`')).unwrap_or(cell);
        cell.replace('\u{1}', "|").replace(" ⏎", "\n")
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

fn judged(kind: FactKind, fact: &str, summary: &str, preserved: &[&str]) -> String {
    let summary = summary.replace("(far)", &"Something else was talked about. ".repeat(30));
    let fact = KeyFact { kind, text: fact.to_owned() };
    let survival = measure_survival(std::slice::from_ref(&fact), &summary, preserved);
    assert_eq!((survival.of, survival.kept + survival.lost.len()), (1, 1));
    if survival.kept == 1 { "kept".into() } else { "lost".into() }
}

fn one_fact(row: &Row) -> Row {
    let kind = serde_json::from_value(row[0].clone().into()).expect("a kind of fact");
    let is = judged(kind, &row[1], &row[2], &[]);
    [row[..3].to_vec(), vec![is]].concat()
}

fn where_it_stands(row: &Row) -> Row {
    let preserved: &[&str] = if row[2] == "-" { &[] } else { &[&row[2]] };
    let is = judged(FactKind::Decision, &row[0], &row[1], preserved);
    [row[..3].to_vec(), vec![is]].concat()
}

fn confirmed_line(row: &Row) -> Row {
    let text = format!("# Learnings\n## Title\n- **Learning**: what\n{}\n", row[0]);
    let stock = Stock::parse(&text);
    let [entry] = &stock.entries[..] else { panic!("{stock:?}") };
    let problems: Vec<String> =
        stock.problems.iter().map(|problem| format!("{}: {}", problem.line, problem.what)).collect();
    let or_dash = |text: String| if text.is_empty() { "-".into() } else { text };
    let (count, date, phases) = match &entry.confirmed {
        Some(confirmed) => (confirmed.count.to_string(), confirmed.date.clone(), confirmed.phases.join(", ")),
        None => (String::new(), String::new(), String::new()),
    };
    vec![row[0].clone(), or_dash(count), or_dash(date), or_dash(phases), or_dash(problems.join("; "))]
}

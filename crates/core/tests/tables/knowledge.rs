//! The tables of `survival.md` and `stock.md`: what survives a compaction, and how a `Confirmed` line is read.

use tidegate_core::feature::knowledge::constraint::{find_constraints, still_standing};
use tidegate_core::feature::knowledge::key_facts::{FactKind, KeyFact};
use tidegate_core::feature::knowledge::stock::{Confirmations, Stock};
use tidegate_core::feature::knowledge::survival::measure_survival;

use crate::markdown::code;
use crate::vocabulary::{Case, Report, Vocabulary};

pub(crate) fn run(report: &mut Report) -> Vec<String> {
    let [survival, stock, constraint] = [
        "feature/knowledge/survival.md",
        "feature/knowledge/stock.md",
        "feature/knowledge/constraint/constraint.md",
    ];
    report.run(survival, &crate::source(survival), &[&SURVIVAL], || Fact {
        fact: KeyFact { kind: FactKind::Decision, text: String::new() },
        summary: String::new(),
        preserved: None,
    });
    report.run(stock, &crate::source(stock), &[&STOCK], Line::default);
    report.run(constraint, &crate::source(constraint), &[&CONSTRAINT], Said::default);
    [survival, stock, constraint].map(str::to_owned).to_vec()
}

struct Fact {
    fact: KeyFact,
    summary: String,
    preserved: Option<String>,
}

impl Case for Fact {
    type Outcome = Fact;

    fn outcome(self) -> Fact {
        self
    }
}

static SURVIVAL: Vocabulary<Fact> = Vocabulary {
    name: "survival",
    given: &[
        ("kind", |case, cell| {
            case.fact.kind = serde_json::from_value(cell.into()).expect("a kind of fact");
        }),
        ("fact", |case, cell| case.fact.text = prose(cell)),
        ("summary", |case, cell| {
            case.summary = prose(cell).replace("(far)", &"Something else was talked about. ".repeat(30));
        }),
        ("preserved", |case, cell| case.preserved = Some(prose(cell)).filter(|cell| cell != "-")),
    ],
    expected: &[("is", |case| {
        let preserved: Vec<&str> = case.preserved.iter().map(String::as_str).collect();
        let survival = measure_survival(std::slice::from_ref(&case.fact), &case.summary, &preserved);
        assert_eq!((survival.of, survival.kept + survival.lost.len()), (1, 1));
        if survival.kept == 1 { "kept".into() } else { "lost".into() }
    })],
};

/// Not as code unless all of it is one piece.
fn prose(cell: &str) -> String {
    let text = code(&cell.replace(" ⏎", "⏎"));
    if text.contains('`') { cell.to_owned() } else { text }
}

/// A line of a learning.
#[derive(Default)]
struct Line {
    text: String,
}

impl Case for Line {
    /// The file that it is in.
    type Outcome = String;

    fn outcome(self) -> String {
        format!("# Learnings\n## Title\n- **Learning**: what\n{}\n", self.text)
    }
}

static STOCK: Vocabulary<Line> = Vocabulary {
    name: "stock",
    given: &[("line", |case, cell| case.text = prose(cell))],
    expected: &[
        ("count", |file| confirmed(file, |confirmed| confirmed.count.to_string())),
        ("date", |file| confirmed(file, |confirmed| confirmed.date.clone())),
        ("phases", |file| confirmed(file, |confirmed| confirmed.phases.join(", "))),
        ("problem", |file| {
            let problems = Stock::parse(file).problems;
            let problems = problems.iter().map(|problem| format!("{}: {}", problem.line, problem.what));
            or_dash(problems.collect::<Vec<_>>().join("; "))
        }),
    ],
};

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".into() } else { text }
}

fn confirmed(file: &str, shown: impl Fn(&Confirmations) -> String) -> String {
    let stock = Stock::parse(file);
    let [entry] = &stock.entries[..] else { panic!("{stock:?}") };
    or_dash(entry.confirmed.as_ref().map(shown).unwrap_or_default())
}

/// A prompt, and the constraints before it.
#[derive(Default)]
struct Said {
    stated: Vec<String>,
    prompt: String,
}

impl Case for Said {
    type Outcome = Said;

    fn outcome(self) -> Said {
        self
    }
}

static CONSTRAINT: Vocabulary<Said> = Vocabulary {
    name: "constraint",
    given: &[
        ("stated", |case, cell| case.stated = cell.split("; ").map(str::to_owned).collect()),
        ("prompt", |case, cell| {
            let lines = cell.split('⏎').map(|line| line.trim().trim_matches('`').to_owned());
            // A fence would end the cell's own code.
            let is_fence = cell.starts_with("```");
            case.prompt =
                if is_fence { cell.replace('⏎', "\n") } else { lines.collect::<Vec<_>>().join("\n") };
        }),
    ],
    expected: &[
        ("finds", |case| or_dash(find_constraints(&case.prompt).join("; ").replace('\n', " "))),
        ("standing", |case| or_dash(still_standing(&case.stated, &case.prompt).join("; "))),
    ],
};

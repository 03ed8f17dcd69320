//! The comparison for people and for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::comparison::{Agreement, COLUMNS, Case, Comparison, CountedCause};
use super::figures::Share;
use tidegate_replay::outcome::StopOutcome;
use tidegate_replay::player::ClosedRun;

/// Longer command lines are cut.
const SHOWN: usize = 160;

/// Outcomes of all ends of turns.
pub(crate) fn write_overview(sessions: usize, outcomes: &[(String, usize)]) -> String {
    let ends: usize = outcomes.iter().map(|(_, count)| count).sum();
    let mut text = format!("all: {ends} ends of turns in {sessions} sessions, labelled or not\n\n");
    for (outcome, count) in outcomes {
        let _ = writeln!(text, "  {count:>6}  {outcome}");
    }
    text
}

/// Checks whose status shows are the proof of how often their closing lines are right.
pub(crate) fn write_closing_lines(right: Share, closed: &[(&String, &ClosedRun)]) -> String {
    let mut text = format!("closing lines that say passed, in checks whose status shows: right in {right}\n");
    for (session, run) in closed.iter().filter(|(_, run)| !run.succeeded) {
        let _ = writeln!(text, "  wrong: {session}:{}: {}", run.line, shorten(&run.command));
    }
    text
}

pub(crate) fn write_text(part: &str, all: &Comparison<'_>, agreement: &Agreement, shows: bool) -> String {
    let mut text =
        format!("{part}: {} ends of turns in {} sessions\n\n", all.cases.len(), all.count_sessions());
    let _ = writeln!(text, "  {:<50}{:<36}of sessions, all of their ends", "", "of ends");
    for (name, shares) in &all.shares {
        let _ = writeln!(text, "  {name:<50}{:<36}{}", shares.ends.to_string(), shares.sessions);
    }
    let kappa =
        |kappa: Option<f64>| kappa.map_or_else(|| "not defined".to_owned(), |kappa| format!("{kappa:.3}"));
    let _ =
        writeln!(text, "\n  two readers, same label: {}, kappa {}", agreement.labels, kappa(agreement.kappa));
    let _ = writeln!(
        text,
        "  same sub-label as well: {}, kappa {}",
        agreement.whole,
        kappa(agreement.whole_kappa)
    );
    let _ = write!(text, "\n  {:<16}", "ends (sessions)");
    for column in COLUMNS {
        let _ = write!(text, "{column:>13}");
    }
    text.push('\n');
    for (label, counts) in all.table() {
        let _ = write!(text, "  {:<16}", label.name());
        for (ends, sessions) in counts {
            let cell = if ends == 0 { "·".to_owned() } else { format!("{ends} ({sessions})") };
            let _ = write!(text, "{cell:>13}");
        }
        text.push('\n');
    }
    text.push_str("\n  held because of\n");
    for CountedCause { cause, ends, labels } in all.causes() {
        let labels: Vec<String> = labels.iter().map(|(label, count)| format!("{label} {count}")).collect();
        let _ = writeln!(text, "  {ends:>6}  {cause:<40}{}", labels.join(", "));
    }
    if shows {
        text.push_str("\n  labels and outcomes that differ\n");
        all.differences().iter().for_each(|case| text.push_str(&write_case(case)));
    }
    text
}

fn write_case(case: &Case<'_>) -> String {
    let label = case.label;
    let mut text = format!(
        "\n  {}:{} turn {}: labelled {}, {}\n    reader: {}\n",
        label.session, label.line, label.turn, label.label, case.judged.outcome, label.reason
    );
    if let Some(run) = &case.judged.run {
        let _ = writeln!(text, "    line {}: {}", run.line, shorten(&run.command));
    }
    text
}

fn shorten(command: &str) -> String {
    let line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

pub(crate) fn write_json(part: &str, all: &Comparison<'_>, agreement: &Agreement, shows: bool) -> Value {
    let shares: serde_json::Map<String, Value> = all
        .shares
        .iter()
        .map(|(name, shares)| {
            let both = json!({"ends": shares.ends.to_json(), "sessions": shares.sessions.to_json()});
            (name.trim().to_owned(), both)
        })
        .collect();
    let row = |counts: [(usize, usize); COLUMNS.len()]| -> serde_json::Map<String, Value> {
        let cell = |(ends, sessions): (usize, usize)| json!({"ends": ends, "sessions": sessions});
        COLUMNS.iter().zip(counts).map(|(name, count)| ((*name).to_owned(), cell(count))).collect()
    };
    let labels: serde_json::Map<String, Value> = all
        .table()
        .into_iter()
        .map(|(label, counts)| (label.name().to_owned(), row(counts).into()))
        .collect();
    let causes: Vec<Value> = all
        .causes()
        .into_iter()
        .map(|counted| json!({"cause": counted.cause, "ends": counted.ends}))
        .collect();
    let mut value = json!({
        "part": part,
        "ends": all.cases.len(),
        "sessions": all.count_sessions(),
        "shares": shares,
        "agreement": {
            "label": agreement.labels.to_json(),
            "kappa": agreement.kappa,
            "sub_label": agreement.whole.to_json(),
            "sub_label_kappa": agreement.whole_kappa,
        },
        "labels": labels,
        "causes": causes,
    });
    if shows {
        value["cases"] = all.cases.iter().map(case_json).collect();
    }
    value
}

fn case_json(case: &Case<'_>) -> Value {
    let label = case.label;
    let cause = match &case.judged.outcome {
        StopOutcome::Held(cause) => Some(cause.to_string()),
        _ => None,
    };
    json!({
        "session": label.session,
        "turn": label.turn,
        "line": label.line,
        "label": label.label.name(),
        "reason": label.reason,
        "outcome": case.judged.outcome.name(),
        "cause": cause,
        "differs": case.differs(),
        "run": case.judged.run.as_ref().map(|run| json!({"line": run.line, "command": run.command})),
    })
}

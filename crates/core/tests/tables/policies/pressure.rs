//! `pressure`: how full the context is.

use tidegate_core::feature::knowledge::facts::Knowledge;
use tidegate_core::feature::marks::{Mark, SessionMark};
use tidegate_core::feature::pressure::effect::Effect as PressureEffect;
use tidegate_core::feature::pressure::marks::{Mark as PressureMark, PressureLevel, SaidPressure};
use tidegate_core::feature::verdict::Effect;

use super::{Room, number, or_dash, plain, yes};
use crate::situation::{Decided, NOW, Situation, marks, pick};

pub(super) static PRESSURE: Room = Room {
    begin: |case| case.meter.stale = true,
    given: &[
        ("said", said),
        ("relays", |case, cell| {
            case.leave(cell.split(' ').filter_map(number).map(SessionMark::Relay));
        }),
        ("unpromoted", unpromoted),
        ("still unpromoted", |case, cell| {
            case.mark(SessionMark::Promoted(NOW));
            unpromoted(case, cell);
        }),
    ],
    expected: &[("says", says), ("marks", marked), ("looked", looked), ("advice", advice)],
    ..plain("context-warning")
};

/// `info at 124000`.
fn said(case: &mut Situation, cell: &str) {
    let (level, used) = cell.split_once(" at ").unwrap_or((cell, if cell == "none" { "0" } else { "1" }));
    let level = match level {
        "none" => PressureLevel::None,
        "info" => PressureLevel::Info,
        "urgent" => PressureLevel::Urgent,
        "broken" => {
            case.marks_broken = true;
            return;
        }
        other => panic!("no such level: {other}"),
    };
    let used = used.parse().expect("tokens");
    let reference = case.meter.compacts.or(case.meter.window).unwrap_or_default();
    case.mark(PressureMark::Pressure(SaidPressure {
        level,
        used,
        reference,
        at: NOW,
        promoted: false,
        looked: None,
    }));
}

fn unpromoted(case: &mut Situation, cell: &str) {
    let entries = |count| Knowledge { unpromoted: vec!["x".into(); count], ..Knowledge::default() };
    case.facts.knowledge.files = number(cell).map(entries);
}

fn says(decided: &Decided) -> String {
    match decided.outcome.context.as_str() {
        "" => "-".into(),
        text if text.starts_with("Context is running out") => "urgent".into(),
        _ => "info".into(),
    }
}

fn left(decided: &Decided) -> Option<&SaidPressure> {
    pick!(marks(&decided.outcome.effects), Mark::Pressure(PressureMark::Pressure(said)) => said)
}

fn marked(decided: &Decided) -> String {
    let marked = left(decided).map(|said| said.level);
    let effects = &decided.outcome.effects;
    let published = pick!(effects, Effect::Pressure(PressureEffect::Publish { level, .. }) => *level);
    assert_eq!(marked, published, "the session's own mark and the public copy go together");
    or_dash(marked.map_or("", PressureLevel::name))
}

/// After a promotion the entries are looked at once.
fn looked(decided: &Decided) -> String {
    let looked = left(decided).filter(|said| said.looked.is_some() && said.promoted);
    if let Some(said) = looked {
        assert_eq!(decided.effects().len(), 1);
        let mut again = decided.case.clone();
        again.mark(PressureMark::Pressure(*said));
        assert_eq!(again.decide().effects(), []);
    }
    yes(looked.is_some())
}

fn advice(decided: &Decided) -> String {
    or_dash(decided.outcome.context.split_once(" as a summary.").map_or("", |(_, advice)| advice.trim()))
}

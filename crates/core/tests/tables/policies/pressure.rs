//! `pressure`: how full the context is.

use tidegate_core::feature::knowledge::facts::Knowledge;
use tidegate_core::feature::marks::{Mark, SessionMark};
use tidegate_core::feature::pressure::effect::Effect as PressureEffect;
use tidegate_core::feature::pressure::marks::{Mark as PressureMark, PressureLevel, SaidPressure};
use tidegate_core::feature::verdict::{Audience, Effect};
use tidegate_core::text::lang::Lang;

use super::{Room, number, or_dash, plain, yes};
use crate::situation::{Decided, NOW, Situation, ago, marks, pick};

pub(super) static PRESSURE: Room = Room {
    begin: |case| case.meter.stale = true,
    law: |decided| {
        assert!(!decided.tells(Audience::User) || decided.tells(Audience::Model), "never the person alone");
        for say in decided.says().iter().filter(|say| say.to == Audience::User) {
            assert!(say.text.split(' ').count() <= 40, "too long for a person: {}", say.text);
        }
    },
    given: &[
        ("lang", |case, cell| case.facts.lang = if cell == "ja" { Lang::Ja } else { Lang::En }),
        ("heard", heard),
        ("boundary", |case, cell| match cell {
            "later" => case.mark(SessionMark::Boundary(ago(1))),
            "earlier" => {
                case.mark(SessionMark::Boundary(ago(1)));
                said(case, "none at 30000");
            }
            _ => {}
        }),
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
    expected: &[
        ("person", |decided| yes(decided.tells(Audience::User))),
        ("says", says),
        ("marks", marked),
        ("looked", looked),
        ("publishes", publishes),
    ],
    ..plain("context-warning")
};

/// `info at 124000`.
fn said(case: &mut Situation, cell: &str) {
    let (cell, before_fork) =
        cell.strip_suffix(", before the fork").map_or((cell, false), |cell| (cell, true));
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
        before_fork,
        ..SaidPressure::default()
    }));
}

/// `early, 3 notes`: an early warning before the last compaction, and the notes that the person knows of.
fn heard(case: &mut Situation, cell: &str) {
    let notes = cell.split(' ').find_map(number).unwrap_or_default();
    let told_early = cell.starts_with("early");
    case.mark(PressureMark::Pressure(SaidPressure { notes, told_early, ..SaidPressure::default() }));
    case.mark(SessionMark::Boundary(ago(1)));
}

fn unpromoted(case: &mut Situation, cell: &str) {
    let entries = |count| Knowledge { unpromoted: vec!["x".into(); count], ..Knowledge::default() };
    case.facts.knowledge.takes_no_notes = cell == "not taken here";
    case.facts.knowledge.files = number(cell).map(entries);
}

fn says(decided: &Decided) -> String {
    match decided.outcome.context.as_str() {
        "" => "-".into(),
        text if text.contains("the next step now:") => "urgent".into(),
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

fn publishes(decided: &Decided) -> String {
    let published =
        pick!(&decided.outcome.effects, Effect::Pressure(PressureEffect::Publish { reading, .. }) => reading);
    let takes_over = |effect: &Effect| matches!(effect, Effect::Pressure(PressureEffect::TakeOver));
    match published {
        None if decided.outcome.effects.iter().any(takes_over) => "takes over".into(),
        None => "-".into(),
        Some(reading) => reading.as_ref().map_or("unknown".into(), |reading| reading.used.to_string()),
    }
}

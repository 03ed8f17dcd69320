//! `compaction` and `learning-reminder`: what is kept through a compaction, and promoted.

use tidegate_core::feature::activity::classifier::{Guess, Phase};
use tidegate_core::feature::activity::marks::Mark as ActivityMark;
use tidegate_core::feature::cycle::marks::Mark as CycleMark;
use tidegate_core::feature::cycle::{ActiveStage, Cycle, Turn};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::boundary::Boundary;
use tidegate_core::feature::knowledge::effect as own;
use tidegate_core::feature::knowledge::facts::Knowledge;
use tidegate_core::feature::knowledge::key_facts::{FactKind, KeyFact};
use tidegate_core::feature::knowledge::marks::{HandoffKnown, Mark as KnowledgeMark, Nudge};
use tidegate_core::feature::knowledge::preserved::Preserved;
use tidegate_core::feature::knowledge::stock::Confidence;
use tidegate_core::feature::knowledge::survival::Survival;
use tidegate_core::feature::knowledge::tracked::{FileNumbers, TrackedFile};
use tidegate_core::feature::marks::{Mark, Note, SessionMark};
use tidegate_core::feature::memory::catalogue::{Decided as MemoryDecision, NamedId, ProjectPage};
use tidegate_core::feature::pressure::marks::{Mark as PressureMark, PressureLevel, SaidPressure};
use tidegate_core::feature::verdict::{Audience, Effect};
use tidegate_core::feature::verification::checks::Kinds;
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::work::SucceededChecks;
use tidegate_core::feature::workflow::standing::WorkflowStanding;
use tidegate_core::feature::workflow::{Manifest, Workflow};
use tidegate_core::text::fnv;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;

use super::verification::edit;
use super::{Room, event, number, or_dash, plain, yes};
use crate::situation::{Decided, NOW, Situation, ago, fold, marks};

const EDITED: Millis = ago(500_000);
const HOUR: u64 = 3_600_000;
/// Names the unpromoted entries of a row.
const SET: u64 = 7;

#[derive(Clone, Default)]
pub(crate) struct Draft {
    work: String,
    note: Option<Note>,
}

pub(super) static COMPACTION: Room = Room {
    begin: |case| {
        case.put("source", "compact");
        case.put("trigger", "auto");
    },
    finish: work,
    law: |decided| {
        let Some(part) = &decided.part else { return };
        let at = |name: &str| decided.case.payload["hook_event_name"] == name;
        let unknown = ["nothing was noted before this compaction", "the client gave no summary"];
        if decided.case.marks_broken || at("PostCompact") && unknown.contains(&decided.because()) {
            assert!(decided.says().is_empty() && decided.effects().is_empty(), "too little is known");
        } else if at("PreCompact") {
            let noted = |effect: &Effect| matches!(effect, Effect::Knowledge(own::Effect::NoteBoundary(_)));
            let passes = part.verdict.call.name() == "pass";
            assert_eq!(decided.effects().iter().any(noted), passes, "one that is held changes nothing");
        }
    },
    given: &[
        ("source", event),
        ("trigger", event),
        ("hold", |case, cell| {
            case.set("compaction", "hold", cell);
            case.knowledge.work = "edited".into();
        }),
        ("held", held),
        ("under way", under_way),
        ("noted", noted),
        ("entries", entries),
        ("said", |case, cell| {
            case.leave((cell == "yes").then_some(KnowledgeMark::Recovered(NOW)));
        }),
        ("files", |case, cell| entries(case, if cell == "yes" { "3/2" } else { "none" })),
        ("listed", listed),
        ("in prompts", |case, cell| {
            case.event("PreCompact");
            for stated in cell.split(", ").filter(|cell| *cell != "-") {
                case.mark(KnowledgeMark::ConstraintStated(stated.to_owned()));
            }
        }),
        ("newest note: next", |case, cell| of_files(case, cell, |files, list| files.next = list)),
        ("plan: open items", |case, cell| of_files(case, cell, |files, list| files.open = list)),
        ("plan: constraints", |case, cell| of_files(case, cell, |files, list| files.constraints = list)),
        ("in the memory", |case, cell| {
            let decisions = cell.split(", ").filter(|cell| *cell != "-").zip(1..);
            let decided =
                |(name, id): (&str, i64)| MemoryDecision { id, name: name.to_owned(), by: String::new() };
            let project = NamedId { id: 1, name: "app".into() };
            let page = ProjectPage::new("app".into(), project, decisions.map(decided).collect());
            case.facts.memory.page = Known::Value(page);
        }),
        ("lost", |case, cell| {
            let lost = vec![KeyFact { kind: FactKind::Stated, text: cell.to_owned() }];
            let survival = Some(Survival { kept: 0, of: 1, lost: lost.clone(), given_back: 0 });
            case.facts.knowledge.boundary =
                Some(Boundary { facts: lost, survival, measured: Some(ago(HOUR)), ..Boundary::default() });
            case.mark(SessionMark::Note(Note::Lost));
            case.mark(KnowledgeMark::ConstraintStated(cell.to_owned()));
        }),
        ("taken back", |case, cell| {
            event(case, "prompt");
            match cell {
                "-" => {}
                "before" => {
                    let stated = fold(case.marks.clone()).knowledge.constraints;
                    for constraint in stated {
                        case.mark(KnowledgeMark::ConstraintLifted(constraint.hash()));
                    }
                }
                prompt => case.put("prompt", prompt),
            }
        }),
        ("lifted", |case, cell| {
            for stated in cell.split(", ").filter(|cell| *cell != "-") {
                case.mark(KnowledgeMark::ConstraintStated(stated.to_owned()));
                case.mark(KnowledgeMark::ConstraintLifted(fnv::hash(stated.bytes())));
            }
        }),
        ("left out", |case, cell| {
            let texts = cell.split(", ").map(str::to_owned).collect();
            case.mark(KnowledgeMark::LeftOut(texts));
        }),
        ("since then", |case, cell| match cell {
            "-" => {}
            "room told" => case.mark(KnowledgeMark::LeftOutTold),
            "told" => case.mark(KnowledgeMark::LiftTold),
            again => case.mark(KnowledgeMark::ConstraintStated(again.to_owned())),
        }),
        ("in a merge", |case, cell| {
            let conflicts = if cell == "-" { Vec::new() } else { vec!["progress.md"] };
            case.facts.knowledge.files.as_mut().expect("files").conflicts = conflicts;
            if cell.ends_with(", told") {
                case.mark(SessionMark::Notice("conflict progress.md".into()));
            }
        }),
        ("handoff", handoff),
        ("known", known),
        ("named", named),
        ("summary", |case, cell| {
            case.event("PostCompact");
            case.put("compact_summary", format!("<analysis>x</analysis><summary>{cell}</summary>"));
        }),
        ("kept whole", |case, cell| {
            let texts = Some(cell.to_owned()).filter(|cell| cell != "-").into_iter().collect();
            let repeated = case.payload["trigger"] == "manual";
            case.facts.knowledge.preserved = Preserved { texts, repeated, known: true, summary: None };
        }),
        ("lang", |case, cell| case.facts.lang = if cell == "ja" { Lang::Ja } else { Lang::En }),
        ("since the summary", since_summary),
        ("written down", |case, cell| case.facts.knowledge.preserved.known = cell == "yes"),
        ("marks", |case, cell| match cell {
            "broken" => case.marks_broken = true,
            "noted" => {
                case.facts.knowledge.boundary = Some(Boundary { noted: NOW, ..Boundary::default() });
            }
            _ => {}
        }),
    ],
    expected: &[
        ("first line", |decided| {
            or_dash(decided.says().first().and_then(|say| say.text.lines().next()).unwrap_or_default())
        }),
        ("writes", |decided| {
            let written = decided.effects().iter().find_map(|effect| match effect {
                Effect::Knowledge(own::Effect::WriteHandoff(work)) => Some(work.len()),
                _ => None,
            });
            or_dash(
                written.map_or("", |phases| if phases > 0 { "handoff with its phases" } else { "handoff" }),
            )
        }),
        ("tidies", |decided| yes(decided.effects().contains(&Effect::Knowledge(own::Effect::TidyFlow)))),
        ("lists", |decided| or_dash(if decided.says().is_empty() { "" } else { "files" })),
        ("excerpt", |decided| {
            let said = decided.says().first().map_or("", |say| say.text.as_str());
            or_dash(said.lines().filter(|line| line.starts_with("The file ")).collect::<Vec<_>>().join("; "))
        }),
        ("named first", |decided| named_lines(decided).1),
        ("then", |decided| {
            let text = decided.says().first().map_or("", |say| say.text.as_str());
            or_dash(text.lines().skip(3).collect::<Vec<_>>().join(" ").replace(": - ", ": "))
        }),
        ("below the title", |decided| named_lines(decided).0),
        ("given back", |decided| {
            let said = decided.says().iter().find(|say| say.to == Audience::Model);
            let said = said.map_or("", |say| say.text.as_str());
            or_dash(said.lines().filter_map(|line| line.strip_prefix("- ")).collect::<Vec<_>>().join(", "))
        }),
        ("tells", tells),
        ("kept", |decided| {
            let survival = later(decided).0;
            assert_eq!(survival.kept + survival.lost.len(), survival.of);
            format!("{} of {}", survival.kept, survival.of)
        }),
        ("has again", |decided| later(decided).0.given_back.to_string()),
        ("the person reads", |decided| {
            let said = decided.says().iter().find(|say| say.to == Audience::User);
            or_dash(said.map_or("", |say| say.text.as_str()))
        }),
        ("told later", |decided| or_dash(later(decided).1)),
        ("the person sees", |decided| or_dash(later(decided).2)),
    ],
    ..plain("compaction")
};

pub(super) static COMPOUND_NUDGE: Room = Room {
    begin: |case| {
        case.mark(SessionMark::Attached(NOW));
        case.knowledge.work = "verified".into();
        entries(case, "3/0");
    },
    finish: work,
    law: |decided| {
        if let Some(note) = decided.case.knowledge.note {
            assert_given(decided, note);
        }
    },
    given: &[
        ("work", |case, cell| case.knowledge.work = cell.into()),
        ("phase", phase),
        ("moment", |case, cell| {
            if cell == "phase ends" {
                case.knowledge.work = "-".into();
                event(case, "prompt");
                phase(case, "implement → ship");
            }
        }),
        ("notes", |case, cell| {
            let note = if cell == "flow" { Note::Flow } else { Note::Promote };
            event(case, "prompt");
            case.set("", "preset", "strict");
            case.knowledge = Draft { work: "edited".into(), note: Some(note) };
            case.mark(SessionMark::Note(note));
        }),
        ("entries", entries),
        ("unpromoted", |case, cell| entries(case, &format!("9/{cell}"))),
        ("last", last),
        ("last entry", |case, cell| {
            let written = match cell {
                "before the edit" => Some(Millis(EDITED.0 - 1)),
                "after the edit" => Some(Millis(EDITED.0 + 1)),
                _ => None,
            };
            case.facts.knowledge.files.as_mut().expect("flow").written = written;
        }),
        ("said", |case, cell| {
            if let Some(files) = &mut case.facts.knowledge.files {
                files.nudged = cell == "yes";
            }
        }),
        ("noted", |case, cell| {
            if cell != "no" {
                case.mark(KnowledgeMark::FlowNoted(Millis(1)));
            }
            case.leave((cell == "before a compaction").then_some(SessionMark::Boundary(Millis(2))));
        }),
        ("warned", |case, cell| {
            let level = if cell == "yes" { PressureLevel::Info } else { PressureLevel::None };
            let notes = number(cell).unwrap_or_default();
            case.mark(PressureMark::Pressure(SaidPressure { level, notes, ..SaidPressure::default() }));
        }),
        ("stock", |case, cell| {
            let numbers: Vec<usize> = cell.split(" of ").filter_map(number).collect();
            let confidence = Confidence { unverified: numbers[0], total: numbers[1], average: 1.0 };
            case.facts.knowledge.files.as_mut().expect("flow").confidence = confidence;
        }),
        ("lang", |case, cell| case.facts.lang = if cell == "ja" { Lang::Ja } else { Lang::En }),
    ],
    expected: &[("says", says), ("leaves", leaves)],
    ..plain("learning-reminder")
};

/// A note that waited was given, or is not true any more: either way it waits no longer.
pub(super) fn assert_given(decided: &Decided, note: Note) {
    let effects = decided.says().first().map_or(decided.effects(), |say| &say.when_said);
    assert_eq!(effects, [Effect::mark(SessionMark::NoteGiven(note))]);
}

/// Code that was edited before everything else that a row tells.
fn work(case: &mut Situation) {
    let mut work = Vec::new();
    if matches!(case.knowledge.work.as_str(), "edited" | "verified") {
        work.extend([edit("src/a.rs", EDITED), edit("src/b.rs", EDITED)]);
    }
    if case.knowledge.work == "verified" {
        let checked = SucceededChecks::seen_at(NOW, Kinds::TEST, true);
        work.push(VerificationMark::Checked(checked).into());
    }
    case.marks.splice(0..0, work);
}

fn workflow(case: &mut Situation, text: &str) {
    case.facts.workflow.standing = Known::Value(WorkflowStanding {
        manifest: Manifest::parse(text.as_bytes(), |_| Some(Workflow::default())),
        root: "/p".into(),
        path: ".claude/.output/features/x/MANIFEST.yaml".into(),
        written: Some(NOW),
        files: Vec::new(),
        cleared_gates: Vec::new(),
        owner: None,
        attached: None,
        held_elsewhere: None,
    });
}

fn under_way(case: &mut Situation, cell: &str) {
    match cell {
        "-" => {}
        "a cycle" => {
            let cycle = Cycle::default();
            let stage = ActiveStage::begin("dev-cycle", &cycle, 0, NOW, Turn::Open).expect("a stage");
            case.mark(CycleMark::Stage(Box::new(stage)));
        }
        "a workflow" => workflow(case, "workflow: feature\ncurrent_phase: 4\n"),
        "a finished workflow" => workflow(case, "workflow: feature\ncurrent_phase: 4\nstatus: complete\n"),
        other => panic!("no such work: {other}"),
    }
}

/// `3/2`: three entries, two of them unpromoted.
fn entries(case: &mut Situation, cell: &str) {
    let numbers = cell.split_once('/').map(|(entries, unpromoted)| (number(entries), number(unpromoted)));
    let Some((Some(entries), Some(unpromoted))) = numbers else {
        case.facts.knowledge.files = None;
        return;
    };
    let unpromoted = 0..unpromoted;
    case.facts.knowledge.files = Some(Knowledge {
        tracked: vec![TrackedFile {
            name: "progress.md",
            what: FileNumbers::Flow { entries },
            modified: Millis(0),
        }],
        entries,
        unpromoted: unpromoted.map(|number: usize| format!("step {number} of the work")).collect(),
        set: SET,
        written: (entries > 0).then_some(NOW),
        ..Knowledge::default()
    });
}

fn phase(case: &mut Situation, cell: &str) {
    if let Some((now, next)) = cell.split_once(" → ") {
        case.leave(Phase::named(now).map(ActivityMark::Phase));
        let phase = Phase::named(next).expect("a phase");
        case.facts.activity.guess = Some(Guess { phase, confidence: 0.99 });
    }
}

/// How many entries the person was told of last.
fn last(case: &mut Situation, cell: &str) {
    let (entries, promoted) =
        cell.strip_suffix(", promoted since").map_or((cell, false), |last| (last, true));
    case.leave(number(entries).map(|entries| KnowledgeMark::Nudged(Nudge { set: SET + 1, entries })));
    case.leave(promoted.then_some(SessionMark::Promoted(NOW)));
}

fn says(decided: &Decided) -> String {
    let note = Mark::from(SessionMark::Note(Note::Promote));
    let notes = marks(decided.effects().iter().chain(decided.when_said())).any(|mark| *mark == note);
    let told =
        [(decided.tells(Audience::User), "user"), (decided.tells(Audience::Model), "model"), (notes, "note")];
    let told: Vec<&str> = told.into_iter().filter_map(|(is, name)| is.then_some(name)).collect();
    let shadow = decided.part.as_ref().is_some_and(|part| part.shadow) && !told.is_empty();
    or_dash(format!("{}{}", if shadow { "shadowed " } else { "" }, told.join(", ")))
}

fn leaves(decided: &Decided) -> String {
    let flow = [Effect::mark(SessionMark::Note(Note::Flow)), Effect::mark(KnowledgeMark::FlowNoted(NOW))];
    or_dash(if decided.effects() == flow { "flow" } else { "" })
}

/// An earlier compaction that was held, for these entries or others; one has followed but `now`.
fn held(case: &mut Situation, cell: &str) {
    let set = match cell {
        "these" => SET,
        "now" | "others" => SET + 1,
        _ => return,
    };
    case.mark(KnowledgeMark::CompactionHeld(set));
    case.leave((cell != "now").then_some(SessionMark::Boundary(NOW)));
}

/// The entries before the compaction that has just happened.
fn noted(case: &mut Situation, cell: &str) {
    event(case, "compact");
    entries(case, cell);
    case.facts.knowledge.boundary = case.facts.knowledge.files.take().map(|files| Boundary {
        noted: NOW,
        entries: files.entries,
        unpromoted: files.unpromoted.len(),
        ..Boundary::default()
    });
}

/// Which files the session was told of.
fn listed(case: &mut Situation, cell: &str) {
    let is = |mark: &&Mark| matches!(mark, Mark::Knowledge(KnowledgeMark::Listed(_)));
    match cell {
        "the same" => case.marks.extend(marks(case.decide().when_said()).filter(is).cloned()),
        "others" => case.mark(KnowledgeMark::Listed(1)),
        _ => {}
    }
}

/// A list in one of the project's files, at an ordinary start.
fn of_files(case: &mut Situation, cell: &str, put: fn(&mut Knowledge, Vec<String>)) {
    if case.facts.knowledge.files.is_none() {
        let compacts = case.payload["hook_event_name"] == "PreCompact";
        entries(case, if compacts { "3/0" } else { "3/2" });
        if !compacts {
            event(case, "startup");
        }
    }
    let list = cell.split(", ").filter(|cell| *cell != "-").map(str::to_owned).collect();
    put(case.facts.knowledge.files.as_mut().expect("files"), list);
}

/// The first title and the first fact of the text for the summariser.
fn named_lines(decided: &Decided) -> (String, String) {
    let text = decided.says().first().map_or("", |say| say.text.as_str());
    let fact = text.lines().find_map(|line| line.strip_prefix("- ")).unwrap_or_default();
    (text.lines().nth(1).unwrap_or_default().to_owned(), or_dash(fact))
}

fn handoff(case: &mut Situation, cell: &str) {
    let (cell, handoff_told) =
        cell.strip_suffix(", another session knows").map_or((cell, false), |cell| (cell, true));
    let hours: Option<u64> = cell.strip_suffix(" h").and_then(number);
    let handoff = hours.map(|hours| ago(hours * HOUR));
    case.facts.knowledge.files = Some(Knowledge { handoff, handoff_told, ..Knowledge::default() });
}

/// How the session knows of the handoff.
fn known(case: &mut Situation, cell: &str) {
    let at = case.facts.knowledge.files.as_ref().and_then(|files| files.handoff).unwrap_or_default();
    let known = match cell {
        "-" => return,
        "wrote it" => HandoffKnown { at, wrote: true },
        "was told" => HandoffKnown { at, wrote: false },
        "was told of another" => HandoffKnown { at: Millis(at.0 - 1), wrote: false },
        other => panic!("no such mark: {other}"),
    };
    case.mark(KnowledgeMark::Handoff(known));
}

fn tells(decided: &Decided) -> String {
    let goes_on = !["startup", "clear"].map(Into::into).contains(&decided.case.payload["source"]);
    let told =
        marks(decided.when_said()).find(|mark| matches!(mark, Mark::Knowledge(KnowledgeMark::Handoff(_))));
    if let Some(told) = told.filter(|_| goes_on) {
        let mut again = decided.case.clone();
        again.mark(told.clone());
        assert!(again.decide().says().is_empty(), "once");
    }
    assert!(decided.says().iter().all(|say| say.text.contains("handoff.md")), "by its name");
    let to = [(Audience::Model, "model"), (Audience::User, "user")];
    let told: Vec<&str> = to.into_iter().filter_map(|(to, name)| decided.tells(to).then_some(name)).collect();
    or_dash(told.join(", "))
}

/// How many of the three facts were named to the summariser.
fn named(case: &mut Situation, cell: &str) {
    let fact = |kind, text: &str| KeyFact { kind, text: text.into() };
    case.facts.knowledge.boundary = Some(Boundary {
        noted: NOW,
        trigger: case.payload["trigger"].as_str().expect("a word").into(),
        facts: match cell {
            "-" => Vec::new(),
            _ => vec![
                fact(FactKind::Constraint, "no new dependencies"),
                fact(FactKind::Decision, "use a ring buffer"),
                fact(FactKind::File, "src/meter.rs"),
            ],
        },
        named: number(cell).unwrap_or_default(),
        ..Boundary::default()
    });
}

fn since_summary(case: &mut Situation, cell: &str) {
    let ms = cell.strip_suffix(" ms").and_then(number).expect("milliseconds");
    let fact = KeyFact { kind: FactKind::Decision, text: "use a ring buffer".into() };
    let survival = Some(Survival { kept: 0, of: 1, lost: vec![fact.clone()], given_back: 0 });
    let measured = Some(ago(ms));
    case.facts.knowledge.boundary =
        Some(Boundary { facts: vec![fact], measured, survival, ..Boundary::default() });
    case.mark(SessionMark::Note(Note::Lost));
}

/// What survived a summary, and what the model and the person are told at the next event.
fn later(decided: &Decided) -> (Survival, String, String) {
    fn take(case: &mut Situation, decided: &Decided) {
        for effect in decided.effects().iter().chain(decided.when_said()) {
            if let Effect::Knowledge(own::Effect::NoteBoundary(noted)) = effect {
                case.facts.knowledge.boundary = Some((**noted).clone());
            }
        }
        case.marks.extend(marks(decided.effects().iter().chain(decided.when_said())).cloned());
    }
    let notes = |case: &Situation| fold(case.marks.clone()).session.notes;
    assert!(decided.says().is_empty(), "nothing can be said there");
    let mut next = decided.case.clone();
    let (mut lost, mut seen) = (Vec::new(), String::new());
    take(&mut next, decided);
    if !notes(&next).is_empty() {
        // Lost facts cannot be given back when a turn ends, so both wait.
        next.event("Stop");
        let at_stop = next.decide();
        let waits = notes(&next).contains(&Note::Lost);
        assert_eq!(at_stop.tells(Audience::User), !waits && notes(&next).contains(&Note::Kept));
        next.event("PostToolUse");
        let told = next.decide();
        take(&mut next, &told);
        let facts =
            |text: &str| text.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect();
        let of = |to| told.says().iter().filter(move |say| say.to == to);
        lost = of(Audience::Model).flat_map(|say| -> Vec<String> { facts(&say.text) }).collect();
        seen = of(Audience::User).map(|say| say.text.clone()).collect();
        assert!(notes(&next).is_empty(), "told once");
    }
    let boundary = next.facts.knowledge.boundary.expect("it was noted");
    (boundary.survival.expect("it was measured"), lost.join(", "), seen)
}

/// The list for the summariser is cut to what there is room for, and then there must be room for it.
#[test]
fn what_must_survive_always_fits() {
    for (trigger, length) in
        ["manual", "auto"].into_iter().flat_map(|trigger| (1..160).map(move |n| (trigger, n)))
    {
        let mut case = Situation::new(&COMPACTION);
        event(&mut case, trigger);
        let mut decisions: Vec<String> =
            (10..50).map(|number| format!("{number} {}", "x".repeat(140))).collect();
        decisions[0] = "x".repeat(length);
        case.facts.knowledge.files = Some(Knowledge { decisions, ..Knowledge::default() });
        let outcome = case.decide().outcome;
        assert_eq!(outcome.dropped, 0, "{trigger}, {length}");
        assert!(outcome.context.contains("Decisions in the file progress.md:"), "{trigger}, {length}");
    }
}

//! The tables of what is kept through compaction.

use tidegate_core::feature::activity::classifier::{Guess, Phase};
use tidegate_core::feature::activity::facts as activity;
use tidegate_core::feature::activity::marks::Mark as ActivityMark;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::knowledge::boundary::Boundary;
use tidegate_core::feature::knowledge::effect as own;
use tidegate_core::feature::knowledge::facts as knowledge;
use tidegate_core::feature::knowledge::facts::Knowledge;
use tidegate_core::feature::knowledge::key_facts::{FactKind, KeyFact};
use tidegate_core::feature::knowledge::marks::{HandoffKnown, Mark as KnowledgeMark, Nudge};
use tidegate_core::feature::knowledge::preserved::Preserved;
use tidegate_core::feature::knowledge::stock::Confidence;
use tidegate_core::feature::knowledge::survival::Survival;
use tidegate_core::feature::knowledge::tracked::{FileNumbers, TrackedFile};
use tidegate_core::feature::marks::{Mark, Marks, Note, SessionMark};
use tidegate_core::feature::verdict::{Audience, Effect, Verdict};
use tidegate_core::feature::verification::checks::Kinds;
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::work::{Edit, SucceededChecks};
use tidegate_core::feature::worktree::kept::{Kept, Worktrees};
use tidegate_core::feature::worktree::marks::Mark as WorktreeMark;
use tidegate_core::host::Host;
use tidegate_core::pipeline;
use tidegate_core::pipeline::ruling::Part;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;

use super::gates::{call_of, config, fold, part};
use super::{Row, facts, flow_and_stock};

const NOW: Millis = Millis(1_000_000);
const EDITED: Millis = Millis(500_000);
const SET: u64 = 7;

/// `3/2`: three entries, two of them unpromoted.
fn knowledge(cell: &str) -> Option<Knowledge> {
    let (entries, unpromoted) = cell.split_once('/')?;
    let unpromoted: usize = unpromoted.parse().expect("a number");
    let entries = entries.parse().expect("a number");
    Some(Knowledge {
        tracked: vec![TrackedFile {
            name: "progress.md",
            what: FileNumbers::Flow { entries },
            modified: Millis(0),
        }],
        entries,
        unpromoted: (0..unpromoted).map(|number| format!("step {number} of the work")).collect(),
        set: SET,
        written: (entries > 0).then_some(NOW),
        ..Knowledge::default()
    })
}

/// The last entry as seen from the last edit.
fn written(cell: &str) -> Option<Millis> {
    match cell {
        "before the edit" => Some(Millis(EDITED.0 - 1)),
        "after the edit" => Some(Millis(EDITED.0 + 1)),
        _ => None,
    }
}

fn work(cell: &str) -> Vec<Mark> {
    let edit =
        |file: &str| VerificationMark::Edit(Edit { file: file.into(), at: EDITED, shell: false }).into();
    let checked = SucceededChecks { kinds: Kinds::TEST, at: NOW, seen: NOW, verified: true };
    match cell {
        "-" => Vec::new(),
        "edited" => vec![edit("src/a.rs"), edit("src/b.rs")],
        "verified" => vec![edit("src/a.rs"), edit("src/b.rs"), VerificationMark::Checked(checked).into()],
        other => panic!("no such work: {other}"),
    }
}

/// Who is told, and what is left for later.
fn told(part: Option<&Part>) -> String {
    let Some(part) = part else { return "-".into() };
    let said = |to: Audience| part.verdict.says.iter().any(|say| say.to == to);
    let effects =
        || part.verdict.effects.iter().chain(part.verdict.says.iter().flat_map(|say| &say.when_said));
    let note = effects()
        .any(|effect| matches!(effect, Effect::Mark(Mark::Session(SessionMark::Note(Note::Promote)))));
    let mut told = Vec::new();
    told.extend(said(Audience::User).then_some("user"));
    told.extend(said(Audience::Model).then_some("model"));
    told.extend(note.then_some("note"));
    match (told.is_empty(), part.shadow) {
        (true, _) => "-".into(),
        (false, true) => format!("shadowed {}", told.join(", ")),
        (false, false) => told.join(", "),
    }
}

pub(super) fn nudges(row: &Row<'_>) -> Vec<String> {
    let (name, attended) = row[1].strip_suffix(", nobody there").map_or((row[1], true), |name| (name, false));
    let (name, tasks) = match name.strip_suffix(", a task runs") {
        Some(name) => (name, r#", "background_tasks": [{"id": "b1", "type": "shell", "status": "running"}]"#),
        None => (name, ""),
    };
    let (name, agent) = match name.strip_suffix(" in a subagent") {
        Some(name) => (name, r#", "agent_id": "a1""#),
        None => (name, ""),
    };
    let json =
        format!(r#"{{"session_id": "s", "hook_event_name": "{name}", "prompt": "go on"{tasks}{agent}}}"#);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let mut marks = work(row[2]);
    // A session that was seen before.
    marks.push(SessionMark::Attached(NOW).into());
    let mut guess = None;
    if let Some((now, next)) = row[3].split_once(" → ") {
        marks.extend(Phase::named(now).map(ActivityMark::Phase).map(Mark::from));
        let phase = Phase::named(next).expect("a phase");
        guess = Some(Guess { phase, confidence: 0.99 });
    }
    let mut knowledge = knowledge(row[4]);
    if let Some(knowledge) = &mut knowledge {
        knowledge.nudged = row[5] == "yes";
    }
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(marks)),
        person: attended.into(),
        activity: activity::Facts { guess, ..activity::Facts::default() },
        knowledge: flow_and_stock(knowledge),
        ..facts(&event)
    };
    let part = part("compound-nudge", &facts, &config(row[0], &[]));
    let because = call_of(part.as_ref()).1;
    let is = [row[0], row[1], row[2], row[3], row[4], row[5], &told(part.as_ref()), &because];
    is.map(str::to_owned).into()
}

pub(super) fn nudges_again(row: &Row<'_>) -> Vec<String> {
    let ship = Guess { phase: Phase::Ship, confidence: 0.99 };
    let (name, mut marks, guess) = if row[0] == "verified" {
        ("Stop", work("verified"), None)
    } else {
        ("UserPromptSubmit", vec![ActivityMark::Phase(Phase::Implement).into()], Some(ship))
    };
    let (last, promoted) =
        row[1].strip_suffix(", promoted since").map_or((row[1], false), |last| (last, true));
    if let Ok(entries) = last.parse() {
        marks.push(KnowledgeMark::Nudged(Nudge { set: SET + 1, entries }).into());
    }
    if promoted {
        marks.push(SessionMark::Promoted(NOW).into());
    }
    let json = format!(r#"{{"session_id": "s", "hook_event_name": "{name}", "prompt": "go on"}}"#);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let knowledge = flow_and_stock(knowledge(&format!("9/{}", row[2])));
    let activity = activity::Facts { guess, ..activity::Facts::default() };
    let facts = Facts { now: NOW, marks: Known::Value(fold(marks)), activity, knowledge, ..facts(&event) };
    let part = part("compound-nudge", &facts, &config("guide", &[]));
    [row[0], row[1], row[2], &told(part.as_ref())].map(str::to_owned).into()
}

pub(super) fn waiting_notes(row: &Row<'_>) -> Vec<String> {
    let json = r#"{"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "go on"}"#;
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let note = if row[0] == "flow" { Note::Flow } else { Note::Promote };
    let mut marks = work("edited");
    marks.push(SessionMark::Note(note).into());
    let knowledge = knowledge(row[1]).map(|known| Knowledge { written: written(row[2]), ..known });
    let knowledge = flow_and_stock(knowledge);
    let facts = Facts { now: NOW, marks: Known::Value(fold(marks)), knowledge, ..facts(&event) };
    let part = part("compound-nudge", &facts, &config("strict", &[])).expect("it takes part");
    let given = Effect::mark(SessionMark::NoteGiven(note));
    let said = part.verdict.says.first();
    let effects = said.map_or(&part.verdict.effects, |say| &say.when_said);
    assert_eq!(effects, &[given], "given once: {row:?}");
    let text = said.map_or("-", |say| say.text.as_str());
    [row[0], row[1], row[2], text, part.verdict.because].map(str::to_owned).into()
}

pub(super) fn flow_notes(row: &Row<'_>) -> Vec<String> {
    let json = r#"{"session_id": "s", "hook_event_name": "Stop"}"#;
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let mut marks = work(row[0]);
    match row[2] {
        "this set" => marks.push(KnowledgeMark::FlowNoted(EDITED).into()),
        "an older set" => marks.push(KnowledgeMark::FlowNoted(Millis(1)).into()),
        "an older set, by a clock that was ahead" => {
            marks.push(KnowledgeMark::FlowNoted(Millis(EDITED.0 + 1)).into());
        }
        _ => {}
    }
    let knowledge = knowledge("3/0").map(|known| Knowledge { written: written(row[1]), ..known });
    let knowledge = flow_and_stock(knowledge);
    let facts = Facts { now: NOW, marks: Known::Value(fold(marks)), knowledge, ..facts(&event) };
    let part = part("compound-nudge", &facts, &config("guide", &[])).expect("it takes part");
    let leaves = part.verdict.effects
        == [Effect::mark(SessionMark::Note(Note::Flow)), Effect::mark(KnowledgeMark::FlowNoted(EDITED))];
    [row[0], row[1], row[2], if leaves { "flow" } else { "-" }].map(str::to_owned).into()
}

pub(super) fn nudge_words(row: &Row<'_>) -> Vec<String> {
    let json = r#"{"session_id": "s", "hook_event_name": "Stop"}"#;
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let (unverified, total) = row[2].split_once(" of ").expect("so many of so many");
    let number = |text: &str| text.parse().expect("a number");
    let confidence = Confidence { unverified: number(unverified), total: number(total), average: 1.0 };
    let knowledge = knowledge(&format!("9/{}", row[1])).map(|known| Knowledge { confidence, ..known });
    let knowledge = flow_and_stock(knowledge);
    let lang = if row[0] == "ja" { Lang::Ja } else { Lang::En };
    let marks = Known::Value(fold(work("verified")));
    let facts = Facts { now: NOW, marks, knowledge, lang, ..facts(&event) };
    let part = part("compound-nudge", &facts, &config("guide", &[])).expect("it takes part");
    [row[0], row[1], row[2], &part.verdict.says[0].text].map(str::to_owned).into()
}

fn compaction(json: &str, known: Facts<'_>, config: &Config) -> Option<Part> {
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    part("compaction", &Facts { event: &event, ..known }, config)
}

pub(super) fn holds(row: &Row<'_>) -> Vec<String> {
    let (trigger, attended) =
        row[1].strip_suffix(", nobody there").map_or((row[1], true), |trigger| (trigger, false));
    let json = format!(r#"{{"session_id": "s", "hook_event_name": "PreCompact", "trigger": "{trigger}"}}"#);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let mut marks = work("edited");
    match row[3] {
        "now" => marks.push(KnowledgeMark::CompactionHeld(SET + 1).into()),
        "these" => {
            marks.extend([KnowledgeMark::CompactionHeld(SET).into(), SessionMark::Boundary(NOW).into()]);
        }
        "others" => {
            marks.extend([KnowledgeMark::CompactionHeld(SET + 1).into(), SessionMark::Boundary(NOW).into()]);
        }
        _ => {}
    }
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(marks)),
        person: attended.into(),
        knowledge: flow_and_stock(knowledge(row[2])),
        ..facts(&event)
    };
    let config = config("guide", &[("compaction", "hold", row[0].into())]);
    let part = part("compaction", &facts, &config);
    if let Some(Verdict { effects, call, .. }) = part.as_ref().map(|part| &part.verdict) {
        let noted =
            effects.iter().any(|effect| matches!(effect, Effect::Knowledge(own::Effect::NoteBoundary(_))));
        assert_eq!(noted, call.name() == "pass", "nothing else happens at one that is held: {row:?}");
    }
    let (call, because) = call_of(part.as_ref());
    [row[0], row[1], row[2], row[3], &call, &because].map(str::to_owned).into()
}

pub(super) fn recoveries(row: &Row<'_>) -> Vec<String> {
    let json = r#"{"session_id": "s", "hook_event_name": "SessionStart", "source": "compact"}"#;
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let boundary = knowledge(row[0]).map(|known| Boundary {
        noted: NOW,
        entries: known.entries,
        unpromoted: known.unpromoted.len(),
        ..Boundary::default()
    });
    let said = (row[1] == "yes").then_some(NOW);
    let mut marks = Marks::default();
    marks.knowledge.recovered = said;
    let marks = Known::Value(marks);
    let knowledge = knowledge::Facts { boundary, ..flow_and_stock(knowledge(row[2])) };
    let facts = Facts { now: NOW, marks, knowledge, ..facts(&event) };
    let part = part("compaction", &facts, &config("guide", &[])).expect("it takes part");
    let first = part.verdict.says.first().and_then(|say| say.text.lines().next()).unwrap_or("-");
    let tidies = part.verdict.effects.contains(&Effect::Knowledge(own::Effect::TidyFlow));
    [row[0], row[1], row[2], first, if tidies { "yes" } else { "-" }].map(str::to_owned).into()
}

pub(super) fn listings(row: &Row<'_>) -> Vec<String> {
    let json = format!(r#"{{"session_id": "s", "hook_event_name": "SessionStart", "source": "{}"}}"#, row[0]);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let knowledge = if row[1] == "yes" { knowledge("3/2") } else { None };
    let facts = |marks: Marks| Facts {
        now: NOW,
        marks: Known::Value(marks),
        knowledge: flow_and_stock(knowledge.clone()),
        ..facts(&event)
    };
    let decide = |marks| part("compaction", &facts(marks), &config("guide", &[])).expect("it takes part");
    let marked = |part: &Part| {
        part.verdict.says.iter().flat_map(|say| &say.when_said).find_map(|effect| match effect {
            Effect::Mark(Mark::Knowledge(KnowledgeMark::Listed(files))) => Some(*files),
            _ => None,
        })
    };
    let listed = match row[2] {
        "the same" => marked(&decide(Marks::default())),
        "others" => Some(1),
        _ => None,
    };
    let mut marks = Marks::default();
    marks.knowledge.listed = listed;
    let part = decide(marks);
    [row[0], row[1], row[2], if part.verdict.says.is_empty() { "-" } else { "files" }]
        .map(str::to_owned)
        .into()
}

pub(super) fn handoffs(row: &Row<'_>) -> Vec<String> {
    const HOUR: u64 = 3_600_000;
    let (source, attended) =
        row[0].strip_suffix(", nobody there").map_or((row[0], true), |source| (source, false));
    let json = format!(r#"{{"session_id": "s", "hook_event_name": "SessionStart", "source": "{source}"}}"#);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let now = Millis(100 * HOUR);
    let hours = row[1].strip_suffix(" h").map(|hours| hours.parse::<u64>().expect("hours"));
    let handoff = hours.map(|hours| now.before(hours * HOUR));
    let at = handoff.unwrap_or_default();
    let known = match row[2] {
        "-" => None,
        "wrote it" => Some(HandoffKnown { at, wrote: true }),
        "was told" => Some(HandoffKnown { at, wrote: false }),
        "was told of another" => Some(HandoffKnown { at: Millis(at.0 - 1), wrote: false }),
        other => panic!("no such mark: {other}"),
    };
    let decide = |handoff_known| {
        let mut marks = Marks::default();
        marks.knowledge.handoff = handoff_known;
        let marks = Known::Value(marks);
        let knowledge = Some(Knowledge { handoff, ..Knowledge::default() });
        let facts = Facts {
            now,
            marks,
            person: attended.into(),
            knowledge: flow_and_stock(knowledge),
            ..facts(&event)
        };
        part("compaction", &facts, &config("guide", &[])).expect("it takes part").verdict.says
    };
    let says = decide(known);
    if let Some(Effect::Mark(Mark::Knowledge(KnowledgeMark::Handoff(told)))) =
        says.iter().flat_map(|say| &say.when_said).next()
    {
        let goes_on = !matches!(source, "startup" | "clear");
        assert!(!goes_on || decide(Some(*told)).is_empty(), "once: {row:?}");
    }
    assert!(says.iter().all(|say| say.text.contains("handoff.md")), "by its name: {says:?}");
    let told = |to| says.iter().any(|say| say.to == to);
    let tells = match (told(Audience::Model), told(Audience::User)) {
        (true, true) => "model, user",
        (true, false) => "model",
        (false, true) => "user",
        (false, false) => "-",
    };
    [row[0], row[1], row[2], tells].map(str::to_owned).into()
}

pub(super) fn survivals(row: &Row<'_>) -> Vec<String> {
    let fact = |kind, text: &str| KeyFact { kind, text: text.into() };
    let noted = Boundary {
        noted: NOW,
        trigger: row[0].into(),
        facts: vec![
            fact(FactKind::Constraint, "no new dependencies"),
            fact(FactKind::Decision, "use a ring buffer"),
            fact(FactKind::File, "src/meter.rs"),
        ],
        named: row[1].parse().expect("a number"),
        ..Boundary::default()
    };
    let summary = format!("<analysis>x</analysis><summary>{}</summary>", row[2]);
    let json =
        serde_json::json!({"session_id": "s", "hook_event_name": "PostCompact", "compact_summary": summary});
    let (json, config) = (json.to_string(), config("guide", &[]));
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let knowledge = knowledge::Facts { boundary: Some(noted), ..knowledge::Facts::default() };
    let known = Facts { now: NOW, knowledge, marks: Known::Value(Marks::default()), ..facts(&event) };
    let measured = compaction(&json, known, &config).expect("it takes part");
    assert!(measured.verdict.says.is_empty(), "nothing can be said there");
    let (mut boundary, mut marks) = (None, Marks::default());
    take(&measured.verdict, &mut boundary, &mut marks);

    let mut lost = String::new();
    if marks.session.notes.contains(&Note::Lost) {
        let json = r#"{"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Read"}"#;
        let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
        let preserved = Some(row[3].to_owned()).filter(|text| text != "-");
        let known = Facts {
            now: NOW,
            marks: Known::Value(marks.clone()),
            knowledge: knowledge::Facts {
                boundary: boundary.clone(),
                preserved: Preserved {
                    texts: preserved.into_iter().collect(),
                    repeated: row[0] == "manual",
                    known: true,
                },
                ..knowledge::Facts::default()
            },
            ..facts(&event)
        };
        let part = compaction(json, known, &config).expect("it takes part");
        take(&part.verdict, &mut boundary, &mut marks);
        for say in &part.verdict.says {
            let facts = say.text.lines().filter_map(|line| line.strip_prefix("- "));
            lost = facts.collect::<Vec<_>>().join(", ");
            marks = say.when_said.iter().fold(marks, |mut marks, effect| {
                if let Effect::Mark(mark) = effect {
                    marks.apply(mark.clone());
                }
                marks
            });
        }
        assert!(marks.session.notes.is_empty(), "told once: {row:?}");
    }
    let survival = boundary.and_then(|boundary| boundary.survival).expect("it was measured");
    let kept = format!("{} of {}", survival.kept, survival.of);
    assert_eq!(survival.kept + survival.lost.len(), survival.of, "{row:?}");
    let lost = if lost.is_empty() { "-" } else { &lost };
    [row[0], row[1], row[2], row[3], &kept, lost].map(str::to_owned).into()
}

pub(super) fn late_boundaries(row: &Row<'_>) -> Vec<String> {
    let json = format!(r#"{{"session_id": "s", "hook_event_name": "{}", "prompt": "go on"}}"#, row[0]);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let ms: u64 = row[1].strip_suffix(" ms").and_then(|ms| ms.parse().ok()).expect("milliseconds");
    let fact = KeyFact { kind: FactKind::Decision, text: "use a ring buffer".into() };
    let survival = Survival { kept: 0, of: 1, lost: vec![fact.clone()] };
    let boundary = Boundary {
        facts: vec![fact],
        measured: Some(Millis(NOW.0 - ms)),
        survival: Some(survival),
        ..Boundary::default()
    };
    let mut marks = Marks::default();
    marks.apply(SessionMark::Note(Note::Lost));
    let preserved = Preserved { known: row[2] == "yes", ..Preserved::default() };
    let boundary = Some(boundary);
    let knowledge = knowledge::Facts { boundary, preserved, ..knowledge::Facts::default() };
    let facts = Facts { now: NOW, marks: Known::Value(marks), knowledge, ..facts(&event) };
    let part = part("compaction", &facts, &config("guide", &[])).expect("it takes part");
    [row[0], row[1], row[2], part.verdict.because].map(str::to_owned).into()
}

/// What a verdict leaves behind.
fn take(verdict: &Verdict, boundary: &mut Option<Boundary>, marks: &mut Marks) {
    for effect in &verdict.effects {
        match effect {
            Effect::Knowledge(own::Effect::NoteBoundary(noted)) => *boundary = Some((**noted).clone()),
            Effect::Mark(mark) => marks.apply(mark.clone()),
            _ => {}
        }
    }
}

pub(super) fn unknowns(row: &Row<'_>) -> Vec<String> {
    let (name, agent) = match row[0].strip_suffix(" in a subagent") {
        Some(name) => (name, r#", "agent_id": "a1""#),
        None => (row[0], ""),
    };
    let name = name.strip_suffix(", no summary").unwrap_or(name);
    let json = format!(
        r#"{{"session_id": "s", "hook_event_name": "{name}", "source": "compact", "trigger": "auto"{agent}}}"#
    );
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let marks = match row[1] {
        "broken" => Known::Broken("test".into()),
        _ => Known::Value(Marks::default()),
    };
    let boundary = (row[1] == "noted").then(Boundary::default);
    let knowledge = knowledge::Facts { boundary, ..knowledge::Facts::default() };
    let facts = Facts { now: NOW, marks, knowledge, ..facts(&event) };
    let part = part("compaction", &facts, &config("guide", &[]));
    if let Some(part) = &part {
        assert!(part.verdict.says.is_empty() && part.verdict.effects.is_empty(), "{row:?}");
    }
    [row[0], row[1], &call_of(part.as_ref()).1].map(str::to_owned).into()
}

pub(super) fn worktrees(row: &Row<'_>) -> Vec<String> {
    let (name, agent) = match row[0].strip_suffix(" in a subagent") {
        Some(name) => (name, r#", "agent_id": "a1""#),
        None if row[0] == "SubagentStop" => (row[0], r#", "agent_id": "a1""#),
        None => (row[0], ""),
    };
    let (name, tool) = name.split_once(' ').unwrap_or((name, "Read"));
    let json = format!(
        r#"{{"session_id": "s", "hook_event_name": "{name}", "prompt": "go on", "tool_name": "{tool}"{agent}}}"#
    );
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let kept = |name: &str| Kept { worktree: format!("/w/{name}"), copy: format!("/s/{name}") };
    let mut marks = Marks::default();
    if row[2] != "-" {
        marks.apply(WorktreeMark::WorktreeKept(kept(row[2])));
    }
    let worktrees = Worktrees {
        leaving: (row[1] == "yes").then(|| kept("leaving")),
        gone: (row[2] == "gone").then(|| kept("gone")).into_iter().collect(),
    };
    let facts = Facts { marks: Known::Value(marks), worktree: worktrees, ..facts(&event) };
    let ruling = pipeline::decide(&facts, &Config::default(), &|| 0);
    let outcome = ruling.settle(event.host, event.kind, event.is_main_thread(), 1200);
    let copies = outcome.effects.iter().any(|effect| matches!(effect, Effect::Worktree(_)));
    let told = outcome.effects.iter().find_map(|effect| match effect {
        Effect::Mark(Mark::Worktree(WorktreeMark::WorktreeTold(path))) => path.strip_prefix("/w/"),
        _ => None,
    });
    assert_eq!(told.is_some(), outcome.user.contains("/s/gone"), "{row:?}: {}", outcome.user);
    let copies = if copies { "yes" } else { "-" };
    [row[0], row[1], row[2], copies, told.unwrap_or("-")].map(str::to_owned).into()
}

/// The list for the summariser is cut to what there is room for, and then there must be room for it.
#[test]
fn what_must_survive_always_fits() {
    for (trigger, length) in
        ["manual", "auto"].into_iter().flat_map(|trigger| (1..160).map(move |n| (trigger, n)))
    {
        let json =
            format!(r#"{{"session_id": "s", "hook_event_name": "PreCompact", "trigger": "{trigger}"}}"#);
        let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
        let mut decisions: Vec<String> =
            (10..50).map(|number| format!("{number} {}", "x".repeat(140))).collect();
        decisions[0] = "x".repeat(length);
        let knowledge = flow_and_stock(Some(Knowledge { decisions, ..Knowledge::default() }));
        let facts = Facts { now: NOW, marks: Known::Value(Marks::default()), knowledge, ..facts(&event) };
        let config = config("guide", &[]);
        let ruling = pipeline::decide(&facts, &config, &|| 0);
        let outcome = ruling.settle(event.host, event.kind, true, config.text_budget(&event));
        assert_eq!(outcome.dropped, 0, "{trigger}, {length}");
        assert!(outcome.context.contains("Decisions in the file progress.md:"), "{trigger}, {length}");
    }
}

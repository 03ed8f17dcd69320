//! `recording`, `topic-decision` and `meta-tag`: what is remembered.

use tidegate_core::feature::facts::{Known, Told};
use tidegate_core::feature::marks::{Mark, Note, SessionMark};
use tidegate_core::feature::memory::catalogue::{
    Decided as Decision, NamedId, ProjectPage, RecentTopic, TopicRecord, Undecided, UndecidedTopic,
};
use tidegate_core::feature::memory::effect;
use tidegate_core::feature::memory::facts::{TurnAnswer, topics_in_question};
use tidegate_core::feature::memory::job::{RelayProject, TranscriptPart, Work};
use tidegate_core::feature::memory::marks::{Mark as MemoryMark, SessionTopic, Spooled};
use tidegate_core::feature::memory::tag as meta_tag;
use tidegate_core::feature::memory::tag::TopicTag;
use tidegate_core::feature::verdict::{Carried, Effect};
use tidegate_core::settings::value::Value;
use tidegate_core::text::fnv;
use tidegate_core::time::Millis;

use super::knowledge::assert_given;
use super::{Room, call, circumstances, event, number, or_dash, plain, text, yes};
use crate::situation::{Decided, NOW, Situation, TRANSCRIPT, ago, marks, pick};

const SINCE: Millis = ago(500_000);
const TOLD: Millis = ago(400_000);

#[derive(Clone, Default)]
pub(crate) struct Draft {
    /// The topic that turns were about; at the end of a turn.
    before: Option<String>,
    /// What the catalogue says of a topic.
    recorded: Option<String>,
    note: Option<(Note, i64)>,
}

pub(super) static RELAY_LOG: Room = Room {
    begin: |case| {
        case.facts.memory.length = Some(900);
        case.facts.memory.project = Some(project());
    },
    law: |decided| {
        if let Some(job) = job(decided) {
            let spooled = spooled_with_job(decided).expect("a mark goes with the job");
            assert_eq!((job.to, job.passed), (spooled.to, spooled.passed));
        }
    },
    given: &[
        ("setting", |case, cell| match cell {
            "mode = off" => case.set("recording", "mode", "off"),
            "headless = true" => case.set("memory", "headless", Value::Flag(true)),
            "switched off" => case.config.off_by_command.push("recording".into()),
            _ => {
                if let Some(most) = cell.strip_prefix("startup_index = ").and_then(number) {
                    case.set("memory", "startup_index", Value::Whole(most));
                }
            }
        }),
        ("recent", |case, cell| {
            const HOUR: u64 = 3_600_000;
            let recent = listed(cell, |id, words| {
                let age = match id {
                    12 => 2 * HOUR,
                    13 => 73 * HOUR,
                    _ => HOUR / 6,
                };
                let session = (words == ["own"]).then(|| "s".to_owned());
                RecentTopic { id, name: named(id).name, at: NOW.before(age), session }
            });
            case.facts.memory.page = known(recent, |recent| ProjectPage { recent, ..page(3, Vec::new()) });
        }),
        ("transcript", |case, cell| case.facts.memory.length = number(cell)),
        ("untold", |case, cell| {
            case.facts.session.untold = Told::ALL.into_iter().filter(|told| told.name() == cell).collect();
        }),
        ("left", left),
        ("topic set", |case, cell| {
            left(case, "300");
            case.leave(number(cell).map(|id| MemoryMark::TopicSet(topic(id, NOW))));
        }),
    ],
    expected: &[
        ("leaves", |decided| job(decided).map_or("-".into(), |job| format!("{} to {}", job.from, job.to))),
        ("worker", |decided| {
            assert_eq!(spooled_with_job(decided).is_some(), job(decided).is_some());
            yes(pick!(decided.effects(), Effect::Memory(effect::Effect::StartWorker { .. }) => ()).is_some())
        }),
        ("mark", |decided| spooled_at_all(decided).map_or("-".into(), |spooled| spooled.to.to_string())),
        ("passed", |decided| match spooled_at_all(decided).and_then(|spooled| spooled.passed) {
            None => "-".into(),
            Some(NOW) => "all so far".into(),
            Some(_) => "as before".into(),
        }),
        ("says", contents),
    ],
    ..plain("recording")
};

pub(super) static TOPIC_DECISION: Room = Room {
    begin: |case| {
        event(case, "startup");
        case.set("", "preset", "strict");
        case.facts.memory.project = Some(project());
    },
    finish: catalogue,
    law: |decided| {
        if let Some((note, id)) = decided.case.topics.note {
            assert!(topics_in_question(&decided.marks).contains(&id), "it is looked up");
            assert_given(decided, note);
        }
        if call(decided) == "deny" {
            assert_eq!(decided.part.as_ref().and_then(|part| part.verdict.asks.topic), Some(12));
        }
    },
    given: &[
        ("preset", preset),
        ("source", event),
        ("before", |case, cell| {
            event(case, "stop");
            case.mark(SessionMark::Attached(SINCE));
            case.leave(number(cell).map(|id| MemoryMark::Topic(topic(id, TOLD))));
            case.facts.memory.answer = Some(TurnAnswer::default());
            case.topics.before = Some(cell.into());
        }),
        ("recorded", |case, cell| case.topics.recorded = Some(cell.into())),
        ("held", held),
        ("now", now),
        ("note", note),
        ("set", |case, cell| {
            case.leave(number(cell).map(|id| MemoryMark::TopicSet(topic(id, NOW))));
        }),
        ("decisions", decisions),
        ("undecided", undecided),
        ("told", told),
    ],
    expected: &[
        ("leaves", leaves),
        ("says", |decided| {
            let name = |text: &str| if text.starts_with("Decisions") { "decisions" } else { "topics" };
            let told: Vec<&str> = decided.says().iter().map(|say| name(&say.text)).collect();
            or_dash(told.join(", "))
        }),
        ("offers", |decided| {
            let works = decided.when_said().filter_map(
                |effect| pick!([effect], Effect::Memory(effect::Effect::Spool { work, .. }) => work.as_ref()),
            );
            let offered = pick!(works, Work::Offered { topics } => topics.iter().map(i64::to_string));
            or_dash(offered.into_iter().flatten().collect::<Vec<_>>().join(" "))
        }),
    ],
    ..plain("topic-decision")
};

pub(super) static META_TAG: Room = Room {
    begin: |case| {
        case.set("", "preset", "strict");
        case.facts.memory.project = Some(project());
        case.facts.memory.answer = Some(TurnAnswer::default());
    },
    law: |decided| {
        if let Some(denied) = decided.part.as_ref().filter(|part| part.verdict.reason.is_some()) {
            let held = |mark: &Mark| matches!(mark, Mark::Memory(MemoryMark::MemoryHeld(_)));
            assert!(marks(decided.effects()).any(held) && denied.verdict.asks.tag);
        }
    },
    given: &[
        ("answer", |case, cell| {
            case.facts.memory.answer = match cell {
                "with a tag" => Some(TurnAnswer { tag: Some(tag(12)) }),
                "with an unknown id" => Some(TurnAnswer { tag: Some(tag(99)) }),
                "with a topic of another project" => {
                    case.facts.memory.page = Known::Value(page(3, Vec::new()));
                    case.facts.memory.topics = vec![record(14, "of another project")];
                    Some(TurnAnswer { tag: Some(tag(14)) })
                }
                "with a topic of a project within" => {
                    let own = page(3, Vec::new());
                    case.facts.memory.page = Known::Value(ProjectPage { within: vec![5], ..own });
                    case.facts.memory.topics = vec![record(15, "of a project within")];
                    Some(TurnAnswer { tag: Some(tag(15)) })
                }
                "without a tag" => Some(TurnAnswer::default()),
                _ => None,
            }
        }),
        ("held", held),
        ("project", |case, cell| {
            case.facts.memory.page =
                number(cell).map_or(Known::Absent, |id| Known::Value(page(id, Vec::new())));
        }),
        ("topic", topic_by),
    ],
    expected: &[("text", |decided| {
        let text = text(decided);
        let tag = text.replace('⏎', "\n").replace('`', "");
        assert!(text == "-" || meta_tag::find_last(&tag).is_some(), "as it is written it counts: {text}");
        text
    })],
    ..plain("meta-tag")
};

fn project() -> RelayProject {
    let text = |text: &str| text.to_owned();
    RelayProject { key: text("/p/.git"), name: text("shop"), root: text("/p"), branch: Some(text("main")) }
}

/// `300`, `300 of another file`, or `300, passed`.
fn left(case: &mut Situation, cell: &str) {
    let (to, path) =
        cell.strip_suffix(" of another file").map_or((cell, TRANSCRIPT), |to| (to, "/t/b.jsonl"));
    let (to, passed) = to.strip_suffix(", passed").map_or((to, None), |to| (to, Some(SINCE)));
    case.mark(SessionMark::Transcript(path.into()));
    case.leave(number(to).map(|to| MemoryMark::Spooled(Spooled { to, at: Millis(1), passed })));
}

fn job(decided: &Decided) -> Option<&TranscriptPart> {
    let work = pick!(decided.effects(), Effect::Memory(effect::Effect::Spool { work, .. }) => work)?;
    pick!([work.as_ref()], Work::Relays(part) => part)
}

/// The mark of how far the transcript was left for the worker.
fn spooled(marks: impl Iterator<Item = Mark>) -> Option<Spooled> {
    pick!(marks, Mark::Memory(MemoryMark::Spooled(spooled)) => spooled)
}

fn spooled_with_job(decided: &Decided) -> Option<Spooled> {
    spooled(decided.effects().iter().filter_map(Effect::leaves))
}

fn spooled_at_all(decided: &Decided) -> Option<Spooled> {
    spooled(decided.observed.iter().cloned()).or_else(|| spooled_with_job(decided))
}

fn contents(decided: &Decided) -> String {
    let job = job(decided).expect("a job");
    assert_eq!(job.transcript, TRANSCRIPT);
    let answer = job.answer.map_or("no answer".into(), |answer| {
        assert_eq!(answer.hash, fnv::hash("done.".bytes()));
        format!("answer of {} bytes", answer.bytes)
    });
    let topic = job.topic.map_or("no topic".into(), |id| format!("topic {id}"));
    let because = serde_json::to_value(job.because).expect("a word");
    let because = because.as_str().expect("a word");
    let branch = job.project.branch.as_deref().unwrap_or("no branch");
    format!("because {because}, {answer}, {topic}, {} on {branch}", job.project.name)
}

fn named(id: i64) -> NamedId {
    let name = match id {
        12 => "search",
        13 => "index",
        _ => "another",
    };
    NamedId { id, name: name.to_owned() }
}

fn topic(id: i64, at: Millis) -> SessionTopic {
    SessionTopic { topic: named(id), project: None, since: SINCE, at }
}

fn tag(id: i64) -> TopicTag {
    let text = format!("done.\n{}", meta_tag::render(&NamedId { id: 0, name: "shop".into() }, &named(id)));
    meta_tag::find_last(&text).expect("a tag")
}

fn page(id: i64, decisions: Vec<Decision>) -> ProjectPage {
    ProjectPage::new("/p/.git".into(), NamedId { id, name: "shop".into() }, decisions)
}

/// How the session came to its topic.
fn topic_by(case: &mut Situation, cell: &str) {
    let (early, late) = (ago(400_000), ago(300_000));
    match cell {
        "-" => {}
        "12 by a call" => case.mark(MemoryMark::TopicSet(topic(12, early))),
        "12 by a tag" => {
            case.mark(MemoryMark::TopicSet(topic(13, early)));
            case.mark(MemoryMark::Topic(topic(12, late)));
        }
        "12 by a tag, then 13 by a call" => {
            case.mark(MemoryMark::Topic(topic(12, early)));
            case.mark(MemoryMark::TopicSet(topic(13, late)));
        }
        "12 of the project docs" => {
            let project = Some(NamedId { id: 4, name: "docs".into() });
            case.mark(MemoryMark::TopicSet(SessionTopic { project, ..topic(12, early) }));
        }
        other => panic!("no such topic: {other}"),
    }
}

/// In which turn, or for which reason, a stop was held before.
fn held(case: &mut Situation, cell: &str) {
    let turn = match cell {
        "for this" | "for a tag" | "in this turn" => "p1",
        "in another turn" => "p0",
        _ => return,
    };
    case.mark(MemoryMark::MemoryHeld(turn.into()));
    if cell == "for this" {
        case.mark(SessionMark::Notice(format!("topic 12 since {}", SINCE.0)));
    }
}

/// `guide, startup_topics = 1`.
fn preset(case: &mut Situation, cell: &str) {
    let cell = circumstances(case, cell);
    let (preset, setting) = cell.split_once(", ").unwrap_or((cell, ""));
    case.set("", "preset", preset);
    if let Some((key, value)) = setting.split_once(" = ") {
        case.set("memory", key, number(value).map_or_else(|| value.into(), Value::Whole));
    }
}

/// What names a topic in the turn: `set 13, tag 12`.
fn now(case: &mut Situation, cell: &str) {
    for how in cell.split(", ") {
        match how.split(' ').collect::<Vec<_>>().as_slice() {
            ["tag", id] => case.facts.memory.answer = Some(TurnAnswer { tag: number(id).map(tag) }),
            ["set", id, rest @ ..] => {
                let at = if rest == ["before"] { TOLD.0 - 1 } else { TOLD.0 + 1 };
                case.mark(MemoryMark::TopicSet(topic(id.parse().expect("an id"), Millis(at))));
            }
            ["no", "tag"] => {}
            other => panic!("no such turn: {other:?}"),
        }
    }
}

/// What waits for a prompt: `left 12`, `unknown 99`.
fn note(case: &mut Situation, cell: &str) {
    let (what, id) = cell.split_once(' ').expect("what and which");
    let id = number(id).expect("an id");
    let note = if what == "left" { Note::TopicLeft } else { Note::UnknownTopic(id) };
    event(case, "prompt");
    case.mark(MemoryMark::TopicLeft(topic(12, NOW)));
    case.mark(MemoryMark::Topic(topic(13, TOLD)));
    case.mark(SessionMark::Note(note));
    case.topics.note = Some((note, id));
}

/// What the catalogue says of a topic.
fn record(id: i64, cell: &str) -> (i64, Known<Option<TopicRecord>>) {
    let plain = TopicRecord { id, project: 3, automatic: false, closed: false, recorded: None };
    let record = Known::Value(match cell {
        "nothing" => Some(plain),
        "before it began" => Some(TopicRecord { recorded: Some(Millis(SINCE.0 - 1)), ..plain }),
        "since" => Some(TopicRecord { recorded: Some(SINCE), ..plain }),
        "automatic" => Some(TopicRecord { automatic: true, ..plain }),
        "closed" => Some(TopicRecord { closed: true, ..plain }),
        "unreadable" => return (id, Known::Broken("test".into())),
        "of another project" => Some(TopicRecord { project: 4, ..plain }),
        "of a project within" => Some(TopicRecord { project: 5, ..plain }),
        "-" => return (id, Known::Absent),
        _ => None,
    });
    (id, record)
}

/// What the catalogue says of every topic in question.
fn catalogue(case: &mut Situation) {
    let Draft { before, recorded, note } = &case.topics;
    if before.is_some() {
        case.facts.memory.page = Known::Value(page(3, Vec::new()));
    }
    let recorded = recorded.as_deref().unwrap_or("nothing");
    case.facts.memory.topics = match (before, note) {
        (_, Some((_, id))) => vec![record(*id, recorded)],
        (Some(before), None) => {
            let left = record(12, if before == "-" { "nothing" } else { recorded });
            let next = record(13, if recorded == "unreadable" { recorded } else { "nothing" });
            vec![left, next, record(14, "of another project"), record(99, "gone")]
        }
        (None, None) => Vec::new(),
    };
}

fn leaves(decided: &Decided) -> String {
    let leaves = marks(decided.effects()).filter_map(|mark| match mark {
        Mark::Memory(MemoryMark::Topic(topic)) => {
            assert!(topic.at == NOW && topic.since == SINCE);
            Some(format!("topic {}", topic.topic.id))
        }
        Mark::Memory(MemoryMark::TopicLeft(topic)) => Some(format!("note of {}", topic.topic.id)),
        Mark::Session(SessionMark::Note(Note::UnknownTopic(id))) => Some(format!("note of {id}")),
        _ => None,
    });
    or_dash(leaves.collect::<Vec<_>>().join(", "))
}

/// `12 13 of docs`: ids, each with the words after it.
fn listed<T>(cell: &str, of: impl Fn(i64, &[&str]) -> T) -> Option<Vec<T>> {
    let words: Vec<&str> = cell.split(' ').collect();
    let mut listed = Vec::new();
    for (at, id) in words.iter().enumerate().filter_map(|(at, word)| Some((at, number(word)?))) {
        let after = words[at + 1..].split(|word| number::<i64>(word).is_some()).next();
        listed.push(of(id, after.unwrap_or_default()));
    }
    (cell != "unreadable").then_some(listed)
}

fn known<T, U>(value: Option<T>, of: impl Fn(T) -> U) -> Known<U> {
    value.map_or_else(|| Known::Broken("test".into()), |value| Known::Value(of(value)))
}

/// Of the project; one can be `long`.
fn decisions(case: &mut Situation, cell: &str) {
    let decisions = listed(cell, |id, words| {
        let long = if words == ["long"] { format!(" {}", "x".repeat(200)) } else { String::new() };
        Decision { id, name: format!("decision {id}{long}"), by: "agent, session s1".into() }
    });
    case.facts.memory.page = known(decisions, |decisions| page(3, decisions));
}

/// Topics without a decision; one can be of another project.
fn undecided(case: &mut Situation, cell: &str) {
    let topics = listed(cell, |id, words| {
        let (project, name) = if words == ["of", "docs"] { (4, "docs") } else { (3, "shop") };
        let by = if words == ["of", "eve"] { "teammate eve" } else { "" };
        UndecidedTopic {
            topic: named(id),
            project: NamedId { id: project, name: name.into() },
            by: by.into(),
        }
    });
    case.facts.memory.undecided = known(topics, |topics| Undecided { topics });
}

/// Which of them an earlier start told.
fn told(case: &mut Situation, cell: &str) {
    match cell {
        "the same" => {
            let mut earlier = case.clone();
            event(&mut earlier, "startup");
            case.marks.extend(marks(earlier.decide().when_said()).cloned());
        }
        "others" => {
            case.mark(MemoryMark::DecisionsTold(1));
            case.mark(MemoryMark::TopicsTold(1));
        }
        _ => {}
    }
}

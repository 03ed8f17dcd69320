//! The tables of what is remembered.

use tidegate_core::event::Event;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::marks::{Mark, Marks, Note, SessionMark};
use tidegate_core::feature::memory::catalogue::{
    Decided, NamedId, ProjectPage, TopicRecord, Undecided, UndecidedTopic,
};
use tidegate_core::feature::memory::effect;
use tidegate_core::feature::memory::facts::{MemoryFacts, TurnAnswer, topics_in_question};
use tidegate_core::feature::memory::job::{RelayProject, Work};
use tidegate_core::feature::memory::marks::{Mark as MemoryMark, SessionTopic, Spooled};
use tidegate_core::feature::memory::tag as meta_tag;
use tidegate_core::feature::memory::tag::TopicTag;
use tidegate_core::feature::verdict::{Carried, Effect};
use tidegate_core::host::Host;
use tidegate_core::pipeline;
use tidegate_core::pipeline::ruling::Part;
use tidegate_core::settings::value::Value;
use tidegate_core::text::fnv;
use tidegate_core::time::Millis;

use super::gates::{call_of, config, fold, part};
use super::{Row, facts};

const NOW: Millis = Millis(1_000_000);
const SINCE: Millis = Millis(500_000);
const TRANSCRIPT: &str = "/t/a.jsonl";

/// `SessionStart resume in a subagent`, with what else is known of it.
fn payload(cell: &str) -> String {
    let (cell, agent) = match cell.strip_suffix(" in a subagent") {
        Some(cell) => (cell, r#", "agent_id": "a1""#),
        None => (cell, ""),
    };
    let (name, source) = cell.split_once(' ').unwrap_or((cell, ""));
    let source = if source.is_empty() { String::new() } else { format!(r#", "source": "{source}""#) };
    format!(
        r#"{{"session_id": "s", "hook_event_name": "{name}", "transcript_path": "{TRANSCRIPT}", "prompt": "go on",
            "prompt_id": "p1", "last_assistant_message": "done."{source}{agent}}}"#
    )
}

fn parse(json: &str) -> Event<'_> {
    Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole")
}

fn project() -> RelayProject {
    let text = |text: &str| text.to_owned();
    RelayProject { key: text("/p/.git"), name: text("shop"), root: text("/p"), branch: Some(text("main")) }
}

/// `300`, `300 of another file`, or `300, passed`.
fn left(cell: &str) -> Vec<Mark> {
    let (to, path) =
        cell.strip_suffix(" of another file").map_or((cell, TRANSCRIPT), |to| (to, "/t/b.jsonl"));
    let (to, passed) = to.strip_suffix(", passed").map_or((to, None), |to| (to, Some(SINCE)));
    let mut marks = vec![SessionMark::Transcript(path.into()).into()];
    marks.extend(to.parse().ok().map(|to| MemoryMark::Spooled(Spooled { to, at: Millis(1), passed }).into()));
    marks
}

fn length(cell: &str) -> MemoryFacts {
    MemoryFacts { length: cell.parse().ok(), project: Some(project()), ..MemoryFacts::default() }
}

fn job(part: Option<&Part>) -> Option<&tidegate_core::feature::memory::job::TranscriptPart> {
    part?.verdict.effects.iter().find_map(|effect| match effect {
        Effect::Memory(effect::Effect::Spool { work, .. }) => match work.as_ref() {
            Work::Relays(part) => Some(part),
            Work::Offered { .. } => None,
        },
        _ => None,
    })
}

fn covers(part: Option<&Part>) -> String {
    job(part).map_or("-".into(), |job| format!("{} to {}", job.from, job.to))
}

pub(super) fn jobs(row: &Row<'_>) -> Vec<String> {
    let (cell, broken) =
        row[0].strip_suffix(", the marks are broken").map_or((row[0], false), |cell| (cell, true));
    let json = payload(cell);
    let event = parse(&json);
    let marks = if broken { Known::Broken("test".into()) } else { Known::Value(fold(left(row[2]))) };
    let facts = Facts { now: NOW, marks, memory: length(row[1]), ..facts(&event) };
    let part = part("relay-log", &facts, &Config::default());
    let effects = part.as_ref().map(|part| part.verdict.effects.clone()).unwrap_or_default();
    let marked = effects.iter().filter_map(Effect::leaves).find_map(|mark| match mark {
        Mark::Memory(MemoryMark::Spooled(spooled)) => Some(spooled.to),
        _ => None,
    });
    assert_eq!(marked, job(part.as_ref()).map(|job| job.to), "the mark goes with the job: {row:?}");
    let starts = |effect: &Effect| matches!(effect, Effect::Memory(effect::Effect::StartWorker { .. }));
    let worker = if effects.iter().any(starts) { "yes" } else { "-" };
    let because = call_of(part.as_ref()).1;
    [row[0], row[1], row[2], &covers(part.as_ref()), worker, &because].map(str::to_owned).into()
}

pub(super) fn not_recorded(row: &Row<'_>) -> Vec<String> {
    let (cell, attended) = row[1].strip_suffix(", nobody there").map_or((row[1], true), |cell| (cell, false));
    let json = payload(cell);
    let event = parse(&json);
    let mut config = match row[0] {
        "mode = off" => config("guide", &[("relay_log", "mode", "off".into())]),
        "headless = true" => config("guide", &[("memory", "headless", Value::Flag(true))]),
        _ => Config::default(),
    };
    if row[0] == "switched off" {
        config.off_by_command.push("relay-log".into());
    }
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(left(row[2]))),
        memory: length("900"),
        person: attended.into(),
        ..facts(&event)
    };
    let part = part("relay-log", &facts, &config);
    let marks = pipeline::observe(&facts, &config).into_iter();
    let effects = part.as_ref().map(|part| part.verdict.effects.as_slice()).unwrap_or_default();
    let spooled = marks.chain(effects.iter().filter_map(Effect::leaves)).find_map(|mark| match mark {
        Mark::Memory(MemoryMark::Spooled(spooled)) => Some(spooled),
        _ => None,
    });
    let passed = spooled.and_then(|spooled| spooled.passed);
    if let Some(job) = job(part.as_ref()) {
        assert_eq!(job.passed, passed, "the job knows what the mark does: {row:?}");
    }
    let passed = match passed {
        None => "-",
        Some(NOW) => "all so far",
        Some(_) => "as before",
    };
    let mark = spooled.map_or("-".to_owned(), |spooled| spooled.to.to_string());
    [row[0], row[1], row[2], &covers(part.as_ref()), &mark, passed].map(str::to_owned).into()
}

pub(super) fn job_contents(row: &Row<'_>) -> Vec<String> {
    let json = payload(row[0]);
    let event = parse(&json);
    let mut marks = left("300");
    marks.extend(row[1].parse().ok().map(|id| MemoryMark::TopicSet(topic(id, NOW)).into()));
    let facts = Facts { now: NOW, marks: Known::Value(fold(marks)), memory: length("900"), ..facts(&event) };
    let part = part("relay-log", &facts, &Config::default());
    let job = job(part.as_ref()).expect("a job");
    assert_eq!(job.transcript, TRANSCRIPT);
    let answer = job.answer.map_or("no answer".into(), |answer| {
        assert_eq!(answer.hash, fnv::hash("done.".bytes()));
        format!("answer of {} bytes", answer.bytes)
    });
    let topic = job.topic.map_or("no topic".into(), |id| format!("topic {id}"));
    let because = serde_json::to_value(job.because).expect("a word");
    let because = because.as_str().expect("a word");
    let branch = job.project.branch.as_deref().unwrap_or("no branch");
    let says = format!("because {because}, {answer}, {topic}, {} on {branch}", job.project.name);
    [row[0], row[1], &says].map(str::to_owned).into()
}

fn title(id: i64) -> &'static str {
    match id {
        12 => "search",
        13 => "index",
        _ => "another",
    }
}

fn named(id: i64) -> NamedId {
    NamedId { id, name: title(id).to_owned() }
}

fn topic(id: i64, at: Millis) -> SessionTopic {
    SessionTopic { topic: named(id), project: None, since: SINCE, at }
}

fn tag(id: i64) -> TopicTag {
    let text = format!("done.\n{}", meta_tag::render(&NamedId { id: 0, name: "shop".into() }, &named(id)));
    meta_tag::find_last(&text).expect("a tag")
}

fn page(id: i64) -> ProjectPage {
    page_with(id, Vec::new())
}

fn page_with(id: i64, decisions: Vec<Decided>) -> ProjectPage {
    ProjectPage::new("/p/.git".into(), NamedId { id, name: "shop".into() }, decisions)
}

pub(super) fn tags(row: &Row<'_>) -> Vec<String> {
    let mut config = config(row[0], &[]);
    let (cell, how) = row[1].split_once(", ").unwrap_or((row[1], ""));
    let mut json = payload(cell);
    match how {
        "another hook held it" => {
            json = json.replace(r#""prompt_id""#, r#""stop_hook_active": true, "prompt_id""#);
        }
        "of a nameless turn" => json = json.replace(r#""prompt_id": "p1","#, ""),
        "of a nameless turn that was held" => {
            json = json.replace(r#""prompt_id": "p1""#, r#""stop_hook_active": true"#);
        }
        "stepped down" => config.stepped_down.push("meta-tag".into()),
        _ => {}
    }
    let event = parse(&json);
    let answer = match row[2] {
        "with a tag" => Some(TurnAnswer { tag: Some(tag(12)) }),
        "with an unknown id" => Some(TurnAnswer { tag: Some(tag(99)) }),
        "without a tag" => Some(TurnAnswer::default()),
        _ => None,
    };
    let memory = MemoryFacts { answer, project: Some(project()), ..MemoryFacts::default() };
    let marks = match row[3] {
        "in this turn" => vec![MemoryMark::MemoryHeld("p1".into()).into()],
        "in another turn" => vec![MemoryMark::MemoryHeld("p0".into()).into()],
        _ => Vec::new(),
    };
    let marks =
        if how == "the marks are broken" { Known::Broken("test".into()) } else { Known::Value(fold(marks)) };
    let attended = how != "nobody there";
    let facts = Facts { now: NOW, marks, memory, person: attended.into(), ..facts(&event) };
    let part = part("meta-tag", &facts, &config);
    if let Some(denied) = part.as_ref().filter(|part| part.verdict.reason.is_some()) {
        let held = |effect: &Effect| matches!(effect, Effect::Mark(Mark::Memory(MemoryMark::MemoryHeld(_))));
        assert!(denied.verdict.effects.iter().any(held) && denied.verdict.asks.tag, "{row:?}");
    }
    let (call, because) = call_of(part.as_ref());
    [row[0], row[1], row[2], row[3], &call, &because].map(str::to_owned).into()
}

pub(super) fn tag_words(row: &Row<'_>) -> Vec<String> {
    let (cell, attended) = row[0].strip_suffix(", nobody there").map_or((row[0], true), |cell| (cell, false));
    let json = payload(cell);
    let event = parse(&json);
    let (early, late) = (Millis(600_000), Millis(700_000));
    let docs = Some(NamedId { id: 4, name: "docs".into() });
    let marks = match row[2] {
        "12 by a call" => vec![MemoryMark::TopicSet(topic(12, early)).into()],
        "12 by a tag" => {
            vec![MemoryMark::TopicSet(topic(13, early)).into(), MemoryMark::Topic(topic(12, late)).into()]
        }
        "12 by a tag, then 13 by a call" => {
            vec![MemoryMark::Topic(topic(12, early)).into(), MemoryMark::TopicSet(topic(13, late)).into()]
        }
        "12 of the project docs" => {
            vec![MemoryMark::TopicSet(SessionTopic { project: docs, ..topic(12, early) }).into()]
        }
        _ => Vec::new(),
    };
    let page = row[1].parse().map_or(Known::Absent, |id| Known::Value(page(id)));
    let memory = MemoryFacts {
        answer: Some(TurnAnswer::default()),
        project: Some(project()),
        page,
        ..MemoryFacts::default()
    };
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(marks)),
        memory,
        person: attended.into(),
        ..facts(&event)
    };
    let verdict = part("meta-tag", &facts, &config("strict", &[])).expect("it takes part").verdict;
    let text = verdict.reason.or_else(|| verdict.says.first().map(|say| say.text.clone()));
    if let Some(text) = &text {
        assert!(meta_tag::find_last(text).is_some(), "as it is written it counts: {text}");
    }
    // In a table it has to stand in one line, and an HTML comment in code.
    let shown = text.map_or("-".into(), |text| {
        text.replace('\n', "⏎").replace("<!--", "`<!--").replace("-->", "-->`").replace('|', "\\|")
    });
    [row[0], row[1], row[2], &shown].map(str::to_owned).into()
}

/// What the catalogue says of a topic.
fn record(id: i64, cell: &str) -> Known<Option<TopicRecord>> {
    let plain = TopicRecord { id, project: 3, automatic: false, closed: false, recorded: None };
    Known::Value(match cell {
        "nothing" => Some(plain),
        "before it began" => Some(TopicRecord { recorded: Some(Millis(SINCE.0 - 1)), ..plain }),
        "since" => Some(TopicRecord { recorded: Some(SINCE), ..plain }),
        "automatic" => Some(TopicRecord { automatic: true, ..plain }),
        "closed" => Some(TopicRecord { closed: true, ..plain }),
        "unreadable" => return Known::Broken("test".into()),
        "-" => return Known::Absent,
        _ => None,
    })
}

fn change(preset: &str, before: &str, now: &str, recorded: &str, held: &str) -> (Marks, Option<Part>) {
    let (preset, how) = preset.split_once(", ").unwrap_or((preset, ""));
    let mut config = config(preset, &[]);
    if how == "stepped down" {
        config.stepped_down.push("topic-decision".into());
    }
    let json = payload("Stop");
    let event = parse(&json);
    let told_at = Millis(600_000);
    let mut marks = vec![SessionMark::Attached(SINCE).into()];
    if let Ok(id) = before.parse() {
        marks.push(MemoryMark::Topic(topic(id, told_at)).into());
    }
    match held {
        "for this" => {
            marks.extend([
                MemoryMark::MemoryHeld("p1".into()).into(),
                SessionMark::Notice(format!("topic 12 since {}", SINCE.0)).into(),
            ]);
        }
        "for a tag" => marks.push(MemoryMark::MemoryHeld("p1".into()).into()),
        "in another turn" => marks.push(MemoryMark::MemoryHeld("p0".into()).into()),
        _ => {}
    }
    let mut answer = TurnAnswer::default();
    let mut topics = vec![(12, record(12, recorded)), (99, Known::Value(None))];
    let unreadable = recorded == "unreadable";
    topics.push((13, if unreadable { Known::Broken("test".into()) } else { record(13, "nothing") }));
    for what in now.split(", ") {
        let mut words = what.split(' ');
        let (how, id) = (words.next(), words.next().and_then(|id| id.parse().ok()));
        match (how, id) {
            (Some("tag"), Some(id)) => answer.tag = Some(tag(id)),
            (Some("set"), Some(id)) => {
                let before = words.next().is_some();
                let at = if before { Millis(told_at.0 - 1) } else { Millis(told_at.0 + 1) };
                marks.push(MemoryMark::TopicSet(topic(id, at)).into());
            }
            _ => {}
        }
    }
    if before == "-" {
        topics.push((12, record(12, "nothing")));
        topics.remove(0);
    }
    let memory = MemoryFacts { answer: Some(answer), topics, ..MemoryFacts::default() };
    let marks = fold(marks);
    let attended = how != "nobody there";
    let facts = Facts {
        now: NOW,
        marks: Known::Value(marks.clone()),
        memory,
        person: attended.into(),
        ..facts(&event)
    };
    (marks, part("topic-decision", &facts, &config))
}

pub(super) fn topic_changes(row: &Row<'_>) -> Vec<String> {
    let (_, part) = change(row[0], row[1], row[2], row[3], row[4]);
    let effects = part.as_ref().map(|part| part.verdict.effects.clone()).unwrap_or_default();
    let mut leaves = Vec::new();
    for effect in &effects {
        match effect {
            Effect::Mark(Mark::Memory(MemoryMark::Topic(topic))) => {
                assert!(topic.at == NOW && topic.since == SINCE, "{row:?}");
                leaves.push(format!("topic {}", topic.topic.id));
            }
            Effect::Mark(Mark::Memory(MemoryMark::TopicLeft(topic))) => {
                leaves.push(format!("note of {}", topic.topic.id));
            }
            Effect::Mark(Mark::Session(SessionMark::Note(Note::UnknownTopic(id)))) => {
                leaves.push(format!("note of {id}"));
            }
            _ => {}
        }
    }
    let leaves = if leaves.is_empty() { "-".into() } else { leaves.join(", ") };
    let (call, because) = call_of(part.as_ref());
    if call == "deny" {
        let asked = part.as_ref().and_then(|part| part.verdict.asks.topic);
        assert_eq!(asked, Some(12), "{row:?}");
    }
    [row[0], row[1], row[2], row[3], row[4], &call, &leaves, &because].map(str::to_owned).into()
}

pub(super) fn topic_words(row: &Row<'_>) -> Vec<String> {
    let (_, part) = change("strict", row[0], row[1], "nothing", "-");
    let reason = part.and_then(|part| part.verdict.reason).unwrap_or_default();
    [row[0], row[1], &reason].map(str::to_owned).into()
}

pub(super) fn topic_notes(row: &Row<'_>) -> Vec<String> {
    let json = payload("UserPromptSubmit");
    let event = parse(&json);
    let (what, id) = row[0].split_once(' ').expect("what and which");
    let id: i64 = id.parse().expect("an id");
    let note = if what == "left" { Note::TopicLeft } else { Note::UnknownTopic(id) };
    let mut marks = vec![
        MemoryMark::TopicLeft(topic(12, NOW)).into(),
        MemoryMark::Topic(topic(13, Millis(600_000))).into(),
    ];
    marks.push(SessionMark::Note(note).into());
    marks.extend(row[2].parse().ok().map(|id| MemoryMark::TopicSet(topic(id, NOW)).into()));
    let memory = MemoryFacts { topics: vec![(id, record(id, row[1]))], ..MemoryFacts::default() };
    let marks = fold(marks);
    assert!(topics_in_question(&marks).contains(&id), "it is looked up");
    let facts = Facts { now: NOW, marks: Known::Value(marks), memory, ..facts(&event) };
    let verdict = part("topic-decision", &facts, &config("guide", &[])).expect("it takes part").verdict;
    let said = verdict.says.first();
    let effects = said.map_or(&verdict.effects, |say| &say.when_said);
    assert_eq!(effects, &[Effect::mark(SessionMark::NoteGiven(note))], "given once: {row:?}");
    let text = said.map_or("-", |say| say.text.as_str());
    [row[0], row[1], row[2], text, verdict.because].map(str::to_owned).into()
}

/// `4 5 long`: decisions by their ids.
fn decisions(cell: &str) -> Known<ProjectPage> {
    let mut decisions: Vec<Decided> = Vec::new();
    for word in cell.split(' ') {
        match (word.parse::<i64>(), decisions.last_mut()) {
            (Ok(id), _) => {
                decisions.push(Decided {
                    id,
                    name: format!("decision {id}"),
                    by: "agent, session s1".into(),
                });
            }
            (Err(_), Some(last)) if word == "long" => {
                last.name = format!("{} {}", last.name, "x".repeat(200));
            }
            _ => {}
        }
    }
    match cell {
        "unreadable" => Known::Broken("test".into()),
        _ => Known::Value(page_with(3, decisions)),
    }
}

/// `12 13 of docs`: topics by their ids.
fn undecided(cell: &str) -> Known<Undecided> {
    let mut topics: Vec<UndecidedTopic> = Vec::new();
    for word in cell.split(' ') {
        match (word.parse::<i64>(), topics.last_mut()) {
            (Ok(id), _) => {
                let project = NamedId { id: 3, name: "shop".into() };
                topics.push(UndecidedTopic { topic: named(id), project });
            }
            (Err(_), Some(last)) if word == "docs" => last.project = NamedId { id: 4, name: "docs".into() },
            _ => {}
        }
    }
    if cell == "unreadable" { Known::Broken("test".into()) } else { Known::Value(Undecided { topics }) }
}

fn startup(preset: &str, source: &str, marks: Marks, decided: &str, open: &str) -> Option<Part> {
    let (preset, how) = preset.split_once(", ").unwrap_or((preset, ""));
    let keys: Vec<(&str, &str, Value)> = match how.split_once(" = ") {
        Some(("startup_topics", count)) => {
            vec![("memory", "startup_topics", Value::Whole(count.parse().expect("a number")))]
        }
        Some((key, value)) => vec![("memory", key, value.into())],
        None => Vec::new(),
    };
    let json = payload(&format!("SessionStart {source}"));
    let event = parse(&json);
    let memory = MemoryFacts {
        project: Some(project()),
        page: decisions(decided),
        undecided: undecided(open),
        ..MemoryFacts::default()
    };
    let attended = how != "nobody there";
    let facts =
        Facts { now: NOW, marks: Known::Value(marks), memory, person: attended.into(), ..facts(&event) };
    part("topic-decision", &facts, &config(preset, &keys))
}

pub(super) fn startups(row: &Row<'_>) -> Vec<String> {
    let marked = |part: Option<Part>| {
        let effects = part.map(|part| part.verdict.says).unwrap_or_default();
        fold(
            effects
                .into_iter()
                .flat_map(|say| say.when_said)
                .filter_map(|effect| match effect {
                    Effect::Mark(mark) => Some(mark),
                    _ => None,
                })
                .collect(),
        )
    };
    let marks = match row[2] {
        "the same" => marked(startup(row[0], "startup", Marks::default(), row[3], row[4])),
        "others" => fold(vec![MemoryMark::DecisionsTold(1).into(), MemoryMark::TopicsTold(1).into()]),
        _ => Marks::default(),
    };
    let part = startup(row[0], row[1], marks, row[3], row[4]);
    let says = part.map(|part| part.verdict.says).unwrap_or_default();
    let mut told = Vec::new();
    let mut offers = "-".to_owned();
    for say in &says {
        told.push(if say.text.starts_with("Decisions") { "decisions" } else { "topics" });
        for effect in &say.when_said {
            if let Effect::Memory(effect::Effect::Spool { work, .. }) = effect
                && let Work::Offered { topics } = work.as_ref()
            {
                offers = topics.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
            }
        }
    }
    let told = if told.is_empty() { "-".into() } else { told.join(", ") };
    [row[0], row[1], row[2], row[3], row[4], &told, &offers].map(str::to_owned).into()
}

pub(super) fn startup_words(row: &Row<'_>) -> Vec<String> {
    let part = startup("guide", "startup", Marks::default(), row[0], row[1]).expect("it takes part");
    let text = part.verdict.says.first().map_or("-", |say| say.text.as_str());
    [row[0], row[1], text].map(str::to_owned).into()
}

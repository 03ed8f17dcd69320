//! Rows of the memory in results of tools: as JSON, with a schema, and as a line.

use serde_json::{Map, Value, json};
use tidegate_core::feature::memory::said::shorten_decision;
use tidegate_core::text::cut::cut_after_word;
use tidegate_core::text::one_line::one_line;
use tidegate_core::text::short_id::short_id;
use tidegate_memory::act::{author_of_decision, author_of_log, author_of_teammate};
use tidegate_memory::view::{Decision, Log, MemoryProject, NamedRow, Paged, Topic};

use super::Content;
use super::schema::{self, count, flag, id, text};

/// Per log in a list; a log by its id is given whole.
const LIST_CHARS: usize = 500;

/// Per part of a log by its id.
const WHOLE_CHARS: usize = 8_000;

/// Per line.
const LINE_CHARS: usize = 160;

/// Without members that are null.
fn without_nulls(object: Value) -> Value {
    match object {
        Value::Object(members) => {
            Value::Object(members.into_iter().filter(|(_, value)| !value.is_null()).collect())
        }
        other => other,
    }
}

pub(super) fn cut_line(text: &str) -> String {
    cut_after_word(&one_line(text), LINE_CHARS).into_owned()
}

/// The text of a decision: a question is cut before its answer.
pub(super) fn cut_decision(text: &str) -> String {
    shorten_decision(text, LINE_CHARS)
}

fn named_schema(name: &str, description: &str) -> Value {
    let mut schema =
        schema::object(json!({ "id": id("Its id"), name: text(&format!("Its {name}")) }), &["id", name]);
    schema["description"] = json!(description);
    schema
}

pub(super) fn project_ref(project: &NamedRow) -> Value {
    json!({ "id": project.id, "name": project.name })
}

pub(super) fn project_ref_schema() -> Value {
    named_schema("name", "The project")
}

pub(super) fn topic_ref(topic: &NamedRow) -> Value {
    // A teammate's automatic topic has no id on this machine.
    without_nulls(json!({ "id": (topic.id != 0).then_some(topic.id), "title": topic.name }))
}

pub(super) fn topic_ref_schema() -> Value {
    named_schema("title", "The topic")
}

pub(super) fn project_schema() -> Value {
    schema::object(
        json!({
            "id": id("Its id, for `project`"),
            "name": text("Its name"),
            "topics": count("Topics, without those made for a session"),
            "logs": count("Logs"),
            "decisions": count("Decisions that stand"),
            "this": flag("It is the project of this folder"),
        }),
        &["id", "name", "topics", "logs", "decisions", "this"],
    )
}

pub(super) fn project_json(project: &MemoryProject, this: bool) -> Value {
    json!({
        "id": project.id, "name": project.row.name, "topics": project.topics, "logs": project.logs,
        "decisions": project.decisions, "this": this,
    })
}

pub(super) fn project_line(project: &MemoryProject, this: bool) -> String {
    let MemoryProject { id, row, topics, logs, decisions, .. } = project;
    let this = if this { ", this folder" } else { "" };
    format!("{id}  {}  ({topics} topics, {logs} logs, {decisions} decisions{this})", cut_line(&row.name))
}

pub(super) fn topic_schema() -> Value {
    schema::object(
        json!({
            "id": id("Its id, for `topic_id`"),
            "title": text("What it is about"),
            "project": project_ref_schema(),
            "part_of": topic_ref_schema(),
            "status": { "type": "string", "enum": ["open", "closed"] },
            "automatic": flag("It was made for a session that named none"),
            "logs": count("Logs"),
            "decisions": count("Decisions that stand"),
            "active": text("When anything last happened to it, UTC"),
        }),
        &["id", "title", "project", "status", "automatic", "logs", "decisions", "active"],
    )
}

pub(super) fn topic_json(topic: &Topic) -> Value {
    without_nulls(json!({
        "id": topic.id, "title": topic.row.title, "project": project_ref(&topic.in_project),
        "part_of": topic.part_of.as_ref().map(topic_ref), "status": topic.row.status,
        "automatic": topic.row.automatic.is_some(), "logs": topic.logs, "decisions": topic.decisions,
        "active": topic.active.iso_seconds(), "by": topic.author.as_deref().map(author_of_teammate),
    }))
}

pub(super) fn topic_line(topic: &Topic) -> String {
    let Topic { id, row, in_project, logs, decisions, active, .. } = topic;
    let status = if row.status == tidegate_memory::record::TopicStatus::Closed { ", closed" } else { "" };
    let own = if row.automatic.is_some() { ", of a session" } else { "" };
    let by =
        topic.author.as_deref().map(|name| format!(", {}", author_of_teammate(name))).unwrap_or_default();
    format!(
        "{id}  {}  ({}, {logs} logs, {decisions} decisions, active {}{status}{own}{by})",
        cut_line(&row.title),
        cut_line(&in_project.name),
        active.day()
    )
}

pub(super) fn decision_schema() -> Value {
    schema::object(
        json!({
            "id": id("Its id, for `decision_id`"),
            "text": text("What was decided"),
            "reason": text("Why"),
            "topic": topic_ref_schema(),
            "project": project_ref_schema(),
            "status": { "type": "string", "enum": ["stands", "superseded", "retracted"] },
            "superseded_by": id("The decision that took its place"),
            "conflicts": schema::list(&json!({ "type": "integer" }), "Decisions that contradict it: ask the person"),
            "by": text("Who recorded it"),
            "at": text("When it was recorded, UTC"),
        }),
        &["id", "text", "topic", "project", "status", "by", "at"],
    )
}

pub(super) fn decision_status(decision: &Decision) -> &'static str {
    match (&decision.row.retracted, decision.superseded_by) {
        (Some(_), _) => "retracted",
        (None, Some(_)) => "superseded",
        (None, None) => "stands",
    }
}

pub(super) fn decision_json(decision: &Decision) -> Value {
    let reason = Some(&decision.row.reason).filter(|reason| !reason.is_empty());
    let conflicts = (!decision.conflicts.is_empty()).then_some(&decision.conflicts);
    without_nulls(json!({
        "id": decision.id, "text": decision.row.text, "reason": reason,
        "topic": topic_ref(&decision.in_topic), "project": project_ref(&decision.in_project),
        "status": decision_status(decision), "superseded_by": decision.superseded_by, "conflicts": conflicts,
        "by": author_of_decision(decision),
        "at": decision.row.created.iso_seconds(),
    }))
}

pub(super) fn decision_line(decision: &Decision) -> String {
    let status = match decision_status(decision) {
        "stands" if !decision.conflicts.is_empty() => {
            let ids: Vec<String> = decision.conflicts.iter().map(ToString::to_string).collect();
            format!(", in conflict with decision {}", ids.join(", "))
        }
        "stands" => String::new(),
        other => format!(", {other}"),
    };
    format!(
        "{}  {}  {}  ({}: {}{status}; {})",
        decision.id,
        decision.row.created.day(),
        cut_decision(&decision.row.text),
        cut_line(&decision.in_project.name),
        cut_line(&decision.in_topic.name),
        author_of_decision(decision),
    )
}

pub(super) fn log_schema() -> Value {
    let texts = json!({ "type": "string" });
    schema::object(
        json!({
            "id": text("Its id, for `log_id`; the beginning is enough"),
            "at": text("When it began, UTC"),
            "title": text("One line"),
            "text": text("The summary, or what was written by hand"),
            "topic": topic_ref_schema(),
            "project": project_ref_schema(),
            "source": { "type": "string", "enum": ["relay", "hand"] },
            "session": text("The session"),
            "by": text("Who recorded it"),
            "files": schema::list(&texts, "Files that were written"),
            "notes": schema::list(&texts, "What was noted about it"),
            "prompt": text("What was asked; only with `log_id`"),
            "answer": text("What was answered last; only with `log_id`"),
        }),
        &["id", "at", "title", "text", "topic", "project", "source", "by"],
    )
}

pub(super) fn log_json(log: &Log, whole: bool) -> Value {
    let row = &log.row;
    let most = if whole { WHOLE_CHARS } else { LIST_CHARS };
    let part = |text: &str| (whole && !text.is_empty()).then(|| cut_after_word(text, most).into_owned());
    let listed = |items: &Vec<String>| (!items.is_empty()).then(|| items.clone());
    without_nulls(json!({
        "id": row.uid, "at": row.at.iso_seconds(), "title": row.title, "text": cut_after_word(&row.text, most),
        "topic": topic_ref(&log.in_topic), "project": project_ref(&log.in_project), "source": row.source,
        "session": row.session, "by": author_of_log(log), "files": listed(&row.files), "notes": listed(&row.notes),
        "prompt": part(&row.prompt), "answer": part(&row.answer),
    }))
}

pub(super) fn log_line(log: &Log) -> String {
    let at = log.row.at.iso();
    let id = short_id(&log.row.uid);
    format!(
        "{id}  {}  {}  ({}: {}; {})",
        at[..16].replace('T', " "),
        cut_line(&log.row.title),
        cut_line(&log.in_project.name),
        cut_line(&log.in_topic.name),
        author_of_log(log)
    )
}

/// Cut to a length that is worth reading.
pub(super) fn log_text(log: &Log) -> String {
    let row = &log.row;
    let parts = [&row.text, &row.prompt, &row.answer].into_iter().filter(|part| !part.is_empty());
    let parts = parts.map(|part| cut_after_word(part, WHOLE_CHARS).into_owned());
    std::iter::once(log_line(log)).chain(parts).collect::<Vec<_>>().join("\n\n")
}

/// Rows under a name, and the start of the next page.
pub(super) fn page_content<T>(
    name: &str,
    paged: &Paged<T>,
    row: impl Fn(&T) -> Value,
    row_line: impl Fn(&T) -> String,
    nothing: &str,
) -> Content {
    let mut lines: Vec<String> = paged.rows.iter().map(row_line).collect();
    if lines.is_empty() {
        lines.push(nothing.to_owned());
    }
    let mut structured = Map::new();
    structured.insert(name.to_owned(), paged.rows.iter().map(row).collect());
    if let Some(next) = &paged.next {
        lines.push(format!("More with after: \"{next}\"."));
        structured.insert("next".to_owned(), json!(next));
    }
    Content { texts: vec![lines.join("\n")], structured: Value::Object(structured) }
}

pub(super) fn page_schema(name: &str, row: &Value, description: &str) -> Value {
    schema::object(
        json!({
            name: schema::list(row, description),
            "next": text("What `after` has to be for the next page; absent on the last one"),
        }),
        &[name],
    )
}

/// A page without rows, and the reason.
pub(super) fn empty_page(name: &str, why: &str) -> Content {
    Content { texts: vec![why.to_owned()], structured: json!({ name: [] }) }
}

//! Decisions and topics as resources, which a person points at or a model reads by address.

use rmcp::model::{
    ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use tidegate_core::text::cut::cut_after_word;
use tidegate_core::text::one_line::one_line;
use tidegate_core::text::quoted::{quoted, quoted_line};
use tidegate_memory::act::author_of_decision;
use tidegate_memory::view::{Decision, Filter, Log, Page, Topic};

use super::memory::Memory;
use crate::error::CliError;

const PAGE: usize = 50;

/// Logs named in a topic's text.
const LOGS: usize = 20;

const DECISIONS: &str = "tidegate://decisions/";
const TOPICS: &str = "tidegate://topics/";
const MARKDOWN: &str = "text/markdown";

/// Addresses that can be read, also of rows that are not listed.
pub(super) fn list_templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, title: &str, description: &str| {
        ResourceTemplate::new(format!("{uri}{{id}}"), name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(MARKDOWN)
    };
    vec![
        template(
            DECISIONS,
            "decision",
            "Decision",
            "A decision by its id: what was decided, why, and whether it stands",
        ),
        template(
            TOPICS,
            "topic",
            "Topic",
            "A topic by its id: its decisions, and its last logs by their titles",
        ),
    ]
}

/// Open topics of this project, then decisions in force. The client asks at its start, so a missing store stays
/// missing.
pub(super) fn list_resources(cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let Some(mut memory) = Memory::open_if_there().map_err(failed_request)? else {
        return Ok(ListResourcesResult::default());
    };
    let Some(own) = memory.own_project().map_err(failed_request)? else {
        return Ok(ListResourcesResult::default());
    };
    let filter = Filter { project: Some(own.id), open: Some(true), ..Filter::default() };
    let (of_topics, after) = match cursor.map(|cursor| cursor.split_once('/')) {
        None => (true, None),
        Some(Some(("topics", after))) => (true, Some(after.to_owned())),
        Some(Some(("decisions", ""))) => (false, None),
        Some(Some(("decisions", after))) => (false, Some(after.to_owned())),
        Some(_) => return Err(ErrorData::invalid_params("unknown cursor", None)),
    };
    let page = Page { limit: PAGE, after };
    let store = memory.store();
    let refused = |error| failed_request(CliError::from(error));
    let (resources, next) = if of_topics {
        let topics = store.topics(&filter, &page).map_err(refused)?;
        let next = topics.next.map_or_else(|| "decisions/".to_owned(), |next| format!("topics/{next}"));
        (topics.rows.iter().map(of_topic).collect(), Some(next))
    } else {
        let decisions = store.decisions(&filter, &page).map_err(refused)?;
        (
            decisions.rows.iter().map(of_decision).collect(),
            decisions.next.map(|next| format!("decisions/{next}")),
        )
    };
    let mut listed = ListResourcesResult::with_all_items(resources);
    listed.next_cursor = next;
    Ok(listed)
}

fn of_topic(topic: &Topic) -> Resource {
    Resource::new(format!("{TOPICS}{}", topic.id), format!("topic {}", topic.id))
        .with_title(cut_after_word(&quoted_line(&topic.row.title), 120))
        .with_mime_type(MARKDOWN)
}

fn of_decision(decision: &Decision) -> Resource {
    let first = decision.row.text.lines().next().unwrap_or_default();
    Resource::new(format!("{DECISIONS}{}", decision.id), format!("decision {}", decision.id))
        .with_title(cut_after_word(&quoted_line(first), 120))
        .with_mime_type(MARKDOWN)
}

/// As Markdown.
pub(super) fn read_resource(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let missing = || {
        let why = format!(
            "there is no resource {}; use {DECISIONS}ID or {TOPICS}ID with an id of the memory",
            cut_after_word(uri, 80)
        );
        ErrorData::resource_not_found(quoted(&why).into_owned(), None)
    };
    let id =
        |prefix: &str| uri.strip_prefix(prefix).and_then(|id| id.parse::<i64>().ok()).filter(|id| *id > 0);
    let (decision, topic) = (id(DECISIONS), id(TOPICS));
    if decision.or(topic).is_none() {
        return Err(missing());
    }
    let mut memory = Memory::open_if_there().map_err(failed_request)?.ok_or_else(missing)?;
    let store = memory.store();
    let refused = |error| failed_request(CliError::from(error));
    let text = if let Some(id) = decision {
        decision_text(&store.decision(id).map_err(refused)?.ok_or_else(missing)?)
    } else {
        let id = topic.unwrap_or_default();
        let topic = store.topic(id).map_err(refused)?.ok_or_else(missing)?;
        let filter = Filter { topic: Some(id), ..Filter::default() };
        let decisions = store.decisions(&filter, &Page { limit: PAGE, after: None }).map_err(refused)?;
        let logs = store.logs(&filter, &Page { limit: LOGS, after: None }).map_err(refused)?;
        let of_decision =
            |row: &Decision| format!("- decision {}: {}\n", row.id, shorten_text(&row.row.text));
        let of_log = |row: &Log| format!("- {} {}\n", row.row.at.iso_seconds(), shorten_text(&row.row.title));
        let more = |next: &Option<String>, tool: &str| {
            next.as_ref().map(|_| format!("- more: call `{tool}`\n")).unwrap_or_default()
        };
        [
            topic_text(&topic),
            decisions.rows.iter().map(of_decision).collect(),
            more(&decisions.next, "list_decisions"),
            "\n## Logs\n\n".to_owned(),
            logs.rows.iter().map(of_log).collect(),
            more(&logs.next, "get_logs"),
        ]
        .concat()
    };
    Ok(ReadResourceResult::new(vec![
        ResourceContents::text(quoted(&text).into_owned(), uri).with_mime_type(MARKDOWN),
    ]))
}

fn shorten_text(text: &str) -> String {
    cut_after_word(&one_line(text), 300).into_owned()
}

fn decision_text(decision: &Decision) -> String {
    let row = &decision.row;
    let stands = match (row.retracted, decision.superseded_by) {
        (Some(at), _) => format!("retracted on {}", at.day()),
        (None, Some(by)) => format!("superseded by decision {by}"),
        (None, None) => "it stands".to_owned(),
    };
    let reason = if row.reason.is_empty() { String::new() } else { format!("\n## Why\n\n{}\n", row.reason) };
    format!(
        "# Decision {}\n\n{}\n{reason}\n- {stands}\n- topic {}: {}\n- project: {}\n- recorded: {}, {}\n",
        decision.id,
        row.text,
        decision.in_topic.id,
        decision.in_topic.name,
        decision.in_project.name,
        row.created.iso_seconds(),
        author_of_decision(decision)
    )
}

fn topic_text(topic: &Topic) -> String {
    let status =
        if topic.row.status == tidegate_memory::record::TopicStatus::Open { "open" } else { "closed" };
    format!(
        "# Topic {}: {}\n\n- {status}, active {}\n- project: {}\n- {} logs, {} decisions\n\n## Decisions that stand\n\n",
        topic.id,
        topic.row.title,
        topic.active.iso_seconds(),
        topic.in_project.name,
        topic.logs,
        topic.decisions
    )
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
fn failed_request(error: CliError) -> ErrorData {
    ErrorData::internal_error(quoted(&error.text()).into_owned(), None)
}

//! The tool `search`: the same as `tidegate memory search`.

use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_memory::act::{Authored, DecisionStatus, Standing};
use tidegate_memory::view::{Filter, HitKind, Query};

use super::arguments::parse_times;
use super::schema::{self, text};
use super::{Content, Does, Done, Tool, parse_arguments, rows};
use crate::command::mcp::memory::{Memory, ProjectName};
use crate::local_time::LocalClock;

pub(super) const TOOL: Tool = Tool { name: "search", definition, does: Does::Looks(call) };

const USUAL: usize = 10;
const MOST: usize = 50;

fn definition() -> Value {
    let kinds = json!({ "type": "string", "enum": ["log", "decision", "topic", "stock", "progress"] });
    let hit = schema::object(
        json!({
            "kind": kinds,
            "id": text("Its id: of a log for `log_id`, of a decision for `decision_id`, of a topic for `topic_id`"),
            "title": text("One line"),
            "snippet": text("The place where the words stand, with ** around them"),
            "project": { "type": ["string", "null"], "description": "The project's name" },
            "topic": { "type": ["string", "null"], "description": "The topic's title" },
            "by": text("Who recorded it, where that is known"),
            "status": {
                "type": "string",
                "enum": ["stands", "superseded", "retracted"],
                "description": "Of a decision, or of the decision in a log that no longer stands",
            },
            "superseded_by": schema::id("The decision that took its place"),
            "conflicts": schema::list(&json!({ "type": "integer" }), "Decisions that contradict it"),
            "at": text("When it was said, UTC"),
        }),
        &["kind", "id", "title", "snippet", "at"],
    );
    json!({
        "title": "Search the memory",
        "description": "Find what was asked, done and decided in earlier sessions, and learnings (stock) and progress notes, by \
            any words, in English or Japanese, whole questions too. A project's name and times such as \"last week\" narrow it. \
            Quote words that belong together.",
        "inputSchema": schema::object(json!({
            "query": schema::written("The words", 1_000),
            "kinds": schema::list(&kinds, "Only these kinds"),
            "project": {
                "type": ["integer", "string"],
                "description": "Id or name; default: all",
            },
            "topic_id": schema::id("Only this topic"),
            "session": text("Only this session"),
            "since": schema::since(),
            "until": schema::until(),
            "limit": schema::limit(USUAL, MOST),
        }), &["query"]),
        "outputSchema": schema::object(json!({
            "results": schema::list(&hit, "What was found"),
            "without": schema::list(&text("A word"), "Words of the query that no result has, if any"),
        }), &["results"]),
        "annotations": schema::reads(),
    })
}

#[derive(Deserialize)]
struct SearchArguments {
    query: String,
    #[serde(default)]
    kinds: Vec<HitKind>,
    project: Option<ProjectName>,
    topic_id: Option<i64>,
    session: Option<String>,
    since: Option<String>,
    until: Option<String>,
    limit: Option<usize>,
}

/// Why a decision no longer counts, or what contradicts it.
fn describe_end(standing: &Standing) -> Option<String> {
    let ids = || standing.conflicts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match (standing.status, standing.superseded_by) {
        (DecisionStatus::Retracted, _) => Some("was TAKEN BACK".to_owned()),
        (DecisionStatus::Superseded, Some(by)) => Some(format!("was REPLACED by decision {by}")),
        (DecisionStatus::Superseded, None) => Some("was REPLACED".to_owned()),
        (DecisionStatus::Stands, _) => {
            (!standing.conflicts.is_empty()).then(|| format!("in CONFLICT with {}", ids()))
        }
    }
}

fn call(given: Value, memory: Option<&mut Memory>) -> Done {
    let given: SearchArguments = parse_arguments(given)?;
    let Some(memory) = memory else { return Ok(rows::empty_page("results", "Nothing is remembered yet.")) };
    let project = given.project.as_ref().map(|name| memory.project(name)).transpose()?;
    if let Some(topic) = given.topic_id {
        memory.topic(topic)?;
    }
    let (since, until) = parse_times(given.since.as_deref(), given.until.as_deref(), memory.now())?;
    let query = Query {
        text: given.query,
        kinds: given.kinds,
        filter: Filter {
            project: project.map(|project| project.id),
            topic: given.topic_id,
            session: given.session,
            since,
            until,
            ..Filter::default()
        },
        limit: given.limit.unwrap_or(USUAL),
        local: Some(LocalClock::of_system(memory.now()).local_time()),
    };
    let (hits, without) = memory.search(&query)?;
    let mut lines: Vec<String> = hits
        .iter()
        .map(|Authored { hit, by, standing }| {
            let kind = serde_json::to_value(hit.kind).unwrap_or_default();
            let place =
                [&hit.project, &hit.topic].into_iter().flatten().cloned().collect::<Vec<_>>().join(": ");
            let day: String = hit.at.chars().take(10).collect();
            let kind = kind.as_str().unwrap_or_default();
            let by = by.as_ref().map(|by| format!("; {by}")).unwrap_or_default();
            let of = if hit.kind == HitKind::Log { "its decision " } else { "" };
            let end = standing
                .as_ref()
                .and_then(describe_end)
                .map(|end| format!("; {of}{end}"))
                .unwrap_or_default();
            format!(
                "{kind} {}  {day}  {}  ({place}{by}{end})\n    {}",
                hit.id,
                if hit.kind == HitKind::Decision {
                    rows::cut_decision(&hit.title)
                } else {
                    rows::cut_line(&hit.title)
                },
                hit.snippet
            )
        })
        .collect();
    if lines.is_empty() {
        lines.push("Nothing found. Try fewer or other words.".to_owned());
    }
    let mut structured = json!({ "results": hits });
    if !without.is_empty() {
        let words = without.join(", ");
        lines.push(if hits.is_empty() {
            format!("No text has: {words}.")
        } else {
            format!("Without: {words}. No result has this.")
        });
        structured["without"] = json!(without);
    }
    Ok(Content { texts: vec![lines.join("\n")], structured })
}

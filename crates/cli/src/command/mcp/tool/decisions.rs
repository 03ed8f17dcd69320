//! The tools about decisions.

use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_memory::view::{Decision, Filter};

use super::arguments::{Scope, Which};
use super::{Content, Does, Done, Tool, parse_arguments, rows, schema};
use crate::command::mcp::memory::Memory;

pub(super) const LIST: Tool =
    Tool { name: "list_decisions", definition: list_definition, does: Does::Looks(list_decisions) };
pub(super) const ADD: Tool =
    Tool { name: "add_decision", definition: add_definition, does: Does::Writes(add_decision) };
pub(super) const SUPERSEDE: Tool = Tool {
    name: "supersede_decision",
    definition: supersede_definition,
    does: Does::Writes(supersede_decision),
};

const TEXT_CHARS: usize = 4_000;

fn list_definition() -> Value {
    let mut members = Which::members();
    members.insert(
        "all".to_owned(),
        json!({ "type": "boolean", "default": false, "description": "Also superseded ones" }),
    );
    json!({
        "title": "Decisions",
        "description": "List decisions of a project that stand, newest first.",
        "inputSchema": schema::object(Value::Object(members), &[]),
        "outputSchema": rows::page_schema("decisions", &rows::decision_schema(), "The decisions"),
        "annotations": schema::reads(),
    })
}

#[derive(Deserialize)]
struct DecisionFilter {
    #[serde(flatten)]
    which: Which,
    #[serde(default)]
    all: bool,
}

fn list_decisions(given: Value, memory: Option<&mut Memory>) -> Done {
    let DecisionFilter { which, all } = parse_arguments(given)?;
    let nothing = "No decision fits.";
    let Some(memory) = memory else { return Ok(rows::empty_page("decisions", nothing)) };
    let filter = match which.scope(memory)? {
        Scope::NothingYet(why) => return Ok(rows::empty_page("decisions", &why)),
        Scope::Of(filter) => filter,
    };
    let decisions = memory.store().decisions(&Filter { all, ..filter }, &which.page())?;
    Ok(rows::page_content("decisions", &decisions, rows::decision_json, rows::decision_line, nothing))
}

fn one_schema() -> Value {
    schema::object(json!({ "decision": rows::decision_schema() }), &["decision"])
}

fn decision_content(decision: &Decision, text: String) -> Content {
    Content { texts: vec![text], structured: json!({ "decision": rows::decision_json(decision) }) }
}

fn add_definition() -> Value {
    json!({
        "title": "Record a decision",
        "description": "Record what was decided and why, so that later sessions find it.",
        "inputSchema": schema::object(json!({
            "topic_id": schema::id("From `add_topic`, `list_topics` or `get_startup_context`"),
            "text": schema::written("The decision, clear on its own", TEXT_CHARS),
            "reason": schema::written("Why, and over what", TEXT_CHARS),
        }), &["topic_id", "text"]),
        "outputSchema": one_schema(),
        "annotations": schema::writes(false),
    })
}

#[derive(Deserialize)]
struct NewDecision {
    topic_id: i64,
    text: String,
    reason: Option<String>,
}

fn add_decision(given: Value, memory: &mut Memory) -> Done {
    let NewDecision { topic_id, text, reason } = parse_arguments(given)?;
    let decision = memory.add_decision(topic_id, &text, reason.as_deref())?;
    let said =
        format!("Recorded decision {} under topic {topic_id} ({}).", decision.id, decision.in_topic.name);
    Ok(decision_content(&decision, said))
}

fn supersede_definition() -> Value {
    json!({
        "title": "Supersede a decision",
        "description": "Record a decision that replaces an earlier one of an agent; the earlier one is kept as superseded. Only the person replaces theirs.",
        "inputSchema": schema::object(json!({
            "decision_id": schema::id("The earlier one, from `list_decisions` or `search`"),
            "text": schema::written("The new decision", TEXT_CHARS),
            "reason": schema::written("Why", TEXT_CHARS),
        }), &["decision_id", "text"]),
        "outputSchema": one_schema(),
        "annotations": schema::writes(false),
    })
}

#[derive(Deserialize)]
struct Instead {
    decision_id: i64,
    text: String,
    reason: Option<String>,
}

fn supersede_decision(given: Value, memory: &mut Memory) -> Done {
    let Instead { decision_id, text, reason } = parse_arguments(given)?;
    let decision = memory.supersede(decision_id, &text, reason.as_deref())?;
    let said = format!(
        "Decision {} replaces decision {decision_id} under topic {} ({}).",
        decision.id, decision.in_topic.id, decision.in_topic.name
    );
    Ok(decision_content(&decision, said))
}

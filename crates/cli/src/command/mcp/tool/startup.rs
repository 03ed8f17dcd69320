//! The tool `get_startup_context`: the text that a session got at its start, to be read again.

use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_memory::act::{Startup, author_of_decision};
use tidegate_memory::view::Topic;

use super::{Content, Does, Done, Tool, parse_arguments, rows, schema};
use crate::command::mcp::memory::Memory;

pub(super) const TOOL: Tool = Tool { name: "get_startup_context", definition, does: Does::Looks(call) };

const MOST: usize = 50;

fn definition() -> Value {
    let decision = schema::object(
        json!({
            "id": schema::id("Its id, for `decision_id`"),
            "title": schema::text("Its first line"),
            "topic": rows::topic_ref_schema(),
            "by": schema::text("Who recorded it"),
        }),
        &["id", "title", "topic", "by"],
    );
    let topic = schema::object(
        json!({
            "id": schema::id("Its id, for `set_topic`"),
            "title": schema::text("What it is about"),
            "project": rows::project_ref_schema(),
        }),
        &["id", "title", "project"],
    );
    json!({
        "title": "Startup context",
        "description": "List open topics without a decision, of all projects, and this project's decisions and last topics.",
        "inputSchema": schema::object(json!({
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MOST,
                "description": "At most this many topics",
            },
        }), &[]),
        "outputSchema": schema::object(json!({
            "project": rows::project_ref_schema(),
            "undecided": schema::list(&topic, "Open topics without a decision"),
            "decisions": schema::list(&decision, "Decisions that stand, of this project"),
            "recent": schema::list(&topic, "This project's topics, last active first"),
        }), &["undecided", "decisions", "recent"]),
        "annotations": schema::reads(),
    })
}

#[derive(Deserialize)]
struct StartupArguments {
    limit: Option<usize>,
}

fn call(given: Value, memory: Option<&mut Memory>) -> Done {
    let StartupArguments { limit } = parse_arguments(given)?;
    let Some(memory) = memory else {
        let structured = json!({ "undecided": [], "decisions": [], "recent": [] });
        return Ok(Content { texts: vec!["Nothing is remembered yet.".to_owned()], structured });
    };
    let Startup { own, undecided, decisions, recent } = memory.startup(limit)?;
    let head =
        if undecided.is_empty() { "No open topic is undecided." } else { "Open topics without a decision:" };
    let mut lines = vec![head.to_owned()];
    lines.extend(undecided.iter().map(rows::topic_line));
    if !decisions.is_empty() {
        lines.push("Decisions of this project's open topics:".to_owned());
        lines.extend(decisions.iter().map(rows::decision_line));
    }
    if !recent.is_empty() {
        lines.push("Last topics of this project:".to_owned());
        lines.extend(recent.iter().map(rows::topic_line));
    }
    let named = |topic: &Topic| json!({ "id": topic.id, "title": topic.row.title, "project": rows::project_ref(&topic.in_project) });
    let undecided = undecided.iter().map(named).collect::<Vec<_>>();
    let recent = recent.iter().map(named).collect::<Vec<_>>();
    let decisions = decisions.iter().map(|decision| {
        let title = rows::cut_decision(decision.row.text.lines().next().unwrap_or_default());
        let by = author_of_decision(decision);
        json!({ "id": decision.id, "title": title, "topic": rows::topic_ref(&decision.in_topic), "by": by })
    });
    let decisions = decisions.collect::<Vec<_>>();
    let mut structured = json!({ "undecided": undecided, "decisions": decisions, "recent": recent });
    if let Some(own) = own {
        structured["project"] = json!({ "id": own.id, "name": own.row.name });
    }
    Ok(Content { texts: vec![lines.join("\n")], structured })
}

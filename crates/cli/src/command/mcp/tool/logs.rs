//! The tools about logs.

use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_memory::view::Paged;

use super::arguments::{Scope, Which};
use super::{Content, Does, Done, Tool, parse_arguments, rows, schema};
use crate::command::mcp::memory::Memory;

pub(super) const GET: Tool =
    Tool { name: "get_logs", definition: get_definition, does: Does::Looks(get_logs) };
pub(super) const ADD: Tool =
    Tool { name: "add_log", definition: add_definition, does: Does::Writes(add_log) };

/// For a log written by hand.
const TEXT_CHARS: usize = 20_000;

fn get_definition() -> Value {
    let mut members = Which::members();
    members.insert("log_id".to_owned(), schema::text("One log, whole; the beginning of its id is enough"));
    json!({
        "title": "Logs",
        "description": "Read what was said and done, newest first, shortened; with `log_id` one log, whole.",
        "inputSchema": schema::object(Value::Object(members), &[]),
        "outputSchema": rows::page_schema("logs", &rows::log_schema(), "The logs"),
        "annotations": schema::reads(),
    })
}

#[derive(Deserialize)]
struct Wanted {
    #[serde(flatten)]
    which: Which,
    log_id: Option<String>,
}

fn get_logs(given: Value, memory: Option<&mut Memory>) -> Done {
    let Wanted { which, log_id } = parse_arguments(given)?;
    let nothing = "No log fits.";
    let Some(memory) = memory else { return Ok(rows::empty_page("logs", nothing)) };
    if let Some(id) = log_id {
        let one = Paged { rows: vec![memory.log(&id)?], next: None };
        return Ok(rows::page_content(
            "logs",
            &one,
            |row| rows::log_json(row, true),
            rows::log_text,
            nothing,
        ));
    }
    let filter = match which.scope(memory)? {
        Scope::NothingYet(why) => return Ok(rows::empty_page("logs", &why)),
        Scope::Of(filter) => filter,
    };
    let logs = memory.store().logs(&filter, &which.page())?;
    Ok(rows::page_content("logs", &logs, |row| rows::log_json(row, false), rows::log_line, nothing))
}

fn add_definition() -> Value {
    json!({
        "title": "Write a log",
        "description": "Write down a result or finding under a topic. Conversations are recorded without it.",
        "inputSchema": schema::object(json!({
            "topic_id": schema::id("Its topic"),
            "text": schema::written("What to remember", TEXT_CHARS),
            "title": schema::written("Default: the first line", 200),
        }), &["topic_id", "text"]),
        "outputSchema": schema::object(json!({ "log": rows::log_schema() }), &["log"]),
        "annotations": schema::writes(false),
    })
}

#[derive(Deserialize)]
struct NewLog {
    topic_id: i64,
    text: String,
    title: Option<String>,
}

fn add_log(given: Value, memory: &mut Memory) -> Done {
    let NewLog { topic_id, text, title } = parse_arguments(given)?;
    let log = memory.add_log(topic_id, title.as_deref(), &text)?;
    let said = format!("Wrote a log under topic {topic_id} ({}): {}", log.in_topic.name, log.row.title);
    Ok(Content { texts: vec![said], structured: json!({ "log": rows::log_json(&log, false) }) })
}

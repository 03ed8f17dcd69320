//! The tools about topics: list, begin, choose for a session, close.

use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_memory::act::AddedTopic;
use tidegate_memory::record::TopicStatus;
use tidegate_memory::view::{Filter, Topic};

use super::arguments::{Scope, Which};
use super::{Content, Does, Done, Tool, parse_arguments, rows, schema};
use crate::command::mcp::memory::{Memory, ProjectName};
use crate::error::CliError;

pub(super) const LIST: Tool =
    Tool { name: "list_topics", definition: list_definition, does: Does::Looks(list_topics) };
pub(super) const ADD: Tool =
    Tool { name: "add_topic", definition: add_definition, does: Does::Writes(add_topic) };
pub(super) const SET: Tool =
    Tool { name: "set_topic", definition: set_definition, does: Does::Writes(set_topic) };
pub(super) const CLOSE: Tool =
    Tool { name: "close_topic", definition: close_definition, does: Does::Writes(close_topic) };

const TITLE_CHARS: usize = 200;

fn list_definition() -> Value {
    let mut members = Which::members();
    members.shift_remove("topic_id");
    members.shift_remove("session");
    members.insert(
        "status".to_owned(),
        json!({
            "type": "string", "enum": ["open", "closed", "any"], "default": "open",
        }),
    );
    members.insert(
        "automatic".to_owned(),
        json!({
            "type": "boolean", "default": false,
            "description": "Also topics made for a session that named none",
        }),
    );
    json!({
        "title": "Topics",
        "description": "List topics of a project, the last active one first.",
        "inputSchema": schema::object(Value::Object(members), &[]),
        "outputSchema": rows::page_schema("topics", &rows::topic_schema(), "The topics"),
        "annotations": schema::reads(),
    })
}

#[derive(Deserialize)]
struct TopicFilter {
    #[serde(flatten)]
    which: Which,
    status: Option<String>,
    #[serde(default)]
    automatic: bool,
}

fn list_topics(given: Value, memory: Option<&mut Memory>) -> Done {
    let TopicFilter { which, status, automatic } = parse_arguments(given)?;
    let nothing = "No topic fits.";
    let Some(memory) = memory else { return Ok(rows::empty_page("topics", nothing)) };
    let filter = match which.scope(memory)? {
        Scope::NothingYet(why) => return Ok(rows::empty_page("topics", &why)),
        Scope::Of(filter) => filter,
    };
    let open = match status.as_deref() {
        Some("any") => None,
        Some("closed") => Some(false),
        _ => Some(true),
    };
    let topics = memory.store().topics(&Filter { open, all: automatic, ..filter }, &which.page())?;
    Ok(rows::page_content("topics", &topics, rows::topic_json, rows::topic_line, nothing))
}

/// A hook reads this result, too, and binds the topic to the session of the call.
fn choice_content(topic: &Topic, set: bool, text: String) -> Content {
    let structured = json!({
        "topic": { "id": topic.id, "title": topic.row.title },
        "project": rows::project_ref(&topic.in_project),
        "set": set,
    });
    Content { texts: vec![text, structured.to_string()], structured }
}

fn chosen_schema() -> Value {
    schema::object(
        json!({
            "topic": rows::topic_ref_schema(),
            "project": rows::project_ref_schema(),
            "set": schema::flag("This session belongs to it from now on"),
        }),
        &["topic", "project", "set"],
    )
}

fn add_definition() -> Value {
    json!({
        "title": "Begin a topic",
        "description": "Begin a topic: a subject of work until it is decided or done. This session belongs to it from now on, \
            unless `set` is false.",
        "inputSchema": schema::object(json!({
            "title": schema::written("One line", TITLE_CHARS),
            "project": {
                "type": ["integer", "string"],
                "description": "Id or name, within this folder's; default: that of the parent or folder",
            },
            "new_project": schema::written(
                "Name of a project to begin, in a repository with several",
                TITLE_CHARS,
            ),
            "parent_id": schema::id("The topic that contains it"),
            "set": { "type": "boolean", "default": true },
        }), &["title"]),
        "outputSchema": chosen_schema(),
        "annotations": schema::writes(false),
    })
}

#[derive(Deserialize)]
struct NewTopic {
    title: String,
    project: Option<ProjectName>,
    new_project: Option<String>,
    parent_id: Option<i64>,
    #[serde(default = "default_true")]
    set: bool,
}

fn default_true() -> bool {
    true
}

fn add_topic(given: Value, memory: &mut Memory) -> Done {
    let NewTopic { title, project, new_project, parent_id, set } = parse_arguments(given)?;
    let project = match (&project, &new_project) {
        (Some(_), Some(_)) => {
            return Err(CliError::new("`project` and `new_project` cannot be used together")
                .hint("give `project` for an existing project, or `new_project` to begin one"));
        }
        (Some(named), None) => Some(memory.project(named)?.id),
        (None, Some(name)) => Some(memory.make_project(name)?.id),
        (None, None) => None,
    };
    let AddedTopic { topic, is_new } = memory.add_topic(&title, project, parent_id)?;
    let now = if set { " This session belongs to it from now on." } else { "" };
    let (id, name) = (topic.id, &topic.in_project.name);
    let text = if is_new {
        format!("Began topic {id} in project {name}.{now}")
    } else {
        format!("Topic {id} in project {name} has this title and is open already.{now}")
    };
    Ok(choice_content(&topic, set, text))
}

fn set_definition() -> Value {
    json!({
        "title": "Set the topic of this session",
        "description": "Record this session under a topic from now on. Opens a closed topic again.",
        "inputSchema": schema::object(json!({
            "topic_id": schema::id("From `list_topics` or `get_startup_context`"),
        }), &["topic_id"]),
        "outputSchema": chosen_schema(),
        "annotations": schema::writes(true),
    })
}

#[derive(Deserialize)]
struct OfTopic {
    topic_id: i64,
}

fn set_topic(given: Value, memory: &mut Memory) -> Done {
    let OfTopic { topic_id } = parse_arguments(given)?;
    let mut topic = memory.own_topic(topic_id)?;
    let mut opened = "";
    if topic.row.status == TopicStatus::Closed {
        topic = memory.set_status(topic_id, TopicStatus::Open)?;
        opened = " It was closed and is open again.";
    }
    let text = format!(
        "This session now belongs to topic {} of project {}: {}.{opened}",
        topic.id, topic.in_project.name, topic.row.title
    );
    Ok(choice_content(&topic, true, text))
}

fn close_definition() -> Value {
    json!({
        "title": "Close a topic",
        "description": "Close a topic. Its logs and decisions stay; `set_topic` opens it again.",
        "inputSchema": schema::object(json!({ "topic_id": schema::id("Its id") }), &["topic_id"]),
        "outputSchema": schema::object(json!({ "topic": rows::topic_schema() }), &["topic"]),
        "annotations": schema::writes(true),
    })
}

fn close_topic(given: Value, memory: &mut Memory) -> Done {
    let OfTopic { topic_id } = parse_arguments(given)?;
    let topic = memory.own_topic(topic_id)?;
    let text = match topic.row.status {
        TopicStatus::Closed => format!("Topic {topic_id} was already closed."),
        TopicStatus::Open if topic.decisions == 0 => {
            format!("Closed topic {topic_id}. It has no decision; `add_decision` can still record one.")
        }
        TopicStatus::Open => format!("Closed topic {topic_id}."),
    };
    let topic = memory.set_status(topic_id, TopicStatus::Closed)?;
    Ok(Content { texts: vec![text], structured: json!({ "topic": rows::topic_json(&topic) }) })
}

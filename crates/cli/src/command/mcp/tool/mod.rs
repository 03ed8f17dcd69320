//! The tools: their list, their arguments and their results.
//!
//! A tool is a definition and a function. Its schema is written by hand and is also the check of its
//! arguments ([`schema`]), so the listed rules are the real ones. A failure is a result and not a protocol
//! error: the model sees it.

mod arguments;
mod context_status;
mod decisions;
mod logs;
mod projects;
mod rows;
mod schema;
mod search;
mod startup;
mod timeline;
mod topics;
mod unpromoted;

use rmcp::model::ErrorData;
use serde_json::{Map, Value, json};

use super::memory::Memory;
use crate::error::CliError;

pub(super) struct Tool {
    pub(super) name: &'static str,
    /// Its entry in the list, without the name.
    definition: fn() -> Value,
    does: Does,
}

/// Receives arguments that fit the schema.
enum Does {
    /// Without the memory.
    Plain(fn(Value) -> Done),
    /// Reads the memory, if there is one.
    Looks(fn(Value, Option<&mut Memory>) -> Done),
    Writes(fn(Value, &mut Memory) -> Done),
}

type Done = Result<Content, CliError>;

/// A result, for a reader and for a program.
///
/// Claude Code 2.1.325 shows the model only the structured part of a result that has one, so everything is there.
pub(super) struct Content {
    pub(super) texts: Vec<String>,
    pub(super) structured: Value,
}

/// In the order of the list.
pub(super) const TOOLS: &[Tool] = &[
    startup::TOOL,
    search::TOOL,
    timeline::TOOL,
    projects::LIST,
    topics::LIST,
    topics::ADD,
    topics::SET,
    topics::CLOSE,
    logs::GET,
    logs::ADD,
    decisions::LIST,
    decisions::ADD,
    decisions::SUPERSEDE,
    context_status::TOOL,
    unpromoted::TOOL,
];

impl Tool {
    /// Refuses arguments that do not fit the schema.
    pub(super) fn run(&self, arguments: Map<String, Value>) -> Done {
        let definition = (self.definition)();
        // Some clients send omitted arguments as null.
        let given = arguments.into_iter().filter(|(_, value)| !value.is_null()).collect();
        schema::check(self.name, &definition["inputSchema"], &given)?;
        let given = Value::Object(given);
        let (mut content, note) = match self.does {
            Does::Plain(call) => (call(given)?, None),
            Does::Looks(call) => {
                let mut memory = Memory::open_if_there()?;
                (call(given, memory.as_mut())?, memory.and_then(|memory| memory.note()))
            }
            Does::Writes(call) => {
                let mut memory = Memory::to_write()?;
                (call(given, &mut memory)?, memory.note())
            }
        };
        if let Some(note) = note {
            content.structured["note"] = json!(note);
            content.texts.insert(0, note);
        }
        Ok(content)
    }
}

/// With everything that the results hold.
pub(crate) fn define_tools() -> Vec<Value> {
    let defined = TOOLS.iter().map(|tool| {
        let mut definition = json!({ "name": tool.name });
        if let (Value::Object(definition), Value::Object(more)) = (&mut definition, (tool.definition)()) {
            definition.extend(more);
        }
        if !matches!(tool.does, Does::Plain(_)) {
            definition["outputSchema"]["properties"]["note"] =
                schema::text("A fact about the memory itself, such as that it was damaged");
        }
        definition
    });
    defined.collect()
}

/// As the SDK wants them. Results are listed in outline: the list is in the context of every session, and no client shows
/// the model more.
pub(super) fn list_tools() -> Result<Vec<rmcp::model::Tool>, ErrorData> {
    let listed = define_tools().into_iter().map(|mut definition| {
        definition["outputSchema"] = schema::outline(&definition["outputSchema"]);
        serde_json::from_value(definition).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    });
    listed.collect()
}

fn parse_arguments<T: serde::de::DeserializeOwned>(given: Value) -> Result<T, CliError> {
    serde_json::from_value(given).map_err(|error| CliError::new(format!("the arguments do not fit: {error}")))
}

//! The Model Context Protocol as far as a server with a few tools needs it: JSON-RPC in, JSON-RPC out.

use serde_json::{Map, Value, json};

use super::context_status;
use crate::error::CliError;

/// The revisions we speak, newest first. They differ in nothing that we use.
const REVISIONS: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

const NOT_JSON: i64 = -32700;
const NOT_A_REQUEST: i64 = -32600;
const UNKNOWN_METHOD: i64 = -32601;
const WRONG_PARAMS: i64 = -32602;

/// A tool: how it is listed, and what it does.
struct Tool {
    name: &'static str,
    definition: fn() -> Value,
    call: fn(&Map<String, Value>) -> Result<Content, CliError>,
}

/// What a tool gives back: the same for a reader and for a program.
pub(super) struct Content {
    pub(super) text: String,
    pub(super) structured: Value,
}

const TOOLS: &[Tool] = &[Tool {
    name: context_status::NAME,
    definition: context_status::definition,
    call: context_status::call,
}];

/// An error of the protocol: the sender's fault, not the model's.
struct Refusal {
    code: i64,
    message: String,
}

fn refuse(code: i64, message: impl Into<String>) -> Refusal {
    Refusal { code, message: message.into() }
}

/// The answer to one line, unless it is one that gets none.
pub(super) fn answer(line: &[u8]) -> Option<Value> {
    let message = match serde_json::from_slice(line) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => {
            return Some(refused(&Value::Null, &refuse(NOT_A_REQUEST, "batches are not supported")));
        }
        Ok(_) => return Some(refused(&Value::Null, &refuse(NOT_A_REQUEST, "a message is an object"))),
        Err(error) => return Some(refused(&Value::Null, &refuse(NOT_JSON, format!("broken JSON: {error}")))),
    };
    let id = message.get("id");
    let method = message.get("method");
    if method.is_none() && (message.contains_key("result") || message.contains_key("error")) {
        // We ask nothing, so there is nothing that this could be the answer to.
        return None;
    }
    let usable = id.filter(|id| id.is_string() || id.is_i64() || id.is_u64());
    let name = match (method, id) {
        _ if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") => {
            Err(refuse(NOT_A_REQUEST, "`jsonrpc` is not \"2.0\""))
        }
        (Some(Value::String(name)), _) if id.is_some() == usable.is_some() => Ok(name),
        (Some(Value::String(_)), _) => Err(refuse(NOT_A_REQUEST, "`id` is neither a string nor an integer")),
        _ => Err(refuse(NOT_A_REQUEST, "`method` is missing or not a string")),
    };
    let answered = match (name, usable) {
        // A notification; those that we know ask for nothing, and none is ever answered.
        (Ok(_), None) => return None,
        (Ok(name), Some(_)) => object(&message, "params").and_then(|params| dispatch(name, &params)),
        (Err(refusal), _) => Err(refusal),
    };
    let id = usable.unwrap_or(&Value::Null);
    Some(match answered {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(refusal) => refused(id, &refusal),
    })
}

/// The answer to a line that nobody has read to its end.
pub(super) fn too_long(limit: u64) -> Value {
    refused(&Value::Null, &refuse(NOT_A_REQUEST, format!("a message is at most {limit} bytes long")))
}

fn refused(id: &Value, Refusal { code, message }: &Refusal) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// A name of somebody else's, as far as it is worth repeating.
fn short(name: &str) -> String {
    name.chars().take(80).collect()
}

/// An object that may be missing.
fn object(from: &Map<String, Value>, name: &str) -> Result<Map<String, Value>, Refusal> {
    match from.get(name) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members.clone()),
        Some(_) => Err(refuse(WRONG_PARAMS, format!("`{name}` is not an object"))),
    }
}

fn dispatch(method: &str, params: &Map<String, Value>) -> Result<Value, Refusal> {
    match method {
        "initialize" => initialize(params),
        "ping" => Ok(json!({})),
        "tools/list" => list(params),
        "tools/call" => call(params),
        // `server/discover` among them: the client asks for it first, and then for `initialize`.
        _ => Err(refuse(UNKNOWN_METHOD, format!("no method `{}`", short(method)))),
    }
}

fn initialize(params: &Map<String, Value>) -> Result<Value, Refusal> {
    let Some(Value::String(asked)) = params.get("protocolVersion") else {
        return Err(refuse(WRONG_PARAMS, "`protocolVersion` is missing or not a string"));
    };
    // One that we do not speak is answered with the newest that we do; the client decides whether to go on.
    let spoken = REVISIONS.into_iter().find(|revision| revision == asked).unwrap_or(REVISIONS[0]);
    Ok(json!({
        "protocolVersion": spoken,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "tidegate", "title": "Tidegate", "version": env!("CARGO_PKG_VERSION") },
    }))
}

fn list(params: &Map<String, Value>) -> Result<Value, Refusal> {
    match params.get("cursor") {
        None | Some(Value::Null) => {
            let tools: Vec<Value> = TOOLS.iter().map(|tool| (tool.definition)()).collect();
            Ok(json!({ "tools": tools }))
        }
        Some(_) => Err(refuse(WRONG_PARAMS, "there is one page of tools, without a cursor")),
    }
}

fn call(params: &Map<String, Value>) -> Result<Value, Refusal> {
    let Some(Value::String(name)) = params.get("name") else {
        return Err(refuse(WRONG_PARAMS, "`name` is missing or not a string"));
    };
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        return Err(refuse(
            WRONG_PARAMS,
            format!("no tool `{}`; there is {}", short(name), known.join(", ")),
        ));
    };
    let arguments = object(params, "arguments")?;
    // What the tool cannot do is a result, which the model sees; a refusal only the client would see.
    Ok(match (tool.call)(&arguments) {
        Ok(Content { text, structured }) => {
            json!({ "content": [{ "type": "text", "text": text }], "structuredContent": structured })
        }
        Err(error) => json!({ "content": [{ "type": "text", "text": error.text() }], "isError": true }),
    })
}

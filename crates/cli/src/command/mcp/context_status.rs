//! The tool `get_context_status`: the meter of a session, for the model in it.

use serde::Serialize;
use serde_json::{Map, Value, json};
use tidegate_core::meter::short_tokens;
use tidegate_core::record::MeterRecord;

use super::protocol::Content;
use super::session;
use crate::error::CliError;
use crate::sessions::Here;

pub(super) const NAME: &str = "get_context_status";

/// As it is listed.
pub(super) fn definition() -> Value {
    let tokens = |description: &str| json!({ "type": "integer", "minimum": 0, "description": description });
    let percent = |description: &str| json!({ "type": "number", "minimum": 0, "description": description });
    let text = |description: &str| json!({ "type": "string", "description": description });
    json!({
        "name": NAME,
        "title": "Context status",
        "description": "How full the context of this session is: tokens in use, the window, what is left before the \
            client compacts, the turns that may be left, how fresh the numbers are, and which of Tidegate's policies \
            are switched off. A member that is not known is absent.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "session": text("The id of another session; without it, the session of this client"),
            },
            "additionalProperties": false,
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "summary": text("The same in sentences"),
                "session": text("The session's id"),
                "project": text("Its project"),
                "used": tokens("Tokens in use at the last request"),
                "window": tokens("The model's window"),
                "compact_at": tokens("Where the client compacts by itself; absent if it does not"),
                "used_pct": percent("Per cent of the window in use"),
                "remaining_pct": percent("Per cent of the window not in use"),
                "left": tokens("Tokens left before the client compacts, or before the window is full"),
                "level": tokens("The highest level reached, such as 60 or 75; 0 below all"),
                "turns_left": tokens("Turns left at this session's pace"),
                "turns_range": {
                    "type": "array",
                    "items": { "type": "integer", "minimum": 0 },
                    "description": "Fewest and most turns left",
                },
                "source": text("Where the numbers come from"),
                "freshness": { "type": "string", "enum": ["current", "stale_by_one", "unknown"] },
                "age_s": tokens("How many seconds ago the numbers changed"),
                "unknown": text("Why the use is not known"),
                "pressure_said": { "type": "string", "enum": ["none", "info", "urgent"] },
                "switched_off": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["summary", "session", "freshness", "pressure_said", "switched_off"],
        },
        "annotations": { "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false },
    })
}

#[derive(Serialize)]
struct Status {
    /// Claude Code 2.1.325 shows the model only the structured part of a result that has one.
    summary: String,
    session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(flatten)]
    meter: MeterRecord,
    /// The highest pressure level that was said since use last fell.
    pressure_said: &'static str,
    switched_off: Vec<String>,
}

/// One reading. Everything is read anew: the server may live as long as the client.
pub(super) fn call(arguments: &Map<String, Value>) -> Result<Content, CliError> {
    let named = named(arguments)?;
    let here = Here::find()?;
    let (session, newest) = session::find(&here, named)?;
    let (meter, forecast) = here.meter(Some(&session), None);
    let mut status = Status {
        summary: String::new(),
        session: session.id.to_string(),
        project: session.marks.root.clone(),
        meter: MeterRecord::of(&meter, forecast, here.now),
        pressure_said: session.marks.pressure.level.name(),
        switched_off: newest.map(|record| record.off).unwrap_or_default(),
    };
    status.summary = in_sentences(&status);
    let structured = serde_json::to_value(&status).map_err(CliError::new)?;
    Ok(Content { text: status.summary, structured })
}

fn named(arguments: &Map<String, Value>) -> Result<Option<&str>, CliError> {
    if let Some(unknown) = arguments.keys().find(|name| *name != "session") {
        return Err(CliError::new(format!("no argument `{unknown}`")).hint("`session` is the only one"));
    }
    match arguments.get("session") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id)),
        Some(_) => Err(CliError::new("`session` is not a string").hint("leave it out for this session")),
    }
}

fn in_sentences(status: &Status) -> String {
    let meter = &status.meter;
    let mut parts = Vec::new();
    match (meter.used, meter.window, meter.left) {
        (None, ..) => {
            let why = meter.unknown.as_deref().unwrap_or("no reason recorded");
            parts.push(format!("Context use is not known: {why}."));
        }
        (Some(used), Some(window), Some(left)) => {
            let percent = meter.used_pct.unwrap_or_default().round();
            parts.push(format!("{percent}% of {} tokens are in use ({used}).", short_tokens(window)));
            let end = match meter.compact_at {
                Some(at) => format!("the client compacts at {at}"),
                None => "the window is full; the client does not compact before that".to_owned(),
            };
            parts.push(format!("{} tokens are left before {end}.", short_tokens(left)));
        }
        (Some(used), ..) => parts.push(format!("{used} tokens are in use; the window is not known.")),
    }
    if let (Some(turns), Some((fewest, most))) = (meter.turns_left, meter.turns_range) {
        parts.push(format!("That is about {turns} turns at this session's pace ({fewest} to {most})."));
    }
    if let (Some(source), Some(age)) = (&meter.source, meter.age_s) {
        let behind = if meter.freshness == "current" { "" } else { ", perhaps one request behind" };
        parts.push(format!("The numbers come from the {source} and are {age} s old{behind}."));
    }
    if !status.switched_off.is_empty() {
        parts.push(format!("Switched off in this session: {}.", status.switched_off.join(", ")));
    }
    parts.join(" ")
}

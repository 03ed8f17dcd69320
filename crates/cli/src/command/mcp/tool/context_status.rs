//! The tool `get_context_status`: the meter of a session, for the model in it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tidegate_core::host::Host;
use tidegate_core::meter::short_tokens;
use tidegate_core::pipeline::record::MeterRecord;

use super::{Content, Does, Done, Tool, parse_arguments, schema};
use crate::bilingual::count_en;
use crate::command::mcp::session;
use crate::command::status::{Cycle, InWorkflow, Unverified, list_switches};
use crate::error::CliError;
use crate::sessions::Here;

pub(super) const TOOL: Tool = Tool { name: "get_context_status", definition, does: Does::Plain(call) };

fn definition() -> Value {
    use schema::{count, text};
    let percent = |description: &str| json!({ "type": "number", "minimum": 0, "description": description });
    json!({
        "title": "Context status",
        "description": "Show how full this session's context is, what is left before compaction, what Tidegate waits for, the \
            current stage or checkpoint, and which checks are switched off. Unknown members are absent.",
        "inputSchema": schema::object(json!({
            "session": text("Id; default: this one"),
        }), &[]),
        "outputSchema": schema::object(json!({
            "summary": text("The same in sentences"),
            "session": text("The session's id"),
            "project": text("Its project"),
            "used": count("Tokens in use at the last request"),
            "window": count("The model's window"),
            "compact_at": count("Where the agent compacts by itself; absent if it does not"),
            "used_pct": percent("Percentage of the window in use"),
            "remaining_pct": percent("Percentage of the window not in use"),
            "left": count("Tokens left before compaction, or before the window is full"),
            "level": count("Highest warning level reached, such as 60 or 75; 0 below all"),
            "turns_left": count("Turns left at this session's pace"),
            "turns_range": schema::list(&json!({ "type": "integer", "minimum": 0 }), "Fewest and most turns left"),
            "source": text("Where the numbers come from"),
            "freshness": { "type": "string", "enum": ["current", "stale_by_one", "unknown"] },
            "age_s": count("How many seconds ago the numbers changed"),
            "unknown": text("Why the use is not known"),
            "pressure_said": { "type": "string", "enum": ["none", "info", "urgent"] },
            "armed": text("Reason that blocks the end of the turn, and the check that satisfies it"),
            "stage": text("Stage of this project's cycle"),
            "gate": text("Phase of this session's workflow, and the checkpoint that blocks agents"),
            "switched_off": schema::list(&json!({ "type": "string" }), "Policies that are switched off here"),
        }), &["summary", "session", "freshness", "pressure_said", "switched_off"]),
        "annotations": schema::reads(),
    })
}

#[derive(Deserialize)]
struct StatusArguments {
    session: Option<String>,
}

#[derive(Serialize)]
struct Status {
    summary: String,
    session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(flatten)]
    meter: MeterRecord,
    /// The highest pressure level that was said since use last fell.
    pressure_said: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    armed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<String>,
    switched_off: Vec<String>,
}

/// Everything is read again: the server may live as long as the client.
fn call(given: Value) -> Done {
    let StatusArguments { session } = parse_arguments(given)?;
    let here = Here::find()?;
    let (session, newest) = session::find_session(&here, session.as_deref())?;
    let (meter, forecast) = here.meter(Some(&session), None);
    let (switched_off, _) = list_switches(&here, &session, newest.as_slice());
    let held = !switched_off.iter().any(|policy| policy == "verify-stop");
    let mut status = Status {
        summary: String::new(),
        session: session.id.to_string(),
        project: session.marks.session.root.clone(),
        meter: MeterRecord::from_meter(&meter, forecast, here.now),
        pressure_said: session.marks.pressure.said.level.name(),
        armed: held
            .then(|| Unverified::of(&here, &session))
            .flatten()
            .map(|armed| armed.lines().map(|line| line.en).join("; ")),
        stage: Cycle::of(&here, &session).map(|cycle| cycle.line().en),
        gate: InWorkflow::of(&here, &session).map(|workflow| workflow.line().en),
        switched_off,
    };
    status.summary = in_sentences(&status, Host::title(session.id.host().name()));
    let structured = serde_json::to_value(&status).map_err(CliError::new)?;
    Ok(Content { texts: vec![status.summary], structured })
}

fn in_sentences(status: &Status, host: &str) -> String {
    let meter = &status.meter;
    let mut parts = Vec::new();
    match (meter.used, meter.window, meter.left) {
        (None, ..) => {
            let why = meter.unknown.as_deref().unwrap_or("no reason recorded");
            parts.push(format!("Context use is not known: {why}."));
        }
        (Some(used), Some(window), Some(left)) => {
            let percent = meter.used_pct.unwrap_or_default().round();
            parts.push(format!("{percent}% of {} tokens are in use ({used} tokens).", short_tokens(window)));
            let end = match meter.compact_at {
                Some(at) => format!("{host} compacts at {at}"),
                None => format!("the window is full; {host} does not compact before that"),
            };
            parts.push(format!("{} tokens are left before {end}.", short_tokens(left)));
        }
        (Some(used), ..) => parts.push(format!("{used} tokens are in use; the window is not known.")),
    }
    if let Some(turns) = meter.shown_turns() {
        parts.push(format!("That is about {}.", count_en(turns as usize, "turn")));
    }
    if let (Some(source), Some(age)) = (&meter.source, meter.age_s) {
        let behind = if meter.freshness == "current" { "" } else { ", perhaps one request behind" };
        parts.push(format!("The numbers come from the {source} and are {age} s old{behind}."));
    }
    let under_way =
        [("Waiting for a check", &status.armed), ("Cycle", &status.stage), ("Workflow", &status.gate)];
    for (what, line) in under_way {
        parts.extend(line.as_ref().map(|line| format!("{what}: {line}.")));
    }
    if !status.switched_off.is_empty() {
        parts.push(format!("Policies switched off in this session: {}.", status.switched_off.join(", ")));
    }
    parts.join(" ")
}

//! The tables of policies, `<id>.md` in the folder of each, and the columns that mean the same in all of them.

mod activity;
mod approval;
pub(crate) mod cycle;
mod friction;
pub(crate) mod knowledge;
pub(crate) mod memory;
mod own_settings;
mod pressure;
mod skill_gate;
mod verification;
pub(crate) mod workflow;
mod worktree;

use std::path::Path;

use serde_json::json;
use tidegate_core::feature::POLICIES;
use tidegate_core::feature::marks::SessionMark;
use tidegate_core::feature::session::marks::Note;
use tidegate_core::feature::verdict::Audience;
use tidegate_core::host::person::{CallingClient, Person};

use crate::situation::{Decided, Situation};
use crate::vocabulary::{Expected, Given, Report, Vocabulary};

/// How the tables of a policy are read.
pub(crate) struct Room {
    pub policy: &'static str,
    /// What holds in a row that says nothing else.
    pub begin: fn(&mut Situation),
    /// Puts together what the cells of a row gave.
    pub finish: fn(&mut Situation),
    /// Holds in every row.
    pub law: fn(&Decided),
    given: &'static [Given<Situation>],
    expected: &'static [Expected<Situation>],
}

static ROOMS: [&Room; 16] = [
    &activity::PHASE,
    &approval::APPROVAL,
    &cycle::CYCLE,
    &friction::FRICTION,
    &knowledge::COMPACTION,
    &knowledge::COMPOUND_NUDGE,
    &memory::META_TAG,
    &memory::RELAY_LOG,
    &memory::TOPIC_DECISION,
    &own_settings::OWN_SETTINGS,
    &pressure::PRESSURE,
    &skill_gate::SKILL_GATE,
    &verification::TASK_GATE,
    &verification::VERIFY_STOP,
    &workflow::WORKFLOW_GATE,
    &worktree::WORKTREE,
];

pub(crate) fn run(report: &mut Report) -> Vec<String> {
    let files = crate::markdown_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/feature")));
    let run = |policy: &str| {
        let room = ROOMS.into_iter().find(|room| room.policy == policy);
        let room = room.unwrap_or_else(|| panic!("no columns for {policy}"));
        let name = format!("{}.md", policy.replace('-', "_"));
        let path = files.iter().find(|path| path.ends_with(&name)).unwrap_or_else(|| panic!("no {name}"));
        let text = std::fs::read_to_string(path).expect("a text");
        let own = Vocabulary { name: room.policy, given: room.given, expected: room.expected };
        report.run(&name, &text, &[&SHARED, &own], || Situation::new(room));
        name
    };
    POLICIES.iter().map(|policy| policy.id()).map(run).collect()
}

static SHARED: Vocabulary<Situation> = Vocabulary {
    name: "every policy",
    given: &[
        ("preset", |case, cell| {
            let preset = circumstances(case, cell);
            case.set("", "preset", preset);
        }),
        ("event", event),
        ("attended", attended),
        ("used", |case, cell| case.meter.used = number(cell)),
        ("window", |case, cell| case.meter.window = number(cell)),
        ("compacts", |case, cell| case.meter.compacts = number(cell)),
        ("invoked", skills),
    ],
    expected: &[
        ("call", call),
        ("says", says),
        ("because", |decided| decided.because().into()),
        ("text", text),
    ],
};

fn number<N: std::str::FromStr>(cell: &str) -> Option<N> {
    cell.parse().ok()
}

fn or_dash(text: impl Into<String>) -> String {
    Some(text.into()).filter(|text| !text.is_empty()).unwrap_or_else(|| "-".into())
}

fn yes(is: bool) -> String {
    if is { "yes".into() } else { "-".into() }
}

/// Takes in how something came about, as the end of a cell says it; the rest of the cell.
fn circumstances<'a>(case: &mut Situation, cell: &'a str) -> &'a str {
    type Circumstance = (&'static str, fn(&mut Situation));
    const KNOWN: [Circumstance; 16] = [
        (" in a subagent", |case| case.put("agent_id", "a1")),
        (", nobody there", |case| case.facts.person = Person::Absent),
        (", stepped down", Situation::step_down),
        (" stepped down", Situation::step_down),
        (", the marks are broken", |case| case.marks_broken = true),
        (", marks unreadable", |case| case.marks_broken = true),
        (", a task runs", |case| background(case, "shell b1")),
        (", a shell runs", |case| background(case, "shell b1")),
        (", an agent runs", |case| background(case, "agent b1")),
        (", a hook held it before", |case| case.put("stop_hook_active", true)),
        (", another hook held it", |case| case.put("stop_hook_active", true)),
        (", of a nameless turn", |case| case.put("prompt_id", serde_json::Value::Null)),
        (", of a nameless turn that was held", |case| {
            case.put("prompt_id", serde_json::Value::Null);
            case.put("stop_hook_active", true);
        }),
        (", no summary", |_| {}),
        (", after a silent compaction", |case| case.mark(SessionMark::Note(Note::Compacted))),
        (", to the person", |case| case.reader = Some(Audience::User)),
    ];
    for (end, change) in KNOWN {
        if let Some(rest) = cell.strip_suffix(end) {
            change(case);
            return circumstances(case, rest);
        }
    }
    cell
}

/// `agent a9` or `shell b1`, which runs in the background.
fn background(case: &mut Situation, cell: &str) {
    if let Some((kind, id)) = cell.split_once(' ') {
        let kind = if kind == "agent" { "subagent" } else { "shell" };
        case.put("background_tasks", json!([{"id": id, "type": kind, "status": "running"}]));
    }
}

/// By the host's name, with its tool or its source, or by a shorter one.
fn event(case: &mut Situation, cell: &str) {
    let cell = circumstances(case, cell);
    let (name, more) = cell.split_once(' ').unwrap_or((cell, ""));
    let mut prompt = |text: &str| {
        case.event("UserPromptSubmit");
        case.put("prompt", text);
    };
    match (name, more) {
        ("prompt", "of the client") => prompt("<task-notification>"),
        ("prompt", more) => prompt(more.strip_prefix("says ").unwrap_or("go on")),
        ("slash", _) => prompt("/compact now"),
        ("notification", _) => prompt("<task-notification> implement it"),
        ("stop", _) => case.event("Stop"),
        ("asks", _) => case.put("last_assistant_message", "Shall I?"),
        ("says", text) => case.put("last_assistant_message", text.replace("\\n", "\n")),
        ("read", _) | ("tool", "call") => case.event("PostToolUse"),
        ("skill", skill) => {
            case.event("PostToolUse");
            case.put("tool_name", "Skill");
            case.put("tool_input", json!({"skill": skill}));
        }
        ("startup" | "clear" | "resume" | "compact" | "fork", _) => {
            case.event("SessionStart");
            case.put("source", name);
        }
        ("manual" | "auto", _) => {
            case.event("PreCompact");
            case.put("trigger", name);
        }
        ("SessionStart", source) if !source.is_empty() => event(case, source),
        ("SubagentStop", _) => {
            case.event(name);
            case.put("agent_id", "a1");
        }
        (name, tool) => {
            case.event(name);
            if !tool.is_empty() {
                case.put("tool_name", tool);
            }
        }
    }
}

fn attended(case: &mut Situation, cell: &str) {
    match cell {
        "yes" => {}
        "no" => case.facts.person = Person::Absent,
        "unknown" => case.facts.person = Person::Unknown,
        "in another client" => case.facts.client = CallingClient::OfPerson(8),
        "not by the client" => case.facts.client = CallingClient::Unknown,
        "in an agent's client" => case.facts.client = CallingClient::OfAgent,
        "the client says no" => case.facts.client = CallingClient::Unattended,
        other => panic!("no such person: {other}"),
    }
}

/// `code-quality-rules by a2, other`.
fn skills(case: &mut Situation, cell: &str) {
    for name in cell.split(", ").filter(|name| *name != "-") {
        let (name, agent) = name.split_once(" by ").map_or((name, None), |(name, by)| (name, Some(by)));
        case.mark(SessionMark::Skill { name: name.into(), agent: agent.map(str::to_owned) });
    }
}

/// `shadowed` where something else than a pass is only recorded.
fn call(decided: &Decided) -> String {
    match &decided.part {
        None => "-".into(),
        Some(part) => {
            let call = part.verdict.call.name();
            if part.shadow && call != "pass" { format!("shadowed {call}") } else { call.into() }
        }
    }
}

fn says(decided: &Decided) -> String {
    let shadow = decided.part.as_ref().is_some_and(|part| part.shadow);
    let tells = |to| decided.tells(to) && !shadow;
    match (tells(Audience::Model), tells(Audience::User)) {
        (true, true) => "both".into(),
        (true, false) => "model".into(),
        (false, true) => "user".into(),
        (false, false) => "-".into(),
    }
}

/// For the reader of the row, else for the model before the person. A table has it in one line, and an HTML comment in code.
fn text(decided: &Decided) -> String {
    let said = |to: Audience| {
        let says = decided.says().iter().filter(|say| say.to == to);
        Some(says.map(|say| say.text.as_str()).collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
    };
    let reason = decided.part.as_ref().and_then(|part| part.verdict.reason.clone());
    let text = match decided.case.reader {
        Some(Audience::User) => said(Audience::User),
        Some(Audience::Model) => reason.or_else(|| said(Audience::Model)),
        None => reason.or_else(|| said(Audience::Model)).or_else(|| said(Audience::User)),
    };
    let text = text.unwrap_or_else(|| "-".into());
    text.replace('\n', "⏎").replace("<!--", "`<!--").replace("-->", "-->`")
}

/// A room without columns of its own.
const fn plain(policy: &'static str) -> Room {
    Room { policy, begin: |_| {}, finish: |_| {}, law: |_| {}, given: &[], expected: &[] }
}

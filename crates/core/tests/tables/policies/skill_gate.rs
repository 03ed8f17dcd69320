//! `skill-gate`: a skill before an edit.

use serde_json::json;
use tidegate_core::feature::facts::Touched;
use tidegate_core::feature::marks::SessionMark;
use tidegate_core::feature::verdict::Audience;
use tidegate_core::file_class::FileClass;
use tidegate_core::settings::value::Value;

use super::{Room, plain};
use crate::situation::Situation;

pub(super) static SKILL_GATE: Room = Room {
    begin: |case| {
        case.event("PreToolUse");
        case.put("tool_name", "Edit");
        case.put("tool_input", json!({"file_path": "/p/f"}));
        file(case, "code");
    },
    given: &[
        ("file", file),
        ("settings", settings),
        ("thread", thread),
        ("to", to),
        ("installed", installed),
    ],
    ..plain("skill-gate")
};

/// By their names, or one of each class.
fn file(case: &mut Situation, cell: &str) {
    let touched = |cell: &str| {
        let file = match cell {
            "code" => "src/a.rs",
            "document" => "docs/a.md",
            "config" => "a.toml",
            "other" => "a.bin",
            file => file,
        };
        let inside = Some(file.to_owned()).filter(|file| !file.starts_with('/'));
        let class = FileClass::of(file);
        Touched { path: file.into(), inside, below: file.into(), class, step: None, removed: false }
    };
    case.facts.verification.files = cell.split(" and ").map(touched).collect();
}

/// Nothing is required unless somebody says so.
fn require_rules(case: &mut Situation) {
    case.set("skill_gate.require", "code", Value::List(vec!["code-quality-rules".into()]));
}

fn settings(case: &mut Situation, cell: &str) {
    // Nothing but the preset requires the rules.
    let cell = match cell.strip_prefix("preset") {
        Some("") => return,
        Some(rest) => rest.trim_start(),
        None => {
            require_rules(case);
            cell
        }
    };
    let (setting, earlier) = cell.split_once(", ").unwrap_or((cell, ""));
    match earlier {
        "" => {}
        "reminded" => case.mark(SessionMark::Notice("skill-gate/code-quality-rules".into())),
        "recorded before" => case.mark(SessionMark::Notice("skill-gate/would/code-quality-rules".into())),
        other => panic!("nothing earlier like this: {other}"),
    }
    let list = |item: &str| Value::List(vec![item.into()]);
    match setting.split(' ').collect::<Vec<_>>().as_slice() {
        ["-"] => {}
        ["stepped", "down"] => case.step_down(),
        [key @ ("mode" | "subagents"), value] => case.set("skill_gate", key, *value),
        [key @ ("preloaded" | "exempt"), item] => case.set("skill_gate", key, list(item)),
        ["require", glob, skill] => case.set("skill_gate.require", glob, list(skill)),
        other => panic!("no such setting: {other:?}"),
    }
}

/// `main`, `subagent a1`, `subagent a1 writer`.
fn thread(case: &mut Situation, cell: &str) {
    for (member, word) in ["agent_id", "agent_type"].into_iter().zip(cell.split(' ').skip(1)) {
        case.put(member, word);
    }
}

fn installed(case: &mut Situation, cell: &str) {
    let names = cell.split(", ").filter(|name| *name != "all");
    case.facts.skill_gate.not_installed =
        names.map(|name| name.strip_prefix("not ").expect("what is missing").to_owned()).collect();
}

fn to(case: &mut Situation, cell: &str) {
    require_rules(case);
    case.reader = Some(if cell == "model" { Audience::Model } else { Audience::User });
    if cell.ends_with(", told before") {
        case.mark(SessionMark::Notice("skill-gate".into()));
    }
}

//! `approval`: a person's yes to a command that waits.

use serde_json::{Value, json};
use tidegate_core::feature::approval::marks::{ApprovalRequest, ApprovalStage, Mark as ApprovalMark};
use tidegate_core::feature::marks::Mark;

use super::{Room, plain};
use crate::situation::{Decided, Situation, ago, pick};

const QUESTION: &str = "Allow this once? `tidegate off skill-gate` (code K7QF2M)";

pub(super) static APPROVAL: Room = Room {
    law: |decided| {
        let holds = decided.part.as_ref().is_some_and(|part| part.verdict.call.name() != "pass");
        assert!(!holds, "an approval never holds anything up");
    },
    given: &[("what", what), ("request", request)],
    expected: &[("becomes", becomes)],
    ..plain("approval")
};

fn question(text: &str) -> Value {
    json!([{"question": text, "options": [{"label": "approve"}, {"label": "refuse"}]}])
}

/// A prompt, a command, or a question to the person and the answer to it.
fn what(case: &mut Situation, cell: &str) {
    let what = cell.replace('\'', "").replace("\\n", "\n");
    let (input, response) = match what.split_once(' ').unwrap_or((&what, "")) {
        ("asks", "K7QF2M") => (json!({"questions": question(QUESTION)}), Value::Null),
        ("asks", text) => match text.strip_prefix("and answers ") {
            Some(code) => (json!({"questions": question(code), "answers": {"x": "approve"}}), Value::Null),
            None => (json!({"questions": question(text)}), Value::Null),
        },
        (how @ ("answer" | "timeout"), text) => {
            let asked = json!({"questions": question(QUESTION)});
            let mut response = json!({"questions": question(QUESTION), "answers": {QUESTION: text}});
            if how == "timeout" {
                response["afkTimeoutMs"] = 5000.into();
            }
            (asked, response)
        }
        ("no", "answer") => {
            let asked = json!({"questions": question(QUESTION)});
            (asked.clone(), json!({"questions": asked["questions"], "answers": {}}))
        }
        _ => (json!({"command": what}), Value::Null),
    };
    case.put("prompt", what.as_str());
    case.tool_input = input.to_string();
    case.tool_response = if response.is_null() { String::new() } else { response.to_string() };
}

/// `asked 1 min ago`.
fn request(case: &mut Situation, cell: &str) {
    let (stage, since) = cell.split_once(' ').unwrap_or((cell, ""));
    let stage = match stage {
        "asked" => ApprovalStage::Asked,
        "questioned" => ApprovalStage::Questioned("toolu_1".into()),
        "given" => ApprovalStage::Given,
        "used" => ApprovalStage::Used,
        "void" => ApprovalStage::Void,
        "declined" => ApprovalStage::Declined,
        "none" => return,
        other => panic!("no such request: {other}"),
    };
    let minutes: u64 = since.split(' ').next().and_then(|number| number.parse().ok()).expect("minutes");
    case.mark(ApprovalMark::Approval(ApprovalRequest {
        code: "K7QF2M".into(),
        command: "off skill-gate".into(),
        about: None,
        at: ago(minutes * 60_000),
        client: Some(7),
        shown: true,
        stage,
    }));
}

fn becomes(decided: &Decided) -> String {
    let stage = pick!(decided.left(), Mark::Approval(ApprovalMark::Approval(approval)) => &approval.stage);
    let name = match stage {
        None => "-",
        Some(ApprovalStage::Asked) => "asked",
        Some(ApprovalStage::Questioned(_)) => "questioned",
        Some(ApprovalStage::Given) => "given",
        Some(ApprovalStage::Used) => "used",
        Some(ApprovalStage::Void) => "void",
        Some(ApprovalStage::Declined) => "declined",
        Some(ApprovalStage::Refused) => "refused",
    };
    name.into()
}

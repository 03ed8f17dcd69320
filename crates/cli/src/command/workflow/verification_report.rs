//! The verification report of a gate, for people and as JSON.

use serde::Serialize;
use tidegate_core::feature::workflow::check;
use tidegate_core::feature::workflow::check::{GateReport, StepFinding};
use tidegate_core::feature::workflow::standing::{ClearedGate, WorkflowStanding};

use crate::print;

#[derive(Serialize)]
pub(super) struct ShownReport<'a> {
    manifest: &'a str,
    gate: usize,
    after_phase: usize,
    phase: &'a str,
    /// Nothing is missing now.
    passed: bool,
    /// `passed` or `skipped`, where that was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<&'static str>,
    missing: Vec<&'a str>,
    before_tokens: u64,
    after_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reduction_pct: Option<f64>,
    steps: Vec<ShownStep<'a>>,
}

#[derive(Serialize)]
pub(super) struct ShownStep<'a> {
    step: &'static str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

pub(super) fn report_json<'a>(report: &'a GateReport, standing: &'a WorkflowStanding) -> ShownReport<'a> {
    let step = |(step, finding): &'a (check::GateStep, StepFinding)| {
        let (state, why) = match finding {
            StepFinding::Met => ("met", None),
            StepFinding::Missing(what) => ("missing", Some(what.as_str())),
            StepFinding::Unknown(why) => ("unknown", Some(why.as_str())),
        };
        ShownStep { step: step.name(), state, why }
    };
    ShownReport {
        manifest: &standing.path,
        gate: report.gate.number,
        after_phase: report.gate.after,
        phase: &report.phase,
        passed: report.is_met(),
        recorded: standing.clearance(report.gate.number).map(passage_name),
        missing: report.missing(),
        before_tokens: report.before,
        after_tokens: report.after,
        reduction_pct: report.reduction().map(|tenths| tenths as f64 / 10.0),
        steps: report.steps.iter().map(step).collect(),
    }
}

pub(super) fn passage_name(known: &ClearedGate) -> &'static str {
    if known.skipped { "skipped" } else { "passed" }
}

pub(super) fn print_report(report: &GateReport, standing: &WorkflowStanding, json: bool) {
    if json {
        print::json(&report_json(report, standing));
        return;
    }
    print::line(report.text(&standing.path).trim_end());
    if let Some(skipped) = standing.clearance(report.gate.number).filter(|known| known.skipped) {
        print::line(&format!(
            "A person let it be skipped at {}; it holds no agents back.",
            skipped.at.iso_seconds()
        ));
    }
}

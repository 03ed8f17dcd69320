//! The verification report of a checkpoint, for people and as JSON.

use serde::Serialize;
use tidegate_core::feature::workflow::check;
use tidegate_core::feature::workflow::check::{GateReport, StepFinding};
use tidegate_core::feature::workflow::standing::{ClearedGate, WorkflowStanding};
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;

use crate::bilingual::{Bilingual, both};
use crate::local_time::LocalClock;
use crate::print;
use crate::print::page::Page;

#[derive(Serialize)]
pub(super) struct ShownReport<'a> {
    manifest: &'a str,
    gate: usize,
    after_phase: usize,
    phase: &'a str,
    /// Nothing is missing now.
    complete: bool,
    /// It was recorded as passed.
    passed: bool,
    /// `passed` or `skipped`, where that was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<&'static str>,
    missing: Vec<String>,
    before_tokens: u64,
    after_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reduction_pct: Option<f64>,
    steps: Vec<ShownStep>,
}

#[derive(Serialize)]
pub(super) struct ShownStep {
    step: &'static str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

pub(super) fn report_json<'a>(report: &'a GateReport, standing: &'a WorkflowStanding) -> ShownReport<'a> {
    let step = |(step, finding): &(check::GateStep, StepFinding)| {
        let (state, why) = match finding {
            StepFinding::Met => ("met", None),
            StepFinding::Missing(what) => ("missing", Some(what.text(Lang::En))),
            StepFinding::Unknown(why) => ("unknown", Some(why.text(Lang::En))),
            StepFinding::NotNeeded(why) => ("not-needed", Some(why.text(Lang::En))),
        };
        ShownStep { step: step.name(), state, why }
    };
    let cleared = standing.clearance(report.gate.number);
    ShownReport {
        manifest: &standing.path,
        gate: report.gate.number,
        after_phase: report.gate.after,
        phase: &report.phase,
        complete: report.is_met(),
        passed: cleared.is_some_and(|known| !known.skipped),
        recorded: cleared.map(passage_name),
        missing: report.missing().iter().map(|lack| lack.text(Lang::En)).collect(),
        before_tokens: report.before,
        after_tokens: report.after,
        reduction_pct: report.reduction().map(|tenths| tenths as f64 / 10.0),
        steps: report.steps.iter().map(step).collect(),
    }
}

pub(super) fn passage_name(known: &ClearedGate) -> &'static str {
    if known.skipped { "skipped" } else { "passed" }
}

pub(super) fn print_report(report: &GateReport, standing: &WorkflowStanding, now: Millis, json: bool) {
    if json {
        print::json(&report_json(report, standing));
        return;
    }
    let mut page = Page::new();
    add_report(&mut page, report, standing, now);
    page.print();
}

pub(super) fn add_report(page: &mut Page, report: &GateReport, standing: &WorkflowStanding, now: Millis) {
    let cleared = standing.clearance(report.gate.number);
    let text = |lang| report.text(lang, &standing.path, cleared).trim_end().to_owned();
    page.paragraph(Bilingual { en: text(Lang::En), ja: text(Lang::Ja) });
    if let Some(skipped) = cleared.filter(|known| known.skipped) {
        let at = LocalClock::of_system(now).minute_with_zone(skipped.at);
        page.paragraph(both!(
            "A person skipped it ({at}), so it blocks no agents.",
            "人が飛ばしたため（{at}）、エージェントを止めません。"
        ));
    }
}

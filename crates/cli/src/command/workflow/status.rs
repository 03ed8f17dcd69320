//! `tidegate workflow status`.

use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;
use tidegate_core::feature::workflow::Gate;
use tidegate_core::time::Millis;
use tidegate_state::feature::workflow;

use super::project_workflow::{ProjectWorkflow, usable_manifest};
use super::verification_report::passage_name;
use crate::args::ProjectArgs;
use crate::command::Outcome;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow status
  tidegate workflow status --json | jq '.gates[] | select(.state == \"pending\")'")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Serialize)]
struct ShownWorkflow<'a> {
    manifest: &'a str,
    workflow: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    feature: Option<&'a str>,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase_name: Option<&'a str>,
    of: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_write: Option<String>,
    /// Not written for a day: it is only reported.
    untouched: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    gates: Vec<ShownGate>,
}

#[derive(Serialize)]
struct ShownGate {
    gate: usize,
    after_phase: usize,
    /// `passed`, `skipped`, `pending` or `ahead`.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let of = &args.of;
    let place = ProjectWorkflow::find_attached(of)?;
    if place.attached().is_none() && workflow::find_manifests(&place.project.root).is_empty() {
        if of.json {
            print::json(&json!({ "status": "none" }));
        } else {
            print::line("there is no workflow in this project; `tidegate workflow start ID` begins one");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let standing = place.read_standing()?;
    let manifest = usable_manifest(&standing)?;
    let pending = standing.pending_gates();
    let gate = |gate: Gate| {
        let known = standing.clearance(gate.number);
        let state = match known {
            Some(known) => passage_name(known),
            None if pending.contains(&gate) => "pending",
            None => "ahead",
        };
        ShownGate {
            gate: gate.number,
            after_phase: gate.after,
            state,
            at: known.map(|known| known.at.iso_seconds()),
        }
    };
    let session = place.session.as_ref().filter(|session| {
        session.marks.workflow.attached.as_ref().is_some_and(|attached| attached.manifest == standing.path)
    });
    let shown = ShownWorkflow {
        manifest: &standing.path,
        workflow: &manifest.name,
        feature: manifest.feature.as_deref(),
        complete: manifest.complete,
        phase: manifest.current,
        phase_name: manifest
            .current
            .and_then(|number| manifest.workflow.phase(number))
            .map(|phase| phase.name.as_str()),
        of: manifest.workflow.phases.len(),
        last_write: standing.written.map(Millis::iso_seconds),
        untouched: standing.is_untouched(place.project.here.now),
        session: session.map(|session| session.id.as_str()),
        gates: manifest.workflow.gates().into_iter().map(gate).collect(),
    };
    if of.json {
        print::json(&shown);
        return Ok(ExitCode::SUCCESS);
    }
    let phase = match (shown.phase, shown.phase_name) {
        _ if shown.complete => "complete".to_owned(),
        (Some(number), Some(name)) => {
            format!("phase {number} of {} ({})", shown.of, name.replace(['_', '-'], " "))
        }
        _ => "its phase is not known".to_owned(),
    };
    print::line(&format!("{}: workflow {}, {phase}", shown.manifest, shown.workflow));
    let session = shown
        .session
        .map_or_else(|| "attached to no session here".to_owned(), |id| format!("attached to session {id}"));
    let untouched = if shown.untouched { ", not touched for a day, so it is only reported" } else { "" };
    print::line(&format!("  {session}{untouched}"));
    for gate in &shown.gates {
        let at = gate.at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
        print::line(&format!("  gate {} after phase {}: {}{at}", gate.gate, gate.after_phase, gate.state));
    }
    Ok(ExitCode::SUCCESS)
}

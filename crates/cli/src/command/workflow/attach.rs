//! `tidegate workflow attach`.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tidegate_core::event::SessionId;
use tidegate_core::feature::workflow::Manifest;
use tidegate_core::feature::workflow::marks::Mark as WorkflowMark;
use tidegate_core::feature::workflow::standing::WorkflowStanding;
use tidegate_core::pipeline::record::Deeds;

use super::project_workflow::{ProjectWorkflow, usable_manifest};
use crate::approval::consent_to_tighten;
use crate::args::ProjectArgs;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow attach .claude/.output/features/user-dashboard/MANIFEST.yaml

A manifest belongs to the last session that wrote or attached it.")]
pub(crate) struct Args {
    /// Path of the manifest
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectWorkflow::find(&args.of)?;
    let session = place.known_session()?;
    let cwd = std::env::current_dir().unwrap_or_default();
    let root = &place.project.root;
    let standing = place
        .read_manifest(root, &cwd.join(&args.path))
        .or_else(|_| place.read_manifest(root, &args.path))?;
    let manifest = usable_manifest(&standing)?;
    let is_other = place.attached().is_some_and(|attached| attached.manifest != standing.path);
    if let Some(gate) = place.pending_gate().filter(|_| is_other) {
        return Err(CliError::new(format!("gate {gate} of this session's workflow was not let through"))
            .hint("`tidegate workflow check` shows what is missing, `tidegate workflow detach` lets go of that workflow"));
    }
    place.record_owner(&standing, Some(&session.id))?;
    place
        .append_mark(&session.id, WorkflowMark::Workflow(Box::new(standing.attach(manifest, None))).into())?;
    place.record_command(
        &format!("attach {}", standing.path),
        &consent_to_tighten(&place.project.here, "a workflow was attached"),
        Deeds::default(),
    );
    print_attached(&args.of, &standing, manifest, Some(&session.id));
    place.warn_if_off();
    Ok(ExitCode::SUCCESS)
}

pub(super) fn print_attached(
    of: &ProjectArgs,
    standing: &WorkflowStanding,
    manifest: &Manifest,
    session: Option<&SessionId>,
) {
    if of.json {
        print::json(&json!({
            "manifest": standing.path, "workflow": manifest.name, "phase": manifest.current,
            "session": session.map(SessionId::as_str),
        }));
        return;
    }
    let phase = manifest.current.and_then(|number| Some((number, manifest.workflow.phase(number)?)));
    let phase = phase.map(|(number, phase)| {
        format!(", phase {number} of {} ({})", manifest.workflow.phases.len(), phase.title())
    });
    let to = session.map_or_else(
        || {
            format!(
                "no session here yet; `tidegate workflow attach {}` inside of one attaches it",
                standing.path
            )
        },
        |session| format!("attached to session {session}"),
    );
    print::line(&format!("{}: workflow {}{}; {to}", standing.path, manifest.name, phase.unwrap_or_default()));
}

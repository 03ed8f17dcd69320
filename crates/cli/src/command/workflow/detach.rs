//! `tidegate workflow detach`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tidegate_core::feature::workflow::marks::Mark as WorkflowMark;
use tidegate_core::pipeline::record::Deeds;

use super::project_workflow::{ProjectWorkflow, check_named};
use crate::approval::{Consent, consent_to_tighten};
use crate::args::ProjectArgs;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::shell::quote_path;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow detach

While a checkpoint blocks agents, this needs a person's yes, like `skip`.")]
pub(crate) struct Args {
    /// Refuse if another manifest is in use
    #[arg(long, value_name = "PATH")]
    pub(crate) manifest: Option<PathBuf>,
    /// Use the approval that a person gave in this session
    #[arg(long)]
    pub(crate) approved: bool,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectWorkflow::find_attached(&args.of)?;
    let session = place.known_session()?;
    let Some(attached) = place.attached() else {
        return Err(CliError::new(format!("session {} is in no workflow", session.id)));
    };
    check_named(args.manifest.as_deref(), &attached.manifest)?;
    let mut given = consent_to_tighten(&place.project.here, "a workflow was let go");
    if let Some(gate) = place.pending_gate() {
        let would = [
            format!("This would let go of {}, whose gate {gate} was not let through.", attached.manifest),
            format!("Alternative: what `tidegate workflow check {gate}` lists as missing."),
        ];
        let about = format!("let go of a workflow whose gate {gate} was not passed");
        let command = format!("workflow detach --manifest {}", quote_path(Path::new(&attached.manifest)));
        given = match place.ask_consent(command, about, &would, args.approved, args.of.json)? {
            Consent::Given(given) => given,
            Consent::Waits(code) => return Ok(code),
        };
    }
    place.append_mark(&session.id, WorkflowMark::WorkflowLeft.into())?;
    place.record_command("detach", &given, Deeds::default());
    if args.of.json {
        print::json(
            &json!({ "manifest": attached.manifest, "session": session.id.as_str(), "attached": false }),
        );
    } else {
        print::line(&format!("session {} let go of {}", session.id, attached.manifest));
    }
    Ok(ExitCode::SUCCESS)
}

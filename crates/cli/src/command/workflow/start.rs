//! `tidegate workflow start`.

use std::path::Path;
use std::process::ExitCode;

use tidegate_core::feature::workflow::manifest;
use tidegate_core::feature::workflow::marks::Mark as WorkflowMark;
use tidegate_core::pipeline::record::Deeds;
use tidegate_state::feature::workflow;

use super::attach::print_attached;
use super::project_workflow::{ProjectWorkflow, usable_manifest};
use crate::approval::consent_to_tighten;
use crate::args::ProjectArgs;
use crate::command::Outcome;
use crate::error::CliError;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow start user-dashboard
  tidegate workflow start v2 --workflow release     the workflow [workflow.release] of your config

The manifest is `.claude/.output/features/ID/MANIFEST.yaml`.")]
pub(crate) struct Args {
    /// Name of the feature and of its folder
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Name of the workflow
    #[arg(long, value_name = "NAME", default_value = tidegate_core::feature::workflow::BUILT_IN)]
    pub(crate) workflow: String,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

const LONGEST_ID: usize = 100;

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectWorkflow::find(&args.of)?;
    let here = &place.project.here;
    let settings = &here.config.policies.workflow_gate;
    let Some(definition) = settings.workflow(&args.workflow) else {
        let names: Vec<&str> = settings.workflow_names().collect();
        return Err(CliError::new(format!("there is no workflow {}", args.workflow))
            .hint(format!("there is {}; the config can have others as [workflow.NAME]", names.join(", "))));
    };
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let id = args.id.as_str();
    if id.is_empty() || id.starts_with('.') || id.chars().count() > LONGEST_ID || !id.chars().all(fits) {
        return Err(CliError::new(format!("{id} cannot be the name of a folder here"))
            .hint("use letters, digits, `-`, `_` and `.`"));
    }
    let pending = place.pending_gate();
    if let Some(gate) = pending {
        return Err(CliError::new(format!("gate {gate} of this session's workflow was not let through"))
            .hint("`tidegate workflow check` shows what is missing, `tidegate workflow detach` lets go of that workflow"));
    }
    let text = manifest::new_manifest(id, &args.workflow, &definition, here.now);
    let path = workflow::create(&here.state, &place.project.root, id, &text).map_err(|error| {
        let failed = CliError::new(format!("the manifest was not made: {error}"));
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            let path = format!("{}/{id}/{}", manifest::FEATURES_FOLDER, manifest::MANIFEST_FILE);
            return failed.hint(format!("`tidegate workflow attach {path}` takes it up"));
        }
        failed
    })?;
    let standing = place.read_manifest(&place.project.root, Path::new(&path))?;
    let manifest = usable_manifest(&standing)?;
    let session = place.session.as_ref().map(|session| &session.id);
    if let Some(session) = session {
        place.record_owner(&standing, Some(session))?;
        place.append_mark(
            session,
            WorkflowMark::Workflow(Box::new(standing.attach(manifest, Some(here.now)))).into(),
        )?;
    }
    place.record_command(
        &format!("start {id}"),
        &consent_to_tighten(here, "a workflow began"),
        Deeds::default(),
    );
    print_attached(&args.of, &standing, manifest, session);
    place.warn_if_off();
    Ok(ExitCode::SUCCESS)
}

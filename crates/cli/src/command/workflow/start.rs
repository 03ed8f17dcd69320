//! `tidegate workflow start`.

use std::path::Path;
use std::process::ExitCode;

use tidegate_core::feature::workflow::manifest;
use tidegate_core::feature::workflow::marks::Mark as WorkflowMark;
use tidegate_core::pipeline::record::Deeds;
use tidegate_state::feature::workflow;

use super::attach::{print_attached, unfinished_workflow};
use super::project_workflow::{ProjectWorkflow, usable_manifest};
use crate::approval::consent_to_tighten;
use crate::args::ProjectArgs;
use crate::bilingual::both;
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
    place.check_caller()?;
    let here = &place.project.here;
    let settings = &here.config.policies.workflow_gate;
    let Some(definition) = settings.workflow(&args.workflow) else {
        let names: Vec<&str> = settings.workflow_names().collect();
        let (name, names) = (&args.workflow, names.join(", "));
        return Err(CliError::new(both!(
            "there is no workflow {name}",
            "{name} というワークフローはありません"
        ))
        .hint(both!(
            "use one of: {names}; [workflow.NAME] in your config adds another",
            "使えるもの: {names}。設定の [workflow.NAME] で増やせます"
        )));
    };
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let id = args.id.as_str();
    if id.is_empty() || id.starts_with('.') || id.chars().count() > LONGEST_ID || !id.chars().all(fits) {
        return Err(CliError::new(both!(
            "{id} cannot be the name of a folder here",
            "{id} はここではフォルダ名にできません"
        ))
        .hint(both!("use letters, digits, `-`, `_` and `.`", "文字、数字、`-`、`_`、`.` を使ってください")));
    }
    if let Some(gate) = place.gate_to_keep() {
        return Err(unfinished_workflow(gate));
    }
    let text = manifest::new_manifest(id, &args.workflow, &definition, here.now);
    let path = workflow::create(&here.state, &place.project.root, id, &text).map_err(|error| {
        let path = format!("{}/{id}/{}", manifest::FEATURES_FOLDER, manifest::MANIFEST_FILE);
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            return CliError::new(both!("{path} already exists", "{path} はすでにあります")).hint(both!(
                "`tidegate workflow attach {path}` uses it; or choose another name",
                "`tidegate workflow attach {path}` で使うか、別の名前にしてください"
            ));
        }
        CliError::new(both!("cannot create {path}: {error}", "{path} を作れません: {error}")).hint(both!(
            "check that you can write to that folder, and run the command again",
            "そのフォルダに書き込めるか確認し、もう一度実行してください"
        ))
    })?;
    let standing = place.read_manifest(&place.project.root, Path::new(&path))?;
    let manifest = usable_manifest(&standing)?;
    let session = place.session.as_ref().map(|session| &session.id);
    if let Some(session) = session {
        place.record_owner(&standing, Some(session))?;
        place.append_mark(
            session,
            WorkflowMark::Workflow(Box::new(standing.attach(manifest, Some(here.now), here.now))).into(),
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

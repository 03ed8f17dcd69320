//! `tidegate workflow finish`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tidegate_core::feature::workflow::manifest;
use tidegate_core::feature::workflow::marks::Mark as WorkflowMark;
use tidegate_core::feature::workflow::standing::WorkflowStanding;
use tidegate_core::feature::workflow::{AttachedWorkflow, Manifest};
use tidegate_core::pipeline::record::Deeds;

use super::project_workflow::{ProjectWorkflow, check_named, usable_manifest};
use crate::approval::{Consent, consent_to_tighten};
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;
use crate::shell::quote_path;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow finish
  tidegate workflow finish --manifest PATH  the manifest of another workflow

The manifest says `status: complete` afterwards, and no session continues the workflow.
With phases or checkpoints still open it asks first. Called by an agent it then prints
a code that only a person can approve.

Exit codes: 0 done, 4 waits for a person's approval.")]
pub(crate) struct Args {
    /// Finish this one
    #[arg(long, value_name = "PATH")]
    pub(crate) manifest: Option<PathBuf>,
    /// Use the approval that a person gave in this session
    #[arg(long)]
    pub(crate) approved: bool,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectWorkflow::find_to_change(&args.of)?;
    let own = place.attached().cloned();
    let (standing, used) = match (&args.manifest, own) {
        (Some(path), None) => {
            let left = place.find_left(path)?;
            (place.read_manifest(Path::new(&left.project), Path::new(&left.manifest))?, Some(left))
        }
        (_, own) => (place.read_standing()?, own),
    };
    check_named(args.manifest.as_deref(), &standing.path)?;
    let manifest = usable_manifest(&standing)?;
    let open = Open::of(&standing, manifest);
    let is_used = standing.owner.as_deref().is_some_and(|owner| !owner.is_empty());
    if manifest.complete && (open.gates.is_empty() || !is_used) {
        let name = &manifest.name;
        return Err(CliError::new(both!(
            "the workflow {name} is complete already",
            "ワークフロー {name} はすでに完了しています"
        )));
    }
    let mut given = consent_to_tighten(&place.project.here, "a workflow was finished");
    if let Some(would) = open.describe(&standing, manifest) {
        let command = format!("workflow finish --manifest {}", quote_path(Path::new(&standing.path)));
        let about = format!("finish the workflow {} with {} open", manifest.name, open.list().en);
        given = match place.ask_consent(command, about, &[would], args.approved, args.of.json)? {
            Consent::Given(given) => given,
            Consent::Waits(code) => return Ok(code),
        };
    }
    place.change_manifest(&standing, manifest::complete_workflow)?;
    let used = used.filter(|attached| attached.manifest == standing.path);
    if let Some(session) = place.session.as_ref().filter(|_| place.uses(&standing)) {
        place.append_mark(&session.id, WorkflowMark::WorkflowLeft.into())?;
    }
    place.release(&used.unwrap_or_else(|| AttachedWorkflow {
        project: standing.root.clone(),
        manifest: standing.path.clone(),
        ..AttachedWorkflow::default()
    }))?;
    place.record_command("finish", &given, Deeds::default());
    if args.of.json {
        print::json(&json!({ "manifest": standing.path, "workflow": manifest.name, "complete": true }));
    } else {
        let (name, path) = (&manifest.name, &standing.path);
        Page::of(both!(
            "The workflow {name} is complete. Its checkpoints block nothing any more: {path}",
            "ワークフロー {name} を完了にしました。チェックポイントはもう何も止めません: {path}"
        ))
        .print();
    }
    Ok(ExitCode::SUCCESS)
}

/// What a workflow that ends now leaves open.
pub(super) struct Open {
    /// Phases after the one under way, and that one if it is not finished.
    phases: usize,
    /// Checkpoints that were neither passed nor skipped.
    gates: Vec<usize>,
}

impl Open {
    pub(super) fn of(standing: &WorkflowStanding, manifest: &Manifest) -> Open {
        let of = manifest.workflow.phases.len();
        let is_finished = |number: usize| {
            let status = manifest.section(number).and_then(|section| section.status.as_deref());
            status.is_some_and(manifest::is_finished)
        };
        let from = manifest.current.unwrap_or(1);
        let phases = (from..=of).filter(|number| !is_finished(*number)).count();
        let is_closed = |gate: &usize| standing.clearance(*gate).is_none();
        let gates = manifest.workflow.gates().into_iter().map(|gate| gate.number).filter(is_closed).collect();
        Open { phases, gates }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.phases == 0 && self.gates.is_empty()
    }

    /// `13 phases and checkpoints 2, 3`.
    pub(super) fn list(&self) -> Bilingual {
        let gates = self.gates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let phases = self.phases;
        let of = if phases == 1 { "phase" } else { "phases" };
        let named = if self.gates.len() == 1 { "checkpoint" } else { "checkpoints" };
        match (phases, gates.as_str()) {
            (_, "") => both!("{phases} {of}", "フェーズ{phases}つ"),
            (0, gates) => both!("{named} {gates}", "チェックポイント {gates}"),
            (_, gates) => {
                both!("{phases} {of} and {named} {gates}", "フェーズ{phases}つとチェックポイント {gates}")
            }
        }
    }

    fn describe(&self, standing: &WorkflowStanding, manifest: &Manifest) -> Option<Bilingual> {
        let (name, path, phases) = (&manifest.name, &standing.path, self.phases);
        let gates = self.gates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        (phases > 0 || !gates.is_empty()).then(|| match (phases, gates.as_str()) {
            (_, "") => both!(
                "This completes {name} ({path}) although {phases} of its phases are not finished.",
                "{name}（{path}）を、終わっていないフェーズが{phases}つあるまま完了にします。"
            ),
            (0, gates) => both!(
                "This completes {name} ({path}) although checkpoints have not passed: {gates}.",
                "{name}（{path}）を、チェックポイント {gates} を通過しないまま完了にします。"
            ),
            (_, gates) => both!(
                "This completes {name} ({path}) although {phases} of its phases are not finished and checkpoints have not passed: {gates}.",
                "{name}（{path}）を、終わっていないフェーズが{phases}つあり、チェックポイント {gates} も通過しないまま完了にします。"
            ),
        })
    }
}

//! `tidegate workflow template`.

use std::process::ExitCode;

use serde_json::json;
use tidegate_core::feature::workflow::manifest;
use tidegate_core::feature::workflow::{BUILT_IN, Workflow, report};
use tidegate_core::text::lang::Lang;
use tidegate_state::feature::workflow;

use super::project_workflow::{ProjectWorkflow, find_gate, usable_manifest};
use crate::args::ProjectArgs;
use crate::command::Outcome;
use crate::language;
use crate::print;
use crate::print::page::Page;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tidegate workflow template 1")]
pub(crate) struct Args {
    /// Number of the checkpoint
    #[arg(value_name = "N")]
    pub(crate) gate: usize,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectWorkflow::find_attached(&args.of)?;
    let is_none = place.attached().is_none() && workflow::find_manifests(&place.project.root).is_empty();
    // Programs get one form.
    let lang = if args.of.json { Lang::En } else { language::current() };
    let (gate, text) = if is_none {
        // Shown also before there is a workflow.
        let built_in = Workflow::default();
        let gate = find_gate(&built_in, BUILT_IN, args.gate)?;
        (
            gate,
            report::gate_template(
                lang,
                &built_in,
                gate,
                &format!("{}/ID/{}", manifest::FEATURES_FOLDER, manifest::MANIFEST_FILE),
            ),
        )
    } else {
        let standing = place.read_standing()?;
        let manifest = usable_manifest(&standing)?;
        let gate = find_gate(&manifest.workflow, &manifest.name, args.gate)?;
        (gate, report::gate_template(lang, &manifest.workflow, gate, &standing.path))
    };
    if args.of.json {
        print::json(&json!({ "gate": gate.number, "after_phase": gate.after, "template": text }));
    } else {
        let mut page = Page::new();
        page.verbatim(text.trim_end());
        page.print();
    }
    Ok(ExitCode::SUCCESS)
}

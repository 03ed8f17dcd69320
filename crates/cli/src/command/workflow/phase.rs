//! `tidegate workflow phase`.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use tidegate_core::feature::workflow::manifest;

use super::project_workflow::{ProjectWorkflow, find_section, usable_manifest};
use crate::args::ProjectArgs;
use crate::bilingual::both;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow phase 4
  tidegate workflow phase skill_discovery

If the checkpoint between the phases has not passed, the phase starts all the same, but
agents stay blocked.")]
pub(crate) struct Args {
    /// Number or name of the phase
    #[arg(value_name = "PHASE")]
    pub(crate) phase: String,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectWorkflow::find_to_change(&args.of)?;
    let standing = place.read_standing()?;
    let manifest = usable_manifest(&standing)?;
    let (number, key) = find_section(manifest, &args.phase)?;
    if manifest.current == Some(number) {
        return Err(CliError::new(both!(
            "phase {number} has already started",
            "フェーズ{number}はすでに始まっています"
        ))
        .hint(both!(
            "`tidegate workflow status` shows the state of the workflow",
            "`tidegate workflow status` でワークフローの状態を見られます"
        )));
    }
    let ended = manifest.current.filter(|current| *current < number);
    let ended =
        ended.map(|current| find_section(manifest, &current.to_string())).transpose()?.map(|(_, key)| key);
    let now = place.project.here.now;
    place.change_manifest(&standing, |text| {
        manifest::begin_phase(text, ended.as_deref(), number, &key, now).map_err(|why| why.to_string())
    })?;
    place.follow_change(&standing)?;
    let standing = place.read_manifest(Path::new(&standing.root), Path::new(&standing.path))?;
    let waits = standing.pending_gates().first().copied();
    if args.of.json {
        print::json(
            &json!({ "manifest": standing.path, "phase": number, "pending_gate": waits.map(|gate| gate.number) }),
        );
        return Ok(ExitCode::SUCCESS);
    }
    let path = &standing.path;
    let mut page = Page::of(both!(
        "Phase {number} has started (phases.{key} in {path}).",
        "フェーズ{number}を始めました（{path} の phases.{key}）。"
    ));
    if let Some(gate) = waits {
        let (gate, after) = (gate.number, gate.after);
        page.paragraph(both!(
            "Checkpoint {gate} after phase {after} has not passed, so agents stay blocked. `tidegate workflow check {gate}` shows what is missing.",
            "フェーズ{after}のあとのチェックポイント{gate}を通過していないため、エージェントはブロックされたままです。足りないものは `tidegate workflow check {gate}` で見られます。"
        ));
    }
    page.print();
    Ok(ExitCode::SUCCESS)
}

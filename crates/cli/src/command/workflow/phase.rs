//! `tidegate workflow phase`.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use tidegate_core::feature::workflow::manifest;
use tidegate_core::feature::workflow::standing::WorkflowStanding;
use tidegate_core::feature::workflow::{Gate, Workflow};
use tidegate_core::text::lang::Lang;

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

A phase behind a checkpoint starts once `tidegate workflow pass` has recorded that
checkpoint; until then this command lists what is missing. The last phase ends the
workflow: `tidegate workflow note 16 --status complete`.")]
pub(crate) struct Args {
    /// Number or name of the phase
    #[arg(value_name = "PHASE")]
    pub(crate) phase: String,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectWorkflow::find_to_change(&args.of)?;
    let mut standing = place.read_standing()?;
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
    let (definition, from) = (manifest.workflow.clone(), manifest.current);
    if from.is_none_or(|from| from < number) {
        check_gates(&place, &mut standing, &definition, number)?;
    }
    let manifest = usable_manifest(&standing)?;
    let ended = manifest.current.filter(|current| *current < number);
    let ended =
        ended.map(|current| find_section(manifest, &current.to_string())).transpose()?.map(|(_, key)| key);
    let now = place.project.here.now;
    place.change_manifest(&standing, |text| {
        manifest::begin_phase(text, ended.as_deref(), number, &key, now)
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
    if number == definition.phases.len() {
        page.paragraph(both!(
            "It is the last phase. Complete it with `tidegate workflow note {number} --status complete`: that ends the workflow.",
            "最後のフェーズです。`tidegate workflow note {number} --status complete` で完了にすると、ワークフローが終わります。"
        ));
    } else if let Some(gate) = definition.gates().iter().find(|gate| gate.after == number) {
        let gate = gate.number;
        page.paragraph(both!(
            "Checkpoint {gate} follows it. See what it needs: `tidegate workflow template {gate}`",
            "このフェーズのあとにチェックポイント{gate}があります。必要なものを見るには: `tidegate workflow template {gate}`"
        ));
    }
    page.print();
    Ok(ExitCode::SUCCESS)
}

/// Refuses to move past a checkpoint that was neither passed nor skipped.
pub(super) fn check_gates(
    place: &ProjectWorkflow,
    standing: &mut WorkflowStanding,
    definition: &Workflow,
    number: usize,
) -> Result<(), CliError> {
    let is_open = |gate: &Gate| standing.clearance(gate.number).is_some();
    let closed = definition.gates().into_iter().find(|gate| gate.after < number && !is_open(gate));
    let Some(gate) = closed else { return Ok(()) };
    let report = place.check_gate(standing, gate);
    let (gate, after) = (gate.number, gate.after);
    let list = |lang, between: &str| {
        report.missing().iter().map(|lack| lack.text(lang)).collect::<Vec<_>>().join(between)
    };
    if report.is_met() {
        return Err(CliError::new(both!(
            "checkpoint {gate} after phase {after} is not recorded yet; nothing is missing",
            "フェーズ{after}のあとのチェックポイント{gate}がまだ記録されていません。足りないものはありません"
        ))
        .hint(both!(
            "complete phase {after} with `tidegate workflow note {after} --status complete`, then run `tidegate workflow pass {gate}`",
            "`tidegate workflow note {after} --status complete` でフェーズ{after}を完了にし、`tidegate workflow pass {gate}` を実行してください"
        )));
    }
    Err(CliError::new(both!(
        "checkpoint {gate} after phase {after} comes first. Missing: {en}",
        "先にフェーズ{after}のあとのチェックポイント{gate}を通過してください。足りないもの: {ja}",
        en = list(Lang::En, "; "),
        ja = list(Lang::Ja, "、")
    ))
    .hint(both!(
        "write it with `tidegate workflow note {after}`, then run `tidegate workflow pass {gate}`",
        "`tidegate workflow note {after}` で書き、`tidegate workflow pass {gate}` を実行してください"
    )))
}

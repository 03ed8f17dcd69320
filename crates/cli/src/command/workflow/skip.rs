//! `tidegate workflow skip`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tidegate_core::feature::workflow::manifest;
use tidegate_core::feature::workflow::{Gate, Manifest};
use tidegate_core::pipeline::record::Deeds;

use super::project_workflow::{ProjectWorkflow, check_named, find_gate, usable_manifest};
use crate::approval::{Consent, Given};
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::error::CliError;
use crate::knowledge::required_line;
use crate::local_time::LocalClock;
use crate::print;
use crate::print::page::Page;
use crate::shell::quote_path;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow skip 1 --reason \"the discovery was one file\"

At a terminal it asks. Called by an agent it prints a code that only a person can
approve, once and within ten minutes. The manifest records the skip and the reason.")]
pub(crate) struct Args {
    /// Number of the checkpoint
    #[arg(value_name = "N")]
    pub(crate) gate: usize,
    /// Reason
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
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
    let place = ProjectWorkflow::find_to_change(&args.of)?;
    let standing = place.read_standing()?;
    let manifest = usable_manifest(&standing)?;
    let gate = find_gate(&manifest.workflow, &manifest.name, args.gate)?;
    check_named(args.manifest.as_deref(), &standing.path)?;
    let reason = required_line("the reason", &args.reason)?;
    if let Some(known) = standing.clearance(gate.number) {
        let number = gate.number;
        let at = LocalClock::of_system(place.project.here.now).minute_with_zone(known.at);
        return Err(CliError::new(if known.skipped {
            both!(
                "checkpoint {number} was already skipped ({at})",
                "チェックポイント{number}はすでに飛ばしています（{at}）"
            )
        } else {
            both!(
                "checkpoint {number} has already passed ({at})",
                "チェックポイント{number}はすでに通過しています（{at}）"
            )
        })
        .hint(both!(
            "you don't need to do anything: it blocks nothing",
            "何もする必要はありません。もう何も止めていません"
        )));
    }
    let phase = manifest.workflow.phase(gate.after).map(|phase| phase.name.clone()).unwrap_or_default();
    let would = list_risks(gate, &standing.path);
    let (path, why) = (quote_path(Path::new(&standing.path)), quote_path(Path::new(&reason)));
    let command = format!("workflow skip {} --manifest {path} --reason {why}", gate.number);
    let about = format!(
        "workflow {}: skip checkpoint {} after phase {} ({}); risks: the context may run out in a later phase, agents work worse in a full one, the \
         workflow may have to start again",
        workflow_title(manifest),
        gate.number,
        gate.after,
        phase.replace('_', " ")
    );
    let given = match place.ask_consent(command, about, &would, args.approved, args.of.json)? {
        Consent::Given(given) => given,
        Consent::Waits(code) => return Ok(code),
    };
    let key = manifest
        .section(gate.after)
        .map_or_else(|| format!("{}_{phase}", gate.after), |section| section.key.clone());
    let now = place.project.here.now;
    place.change_manifest(&standing, |text| manifest::note_skipped(text, &key, &reason, now))?;
    place.record_passage(&standing, gate.number, true)?;
    let did = Deeds { skipped_gate: Some(gate.number), ..Deeds::default() };
    let recorded = Given { how: format!("{}: {reason}", given.how), ..given };
    place.record_command(&format!("skip {}", gate.number), &recorded, did);
    if args.of.json {
        print::json(&json!({
            "manifest": standing.path, "gate": gate.number, "skipped": true, "reason": reason, "approval": given.how,
        }));
    } else {
        let (number, after, how) = (gate.number, gate.after, &given.how);
        Page::of(both!(
            "Checkpoint {number} after phase {after} is skipped and blocks nothing now: {reason} ({how})",
            "フェーズ{after}のあとのチェックポイント{number}を飛ばしました。もう何も止めません: {reason}（{how}）"
        ))
        .print();
    }
    Ok(ExitCode::SUCCESS)
}

fn workflow_title(manifest: &Manifest) -> String {
    match manifest.feature.as_deref() {
        Some(feature) => format!("{} ({feature})", manifest.name),
        None => manifest.name.clone(),
    }
}

fn list_risks(gate: Gate, path: &str) -> Vec<Bilingual> {
    let (number, after, next) = (gate.number, gate.after, gate.after + 1);
    vec![
        both!(
            "This skips the checkpoint between phase {after} and phase {next} of {path}.",
            "{path} のフェーズ{after}とフェーズ{next}の間のチェックポイントを飛ばします。"
        ),
        both!("Risks:", "起こりうること:"),
        both!(
            "- the context window runs out in a later phase",
            "- あとのフェーズでコンテキストが足りなくなる"
        ),
        both!(
            "- agents work worse in a context full of old output",
            "- 古い出力でいっぱいのコンテキストでは、エージェントの質が落ちる"
        ),
        both!("- the workflow fails and has to start again", "- ワークフローが失敗し、やり直しになる"),
        both!(
            "Instead, Claude can add what `tidegate workflow check {number}` lists as missing.",
            "代わりに、`tidegate workflow check {number}` に出る不足を Claude が補うこともできます。"
        ),
    ]
}

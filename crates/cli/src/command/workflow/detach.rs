//! `tidegate workflow detach`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tidegate_core::feature::workflow::closed::ClosedGate;
use tidegate_core::feature::workflow::marks::Mark as WorkflowMark;
use tidegate_core::pipeline::record::Deeds;

use super::project_workflow::{ProjectWorkflow, check_named};
use crate::approval::{Consent, consent_to_tighten};
use crate::args::ProjectArgs;
use crate::bilingual::both;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;
use crate::shell::quote_path;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow detach
  tidegate workflow detach --manifest PATH    one that no running session uses

This needs a person's yes, like `skip`, while a checkpoint blocks agents; if an agent
runs it, also before a checkpoint.")]
pub(crate) struct Args {
    /// Detach this one, which no session uses; refuse if another is in use
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
    let session = place.known_session()?;
    let found = place.attached().cloned();
    let named = args
        .manifest
        .as_deref()
        .filter(|named| found.as_ref().is_none_or(|attached| *named != Path::new(&attached.manifest)));
    let is_own = named.is_none();
    let found = match named {
        Some(path) if found.is_none() => Some(place.find_left(path)?),
        _ => found,
    };
    let Some(attached) = &found else {
        let session = &session.id;
        return Err(CliError::new(both!(
            "session {session} does not use a workflow",
            "セッション {session} はワークフローを使っていません"
        ))
        .hint(both!(
            "`tidegate workflow status` shows those of this project; `--manifest PATH` detaches one that no session uses",
            "`tidegate workflow status` でこのプロジェクトのものを見られます。どのセッションも使っていないものは `--manifest PATH` で手放せます"
        )));
    };
    check_named(args.manifest.as_deref(), &attached.manifest)?;
    let mut given = consent_to_tighten(&place.project.here, "a workflow was detached");
    // An agent asks before any checkpoint: the person expects it to stop there.
    let closed = place.closed_gate().filter(|_| is_own);
    let is_lost = matches!(closed, Some(ClosedGate::Lost(..)));
    if let Some(gate) = closed.map(|closed| closed.gate().number).or_else(|| place.next_gate(attached)) {
        let path = &attached.manifest;
        let would = [
            both!(
                "This stops using {path}, although its checkpoint {gate} has not passed.",
                "チェックポイント{gate}を通過していませんが、{path} の使用をやめます。"
            ),
            if is_lost {
                both!(
                    "Instead, Claude can restore what that file said.",
                    "代わりに、このファイルの内容を Claude が元に戻すこともできます。"
                )
            } else {
                both!(
                    "Instead, Claude can add what `tidegate workflow check {gate}` lists as missing.",
                    "代わりに、`tidegate workflow check {gate}` に出る不足を Claude が補うこともできます。"
                )
            },
        ];
        let about = format!("stop using a workflow whose checkpoint {gate} has not passed");
        let command = format!("workflow detach --manifest {}", quote_path(Path::new(&attached.manifest)));
        given = match place.ask_consent(command, about, &would, args.approved, args.of.json)? {
            Consent::Given(given) => given,
            Consent::Waits(code) => return Ok(code),
        };
    }
    if is_own {
        place.append_mark(&session.id, WorkflowMark::WorkflowLeft.into())?;
    }
    place.release(attached)?;
    place.record_command("detach", &given, Deeds::default());
    if args.of.json {
        print::json(
            &json!({ "manifest": attached.manifest, "session": session.id.as_str(), "attached": false }),
        );
    } else {
        let (session, path) = (&session.id, &attached.manifest);
        Page::of(both!(
            "Session {session} no longer uses {path}. The file stays as it is.",
            "セッション {session} は {path} の使用をやめました。ファイルはそのままです。"
        ))
        .print();
    }
    Ok(ExitCode::SUCCESS)
}

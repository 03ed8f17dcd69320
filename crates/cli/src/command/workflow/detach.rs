//! `tidegate workflow detach`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
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
    let place = ProjectWorkflow::find_to_change(&args.of)?;
    let session = place.known_session()?;
    let Some(attached) = place.attached() else {
        let session = &session.id;
        return Err(CliError::new(both!(
            "session {session} does not use a workflow",
            "セッション {session} はワークフローを使っていません"
        ))
        .hint(both!(
            "`tidegate workflow status` shows the workflows of this project",
            "`tidegate workflow status` でこのプロジェクトのワークフローを見られます"
        )));
    };
    check_named(args.manifest.as_deref(), &attached.manifest)?;
    let mut given = consent_to_tighten(&place.project.here, "a workflow was detached");
    if let Some(closed) = place.closed_gate() {
        let gate = closed.gate().number;
        let path = &attached.manifest;
        let would = [
            both!(
                "This stops using {path}, although its checkpoint {gate} has not passed.",
                "チェックポイント{gate}を通過していませんが、{path} の使用をやめます。"
            ),
            both!(
                "Instead, Claude can add what `tidegate workflow check {gate}` lists as missing.",
                "代わりに、`tidegate workflow check {gate}` に出る不足を Claude が補うこともできます。"
            ),
        ];
        let about = format!("stop using a workflow whose checkpoint {gate} has not passed");
        let command = format!("workflow detach --manifest {}", quote_path(Path::new(&attached.manifest)));
        given = match place.ask_consent(command, about, &would, args.approved, args.of.json)? {
            Consent::Given(given) => given,
            Consent::Waits(code) => return Ok(code),
        };
    }
    place.append_mark(&session.id, WorkflowMark::WorkflowLeft.into())?;
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

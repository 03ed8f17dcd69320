//! `tidegate workflow attach`.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tidegate_core::event::SessionId;
use tidegate_core::feature::workflow::closed::{ClosedGate, Loss, PendingGate};
use tidegate_core::feature::workflow::marks::Mark as WorkflowMark;
use tidegate_core::feature::workflow::standing::WorkflowStanding;
use tidegate_core::feature::workflow::{AttachedWorkflow, Manifest};
use tidegate_core::pipeline::record::Deeds;

use super::project_workflow::{ProjectWorkflow, usable_manifest};
use crate::approval::consent_to_tighten;
use crate::args::ProjectArgs;
use crate::bilingual::both;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;
use crate::print::text::data;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow attach .claude/.output/features/user-dashboard/MANIFEST.yaml

A manifest belongs to the last session that wrote or attached it.")]
pub(crate) struct Args {
    /// Path of the manifest
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectWorkflow::find(&args.of)?;
    place.check_caller()?;
    let session = place.known_session()?;
    let cwd = std::env::current_dir().unwrap_or_default();
    let root = &place.project.root;
    let standing = place
        .read_manifest(root, &cwd.join(&args.path))
        .or_else(|_| place.read_manifest(root, &args.path))?;
    let manifest = usable_manifest(&standing)?;
    let before = place.attached();
    let is_same = before.is_some_and(|attached| attached.manifest == standing.path);
    let closed = place.closed_gate();
    let is_moved = matches!(closed, Some(ClosedGate::Lost(_, Loss::Gone)))
        && before.is_some_and(|before| has_its_gates(before, &standing, manifest));
    if let Some(gate) = place.gate_to_keep().filter(|_| !is_same && !is_moved) {
        return Err(unfinished_workflow(gate));
    }
    place.record_owner(&standing, Some(&session.id))?;
    let new = match before.filter(|_| closed.is_some()) {
        Some(before) if is_same => before.clone(),
        Some(before) => {
            place.release(before)?;
            AttachedWorkflow { manifest: standing.path.clone(), ..before.clone() }
        }
        None => standing.attach(manifest, None, place.project.here.now),
    };
    place.remember_closed(&standing, &new.pending)?;
    place.append_mark(&session.id, WorkflowMark::Workflow(Box::new(new)).into())?;
    place.record_command(
        &format!("attach {}", standing.path),
        &consent_to_tighten(&place.project.here, "a workflow was attached"),
        Deeds::default(),
    );
    print_attached(&args.of, &standing, manifest, Some(&session.id));
    place.warn_if_off();
    Ok(ExitCode::SUCCESS)
}

/// A manifest that was moved keeps its closed checkpoints. Another one in its place would open them.
fn has_its_gates(before: &AttachedWorkflow, standing: &WorkflowStanding, manifest: &Manifest) -> bool {
    let pending = standing.pending_gates();
    let is_pending = |known: &PendingGate| pending.contains(&known.gate());
    let is_due = |known: &PendingGate| is_pending(known) || manifest.current == Some(known.after);
    before.workflow == manifest.name && before.pending.iter().all(is_pending) && before.due.iter().all(is_due)
}

pub(super) fn print_attached(
    of: &ProjectArgs,
    standing: &WorkflowStanding,
    manifest: &Manifest,
    session: Option<&SessionId>,
) {
    if of.json {
        print::json(&json!({
            "manifest": standing.path, "workflow": manifest.name, "phase": manifest.current,
            "session": session.map(SessionId::as_str),
        }));
        return;
    }
    attached_page(&standing.path, manifest, session).print();
}

fn attached_page(path: &str, manifest: &Manifest, session: Option<&SessionId>) -> Page {
    let name = &manifest.name;
    let mut page = Page::new();
    page.paragraph(match session {
        Some(session) => both!(
            "Session {session} now uses the workflow {name}.",
            "セッション {session} でワークフロー {name} を使います。"
        ),
        None => both!(
            "The workflow {name} is ready, but no session uses it yet.",
            "ワークフロー {name} の準備ができました。まだどのセッションも使っていません。"
        ),
    });
    let phase = manifest.current.and_then(|number| Some((number, manifest.workflow.phase(number)?.title())));
    let phase = phase.map(|(number, title)| {
        let of = manifest.workflow.phases.len();
        let text = both!("{number} of {of} ({title})", "{number}/{of}（{title}）");
        (both!("phase", "フェーズ").into(), text.into())
    });
    page.pairs(phase.into_iter().chain([(both!("manifest", "マニフェスト").into(), data(path))]));
    if session.is_none() {
        page.paragraph(both!(
            "Use it: run `tidegate workflow attach {path}` inside a session.",
            "使うには、セッションの中で `tidegate workflow attach {path}` を実行してください。"
        ));
    }
    page
}

/// Refuses another workflow while a checkpoint of this session's blocks.
pub(super) fn unfinished_workflow(gate: usize) -> CliError {
    CliError::new(both!(
        "checkpoint {gate} of this session's workflow has not passed",
        "このセッションのワークフローは、チェックポイント{gate}をまだ通過していません"
    ))
    .hint(both!(
        "`tidegate workflow check` shows what is missing; `tidegate workflow detach` stops using that workflow",
        "足りないものは `tidegate workflow check` で見られます。そのワークフローの使用をやめるには `tidegate workflow detach` を実行してください"
    ))
}

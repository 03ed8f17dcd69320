//! `tidegate handoff`: writes a file from which another session can continue. The host refuses its own tools in
//! `.claude/context`, so a model calls this.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::HANDOFF_FILE;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::workflow::standing::WorkflowStanding;
use tidegate_core::pipeline::record::Deeds;
use tidegate_state::feature::knowledge::handoff;
use tidegate_state::feature::workflow;
use tidegate_state::feature::workflow::SoughtManifest;

use super::Outcome;
use crate::approval::{self, consent_to_tighten};
use crate::args::ProjectArgs;
use crate::bilingual::both;
use crate::error::CliError;
use crate::knowledge::{Project, fix_file};
use crate::print;
use crate::print::page::Page;
use crate::sessions::Session;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate handoff                        write .claude/context/handoff.md
  tidegate handoff --dry-run              print it, write nothing
  tidegate handoff --json | jq -r .file

Contains the goal and the constraints of the plan, the state of a cycle or workflow,
decisions, unverified edits, notes to review, next steps, open questions and paths.
Leaves out everything that is not known, and the words of your prompts. Within a day
Tidegate tells each new session about the file, once. It writes the file anew each
time and keeps your own changes in handoff.kept.md.")]
pub(crate) struct Args {
    /// Print the summary and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Serialize)]
struct ShownHandoff {
    file: PathBuf,
    project: PathBuf,
    at: String,
    /// Backup of a file that a person had written there.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<PathBuf>,
    /// With `--dry-run`, the text that would be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// The session that calls or is named, else the newest one of the project.
fn find_session(project: &Project, args: &Args) -> Option<Session> {
    if args.of.project.is_none() {
        return project.here.session(None).ok();
    }
    let is_here = |session: &Session| {
        session.marks.session.root.as_deref().map(Path::new) == Some(project.root.as_path())
    };
    project.here.all().into_iter().find(is_here)
}

pub(crate) fn run(args: &Args) -> Outcome {
    let project = Project::find(&args.of)?;
    let here = &project.here;
    let session = find_session(&project, args);
    let of = session.as_ref().map(|session| (&session.id, &session.marks));
    let file = project.folder().join(HANDOFF_FILE);
    let attached = session.as_ref().and_then(|session| session.marks.workflow.attached.as_ref());
    let standing = attached.map(|attached| {
        let (root, path) = (Path::new(&attached.project), attached.manifest.clone().into());
        let sought = SoughtManifest { root, path, attached: Some(attached), left: false };
        workflow::read(Some(&here.state), &sought, &here.config, &|| true)
    });
    let standing = standing.as_ref().and_then(Known::value);
    let work = standing.and_then(WorkflowStanding::steps).into_iter().collect();
    let found = handoff::collect(&here.state, &project.root, &here.config, of, work, here.now);
    if found.is_empty() {
        return Err(CliError::new(both!(
            "there is nothing to hand off: no plan, note, cycle, workflow or edit was seen",
            "引き継ぐものがありません（計画、メモ、サイクル、ワークフロー、編集のどれも見つかりません）"
        ))
        .hint(both!(
            "`tidegate progress add` writes down a finished step and the next one",
            "`tidegate progress add` で、終えたことと次にすることを書けます"
        )));
    }
    let mut shown =
        ShownHandoff { file, project: project.root.clone(), at: found.at.iso(), kept: None, text: None };
    if args.dry_run {
        let text = found.text();
        if args.of.json {
            shown.text = Some(text);
            print::json(&shown);
        } else {
            print::line(text.trim_end());
        }
        return Ok(ExitCode::SUCCESS);
    }
    // At a terminal there is no session to attribute it to, so the next one is told of it like any other.
    let by = session.as_ref().map(|session| &session.id);
    let by = by.filter(|id| here.env.agent && project.session.as_ref() == Some(id));
    let written = handoff::write(&here.state, &project.root, &found, by)
        .map_err(|error| Project::unwritten(&shown.file, &error).hint(fix_file()))?;
    approval::record_command(
        here,
        "handoff",
        &consent_to_tighten(here, "a handoff was written"),
        Deeds::default(),
    );
    shown.kept = written.kept;
    if args.of.json {
        print::json(&shown);
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Page::new();
    let file = shown.file.display();
    page.paragraph(both!(
        "Wrote the handoff to {file}. Tidegate tells the next session here about it.",
        "引き継ぎを {file} に書きました。次のセッションに伝えます。"
    ));
    if let Some(kept) = &shown.kept {
        let kept = kept.display();
        page.paragraph(both!(
            "The file had changes of yours: they are kept in {kept}.",
            "ファイルにあったあなたの変更は {kept} に残しました。"
        ));
    }
    page.print();
    Ok(ExitCode::SUCCESS)
}

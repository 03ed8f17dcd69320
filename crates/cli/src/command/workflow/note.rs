//! `tidegate workflow note`.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use tidegate_core::text::tokens::estimate_tokens;

use serde_json::json;
use tidegate_core::feature::workflow::check;
use tidegate_core::feature::workflow::check::{FoundFile, NamedFile};
use tidegate_core::feature::workflow::manifest;
use tidegate_core::feature::workflow::standing::WorkflowStanding;
use tidegate_core::feature::workflow::{Gate, Manifest};
use tidegate_state::feature::workflow;

use super::phase::check_gates;
use super::project_workflow::{ProjectWorkflow, find_section, usable_manifest};
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;
use crate::print::remark;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate workflow note 3 --output discovery.md < findings.md
  tidegate workflow note 3 --summary \"React 19. Key decisions: keep the hooks. Details: discovery.md\"
  tidegate workflow note discovery --artifact docs/discovery.md --status complete

Claude Code may refuse its own editing tools below `.claude`; this command writes
there, and changes nothing else in the manifest. --output writes stdin to a file next
to the manifest and adds the file to the phase's artifacts.")]
pub(crate) struct Args {
    /// Number or name of the phase
    #[arg(value_name = "PHASE")]
    pub(crate) phase: String,
    /// Summary for later phases, in at most 200 tokens
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
    /// File with its output; can be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) artifact: Vec<String>,
    /// Write stdin to this file next to the manifest
    #[arg(long, value_name = "NAME")]
    pub(crate) output: Option<String>,
    /// Status of the phase
    #[arg(long, value_name = "STATUS", value_parser = ["pending", "in_progress", "complete", "blocked", "skipped"])]
    pub(crate) status: Option<String>,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = ProjectWorkflow::find_to_change(&args.of)?;
    let mut standing = place.read_standing()?;
    let manifest = usable_manifest(&standing)?;
    let (number, key) = find_section(manifest, &args.phase)?;
    let begins = args.status.as_deref().is_some_and(|status| matches!(status, "in_progress" | "complete"));
    if begins && manifest.current.is_some_and(|current| current < number) {
        let definition = manifest.workflow.clone();
        check_gates(&place, &mut standing, &definition, number)?;
    }
    let manifest = usable_manifest(&standing)?;
    let mut artifacts = manifest.section(number).map(|section| section.artifacts.clone()).unwrap_or_default();
    let before = artifacts.len();
    check_artifacts(&standing, &args.artifact)?;
    if let Some(name) = &args.output {
        write_output(&place, &standing, name)?;
    }
    for name in args.artifact.iter().chain(&args.output) {
        if !artifacts.contains(name) {
            artifacts.push(name.clone());
        }
    }
    let wanted = manifest::PhaseNote {
        status: args.status.as_deref(),
        summary: args.summary.as_deref().map(str::trim).filter(|summary| !summary.is_empty()),
        artifacts: if artifacts.len() > before { artifacts } else { Vec::new() },
    };
    if wanted == manifest::PhaseNote::default() && args.output.is_none() {
        return Err(CliError::new(both!("there is nothing to write", "書き込むものがありません")).hint(
            both!(
                "add --summary, --artifact, --output or --status",
                "--summary、--artifact、--output、--status のどれかを付けてください"
            ),
        ));
    }
    let now = place.project.here.now;
    let is_last = manifest.current == Some(number) && number == manifest.workflow.phases.len();
    let ends = is_last && args.status.as_deref().is_some_and(manifest::is_finished);
    let pending = standing.pending_gates().first().copied();
    place.change_manifest(&standing, |text| {
        let text = manifest::note_phase(text, &key, &wanted, now)?;
        if ends && pending.is_none() { manifest::complete_workflow(&text) } else { Ok(text) }
    })?;
    place.follow_change(&standing)?;
    let tokens = wanted.summary.map(estimate_tokens);
    if args.of.json {
        print::json(&json!({
            "manifest": standing.path, "phase": number, "section": key, "summary_tokens": tokens,
            "complete": ends && pending.is_none(),
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let path = &standing.path;
    let mut page =
        Page::of(both!("Wrote phases.{key} in {path}.", "{path} の phases.{key} に書き込みました。"));
    if let Some(next) = describe_next(manifest, number, args.status.as_deref(), pending.filter(|_| is_last)) {
        page.paragraph(next);
    }
    page.print();
    if let Some(tokens) = tokens.filter(|tokens| *tokens > check::MAX_SUMMARY_TOKENS) {
        let most = check::MAX_SUMMARY_TOKENS;
        remark::warn(both!(
            "the summary has about {tokens} tokens; a checkpoint accepts at most {most}",
            "要約は約{tokens}トークンあります。チェックポイントを通過できるのは{most}トークンまでです"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// After the end of a phase.
fn describe_next(
    manifest: &Manifest,
    number: usize,
    status: Option<&str>,
    pending: Option<Gate>,
) -> Option<Bilingual> {
    status.filter(|status| manifest::is_finished(status))?;
    let gate = manifest.workflow.gates().into_iter().find(|gate| gate.after == number);
    let (name, next) = (&manifest.name, number + 1);
    Some(match (pending, gate) {
        (Some(Gate { number: gate, .. }), _) => both!(
            "The workflow {name} is complete once checkpoint {gate} has passed: `tidegate workflow check {gate}`",
            "ワークフロー {name} は、チェックポイント{gate}を通過すると完了です: `tidegate workflow check {gate}`"
        ),
        (None, _) if number == manifest.workflow.phases.len() => both!(
            "The workflow {name} is complete. Nothing is left to do.",
            "ワークフロー {name} が完了しました。残りの作業はありません。"
        ),
        (None, Some(Gate { number: gate, .. })) => both!(
            "Next: `tidegate workflow pass {gate}`, then `tidegate workflow phase {next}`",
            "次は `tidegate workflow pass {gate}`、そのあと `tidegate workflow phase {next}` です。"
        ),
        (None, None) => {
            both!("Next: `tidegate workflow phase {next}`", "次は `tidegate workflow phase {next}` です。")
        }
    })
}

/// Refuses artifacts that a gate would not accept: no command takes them out of the manifest again.
fn check_artifacts(standing: &WorkflowStanding, names: &[String]) -> Result<(), CliError> {
    // The session may have moved to another worktree.
    let root = Path::new(&standing.root);
    for NamedFile { name, found } in
        workflow::check_files(root, &root.join(&standing.path), names.to_vec(), &|| true)
    {
        match found {
            FoundFile::Missing => {
                return Err(CliError::new(both!(
                    "there is no file {name}, next to the manifest or in the project",
                    "{name} というファイルは、マニフェストの隣にもプロジェクトにもありません"
                ))
                .hint(both!(
                    "write it first; --output writes one next to the manifest",
                    "先にファイルを書いてください。--output を使うとマニフェストの隣に書けます"
                )));
            }
            FoundFile::Outside => {
                return Err(CliError::new(both!(
                    "{name} is outside the project",
                    "{name} はプロジェクトの外にあります"
                ))
                .hint(both!(
                    "copy it into the project, or pipe its text into --output",
                    "プロジェクトにコピーするか、内容を --output に渡してください"
                )));
            }
            FoundFile::File { .. } | FoundFile::Unread(_) | FoundFile::Folder => {}
        }
    }
    Ok(())
}

/// Copies standard input to a file next to the manifest.
fn write_output(place: &ProjectWorkflow, standing: &WorkflowStanding, name: &str) -> Result<(), CliError> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(fits) || name == manifest::MANIFEST_FILE
    {
        return Err(CliError::new(both!(
            "{name} cannot be the name of a file here",
            "{name} はここではファイル名にできません"
        ))
        .hint(both!(
            "use letters, digits, `-`, `_` and `.`; --artifact names files elsewhere",
            "文字、数字、`-`、`_`、`.` を使ってください。ほかの場所のファイルは --artifact で指定します"
        )));
    }
    let mut text = Vec::new();
    std::io::stdin()
        .lock()
        .take(workflow::LARGEST_OUTPUT + 1)
        .read_to_end(&mut text)
        .map_err(CliError::new)?;
    if text.trim_ascii().is_empty() {
        return Err(CliError::new(both!("stdin was empty", "標準入力が空でした"))
            .hint(both!("pipe the output into this command", "内容をこのコマンドにパイプで渡してください")));
    }
    let (state, root) = (&place.project.here.state, Path::new(&standing.root));
    workflow::write_output(state, root, Path::new(&standing.path), name, &text).map_err(|error| {
        CliError::new(both!("cannot write {name}: {error}", "{name} に書き込めません: {error}")).hint(both!(
            "nothing was changed; check that you can write to the manifest's folder",
            "何も変更していません。マニフェストのフォルダに書き込めるか確認してください"
        ))
    })
}

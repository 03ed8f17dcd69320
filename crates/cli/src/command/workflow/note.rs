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
use tidegate_state::feature::workflow;

use super::project_workflow::{ProjectWorkflow, find_section, usable_manifest};
use crate::args::ProjectArgs;
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;

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
    let place = ProjectWorkflow::find_attached(&args.of)?;
    let standing = place.read_standing()?;
    let manifest = usable_manifest(&standing)?;
    let (number, key) = find_section(manifest, &args.phase)?;
    let mut artifacts = manifest.section(number).map(|section| section.artifacts.clone()).unwrap_or_default();
    let before = artifacts.len();
    check_artifacts(&place, &standing, &args.artifact)?;
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
        return Err(CliError::new("there is nothing to write")
            .hint("give it a --summary, an --artifact, an --output or a --status"));
    }
    let now = place.project.here.now;
    place.change_manifest(&standing, |text| {
        manifest::note_phase(text, &key, &wanted, now).map_err(|why| why.to_string())
    })?;
    let tokens = wanted.summary.map(estimate_tokens);
    if args.of.json {
        print::json(
            &json!({ "manifest": standing.path, "phase": number, "section": key, "summary_tokens": tokens }),
        );
        return Ok(ExitCode::SUCCESS);
    }
    print::line(&format!("phases.{key} in {} was written", standing.path));
    if let Some(tokens) = tokens.filter(|tokens| *tokens > check::MAX_SUMMARY_TOKENS) {
        print::to_stderr(&format!(
            "warning: the summary is about {tokens} tokens, and a gate lets at most {} through",
            check::MAX_SUMMARY_TOKENS
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses artifacts that a gate would not accept: no command takes them out of the manifest again.
fn check_artifacts(
    place: &ProjectWorkflow,
    standing: &WorkflowStanding,
    names: &[String],
) -> Result<(), CliError> {
    let root = &place.project.root;
    for NamedFile { name, found } in
        workflow::check_files(root, &root.join(&standing.path), names.to_vec(), &|| true)
    {
        match found {
            FoundFile::Missing => {
                return Err(CliError::new(format!(
                    "there is no file {name}, beside the manifest or in the project"
                ))
                .hint("write it first; --output writes one beside the manifest"));
            }
            FoundFile::Outside => {
                return Err(CliError::new(format!("{name} is outside of the project"))
                    .hint("copy it into the project, or give it to --output"));
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
        return Err(CliError::new(format!("{name} cannot be the name of a file here"))
            .hint("use letters, digits, `-`, `_` and `.`; --artifact names files elsewhere"));
    }
    let mut text = Vec::new();
    std::io::stdin()
        .lock()
        .take(workflow::LARGEST_OUTPUT + 1)
        .read_to_end(&mut text)
        .map_err(CliError::new)?;
    if text.trim_ascii().is_empty() {
        return Err(CliError::new("nothing came in on standard input"));
    }
    let (state, root) = (&place.project.here.state, Path::new(&standing.root));
    workflow::write_output(state, root, Path::new(&standing.path), name, &text)
        .map_err(|error| CliError::new(format!("{name} was not written: {error}")))
}

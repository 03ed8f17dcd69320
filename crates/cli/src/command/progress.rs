//! `tidegate progress`: entries about finished steps. The host refuses its own tools in `.claude/context`, so a model
//! writes there with this.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::knowledge::entry_id::EntryId;
use tidegate_core::feature::knowledge::flow;
use tidegate_core::feature::knowledge::flow::NewEntry;
use tidegate_core::pipeline::record::Deeds;
use tidegate_core::text::one_line::one_line;

use super::{Outcome, memory};
use crate::approval::{self, consent_to_tighten};
use crate::args::ProjectArgs;
use crate::bilingual::{Bilingual, both};
use crate::knowledge::{Entry, Project, fix_file, required_line};
use crate::local_time::LocalClock;
use crate::print;
use crate::print::page::Page;
use crate::print::remark;
use crate::print::text::{Text, prose};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ProgressCommand {
    /// Add a note to `.claude/context/progress.md`
    #[command(after_help = "\
Examples:
  tidegate progress add \"Parser reads CRLF files\"
  tidegate progress add \"Chose one lock per project\" --change src/lock.rs \\
      --decision \"flock, not a lock file\" --rationale \"it goes with the process\" \\
      --next \"the same for the archive\"

Adds the note next to the newest one, and creates the file if it is missing. Works in
any folder of the project, not in the home directory itself. Each worktree has a file of its own.")]
    Add(ProgressAdd),
    /// List the notes, newest first
    #[command(after_help = "\
Examples:
  tidegate progress list
  tidegate progress list --unpromoted
  tidegate progress list --json | jq -r '.entries[].what'")]
    List(ProgressList),
    /// Show one note
    #[command(after_help = "\
Examples:
  tidegate progress show 3f9a
  tidegate progress show 3f9a --json")]
    Show(ProgressShow),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgressAdd {
    /// Finished step, in one line
    #[arg(value_name = "WHAT")]
    pub(crate) what: String,
    /// Key change; can be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) change: Vec<String>,
    /// Decision; can be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) decision: Vec<String>,
    /// Reason
    #[arg(long, value_name = "TEXT")]
    pub(crate) rationale: Option<String>,
    /// Next step; can be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) next: Vec<String>,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgressList {
    /// List only notes that are not reviewed yet
    #[arg(long)]
    pub(crate) unpromoted: bool,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgressShow {
    /// Id of the note, or its beginning
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) of: ProjectArgs,
}

pub(crate) fn run(command: &ProgressCommand) -> Outcome {
    match command {
        ProgressCommand::Add(args) => add_entry(args),
        ProgressCommand::List(args) => list_entries(args),
        ProgressCommand::Show(args) => show_entry(args),
    }
}

#[derive(Serialize)]
struct Added {
    id: Option<EntryId>,
    /// Ids in the memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decisions: Vec<i64>,
    file: PathBuf,
    project: PathBuf,
}

fn add_entry(args: &ProgressAdd) -> Outcome {
    let project = Project::find(&args.of)?;
    project.check_is_known()?;
    // An empty flag adds nothing.
    let lines = |texts: &[String]| -> Vec<String> {
        texts.iter().map(|text| one_line(text)).filter(|text| !text.is_empty()).collect()
    };
    let entry = NewEntry {
        at: project.here.now,
        what: required_line("WHAT", &args.what)?,
        changes: lines(&args.change),
        decisions: lines(&args.decision),
        rationale: args.rationale.as_deref().map(one_line).filter(|text| !text.is_empty()),
        next: lines(&args.next),
    };
    let file = project.folder().join(flow::FILE);
    let id = project.add(&entry).map_err(|error| Project::unwritten(&file, &error).hint(fix_file()))?;
    // The note is there, whatever the memory does.
    let decisions = memory::note_decisions(&project.root, &entry).unwrap_or_else(|error| {
        let Bilingual { en, ja } = error.words();
        remark::warn(both!(
            "the decision is in the note, but not in the memory: {en}",
            "決定はメモに書きましたが、記憶には入っていません: {ja}"
        ));
        Vec::new()
    });
    let given = consent_to_tighten(&project.here, "an entry was written");
    approval::record_command(
        &project.here,
        "progress add",
        &given,
        Deeds { entry: true, ..Deeds::default() },
    );
    if args.of.json {
        print::json(&Added { id, decisions, file, project: project.root });
    } else {
        let (id, file) = (id.map(|id| id.to_string()).unwrap_or_default(), file.display());
        Page::of(both!("Added note {id} to {file}", "メモ {id} を {file} に追加しました")).print();
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct ListedProgress<'a> {
    project: &'a Path,
    entries: Vec<Entry>,
}

fn list_entries(args: &ProgressList) -> Outcome {
    let project = Project::find(&args.of)?;
    let mut entries = project.read()?.entries();
    // Archived entries are listed only until they are reviewed.
    entries.retain(|entry| if args.unpromoted { entry.unpromoted } else { entry.file == flow::FILE });
    if args.of.json {
        print::json(&ListedProgress { project: &project.root, entries });
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Page::new();
    if entries.is_empty() {
        let folder = project.folder();
        let folder = folder.display();
        page.paragraph(if args.unpromoted {
            both!("All notes in {folder} are reviewed.", "{folder} のメモはすべて整理済みです。")
        } else {
            both!(
                "There is no note in {folder} yet. Add one: `tidegate progress add \"…\"`",
                "{folder} にはまだメモがありません。追加するには `tidegate progress add \"…\"`"
            )
        });
    }
    let clock = LocalClock::of_system(project.here.now);
    for entry in &entries {
        let mark = if entry.unpromoted && !args.unpromoted {
            Text::from(both!("  (not reviewed)", "（未整理）")).warning()
        } else {
            Text::default()
        };
        page.item(entry.line(&clock) + mark);
    }
    page.print();
    Ok(ExitCode::SUCCESS)
}

fn show_entry(args: &ProgressShow) -> Outcome {
    let project = Project::find(&args.of)?;
    let entry = project.read()?.entry(&args.id)?;
    if args.of.json {
        print::json(&entry);
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Page::new();
    page.heading(prose(&entry.heading));
    if !entry.body.is_empty() {
        page.paragraph(prose(&entry.body));
    }
    page.print();
    Ok(ExitCode::SUCCESS)
}

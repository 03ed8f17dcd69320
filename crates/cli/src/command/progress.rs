//! `tidegate progress`: what was done, entry by entry. The host refuses its own tools in `.claude/context`, so this is how a
//! model writes there.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::knowledge::entry_id::EntryId;
use tidegate_core::feature::knowledge::flow;
use tidegate_core::feature::knowledge::flow::NewEntry;
use tidegate_core::pipeline::record::Deeds;
use tidegate_core::text::one_line::one_line;

use super::Outcome;
use crate::approval::{self, tightened};
use crate::args::{ProgressAdd, ProgressCommand, ProgressList, ProgressShow};
use crate::knowledge::{Entry, Project, said};
use crate::print;

pub(crate) fn run(command: &ProgressCommand) -> Outcome {
    match command {
        ProgressCommand::Add(args) => add(args),
        ProgressCommand::List(args) => list(args),
        ProgressCommand::Show(args) => show(args),
    }
}

#[derive(Serialize)]
struct Added {
    id: Option<EntryId>,
    file: PathBuf,
    project: PathBuf,
}

fn add(args: &ProgressAdd) -> Outcome {
    let project = Project::find(&args.of)?;
    // A flag that was given with nothing to say says nothing.
    let lines = |texts: &[String]| -> Vec<String> {
        texts.iter().map(|text| one_line(text)).filter(|text| !text.is_empty()).collect()
    };
    let entry = NewEntry {
        at: project.here.now,
        what: said("the entry", &args.what)?,
        changes: lines(&args.change),
        decisions: lines(&args.decision),
        rationale: args.rationale.as_deref().map(one_line).filter(|text| !text.is_empty()),
        next: lines(&args.next),
    };
    let file = project.folder().join(flow::FILE);
    let id = project.add(&entry).map_err(|error| {
        Project::unwritten(&file, &error)
            .hint("nothing was changed; mend that file or folder, and add it again")
    })?;
    let given = tightened(&project.here, "an entry was written");
    approval::record(&project.here, "progress add", &given, Deeds { entry: true, ..Deeds::default() });
    if args.of.json {
        print::json(&Added { id, file, project: project.root });
    } else {
        let id = id.map(|id| format!("entry {id}")).unwrap_or_default();
        print::line(&format!("{id} was written to {}", file.display()));
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Listed<'a> {
    project: &'a Path,
    entries: Vec<Entry>,
}

fn list(args: &ProgressList) -> Outcome {
    let project = Project::find(&args.of)?;
    let mut entries = project.read()?.entries();
    // What was moved to the archive is listed only where it still has to be gone through.
    entries.retain(|entry| if args.unpromoted { entry.unpromoted } else { entry.file == flow::FILE });
    if args.of.json {
        print::json(&Listed { project: &project.root, entries });
        return Ok(ExitCode::SUCCESS);
    }
    if entries.is_empty() {
        let none = if args.unpromoted { "every entry is promoted" } else { "there is no entry yet" };
        print::line(&format!("{none} in {}", project.folder().display()));
    }
    for entry in &entries {
        let unpromoted = if entry.unpromoted && !args.unpromoted { "  (unpromoted)" } else { "" };
        let archived = if entry.file == flow::ARCHIVE { "  (archive)" } else { "" };
        if !print::line(&format!("{}{unpromoted}{archived}", entry.line())) {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show(args: &ProgressShow) -> Outcome {
    let project = Project::find(&args.of)?;
    let entry = project.read()?.entry(&args.id)?;
    if args.of.json {
        print::json(&entry);
        return Ok(ExitCode::SUCCESS);
    }
    print::line(&format!("## {}", entry.heading));
    if !entry.body.is_empty() {
        print::line(&entry.body);
    }
    Ok(ExitCode::SUCCESS)
}

//! `tidegate memory stats`.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use tidegate_memory::memory::MemoryHome;
use tidegate_memory::sqlite::StoreSizes;

use super::{Opened, count_waiting_jobs};
use crate::command::Outcome;
use crate::print;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tidegate memory stats\n  tidegate memory stats --json")]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Stats {
    store: PathBuf,
    #[serde(flatten)]
    sizes: Option<StoreSizes>,
    copies: Vec<PathBuf>,
    damaged: Vec<PathBuf>,
    /// Jobs that wait for the worker.
    waiting: usize,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut opened = Opened::look()?;
    let sizes = opened.as_mut().map(|opened| opened.memory.sizes()).transpose()?;
    let here = Here::find()?;
    let home = MemoryHome::of(&here.env.place)?;
    let waiting = count_waiting_jobs(&here);
    let stats =
        Stats { store: home.file(), sizes, copies: home.copies(), damaged: home.damaged_files(), waiting };
    if args.json {
        print::json(&stats);
        return Ok(ExitCode::SUCCESS);
    }
    let Some(sizes) = &stats.sizes else {
        print::line("nothing has been recorded yet");
        return Ok(ExitCode::SUCCESS);
    };
    print::line(&format!("{} ({} KB)", stats.store.display(), sizes.bytes / 1024));
    for (name, count) in [
        ("projects", sizes.projects),
        ("topics", sizes.topics),
        ("automatic topics", sizes.automatic_topics),
        ("decisions", sizes.decisions),
        ("sessions", sizes.sessions),
        ("logs", sizes.logs),
        ("logs to be summed up again", sizes.logs_again),
        ("stock and progress", sizes.notes),
        ("jobs that wait", stats.waiting as u64),
        ("rows for the team", sizes.outbox),
        ("copies", stats.copies.len() as u64),
        ("damaged files kept", stats.damaged.len() as u64),
    ] {
        print::line(&format!("  {count:>8}  {name}"));
    }
    Ok(ExitCode::SUCCESS)
}

//! `tidegate memory stats`.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use tidegate_memory::memory::MemoryHome;
use tidegate_memory::sqlite::StoreSizes;

use super::{Opened, count_waiting_jobs};
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::print;
use crate::print::page::Page;
use crate::print::table::{Column, Table};
use crate::print::text::data;
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
    match &stats.sizes {
        None => {
            Page::of(both!("Tidegate has not recorded anything yet.", "まだ何も記録されていません。")).print()
        }
        Some(sizes) => stats_page(&stats, sizes).print(),
    };
    Ok(ExitCode::SUCCESS)
}

fn stats_page(stats: &Stats, sizes: &StoreSizes) -> Page {
    let mut page = Page::new();
    let (store, kilobytes) = (stats.store.display(), sizes.bytes / 1024);
    page.paragraph(both!("{store} ({kilobytes} KB)", "{store}（{kilobytes} KB）"));
    page.gap();
    let mut table = Table::new([Column::number(Bilingual::default()), Column::text(Bilingual::default())]);
    for (count, name) in [
        (sizes.projects, both!("projects", "プロジェクト")),
        (sizes.topics, both!("topics", "トピック")),
        (sizes.automatic_topics, both!("automatic topics", "自動トピック")),
        (sizes.decisions, both!("decisions", "決定")),
        (sizes.sessions, both!("sessions", "セッション")),
        (sizes.logs, both!("logs", "ログ")),
        (sizes.logs_again, both!("logs that wait for a summary", "要約待ちのログ")),
        (sizes.notes, both!("learnings and progress notes", "学びと作業メモ")),
        (stats.waiting as u64, both!("jobs in the queue", "保存待ち")),
        (sizes.outbox, both!("rows to send to the team", "チームへの送信待ち")),
        (stats.copies.len() as u64, both!("copies of the store", "コピー")),
        (stats.damaged.len() as u64, both!("damaged files that were kept", "残してある壊れたファイル")),
    ] {
        table.row([data(count), name.into()]);
    }
    page.table(table);
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::looks::assert_looks;

    #[test]
    fn sizes_look_well() {
        let sizes = StoreSizes {
            projects: 3,
            topics: 41,
            automatic_topics: 120,
            sessions: 161,
            logs: 1290,
            logs_again: 0,
            decisions: 18,
            notes: 7,
            outbox: 0,
            bytes: 1_843_200,
        };
        let stats = Stats {
            store: PathBuf::from("/home/me/memory.db"),
            sizes: None,
            copies: Vec::new(),
            damaged: Vec::new(),
            waiting: 2,
        };
        assert_looks("memory-stats", &stats_page(&stats, &sizes));
    }
}

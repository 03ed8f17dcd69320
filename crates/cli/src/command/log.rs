//! `tidegate log`: what Tidegate did, for people.

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;

use tidegate_core::feature::config::former_names::current_policy;
use tidegate_core::pipeline::record::Record;
use tidegate_core::text::cut::cut_to;
use tidegate_core::text::one_line::one_line;
use tidegate_core::time::Millis;

use super::Outcome;
use super::journal::{show_records, summarize_record};
use super::record_words::{headline, said_text};
use crate::bilingual::{Bilingual, both};
use crate::local_time::LocalClock;
use crate::print;
use crate::print::page::Page;
use crate::print::text::{Text, data, prose};
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate log                            the last 20 events
  tidegate log --follow                   keep showing new ones
  tidegate log --policy verify-stop --last 100
  tidegate log --verbose                  with ids, for `tidegate explain`
  tidegate log --json | jq .ruling        all records, for programs

Leaves out everything that passed in silence; --verbose and --json show it.")]
pub(crate) struct Args {
    /// Keep showing new events
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Show ids, times and silent hook runs, too
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// All projects, not only this one
    #[arg(long)]
    pub(crate) all: bool,
    /// Only events that this policy took part in
    #[arg(long, value_name = "ID")]
    pub(crate) policy: Option<String>,
    /// Number of events
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) last: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Characters of a text; `explain` shows all of it.
const LONGEST: usize = 240;

pub(crate) fn run(args: &Args) -> Outcome {
    let here = Here::find()?;
    let everything = args.verbose || args.json;
    let matches = |record: &Record| {
        let took_part = |id: &str| record.verdicts.iter().any(|verdict| verdict.policy == id);
        let policy = args.policy.as_deref().map(current_policy).is_none_or(took_part);
        here.concerns(record, args.session.as_deref(), args.all)
            && policy
            && (everything || headline(record).is_some())
    };
    let day = RefCell::new(String::new());
    let show = |records: &[Record]| {
        if args.json {
            return records.iter().all(print::json);
        }
        let mut page = Page::new();
        for record in records {
            add_record(&mut page, record, args, &mut day.borrow_mut());
        }
        page.print()
    };
    let found = show_records(&here, args.last, args.follow, &matches, &show)?;
    if found == 0 && !args.follow && !args.json {
        let hint = if args.all {
            both!(
                "Nothing happened yet. `tidegate demo` shows what the log looks like.",
                "まだ何も起きていません。`tidegate demo` で記録の例を見られます。"
            )
        } else {
            both!(
                "Nothing happened in this project yet. `tidegate log --all` shows every project.",
                "このプロジェクトではまだ何も起きていません。`tidegate log --all` ですべてのプロジェクトを表示します。"
            )
        };
        Page::of(hint).print_to_stderr();
    }
    Ok(ExitCode::SUCCESS)
}

fn add_record(page: &mut Page, record: &Record, args: &Args, shown_day: &mut String) {
    // The clock is read for each record: `--follow` may run for days.
    let clock = LocalClock::of_system(tidegate_state::clock::now());
    let at = Millis::from_iso(&record.at);
    let day = at.map(|at| clock.day(at)).unwrap_or_default();
    if *shown_day != day {
        page.heading(data(&day));
        *shown_day = day;
    }
    let time = at.map_or_else(|| record.at.clone(), |at| clock.second(at));
    if args.verbose {
        page.pairs([(data(time).dim(), data(&record.id).dim() + data("  ") + verbose_text(record))]);
        return;
    }
    let mut text = headline(record).unwrap_or_default();
    if args.all
        && let Some(project) = record.project.as_deref().map(Path::new).and_then(Path::file_name)
    {
        let project = project.to_string_lossy();
        text = text + Text::from(both!(" (in {project})", "（{project}）")).dim();
    }
    if let Some(said) = said_text(record) {
        text = text + data("\n") + prose(&format!("  {}", cut_to(&one_line(&said), LONGEST))).dim();
    }
    page.pairs([(data(time).dim(), text)]);
}

fn verbose_text(record: &Record) -> Text {
    let line = data(summarize_record(record));
    match headline(record) {
        Some(headline) => headline + Bilingual::data("\n") + line.dim(),
        None => line.dim(),
    }
}

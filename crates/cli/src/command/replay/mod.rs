//! `tidegate replay`: past sessions, as if Tidegate had been there. Reads transcripts and writes nothing but a scratch folder,
//! so it needs no installation and no state.

mod charts;
mod interrupt;
mod page;
mod what_if;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use tidegate_core::feature::config::Config;
use tidegate_core::text::hidden::show_name;
use tidegate_core::time::Millis;
use tidegate_hook::environment::Environment;
use tidegate_replay::folder::{Halt, Replayed, replay_files};
use tidegate_replay::report::ReplayReport;
use tidegate_state::feature::memory::transcript_files::TranscriptFile;
use tidegate_state::{clock, config};

use super::Outcome;
use super::config::warn_of_problems;
use super::memory::row_filter::When;
use crate::bilingual::both;
use crate::error::CliError;
use crate::host::agent_homes::{self, AgentHomes};
use crate::language;
use crate::local_time::LocalClock;
use crate::print;
use crate::print::progress::ProgressBar;
use crate::print::remark;
use what_if::WhatIf;

const DAY_MS: u64 = 86_400_000;

/// Without `--since`.
const DAYS: u64 = 30;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate replay                              the last 30 days on this machine
  tidegate replay --since 90d --all
  tidegate replay ~/.claude/projects/-home-me-shop
  tidegate replay --set context-warning.late=20k
  tidegate replay --preset strict --json | jq .stops
  tidegate replay --html replay.html

Runs Tidegate's checks over transcripts of Claude Code, Codex, Copilot CLI and Qwen
Code: turns that ended with untested code, context warnings, compactions and the facts
they lost. Needs no installation, asks no model, and changes neither sessions nor
settings. Without PATH it reads the folders of all agents on this machine. Exit codes:
0 done, 1 nothing to read, 2 wrong option, 130 ended with Ctrl-C.")]
pub(crate) struct Args {
    /// Transcripts, or folders with them
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Only turns since then: `90d`, or `2026-11-01` [default: 30d]
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<When>,
    /// List every session, compaction and untested turn
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) what_if: WhatIf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write one new file for a browser, with charts; `-` is stdout
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,
}

/// What a command about past sessions starts from: no state directory, which this would create.
pub(crate) struct Past {
    pub(crate) env: Environment,
    /// The user's own, without those of projects.
    pub(crate) config: Config,
    pub(crate) now: Millis,
}

impl Past {
    pub(crate) fn find() -> Past {
        let env = Environment::of_process();
        let user = env.place.config();
        let config = config::read(&config::Sources {
            user: user.as_deref(),
            variables: &env.settings,
            off: env.off.as_deref(),
            ..config::Sources::default()
        });
        language::choose(&env, config.general.lang);
        Past { env, config, now: clock::now() }
    }

    /// `command`: the one that asks.
    pub(crate) fn find_files(
        &self,
        command: &str,
        paths: &[PathBuf],
    ) -> Result<Vec<TranscriptFile>, CliError> {
        // A section with a wrong key is not used.
        warn_of_problems(&self.config.problems);
        let homes = AgentHomes::find(&self.env.place);
        let mut files = agent_homes::find_transcripts(&homes.chosen_folders(paths))?;
        for file in &mut files {
            file.changed = file.changed.min(self.now);
        }
        if files.is_empty() {
            return Err(no_transcripts(command, paths.first().map(PathBuf::as_path)));
        }
        Ok(files)
    }

    /// With a bar, where a person looks at stderr.
    pub(crate) fn replay(files: &[TranscriptFile], config: &Config) -> Result<Replayed, Ended> {
        let total: u64 = files.iter().map(|file| file.bytes).sum();
        let (bar, read) = (Mutex::new(ProgressBar::of(total)), AtomicU64::new(0));
        let n = files.len();
        let stop = interrupt::flag();
        let replayed = replay_files(files, config, None, &|bytes| {
            let read = read.fetch_add(bytes, Ordering::Relaxed) + bytes;
            if let Ok(mut bar) = bar.try_lock() {
                // Each file is read twice.
                bar.see(read / 2, || both!("{n} transcripts", "記録{n}件"));
            }
            if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if let Ok(mut bar) = bar.lock() {
            bar.clear();
        }
        let replayed = replayed.map_err(|halt| match halt {
            Halt::Stopped => Ended::ByPerson,
            Halt::Scratch(why) => Ended::Failed(no_scratch(&why)),
            Halt::File(why) => Ended::Failed(CliError::new(why)),
        })?;
        for (path, why) in replayed.unreadable.iter().take(NAMED) {
            let path = path.display().to_string();
            let path = show_name(&path);
            remark::warn(both!("cannot read {path}: {why}", "{path} を読めません: {why}"));
        }
        Ok(replayed)
    }
}

/// Why a replay has no result.
pub(crate) enum Ended {
    ByPerson,
    Failed(CliError),
}

impl Ended {
    /// 130 is what a shell says of Ctrl-C.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Ended::ByPerson => Ok(ExitCode::from(130)),
            Ended::Failed(error) => Err(error),
        }
    }
}

fn no_scratch(why: &dyn std::fmt::Display) -> CliError {
    CliError::new(both!("the temporary folder cannot be used: {why}", "一時フォルダを使えません: {why}"))
        .hint(both!(
            "set TMPDIR to a folder with free space",
            "TMPDIR に空きのあるフォルダを指定してください"
        ))
}

/// Files that are named one by one.
const NAMED: usize = 10;

pub(crate) fn no_transcripts(command: &str, path: Option<&Path>) -> CliError {
    match path.map(|path| show_name(&path.display().to_string()).into_owned()) {
        None => CliError::new(both!(
            "there are no sessions of a coding agent on this machine",
            "このマシンにはコーディングエージェントのセッションがありません"
        ))
        .hint(both!(
            "if they are elsewhere, name the folder: `tidegate {command} PATH`",
            "別の場所にあるなら、フォルダを指定してください: `tidegate {command} PATH`"
        )),
        Some(path) => {
            CliError::new(both!("no transcripts in {path}", "{path} に記録がありません")).hint(both!(
                "a transcript is a `.jsonl` file; those of Claude Code are in ~/.claude/projects",
                "記録は `.jsonl` ファイルです。Claude Code では ~/.claude/projects にあります"
            ))
        }
    }
}

pub(crate) fn nothing_since(past: &Past, when: When) -> CliError {
    let day = LocalClock::of_system(past.now).day(when.since(past.now));
    CliError::new(both!("no session since {day}", "{day}以降のセッションはありません"))
        .hint(both!("give an earlier day: `--since 90d`", "もっと前の日を指定してください: `--since 90d`"))
}

/// Which time a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Period {
    /// The default.
    LastDays(u64),
    Since(Millis),
    /// There is nothing in the default.
    Everything,
}

#[derive(Serialize)]
struct JsonReport<'a> {
    #[serde(flatten)]
    report: &'a ReplayReport,
    /// The same sessions with the config as it is, if `--preset` or `--set` changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    unchanged: Option<Finding<'a>>,
}

/// The numbers of the first line.
#[derive(Serialize)]
struct Finding<'a> {
    stops: &'a tidegate_replay::report::StopCounts,
    compactions: &'a tidegate_replay::report::CompactionCounts,
    warnings: &'a tidegate_replay::report::WarningCounts,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let past = Past::find();
    let changed = args.what_if.apply(&past.config)?;
    let files = past.find_files("replay", &args.paths)?;
    let default = past.now.before(DAYS * DAY_MS);
    let since = args.since.map_or(default, |when| when.since(past.now));
    let recent: Vec<TranscriptFile> = files.iter().filter(|file| file.changed >= since).cloned().collect();
    let mut period = args.since.map_or(Period::LastDays(DAYS), |_| Period::Since(since));
    let (mut chosen, mut from) = (recent, Some(since));
    let mut replayed = match Past::replay(&chosen, changed.as_ref().unwrap_or(&past.config)) {
        Ok(replayed) => replayed,
        Err(ended) => return ended.outcome(),
    };
    let mut report = ReplayReport::of(&replayed, from);
    if report.sessions == 0 && args.since.is_none() {
        if chosen.len() < files.len() {
            replayed = match Past::replay(&files, changed.as_ref().unwrap_or(&past.config)) {
                Ok(replayed) => replayed,
                Err(ended) => return ended.outcome(),
            };
        }
        (period, chosen, from) = (Period::Everything, files, None);
        report = ReplayReport::of(&replayed, from);
    }
    if replayed.sessions.is_empty() && args.since.is_none() {
        return Err(no_transcripts("replay", args.paths.first().map(PathBuf::as_path)));
    }
    if report.sessions == 0
        && let Some(when) = args.since
    {
        return Err(nothing_since(&past, when));
    }
    drop(replayed);
    let unchanged = match changed.map(|_| Past::replay(&chosen, &past.config)).transpose() {
        Ok(replayed) => replayed.map(|replayed| ReplayReport::of(&replayed, from)),
        Err(ended) => return ended.outcome(),
    };
    if args.json {
        let unchanged = unchanged.as_ref().map(|report| Finding {
            stops: &report.stops,
            compactions: &report.compactions,
            warnings: &report.warnings,
        });
        print::json(&JsonReport { report: &report, unchanged });
        return Ok(ExitCode::SUCCESS);
    }
    let view = page::View {
        clock: &LocalClock::of_system(past.now),
        home: past.env.place.home.as_deref(),
        period,
        shows_all: args.all,
        what_if: unchanged.as_ref().map(|unchanged| (args.what_if.words(), unchanged)),
    };
    if let Some(path) = &args.html {
        return charts::write(path, &report, &view);
    }
    page::report_page(&report, &view).print();
    Ok(ExitCode::SUCCESS)
}

//! `tidegate worker`: the process that a hook leaves behind to store what was said. With `--once` a person waits for it.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use tidegate_core::feature::memory::job::Work;
use tidegate_core::pipeline::record::{FailedCheck, Record};
use tidegate_core::time::Millis;
use tidegate_memory::memory::Memory;
use tidegate_memory::postgres::Address;
use tidegate_memory::team;
use tidegate_memory::worker::{Summarise, Worker, WorkerEvent, WorkerReport, queue_abandoned_sessions};
use tidegate_state::feature::memory::{retries, spool};
use tidegate_state::{clock, journal};

use super::Outcome;
use crate::backend::summariser::Summariser;
use crate::bilingual::{both, count_en};
use crate::error::CliError;
use crate::print::page::Page;
use crate::print::text::data;
use crate::print::{self, remark};
use crate::program;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate worker --once                       store everything now
  tidegate worker --once --json

Hooks start a worker by themselves. It ends when the queue is empty.

Exit codes: 0 the queue is empty, 1 something is left in it.")]
pub(crate) struct Args {
    /// Work in the foreground: wait for a running worker, then empty the queue
    #[arg(long)]
    pub(crate) once: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A worker in the background stops after this time, whatever is left.
const LONGEST: Duration = Duration::from_mins(15);

/// A person may wait as long as there is something to wait for.
const LONGEST_ONCE: Duration = Duration::from_hours(24);

/// Pause between two searches for sessions that were never ended.
const BETWEEN_LOOKS_MS: u64 = 3_600_000;

/// Pages of the search index that are merged after the work is done: 16 MB, a fraction of a second.
const MERGED_PAGES: u32 = 4000;

/// After this time, a person who waits is shown the progress.
const QUIET: Duration = Duration::from_secs(2);

/// Jobs that arrive while a worker is about to end are taken by the same worker, up to this many times.
const ROUNDS: usize = 20;

/// The event's name in the journal.
pub(crate) const EVENT: &str = "worker";

pub(crate) fn run(args: &Args) -> Outcome {
    // One in the background may come too late: what it was started for can be deleted by now.
    let here = if args.once { Some(Here::find()?) } else { Here::find_in_background()? };
    let Some(here) = here else { return Ok(ExitCode::SUCCESS) };
    // Tidegate started this client itself, for a summary: nothing of it is recorded.
    if here.env.guard && !args.once {
        return Ok(ExitCode::SUCCESS);
    }
    let spool_failed = |error: std::io::Error| {
        CliError::new(both!("cannot use the queue: {error}", "保存待ちの一覧を使えません: {error}")).hint(both!(
            "check that you can write to the folder `spool` in the state folder, and that the disk has room",
            "状態のフォルダの `spool` に書き込めるか、ディスクに空きがあるかを確認してください"
        ))
    };
    let mut total = WorkerReport::default();
    let mut troubles = Vec::new();
    for _ in 0..ROUNDS {
        let alone = match spool::try_lock_worker(&here.state).map_err(spool_failed)? {
            Some(alone) => alone,
            None if args.once => {
                remark::note(both!(
                    "waiting for another worker to end",
                    "ほかのワーカーが終わるのを待っています"
                ));
                spool::lock_worker(&here.state, LONGEST).map_err(spool_failed)?
            }
            None => break,
        };
        let done = run_jobs(&here, args, &mut troubles);
        drop(alone);
        let report = done.inspect_err(|error| record_trouble(&here, "store", error.message()))?;
        add_report(&mut total, &report);
        // A hook that saw this worker running did not start another one.
        let there = spool::list(&here.state).map_err(spool_failed)?.len();
        if there <= report.left {
            break;
        }
    }
    print_report(args, &total, &troubles);
    Ok(if args.once && total.left > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs under the worker's lock.
fn run_jobs(here: &Here, args: &Args, troubles: &mut Vec<String>) -> Result<WorkerReport, CliError> {
    let start = Instant::now();
    look_for_left(here, args.once);
    let _ = spool::clear_half_written(&here.state, here.now);
    let queue = spool::list(&here.state).map_err(CliError::new)?;
    // Without work, nothing is opened and no store is made.
    let nothing = queue.is_empty() && retries::read(&here.state).summaries.is_empty();
    let (place, state, settings) = (&here.env.place, &here.state, &here.config.memory);
    let mut memory = if nothing {
        Memory::open_if_there(place, state, settings, here.now)?
    } else {
        Some(Memory::open(place, state, settings, here.now)?)
    };
    let Some(memory) = &mut memory else { return Ok(WorkerReport::default()) };
    let was_healed = memory.healed.is_some();
    if let Some(healed) = &memory.healed {
        record_trouble(here, "memory", &healed.line());
        troubles.push(healed.line());
    }
    let roots: BTreeSet<PathBuf> = queue
        .iter()
        .filter_map(|queued| queued.job.as_ref().ok())
        .filter_map(|job| match &job.work {
            Work::Relays(part) => Some(PathBuf::from(&part.project.root)),
            Work::Offered { .. } => None,
        })
        .collect();
    let roots: Vec<PathBuf> = roots.into_iter().collect();
    let mut summariser =
        Summariser::of(&here.config.memory.summary, &program::search_path(), &roots, &here.state);
    let longest = if args.once { LONGEST_ONCE } else { LONGEST };
    let shown = ShownProgress { once: args.once, start, last: Cell::new(start), jobs: Cell::new((0, 0)) };
    let mut worker = Worker {
        state: &here.state,
        store: memory,
        summarise: summariser.as_mut().map(|summariser| -> &mut dyn Summarise { summariser }),
        now: &clock::now,
        pause: &std::thread::sleep,
        notify: &mut |progress| {
            shown.see(&progress);
            if let Some((class, what)) = describe_trouble(&progress) {
                // The journal already has the calls for summaries.
                if !matches!(progress, WorkerEvent::SummaryFailed(_)) {
                    record_trouble(here, class, &what);
                }
                troubles.push(what);
            }
        },
        until: Millis(clock::now().0 + longest.as_millis() as u64),
        at_once: args.once,
    };
    let report = worker.run()?;
    for project in &report.projects {
        // Each search refreshes these files, too.
        let _ = memory.refresh_notes(Path::new(&project.root), &project.key);
    }
    if let Err(error) = exchange_with_team(here, memory, args.once) {
        record_trouble(here, "team", &error.what);
        troubles.push(format!("the team's store: {}", error.what));
    }
    if report.jobs > 0
        && let Err(error) = memory.backup_if_due()
    {
        record_trouble(here, "copy", &error.what);
        troubles.push(format!("no copy of the store was made: {}", error.what));
    }
    if report.jobs > 0 {
        // It only makes searches faster. If another process is writing now, the next worker does it.
        let _ = memory.store().merge_index(MERGED_PAGES);
    }
    // Some damage shows only in use.
    if let Some(healed) = memory.healed.as_ref().filter(|_| !was_healed) {
        record_trouble(here, "memory", &healed.line());
        troubles.push(healed.line());
    }
    Ok(report)
}

/// A failure here loses nothing: everything is in the local store.
fn exchange_with_team(here: &Here, memory: &mut Memory, at_once: bool) -> tidegate_memory::error::Result<()> {
    let variable = |name: &str| std::env::var(name).ok();
    let home = here.env.place.home.as_ref().map(|home| home.to_string_lossy().into_owned());
    let Some(address) = Address::of(&here.config.memory.team, &variable, home.as_deref())? else {
        return Ok(());
    };
    team::exchange_if_due(memory, &address, at_once).map(|_| ())
}

/// Leaves jobs for transcripts of sessions that were never ended.
fn look_for_left(here: &Here, once: bool) {
    let mut waits = retries::read(&here.state);
    // A time in the future means that the clock was set back.
    let lately = waits.looked <= here.now && here.now.since(waits.looked) < BETWEEN_LOOKS_MS;
    if lately && !once {
        return;
    }
    let records = |root: &Path, attended: bool| here.is_recorded(root, attended);
    // After a failure, the next worker looks again.
    if queue_abandoned_sessions(&here.state, here.now, &records).is_ok() {
        waits.looked = here.now;
        let _ = retries::write(&here.state, &waits);
    }
}

/// Shows the worker's progress to a person who waits.
struct ShownProgress {
    once: bool,
    start: Instant,
    last: Cell<Instant>,
    /// Done, and found at the last look.
    jobs: Cell<(usize, usize)>,
}

impl ShownProgress {
    fn see(&self, progress: &WorkerEvent<'_>) {
        let (done, there) = self.jobs.get();
        match progress {
            WorkerEvent::JobsFound(count) => self.jobs.set((done, done + count)),
            WorkerEvent::Done(_) | WorkerEvent::Lost { .. } | WorkerEvent::SetAside { .. } => {
                self.jobs.set((done + 1, there));
            }
            WorkerEvent::SummaryFailed(_) | WorkerEvent::Unreadable { .. } | WorkerEvent::Retrying { .. } => {
            }
        }
        if self.once && self.start.elapsed() > QUIET && self.last.get().elapsed() > QUIET {
            self.last.set(Instant::now());
            let (done, there) = self.jobs.get();
            Page::of(both!("{done} of {there} jobs done", "{there}件中{done}件が終わりました"))
                .print_to_stderr();
        }
    }
}

/// Class and text of an event that belongs in the journal.
fn describe_trouble(progress: &WorkerEvent<'_>) -> Option<(&'static str, String)> {
    match progress {
        WorkerEvent::JobsFound(_) | WorkerEvent::Done(_) => None,
        WorkerEvent::Lost { job, why } => Some(("transcript", format!("session {}: {why}", job.session))),
        WorkerEvent::Retrying { job, why } => {
            Some(("store", format!("session {}: {why}; it will be tried again", job.session)))
        }
        WorkerEvent::SetAside { path, why } => {
            Some(("spool", format!("{} is not a job ({why}); it was set aside", path.display())))
        }
        WorkerEvent::Unreadable { path, why } => {
            Some(("spool", format!("{} cannot be read ({why}); it will be tried again", path.display())))
        }
        WorkerEvent::SummaryFailed(why) => Some(("summary", format!("no summary yet: {why}"))),
    }
}

/// Nobody reads the output of a worker in the background, so trouble goes into the journal.
fn record_trouble(here: &Here, class: &str, what: &str) {
    let now = clock::now();
    let failure = FailedCheck { class: class.to_owned(), step: what.to_owned(), closed: false };
    let mut record = Record {
        id: Record::new_id(now, std::process::id()),
        ruling: "failed".to_owned(),
        failure: Some(failure),
        ..Record::begin(EVENT, now)
    };
    let _ = journal::append(&here.state.journal(), now, &mut record);
}

fn add_report(total: &mut WorkerReport, one: &WorkerReport) {
    total.jobs += one.jobs;
    total.new += one.new;
    total.changed += one.changed;
    total.summed_up += one.summed_up;
    total.lost += one.lost;
    total.set_aside += one.set_aside;
    total.left = one.left;
}

fn print_report(args: &Args, total: &WorkerReport, troubles: &[String]) {
    if args.json {
        print::json(&json!({
            "jobs": total.jobs,
            "new": total.new,
            "changed": total.changed,
            "summed_up": total.summed_up,
            "lost": total.lost,
            "set_aside": total.set_aside,
            "left": total.left,
            "troubles": troubles,
        }));
    } else {
        for trouble in troubles {
            remark::warn(data(trouble));
        }
        if args.once {
            let WorkerReport { jobs, new, changed, .. } = *total;
            Page::of(both!(
                "Stored {n} and changed {changed}, from {m} in the queue.",
                "保存待ちの{jobs}件から、やり取りを{new}件保存し、{changed}件変更しました。",
                n = count_en(new, "exchange"),
                m = count_en(jobs, "job")
            ))
            .print();
        }
    }
    if args.once && total.left > 0 {
        let left = total.left;
        CliError::new(both!(
            "{n} not stored yet",
            "{left}件はまだ保存できていません",
            n = count_en(left, "job")
        ))
        .hint(both!(
            "`tidegate log --verbose` has the reasons; run `tidegate worker --once` again, or update tidegate if a newer one queued them",
            "理由は `tidegate log --verbose` にあります。`tidegate worker --once` をもう一度実行するか、新しい tidegate が残したものなら更新してください"
        ))
        .report();
    }
}

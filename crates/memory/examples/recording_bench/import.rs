//! An import of some gigabytes: the first one, a second one, one that is killed and continued, one while the worker records.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use tidegate_memory::import::Importer;
use tidegate_memory::store::Store;
use tidegate_memory::view::{Filter, Page};
use tidegate_state::feature::memory::transcript_files;

use crate::corpus::Corpus;
use crate::transcripts::{EXCHANGES_OF_A_SESSION, write_session};
use crate::worker::{queue_jobs, work};
use crate::{Done, Home, NOW, line, processor_time};

/// Runs one import in a process of its own, so that it can be killed and its memory measured.
pub(crate) const CHILD: &str = "--import";

/// Megabytes of transcript a second of processor time.
const GOAL: f64 = 20.0;
/// Peak memory, in MB.
const MEMORY_GOAL: u64 = 200;

/// Sessions that the worker records during an import.
const LIVE: usize = 20;

pub(crate) fn measure(megabytes: usize, folder: Option<&Path>) -> Done {
    let temporary = match folder {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let temporary = temporary.map_err(|error| error.to_string())?;
    let at = |name: &str| temporary.path().join(name);
    let corpus = Corpus::new();
    let all = write_folder(&corpus, &at("all"), megabytes as u64 * 1_000_000)?;
    let part = write_folder(&corpus, &at("part"), megabytes as u64 * 100_000)?;

    let first = import(&at("all"), &at("home"))?;
    first.show("the first time");
    expect(first.new, all, "new exchanges")?;
    let again = import(&at("all"), &at("home"))?;
    again.show("a second time");
    expect(again.new, 0, "new exchanges of a second import")?;

    let cut = import_and_kill(&at("part"), &at("cut"), part / 2)?;
    let rest = import(&at("part"), &at("cut"))?;
    line(&format!("    killed after {cut} exchanges, continued: {} more", rest.new));
    expect(rest.new + rest.known, part, "exchanges after a killed import")?;
    expect(count_logs(&at("cut"))?, part, "logs after a killed import")?;

    let live = LIVE * EXCHANGES_OF_A_SESSION;
    let imported = import_while_recording(&corpus, &at("part"), &at("live"))?;
    line(&format!("    while the worker recorded {live} other exchanges: {} imported", imported.new));
    expect(imported.new, part, "exchanges imported while the worker records")?;
    expect(count_logs(&at("live"))?, part + live, "logs of both")
}

/// Returns the number of exchanges.
fn write_folder(corpus: &Corpus, folder: &Path, bytes: u64) -> Done<usize> {
    let (mut written, mut sessions) = (0, 0);
    while written < bytes {
        let session = write_session(corpus, folder, sessions).map_err(|error| error.to_string())?;
        written += session.ends.last().map_or(0, |(end, _)| *end);
        sessions += 1;
    }
    let exchanges = sessions * EXCHANGES_OF_A_SESSION;
    line(&format!(
        "{} MB of transcripts: {sessions} sessions with {exchanges} exchanges",
        written / 1_000_000
    ));
    Ok(exchanges)
}

fn expect(found: usize, expected: usize, what: &str) -> Done {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found} instead of {expected}")) }
}

/// What a process says at its end.
struct Imported {
    new: usize,
    known: usize,
    bytes: f64,
    processor_s: f64,
    clock_s: f64,
    peak_mb: u64,
}

impl Imported {
    fn show(&self, name: &str) {
        let rate = self.bytes / 1e6 / self.processor_s;
        line(&format!(
            "    {name}: {} new, {} known; {rate:.0} MB a second on the processor (goal at least {GOAL}) {}, {:.0} by the clock; \
             peak memory {} MB (goal at most {MEMORY_GOAL}) {}",
            self.new,
            self.known,
            if rate >= GOAL { "ok" } else { "BELOW" },
            self.bytes / 1e6 / self.clock_s,
            self.peak_mb,
            if self.peak_mb <= MEMORY_GOAL { "ok" } else { "OVER" },
        ));
    }
}

fn start(transcripts: &Path, home: &Path) -> Done<Child> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.arg(CHILD).arg(transcripts).arg(home).stdout(Stdio::piped());
    command.spawn().map_err(|error| error.to_string())
}

fn import(transcripts: &Path, home: &Path) -> Done<Imported> {
    let child = start(transcripts, home)?;
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = said.lines().last().unwrap_or_default();
    let figures: Vec<f64> = last.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [new, known, bytes, processor_s, clock_s, peak_mb] = figures[..] else {
        return Err(format!("the import ended with {}: {said}", output.status));
    };
    let (new, known, peak_mb) = (new as usize, known as usize, peak_mb as u64);
    Ok(Imported { new, known, bytes, processor_s, clock_s, peak_mb })
}

/// Returns how many exchanges were stored.
fn import_and_kill(transcripts: &Path, home: &Path, after: usize) -> Done<usize> {
    let mut child = start(transcripts, home)?;
    let said = child.stdout.take().ok_or("no output")?;
    for told in BufReader::new(said).lines() {
        let new =
            told.map_err(|error| error.to_string())?.split(' ').next().and_then(|word| word.parse().ok());
        if new.is_some_and(|new: usize| new >= after) {
            break;
        }
    }
    child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
    count_logs(home)
}

/// The worker has sessions of its own, which the import does not find.
fn import_while_recording(corpus: &Corpus, transcripts: &Path, home: &Path) -> Done<Imported> {
    let child = start(transcripts, home)?;
    let own = Home::at(home)?;
    let elsewhere = home.join("recorded-live");
    let mut memory = own.memory()?;
    for number in 0..LIVE {
        let number = 1_000_000 + number;
        let session = write_session(corpus, &elsewhere, number).map_err(|error| error.to_string())?;
        queue_jobs(&own.state, number, &session, true)?;
        let report = work(&own.state, &mut memory)?;
        expect(report.new, EXCHANGES_OF_A_SESSION, "exchanges that the worker stored")?;
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let new = said.lines().last().and_then(|last| last.split(' ').next()?.parse().ok());
    let new = new.ok_or_else(|| format!("the import ended with {}: {said}", output.status))?;
    Ok(Imported { new, known: 0, bytes: 0.0, processor_s: 0.0, clock_s: 0.0, peak_mb: 0 })
}

fn count_logs(home: &Path) -> Done<usize> {
    let mut memory = Home::at(home)?.memory()?;
    let (mut count, mut after) = (0, None);
    loop {
        let page = memory.logs(&Filter { all: true, ..Filter::default() }, &Page { limit: 500, after });
        let page = page.map_err(|error| error.to_string())?;
        count += page.rows.len();
        after = page.next;
        if after.is_none() {
            return Ok(count);
        }
    }
}

/// Prints the number of new exchanges every few megabytes; at the end all figures in one line.
pub(crate) fn run_child(transcripts: &Path, home: &Path) -> Done {
    let home = Home::at(home)?;
    let mut memory = home.memory()?;
    let (clock, before) = (Instant::now(), processor_time());
    let files = transcript_files::find(transcripts).map_err(|error| error.to_string())?;
    let report = Importer {
        memory: Some(&mut memory),
        state: &home.state,
        now: NOW,
        since: None,
        only_counts: false,
        records: &|_, _| true,
        notify: &mut |report| line(&report.new.to_string()),
    }
    .run(&files)
    .map_err(|error| error.to_string())?;
    line(&format!(
        "{} {} {} {} {} {}",
        report.new,
        report.known,
        report.bytes,
        processor_time().saturating_sub(before).as_secs_f64(),
        clock.elapsed().as_secs_f64(),
        peak_memory_mb()
    ));
    Ok(())
}

/// 0 where the system does not say.
fn peak_memory_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next()?.parse::<u64>().ok());
    peak.unwrap_or_default() / 1000
}

//! `cargo xtask long soak [--minutes N] [--sessions N] [--program FILE]`: thousands of sessions, several at once, through the program as it
//! ships, with its worker, pages and MCP server. Each slice of the run prints a line; the end compares the last with the first, and what
//! went in with what journal and store have.

mod companions;
mod losses;
mod machine;
mod session;
mod slices;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use xtask::failure::{Done, Failure, While};
use xtask::print;

use crate::binary::{self, Link};
use crate::stage::{self, Stage};
use companions::Companions;
use losses::Calls;
use machine::Watch;
use session::{EXCHANGES, PROJECTS, SoakSession, Step, marker};
use slices::Slice;

const MINUTES: u64 = 60;
const SESSIONS_IN_AN_HOUR: u64 = 10_000;

/// The first one is the measure of all others, so each has to be long enough.
const SLICES: u64 = 12;

const AT_ONCE: usize = 8;

/// Of the time that a slice should take. Then no session begins any more, and what ran until then is judged.
const PATIENCE: u32 = 3;

/// Between two requests to the pages and the MCP server.
const REQUEST_INTERVAL: Duration = Duration::from_secs(2);

/// Runs of an empty process at the end of a slice.
const EMPTY_RUNS: u32 = 300;

/// Each is a new session; the largest count of the probes is taken, because a hook that misses its deadline under valgrind does less.
const PROBES: u64 = 2;

/// Numbers of the sessions that are only counted: all in one project, and with the same words.
const FIRST_PROBE: u64 = 600 * BETWEEN_PROBES;
const BETWEEN_PROBES: u64 = 1560;

struct Options {
    minutes: u64,
    sessions: u64,
    program: Option<PathBuf>,
}

struct Soak {
    stage: Stage,
    program: PathBuf,
    watch: Watch,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    calls: Calls,
    exchanges: BTreeSet<String>,
    /// In milliseconds, of this slice.
    walls: Vec<f64>,
    searches: Vec<f64>,
    errors: Vec<String>,
}

pub(crate) fn run(words: &[&str]) -> Done {
    let options = Options::read(words)?;
    let stage = Stage::new()?;
    let program = match &options.program {
        Some(program) => stage.install(program)?,
        None => binary::build_copy(Link::Shipped, &stage.at("bin/tidegate"))?,
    };
    for number in 0..PROJECTS {
        let project = stage.at(&format!("projects/p{number}"));
        fs::create_dir_all(project.join("src")).while_(project.display())?;
        let package = project.join("package.json");
        fs::write(&package, "{\"scripts\": {\"test\": \"vitest run\"}}\n").while_(package.display())?;
    }
    let soak = Soak { watch: Watch::of(&program), program, stage, seen: Mutex::default() };
    print::line(&format!(
        "{} sessions in {} minutes, {AT_ONCE} at once, in {SLICES} slices",
        options.sessions, options.minutes
    ));
    print::line(slices::HEAD);
    let slices = std::thread::scope(|scope| {
        scope.spawn(|| soak.watch.run());
        let ran = soak.run(&options);
        soak.watch.end();
        ran
    })?;
    let seen = soak.seen();
    let mut problems = losses::find(&soak.stage, &soak.program, &seen.calls, &seen.exchanges)?;
    let ran = slices.last().map_or(0, |slice| slice.sessions);
    if ran < options.sessions {
        problems.push(format!(
            "{ran} of {} sessions: this machine is too slow for more; give fewer `--sessions`, or more `--minutes`",
            options.sessions
        ));
    }
    if !seen.errors.is_empty() {
        problems.push(format!("{} wrong answers, the first: {}", seen.errors.len(), seen.errors[0]));
    }
    problems.extend(slices::grown(&slices));
    if problems.is_empty() {
        print::line("Nothing was lost, and nothing grew beyond its bound.");
        return Ok(());
    }
    Err(Failure::new(format!("{} things are wrong:\n  {}", problems.len(), problems.join("\n  "))))
}

impl Options {
    fn read(words: &[&str]) -> Done<Options> {
        let (mut minutes, mut sessions, mut program) = (MINUTES, None, None);
        let number = |text: &str| match text.parse::<u64>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(Failure::new(format!("`{text}` is not a number above zero"))),
        };
        let mut rest = words;
        while let [name, value, others @ ..] = rest {
            match *name {
                "--minutes" => minutes = number(value)?,
                "--sessions" => sessions = Some(number(value)?),
                "--program" => program = Some(PathBuf::from(value)),
                _ => break,
            }
            rest = others;
        }
        if !rest.is_empty() {
            return Err(Failure::new(format!("cannot read `soak {}`", words.join(" ")))
                .next("`cargo xtask long soak [--minutes N] [--sessions N] [--program FILE]`"));
        }
        let sessions = sessions.unwrap_or(minutes * SESSIONS_IN_AN_HOUR / MINUTES);
        Ok(Options { minutes, sessions, program })
    }
}

impl Soak {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, options: &Options) -> Done<Vec<Slice>> {
        let mut companions = Companions::start(&self.stage, &self.program)?;
        let length = Duration::from_secs(options.minutes * 60) / SLICES as u32;
        let start = Instant::now();
        let mut slices = Vec::new();
        for number in 0..SLICES {
            let first = options.sessions * number / SLICES + 1;
            let after = options.sessions * (number + 1) / SLICES + 1;
            // What measuring took is missing from the next slice, so that the whole takes as long as was asked for.
            let left = (length * (number as u32 + 1)).saturating_sub(start.elapsed()).max(length / 3);
            let slice = self.slice(number, first..after, left, &mut companions)?;
            print::line(&slices::row(slices.len() + 1, &slice));
            let all_ran = slice.sessions + 1 == after;
            slices.push(slice);
            if !all_ran {
                break;
            }
        }
        Ok(slices)
    }

    fn slice(
        &self,
        number: u64,
        sessions: std::ops::Range<u64>,
        length: Duration,
        companions: &mut Companions,
    ) -> Done<Slice> {
        let before = self.seen().errors.len();
        self.seen().walls.clear();
        self.seen().searches.clear();
        let start = machine::children_time()?;
        let sessions = self.run_sessions(sessions, length, companions)?;
        let taken = machine::children_time()? - start;
        let hooks = self.seen().walls.len() as u64;
        let start = machine::children_time()?;
        for _ in 0..EMPTY_RUNS {
            stage::run_with_input(&mut self.stage.command(Path::new("/bin/true")), b"")?;
        }
        let empty = machine::children_time()? - start;
        let instructions = self.count_instructions(number)?;
        let queue = fs::read_dir(self.stage.state().join("spool")).while_("the spool")?.count() as u64;
        let mut seen = self.seen();
        let errors = (seen.errors.len() - before) as u64;
        seen.walls.sort_by(f64::total_cmp);
        seen.searches.sort_by(f64::total_cmp);
        let part = |times: &[f64], share: f64| {
            times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default()
        };
        Ok(Slice {
            sessions,
            all_hooks: seen.calls.values().sum(),
            exchanges: seen.exchanges.len() as u64,
            hooks,
            errors,
            hook_ms: taken * 1000.0 / hooks.max(1) as f64,
            empty_ms: empty * 1000.0 / f64::from(EMPTY_RUNS),
            instructions,
            median_ms: part(&seen.walls, 0.5),
            slow_ms: part(&seen.walls, 0.99),
            search_ms: part(&seen.searches, 0.5),
            worker: self.watch.take("worker"),
            serve: self.watch.take("serve"),
            mcp: self.watch.take("mcp"),
            // Its lock, and when a worker was started.
            queue: queue.saturating_sub(2),
            journal: machine::size_of(&self.stage.state().join("journal")),
            store: self.store(),
            state: machine::size_of(&self.stage.state().join("sessions")),
        })
    }

    /// Without its backups.
    fn store(&self) -> machine::Size {
        let files = ["memory.db", "memory.db-wal", "memory.db-shm"].map(|name| {
            let path = self.stage.at("home/.local/share/tidegate/memory").join(name);
            fs::metadata(path).map_or(0, |found| found.len())
        });
        machine::Size { files: files.len() as u64, bytes: files.iter().sum() }
    }

    /// Evenly over nine tenths of the time: the rest is for measuring. Returns the number of the last session that ran.
    fn run_sessions(
        &self,
        sessions: std::ops::Range<u64>,
        length: Duration,
        companions: &mut Companions,
    ) -> Done<u64> {
        let start = Instant::now();
        let interval = length * 9 / 10 / u32::try_from(sessions.end - sessions.start).unwrap_or(1).max(1);
        let next = AtomicU64::new(sessions.start);
        let lane = || {
            loop {
                if start.elapsed() > length * PATIENCE {
                    break Ok(());
                }
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= sessions.end {
                    break Ok(());
                }
                let due = start + interval * (number - sessions.start) as u32;
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                let ran = self.run_session(number, interval * AT_ONCE as u32 * 8 / 10);
                if ran.is_err() {
                    break ran;
                }
            }
        };
        std::thread::scope(|scope| {
            let lanes: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(lane)).collect();
            let mut asked = Ok(());
            while asked.is_ok() && lanes.iter().any(|lane| !lane.is_finished()) {
                std::thread::sleep(REQUEST_INTERVAL.min(length / 20));
                asked = self.ask(companions);
            }
            for lane in lanes {
                lane.join().map_err(|_| Failure::new("a session panicked"))??;
            }
            asked
        })?;
        Ok(next.into_inner().min(sessions.end) - 1)
    }

    fn ask(&self, companions: &mut Companions) -> Done {
        companions.page()?;
        let took = companions.search("cookie of the parser")?;
        self.seen().searches.push(took.as_secs_f64() * 1000.0);
        Ok(())
    }

    /// Its calls are spread over this time, so that sessions overlap.
    fn run_session(&self, number: u64, span: Duration) -> Done {
        let session = SoakSession::new(number, &self.stage.at(""))?;
        let steps = session.steps()?;
        let (start, count) = (Instant::now(), steps.len() as u32);
        for (place, step) in steps.iter().enumerate() {
            let due = start + span * place as u32 / count;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            session.write_lines(step)?;
            self.call(&session, step)?;
        }
        let mut seen = self.seen();
        seen.exchanges.extend((0..EXCHANGES).map(|exchange| marker(number, exchange)));
        Ok(())
    }

    fn call(&self, session: &SoakSession, step: &Step) -> Done {
        let mut command = self.command(&self.program, session);
        match &step.event {
            Some(event) => command.args(["hook", "--event", event, "--via", "soak"]),
            None => command.arg("statusline"),
        };
        let (took, output) = stage::run_with_input(&mut command, step.payload.as_bytes())?;
        let mut seen = self.seen();
        if let Some(event) = &step.event {
            *seen.calls.entry(event.clone()).or_default() += 1;
        }
        seen.walls.push(took.as_secs_f64() * 1000.0);
        if let Some(wrong) = wrong(step, &output) {
            seen.errors.push(wrong);
        }
        Ok(())
    }

    fn command(&self, program: &Path, session: &SoakSession) -> std::process::Command {
        let mut command = self.stage.command(program);
        command
            .env("CLAUDE_CODE_SESSION_ID", &session.id)
            .env("CLAUDE_PROJECT_DIR", &session.project)
            .current_dir(&session.project);
        command
    }

    /// Of the first calls of a new session, in everything that the slices before left.
    fn count_instructions(&self, slice: u64) -> Done<u64> {
        let mut most = 0;
        for probe in 0..PROBES {
            let session = SoakSession::new(
                FIRST_PROBE + (slice * PROBES + probe) * BETWEEN_PROBES,
                &self.stage.at(""),
            )?;
            let mut sum = 0;
            for step in session.steps()?.into_iter().take(4) {
                session.write_lines(&step)?;
                sum += self.instructions(&session, &step)?;
            }
            most = most.max(sum);
        }
        Ok(most)
    }

    fn instructions(&self, session: &SoakSession, step: &Step) -> Done<u64> {
        let (profile, log) = (self.stage.at("callgrind.out"), self.stage.at("valgrind.log"));
        let mut valgrind = self.command(Path::new("valgrind"), session);
        valgrind
            .arg("--tool=callgrind")
            .arg(format!("--callgrind-out-file={}", profile.display()))
            .arg(format!("--log-file={}", log.display()))
            .arg(&self.program)
            .args(["hook", "--via", "soak"]);
        let event = step.event.clone().ok_or_else(|| Failure::new("the status line is not counted"))?;
        // Without the event's name, a run has the longer deadline of a gate, which it needs under valgrind.
        stage::run_with_input(&mut valgrind, step.payload.as_bytes())?;
        *self.seen().calls.entry(event).or_default() += 1;
        let text = fs::read_to_string(&profile).while_(profile.display())?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        let total = total.and_then(|total| total.trim().parse().ok());
        total.ok_or_else(|| Failure::new("callgrind wrote no total"))
    }
}

/// Every answer has exit code 0 and says nothing, or one object; the status line says one line, and what is given to a compaction is text.
fn wrong(step: &Step, output: &std::process::Output) -> Option<String> {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let right = match step.event.as_deref() {
        None => stdout.lines().count() == 1,
        Some("PreCompact") => true,
        Some(_) => {
            stdout.is_empty()
                || serde_json::from_str::<serde_json::Value>(&stdout).is_ok_and(|value| value.is_object())
        }
    };
    if right && output.status.success() && output.stderr.is_empty() {
        return None;
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let event = step.event.as_deref().unwrap_or("statusline");
    Some(format!("{event}: {}, stdout {stdout:?}, stderr {stderr:?}", output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_soak_has_fewer_sessions() {
        let hour = Options::read(&[]).unwrap();
        assert_eq!((hour.minutes, hour.sessions), (60, 10_000));
        assert_eq!(Options::read(&["--minutes", "3"]).unwrap().sessions, 500);
        let all = Options::read(&["--sessions", "7", "--minutes", "1", "--program", "/p"]).unwrap();
        assert_eq!((all.sessions, all.minutes, all.program), (7, 1, Some("/p".into())));
        for words in [&["--minutes", "0"][..], &["--minutes"], &["x"], &["--sessions", "many"]] {
            assert!(Options::read(words).is_err(), "{words:?}");
        }
    }
}

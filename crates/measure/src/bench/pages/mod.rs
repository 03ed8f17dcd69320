//! `cargo xtask bench serve [--sessions N] [--logs N] [--samples N] [--program FILE]`: pages of `tidegate serve` on a machine with
//! many sessions, a full journal and a large memory, and its cost while no page is asked for. Fails where a goal is missed.
//!
//! The files are in the system's cache, as those of a person who works on the machine. The process is a new one for each sample.

mod served;
mod world;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::bench::table::goal_verdict;
use crate::binary::{self, Link};
use crate::stage::Stage;
use served::Served;
use world::World;
use xtask::failure::{Done, Failure, While};
use xtask::print;
use xtask::workspace::step;

const SESSIONS: usize = 10_000;
const LOGS: usize = 1_000_000;
const SAMPLES: usize = 10;

/// Of a page in one process, after its first one.
const WARM_REQUESTS: usize = 5;

/// For the first page.
const PAGE_GOAL: Duration = Duration::from_millis(100);

const IDLE: Duration = Duration::from_secs(20);

/// Linux counts processor time in hundredths of a second: the least that it shows can be the end of a page.
const IDLE_GOAL: Duration = Duration::from_millis(10);

/// Open pages that wait for news.
const STREAMS: usize = 50;

const USAGE: &str = "`cargo xtask bench serve [--sessions N] [--logs N] [--samples N] [--program FILE]`";

struct Options {
    sessions: usize,
    /// Zero for no memory.
    logs: usize,
    samples: usize,
    /// In place of the one as shipped.
    program: Option<PathBuf>,
}

impl Options {
    fn read(words: &[&str]) -> Done<Options> {
        let mut options = Options { sessions: SESSIONS, logs: LOGS, samples: SAMPLES, program: None };
        let number = |text: &str| match text.parse::<usize>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(Failure::new(format!("`{text}` is not a number above zero")).next(USAGE)),
        };
        let mut rest = words;
        while let [name, value, others @ ..] = rest {
            match *name {
                "--sessions" => options.sessions = number(value)?,
                "--logs" if *value == "0" => options.logs = 0,
                "--logs" => options.logs = number(value)?,
                "--samples" => options.samples = number(value)?,
                "--program" => options.program = Some(PathBuf::from(value)),
                _ => break,
            }
            rest = others;
        }
        if rest.is_empty() {
            return Ok(options);
        }
        Err(Failure::new(format!("cannot read `bench serve {}`", words.join(" "))).next(USAGE))
    }
}

pub(crate) fn run(words: &[&str]) -> Done {
    let options = Options::read(words)?;
    let stage = Stage::new()?;
    let program = match &options.program {
        Some(program) => stage.install(program)?,
        None => step("program", || binary::build_copy(Link::Shipped, &stage.at("bin/tidegate")))?,
    };
    let size = fs::metadata(&program).while_(program.display())?.len();
    print::line(&format!("    the program: {} KiB in one file", size / 1_024));
    let world = step("sessions, journal and memory", || {
        World::make(&stage, &program, options.sessions, options.logs)
    })?;
    let mut problems = Vec::new();
    step("pages", || measure_pages(&stage, &program, &world, options.samples, &mut problems))?;
    step("idle", || measure_idle(&stage, &program, &mut problems))?;
    if problems.is_empty() {
        print::line("Every goal is met.");
        return Ok(());
    }
    Err(Failure::new(format!("{} goals are missed:\n  {}", problems.len(), problems.join("\n  "))))
}

/// A page that is asked for, and its goal if it has one.
struct Measured {
    name: &'static str,
    path: String,
    goal: Option<Duration>,
    first: Vec<Duration>,
    warm: Vec<Duration>,
}

fn measure_pages(
    stage: &Stage,
    program: &Path,
    world: &World,
    samples: usize,
    problems: &mut Vec<String>,
) -> Done {
    let page = |name, path: String, goal| Measured { name, path, goal, first: Vec::new(), warm: Vec::new() };
    let mut pages = [
        page("sessions", String::new(), Some(PAGE_GOAL)),
        page("one session", format!("session/{}", world.newest), None),
        page("search, English", "memory?q=deploy+review".to_owned(), None),
        page("search, Japanese", "memory?q=%E8%A8%AD%E8%A8%88".to_owned(), None),
        page("report", "report".to_owned(), None),
    ];
    let (mut starts, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..samples {
        // The first page of a process is that of the sessions: each other one then comes after it, as for a person.
        let served = Served::start(stage, program)?;
        starts.push(served.started_in);
        for page in &mut pages {
            page.first.push(served.page(&page.path)?);
            for _ in 0..WARM_REQUESTS {
                page.warm.push(served.page(&page.path)?);
            }
        }
        peaks.push(served.peak_kib());
    }
    print::line(&format!("    {samples} processes; each time: median, and the range"));
    print::line(&format!("    {:<18}{:>34}{:>34}", "page", "the first one", "again"));
    for page in &mut pages {
        let (first, warm) = (Spread::of(&mut page.first), Spread::of(&mut page.warm));
        let mut line = format!("    {:<18}{:>34}{:>34}", page.name, first.text(), warm.text());
        if let Some(goal) = page.goal {
            let slower = first.median.max(warm.median);
            let _ = write!(line, "  goal < {goal:?} {}", goal_verdict(slower < goal));
            if slower >= goal {
                problems.push(format!("{}: {slower:.1?}, and the goal is {goal:?}", page.name));
            }
        } else {
            line.push_str("  no goal");
        }
        print::line(&line);
    }
    print::line(&format!("    listens after {}; no goal", Spread::of(&mut starts).text()));
    if let Some(peak) = peaks.into_iter().flatten().max() {
        print::line(&format!("    peak memory {} MB; no goal", peak / 1_000));
    }
    Ok(())
}

struct Spread {
    least: Duration,
    median: Duration,
    most: Duration,
}

impl Spread {
    fn of(times: &mut [Duration]) -> Spread {
        times.sort();
        let at = |place: usize| times.get(place).copied().unwrap_or_default();
        Spread { least: at(0), median: at(times.len() / 2), most: at(times.len().saturating_sub(1)) }
    }

    fn text(&self) -> String {
        format!("{:.1?} ({:.1?} to {:.1?})", self.median, self.least, self.most)
    }
}

/// Linux only.
fn measure_idle(stage: &Stage, program: &Path, problems: &mut Vec<String>) -> Done {
    if !cfg!(target_os = "linux") {
        print::line("    left out: only Linux shows the processor time of another process");
        return Ok(());
    }
    let served = Served::start(stage, program)?;
    served.page("")?;
    for streams in [0, STREAMS] {
        let open = (0..streams).map(|_| served.stream()).collect::<Done<Vec<_>>>()?;
        served.settle()?;
        let before = served.processor_time()?;
        std::thread::sleep(IDLE);
        let used = served.processor_time()?.saturating_sub(before);
        let memory = served.resident_kib()? / 1_000;
        print::line(&format!(
            "    {streams} pages wait for news: {used:?} of processor time in {IDLE:?}, goal ≤ {IDLE_GOAL:?} {}; {memory} MB of memory",
            goal_verdict(used <= IDLE_GOAL)
        ));
        if used > IDLE_GOAL {
            problems.push(format!("{streams} pages wait: {used:?} of processor time in {IDLE:?}"));
        }
        drop(open);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let options = Options::read(&["--sessions", "20", "--logs", "5"]).unwrap();
        assert_eq!((options.sessions, options.logs, options.samples), (20, 5, SAMPLES));
        assert_eq!(Options::read(&["--logs", "0"]).unwrap().logs, 0);
        assert!(Options::read(&["--sessions", "0"]).is_err());
        assert!(Options::read(&["--sessions"]).is_err());
        assert!(Options::read(&["--pages", "1"]).is_err());
    }

    #[test]
    fn the_median_is_between_the_others() {
        let mut times = [30, 10, 20].map(Duration::from_millis);
        assert_eq!(Spread::of(&mut times).text(), "20.0ms (10.0ms to 30.0ms)");
    }
}

//! How fast conversations get into the memory. `cargo xtask bench worker` measures the worker, which stores exchanges as they
//! end; `cargo xtask bench import` measures the import of a folder of transcripts.
//!
//! Times are printed and not asserted, because they depend on the machine. What has to be stored is asserted.

#[path = "../store_bench/corpus.rs"]
#[expect(dead_code, reason = "the benchmark of the embedded store uses the rest of it")]
mod corpus;
mod import;
mod transcripts;
mod worker;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tidegate_core::feature::memory::settings::MemorySettings;
use tidegate_core::time::Millis;
use tidegate_memory::memory::Memory;
use tidegate_state::place::{PlaceEnv, StateDir};

type Done<T = ()> = Result<T, String>;

/// Later than every transcript.
const NOW: Millis = Millis(1_900_000_000_000);

const USAGE: &str = "recording_bench worker [--exchanges N] | import [--megabytes N] [--in FOLDER]";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Done {
    let number = |text: &str| text.parse::<usize>().ok().filter(|n| *n > 0).ok_or(USAGE);
    match words {
        ["worker"] => worker::measure(5000),
        ["worker", "--exchanges", exchanges] => worker::measure(number(exchanges)?),
        ["import"] => import::measure(5000, None),
        ["import", "--megabytes", megabytes] => import::measure(number(megabytes)?, None),
        ["import", "--megabytes", megabytes, "--in", folder] => {
            import::measure(number(megabytes)?, Some(Path::new(folder)))
        }
        [import::CHILD, transcripts, home] => import::run_child(Path::new(transcripts), Path::new(home)),
        _ => Err(USAGE.to_owned()),
    }
}

fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// A machine of its own below this folder.
struct Home {
    place: PlaceEnv,
    state: StateDir,
}

impl Home {
    fn at(folder: &Path) -> Done<Home> {
        let place = PlaceEnv {
            state_dir: Some(folder.join("state")),
            data_dir: Some(folder.join("data")),
            ..PlaceEnv::default()
        };
        let state = StateDir::open(&place)?;
        Ok(Home { place, state })
    }

    fn memory(&self) -> Done<Memory> {
        Memory::open(&self.place, &self.state, &MemorySettings::default(), NOW)
            .map_err(|error| error.to_string())
    }
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

//! Speed and memory of a replay: `cargo run --profile bench -p tidegate-replay --example replay_bench -- FOLDER [THREADS]`.

#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use tidegate_core::feature::config::Config;
use tidegate_replay::folder::replay_files;
use tidegate_replay::report::ReplayReport;
use tidegate_state::feature::memory::transcript_files;

fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let folder = words.next().unwrap_or_else(|| ".".to_owned());
    let threads = words.next().and_then(|word| word.parse().ok());
    let files = transcript_files::find(Path::new(&folder))?;
    let began = Instant::now();
    let replayed = replay_files(&files, &Config::default(), threads, &|_| ControlFlow::Continue(()));
    let replayed = replayed.map_err(|halt| std::io::Error::other(format!("{halt:?}")))?;
    let seconds = began.elapsed().as_secs_f64();
    let megabytes = replayed.bytes as f64 / 1e6;
    let report = ReplayReport::of(&replayed, None);
    println!("{} files, {megabytes:.0} MB, {seconds:.1} s, {:.0} MB/s", files.len(), megabytes / seconds);
    println!("{} sessions, {:?}, {:?}", report.sessions, report.stops, report.compactions);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!("{}", peak.unwrap_or("peak memory is not known here"));
    Ok(())
}

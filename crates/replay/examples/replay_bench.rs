//! Speed and memory of a replay: `cargo xtask bench replay [--megabytes N] [--in FOLDER]`, with transcripts that it makes and
//! deletes; with `--of FOLDER` those that are there. `--json FILE` writes the report, to compare it with another version's.
//! Fails where it misses a goal with its own transcripts, or the second replay has other numbers.

#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::{Value, json};
use tidegate_core::feature::config::Config;
use tidegate_core::time::Millis;
use tidegate_replay::folder::replay_files;
use tidegate_replay::report::ReplayReport;
use tidegate_state::feature::memory::transcript_files;

/// Some years of work: 2,000 transcripts.
const MEGABYTES: usize = 5_000;

/// Bytes of a transcript.
const TRANSCRIPT: usize = 2_500_000;

/// Megabytes a second with two processors, and of memory at the most.
const SPEED_GOAL: f64 = 100.0;
const MEMORY_GOAL: f64 = 200.0;

/// Shares of the work after which a line is printed.
const STEPS: u64 = 10;

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
    let json = after("--json").map(Path::new);
    if let Some(folder) = after("--of") {
        return measure(Path::new(folder), json).map(drop);
    }
    let megabytes = after("--megabytes").and_then(|number| number.parse().ok()).unwrap_or(MEGABYTES);
    let parent = after("--in").map_or_else(std::env::temp_dir, PathBuf::from);
    let made = MadeFolder::new(&parent)?;
    let progress = Progress::new("written", megabytes as u64 * 1_000_000);
    for number in 0..(megabytes * 1_000_000).div_ceil(TRANSCRIPT) {
        let path = made.folder.join(format!("{number:08x}-1111-2222-3333-444455556666.jsonl"));
        progress.add(write_transcript(&path, number, TRANSCRIPT)? as u64);
    }
    let Measured { speed, peak } = measure(&made.folder, json)?;
    drop(made);
    let mut missed = Vec::new();
    if speed < SPEED_GOAL {
        missed.push(format!("{speed:.0} MB/s, and the goal is {SPEED_GOAL}"));
    }
    if peak.is_some_and(|peak| peak >= MEMORY_GOAL) {
        missed.push(format!(
            "{:.0} MB of memory, and the goal is below {MEMORY_GOAL}",
            peak.unwrap_or_default()
        ));
    }
    if missed.is_empty() { Ok(()) } else { Err(io::Error::other(missed.join("; "))) }
}

/// A folder that goes with this process, however it ends: an interrupt runs no destructor.
struct MadeFolder {
    folder: PathBuf,
    /// Reads until this process has ended, then deletes the folder.
    remover: Child,
}

impl MadeFolder {
    fn new(parent: &Path) -> io::Result<MadeFolder> {
        let folder = tempfile::Builder::new().prefix("tidegate-bench-").tempdir_in(parent)?.keep();
        let remover = Command::new("sh")
            .args(["-c", "trap '' INT TERM HUP; cat > /dev/null; rm -rf -- \"$1\"", "sh"])
            .arg(&folder)
            .stdin(Stdio::piped())
            .spawn();
        match remover {
            Ok(remover) => Ok(MadeFolder { folder, remover }),
            Err(error) => {
                let _ = fs::remove_dir_all(&folder);
                Err(error)
            }
        }
    }
}

impl Drop for MadeFolder {
    fn drop(&mut self) {
        drop(self.remover.stdin.take());
        let _ = self.remover.wait();
    }
}

/// Prints how far a step is.
struct Progress {
    name: &'static str,
    all: u64,
    done: AtomicU64,
}

impl Progress {
    fn new(name: &'static str, all: u64) -> Progress {
        Progress { name, all: all.max(1), done: AtomicU64::new(0) }
    }

    fn add(&self, bytes: u64) {
        let before = self.done.fetch_add(bytes, Ordering::Relaxed);
        let after = before + bytes;
        if after * STEPS / self.all > before * STEPS / self.all {
            println!("  {} {} of {} MB", self.name, after / 1_000_000, self.all / 1_000_000);
        }
    }
}

struct Measured {
    /// Megabytes a second, of the faster replay: the first one may have waited for the disk.
    speed: f64,
    /// Megabytes. Linux only.
    peak: Option<f64>,
}

/// Twice, because the numbers must be the same whichever thread was faster.
fn measure(folder: &Path, json: Option<&Path>) -> io::Result<Measured> {
    let files = transcript_files::find(folder)?;
    let mut reports = Vec::new();
    let mut speed = 0.0_f64;
    for _ in 0..2 {
        let (began, worked) = (Instant::now(), processor_seconds());
        // Each file is read twice.
        let progress = Progress::new("read", 2 * files.iter().map(|file| file.bytes).sum::<u64>());
        let notify = |bytes| {
            progress.add(bytes);
            ControlFlow::Continue(())
        };
        let replayed = replay_files(&files, &Config::default(), None, &notify)
            .map_err(|halt| io::Error::other(format!("{halt:?}")))?;
        let (seconds, megabytes) = (began.elapsed().as_secs_f64(), replayed.bytes as f64 / 1e6);
        speed = speed.max(megabytes / seconds);
        println!(
            "{} files, {megabytes:.0} MB, {seconds:.1} s, {:.0} MB/s (goal ≥ {SPEED_GOAL} on two processors)",
            files.len(),
            megabytes / seconds
        );
        if let Some(used) = processor_seconds().zip(worked).map(|(after, before)| after - before) {
            println!("  {used:.1} s of processor time: {:.0} MB/s on one", megabytes / used);
        }
        reports.push(ReplayReport::of(&replayed, None));
    }
    let [report, again] = &reports[..] else { return Err(io::Error::other("no report")) };
    println!("{} sessions, {:?}, {:?}", report.sessions, report.stops, report.compactions);
    if let Some(path) = json {
        fs::write(path, serde_json::to_string_pretty(report)?)?;
    }
    if serde_json::to_string(report)? != serde_json::to_string(again)? {
        return Err(io::Error::other("the second replay has other numbers than the first"));
    }
    println!("the second replay has the same numbers, all of them");
    let peak = peak_megabytes();
    match peak {
        Some(peak) => println!("{peak:.0} MB of memory at the most (goal < {MEMORY_GOAL})"),
        None => println!("peak memory is not known here"),
    }
    Ok(Measured { speed, peak })
}

fn peak_megabytes() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(peak.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1_024.0 / 1e6)
}

/// Of this process, in all its threads. Says more than the clock on a machine that others use. Linux only.
fn processor_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let mut numbers = text.rsplit_once(')')?.1.split_whitespace().skip(11).map(str::parse::<f64>);
    // In ticks, of which Linux shows a hundred a second.
    Some((numbers.next()?.ok()? + numbers.next()?.ok()?) / 100.0)
}

/// Turns that read, edit and test, as long as the file is shorter. Most bytes are results, as in real ones.
fn write_transcript(path: &Path, number: usize, bytes: usize) -> io::Result<usize> {
    let mut out = Lines { file: BufWriter::new(File::create(path)?), number, line: 0, bytes: 0 };
    let root = format!("/w/project-{}", number % 40);
    let mut used = 20_000;
    for turn in 0.. {
        if out.bytes >= bytes {
            break;
        }
        out.write(
            json!({"type": "user", "message": {"content": format!("Turn {turn}: change the module.")}}),
        )?;
        for step in 0..4 {
            used += 1_500;
            let file = format!("{root}/src/module_{}.rs", (turn + step) % 50);
            let text = format!("fn function_{step}() {{ let value = {turn}; }}\n").repeat(150);
            let read = json!({"file": {"content": text, "startLine": 1, "numLines": 150, "totalLines": 150}});
            out.call(used, "Read", &json!({"file_path": file}), &text, &read)?;
            let edited = json!({"filePath": file, "originalFile": text});
            out.call(
                used,
                "Edit",
                &json!({"file_path": file, "old_string": "value", "new_string": "amount"}),
                "updated",
                &edited,
            )?;
        }
        let output = "test module::works ... ok\n".repeat(120);
        let ran = json!({"stdout": output, "stderr": "", "interrupted": false});
        if turn % 3 > 0 {
            out.call(used, "Bash", &json!({"command": "cargo test"}), &output, &ran)?;
        }
        out.answer(used, &json!({"type": "text", "text": "Done."}))?;
        if used > 160_000 {
            let meta = json!({"trigger": "auto", "preTokens": used});
            out.write(json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": meta}))?;
            let summary = json!({"content": "The modules were changed."});
            out.write(json!({"type": "user", "isCompactSummary": true, "message": summary}))?;
            used = 20_000;
        }
    }
    out.file.flush()?;
    Ok(out.bytes)
}

struct Lines {
    file: BufWriter<File>,
    number: usize,
    line: usize,
    bytes: usize,
}

impl Lines {
    fn write(&mut self, mut entry: Value) -> io::Result<()> {
        self.line += 1;
        entry["timestamp"] = json!(Millis(1_790_000_000_000 + 1_000 * self.line as u64).iso());
        entry["cwd"] = json!(format!("/w/project-{}", self.number % 40));
        entry["sessionId"] = json!(format!("s{}", self.number));
        entry["uuid"] = json!(format!("u{}-{}", self.number, self.line));
        let text = entry.to_string();
        self.bytes += text.len() + 1;
        writeln!(self.file, "{text}")
    }

    fn answer(&mut self, used: u64, block: &Value) -> io::Result<()> {
        let id = format!("m{}-{}", self.number, self.line);
        let usage = json!({"input_tokens": 10, "cache_read_input_tokens": used, "output_tokens": 50});
        let message = json!({"id": id, "model": "claude-sonnet-4-5", "usage": usage, "content": [block]});
        self.write(json!({"type": "assistant", "message": message}))
    }

    fn call(&mut self, used: u64, tool: &str, input: &Value, text: &str, result: &Value) -> io::Result<()> {
        let id = format!("c{}-{}", self.number, self.line);
        self.answer(used, &json!({"type": "tool_use", "id": id, "name": tool, "input": input}))?;
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
        self.write(json!({"type": "user", "toolUseResult": result, "message": {"content": [block]}}))
    }
}

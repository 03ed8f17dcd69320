//! `cargo xtask bench serve [--sessions N]`: the first page with many sessions and a full journal, next to its goal.

use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::binary::{self, Link};
use crate::stage::Stage;
use xtask::failure::{Done, Failure, While};
use xtask::print;

const SESSIONS: usize = 10_000;
const REQUESTS: usize = 40;
const GOAL: Duration = Duration::from_millis(100);

/// Bytes of the journal: about a hundred thousand records.
const JOURNAL: usize = 100 * 1024 * 1024;

pub(crate) fn run(words: &[&str]) -> Done {
    let sessions = match words {
        [] => SESSIONS,
        ["--sessions", number] => {
            number.parse().map_err(|_| Failure::new(format!("`{number}` is not a number")))?
        }
        _ => return Err(Failure::new("`bench serve` takes `--sessions N`")),
    };
    let stage = Stage::new()?;
    let program = binary::build_copy(Link::Shipped, &stage.at("bin/tidegate"))?;
    let one = stage.session(&program, 1)?;
    let folder = stage.state().join("sessions");
    multiply(&folder.join(&one.id), &folder, sessions)?;
    fill_journal(&stage.state().join("journal"), &one.id, sessions)?;
    let mut serve = stage.command(&program);
    let serve = serve.args(["serve", "--json"]).current_dir(stage.at("project")).stdout(Stdio::piped());
    let mut serve = serve.spawn().while_("tidegate serve")?;
    let mut said = String::new();
    if let Some(out) = serve.stdout.take() {
        BufReader::new(out).read_line(&mut said).while_("tidegate serve")?;
    }
    let url = said.split('"').nth(3).unwrap_or_default().trim_start_matches("http://").to_owned();
    let before = reads_of(serve.id());
    let measured = measure(&url);
    let after = reads_of(serve.id());
    let _ = serve.kill();
    let _ = serve.wait();
    let mut times = measured?;
    times.sort();
    let (first, median, longest) = (times[0], times[times.len() / 2], times[times.len() - 1]);
    print::line(&format!(
        "    {sessions} sessions, {} MB of journal: the first page in {median:.1?} (median), {first:.1?} to {longest:.1?}; \
         the goal is {GOAL:?}",
        JOURNAL / 1_000_000
    ));
    if let (Some(before), Some(after)) = (before, after) {
        let each = |before: u64, after: u64| (after - before) / REQUESTS as u64;
        print::line(&format!(
            "    each with {} calls that read {} KB",
            each(before.0, after.0),
            each(before.1, after.1) / 1000
        ));
    }
    Ok(())
}

/// The same session under other ids.
fn multiply(one: &Path, folder: &Path, sessions: usize) -> Done {
    for number in 2..=sessions {
        let copy = folder.join(copied_id(number));
        fs::create_dir_all(&copy).while_(copy.display())?;
        for file in ["marks", "bridge"] {
            let (from, to) = (one.join(file), copy.join(file));
            if from.exists() {
                fs::copy(&from, &to).while_(to.display())?;
            }
        }
    }
    Ok(())
}

fn copied_id(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// Repeats the newest day, each time as that of another session.
fn fill_journal(folder: &Path, session: &str, sessions: usize) -> Done {
    let mut days: Vec<_> =
        fs::read_dir(folder).while_(folder.display())?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    days.sort();
    let Some(day) = days.pop() else { return Err(Failure::new("the journal is empty")) };
    let text = fs::read_to_string(&day).while_(day.display())?;
    let file = fs::OpenOptions::new().append(true).open(&day).while_(day.display())?;
    let mut file = BufWriter::new(file);
    for number in 0..JOURNAL / text.len().max(1) {
        let copy = text.replace(session, &copied_id(2 + number % sessions));
        file.write_all(copy.as_bytes()).while_(day.display())?;
    }
    file.flush().while_(day.display())
}

/// Calls that read, and bytes that they read. Linux only.
fn reads_of(process: u32) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{process}/io")).ok()?;
    let number = |name: &str| text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok();
    Some((number("syscr:")?, number("rchar:")?))
}

fn measure(url: &str) -> Done<Vec<Duration>> {
    let (host, path) = url.split_once('/').ok_or_else(|| Failure::new(format!("no address: `{url}`")))?;
    (0..REQUESTS)
        .map(|_| {
            let began = Instant::now();
            let mut stream = TcpStream::connect(host).while_("connecting")?;
            let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).while_("asking")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).while_("reading the page")?;
            if !answer.starts_with("HTTP/1.1 200") || !answer.contains("</html>") {
                return Err(Failure::new("the first page is not complete"));
            }
            Ok(began.elapsed())
        })
        .collect()
}

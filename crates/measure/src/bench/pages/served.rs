//! A running `tidegate serve`, asked as a browser does, and what Linux says of its process.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use xtask::failure::{Done, Failure, While};

use crate::stage::Stage;

/// Linux shows processor time in hundredths of a second on every architecture.
const MILLIS_A_TICK: u64 = 10;

/// What a process reads at its start takes seconds at most.
const LONGEST_START: Duration = Duration::from_mins(2);

/// Ended with it.
pub(super) struct Served {
    process: Child,
    /// Without the scheme and the last slash.
    host: String,
    token: String,
    /// Until it said its address.
    pub(super) started_in: Duration,
}

impl Served {
    pub(super) fn start(stage: &Stage, program: &Path) -> Done<Served> {
        let began = Instant::now();
        let mut command = stage.command(program);
        let mut process =
            command.args(["serve", "--json"]).stdout(Stdio::piped()).spawn().while_("tidegate serve")?;
        let mut said = String::new();
        if let Some(out) = process.stdout.take() {
            BufReader::new(out).read_line(&mut said).while_("tidegate serve")?;
        }
        let started_in = began.elapsed();
        let mut served = Served { process, host: String::new(), token: String::new(), started_in };
        let said: Value = serde_json::from_str(&said).while_("what serve says")?;
        let url = said["url"].as_str().and_then(|url| url.strip_prefix("http://"));
        let parts = url.and_then(|url| url.trim_end_matches('/').split_once('/'));
        let (host, token) = parts.ok_or_else(|| Failure::new(format!("no address: {said}")))?;
        (served.host, served.token) = (host.to_owned(), token.to_owned());
        Ok(served)
    }

    fn ask(&self, path: &str) -> Done<TcpStream> {
        let mut stream = TcpStream::connect(&self.host).while_("connecting to serve")?;
        let request = format!(
            "GET /{}/{path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.token, self.host
        );
        stream.write_all(request.as_bytes()).while_("asking serve")?;
        Ok(stream)
    }

    /// The time until the page is complete.
    pub(super) fn page(&self, path: &str) -> Done<Duration> {
        let began = Instant::now();
        let mut answer = String::new();
        self.ask(path)?.read_to_string(&mut answer).while_("reading a page")?;
        let took = began.elapsed();
        if answer.starts_with("HTTP/1.1 200") && answer.contains("</html>") {
            return Ok(took);
        }
        let first = answer.lines().next().unwrap_or_default();
        Err(Failure::new(format!("the page `{path}` is not complete: {first}")))
    }

    /// A page's connection for news, after its first event.
    pub(super) fn stream(&self) -> Done<BufReader<TcpStream>> {
        let mut stream = BufReader::new(self.ask("live")?);
        let mut line = String::new();
        while !line.starts_with("event: news") {
            line.clear();
            if stream.read_line(&mut line).while_("news")? == 0 {
                return Err(Failure::new("the stream of news has ended"));
            }
        }
        Ok(stream)
    }

    /// Waits until what it reads at its start is read: a second passes without work.
    pub(super) fn settle(&self) -> Done {
        let began = Instant::now();
        let mut before = self.processor_time()?;
        while began.elapsed() < LONGEST_START {
            std::thread::sleep(Duration::from_secs(1));
            let now = self.processor_time()?;
            if now == before {
                return Ok(());
            }
            before = now;
        }
        Ok(())
    }

    /// Of all its threads, also those that ended.
    pub(super) fn processor_time(&self) -> Done<Duration> {
        let file = format!("/proc/{}/stat", self.process.id());
        let stat = fs::read_to_string(&file).while_(&file)?;
        // The name of the program may have spaces; the fields after it do not.
        let fields: Vec<&str> =
            stat.rsplit_once(") ").map(|(_, fields)| fields.split(' ').collect()).unwrap_or_default();
        let ticks = |place: usize| fields.get(place)?.parse::<u64>().ok();
        let total = ticks(11).zip(ticks(12)).map(|(user, system)| user + system);
        let total = total.ok_or_else(|| Failure::new(format!("{file}: no times")))?;
        Ok(Duration::from_millis(total * MILLIS_A_TICK))
    }

    pub(super) fn peak_kib(&self) -> Option<u64> {
        self.status("VmHWM:")
    }

    pub(super) fn resident_kib(&self) -> Done<u64> {
        self.status("VmRSS:").ok_or_else(|| Failure::new("/proc shows no memory of serve"))
    }

    fn status(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

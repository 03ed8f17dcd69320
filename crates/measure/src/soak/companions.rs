//! The programs that run as long as a client does: the pages of `tidegate serve`, and the MCP server. They are asked while hooks run.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xtask::failure::{Done, Failure, While};

use crate::stage::Stage;

/// Ended with it.
pub(crate) struct Companions {
    serve: Child,
    /// Without the scheme.
    url: String,
    mcp: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
    asked: u64,
}

impl Companions {
    pub(crate) fn start(stage: &Stage, program: &Path) -> Done<Companions> {
        let mut serve = stage.command(program);
        let mut serve = serve.args(["serve", "--json"]).stdout(Stdio::piped()).spawn().while_("serve")?;
        let mut said = String::new();
        if let Some(out) = serve.stdout.take() {
            BufReader::new(out).read_line(&mut said).while_("serve")?;
        }
        let said: Value = serde_json::from_str(&said).while_("what serve says")?;
        let url = said["url"].as_str().unwrap_or_default().trim_start_matches("http://").to_owned();
        let mut mcp = stage.command(program);
        let mut mcp = mcp.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().while_("mcp")?;
        let pipes = mcp.stdin.take().zip(mcp.stdout.take());
        let (ask, answers) = pipes.ok_or_else(|| Failure::new("mcp has no pipes"))?;
        let mut companions = Companions { serve, url, mcp, ask, answers: BufReader::new(answers), asked: 0 };
        let client = json!({ "name": "soak", "version": "1" });
        companions.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
        )?;
        companions.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(companions)
    }

    /// The first page.
    pub(crate) fn page(&self) -> Done {
        let (host, path) =
            self.url.split_once('/').ok_or_else(|| Failure::new(format!("serve: `{}`", self.url)))?;
        let mut stream = TcpStream::connect(host).while_("connecting to serve")?;
        let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).while_("asking serve")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).while_("reading the page")?;
        if answer.starts_with("HTTP/1.1 200") && answer.contains("</html>") {
            return Ok(());
        }
        Err(Failure::new(format!(
            "the first page is not complete: {}",
            answer.lines().next().unwrap_or_default()
        )))
    }

    /// A search, and how long it took.
    pub(crate) fn search(&mut self, query: &str) -> Done<Duration> {
        let start = Instant::now();
        let answer = self.ask("tools/call", &json!({ "name": "search", "arguments": { "query": query } }))?;
        if answer["result"]["structuredContent"]["results"].is_array() {
            return Ok(start.elapsed());
        }
        Err(Failure::new(format!("mcp: {answer}")))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Done<Value> {
        self.asked += 1;
        self.tell(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }))?;
        let mut line = String::new();
        self.answers.read_line(&mut line).while_("what mcp answers")?;
        serde_json::from_str(&line).while_("what mcp answers")
    }

    fn tell(&mut self, message: &Value) -> Done {
        writeln!(self.ask, "{message}").while_("asking mcp")
    }
}

impl Drop for Companions {
    fn drop(&mut self) {
        for child in [&mut self.serve, &mut self.mcp] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

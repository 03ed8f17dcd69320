//! The MCP server: what is said on its wire, in every revision of the protocol, and what its tools give.

mod protocol;
mod schema;
mod status;
mod tools;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// What is answered to these lines, in one run that ends with its input.
fn converse(sandbox: &Sandbox, lines: &[impl AsRef<[u8]>]) -> Vec<Value> {
    let input: Vec<u8> = lines.iter().flat_map(|line| [line.as_ref(), b"\n"].concat()).collect();
    let ran = sandbox.run_with(&["mcp"], &input);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    ran.stdout.lines().map(parsed).collect()
}

/// The tools with all that their results hold, which the list has in outline.
fn defined_tools() -> &'static [Value] {
    static DEFINED: std::sync::OnceLock<Vec<Value>> = std::sync::OnceLock::new();
    DEFINED.get_or_init(|| {
        let ran = Sandbox::new().run(&["reference", "tools"]);
        serde_json::from_str(ran.ok()).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    })
}

fn parsed(line: &str) -> Value {
    let answer: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    for answer in answer.as_array().map_or(std::slice::from_ref(&answer), Vec::as_slice) {
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        assert!(answer.get("id").is_some(), "{answer}");
        assert_ne!(answer.get("result").is_some(), answer.get("error").is_some(), "{answer}");
    }
    answer
}

fn request(id: impl Into<Value>, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params }).to_string()
}

/// A server at work, asked one thing at a time.
struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    fn start(sandbox: &Sandbox) -> Server {
        let mut child = sandbox
            .command(&["mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        Server { child, stdin, stdout, asked: 0 }
    }

    fn write(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().expect("open"), "{line}").expect("it reads");
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("it answers");
        parsed(&line)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        self.write(&request(self.asked, method, params));
        let answer = self.read();
        assert_eq!(answer["id"], self.asked, "{answer}");
        answer
    }

    /// A call; what it gave is as its schema says.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = answer["result"].clone();
        assert!(result.is_object(), "{answer}");
        if result.get("isError").is_none() {
            let given = &result["structuredContent"];
            let described = defined_tools().iter().find(|described| described["name"] == tool);
            schema::assert_holds(&described.expect("it is defined")["outputSchema"], given, tool);
            let listed = self.ask("tools/list", &json!({}));
            let listed = listed["result"]["tools"].as_array().expect("tools").clone();
            let listed = listed.iter().find(|listed| listed["name"] == tool).expect("it is listed");
            schema::assert_outlines(&listed["outputSchema"], given, tool);
        }
        result
    }

    /// What a call that has to succeed gave.
    fn gives(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert!(result.get("isError").is_none(), "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// What a call that has to fail says.
    fn refuses(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let text = result["content"][0]["text"].as_str().expect("text").to_owned();
        assert!(text.starts_with("error: ") && text.contains("\nhint: "), "{text}");
        text
    }

    /// Its input ends, and so does it.
    fn end(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().expect("it ends with its input").success());
    }
}

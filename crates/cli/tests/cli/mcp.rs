//! The MCP server: the conversation that the client holds with it, and input that no client should send.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fixtures;
use crate::sandbox::Sandbox;
use crate::transcript::{Transcript, addressed, answer};

const SESSION: &str = "91b38a40-3ead-4aa8-8407-24d36ddad7be";

/// A session with a reading.
fn played() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(124_000));
    for capture in ["SessionStart.startup", "UserPromptSubmit.plain"] {
        let payload = addressed(fixtures::hook(capture), SESSION, &transcript.path, &sandbox.project());
        let _ = sandbox.event(&payload);
    }
    sandbox
}

/// What is answered to these lines, in one run that ends with its input.
fn converse(sandbox: &Sandbox, lines: &[impl AsRef<[u8]>]) -> Vec<Value> {
    let input: Vec<u8> = lines.iter().flat_map(|line| [line.as_ref(), b"\n"].concat()).collect();
    let ran = sandbox.run_with(&["mcp"], &input);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let parse = |line: &str| -> Value {
        let answer: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        assert!(answer.get("id").is_some(), "{answer}");
        assert_ne!(answer.get("result").is_some(), answer.get("error").is_some(), "{answer}");
        answer
    };
    ran.stdout.lines().map(parse).collect()
}

fn request(id: impl Into<Value>, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params }).to_string()
}

/// A call of the tool; what it gave.
fn status(sandbox: &Sandbox, arguments: &Value) -> Value {
    let call = request(1, "tools/call", &json!({ "name": "get_context_status", "arguments": arguments }));
    converse(sandbox, &[call]).remove(0)["result"].clone()
}

#[test]
fn the_clients_conversation() {
    let sandbox = played().with("CLAUDE_CODE_SESSION_ID", SESSION);
    let meta = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } });
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "roots": {}, "elicitation": {} },
        "clientInfo": { "name": "claude-code", "version": "2.1.325" },
    });
    let call = json!({
        "name": "get_context_status",
        "arguments": {},
        "_meta": { "claudecode/toolUseId": "toolu_1", "progressToken": 2 },
    });
    let answers = converse(
        &sandbox,
        &[
            request("server-discover-probe-1", "server/discover", &meta),
            request(0, "initialize", &hello),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
            request(1, "tools/list", &json!({})),
            request(2, "tools/call", &call),
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } })
                .to_string(),
            request("last", "ping", &json!({})),
        ],
    );
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!("server-discover-probe-1"), &json!(0), &json!(1), &json!(2), &json!("last")]);
    assert_eq!(answers[0]["error"]["code"], -32601);
    assert_eq!(
        answers[1]["result"],
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "tidegate", "title": "Tidegate", "version": env!("CARGO_PKG_VERSION") },
        })
    );
    let tools = answers[2]["result"]["tools"].as_array().expect("tools");
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0]["name"], "get_context_status");
    assert_eq!(answers[4]["result"], json!({}));

    let result = &answers[3]["result"];
    assert!(result.get("isError").is_none(), "{result}");
    let status = &result["structuredContent"];
    assert_eq!((&status["session"], &status["used"]), (&json!(SESSION), &json!(124_000)));
    assert_eq!((&status["window"], &status["left"]), (&json!(200_000), &json!(43_000)));
    assert_eq!((&status["level"], &status["pressure_said"]), (&json!(60), &json!("info")));
    assert_eq!(status["switched_off"], json!([]));
    let text = result["content"][0]["text"].as_str().expect("text");
    let known =
        "62% of 200k tokens are in use (124000). 43k tokens are left before the client compacts at 167000.";
    assert!(text.starts_with(known), "{text}");

    // What is promised about the result holds for it.
    let promised = &tools[0]["outputSchema"];
    for name in promised["required"].as_array().expect("names") {
        assert!(status.get(name.as_str().expect("a name")).is_some(), "{name}");
    }
    for (name, value) in status.as_object().expect("an object") {
        let kind = promised["properties"][name]["type"].as_str().unwrap_or_else(|| panic!("{name} is new"));
        let holds = match kind {
            "string" => value.is_string(),
            "integer" => value.is_u64(),
            "number" => value.is_number(),
            "array" => value.is_array(),
            _ => false,
        };
        assert!(holds, "{name}: {value} is no {kind}");
    }
}

#[test]
fn revisions_of_the_protocol() {
    let asked = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2026-07-28", ""];
    let lines: Vec<String> = asked
        .iter()
        .map(|revision| request(1, "initialize", &json!({ "protocolVersion": revision })))
        .collect();
    let spoken: Vec<Value> = converse(&Sandbox::new(), &lines)
        .iter()
        .map(|answer| answer["result"]["protocolVersion"].clone())
        .collect();
    assert_eq!(spoken, ["2025-11-25", "2025-06-18", "2025-03-26", "2025-11-25", "2025-11-25", "2025-11-25"]);
}

/// What the tool cannot tell is a result that says what to do, so that the model sees it.
#[test]
fn errors_of_the_tool_are_for_the_model() {
    let told = |sandbox: &Sandbox, arguments: &Value, parts: [&str; 2]| {
        let result = status(sandbox, arguments);
        let text = result["content"][0]["text"].as_str().expect("text");
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.get("structuredContent").is_none(), "{result}");
        assert!(parts.iter().all(|part| text.contains(part)) && text.contains("\nhint: "), "{text}");
    };
    let nothing = Sandbox::new();
    told(&nothing, &json!({}), ["no session has been seen yet", "after the next prompt"]);
    let sandbox = nothing.with("CLAUDE_CODE_SESSION_ID", SESSION);
    told(&sandbox, &json!({}), ["has not been seen", "after the next prompt"]);

    let sandbox = played();
    told(
        &sandbox,
        &json!({ "session": "never-seen" }),
        ["never-seen has not been seen", "without `session`"],
    );
    told(&sandbox, &json!({ "session": "../../x" }), ["session_id has characters", "without `session`"]);
    told(&sandbox, &json!({ "session": 5 }), ["`session` is not a string", "leave it out"]);
    told(&sandbox, &json!({ "sesion": SESSION }), ["no argument `sesion`", "`session` is the only one"]);
    assert_eq!(status(&sandbox, &json!({ "session": null }))["structuredContent"]["session"], SESSION);

    std::fs::write(sandbox.path().join("file"), b"").expect("a new file");
    let blocked = sandbox.path().join("file/state");
    told(
        &sandbox.with("TIDEGATE_STATE_DIR", blocked),
        &json!({}),
        ["the state directory", "TIDEGATE_STATE_DIR"],
    );
}

#[test]
fn unknown_use_is_an_answer() {
    let sandbox = Sandbox::new();
    let nowhere = sandbox.path().join("missing.jsonl");
    let start = fixtures::hook("SessionStart.startup");
    sandbox.event(&addressed(start, SESSION, &nowhere, &sandbox.project())).silent();
    let result = status(&sandbox, &json!({}));
    assert!(result.get("isError").is_none(), "{result}");
    let known = &result["structuredContent"];
    assert!(known["freshness"] == "unknown" && known["unknown"].is_string(), "{known}");
    assert!(known.get("used").is_none() && known.get("left").is_none(), "{known}");
    let text = result["content"][0]["text"].as_str().expect("text");
    assert!(text.starts_with("Context use is not known: "), "{text}");
}

#[test]
fn what_is_switched_off_is_said() {
    let sandbox = played().with("TIDEGATE_OFF", "pressure");
    let stop = fixtures::hook("Stop.first");
    let transcript = sandbox.path().join("t.jsonl");
    sandbox.event(&addressed(stop, SESSION, &transcript, &sandbox.project())).silent();
    let result = status(&sandbox, &json!({ "session": SESSION }));
    assert_eq!(result["structuredContent"]["switched_off"], json!(["pressure"]), "{result}");
    let text = result["content"][0]["text"].as_str().expect("text");
    assert!(text.ends_with("Switched off in this session: pressure."), "{text}");
}

/// The client clears the conversation and keeps the server, which still has the old session in its environment.
#[test]
fn after_a_clear_the_tool_reads_the_new_session() {
    let sandbox = played().with("CLAUDE_CODE_SESSION_ID", SESSION);
    let play = |capture: &str, session: &str| {
        let transcript = sandbox.path().join(format!("{session}.jsonl"));
        let payload = addressed(fixtures::hook(capture), session, &transcript, &sandbox.project());
        sandbox.event(&payload).silent();
    };
    let read = |arguments: Value| status(&sandbox, &arguments)["structuredContent"]["session"].clone();
    for next in ["second", "third"] {
        let before = if next == "second" { SESSION } else { "second" };
        play("SessionEnd.clear", before);
        assert_eq!(read(json!({})), before, "nothing has come after it yet");
        play("SessionStart.startup", "of-another-terminal");
        assert_eq!(read(json!({})), before);
        play("SessionStart.clear", next);
        assert_eq!(read(json!({})), next);
    }
    assert_eq!(read(json!({ "session": SESSION })), SESSION, "the one that is named");
    play("SessionEnd.other", "third");
    play("SessionStart.resume", SESSION);
    assert_eq!(read(json!({})), SESSION, "resumed");
}

#[test]
fn wrong_messages_are_refused_and_the_next_is_answered() {
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let cases: Vec<(Vec<u8>, i64, Value)> = [
        ("{", -32700, Value::Null),
        ("hello", -32700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#, -32700, Value::Null),
        (deep.as_str(), -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, Value::Null),
        ("1", -32600, Value::Null),
        ("null", -32600, Value::Null),
        (r#""ping""#, -32600, Value::Null),
        ("{}", -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":7}"#, -32600, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, -32600, json!(7)),
        (r#"{"id":7,"method":"ping"}"#, -32600, json!(7)),
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, -32600, json!(7)),
        (r#"{"jsonrpc":2.0,"id":7,"method":"ping"}"#, -32600, json!(7)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}"#, -32602, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":"x"}"#, -32602, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":""}"#, -32601, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"resources/list"}"#, -32601, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"notifications/initialized"}"#, -32601, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"initialize"}"#, -32602, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1}}"#, -32602, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"x"}}"#, -32602, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#, -32602, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":[]}}"#, -32602, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"rm"}}"#, -32602, json!(7)),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_context_status","arguments":[]}}"#,
            -32602,
            json!(7),
        ),
    ]
    .into_iter()
    .map(|(line, code, id)| (line.as_bytes().to_vec(), code, id))
    .chain([(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}".to_vec(), -32700, Value::Null)])
    .collect();
    let ping = request("after", "ping", &json!({})).into_bytes();
    let lines: Vec<Vec<u8>> = cases.iter().flat_map(|(line, ..)| [line.clone(), ping.clone()]).collect();
    let answers = converse(&Sandbox::new(), &lines);
    assert_eq!(answers.len(), lines.len());
    for ((line, code, id), pair) in cases.iter().zip(answers.chunks(2)) {
        let line = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        assert_eq!((&pair[0]["error"]["code"], &pair[0]["id"]), (&json!(code), id), "{line}");
        assert!(pair[0]["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{line}");
        assert_eq!((&pair[1]["id"], &pair[1]["result"]), (&json!("after"), &json!({})), "{line}");
    }
}

#[test]
fn what_asks_for_no_answer_gets_none() {
    let silent = [
        "",
        "  \t ",
        "\r",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/never-heard-of","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"get_context_status"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"x"}}"#,
    ];
    assert_eq!(converse(&Sandbox::new(), &silent), Vec::<Value>::new());
    assert_eq!(converse(&Sandbox::new(), &[] as &[&str]), Vec::<Value>::new(), "no input at all");
}

#[test]
fn huge_lines_are_passed_over() {
    let huge = request(1, "ping", &json!({ "x": "y".repeat(5 * 1024 * 1024) }));
    let large = request(2, "ping", &json!({ "x": "y".repeat(900 * 1024) }));
    let name = request(3, &"m".repeat(100_000), &json!({}));
    let answers = converse(&Sandbox::new(), &[huge, large, name, request(4, "ping", &json!({}))]);
    assert_eq!((&answers[0]["id"], &answers[0]["error"]["code"]), (&Value::Null, &json!(-32600)));
    assert_eq!(answers[1], json!({ "jsonrpc": "2.0", "id": 2, "result": {} }));
    assert!(answers[2].to_string().len() < 300, "what is not ours is not repeated at length");
    assert_eq!((answers.len(), &answers[3]["id"]), (4, &json!(4)));
    // One that is never finished.
    let ran = Sandbox::new().run_with(&["mcp"], "z".repeat(3 * 1024 * 1024).as_bytes());
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(0), 1), "{:?}", ran.stderr);
    // The last line needs no end.
    let ran = Sandbox::new().run_with(&["mcp"], request(1, "ping", &json!({})).as_bytes());
    assert_eq!(ran.stdout, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
}

/// A client waits for each answer before it asks on, and reads the present, not what was at the start.
#[test]
fn answers_come_at_once_and_are_fresh() {
    let sandbox = played();
    let mut child = sandbox
        .command(&["mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let call = request(1, "tools/call", &json!({ "name": "get_context_status" }));
    let mut used = || {
        writeln!(stdin, "{call}").expect("it reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it answers");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        answer["result"]["structuredContent"]["used"].clone()
    };
    assert_eq!(used(), 124_000);
    let mut transcript = Transcript::at(sandbox.path().join("t.jsonl"));
    transcript.line(&answer(131_000));
    assert_eq!(used(), 131_000);
    drop(stdin);
    assert!(child.wait().expect("it ends with its input").success());
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .command(&["mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    let _ = writeln!(stdin, "{}", request(1, "ping", &json!({})));
    assert!(child.wait().expect("it ends although its input is open").success());
}

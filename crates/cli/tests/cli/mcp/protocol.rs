//! The protocol: the same conversation in every revision, and input that no client should send.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::schema::assert_sound;
use super::{Server, converse, defined_tools, request};
use crate::sandbox::Sandbox;

/// Those with a handshake, and what a client that asks for them gets.
const REVISIONS: [(&str, &str); 7] = [
    ("2025-11-25", "2025-11-25"),
    ("2025-06-18", "2025-06-18"),
    ("2025-03-26", "2025-03-26"),
    // Too old, without a handshake, not there yet, nothing at all: the newest that has a handshake.
    ("2024-11-05", "2025-11-25"),
    ("2026-07-28", "2025-11-25"),
    ("2099-01-01", "2025-11-25"),
    ("", "2025-11-25"),
];

const NEWEST: &str = "2026-07-28";

/// As Claude Code 2.1.325 says hello.
fn hello(revision: &str) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": { "roots": { "listChanged": true }, "elicitation": { "form": {}, "url": {} } },
        "clientInfo": { "name": "claude-code", "title": "Claude Code", "version": "2.1.325" },
    })
}

/// What goes with every request of the revision without a handshake.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientCapabilities": { "roots": { "listChanged": true } },
        "io.modelcontextprotocol/clientInfo": { "name": "claude-code", "version": "2.1.325" },
        "progressToken": 2,
    })
}

#[test]
fn revisions_of_the_protocol() {
    for (asked, spoken) in REVISIONS {
        let sandbox = Sandbox::new();
        let mut server = Server::start(&sandbox);
        let hello = server.ask("initialize", &hello(asked))["result"].clone();
        assert_eq!(hello["protocolVersion"], spoken, "{asked}");
        assert_eq!(hello["capabilities"], json!({ "tools": {}, "resources": {} }), "{asked}");
        let ours = json!({ "name": "tidegate", "title": "Tidegate", "version": env!("CARGO_PKG_VERSION") });
        assert_eq!(hello["serverInfo"], ours, "{asked}");
        assert!(hello["instructions"].as_str().is_some_and(|text| text.len() < 600), "{hello}");
        server.end();
    }
    // A client that says no more than this is understood.
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    let short = server.ask("initialize", &json!({ "protocolVersion": "2025-06-18" }));
    assert_eq!(short["result"]["protocolVersion"], "2025-06-18");
}

/// What a client of each revision goes through.
#[test]
fn every_revision_conforms() {
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25", NEWEST] {
        let modern = revision == NEWEST;
        let sandbox = Sandbox::new();
        let mut server = Server::start(&sandbox);
        if !modern {
            server.ask("initialize", &hello(revision));
            server.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        }
        let mut ask = |method: &str, mut params: Value| {
            if modern {
                params["_meta"] = meta();
            }
            let answer = server.ask(method, &params);
            let result = &answer["result"];
            // Older clients know neither, and some refuse what they do not know.
            for member in ["resultType", "ttlMs", "cacheScope"] {
                let expected =
                    modern && result.is_object() && (member == "resultType" || method != "tools/call");
                assert_eq!(result.get(member).is_some(), expected, "{revision} {method} {member}: {answer}");
            }
            answer
        };
        let code = |answer: Value| answer["error"]["code"].clone();

        let ping = ask("ping", json!({}));
        if modern {
            assert_eq!(code(ping), -32601, "this revision has none");
        } else {
            assert_eq!(ping["result"], json!({}), "{revision}");
        }
        let tools = ask("tools/list", json!({}))["result"]["tools"].clone();
        assert_eq!(tools.as_array().map(Vec::len), Some(15), "{revision}");
        assert_eq!(code(ask("tools/list", json!({ "cursor": "x" }))), -32602);

        let entries = ask("tools/call", json!({ "name": "list_unpromoted", "arguments": {} }));
        assert_eq!(entries["result"]["structuredContent"], json!({ "entries": [], "total": 0 }));
        assert_eq!(
            entries["result"]["content"],
            json!([{ "type": "text", "text": "Every progress note is reviewed." }])
        );
        for arguments in [json!({ "limit": "5" }), json!({ "limit": 0 }), json!({ "limt": 5 })] {
            let result = ask("tools/call", json!({ "name": "list_unpromoted", "arguments": arguments }));
            assert_eq!(result["result"]["isError"], true, "{revision}: {result}");
        }
        assert_eq!(code(ask("tools/call", json!({ "name": "rm" }))), -32602);
        assert_eq!(code(ask("tools/call", json!({ "name": "search", "arguments": [] }))), -32602);
        assert_eq!(code(ask("tools/call", json!({}))), -32602);

        assert_eq!(ask("resources/list", json!({}))["result"]["resources"], json!([]));
        let templates = ask("resources/templates/list", json!({}))["result"]["resourceTemplates"].clone();
        let uris: Vec<&Value> =
            templates.as_array().expect("templates").iter().map(|it| &it["uriTemplate"]).collect();
        assert_eq!(uris, ["tidegate://decisions/{id}", "tidegate://topics/{id}"]);
        let missing = if modern { -32602 } else { -32002 };
        for uri in ["tidegate://topics/1", "tidegate://topics/x", "file:///etc/passwd", ""] {
            assert_eq!(code(ask("resources/read", json!({ "uri": uri }))), missing, "{revision} {uri}");
        }
        assert_eq!(code(ask("resources/read", json!({}))), -32602);
        assert_eq!(code(ask("never/heard-of", json!({}))), -32601);
        assert_eq!(code(ask("logging/setLevel", json!({ "level": "debug" }))), -32601);
        server.end();
    }
}

/// The probe that the client begins with. One that is answered goes on without a handshake.
#[test]
fn the_probe_is_answered() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    server.write(&request("server-discover-probe-1", "server/discover", &json!({ "_meta": meta() })));
    let answer = server.read();
    assert_eq!(answer["id"], "server-discover-probe-1");
    let found = &answer["result"];
    assert_eq!(found["supportedVersions"], json!(["2025-03-26", "2025-06-18", "2025-11-25", NEWEST]));
    assert_eq!(found["capabilities"], json!({ "tools": {}, "resources": {} }));
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tidegate");
    // One without what the revision wants is told so, and a client that then shakes hands is welcome.
    let bare = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": NEWEST } });
    assert_eq!(server.ask("server/discover", &bare)["error"]["code"], -32602);
    let unknown = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2099-01-01" } });
    let refused = server.ask("tools/list", &unknown);
    assert_eq!(refused["error"]["code"], -32022, "{refused}");
    let hello = server.ask("initialize", &hello("2025-11-25"));
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    assert!(server.ask("tools/list", &json!({}))["result"]["tools"].is_array());
    server.end();
}

#[test]
fn tools_as_they_are_listed() {
    let sandbox = Sandbox::new();
    let listed = Server::start(&sandbox).ask("tools/list", &json!({}));
    let tools = &listed["result"]["tools"];
    for tool in tools.as_array().expect("tools") {
        let name = tool["name"].as_str().expect("a name");
        let defined = defined_tools().iter().find(|defined| defined["name"] == name).expect("its definition");
        assert_eq!(defined["inputSchema"], tool["inputSchema"], "{name}");
        for (of, schema) in [(tool, "inputSchema"), (defined, "outputSchema")] {
            assert_sound(&of[schema], &format!("{name}.{schema}"));
            assert_eq!(of[schema]["type"], "object", "{name}");
        }
        assert_ne!(tool["annotations"]["destructiveHint"], true, "no tool deletes: {name}");
        assert!(tool["description"].as_str().is_some_and(|text| text.len() < 500), "{name}");
    }
    let lines: Vec<String> = tools.as_array().expect("tools").iter().flat_map(in_lines).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// It is in the context of every session.
#[test]
fn the_list_is_short() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    let hello = server.ask("initialize", &hello("2025-11-25"));
    assert!(hello["result"]["instructions"].as_str().is_some_and(|text| text.len() < 400), "{hello}");
    let listed = server.ask("tools/list", &json!({}));
    assert!(listed["result"].to_string().len() < 12_000, "{}", listed["result"].to_string().len());
}

/// A tool, one line for each member of its schemas.
fn in_lines(tool: &Value) -> Vec<String> {
    let mut lines = vec![
        format!("{} ({}) {}", tool["name"], tool["title"], tool["annotations"]),
        format!("  {}", tool["description"]),
    ];
    for (direction, schema) in [("takes", "inputSchema"), ("gives", "outputSchema")] {
        lines.push(format!("  {direction}, of these {}:", tool[schema]["required"]));
        let members = tool[schema]["properties"].as_object().expect("members");
        lines.extend(members.iter().map(|(name, schema)| format!("    {name}: {schema}")));
    }
    lines
}

/// Only this revision had them, and in it a server has to take them.
#[test]
fn batches() {
    let ping = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    server.ask("initialize", &hello("2025-03-26"));
    let unfit = json!({ "jsonrpc": "2.0", "id": 12, "method": "tools/call", "params": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 13, "method": "tools/call", "params": { "name": "list_unpromoted" } });
    server.write(&json!([ping(11), initialized, 5, unfit, call]).to_string());
    let answer = server.read();
    let mut ids: Vec<String> = answer
        .as_array()
        .expect("one answer for all")
        .iter()
        .map(|answer| answer["id"].to_string())
        .collect();
    ids.sort();
    assert_eq!(ids, ["11", "12", "13", "null"]);
    // What is taken back in the same batch is not waited for.
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 21 } });
    server.write(&json!([ping(21), ping(22), cancel]).to_string());
    let answer = server.read();
    assert!(answer.as_array().expect("one answer").iter().any(|answer| answer["id"] == 22), "{answer}");
    // Nothing is asked, nothing is answered.
    server.write(&json!([initialized, initialized]).to_string());
    server.write("[]");
    assert_eq!(server.read()["error"]["code"], -32600);
    assert_eq!(server.ask("ping", &json!({}))["result"], json!({}));
    server.ask("initialize", &hello("2025-06-18"));
    server.write(&json!([ping(31)]).to_string());
    assert_eq!(server.read()["error"]["code"], -32600);
    server.end();
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
        (r#"{"jsonrpc":"2.0","id":7,"method":"prompts/get"}"#, -32601, json!(7)),
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
    for (line, code, id) in cases {
        let shown = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        let answers = converse(&Sandbox::new(), &[line, request("after", "ping", &json!({})).into_bytes()]);
        let [refused, after] = answers.as_slice() else { panic!("{shown}: {answers:?}") };
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(code), &id), "{shown}");
        assert!(refused["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{shown}");
        assert_eq!((&after["id"], &after["result"]), (&json!("after"), &json!({})), "{shown}");
    }
}

#[test]
fn what_asks_for_no_answer_gets_none() {
    let silent = [
        "",
        "  \t ",
        "\r",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
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
    // Whatever else is started at this moment has our end of its output for an instant, too: one answer may not be enough.
    let ping = request(1, "ping", &json!({}));
    while writeln!(stdin, "{ping}").is_ok() {}
    assert!(child.wait().expect("it ends although its input is open").success());
}

/// A server whose memory cannot be opened while somebody has the lock.
fn locked(sandbox: &Sandbox) -> (Server, fs::File) {
    let mut server = Server::start(sandbox);
    server.gives("add_topic", &json!({ "title": "Locks" }));
    let lock = sandbox.home().join(".local/share/tidegate/memory/lock");
    let lock = fs::File::options().write(true).open(lock).expect("the memory's lock");
    lock.lock().expect("nobody else has it");
    (server, lock)
}

#[test]
fn a_call_that_takes_long_holds_nothing_up_and_can_be_taken_back() {
    let sandbox = Sandbox::new();
    let (mut server, lock) = locked(&sandbox);
    let call = json!({ "name": "add_topic", "arguments": { "title": "Late" } });
    server.write(&request("slow", "tools/call", &call));
    assert_eq!(server.ask("ping", &json!({}))["result"], json!({}), "answered meanwhile");
    server.gives("list_unpromoted", &json!({}));
    let cancel = json!({ "requestId": "slow", "reason": "not needed" });
    server.write(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }).to_string(),
    );
    assert_eq!(server.ask("ping", &json!({}))["result"], json!({}));
    drop(lock);
    // What was taken back is not answered; the next is.
    assert!(server.gives("list_topics", &json!({}))["topics"].is_array());
    server.end();
}

#[test]
fn a_call_does_not_wait_for_ever_for_a_lock() {
    let sandbox = Sandbox::new();
    let (mut server, lock) = locked(&sandbox);
    let refused = server.refuses("list_topics", &json!({}));
    assert!(refused.contains("memory/lock: ") && refused.contains("has held this lock"), "{refused}");
    drop(lock);
    server.gives("list_topics", &json!({}));
    server.end();
}

#[test]
fn what_is_under_way_when_the_input_ends_is_answered() {
    let sandbox = Sandbox::new();
    let (mut server, lock) = locked(&sandbox);
    server.write(&request("last", "tools/call", &json!({ "name": "list_topics" })));
    drop(server.stdin.take());
    drop(lock);
    let answer = server.read();
    assert!(answer["id"] == "last" && answer["result"]["structuredContent"]["topics"].is_array(), "{answer}");
    server.end();
}

#[test]
fn calls_at_once_are_all_answered() {
    let calls: Vec<String> = (0..50)
        .map(|id| {
            request(id, "tools/call", &json!({ "name": "list_unpromoted", "arguments": { "limit": id + 1 } }))
        })
        .collect();
    let mut ids: Vec<u64> = converse(&Sandbox::new(), &calls)
        .iter()
        .map(|answer| {
            assert_eq!(answer["result"]["structuredContent"]["total"], 0, "{answer}");
            answer["id"].as_u64().expect("an id")
        })
        .collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..50));
}

//! The pages of `tidegate serve`, asked for as a browser does, and as others might.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::slice::from_ref;

use serde_json::{Value, json};

use crate::people::{SESSION, attended};
use crate::sandbox::{Sandbox, contents};
use crate::transcript::addressed;

/// A server on a free port; it ends with the test.
struct Served {
    process: Child,
    port: u16,
    token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Served {
    fn start(sandbox: &Sandbox) -> Served {
        Served::run(sandbox.command(&["serve", "--json"]))
    }

    fn run(mut command: Command) -> Served {
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("a server");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("its output")).read_line(&mut line).expect("its address");
        let said: Value = serde_json::from_str(&line).expect("JSON");
        let url = said["url"].as_str().expect("an address");
        let rest = url.strip_prefix("http://127.0.0.1:").expect("an address on loopback");
        let (port, token) = rest.split_once('/').expect("a token");
        Served { process, port: port.parse().expect("a port"), token: token.trim_end_matches('/').to_owned() }
    }

    fn connect(&self, method: &str, path: &str, headers: &[String]) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        let headers: String = headers.iter().flat_map(|header| [header.as_str(), "\r\n"]).collect();
        write!(stream, "{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").expect("a request");
        stream
    }

    fn ask(&self, method: &str, path: &str, headers: &[String]) -> (u16, String) {
        let mut answer = String::new();
        self.connect(method, path, headers).read_to_string(&mut answer).expect("an answer");
        let code = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        (code, answer)
    }

    fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}", self.port)
    }

    /// As a browser with the address.
    fn page(&self, path: &str) -> (u16, String) {
        self.ask("GET", &format!("/{}/{path}", self.token), &[self.host()])
    }
}

const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'\u{202e}\u{1b}[31m";

/// A session that was blocked, and a transcript and a memory in which every text is hostile.
fn planted() -> Sandbox {
    let sandbox = attended();
    let transcript = sandbox.path().join("t.jsonl");
    let at = |payload: Value| addressed(payload, SESSION, &transcript, &sandbox.project());
    let answer = json!({ "type": "assistant", "uuid": HOSTILE, "sessionId": SESSION, "cwd": HOSTILE, "version": HOSTILE,
        "timestamp": "2026-11-15T10:00:00.000Z", "message": { "id": HOSTILE, "model": HOSTILE,
        "usage": { "input_tokens": 50_000, "output_tokens": 1 }, "content": [{ "type": "text", "text": HOSTILE }] } });
    std::fs::write(&transcript, format!("{answer}\n")).expect("a transcript");
    let code = sandbox.project().join("<b>.ts");
    std::fs::write(&code, "b").expect("a file");
    let _ = sandbox.event(&at(json!({ "hook_event_name": "SessionStart", "source": "startup" })));
    let _ = sandbox.event(&at(json!({ "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": "1",
        "tool_input": { "file_path": code, "old_string": "a", "new_string": "b" }, "tool_response": { "filePath": code } })));
    let command = format!("npm test | tail -3 # {HOSTILE}");
    let _ = sandbox.event(&at(
        json!({ "hook_event_name": "UserPromptSubmit", "prompt": format!("Never do {HOSTILE}") }),
    ));
    let _ = sandbox.event(&at(
        json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "2",
        "tool_input": { "command": command },
        "tool_response": { "stdout": HOSTILE, "stderr": "", "interrupted": false } }),
    ));
    let _ = sandbox.event(&at(
        json!({ "hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": HOSTILE }),
    ));
    let rows = [
        json!({"kind": "project", "uid": "p", "key": "/p", "name": HOSTILE, "created": 1, "updated": 1}),
        json!({"kind": "topic", "uid": "t", "project": "p", "title": HOSTILE, "status": "open", "created": 2, "updated": 2}),
        json!({"kind": "decision", "uid": "d", "topic": "t", "text": HOSTILE, "created": 3, "updated": 3}),
        json!({"kind": "log", "uid": "l", "topic": "t", "title": format!("設計 {HOSTILE}"), "text": HOSTILE, "source": "relay",
            "prompt": HOSTILE, "answer": HOSTILE, "at": 1_790_000_000_000_u64, "updated": 1_790_000_000_000_u64}),
    ];
    let rows: Vec<String> = rows.iter().map(Value::to_string).collect();
    let _ = sandbox.run_with(&["memory", "import"], rows.join("\n").as_bytes()).ok();
    sandbox
}

/// The addresses that a page links to.
fn links(page: &str, token: &str) -> Vec<String> {
    let ours = format!("href=\"/{token}/");
    page.match_indices(&ours)
        .filter_map(|(at, found)| page[at + found.len()..].split('"').next())
        .map(|link| link.replace("&amp;", "&"))
        .collect()
}

#[test]
fn every_page_that_is_linked_opens_and_shows_text_of_others_as_text() {
    let sandbox = planted();
    let served = Served::start(&sandbox);
    let mut waiting =
        vec![String::new(), "memory?q=%E8%A8%AD%E8%A8%88".to_owned(), "memory?q=xyzzyx".to_owned()];
    let mut seen: Vec<String> = Vec::new();
    let mut all = String::new();
    while let Some(path) = waiting.pop() {
        if seen.contains(&path) {
            continue;
        }
        let (code, page) = served.page(&path);
        assert_eq!(code, 200, "{path}: {page}");
        assert!(!page.contains("<script>alert") && !page.contains("<img"), "{path}: {page}");
        assert!(!page.contains('\u{202e}') && !page.contains('\u{1b}'), "{path}: {page}");
        assert!(!page.contains("style=\""), "{path}: the policy allows no style in the page");
        let text = page.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        assert!(path == "icon.svg" || !text.contains("://"), "{path}: nothing leads elsewhere");
        waiting.extend(links(&page, &served.token));
        seen.push(path);
        all.push_str(&page);
    }
    for part in [
        "session/",
        "event/",
        "memory",
        "exchange/l",
        "decision/1",
        "topic/1",
        "work",
        "report?days=1",
        "style.css",
    ] {
        assert!(seen.iter().any(|path| path.starts_with(part)), "{part} is not linked: {seen:?}");
    }
    for text in
        ["verify-stop blocked", "&lt;b&gt;.ts", "50k tokens used", "Nothing found", "lang=\"ja\"", "設計"]
    {
        assert!(all.contains(text), "{text}");
    }
}

/// Each pattern that a page names is in it, once.
fn assert_patterns(page: &str, path: &str) {
    for (at, found) in page.match_indices("url(#") {
        let id = page[at + found.len()..].split(')').next().expect("a name");
        assert_eq!(page.matches(&format!(" id=\"{id}\"")).count(), 1, "{path}: {id}");
    }
}

/// The labels of a curve's signs, each with its class.
fn signs(page: &str) -> Vec<(String, String)> {
    let parts = page.split("<a class=\"sign ").skip(1);
    let quoted = |part: &str, before: &str| {
        part.split_once(before).and_then(|(_, rest)| rest.split('"').next()).map(str::to_owned)
    };
    parts
        .filter_map(|part| Some((part.split('"').next()?.to_owned(), quoted(part, "aria-label=\"")?)))
        .collect()
}

/// A home that the demo leaves, and a command in its project.
fn demo(sandbox: &Sandbox, args: &[&str]) -> Command {
    let home = sandbox.path().join("demo");
    if !home.exists() {
        let _ = sandbox.run(&["demo", "--keep", &home.display().to_string()]).ok();
    }
    let mut command = sandbox.command(args);
    command.env("HOME", &home).env("TEST_TIDEGATE_HOME", &home).current_dir(home.join("shop"));
    command.env_remove("TIDEGATE_STATE_DIR").env_remove("CLAUDE_PROJECT_DIR");
    command
}

#[test]
fn pages_of_the_demo_show_commands_as_code_and_name_every_sign() {
    let sandbox = Sandbox::new();
    let served = Served::run(demo(&sandbox, &["serve", "--json"]));
    let mut waiting = vec![String::new(), "memory?q=xyzzyx".to_owned()];
    let (mut seen, mut kinds, mut has_code, mut has_bars) = (Vec::new(), Vec::new(), false, false);
    while let Some(path) = waiting.pop() {
        if seen.contains(&path) || path == "style.css" {
            continue;
        }
        let (code, page) = served.page(&path);
        assert_eq!(code, 200, "{path}: {page}");
        assert!(!page.contains('`'), "{path}: {}", page.split('`').nth(1).unwrap_or_default());
        assert_patterns(&page, &path);
        let is_japanese = page.contains("<html lang=\"ja\"");
        for (class, label) in signs(&page) {
            let [english, japanese] = match class.as_str() {
                "compaction" => ["compaction, ", "圧縮（"],
                "warned" => ["warning, ", "警告（"],
                _ => ["block or question, ", "ブロックまたは確認（"],
            };
            assert!(label.starts_with(if is_japanese { japanese } else { english }), "{class}: {label}");
            kinds.push((is_japanese, class));
        }
        has_code |= page.contains("<code>npm test</code>");
        has_bars |= page.contains("fill=\"url(#fill-good)\"");
        waiting.extend(links(&page, &served.token));
        seen.push(path);
    }
    for class in ["compaction", "warned", "blocked"] {
        for is_japanese in [false, true] {
            assert!(kinds.contains(&(is_japanese, class.to_owned())), "{class} {is_japanese}");
        }
    }
    assert!(has_code && has_bars, "{seen:?}");
}

#[test]
fn a_report_for_a_browser_begins_with_its_finding_and_needs_no_other_file() {
    for (lang, finding) in [
        ("C.UTF-8", "untested &quot;done&quot; blocked once, then tested 1 of 1 times"),
        ("ja_JP.UTF-8", "未検証の「完了」を1回ブロック"),
    ] {
        let sandbox = Sandbox::new().with("LANG", lang);
        let ran = demo(&sandbox, &["report", "--html", "-"]).output().expect("it runs");
        let page = String::from_utf8(ran.stdout).expect("UTF-8");
        let head =
            page.split_once("<h1>").and_then(|(_, rest)| rest.split_once("</h1>")).map(|(head, _)| head);
        assert!(head.is_some_and(|head| head.contains(finding)), "{head:?}");
        assert!(page.find("<h1>") < page.find("<dl class=\"bars\">"), "{page}");
        assert_patterns(&page, lang);
        for outside in ["://", "<script", " src=", "<link", "@import", "url(\"", "url(h"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}

#[test]
fn only_who_has_the_address_gets_an_answer() {
    let sandbox = attended();
    let served = Served::start(&sandbox);
    let token = served.token.clone();
    let recorded = sandbox.records();
    let home = format!("/{token}/");
    let refused = |method: &str, path: &str, headers: &[String]| served.ask(method, path, headers).0;
    let own = served.host();
    assert_eq!(refused("GET", &home, from_ref(&own)), 200);
    assert_eq!(refused("GET", "/", from_ref(&own)), 403);
    assert_eq!(refused("GET", &format!("/{}/", "0".repeat(32)), from_ref(&own)), 403);
    assert_eq!(refused("GET", &home, &["Host: evil.example".to_owned()]), 403);
    assert_eq!(refused("GET", &home, &[own.clone(), "Origin: http://evil.example".to_owned()]), 403);
    assert_eq!(refused("GET", &home, &[own.clone(), "Sec-Fetch-Site: cross-site".to_owned()]), 403);
    let twice = ["Origin: http://127.0.0.1", "Sec-Fetch-Site: none", "Host: 127.0.0.1"];
    for header in
        twice.map(
            |header| {
                if header.ends_with('1') { format!("{header}:{}", served.port) } else { header.to_owned() }
            },
        )
    {
        assert_eq!(refused("GET", &home, &[own.clone(), header.clone(), header.clone()]), 403, "{header}");
    }
    let elsewhere = format!("http://evil.example{home}");
    assert_eq!(refused("GET", &elsewhere, from_ref(&own)), 403);
    assert_eq!(served.page("?from=18446744073709551615").0, 200);
    assert_eq!(refused("POST", &home, &[own.clone(), "Content-Length: 0".to_owned()]), 405);
    for path in
        ["nothing", "session/nothing", "session/..%2F..", "event/%00", "exchange/x", "decision/x", "topic/99"]
    {
        assert_eq!(served.page(path).0, 404, "{path}");
    }
    let (_, page) = served.page("");
    for header in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
        "referrer-policy: no-referrer",
    ] {
        assert!(page.contains(header), "{header}");
    }
    assert!(!page.to_lowercase().contains("set-cookie"));
    // Nothing was written for a visitor.
    assert_eq!(sandbox.records(), recorded);
}

#[test]
fn a_memory_in_use_is_a_notice() {
    let sandbox = planted();
    let served = Served::start(&sandbox);
    let lock = std::fs::File::options()
        .write(true)
        .open(sandbox.home().join(".local/share/tidegate/memory/lock"))
        .expect("a lock");
    lock.lock().expect("the lock of a process that rebuilds the store");
    let (code, page) = served.page("memory");
    assert!(code == 503 && page.contains("The memory is in use"), "{code} {page}");
    let (code, page) = served.page(&format!("session/{SESSION}"));
    assert!(
        code == 200 && page.contains("What happened") && page.contains("Nothing is lost"),
        "{code} {page}"
    );
    lock.unlock().expect("an end");
    assert_eq!(served.page("memory").0, 200);
}

/// The memory's file, and the first place in it for the number of its version.
fn store_of(sandbox: &Sandbox) -> (std::path::PathBuf, usize) {
    (sandbox.home().join(".local/share/tidegate/memory/memory.db"), 60)
}

#[test]
fn a_page_leaves_an_older_or_damaged_memory_as_it_is_and_names_the_command() {
    for (name, repair) in [("older", "tidegate memory check"), ("damaged", "tidegate memory check --repair")]
    {
        let sandbox = planted();
        let (file, version) = store_of(&sandbox);
        let mut bytes = std::fs::read(&file).expect("a store");
        match name {
            "older" => bytes[version..version + 4].copy_from_slice(&3_u32.to_be_bytes()),
            _ => bytes[..4096].fill(0x5a),
        }
        std::fs::write(&file, bytes).expect("a store");
        let served = Served::start(&sandbox);
        let before = contents(sandbox.path());
        for path in ["memory", "memory?q=x", "memory?list=topics", "topic/1"] {
            let (code, page) = served.page(path);
            assert!(code == 500 && page.contains(name) && page.contains(repair), "{path}: {code} {page}");
        }
        let (code, page) = served.page(&format!("session/{SESSION}"));
        assert!(code == 200 && page.contains(repair) && page.contains("What happened"), "{code} {page}");
        assert!(contents(sandbox.path()) == before, "{name}");
    }
}

#[test]
fn pages_change_no_file() {
    let sandbox = planted();
    sandbox.config("lang = \"en\"\n");
    let served = Served::start(&sandbox);
    let before = contents(sandbox.path());
    for path in ["", "memory", "memory?q=x", "work", "report", "exchange/l", &format!("session/{SESSION}")] {
        assert_eq!(served.page(path).0, 200, "{path}");
    }
    assert!(contents(sandbox.path()) == before);
}

#[test]
fn an_open_page_hears_of_news() {
    let sandbox = attended();
    let served = Served::start(&sandbox);
    let mut stream =
        BufReader::new(served.connect("GET", &format!("/{}/live", served.token), &[served.host()]));
    let mut line = String::new();
    while line.trim() != "" || line.is_empty() {
        line.clear();
        assert!(stream.read_line(&mut line).expect("a head") > 0, "the head has an end");
    }
    let payload = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    let _ = sandbox.event(&addressed(payload, SESSION, &sandbox.path().join("t.jsonl"), &sandbox.project()));
    while !line.starts_with("event: news") {
        line.clear();
        assert!(stream.read_line(&mut line).expect("news") > 0, "the stream stays open");
    }
    let (_, page) = served.page("");
    assert!(page.contains("A session started"), "{page}");
}

/// The head of an answer that may have no end.
fn read_head(stream: &mut BufReader<TcpStream>) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(stream.read_line(&mut head).expect("a head") > 0, "the head has an end: {head}");
    }
    head
}

#[test]
fn one_open_page_too_many_is_told_and_pages_still_open() {
    let sandbox = attended();
    let served = Served::start(&sandbox);
    let path = format!("/{}/live", served.token);
    let open = || BufReader::new(served.connect("GET", &path, &[served.host()]));
    let mut streams: Vec<BufReader<TcpStream>> = (0..63).map(|_| open()).collect();
    for stream in &mut streams {
        let head = read_head(stream);
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    }
    let (code, answer) = served.ask("GET", &path, &[served.host()]);
    assert_eq!(code, 503, "{answer}");
    assert!(
        answer.contains("Too many pages wait") && answer.contains("更新を待っているページが多すぎます"),
        "{answer}"
    );
    assert_eq!(served.page("").0, 200);
    streams.pop();
    // The server sees that the reader went away.
    let is_free = (0..10_000).any(|_| read_head(&mut open()).starts_with("HTTP/1.1 200"));
    assert!(is_free, "the place of a page that was closed is free again");
}

#[test]
fn connections_without_a_request_keep_no_place() {
    let sandbox = attended();
    let served = Served::start(&sandbox);
    let half = || {
        let mut stream = TcpStream::connect(("127.0.0.1", served.port)).expect("a connection");
        stream.write_all(b"GET / HTTP/1.1\r\nHost: 127").expect("half a request");
        stream
    };
    // More than are answered at once.
    let mut waiting: Vec<TcpStream> = (0..200).map(|_| half()).collect();
    assert_eq!(served.page("").0, 200);
    for stream in &mut waiting {
        // An answer or a reset, but an end.
        let _ = stream.read_to_end(&mut Vec::new());
    }
    assert_eq!(served.page("").0, 200);
}

#[test]
fn a_refused_request_ends_its_connection() {
    let sandbox = attended();
    let served = Served::start(&sandbox);
    for path in ["/", "/guess/", "/guess/live", "/guess/a/b/c/d"] {
        let mut stream = TcpStream::connect(("127.0.0.1", served.port)).expect("a connection");
        let request = format!("GET {path} HTTP/1.1\r\n{}\r\n\r\n", served.host());
        // The second one would keep the connection.
        write!(stream, "{request}{request}").expect("two requests");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert_eq!(answer.matches("HTTP/1.1 403").count(), 1, "{answer}");
        assert!(answer.to_ascii_lowercase().contains("connection: close"), "{answer}");
    }
}

#[test]
fn a_port_in_use_is_named() {
    let sandbox = attended();
    let served = Served::start(&sandbox);
    let ran = sandbox.run(&["serve", "--port", &served.port.to_string()]);
    let said = ran.failed();
    assert!(said.contains("is in use") && said.contains("leave --port out"), "{said}");
    let other = Served::start(&sandbox);
    assert_eq!((served.page("").0, other.page("").0), (200, 200));
    assert_eq!(other.ask("GET", &format!("/{}/", served.token), &[other.host()]).0, 403);
}

#[test]
fn the_list_shows_the_newest_reading_of_a_session() {
    let sandbox = attended();
    let file = sandbox.path().join("t.jsonl");
    let answer = |used: u64| {
        let usage = json!({ "input_tokens": used, "output_tokens": 1 });
        let message =
            json!({ "id": format!("m{used}"), "model": "claude-opus-5-5", "usage": usage, "content": [] });
        json!({ "type": "assistant", "uuid": format!("u{used}"), "sessionId": SESSION, "message": message,
            "timestamp": "2026-11-15T10:00:00.000Z" })
    };
    std::fs::write(&file, format!("{}\n", answer(50_000))).expect("a transcript");
    let payload = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    let _ = sandbox.event(&addressed(payload, SESSION, &file, &sandbox.project()));
    let served = Served::start(&sandbox);
    let (_, page) = served.page("");
    assert!(page.contains("50k tokens used"), "{page}");
    assert_eq!(served.page("").1.matches("50k tokens used").count(), page.matches("50k tokens used").count());
    std::fs::write(&file, format!("{}\n{}\n", answer(50_000), answer(60_000))).expect("a longer transcript");
    let (_, page) = served.page("");
    assert!(page.contains("60k tokens used"), "{page}");
}

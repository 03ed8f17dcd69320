//! Memory: conversations in the real client are recorded automatically, under the right topic, and found
//! again.

use serde_json::{Value, json};
use tidegate_e2e::client::{Launch, OPUS_5_5};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::terminal::Terminal;
use tidegate_e2e::tidegate::{Tidegate, binary};

/// As the client calls it.
fn tool(name: &str, input: Value) -> Reply {
    Reply::tool(format!("mcp__tidegate__{name}"), input)
}

/// With Tidegate's MCP server and its tools.
fn launch<'a>(home: &'a Home, model: &'a Model) -> Launch<'a> {
    let server = json!({ "mcpServers": { "tidegate": { "command": binary(), "args": ["mcp"] } } });
    Launch::new(home, model)
        .argument("--mcp-config")
        .argument(server.to_string())
        .argument("--strict-mcp-config")
        .argument("--allowedTools")
        .argument("Bash,Read,Write,Edit,mcp__tidegate")
        .environment("TIDEGATE_ATTENDED", "1")
}

/// Waits until the queue is empty.
fn settle(tidegate: &Tidegate<'_>) {
    tidegate.run(&["worker", "--once"]);
}

/// Prompt and topic of each log, oldest first.
fn logs(tidegate: &Tidegate<'_>) -> Vec<(String, String)> {
    let printed = tidegate.run(&["memory", "list", "logs", "--json"]);
    let list: Value = serde_json::from_str(&printed).expect("a list is JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = list["logs"].as_array().unwrap_or_else(|| panic!("{printed}"));
    let mut logs: Vec<(String, String)> =
        rows.iter().map(|log| (text(&log["prompt"]), text(&log["in_topic"]["name"]))).collect();
    logs.reverse();
    logs
}

fn search(tidegate: &Tidegate<'_>, query: &str) -> Vec<Value> {
    let found: Value = serde_json::from_str(&tidegate.run(&["memory", "search", query, "--json"]))
        .expect("a search prints JSON");
    found["results"].as_array().cloned().expect("results")
}

/// The id of the topic in a tool's result.
fn topic_of(request: &Request) -> i64 {
    let said = request.last_tool_result().text;
    let after = said.split("\"topic\":").nth(1).unwrap_or_else(|| panic!("{said}"));
    let digits = after.split("\"id\":").nth(1).unwrap_or_else(|| panic!("{said}"));
    let digits: String = digits.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("{said}"))
}

fn tag(topic: &str, id: i64) -> String {
    format!("<!-- [meta] project: project (id: 0) | topic: {topic} (id: {id}) -->")
}

#[test]
fn three_turns_are_three_logs_under_the_right_topics() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(Reply::text("The queue drains at night."))
        .main(tool("add_topic", json!({ "title": "Storage layout" })))
        .main_with(|request| {
            let (topic, text) = (topic_of(request), "Rows are kept by uuid");
            tool("add_decision", json!({ "topic_id": topic, "text": text, "reason": "forks share them" }))
        })
        .main(Reply::text("The rows are laid out by uuid."))
        .main(tool("add_topic", json!({ "title": "検索の設計", "set": false })))
        .main_with(|request| {
            Reply::text(format!("二文字の語も見つかります。\n\n{}", tag("検索の設計", topic_of(request))))
        })
        .main(tool("search", json!({ "query": "設計" })))
        .main(tool("search", json!({ "query": "drains" })))
        .main(Reply::text("found both"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("when does the queue drain?");
    session.ask("lay the storage out");
    session.ask("設計を考えてください");
    settle(&tidegate);
    session.ask("what do we know?");
    session.finish();
    settle(&tidegate);

    tidegate.assert_unfailing();
    let logs = logs(&tidegate);
    let (prompts, topics): (Vec<&str>, Vec<&str>) =
        logs.iter().map(|(prompt, topic)| (prompt.as_str(), topic.as_str())).unzip();
    let asked =
        ["when does the queue drain?", "lay the storage out", "設計を考えてください", "what do we know?"];
    assert_eq!(prompts, asked);
    assert!(topics[0].contains("when does the queue drain?"), "the session's own topic: {topics:?}");
    assert_eq!(&topics[1..], ["Storage layout", "検索の設計", "Storage layout"]);

    let requests = model.main_requests();
    let found = requests[7].last_tool_result();
    assert!(!found.is_error && found.text.contains("検索の設計"), "{found:?}");
    let found = requests[8].last_tool_result();
    assert!(!found.is_error && found.text.contains("The queue **drains** at night"), "{found:?}");
    let kinds = |query: &str| -> Vec<String> {
        search(&tidegate, query)
            .iter()
            .map(|hit| hit["kind"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert!(kinds("設計").contains(&"log".to_owned()) && kinds("設計").contains(&"topic".to_owned()));
    assert_eq!(kinds("uuid forks")[0], "decision");
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn a_missing_tag_holds_a_turn_once() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--preset", "strict"]);
    assert!(home.in_project(".claude/rules/meta-tag.md").exists());
    let script = Script::new()
        .main(Reply::text("no tag"))
        .main(Reply::text(format!("now with one\n{}", tag("own", 0))))
        .main(Reply::text("no tag again"))
        .main(Reply::text("still no tag"))
        .main(Reply::text(format!("at once\n{}", tag("own", 0))));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("first");
    session.ask("second");
    session.ask("third");
    session.finish();
    settle(&tidegate);

    tidegate.assert_unfailing();
    let requests = model.main_requests();
    assert_eq!(requests.len(), 5, "each turn is held once at most");
    let said = requests[1].held_stops();
    assert!(said.len() == 1 && said[0].contains("<!-- [meta] project: "), "{said:?}");
    assert_eq!(requests[3].held_stops().len(), 2, "once more in the second turn");
    assert_eq!(logs(&tidegate).len(), 3, "the turns that were held are one log each");
    assert!(requests[0].mentions("(id: 0)"), "the tag was told at the start");
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn a_topic_is_not_left_without_a_word_in_strict() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--preset", "strict"]);
    let script = Script::new()
        .main(tool("add_topic", json!({ "title": "Harbour", "set": false })))
        .main_with(|request| Reply::text(format!("about it\n{}", tag("Harbour", topic_of(request)))))
        .main(tool("add_topic", json!({ "title": "Lighthouse", "set": false })))
        .main_with(|request| Reply::text(format!("about another\n{}", tag("Lighthouse", topic_of(request)))))
        .main(tool("add_decision", json!({ "topic_id": 1, "text": "The harbour is dredged" })))
        .main(Reply::text(format!("now decided\n{}", tag("Lighthouse", 2))));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("think about the harbour");
    session.ask("and now the lighthouse");
    session.finish();

    tidegate.assert_unfailing();
    let requests = model.main_requests();
    let said = requests[4].held_stops();
    assert!(said.len() == 1 && said[0].contains("Harbour"), "{said:?}");
    assert_eq!(requests[5].held_stops().len(), 1);
    assert_eq!(requests.len(), 6);
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn the_next_session_is_told_what_is_undecided() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    tidegate.run(&["memory", "topic", "add", "Which port to dredge"]);
    tidegate.run(&["memory", "topic", "add", "Where the lighthouse stands"]);
    tidegate.run(&["memory", "decision", "add", "2", "On the northern rock"]);
    let model = Model::start(Script::new().main(Reply::text("done")));
    launch(&home, &model).ask("begin");

    tidegate.assert_unfailing();
    let told = model.main_requests()[0].hook_contexts().join("\n");
    assert!(told.contains("Which port to dredge") && told.contains("On the northern rock"), "{told}");
    assert!(!told.contains("Where the lighthouse stands"), "it is decided: {told}");
    model.finish();
}

/// What was said on the way, and an answered question, not only the last sentence.
#[test]
fn the_whole_exchange_is_remembered_and_the_next_session_hears_of_it() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let step = |said: &str| {
        let input = json!({ "command": "true", "description": "a step of the script" });
        Reply::text(said).and_tool("Bash", input)
    };
    let options = json!([
        { "label": "rotate them", "description": "new credentials for every host" },
        { "label": "keep them", "description": "only the cache is cleared" },
    ]);
    let question = json!({ "question": "What about the credentials?", "header": "Credentials", "multiSelect": false,
        "options": options });
    let script = Script::new()
        .main(step("The root cause is the kestrel cache."))
        .main(Reply::tool("AskUserQuestion", json!({ "questions": [question] })))
        .main(step("The credentials are new on every host."))
        .main(Reply::text("All finished."));
    let model = Model::start(script);
    let client = Launch::new(&home, &model).on(OPUS_5_5).argument("--allowedTools").argument("Bash");
    let terminal = Terminal::start(&client);
    terminal.enter("why do logins fail?");
    terminal.wait_for("only the cache is cleared");
    terminal.dismiss("Enter", "only the cache is cleared");
    terminal.wait_for("All finished.");
    terminal.wait_while("the turn is not stored", || {
        settle(&tidegate);
        search(&tidegate, "credentials every host").is_empty()
    });
    drop(terminal);

    for query in ["kestrel", "credentials every host", "rotate them"] {
        let found = search(&tidegate, query);
        assert!(found.iter().any(|hit| hit["kind"] == "log"), "{query}: {found:?}");
    }
    let decided: Value =
        serde_json::from_str(&tidegate.run(&["memory", "list", "decisions", "--json"])).expect("JSON");
    let decision = &decided["decisions"][0];
    assert!(decision["text"].as_str().is_some_and(|text| text.contains("rotate them")), "{decided}");
    assert!(decision["by"].as_str().is_some_and(|by| by.starts_with("the person")), "{decided}");

    model.then(Reply::text("hello again"));
    launch(&home, &model).ask("begin");
    let told = model.main_requests().last().expect("a request").hook_contexts().join("\n");
    assert!(told.contains("Earlier work in this project") && told.contains("why do logins fail?"), "{told}");
    assert!(told.contains("What about the credentials?"), "{told}");
    tidegate.assert_unfailing();
    model.finish();
}

#[test]
fn a_fork_is_the_same_conversation() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let script = Script::new().main(Reply::text("one")).main(Reply::text("two"));
    let model = Model::start(script).paced(&home);
    let mut session = launch(&home, &model).start();
    let parent = session.ask("said before the fork").session_id().to_owned();
    model.await_transcript(&parent);
    session.finish();
    launch(&home, &model).resume(&parent).argument("--fork-session").ask("said after it");
    settle(&tidegate);

    tidegate.assert_unfailing();
    let prompts: Vec<String> = logs(&tidegate).into_iter().map(|(prompt, _)| prompt).collect();
    assert_eq!(prompts, ["said before the fork", "said after it"]);
    model.finish();
}

#[test]
fn nothing_secret_and_nothing_headless_is_kept() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let script = Script::new()
        .main(Reply::bash(format!("echo {token}")))
        .main(Reply::text(format!("it printed {token}")))
        .main(Reply::text("nobody is there"));
    let model = Model::start(script);
    launch(&home, &model).ask(&format!("print {token} <private>and my name is Undine</private> please"));
    launch(&home, &model).environment("TIDEGATE_ATTENDED", "0").ask("headless");
    settle(&tidegate);

    tidegate.assert_unfailing();
    let logs = logs(&tidegate);
    assert_eq!(logs.len(), 1, "{logs:?}");
    assert!(logs[0].0.starts_with("print [redacted"), "{logs:?}");
    let stored = |folder: std::path::PathBuf| -> Vec<u8> {
        let files = std::fs::read_dir(folder)
            .expect("the store's folder")
            .filter_map(|entry| Some(entry.ok()?.path()));
        files
            .filter(|path| path.is_file())
            .flat_map(|path| std::fs::read(path).expect("a file of the store"))
            .collect()
    };
    let bytes = stored(home.data().join("tidegate/memory"));
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has("print [redacted") && !has(&token) && !has("Undine"));
    model.finish();
}

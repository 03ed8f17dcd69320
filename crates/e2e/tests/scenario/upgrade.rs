//! From 0.1.0 to this version and back, on the real client: the home is written by the released program, not by fixtures.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_e2e::client::{Launch, SONNET_4_6, Stream};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::tidegate::Tidegate;

use super::work::{CODE_RULES, gradle, skill};

const MANIFEST: &str = ".claude/.output/features/x/MANIFEST.yaml";
const CYCLE: &str = ".claude/dev-cycle.state.json";

/// In both versions, because `init` of 0.1.0 required skills and this one's does not.
const REQUIRED: &str = "[skill_gate.require]\ncode = [\"code-quality-rules\"]\n";

fn former(home: &Home) -> Tidegate<'_> {
    let program = std::env::var_os("TIDEGATE_FORMER").expect("`cargo xtask upgrade` builds it and sets this");
    Tidegate::at(home, PathBuf::from(program))
}

/// With a person present, and the memory of this program.
fn launch<'a>(home: &'a Home, model: &'a Model, tidegate: &Tidegate<'_>) -> Launch<'a> {
    let server =
        json!({ "mcpServers": { "tidegate": { "command": tidegate.program(), "args": ["mcp"] } } });
    Launch::new(home, model)
        .on(SONNET_4_6)
        .argument("--mcp-config")
        .argument(server.to_string())
        .argument("--strict-mcp-config")
        .argument("--allowedTools")
        .argument("Bash,Read,Write,Edit,Agent,Skill,mcp__tidegate")
        .environment("TIDEGATE_ATTENDED", "1")
}

fn call(tidegate: &Tidegate<'_>, arguments: &str) -> Reply {
    Reply::bash(format!("{} {arguments}", tidegate.program().display()))
}

/// Everything a session of 0.1.0 leaves behind.
struct Left {
    /// Edited and not checked, with a skill that was invoked.
    work: String,
    /// In the first stage of a cycle.
    cycle: String,
    /// Before a checkpoint that is not passed.
    workflow: String,
}

fn by_former(home: &Home, former: &Tidegate<'_>) -> Left {
    gradle(home);
    home.write_config(REQUIRED);
    former.init_again(&[]);
    let file = home.in_project("src/A.java");

    let script = Script::new()
        .main(Reply::text("The queue drains at night."))
        .main(Reply::tool("mcp__tidegate__add_topic", json!({ "title": "Storage layout" })))
        .main(Reply::text("The topic is set."))
        .main(skill(CODE_RULES))
        .main(Reply::tool("Read", json!({ "file_path": file })))
        .main(Reply::write(&file, "class A { int fast; }\n"))
        .main(Reply::text("it is written"))
        .main(Reply::text("no check was run"));
    let model = Model::start(script).paced(home);
    let mut session = launch(home, &model, former).start();
    let work = session.ask("when does the queue drain?").session_id().to_owned();
    session.ask("lay the storage out");
    session.ask("make it fast");
    session.finish();
    model.finish();
    let topic = topics(former);
    former.run(&["memory", "decision", "add", &topic, "Rows are kept by uuid"]);

    let script = Script::new()
        .main(call(former, "cycle start"))
        .main(skill("sprint"))
        .main(Reply::text("Which of the two?"));
    let model = Model::start(script).paced(home);
    let cycle = launch(home, &model, former).ask("run a cycle").session_id().to_owned();
    model.finish();

    let script = Script::new()
        .main(call(former, "gate start x"))
        .main(call(former, "gate phase 3"))
        .main(call(former, "gate phase 4"))
        .main(Reply::agent("TOO EARLY"))
        .main(Reply::text("the checkpoint is closed"));
    let model = Model::start(script).paced(home);
    let workflow = launch(home, &model, former).ask("go through the phases").session_id().to_owned();
    let denied = model.last_main().last_tool_result();
    assert!(denied.is_error, "{denied:?}");
    model.finish();
    former.run(&["worker", "--once"]);
    Left { work, cycle, workflow }
}

/// The id of the topic that the first session began.
fn topics(tidegate: &Tidegate<'_>) -> String {
    let listed = parsed(&tidegate.run(&["memory", "list", "topics", "--json"]));
    let listed = listed["topics"].as_array().cloned().unwrap_or_default();
    let topic = listed.iter().find(|topic| topic["name"] == "Storage layout").expect("the topic");
    topic["id"].to_string()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Prompts of all exchanges, oldest first.
fn prompts(tidegate: &Tidegate<'_>) -> Vec<String> {
    let listed = parsed(&tidegate.run(&["memory", "list", "logs", "--json"]));
    let logs = listed["logs"].as_array().cloned().unwrap_or_default();
    logs.iter().rev().map(|log| log["prompt"].as_str().unwrap_or_default().to_owned()).collect()
}

fn decisions(tidegate: &Tidegate<'_>) -> Vec<String> {
    let listed = parsed(&tidegate.run(&["memory", "list", "decisions", "--json"]));
    let rows = listed["decisions"].as_array().cloned().unwrap_or_default();
    rows.iter().map(|row| row["text"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Each entry of hooks in the project's local settings, as one line.
fn entries(home: &Home) -> Vec<String> {
    let settings = home.read_settings();
    let events = settings["hooks"].as_object().cloned().unwrap_or_default();
    let groups = events.values().filter_map(Value::as_array).flatten();
    let handlers = groups.filter_map(|group| group["hooks"].as_array()).flatten();
    handlers.map(Value::to_string).collect()
}

/// Files that one version must leave to the other, by path.
fn bytes_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = fs::read(&path) {
                found.insert(path, bytes);
            }
        }
    }
    found
}

fn denials(stream: &Stream) -> usize {
    stream.denials().len()
}

const BEFORE: [&str; 5] = [
    "when does the queue drain?",
    "lay the storage out",
    "make it fast",
    "run a cycle",
    "go through the phases",
];

#[test]
#[ignore = "needs the program of 0.1.0: `cargo xtask upgrade` builds it and runs this"]
fn a_home_of_0_1_0_comes_along_and_goes_back() {
    let home = Home::new();
    let former = former(&home);
    assert_eq!(former.run(&["--version"]).trim(), "tidegate 0.1.0");
    let left = by_former(&home, &former);
    eprintln!("settings of 0.1.0: {:#?}", entries(&home));
    assert_eq!(prompts(&former), BEFORE);

    // There.
    let tidegate = Tidegate::of(&home);
    eprintln!("init: {}", tidegate.init_again(&[]));
    eprintln!("settings: {:#?}", entries(&home));
    let doctor = tidegate.command(&["doctor", "--project", home.project().to_str().unwrap()]).output().unwrap();
    eprintln!("doctor: {} {}", doctor.status, String::from_utf8_lossy(&doctor.stdout));
    eprintln!("state: {:#?}", bytes_below(home.root()).keys().filter(|k| !k.starts_with(home.client_config()) && !k.to_string_lossy().contains("/.git/")).collect::<Vec<_>>());
    assert_eq!(prompts(&tidegate), BEFORE);
    assert_eq!(decisions(&tidegate), ["Rows are kept by uuid"]);

    let file = home.in_project("src/A.java");
    let script = Script::new()
        .main(Reply::tool("Read", json!({ "file_path": file })))
        .main(Reply::write(&file, "class A { long fast; }\n"))
        .main(Reply::text("written again"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::text("checked"));
    let model = Model::start(script).paced(&home);
    let run = launch(&home, &model, &tidegate).resume(&left.work).ask("go on with it");
    for request in model.main_requests() { eprintln!("hooks {:#?} stops {:#?}", request.hook_contexts(), request.held_stops()); }
    eprintln!("shown {:#?}", run.shown());
    assert_eq!(denials(&run), 0, "the skill was invoked before");
    model.finish();

    let script = Script::new()
        .main(call(&tidegate, "cycle status"))
        .main(Reply::text("hm"))
        .main(Reply::text("hm"))
        .main(Reply::text("hm"));
    let model = Model::start(script).paced(&home);
    let run = launch(&home, &model, &tidegate).resume(&left.cycle).ask("the first one");
    for request in model.main_requests() { eprintln!("cycle: hooks {:#?} stops {:#?} {:?}", request.hook_contexts(), request.held_stops(), request.tool_results().pop()); }
    eprintln!("shown {:#?} {}", run.shown(), fs::read_to_string(home.in_project(CYCLE)).unwrap());

    let script = Script::new()
        .main(Reply::agent("STILL CLOSED"))
        .main(Reply::text("closed"));
    let model = Model::start(script).paced(&home);
    let run = launch(&home, &model, &tidegate).resume(&left.workflow).ask("what now?");
    for request in model.main_requests() { eprintln!("workflow: hooks {:#?} {:?}", request.hook_contexts(), request.tool_results().pop()); }
    eprintln!("shown {:#?} {}", run.shown(), fs::read_to_string(home.in_project(MANIFEST)).unwrap());
    tidegate.run(&["worker", "--once"]);
    eprintln!("{:?}", prompts(&tidegate));

    // Back.
    let store = home.data().join("tidegate/memory");
    let before = bytes_below(&store);
    let out = former.command(&["memory", "list", "logs"]).output().unwrap();
    eprintln!("old list: {out:?}");
    let out = former.command(&["doctor", "--project", home.project().to_str().unwrap()]).output().unwrap();
    eprintln!("old doctor: {} {} {}", out.status, String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let out = former.command(&["init", "--project", home.project().to_str().unwrap()]).output().unwrap();
    eprintln!("old init: {} {} {}", out.status, String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    eprintln!("settings: {:#?}", entries(&home));
    let script = Script::new().main(Reply::text("of the way back"));
    let model = Model::start(script).paced(&home);
    let run = launch(&home, &model, &former).resume(&left.work).ask("and with the old one?");
    for request in model.main_requests() { eprintln!("hooks {:#?} stops {:#?}", request.hook_contexts(), request.held_stops()); }
    eprintln!("shown {:#?}", run.shown());
    let out = former.command(&["worker", "--once"]).output().unwrap();
    eprintln!("old worker: {out:?}");
    let after = bytes_below(&store);
    for (path, bytes) in &after { if before.get(path) != Some(bytes) { eprintln!("changed {}", path.display()); } }
    for path in before.keys() { if !after.contains_key(path) { eprintln!("gone {}", path.display()); } }
    for record in tidegate.journal().iter().rev().take(12) { eprintln!("{} {} {}", record["event"], record["failure"], record["ruling"]); }

    // And there again.
    eprintln!("init: {}", tidegate.init_again(&[]));
    tidegate.run(&["worker", "--once"]);
    eprintln!("{:?} {:?}", prompts(&tidegate), decisions(&tidegate));
    panic!("look");
}

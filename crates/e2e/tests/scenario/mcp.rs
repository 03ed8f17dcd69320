//! The MCP server in the real client: the protocol, and the results for the model.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};
use tidegate_e2e::client::{Launch, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::plugin::{install, link_binary};
use tidegate_e2e::tidegate::{self, Tidegate};

const PREFIX: &str = "mcp__plugin_tidegate_tidegate__";

/// Allows every tool of Tidegate.
fn permissions() -> Value {
    json!({ "permissions": { "allow": [format!("{PREFIX}*")] } })
}

fn call(tool: &str, arguments: Value) -> Reply {
    Reply::tool(format!("{PREFIX}{tool}"), arguments)
}

/// Records both sides of the conversation.
struct Tapped(PathBuf);

impl Tapped {
    fn new(home: &Home) -> Tapped {
        link_binary(home);
        let link = home.data().join("tidegate/bin/tidegate");
        fs::remove_file(&link).expect("our own link");
        let folder = home.scratch("tap");
        fs::create_dir_all(&folder).expect("a folder in the temporary home");
        let (real, to) = (tidegate::binary(), folder.display().to_string());
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = mcp ]; then tee -a '{to}/asked' | '{real}' mcp | tee -a '{to}/answered'; \
             else exec '{real}' \"$@\"; fi\n",
            real = real.display(),
        );
        fs::write(&link, script).expect("a script in place of the link");
        fs::set_permissions(&link, fs::Permissions::from_mode(0o755)).expect("our own file");
        Tapped(folder)
    }

    fn lines(&self, side: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.0.join(side)).expect("the tap's file");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// The client probes first, and then speaks the newest revision without a handshake.
#[test]
fn the_clients_conversation_is_understood() {
    let home = Home::new();
    let script = Script::new()
        .main(call("get_context_status", json!({})).used(40_000))
        .main(Reply::text("done").used(41_000));
    let model = Model::start(script).paced(&home);
    let tapped = Tapped::new(&home);
    install(&home, &model);

    Launch::new(&home, &model).on(SONNET_4_6).settings(&permissions()).ask("begin");

    let methods: Vec<Value> = tapped.lines("asked").iter().map(|line| line["method"].clone()).collect();
    assert_eq!(methods[0], "server/discover");
    for method in ["tools/list", "resources/list", "tools/call"] {
        assert!(methods.contains(&json!(method)), "{methods:?}");
    }
    let answers = tapped.lines("answered");
    assert_eq!(answers.len(), methods.len(), "{answers:#?}");
    assert!(answers.iter().all(|answer| answer.get("error").is_none()), "{answers:#?}");
    let told = model.last_main().last_tool_result();
    assert!(!told.is_error && told.text.starts_with("{\"summary\":"), "{told:?}");
    model.finish();
}

/// From a topic to a search in one session: each result leads to the next call.
#[test]
fn the_model_remembers_and_finds() {
    let home = Home::new();
    let script = Script::new()
        .main(call("add_topic", json!({ "title": "How the index is kept", "set": false })).used(40_000))
        .main(call("set_topic", json!({ "topic_id": 1 })).used(40_100))
        .main(
            call("add_decision", json!({ "topic_id": 1, "text": "全文検索の設計は bigram にする" }))
                .used(40_200),
        )
        .main(call("add_decision", json!({ "topic_id": 7, "text": "x" })).used(40_300))
        .main(call("search", json!({ "query": "設計" })).used(40_400))
        .main(call("add_topic", json!({ "title": "Which weights" })).used(40_500))
        .main(Reply::text("done").used(41_000));
    let model = Model::start(script).paced(&home);
    link_binary(&home);
    install(&home, &model);

    let run = Launch::new(&home, &model).on(SONNET_4_6).settings(&permissions()).ask("begin");

    let requests = model.main_requests();
    let given = |request: usize| -> Value {
        let result = requests[request].last_tool_result();
        assert!(!result.is_error, "{result:?}");
        let json = result.text.lines().next().expect("a line");
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
    };
    assert_eq!(given(1)["topic"], json!({ "id": 1, "title": "How the index is kept" }));
    assert_eq!((&given(2)["topic"]["id"], &given(2)["set"]), (&json!(1), &json!(true)));
    assert_eq!(given(3)["decision"]["status"], "stands");
    let refused = requests[4].last_tool_result();
    assert!(refused.is_error && refused.text.contains("there is no topic 7"), "{refused:?}");
    let found = given(5);
    let hit = &found["results"][0];
    assert_eq!((&hit["kind"], &hit["id"]), (&json!("decision"), &json!("1")), "{found}");
    assert!(hit["snippet"].as_str().is_some_and(|snippet| snippet.contains("**設計**")), "{found}");
    assert_eq!(given(6)["topic"]["id"], 2);

    // The hook saw both choices, in the right session.
    let marks = fs::read_to_string(home.state().join("sessions").join(run.session_id()).join("marks"));
    let marks = marks.expect("the session's marks");
    let (first, second) = (marks.find("How the index is kept"), marks.find("Which weights"));
    assert!(first.is_some() && first < second, "{marks}");
    Tidegate::of(&home).assert_unfailing();
    model.finish();
}

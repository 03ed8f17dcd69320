//! Every tool of the client that starts agents is gated, and a new tool of the client is noticed.

use std::collections::BTreeSet;

use serde_json::json;
use tidegate_core::host::claude_code::tools::{AGENT_TOOLS, OTHER_TOOLS, SPAWNING_TOOLS};
use tidegate_e2e::client::{Launch, OPUS_5_5, SONNET_4_5, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request, Route, Script};
use tidegate_e2e::terminal::Terminal;
use tidegate_e2e::tidegate::Tidegate;

use super::{because, gate, phase};

/// The client lists tools that it has not loaded by name, one per line after this.
const DEFERRED: &str = "deferred tools are now available via ToolSearch.";

/// Every tool that the request offers, loaded or not.
fn offered(request: &Request) -> BTreeSet<String> {
    let loaded = request.body["tools"].as_array().into_iter().flatten();
    let mut names: BTreeSet<String> =
        loaded.filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect();
    for text in request.texts() {
        let Some((_, listed)) = text.split_once(DEFERRED) else { continue };
        let is_name =
            |line: &&str| !line.is_empty() && line.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        names.extend(listed.lines().skip(1).take_while(is_name).map(str::to_owned));
    }
    names
}

/// Fails if the client has a tool that nobody has looked at: whether it starts agents decides where it belongs.
#[test]
fn every_tool_of_the_client_is_known() {
    let mut all = BTreeSet::new();
    for id in [OPUS_5_5, SONNET_4_6, SONNET_4_5] {
        let home = Home::new();
        let model = Model::start(Script::new().main(Reply::text("done")));
        Launch::new(&home, &model).on(id).ask("hello");
        all.extend(offered(&model.last_main()));
        model.finish();
    }
    let home = Home::new();
    let script = Script::new().main(Reply::agent("LOOK")).subagent("LOOK", Reply::text("seen"));
    let model = Model::start(script.main(Reply::text("done")));
    Launch::new(&home, &model).on(OPUS_5_5).ask("hello");
    let of_agent = offered(&model.requests_on(&Route::Subagent("LOOK".to_owned()))[0]);
    assert!(of_agent.contains("Agent"), "an agent can start agents: {of_agent:?}");
    all.extend(of_agent);
    model.finish();
    let home = Home::new();
    let model = Model::start(Script::new().main(Reply::text("done here")));
    let terminal = Terminal::start(&Launch::new(&home, &model).on(OPUS_5_5));
    terminal.enter("hello");
    terminal.wait_for("done here");
    all.extend(offered(&model.last_main()));
    let known = [SPAWNING_TOOLS, AGENT_TOOLS, OTHER_TOOLS].concat();
    let unknown: Vec<&String> = all.iter().filter(|name| !known.contains(&name.as_str())).collect();
    assert!(unknown.is_empty(), "tools to classify in core/src/host/claude_code/tools.rs: {unknown:?}");
    for name in ["Agent", "Workflow", "SendMessage", "Skill", "Bash", "ExitWorktree"] {
        assert!(all.contains(name), "{name} is among {all:?}");
    }
    model.finish();
}

fn script_of_agents() -> Reply {
    let script = "export const meta = { name: 'probe', description: 'two agents' }\n\
                  return await parallel([() => agent('AGENT one'), () => agent('AGENT two')])";
    Reply::tool("Workflow", json!({ "script": script }))
}

#[test]
fn a_script_of_agents_is_denied_like_one() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(4).used(21_000))
        .main(script_of_agents().used(22_000))
        .main(Reply::bash("true").used(880_000))
        // 91% of the window, where the context is too full with or without a checkpoint.
        .main(Reply::bash("true").used(962_000))
        .main(script_of_agents().used(962_000))
        .main(Reply::text("done").used(962_000));
    let model = Model::start(script).paced(&home);
    Launch::new(&home, &model)
        .on(OPUS_5_5)
        .argument("--allowedTools")
        .argument("Bash,Workflow,Agent")
        .ask("go through the phases");
    tidegate.assert_unfailing();
    let denied: Vec<String> = tidegate
        .records_of("PreToolUse")
        .iter()
        .filter(|record| record["tool"] == "Workflow")
        .filter_map(because)
        .collect();
    assert_eq!(
        denied,
        [
            "a checkpoint was not passed",
            "the context is too full to spawn agents, and a checkpoint was not passed"
        ]
    );
    let requests = model.main_requests();
    let first = requests[3].last_tool_result();
    assert!(first.is_error && first.text.contains("checkpoint 1, after phase 3 (discovery)"), "{first:?}");
    let last = requests[6].last_tool_result();
    assert!(last.is_error && last.text.contains("the context is too full for an agent"), "{last:?}");
    model.finish();
}

/// Without a checkpoint: 91% of a window that the client does not compact by itself.
#[test]
fn a_script_of_agents_needs_room() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(Reply::bash("true").used(182_000))
        .main(script_of_agents().used(182_000))
        .main(Reply::text("done").used(182_000));
    let model = Model::start(script).paced(&home);
    Launch::new(&home, &model)
        .on(SONNET_4_5)
        .argument("--allowedTools")
        .argument("Bash,Workflow,Agent")
        .ask("go through the phases");
    tidegate.assert_unfailing();
    let denied = model.last_main().last_tool_result();
    assert!(denied.is_error && denied.text.contains("the context is too full for an agent"), "{denied:?}");
    model.finish();
}

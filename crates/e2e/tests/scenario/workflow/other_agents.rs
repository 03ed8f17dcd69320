//! Behind a checkpoint, work for an agent is denied whatever way it is given: by an agent, by a message to one, by a skill that runs in
//! one, by a client of the agent's own.

use serde_json::json;
use tidegate_e2e::client::{OPUS_5_5, SONNET_4_5, binary as client};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request, Route, Script};
use tidegate_e2e::tidegate::Tidegate;

use super::super::work::launch;
use super::{because, gate, persist, phase};

const PENDING: &str = "a checkpoint was not passed";

fn found(tidegate: &Tidegate<'_>, tool: &str) -> Vec<String> {
    let records = tidegate.records_of("PreToolUse").into_iter().filter(|record| record["tool"] == tool);
    records.filter_map(|record| because(&record)).collect()
}

fn assert_denied(request: &Request) {
    let result = request.last_tool_result();
    assert!(result.is_error && result.text.contains("checkpoint 1, after phase 3"), "{result:?}");
}

#[test]
fn an_agent_of_an_agent_waits_too() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(Reply::agent("OUTER").used(21_000))
        .subagent("OUTER", Reply::agent("IN TIME").used(8_000))
        .subagent("IN TIME", Reply::text("found").used(7_000))
        .subagent("OUTER", phase(4).used(8_500))
        .subagent("OUTER", Reply::agent("LATE").used(9_000))
        .subagent("OUTER", Reply::text("it was denied").used(9_500))
        .main(Reply::text("done").used(22_000));
    let model = Model::start(script);
    launch(&home, &model).on(OPUS_5_5).ask("go through the phases");
    tidegate.assert_unfailing();
    let asked = model.requests_on(&Route::Subagent("OUTER".to_owned()));
    assert_denied(asked.last().expect("requests of the agent"));
    assert_eq!(found(&tidegate, "Agent"), ["there is room for agents", "no checkpoint is pending", PENDING]);
    model.finish();
}

/// The id of the agent that has answered.
fn id(request: &Request) -> String {
    let text = request.last_tool_result().text;
    let at = text.find("agentId: ").unwrap_or_else(|| panic!("an id: {text}")) + "agentId: ".len();
    text[at..].chars().take_while(char::is_ascii_alphanumeric).collect()
}

#[test]
fn a_message_to_an_agent_waits_too() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let message = |to: &str| {
        Reply::tool(
            "SendMessage",
            json!({ "to": to, "summary": "more work", "message": "Look at the lexer, too." }),
        )
    };
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(Reply::agent("FIRST").used(21_000))
        .subagent("FIRST", Reply::text("found").used(8_000))
        .main_with(move |request| {
            let to = id(request);
            Reply::bash(format!(
                "echo agentId: {to}; perl -pi -e 's/^current_phase: .*/current_phase: 4/' {}",
                super::MANIFEST
            ))
            .used(22_000)
        })
        .main_with(move |request| message(&id(request)).used(22_500))
        .main(Reply::text("done").used(23_000));
    let model = Model::start(script);
    launch(&home, &model)
        .on(OPUS_5_5)
        .argument("--allowedTools")
        .argument("SendMessage")
        .ask("go through the phases");
    tidegate.assert_unfailing();
    assert_denied(&model.last_main());
    assert_eq!(found(&tidegate, "SendMessage"), [PENDING]);
    model.finish();
}

#[test]
fn a_skill_that_runs_in_an_agent_waits_too() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let skill = |name: &str, more: &str| {
        let text = format!("---\nname: {name}\ndescription: Maps the code.\n{more}---\n\nMap the code.\n");
        home.write(format!(".claude/skills/{name}/SKILL.md"), &text);
    };
    skill("map-apart", "context: fork\n");
    skill("map-folded", "context: >-\n  fork\n");
    skill("map-here", "");
    home.write(
        ".claude/skills/map-flow/SKILL.md",
        "---\n{name: map-flow, description: Maps the code., context: fork}\n---\n\nMap the code.\n",
    );
    let invoke = |name: &str| Reply::tool("Skill", json!({ "skill": name }));
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(4).used(21_000))
        .main(invoke("map-here").used(22_000))
        .main(invoke("map-apart").used(22_500))
        .main(invoke("map-folded").used(22_600))
        .main(invoke("map-flow").used(22_700))
        .main(invoke(" map-apart ").used(22_800))
        .main(Reply::text("done").used(23_000));
    let model = Model::start(script);
    launch(&home, &model)
        .on(SONNET_4_5)
        .argument("--allowedTools")
        .argument("Skill")
        .ask("go through the phases");
    tidegate.assert_unfailing();
    let requests = model.main_requests();
    requests[requests.len() - 4..].iter().for_each(assert_denied);
    assert_eq!(found(&tidegate, "Skill"), ["the skill starts no agent", PENDING, PENDING, PENDING, PENDING]);
    model.finish();
}

/// Started by the shell tool, and apart from it; after the checkpoint has passed, its prompts pass, too.
#[test]
fn a_client_of_the_agents_own_waits_too() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let ask = |prompt: &str| format!("{} --model {SONNET_4_5} -p '{prompt}' 2>&1", client().display());
    let apart = format!(
        "setsid sh -c {} & wait; cat apart.txt",
        format_args!("\"{} >apart.txt\"", ask("WORK APART"))
    );
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(4).used(21_000))
        .main(Reply::bash(ask("WORK")).used(21_500))
        .main(Reply::bash(apart).used(22_000))
        .main(persist().used(22_500))
        .main(gate("pass 1").used(23_000))
        .main(Reply::bash(ask("WORK NOW")).used(23_500))
        // The second client's.
        .main(Reply::text("worked").used(9_000))
        .main(Reply::text("done").used(24_000));
    let model = Model::start(script);
    launch(&home, &model).on(SONNET_4_5).ask("go through the phases");
    tidegate.assert_unfailing();
    let requests = model.main_requests();
    for denied in [&requests[3], &requests[4]] {
        let result = denied.last_tool_result();
        assert!(result.text.contains("checkpoint 1, after phase 3"), "{result:?}");
        assert!(
            result.text.contains("An agent of the session in that workflow started this client"),
            "{result:?}"
        );
    }
    assert!(requests[7].mentions("WORK NOW"), "{:#?}", requests[7].texts());
    assert!(model.last_main().last_tool_result().text.contains("worked"));
    model.finish();
}

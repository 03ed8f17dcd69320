//! Gates between phases: agents that are not spawned, the texts to the model and the person, and the ways
//! past a gate.

use serde_json::{Value, json};
use tidegate_e2e::client::{Launch, OPUS_5_5, SONNET_4_5};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request, Script, Usage};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::terminal::Terminal;
use tidegate_e2e::tidegate::{Tidegate, binary};

use super::people::{REFUSE, ask, code};
use super::work::launch;

mod failed_agent;
mod forms;
mod kept_facts;
mod lost_manifest;
mod next_session;
mod other_agents;
mod spawning;

const MANIFEST: &str = ".claude/.output/features/x/MANIFEST.yaml";

fn gate(arguments: &str) -> Reply {
    Reply::bash(format!("{} gate {arguments}", binary().display()))
}

/// The model moves the manifest to a phase with a shell command: the host refuses its own tools there. Past a checkpoint
/// Tidegate's command refuses, so the model edits the file.
fn phase(to: usize) -> Reply {
    match to {
        ..=3 => gate(&format!("phase {to}")),
        _ => Reply::bash(format!("perl -pi -e 's/^current_phase: .*/current_phase: {to}/' {MANIFEST}")),
    }
}

/// The policy's findings before each agent, oldest first.
fn spawns(tidegate: &Tidegate<'_>) -> Vec<String> {
    let of_agents = tidegate.records_of("PreToolUse").into_iter().filter(|record| record["tool"] == "Agent");
    of_agents.filter_map(|record| because(&record)).collect()
}

fn because(record: &Value) -> Option<String> {
    let verdicts = record["verdicts"].as_array()?;
    let ours = verdicts.iter().find(|verdict| verdict["policy"] == "workflow")?;
    Some(ours["because"].as_str().unwrap_or_default().to_owned())
}

/// Tidegate's texts next to agents in the request.
fn advice(request: &Request) -> Vec<String> {
    request.hook_contexts().into_iter().filter(|text| text.starts_with("PreToolUse:Agent")).collect()
}

const LEVELS: [&str; 6] = [
    "a compaction can be planned",
    "a compaction is due soon",
    "this level was said in this phase",
    "a compaction is due now",
    "the context is too full to spawn agents",
    "the context is full: a handoff is written",
];

/// One agent per size of the context.
fn agents_at(model: &str, sizes: [u64; 6], shown_use: &str) {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let mut script = Script::new().main(gate("start x").used(20_000));
    for (at, size) in sizes.iter().enumerate() {
        // On a busy machine the client writes its transcript later than the hook waits for it: the previous
        // reading must lead to the same finding.
        script = script.main(Reply::bash("true").used(*size));
        script = script.main(Reply::agent(format!("AGENT {at}")).used(*size));
        if at < 4 {
            script = script
                .subagent(&format!("AGENT {at}"), Reply::text(format!("agent {at} was here")).used(9_000));
        }
    }
    let last = sizes[5];
    let scripted = Model::start(script.main(Reply::text("done").used(last))).paced(&home);
    let run = launch(&home, &scripted).on(model).ask("go through the phases");

    tidegate.assert_unfailing();
    assert_eq!(spawns(&tidegate), LEVELS);
    let requests = scripted.main_requests();
    // The first answers the prompt, the second the command, then one after each command and each agent.
    let results: Vec<bool> =
        requests[3..].iter().step_by(2).map(|request| request.last_tool_result().is_error).collect();
    assert_eq!(results, [false, false, false, false, true, true], "who was spawned");
    let last = &requests[13];
    let said = advice(last);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].contains("The end of this phase") && said[1].contains("blocks new agents soon"),
        "{said:?}"
    );
    let denied = last.last_tool_result().text;
    assert!(denied.contains("the context is too full for an agent"), "{denied}");
    let shown = run.shown();
    let tells = |text: &str| shown.iter().filter(|shown| shown.contains(text)).count();
    assert_eq!(tells("a good moment for `/compact`"), 1, "{shown:?}");
    assert_eq!(tells("Tidegate blocked a subagent: "), 1, "{shown:?}");
    assert_eq!(tells(shown_use), 1, "{shown:?}");
    assert_eq!(tells("Tidegate wrote .claude/context/handoff.md"), 1, "{shown:?}");
    assert!(denied.contains(".claude/context/handoff.md says how far the work is"), "{denied}");
    let handoff = std::fs::read_to_string(home.in_project(".claude/context/handoff.md")).expect("a handoff");
    assert!(handoff.contains("workflow feature"), "{handoff}");
    assert_extending(&scripted.requests());
    scripted.finish();
}

/// The client does not compact this one by itself: the levels are percentages of the window.
#[test]
fn agents_on_a_small_window() {
    agents_at(
        SONNET_4_5,
        [148_000, 152_000, 153_000, 162_000, 172_000, 192_000],
        "28k tokens are left in the window",
    );
}

/// This one compacts at 967K: the levels are 47K, 17K, 12K, 7K and 2K before that.
#[test]
fn agents_on_a_large_window() {
    agents_at(
        OPUS_5_5,
        [930_000, 951_000, 952_000, 956_000, 961_000, 966_000],
        "6.0k tokens are left before compaction",
    );
}

/// Rounds of server-side tools are in the totals; only the last one is in the context.
#[test]
fn rounds_of_server_tools_do_not_fill_the_context() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let in_rounds = |last: u64| Usage::prompt(last).after_round(80_000);
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(Reply::bash("true").usage(in_rounds(95_000)))
        .main(Reply::agent("ROOM").usage(in_rounds(95_000)))
        .subagent("ROOM", Reply::text("here").used(9_000))
        .main(Reply::bash("true").usage(in_rounds(172_000)))
        .main(Reply::agent("FULL").usage(in_rounds(172_000)))
        .main(Reply::text("done").usage(in_rounds(172_000)));
    let model = Model::start(script).paced(&home);
    launch(&home, &model).on(SONNET_4_5).ask("go through the phases");
    tidegate.assert_unfailing();
    assert_eq!(spawns(&tidegate), ["there is room for agents", "the context is too full to spawn agents"]);
    let used: Vec<Value> = tidegate
        .records_of("PreToolUse")
        .into_iter()
        .filter(|record| record["tool"] == "Agent")
        .map(|record| record["meter"]["used"].clone())
        .collect();
    assert_eq!(used, [95_000, 172_000]);
    model.finish();
}

fn persist() -> Reply {
    let program = binary();
    let program = program.display();
    Reply::bash(format!(
        "seq 300 | {program} gate note 3 --output discovery.md && \
         {program} gate note 3 --status complete --summary 'Key decisions: none. Details: discovery.md'"
    ))
}

#[test]
fn a_gate_lets_agents_through_once_it_is_passed() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(3).used(21_000))
        .main(phase(4).used(22_000))
        .main(Reply::agent("TOO EARLY").used(23_000))
        .main(gate("pass 1").used(24_000))
        .main(persist().used(25_000))
        .main(gate("pass 1").used(26_000))
        .main(Reply::agent("IN TIME").used(27_000))
        .subagent("IN TIME", Reply::text("here").used(9_000))
        .main(Reply::text("done").used(28_000));
    let model = Model::start(script);
    let run = launch(&home, &model).on(SONNET_4_5).ask("go through the phases");

    tidegate.assert_unfailing();
    let requests = model.main_requests();
    assert_eq!(spawns(&tidegate), ["a checkpoint was not passed", "there is room for agents"]);
    let told: Vec<String> = requests[3].hook_contexts();
    assert!(told.iter().any(|text| text.contains("checkpoint 1, after phase 3 (discovery)")), "{told:?}");
    let denied = requests[4].last_tool_result();
    assert!(denied.is_error && denied.text.contains("phases.3_discovery holds only a status"), "{denied:?}");
    assert!(requests[5].last_tool_result().text.contains("Gate status: NOT PASSED"));
    assert!(requests[7].last_tool_result().text.contains("Gate status: PASSED. Proceeding to Phase 4."));
    assert!(!requests[8].last_tool_result().is_error);
    let shown = run.shown();
    assert!(shown.iter().any(|text| text.contains("at checkpoint 1, after phase 3")), "{shown:?}");
    assert_extending(&model.requests());
    model.finish();
}

/// Neither a command nor a status nor an edit leads past a checkpoint; the last phase ends the workflow.
#[test]
fn no_way_leads_around_a_checkpoint() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(3).used(21_000))
        .main(gate("phase 9").used(21_500))
        .main_with(|request| {
            let refused = request.last_tool_result();
            assert!(refused.is_error, "{refused:?}");
            assert!(
                refused.text.contains("checkpoint 1 after phase 3 comes first. Missing: "),
                "{refused:?}"
            );
            gate("note 3 --status skipped").used(22_000)
        })
        .main(gate("phase 4").used(22_500))
        .main(gate("note 4 --status in_progress").used(23_000))
        .main_with(|request| {
            assert!(request.last_tool_result().is_error, "{:?}", request.last_tool_result());
            persist().used(24_000)
        })
        .main(gate("pass 1").used(24_500))
        .main(gate("phase 4").used(25_000))
        .main_with(|request| {
            assert!(request.last_tool_result().text.contains("Phase 4 has started"));
            Reply::agent("IN TIME").used(25_500)
        })
        .subagent("IN TIME", Reply::text("here").used(9_000))
        .main(Reply::text("done").used(26_000));
    let model = Model::start(script);
    launch(&home, &model).on(SONNET_4_5).ask("go through the phases");
    tidegate.assert_unfailing();
    assert_eq!(spawns(&tidegate), ["there is room for agents"]);
    assert!(model.main_requests()[5].last_tool_result().is_error, "skipped is not passed");
    model.finish();
}

#[test]
fn a_compaction_in_between_makes_the_check_green() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(3).used(21_000))
        .main(persist().used(22_000))
        .main(phase(4).used(162_000))
        .main(gate("check 1").used(163_000))
        .main(Reply::text("please compact").used(164_000))
        .main(gate("pass 1").used(30_000))
        .main(Reply::agent("AFTER").used(31_000))
        .subagent("AFTER", Reply::text("here").used(9_000))
        .main(Reply::text("done").used(32_000));
    let model = Model::start(script).paced(&home);
    let mut session = launch(&home, &model).on(SONNET_4_5).start();
    session.ask("go through the phases");
    let compacted = session.ask("/compact");
    assert_eq!(compacted.compactions(), ["manual"]);
    session.ask("go on");
    session.finish();

    tidegate.assert_unfailing();
    let requests = model.main_requests();
    let told = requests[4].hook_contexts().join("\n");
    assert!(told.contains("tokens are used") && told.contains("not compacted"), "{told}");
    let checked = requests[5].last_tool_result();
    assert!(checked.text.contains("the conversation was not compacted since phase 3 ended"), "{checked:?}");
    assert!(requests[6].mentions("phase 4 of 16 (skill_discovery)"), "the model is reminded");
    let passed = requests[7].last_tool_result();
    assert!(passed.text.contains("Gate status: PASSED"), "{passed:?}");
    assert_eq!(spawns(&tidegate), ["there is room for agents"]);
    model.finish();
}

#[test]
fn only_a_person_skips_a_gate() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let skip = "skip 1 --reason 'it was one file'";
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(4).used(21_000))
        .main(gate(skip).used(22_000))
        .main(gate(&format!("{skip} --approved")).used(23_000))
        .main(Reply::agent("STILL CLOSED").used(24_000))
        .main(Reply::text("it needs your yes").used(25_000))
        .main(gate(&format!("{skip} --approved")).used(26_000))
        .main(Reply::agent("OPEN").used(27_000))
        .subagent("OPEN", Reply::text("here").used(9_000))
        .main(Reply::text("the agent was spawned").used(28_000));
    let model = Model::start(script);
    let client = launch(&home, &model).on(SONNET_4_5).argument("--permission-mode").argument("default");
    let terminal = Terminal::start(&client);
    terminal.enter("go through the phases");
    terminal.wait_for("it needs your yes");
    let requests = model.main_requests();
    let asked = requests[3].last_tool_result().text;
    for risk in ["the context window runs out", "agents work worse", "has to start again", "Instead, "] {
        assert!(asked.contains(risk), "{risk}: {asked}");
    }
    assert!(requests[4].last_tool_result().text.contains("there is no approval of"));
    assert!(requests[5].last_tool_result().is_error, "the gate holds");
    let code = code(&requests[3]);
    terminal.enter(&format!("approve {code}"));
    terminal.wait_for("the agent was spawned");

    tidegate.assert_unfailing();
    assert_eq!(spawns(&tidegate), ["a checkpoint was not passed", "there is room for agents"]);
    let text = std::fs::read_to_string(home.in_project(MANIFEST)).expect("the manifest");
    assert!(
        text.contains("compaction_skipped: true") && text.contains("skip_reason: \"it was one file\""),
        "{text}"
    );
    let skips = tidegate.records_of("tidegate workflow skip 1");
    assert_eq!(skips[0]["cause"], format!("approved with the code {code}: it was one file"));
    model.finish();
}

/// A manifest holds back only the session that wrote it last.
#[test]
fn a_manifest_belongs_to_the_session_that_wrote_it() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    home.write(MANIFEST, "# by hand\ncurrent_phase: 4\nphases:\n");
    let script = Script::new()
        .main(Reply::agent("NOT OURS").used(20_000))
        .subagent("NOT OURS", Reply::text("here").used(9_000))
        .main(gate(&format!("attach {MANIFEST}")).used(21_000))
        .main(Reply::agent("OURS").used(22_000))
        .main(Reply::text("done").used(23_000));
    let model = Model::start(script);
    launch(&home, &model).on(SONNET_4_5).ask("go on");
    tidegate.assert_unfailing();
    assert_eq!(spawns(&tidegate), ["no workflow is under way here", "a checkpoint was not passed"]);
    let text = std::fs::read_to_string(home.in_project(MANIFEST)).expect("the manifest");
    assert_eq!(text, "# by hand\ncurrent_phase: 4\nphases:\n");
    model.finish();
}

/// In a terminal the model asks through the client's own dialog, and the person answers there.
#[test]
fn a_person_skips_a_gate_in_a_dialog() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let skip = "skip 1 --reason 'it was one file'";
    let script = Script::new()
        .main(gate("start x"))
        .main(phase(4))
        .main(gate(skip))
        .main_with(ask)
        .main(gate(&format!("{skip} --approved")))
        .main(Reply::text("the gate is behind us"));
    let model = Model::start(script);
    let client = Launch::new(&home, &model).on(OPUS_5_5);
    let terminal = Terminal::start(&client.argument("--permission-mode").argument("default"));
    terminal.enter("go through the phases");
    terminal.wait_for(REFUSE);
    let text = || std::fs::read_to_string(home.in_project(MANIFEST)).expect("the manifest");
    assert!(!text().contains("compaction_skipped"), "{}", text());
    terminal.dismiss("Enter", REFUSE);
    terminal.wait_for("the gate is behind us");

    for line in ["compaction_skipped: true", "skip_reason: \"it was one file\"", "skip_timestamp: \"20"] {
        assert!(text().contains(line), "{line}: {}", text());
    }
    let record = &tidegate.records_of("tidegate workflow skip 1")[0];
    let cause = record["cause"].as_str().unwrap_or_default();
    assert!(cause.starts_with("approved with the code ") && cause.ends_with(": it was one file"), "{cause}");
    assert_eq!((&record["person"], &record["did"]["skipped_gate"]), (&json!("there"), &json!(1)));
    model.finish();
}

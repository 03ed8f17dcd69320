//! Stages follow each other in one turn, and stop without room for the next.

mod budget;
mod chain;
mod files;
mod order;
mod past;
mod sessions;
mod success;
#[cfg(unix)]
mod terminal;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tidegate_e2e::client::{HookResponse, Launch, SONNET_4_6, Stream};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request, Script};
use tidegate_e2e::tidegate::{Tidegate, binary};

use super::work::skill;

const ROOM: &str = "there is room for the next stage";
const STALE: &str = ", by a stale reading and a turn's growth";
const NO_ROOM: &str = "there is no room for the next stage";
const NOT_DONE: &str = "the stage is not done";
const FAILED: &str = "the stage failed";
const HELD_ONCE: &str = "the stage is not done, and a stop was blocked for it";
const OWED: &str = "a go-ahead of the person is owed";
const ASKS: &str = "the last message asks something";
const BROKE_IN: &str = "the person interrupted";
const COMPLETE: &str = "the last stage is done";

/// With a person present, on a model that compacts at 167K.
fn launch<'a>(home: &'a Home, model: &'a Model) -> Launch<'a> {
    super::work::launch(home, model).on(SONNET_4_6).environment("TIDEGATE_ATTENDED", "1")
}

fn cycle(arguments: &str) -> Reply {
    Reply::bash(format!("{} cycle {arguments}", binary().display()))
}

/// Needs a [`repository`]. An empty commit would not count.
const COMMIT: &str = "date +%s%N > shipped.txt && git add shipped.txt && git commit -q -m 'Ship it'";

/// With one commit.
fn repository(home: &Home) {
    home.git(&["init", "-q"]);
    for (key, value) in [("user.name", "somebody"), ("user.email", "somebody@example.org")] {
        home.git(&["config", key, value]);
    }
    home.git(&["commit", "-q", "--allow-empty", "-m", "Begin"]);
}

/// The first stage of a cycle, up to its last call.
fn sprint_is_done() -> Script {
    Script::new().main(cycle("start")).main(skill("sprint")).main(done("sprint"))
}

/// The last call of a stage that reached its goal.
fn done(stage: &str) -> Reply {
    match stage {
        "audit" => cycle("done --metric open=0"),
        "ship" => Reply::bash(format!("{COMMIT} && {} cycle done", binary().display())),
        _ => cycle("done"),
    }
}

/// The policy's findings at the Stop events, oldest first.
fn stops_of(tidegate: &Tidegate<'_>, policy: &str) -> Vec<String> {
    let because = |record: Value| {
        let verdicts = record["verdicts"].as_array().cloned().unwrap_or_default();
        let ours = verdicts.into_iter().find(|verdict| verdict["policy"] == policy);
        ours.map(|verdict| verdict["because"].as_str().unwrap_or_default().to_owned())
    };
    tidegate.records_of("Stop").into_iter().filter_map(because).collect()
}

/// On a busy machine the client writes its transcript later than the hook waits for it. Then the previous
/// reading counts, and the scripts make sure that it leads to the same finding.
fn stops(tidegate: &Tidegate<'_>) -> Vec<String> {
    let folded = |because: String| because.trim_end_matches(STALE).to_owned();
    stops_of(tidegate, "cycle").into_iter().map(folded).collect()
}

fn begins(stage: &str) -> String {
    format!("Invoke the skill `{stage}` for stage {stage}: ")
}

/// Stages that held stops started, oldest first.
fn begun(request: &Request) -> Vec<String> {
    let stage = |text: String| Some(text.split_once(" for stage ")?.1.split(':').next()?.to_owned());
    request.held_stops().into_iter().filter_map(stage).collect()
}

/// No held stop began this stage.
fn assert_never_begun(model: &Model, stage: &str) {
    for request in model.main_requests() {
        assert!(!begun(&request).iter().any(|begun| begun == stage), "{:#?}", request.held_stops());
    }
}

fn file(home: &Home) -> PathBuf {
    home.in_project(".claude/dev-cycle.state.json")
}

/// Without the list of sessions that were told how to resume.
fn untold(mut state: Value) -> Value {
    state.as_object_mut().expect("a state").remove("resume_told").expect("somebody was told");
    state
}

fn state(home: &Home) -> Value {
    let text = fs::read_to_string(file(home)).expect("the state file");
    serde_json::from_str(&text).expect("the state file is JSON")
}

fn stands(home: &Home) -> (String, String) {
    let state = state(home);
    let text = |name: &str| state[name].as_str().unwrap_or_default().to_owned();
    (text("stage"), text("status"))
}

fn running(stage: &str) -> (String, String) {
    (stage.to_owned(), "running".to_owned())
}

/// Ended cycles, oldest first.
fn history(home: &Home) -> Vec<Value> {
    let projects = fs::read_dir(home.state().join("projects")).expect("the projects' state");
    let files = projects.filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("cycles.jsonl")).ok());
    let lines = files.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    lines.filter(|line| !line.is_empty()).map(|line| serde_json::from_str(&line).expect("JSON")).collect()
}

/// Messages to the person at the start of a session; the stream has them only as the hook's own answer.
fn greetings(stream: &Stream) -> Vec<String> {
    let begins = stream.hook_responses().into_iter().filter(|hook| hook.event == "SessionStart");
    let message = |hook: HookResponse| {
        let answer: Value = serde_json::from_str(&hook.stdout).ok()?;
        Some(answer["systemMessage"].as_str()?.to_owned())
    };
    begins.filter_map(message).collect()
}

fn told(shown: &[String], what: &str) -> usize {
    shown.iter().filter(|text| text.contains(what)).count()
}

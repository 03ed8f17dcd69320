//! For a prompt of which the classifier is not sure, a language model is asked during the turn, and its
//! answer comes with the next tool result, once.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tidegate_e2e::client;
use tidegate_e2e::home::{DUMMY_KEY, Home};
use tidegate_e2e::model::{Model, Reply, Request, Route, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::tidegate::Tidegate;

use super::work::launch;

const ENTERS: &str = " first: the activity is now ";

const PROMPT: &str = "something about the numbers in the parser, quickly";

/// A turn of three calls; the first ends when the answer is there.
fn turn(home: &Home) -> Script {
    home.write(".claude/context/learnings-coding.md", "# Learnings\n");
    let marks = home.state().join("sessions");
    let waits = format!(
        "for i in $(seq 300); do grep -qs late-phase {}/*/marks && break; sleep 0.1; done",
        marks.display()
    );
    let script = Script::new().main(Reply::bash(waits)).main(Reply::bash("true")).main(Reply::bash("true"));
    script.main(Reply::text("done"))
}

fn assert_told_once(model: &Model) {
    let said: Vec<usize> = model.main_requests().iter().map(|request| request.count(ENTERS)).collect();
    assert_eq!(said, [0, 1, 1, 1], "with the first tool result and not again");
    let contexts = model.last_main().hook_contexts();
    let advice = contexts.iter().find(|text| text.contains(ENTERS)).expect("the advice");
    assert!(advice.starts_with("PostToolUse") && advice.contains("`debug`"), "{advice}");
    assert_extending(&model.requests());
}

fn configure(home: &Home, backend: &str) {
    home.write_config(&format!("[activity]\nconfidence = 100\n[activity.llm]\n{backend}\n"));
}

fn question(backend: &Model) -> Request {
    let mut asked = backend.requests_on(&Route::Side);
    assert_eq!(asked.len(), 1, "asked once: {asked:#?}");
    assert!(asked[0].mentions(&format!("The prompt: {PROMPT:?}")), "{:#}", asked[0].body);
    asked.remove(0)
}

#[test]
fn an_endpoint_answers_in_the_middle_of_the_turn() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let backend = Model::start(Script::new().side(Reply::text("debug")));
    configure(&home, &format!("backend = \"anthropic\"\nendpoint = \"{}/v1\"", backend.url()));
    let model = Model::start(turn(&home));
    let run = launch(&home, &model).environment("TIDEGATE_ATTENDED", "1").ask(PROMPT);

    tidegate.assert_unfailing();
    assert_told_once(&model);
    question(&backend);
    let calls = tidegate.records_of("phase-llm");
    assert_eq!(calls.len(), 1, "{calls:#?}");
    assert_eq!(calls[0]["backend"]["phase"], "debug", "{calls:#?}");
    assert!(calls[0]["backend"]["input_tokens"].is_u64(), "{calls:#?}");
    let status = tidegate.run(&["status", "--session", run.session_id(), "--json"]);
    assert!(status.contains("\"phase\":\"debug\""), "{status}");
    assert!(!tidegate.journal().iter().any(|record| record.to_string().contains(DUMMY_KEY)));
    model.finish();
    backend.finish();
}

/// The client's own program accepts every argument, and runs without hooks, tools, memory and transcript.
#[test]
fn the_client_itself_is_asked() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    fs::write(home.client_config().join("CLAUDE.md"), "a memory of the user's\n").expect("the user's memory");
    let backend = Model::start(Script::new().side(Reply::text("debug")));
    let bin = home.scratch("bin");
    fs::create_dir(&bin).expect("a new folder");
    let script = format!(
        "#!/bin/sh\nexport ANTHROPIC_BASE_URL={}\nexec '{}' \"$@\"\n",
        backend.url(),
        client::binary().display()
    );
    fs::write(bin.join("claude"), script).expect("a new script");
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).expect("our own");
    configure(&home, "backend = \"claude\"\ntimeout_s = 60");
    // Hooks in the user's own settings would run in any client of theirs.
    let settings = home.read_settings();
    fs::write(home.client_config().join("settings.json"), settings.to_string()).expect("the user's settings");
    let model = Model::start(turn(&home));
    let path = format!("{}:/usr/bin:/bin", bin.display());
    launch(&home, &model).environment("TIDEGATE_ATTENDED", "1").environment("PATH", path).ask(PROMPT);

    tidegate.assert_unfailing();
    let calls = tidegate.records_of("phase-llm");
    assert_eq!(calls.len(), 1, "{calls:#?}");
    assert_eq!(calls[0]["backend"]["outcome"], "answered", "{calls:#?}");
    assert_told_once(&model);
    let question = question(&backend);
    assert!(question.mentions("Answer with one label"), "{:#}", question.body);
    for foreign in ["a memory of the user's", "code-quality-rules", "hook additional context"] {
        assert!(!question.mentions(foreign), "{foreign}: {:#}", question.body);
    }
    assert!(!tidegate.journal().iter().any(|record| record["ruling"] == "unguarded"), "no hook ran in it");
    let kept = walk(&home.client_config().join("projects"));
    assert!(!kept.contains("Answer with one label"), "no transcript of it");
    model.finish();
    backend.finish();
}

/// All text files in a folder.
fn walk(folder: &std::path::Path) -> String {
    let mut text = String::new();
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            text.push_str(&walk(&path));
        } else {
            text.push_str(&fs::read_to_string(path).unwrap_or_default());
        }
    }
    text
}

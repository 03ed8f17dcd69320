//! A person at the client: interrupts, leaves, comes back, and types `/dev-cycle`.

use std::sync::mpsc::channel;
use std::time::Duration;

use tidegate_e2e::plugin::{client, install, link_binary};
use tidegate_e2e::terminal::Terminal;

use super::super::people::code;
use super::*;

fn start(launch: Launch<'_>) -> Terminal<'_> {
    Terminal::start(&launch.argument("--permission-mode").argument("default"))
}

fn interrupt(terminal: &Terminal<'_>) {
    terminal.press("Escape");
    terminal.wait_for("Interrupted");
}

/// A prompt after an interrupt starts nothing; a turn that ends by itself does.
fn goes_on_after(home: &Home, model: &Model, terminal: &Terminal<'_>) {
    let tidegate = Tidegate::of(home);
    for reply in [
        Reply::text("it is a loop"),
        done("sprint"),
        Reply::text("the sprint is over"),
        skill("audit"),
        Reply::text("the audit is over, ship it?"),
    ] {
        model.then(reply);
    }
    terminal.enter("what are you doing");
    terminal.wait_for("it is a loop");
    until_stops(terminal, &tidegate, &[BROKE_IN]);
    assert_eq!(stands(home), running("sprint"));

    terminal.enter("go on");
    let screen = terminal.wait_for("the audit is over, ship it?");
    assert!(screen.contains("stage 1 of 4 (sprint) is done. Claude continues with audit"), "{screen}");
    until_stops(terminal, &tidegate, &[BROKE_IN, ROOM, ASKS]);
    assert_eq!(begun(&model.last_main()), ["audit"]);
    assert_eq!(stands(home), running("audit"));
    tidegate.assert_unfailing();
    model.finish();
}

/// The screen shows an answer before the Stop hooks have run.
fn until_stops(terminal: &Terminal<'_>, tidegate: &Tidegate<'_>, expected: &[&str]) {
    terminal.wait_while(&format!("stops: {expected:?}"), || stops(tidegate) != expected);
}

#[test]
fn an_interrupted_tool_call_begins_nothing() {
    let home = Home::new();
    Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start"))
        .main(skill("sprint"))
        .main(Reply::bash("echo begun > begun.txt; while true; do sleep 1; done"));
    let model = Model::start(script);
    let terminal = start(launch(&home, &model));
    terminal.enter("run a cycle");
    terminal.wait_until("the command", |_| home.in_project("begun.txt").exists());
    interrupt(&terminal);
    goes_on_after(&home, &model, &terminal);
}

#[test]
fn an_interrupted_answer_begins_nothing() {
    let home = Home::new();
    Tidegate::init_with(&home, &["--with", "cycle"]);
    let (asked, was_asked) = channel();
    let (release, released) = channel::<()>();
    let script = Script::new().main(cycle("start")).main(skill("sprint")).main_with(move |_| {
        let _ = asked.send(());
        let _ = released.recv();
        Reply::text("an answer that nobody waits for")
    });
    let model = Model::start(script);
    let terminal = start(launch(&home, &model));
    terminal.enter("run a cycle");
    was_asked.recv_timeout(Duration::from_mins(3)).expect("the third request");
    interrupt(&terminal);
    drop(release);
    goes_on_after(&home, &model, &terminal);
}

#[test]
fn a_client_that_was_killed_in_a_stage_comes_back_to_it() {
    let home = Home::new();
    Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start"))
        .main(skill("sprint"))
        .main(Reply::bash("echo begun > begun.txt; sleep 120"));
    let model = Model::start(script);
    let terminal = start(launch(&home, &model));
    terminal.enter("run a cycle");
    terminal.wait_until("the command", |_| home.in_project("begun.txt").exists());
    let before = state(&home);
    drop(terminal);

    let session = model.last_main().session;
    let terminal = start(launch(&home, &model).resume(&session));
    assert_eq!(state(&home), before, "the same stage of the same session");
    goes_on_after(&home, &model, &terminal);
    assert_eq!(state(&home)["session_id"], json!(session));
}

/// The file as other tools write it: without a session and without a project. What it says is not this machine's own, so that the
/// person takes it over.
#[test]
fn a_person_sees_what_has_stopped_and_goes_on() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let stopped = json!({ "stage": "sprint", "status": "stopped", "stopped_reason": "context_budget",
        "skipped_stages": ["audit", "ship", "retrospective"], "remaining_pct": 35.2 });
    fs::write(file(&home), stopped.to_string()).expect("a state file");
    let script = Script::new()
        .main(Reply::text("sprint is done, shall I go on with audit?"))
        .main(cycle("resume"))
        .main(Reply::text("it needs your approval"))
        .main(cycle("resume --approved"))
        .main(skill("audit"))
        .main(done("audit"))
        .main(Reply::text("the audit is over"))
        .main(skill("ship"))
        .main(Reply::text("now the retrospective?"));
    let model = Model::start(script);
    let terminal = start(launch(&home, &model));
    terminal.wait_for_sentence(
        "dev-cycle has stopped in this project. Done: sprint. Open: audit, ship, retrospective.",
    );
    terminal.enter("/dev-cycle");
    terminal.wait_for("shall I go on with audit?");
    let first = &model.main_requests()[0];
    assert!(
        first.mentions("in this session, if the person wants it") && first.mentions("# A development cycle")
    );
    assert_eq!(stands(&home), ("sprint".to_owned(), "stopped".to_owned()), "nothing is forced on");
    terminal.enter("yes");
    terminal.wait_for("it needs your approval");
    assert_eq!(stands(&home), ("sprint".to_owned(), "stopped".to_owned()), "not by an agent's word");
    terminal.enter(&format!("approve {}", code(&model.main_requests()[2])));
    terminal.wait_for("now the retrospective?");
    until_stops(&terminal, &tidegate, &[ROOM, ASKS]);
    tidegate.assert_unfailing();
    assert_eq!(begun(&model.last_main()), ["ship"]);
    let now = state(&home);
    assert_eq!((&now["stage"], &now["status"]), (&json!("ship"), &json!("running")), "{now:#}");
    assert_eq!(now["session_id"], json!(model.last_main().session));
    for gone in ["stopped_reason", "skipped_stages", "remaining_pct", "resume_told"] {
        assert!(now.get(gone).is_none(), "{gone}: {now:#}");
    }
    model.finish();
}

/// A whole cycle as a person starts it, with the shipped commands; only the commit is allowed in advance. `skills` are
/// the names that the model uses.
fn typed(home: &Home, model: &Model, launch: Launch<'_>, skills: [&str; 4]) {
    let tidegate = Tidegate::of(home);
    let stages = ["sprint", "audit", "ship", "retrospective"];
    model.then(Reply::bash("tidegate cycle status --json"));
    model.then(Reply::bash("tidegate cycle start"));
    for (stage, name) in stages.into_iter().zip(skills) {
        model.then(skill(name));
        if stage == "ship" {
            model.then(Reply::bash("git commit -q -m 'Ship it'"));
        }
        let open = if stage == "audit" { " --metric open=0" } else { "" };
        model.then(Reply::bash(format!("tidegate cycle done{open}")));
        model.then(Reply::text(format!("the {stage} is over")));
    }
    repository(home);
    fs::write(home.in_project("shipped.txt"), "shipped").expect("a file");
    home.git(&["add", "shipped.txt"]);
    let terminal = start(launch.argument("--allowedTools").argument("Bash(git commit:*)"));
    terminal.enter("/dev-cycle add a retry to the uploader");
    terminal.wait_for("dev-cycle is complete. Tokens by stage: sprint ");
    until_stops(&terminal, &tidegate, &[ROOM, ROOM, ROOM, COMPLETE]);
    tidegate.assert_unfailing();

    let requests = model.main_requests();
    assert!(
        requests[0].mentions("The person wants to build: add a retry to the uploader"),
        "the skill's text"
    );
    let link = "`${XDG_DATA_HOME:-$HOME/.local/share}/tidegate/bin/tidegate`";
    assert!(requests[0].mentions(link), "nothing in it is taken for a variable of the client");
    let status = requests[1].last_tool_result();
    assert!(status.text.starts_with(r#"{"status":"none"}"#), "{status:?}");
    let started = requests[2].last_tool_result();
    assert!(started.text.contains("Stage sprint (1 of 4) of dev-cycle starts"), "{started:?}");
    assert_eq!(begun(&model.last_main()), stages[1..]);
    for skill in stages {
        let heading = format!("# {}{}", skill[..1].to_uppercase(), &skill[1..]);
        assert!(model.last_main().mentions(&heading), "the text of {skill}");
    }
    assert!(!file(home).exists());
    assert_eq!(history(home).len(), 1);
    model.finish();
}

#[test]
fn a_person_types_dev_cycle() {
    let home = Home::new();
    Tidegate::init_with(&home, &["--with", "cycle"]);
    let model = Model::start(Script::new());
    let folder = home.link().parent().expect("the link's folder").display().to_string();
    let launch =
        Launch::asking(&home, &model).on(SONNET_4_6).environment("PATH", format!("{folder}:/usr/bin:/bin"));
    typed(&home, &model, launch, ["sprint", "audit", "ship", "retrospective"]);
}

#[test]
fn a_person_types_dev_cycle_of_the_plugin() {
    let home = Home::new();
    let model = Model::start(Script::new());
    link_binary(&home);
    install(&home, &model);
    client(&home, &model, &["plugin", "install", "tidegate-cycle@tidegate"]);
    let launch = Launch::asking(&home, &model).on(SONNET_4_6);
    // With and without the prefix: a held stop names the skill without it.
    typed(&home, &model, launch, ["tidegate-cycle:sprint", "audit", "tidegate-cycle:ship", "retrospective"]);
}

/// A prompt typed while the agent works cannot be told from one after an interrupt.
#[test]
fn a_prompt_that_is_typed_meanwhile_pauses_the_chain() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    let script = Script::new()
        .main(cycle("start"))
        .main(skill("sprint"))
        .main(Reply::bash("echo begun > begun.txt; while [ ! -e go.txt ]; do sleep 0.1; done"))
        .main(Reply::text("the sprint is over"))
        .main(done("sprint"))
        .main(Reply::text("on with it"))
        .main(skill("audit"))
        .main(Reply::text("the audit is over, ship it?"));
    let model = Model::start(script);
    let terminal = start(launch(&home, &model));
    terminal.enter("run a cycle");
    terminal.wait_until("the command", |_| home.in_project("begun.txt").exists());
    terminal.enter("mind the tests");
    let prompts = || tidegate.records_of("UserPromptSubmit").len();
    terminal.wait_until("the prompt", |_| prompts() == 2);
    home.write("go.txt", "");
    terminal.wait_for("the sprint is over");
    until_stops(&terminal, &tidegate, &[BROKE_IN]);
    assert!(model.last_main().mentions("mind the tests"));
    assert_eq!(stands(&home), running("sprint"));
    terminal.enter("go on");
    terminal.wait_for("the audit is over, ship it?");
    until_stops(&terminal, &tidegate, &[BROKE_IN, ROOM, ASKS]);
    assert_eq!(stands(&home), running("audit"));
    tidegate.assert_unfailing();
    model.finish();
}

//! Skill gate: an edit waits until the skill was invoked, by the model or by the person.

use serde_json::json;
use tidegate_e2e::client::Launch;
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Route, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::tidegate::Tidegate;

use super::work::{CODE_RULES, copies_of_reason, launch, skill};

/// Only in a verdict of the gate, not in the text of a check that could not be made.
const DENIED: &str = "may be edited only after it";

/// With the skill, and a person who requires it.
fn init_with_rules(home: &Home) -> Tidegate<'_> {
    let tidegate = Tidegate::init_with(home, &["--with", "rules"]);
    home.write_config(REQUIRES);
    tidegate
}

fn init_observing(home: &Home) -> Tidegate<'_> {
    let tidegate = Tidegate::init_with(home, &["--with", "rules", "--preset", "observe"]);
    home.write_config(REQUIRES);
    tidegate
}

const REQUIRES: &str = "[skill_gate.require]\ncode = [\"code-quality-rules\"]\n";

/// The first edit of somebody who has just installed us.
#[test]
fn nothing_is_required_until_a_person_says_so() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let file = home.in_project("src/a.py");
    let script = Script::new()
        .main(Reply::write(&file, "x = 1\n"))
        .main(skill("verification-before-completion"))
        .main(Reply::text("done"));
    let model = Model::start(script);
    let run = launch(&home, &model).ask("write it");
    tidegate.assert_unfailing();
    assert!(file.exists() && run.shown().is_empty(), "{:?}", run.shown());
    model.finish();
}

#[test]
fn a_required_skill_that_is_missing_is_said_to_be() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    home.write_config(REQUIRES);
    let file = home.in_project("src/a.py");
    let model =
        Model::start(Script::new().main(Reply::write(&file, "x = 1\n")).main(Reply::text("it is missing")));
    let run = launch(&home, &model).ask("write it");
    tidegate.assert_unfailing();
    let denied = model.last_main().last_tool_result();
    assert!(
        denied.is_error
            && denied.text.contains("If Claude Code does not know it, tell the user")
            && !file.exists(),
        "{denied:?}"
    );
    let shown = run.shown();
    assert!(shown.iter().any(|text| text.contains("`tidegate init --with rules`")), "{shown:?}");
    model.finish();
}

#[test]
fn an_edit_passes_once_the_model_invoked_the_skill() {
    let home = Home::new();
    let tidegate = init_with_rules(&home);
    let file = home.in_project("src/a.py");
    let script = Script::new()
        .main(Reply::write(&file, "x = 1\n"))
        .main(skill(CODE_RULES))
        .main(Reply::write(&file, "x = 1\n"))
        .main(skill("verification-before-completion"))
        .main(Reply::text("done"));
    let model = Model::start(script);

    let run = launch(&home, &model).ask("write it");

    tidegate.assert_unfailing();
    let requests = model.main_requests();
    let denied = requests[1].last_tool_result();
    assert!(
        denied.is_error && denied.text.contains(DENIED) && denied.text.contains(CODE_RULES),
        "{denied:?}"
    );
    assert!(!denied.text.contains("tidegate off"), "the way past it is not the model's");
    assert_eq!(copies_of_reason(&tidegate, "PreToolUse", &requests[1]), 1);
    assert!(!requests[3].last_tool_result().is_error, "{:?}", requests[3].last_tool_result());
    assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), Some("x = 1\n"));
    let shown = run.shown();
    assert!(
        shown.iter().any(|text| text.contains("tidegate off skill-gate")),
        "the person is told: {shown:?}"
    );
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn an_edit_passes_once_the_person_typed_the_skill() {
    let home = Home::new();
    let tidegate = init_with_rules(&home);
    let file = home.in_project("src/a.py");
    let script = Script::new()
        .main(Reply::text("read"))
        .main(Reply::write(&file, "x = 1\n"))
        .main(skill("verification-before-completion"))
        .main(Reply::text("done"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();

    session.ask(&format!("/{CODE_RULES}"));
    session.ask("write it");
    session.finish();

    tidegate.assert_unfailing();
    assert!(!model.main_requests()[2].last_tool_result().is_error);
    assert!(file.exists());
    model.finish();
}

#[test]
fn documents_and_other_places_are_not_asked_about() {
    let home = Home::new();
    let tidegate = init_with_rules(&home);
    let (outside, note) = (home.scratch("x.py"), home.in_project("docs/note.md"));
    let flow = home.in_project(".claude/context/progress.md");
    let script = Script::new()
        .main(Reply::write(&outside, "x\n"))
        .main(Reply::write(&note, "x\n"))
        .main(Reply::write(&flow, "x\n"))
        .main(Reply::text("done"));
    let model = Model::start(script);
    let scratch = home.scratch("");
    launch(&home, &model).argument("--add-dir").argument(scratch.display().to_string()).ask("write them");

    tidegate.assert_unfailing();
    let results = model.last_main().tool_results();
    // The client itself protects its own folder; the gate does not.
    assert!(!results.iter().any(|result| result.text.contains(DENIED)), "{results:?}");
    assert!(note.exists() && outside.exists());
    assert!(tidegate.records_of("Stop").iter().all(|record| record["ruling"] == "pass"));
    model.finish();
}

#[test]
fn strict_asks_for_documents_too() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--preset", "strict"]);
    let (note, flow) = (home.in_project("docs/note.md"), home.in_project(".claude/context/progress.md"));
    let script = Script::new()
        .main(Reply::write(&note, "x\n"))
        .main(Reply::write(&flow, "x\n"))
        .main(skill("document-quality-rules"))
        .main(Reply::write(&note, "x\n"))
        .main(Reply::text("done"));
    let model = Model::start(script);
    launch(&home, &model).ask("write them");

    tidegate.assert_unfailing();
    let requests = model.main_requests();
    let denied = requests[1].last_tool_result();
    assert!(denied.is_error && denied.text.contains("document-quality-rules"), "{denied:?}");
    let flow_result = requests[2].last_tool_result();
    assert!(!flow_result.text.contains(DENIED), "flow is never gated: {flow_result:?}");
    assert!(note.exists());
    model.finish();
}

#[test]
fn a_subagent_is_told_to_report_and_shares_what_its_session_invoked() {
    let home = Home::new();
    let tidegate = init_with_rules(&home);
    let (first, second) = (home.in_project("src/a.py"), home.in_project("src/b.py"));
    let script = Script::new()
        .main(Reply::agent("first errand"))
        .subagent("first errand", Reply::write(&first, "x\n"))
        .subagent("first errand", Reply::text("the edit was denied"))
        .main(skill(CODE_RULES))
        .main(Reply::agent("second errand"))
        .subagent("second errand", Reply::write(&second, "x\n"))
        .subagent("second errand", Reply::text("written"))
        .main(skill("verification-before-completion"))
        .main(Reply::text("done"));
    let model = Model::start(script);
    launch(&home, &model).ask("have them written");

    tidegate.assert_unfailing();
    let errand = |name: &str| model.requests_on(&Route::Subagent(name.to_owned()));
    let denied = errand("first errand")[1].last_tool_result();
    assert!(denied.is_error && denied.text.contains("Report to your caller"), "{denied:?}");
    assert!(!errand("second errand")[1].last_tool_result().is_error);
    assert!(!first.exists() && second.exists());
    model.finish();
}

#[test]
fn observe_only_writes_down_what_it_would_have_denied() {
    let home = Home::new();
    let tidegate = init_observing(&home);
    let file = home.in_project("src/a.py");
    let model = Model::start(Script::new().main(Reply::write(&file, "x = 1\n")).main(Reply::text("done")));
    let run = launch(&home, &model).ask("write it");

    tidegate.assert_unfailing();
    assert!(file.exists(), "nothing is denied");
    assert!(run.shown().is_empty(), "nothing is said: {:?}", run.shown());
    assert!(model.last_main().hook_contexts().is_empty());
    let verdicts: Vec<_> = tidegate
        .journal()
        .into_iter()
        .flat_map(|record| record["verdicts"].as_array().cloned().unwrap_or_default())
        .filter(|verdict| verdict["shadow"] == true && verdict["call"] == "deny")
        .map(|verdict| verdict["policy"].clone())
        .collect();
    assert_eq!(verdicts, [json!("skill-gate"), json!("verify-stop")]);
    model.finish();
}

#[test]
fn a_reminder_lets_the_edit_through() {
    let home = Home::new();
    let tidegate = init_with_rules(&home);
    home.write_config("[skill_gate]\nmode = \"remind\"\n");
    let (first, second) = (home.in_project("src/a.py"), home.in_project("src/b.py"));
    let script = Script::new()
        .main(Reply::write(&first, "x = 1\n"))
        .main(Reply::write(&second, "x = 1\n"))
        .main(skill("verification-before-completion"))
        .main(Reply::text("done"));
    let model = Model::start(script);
    launch(&home, &model).ask("write them");

    tidegate.assert_unfailing();
    assert!(first.exists() && second.exists());
    let contexts = model.last_main().hook_contexts();
    let reminders = contexts.iter().filter(|text| text.contains(CODE_RULES)).count();
    assert_eq!(reminders, 1, "once: {contexts:?}");
    assert_extending(&model.requests());
    model.finish();
}

/// If the gate cannot check, it stays closed, and its text is not a verdict.
#[test]
fn marks_that_cannot_be_read_close_it() {
    let home = Home::new();
    init_with_rules(&home);
    let file = home.in_project("src/a.py");
    let script = Script::new()
        .main(Reply::text("hello"))
        .main(Reply::write(&file, "x = 1\n"))
        .main(Reply::text("it was denied"))
        .main(Reply::text("that is all"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    let turn = session.ask("hello");
    let marks = home.state().join("sessions").join(turn.session_id()).join("marks");
    std::fs::remove_file(&marks).expect("the session has marks");
    std::fs::create_dir(&marks).expect("something unreadable in their place");
    let turn = session.ask("write it");
    assert_eq!(turn.answer(), "that is all", "a stop that cannot be checked is held once");
    session.finish();

    let denied = model.last_main().last_tool_result();
    assert!(denied.is_error && denied.text.contains("could not check"), "{denied:?}");
    assert!(!denied.text.contains(DENIED));
    assert!(!file.exists());
    model.finish();
}

#[test]
fn switching_it_off_from_another_terminal_works_at_once() {
    let home = Home::new();
    let tidegate = init_with_rules(&home);
    home.write_config("[approval]\nunattended = [\"off\"]\n");
    let file = home.in_project("src/a.py");
    let script = Script::new()
        .main(Reply::write(&file, "x = 1\n"))
        .main(Reply::text("it was denied"))
        .main(Reply::write(&file, "x = 1\n"))
        .main(skill("verification-before-completion"))
        .main(Reply::text("done"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("write it");
    assert!(!file.exists());
    tidegate.run(&["off", "skill-gate", "--for", "1h"]);
    session.ask("again");
    session.finish();
    assert!(file.exists());
    let report = tidegate.run(&["report"]);
    assert!(report.contains("skill-gate"), "{report}");
    model.finish();
}

#[test]
fn a_launch_without_anything_registered_is_not_ours() {
    let home = Home::new();
    let file = home.in_project("src/a.py");
    let model = Model::start(Script::new().main(Reply::write(&file, "x = 1\n")).main(Reply::text("done")));
    Launch::new(&home, &model).ask("write it");
    assert!(file.exists());
    model.finish();
}

//! With a broken binary or a garbage payload the gate stays closed, and nothing else blocks the work.

use serde_json::{Value, json};
use tidegate_e2e::client::{Launch, OPUS_5_5, Run};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::tidegate::Tidegate;

const WAY_OUT: &str = "TIDEGATE_OFF=skill-gate";

/// One turn that runs a shell command and then tries to write a file.
struct Attempt {
    model: Model,
    run: Run,
    written: bool,
}

fn attempt(home: &Home, environment: &[(&str, &str)]) -> Attempt {
    let file = home.in_project("made.txt");
    let script = Script::new()
        .main(Reply::bash("echo ran > ran.txt"))
        .main(Reply::write(&file, "text\n"))
        .main(Reply::text("that is all"));
    let model = Model::start(script);
    let launch = Launch::new(home, &model).on(OPUS_5_5);
    let launch = environment.iter().fold(launch, |launch, (name, value)| launch.environment(name, *value));
    let run = launch.ask("write it");
    let attempt = Attempt { model, run, written: file.exists() };

    // Whatever happened to the hooks, the session did its work: prompt, shell command, end.
    assert!(home.in_project("ran.txt").exists(), "the shell command ran");
    assert_eq!(attempt.run.answer(), "that is all");
    assert_eq!(attempt.run.exit, Some(0));
    assert_extending(&attempt.model.requests());
    attempt.model.finish();
    attempt
}

impl Attempt {
    fn assert_closed(&self) {
        assert!(!self.written, "nothing was written");
        assert_eq!(self.run.denials(), ["Write"]);
        let result = self.model.last_main().last_tool_result();
        assert!(result.is_error, "the model was refused: {result:?}");
    }

    /// The gate explained itself: the step to the model, the way out only to the user.
    fn assert_explained(&self) {
        let result = self.model.last_main().last_tool_result();
        assert!(result.text.contains("Tidegate could not check: "), "{result:?}");
        assert!(!self.model.requests().iter().any(|request| request.mentions("TIDEGATE_OFF")));
        let shown = self.run.shown();
        assert!(shown.iter().any(|text| text.contains(WAY_OUT)), "{shown:?}");
    }
}

/// Replaces the command of every handler after the installation.
fn with_binary(home: &Home, binary: &str) {
    Tidegate::init(home).rewire(|_, handler| handler["command"] = json!(binary));
}

/// Pipes the payload of these events through `spoil`, a shell command.
fn with_input(home: &Home, spoil: &str, events: &[&str]) {
    Tidegate::init(home).rewire(|event, handler| {
        if events.contains(&event) {
            let mut arguments =
                vec![json!("-c"), json!(format!("{spoil} | \"$0\" \"$@\"")), handler["command"].clone()];
            arguments.extend(handler["args"].as_array().into_iter().flatten().cloned());
            handler["command"] = json!("/bin/sh");
            handler["args"] = Value::Array(arguments);
        }
    });
}

fn executable(home: &Home, text: &str) -> String {
    let path = home.scratch("broken");
    std::fs::write(&path, text).expect("a scratch file");
    let mode = home.command("chmod").arg("+x").arg(&path).status().expect("chmod on the path");
    assert!(mode.success(), "chmod: {mode}");
    path.display().to_string()
}

#[test]
fn nothing_broken_leaves_it_open() {
    let home = Home::new();
    Tidegate::init(&home);
    let attempt = attempt(&home, &[]);
    assert!(
        attempt.written,
        "the gate has no reason to close: {:?}",
        attempt.model.last_main().last_tool_result()
    );
    let failed: Vec<_> =
        attempt.run.hook_responses().into_iter().filter(|hook| hook.outcome != "success").collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(attempt.run.shown(), Vec::<String>::new());
}

#[test]
fn a_missing_binary_closes_the_gate() {
    let home = Home::new();
    with_binary(&home, "/nonexistent/tidegate");
    attempt(&home, &[]).assert_closed();
}

#[test]
fn a_failing_binary_closes_the_gate() {
    let home = Home::new();
    let binary = executable(&home, "#!/bin/sh\nexit 1\n");
    with_binary(&home, &binary);
    attempt(&home, &[]).assert_closed();
}

#[test]
fn an_aborting_binary_closes_the_gate() {
    let home = Home::new();
    let binary = executable(&home, "#!/bin/sh\nkill -ABRT $$\n");
    with_binary(&home, &binary);
    attempt(&home, &[]).assert_closed();
}

#[test]
fn a_garbage_payload_closes_the_gate() {
    let home = Home::new();
    with_input(&home, "printf 'not a payload'", &["PreToolUse"]);
    let attempt = attempt(&home, &[]);
    attempt.assert_closed();
    attempt.assert_explained();
}

#[test]
fn a_truncated_payload_closes_the_gate() {
    let home = Home::new();
    with_input(&home, "head -c 60", &["PreToolUse"]);
    let attempt = attempt(&home, &[]);
    attempt.assert_closed();
    attempt.assert_explained();
}

#[test]
fn the_way_out_that_the_user_is_told_works() {
    let home = Home::new();
    with_input(&home, "printf 'not a payload'", &["PreToolUse"]);
    let attempt = attempt(&home, &[("TIDEGATE_OFF", "skill-gate")]);
    assert!(attempt.written, "{:?}", attempt.model.last_main().last_tool_result());
}

#[test]
fn garbage_at_other_events_is_harmless() {
    let home = Home::new();
    let others = ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"];
    with_input(&home, "printf 'not a payload'", &others);
    let attempt = attempt(&home, &[]);
    assert!(attempt.written, "{:?}", attempt.model.last_main().last_tool_result());
    for hook in attempt.run.hook_responses() {
        assert_eq!(hook.exit_code, Some(0), "{hook:?}");
        assert_eq!(hook.stdout, "", "{hook:?}");
    }
    assert_eq!(attempt.run.shown(), Vec::<String>::new());
}

/// The client passes variables of a project's settings to its hooks. Tidegate's own count only if a person
/// set them.
#[test]
fn a_repository_cannot_open_the_gate() {
    let home = Home::new();
    with_input(&home, "printf 'not a payload'", &["PreToolUse"]);
    let hostile = json!({ "env": { "TIDEGATE_OFF": "skill-gate", "TIDEGATE_GUARD": "1" } });
    std::fs::write(home.in_project(".claude/settings.json"), hostile.to_string()).expect("a settings file");
    let attempt = attempt(&home, &[]);
    attempt.assert_closed();
    attempt.assert_explained();
}

//! The plugin for opencode alone, in Node: how it treats programs and sessions that opencode itself hardly ever has.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use tidegate_e2e::home::Home;
use tidegate_e2e::host::executable;
use tidegate_e2e::tidegate::{Tidegate, binary};

/// Loads the plugin and calls it as opencode does. What it says and does is the last line of the output.
const DRIVER: &str = include_str!("opencode_plugin.mjs");

/// The plugin that `init` writes, but for another program, and with less patience.
fn plugin(home: &Home, program: &Path) -> String {
    Tidegate::init_with(home, &["--host", "opencode"]);
    let text = fs::read_to_string(home.in_project(".opencode/plugins/tidegate.js")).expect("the plugin");
    let with = |text: String, name: &str, value: &Value| {
        let begin = format!("const {name} = ");
        let line = text.lines().find(|line| line.starts_with(&begin)).expect("a line");
        text.replace(line, &format!("{begin}{value}"))
    };
    let text = with(text, "PROGRAM", &json!(program));
    with(with(text, "LIMIT_MS", &json!(500)), "SERVER_LIMIT_MS", &json!(50))
}

/// `steps`: see the driver. `sessions`: what opencode knows of them.
fn drive(home: &Home, program: &Path, folder: &Path, steps: &Value, sessions: &Value) -> Value {
    let own = home.scratch("plugin");
    fs::create_dir_all(&own).expect("a folder in the temporary home");
    fs::write(own.join("tidegate.mjs"), plugin(home, program)).expect("a new file");
    fs::write(own.join("driver.mjs"), DRIVER).expect("a new file");
    let input = json!({ "folder": folder, "steps": steps, "sessions": sessions });
    let output = home
        .command(executable("node"))
        .arg(own.join("driver.mjs"))
        .arg(input.to_string())
        .output()
        .expect("Node runs");
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn script(home: &Home, text: &str) -> std::path::PathBuf {
    let path = home.scratch("program");
    fs::write(&path, text).expect("a new file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own file");
    path
}

/// Whether a tool runs, and why not.
fn outcomes(home: &Home, program: &Path, folder: &Path) -> [Value; 2] {
    let steps = json!([{ "tool": "edit" }, { "tool": "task" }]);
    let said = drive(home, program, folder, &steps, &json!({}));
    [said["outcomes"][0].clone(), said["outcomes"][1].clone()]
}

#[test]
fn an_edit_that_the_program_cannot_check_is_denied() {
    let home = Home::new();
    let folder = home.project();
    for (text, why) in [
        ("#!/bin/sh\nexit 1\n", "exit 1"),
        ("#!/bin/sh\necho '{}'\nexit 3\n", "exit 3"),
        ("#!/bin/sh\necho allowed\n", "not JSON"),
        ("#!/bin/sh\necho 7\n", "not JSON"),
        ("#!/bin/sh\nkill -9 $$\n", "SIGKILL"),
        ("#!/bin/sh\nexec sleep 60\n", "no answer"),
        ("#!/no/such/interpreter\n", "ENOENT"),
        ("#!/bin/sh\n", "did not say whether"),
        ("#!/bin/sh\necho '{}'\n", "did not say whether"),
        ("#!/bin/sh\necho '{\"pass\":\"true\"}'\n", "did not say whether"),
    ] {
        let program = script(&home, text);
        let [edit, task] = outcomes(&home, &program, &folder);
        assert!(edit.as_str().is_some_and(|said| said.contains(why)), "{text}: {edit}");
        assert_eq!(task, "ran", "{text}: an agent may start unchecked");
    }
    let program = script(&home, "#!/bin/sh\necho '{\"pass\":true}'\n");
    assert_eq!(outcomes(&home, &program, &folder), ["ran", "ran"]);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).expect("our own file");
    let [edit, _] = outcomes(&home, &program, &folder);
    assert!(edit.as_str().is_some_and(|said| said.contains("EACCES")), "{edit}");
    let [edit, _] = outcomes(&home, &binary(), &home.scratch("gone"));
    assert!(edit.as_str().is_some_and(|said| said.contains("ENOENT")), "no folder to start in: {edit}");
    // Uninstalled: nothing is left that could say no.
    assert_eq!(outcomes(&home, &home.scratch("no-such-program"), &folder), ["ran", "ran"]);
}

/// opencode announces a session only when it begins. After a restart it has to be asked whose it is.
#[test]
fn a_session_from_before_a_restart_is_asked_for_its_parent() {
    let home = Home::new();
    let heard = home.scratch("heard");
    let program = script(&home, &format!("#!/bin/sh\ncat >> '{0}'\necho >> '{0}'\n", heard.display()));
    let sessions = json!({
        "root": { "id": "root" },
        "child": { "id": "child", "parentID": "root" },
        "grandchild": { "id": "grandchild", "parentID": "child" },
        "silent": "failure",
        "stuck": "hang",
    });
    let steps = json!([
        { "prompt": "look around", "session": "grandchild" },
        { "prompt": "go on", "session": "root" },
        { "prompt": "who am I", "session": "silent" },
        { "prompt": "who am I", "session": "unknown" },
        { "prompt": "who am I", "session": "stuck" },
        { "tool": "edit", "session": "child" },
    ]);
    drive(&home, &program, &home.project(), &steps, &sessions);
    let heard = fs::read_to_string(heard).expect("payloads");
    let heard: Vec<Value> = heard.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |event: &str, members: [&str; 3]| -> Vec<[Value; 3]> {
        let these = heard.iter().filter(|it| it["hook_event_name"] == event);
        these.map(|it| members.map(|member| it[member].clone())).collect()
    };
    let prompts = of("UserPromptSubmit", ["session_id", "prompt", "author"]);
    let expected = [
        ["root", "go on", "person"],
        ["silent", "who am I", "host"],
        ["unknown", "who am I", "host"],
        ["stuck", "who am I", "host"],
    ];
    assert_eq!(prompts, expected.map(|row| row.map(Value::from)), "{heard:#?}");
    let edits = of("PreToolUse", ["session_id", "agent_id", "tool_name"]);
    assert_eq!(edits, [["root", "child", "edit"].map(Value::from)], "{heard:#?}");
}

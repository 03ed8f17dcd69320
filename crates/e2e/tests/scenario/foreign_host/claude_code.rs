//! Claude Code before 2.1.139, the first version that knows `args`.

use serde_json::json;
use tidegate_e2e::client::Launch;
use tidegate_e2e::home::Home;
use tidegate_e2e::host::executable;
use tidegate_e2e::model::{Model, Reply, Request, Script};

use super::{AFTER, BEFORE, COMMAND, PROMPT, Program, Registered, Scene, Seen};

fn turn(scene: &Scene, registered: Registered) -> Seen {
    let edit = json!({ "file_path": scene.edited(), "old_string": BEFORE, "new_string": AFTER });
    let script = Script::new()
        .main(Reply::tool("Read", json!({ "file_path": scene.notes() })))
        .main(Reply::tool("Read", json!({ "file_path": scene.edited() })))
        .main(Reply::bash(COMMAND))
        .main(Reply::tool("Edit", edit))
        .main(Reply::text("done"));
    let model = Model::start(script);
    let mut launch = Launch::new(&scene.home, &model).program(executable("claude-code"));
    if registered == Registered::Plugin {
        let plugin = scene.marketplace().join("plugin").display().to_string();
        launch = launch.argument("--plugin-dir").argument(plugin);
    }
    let run = launch.ask(PROMPT);

    let hooks = run.hook_responses();
    let failures = hooks.iter().filter(|hook| hook.outcome != "success" || hook.exit_code != Some(0));
    let requests = model.main_requests();
    let results = requests.last().map(Request::tool_results).unwrap_or_default();
    let denied = results.iter().filter(|result| result.is_error).map(|result| result.text.clone());
    Seen {
        prompt_arrived: requests.first().is_some_and(|request| request.count(PROMPT) == 1),
        failures: failures.map(|hook| format!("{hook:?}")).chain(denied).collect(),
        // The second one only allows the client to edit the file.
        tool_results: [0, 2, 3].iter().filter_map(|n| Some(results.get(*n)?.text.clone())).collect(),
        shown: format!("{}\n{}\n{}", run.shown().join("\n"), run.answer(), run.stderr),
    }
}

fn is_harmless(home: Home, registered: Registered, program: Program) {
    let scene = Scene::new(home, registered, program);
    if registered == Registered::Plugin {
        scene.keep_old_events();
    }
    let seen = turn(&scene, registered);
    scene.assert_untouched(&seen);
}

#[test]
fn init_is_harmless() {
    is_harmless(Home::new(), Registered::Project, Program::Installed);
}

#[test]
fn init_is_harmless_in_a_home_with_a_space() {
    is_harmless(Home::with_a_space(), Registered::Project, Program::Installed);
}

#[test]
fn shared_settings_are_harmless() {
    is_harmless(Home::new(), Registered::Shared, Program::Installed);
}

#[test]
fn shared_settings_are_harmless_without_the_program() {
    is_harmless(Home::new(), Registered::Shared, Program::Missing);
}

#[test]
fn the_plugin_is_harmless() {
    is_harmless(Home::new(), Registered::Plugin, Program::Installed);
}

#[test]
fn the_plugin_is_harmless_in_a_home_with_a_space() {
    is_harmless(Home::with_a_space(), Registered::Plugin, Program::Installed);
}

#[test]
fn the_plugin_is_harmless_without_the_program() {
    is_harmless(Home::new(), Registered::Plugin, Program::Missing);
}

/// This version does not know some of the plugin's events, and therefore loads none of its hooks.
#[test]
fn the_plugin_as_it_is_shipped_is_harmless() {
    let scene = Scene::new(Home::new(), Registered::Plugin, Program::Installed);
    let seen = turn(&scene, Registered::Plugin);
    scene.assert_harmless(&seen);
}

#[test]
fn a_shell_with_args_runs_the_payload() {
    let scene = Scene::with_the_hole(Registered::Shared);
    let seen = turn(&scene, Registered::Shared);
    scene.assert_hole_is_seen(&seen);
}

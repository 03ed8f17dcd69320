//! Qwen Code: plugins without asking for trust, and entries of `.claude/settings*.json` that a person copied.

use serde_json::Value;
use tidegate_e2e::home::Home;
use tidegate_e2e::host::qwen::{Qwen, edit, read, shell, warnings};
use tidegate_e2e::openai::{OpenAi, Request, Step};

use super::{AFTER, BEFORE, COMMAND, PROMPT, Program, Registered, Scene, Seen};

fn turn(scene: &Scene, registered: Registered) -> Seen {
    let model = OpenAi::start(vec![
        read(&scene.notes()),
        read(&scene.edited()),
        shell(COMMAND),
        edit(&scene.edited(), BEFORE, AFTER),
        Step::text("done"),
    ]);
    let host = Qwen::new(&scene.home, &model);
    let copied = |file: &str| {
        let text = std::fs::read_to_string(scene.home.in_project(file)).expect("what init wrote");
        let settings: Value = serde_json::from_str(&text).expect("settings are JSON");
        host.write_hooks(&settings["hooks"]);
    };
    match registered {
        Registered::Project => copied(".claude/settings.local.json"),
        Registered::Shared => copied(".claude/settings.json"),
        Registered::Plugin => host.install_plugin(&scene.marketplace()),
    }
    let output = host.ask(PROMPT);
    assert_eq!(output.exit, Some(0), "{output:#?}");
    assert_eq!(model.refused(), Vec::<String>::new(), "it asks for nothing but the model");
    let turns = model.turns();
    let results = turns.last().map(Request::tool_results).unwrap_or_default();
    Seen {
        prompt_arrived: turns.first().is_some_and(|request| request.says(PROMPT)),
        // The second one only allows the host to edit the file.
        tool_results: [0, 2, 3].iter().filter_map(|n| results.get(*n).cloned()).collect(),
        failures: warnings(&output).into_iter().map(str::to_owned).collect(),
        shown: format!("{}\n{}", output.stdout, output.stderr),
    }
}

fn is_harmless(home: Home, registered: Registered, program: Program) {
    let scene = Scene::new(home, registered, program);
    let seen = turn(&scene, registered);
    scene.assert_untouched(&seen);
}

#[test]
fn copied_entries_of_init_are_harmless() {
    is_harmless(Home::new(), Registered::Project, Program::Installed);
}

#[test]
fn copied_entries_of_init_are_harmless_in_a_home_with_a_space() {
    is_harmless(Home::with_a_space(), Registered::Project, Program::Installed);
}

#[test]
fn copied_entries_of_a_team_are_harmless() {
    is_harmless(Home::new(), Registered::Shared, Program::Installed);
}

#[test]
fn copied_entries_of_a_team_are_harmless_without_the_program() {
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

#[test]
fn a_shell_with_args_in_settings_runs_the_payload() {
    let scene = Scene::with_the_hole(Registered::Shared);
    let seen = turn(&scene, Registered::Shared);
    scene.assert_hole_is_seen(&seen);
}

#[test]
fn a_shell_with_args_in_a_plugin_runs_the_payload() {
    let scene = Scene::with_the_hole(Registered::Plugin);
    let seen = turn(&scene, Registered::Plugin);
    scene.assert_hole_is_seen(&seen);
}

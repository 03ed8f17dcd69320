//! Codex: plugins, once a person has trusted their hooks.

use tidegate_e2e::home::Home;
use tidegate_e2e::host::codex::{Codex, hook_runs, shell};
use tidegate_e2e::openai::{OpenAi, Request, Step};

use super::{AFTER, BEFORE, COMMAND, EDITED, PROMPT, Program, Registered, Scene, Seen};

fn turn(scene: &Scene) -> Seen {
    let model = OpenAi::start(vec![
        shell("cat NOTES.md"),
        shell(COMMAND),
        Step::patch(EDITED, BEFORE, AFTER),
        Step::text("done"),
    ]);
    let host = Codex::new(&scene.home, &model);
    host.install_plugin(&scene.marketplace());
    let output = host.ask(PROMPT);
    assert_eq!(output.exit, Some(0), "{output:#?}");
    let runs = hook_runs(&output);
    assert!(runs.iter().any(|run| run.starts_with("UserPromptSubmit ")), "no hook was run: {output:#?}");
    let failures = runs.iter().filter(|run| !run.ends_with(" Completed"));
    let turns = model.turns();
    Seen {
        prompt_arrived: turns.first().is_some_and(|request| request.says(PROMPT)),
        tool_results: turns.last().map(Request::tool_results).unwrap_or_default(),
        failures: failures.map(|run| (*run).to_owned()).collect(),
        shown: format!("{}\n{}", output.stdout, output.stderr),
    }
}

fn is_harmless(home: Home, program: Program) {
    let scene = Scene::new(home, Registered::Plugin, program);
    let seen = turn(&scene);
    scene.assert_untouched(&seen);
}

#[test]
fn the_plugin_is_harmless() {
    is_harmless(Home::new(), Program::Installed);
}

#[test]
fn the_plugin_is_harmless_in_a_home_with_a_space() {
    is_harmless(Home::with_a_space(), Program::Installed);
}

#[test]
fn the_plugin_is_harmless_without_the_program() {
    is_harmless(Home::new(), Program::Missing);
}

#[test]
fn a_shell_with_args_runs_the_payload() {
    let scene = Scene::with_the_hole(Registered::Plugin);
    let seen = turn(&scene);
    scene.assert_hole_is_seen(&seen);
}

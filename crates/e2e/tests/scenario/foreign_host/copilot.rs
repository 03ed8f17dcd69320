//! Copilot CLI: `.claude/settings*.json` in a trusted folder, plugins in any. A failing hook before a tool
//! denies the tool.

use tidegate_e2e::home::Home;
use tidegate_e2e::host::copilot::{Copilot, edit, shell, view};
use tidegate_e2e::openai::{OpenAi, Request, Step};

use super::{AFTER, BEFORE, COMMAND, EDITED, PROMPT, Program, Registered, Scene, Seen};

/// The name of the model determines the tools that it is offered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edits {
    /// With `edit`: a path and two texts.
    ByText,
    /// With `apply_patch`: one text.
    ByPatch,
}

fn turn(scene: &Scene, registered: Registered, edits: Edits) -> Seen {
    let change = match edits {
        Edits::ByText => edit(&scene.edited(), BEFORE, AFTER),
        Edits::ByPatch => Step::patch(EDITED, BEFORE, AFTER),
    };
    let model = OpenAi::start(vec![view(&scene.notes()), shell(COMMAND), change, Step::text("done")]);
    let mut host = match registered {
        Registered::Plugin => Copilot::new(&scene.home, &model),
        Registered::Project | Registered::Shared => Copilot::trusting(&scene.home, &model),
    };
    if edits == Edits::ByPatch {
        host = host.patching();
    }
    if registered == Registered::Plugin {
        host.install_plugin(&scene.marketplace());
    }
    let output = host.ask(PROMPT);
    assert_eq!(output.exit, Some(0), "{output:#?}");
    assert_eq!(model.refused(), Vec::<String>::new(), "it asks for nothing but the model");
    let turns = model.turns();
    Seen {
        prompt_arrived: turns.first().is_some_and(|request| request.says(PROMPT)),
        tool_results: turns.last().map(Request::tool_results).unwrap_or_default(),
        shown: format!("{}\n{}", output.stdout, output.stderr),
        failures: host.hook_failures(),
    }
}

fn is_harmless(home: Home, registered: Registered, program: Program) {
    let scene = Scene::new(home, registered, program);
    let seen = turn(&scene, registered, Edits::ByText);
    scene.assert_untouched(&seen);
}

fn is_harmless_to_patches(registered: Registered) {
    let scene = Scene::new(Home::new(), registered, Program::Installed);
    let seen = turn(&scene, registered, Edits::ByPatch);
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

#[test]
fn init_is_harmless_to_a_model_that_patches() {
    is_harmless_to_patches(Registered::Project);
}

#[test]
fn shared_settings_are_harmless_to_a_model_that_patches() {
    is_harmless_to_patches(Registered::Shared);
}

#[test]
fn a_shell_with_args_in_settings_runs_the_payload() {
    let scene = Scene::with_the_hole(Registered::Shared);
    let seen = turn(&scene, Registered::Shared, Edits::ByText);
    scene.assert_hole_is_seen(&seen);
}

#[test]
fn a_shell_with_args_in_a_plugin_runs_the_payload() {
    let scene = Scene::with_the_hole(Registered::Plugin);
    let seen = turn(&scene, Registered::Plugin, Edits::ByText);
    scene.assert_hole_is_seen(&seen);
}

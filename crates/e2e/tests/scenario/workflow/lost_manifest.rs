//! A pending checkpoint stays closed whatever happens to its manifest, and a person can always leave the workflow.

use tidegate_e2e::client::SONNET_4_5;
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::terminal::Terminal;
use tidegate_e2e::tidegate::Tidegate;

use super::super::work::launch;
use super::{MANIFEST, code, gate, persist, phase, spawns};

const LOST: &str = "a checkpoint was not passed, and the manifest does not tell of it any more";
const PENDING: &str = "a checkpoint was not passed";

#[test]
fn a_broken_manifest_opens_no_gate() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let file = home.in_project(MANIFEST);
    let file = file.display();
    let before = home.scratch("before.yaml");
    let before = before.display();
    let moved = home.in_project("elsewhere/MANIFEST.yaml");
    let steps = [
        (
            format!("cp {file} {before}; sed -i 's/^status: .*/status: complete/' {file}"),
            PENDING,
            "checkpoint 1",
        ),
        (format!("sed -i 's/^workflow: .*/workflow: release/' {file}"), LOST, "Set `workflow: feature`"),
        (format!("echo 'phases: {{' > {file}"), LOST, "Repair"),
        (format!(": > {file}"), LOST, "Repair"),
        (format!("rm {file}"), LOST, "Restore"),
    ];
    let mut script = Script::new().main(gate("start x").used(20_000)).main(phase(4).used(21_000));
    for (number, (command, ..)) in steps.iter().enumerate() {
        script = script
            .main(Reply::bash(command.as_str()).used(22_000))
            .main(Reply::agent(format!("AGENT {number}")).used(22_500));
    }
    // It was moved: attached where it is, its checkpoint is closed as before.
    let back = format!(
        "mkdir -p {folder}; cp {before} {moved}",
        folder = moved.parent().expect("a folder").display(),
        moved = moved.display()
    );
    let script = script
        .main(Reply::bash(back).used(23_000))
        .main(gate("attach elsewhere/MANIFEST.yaml").used(23_500))
        .main(Reply::agent("MOVED").used(24_000))
        .main(persist().used(24_500))
        .main(gate("pass 1").used(25_000))
        .main(Reply::agent("OPEN").used(25_500))
        .subagent("OPEN", Reply::text("here").used(9_000))
        .main(Reply::text("done").used(26_000));
    let model = Model::start(script);
    let run = launch(&home, &model).on(SONNET_4_5).ask("go through the phases");
    tidegate.assert_unfailing();
    let mut expected: Vec<&str> = steps.iter().map(|(_, because, _)| *because).collect();
    expected.extend([PENDING, "there is room for agents"]);
    assert_eq!(spawns(&tidegate), expected);
    let requests = model.main_requests();
    for (number, (command, _, said)) in steps.iter().enumerate() {
        let denied = requests[4 + number * 2].last_tool_result();
        assert!(denied.is_error && denied.text.contains(said), "{command}: {denied:?}");
    }
    let shown = run.shown();
    assert!(shown.iter().any(|text| text.contains("`tidegate workflow detach`")), "{shown:?}");
    model.finish();
}

/// A manifest of the same name is another one: the checkpoint that passed is closed again.
#[test]
fn a_manifest_made_anew_inherits_nothing() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let folder = home.in_project(".claude/.output/features/x");
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(3).used(20_500))
        .main(persist().used(21_000))
        .main(phase(4).used(21_500))
        .main(gate("pass 1").used(22_000))
        .main(Reply::agent("OPEN").used(22_500))
        .subagent("OPEN", Reply::text("here").used(9_000))
        .main(Reply::bash(format!("rm -r {}; sleep 1.1", folder.display())).used(23_000))
        .main(gate("start x").used(23_500))
        .main(phase(4).used(24_000))
        .main(Reply::agent("CLOSED").used(24_500))
        .main(Reply::text("done").used(25_000));
    let model = Model::start(script);
    launch(&home, &model).on(SONNET_4_5).ask("go through the phases");
    tidegate.assert_unfailing();
    assert_eq!(spawns(&tidegate), ["there is room for agents", PENDING]);
    model.finish();
}

/// The manifest is gone for good; the person leaves the workflow.
#[test]
fn a_person_leaves_a_workflow_without_its_manifest() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(4).used(21_000))
        .main(Reply::bash(format!("rm {}", home.in_project(MANIFEST).display())).used(21_500))
        .main(gate("detach").used(22_000))
        .main(gate("detach --approved").used(22_500))
        .main(Reply::agent("CLOSED").used(23_000))
        .main(Reply::text("it needs your yes").used(23_500))
        .main(gate("detach --approved").used(24_000))
        .main(Reply::agent("OPEN").used(24_500))
        .subagent("OPEN", Reply::text("here").used(9_000))
        .main(Reply::text("the agent was spawned").used(25_000));
    let model = Model::start(script);
    let client = launch(&home, &model).on(SONNET_4_5).argument("--permission-mode").argument("default");
    let terminal = Terminal::start(&client);
    terminal.enter("go through the phases");
    terminal.wait_for("it needs your yes");
    let code = code(&model.main_requests()[4]);
    terminal.enter(&format!("approve {code}"));
    terminal.wait_for("the agent was spawned");
    tidegate.assert_unfailing();
    assert_eq!(spawns(&tidegate), [LOST, "no workflow is under way here"]);
    model.finish();
}

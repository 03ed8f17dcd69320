//! No damage to a manifest opens its pending checkpoint; a person can leave the workflow.
//!
//! The files change between two events: the client refuses most of this to the model's own commands.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tidegate_e2e::client::SONNET_4_5;
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::terminal::Terminal;
use tidegate_e2e::tidegate::Tidegate;

use super::super::work::launch;
use super::{MANIFEST, code, gate, persist, phase, spawns};

const LOST: &str = "a checkpoint was not passed, and the manifest does not tell of it any more";
const PENDING: &str = "a checkpoint was not passed";

/// What becomes of the manifest, the finding before the next agent, and a part of the text to the model.
type Damage = (fn(&Path), &'static str, &'static str);

fn replace(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).expect("the manifest");
    assert!(text.contains(from), "{text}");
    fs::write(file, text.replace(from, to)).expect("the manifest can be written");
}

const DAMAGES: [Damage; 5] = [
    (|file| replace(file, "status: in-progress", "status: complete"), PENDING, "checkpoint 1"),
    (|file| replace(file, "workflow: feature", "workflow: release"), LOST, "Set `workflow: feature`"),
    (|file| fs::write(file, "phases: {").expect("a torn manifest"), LOST, "Repair"),
    (|file| fs::write(file, "").expect("an empty manifest"), LOST, "Repair"),
    (|file| fs::remove_file(file).expect("no manifest"), LOST, "Restore"),
];

#[test]
fn a_broken_manifest_opens_no_gate() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let file = home.in_project(MANIFEST);
    let (kept, moved) = (home.scratch("before.yaml"), home.in_project("elsewhere/MANIFEST.yaml"));
    let mut script = Script::new().main(gate("start x").used(20_000)).main(phase(4).used(21_000));
    for (number, (damage, ..)) in DAMAGES.into_iter().enumerate() {
        let (file, kept) = (file.clone(), kept.clone());
        script = script.main_with(move |_| {
            if number == 0 {
                fs::copy(&file, kept).expect("a copy");
            }
            damage(&file);
            Reply::agent(format!("AGENT {number}")).used(22_000)
        });
    }
    // It was moved: attached where it is, its checkpoint is closed as before.
    let script = script
        .main_with(move |_| {
            fs::create_dir(moved.parent().expect("a folder")).expect("a new folder");
            fs::copy(kept, moved).expect("the manifest elsewhere");
            gate("attach elsewhere/MANIFEST.yaml").used(23_500)
        })
        .main(Reply::agent("MOVED").used(24_000))
        .main(persist().used(24_500))
        .main(gate("pass 1").used(25_000))
        .main(Reply::agent("OPEN").used(25_500))
        .subagent("OPEN", Reply::text("here").used(9_000))
        .main(Reply::text("done").used(26_000));
    let model = Model::start(script);
    let run = launch(&home, &model).on(SONNET_4_5).ask("go through the phases");
    tidegate.assert_unfailing();
    let mut expected: Vec<&str> = DAMAGES.iter().map(|(_, because, _)| *because).collect();
    expected.extend([PENDING, "there is room for agents"]);
    assert_eq!(spawns(&tidegate), expected);
    let requests = model.main_requests();
    for (number, (_, _, said)) in DAMAGES.iter().enumerate() {
        let denied = requests[3 + number].last_tool_result();
        assert!(denied.is_error && denied.text.contains(said), "{said}: {denied:?}");
    }
    let shown = run.shown();
    assert!(shown.iter().any(|text| text.contains("`tidegate workflow detach`")), "{shown:?}");
    model.finish();
}

/// Times in a manifest are whole seconds.
fn await_next_second(written: &Path) {
    let second = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).expect("a time").as_secs();
    let before = second(fs::metadata(written).and_then(|found| found.modified()).expect("its time"));
    while second(SystemTime::now()) <= before {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// No checkpoint was seen closed: the manifest goes while the phase before it is under way, and another workflow does not begin.
#[test]
fn a_checkpoint_of_the_phase_under_way_stays_due() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let file = home.in_project(MANIFEST);
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(3).used(20_500))
        .main(Reply::agent("IN TIME").used(21_000))
        .subagent("IN TIME", Reply::text("found").used(9_000))
        .main(gate("start y").used(21_500))
        .main_with(move |_| {
            fs::remove_file(&file).expect("no manifest");
            Reply::agent("LATE").used(22_500)
        })
        .main(Reply::text("done").used(23_000));
    let model = Model::start(script);
    launch(&home, &model).on(SONNET_4_5).ask("go through the phases");
    tidegate.assert_unfailing();
    let requests = model.main_requests();
    let refused = requests[4].last_tool_result();
    assert!(
        refused.is_error && refused.text.contains("checkpoint 1 of this session's workflow"),
        "{refused:?}"
    );
    assert!(model.last_main().last_tool_result().is_error, "the checkpoint stays due");
    assert_eq!(spawns(&tidegate), ["there is room for agents", LOST]);
    model.finish();
}

/// A manifest of the same name is another one: the checkpoint that passed is closed again.
#[test]
fn a_manifest_made_anew_inherits_nothing() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let folder: PathBuf = home.in_project(".claude/.output/features/x");
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(3).used(20_500))
        .main(persist().used(21_000))
        .main(phase(4).used(21_500))
        .main(gate("pass 1").used(22_000))
        .main(Reply::agent("OPEN").used(22_500))
        .subagent("OPEN", Reply::text("here").used(9_000))
        .main_with(move |_| {
            await_next_second(&folder.join("MANIFEST.yaml"));
            fs::remove_dir_all(folder).expect("it can go");
            gate("start x").used(23_500)
        })
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
    let file = home.in_project(MANIFEST);
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(4).used(21_000))
        .main_with(move |_| {
            fs::remove_file(file).expect("it can go");
            gate("detach").used(22_000)
        })
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
    let code = code(&model.main_requests()[3]);
    terminal.enter(&format!("approve {code}"));
    terminal.wait_for("the agent was spawned");
    tidegate.assert_unfailing();
    assert_eq!(spawns(&tidegate), [LOST, "no workflow is under way here"]);
    model.finish();
}

//! A person at the client: interrupts, leaves, comes back, and types `/dev-cycle`.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use tidegate_e2e::terminal::Terminal;

use super::*;

fn start<'a>(launch: Launch<'a>) -> Terminal<'a> {
    Terminal::start(&launch.argument("--permission-mode").argument("default"))
}

fn interrupt(terminal: &Terminal<'_>) {
    terminal.press("Escape");
    terminal.wait_for("Interrupted");
}

/// What is typed after an interrupt begins nothing; a turn that ends by itself does.
fn goes_on_after(home: &Home, model: &Model, terminal: &Terminal<'_>) {
    let tidegate = Tidegate::of(home);
    for reply in [
        Reply::text("it is a loop"),
        Reply::text("the sprint is over"),
        skill("audit"),
        Reply::text("the audit is over, ship it?"),
    ] {
        model.then(reply);
    }
    terminal.enter("what are you doing");
    terminal.wait_for("it is a loop");
    until_stops(&tidegate, &[BROKE_IN]);
    assert_eq!(stands(home), running("sprint"));

    terminal.enter("go on");
    let screen = terminal.wait_for("the audit is over, ship it?");
    assert!(screen.contains("stage 1 of 4 (sprint) is done, audit begins"), "{screen}");
    until_stops(&tidegate, &[BROKE_IN, ROOM, ASKS]);
    assert_eq!(begun(&model.last_main()), ["audit"]);
    assert_eq!(stands(home), running("audit"));
    tidegate.assert_unfailing();
    model.finish();
}

/// The screen shows an answer before the hooks of its end have run.
fn until_stops(tidegate: &Tidegate<'_>, expected: &[&str]) {
    let end = Instant::now() + Duration::from_secs(20);
    while stops(tidegate) != expected {
        assert!(Instant::now() < end, "{:?}, not {expected:?}", stops(tidegate));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn an_interrupted_tool_call_begins_nothing() {
    let home = Home::new();
    Tidegate::init(&home);
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
    Tidegate::init(&home);
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
    was_asked.recv_timeout(Duration::from_secs(40)).expect("the third request");
    interrupt(&terminal);
    drop(release);
    goes_on_after(&home, &model, &terminal);
}

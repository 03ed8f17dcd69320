//! What a person sees in a terminal while the context fills up and after a compaction. Nothing is edited there: after an
//! edit the client opens a second column.

use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::terminal::Terminal;

use super::*;

/// Enough output for the client to compact.
fn long_output() -> Reply {
    Reply::bash("yes 'a line of the work so far' | head -n 1000")
}

/// Both levels and the compaction come in the middle of a turn.
#[test]
fn the_warnings_and_what_the_summary_kept() {
    let scene = Scene::new();
    let tidegate = scene.install();
    // The script's summary keeps nothing.
    let script = Script::new()
        .main(Reply::text("hello").used(40_000))
        .main(long_output().used(60_000))
        .main(long_output().used(122_000))
        .main(Reply::bash("true").used(123_000))
        .main(long_output().used(152_000))
        .main(Reply::bash("true").used(153_000))
        .main(Reply::bash("true").used(FULL))
        .main(scene.until_the_boundary_is_written().used(30_000))
        .main(Reply::bash("true").used(30_000))
        .main(Reply::text("all done").used(30_000));
    let model = Model::start(script).paced(&scene.home);
    let launch = scene.launch(&model).argument("--permission-mode").argument("default");
    let terminal = Terminal::start(&launch);
    terminal.enter("begin");
    terminal.wait_for("● hello");
    terminal.enter("work for an hour");
    terminal.wait_for("all done");
    let screen = terminal.wait_for_sentence("Tidegate: the summary kept 0 of 5 facts.");

    let early =
        "tokens left until Claude Code compacts. 1 progress note is not reviewed: `/compound` at a pause";
    let late =
        "tokens left until Claude Code compacts. 1 progress note is not reviewed: `/compound` now keeps";
    let given_back = format!("Given back to Claude: \"{CONSTRAINT}\" and 4 more.");
    for (sentence, what) in [(early, "early"), (late, "late"), (&given_back, "given back")] {
        assert_eq!(screen.matches(sentence).count(), 1, "{what}, once:\n{screen}");
    }
    settle(&tidegate, &model);
}

/// The client shows nothing of a hook after `/compact`, so the line comes with the next prompt.
#[test]
fn what_is_left_after_a_compaction_by_hand() {
    let scene = Scene::new();
    let tidegate = scene.install();
    let script =
        ["hello", "no", "on it"].iter().fold(Script::new(), |script, text| script.main(Reply::text(*text)));
    let model = Model::start(script).paced(&scene.home);
    let launch = scene.launch(&model).argument("--permission-mode").argument("default");
    let terminal = Terminal::start(&launch);
    terminal.enter("begin");
    terminal.wait_for("● hello");
    terminal.enter("anything else?");
    terminal.wait_for("● no");
    terminal.enter("/compact");
    terminal.wait_for("Compacted");
    terminal.enter("go on");
    terminal.wait_for("on it");
    let screen = terminal.wait_for_sentence("Tidegate: after the compaction Claude still has 5 of 5 facts.");

    assert_eq!(screen.matches("Claude still has").count(), 1, "{screen}");
    settle(&tidegate, &model);
}

/// The status line writes the copy, too, and has the old numbers until the client has new ones.
#[test]
fn with_a_status_line_the_copy_of_the_meter_is_true_after_a_compaction() {
    let scene = Scene::without_flow();
    let tidegate = scene.install();
    let script = Script::new()
        .main(Reply::bash("true").used(110_000))
        .main(Reply::text("hello").used(120_000))
        .main(Reply::text("no").used(140_000))
        .main(Reply::text("on it").used(20_000))
        .main(Reply::bash("true").used(23_000))
        .main(Reply::text("all done").used(24_000));
    let model = Model::start(script).paced(&scene.home);
    let used = || scene.json("context-pressure.json")["usedPercentage"].as_f64();
    let launch = scene.launch(&model).argument("--permission-mode").argument("default");
    let terminal = Terminal::start(&launch);
    terminal.enter("begin");
    terminal.wait_for("● hello");
    terminal.enter("anything else?");
    terminal.wait_for("● no");
    terminal.wait_for("27k to compaction");
    terminal.wait_while("the copy to follow", || used().is_none_or(|used| used < 50.0));
    terminal.enter("/compact");
    terminal.wait_for("Compacted");
    terminal.wait_until("the old number to go", |screen| !screen.contains("27k to compaction"));
    assert!(used().is_none_or(|used| used < 20.0), "of the new conversation: {:?}", used());
    terminal.enter("go on");
    terminal.wait_for("on it");
    terminal.enter("and then");
    terminal.wait_for("all done");
    terminal.wait_while("the copy to follow", || used().is_none_or(|used| used > 20.0));
    settle(&tidegate, &model);
}

//! What a stage needs before it begins, and before it is done.

use std::fs;

use super::{Play, message};

#[test]
fn a_cycle_without_its_skills_does_not_start() {
    let play = Play::new();
    fs::remove_dir_all(play.sandbox.home().join(".claude/skills/audit")).expect("a skill");
    let refused = play.cycle(&["start"]);
    let refused = refused.failed();
    assert!(refused.contains("skills of the stages are not installed: audit"), "{refused}");
    assert!(refused.contains("`tidegate init --with cycle` installs them"), "{refused}");
    assert_eq!(play.text(), "", "nothing began");
}

#[test]
fn severe_findings_outweigh_open_0() {
    let play = Play::new();
    play.uses(10_000);
    play.start();
    play.finishes("sprint");
    assert!(play.held().contains("for stage audit"));
    play.invokes("audit");
    let said = play.cycle(&["done", "--metric", "open=0", "--metric", "critical=5"]);
    assert!(said.ok().contains("not done yet: 5 findings are open"), "{said:?}");
    let held = play.held();
    assert!(held.contains("Fix the open findings (5 reported)"), "{held}");
    let said = play.cycle(&["done", "--metric", "open=0"]);
    assert!(
        said.ok().contains("not done yet: 5 findings are open"),
        "leaving it out settles nothing: {said:?}"
    );
    let _ = play.cycle(&["fix-loop"]);
    let said = play.cycle(&["done", "--metric", "open=0", "--metric", "critical=0"]);
    assert!(said.ok().contains(" is done. "), "{said:?}");
}

#[test]
fn a_report_that_forbids_to_ship_needs_a_new_word() {
    let play = Play::new();
    play.uses(10_000);
    play.start();
    play.finishes("sprint");
    assert!(play.held().contains("for stage audit"));
    play.finishes("audit");
    let stop = play.says("Two CRITICAL findings. This must not be shipped.");
    let quoted = "Fix what must not be shipped (your last message says: \\\"This must not be shipped\\\")";
    assert!(stop.stdout.contains(quoted), "{stop:?}");
    let stop = play.says("Understood.");
    assert!(stop.stdout.contains("Claude did not report it as done"), "{stop:?}");
    assert_eq!(play.state()["stage"], "audit");
    play.finishes("audit");
    let waits = message(&play.stop());
    assert!(waits.contains("because the report of audit said: \"This must not be shipped\""), "{waits}");
    play.prompt("continue");
    assert_eq!(play.state()["stage"], "ship");
}

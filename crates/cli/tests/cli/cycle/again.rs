//! An agent that would begin again, begin later or drop the cycle, and may not.

use serde_json::json;

use super::{Play, message};
use crate::answer::Ran;
use crate::people::by_agent_of;

impl Play {
    fn agent(&self, args: &[&str]) -> Ran {
        by_agent_of(&self.sandbox, &[&["cycle"], args].concat(), self.session)
    }
}

#[test]
fn a_failure_is_told_before_anything_begins_again() {
    let play = Play::new();
    play.uses(10_000);
    play.start();
    play.invokes("sprint");
    play.agent(&["fail", "the build is red"]).ok();
    for args in [&["resume"][..], &["abandon"], &["start"]] {
        let ran = play.agent(args);
        assert!(
            ran.failed().contains("stage sprint failed in this turn, and the person does not know it yet"),
            "{ran:?}"
        );
        assert_eq!(play.state()["status"], "failed", "{args:?}");
    }
    assert!(message(&play.stop()).starts_with("Tidegate stopped dev-cycle: stage sprint failed"));
    play.agent(&["resume"]).ok();
}

/// The model edits the state file instead of doing the audit.
#[test]
fn a_file_that_was_moved_on_takes_nothing_forward() {
    let play = Play::new();
    play.uses(10_000);
    play.start();
    play.finishes("sprint");
    assert!(play.held().contains("for stage audit"));
    let audit = play.text();
    play.write(&audit.replace("\"stage\": \"audit\"", "\"stage\": \"ship\""));
    for args in [&["done"][..], &["resume"], &["resume", "--from", "ship"]] {
        let ran = play.agent(args);
        assert!(ran.failed().contains("ship comes after audit, which is not done"), "{args:?} {ran:?}");
    }
    let told = message(&play.stop());
    assert!(told.contains("its state file says \"ship\" although audit is not done"), "{told}");
    play.stop().silent();
    play.agent(&["resume", "--from", "audit"]).ok();
    play.finishes("audit");
    assert!(play.held().contains("for stage ship"));
}

#[test]
fn an_agent_reports_only_for_its_own_session() {
    let play = Play::new();
    play.start();
    play.invokes("sprint");
    let mut begins = play.payload("SessionStart", json!({ "source": "startup" }));
    begins["session_id"] = json!("s-2");
    let _ = play.sandbox.event(&begins);
    for args in [&["done"][..], &["fail", "x"], &["abandon"], &["fix-loop"], &["resume"], &["start"]] {
        let words = [&["cycle"], args, &["--session", "s-1"]].concat();
        let ran = by_agent_of(&play.sandbox, &words, "s-2");
        assert!(ran.failed().contains("it does not run in session s-1"), "{args:?} {ran:?}");
    }
    assert_eq!(play.state()["status"], "running");
    play.agent(&["done"]).ok();
}

/// It asked the person, and resumes in a turn that the client began.
#[test]
fn an_agent_does_not_answer_its_own_question() {
    let play = Play::new();
    play.uses(10_000);
    play.start();
    play.prompt("begin the sprint");
    play.finishes("sprint");
    let told = message(&play.says("Shall I use the new schema?"));
    assert!(told.contains("Claude's last message asks you something"), "{told}");
    play.agent(&["resume"]).ok();
    play.finishes("sprint");
    assert!(message(&play.stop()).contains("It continues when you say"));
    assert_eq!(
        (play.because().as_str(), &play.state()["stage"]),
        ("the person has not answered", &json!("sprint"))
    );
    play.prompt("yes, continue");
    assert!(play.held().contains("for stage audit"));
}

#[test]
fn what_an_agent_drops_the_person_hears_of() {
    let play = Play::new();
    play.uses(10_000);
    play.start();
    assert_eq!(play.agent(&["abandon"]).code, Some(0));
    let again = play.agent(&["start"]);
    assert!(again.failed().contains("was given up in this turn"), "{again:?}");
    let stop = play.stop();
    assert!(message(&stop).contains("Claude gave up dev-cycle at stage sprint"), "{stop:?}");
    assert_eq!(play.stop().stdout, "", "once");
    assert_eq!(play.agent(&["start"]).code, Some(0));
}

#[test]
fn an_agent_drops_no_cycle_of_another_session() {
    let play = Play::new();
    play.uses(10_000);
    for file in [
        r#"{"stage": "sprint", "session_id": "s-9"}"#,
        r#"{"stage": "sprint"}"#,
        r#"{"stage": "sprint", "session_id": "s-9", "status": "stopped", "skipped_stages": ["audit"]}"#,
    ] {
        play.write(file);
        let refused = play.agent(&["abandon"]);
        assert!(refused.failed().contains("nothing was changed"), "{file}: {refused:?}");
        assert_eq!(play.text(), file);
    }
}

#[test]
fn what_the_session_before_left_unverified_stays_so() {
    for reason in ["prompt_input_exit", "clear"] {
        let mut play = Play::new();
        play.uses(10_000);
        play.start();
        play.invokes("sprint");
        let package = play.sandbox.project().join("package.json");
        std::fs::write(package, r#"{"scripts": {"test": "node --test"}}"#).expect("a file");
        play.writes("login.js");
        play.bash("npm test", 1);
        let _ = play.cycle(&["done"]);
        let _ = play.stop();
        let _ = play.event("SessionEnd", json!({ "reason": reason }));
        play.session = "s-2";
        let begins = play.event("SessionStart", json!({ "source": "clear" }));
        assert!(
            message(&begins).contains("(just now), and `npm test` failed after login.js changed."),
            "{begins:?}"
        );
        let context = begins.context().unwrap_or_default();
        assert!(
            context.contains("Not verified there: `npm test` failed after login.js changed."),
            "{context}"
        );
        play.prompt("continue with the cycle");
        let resumed = by_agent_of(&play.sandbox, &["cycle", "resume"], "s-2");
        assert!(
            resumed.ok().contains("The session before left this: `npm test` failed after login.js changed."),
            "{resumed:?}"
        );
        play.invokes("sprint");
        let done = play.cycle(&["done"]);
        assert!(done.ok().contains("no check passed for login.js"), "{done:?}");
        assert!(play.held().contains("npm test"), "verify-stop asks first");
        let _ = play.stop();
        assert_eq!(play.state()["stage"], "sprint");
        play.bash("npm test", 0);
        assert!(play.held().contains("for stage audit"));
    }
}

/// A new cycle is no way around it.
#[test]
fn a_new_cycle_in_another_session_keeps_it_unverified() {
    let mut play = Play::new();
    play.uses(10_000);
    play.start();
    play.writes("login.js");
    let _ = play.event("SessionEnd", json!({ "reason": "clear" }));
    play.session = "s-2";
    let _ = play.event("SessionStart", json!({ "source": "clear" }));
    let started = play.cycle(&["start"]);
    assert!(started.stdout.contains("no check passed for login.js"), "{started:?}");
    play.invokes("sprint");
    let done = play.cycle(&["done"]);
    assert!(done.ok().contains("no check passed for login.js"), "{done:?}");
    // A person leaves it behind.
    play.cycle(&["abandon"]).ok();
    let _ = play.event("SessionEnd", json!({ "reason": "clear" }));
    play.session = "s-3";
    let _ = play.event("SessionStart", json!({ "source": "clear" }));
    assert!(!play.cycle(&["start"]).ok().contains("login.js"));
}

#[test]
fn findings_outlive_a_failure() {
    let mut play = Play::new();
    play.uses(10_000);
    play.start();
    play.finishes("sprint");
    assert!(play.held().contains("for stage audit"));
    play.invokes("audit");
    let _ = play.cycle(&["done", "--metric", "open=1"]);
    play.agent(&["fail", "it is late"]).ok();
    let _ = play.stop();
    let refused = |play: &Play| {
        play.agent(&["resume"]).ok();
        let done = play.cycle(&["done", "--metric", "open=0"]);
        assert!(done.failed().contains("1 open finding was reported before"), "{done:?}");
    };
    refused(&play);
    // A failure is offered to the next session, which keeps them, too.
    play.agent(&["fail", "it is late"]).ok();
    let _ = play.stop();
    let _ = play.event("SessionEnd", json!({ "reason": "clear" }));
    play.session = "s-2";
    let begins = play.event("SessionStart", json!({ "source": "clear" }));
    assert!(message(&begins).contains("has failed at stage audit"), "{begins:?}");
    assert!(begins.context().is_some_and(|context| context.contains("has failed at stage audit")));
    refused(&play);
    play.writes("a.js");
    let done = play.cycle(&["done", "--metric", "open=0"]);
    assert!(done.ok().contains("check passed for a.js"), "{done:?}");
}

/// Claude was blocked for it, the person heard of it and says that it continues.
#[test]
fn after_a_word_of_the_person_they_hear_once_more_why_it_waits() {
    let play = Play::new();
    play.uses(10_000);
    play.start();
    play.prompt("begin");
    let _ = play.held();
    let why = "the skill `sprint` was not used";
    assert!(message(&play.stop()).contains(why));
    play.prompt("what is left?");
    assert!(!message(&play.says("I think it is fine now.")).contains(why));
    play.prompt("continue");
    assert!(message(&play.says("I think it is fine now.")).contains(why));
    assert!(!message(&play.says("I think it is fine now.")).contains(why));
}

//! State files that no session of this machine wrote, and a cycle that goes on in another session of it.

use serde_json::json;

use super::{Play, message};
use crate::people::by_agent_of;

/// As it comes with a commit: everything before ship is done, by its own words.
const FROM_ELSEWHERE: &str = r#"{"stage": "ship", "status": "running", "cycle": "dev-cycle",
  "session_id": "0c8a7a5e-2c1b-4a53-9d0e-6f1f0d0f7b11", "started_at": "2026-01-01T10:00:00Z",
  "stages": {"sprint": {"ended": true}, "audit": {"ended": true}}, "metrics": {"audit": {"open": 0}}}
"#;

#[test]
fn a_cycle_from_elsewhere_is_a_persons_to_take_over() {
    let play = Play::new();
    play.uses(10_000);
    play.write(FROM_ELSEWHERE);
    let told = play.begins("s-2");
    assert!(message(&told).contains("but no session that Tidegate still knows here did that"), "{told:?}");
    assert!(told.context().is_some_and(|text| text.contains("Leave .claude/dev-cycle.state.json as it is")));
    assert_eq!(message(&play.begins("s-3")), "", "once");
    for args in [
        &["resume"][..],
        &["resume", "--from", "ship"],
        &["resume", "--from", "audit"],
        &["resume", "--approved"],
    ] {
        let refused = by_agent_of(&play.sandbox, &[&["cycle"], args].concat(), "s-1");
        assert!(refused.failed().contains("needs a person's yes"), "{args:?} {refused:?}");
    }
    assert_eq!(play.text(), FROM_ELSEWHERE, "to the byte");
    play.cycle(&["resume"]).ok();
    assert_eq!((&play.state()["stage"], &play.state()["session_id"]), (&json!("ship"), &json!("s-1")));
    play.finishes("ship");
    assert!(play.held().contains("for stage retrospective"));
}

/// The session that it names is the agent's own, which did nothing of it.
#[test]
fn a_made_up_cycle_of_the_own_session_is_not_believed() {
    let play = Play::new();
    play.uses(10_000);
    for session in ["\"s-1\"", "null"] {
        let file = FROM_ELSEWHERE.replace("\"0c8a7a5e-2c1b-4a53-9d0e-6f1f0d0f7b11\"", session);
        play.write(&file);
        let refused = by_agent_of(&play.sandbox, &["cycle", "resume"], "s-1");
        assert!(refused.failed().contains("needs a person's yes"), "{session} {refused:?}");
        assert_eq!(play.text(), file);
    }
    by_agent_of(&play.sandbox, &["cycle", "resume", "--from", "sprint"], "s-1").ok();
    assert_eq!(play.state()["stage"], "sprint");
}

#[test]
fn a_new_cycle_keeps_the_one_from_elsewhere_aside() {
    let play = Play::new();
    play.uses(10_000);
    play.write(FROM_ELSEWHERE);
    play.start();
    assert_eq!(play.state()["stage"], "sprint");
    assert!(play.files().contains(&"dev-cycle.state.json.bad".to_owned()), "{:?}", play.files());
    assert_eq!(play.cycle(&["stats", "--json"]).json()["runs"], 0, "its costs are not this machine's");
}

impl Play {
    /// The person clears the conversation while the cycle waits for their yes, and says this next.
    fn after_a_clear(said: &str) -> Play {
        let mut play = Play::new();
        play.uses(10_000);
        play.start();
        play.prompt("begin the sprint");
        play.finishes("sprint");
        let told = message(&play.says("The sprint is done. Shall I continue with the audit?"));
        assert!(told.contains("dev-cycle"), "{told}");
        let _ = play.event("SessionEnd", json!({ "reason": "clear" }));
        play.session = "s-2";
        let start = play.event("SessionStart", json!({ "source": "clear" }));
        assert!(message(&start).contains("dev-cycle is at stage sprint"), "{start:?}");
        play.prompt(said);
        by_agent_of(&play.sandbox, &["cycle", "resume"], "s-2").ok();
        play.finishes("sprint");
        play
    }
}

#[test]
fn after_a_clear_one_word_of_the_person_is_enough() {
    assert!(Play::after_a_clear("go on with the cycle").held().contains("for stage audit"));
    assert!(Play::after_a_clear("サイクルを続けてください").held().contains("for stage audit"));
    let play = Play::after_a_clear("what was left to do here?");
    let told = message(&play.stop());
    assert!(told.contains("It continues when you say \"continue\""), "{told}");
    play.prompt("continue");
    assert!(play.held().contains("for stage audit"));
}

/// A session of this machine reached ship, in a cycle that is over.
#[test]
fn a_cycle_that_ended_takes_no_other_work_forward() {
    let play = Play::new();
    play.uses(10_000);
    play.start();
    play.finishes("sprint");
    assert!(play.held().contains("for stage audit"));
    play.finishes("audit");
    assert!(play.held().contains("for stage ship"));
    let at_ship = play.text();
    play.cycle(&["abandon"]).ok();
    play.write(&at_ship);
    let refused = by_agent_of(&play.sandbox, &["cycle", "resume"], "s-1");
    assert!(refused.failed().contains("needs a person's yes"), "{refused:?}");
    assert_eq!(play.text(), at_ship);
}

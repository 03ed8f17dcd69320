//! What a cycle waits for: `status` says it, a yes that does not count is answered, and a file that changes is told.

use serde_json::json;

use super::{FILE, Play, message};

impl Play {
    fn waits(&self) -> serde_json::Value {
        self.cycle(&["status", "--json"]).json()["waits"].clone()
    }

    fn at_end_of_audit() -> Play {
        let play = Play::new();
        play.uses(10_000);
        play.start();
        play.finishes("sprint");
        assert!(play.held().contains("for stage audit"));
        play.finishes("audit");
        play
    }

    /// Claude asks in the client's dialog. What the person sees after their answer.
    fn answers(&self, question: &str, said: &str) -> String {
        let asked = json!({ "question": question, "header": "Next", "options": [], "multiSelect": false });
        let response = json!({ "questions": [asked], "answers": { question: said } });
        let call = json!({ "tool_name": "AskUserQuestion", "tool_input": { "questions": [asked] },
            "tool_response": response, "tool_use_id": "toolu_question" });
        message(&self.event("PostToolUse", call))
    }

    /// The audit is done, and Claude asks for the next stage.
    fn asks_to_ship() -> Play {
        let play = Play::at_end_of_audit();
        let told = message(&play.says("The audit is clean. Shall I ship it now?"));
        assert!(told.contains("It continues when you say \"continue\"."), "{told}");
        play
    }
}

#[test]
fn status_says_who_has_to_do_what() {
    let play = Play::new();
    play.uses(10_000);
    play.start();
    assert_eq!(play.waits(), json!({ "for": "work", "from": "agent", "stage": "sprint" }));
    play.finishes("sprint");
    assert_eq!(play.waits(), json!({ "for": "turn-end", "from": "agent" }));
    let _ = play.says("Both would do. Which schema shall I use?");
    assert_eq!(play.waits(), json!({ "for": "answer", "from": "person", "accepts": ["continue"] }));

    let play = Play::asks_to_ship();
    let asked =
        json!({ "for": "go-ahead", "from": "person", "stage": "ship", "accepts": ["yes", "continue"] });
    assert_eq!(play.waits(), asked);
    let page = play.cycle(&["status"]).words();
    assert!(page.contains("waits for your go-ahead before ship: type \"yes\" or \"continue\""), "{page}");
    assert!(page.contains("changed just now"), "{page}");
    let _ = play.typed("what is in a.js?");
    let _ = play.says("It has one function.");
    assert_eq!(play.waits()["accepts"], json!(["continue"]), "a mere yes may now be meant for that");
    let _ = play.typed("continue");
    assert_eq!(play.state()["stage"], "ship");
    let _ = play.event("SessionEnd", json!({ "reason": "other" }));
    let accepts = |words: &[&str]| {
        let left = json!({ "for": "session", "from": "person", "stage": "ship", "accepts": words });
        assert_eq!(play.waits(), left);
    };
    accepts(&["continue"]);
    play.sandbox.install_skill("dev-cycle");
    accepts(&["/dev-cycle", "continue"]);
    play.sandbox.install_skill("tidegate-dev-cycle");
    accepts(&["/tidegate-dev-cycle", "continue"]);
    let page = play.cycle(&["status"]).words();
    assert!(page.contains("type \"/tidegate-dev-cycle\" or \"continue\" there"), "{page}");
    let file = play.sandbox.project().join(FILE);
    let text = std::fs::read_to_string(&file).expect("the file");
    play.write(&text.replace("\"session_id\": \"", "\"session_id\": \"codex."));
    accepts(&["$tidegate-dev-cycle", "continue"]);
}

/// Words in the middle of a turn are explained, and are no no: what the person said about the next stage counts.
#[test]
fn an_explained_yes_is_no_no() {
    for early in [&["continue"][..], &[]] {
        let play = Play::new();
        play.uses(10_000);
        play.prompt("Do not audit before I looked at it.");
        play.start();
        play.prompt("fix the login now");
        play.finishes("sprint");
        for said in early {
            let told = play.typed(said);
            assert!(
                told.contains("its turn had not ended") && told.contains("When Claude has answered"),
                "{told}"
            );
            let told = message(&play.stop());
            assert!(told.contains("waits at sprint"), "{told}");
        }
        play.prompt("add a comment to a.js");
        let told = message(&play.stop());
        assert!(
            told.contains("waits before audit, because you said") || early.is_empty(),
            "{early:?}: {told}"
        );
        assert_eq!(play.state()["stage"], "sprint");
    }
}

#[test]
fn a_stage_under_way_continues_whatever_stage_is_named() {
    let play = Play::new();
    play.uses(10_000);
    play.start();
    let _ = play.says("Which schema shall I use?");
    let told = play.typed("ship it");
    assert!(told.contains("does not begin ship now, because sprint is not done"), "{told}");
    assert!(told.contains("dev-cycle continues with sprint"), "{told}");
    play.finishes("sprint");
    let _ = play.says("Both would do. Which schema shall I use?");
    let told = play.typed("ship it");
    assert!(told.contains("does not begin ship now: dev-cycle continues with audit"), "{told}");
    assert!(play.held().contains("Invoke the skill `audit`"));
}

/// The person answers in the client's dialog.
#[test]
fn an_answer_that_is_no_yes_is_explained_once() {
    for (stage, said) in [("sprint", "continue with retrospective"), ("audit", "ok, but fix the typo first")]
    {
        let play = Play::new();
        play.uses(10_000);
        play.start();
        play.finishes("sprint");
        if stage == "audit" {
            let _ = play.held();
            play.finishes("audit");
        }
        let told = play.answers("Shall I continue with the next stage?", said);
        assert!(told.contains("did not take this as a yes"), "{stage}: {told}");
        assert_eq!(message(&play.stop()), "", "{stage}: the person knows how to continue");
        assert_eq!(play.state()["stage"], stage);
    }
}

#[test]
fn a_yes_that_does_not_count_is_answered() {
    for (said, why) in [
        ("> continue", "it is a quotation"),
        ("continue?", "it is a question"),
        ("ok, but fix the typo first", "it has a condition or another wish"),
        ("continue with retrospective", "it names retrospective, and ship comes next"),
    ] {
        let play = Play::asks_to_ship();
        let told = play.typed(said);
        assert!(told.contains(why) && told.contains("type only \"continue\""), "{said}: {told}");
        assert_eq!(message(&play.says("All right.")), "", "the person knows how to continue");
        let told = play.typed("ok");
        assert!(told.contains("\"ok\" may be meant for something else"), "{said}: {told}");
        assert_eq!(play.state()["stage"], "audit", "{said}");
        let _ = play.says("All right.");
        let told = play.typed("continue");
        assert!(told.contains("Claude continues with ship"), "{said}: {told}");
        assert_eq!(play.state()["stage"], "ship", "{said}");
    }
}

/// The client begins a turn by itself, and Claude says something else in it.
#[test]
fn a_question_is_over_when_another_turn_has_ended() {
    let play = Play::asks_to_ship();
    let _ = play.says("The build in the background has ended.");
    let told = play.typed("ok");
    assert!(told.contains("\"ok\" may be meant for something else"), "{told}");
    assert_eq!(play.state()["stage"], "audit");
}

#[test]
fn a_file_that_changes_between_two_events_is_told() {
    let other = r#"{"stage": "ship", "cycle": "dev-cycle", "session_id": "0c8a7a5e-2c1b-4a53-9d0e-6f1f0d0f7b11",
        "started_at": "2026-01-01T10:00:00Z"}"#;
    for (text, why) in [
        (None, "was removed in stage audit"),
        (Some(""), "it is not a JSON object"),
        (Some("{}"), "`stage` has a value that does not fit"),
        (Some(other), "was replaced by that of another cycle in stage audit"),
    ] {
        let play = Play::at_end_of_audit();
        match text {
            Some(text) => play.write(text),
            None => std::fs::remove_file(play.sandbox.project().join(FILE)).expect("the file"),
        }
        let told = message(&play.stop());
        assert!(told.contains(why), "{text:?}: {told}");
        play.stop().silent();
    }
}

#[test]
fn done_twice_ends_one_stage() {
    let play = Play::new();
    play.uses(10_000);
    play.start();
    play.finishes("sprint");
    play.finishes("sprint");
    assert!(play.held().contains("for stage audit"));
    let said = play.cycle(&["done"]);
    assert!(said.ok().contains("not done yet: the skill `audit` was not used"), "{said:?}");
    assert!(play.held().contains("stage audit (2 of 4) of the cycle dev-cycle is not done"));
    assert_eq!(play.state()["stage"], "audit");
}

#[test]
fn a_stage_with_nothing_to_do_leaves_no_line() {
    let play = Play::new();
    play.prompt("what is in a.js?");
    assert_eq!(play.because(), "-", "no cycle is here");
    play.uses(10_000);
    play.start();
    play.invokes("sprint");
    assert_eq!(play.because(), "the copy of the budget is old");
    play.invokes("compound");
    assert_eq!(play.because(), "-", "the copy is young");
}

//! Context pressure from the transcript to the answer, over a session.

use std::fs;

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::fixtures;
use crate::sandbox::Sandbox;
use crate::transcript::{Transcript, addressed, answer, boundary};

const SESSION: &str = "s-1";

struct Play {
    sandbox: Sandbox,
    transcript: Transcript,
    turn: std::cell::Cell<usize>,
}

impl Play {
    fn new() -> Play {
        Play::on(Sandbox::new())
    }

    fn on(sandbox: Sandbox) -> Play {
        let transcript = Transcript::at(sandbox.path().join("t.jsonl"));
        Play { sandbox, transcript, turn: std::cell::Cell::new(0) }
    }

    fn run(&self, capture: &str) -> Answer {
        let turn = self.turn.replace(self.turn.get() + 1);
        let mut payload =
            addressed(fixtures::hook(capture), SESSION, &self.transcript.path, &self.sandbox.project());
        payload["prompt_id"] = json!(format!("prompt-{turn}"));
        self.sandbox.event(&payload)
    }

    /// The answers to a prompt and to a tool's result at this use.
    fn at(&mut self, used: u64) -> (Option<String>, Option<String>) {
        self.transcript.line(&answer(used));
        let prompt = self.run("UserPromptSubmit.plain").context();
        (prompt, self.run("PostToolUse.Bash").context())
    }

    fn public_copy(&self) -> Option<Value> {
        let path = self.sandbox.project().join(".claude/context/context-pressure.json");
        let text = fs::read_to_string(path).ok()?;
        Some(serde_json::from_str(&text).expect("the copy is JSON"))
    }
}

#[test]
fn each_level_is_said_once_while_use_climbs() {
    let mut play = Play::new();
    assert_eq!(play.at(50_000), (None, None));
    assert_eq!(play.at(119_999), (None, None));
    let (prompt, tool) = play.at(124_000);
    insta::assert_snapshot!(prompt.expect("info is said"), @r#"Write down decisions and the next step: `tidegate progress add "what was done" --decision "if any" --next "the next step"`. 43k tokens are left before Claude Code compacts the conversation to a summary (62% of 200k used)."#);
    assert_eq!(tool, None);
    assert_eq!(play.at(130_000), (None, None));
    let (prompt, tool) = play.at(155_000);
    let urgent = prompt.expect("urgent is said");
    assert!(urgent.contains("the next step now:") && urgent.contains("12k tokens are left"), "{urgent}");
    assert_eq!(tool, None);
    assert_eq!(play.at(160_000), (None, None));

    // In the journal it stands as it was said, with what it cost.
    let records = play.sandbox.records();
    let said: Vec<&Value> = records.iter().filter(|record| record["said"]["model"].is_string()).collect();
    assert_eq!(said.len(), 2);
    assert_eq!(said[1]["said"]["model"], json!(urgent));
    assert_eq!(said[1]["cost"]["bytes"], urgent.len());
    assert_eq!(records.len(), 12);
}

#[test]
fn a_tools_result_carries_it_where_no_prompt_comes() {
    let play = Play::new();
    let mut transcript = Transcript::at(play.transcript.path.clone());
    transcript.line(&answer(152_000));
    // A subagent has a context of its own; nothing is used up by asking there.
    play.run("PostToolUse.subagent-Bash").silent();
    for capture in
        ["PreToolUse.Write", "Stop.first", "SessionStart.resume", "PostToolUseFailure", "PreCompact.auto"]
    {
        play.run(capture).silent();
    }
    let text = play.run("PostToolUse.Bash").context().expect("urgent is said");
    assert!(text.contains("`tidegate progress add "), "{text}");
    play.run("PostToolUse.Bash").silent();
    play.run("UserPromptSubmit.plain").silent();
}

#[test]
fn a_boundary_arms_it_again() {
    let mut play = Play::new();
    assert!(play.at(155_000).0.is_some());
    play.transcript.line(&boundary(2_600));
    play.run("SessionStart.compact").silent();
    play.run("PostCompact.auto").silent();
    assert_eq!((play.run("UserPromptSubmit.plain").context(), play.at(9_100)), (None, (None, None)));
    assert!(play.at(121_000).0.is_some_and(|text| text.contains("(61% of 200k used)")));
    assert!(play.at(151_000).0.is_some_and(|text| text.contains("76% of 200k used")));
    assert_eq!(play.at(152_000), (None, None));
}

#[test]
fn a_larger_model_arms_it_again() {
    let mut play = Play::new();
    assert!(play.at(155_000).0.is_some());
    let larger = answer(156_000).replace("claude-opus-4-6", "claude-opus-5-5");
    play.transcript.line(&larger);
    play.run("UserPromptSubmit.plain").silent();
    assert_eq!(play.sandbox.run(&["status", "--session", SESSION, "--json"]).json()["pressure_said"], "none");
}

/// A client that does not write the `[1m]` down.
#[test]
fn use_beyond_the_window_proves_the_long_one_also_after_a_compaction() {
    let mut play = Play::new();
    let window = |play: &Play| {
        let meter = play.sandbox.run(&["meter", "--session", SESSION, "--json"]).json();
        (meter["window"].clone(), meter["used_pct"].clone())
    };
    assert_eq!(play.at(50_000), (None, None));
    assert_eq!(window(&play), (json!(200_000), json!(25.0)));
    assert_eq!(play.at(414_000), (None, None), "far from the end of a million");
    assert_eq!(window(&play), (json!(1_000_000), json!(41.4)));
    play.transcript.line(&boundary(2_600));
    play.run("SessionStart.compact").silent();
    play.run("PostCompact.auto").silent();
    assert_eq!(play.at(155_000), (None, None));
    assert_eq!(window(&play), (json!(1_000_000), json!(15.5)));
    // The status line of that client does not know it either.
    let status = json!({
        "session_id": SESSION, "cwd": play.sandbox.project(), "model": { "id": "claude-opus-4-6" },
        "context_window": { "context_window_size": 200_000, "current_usage": { "input_tokens": 155_000 } },
    });
    let line = play.sandbox.run_with(&["statusline"], status.to_string().as_bytes());
    assert!(line.ok().contains("845k left"), "{line:?}");
    assert_eq!(window(&play), (json!(1_000_000), json!(15.5)));
}

#[test]
fn the_same_facts_give_the_same_text() {
    let texts: Vec<Vec<Option<String>>> = (0..3)
        .map(|_| {
            let mut play = Play::new();
            [40_000, 60_000, 80_000, 100_000, 123_456, 151_515].map(|used| play.at(used).0).to_vec()
        })
        .collect();
    assert!(texts[0][4].as_ref().is_some_and(|text| text.contains("(about 2 turns, ")), "{texts:?}");
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
}

#[test]
fn sessions_begin_anew_and_go_on() {
    let mut play = Play::new();
    assert!(play.at(125_000).0.is_some());
    // Resumed: what was said stays said.
    play.run("SessionStart.resume").silent();
    assert_eq!(play.at(126_000), (None, None));
    // Cleared: it is another conversation.
    play.run("SessionStart.clear").silent();
    assert!(play.at(127_000).0.is_some());
}

#[test]
fn the_public_copy_is_made_only_where_it_is_wanted() {
    let mut play = Play::new();
    assert!(play.at(125_000).0.is_some());
    assert_eq!(fs::read_dir(play.sandbox.project()).expect("the project").count(), 0, "no litter");

    let mut play = Play::new();
    fs::create_dir_all(play.sandbox.project().join(".claude/context")).expect("a new folder");
    assert!(play.at(125_000).0.is_some());
    let copy = play.public_copy().expect("a copy");
    assert_eq!(
        (
            &copy["usedPercentage"],
            &copy["lastNotifiedLevel"],
            &copy["sessionId"],
            &copy["usedTokens"],
            &copy["windowTokens"]
        ),
        (&json!(62.5), &json!("info"), &json!(SESSION), &json!(125_000), &json!(200_000))
    );
    assert!(copy["timestamp"].as_str().is_some_and(|time| time.ends_with('Z')), "{copy}");

    // A status line brings new numbers and leaves the level.
    let mut status = fixtures::status_lines()[2].json();
    status["session_id"] = json!(SESSION);
    status["workspace"]["project_dir"] = json!(play.sandbox.project());
    status["model"]["id"] = json!("claude-opus-4-6");
    status["context_window"]["context_window_size"] = json!(200_000);
    status["context_window"]["current_usage"]["cache_read_input_tokens"] = json!(129_900);
    let line = play.sandbox.run_with(&["statusline"], status.to_string().as_bytes());
    assert!(line.ok().contains("▰▰▰▰▰▰▰▱ 37k to compaction"), "{line:?}");
    let copy = play.public_copy().expect("a copy");
    assert_eq!((&copy["usedTokens"], &copy["lastNotifiedLevel"]), (&json!(130_000), &json!("info")));
    // And with nothing left behind beside it.
    assert_eq!(fs::read_dir(play.sandbox.project().join(".claude/context")).expect("the folder").count(), 1);
}

#[test]
fn switched_off_and_shadowed() {
    let mut off = Play::on(Sandbox::new().with("TIDEGATE_OFF", "context-warning"));
    assert_eq!(off.at(155_000), (None, None));
    let mut shadow = Play::new();
    shadow.sandbox.config("[context_warning]\nmode = \"shadow\"\n");
    assert_eq!(shadow.at(155_000), (None, None));
    let record = shadow.sandbox.records().remove(0);
    let verdicts = record["verdicts"].as_array().expect("verdicts");
    let pressure =
        verdicts.iter().find(|verdict| verdict["policy"] == "context-warning").expect("its verdict");
    assert_eq!(pressure["shadow"], true, "{record}");
    assert!(pressure["says"]["model"].is_string(), "{record}");
    assert!(record.get("said").is_none(), "{record}");
}

#[test]
fn a_machines_prompt_is_no_turn_of_a_person() {
    let play = Play::new();
    let mut transcript = Transcript::at(play.transcript.path.clone());
    for used in [40_000, 60_000, 80_000, 100_000, 110_000] {
        transcript.line(&answer(used));
        play.run("UserPromptSubmit.task-notification").silent();
    }
    let status = play.sandbox.run(&["status", "--session", SESSION, "--json"]).json();
    assert!(status["meter"].get("turns_left").is_none(), "no forecast from them: {status}");
}

#[test]
fn a_fork_knows_what_was_said() {
    let mut play = Play::new();
    assert!(play.at(125_000).0.is_some());
    let mut start =
        addressed(fixtures::hook("SessionStart.resume"), "s-2", "none".as_ref(), &play.sandbox.project());
    start["source"] = json!("fork");
    // The last request with its answer, as the client counts.
    start["context_tokens"] = json!(125_050);
    play.sandbox.event(&start).silent();
    let prompt = |session: &str, transcript: &std::path::Path| {
        addressed(fixtures::hook("UserPromptSubmit.plain"), session, transcript, &play.sandbox.project())
    };
    play.sandbox.event(&prompt("s-2", &play.transcript.path)).silent();
    // Another session knows nothing of it.
    assert!(play.sandbox.event(&prompt("s-3", &play.transcript.path)).context().is_some());
}

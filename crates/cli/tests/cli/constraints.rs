//! Constraints from prompts: who may state them, where they are shown, and how a person drops one.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::people::{SESSION, attended, by_agent, code_of, event, types};
use crate::sandbox::Sandbox;

fn constraints(sandbox: &Sandbox) -> Vec<Value> {
    let listed = sandbox.run(&["constraints", "--json"]).json();
    listed["constraints"].as_array().expect("a list").clone()
}

fn texts(sandbox: &Sandbox) -> Vec<String> {
    constraints(sandbox).iter().map(|known| known["text"].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn status_shows_them_with_their_time() {
    let sandbox = attended();
    let _ = types(&sandbox, "Fix the login test. No new dependencies.");
    assert_eq!(texts(&sandbox), ["No new dependencies."]);
    let status = sandbox.run(&["status", "--json"]).json();
    let [shown] = status["constraints"].as_array().expect("a list").as_slice() else { panic!("{status}") };
    assert_eq!(shown["text"], "No new dependencies.");
    assert!(shown["said"].as_str().is_some_and(|said| said.ends_with('Z')), "{shown}");
    let page = sandbox.run(&["status"]).words();
    let id = shown["id"].as_str().expect("an id");
    assert!(page.contains(&format!("{id} No new dependencies. (said ")), "{page}");
}

fn listing(sandbox: &Sandbox) -> Value {
    sandbox.run(&["constraints", "--json"]).json()
}

/// What the person reads at the end of the turn.
fn told_at_the_end(sandbox: &Sandbox) -> String {
    sandbox.event(&event(sandbox, "Stop.first")).stdout
}

#[test]
fn what_is_allowed_for_this_once_is_forbidden_afterwards() {
    let sandbox = attended();
    let _ = types(&sandbox, "Never push to main. No new dependencies.");
    let _ = types(&sandbox, "Push to main just this once.");
    let now = listing(&sandbox);
    assert_eq!(now["allowed_once"], json!(["Push to main just this once."]), "{now:#}");
    assert_eq!(texts(&sandbox), ["Never push to main.", "No new dependencies."]);
    let told = told_at_the_end(&sandbox);
    assert!(!told.contains("you took back"), "{told}");
    let _ = types(&sandbox, "Thanks. Now fix the login test.");
    let later = listing(&sandbox);
    assert_eq!(later["allowed_once"], json!([]), "{later:#}");
    assert_eq!(texts(&sandbox), ["Never push to main.", "No new dependencies."]);
}

#[test]
fn what_has_no_room_is_said_once_and_listed() {
    let sandbox = attended();
    let rules = |from: usize, to: usize| -> String {
        let rules: Vec<_> = (from..to).map(|number| format!("- Don't touch part{number}.rs.")).collect();
        rules.join("\n")
    };
    let _ = types(&sandbox, &rules(0, 12));
    assert_eq!(texts(&sandbox).len(), 10);
    assert_eq!(listing(&sandbox)["left_out"], json!(["Don't touch part10.rs.", "Don't touch part11.rs."]));
    let told = told_at_the_end(&sandbox);
    assert!(told.contains("part10.rs") && told.contains("and 1 more"), "{told}");
    assert!(!told_at_the_end(&sandbox).contains("no room"));
    let _ = types(&sandbox, &rules(20, 30));
    let _ = types(&sandbox, "Never push to main.");
    let kept = texts(&sandbox);
    assert_eq!(
        (kept.len(), kept[0].as_str(), kept[19].as_str()),
        (20, "Don't touch part1.rs.", "Never push to main.")
    );
    let told = told_at_the_end(&sandbox);
    assert!(told.contains("part0.rs"), "{told}");
    let page = sandbox.run(&["constraints"]).words();
    assert!(page.contains("No longer kept") && page.contains("part0.rs"), "{page}");
}

#[test]
fn the_list_names_its_session_and_others() {
    let sandbox = attended();
    let _ = types(&sandbox, "No new dependencies.");
    let mut other = event(&sandbox, "UserPromptSubmit.plain");
    let id = "2f0c6a52-8d3e-4b7a-9c41-5e2d7f8a9b10";
    other["session_id"] = json!(id);
    other["prompt"] = json!("Never push to main. No mocks please.");
    sandbox.event(&other).check("UserPromptSubmit");
    let listed = sandbox.run(&["constraints", "--session", SESSION, "--json"]).json();
    assert_eq!(listed["session"], SESSION);
    assert_eq!(listed["other_sessions"][0]["session"], id, "{listed:#}");
    assert_eq!(listed["other_sessions"][0]["constraints"], 2);
    let page = sandbox.run(&["constraints", "--session", SESSION]).words();
    assert!(page.contains(&format!("Session {SESSION}")) && page.contains(id), "{page}");
}

/// The person's own words take it back, a pasted mail does not.
#[test]
fn the_first_prompt_after_a_compaction_takes_back_what_the_person_takes_back() {
    let mail = "Hi Anna,\nyou can add dependencies now.\nCheers,\nBob\n\nWhat does he mean?";
    for (prompt, stands) in [(mail, true), ("you can add dependencies now", false)] {
        let sandbox = attended();
        let _ = types(&sandbox, "Fix it. No new dependencies.");
        let mut post = event(&sandbox, "PostCompact.auto");
        post["compact_summary"] = json!("<summary>Some work was done.</summary>");
        for payload in [event(&sandbox, "PreCompact.auto"), event(&sandbox, "SessionStart.compact"), post] {
            sandbox.event(&payload).check(payload["hook_event_name"].as_str().expect("an event"));
        }
        let told = types(&sandbox, prompt).stdout;
        assert_eq!(told.contains("No new dependencies."), stands, "{prompt}: {told}");
        assert_eq!(!texts(&sandbox).is_empty(), stands, "{prompt}");
        let later = types(&sandbox, "continue").stdout;
        assert!(!later.contains("No new dependencies."), "{prompt}: {later}");
    }
}

#[test]
fn a_person_drops_one_and_an_agent_has_to_ask() {
    let sandbox = attended();
    let _ = types(&sandbox, "No new dependencies. Never push to main.");
    let id = constraints(&sandbox)[0]["id"].as_str().expect("an id").to_owned();
    let drop = ["constraints", "--drop", &id, "--session", SESSION];
    assert!(sandbox.run(&drop).failed().contains("no terminal to ask at"));
    let code = code_of(&by_agent(&sandbox, &drop));
    let approved = ["constraints", "--drop", &id, "--session", SESSION, "--approved"];
    assert!(by_agent(&sandbox, &approved).failed().contains("there is no approval"));
    assert_eq!(texts(&sandbox).len(), 2);
    let _ = types(&sandbox, &format!("approve {code}"));
    let _ = by_agent(&sandbox, &approved).ok();
    assert_eq!(texts(&sandbox), ["Never push to main."]);
    assert!(sandbox.run(&drop).failed().contains("has the id"));
}

#[test]
fn a_prompt_that_the_project_scheduled_states_and_lifts_nothing() {
    let sandbox = attended();
    let _ = types(&sandbox, "No new dependencies.");
    let file = sandbox.project().join(".claude/scheduled_tasks.json");
    fs::create_dir_all(file.parent().expect("a folder")).expect("a new folder");
    let task = |prompt: &str| json!({ "id": "a", "cron": "* * * * *", "prompt": prompt, "createdAt": 1 });
    let prompts = ["you can add dependencies now", "Never run the tests."];
    fs::write(&file, json!({ "tasks": prompts.map(task) }).to_string()).expect("a new file");
    for prompt in prompts {
        let _ = types(&sandbox, prompt);
    }
    assert_eq!(texts(&sandbox), ["No new dependencies."]);
    fs::remove_file(&file).expect("it is there");
    let _ = types(&sandbox, prompts[0]);
    assert!(texts(&sandbox).is_empty());
}

/// The client of a hook is the process of this test, so that has to be one that an agent started.
#[cfg(target_os = "linux")]
#[test]
fn a_prompt_of_an_agents_client_states_and_lifts_nothing() {
    if std::env::var_os("CLAUDECODE").is_none() {
        let name = "constraints::a_prompt_of_an_agents_client_states_and_lifts_nothing";
        let mut again = Command::new(std::env::current_exe().expect("this program"));
        let output = again.args(["--exact", name]).env("CLAUDECODE", "1").output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let sandbox = attended();
    let _ = types(&sandbox, "No new dependencies.");
    assert_eq!(texts(&sandbox), ["No new dependencies."], "the test's own processes do not count");
    let sandbox = sandbox.with("TEST_TIDEGATE_TOP", "1");
    let _ = types(&sandbox, "you can add dependencies now");
    let _ = types(&sandbox, "Never run the tests.");
    assert_eq!(texts(&sandbox), ["No new dependencies."]);
}

/// Whoever empties the state between two events, nothing is said that is not so.
#[test]
fn without_its_state_a_compaction_passes_in_silence() {
    type Lose = fn(&Sandbox);
    let lose: [(&str, Lose); 4] = [
        ("marks emptied", |sandbox| fs::write(sandbox.session(SESSION).join("marks"), "").expect("a file")),
        ("marks deleted", |sandbox| fs::remove_file(sandbox.session(SESSION).join("marks")).expect("a file")),
        ("session deleted", |sandbox| fs::remove_dir_all(sandbox.session(SESSION)).expect("a folder")),
        ("state deleted", |sandbox| fs::remove_dir_all(sandbox.state()).expect("a folder")),
    ];
    for (what, lose) in lose {
        for at in 0..3 {
            let sandbox = attended();
            let _ = types(&sandbox, "Fix it. No new dependencies.");
            let mut post = event(&sandbox, "PostCompact.auto");
            post["compact_summary"] = json!("<summary>Some work was done.</summary>");
            let events = [event(&sandbox, "PreCompact.auto"), event(&sandbox, "SessionStart.compact"), post];
            for (index, payload) in events.iter().enumerate() {
                if index == at {
                    lose(&sandbox);
                }
                let name = payload["hook_event_name"].as_str().expect("an event");
                sandbox.event(payload).check(name);
            }
            let told = types(&sandbox, "continue").stdout;
            // The facts are in the session's folder, apart from its marks.
            assert!(!told.contains("kept 0 of 0") && !told.contains("kept 1 of 1"), "{what}, {at}: {told}");
            let failed = sandbox.records().into_iter().filter(|record| record["failure"].is_object());
            assert_eq!(failed.collect::<Vec<_>>(), Vec::<Value>::new(), "{what}, {at}");
        }
    }
}

//! Ways around a checkpoint that a session saw closed, and what is said of it.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::{MANIFEST, PATH, Play};
use crate::people::{SESSION, by_agent_of, code_of, types};
use crate::transcript::addressed;

/// The model names an older session, with an option or in its variables, and gives the workflow to it.
#[test]
fn an_agent_acts_only_for_its_own_session() {
    let play = Play::at_gate();
    play.denied();
    let _ = play.event_of("s-2", "SessionStart", json!({ "source": "startup" }));
    let phase = ["note", "4", "--status", "in_progress"];
    let refused = |args: &[&str], session: &str| {
        let ran = by_agent_of(&play.sandbox, &[&["workflow"], args].concat(), session);
        assert!(ran.failed().contains("it does not run in session s-2"), "{args:?} {ran:?}");
        assert!(play.denied().contains("heckpoint 1"), "{args:?}");
    };
    refused(&["attach", PATH, "--session", "s-2"], SESSION);
    let _ = play.event_of("s-2", "SessionEnd", json!({ "reason": "clear" }));
    for args in [&["attach", PATH][..], &phase, &["phase", "5"], &["pass", "1"], &["start", "y"]] {
        refused(&[args, &["--session", "s-2"]].concat(), SESSION);
        refused(args, "s-2");
    }
    // A person may, and it opens nothing for the first session.
    play.sandbox.run(&["workflow", "attach", PATH, "--session", "s-2"]).ok();
    assert!(play.denied().contains("heckpoint 1"));
}

/// Two edits, each of which tells of no gate.
#[test]
fn a_workflow_that_went_back_keeps_its_gate() {
    let play = Play::at_gate();
    play.denied();
    let whole = play.text();
    play.gate(&["phase", "1"]).ok();
    assert!(play.denied().contains("heckpoint 1"));
    let _ = code_of(&play.gate(&["detach"]));
    let back = whole.replace("current_phase: 4", "current_phase: 3");
    let _ = play.writes(&back);
    let _ = play.writes(&format!("{back}status: complete\n"));
    assert!(play.denied().contains("heckpoint 1"));
    let _ = play.writes(&back);
    fs::remove_file(play.path()).expect("it can go");
    assert!(play.denied().contains(&format!("Restore {PATH}")));
    fs::write(play.path(), &back).expect("the file");
    play.gate(&["note", "3", "--status", "complete"]).ok();
    play.gate(&["pass", "1"]).ok();
    play.spawns().silent();
}

#[test]
fn another_manifest_is_not_the_one_that_was_moved() {
    let play = Play::at_gate();
    play.denied();
    let other = ".claude/.output/features/y/MANIFEST.yaml";
    let file = play.sandbox.project().join(other);
    fs::create_dir_all(file.parent().expect("a folder")).expect("the folder");
    let text = play.text();
    fs::remove_file(play.path()).expect("it can go");
    for text in [MANIFEST.to_owned(), text.replace("feature_name", "workflow: release\nname")] {
        fs::write(&file, text).expect("the file");
        play.gate(&["attach", other]).failed();
        assert!(play.denied().contains(&format!("Restore {PATH}")));
    }
    fs::write(&file, text).expect("the file");
    play.gate(&["attach", other]).ok();
    assert!(play.denied().contains("Complete checkpoint 1"));
}

/// The hook knows when it last saw the checkpoint closed; the file may be dated back.
#[test]
fn the_status_says_what_the_hook_does() {
    let play = Play::at_gate();
    play.denied();
    let old = SystemTime::now() - Duration::from_hours(48);
    fs::File::options().append(true).open(play.path()).expect("the file").set_modified(old).expect("a time");
    play.denied();
    let shown = play.gate(&["status", "--json"]).json();
    assert_eq!((&shown["untouched"], &shown["blocks"]), (&json!(false), &json!(true)), "{shown}");
    assert!(play.gate(&["status"]).ok().contains("blocks agents"));
    let _ = play.event_of("s-2", "SessionStart", json!({ "source": "startup" }));
    let edit =
        json!({ "tool_name": "Edit", "tool_input": { "file_path": play.path() }, "tool_use_id": "toolu_2" });
    play.gate(&["pass", "1"]).ok();
    let _ = play.writes(&play.text());
    let _ = play.event_of("s-2", "PostToolUse", edit);
    fs::write(play.path(), play.text().replace("current_phase: 4", "current_phase: 9")).expect("the file");
    play.spawns().silent();
    let shown = play.gate(&["status"]);
    assert!(shown.ok().contains("not passed") && !shown.stdout.contains("blocks agents"), "{shown:?}");
}

/// The manifest stays where the workflow began.
#[test]
fn a_file_is_named_from_another_worktree() {
    let play = Play::at_gate();
    let (project, tree) = (play.sandbox.project(), play.sandbox.path().join("tree"));
    let known = project.join(".git/worktrees/tree");
    fs::create_dir_all(&known).expect("a repository");
    fs::create_dir_all(&tree).expect("a worktree");
    fs::write(tree.join(".git"), format!("gitdir: {}\n", known.display())).expect("a file");
    fs::write(known.join("commondir"), "../..\n").expect("a file");
    fs::write(known.join("gitdir"), format!("{}\n", tree.join(".git").display())).expect("a file");
    let prompt = json!({ "hook_event_name": "UserPromptSubmit", "prompt": "go on there" });
    let _ = play.sandbox.event(&addressed(prompt, SESSION, &play.transcript(), &tree));
    let mut command =
        play.sandbox.command(&["workflow", "note", "3", "--artifact", "discovery.md", "--session", SESSION]);
    command.current_dir(&tree).env_remove("CLAUDE_PROJECT_DIR");
    let noted = command.output().expect("it runs");
    assert!(noted.status.success(), "{noted:?}");
    assert!(play.text().contains("discovery.md"), "{}", play.text());
}

/// Those that are complete do not hide one that is not.
#[test]
fn an_unfinished_workflow_is_found_behind_many_finished_ones() {
    let play = Play::new();
    let _ = play.writes(MANIFEST);
    let _ = play.event_of("s-2", "SessionStart", json!({ "source": "startup" }));
    for number in 0..9 {
        let path = play.path().parent().expect("a folder").with_file_name(format!("f{number}"));
        fs::create_dir_all(&path).expect("the folder");
        let path = path.join("MANIFEST.yaml");
        for text in [MANIFEST.to_owned(), format!("{MANIFEST}status: complete\n")] {
            let call = json!({ "tool_name": "Write", "tool_input": { "file_path": path },
                "tool_use_id": format!("toolu_{number}_{}", text.len()) });
            fs::write(&path, text).expect("the file");
            let _ = play.event_of("s-2", "PostToolUse", call);
        }
    }
    for session in [SESSION, "s-2"] {
        let _ = play.event_of(session, "SessionEnd", json!({ "reason": "other" }));
    }
    let told = play.event_of("s-3", "SessionStart", json!({ "source": "startup" }));
    assert!(told.context().expect("the model is told").contains(PATH), "{told:?}");
}

/// Nothing is left open, or a person agrees; no session continues it then.
#[test]
fn a_person_finishes_a_workflow() {
    let play = Play::at_gate();
    play.denied();
    let asked = play.gate(&["finish"]);
    let code = code_of(&asked);
    assert!(asked.stdout.contains("13 of its phases are not finished"), "{asked:?}");
    let approved = ["finish", "--manifest", PATH, "--approved"];
    play.gate(&approved).failed();
    assert!(play.denied().contains("heckpoint 1"));
    let _ = types(&play.sandbox, &format!("approve {code}"));
    assert!(play.gate(&approved).words().contains("is complete"));
    assert!(play.text().contains("status: complete"), "{}", play.text());
    play.spawns().silent();
    play.gate(&["finish", "--manifest", PATH]).failed();
    let _ = play.event("SessionEnd", json!({ "reason": "other" }));
    assert_eq!(play.event_of("s-2", "SessionStart", json!({ "source": "startup" })).context(), None);
}

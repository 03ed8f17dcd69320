//! Verify before stop: it holds only on facts, once, and a passing check settles it.

use serde_json::{Value, json};
use tidegate_e2e::client::SONNET_4_6;
use tidegate_e2e::home::Home;
use tidegate_e2e::hooks::Hooks;
use tidegate_e2e::model::{Model, Reply, Request, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::terminal::Terminal;
use tidegate_e2e::tidegate::Tidegate;

use super::work::{CODE_RULES, copies_of_reason, gradle, launch, skill};

const HELD: &str = "no check has passed since";
const TOLD: &str = "changed and no check has passed since. ";

fn edit(home: &Home) -> Reply {
    Reply::write(home.in_project("src/B.java"), "class B {}\n")
}

/// Held stops in the whole conversation. The client repeats the reason as the error of a command (seen with
/// 2.1.325).
fn held(request: &Request) -> usize {
    request.held_stops().iter().filter(|reason| reason.contains(HELD)).count()
}

/// The policy's findings in the Stop records, oldest first.
fn stops(tidegate: &Tidegate<'_>) -> Vec<String> {
    let because = |record: Value| {
        let verdicts = record["verdicts"].as_array().cloned().unwrap_or_default();
        let ours = verdicts.into_iter().find(|verdict| verdict["policy"] == "verify-stop");
        ours.map(|verdict| verdict["because"].as_str().unwrap_or_default().to_owned())
    };
    tidegate.records_of("Stop").into_iter().filter_map(because).collect()
}

#[test]
fn a_stop_is_held_once_and_passes_after_the_tests() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(skill(CODE_RULES))
        .main(edit(&home))
        .main(Reply::text("done"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::text("tested and done"));
    let model = Model::start(script);
    let run = launch(&home, &model).ask("add a class");

    tidegate.assert_unfailing();
    let requests = model.main_requests();
    let feedback = requests[3].held_stops().join("\n");
    assert!(feedback.contains(HELD), "{feedback}");
    assert!(feedback.contains("src/B.java") && feedback.contains("`./gradlew test`"), "{feedback}");
    assert!(feedback.contains("give the whole final answer again"), "nobody is there: {feedback}");
    assert_eq!(held(&requests[4]), 1, "once");
    assert_eq!(copies_of_reason(&tidegate, "Stop", &requests[3]), 2, "as an error and as feedback");
    assert_eq!(requests[4].count(HELD), 2, "and both stay: {:#?}", requests[4].texts());
    assert_eq!(stops(&tidegate), ["code was edited and not verified since", "verified since the last edit"]);
    assert_eq!(run.answer(), "tested and done");
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn a_model_that_does_not_listen_is_let_go_and_the_person_told_once() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(skill(CODE_RULES))
        .main(edit(&home))
        .main(Reply::text("done"))
        .main(Reply::text("really done"))
        .main(Reply::text("next answer"))
        .main(Reply::write(home.in_project("src/C.java"), "class C {}\n"))
        .main(Reply::text("done as well"))
        .main(Reply::text("really done as well"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    let first = session.ask("add a class");
    let second = session.ask("and now?");
    let held_so_far = held(&model.last_main());
    let third = session.ask("add another one");
    session.finish();

    tidegate.assert_unfailing();
    let told = |shown: Vec<String>| shown.iter().filter(|text| text.contains(TOLD)).count();
    // That it was paused, and that no check followed.
    assert_eq!((told(first.shown()), told(second.shown())), (2, 0), "{:?}", first.shown());
    assert_eq!(held_so_far, 1, "not for a prompt without an edit");
    assert_eq!(told(third.shown()), 2, "{:?}", third.shown());
    assert_eq!(held(&model.last_main()), 2, "again for a prompt with an edit");
    model.finish();
}

/// In a terminal, as the person sees it: the check that failed is named, to the model without the pipe that hid its status.
#[test]
fn a_check_that_failed_is_named_to_the_model_and_to_the_person() {
    let home = Home::new();
    gradle_with_red_tests(&home);
    home.write("red", "");
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(edit(&home))
        .main(Reply::bash("./gradlew test 2>&1 | tail -5"))
        .main(Reply::text("done"))
        .main(Reply::text("The test was red before my change."))
        .main(Reply::bash("rm red && ./gradlew test"))
        .main(Reply::text("green now"));
    let model = Model::start(script);
    let launch = launch(&home, &model).argument("--permission-mode").argument("acceptEdits");
    let terminal = Terminal::start(&launch);
    terminal.enter("add a class");
    terminal.wait_for("The test was red before my change.");
    terminal.wait_for("✗ test failed");
    terminal.wait_for("Stop says: Tidegate: `./gradlew test` failed after src/B.java changed.");
    let feedback = model.main_requests()[3].held_stops().join("\n");
    let asked = "Run `./gradlew test` again until it passes: it failed after src/B.java changed. If the change is not the cause, \
                 say so and end the turn";
    assert!(feedback.contains(asked), "{feedback}");
    let status = tidegate.run(&["status"]);
    assert!(status.contains("`./gradlew test` failed after src/B.java changed"), "{status}");
    assert!(status.contains("0 errors in Tidegate"), "{status}");
    let why = tidegate.run(&["explain", "last"]);
    assert!(why.contains("a check failed; blocked as often as the config allows"), "{why}");
    assert_eq!(
        stops(&tidegate),
        ["a check failed and has not passed since", "a check failed; blocked as often as the config allows"]
    );

    terminal.enter("remove the red file");
    terminal.wait_for("green now");
    terminal.wait_for("✓ tested");
    let status = tidegate.run(&["status"]);
    assert!(status.contains("tested by `./gradlew test`, "), "{status}");
    let log = tidegate.run(&["log"]);
    assert!(log.contains("A check passed: `./gradlew test` (test"), "{log}");
    assert!(log.contains("To Claude: Run `./gradlew test` again until it passes"), "{log}");
    tidegate.assert_unfailing();
    model.finish();
}

#[test]
fn a_check_after_the_skill_is_what_the_person_sees() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(edit(&home))
        .main(skill("verification-before-completion"))
        .main(Reply::text("done"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::text("tested, too"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    session.ask("add a class");
    let by_skill = tidegate.run(&["status"]);
    session.ask("run the tests");
    session.finish();

    tidegate.assert_unfailing();
    assert!(by_skill.contains("the verification skill was invoked, "), "{by_skill}");
    let status = tidegate.run(&["status"]);
    assert!(status.contains("tested by `./gradlew test`, "), "{status}");
    model.finish();
}

#[test]
fn a_project_without_checks_gets_no_hint_about_them() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(Reply::write(home.in_project("a.sql"), "select 1;\n"))
        .main(Reply::text("done"))
        .main(Reply::text("really done"));
    let model = Model::start(script);
    launch(&home, &model).ask("add a query");

    tidegate.assert_unfailing();
    let hint = model.main_requests()[1].texts().join("\n");
    assert!(!hint.contains("on its own before you finish"), "{hint}");
    model.finish();
}

/// In a terminal: only there is a person who can answer.
#[test]
fn a_question_to_the_person_passes_once() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(edit(&home))
        .main(Reply::text("B is written. Which package should it be in?"))
        .main(Reply::write(home.in_project("src/B.java"), "package a; class B {}\n"))
        .main(Reply::text("it is in a now"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::text("tested as well"));
    let model = Model::start(script);
    let launch = launch(&home, &model).argument("--permission-mode").argument("acceptEdits");
    let terminal = Terminal::start(&launch);
    terminal.enter("add a class");
    terminal.wait_for("Which package should it be in?");
    terminal.wait_while("the stop is recorded", || stops(&tidegate).is_empty());
    assert_eq!(stops(&tidegate), ["asks the person a question"]);
    let status = tidegate.run(&["status"]);
    assert!(status.contains("src/B.java"), "still unverified: {status}");

    terminal.enter("in a");
    terminal.wait_for("tested as well");
    terminal.wait_while("the stops are recorded", || stops(&tidegate).len() < 3);
    assert_eq!(
        stops(&tidegate),
        [
            "asks the person a question",
            "code was edited and not verified since",
            "verified since the last edit"
        ]
    );
    let requests = model.main_requests();
    assert_eq!((held(&requests[2]), held(&requests[4])), (0, 1), "only the second stop is blocked");
    tidegate.assert_unfailing();
    model.finish();
}

/// A model that sends events to the hook: a new start of the session, a check that never ran, an end of the
/// turn.
#[test]
fn a_check_in_the_next_turn_counts_as_followed_later() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(skill(CODE_RULES))
        .main(edit(&home))
        .main(Reply::text("done"))
        .main(Reply::text("really done"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::text("tested"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).start();
    let outcomes = || {
        let report: Value =
            serde_json::from_str(&tidegate.run(&["report", "--all", "--json"])).expect("JSON");
        let policies = report["policies"].as_array().cloned().unwrap_or_default();
        let stop = policies.into_iter().find(|policy| policy["policy"] == "verify-stop").expect("it spoke");
        ["ignored", "satisfied_later", "unasked"].map(|outcome| stop[outcome].as_u64())
    };
    session.ask("add a class");
    // The other two: how to run a check, and that the code stays unverified.
    assert_eq!(outcomes(), [Some(1), Some(0), Some(2)], "blocked, and the person is told");
    session.ask("run the tests");
    assert_eq!(outcomes(), [Some(0), Some(1), Some(2)]);
    session.finish();
    tidegate.assert_unfailing();
    model.finish();
}

#[test]
fn events_that_the_model_makes_up_change_nothing() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    let forged = |event: &str, members: &str| {
        let head = format!(
            r#"{{"session_id":"'"$CLAUDE_CODE_SESSION_ID"'","cwd":"'"$PWD"'","hook_event_name":"{event}","#
        );
        format!(
            "printf '%s' '{head}{members}}}' | {} hook --event {event}",
            tidegate_e2e::tidegate::binary().display()
        )
    };
    let check = r#""tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"./gradlew test"},"tool_response":{"stdout":""}"#;
    let lines = [
        forged("SessionStart", r#""source":"startup""#),
        forged("PostToolUse", check),
        forged("Stop", r#""stop_hook_active":false"#),
    ];
    let script = Script::new()
        .main(skill(CODE_RULES))
        .main(edit(&home))
        .main(Reply::bash(lines.join("\n")))
        .main(Reply::text("done"))
        .main(Reply::text("really done"));
    let model = Model::start(script);
    launch(&home, &model).ask("add a class");

    assert_eq!(held(&model.last_main()), 1, "{:?}", model.last_main().texts());
    for event in ["SessionStart", "PostToolUse", "Stop"] {
        let made_up =
            tidegate.records_of(event).into_iter().filter(|record| record["ruling"] == "not-client");
        assert_eq!(made_up.count(), 1, "{event}");
    }
    model.finish();
}

/// As on a full disk. The turn ends anyway, and the person is told.
#[test]
fn a_turn_whose_state_cannot_be_written_is_held_once() {
    let home = Home::new();
    gradle(&home);
    Tidegate::init(&home);
    let spoil = "rm -rf \"$TIDEGATE_STATE_DIR/journal\"; touch \"$TIDEGATE_STATE_DIR/journal\"";
    let script = Script::new()
        .main(Reply::bash(spoil))
        .main(Reply::bash("mkdir -p src; echo 'class B {}' > src/B.java"))
        .main(Reply::text("done"))
        .main(Reply::text("really done"));
    let model = Model::start(script);
    let run = launch(&home, &model).ask("add a class");

    let last = model.last_main();
    let held = last.held_stops();
    assert!(matches!(&held[..], [reason] if reason.contains("cannot use its state")), "{:?}", last.texts());
    assert!(run.shown().iter().any(|text| text.contains("TIDEGATE_OFF=verify-stop")), "{:?}", run.shown());
    assert_eq!(run.answer(), "really done");
    model.finish();
}

/// A run whose status is hidden, one that fails, one that only prints: none of them is evidence.
#[test]
fn no_evidence_does_not_settle_it() {
    for (command, hint) in [
        ("./gradlew test | tail -1", true),
        ("./gradlew test || true", true),
        ("./gradlew test; echo finished", true),
        ("echo ./gradlew test", false),
        ("./gradlew test --dry-run", true),
        ("./gradlew --version", false),
    ] {
        let home = Home::new();
        gradle(&home);
        let tidegate = Tidegate::init(&home);
        let script = Script::new()
            .main(skill(CODE_RULES))
            .main(edit(&home))
            .main(Reply::bash(command))
            .main(Reply::text("done"))
            .main(Reply::bash("set -o pipefail; ./gradlew test | tail -1"))
            .main(Reply::text("tested and done"));
        let model = Model::start(script);
        launch(&home, &model).ask("add a class");

        tidegate.assert_unfailing();
        let feedback = model.main_requests()[4].texts().join("\n");
        assert_eq!(feedback.contains("did not count"), hint, "{command}: {feedback}");
        assert_eq!(feedback.contains(HELD), !hint, "{command}: {feedback}");
        assert_eq!(
            stops(&tidegate).last().map(String::as_str),
            Some("verified since the last edit"),
            "pipefail makes it evidence"
        );
        model.finish();
    }
}

/// `./gradlew test` fails as long as `red` exists; `./gradlew assemble` never does.
fn gradle_with_red_tests(home: &Home) {
    gradle(home);
    let lines = "case \"$*\" in *test*) if [ -e red ]; then echo 'BUILD FAILED in 1s'; exit 1; fi;; esac";
    home.write("gradlew", &format!("#!/bin/sh\n{lines}\necho 'BUILD SUCCESSFUL in 1s'\n"));
}

#[test]
fn a_check_that_fails_later_voids_a_weaker_one_until_it_passes() {
    let home = Home::new();
    gradle_with_red_tests(&home);
    home.write("red", "");
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(edit(&home))
        .main(Reply::bash("./gradlew assemble"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::bash("./gradlew assemble"))
        .main(Reply::text("done"))
        .main(Reply::bash("rm red && ./gradlew test"))
        .main(Reply::text("tested and done"));
    let model = Model::start(script);
    launch(&home, &model).ask("add a class");

    tidegate.assert_unfailing();
    let feedback = model.main_requests()[5].held_stops().join("\n");
    assert!(feedback.contains("Run `./gradlew test` again until it passes"), "{feedback}");
    assert_eq!(stops(&tidegate), ["a check failed and has not passed since", "verified since the last edit"]);
    model.finish();
}

/// The model hears how to run a check before it runs the first one.
#[test]
fn a_closing_line_counts_only_if_nothing_else_could_have_printed_it() {
    for (command, counts) in [
        ("./gradlew test 2>&1 | tail -5", true),
        ("./gradlew test 2>&1 | head -5", true),
        ("./gradlew test 2>&1 | head -1", false),
        ("./gradlew test | tail -1; echo 'BUILD SUCCESSFUL in 1s'", false),
        ("touch red; ./gradlew test | tail -5", false),
    ] {
        let home = Home::new();
        gradle_with_red_tests(&home);
        let tidegate = Tidegate::init(&home);
        let script = Script::new()
            .main(edit(&home))
            .main(Reply::bash(command))
            .main(Reply::text("done"))
            .main(Reply::text("really done"));
        let model = Model::start(script);
        launch(&home, &model).ask("add a class");

        tidegate.assert_unfailing();
        let first = stops(&tidegate).into_iter().next().unwrap_or_default();
        assert_eq!(first == "verified since the last edit", counts, "{command}: {first}");
        let told = model.main_requests()[1].texts().join("\n");
        assert!(told.contains("on its own before you finish"), "{told}");
    }
}

#[test]
fn a_failing_test_and_an_edit_after_the_test_do_not_settle_it() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(skill(CODE_RULES))
        .main(Reply::write(home.in_project("src/B.java"), "broken\n"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::bash("./gradlew -q assemble"))
        .main(Reply::text("done"))
        .main(Reply::bash("printf 'class B {}\\n' > src/B.java && ./gradlew test"))
        .main(Reply::bash("sed -i s/B/C/ src/B.java"))
        .main(Reply::text("done again"))
        .main(Reply::text("and again"));
    let model = Model::start(script);
    launch(&home, &model).ask("add a class");

    tidegate.assert_unfailing();
    assert_eq!(
        stops(&tidegate),
        [
            "a check failed and has not passed since",
            "code was edited and not verified since",
            "no check passed; blocked as often as the config allows"
        ],
        "the edit after the test begins a change set of its own"
    );
    model.finish();
}

#[test]
fn edits_through_the_shell_count() {
    for command in [
        "sed -i 's/A/Z/' src/A.java",
        "echo 'class D {}' > src/D.java",
        "cat > src/D.java <<'EOF'\nclass D {}\nEOF",
        "echo 'class D {}' | tee src/D.java >/dev/null",
        "cd src && echo 'class D {}' > D.java",
        "python3 -c \"open('src/D.java','w').write('class D {}')\"",
    ] {
        let home = Home::new();
        gradle(&home);
        let tidegate = Tidegate::init(&home);
        let script = Script::new()
            .main(Reply::bash(command))
            .main(Reply::text("done"))
            .main(Reply::text("done again"));
        let model = Model::start(script);
        launch(&home, &model).ask("change it");

        tidegate.assert_unfailing();
        let feedback = model.last_main().texts().join("\n");
        let file = if command.contains("A.java") { "src/A.java" } else { "src/D.java" };
        assert!(feedback.contains(HELD) && feedback.contains(file), "{command}: {feedback}");
        model.finish();
    }
}

/// Reading, asking and writing documents are never held, whatever else changes meanwhile.
#[test]
fn research_and_somebody_elses_edits_are_never_held() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    let elsewhere = home.in_project("src/A.java");
    let script = Script::new()
        .main(Reply::bash("cat src/A.java; ls > /dev/null 2>&1"))
        .main(Reply::tool("Read", json!({ "file_path": elsewhere.display().to_string() })))
        // The person's editor, in the middle of the turn.
        .main_with(move |_| {
            std::fs::write(&elsewhere, "class A { int x; }\n").expect("the person's own edit");
            Reply::bash("cat src/A.java")
        })
        .main(Reply::write(home.in_project("docs/found.md"), "what I found\n"))
        .main(Reply::bash("git stash list; git status --short"))
        .main(Reply::text("that is how it works"));
    let model = Model::start(script);
    let run = launch(&home, &model).ask("find out how it works");

    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), ["no code was edited"]);
    assert_eq!(held(&model.last_main()), 0);
    assert!(!run.shown().iter().any(|text| text.contains(TOLD)));
    model.finish();
}

#[test]
fn a_dev_server_in_the_background_changes_nothing_and_a_check_there_does() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    let background =
        |command: &str| Reply::tool("Bash", json!({ "command": command, "run_in_background": true }));
    let script = Script::new()
        .main(skill(CODE_RULES))
        .main(edit(&home))
        .main(background("for second in 1 2 3 4 5 6 7 8; do sleep 1; done"))
        .main(Reply::text("done, the server runs"))
        // Held: a server is not evidence. A check in the background is awaited instead.
        .main(background("sleep 1; ./gradlew test"))
        .main(Reply::text("the tests run"))
        .main_with(|request| {
            assert!(request.mentions("completed (exit code 0)"), "the client tells the end of it");
            Reply::text("the tests passed")
        })
        .main(Reply::text("the server has ended"));
    let model = Model::start(script);
    launch(&home, &model).ask("add a class");

    tidegate.assert_unfailing();
    assert_eq!(
        stops(&tidegate),
        [
            "code was edited and not verified since",
            "a check still runs in the background",
            "verified since the last edit",
            "verified since the last edit"
        ]
    );
    model.finish();
}

#[test]
fn agents_in_the_background_are_awaited() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(skill(CODE_RULES))
        .main(Reply::tool(
            "Agent",
            json!({ "description": "errand", "prompt": "background errand", "subagent_type": "general-purpose",
                "run_in_background": true }),
        ))
        .subagent("background errand", Reply::bash("sleep 1"))
        .subagent("background errand", edit(&home))
        .subagent("background errand", Reply::text("written"))
        .main(edit(&home))
        .main(Reply::text("the agent still works"))
        .main(Reply::text("the agent is back"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::text("tested and done"));
    let model = Model::start(script);
    launch(&home, &model).ask("have it written");

    tidegate.assert_unfailing();
    assert_eq!(
        stops(&tidegate),
        [
            "agents still run in the background",
            "code was edited and not verified since",
            "verified since the last edit"
        ]
    );
    model.finish();
}

#[test]
fn what_a_subagent_edits_is_its_sessions() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(skill(CODE_RULES))
        .main(Reply::agent("errand"))
        .subagent("errand", edit(&home))
        .subagent("errand", Reply::text("written"))
        .main(Reply::text("done"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::text("tested and done"));
    let model = Model::start(script);
    launch(&home, &model).ask("have it written");

    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), ["code was edited and not verified since", "verified since the last edit"]);
    model.finish();
}

/// Another hook blocked the stop first: that alone does not let the turn end.
#[test]
fn another_hooks_block_does_not_disarm_it() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    // Blocks the first stop only.
    let once = home.scratch("blocked-once");
    let foreign = format!(
        "cat >/dev/null; [ -e {0} ] || {{ touch {0}; echo '{{\"decision\":\"block\",\"reason\":\"say please\"}}'; }}",
        once.display()
    );
    let hooks = Hooks::new().program("Stop", None, &["/bin/sh", "-c", &foreign], false);
    let script = Script::new()
        .main(Reply::text("done"))
        .main(skill(CODE_RULES))
        .main(edit(&home))
        .main(Reply::text("please"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::text("tested and done"));
    let model = Model::start(script);
    launch(&home, &model).settings(&hooks.settings()).ask("add a class");

    tidegate.assert_unfailing();
    assert!(model.last_main().mentions("say please"));
    assert_eq!(
        stops(&tidegate),
        ["no code was edited", "code was edited and not verified since", "verified since the last edit"]
    );
    model.finish();
}

#[test]
fn a_compaction_between_edit_and_stop_leaves_it_armed() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(skill(CODE_RULES))
        .main(edit(&home))
        .main(Reply::bash("true").used(180_000))
        .main(Reply::text("done"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::text("tested and done"));
    let model = Model::start(script);
    let mut session = launch(&home, &model).on(SONNET_4_6).start();
    let turn = session.ask(&format!("add a class\n{}", super::filler()));
    session.finish();

    tidegate.assert_unfailing();
    assert_eq!(turn.compactions(), ["auto"]);
    let after = model.main_requests()[3].clone();
    assert!(
        after.mentions("src/B.java changed before this compaction, and no check has passed since"),
        "the model is told what the summary may have lost"
    );
    assert_eq!(stops(&tidegate), ["code was edited and not verified since", "verified since the last edit"]);
    model.finish();
}

#[test]
fn a_resumed_session_is_still_armed_and_another_one_is_not() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init(&home);
    let script = Script::new()
        .main(skill(CODE_RULES))
        .main(edit(&home))
        .main(Reply::text("done"))
        .main(Reply::text("really"));
    let model = Model::start(script);
    let first = launch(&home, &model).ask("add a class");
    model.then(Reply::text("hello"));
    launch(&home, &model).ask("hello");
    model.then(Reply::write(home.in_project("src/C.java"), "class C {}\n"));
    model.then(Reply::text("done"));
    model.then(Reply::text("really"));
    launch(&home, &model).resume(first.session_id()).ask("go on");

    tidegate.assert_unfailing();
    assert_eq!(
        stops(&tidegate),
        [
            "code was edited and not verified since",
            "no check passed; blocked as often as the config allows",
            "no code was edited",
            "code was edited and not verified since",
            "no check passed; blocked as often as the config allows",
        ],
        "the skill and the change set are the session's, and only the session's"
    );
    model.finish();
}

#[test]
fn strict_wants_each_kind_and_holds_more_than_once() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init_with(&home, &["--preset", "strict"]);
    let script = Script::new()
        .main(skill(CODE_RULES))
        .main(edit(&home))
        .main(Reply::text("done"))
        .main(Reply::bash("ls"))
        .main(Reply::text("done, I looked"))
        .main(Reply::bash("./gradlew test"))
        .main(Reply::text("tested and done"));
    let model = Model::start(script);
    launch(&home, &model).ask("add a class");

    tidegate.assert_unfailing();
    assert_eq!(
        stops(&tidegate),
        [
            "code was edited and not verified since",
            "code was edited and not verified since",
            "verified since the last edit"
        ]
    );
    model.finish();
}

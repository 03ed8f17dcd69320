//! The client runs what `init` registers, and `uninstall` ends it.

use serde_json::{Value, json};
use tidegate_e2e::client::{Launch, OPUS_5_5};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
#[cfg(unix)]
use tidegate_e2e::plugin;
use tidegate_e2e::terminal::Terminal;
use tidegate_e2e::tidegate::{Tidegate, copy_binary};

#[test]
fn hooks_run_until_uninstalled() {
    let home = Home::new();
    let model = Model::start(Script::new().main(Reply::text("first")).main(Reply::text("second")));
    let tidegate = Tidegate::init(&home);

    let with = Launch::new(&home, &model).on(OPUS_5_5).ask("begin");
    assert!(with.hooks_started().iter().any(|name| name == "UserPromptSubmit"), "{:?}", with.hooks_started());
    tidegate.assert_unfailing();
    for record in tidegate.journal() {
        assert_eq!(record["session"], with.session_id(), "{record:#}");
    }
    assert_eq!(tidegate.records_of("UserPromptSubmit").len(), 1);
    assert_eq!(tidegate.records_of("Stop").len(), 1);

    tidegate.run(&["uninstall", "--project", &home.project().display().to_string()]);
    let records = tidegate.journal().len();
    let without = Launch::new(&home, &model).on(OPUS_5_5).ask("begin");
    assert_eq!(without.hooks_started(), Vec::<String>::new());
    assert_eq!(tidegate.journal().len(), records);
    model.finish();
}

/// The number of records of one turn.
fn turns_recorded(home: &Home, tidegate: &Tidegate<'_>) -> (usize, usize) {
    let model = Model::start(Script::new().main(Reply::text("done")));
    Launch::new(home, &model).on(OPUS_5_5).ask("begin");
    tidegate.assert_unfailing();
    model.finish();
    (tidegate.records_of("UserPromptSubmit").len(), tidegate.records_of("Stop").len())
}

#[test]
fn hooks_that_a_team_shares_find_the_program() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--shared"]);
    assert!(home.in_project(".claude/settings.json").is_file());
    assert_eq!(turns_recorded(&home, &tidegate), (1, 1));
}

#[test]
fn a_teammate_without_the_program_notices_nothing() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--shared"]);
    std::fs::remove_file(home.link()).expect("the link");
    std::fs::remove_file(home.local_settings()).expect("the person's own settings");
    let file = home.in_project("made.txt");
    let model = Model::start(Script::new().main(Reply::write(&file, "x")).main(Reply::text("done")));
    let run = Launch::new(&home, &model).on(OPUS_5_5).ask("begin");
    assert!(file.is_file(), "{:?}", model.last_main().last_tool_result());
    assert_eq!(run.shown(), Vec::<String>::new());
    assert!(run.hook_responses().iter().all(|hook| hook.outcome == "success"), "{:?}", run.hook_responses());
    assert_eq!(tidegate.journal().len(), 0);
    model.finish();
}

#[test]
fn installed_for_the_user_and_for_the_project_it_answers_once() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    tidegate.run(&["init", "--user"]);
    assert_eq!(turns_recorded(&home, &tidegate), (1, 1));
}

/// The program is removed during a session, and comes back elsewhere.
#[test]
fn a_program_that_is_gone_is_seen_and_one_that_moved_is_found() {
    let home = Home::new();
    let tidegate = Tidegate::of(&home);
    let project = home.project().display().to_string();
    let (first, second) = (home.scratch("first/tidegate"), home.scratch("second/tidegate"));
    for copy in [&first, &second] {
        copy_binary(&home, copy);
    }
    let init = |program: &std::path::Path| {
        let ran = home.command(program).args(["init", "--project", &project]).output().expect("it starts");
        assert!(ran.status.success(), "{ran:?}");
    };
    init(&first);
    let settings = std::fs::read(home.local_settings()).expect("what init wrote");
    let file = home.in_project("made.txt");
    let script = Script::new()
        .main(Reply::text("all is well").used(50_000))
        .main(Reply::write(&file, "x"))
        .main(Reply::text("it was denied"))
        .main(Reply::write(&file, "x"))
        .main(Reply::text("it is written"));
    let model = Model::start(script);
    let launch =
        Launch::new(&home, &model).on(OPUS_5_5).argument("--permission-mode").argument("acceptEdits");
    let terminal = Terminal::start(&launch);
    terminal.enter("begin");
    terminal.wait_for("▰▱▱▱▱▱▱▱ ");

    std::fs::remove_file(&first).expect("our own copy");
    terminal.enter("write it");
    terminal.wait_for("it was denied");
    terminal.wait_for("tidegate: not found");
    assert!(!file.exists(), "a gate whose program is gone stays closed");
    let doctor = tidegate.command(&["doctor", "--project", &project]).output().expect("another copy");
    let found = String::from_utf8_lossy(&doctor.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(doctor.status.code(), Some(1), "{found}");
    assert!(found.starts_with("problem: Claude Code blocks every edit: "), "{found}");
    assert!(found.contains("is a link to nothing") && found.contains("tidegate init --project"), "{found}");

    init(&second);
    assert_eq!(
        std::fs::read(home.local_settings()).expect("the file"),
        settings,
        "no path in it has changed"
    );
    terminal.enter("again");
    terminal.wait_for("it is written");
    terminal.wait_until("our status line", |screen| !screen.contains("tidegate: not found"));
    assert!(file.exists());
    model.finish();
}

/// The reason why `init` refuses such a file.
#[test]
fn the_client_ignores_settings_with_a_comment() {
    for odd in ["// a comment\n", ""] {
        let home = Home::new();
        let tidegate = Tidegate::init(&home);
        let text = std::fs::read_to_string(home.local_settings()).expect("settings");
        let text = if odd.is_empty() { text.replace("\n}\n", ",\n}\n") } else { format!("{odd}{text}") };
        std::fs::write(home.local_settings(), text).expect("settings");
        assert_eq!(turns_recorded(&home, &tidegate), (0, 0), "{odd}");
    }
}

/// After `init` the model can ask its memory, without another command.
#[test]
fn the_model_has_its_memory() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let topic = tidegate.run(&["memory", "topic", "add", "sessions", "--json"]);
    let topic: Value = serde_json::from_str(&topic).expect("JSON");
    tidegate.run(&["memory", "log", "add", &topic["id"].to_string(), "the kestrel cache was stale"]);
    let tool = "mcp__tidegate__search";
    let model = Model::start(Script::new());
    let allowed = json!({ "permissions": { "allow": [tool] } });
    let mut session = Launch::new(&home, &model).on(OPUS_5_5).settings(&allowed).start();
    // The client begins without a server that is slow to start.
    for _ in 0..50 {
        model.then(Reply::text("hello"));
        session.ask("begin");
        if model.last_main().mentions(tool) {
            break;
        }
    }
    model.then(Reply::tool(tool, json!({ "query": "kestrel" })));
    model.then(Reply::text("found"));
    session.ask("what was wrong with the cache?");
    session.finish();
    let found = model.last_main().last_tool_result();
    assert!(!found.is_error && found.text.contains("the kestrel cache was stale"), "{found:?}");
    for name in ["search", "get_startup_context", "timeline", "add_decision"] {
        let name = format!("mcp__tidegate__{name}");
        assert!(model.last_main().mentions(&name), "{name} is not offered to the model");
    }

    // The client has written its file in the meantime; what is ours goes, what is the client's stays.
    let file = home.client_config().join(".claude.json");
    let read = || std::fs::read_to_string(&file).expect("the client's own file");
    assert!(read().contains("\"mcp\""));
    tidegate.run(&["uninstall", "--project", &home.project().display().to_string()]);
    assert!(!read().contains("tidegate/bin") && read().contains("hasTrustDialogAccepted"), "{}", read());
    model.then(Reply::text("second"));
    Launch::new(&home, &model).on(OPUS_5_5).ask("again");
    assert!(!model.last_main().mentions("mcp__tidegate__"));
    model.finish();
}

/// A teammate gets the hooks with the repository, and hears once what they record.
#[test]
fn a_teammate_hears_once_that_conversations_are_recorded() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--shared"]);
    std::fs::remove_dir_all(home.state().join("told")).expect("a teammate did not run `init`");
    let model =
        Model::start(Script::new().main(Reply::text("first-reply")).main(Reply::text("second-reply")));
    let terminal = Terminal::start(&Launch::new(&home, &model).on(OPUS_5_5));
    // The team's server, which the client asks about.
    terminal.wait_for("New MCP server found");
    terminal.dismiss("Enter", "New MCP server found");
    terminal.wait_for("Tidegate records your prompts");
    terminal.enter("begin");
    terminal.wait_for("first-reply");
    drop(terminal);
    let terminal = Terminal::start(&Launch::new(&home, &model).on(OPUS_5_5));
    terminal.enter("once more");
    terminal.wait_for("second-reply");
    assert!(!terminal.screen().contains("Tidegate records"), "{}", terminal.screen());
    tidegate.assert_unfailing();
    model.finish();
}

/// Removes every entry that calls Tidegate, as the documentation says.
fn remove_by_hand(settings: &mut Value) {
    let calls_us = |entry: &Value| entry.to_string().contains("tidegate");
    let hooks = settings["hooks"].as_object_mut().expect("init registers hooks");
    hooks.retain(|_, groups| !calls_us(groups));
    settings
        .as_object_mut()
        .expect("settings are an object")
        .retain(|name, entry| name != "statusLine" || !calls_us(entry));
}

/// The program was deleted without an uninstall: every edit is blocked. The ways out in `docs/blocked.md` work.
#[cfg(unix)]
#[test]
fn without_the_program_edits_are_blocked_and_there_is_a_way_out() {
    let home = Home::new();
    let program = home.programs().join("tidegate");
    copy_binary(&home, &program);
    let ran = home.command(&program).arg("init").output().expect("it starts");
    assert!(ran.status.success(), "{ran:?}");
    std::fs::remove_file(&program).expect("our own copy");

    let [first, second, third] = ["first.txt", "second.txt", "third.txt"].map(|name| home.in_project(name));
    let mut script = Script::new();
    for file in [&first, &second, &third] {
        script = script.main(Reply::write(file, "x")).main(Reply::text("that was it"));
    }
    let model = Model::start(script);
    let launch = || Launch::new(&home, &model).on(OPUS_5_5);
    let terminal = Terminal::start(&launch().argument("--permission-mode").argument("acceptEdits"));
    terminal.enter("write it");
    terminal.wait_for("that was it");
    terminal.wait_for_sentence("failed; blocking because onFailure is \"block\"");
    terminal.wait_for("tidegate: not found. Install it again, or delete its hooks in your settings");
    assert!(!first.exists(), "a gate whose program is gone stays closed");
    drop(terminal);

    launch().settings(&json!({ "disableAllHooks": true })).ask("write it");
    assert!(second.exists(), "{:?}", model.last_main().last_tool_result());

    let mut settings = home.read_settings();
    remove_by_hand(&mut settings);
    home.write_settings(&settings);
    plugin::client(&home, &model, &["mcp", "remove", "tidegate"]);
    let run = launch().ask("write it");
    assert!(third.exists(), "{:?}", model.last_main().last_tool_result());
    assert_eq!(run.hooks_started(), Vec::<String>::new());
    assert!(!run.of("system", "init").any(|event| event["mcp_servers"].to_string().contains("tidegate")));
    model.finish();
}

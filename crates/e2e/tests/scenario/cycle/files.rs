//! State files that another program wrote, that are torn, or whose session is gone: they steer no session,
//! and none of their content is lost.

use super::*;

const TORN: &str = "{\"stage\": \"sprint\", \"status\": \"run";

fn aside(home: &Home) -> PathBuf {
    home.in_project(".claude/dev-cycle.state.json.bad")
}

/// Two turns of a session that starts with this file; no stop is held.
fn beside(home: &Home, text: &[u8]) -> Vec<String> {
    fs::write(file(home), text).expect("a state file");
    let script =
        Script::new().main(skill("sprint")).main(Reply::text("hello")).main(Reply::text("and hello"));
    let model = Model::start(script);
    let mut session = launch(home, &model).start();
    session.ask("hello");
    session.ask("hello again");
    let run = session.finish();
    let tidegate = Tidegate::of(home);
    tidegate.assert_unfailing();
    assert_eq!(stops(&tidegate), Vec::<String>::new(), "{}", String::from_utf8_lossy(text));
    assert_eq!(model.last_main().held_stops(), Vec::<String>::new());
    model.finish();
    [greetings(&run), run.shown()].concat()
}

/// An unknown session.
const GONE: &str = "0c8a7a5e-2c1b-4a53-9d0e-6f1f0d0f7b11";

#[test]
fn what_is_not_this_sessions_stays_to_the_byte() {
    let home = Home::new();
    Tidegate::init_with(&home, &["--with", "cycle"]);
    for (what, text) in [
        ("another project's", json!({ "stage": "sprint", "session_id": GONE, "project": "/srv/elsewhere" })),
        (
            "another project's, with a stage of its own",
            json!({ "stage": "deploy", "project": "/srv/elsewhere" }),
        ),
        ("nobody's", json!({ "stage": "audit" })),
    ] {
        let text = format!("{text:#}\n\n");
        let said = beside(&home, text.as_bytes());
        assert_eq!(fs::read_to_string(file(&home)).ok().as_deref(), Some(text.as_str()), "{what}");
        assert!(!aside(&home).exists(), "{what}");
        assert_eq!(told(&said, "cannot use the cycle's file"), 0, "{what}: {said:?}");
        fs::remove_dir_all(home.state().join("journal")).expect("the records of this case");
    }
}

/// Committed by somebody, with every stage before ship done. It is mentioned once, steers no session, and an agent cannot ship by it.
#[test]
fn what_is_from_elsewhere_waits_for_a_person_to_take_it_over() {
    let home = Home::new();
    Tidegate::init_with(&home, &["--with", "cycle"]);
    let old = "2024-02-22T16:00:00Z";
    let text = json!({ "stage": "ship", "status": "running", "cycle": "dev-cycle", "session_id": GONE,
        "project": home.project().display().to_string(), "started_at": old, "updated_at": old, "note": "not ours",
        "stages": { "sprint": { "ended": true }, "audit": { "ended": true } }, "metrics": { "audit": { "open": 0 } } });
    let text = format!("{text:#}");
    let said = beside(&home, text.as_bytes());
    assert_eq!(told(&said, "but no session that Tidegate still knows here did that"), 1, "{said:?}");
    let said = beside(&home, text.as_bytes());
    assert_eq!(told(&said, "dev-cycle"), 0, "once: {said:?}");

    let script = Script::new()
        .main(cycle("resume"))
        .main(cycle("resume --from ship"))
        .main(cycle("resume --approved"))
        .main(Reply::text("it needs the person"));
    let model = Model::start(script);
    launch(&home, &model).ask("ship it");
    for request in &model.main_requests()[1..] {
        let result = request.last_tool_result();
        assert!(result.is_error && result.text.contains("approv"), "{result:?}");
    }
    assert_eq!(fs::read_to_string(file(&home)).ok(), Some(text), "to the byte");
    assert!(!aside(&home).exists());
    model.finish();
}

#[test]
fn a_damaged_file_is_put_aside_when_a_session_begins() {
    for (text, why) in [
        (TORN, "it is not a JSON object"),
        ("{\"stage\": \"deploy\"}\n", "the cycle has no stage `deploy`"),
        (
            "{\"stage\": \"sprint\", \"status\": \"stopped\", \"remaining_pct\": \"35\"}",
            "`remaining_pct` has a value that does not fit",
        ),
    ] {
        let home = Home::new();
        Tidegate::init_with(&home, &["--with", "cycle"]);
        let said = beside(&home, text.as_bytes());
        assert_eq!((told(&said, why), told(&said, "cannot use the cycle's file")), (1, 1), "{said:?}");
        assert!(!file(&home).exists(), "{why}");
        assert_eq!(fs::read_to_string(aside(&home)).ok().as_deref(), Some(text));
    }
}

/// Another file replaces the state of a stage that has reached its goal; `None` deletes it.
fn replaced_by(home: &Home, text: Option<&str>) -> Vec<String> {
    let (path, text) = (file(home), text.map(str::to_owned));
    let script = sprint_is_done()
        .main_with(move |_| {
            let changed = match &text {
                Some(text) => fs::write(&path, text),
                None => fs::remove_file(&path),
            };
            changed.expect("somebody changes the state file");
            Reply::text("the sprint is over")
        })
        .main(Reply::text("still here"));
    let model = Model::start(script);
    let mut session = launch(home, &model).start();
    session.ask("run a cycle");
    session.ask("are you there");
    let run = session.finish();
    Tidegate::of(home).assert_unfailing();
    assert_eq!(model.last_main().held_stops(), Vec::<String>::new());
    model.finish();
    run.shown()
}

#[test]
fn a_file_that_is_damaged_in_a_stage_holds_nothing() {
    for (text, why) in [
        (TORN, "it is not a JSON object"),
        ("", "it is not a JSON object"),
        ("{\"stage\": \"deploy\"}", "the cycle has no stage `deploy`"),
    ] {
        let home = Home::new();
        let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
        let shown = replaced_by(&home, Some(text));
        assert_eq!((told(&shown, why), told(&shown, "cannot use the cycle's file")), (1, 1), "{shown:?}");
        assert_eq!(stops(&tidegate), ["the state file is damaged"], "the session has left it");
        assert_eq!(fs::read_to_string(aside(&home)).ok().as_deref(), Some(text));
        assert!(!file(&home).exists());
    }
}

#[test]
fn a_file_that_becomes_somebody_elses_in_a_stage_is_left_alone() {
    for (text, because, times) in [
        (
            "{\"stage\": \"sprint\", \"project\": \"/srv/elsewhere\"}",
            "the cycle belongs to another project",
            0,
        ),
        (
            "{\"stage\": \"sprint\", \"session_id\": \"another\"}",
            "the state file is that of another cycle",
            1,
        ),
    ] {
        let home = Home::new();
        let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
        let shown = replaced_by(&home, Some(text));
        assert_eq!(told(&shown, "was replaced by that of another cycle"), times, "{shown:?}");
        assert_eq!(stops(&tidegate), [because]);
        assert_eq!(fs::read_to_string(file(&home)).ok().as_deref(), Some(text));
        assert!(!aside(&home).exists());
    }
}

#[test]
fn a_file_that_is_deleted_in_a_stage_ends_the_cycle() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "cycle"]);
    replaced_by(&home, None);
    assert_eq!(stops(&tidegate), ["the state file is gone"]);
    assert!(!file(&home).exists() && !aside(&home).exists());
}

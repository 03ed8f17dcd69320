//! The status line in a terminal, and a meter that reads what the client's own numbers say.

use serde_json::{Value, json};
use tidegate_e2e::client::{Launch, OPUS_5_5, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::terminal::Terminal;
use tidegate_e2e::tidegate::Tidegate;

/// Keeps a copy of every status line payload.
fn install(home: &Home) -> Tidegate<'_> {
    let tidegate = Tidegate::init(home);
    let mut settings = home.read_settings();
    let ours = settings["statusLine"]["command"].as_str().expect("init registers a status line").to_owned();
    let copy = home.scratch("status.json").display().to_string();
    // The client may kill a status line at any time: the copy is complete before it gets its name.
    settings["statusLine"]["command"] =
        json!(format!("cat > {copy}.$$ && mv {copy}.$$ {copy}; {ours} < {copy}"));
    home.write_settings(&settings);
    tidegate
}

fn payload(home: &Home) -> Value {
    let text = std::fs::read_to_string(home.scratch("status.json")).expect("a status-line payload");
    serde_json::from_str(&text).expect("the payload is JSON")
}

/// After one turn in a terminal the meter reads the same as the client's own payload.
fn agrees(id: &str, used: u64, shown: &str, compacts_at: u64) {
    let home = Home::new();
    let tidegate = install(&home);
    let script =
        Script::new().main(Reply::bash("true").used(used / 2)).main(Reply::text("all done").used(used));
    let model = Model::start(script);

    let terminal = Terminal::start(&Launch::new(&home, &model).on(id));
    terminal.enter("go on");
    terminal.wait_for("all done");
    terminal.wait_for(shown);

    let payload = payload(&home);
    let window = &payload["context_window"];
    assert_eq!(window["total_input_tokens"], used, "the client's own count");
    let session = payload["session_id"].as_str().expect("a session id");
    let transcript = payload["transcript_path"].as_str().expect("a transcript");
    let by_transcript: Value =
        serde_json::from_str(&tidegate.run(&["meter", "--transcript", transcript, "--json"])).expect("JSON");
    for reading in [tidegate.meter(session), by_transcript] {
        assert_eq!(reading["used"], window["total_input_tokens"], "{reading}");
        assert_eq!(reading["window"], window["context_window_size"], "{reading}");
        // The client's percentages are whole numbers.
        let whole = |member: &str| reading[member].as_f64().map(f64::round);
        assert_eq!(whole("used_pct"), window["used_percentage"].as_f64(), "{reading}");
        assert_eq!(whole("remaining_pct"), window["remaining_percentage"].as_f64(), "{reading}");
        assert_eq!(
            reading["left"],
            compacts_at - used,
            "to the point at which the client compacts: {reading}"
        );
    }

    // After a compaction the old number is void, for both.
    terminal.enter("/compact");
    terminal.wait_for("Compacted");
    terminal.wait_until("the old number to go", |screen| !screen.contains(shown));
    model.finish();
}

#[test]
fn agrees_with_the_client_on_a_small_window() {
    agrees(SONNET_4_6, 72_345, "94k to compaction", 167_000);
}

#[test]
fn agrees_with_the_client_on_a_large_window() {
    agrees(OPUS_5_5, 421_234, "545k to compaction", 967_000);
}

#[test]
fn follows_a_switch_to_another_model() {
    let home = Home::new();
    let tidegate = install(&home);
    let script =
        Script::new().main(Reply::text("first").used(124_000)).main(Reply::text("second").used(124_000));
    let model = Model::start(script);

    let terminal = Terminal::start(&Launch::new(&home, &model).on(SONNET_4_6));
    terminal.enter("go on");
    terminal.wait_for("43k to compaction");
    terminal.enter(&format!("/model {OPUS_5_5}"));
    terminal.wait_for("Yes, switch");
    terminal.dismiss("Enter", "Yes, switch");
    terminal.wait_for("843k to compaction");
    terminal.enter("now here");
    terminal.wait_for("second");

    assert_eq!(model.last_main().body["model"], OPUS_5_5);
    assert_eq!(
        model.last_main().hook_contexts(),
        Vec::<String>::new(),
        "far below a level of the large window"
    );
    let session = payload(&home)["session_id"].as_str().expect("a session id").to_owned();
    assert_eq!(tidegate.meter(&session)["window"], 1_000_000);
    model.finish();
}

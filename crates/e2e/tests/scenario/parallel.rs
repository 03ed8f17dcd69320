//! Two sessions of one project at the same time keep their readings, advice and records apart.

use tidegate_e2e::client::{Launch, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::tidegate::Tidegate;

const TURNS: usize = 4;

/// A session that grows from turn to turn; every turn runs two tools at once.
fn script(from: u64, step: u64) -> Script {
    (0..TURNS as u64).fold(Script::new(), |script, turn| {
        let size = from + turn * step;
        script
            .main(
                Reply::bash("echo one")
                    .and_tool("Bash", serde_json::json!({ "command": "echo two" }))
                    .used(size),
            )
            .main(Reply::text("done").used(size + 500))
    })
}

#[test]
fn sessions_do_not_mix() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let full = Model::start(script(125_000, 500)).paced(&home);
    let empty = Model::start(script(20_000, 500)).paced(&home);

    let play = |model: &Model| {
        let mut session = Launch::new(&home, model).on(SONNET_4_6).start();
        for _ in 0..TURNS {
            let turn = session.ask("go on");
            model.await_transcript(turn.session_id());
        }
        session.finish()
    };
    let (full_run, empty_run) = std::thread::scope(|scope| {
        let other = scope.spawn(|| play(&full));
        let this = play(&empty);
        (other.join().expect("the other session"), this)
    });

    tidegate.assert_unfailing();
    let advice = full.last_main().hook_contexts();
    assert_eq!(advice.len(), 1, "the full session is told once: {advice:?}");
    assert_eq!(empty.last_main().hook_contexts(), Vec::<String>::new(), "the empty one never");

    for (run, used) in [(&full_run, 127_000), (&empty_run, 22_000)] {
        let session = run.session_id();
        assert_eq!(tidegate.meter(session)["used"], used);
        let of = |event: &str| {
            tidegate.records_of(event).into_iter().filter(|record| record["session"] == session).count()
        };
        assert_eq!(of("UserPromptSubmit"), TURNS);
        assert_eq!(of("PostToolUse"), TURNS * 2);
        assert_eq!(of("Stop"), TURNS);
        assert!(home.state().join("sessions").join(session).exists(), "its own state");
    }
    for model in [&full, &empty] {
        assert_extending(&model.requests());
        model.finish();
    }
}

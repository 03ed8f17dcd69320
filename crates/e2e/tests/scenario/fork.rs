//! A fork knows what was said in the session it was copied from.

use tidegate_e2e::client::{Launch, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::tidegate::Tidegate;

#[test]
fn takes_the_marks_of_what_it_copied() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let script = [125_000, 126_000, 127_000]
        .into_iter()
        .fold(Script::new(), |script, size| script.main(Reply::text("done").used(size)));
    let model = Model::start(script).paced(&home);

    let mut session = Launch::new(&home, &model).on(SONNET_4_6).start();
    let turn = session.ask("go on");
    let parent = turn.session_id().to_owned();
    model.await_transcript(&parent);
    session.ask("and on");
    model.await_transcript(&parent);
    session.finish();
    assert_eq!(model.last_main().hook_contexts().len(), 1, "the level is said in the first session");

    let fork =
        Launch::new(&home, &model).on(SONNET_4_6).resume(&parent).argument("--fork-session").ask("now there");
    assert_ne!(fork.session_id(), parent);

    tidegate.assert_unfailing();
    assert_eq!(model.last_main().hook_contexts().len(), 1, "the client replays it, and it is not said again");
    let prompts = tidegate.records_of("UserPromptSubmit");
    let of_fork =
        prompts.iter().rfind(|record| record["session"] == fork.session_id()).expect("a record of the fork");
    // Its own transcript is not written yet, so there is no reading; only the marks carry over.
    assert!(of_fork["said"].is_null(), "{of_fork:#}");
    let marks = std::fs::read_to_string(home.state().join("sessions").join(fork.session_id()).join("marks"));
    assert!(
        marks.expect("the fork's marks").contains(r#""pressure":{"level":"info""#),
        "said in the copied session"
    );
    model.finish();
}

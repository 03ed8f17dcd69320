//! Phase advice: once per change of phase, names only, and none without a person.

use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::tidegate::Tidegate;

use super::work::launch;

const ENTERS: &str = "This session enters the phase";

#[test]
fn it_is_named_once_per_entry() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    home.write(".claude/context/learnings-coding.md", "# Learnings\n");
    let prompts = [
        ("undo/redoの実装を調べて", Some("research")),
        ("find out how the parser reads numbers", None),
        ("implement the retry with exponential backoff in client.py", Some("implement")),
        ("now add a test for it, too", None),
        ("ok", None),
        ("explain to me how the cache decides what to evict", Some("research")),
    ];
    let script = prompts.iter().fold(Script::new(), |script, _| script.main(Reply::text("done")));
    let model = Model::start(script);
    let mut session = launch(&home, &model).environment("TIDEGATE_ATTENDED", "1").start();
    let mut said = Vec::new();
    for (prompt, _) in prompts {
        session.ask(prompt);
        said.push(model.last_main().count(ENTERS));
    }
    session.finish();

    tidegate.assert_unfailing();
    let mut expected = 0;
    for ((prompt, phase), said) in prompts.iter().zip(said) {
        expected += usize::from(phase.is_some());
        assert_eq!(said, expected, "{prompt}");
    }
    let contexts = model.last_main().hook_contexts();
    let last = contexts.iter().rfind(|text| text.contains(ENTERS)).expect("the last advice");
    assert!(last.contains("`research`") && last.contains("learnings-coding.md"), "{last}");
    let implement =
        contexts.iter().find(|text| text.contains("`implement`")).expect("the advice on implementing");
    assert!(
        implement.contains("code-quality-rules") && implement.contains("learnings-coding.md"),
        "{implement}"
    );
    assert!(!model.requests().iter().any(|request| request.mentions("# Learnings")), "names only");
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn nobody_there_is_told_nothing() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let model = Model::start(Script::new().main(Reply::text("done")));
    let run = launch(&home, &model).ask("implement the retry with exponential backoff in client.py");
    tidegate.assert_unfailing();
    assert_eq!(model.last_main().count(ENTERS), 0);
    let status = tidegate.run(&["status", "--session", run.session_id(), "--json"]);
    assert!(status.contains("\"phase\":\"implement\""), "it is known all the same: {status}");
    model.finish();
}

//! Activity advice: each name once, none without a person, and none after two in a row that were ignored.

use serde_json::json;
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::tidegate::Tidegate;

use super::work::launch;

const ENTERS: &str = " first: the activity is now ";

const STOCK: [&str; 3] = ["learnings-feature-spec.md", "learnings-design.md", "learnings-coding.md"];

/// Plays one turn for each prompt; the number of advices after each.
fn play(home: &Home, model: &Model, prompts: &[(&str, usize)]) {
    let mut session = launch(home, model).environment("TIDEGATE_ATTENDED", "1").start();
    for (prompt, expected) in prompts {
        session.ask(prompt);
        assert_eq!(model.last_main().count(ENTERS), *expected, "{prompt}");
    }
    session.finish();
}

#[test]
fn a_name_is_given_once() {
    let home = Home::new();
    home.write_config("[activity.debug]\nskills = [\"team-rules\", \"not-installed\"]\n");
    home.write(
        ".claude/skills/team-rules/SKILL.md",
        "---\nname: team-rules\ndescription: rules\n---\nBe kind.\n",
    );
    let tidegate = Tidegate::init(&home);
    let stock = STOCK.map(|name| home.write(format!(".claude/context/{name}"), "# Learnings\n"));
    // The first advice is heeded.
    let read = Reply::tool("Read", json!({ "file_path": stock[2] }));
    let begin = Script::new().main(read).main(Reply::text("done"));
    let script = (0..5).fold(begin, |script, _| script.main(Reply::text("done")));
    let model = Model::start(script);
    let prompts = [
        ("undo/redoの実装を調べて", 1),
        ("find out how the parser reads numbers", 1),
        ("ok", 1),
        ("debug the crash in the parser", 2),
        ("explain to me how the cache decides what to evict", 2),
        ("debug the crash in the cache", 2),
    ];
    play(&home, &model, &prompts);

    tidegate.assert_unfailing();
    let contexts = model.last_main().hook_contexts();
    let advice: Vec<&String> = contexts.iter().filter(|text| text.contains(ENTERS)).collect();
    assert!(
        advice[0].contains("`research`") && STOCK.iter().all(|name| advice[0].contains(name)),
        "{advice:#?}"
    );
    let debug = advice[1].contains("team-rules") && advice[1].contains("`debug`");
    assert!(debug && !advice[1].contains("not-installed") && !advice[1].contains(".md"), "{advice:#?}");
    assert_extending(&model.requests());
    model.finish();
}

#[test]
fn it_ends_when_two_in_a_row_are_ignored() {
    let home = Home::new();
    home.write_config("[activity.debug]\nskills = [\"one\"]\n[activity.review]\nskills = [\"two\"]\n[activity.plan]\nskills = [\"three\"]\n");
    for name in ["one", "two", "three"] {
        home.write(
            format!(".claude/skills/{name}/SKILL.md"),
            &format!("---\nname: {name}\ndescription: x\n---\nx\n"),
        );
    }
    let tidegate = Tidegate::init(&home);
    let model = Model::start((0..3).fold(Script::new(), |script, _| script.main(Reply::text("done"))));
    let prompts = [
        ("debug the crash in the parser", 1),
        ("please review this diff and tell me what is wrong with it", 2),
        ("plan the tasks for the migration and estimate them", 2),
    ];
    play(&home, &model, &prompts);

    tidegate.assert_unfailing();
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

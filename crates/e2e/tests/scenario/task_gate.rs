//! Task gate: a task is not completed while code is unverified, once per task.

use serde_json::json;
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::tidegate::Tidegate;

use super::work::{CODE_RULES, copies_of_reason, gradle, launch, skill};

fn complete() -> Reply {
    Reply::tool("TaskUpdate", json!({ "taskId": "1", "status": "completed" }))
}

#[test]
fn a_task_is_held_until_the_tests_ran() {
    let home = Home::new();
    gradle(&home);
    let tidegate = Tidegate::init_with(&home, &["--preset", "strict"]);
    let task = json!({ "subject": "add a class", "description": "B", "activeForm": "adding" });
    let script = Script::new()
        .main(skill(CODE_RULES))
        .main(Reply::tool("TaskCreate", task))
        .main(Reply::write(home.in_project("src/B.java"), "class B {}\n"))
        .main(complete())
        .main(Reply::bash("./gradlew test"))
        .main(complete())
        .main(Reply::text("done"));
    let model = Model::start(script);
    // The newest models have these tools only on request.
    launch(&home, &model).environment("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1").ask("add a class");

    tidegate.assert_unfailing();
    let requests = model.main_requests();
    let held = requests[4].last_tool_result();
    assert!(
        held.text.contains("TaskCompleted hook feedback") && held.text.contains("src/B.java"),
        "{held:?}"
    );
    assert!(held.text.contains("`./gradlew test`"), "{held:?}");
    assert_eq!(copies_of_reason(&tidegate, "TaskCompleted", &requests[4]), 1);
    let completed = requests[6].last_tool_result();
    assert!(!completed.text.contains("feedback"), "{completed:?}");
    model.finish();
}

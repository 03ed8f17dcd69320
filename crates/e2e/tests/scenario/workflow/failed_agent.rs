//! Advice on giving failed work to another agent comes with the failure, before the next agent starts.

use serde_json::json;
use tidegate_e2e::client::SONNET_4_5;
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request, Script};
use tidegate_e2e::tidegate::Tidegate;

use super::super::work::launch;
use super::gate;

const ADVICE: &str = "To repeat the work of this failed agent";

fn spawn(description: &str, prompt: &str, background: bool) -> Reply {
    let kind = "general-purpose";
    let input = json!({ "description": description, "prompt": prompt, "subagent_type": kind,
        "run_in_background": background });
    Reply::tool("Agent", input)
}

fn advice(request: &Request) -> Vec<String> {
    request.hook_contexts().into_iter().filter(|text| text.contains(ADVICE)).collect()
}

/// The tool itself fails, in the foreground or in the background.
#[test]
fn the_advice_comes_before_the_next_agent() {
    for background in [false, true] {
        let home = Home::new();
        let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
        let mut script = Script::new()
            .main(gate("start x").used(20_000))
            .main(spawn("look at the parser", "BAD", background).used(21_000));
        if background {
            // If the agent fails before the turn ends, the client does not report it and ends.
            let journal = home.state().join("journal");
            let wait =
                format!("until grep -qs '\"event\":\"Stop\"' {}/*; do sleep 0.1; done", journal.display());
            script = script
                .subagent("BAD", Reply::bash(format!("timeout 100 sh -c '{}'", wait.replace('\'', "'\\''"))))
                .main(Reply::text("it is under way").used(21_500));
        }
        script = script.subagent("BAD", Reply::error(403, "permission_error", "no"));
        let script = script
            .main(spawn("look at the parser again", "GOOD", false).used(22_000))
            .subagent("GOOD", Reply::text("found").used(9_000))
            .main(Reply::text("done").used(24_000));
        let model = Model::start(script).paced(&home);
        launch(&home, &model).on(SONNET_4_5).ask("go through the phases");
        tidegate.assert_unfailing();
        let requests = model.main_requests();
        // The request that is answered with the next agent already has it.
        let before_retry = &requests[requests.len() - 2];
        assert_eq!(
            advice(before_retry).len(),
            1,
            "in the background: {background}: {:#?}",
            before_retry.hook_contexts()
        );
        assert_eq!(advice(&model.last_main()).len(), 1, "said once");
        model.finish();
    }
}

/// The client calls the agent completed; its answer says otherwise. The next description is another one.
#[test]
fn an_answer_that_tells_of_a_failure_counts() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(spawn("Fix the parser", "FIRST", false).used(21_000))
        .subagent("FIRST", Reply::text("completed, FAILED: the lexer does not compile").used(9_000))
        .main(spawn("Retry: fixing the parser", "SECOND", false).used(22_000))
        .subagent("SECOND", Reply::text("Status: FAILED").used(9_000))
        .main(spawn("Write the changelog", "THIRD", false).used(23_000))
        .subagent("THIRD", Reply::text("Wrote it. 0 failed.").used(9_000))
        .main(Reply::text("done").used(24_000));
    let model = Model::start(script);
    launch(&home, &model).on(SONNET_4_5).ask("go through the phases");
    tidegate.assert_unfailing();
    let said: Vec<usize> = model.main_requests().iter().map(|request| advice(request).len()).collect();
    assert_eq!(said, [0, 0, 1, 1, 1], "once, with the first failure");
    model.finish();
}

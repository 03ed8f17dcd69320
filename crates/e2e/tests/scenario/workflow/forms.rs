//! Summaries and manifests in the forms that other tools write.

use tidegate_e2e::client::SONNET_4_5;
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request, Script};
use tidegate_e2e::tidegate::{Tidegate, binary};

use super::super::work::launch;
use super::{gate, phase, spawns};

/// A summary that lists what was found, names a removed file, and has no word for decisions.
#[test]
fn a_summary_that_lists_what_was_found_passes() {
    let home = Home::new();
    home.write("src/stores/order.ts", "export {};\n");
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let summary = "Phase 3 (Discovery): COMPLETE\n- Technologies: Vue 4, Pinia, Vitest\n- Patterns: one store per page, shared \
                   forms\n- Affected files: 9 files in src/stores/\n- Removed src/old.ts\n- Full details: discovery.md";
    home.write("summary.txt", summary);
    let program = binary();
    let program = program.display();
    let persist = Reply::bash(format!(
        "seq 300 | {program} gate note 3 --output discovery.md && \
         {program} gate note 3 --status complete --summary \"$(cat summary.txt)\""
    ));
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(3).used(21_000))
        .main(persist.used(22_000))
        .main(gate("pass 1").used(23_000))
        .main(gate("phase 4").used(24_000))
        .main(Reply::agent("IN TIME").used(25_000))
        .subagent("IN TIME", Reply::text("here").used(9_000))
        .main(Reply::text("done").used(26_000));
    let model = Model::start(script);
    launch(&home, &model).on(SONNET_4_5).ask("go through the phases");

    tidegate.assert_unfailing();
    let requests = model.main_requests();
    let passed = requests[4].last_tool_result();
    assert!(
        !passed.is_error && passed.text.contains("Gate status: PASSED. Proceeding to Phase 4."),
        "{passed:?}"
    );
    assert!(!passed.text.contains("src/old.ts does not exist"), "{passed:?}");
    assert!(passed.text.contains("src/stores/ exists"), "{passed:?}");
    assert!(!requests[5].last_tool_result().is_error, "{:?}", requests[5].last_tool_result());
    assert_eq!(spawns(&tidegate), ["there is room for agents"]);
    model.finish();
}

const ELSEWHERE: &str = "planning/checkout/MANIFEST.yaml";

/// Sections with `output_file`, and the result of a phase at the top of the file.
const TEXT: &str = "\
capability_name: \"Checkout\"
capability_slug: \"checkout\"
status: \"in-progress\"
current_phase: 4
current_phase_name: \"skill_discovery\"
phases:
  1_setup: { status: \"complete\" }
  2_triage: { status: \"complete\" }
  3_codebase_discovery:
    status: \"complete\"
    output_file: \"discovery.md\"
    compaction_gate: true
  4_skill_discovery:
    status: \"in-progress\"
codebase_discovery:
  summary: |
    Orders are written by one service, carts live in the browser.
  key_patterns:
    - \"One repository per aggregate\"
  full_details: \"planning/checkout/discovery.md\"
";

#[test]
fn a_manifest_of_another_tool_is_attached_and_checked_where_it_is() {
    let home = Home::new();
    home.write(ELSEWHERE, TEXT);
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let script = Script::new()
        .main(gate(&format!("attach {ELSEWHERE}")).used(20_000))
        .main(Reply::agent("TOO EARLY").used(21_000))
        .main(gate("check 1").used(22_000))
        .main(Reply::bash("seq 300 > planning/checkout/discovery.md").used(23_000))
        .main(gate("pass 1").used(24_000))
        .main(Reply::agent("IN TIME").used(25_000))
        .subagent("IN TIME", Reply::text("here").used(9_000))
        .main(Reply::text("done").used(26_000));
    let model = Model::start(script);
    launch(&home, &model).on(SONNET_4_5).ask("continue the checkout");

    tidegate.assert_unfailing();
    let results: Vec<_> = model.main_requests()[1..].iter().map(Request::last_tool_result).collect();
    assert!(results[0].text.contains("now uses the workflow feature"), "{:?}", results[0]);
    assert!(
        results[1].is_error && results[1].text.contains("discovery.md is named and does not exist"),
        "{:?}",
        results[1]
    );
    assert!(results[2].text.contains("Gate status: NOT PASSED. 2 items are missing."), "{:?}", results[2]);
    assert!(results[4].text.contains("Gate status: PASSED. Proceeding to Phase 4."), "{:?}", results[4]);
    assert!(!results[5].is_error, "{:?}", results[5]);
    assert_eq!(spawns(&tidegate), ["a checkpoint was not passed", "there is room for agents"]);
    let text = std::fs::read_to_string(home.in_project(ELSEWHERE)).expect("the manifest");
    assert!(text.starts_with(TEXT), "only the passage is added: {text}");
    model.finish();
}

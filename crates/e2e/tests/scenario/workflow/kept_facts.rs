//! Decisions, constraints and blockers of a manifest survive a compaction: the summariser hears of them, and Claude gets back those
//! that the summary lost. The report of a checkpoint says what happened.

use tidegate_e2e::client::SONNET_4_5;
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Route, Script};
use tidegate_e2e::tidegate::Tidegate;

use super::super::work::launch;
use super::{MANIFEST, gate, persist, phase};

const TEXT: &str = "\
workflow: feature
current_phase: 8
constraints: [must use TDD for every handler]
phases:
  7_architecture_plan:
    status: complete
    summary: |
      Key decisions: signed cookies live for 30 days
  8_implementation:
    status: in_progress
    blockers: [the staging certificate expires tomorrow]
    files_modified: [src/session/cookie.rs]
";

#[test]
fn facts_of_the_manifest_survive_a_compaction() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    home.write(MANIFEST, TEXT);
    let script = Script::new()
        .main(gate(&format!("attach {MANIFEST}")).used(20_000))
        .main(Reply::text("ready").used(21_000))
        .summary(Reply::text(
            "<summary>Phase 8 of 16 (implementation) is under way. Must use TDD for every handler.</summary>",
        ))
        .main(Reply::text("continued").used(12_000));
    let model = Model::start(script);
    let mut session = launch(&home, &model).on(SONNET_4_5).start();
    session.ask("attach it");
    session.ask("/compact");
    session.ask("continue");
    session.finish();
    tidegate.assert_unfailing();
    let asked = &model.requests_on(&Route::Compaction)[0];
    let instructions = asked.summary_instructions().expect("instructions for the summary");
    for fact in [
        "constraint: must use TDD for every handler",
        "decided before: signed cookies live for 30 days",
        "blocker: the staging certificate expires tomorrow",
        "file in work: `src/session/cookie.rs`",
    ] {
        assert!(instructions.contains(fact), "{fact}: {instructions}");
    }
    let after = model.last_main();
    for fact in [
        "signed cookies live for 30 days",
        "the staging certificate expires tomorrow",
        "src/session/cookie.rs",
    ] {
        assert_eq!(after.count(fact), 1, "{fact} is given back: {:#?}", after.texts());
    }
    let lost = after.hook_contexts().join("\n");
    assert!(!lost.contains("must use TDD"), "it was kept: {lost}");
    model.finish();
}

/// At 11% of the window nothing was compacted, and the report does not say so.
#[test]
fn a_report_says_only_what_happened() {
    let home = Home::new();
    let tidegate = Tidegate::init_with(&home, &["--with", "workflow"]);
    let script = Script::new()
        .main(gate("start x").used(20_000))
        .main(phase(3).used(21_000))
        .main(persist().used(21_500))
        .main(phase(4).used(22_000))
        .main(gate("pass 1").used(22_000))
        .main(Reply::text("done").used(22_000));
    let model = Model::start(script).paced(&home);
    launch(&home, &model).on(SONNET_4_5).ask("go through the phases");
    tidegate.assert_unfailing();
    let passed = model.last_main().last_tool_result().text;
    assert!(passed.contains("✅ Persisted; not compacted, not needed at 11%:"), "{passed}");
    assert!(!passed.contains("Context compacted") && !passed.contains("Reduction"), "{passed}");
    assert!(passed.contains("Gate status: PASSED"), "{passed}");
    model.finish();
}

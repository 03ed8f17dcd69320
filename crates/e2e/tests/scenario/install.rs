//! What `init` registers is what the client runs, and `uninstall` ends it.

use tidegate_e2e::client::{Launch, OPUS_5_5};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::tidegate::Tidegate;

#[test]
fn hooks_run_until_uninstalled() {
    let home = Home::new();
    let model = Model::start(Script::new().main(Reply::text("first")).main(Reply::text("second")));
    let tidegate = Tidegate::init(&home);

    let with = Launch::new(&home, &model).on(OPUS_5_5).ask("begin");
    assert!(with.hooks_started().iter().any(|name| name == "UserPromptSubmit"), "{:?}", with.hooks_started());
    tidegate.assert_unfailing();
    for record in tidegate.journal() {
        assert_eq!(record["session"], with.session_id(), "{record:#}");
    }
    assert_eq!(tidegate.records_of("UserPromptSubmit").len(), 1);
    assert_eq!(tidegate.records_of("Stop").len(), 1);

    tidegate.run(&["uninstall", "--project", &home.project().display().to_string()]);
    let records = tidegate.journal().len();
    let without = Launch::new(&home, &model).on(OPUS_5_5).ask("begin");
    assert_eq!(without.hooks_started(), Vec::<String>::new());
    assert_eq!(tidegate.journal().len(), records);
    model.finish();
}

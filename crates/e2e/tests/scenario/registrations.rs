//! Two registrations of one event, as with the plugin next to `init`, answer once.

use serde_json::{Value, json};
use tidegate_e2e::client::{Launch, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::tidegate::{Tidegate, binary};

/// Everything that `init` registered once more, as another install.
fn second_install(settings: &Value) -> Value {
    let mut hooks = settings["hooks"].clone();
    for groups in hooks.as_object_mut().expect("hooks by event").values_mut() {
        for handler in groups
            .as_array_mut()
            .expect("groups")
            .iter_mut()
            .filter_map(|group| group["hooks"].as_array_mut())
            .flatten()
        {
            handler["command"] = json!(binary());
            handler["args"].as_array_mut().expect("arguments").extend([json!("--via"), json!("plugin")]);
        }
    }
    json!({ "hooks": hooks })
}

#[test]
fn say_and_record_once() {
    let home = Home::new();
    let tidegate = Tidegate::init(&home);
    let script =
        (0..4).fold(Script::new(), |script, n| script.main(Reply::bash("true").used(125_000 + n * 100)));
    let model = Model::start(script.main(Reply::text("done").used(126_000))).paced(&home);

    let second = second_install(&home.read_settings());
    Launch::new(&home, &model).on(SONNET_4_6).settings(&second).ask("work");

    tidegate.assert_unfailing();
    assert_eq!(model.last_main().hook_contexts().len(), 1, "said once");
    assert_eq!(tidegate.records_of("PostToolUse").len(), 4, "one record for each call");
    assert_eq!(tidegate.records_of("SessionStart").len(), 1);
    assert_eq!(tidegate.records_of("Stop").len(), 1);
    model.finish();
}

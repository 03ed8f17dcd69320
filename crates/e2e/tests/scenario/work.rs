//! A project that can be edited and tested without any toolchain, and a model's actions in it.

use serde_json::json;
use tidegate_e2e::client::Launch;
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request};
use tidegate_e2e::tidegate::Tidegate;

pub(crate) const CODE_RULES: &str = "code-quality-rules";

pub(crate) fn skill(name: &str) -> Reply {
    Reply::tool("Skill", json!({ "skill": name }))
}

/// With the tools that the gates are about.
pub(crate) fn launch<'a>(home: &'a Home, model: &'a Model) -> Launch<'a> {
    Launch::new(home, model)
        .argument("--allowedTools")
        .argument("Bash,Read,Write,Edit,Agent,Skill,NotebookEdit,TaskCreate,TaskUpdate,TaskStop")
}

/// A Gradle project whose wrapper is a script: its test fails while a source contains `broken`.
pub(crate) fn gradle(home: &Home) {
    home.write("build.gradle", "plugins { id 'java' }\n");
    home.write("src/A.java", "class A {}\n");
    let wrapper = home.write("gradlew", "#!/bin/sh\n! grep -q broken src/*.java\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(wrapper, std::fs::Permissions::from_mode(0o755))
            .expect("an executable wrapper");
    }
    #[cfg(not(unix))]
    drop(wrapper);
}

/// How many times the next request has the reason of the only denial at this event. The journal counts as many.
pub(crate) fn copies_of_reason(tidegate: &Tidegate<'_>, event: &str, next: &Request) -> usize {
    let records = tidegate.records_of(event);
    let denied: Vec<_> = records.iter().filter(|record| record["ruling"] == "deny").collect();
    assert_eq!(denied.len(), 1, "{denied:#?}");
    let reason = denied[0]["said"]["model"].as_str().expect("a reason");
    let copies = next.count(reason);
    assert_eq!(denied[0]["cost"]["bytes"], copies * reason.len(), "{:#?}", next.texts());
    copies
}

//! A project that can be edited and tested without any toolchain, and a model's actions in it.

use serde_json::json;
use tidegate_e2e::client::Launch;
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply};

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

//! A turn of a host that has Tidegate's hooks, and what it left behind: the same for every host.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use super::process::{Output, run};
use super::settle;
use crate::client::Launch;
use crate::home::Home;
use crate::model::{Model, Reply, Script};
use crate::openai::{OpenAi, Request, Step};
use crate::tidegate::{Tidegate, binary};

/// A check of the project: it passes once [`PASSING`] has run.
pub const TEST: &str = "./gradlew test";
/// The same check, now with success.
pub const PASSING: &str = "touch ok && ./gradlew test";

/// A source file of the project.
pub const SOURCE: &str = "src/A.java";
/// Its text.
pub const BEFORE: &str = "class A {}\n";
/// Its text after [`PATCH`].
pub const AFTER: &str = "final class A {}\n";

/// Changes [`SOURCE`] and adds `src/B.java`, as OpenAI's models edit.
pub const PATCH: &str = "*** Begin Patch\n*** Add File: src/B.java\n+class B {}\n*** Update File: src/A.java\n@@\n-class A {}\n\
                         +final class A {}\n*** End Patch\n";

/// A host as a scenario drives it.
pub trait Driver {
    /// As Tidegate names it.
    const NAME: &'static str;

    fn home(&self) -> &Home;

    fn model(&self) -> &OpenAi;

    /// The whole command of one turn.
    fn turn(&self, prompt: &str) -> Command;

    /// Hooks that failed, as the host reports them. Also a report that none ran, from a host that reports each.
    fn failures(&self, output: &Output) -> Vec<String>;
}

/// A project with code, and a check that fails at first.
pub fn project() -> Home {
    let home = Home::new();
    home.write("build.gradle", "plugins { id 'java' }\n");
    home.write(SOURCE, BEFORE);
    let wrapper = home.write("gradlew", "#!/bin/sh\n[ -f ok ] || { echo '1 test failed'; exit 1; }\n");
    fs::set_permissions(wrapper, fs::Permissions::from_mode(0o755)).expect("an executable wrapper");
    home
}

/// Progress notes of an earlier session, with these lines.
pub fn note_progress(home: &Home, lines: &str) {
    let text = format!("# Progress\n\n## 2026-11-15 login page added\n\n{lines}");
    home.write(".claude/context/progress.md", &text);
}

/// The project's own skills of stages, in a folder that the host reads.
pub fn add_stages(home: &Home, folder: &str) {
    for name in ["sprint", "audit", "ship", "retrospective"] {
        let text =
            format!("---\nname: {name}\ndescription: The stage {name}.\n---\n\nDo what the stage is for.\n");
        home.write(format!("{folder}/skills/{name}/SKILL.md"), &text);
    }
}

/// A command of Tidegate's own stages.
pub fn cycle(arguments: &str) -> String {
    format!("{} cycle {arguments}", binary().display())
}

/// Calls, rulings and texts in the journal.
pub fn rulings(records: &[Value]) -> Vec<&str> {
    records.iter().map(|record| record["ruling"].as_str().unwrap_or_default()).collect()
}

/// When it ends, so do Tidegate's own processes in the home.
pub struct Trial<'a, D: Driver> {
    pub tidegate: Tidegate<'a>,
    host: &'a D,
}

impl<D: Driver> Drop for Trial<'_, D> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            settle(self.host.home());
        }
    }
}

impl<'a, D: Driver> Trial<'a, D> {
    /// With the hooks of `init --host` and these flags.
    pub fn new(host: &'a D, flags: &[&str]) -> Self {
        let tidegate = Tidegate::init_with(host.home(), &[&["--host", D::NAME], flags].concat());
        Self { tidegate, host }
    }

    /// With hooks that were installed by other means.
    pub fn of_installed(host: &'a D) -> Self {
        Self { tidegate: Tidegate::of(host.home()), host }
    }

    /// One healthy turn.
    pub fn ask(&self, prompt: &str) -> Output {
        self.check(run(&mut self.host.turn(prompt)))
    }

    /// One healthy turn as a person's, for whom conversations are recorded.
    pub fn ask_as_person(&self, prompt: &str) -> Output {
        self.check(run(self.host.turn(prompt).env("TIDEGATE_ATTENDED", "1")))
    }

    /// No hook failed, and all of them knew the host.
    fn check(&self, output: Output) -> Output {
        assert_eq!(output.exit, Some(0), "{output:#?}");
        assert_eq!(self.host.failures(&output), Vec::<String>::new(), "{output:#?}");
        self.tidegate.assert_unfailing();
        let journal = self.tidegate.journal();
        // Tidegate's own commands leave records, too.
        let of_host = |record: &Value| record["host"] == D::NAME || record["ruling"] == "command";
        assert!(!journal.is_empty() && journal.iter().all(of_host), "{journal:#?}");
        output
    }

    /// Of all tools of the session, as the model received them.
    pub fn results(&self) -> Vec<String> {
        self.host.model().turns().last().map(Request::tool_results).unwrap_or_default()
    }

    /// The gate's records about these tools.
    pub fn gates(&self, tools: &[&str]) -> Vec<Value> {
        let gates = self.tidegate.records_of("PreToolUse").into_iter();
        gates.filter(|record| record["tool"].as_str().is_some_and(|tool| tools.contains(&tool))).collect()
    }

    #[track_caller]
    pub fn assert_rulings(&self, event: &str, expected: &[&str]) {
        let records = self.tidegate.records_of(event);
        assert_eq!(rulings(&records), expected, "{records:#?}");
    }

    #[track_caller]
    pub fn assert_gates(&self, tools: &[&str], expected: &[&str]) {
        let records = self.gates(tools);
        assert_eq!(rulings(&records), expected, "{records:#?}");
    }

    /// Texts for the model at this event, in order.
    pub fn said(&self, event: &str) -> Vec<String> {
        let records = self.tidegate.records_of(event).into_iter();
        records.filter_map(|record| record["said"]["model"].as_str().map(str::to_owned)).collect()
    }

    /// The meter that commands show.
    pub fn meter(&self) -> Value {
        let records = self.tidegate.records_of("Stop");
        let session = records.first().and_then(|record| record["session"].as_str()).expect("a session");
        self.tidegate.meter(session)
    }

    #[track_caller]
    pub fn assert_meter(&self, used: u64, window: u64, compact_at: u64) {
        let meter = self.meter();
        let found = (&meter["used"], &meter["window"], &meter["compact_at"]);
        assert_eq!(found, (&json!(used), &json!(window), &json!(compact_at)), "{meter}");
    }

    /// The failure was seen after this event, the success after PostToolUse.
    #[track_caller]
    pub fn assert_check_failed_and_passed(&self, failed_at: &str) {
        let failed = self.tidegate.records_of(failed_at);
        let is_failed =
            |record: &Value| record["did"]["failed"].as_str().is_some_and(|line| line.contains(TEST));
        assert!(failed.iter().any(is_failed), "{failed:#?}");
        let passed = self.tidegate.records_of("PostToolUse");
        assert!(passed.iter().any(|record| record["did"]["verified"][0] == "test"), "{passed:#?}");
    }

    /// The end of a turn without a check was blocked, but not for ever.
    #[track_caller]
    pub fn assert_held_without_a_loop(&self) {
        let stops = self.tidegate.records_of("Stop");
        let found = rulings(&stops);
        let held = found.iter().filter(|ruling| **ruling == "deny").count();
        assert!((1..=2).contains(&held) && found.last() == Some(&"pass"), "{stops:#?}");
    }

    /// The stage under way in the project, and its status.
    pub fn stage(&self) -> (String, String) {
        let file = self.host.home().in_project(".claude/dev-cycle.state.json");
        let text = fs::read_to_string(file).expect("the state file");
        let state: Value = serde_json::from_str(&text).expect("the state file is JSON");
        let member = |name: &str| state[name].as_str().unwrap_or_default().to_owned();
        (member("stage"), member("status"))
    }

    /// What is found in the memory, as JSON.
    pub fn search(&self, words: &str) -> String {
        self.tidegate.run(&["worker", "--once"]);
        self.tidegate.run(&["memory", "search", words, "--json"])
    }

    /// One memory: a person asked this in the host, and it is found on the command line and by the model in Claude Code.
    #[track_caller]
    pub fn assert_found_from_claude_code(&self, asked: &str, words: &str, answer: &str) {
        let printed = self.search(words);
        assert!(printed.contains(asked), "{printed}");
        let search = Reply::tool("mcp__tidegate__search", json!({ "query": words }));
        let model = Model::start(Script::new().main(search).main(Reply::text("found")));
        let server = json!({ "mcpServers": { "tidegate": { "command": binary(), "args": ["mcp"] } } });
        let run = Launch::new(self.host.home(), &model)
            .argument("--mcp-config")
            .argument(server.to_string())
            .argument("--strict-mcp-config")
            .argument("--allowedTools")
            .argument("mcp__tidegate")
            .ask("Was this ever discussed?");
        let found = model.main_requests().last().expect("a request").last_tool_result().text;
        assert!(found.contains(words) && found.contains(answer), "{found} {run:?}");
    }

    pub fn uninstall(&self) {
        let project = self.host.home().project().display().to_string();
        self.tidegate.run(&["uninstall", "--host", D::NAME, "--project", &project]);
    }
}

/// Three requests of 31,000, 42,000 and 53,000 tokens.
pub fn growing(shell: impl Fn(&str) -> Step) -> Vec<Step> {
    vec![shell("true").used(31_000), shell("echo two").used(42_000), Step::text("done").used(53_000)]
}

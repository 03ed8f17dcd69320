//! Knowledge across a compaction: instructions for the summary, kept and lost facts, and the files of flow
//! and stock.

mod boundary;
#[cfg(unix)]
mod compound;
mod damage;
mod ends_of_work;
mod handoff;
mod hold;
mod persistence_files;
#[cfg(unix)]
mod person;
mod recovery;
mod standing;
mod stated;
mod status_page;
mod trim;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tidegate_core::time::Millis;
use tidegate_e2e::client::{ClientSession, Launch, SONNET_4_6, Stream};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request, Route, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::tidegate::{self, Tidegate};

use super::filler;
use super::work::gradle;

const PLAN: &str = "task_plan.md";
const PROGRESS: &str = "progress.md";
const ARCHIVE: &str = "progress.archive.md";

const CONSTRAINT: &str = "amounts stay integers in minor units";
const OPEN: &str = "ask finance about the yen";
const HEADING: &str = "rounding moved from the sum to each line";
const DECISION: &str = "half-even rounding, because the auditors compare with the bank";
const NEXT: &str = "migrate the archived invoices of 2024";
const FILE: &str = "src/B.java";

/// In flow and plan; the edited file is added after an edit.
const FACTS: [&str; 5] = [CONSTRAINT, DECISION, HEADING, NEXT, OPEN];

/// In the note about lost facts.
const LOST: &str = "The summary of the compaction lost these facts:";

/// In the text after a compaction.
const OCCURRED: &str = "Claude Code compacted the conversation.";

/// The size at which the client compacts on the model of these scenarios.
const FULL: u64 = 168_000;

/// A project with code, a plan and one entry.
struct Scene {
    home: Home,
}

impl Scene {
    /// With a plan and an entry of this session.
    fn new() -> Scene {
        let scene = Scene::without_flow();
        scene.put(
            PLAN,
            &format!("# Current Task: rounding\n\n## Constraints\n\n- {CONSTRAINT}\n\n## Remaining\n\n- [ ] {OPEN}\n"),
        );
        scene.put(
            PROGRESS,
            &format!(
                "# Progress\n\n## [{}] — {HEADING}\n\n- Decision: {DECISION}\n- Next: {NEXT}\n",
                today()
            ),
        );
        scene
    }

    /// Without any persistence file.
    fn without_flow() -> Scene {
        let home = Home::new();
        gradle(&home);
        Scene { home }
    }

    /// Without the gates that also speak about edits.
    fn install(&self) -> Tidegate<'_> {
        self.home.write_config("[skill_gate]\nmode = \"off\"\n\n[verify_stop]\nmode = \"off\"\n");
        Tidegate::init(&self.home)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.in_project(".claude/context").join(name)
    }

    fn put(&self, name: &str, text: &str) {
        self.home.write(self.path(name), text);
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).expect("JSON")
    }

    fn edit(&self) -> Reply {
        Reply::write(self.home.in_project(FILE), "class B {}\n")
    }

    /// A session with a person present, in which `strict` requires no tags.
    fn launch<'a>(&'a self, model: &'a Model) -> Launch<'a> {
        super::work::launch(&self.home, model)
            .on(SONNET_4_6)
            .environment("TIDEGATE_ATTENDED", "1")
            .environment("TIDEGATE_OFF", "meta-tag")
    }

    /// Two long turns; in the second, after an edit and these steps, the client compacts.
    fn climb(&self, steps: impl IntoIterator<Item = Reply>) -> Script {
        let begin = Script::new().main(Reply::text("first").used(40_000)).main(self.edit().used(60_000));
        steps.into_iter().fold(begin, |script, step| script.main(step.used(80_000)))
    }

    /// A call that ends once the client has written the boundary. A scripted model answers faster than that.
    fn until_the_boundary_is_written(&self) -> Reply {
        let transcripts = self.home.client_config().join("projects");
        Reply::bash(format!(
            "until grep -rqs '\"subtype\":\"compact_boundary\"' {}; do sleep 0.02; done",
            transcripts.display()
        ))
    }

    /// Up to the compaction and beyond it.
    fn over_the_boundary(&self, after: impl IntoIterator<Item = Reply>) -> Script {
        let script = self.climb([]).main(Reply::bash("true").used(FULL));
        after.into_iter().fold(script, |script, step| script.main(step.used(30_000)))
    }

    /// Plays both turns.
    fn automatic(&self, model: &Model) -> ClientSession {
        let mut session = self.launch(model).start();
        session.ask(&filler());
        assert_eq!(session.ask(&filler()).compactions(), ["auto"]);
        session
    }

    /// An edit, a manual compaction, and one prompt after it.
    fn manual(&self, model: &Model, compact: &str) -> ClientSession {
        let mut session = self.launch(model).start();
        session.ask("begin");
        session.ask("anything else?");
        assert_eq!(session.ask(compact).compactions(), ["manual"]);
        session.ask("go on");
        session
    }

    /// The answers for [`Scene::manual`]. The client keeps the last message before the compaction, so it
    /// contains no fact.
    fn by_hand(&self) -> Script {
        let begin = Script::new().main(self.edit()).main(Reply::text("edited"));
        begin.main(Reply::text("no")).main(Reply::text("on it"))
    }
}

/// True after every scenario.
fn settle(tidegate: &Tidegate<'_>, model: &Model) {
    tidegate.assert_unfailing();
    assert_extending(&model.requests());
    model.finish();
}

/// The instructions for the summary.
fn instructions(model: &Model) -> String {
    let asked = model.requests_on(&Route::Compaction);
    assert_eq!(asked.len(), 1, "one summary was asked for");
    asked[0].summary_instructions().unwrap_or_default().to_owned()
}

/// Requests after the first boundary.
fn after(model: &Model) -> Vec<Request> {
    model.main_requests().into_iter().filter(|request| request.conversation == 1).collect()
}

/// Occurrences in each of these requests.
fn counts(requests: &[Request], needle: &str) -> Vec<usize> {
    requests.iter().map(|request| request.count(needle)).collect()
}

/// From the journal, oldest first.
fn boundaries(tidegate: &Tidegate<'_>) -> Vec<Value> {
    let of = |record: Value| Some(record["boundary"].clone()).filter(|boundary| !boundary.is_null());
    tidegate.journal().into_iter().filter_map(of).collect()
}

/// Keeps everything that the instructions name.
fn faithful(request: &Request) -> Reply {
    let told = request.summary_instructions().unwrap_or_default();
    Reply::text(format!("<analysis>As told.</analysis>\n<summary>\n{told}\n</summary>"))
}

/// The date of an entry of this session.
fn today() -> String {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a clock").as_millis();
    Millis(now as u64).iso_seconds()[..10].to_owned()
}

fn call(arguments: &str) -> String {
    format!("{} {arguments}", tidegate::binary().display())
}

//! Plays one session through one compaction on the real client, and reads the model's context afterwards.

use std::fs;
use std::time::SystemTime;

use serde_json::Value;
use tidegate_core::text::tokens::estimate_tokens;
use tidegate_core::time::Millis;
use tidegate_e2e::client::{Launch, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request, Route, Script};
use tidegate_e2e::tidegate::Tidegate;

use crate::sessions::{FactKind, Planted};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// By the client, in the middle of a turn.
    Automatic,
    /// By a person.
    Manual,
}

/// The scripted model's reaction to instructions for the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SummaryStyle {
    /// Keeps the lines that the instructions name.
    Follows,
    Ignores,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlayMode {
    pub(crate) trigger: Trigger,
    pub(crate) summariser: SummaryStyle,
    pub(crate) tidegate: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Each planted fact, and whether it is in one of the next two requests.
    pub(crate) facts: Vec<(FactKind, bool)>,
    /// Estimated tokens of the request for a summary.
    pub(crate) asked: usize,
    /// Estimated tokens of the second request after it.
    pub(crate) after: usize,
    pub(crate) failed: usize,
}

/// The size at which the client compacts by itself.
const FULL: u64 = 168_000;

pub(crate) fn play(planted: &'static Planted, way: PlayMode) -> Outcome {
    let home = Home::new();
    let tidegate = way.tidegate.then(|| {
        // These gates also speak about edits and are not measured here.
        home.write_config("[skill_gate]\nmode = \"off\"\n\n[verify_stop]\nmode = \"off\"\n");
        let tidegate = Tidegate::init(&home);
        // Every request of every session names skills and commands; they are not measured either.
        for brought in [".claude/skills", ".claude/commands"] {
            fs::remove_dir_all(home.in_project(brought)).expect("what init brings");
        }
        forget_servers(&home);
        tidegate
    });
    let model = Model::start(script(&home, planted, way)).paced(&home);
    let mut session = Launch::new(&home, &model).on(SONNET_4_6).start();
    let [one, other] = planted.constraints;
    // Enough text to compact.
    let logs = "a line of a long log\n".repeat(2_000);
    let [limit, later] = planted.limits;
    session.ask(&format!("{}\n\n{one}\n{other}\n{limit}\n{}\n\n{logs}", planted.task, planted.said[0]));
    // In the same files with and without Tidegate.
    home.write(".claude/context/task_plan.md", &planted.plan());
    home.write(".claude/context/progress.md", &planted.progress(now()));
    session.ask(&format!("Go on with the two files. {later}"));
    session.ask("Is that all for now?");
    match way.trigger {
        Trigger::Automatic => {
            let turn = session.ask("Look once more.");
            assert_eq!(turn.compactions(), ["auto"]);
        }
        Trigger::Manual => {
            assert_eq!(session.ask("/compact").compactions(), ["manual"]);
            session.ask("Go on.");
        }
    }
    session.finish();
    model.finish();

    let requests = model.requests();
    let asked = requests.iter().find(|request| request.route == Route::Compaction).expect("a compaction");
    let after: Vec<&Request> = requests
        .iter()
        .filter(|request| request.route == Route::Main && request.conversation == 1)
        .take(2)
        .collect();
    let stands = |text: &str| after.iter().any(|request| request.count(text) > 0);
    Outcome {
        facts: planted.facts().map(|(kind, text)| (kind, stands(text))).collect(),
        asked: tokens(asked),
        after: after.last().map_or(0, |request| tokens(request)),
        failed: tidegate.map_or(0, |tidegate| {
            tidegate.journal().iter().filter(|record| !record["failure"].is_null()).count()
        }),
    }
}

/// So do the tools of the memory.
fn forget_servers(home: &Home) {
    let path = home.client_config().join(".claude.json");
    let text = fs::read_to_string(&path).expect("the client's own settings");
    let mut settings: Value = serde_json::from_str(&text).expect("JSON");
    let projects = settings["projects"].as_object_mut().into_iter().flat_map(|all| all.values_mut());
    for project in projects {
        project["mcpServers"] = Value::Object(serde_json::Map::new());
    }
    settings["mcpServers"] = Value::Object(serde_json::Map::new());
    fs::write(&path, settings.to_string()).expect("a new version");
}

fn script(home: &Home, planted: &'static Planted, way: PlayMode) -> Script {
    let Planted { decisions: [one, other], steps: [next, open], paths, said, .. } = planted;
    let begin = Script::new()
        .main(Reply::text("I have read it.").used(40_000))
        // The client restores files that its own tools have read or written; not those that a shell wrote.
        .main(Reply::bash(format!("mkdir -p $(dirname {0}) && echo new > {0}", paths[0])).used(50_000))
        .main(Reply::write(home.in_project(paths[1]), "a file of the session\n").used(60_000))
        .main(Reply::text(format!("{one}\n{other}\n{next}\n{open}\n{}", said[1])).used(70_000))
        // The client keeps the last message as a whole: it should contain no fact.
        .main(Reply::text("Yes.").used(75_000));
    let begin = match way.trigger {
        Trigger::Automatic => {
            begin.main(Reply::bash("true").used(90_000)).main(Reply::bash("true").used(FULL))
        }
        Trigger::Manual => begin,
    };
    // A scripted model answers before the client has written the boundary; a real one never does.
    let written = format!(
        "until grep -rqs '\"subtype\":\"compact_boundary\"' {}; do sleep 0.02; done",
        home.client_config().join("projects").display()
    );
    let end = begin.main(Reply::bash(written).used(30_000)).main(Reply::text("Done.").used(31_000));
    end.summary_with(move |request| Reply::text(summary(planted, way.summariser, request)))
}

/// A short ordinary summary; if the model follows instructions, also the lines that they name.
fn summary(planted: &Planted, summariser: SummaryStyle, request: &Request) -> String {
    let told = request.summary_instructions().filter(|_| summariser == SummaryStyle::Follows);
    let lines: Vec<&str> =
        told.into_iter().flat_map(str::lines).filter(|line| line.starts_with("- ")).collect();
    format!(
        "<analysis>What happened, in order.</analysis>\n<summary>\nThe user asked for this: {}. Work is under way; the \
         file edited last is {}.\n{}\n</summary>",
        planted.task,
        planted.paths[1],
        lines.join("\n"),
    )
}

fn tokens(request: &Request) -> usize {
    request.texts().into_iter().map(|text| estimate_tokens(text) as usize).sum()
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock after 1970");
    Millis(since.as_millis() as u64)
}

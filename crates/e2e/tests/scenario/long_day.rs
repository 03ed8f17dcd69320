//! A day of work in one session: 30 turns with edits, tests, notes and three compactions. Counts every text of
//! Tidegate, to the model and to the person. None is said twice.

use std::collections::BTreeSet;

use serde_json::Value;
use tidegate_e2e::client::{ClientSession, HookResponse, Run, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Route, Script};
use tidegate_e2e::prefix::assert_extending;
use tidegate_e2e::tidegate::{self, Tidegate};

use super::filler;
use super::work::{gradle, launch};

const MOST_TO_MODEL: usize = 18;
const MOST_TO_PERSON: usize = 10;

/// At this size the client compacts by itself.
const FULL: u64 = 168_000;

struct Day<'a> {
    home: &'a Home,
    model: &'a Model,
    session: ClientSession,
    turns: usize,
}

impl Day<'_> {
    /// One turn: the prompt, and the model's steps with the tokens in use at each.
    fn turn(&mut self, prompt: &str, steps: impl IntoIterator<Item = (u64, Reply)>) -> Vec<String> {
        for (used, step) in steps {
            self.model.then(step.used(used));
        }
        self.turns += 1;
        let turn = self.session.ask(prompt);
        // A person is slower than the client's writes.
        self.model.await_transcript(turn.session_id());
        turn.compactions().into_iter().map(str::to_owned).collect()
    }

    fn edit(&self, name: &str) -> Reply {
        Reply::write(self.home.in_project(format!("src/{name}.java")), &format!("class {name} {{}}\n"))
    }

    /// A call that ends once the client has written as many boundaries. A scripted model answers faster than that.
    fn until_boundary(&self, number: usize) -> Reply {
        let transcripts = self.home.client_config().join("projects");
        let count = format!("grep -rhs '\"subtype\":\"compact_boundary\"' {}", transcripts.display());
        Reply::bash(format!("until [ $({count} | wc -l) -ge {number} ]; do sleep 0.02; done"))
    }
}

fn test() -> Reply {
    Reply::bash("./gradlew test")
}

fn note(what: &str, decision: &str, next: &str) -> Reply {
    let program = tidegate::binary();
    let program = program.display();
    Reply::bash(format!("{program} progress add \"{what}\" --decision \"{decision}\" --next \"{next}\""))
}

fn say(text: &str) -> Reply {
    Reply::text(text)
}

#[test]
fn says_each_thing_once_and_to_the_right_one() {
    let home = Home::new();
    gradle(&home);
    home.write("gradlew", "#!/bin/sh\ngrep -q broken src/*.java && exit 1\necho 'BUILD SUCCESSFUL in 1s'\n");
    home.write(
        ".claude/context/task_plan.md",
        "# Current Task: invoices\n\n## Constraints\n\n- amounts stay integers in minor units\n\n## Remaining\n\n\
         - [ ] ask finance about the yen\n",
    );
    home.write(
        ".claude/context/learnings-coding.md",
        "## Round late\n\n- **Learning**: round once\n- **Confirmed**: 3 times | 2026-02-18 | implement\n",
    );
    let tidegate = Tidegate::init(&home);
    // Keeps what it was told to keep, but for the decisions.
    let forgetful = |request: &tidegate_e2e::model::Request| {
        let told = request.summary_instructions().unwrap_or_default().to_owned();
        let kept: Vec<&str> = told.lines().filter(|line| !line.contains("rounding")).collect();
        Reply::text(format!("<summary>\n{}\n</summary>", kept.join("\n")))
    };
    let script = Script::new().summary_with(forgetful).summary_with(forgetful).summary_with(forgetful);
    let model = Model::start(script).paced(&home);
    let session = launch(&home, &model).on(SONNET_4_6).environment("TIDEGATE_ATTENDED", "1").start();
    let mut day = Day { home: &home, model: &model, session, turns: 0 };

    morning(&mut day);
    noon(&mut day);
    evening(&mut day);

    assert_eq!(day.turns, 30);
    let run = day.session.finish();
    tidegate.assert_unfailing();
    assert_extending(&model.requests());
    let to_model = texts_to_model(&run, &model);
    let to_person = texts_to_person(&run);
    model.finish();
    let list = format!(
        "{} texts to the model:\n{}\n{} texts to the person:\n{}",
        to_model.len(),
        to_model.join("\n"),
        to_person.len(),
        to_person.join("\n")
    );
    for texts in [&to_model, &to_person] {
        let mut seen = BTreeSet::new();
        let repeated: Vec<&String> = texts.iter().filter(|text| !seen.insert(without_event(text))).collect();
        assert_eq!(repeated, Vec::<&String>::new(), "said twice; {list}");
    }
    assert!(to_model.len() <= MOST_TO_MODEL && to_person.len() <= MOST_TO_PERSON, "{list}");
    let seen = |what: &str| to_person.iter().filter(|text| text.contains(what)).count();
    assert_eq!(seen("until Claude Code compacts"), 3, "the first early level, and both late ones: {list}");
    assert_eq!(seen(" facts."), 3, "compactions: {list}");
}

/// Implementing with tests, up to the first compaction in the middle of a turn.
fn morning(day: &mut Day<'_>) {
    let (line, sum, tax, bank) = (day.edit("Line"), day.edit("Sum"), day.edit("Tax"), day.edit("Bank"));
    day.turn("find out how the invoices are rounded today", [(22_000, say("at the sum"))]);
    day.turn(
        "implement the rounding for each line of an invoice in Line.java",
        [(30_000, line), (31_000, say("done")), (32_000, test()), (33_000, say("tested"))],
    );
    day.turn("now the same for the sum", [(41_000, sum), (42_000, test()), (43_000, say("tested"))]);
    day.turn("ok", [(51_000, say("fine"))]);
    day.turn(
        "add the tax, too",
        [
            (60_000, tax),
            (61_000, test()),
            (
                62_000,
                note("rounding for each line", "half-even rounding as the bank does", "the bank's file"),
            ),
            (63_000, say("tested")),
        ],
    );
    day.turn("explain to me why half-even is better here", [(72_000, say("it has no drift"))]);
    day.turn(
        "implement the reader for the bank's file",
        [(84_000, bank), (85_000, test()), (86_000, say("read"))],
    );
    day.turn("why does the test of the parser fail on umlauts?", [(97_000, say("wrong encoding"))]);
    day.turn("fix the bug", [(109_000, day.edit("Bank")), (110_000, test()), (111_000, say("fixed"))]);
    day.turn(
        &format!("review the code of the reader\n{}", filler()),
        [(121_000, Reply::bash("cat src/Bank.java")), (122_000, say("two remarks"))],
    );
    let remark = day.edit("Remark");
    let waits = day.until_boundary(1);
    let compactions = day.turn(
        &format!("work on both remarks\n{}", filler()),
        [
            (135_000, remark),
            (151_000, test()),
            (152_000, Reply::bash("true")),
            (153_000, Reply::bash("true")),
            (FULL, Reply::bash("true")),
            (30_000, waits),
            (31_000, Reply::bash("true")),
            (32_000, say("both are done")),
        ],
    );
    assert_eq!(compactions, ["auto"]);
}

/// Debugging, a review by the person, and the second compaction.
fn noon(day: &mut Day<'_>) {
    let (yen, export, report) = (day.edit("Yen"), day.edit("Export"), day.edit("Report"));
    day.turn("what is the next step?", [(41_000, say("the bank's file"))]);
    day.turn(
        "implement the amounts in yen",
        [
            (52_000, yen),
            (53_000, test()),
            (54_000, note("amounts in yen", "rounding of yen has no minor units", "the export")),
            (55_000, say("tested")),
        ],
    );
    day.turn("compare the two ways to export invoices", [(64_000, say("the second"))]);
    day.turn(
        &format!("implement the export\n{}", filler()),
        [(76_000, export), (77_000, test()), (78_000, say("tested"))],
    );
    day.turn(
        "write a test for the export",
        [(88_000, day.edit("ExportTest")), (89_000, test()), (90_000, say("ok"))],
    );
    day.turn("thanks", [(99_000, say("welcome"))]);
    day.turn(
        "debug the wrong total in the report",
        [
            (110_000, report),
            // Its last lines are there, so it counts.
            (111_000, Reply::bash("./gradlew test | tail -3")),
            (114_000, say("fixed and tested")),
        ],
    );
    day.turn(
        &format!("refactor the export\n{}", filler()),
        [
            (122_500, day.edit("Export")),
            (123_000, test()),
            (124_000, Reply::bash("true")),
            (125_000, say("shorter")),
        ],
    );
    day.turn("review it once more", [(153_500, Reply::bash("cat src/Export.java")), (154_000, say("good"))]);
    let waits = day.until_boundary(2);
    let compactions = day.turn(
        "document the export in the code",
        [
            (158_000, day.edit("Export")),
            (160_000, test()),
            (FULL, Reply::bash("true")),
            (30_500, waits),
            (31_500, Reply::bash("true")),
            (32_500, say("documented")),
        ],
    );
    assert_eq!(compactions, ["auto"]);
}

/// Planning, more work, and a compaction by hand before the last turns.
fn evening(day: &mut Day<'_>) {
    day.turn("plan the migration of the archived invoices", [(42_000, say("three steps"))]);
    day.turn(
        "implement the first step",
        [
            (60_000, day.edit("Migration")),
            (61_000, test()),
            (
                62_000,
                note("first step of the migration", "the rounding of old invoices stays", "the second step"),
            ),
            (63_000, say("tested")),
        ],
    );
    day.turn(
        "implement the second step",
        [(90_000, day.edit("Archive")), (91_000, test()), (92_000, say("tested"))],
    );
    day.turn(&format!("design the table for the archive\n{}", filler()), [(126_500, say("two columns"))]);
    day.turn("good, go on", [(128_000, day.edit("Table")), (129_000, test()), (130_000, say("tested"))]);
    assert_eq!(day.turn("/compact", []), ["manual"]);
    day.turn(
        "implement the third step",
        [(33_000, day.edit("Last")), (34_000, test()), (35_000, say("tested"))],
    );
    day.turn("commit everything", [(45_000, Reply::bash("true")), (46_000, say("committed"))]);
    day.turn("summarise what we did today", [(56_000, say("invoices"))]);
}

/// Each text that a hook put into a conversation, with its event. The client reports no hook before a compaction, so
/// those texts come from the requests for summaries.
fn texts_to_model(run: &Run, model: &Model) -> Vec<String> {
    let of_hook = |hook: &HookResponse| {
        let answer: Value = serde_json::from_str(&hook.stdout).unwrap_or(Value::Null);
        let specific = &answer["hookSpecificOutput"];
        let texts =
            [&answer["reason"], &specific["permissionDecisionReason"], &specific["additionalContext"]];
        let mut texts: Vec<String> = texts.into_iter().filter_map(Value::as_str).map(str::to_owned).collect();
        texts.extend(Some(hook.stderr.clone()).filter(|text| !text.is_empty()));
        texts.into_iter().map(|text| format!("{}: {text}", hook.name)).collect::<Vec<_>>()
    };
    let mut texts: Vec<String> = run.hook_responses().iter().flat_map(of_hook).collect();
    let asked = model.requests_on(&Route::Compaction);
    let instructions = asked.iter().filter_map(|request| request.summary_instructions());
    texts.extend(instructions.map(|text| format!("PreCompact: {text}")));
    texts
}

/// Each message as the client shows it, with its event. At the start the client shows it only in a terminal.
fn texts_to_person(run: &Run) -> Vec<String> {
    let at_start = run.hook_responses().into_iter().filter(|hook| hook.name == "SessionStart:startup");
    let at_start = at_start.filter_map(|hook| {
        let answer: Value = serde_json::from_str(&hook.stdout).ok()?;
        Some(format!("{} says: {}", hook.name, answer["systemMessage"].as_str()?))
    });
    at_start.chain(run.shown().into_iter().filter(|text| text.contains(" says: "))).collect()
}

fn without_event(text: &str) -> &str {
    text.split_once(": ").map_or(text, |(_, text)| text)
}

//! `cycle`: stages inside a budget.

use tidegate_core::feature::config::Config;
use tidegate_core::feature::cycle::consent::{ConsentChange, Owed};
use tidegate_core::feature::cycle::effect::Effect as CycleEffect;
use tidegate_core::feature::cycle::history::StageCost;
use tidegate_core::feature::cycle::marks::{DroppedCycle, Mark as CycleMark, Order};
use tidegate_core::feature::cycle::standing::{CycleOrigin, CycleStanding, LeftUnverified};
use tidegate_core::feature::cycle::{ActiveStage, Cycle, CycleRun, DoneWhen, Head, MinLeft, Turn, history};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::marks::Mark as KnowledgeMark;
use tidegate_core::feature::marks::{Mark, SessionMark};
use tidegate_core::feature::verdict::Effect;
use tidegate_core::feature::verification::checks::{CheckScope, Kinds};
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::words::not_verified;
use tidegate_core::feature::verification::work::{BackgroundCheck, ChangeSet};
use tidegate_core::settings::value::Value;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;

use super::verification::edit;
use super::{Room, call, circumstances, event, number, or_dash, plain, yes};
use crate::situation::{Decided, NOW, Situation, ago, pick};

const BEGAN: Millis = ago(500_000);

const OWED: [(&str, Owed); 7] = [
    ("a report that forbade it", Owed::Forbidden { stage: String::new(), said: None }),
    ("a failure of audit", Owed::Failed { stage: String::new() }),
    ("words of the order", Owed::Reserved(String::new())),
    ("a question", Owed::Asked),
    ("an interruption", Owed::Interrupted),
    ("another prompt", Owed::Said),
    ("an order", Owed::Unordered),
];

fn owed(cell: &str) -> Vec<Owed> {
    if cell == "-" {
        return Vec::new();
    }
    let (rest, fixed) = cell.strip_suffix(", fixed").map_or((cell, false), |rest| (rest, true));
    if let Some((most, stage)) = rest.split_once(" findings in ") {
        let most = number(most).expect("a number");
        return vec![Owed::Findings { stage: stage.into(), most, open: !fixed }];
    }
    let known = OWED.iter().find(|(name, _)| *name == cell).map(|(_, owed)| owed.clone());
    vec![match known.unwrap_or_else(|| panic!("not owed: {cell}")) {
        Owed::Failed { .. } => Owed::Failed { stage: "audit".into() },
        Owed::Forbidden { .. } => Owed::Forbidden { stage: "audit".into(), said: None },
        other => other,
    }]
}

/// How an event changes what is owed.
fn consent(decided: &Decided) -> String {
    let change = pick!(decided.effects(), Effect::Cycle(CycleEffect::Consent { change, .. }) => change);
    match change {
        None => "-".into(),
        Some(ConsentChange::Given { .. }) => "given".into(),
        Some(ConsentChange::Owe(Owed::Findings { stage, most, .. })) => {
            format!("owes {most} findings in {stage}")
        }
        Some(ConsentChange::Owe(owed)) => {
            let same =
                |(_, known): &&(&str, Owed)| std::mem::discriminant(known) == std::mem::discriminant(owed);
            format!("owes {}", OWED.iter().find(same).expect("it has a name").0)
        }
        Some(other) => panic!("not a word of the person: {other:?}"),
    }
}

/// A cycle's file, and what the session did in the stage.
#[derive(Clone, Default)]
pub(crate) struct Draft {
    stage: String,
    /// `None`: the session is in no stage.
    history: Option<String>,
    /// Instead of one that is in the stage.
    file: Option<String>,
    runs: Vec<CycleRun>,
    /// Sessions that were told of it.
    told: Vec<String>,
    /// The skill of the first stage.
    skill: Option<String>,
    /// The metric `open` of the stage, as JSON; `-` if it was not reported. By default, an audit reports none.
    open: Option<String>,
    /// Commits at its beginning and now.
    heads: (Option<&'static str>, Option<&'static str>),
    /// Commits that were made in it, by git's log.
    commits: Option<usize>,
    /// Other metrics of the stage.
    metrics: Option<(String, String)>,
    /// Files that were written in it.
    wrote: Vec<String>,
    /// Instead of those of the built-in cycle.
    done_when: Option<Vec<DoneWhen>>,
    origin: CycleOrigin,
    owed: Vec<Owed>,
}

pub(super) static CYCLE: Room = Room {
    begin: |case| {
        case.put("last_assistant_message", "All of it is done.");
        case.meter.left = Some(120_000);
        (case.cycle.stage, case.cycle.history) = ("sprint".into(), Some("yes".into()));
        case.cycle.heads = (Some("a"), Some("b"));
    },
    finish,
    law: |decided| {
        let stepped = pick!(&decided.outcome.effects, Effect::Cycle(CycleEffect::Step(_)) => ()).is_some();
        match (call(decided).as_str(), decided.because()) {
            ("deny", because) => assert_eq!(stepped, because != "the stage is not done"),
            ("shadowed deny", _) | (_, "another policy blocks it") => assert!(!stepped),
            _ => {}
        }
    },
    given: &[
        ("stage", |case, cell| case.cycle.stage = cell.into()),
        ("left", |case, cell| case.meter.left = number(cell)),
        ("freshness", freshness),
        ("min_left", min_left),
        ("runs", runs),
        ("invoked", |case, cell| case.cycle.history = Some(cell.into())),
        ("told", told),
        ("event", |case, cell| {
            let rest = cell.strip_suffix(", in a stage").unwrap_or(cell);
            if rest != cell {
                case.cycle.stage = "audit".into();
                case.cycle.history = Some("-".into());
            }
            event(case, rest);
        }),
        ("turn", turn),
        ("copied", |case, cell| {
            let seconds = cell.strip_suffix(" s ago").and_then(number::<u64>);
            case.leave(seconds.map(|seconds| CycleMark::BudgetCopied(ago(seconds * 1000))));
        }),
        ("open", |case, cell| case.cycle.open = Some(cell.into())),
        ("head", |case, cell| {
            case.cycle.heads = match cell {
                "moved" => (Some("a"), Some("b")),
                "the same" => (Some("a"), Some("a")),
                "the first" => (Some("none"), Some("b")),
                "none" => (Some("none"), Some("none")),
                "gone" => (Some("a"), Some("none")),
                "unreadable" => (Some("a"), None),
                "not noted" => (None, Some("b")),
                // A reset or a checkout.
                "moved, without a new commit" => (Some("a"), Some("b")),
                "moved, one new commit" | "moved, an empty commit" => (Some("a"), Some("b")),
                "moved, an empty commit and another" => (Some("a"), Some("b")),
                other => panic!("no such commit: {other}"),
            };
            case.cycle.commits = match cell {
                "moved, without a new commit" => Some(0),
                "moved, one new commit" | "moved, an empty commit" => Some(1),
                "moved, an empty commit and another" => Some(2),
                _ => None,
            };
            case.leave(cell.contains("empty").then_some(CycleMark::EmptyCommit));
        }),
        ("metric", |case, cell| {
            case.cycle.metrics = cell.split_once('=').map(|(name, value)| (name.into(), value.into()));
        }),
        ("constraint", |case, cell| {
            case.leave((cell != "-").then(|| KnowledgeMark::ConstraintStated(cell.into())));
        }),
        ("asked", |case, cell| case.leave((cell == "yes").then_some(CycleMark::NextStageAsked))),
        ("dropped", |case, cell| {
            let dropped = DroppedCycle { cycle: "dev-cycle".into(), stage: cell.into() };
            case.leave((cell != "-").then_some(CycleMark::Dropped(dropped)));
            case.cycle.history = None;
        }),
        ("published", |case, cell| {
            case.leave((cell == "yes").then_some(CycleMark::StagePublished));
        }),
        ("wrote", |case, cell| case.cycle.wrote = vec![cell.to_owned()]),
        ("done_when", |case, cell| {
            let mut cycle = Cycle::default();
            let sign = |name: &str| Value::from(name);
            let signs = cell.split(", ").filter(|name| *name != "-").map(sign).collect();
            let stage = [("name", Value::from("sprint")), ("done_when", Value::List(signs))];
            let stage = Value::Table(stage.map(|(key, value)| (key.to_owned(), value)).into());
            let stages = [("stages".to_owned(), Value::List(vec![stage]))];
            let own = Cycle::read(&Value::Table(stages.into())).expect("a stage");
            cycle.stages[0].done_when.clone_from(&own.stages[0].done_when);
            case.cycle.done_when = Some(cycle.stages[0].done_when.clone());
        }),
        ("file", |case, cell| {
            let rest = cell.strip_suffix(", told").unwrap_or(cell);
            let file = rest.strip_suffix(", from elsewhere").unwrap_or(rest);
            case.cycle.origin = match (file != rest, rest != cell) {
                (false, _) => CycleOrigin::Here,
                (true, false) => CycleOrigin::Elsewhere,
                (true, true) => CycleOrigin::ElsewhereTold,
            };
            case.cycle.file = Some(file.into());
        }),
        ("waits", |case, cell| {
            case.cycle.history = None;
            case.leave(match cell {
                "-" => None,
                "told at the start" => Some(Mark::from(SessionMark::Notice("cycle waits".into()))),
                "let go on" => Some(CycleMark::GoAhead.into()),
                "ordered" => Some(CycleMark::Ordered(Order::default()).into()),
                other => panic!("no such cycle: {other}"),
            });
        }),
        ("owed", |case, cell| case.cycle.owed = owed(cell)),
        ("session", |case, cell| case.put("session_id", cell)),
        ("edits", |case, cell| {
            case.leave(cell.starts_with("unverified").then(|| edit("src/a.rs", NOW)));
            if cell == "unverified, and not blocked" {
                case.set("verify_stop", "mode", "off");
            }
        }),
        ("what", what),
    ],
    expected: &[
        ("state", state),
        ("aside", |decided| {
            yes(pick!(decided.effects(), Effect::Cycle(CycleEffect::SetAside { .. }) => ()).is_some())
        }),
        ("leaves", leaves),
        ("consent", consent),
        ("leaves, of the turn", |decided| {
            let turn =
                pick!(decided.effects(), Effect::Mark(Mark::Cycle(CycleMark::StageTurn(turn))) => turn);
            or_dash(turn.map(|turn| format!("{turn:?}").to_lowercase()).unwrap_or_default())
        }),
    ],
    ..plain("cycle")
};

/// The file of a running cycle of this session.
fn running(stage: &str) -> String {
    format!(
        r#"{{"stage": "{stage}", "session_id": "s", "project": "/p",
            "stages": {{"sprint": {{"tokens_at_start": 10000, "tokens_at_end": 40000, "ended": true}},
                        "{stage}": {{"tokens_at_start": 40000}}}}}}"#
    )
}

fn file(cell: &str) -> Known<String> {
    let with = |member: &str| running("sprint").replacen('{', &format!("{{{member},"), 1);
    Known::Value(match cell {
        "none" => return Known::Absent,
        "a link" => return Known::Broken("a link".into()),
        "ours" => running("sprint"),
        "ours, at audit" => running("audit"),
        "ours, at ship" => running("ship"),
        "ours, at ship after an audit without findings" => {
            running("ship").replacen('{', r#"{"metrics": {"audit": {"open": 0}},"#, 1)
        }
        "torn" => r#"{"stage": "spr"#.into(),
        "a list" => "[]".into(),
        "ours, with an unknown stage" => running("deploy"),
        "of an unknown cycle" => r#"{"stage": "sprint", "cycle": "x", "session_id": "s"}"#.into(),
        "with a budget in words" => {
            r#"{"stage": "sprint", "session_id": "s", "remaining_pct": "half"}"#.into()
        }
        "without a session" => r#"{"stage": "sprint"}"#.into(),
        "of another project" => running("sprint").replace("/p", "/q"),
        "of another project, unknown stage" => running("deploy").replace("/p", "/q"),
        "failed" => with(r#""status": "failed", "stopped_reason": "open_findings""#),
        "complete" => with(r#""status": "complete""#),
        "stopped by another tool" => with(
            r#""status": "stopped", "stopped_reason": "context_budget", "skipped_stages": ["audit", "ship", "retrospective"]"#,
        ),
        "stopped" => with(
            r#""status": "stopped", "stopped_reason": "context_budget", "skipped_stages": ["audit", "ship", "retrospective"],
               "left_tokens": 43000, "needed_tokens": 100000"#,
        ),
        "another session's" | "another session's, gone" | "another session's, not verified, gone" => {
            running("audit").replace("\"s\"", "\"t\"")
        }
        "failed in another session" => {
            let failed = r#""status": "failed", "stopped_reason": "the build is red""#;
            with(failed).replace("\"s\"", "\"t\"")
        }
        other => panic!("no such file: {other}"),
    })
}

impl Draft {
    fn standing(&self, text: String, config: &Config) -> CycleStanding {
        let mut standing = CycleStanding::parse(
            text.into(),
            |name| config.policies.cycle.cycle(name),
            |project| project == "/p",
        );
        standing.origin = self.origin;
        let unverified = self.file.as_ref().filter(|file| file.contains("not verified"));
        standing.unverified = unverified.map(|_| {
            let left = ChangeSet { files: vec!["src/a.rs".into()], ..ChangeSet::default() };
            LeftUnverified { en: not_verified(Lang::En, &left), ja: not_verified(Lang::Ja, &left) }
        });
        standing.owner_gone = self.file.as_ref().is_some_and(|file| file.ends_with(", gone"));
        if let (Ok(state), Some(cycle)) = (&mut standing.state, &mut standing.cycle) {
            let stages = 0..cycle.stages.len();
            let min_left = |at| history::min_left(&self.runs, &state.cycle, cycle, at);
            standing.min_left = stages.map(min_left).collect();
            state.resume_told.clone_from(&self.told);
            if let Some(skill) = &self.skill {
                cycle.stages[0].skill.clone_from(skill);
            }
            if let Some(signs) = &self.done_when {
                cycle.stages[0].done_when.clone_from(signs);
            }
            let open = self.open.as_deref().unwrap_or(if state.stage == "audit" { "0" } else { "-" });
            if open != "-" {
                let open = serde_json::from_str(open).unwrap_or_else(|_| serde_json::Value::from(open));
                state.metrics.insert(state.stage.clone(), serde_json::json!({ "open": open }));
            }
            if let Some((name, value)) = &self.metrics {
                let value =
                    serde_json::from_str(value).unwrap_or_else(|_| serde_json::Value::from(value.as_str()));
                let metrics =
                    state.metrics.entry(state.stage.clone()).or_insert_with(|| serde_json::json!({}));
                metrics[name] = value;
            }
            let stage = state.stage.clone();
            let head = |commit: &str| Head { commit: commit.into(), root: "/p".into() };
            state.progress_mut(&stage).head = self.heads.0.map(head);
            standing.evidence.commits = self.commits;
            standing.evidence.head = self.heads.1.map(str::to_owned);
            standing.evidence.written.clone_from(&self.wrote);
            standing.consent.owed.clone_from(&self.owed);
        }
        standing
    }

    fn active(&self) -> ActiveStage {
        let cycle = Cycle::default();
        let at = cycle.position(&self.stage).expect("a stage");
        ActiveStage::begin("dev-cycle", &cycle, at, BEGAN, Turn::Open).expect("a stage")
    }

    /// What happened in the stage before the turn ended.
    fn marks(&self) -> Vec<Mark> {
        let active = self.active();
        let skill = |name: &str, agent: Option<&str>| {
            Mark::from(SessionMark::Skill { name: name.into(), agent: agent.map(str::to_owned) })
        };
        let in_turn = |turn| marked(ActiveStage { turn, ..active.clone() });
        let (begun, invoked) = (marked(active.clone()), skill(&self.stage, None));
        let said = Mark::from(CycleMark::StageDone(self.stage.clone()));
        let held = marked(ActiveStage { held: true, ..active.clone() });
        let Some(history) = &self.history else { return Vec::new() };
        match history.as_str() {
            "-" => vec![begun],
            "before" => vec![invoked, begun],
            "yes" => vec![begun, invoked, said],
            "yes, said first" => vec![begun, said, invoked],
            "invoked" => vec![begun, invoked],
            "by a plugin's name" => vec![begun, skill(&format!("tidegate:{}", self.stage), None), said],
            "another" => vec![begun, skill("compound", None), said],
            "by a subagent" => vec![begun, skill(&self.stage, Some("a1")), said],
            "said done" => vec![begun, said],
            "said done of audit" => vec![begun, invoked, CycleMark::StageDone("audit".into()).into()],
            "held" => vec![held],
            "invoked, held" => vec![held, invoked],
            "invoked, held and told" => {
                let told = format!("cycle not done {} {}", self.stage, BEGAN.0);
                vec![held, invoked, SessionMark::Notice(told).into()]
            }
            "yes, held" => vec![held, invoked, said],
            "yes, the person interrupted" => vec![in_turn(Turn::Interrupted), invoked, said],
            "yes, and a check was launched" => {
                let check = BackgroundCheck {
                    task: "b1".into(),
                    kinds: Kinds::default(),
                    at: NOW,
                    scope: CheckScope::default(),
                    line: String::new(),
                    left: Vec::new(),
                    awaited: None,
                };
                vec![begun, invoked, said, VerificationMark::Launched(check).into()]
            }
            "broke in" => vec![in_turn(Turn::Interrupted)],
            "yes, the person is waited for" => vec![in_turn(Turn::Waiting), invoked, said],
            "the person is waited for" => vec![in_turn(Turn::Waiting)],
            "yes, asked for the next stage" => vec![in_turn(Turn::NeedsYes), invoked, said],
            "yes, the person declined" => vec![in_turn(Turn::Declined), invoked, said],
            "the person declined" => vec![in_turn(Turn::Declined)],
            "yes, four in this turn" => vec![marked(ActiveStage { chained: 4, ..active }), invoked, said],
            other => panic!("no such history: {other}"),
        }
    }
}

/// The stage as the session's marks know it.
fn marked(stage: ActiveStage) -> Mark {
    CycleMark::Stage(Box::new(stage)).into()
}

fn finish(case: &mut Situation) {
    let draft = &case.cycle;
    let text = draft.file.as_deref().map_or_else(|| Known::Value(running(&draft.stage)), file);
    case.facts.cycle = match text {
        Known::Value(text) => Known::Value(draft.standing(text, &case.config)),
        Known::Absent => Known::Absent,
        Known::Broken(why) => Known::Broken(why),
    };
    case.marks.splice(0..0, draft.marks());
}

/// Of a reading, in a session that grows by 5k a turn.
fn freshness(case: &mut Situation, cell: &str) {
    case.meter.stale = cell == "stale";
    case.leave((1..6).map(|turn| SessionMark::Relay(turn * 5000)));
    case.leave((cell == "compacted").then_some(SessionMark::Boundary(Millis(BEGAN.0 + 1))));
}

/// Of the second stage.
fn min_left(case: &mut Situation, cell: &str) {
    let mut cycle = Cycle::default();
    cycle.stages[1].min_left = MinLeft::parse(cell).expect("a threshold");
    case.set("cycle", "dev-cycle", cycle.to_value());
    case.meter.compacts = Some(167_000);
}

/// Tokens that the second stage took in earlier runs.
fn runs(case: &mut Situation, cell: &str) {
    let run = |(at, tokens): (usize, &str)| {
        let took = |(name, tokens): (&str, Option<u64>)| StageCost { name: name.into(), tokens };
        let stages = [("audit", number(tokens)), ("ship", Some(0)), ("retrospective", Some(0))].map(took);
        CycleRun {
            id: at.to_string(),
            cycle: "dev-cycle".into(),
            stages: stages.into(),
            ..CycleRun::default()
        }
    };
    case.cycle.runs = cell.split(' ').filter(|cell| *cell != "-").enumerate().map(run).collect();
}

/// A session that begins, and which ones were told of the cycle.
fn told(case: &mut Situation, cell: &str) {
    case.cycle.history = None;
    case.mark(SessionMark::Attached(NOW));
    match cell {
        "-" => {}
        "in this session" => case.mark(SessionMark::Notice("cycle waits".into())),
        sessions => case.cycle.told = sessions.split(' ').map(str::to_owned).collect(),
    }
}

/// How the turn stood in a stage before the event.
fn turn(case: &mut Situation, cell: &str) {
    let (cell, done) = cell.strip_suffix(", done").map_or((cell, false), |cell| (cell, true));
    let turn = match cell {
        "open" | "open, no reading yet" => Turn::Open,
        "interrupted" => Turn::Interrupted,
        "waiting" => Turn::Waiting,
        "declined" => Turn::Declined,
        "needs yes" => Turn::NeedsYes,
        "needs a word" => Turn::NeedsWord,
        _ => Turn::Closed,
    };
    let used = Some(20_000).filter(|_| !cell.ends_with(", no reading yet"));
    let stage = ActiveStage { turn, used, done, ..case.cycle.active() };
    case.marks.push(marked(stage));
    case.cycle.history = None;
    if case.cycle.file.is_none() {
        case.cycle.file = Some("none".into());
    }
    case.meter.stale = true;
}

/// What a text is about.
fn what(case: &mut Situation, cell: &str) {
    let what = circumstances(case, cell);
    case.meter.compacts = Some(167_000);
    let mut at = |stage: &str, history: &str| {
        (case.cycle.stage, case.cycle.history) = (stage.into(), Some(history.into()));
    };
    match what {
        "the next stage" => {}
        "the next stage, budget unknown" => case.meter.left = None,
        "no room" => case.meter.left = Some(43_000),
        "not said" => at("sprint", "invoked"),
        "said, not verified" => {
            case.leave([edit("src/a.rs", NOW)]);
            // Another policy would block first.
            case.set("verify_stop", "mode", "off");
        }
        "not reported" => {
            at("audit", "yes");
            case.cycle.open = Some("-".into());
        }
        "findings open" => {
            at("audit", "yes");
            case.cycle.open = Some("2".into());
        }
        "severe findings open" => {
            at("audit", "yes");
            case.cycle.metrics = Some(("critical".into(), "5".into()));
        }
        "work remains" | "work remains again" => {
            at("sprint", if what.ends_with(" again") { "yes, held" } else { "yes" });
            case.put("last_assistant_message", "It runs. **Step 1 of 5** is done, 2 to 5 remain.");
        }
        "a report forbade it" => {
            at("audit", "yes");
            let said = Some("Do not release this".into());
            case.cycle.owed = vec![Owed::Forbidden { stage: "audit".into(), said }];
        }
        "a mere yes" | "a yes for later" | "a yes too early" => {
            let (history, said) = match what {
                "a mere yes" => ("yes, the person declined", "prompt says ok"),
                "a yes for later" => ("yes, the person declined", "prompt says continue with retrospective"),
                _ => ("yes", "prompt says continue"),
            };
            at("audit", history);
            event(case, said);
        }
        "a later stage before this one is done" | "a later stage than the next one" => {
            let is_done = what == "a later stage than the next one";
            at("sprint", if is_done { "yes, the person is waited for" } else { "the person is waited for" });
            event(case, "prompt says ship it");
        }
        "report forbids" | "report forbids again" => {
            at("audit", if what.ends_with(" again") { "yes, held" } else { "yes" });
            case.put("last_assistant_message", "CRITICAL: this must not be shipped.");
        }
        "reserved" => {
            at("audit", "yes");
            case.leave([KnowledgeMark::ConstraintStated("do not ship before I looked at it".into())]);
        }
        "findings were open" => {
            at("audit", "yes");
            case.cycle.owed = [owed("another prompt"), owed("3 findings in audit, fixed")].concat();
        }
        "dropped" => {
            case.cycle.history = None;
            let dropped = DroppedCycle { cycle: "dev-cycle".into(), stage: "audit".into() };
            case.leave([CycleMark::Dropped(dropped)]);
        }
        "not committed" => {
            at("ship", "yes");
            case.cycle.heads = (Some("a"), Some("a"));
        }
        "not written" => {
            case.cycle.done_when = Some(vec![DoneWhen::File("docs/plan.md".into())]);
        }
        "waits, not done" => at("sprint", "held"),
        "waits, not committed" => {
            at("ship", "yes, held");
            case.cycle.heads = (Some("a"), Some("a"));
        }
        "failed" => {
            (case.cycle.file, case.cycle.open) = (Some("failed".into()), Some("2".into()));
        }
        "broke in" => at("sprint", "yes, the person interrupted"),
        "declined" => at("sprint", "yes, the person declined"),
        "moved on" => case.cycle.file = Some("ours, at ship".into()),
        "not done, skill renamed" => {
            at("sprint", "-");
            case.cycle.skill = Some("run".into());
        }
        "from elsewhere, at a start" => {
            event(case, "startup");
            (case.cycle.history, case.cycle.file) = (None, Some("stopped".into()));
            case.cycle.origin = CycleOrigin::Elsewhere;
        }
        "not done" => at("audit", "-"),
        "complete" => {
            at("retrospective", "yes");
            case.meter.left = Some(90_000);
        }
        start => {
            let file = match start {
                "stopped, at a start" => "stopped",
                "stopped by another tool, at a start" => "stopped by another tool",
                "failed before, at a start" => "failed in another session",
                "left, not verified, at a start" => "another session's, not verified, gone",
                _ => "another session's, gone",
            };
            event(case, "startup");
            (case.cycle.history, case.cycle.file) = (None, Some(file.into()));
        }
    }
}

/// What the file says afterwards.
fn state(decided: &Decided) -> String {
    let step = pick!(decided.effects(), Effect::Cycle(CycleEffect::Step(step)) => step);
    let Some(step) = step else { return "-".into() };
    match (&step.new, &step.ended) {
        (Some(state), None) if state.skipped_stages.is_empty() => {
            format!("{} {}", state.status.name(), state.stage)
        }
        (Some(state), None) => {
            assert_eq!(step.mark, CycleMark::StageLeft);
            assert_eq!(state.stopped_reason.as_deref(), Some("context_budget"));
            assert!(state.left_tokens < state.needed_tokens);
            let (status, without) = (state.status.name(), state.skipped_stages.join(", "));
            let remaining = state.remaining_pct.map(|left| format!(" at {left}%")).unwrap_or_default();
            format!("{status} {} without {without}{remaining}", state.stage)
        }
        (None, Some(run)) => {
            let took = |took: &StageCost| took.tokens.map_or("?".into(), |tokens| tokens.to_string());
            format!("{} at {}", run.ended, run.stages.iter().map(took).collect::<Vec<_>>().join(", "))
        }
        other => panic!("no such step: {other:?}"),
    }
}

fn leaves(decided: &Decided) -> String {
    let leaves = decided.effects().iter().filter_map(|effect| match effect {
        Effect::Mark(Mark::Cycle(CycleMark::StageTurn(Turn::Open))) => Some("open"),
        Effect::Mark(Mark::Cycle(CycleMark::GoAhead)) => Some("go-ahead"),
        Effect::Mark(Mark::Cycle(CycleMark::GoAheadOver)) => Some("go-ahead-over"),
        Effect::Mark(Mark::Cycle(CycleMark::Ordered(Order { reserved: None }))) => Some("order"),
        Effect::Mark(Mark::Cycle(CycleMark::Ordered(_))) => Some("order with words"),
        Effect::Mark(Mark::Cycle(CycleMark::StageTurn(Turn::Interrupted))) => Some("interrupted"),
        Effect::Mark(Mark::Cycle(CycleMark::StageTurn(Turn::Declined))) => Some("declined"),
        Effect::Cycle(CycleEffect::PublishBudget { .. }) => Some("a copy"),
        Effect::Mark(Mark::Cycle(CycleMark::StageUsed(_))) => Some("its first reading"),
        _ => None,
    });
    or_dash(leaves.collect::<Vec<_>>().join(", "))
}

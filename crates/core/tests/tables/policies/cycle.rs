//! `cycle`: stages inside a budget.

use tidegate_core::feature::config::Config;
use tidegate_core::feature::cycle::effect::Effect as CycleEffect;
use tidegate_core::feature::cycle::history::StageCost;
use tidegate_core::feature::cycle::marks::Mark as CycleMark;
use tidegate_core::feature::cycle::standing::CycleStanding;
use tidegate_core::feature::cycle::{ActiveStage, Cycle, CycleRun, MinLeft, Turn, history};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::{Mark, SessionMark};
use tidegate_core::feature::verdict::Effect;
use tidegate_core::feature::verification::checks::{CheckScope, Kinds};
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::work::BackgroundCheck;
use tidegate_core::time::Millis;

use super::verification::edit;
use super::{Room, call, circumstances, event, number, or_dash, plain, yes};
use crate::situation::{Decided, NOW, Situation, ago, pick};

const BEGAN: Millis = ago(500_000);

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
}

pub(super) static CYCLE: Room = Room {
    begin: |case| {
        case.put("last_assistant_message", "All of it is done.");
        case.meter.left = Some(120_000);
        (case.cycle.stage, case.cycle.history) = ("sprint".into(), Some("yes".into()));
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
        ("file", |case, cell| case.cycle.file = Some(cell.into())),
        ("session", |case, cell| case.put("session_id", cell)),
        ("edits", |case, cell| {
            case.leave((cell == "unverified").then(|| edit("src/a.rs", NOW)));
        }),
        ("what", what),
    ],
    expected: &[
        ("state", state),
        ("aside", |decided| {
            yes(pick!(decided.effects(), Effect::Cycle(CycleEffect::SetAside { .. }) => ()).is_some())
        }),
        ("leaves", leaves),
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
        status @ ("failed" | "complete") => with(&format!(r#""status": "{status}""#)),
        "stopped" => with(
            r#""status": "stopped", "stopped_reason": "context_budget", "skipped_stages": ["audit", "ship", "retrospective"]"#,
        ),
        "another session's" | "another session's, gone" => running("audit").replace("\"s\"", "\"t\""),
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
        standing.owner_gone = self.file.as_ref().is_some_and(|file| file.ends_with(", gone"));
        if let (Ok(state), Some(cycle)) = (&mut standing.state, &mut standing.cycle) {
            let stages = 0..cycle.stages.len();
            let min_left = |at| history::min_left(&self.runs, &state.cycle, cycle, at);
            standing.min_left = stages.map(min_left).collect();
            state.resume_told.clone_from(&self.told);
            if let Some(skill) = &self.skill {
                cycle.stages[0].skill.clone_from(skill);
            }
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
        let Some(history) = &self.history else { return Vec::new() };
        match history.as_str() {
            "-" => vec![begun],
            "before" => vec![invoked, begun],
            "yes" => vec![begun, invoked],
            "by a plugin's name" => vec![begun, skill(&format!("tidegate:{}", self.stage), None)],
            "another" => vec![begun, skill("compound", None)],
            "by a subagent" => vec![begun, skill(&self.stage, Some("a1"))],
            "said done" => vec![begun, CycleMark::StageDone(self.stage.clone()).into()],
            "said done of audit" => vec![begun, CycleMark::StageDone("audit".into()).into()],
            "held" => vec![marked(ActiveStage { held: true, ..active })],
            "yes, the person interrupted" => vec![in_turn(Turn::Interrupted), invoked],
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
                vec![begun, invoked, VerificationMark::Launched(check).into()]
            }
            "broke in" => vec![in_turn(Turn::Interrupted)],
            "yes, the person is waited for" => vec![in_turn(Turn::Waiting), invoked],
            "the person is waited for" => vec![in_turn(Turn::Waiting)],
            "yes, four in this turn" => vec![marked(ActiveStage { chained: 4, ..active }), invoked],
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
    let turn = match cell {
        "open" => Turn::Open,
        "interrupted" => Turn::Interrupted,
        "waiting" => Turn::Waiting,
        _ => Turn::Closed,
    };
    let stage = ActiveStage { turn, ..case.cycle.active() };
    case.marks.push(marked(stage));
    case.cycle.history = None;
    case.cycle.file = Some("none".into());
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
        "broke in" => at("sprint", "yes, the person interrupted"),
        "not done, skill renamed" => {
            at("sprint", "-");
            case.cycle.skill = Some("run".into());
        }
        "not done" => at("audit", "-"),
        "complete" => {
            at("retrospective", "yes");
            case.meter.left = Some(90_000);
        }
        start => {
            let file = if start == "stopped, at a start" { "stopped" } else { "another session's, gone" };
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
        Effect::Mark(Mark::Cycle(CycleMark::StageTurn(Turn::Interrupted))) => Some("interrupted"),
        Effect::Cycle(CycleEffect::PublishBudget { .. }) => Some("a copy"),
        _ => None,
    });
    or_dash(leaves.collect::<Vec<_>>().join(", "))
}

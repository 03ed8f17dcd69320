//! The tables of stages inside a budget.

use tidegate_core::event::Event;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::cycle::effect::{self, Step};
use tidegate_core::feature::cycle::history::Took;
use tidegate_core::feature::cycle::marks::Mark as CycleMark;
use tidegate_core::feature::cycle::policy::ID;
use tidegate_core::feature::cycle::standing::Standing;
use tidegate_core::feature::cycle::{ActiveStage, Cycle, Run, Turn, history};
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::marks::{Mark, SessionMark};
use tidegate_core::feature::verdict::{Audience, Effect};
use tidegate_core::feature::verification::checks::Kinds;
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::work::BackgroundCheck;
use tidegate_core::host::Host;
use tidegate_core::host::window::Window;
use tidegate_core::meter::{Meter, NoReading, Reading, Source};
use tidegate_core::pipeline::ruling::Part;
use tidegate_core::settings::section::Voice;
use tidegate_core::time::Millis;

use super::gates::{call_of, config, fold, part};
use super::{Row, facts};

const NOW: Millis = Millis(1_000_000);
const BEGAN: Millis = Millis(500_000);

fn payload(more: &str) -> String {
    format!(r#"{{"session_id": "s", "hook_event_name": "Stop"{more}}}"#)
}

fn stop() -> String {
    payload(r#", "last_assistant_message": "All of it is done.""#)
}

/// The file of a running cycle of this session.
fn file(stage: &str) -> String {
    format!(
        r#"{{"stage": "{stage}", "session_id": "s", "project": "/p",
            "stages": {{"sprint": {{"tokens_at_start": 10000, "tokens_at_end": 40000, "ended": true}},
                        "{stage}": {{"tokens_at_start": 40000}}}}}}"#
    )
}

fn standing(text: &str, runs: &[Run], config: &Config) -> Standing {
    let mut standing =
        Standing::of(text.into(), |name| config.policies.cycle.cycle(name), |project| project == "/p");
    if let (Ok(state), Some(cycle)) = (&standing.state, &standing.cycle) {
        standing.min_left =
            (0..cycle.stages.len()).map(|at| history::min_left(runs, &state.cycle, cycle, at)).collect();
    }
    standing
}

/// The stage as the session's marks know it.
fn active(stage: &str) -> ActiveStage {
    let cycle = Cycle::default();
    let at = cycle.position(stage).expect("a stage");
    ActiveStage::begin("dev-cycle", &cycle, at, BEGAN, Turn::Open).expect("a stage")
}

fn marked(stage: ActiveStage) -> Mark {
    CycleMark::Stage(Box::new(stage)).into()
}

/// What a reading has to be for so many tokens to be left.
fn meter(left: &str, window: &str, compacts: &str, freshness: &str) -> Meter {
    let number = |text: &str| text.parse::<u64>().ok();
    let (Some(left), Some(tokens)) = (number(left), number(window)) else {
        return Meter::Unknown(NoReading::NothingYet);
    };
    let window = Window { tokens, compact_at: number(compacts) };
    let used = window.reference() - left;
    let reading = Reading { used, window: Some(window), source: Source::Transcript, at: NOW };
    if freshness == "current" { Meter::Current(reading) } else { Meter::StaleByOne(reading) }
}

fn step(part: Option<&Part>) -> Option<&Step> {
    part?.verdict.effects.iter().find_map(|effect| match effect {
        Effect::Cycle(effect::Effect::Step(step)) => Some(step.as_ref()),
        _ => None,
    })
}

/// What the file says afterwards.
fn becomes(part: Option<&Part>) -> String {
    let Some(step) = step(part) else { return "-".into() };
    match (&step.new, &step.ended) {
        (Some(state), None) if state.skipped_stages.is_empty() => {
            format!("{} {}", state.status.name(), state.stage)
        }
        (Some(state), None) => {
            assert_eq!(step.mark, CycleMark::StageLeft);
            assert_eq!(state.stopped_reason.as_deref(), Some("context_budget"));
            let remaining = state.remaining_pct.map(|left| format!(" at {left}%")).unwrap_or_default();
            format!(
                "{} {} without {}{remaining}",
                state.status.name(),
                state.stage,
                state.skipped_stages.join(", ")
            )
        }
        (None, Some(run)) => {
            let took = |took: &Took| took.tokens.map_or("?".into(), |tokens| tokens.to_string());
            let tokens: Vec<String> = run.stages.iter().map(took).collect();
            format!("{} at {}", run.ended, tokens.join(", "))
        }
        other => panic!("no such step: {other:?}"),
    }
}

pub(super) fn budgets(row: &Row<'_>) -> Vec<String> {
    let json = stop();
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let mut marks = vec![marked(ActiveStage { done: true, ..active(row[0]) })];
    // Grows by 5k a turn.
    marks.extend((1..6).map(|turn| SessionMark::Relay(turn * 5000).into()));
    if row[4] == "compacted" {
        marks.push(SessionMark::Boundary(Millis(BEGAN.0 + 1)).into());
    }
    let freshness = if row[4] == "stale" { "stale" } else { "current" };
    let config = Config::default();
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(marks)),
        meter: meter(row[1], row[2], row[3], freshness),
        cycle: Known::Value(standing(&file(row[0]), &[], &config)),
        ..facts(&event)
    };
    let part = part(ID, &facts, &config);
    let (call, because) = call_of(part.as_ref());
    let state = becomes(part.as_ref());
    let is = [row[0], row[1], row[2], row[3], row[4], &call, &state, &because];
    is.map(str::to_owned).into()
}

pub(super) fn thresholds(row: &Row<'_>) -> Vec<String> {
    let json = stop();
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let mut config = Config::default();
    let mut cycle = Cycle::default();
    cycle.stages[1].min_left = tidegate_core::feature::cycle::MinLeft::parse(row[0]).expect("a threshold");
    let section = config.policies.sections_mut().into_iter().find(|section| section.name() == "cycle");
    section.expect("the section").put("dev-cycle", &cycle.to_value(), Voice::User);
    let run = |(at, tokens): (usize, &str)| {
        let tokens = tokens.parse().ok();
        let took = |(name, tokens): (&str, Option<u64>)| Took { name: name.into(), tokens };
        let stages = [("audit", tokens), ("ship", Some(0)), ("retrospective", Some(0))].map(took).into();
        Run { id: at.to_string(), cycle: "dev-cycle".into(), stages, ..Run::default() }
    };
    let runs: Vec<Run> = row[1].split(' ').filter(|cell| *cell != "-").enumerate().map(run).collect();
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(vec![marked(ActiveStage { done: true, ..active("sprint") })])),
        meter: meter(row[2], "200000", "167000", "current"),
        cycle: Known::Value(standing(&file("sprint"), &runs, &config)),
        ..facts(&event)
    };
    let call = call_of(part(ID, &facts, &config).as_ref()).0;
    [row[0], row[1], row[2], &call].map(str::to_owned).into()
}

/// What happened in the stage before the turn ended.
fn history_of(stage: &str, cell: &str) -> Vec<Mark> {
    let active = active(stage);
    let skill = |name: &str, agent: Option<&str>| {
        SessionMark::Skill { name: name.into(), agent: agent.map(str::to_owned) }.into()
    };
    match cell {
        "-" => vec![marked(active)],
        "before" => vec![skill(stage, None), marked(active)],
        "yes" => vec![marked(active), skill(stage, None)],
        "by a plugin's name" => vec![marked(active), skill(&format!("tidegate:{stage}"), None)],
        "another" => vec![marked(active), skill("compound", None)],
        "by a subagent" => vec![marked(active), skill(stage, Some("a1"))],
        "said done" => vec![marked(active), CycleMark::StageDone(stage.into()).into()],
        "said done of audit" => vec![marked(active), CycleMark::StageDone("audit".into()).into()],
        "held" => vec![marked(ActiveStage { held: true, ..active })],
        "yes, the person broke in" => {
            vec![marked(ActiveStage { turn: Turn::Interrupted, ..active }), skill(stage, None)]
        }
        "yes, and a check was launched" => {
            let check =
                BackgroundCheck { task: "b1".into(), kinds: Kinds::default(), at: NOW, awaited: None };
            vec![marked(active), skill(stage, None), VerificationMark::Launched(check).into()]
        }
        "broke in" => vec![marked(ActiveStage { turn: Turn::Interrupted, ..active })],
        "yes, the person is waited for" => {
            vec![marked(ActiveStage { turn: Turn::Waiting, ..active }), skill(stage, None)]
        }
        "the person is waited for" => vec![marked(ActiveStage { turn: Turn::Waiting, ..active })],
        "yes, four in this turn" => vec![marked(ActiveStage { chained: 4, ..active }), skill(stage, None)],
        other => panic!("no such history: {other}"),
    }
}

pub(super) fn stages(row: &Row<'_>) -> Vec<String> {
    let message = |text: &str| payload(&format!(r#", "last_assistant_message": "{text}""#));
    let json = match row[2] {
        "stop" => stop(),
        "stop, a hook held it before" => payload(r#", "stop_hook_active": true"#),
        "stop in a subagent" => payload(r#", "agent_id": "a1""#),
        "stop, an agent runs" => {
            payload(r#", "background_tasks": [{"id": "b1", "type": "local_agent", "status": "running"}]"#)
        }
        "asks, an agent runs" => payload(
            r#", "last_assistant_message": "Shall I?", "background_tasks": [{"id": "b1", "type": "local_agent", "status": "running"}]"#,
        ),
        "stop, a shell runs" => {
            payload(r#", "background_tasks": [{"id": "b1", "type": "shell", "status": "running"}]"#)
        }
        asks => message(&asks.strip_prefix("says ").expect("an event").replace('"', "\\\"")),
    };
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let config = Config::default();
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(history_of(row[0], row[1]))),
        meter: meter("120000", "200000", "-", "current"),
        cycle: Known::Value(standing(&file(row[0]), &[], &config)),
        ..facts(&event)
    };
    let part = part(ID, &facts, &config);
    let (call, because) = call_of(part.as_ref());
    [row[0], row[1], row[2], &call, &because].map(str::to_owned).into()
}

fn files_text(cell: &str) -> Known<String> {
    Known::Value(match cell {
        "none" => return Known::Absent,
        "a link" => return Known::Broken("a link".into()),
        "ours" => file("sprint"),
        "ours, at audit" => file("audit"),
        "torn" => r#"{"stage": "spr"#.into(),
        "a list" => "[]".into(),
        "ours, with an unknown stage" => file("deploy"),
        "of an unknown cycle" => r#"{"stage": "sprint", "cycle": "x", "session_id": "s"}"#.into(),
        "with a budget in words" => r#"{"stage": "sprint", "session_id": "s", "remaining_pct": "half"}"#.into(),
        "without a session" => r#"{"stage": "sprint"}"#.into(),
        "of another project" => file("sprint").replace("/p", "/q"),
        "of another project, unknown stage" => file("deploy").replace("/p", "/q"),
        "failed" => file("sprint").replacen('{', r#"{"status": "failed","#, 1),
        "complete" => file("sprint").replacen('{', r#"{"status": "complete","#, 1),
        "stopped" => file("sprint").replacen(
            '{',
            r#"{"status": "stopped", "stopped_reason": "context_budget", "skipped_stages": ["audit", "ship", "retrospective"],"#,
            1,
        ),
        "another session's" | "another session's, gone" => file("audit").replace("\"s\"", "\"t\""),
        other => panic!("no such file: {other}"),
    })
}

fn known(cell: &str, config: &Config) -> Known<Standing> {
    match files_text(cell) {
        Known::Value(text) => {
            let owner_gone = cell.ends_with(", gone");
            Known::Value(Standing { owner_gone, ..standing(&text, &[], config) })
        }
        Known::Absent => Known::Absent,
        Known::Broken(why) => Known::Broken(why),
    }
}

fn to(part: Option<&Part>, audience: Audience) -> bool {
    part.is_some_and(|part| part.verdict.says.iter().any(|say| say.to == audience))
}

fn says(part: Option<&Part>) -> &'static str {
    match (to(part, Audience::Model), to(part, Audience::User)) {
        (true, true) => "both",
        (true, false) => "model",
        (false, true) => "user",
        (false, false) => "-",
    }
}

fn aside(part: Option<&Part>) -> &'static str {
    let is = |effect: &Effect| matches!(effect, Effect::Cycle(effect::Effect::SetAside { .. }));
    if part.is_some_and(|part| part.verdict.effects.iter().any(is)) { "yes" } else { "-" }
}

pub(super) fn files(row: &Row<'_>) -> Vec<String> {
    let json = stop().replace("\"s\"", &format!("\"{}\"", row[1]));
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let config = Config::default();
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(history_of("sprint", "yes"))),
        meter: meter("120000", "200000", "-", "current"),
        cycle: known(row[0], &config),
        ..facts(&event)
    };
    let part = part(ID, &facts, &config);
    let (call, because) = call_of(part.as_ref());
    [row[0], row[1], &call, says(part.as_ref()), aside(part.as_ref()), &because].map(str::to_owned).into()
}

pub(super) fn with_others(row: &Row<'_>) -> Vec<String> {
    use tidegate_core::feature::verification::work::Edit;
    let json = stop();
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let config = config(row[0], &[]);
    let mut marks = history_of("sprint", row[2]);
    if row[1] == "unverified" {
        marks.push(VerificationMark::Edit(Edit { file: "src/a.rs".into(), at: NOW, shell: false }).into());
    }
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(marks)),
        meter: meter("120000", "200000", "-", "current"),
        cycle: Known::Value(standing(&file("sprint"), &[], &config)),
        ..facts(&event)
    };
    let ruling = tidegate_core::pipeline::decide(&facts, &config, &|| 0);
    let outcome = ruling.settle(event.host, event.kind, true, 1200);
    let advanced =
        outcome.effects.iter().any(|effect| matches!(effect, Effect::Cycle(effect::Effect::Step(_))));
    let part = ruling.parts.into_iter().find(|part| part.policy == ID);
    let (call, because) = call_of(part.as_ref());
    assert_eq!(advanced, call == "deny" && because != "the stage is not done", "{row:?}");
    [row[0], row[1], row[2], &call, &because].map(str::to_owned).into()
}

fn decided<'a>(event: &'a Event<'a>, marks: Vec<Mark>, left: &str, stage: &str) -> Facts<'a> {
    let config = Config::default();
    Facts {
        now: NOW,
        marks: Known::Value(fold(marks)),
        meter: meter(left, "200000", "167000", "current"),
        cycle: Known::Value(standing(&file(stage), &[], &config)),
        ..facts(event)
    }
}

pub(super) fn words(row: &Row<'_>) -> Vec<String> {
    let begins = row[0].contains(", at a start");
    let json = if begins { stop().replace("Stop", "SessionStart") } else { stop() };
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let (what, to, unattended) = match row[0].split_once(", to the ") {
        Some((what, "person")) => (what, Audience::User, false),
        _ => (row[0].trim_end_matches(", nobody there"), Audience::Model, row[0].ends_with("nobody there")),
    };
    let mut facts = match what {
        "the next stage" => decided(&event, history_of("sprint", "yes"), "120000", "sprint"),
        "the next stage, budget unknown" => decided(&event, history_of("sprint", "yes"), "-", "sprint"),
        "no room" => decided(&event, history_of("sprint", "yes"), "43000", "sprint"),
        "broke in" => decided(&event, history_of("sprint", "yes, the person broke in"), "120000", "sprint"),
        "not done, skill renamed" => {
            let mut facts = decided(&event, history_of("sprint", "-"), "120000", "sprint");
            if let Known::Value(Standing { cycle: Some(cycle), .. }) = &mut facts.cycle {
                cycle.stages[0].skill = "run".into();
            }
            facts
        }
        "not done" => decided(&event, history_of("audit", "-"), "120000", "audit"),
        "complete" => decided(&event, history_of("retrospective", "yes"), "90000", "retrospective"),
        "stopped, at a start" => Facts { cycle: known("stopped", &Config::default()), ..facts(&event) },
        "left, at a start" => {
            Facts { cycle: known("another session's, gone", &Config::default()), ..facts(&event) }
        }
        other => panic!("no such case: {other}"),
    };
    facts.person = (!unattended).into();
    let part = part(ID, &facts, &Config::default()).expect("it takes part");
    let said = part.verdict.says.iter().find(|say| say.to == to).map(|say| say.text.clone());
    let text = if begins || to == Audience::User { said } else { part.verdict.reason.clone() };
    vec![row[0].into(), text.unwrap_or_else(|| "-".into())]
}

pub(super) fn starts(row: &Row<'_>) -> Vec<String> {
    let (name, attended) = row[0].strip_suffix(", nobody there").map_or((row[0], true), |name| (name, false));
    let (name, stage) = name.strip_suffix(", in a stage").map_or((name, false), |name| (name, true));
    let (name, agent) = match name.strip_suffix(" in a subagent") {
        Some(name) => (name, r#", "agent_id": "a1""#),
        None => (name, ""),
    };
    let json =
        format!(r#"{{"session_id": "s", "hook_event_name": "SessionStart", "source": "{name}"{agent}}}"#);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let config = Config::default();
    let mut cycle = known(row[1], &config);
    let mut marks = Vec::new();
    if let Known::Value(Standing { state: Ok(state), .. }) = &mut cycle {
        match row[2] {
            "-" => {}
            "in this session" => marks.push(SessionMark::Notice("cycle waits".into()).into()),
            others => state.told = others.split(' ').map(str::to_owned).collect(),
        }
    }
    if stage {
        marks.push(marked(active("audit")));
    }
    let mut marks = fold(marks);
    marks.session.attached = Some(NOW);
    let marks = Known::Value(marks);
    let facts = Facts { now: NOW, marks, person: attended.into(), cycle, ..facts(&event) };
    let part = part(ID, &facts, &config);
    let because = call_of(part.as_ref()).1;
    [row[0], row[1], row[2], says(part.as_ref()), &because].map(str::to_owned).into()
}

pub(super) fn turns(row: &Row<'_>) -> Vec<String> {
    let (name, agent) = match row[0].strip_suffix(" in a subagent") {
        Some(name) => (name, r#", "agent_id": "a1""#),
        None => (row[0], ""),
    };
    let (kind, prompt) = match name {
        "prompt" => ("UserPromptSubmit", "go on"),
        "prompt of the client" => ("UserPromptSubmit", "<task-notification>"),
        "tool call" => ("PostToolUse", ""),
        other => panic!("no such event: {other}"),
    };
    let json = format!(r#"{{"session_id": "s", "hook_event_name": "{kind}", "prompt": "{prompt}"{agent}}}"#);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let turn = match row[1] {
        "open" => Turn::Open,
        "interrupted" => Turn::Interrupted,
        "waiting" => Turn::Waiting,
        _ => Turn::Closed,
    };
    let seconds: u64 =
        row[3].split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(NOW.0 / 1000);
    let stage = ActiveStage { turn, copied: NOW.before(seconds * 1000), ..active("sprint") };
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(vec![marked(stage)])),
        meter: meter(row[2], "200000", "-", "stale"),
        ..facts(&event)
    };
    let part = part(ID, &facts, &Config::default());
    let effects = part.map(|part| part.verdict.effects).unwrap_or_default();
    let leaves = effects.iter().filter_map(|effect| match effect {
        Effect::Mark(Mark::Cycle(CycleMark::StageTurn(Turn::Open))) => Some("open"),
        Effect::Mark(Mark::Cycle(CycleMark::StageTurn(Turn::Interrupted))) => Some("interrupted"),
        Effect::Cycle(effect::Effect::PublishBudget { .. }) => Some("a copy"),
        _ => None,
    });
    let leaves: Vec<&str> = leaves.collect();
    let leaves = if leaves.is_empty() { "-".to_owned() } else { leaves.join(", ") };
    [row[0], row[1], row[2], row[3], &leaves].map(str::to_owned).into()
}

//! The tables of gates between phases.

use tidegate_core::event::Event;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::facts::{Facts, Known};
use tidegate_core::feature::marks::{Mark, Marks, SessionMark};
use tidegate_core::feature::verdict::{Audience, Effect};
use tidegate_core::feature::workflow::check::{Found, Named};
use tidegate_core::feature::workflow::effect;
use tidegate_core::feature::workflow::marks::Mark as WorkflowMark;
use tidegate_core::feature::workflow::policy::ID;
use tidegate_core::feature::workflow::standing::{LetThrough, Standing};
use tidegate_core::feature::workflow::{Attached, Manifest, PhaseBegan, Workflow, work_id};
use tidegate_core::host::Host;
use tidegate_core::host::window::Window;
use tidegate_core::meter::{Meter, NoReading, Reading, Source};
use tidegate_core::pipeline::ruling::Part;
use tidegate_core::time::Millis;

use super::gates::{call_of, config, fold, part};
use super::{Row, facts};

const CREATED: Millis = Millis(1_768_900_000_000);
const BEGAN: Millis = Millis(CREATED.0 + 600_000);
const ENDED: Millis = Millis(CREATED.0 + 1_200_000);
const NOW: Millis = Millis(CREATED.0 + 1_800_000);

const PATH: &str = ".claude/.output/features/x/MANIFEST.yaml";

fn meter(used: &str, window: &str, compacts: &str) -> Meter {
    let number = |text: &str| text.parse::<u64>().ok();
    let Some(used) = number(used) else { return Meter::Unknown(NoReading::NothingYet) };
    let window = number(window).map(|tokens| Window { tokens, compact_at: number(compacts) });
    Meter::Current(Reading { used, window, source: Source::Transcript, at: NOW })
}

fn spawn(more: &str) -> String {
    format!(
        r#"{{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Agent",
            "tool_input": {{"description": "fix the parser", "subagent_type": "worker", "prompt": "x"}}{more}}}"#
    )
}

const WHOLE: &str = concat!(
    "    status: complete\n",
    "    findings: everything that was found, file by file and line by line, as the agents told it\n",
    "    summary: |\n      Key decisions: none\n",
);

fn section(cell: &str) -> String {
    let artifact =
        "    status: complete\n    artifacts: [discovery.md]\n    summary: 'Key decisions: none'\n";
    let body = match cell {
        "-" => return String::new(),
        "whole" => WHOLE.to_owned(),
        "complete, no output" => "    status: complete\n".to_owned(),
        "skipped" => "    status: skipped\n".to_owned(),
        "begun, then skipped" => {
            format!("    status: skipped\n    started_at: \"{}\"\n", BEGAN.iso_seconds())
        }
        "in an artifact" | "in a missing artifact" | "in an artifact outside" => artifact.to_owned(),
        "without decisions" => WHOLE.replace("Key decisions: none", "React, Vitest"),
        "says skipped" => format!("{WHOLE}    compaction_skipped: true\n"),
        other => panic!("no such section: {other}"),
    };
    format!("  3_discovery:\n{body}")
}

/// A manifest at this phase. Others than the third have no section but the fifth.
fn text(phase: &str, discovery: &str, more: &str) -> String {
    let current = if phase == "unknown" { String::new() } else { format!("current_phase: {phase}\n") };
    format!(
        "created_at: \"{}\"\n{current}phases:\n{}  5_complexity:\n    status: in_progress\n{more}",
        CREATED.iso_seconds(),
        section(discovery)
    )
}

fn standing(text: &str, let_through: &[usize]) -> Standing {
    let manifest = Manifest::parse(text.as_bytes(), |name| (name == "feature").then(Workflow::default));
    let gate =
        |gate: &usize| LetThrough { manifest: PATH.into(), gate: *gate, at: BEGAN, ..LetThrough::default() };
    let let_through = let_through.iter().map(gate).collect();
    Standing {
        root: "/p".into(),
        path: PATH.into(),
        manifest,
        written: Some(Millis(NOW.0 - 1000)),
        files: Vec::new(),
        let_through,
        owner: None,
        held_elsewhere: None,
    }
}

fn attached(phases: &[usize]) -> Attached {
    let mut new =
        Attached { manifest: PATH.into(), workflow: "feature".into(), of: 16, ..Attached::default() };
    for number in phases {
        let name = Workflow::default().phase(*number).expect("a phase").name.clone();
        new.begin(&PhaseBegan { number: *number, name, at: Some(BEGAN), level: None, asked: false });
    }
    new
}

fn bound(phases: &[usize]) -> Mark {
    WorkflowMark::Workflow(Box::new(attached(phases))).into()
}

fn notice(text: &str) -> Mark {
    SessionMark::Notice(format!("workflow {text}")).into()
}

/// To whom something is said that is carried there.
fn says(part: Option<&Part>, event: &Event<'_>) -> String {
    let Some(part) = part else { return "-".into() };
    let to = |audience| event.is_main_thread() && part.verdict.says.iter().any(|say| say.to == audience);
    let name = match (to(Audience::Model), to(Audience::User)) {
        (true, true) => "both",
        (true, false) => "model",
        (false, true) => "user",
        (false, false) => "-",
    };
    name.into()
}

pub(super) fn ladder(row: &Row<'_>) -> Vec<String> {
    let json = spawn("");
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let phase: usize = row[0].parse().expect("a phase");
    let mut marks = vec![bound(&[phase])];
    let (said, compacted) = row[4].strip_suffix(", compacted").map_or((row[4], false), |said| (said, true));
    if said != "-" {
        marks.push(notice(&said.replace(" in ", " ")));
    }
    if compacted {
        marks.push(SessionMark::Boundary(NOW).into());
    }
    let config = Config::default();
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(marks)),
        meter: meter(row[1], row[2], row[3]),
        workflow: Known::Value(standing(&text(row[0], "whole", ""), &[1, 2, 3])),
        ..facts(&event)
    };
    let part = part(ID, &facts, &config);
    let (call, because) = call_of(part.as_ref());
    let effects = part.as_ref().map(|part| part.verdict.effects.as_slice()).unwrap_or_default();
    let handoff = if effects.iter().any(
        |effect| matches!(effect, Effect::Workflow(effect::Effect::WriteHandoff(work)) if work.len() == 1),
    ) {
        ", handoff"
    } else {
        ""
    };
    let (call, says) = (format!("{call}{handoff}"), says(part.as_ref(), &event));
    [row[0], row[1], row[2], row[3], row[4], &call, &says, &because].map(str::to_owned).into()
}

pub(super) fn absolute(row: &Row<'_>) -> Vec<String> {
    let json = spawn("");
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let config = config("guide", &[("workflow", "rot_at", row[0].into())]);
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(vec![bound(&[5])])),
        meter: meter(row[1], row[2], row[3]),
        workflow: Known::Value(standing(&text("5", "whole", ""), &[1])),
        ..facts(&event)
    };
    let (call, because) = call_of(part(ID, &facts, &config).as_ref());
    [row[0], row[1], row[2], row[3], &call, &because].map(str::to_owned).into()
}

/// What a cell says of the workflow: what is known of its manifest, and the session's marks.
fn workflow(cell: &str) -> (Known<Standing>, Vec<Mark>) {
    let (phase, how) = cell.split_once(", ").unwrap_or((cell, ""));
    let number: Option<usize> = phase.strip_prefix("phase ").and_then(|number| number.parse().ok());
    let marks = |number: usize| vec![bound(&[number])];
    let of = |text: &str| Known::Value(standing(text, &[1, 2, 3]));
    match (phase, how, number) {
        ("none", _, _) => (Known::Absent, Vec::new()),
        ("gone", _, _) => (Known::Absent, marks(5)),
        ("torn", _, _) => (of("current_phase: 5\nphases: {"), marks(5)),
        ("a link", _, _) => (Known::Broken("it leads out of the project".into()), marks(5)),
        ("of an unknown workflow", _, _) => (of("workflow: release\ncurrent_phase: 5\n"), marks(5)),
        (_, "complete", Some(number)) => {
            (of(&text(&number.to_string(), "whole", "status: complete\n")), marks(number))
        }
        (_, "untouched for a day", Some(number)) => {
            let mut old = standing(&text(&number.to_string(), "whole", ""), &[1]);
            old.written = Some(NOW.before(25 * 3_600_000));
            (Known::Value(old), marks(number))
        }
        (_, "", Some(number)) => (of(&text(&number.to_string(), "whole", "")), marks(number)),
        other => panic!("no such workflow: {other:?}"),
    }
}

pub(super) fn sessions(row: &Row<'_>) -> Vec<String> {
    let json = match row[2] {
        "spawn" => spawn(""),
        "spawn in a subagent" => spawn(r#", "agent_id": "a1""#),
        "spawn by the old name" => spawn("").replace("\"Agent\"", "\"Task\""),
        "another tool" => spawn("").replace("\"Agent\"", "\"AskUserQuestion\""),
        other => panic!("no such event: {other}"),
    };
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let (preset, stepped_down) =
        row[0].strip_suffix(", stepped down").map_or((row[0], false), |preset| (preset, true));
    let mut config = config(preset, &[]);
    if stepped_down {
        config.stepped_down.push(ID.to_owned());
    }
    let (workflow, marks) = workflow(row[1]);
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(marks)),
        meter: meter(row[3], "200000", "-"),
        workflow,
        ..facts(&event)
    };
    let (call, because) = call_of(part(ID, &facts, &config).as_ref());
    [row[0], row[1], row[2], row[3], &call, &because].map(str::to_owned).into()
}

pub(super) fn gates(row: &Row<'_>) -> Vec<String> {
    let json = spawn("");
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let (let_through, more, discovery) = match row[3] {
        "-" => (&[][..], "", row[2]),
        "passed" | "skipped" | "passed, before it was begun" => (&[1][..], "", row[2]),
        "the manifest says passed" => (&[][..], "gates: {1: {status: passed}}\n", row[2]),
        "the manifest says skipped" => (&[][..], "", "says skipped"),
        other => panic!("no such history: {other}"),
    };
    let mut standing = standing(&text(row[1], discovery, more), let_through);
    for known in &mut standing.let_through {
        known.skipped = row[3] == "skipped";
        if row[3].ends_with("before it was begun") {
            known.at = CREATED.before(60_000);
        }
    }
    let marks = fold(vec![bound(&[3, 4])]);
    let facts = Facts {
        now: NOW,
        marks: Known::Value(marks),
        meter: meter(row[4], "200000", "-"),
        workflow: Known::Value(standing),
        ..facts(&event)
    };
    let (call, because) = call_of(part(ID, &facts, &config(row[0], &[])).as_ref());
    [row[0], row[1], row[2], row[3], row[4], &call, &because].map(str::to_owned).into()
}

pub(super) fn missing(row: &Row<'_>) -> Vec<String> {
    let json = spawn("");
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let mut standing = standing(&text("4", row[1], ""), &[]);
    let found = match row[1] {
        "in a missing artifact" => Some(Found::Missing),
        "in an artifact outside" => Some(Found::Outside),
        "in an artifact" => Some(Found::File { lines: 9, tokens: 900, modified: Some(ENDED) }),
        _ => None,
    };
    standing.files =
        found.map(|found| (3, vec![Named { name: "discovery.md".into(), found }])).into_iter().collect();
    let level = row[3].starts_with("it ended at 80%").then_some(80);
    let ended =
        PhaseBegan { number: 4, name: "skill_discovery".into(), at: Some(ENDED), level, asked: false };
    let mut marks = vec![bound(&[3]), WorkflowMark::PhaseBegan(ended).into()];
    if row[3].contains("compacted") {
        marks.push(SessionMark::Boundary(Millis(ENDED.0 + 5000)).into());
    }
    if row[3].contains("skill") {
        let agent = row[3].ends_with("by a subagent").then(|| "a1".to_owned());
        marks.push(SessionMark::Skill { name: "persisting-progress-across-sessions".into(), agent }.into());
    }
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(marks)),
        meter: meter(row[2], "200000", "-"),
        workflow: Known::Value(standing),
        ..facts(&event)
    };
    let part = part(ID, &facts, &config(row[0], &[])).expect("it takes part");
    let reason = part.verdict.reason.unwrap_or_default();
    let missing =
        reason.split_once("Missing: ").map(|(_, rest)| rest.split_once(". `tidegate").expect("the end").0);
    let missing =
        missing.unwrap_or(if reason.contains("Everything that it wants is there") { "nothing" } else { "?" });
    [row[0], row[1], row[2], row[3], missing].map(str::to_owned).into()
}

pub(super) fn changes(row: &Row<'_>) -> Vec<String> {
    let (to, agent) = match row[1].strip_suffix(", by a subagent") {
        Some(to) => (to, r#", "agent_id": "a1""#),
        None => (row[1], ""),
    };
    let json = format!(
        r#"{{"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Write",
            "tool_input": {{"file_path": "/p/{PATH}"}}{agent}}}"#
    );
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let (from, held) = row[0].strip_suffix(", held by a gate").map_or((row[0], false), |from| (from, true));
    let (from, taken) =
        from.strip_suffix(", taken by another session").map_or((from, false), |from| (from, true));
    let marks = match from {
        "none" => Vec::new(),
        "another" => {
            let other =
                Attached { manifest: ".claude/.output/features/y/MANIFEST.yaml".into(), ..attached(&[5]) };
            vec![WorkflowMark::Workflow(Box::new(other)).into()]
        }
        phase => vec![bound(&[phase.parse().expect("a phase")])],
    };
    let of = |text: &str| {
        let owner = taken.then(|| "another".to_owned());
        Known::Value(Standing { owner, held_elsewhere: held.then_some(1), ..standing(text, &[1]) })
    };
    let workflow = match to {
        "complete" => of(&text("5", "whole", "status: complete\n")),
        "torn" => of("current_phase: ["),
        "gone" => Known::Absent,
        phase => of(&text(phase, "whole", "")),
    };
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(marks)),
        meter: meter(row[2], "200000", "-"),
        workflow,
        ..facts(&event)
    };
    let part = part(ID, &facts, &Config::default());
    let (call, because) = call_of(part.as_ref());
    let effects = part.as_ref().map(|part| part.verdict.effects.as_slice()).unwrap_or_default();
    let notes = effects.iter().find_map(|effect| match effect {
        Effect::Mark(Mark::Workflow(WorkflowMark::PhaseBegan(new))) => {
            Some(format!("phase {}{}", new.number, if new.asked { ", asked" } else { "" }))
        }
        Effect::Mark(Mark::Workflow(WorkflowMark::WorkflowLeft)) => Some("left".to_owned()),
        Effect::Mark(Mark::Workflow(WorkflowMark::Workflow(new))) => {
            Some(format!("attached to phase {}", new.current().expect("a phase").number))
        }
        _ => None,
    });
    let (says, notes) = (says(part.as_ref(), &event), notes.unwrap_or_else(|| "-".into()));
    [row[0], row[1], row[2], &call, &says, &notes, &because].map(str::to_owned).into()
}

pub(super) fn reminders(row: &Row<'_>) -> Vec<String> {
    let json = r#"{"session_id": "s", "hook_event_name": "SessionStart", "source": "compact"}"#;
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let (workflow, mut marks) = workflow(row[0]);
    if row[1] == "after 5" {
        let asked = PhaseBegan {
            number: 6,
            name: "brainstorming".into(),
            at: Some(ENDED),
            level: Some(75),
            asked: true,
        };
        marks = vec![bound(&[5]), WorkflowMark::PhaseBegan(asked).into()];
    }
    let facts = Facts { now: NOW, marks: Known::Value(fold(marks)), workflow, ..facts(&event) };
    let part = part(ID, &facts, &Config::default());
    let effects = part.as_ref().map(|part| part.verdict.effects.as_slice()).unwrap_or_default();
    let notes = effects.iter().find_map(|effect| match effect {
        Effect::Workflow(effect::Effect::NoteCompaction { manifest, section, .. }) => {
            assert_eq!(manifest, PATH);
            Some(format!("phases.{section}"))
        }
        _ => None,
    });
    assert_eq!(notes.is_some(), effects.contains(&Effect::mark(WorkflowMark::CompactionNoted(5))), "{row:?}");
    let (says, notes) = (says(part.as_ref(), &event), notes.unwrap_or_else(|| "-".into()));
    [row[0], row[1], &says, &notes].map(str::to_owned).into()
}

pub(super) fn retries(row: &Row<'_>) -> Vec<String> {
    let (what, kind) = row[1].split_once(" by ").expect("an agent");
    let json = spawn("").replace("fix the parser", what).replace("worker", kind);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let mut marks = fold(vec![bound(&[5])]);
    let (failed, said) = row[0].strip_suffix(", said").map_or((row[0], false), |failed| (failed, true));
    let failure = match failed.split_once(" by ") {
        Some((what, kind)) => Some(spawn("").replace("fix the parser", what).replace("worker", kind).replace(
            "PreToolUse",
            "PostToolUseFailure",
        )),
        None => failed.strip_suffix(" in the background").map(|what| {
            format!(
                r#"{{"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt":
                    "<task-notification>\n<status>failed</status>\n<summary>Agent \"{what}\" failed</summary>"}}"#
            )
        }),
    };
    if let Some(json) = failure {
        let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
        let facts = Facts { now: NOW, marks: Known::Value(marks.clone()), ..facts(&event) };
        let part = part(ID, &facts, &Config::default()).expect("it takes part");
        apply(&mut marks, &part.verdict.effects);
    }
    if said {
        marks.apply(WorkflowMark::AgentRetried(work_id(what, kind)));
    }
    let facts = Facts {
        now: NOW,
        marks: Known::Value(marks),
        meter: meter("100000", "200000", "-"),
        workflow: Known::Value(standing(&text("5", "whole", ""), &[1])),
        ..facts(&event)
    };
    let part = part(ID, &facts, &Config::default());
    [row[0], row[1], &says(part.as_ref(), &event)].map(str::to_owned).into()
}

fn apply(marks: &mut Marks, effects: &[Effect]) {
    for effect in effects {
        if let Effect::Mark(mark) = effect {
            marks.apply(mark.clone());
        }
    }
}

pub(super) fn words(row: &Row<'_>) -> Vec<String> {
    let json = spawn("");
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let (what, to, attended) = match row[0].split_once(", ") {
        Some((what, "to the person")) => (what, Audience::User, true),
        Some((what, "nobody there")) => (what, Audience::Model, false),
        _ => (row[0], Audience::Model, true),
    };
    let of_gate = |section: &str| (standing(&text("4", section, ""), &[]), "100000");
    let of_level = |used: &'static str| (standing(&text("5", "whole", ""), &[1]), used);
    let (standing, used) = match what {
        "75%" => of_level("152000"),
        "80%" => of_level("162000"),
        "85%" => of_level("172000"),
        "95%" => of_level("192000"),
        "a gate" => of_gate("complete, no output"),
        "a gate with everything" => of_gate("whole"),
        other => panic!("no such case: {other}"),
    };
    let facts = Facts {
        now: NOW,
        marks: Known::Value(fold(vec![bound(&[5])])),
        meter: meter(used, "200000", "-"),
        person: attended.into(),
        workflow: Known::Value(standing),
        ..facts(&event)
    };
    let part = part(ID, &facts, &Config::default()).expect("it takes part");
    let said: Vec<&str> =
        part.verdict.says.iter().filter(|say| say.to == to).map(|say| say.text.as_str()).collect();
    let said = (!said.is_empty()).then(|| said.join(" "));
    let reason = part.verdict.reason.clone().filter(|_| to == Audience::Model);
    vec![row[0].into(), reason.or(said).unwrap_or_else(|| "-".into())]
}

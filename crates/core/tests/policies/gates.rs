//! The tables of the gates.

use tidegate_core::event::Event;
use tidegate_core::feature::activity;
use tidegate_core::feature::activity::classifier::{Guess, Phase};
use tidegate_core::feature::activity::marks::{Late, Mark as ActivityMark};
use tidegate_core::feature::config::Config;
use tidegate_core::feature::config::layer::{Assignment, Layer, Origin};
use tidegate_core::feature::facts::{Facts, Known, Touched};
use tidegate_core::feature::marks::{Mark, Marks, SessionMark};
use tidegate_core::feature::verdict::{Audience, Carried};
use tidegate_core::feature::verification::checks;
use tidegate_core::feature::verification::checks::{CheckKind, Kinds, ProjectChecks, SeenFile};
use tidegate_core::feature::verification::facts as own;
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::required_checks;
use tidegate_core::feature::verification::verify_stop;
use tidegate_core::feature::verification::work::{BackgroundCheck, Edit, SucceededChecks};
use tidegate_core::file_class::FileClass;
use tidegate_core::host::Host;
use tidegate_core::pipeline;
use tidegate_core::pipeline::ruling::Part;
use tidegate_core::settings::section::Voice;
use tidegate_core::settings::value::Value;
use tidegate_core::time::Millis;

use super::{Row, facts};

const NOW: Millis = Millis(1_000_000);

/// The config of a preset with these keys set by the user.
pub(super) fn config(preset: &str, keys: &[(&str, &str, Value)]) -> Config {
    let origin = || Origin::Line("config.toml".into(), 1);
    let assignment = |section: &str, key: &str, value: Value| Assignment {
        section: section.into(),
        key: key.into(),
        value,
        origin: origin(),
    };
    let mut assignments = vec![assignment("", "preset", preset.into())];
    assignments.extend(keys.iter().map(|(section, key, value)| assignment(section, key, value.clone())));
    let mut config = Config::default();
    config.apply(&Layer { voice: Voice::User, assignments });
    assert!(config.problems.is_empty(), "{:?}", config.problems);
    config
}

fn words(list: &[&str]) -> Value {
    Value::List(list.iter().map(|item| Value::from(*item)).collect())
}

pub(super) fn fold(marks: Vec<Mark>) -> Marks {
    let mut all = Marks::default();
    for mark in marks {
        all.apply(mark);
    }
    all
}

/// The part of one policy in the ruling; `None` where it does not take part.
pub(super) fn part(policy: &str, facts: &Facts<'_>, config: &Config) -> Option<Part> {
    pipeline::decide(facts, config, &|| 0).parts.into_iter().find(|part| part.policy == policy)
}

/// Its call, `shadowed` where it is only recorded, and why.
pub(super) fn call_of(part: Option<&Part>) -> (String, String) {
    let Some(part) = part else { return ("-".into(), "-".into()) };
    let shadow = if part.shadow { "shadowed " } else { "" };
    (format!("{shadow}{}", part.verdict.call.name()), part.verdict.because.to_owned())
}

/// `code-quality-rules by a2, other`.
fn skills(cell: &str) -> Vec<Mark> {
    let named = cell.split(", ").filter(|name| *name != "-");
    named
        .map(|name| {
            let (name, agent) = name.split_once(" by ").map_or((name, None), |(name, by)| (name, Some(by)));
            SessionMark::Skill { name: name.into(), agent: agent.map(str::to_owned) }.into()
        })
        .collect()
}

/// An edit by the thread that a cell names: `main`, `subagent a1`, `subagent a1 writer`.
fn edit_payload(thread: &str) -> String {
    let mut words = thread.split(' ').skip(1);
    let agent = words.next().map(|id| format!(r#", "agent_id": "{id}""#)).unwrap_or_default();
    let kind = words.next().map(|kind| format!(r#", "agent_type": "{kind}""#)).unwrap_or_default();
    format!(
        r#"{{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Edit",
            "tool_input": {{"file_path": "/p/f"}}{agent}{kind}}}"#
    )
}

fn touched(file: &str) -> Touched {
    let inside = Some(file.to_owned()).filter(|file| !file.starts_with('/'));
    Touched { path: file.to_owned(), inside, below: file.to_owned(), class: FileClass::of(file), step: None }
}

fn skill_gate(thread: &str, file: &str, marks: Vec<Mark>, config: &Config) -> Option<Part> {
    let json = edit_payload(thread);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let verification = own::Facts { files: vec![touched(file)], ..own::Facts::default() };
    let facts = Facts { marks: Known::Value(fold(marks)), verification, now: NOW, ..facts(&event) };
    part("skill-gate", &facts, config)
}

pub(super) fn skill_gate_files(row: &Row<'_>) -> Vec<String> {
    let file = match row[1] {
        "code" => "src/a.rs",
        "document" => "docs/a.md",
        "config" => "a.toml",
        "other" => "a.bin",
        file => file,
    };
    let part = skill_gate("main", file, skills(row[2]), &config(row[0], &[]));
    let (call, because) = call_of(part.as_ref());
    vec![row[0].into(), row[1].into(), row[2].into(), call, because]
}

pub(super) fn skill_gate_settings(row: &Row<'_>) -> Vec<String> {
    let mut marks = skills(row[2]);
    let setting = row[0].strip_suffix(", reminded").unwrap_or(row[0]);
    if setting != row[0] {
        marks.push(SessionMark::Notice("skill-gate/code-quality-rules".into()).into());
    }
    let setting = setting.strip_suffix(", recorded before").unwrap_or(setting);
    if row[0].ends_with("recorded before") {
        marks.push(SessionMark::Notice("skill-gate/would/code-quality-rules".into()).into());
    }
    let words_of: Vec<&str> = setting.split(' ').collect();
    let keys = match words_of.as_slice() {
        ["mode", mode] => vec![("skill_gate", "mode", Value::from(*mode))],
        ["subagents", how] => vec![("skill_gate", "subagents", Value::from(*how))],
        ["preloaded", kind] => vec![("skill_gate", "preloaded", words(&[kind]))],
        ["exempt", glob] => vec![("skill_gate", "exempt", words(&[glob]))],
        ["require", glob, skill] => vec![("skill_gate.require", *glob, words(&[skill]))],
        _ => Vec::new(),
    };
    let mut config = config("guide", &keys);
    if setting == "stepped down" {
        config.stepped_down.push("skill-gate".into());
    }
    let part = skill_gate(row[1], "src/a.rs", marks, &config);
    let (call, because) = call_of(part.as_ref());
    let call = if row[0].ends_with("recorded before") { call.replace("shadowed ", "") } else { call };
    vec![row[0].into(), row[1].into(), row[2].into(), call, because]
}

pub(super) fn skill_gate_words(row: &Row<'_>) -> Vec<String> {
    let told = if row[0].ends_with("told before") {
        vec![SessionMark::Notice("skill-gate".into()).into()]
    } else {
        Vec::new()
    };
    let verdict = skill_gate(row[1], "src/a.rs", told, &Config::default()).expect("a verdict").verdict;
    let text = match row[0] {
        "model" => verdict.reason,
        _ => verdict.says.into_iter().find(|say| say.to == Audience::User).map(|say| say.text),
    };
    vec![row[0].into(), row[1].into(), text.unwrap_or_else(|| "-".into())]
}

fn edit(file: &str) -> Mark {
    VerificationMark::Edit(Edit { file: file.into(), at: Millis(500_000), shell: false }).into()
}

/// A session's marks from a cell such as `open, held 1, ran`.
fn marks_of(cell: &str) -> Known<Marks> {
    if cell == "unreadable" {
        return Known::Broken("test".into());
    }
    let mut marks = Vec::new();
    for word in cell.split(", ") {
        match word.split(' ').collect::<Vec<_>>().as_slice() {
            ["none"] => {}
            ["verified"] => marks.push(VerificationMark::Verified(Millis(500_000)).into()),
            ["open"] => marks.push(edit("src/a.rs")),
            ["noticed"] => marks.push(SessionMark::Notice("verify-stop".into()).into()),
            ["ran"] => marks.push(VerificationMark::Ran.into()),
            ["told"] => marks.push(VerificationMark::Told.into()),
            ["gone"] => {}
            ["tested"] => marks.push(
                VerificationMark::Checked(SucceededChecks {
                    kinds: Kinds::TEST,
                    at: Millis(600_000),
                    seen: Millis(600_000),
                    verified: false,
                })
                .into(),
            ),
            ["awaited"] => marks.push(check("b1", Some("p"))),
            ["awaited", "before"] => marks.push(check("b1", Some("another prompt"))),
            // One that began before the edit proves nothing about it.
            ["check", task] if marks.is_empty() => {
                marks.push(check_since(Millis(400_000), task, None));
            }
            ["check", task] => marks.push(check(task, None)),
            ["held", count] if count.parse::<u32>().is_ok() => {
                marks.extend(std::iter::repeat_n(
                    VerificationMark::Held.into(),
                    count.parse().expect("a number"),
                ));
            }
            // As the policy itself would have marked it.
            ["held", task] => marks.extend(held_task(task)),
            other => panic!("no such edits: {other:?}"),
        }
    }
    Known::Value(fold(marks))
}

fn check(task: &str, awaited: Option<&str>) -> Mark {
    check_since(Millis(600_000), task, awaited)
}

fn check_since(at: Millis, task: &str, awaited: Option<&str>) -> Mark {
    let awaited = awaited.map(str::to_owned);
    VerificationMark::Launched(BackgroundCheck { task: task.into(), kinds: Kinds::TEST, at, awaited }).into()
}

fn task_payload(subject: &str) -> String {
    format!(r#"{{"session_id": "s", "hook_event_name": "TaskCompleted", "task_subject": "{subject}"}}"#)
}

fn held_task(subject: &str) -> Vec<Mark> {
    use tidegate_core::feature::verdict::Effect;
    let json = task_payload(subject);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let facts = Facts { marks: marks_of("open"), ..facts(&event) };
    let verdict = part("task-gate", &facts, &config("strict", &[])).expect("a verdict").verdict;
    let marks = verdict.effects.into_iter().filter_map(|effect| match effect {
        Effect::Mark(mark) => Some(mark),
        _ => None,
    });
    marks.collect()
}

fn of_preset(cell: &str) -> Config {
    let preset = cell.strip_suffix(" stepped down").unwrap_or(cell);
    let mut config = config(preset, &[]);
    if preset != cell {
        config.stepped_down.push("verify-stop".into());
    }
    config
}

pub(super) fn stops(row: &Row<'_>) -> Vec<String> {
    let task = match row[2].split_once(' ') {
        Some(("agent", id)) => format!(r#"{{"id": "{id}", "type": "subagent", "status": "running"}}"#),
        Some((_, id)) => format!(r#"{{"id": "{id}", "type": "shell", "status": "running"}}"#),
        None => String::new(),
    };
    let active = row[3] == "active";
    let json = format!(
        r#"{{"session_id": "s", "hook_event_name": "Stop", "prompt_id": "p", "stop_hook_active": {active}, "background_tasks": [{task}]}}"#
    );
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let checks = row[1].contains("tested").then(|| project("test"));
    let edits_gone = row[1].contains("gone");
    let verification = own::Facts { checks, edits_gone, ..own::Facts::default() };
    let facts = Facts { marks: marks_of(row[1]), verification, now: NOW, ..facts(&event) };
    let part = part("verify-stop", &facts, &of_preset(row[0]));
    let (call, because) = call_of(part.as_ref());
    let said = part.filter(|part| !part.shadow && !part.verdict.says.is_empty());
    let says = said.map_or("-", |part| match part.verdict.says[0].to {
        Audience::User => "user",
        Audience::Model => "model",
    });
    vec![row[0].into(), row[1].into(), row[2].into(), row[3].into(), call, says.into(), because]
}

fn kinds(cell: &str) -> Kinds {
    let kind = |name: &str| match name {
        "test" => Kinds::TEST,
        "typecheck" => Kinds::TYPECHECK,
        "build" => Kinds::BUILD,
        "lint" => Kinds::LINT,
        _ => Kinds::NONE,
    };
    cell.split(", ").fold(Kinds::default(), |all, name| all.and(kind(name)))
}

fn named(kinds: Kinds) -> String {
    let names: Vec<&str> = kinds.iter().map(CheckKind::name).collect();
    if names.is_empty() { "-".into() } else { names.join(", ") }
}

/// A project whose `Makefile` has a target for each kind.
fn project(kinds: &str) -> ProjectChecks {
    let body = |kind: &str| match kind {
        "test" => "test:\n\tpytest\n",
        "typecheck" => "typecheck:\n\tmypy .\n",
        "build" => "build:\n\tcc a.c\n",
        "lint" => "lint:\n\truff check\n",
        _ => "",
    };
    let makefile: String = kinds.split(", ").map(body).collect();
    checks::read_project(&[SeenFile { folder: "", name: "Makefile", text: Some(&makefile) }])
}

pub(super) fn wants(row: &Row<'_>) -> Vec<String> {
    let config = config("guide", &[("verify_stop", "wants", row[0].into())]);
    let (project, passed) = (project(row[1]), kinds(row[2]));
    assert_eq!(named(project.kinds()), row[1], "the project of the row");
    let verified = if required_checks::is_sufficient(Some(&project), &config, passed) { "yes" } else { "no" };
    let missing = named(required_checks::missing_kinds(Some(&project), &config, passed));
    vec![row[0].into(), row[1].into(), row[2].into(), verified.into(), missing]
}

pub(super) fn listed(row: &Row<'_>) -> Vec<String> {
    let package = r#"{"scripts": {"test": "vitest run", "build": "tsc -b"}}"#;
    let seen: Vec<SeenFile<'_>> =
        row[1].split(", ").map(|name| SeenFile { folder: "", name, text: Some(package) }).collect();
    let commands = if row[2] == "-" { Vec::new() } else { vec![Value::from(row[2])] };
    let config = config(
        "guide",
        &[("verify_stop", "wants", row[0].into()), ("verify_stop.commands", "test", Value::List(commands))],
    );
    let project = checks::read_project(&seen);
    let missing = required_checks::missing_kinds(Some(&project), &config, Kinds::default());
    let listed = verify_stop::example_commands(Some(&project), &config, missing).join(", ");
    vec![row[0].into(), row[1].into(), row[2].into(), listed]
}

fn stop() -> Event<'static> {
    Host::ClaudeCode
        .read(br#"{"session_id": "s", "hook_event_name": "Stop"}"#, None)
        .expect("the payload is whole")
}

pub(super) fn stop_words(row: &Row<'_>) -> Vec<String> {
    let file = row[1].strip_suffix(" hidden").unwrap_or(row[1]);
    let mut marks = vec![edit(file)];
    marks.extend((file != row[1]).then(|| VerificationMark::Hidden("cargo test | tail".into()).into()));
    let event = stop();
    let seen = SeenFile { folder: "", name: "Cargo.toml", text: Some("[package]\nname = \"a\"\n") };
    let checks = checks::read_project(if row[2] == "rust" { std::slice::from_ref(&seen) } else { &[] });
    let facts = Facts {
        marks: Known::Value(fold(marks)),
        person: (row[0] == "yes").into(),
        verification: own::Facts { checks: Some(checks), ..own::Facts::default() },
        now: NOW,
        ..facts(&event)
    };
    let verdict = part("verify-stop", &facts, &Config::default()).expect("a verdict").verdict;
    let text = verdict.reason.unwrap_or_default().replace('|', "\\|");
    vec![row[0].into(), row[1].into(), row[2].into(), text]
}

pub(super) fn tasks(row: &Row<'_>) -> Vec<String> {
    let json = task_payload(row[2]);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let facts = Facts { marks: marks_of(row[1]), now: NOW, ..facts(&event) };
    let (call, because) = call_of(part("task-gate", &facts, &config(row[0], &[])).as_ref());
    vec![row[0].into(), row[1].into(), row[2].into(), call, because]
}

fn phase_named(name: &str) -> Option<Phase> {
    Phase::ALL.into_iter().find(|phase| phase.name() == name)
}

fn phase_event(cell: &str) -> String {
    let prompt = |text: &str, more: &str| {
        format!(r#"{{"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "{text}"{more}}}"#)
    };
    let tool = |more: &str| {
        format!(r#"{{"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Read"{more}}}"#)
    };
    match cell.split_once(' ') {
        Some(("skill", name)) => format!(
            r#"{{"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Skill", "tool_input": {{"skill": "{name}"}}}}"#
        ),
        Some(("prompt", "in a subagent")) => prompt("go on", r#", "agent_id": "a1""#),
        Some(("read", "in a subagent")) => tool(r#", "agent_id": "a1""#),
        _ if cell == "read" => tool(""),
        _ if cell == "stop" => r#"{"session_id": "s", "hook_event_name": "Stop"}"#.to_owned(),
        _ if cell == "slash" => prompt("/compact now", ""),
        _ if cell == "notification" => prompt("<task-notification> implement it", ""),
        _ => prompt("go on", ""),
    }
}

fn design_and_coding() -> Vec<String> {
    vec!["learnings-design.md".into(), "learnings-coding.md".into()]
}

pub(super) fn phases(row: &Row<'_>) -> Vec<String> {
    let json = phase_event(row[0]);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let guess = guess(row[2]);
    let marks = match row[0] {
        "prompt, marks unreadable" => Known::Broken("test".into()),
        _ => Known::Value(in_phase(row[1], None)),
    };
    let facts = Facts {
        marks,
        person: (row[0] != "prompt, nobody there").into(),
        activity: activity::facts::Facts { guess, stock: design_and_coding() },
        ..facts(&event)
    };
    let (_, because) = call_of(part("phase", &facts, &Config::default()).as_ref());
    let enters = pipeline::observe(&facts, &Config::default()).into_iter().find_map(|mark| match mark {
        Mark::Activity(ActivityMark::Phase(phase)) => Some(phase.name()),
        _ => None,
    });
    vec![row[0].into(), row[1].into(), row[2].into(), enters.unwrap_or("-").into(), because]
}

fn guess(cell: &str) -> Option<Guess> {
    cell.split_once(' ').map(|(name, percent)| Guess {
        phase: phase_named(name).expect("a phase"),
        confidence: percent.parse::<f64>().expect("a number") / 100.0,
    })
}

fn in_phase(name: &str, late: Option<Late>) -> Marks {
    let activity = activity::marks::Marks { phase: phase_named(name), late };
    Marks { activity, ..Marks::default() }
}

/// The same with a backend: what is asked, and what an answer that came late does.
pub(super) fn late_phases(row: &Row<'_>) -> Vec<String> {
    let json = phase_event(row[0]);
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let late = (row[2] != "-").then(|| Late { prompt: Millis(1), phase: phase_named(row[2]) });
    let mut marks = in_phase(row[1], late);
    let facts = Facts {
        now: NOW,
        marks: match row[0] {
            "prompt, marks unreadable" => Known::Broken("test".into()),
            _ => Known::Value(marks.clone()),
        },
        person: (row[0] != "prompt, nobody there").into(),
        activity: activity::facts::Facts { guess: guess(row[3]), stock: design_and_coding() },
        ..facts(&event)
    };
    let config = config("guide", &[("phase.llm", "backend", "claude".into())]);
    let part = part("phase", &facts, &config);
    let (_, because) = call_of(part.as_ref());
    let before = marks.activity.phase;
    // In the order in which the hook writes them.
    for mark in pipeline::observe(&facts, &config) {
        marks.apply(mark);
    }
    for effect in part.map(|part| part.verdict.effects).unwrap_or_default() {
        marks.apply(effect.leaves().expect("each of them is remembered"));
    }
    let enters = marks.activity.phase.filter(|phase| Some(*phase) != before).map_or("-", Phase::name);
    let then = match marks.activity.late {
        None => "-",
        Some(Late { phase: Some(phase), .. }) => phase.name(),
        Some(Late { prompt: NOW, phase: None }) => "asked",
        Some(Late { phase: None, .. }) => "waits",
    };
    let is = [row[0], row[1], row[2], row[3], enters, then, &because];
    is.map(str::to_owned).into()
}

pub(super) fn phase_words(row: &Row<'_>) -> Vec<String> {
    let json = phase_event("prompt");
    let event = Host::ClaudeCode.read(json.as_bytes(), None).expect("the payload is whole");
    let named = row[1].split(", ").filter(|name| *name != "-");
    let facts = Facts {
        marks: Known::Value(fold(skills(row[2]))),
        activity: activity::facts::Facts {
            guess: phase_named(row[0]).map(|phase| Guess { phase, confidence: 0.9 }),
            stock: named.map(|name| format!("learnings-{name}.md")).collect(),
        },
        ..facts(&event)
    };
    let says = part("phase", &facts, &Config::default()).expect("a verdict").verdict.says;
    let text = says.into_iter().next().map_or_else(|| "-".into(), |say| say.text);
    vec![row[0].into(), row[1].into(), row[2].into(), text]
}

//! `workflow`: gates between phases, and levels of a full context.

use serde_json::json;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::{Mark, SessionMark};
use tidegate_core::feature::verdict::{Audience, Effect};
use tidegate_core::feature::workflow::check::{FoundFile, NamedFile};
use tidegate_core::feature::workflow::closed::PendingGate;
use tidegate_core::feature::workflow::effect::Effect as WorkflowEffect;
use tidegate_core::feature::workflow::facts::LeftWorkflow;
use tidegate_core::feature::workflow::marks::Mark as WorkflowMark;
use tidegate_core::feature::workflow::standing::{ClearedGate, WorkflowStanding};
use tidegate_core::feature::workflow::{AttachedWorkflow, Manifest, PhaseBegan, Workflow};
use tidegate_core::time::Millis;

use super::{Room, call, circumstances, event, number, or_dash, plain};
use crate::situation::{Decided, NOW, Situation, ago, pick};

const CREATED: Millis = ago(1_800_000);
const BEGAN: Millis = ago(1_200_000);
const ENDED: Millis = ago(600_000);

const PATH: &str = ".claude/.output/features/x/MANIFEST.yaml";

/// A manifest, and what a session knows of it.
#[derive(Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "what a row may say of it")]
pub(crate) struct Draft {
    /// The session is attached to another manifest.
    of_another: bool,
    /// The text, where it is not made of the parts below.
    text: Option<Known<String>>,
    phase: String,
    section: String,
    /// More lines.
    more: &'static str,
    untouched: bool,
    cleared_gates: Vec<ClearedGate>,
    owner: Option<String>,
    held_elsewhere: Option<usize>,
    /// Phases that began in this session, which is attached to the workflow if there are any.
    began: Vec<usize>,
    /// Gates that were seen pending.
    pending: Vec<usize>,
    /// Gates whose phase was reached.
    due: Vec<usize>,
    /// The session's marks are lost, and only the project's own history knows its gates.
    lost_marks: bool,
    /// When the session began.
    session: Option<Millis>,
    /// The manifest is a link to that of another workflow.
    linked: bool,
    /// The manifest was seen missing.
    gone: bool,
    /// Workflows that other sessions left.
    left: Vec<LeftWorkflow>,
    /// An agent of the workflow's session started this one.
    below: bool,
}

pub(super) static WORKFLOW_GATE: Room = Room {
    begin: |case| {
        spawn(case, "fix the parser by worker");
        workflow(case, "phase 5");
        case.workflow.section = "whole".into();
        case.workflow.cleared_gates = [1, 2, 3].map(passed).into();
        case.meter.used = Some(100_000);
    },
    finish,
    law: |decided| {
        let noted = decided.effects().iter().any(|effect| noted_section(effect).is_some());
        let mark = |mark: &Mark| matches!(mark, Mark::Workflow(WorkflowMark::CompactionNoted(5)));
        assert_eq!(noted, decided.left().any(mark), "the mark goes with the note");
    },
    given: &[
        ("event", |case, cell| match circumstances(case, cell) {
            "spawn" => {}
            "spawn by the old name" => case.put("tool_name", "Task"),
            "script of agents" => {
                case.put("tool_name", "Workflow");
                case.put("tool_input", json!({ "script": "await parallel([() => agent('x')])" }));
            }
            "message to an agent" => send(case, &json!("look at the parser, too")),
            "message that ends an agent" => send(case, &json!({ "type": "shutdown_request" })),
            "message to who started it" => {
                send(case, &json!("found"));
                case.put("tool_input", json!({ "to": "main", "message": "found" }));
            }
            "prompt" => {
                event(case, "prompt");
                case.put("prompt", "Fix the parser");
            }
            "prompt below it" => {
                event(case, "prompt");
                case.put("prompt", "Fix the parser");
                let draft = &mut case.workflow;
                (draft.below, draft.owner) = (true, Some("another".into()));
            }
            "skill" => skill(case),
            "skill in an agent" => {
                skill(case);
                case.facts.workflow.forks = true;
            }
            "another tool" => case.put("tool_name", "AskUserQuestion"),
            other => panic!("no such event: {other}"),
        }),
        ("manifest then", manifest_then),
        ("marks", |case, cell| match cell {
            "whole" => {}
            "lost" => case.workflow.lost_marks = true,
            "unreadable" => (case.workflow.lost_marks, case.marks_broken) = (true, true),
            other => panic!("no such marks: {other}"),
        }),
        ("made anew", made_anew),
        ("left", left),
        ("starts", |case, cell| {
            event(case, "startup");
            case.workflow.began.clear();
            case.put("source", cell);
        }),
        ("phase", |case, cell| {
            case.workflow.phase = cell.into();
            case.workflow.began = number(cell).into_iter().collect();
        }),
        ("said", said),
        ("rot_at", |case, cell| case.set("workflow", "rot_at", cell)),
        ("workflow", workflow),
        ("section of phase 3", |case, cell| case.workflow.section = cell.into()),
        ("passed", cleared_gates),
        ("since phase 3", since_phase_3),
        ("from", from),
        ("to", to),
        ("asked", asked),
        ("agent", agent),
        ("told before", |case, cell| {
            if cell != "-" {
                case.mark(SessionMark::Notice(format!("workflow failed {cell}")));
            }
        }),
        ("what", what),
    ],
    expected: &[
        ("call, handoff", |decided| {
            let work =
                pick!(decided.effects(), Effect::Workflow(WorkflowEffect::WriteHandoff(work)) => work.len());
            format!("{}{}", call(decided), if work == Some(1) { ", handoff" } else { "" })
        }),
        ("missing", missing),
        ("notes", notes),
    ],
    ..plain("workflow")
};

/// `fix the parser by worker`.
fn spawn(case: &mut Situation, cell: &str) {
    let (what, kind) = cell.split_once(" by ").expect("an agent");
    case.event("PreToolUse");
    case.put("tool_name", "Agent");
    case.put("tool_input", json!({"description": what, "subagent_type": kind, "prompt": "x"}));
}

fn send(case: &mut Situation, message: &serde_json::Value) {
    case.put("tool_name", "SendMessage");
    case.put("tool_input", json!({ "to": "a1b2c3", "message": message }));
}

fn skill(case: &mut Situation) {
    case.put("tool_name", "Skill");
    case.put("tool_input", json!({ "skill": "map-the-code" }));
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
        "under way" => "    status: in_progress\n".to_owned(),
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

impl Draft {
    /// Others than the third have no section but the fifth.
    fn text(&self) -> String {
        let current = match self.phase.as_str() {
            "unknown" | "shown by the only section in progress" => String::new(),
            phase => format!("current_phase: {}\n", phase.trim_end_matches(", and 5 in progress")),
        };
        let is_before = self.phase.parse::<usize>().is_ok_and(|phase| phase < 5);
        let fifth = if self.phase == "unknown" || is_before { "pending" } else { "in_progress" };
        format!(
            "created_at: \"{}\"\n{current}phases:\n{}  5_complexity:\n    status: {fifth}\n{}",
            CREATED.iso_seconds(),
            section(&self.section),
            self.more
        )
    }

    fn standing(&self, text: &str) -> WorkflowStanding {
        let found = match self.section.as_str() {
            "in a missing artifact" => Some(FoundFile::Missing),
            "in an artifact outside" => Some(FoundFile::Outside),
            "in an artifact" => Some(FoundFile::File { lines: 9, tokens: 900, modified: Some(ENDED) }),
            _ => None,
        };
        let files = found.map(|found| (3, vec![NamedFile { name: "discovery.md".into(), found }]));
        WorkflowStanding {
            root: "/p".into(),
            path: if self.linked { PATH.replace("/x/", "/y/") } else { PATH.into() },
            manifest: Manifest::parse(text.as_bytes(), |name| (name == "feature").then(Workflow::default)),
            written: Some(ago(if self.untouched { 25 * 3_600_000 } else { 1000 })),
            files: files.into_iter().collect(),
            cleared_gates: self.cleared_gates.clone(),
            owner: self.owner.clone(),
            attached: self.attached().filter(|attached| attached.manifest == PATH && !self.linked),
            held_elsewhere: self.held_elsewhere,
        }
    }

    fn attached(&self) -> Option<AttachedWorkflow> {
        let manifest = if self.of_another { PATH.replace("/x/", "/y/") } else { PATH.into() };
        let mut attached =
            AttachedWorkflow { manifest, workflow: "feature".into(), of: 16, ..AttachedWorkflow::default() };
        for number in &self.began {
            attached.begin(&began(*number, if self.untouched { ago(25 * 3_600_000) } else { BEGAN }));
        }
        for gate in &self.pending {
            let gate = Workflow::default().gate(*gate).expect("a gate");
            attached.close(PendingGate::new(gate, ENDED));
        }
        for gate in &self.due {
            attached.expect(PendingGate::due(Workflow::default().gate(*gate).expect("a gate"), ENDED));
        }
        attached.gone = self.gone.then_some(ENDED);
        attached.below = self.below;
        (!self.began.is_empty()).then_some(attached)
    }
}

fn began(number: usize, at: Millis) -> PhaseBegan {
    let name = Workflow::default().phase(number).expect("a phase").name.clone();
    PhaseBegan { number, name, at: Some(at), level: None, asked: false }
}

fn finish(case: &mut Situation) {
    let draft = &case.workflow;
    case.facts.workflow.left.clone_from(&draft.left);
    case.facts.workflow.standing = match draft.text.clone().unwrap_or_else(|| Known::Value(draft.text())) {
        Known::Value(text) => Known::Value(draft.standing(&text)),
        Known::Absent => Known::Absent,
        Known::Broken(why) => Known::Broken(why),
    };
    let mut attached = draft.attached();
    if draft.lost_marks {
        case.facts.workflow.recovered = attached.take().map(Box::new);
    }
    let began = draft.session.map(|at| SessionMark::Began { at }.into());
    let attached = attached.map(|attached| WorkflowMark::Workflow(Box::new(attached)).into());
    case.marks.splice(0..0, began.into_iter().chain(attached));
}

fn passed(gate: usize) -> ClearedGate {
    ClearedGate { manifest: PATH.into(), gate, at: BEGAN, ..ClearedGate::default() }
}

/// `75 in 5, compacted`: a level that was said.
fn said(case: &mut Situation, cell: &str) {
    let (said, compacted) = cell.strip_suffix(", compacted").map_or((cell, false), |said| (said, true));
    if said != "-" {
        case.mark(SessionMark::Notice(format!("workflow {}", said.replace(" in ", " "))));
    }
    case.leave(compacted.then_some(SessionMark::Boundary(NOW)));
}

fn workflow(case: &mut Situation, cell: &str) {
    let (phase, how) = cell.split_once(", ").unwrap_or((cell, ""));
    let draft = &mut case.workflow;
    draft.text = match phase {
        "none" | "gone" => Some(Known::Absent),
        "torn" => Some(Known::Value("current_phase: 5\nphases: {".into())),
        "a link" => Some(Known::Broken("it leads out of the project".into())),
        "of an unknown workflow" => Some(Known::Value("workflow: release\ncurrent_phase: 5\n".into())),
        phase => {
            draft.phase = phase.strip_prefix("phase ").expect("a phase").into();
            draft.began = vec![draft.phase.parse().expect("a number")];
            None
        }
    };
    if phase == "none" {
        draft.began.clear();
    }
    match how {
        "" => {}
        "complete" => draft.more = "status: complete\n",
        "untouched for a day" => draft.untouched = true,
        other => panic!("no such workflow: {other}"),
    }
}

/// How the gate after phase 3 was passed.
fn cleared_gates(case: &mut Situation, cell: &str) {
    let draft = &mut case.workflow;
    draft.began = if draft.section == "skipped" { vec![4] } else { vec![3, 4] };
    let gate = passed(1);
    draft.cleared_gates = match cell {
        "-" => Vec::new(),
        "passed" => vec![gate],
        "skipped" => vec![ClearedGate { skipped: true, ..gate }],
        "passed, before it was begun" => vec![ClearedGate { at: CREATED.before(60_000), ..gate }],
        "the manifest says passed" => {
            draft.more = "gates: {1: {status: passed}}\n";
            Vec::new()
        }
        "the manifest says skipped" => {
            draft.section = "says skipped".into();
            Vec::new()
        }
        other => panic!("no such history: {other}"),
    };
}

fn since_phase_3(case: &mut Situation, cell: &str) {
    let draft = &mut case.workflow;
    draft.phase = "4".into();
    draft.began = vec![3];
    draft.cleared_gates.clear();
    // The session began between the phase and what the manifest says of it.
    draft.session = Some(BEGAN);
    if let Some((_, told)) = cell.split_once("the manifest says ") {
        draft.phase = "3".into();
        draft.more = "gates: {1: {status: passed}}\n";
        let completed = match told.trim_end_matches(", seen before").trim_end_matches(", compacted") {
            "it ended long before" => format!("    completed_at: \"{}\"\n", CREATED.iso_seconds()),
            "nothing of its end" => String::new(),
            other => panic!("the manifest cannot say {other}"),
        };
        let text = draft.text().replace("  5_complexity", &format!("{completed}  5_complexity"));
        draft.text = Some(Known::Value(text));
        draft.pending = if told.contains("seen before") { vec![1] } else { Vec::new() };
        if told.ends_with("compacted") {
            case.mark(SessionMark::Boundary(Millis(ENDED.0 + 5000)));
        }
        return;
    }
    let level = cell.starts_with("it ended at 80%").then_some(80);
    case.mark(WorkflowMark::PhaseBegan(PhaseBegan { level, ..began(4, ENDED) }));
    if cell.contains("compacted") {
        case.mark(SessionMark::Boundary(Millis(ENDED.0 + 5000)));
    }
    if cell.contains("skill") {
        let agent = cell.ends_with("by a subagent").then(|| "a1".to_owned());
        case.mark(SessionMark::Skill { name: "persisting-progress-across-sessions".into(), agent });
    }
}

/// The phase that the session is in when a manifest is written.
fn from(case: &mut Situation, cell: &str) {
    case.event("PostToolUse");
    case.put("tool_name", "Write");
    case.put("tool_input", json!({"file_path": format!("/p/{PATH}")}));
    let (phase, how) = cell.split_once(", ").unwrap_or((cell, ""));
    let draft = &mut case.workflow;
    draft.cleared_gates = vec![passed(1)];
    match phase {
        "none" => draft.began.clear(),
        "another" => draft.of_another = true,
        phase => draft.began = vec![phase.parse().expect("a phase")],
    }
    match how {
        "" => {}
        "held by a gate" => draft.held_elsewhere = Some(1),
        "checkpoint 2 pending" => draft.pending = vec![2],
        "taken by another session" => draft.owner = Some("another".into()),
        other => panic!("no such workflow: {other}"),
    }
}

/// What the manifest says afterwards.
fn to(case: &mut Situation, cell: &str) {
    let to = cell.strip_suffix(", by a subagent").unwrap_or(cell);
    if to != cell {
        case.put("agent_id", "a1");
    }
    match to {
        "complete" => {
            case.workflow.more = "status: complete\n";
            case.workflow.phase = case.workflow.began.last().unwrap_or(&5).to_string();
        }
        "torn" => case.workflow.text = Some(Known::Value("current_phase: [".into())),
        "gone" => case.workflow.text = Some(Known::Absent),
        phase => case.workflow.phase = phase.into(),
    }
}

/// A compaction has followed; the model may have asked for it.
fn asked(case: &mut Situation, cell: &str) {
    event(case, "compact");
    if cell == "after 5" {
        case.workflow.began = vec![5];
        case.mark(WorkflowMark::PhaseBegan(PhaseBegan { level: Some(75), asked: true, ..began(6, ENDED) }));
    }
}

/// How an agent ended: `fix the parser: completed, FAILED: …`, in the background or not.
fn agent(case: &mut Situation, cell: &str) {
    let (how, answer) = cell.split_once(": ").expect("an answer");
    if let Some(task) = how.strip_suffix(" in the background") {
        let (status, result) = if answer == "failed" { ("failed", "") } else { ("completed", answer) };
        let summary = format!("<summary>Agent \"{task}\" finished</summary>\n<result>{result}</result>");
        event(case, "prompt");
        case.put("prompt", format!("<task-notification>\n<status>{status}</status>\n{summary}"));
        return;
    }
    spawn(case, &format!("{how} by worker"));
    if answer == "failed" {
        case.event("PostToolUseFailure");
        return;
    }
    case.event("PostToolUse");
    let content = json!([{ "type": "text", "text": answer.replace(" / ", "\n") }]);
    case.put("tool_response", json!({ "status": "completed", "content": content }));
}

/// What became of the manifest of a pending gate.
fn manifest_then(case: &mut Situation, cell: &str) {
    let draft = &mut case.workflow;
    (draft.phase, draft.section, draft.began, draft.pending) = ("4".into(), "-".into(), vec![3, 4], vec![1]);
    draft.cleared_gates.clear();
    draft.text = match cell {
        "as it was" => None,
        "gone" => Some(Known::Absent),
        "a link out of the project" => Some(Known::Broken("it leads out of the project".into())),
        "a link to another manifest" => {
            (draft.linked, draft.phase) = (true, "2".into());
            None
        }
        "torn" => Some(Known::Value("current_phase: 4\nphases: {".into())),
        "empty" => Some(Known::Value(String::new())),
        "of another workflow" => Some(Known::Value("workflow: release\ncurrent_phase: 4\n".into())),
        "complete" => {
            draft.more = "status: complete\n";
            None
        }
        "complete, at phase 3" => {
            (draft.phase, draft.more) = ("3".into(), "status: complete\n");
            None
        }
        "complete, without a phase" => {
            (draft.phase, draft.more) = ("unknown".into(), "status: complete\n");
            None
        }
        "taken over by another session" => {
            draft.owner = Some("another".into());
            None
        }
        "taken over by another session, then past phase 3" => {
            (draft.owner, draft.began, draft.pending) = (Some("another".into()), vec![3], Vec::new());
            None
        }
        "taken over by another session, then past phase 8" => {
            (draft.owner, draft.phase, draft.cleared_gates) =
                (Some("another".into()), "9".into(), vec![passed(1)]);
            None
        }
        "taken over by another session, gone" => {
            draft.owner = Some("another".into());
            Some(Known::Absent)
        }
        "taken over by another session, passed" => {
            (draft.owner, draft.cleared_gates) = (Some("another".into()), vec![passed(1)]);
            None
        }
        "phase 3 skipped" => {
            draft.section = "skipped".into();
            None
        }
        "back at phase 3" => {
            draft.phase = "3".into();
            None
        }
        "dated two days back" => {
            draft.untouched = true;
            None
        }
        "passed" => {
            draft.cleared_gates = vec![passed(1)];
            None
        }
        in_phase_3 => {
            let then = in_phase_3
                .strip_prefix("in phase 3, ")
                .unwrap_or_else(|| panic!("no such manifest: {in_phase_3}"));
            (draft.began, draft.pending, draft.due) = (vec![3], Vec::new(), vec![1]);
            (draft.phase, draft.section) = ("3".into(), "under way".into());
            match then {
                "then gone" => Some(Known::Absent),
                "then a link out of the project" => Some(Known::Broken("it leads out of the project".into())),
                "then torn" => Some(Known::Value("current_phase: 3\nphases: {".into())),
                "then of another workflow" => {
                    Some(Known::Value("workflow: release\ncurrent_phase: 3\n".into()))
                }
                "then complete" => {
                    draft.more = "status: complete\n";
                    None
                }
                "then complete at phase 16" => Some(Known::Value(
                    "status: complete\ncurrent_phase: 16\nphases: {16: {status: complete}}\n".into(),
                )),
                "still" => None,
                "then begun anew" => {
                    draft.phase = "1".into();
                    None
                }
                "then back at phase 1, then gone" => {
                    draft.began = vec![3, 1];
                    Some(Known::Absent)
                }
                "passed, then gone" => {
                    draft.due.clear();
                    Some(Known::Absent)
                }
                other => panic!("no such manifest: {other}"),
            }
        }
    };
}

/// The gate after phase 3 was passed, and then?
fn made_anew(case: &mut Situation, cell: &str) {
    let draft = &mut case.workflow;
    (draft.phase, draft.began) = ("4".into(), vec![4]);
    let mut gate = passed(1);
    match cell {
        "no" => draft.began = vec![3, 4],
        "with another created_at" => gate.created = Some(CREATED.before(86_400_000)),
        "without created_at" => {
            gate.created = Some(CREATED);
            draft.text = Some(Known::Value(draft.text().lines().skip(1).collect::<Vec<_>>().join("\n")));
        }
        "nothing had a created_at, it was gone in between" => {
            draft.text = Some(Known::Value(draft.text().lines().skip(1).collect::<Vec<_>>().join("\n")));
            draft.gone = true;
        }
        "phase 3 ran again" => {
            gate.at = BEGAN.before(60_000);
            draft.began = vec![3, 4];
        }
        other => panic!("no such manifest: {other}"),
    }
    draft.cleared_gates = vec![gate];
}

/// Unfinished workflows of other sessions.
fn left(case: &mut Situation, cell: &str) {
    let workflow = |how: &str| {
        let pending = how.contains("checkpoint 1 pending");
        let draft = Draft {
            phase: "4".into(),
            section: "whole".into(),
            began: vec![3, 4],
            pending: if pending { vec![1] } else { Vec::new() },
            untouched: how.contains("untouched"),
            cleared_gates: if pending { Vec::new() } else { vec![passed(1)] },
            owner: Some("another".into()),
            ..Draft::default()
        };
        let mut attached = draft.attached().expect("a phase");
        if how.contains("untouched") {
            attached.pending.iter_mut().for_each(|pending| pending.at = ago(25 * 3_600_000));
        }
        let standing = if how.contains("its manifest gone") {
            Known::Absent
        } else {
            Known::Value(draft.standing(&draft.text()))
        };
        LeftWorkflow {
            attached,
            standing,
            is_over: !how.contains("still running") && !how.contains("above"),
            is_above: how.contains("above"),
            told: if how.contains("told thrice") { 3 } else { 0 },
        }
    };
    case.workflow.left = match cell {
        "-" => Vec::new(),
        "two" => vec![workflow(""), workflow("")],
        one => vec![workflow(one)],
    };
}

/// What a text is about.
fn what(case: &mut Situation, cell: &str) {
    case.reader = Some(Audience::Model);
    let mut gate = |section: &str| {
        let draft = &mut case.workflow;
        (draft.phase, draft.section) = ("4".into(), section.into());
        draft.cleared_gates.clear();
    };
    match cell.split_once(", ").map_or(cell, |(what, _)| what) {
        "75%" => case.meter.used = Some(152_000),
        "80%" => case.meter.used = Some(162_000),
        "85%" => case.meter.used = Some(172_000),
        "95%" => case.meter.used = Some(192_000),
        "a gate" => gate("complete, no output"),
        "a gate with everything" => gate("whole"),
        "a gate whose manifest is gone" => manifest_then(case, "gone"),
        "a gate that only the project's history knows" => {
            manifest_then(case, "gone");
            case.workflow.lost_marks = true;
        }
        "a gate whose manifest names another workflow" => manifest_then(case, "of another workflow"),
        "an agent that failed" => agent(case, "fix the parser: failed"),
        "a workflow taken over" => {
            event(case, "startup");
            case.workflow.began.clear();
            left(case, "ended, checkpoint 1 pending");
        }
        "several workflows" => {
            event(case, "startup");
            case.workflow.began.clear();
            left(case, "two");
        }
        other => panic!("no such case: {other}"),
    }
    circumstances(case, cell);
}

fn missing(decided: &Decided) -> String {
    let reason = decided.part.as_ref().and_then(|part| part.verdict.reason.as_deref()).unwrap_or_default();
    let missing = reason.split_once("Missing: ").and_then(|(_, rest)| rest.split_once(". Write it with"));
    let everything = reason.contains("has all it needs");
    missing.map_or(if everything { "nothing" } else { "?" }, |(missing, _)| missing).into()
}

/// The section in which a compaction is noted.
fn noted_section(effect: &Effect) -> Option<&str> {
    match effect {
        Effect::Workflow(WorkflowEffect::NoteCompaction { manifest, section, .. }) => {
            assert_eq!(manifest, PATH);
            Some(section)
        }
        _ => None,
    }
}

fn notes(decided: &Decided) -> String {
    let note = |effect: &Effect| match effect {
        Effect::Mark(Mark::Workflow(WorkflowMark::PhaseBegan(new))) => {
            Some(format!("phase {}{}", new.number, if new.asked { ", asked" } else { "" }))
        }
        Effect::Mark(Mark::Workflow(WorkflowMark::WorkflowLeft)) => Some("left".to_owned()),
        Effect::Mark(Mark::Workflow(WorkflowMark::GateOpen(gate))) => Some(format!("gate {gate} open")),
        Effect::Mark(Mark::Workflow(WorkflowMark::GateDue(gate))) => Some(format!("gate {} due", gate.gate)),
        Effect::Mark(Mark::Workflow(WorkflowMark::Workflow(new))) => {
            Some(format!("attached to phase {}", new.current().expect("a phase").number))
        }
        effect => noted_section(effect).map(|section| format!("phases.{section}")),
    };
    or_dash(decided.effects().iter().find_map(note).unwrap_or_default())
}

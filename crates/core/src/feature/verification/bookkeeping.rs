//! The marks that an event leaves about work: edits and checks. Only from actions that succeeded, never from
//! attempts.

use std::borrow::Cow;

use crate::event::action::{Exit, ShellCommand};
use crate::event::{Event, EventKind, Start};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Needs};
use crate::feature::marks::Marks;
use crate::feature::verification::checks::Kinds;
use crate::feature::verification::facts as own;
use crate::feature::verification::marks::Mark;
use crate::feature::verification::required_checks::{SKILL, is_sufficient};
use crate::feature::verification::work::{BackgroundCheck, Edit, SucceededChecks};
use crate::file_class::FileClass;
use crate::text::skill_name::satisfies;
use crate::time::Millis;

/// The computed start of a call may be this much too early: an edit of the same answer may have ended just
/// before (1 to 12 ms seen with 2.1.325).
const START_SLACK_MS: u64 = 50;

pub fn needs(event: &Event<'_>, marks: Option<&Marks>, config: &Config) -> Needs {
    let files = !written_files(event, config).is_empty() || event.command_line().is_some();
    let known = |task: &str| {
        marks.is_some_and(|marks| marks.verification.background.iter().any(|known| known.task == task))
    };
    let checks = event.ended_task().is_some_and(|task| task.succeeded && known(&task.id));
    Needs { verification: own::Needs { files, checks }, ..Needs::default() }
}

/// By a tool other than the shell.
pub fn written_files<'e, 'a>(event: &'e Event<'a>, config: &Config) -> &'e [Cow<'a, str>] {
    event.written_paths(|tool| config.tools.writers.0.iter().any(|writer| writer.0 == tool))
}

/// Checks matter to a command line only while something is unverified or was just edited.
pub fn wants_checks(marks: Option<&Marks>, edited: bool) -> bool {
    edited || marks.is_some_and(|marks| marks.verification.changes.is_some())
}

pub fn marks(facts: &Facts<'_>, config: &Config) -> Vec<Mark> {
    let event = facts.event;
    let mut marks = Vec::new();
    // A restarted client has none of the old one's tasks; a new conversation has no marks of them.
    if event.start.is_some_and(|start| !start.is_new() && start != Start::Compact) {
        let tasks = facts.marks.value().map(|marks| marks.verification.background.as_slice());
        marks.extend(tasks.unwrap_or_default().iter().map(|check| Mark::Ended(check.task.clone())));
    }
    if event.invoked_skill().is_some_and(|name| satisfies(name, SKILL)) {
        let (kinds, at) = (Kinds::default(), facts.now);
        marks.push(Mark::Checked(SucceededChecks { kinds, at, seen: at, verified: true }));
    }
    if !written_files(event, config).is_empty() {
        marks.extend(code_edits(facts, config, false).map(|(edit, _)| Mark::Edit(edit)));
    }
    if let Some(command) = event.finished_command().filter(|command| command.line.is_some()) {
        marks.extend(command_marks(facts, config, command));
    }
    if let Some(task) = event.ended_task() {
        marks.extend(ended_task_marks(facts, config, &task.id, task.succeeded));
    }
    if let Some(task) = event.stopped_task() {
        marks.extend(ended_task_marks(facts, config, task, false));
    }
    let held = facts.marks.value().and_then(|marks| marks.verification.changes.as_ref());
    let tool = matches!(event.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure);
    if tool && held.is_some_and(|changes| changes.held > 0 && !changes.ran) {
        marks.push(Mark::Ran);
    }
    marks
}

/// Edits alone, kept aside if the event's marks cannot be written.
pub fn edit_marks(facts: &Facts<'_>, config: &Config) -> Vec<Mark> {
    let event = facts.event;
    if !matches!(event.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure) {
        return Vec::new();
    }
    let by_shell = event.command_line().is_some();
    if !by_shell && written_files(event, config).is_empty() {
        return Vec::new();
    }
    code_edits(facts, config, by_shell).map(|(edit, _)| Mark::Edit(edit)).collect()
}

/// Edited code, each file with the step of the command line that wrote it.
fn code_edits<'f>(
    facts: &'f Facts<'_>,
    config: &'f Config,
    shell: bool,
) -> impl Iterator<Item = (Edit, Option<usize>)> + 'f {
    let exempt = &config.policies.verify_stop.exempt.0;
    let counts = move |path: &str| !exempt.iter().any(|glob| glob.matches(path));
    let code = facts.verification.files.iter().filter(|file| file.class == FileClass::Code);
    code.filter(move |file| file.inside.is_some() && counts(&file.below)).filter_map(move |file| {
        let edit = Edit { file: file.inside.clone()?, at: facts.now, shell };
        Some((edit, file.step))
    })
}

/// A command line may edit, verify, or both; the order decides.
fn command_marks(facts: &Facts<'_>, config: &Config, command: &ShellCommand<'_>) -> Vec<Mark> {
    let mut edited: Vec<(Edit, Option<usize>)> = code_edits(facts, config, true).collect();
    let last_edit = edited.iter().filter_map(|(_, step)| *step).max();
    let into_marks =
        |edited: Vec<(Edit, Option<usize>)>| edited.into_iter().map(|(edit, _)| Mark::Edit(edit)).collect();
    if command.exit != Exit::Known(0) {
        return into_marks(edited);
    }
    let after = |step: usize| last_edit.is_none_or(|edit| edit < step);
    let kinds: Kinds = facts
        .verification
        .proof
        .evidence
        .iter()
        .filter(|found| after(found.step))
        .map(|found| found.kind)
        .collect();
    if kinds.is_empty() {
        let mut marks: Vec<Mark> = into_marks(edited);
        marks.extend(facts.verification.proof.hidden.clone().map(Mark::Hidden));
        return marks;
    }
    // Edits earlier in the same line are older than the check; edits by others in the meantime are not.
    let ran = command.duration.unwrap_or_default();
    let at = facts.now.before(ran.saturating_sub(START_SLACK_MS));
    for (edit, _) in &mut edited {
        edit.at = at;
    }
    let before = if last_edit.is_some() { Kinds::default() } else { passed_kinds(facts) };
    let mut marks: Vec<Mark> = into_marks(edited);
    match &command.background {
        None => marks.push(checked_mark(facts, config, before, kinds, at)),
        // The host reports the end of a subagent's task only to that subagent (seen with 2.1.325).
        Some(_) if !facts.event.is_main_thread() => {}
        Some(task) => {
            marks.push(Mark::Launched(BackgroundCheck { task: task.to_string(), kinds, at, awaited: None }));
        }
    }
    marks
}

fn ended_task_marks(facts: &Facts<'_>, config: &Config, task: &str, succeeded: bool) -> Vec<Mark> {
    let known = facts
        .marks
        .value()
        .and_then(|marks| marks.verification.background.iter().find(|known| known.task == task));
    let Some(known) = known else { return Vec::new() };
    let mut marks = vec![Mark::Ended(task.to_owned())];
    marks.extend(succeeded.then(|| checked_mark(facts, config, passed_kinds(facts), known.kinds, known.at)));
    marks
}

/// Kinds that succeeded since the last edit.
fn passed_kinds(facts: &Facts<'_>) -> Kinds {
    let changes = facts.marks.value().and_then(|marks| marks.verification.changes.as_ref());
    changes.map(|changes| changes.checked).unwrap_or_default()
}

fn checked_mark(facts: &Facts<'_>, config: &Config, before: Kinds, kinds: Kinds, at: Millis) -> Mark {
    let verified = is_sufficient(facts.verification.checks.as_ref(), config, before.and(kinds));
    Mark::Checked(SucceededChecks { kinds, at, seen: facts.now, verified })
}

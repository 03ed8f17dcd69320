//! The marks that an event leaves about work: edits and checks. Only from actions that succeeded, never from
//! attempts.

use std::borrow::Cow;

use crate::event::action::{Exit, ShellCommand};
use crate::event::{Event, EventKind, Start};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Needs};
use crate::feature::marks::Marks;
use crate::feature::verification::checks::{
    CheckEvidence, CheckKind, CheckScope, Ending, Kinds, LONGEST_OUTPUT, LineProof, TreeMove, read_ending,
};
use crate::feature::verification::facts as own;
use crate::feature::verification::marks::Mark;
use crate::feature::verification::required_checks::{SKILL, is_sufficient};
use crate::feature::verification::verify_stop::settings::Wants;
use crate::feature::verification::work::{
    BackgroundCheck, ChangeSet, CheckFailure, Edit, SucceededChecks, UncountedCheck, WhyNot,
};
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
    let checks = event.ended_task().is_some_and(|task| task.exit != Exit::Unknown && known(&task.id));
    Needs { verification: own::Needs { files, checks }, ..Needs::default() }
}

/// By a tool other than the shell.
pub fn written_files<'e, 'a>(event: &'e Event<'a>, config: &Config) -> &'e [Cow<'a, str>] {
    event.written_paths(|tool| config.tools.writers.0.iter().any(|writer| writer.0 == tool))
}

/// Checks matter to a command line only while something is unverified or was just edited, and after that only if
/// they may have failed.
pub fn wants_checks(event: &Event<'_>, marks: Option<&Marks>, edited: bool) -> bool {
    let work = marks.map(|marks| &marks.verification);
    let open = work.is_some_and(|work| work.changes.is_some());
    let past = work.is_some_and(|work| work.past.is_some());
    edited || open || past && event.finished_command().is_some_and(ShellCommand::may_have_failed)
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
        marks.push(Mark::Checked(SucceededChecks::seen_at(facts.now, Kinds::NONE, true)));
    }
    if !written_files(event, config).is_empty() {
        marks.extend(code_edits(facts, config, false).map(|(edit, _)| Mark::Edit(edit)));
    }
    if let Some(command) = event.finished_command().filter(|command| command.line.is_some()) {
        marks.extend(command_marks(facts, config, command));
    }
    if let Some(task) = event.ended_task() {
        marks.extend(ended_task_marks(facts, config, &task.id, task.exit));
    }
    if let Some(task) = event.stopped_task() {
        marks.extend(ended_task_marks(facts, config, task, Exit::Unknown));
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
    let proof = &facts.verification.proof;
    let after = |found: &&CheckEvidence| last_edit.is_none_or(|edit| edit < found.step);
    let visible: Vec<CheckEvidence> = proof.checks.visible.iter().filter(after).cloned().collect();
    let hidden = proof.checks.hidden.iter().filter(after).cloned().collect();
    let run = judge_run(config, command, LineProof { visible, hidden, ..proof.checks });
    let into_marks =
        |edited: Vec<(Edit, Option<usize>)>| edited.into_iter().map(|(edit, _)| Mark::Edit(edit)).collect();
    let mut tree: Vec<Mark> = Vec::new();
    if command.exit == Exit::Known(0) && !command.says("No local changes to save") {
        tree.extend(proof.tree.map(|tree| Mark::Away(tree == TreeMove::Leaves)));
    }
    // Edits earlier in the same line are older than the check; edits by others in the meantime are not.
    let ran = command.duration.unwrap_or_default();
    let at = facts.now.before(ran.saturating_sub(START_SLACK_MS));
    if !matches!(run, CheckRun::Nothing | CheckRun::Hidden) {
        for (edit, _) in &mut edited {
            edit.at = at;
        }
    }
    let line = &proof.line;
    let mut marks: Vec<Mark> = into_marks(edited);
    match (run, &command.background) {
        (CheckRun::Nothing, _) => {}
        (CheckRun::Hidden, _) => marks.push(Mark::Hidden(line.clone())),
        (CheckRun::NoTests, _) => marks.push(uncounted(line, WhyNot::NoTests)),
        (CheckRun::Failed(kind, scope), _) => {
            marks.push(Mark::Failed(CheckFailure { kind, at, scope, line: line.clone() }));
        }
        (CheckRun::Passed(evidence), None) => {
            let files = open_files(facts, &marks);
            let before = if last_edit.is_some() { None } else { open_changes(facts) };
            let checked = judge_passed(facts, config, before, &files, &evidence, at);
            marks.push(checked.map_or_else(|| uncounted(line, WhyNot::Unread), Mark::Checked));
        }
        // The host reports the end of a subagent's task only to that subagent (seen with 2.1.325).
        (CheckRun::Passed(_), Some(_)) if !facts.event.is_main_thread() => {}
        (CheckRun::Passed(evidence), Some(task)) => {
            let kinds = evidence.iter().fold(Kinds::NONE, |all, found| all.and(found.kinds));
            let scope = widest_scope(&evidence, kinds).unwrap_or_default();
            let (task, line) = (task.to_string(), line.clone());
            marks.push(Mark::Launched(BackgroundCheck { task, kinds, at, scope, line, awaited: None }));
        }
    }
    marks.extend(tree);
    marks
}

fn uncounted(line: &str, why: WhyNot) -> Mark {
    Mark::Uncounted(UncountedCheck { line: line.to_owned(), why })
}

/// What became of the checks in a line.
enum CheckRun {
    Nothing,
    Passed(Vec<CheckEvidence>),
    Failed(CheckKind, CheckScope),
    /// A check ran, and neither the status nor the output shows how it ended.
    Hidden,
    NoTests,
}

fn judge_run(config: &Config, command: &ShellCommand<'_>, checks: LineProof) -> CheckRun {
    let LineProof { visible, hidden, shows_output, only_checks } = checks;
    if visible.is_empty() && hidden.is_empty() {
        return CheckRun::Nothing;
    }
    let Exit::Known(status) = command.exit else { return CheckRun::Nothing };
    if command.background.is_some() {
        return if visible.is_empty() { CheckRun::Hidden } else { CheckRun::Passed(visible) };
    }
    let ending = read_ending(&command.last_output(LONGEST_OUTPUT));
    // A closing line proves less than a status: whoever requires every kind does not take it.
    let takes_output = shows_output && config.policies.verify_stop.wants != Wants::Each;
    if status == 0 {
        return judge_success(ending, visible, hidden, takes_output);
    }
    if was_ended(status) || never_ran(command) {
        return CheckRun::Nothing;
    }
    let kinds = visible.iter().chain(&hidden).fold(Kinds::NONE, |all, found| all.and(found.kinds));
    let failed = if visible.is_empty() { &hidden } else { &visible };
    let told = kinds.common(ending.failed);
    if let Some(kind) = told.strongest() {
        // `test && lint`, where the tests passed.
        let passed = only_kinds(visible.clone(), ending.passed.stronger_than(kind));
        return match strongest_scope(failed, kind) {
            _ if takes_output && !passed.is_empty() => CheckRun::Passed(passed),
            scope => CheckRun::Failed(kind, scope),
        };
    }
    let says_nothing = ending == Ending::default();
    match kinds.strongest() {
        Some(kind) if says_nothing && !visible.is_empty() && only_checks => {
            CheckRun::Failed(kind, strongest_scope(&visible, kind))
        }
        // Something behind the check failed.
        _ => CheckRun::Nothing,
    }
}

fn judge_success(
    ending: Ending,
    visible: Vec<CheckEvidence>,
    hidden: Vec<CheckEvidence>,
    takes_output: bool,
) -> CheckRun {
    let (commits, visible): (Vec<_>, Vec<_>) = visible.into_iter().partition(|found| found.by_output);
    if !visible.is_empty() {
        let counted = if ending.no_tests {
            Kinds::COMPILES.and(Kinds::LINT)
        } else {
            Kinds::COMPILED_TEST.and(Kinds::LINT)
        };
        let passed = only_kinds(visible, counted);
        return if passed.is_empty() { CheckRun::NoTests } else { CheckRun::Passed(passed) };
    }
    if hidden.is_empty() {
        let passed = only_kinds(commits, ending.passed);
        let counts = takes_output && !passed.is_empty() && ending.failed.is_empty();
        return if counts { CheckRun::Passed(passed) } else { CheckRun::Nothing };
    }
    let kinds = hidden.iter().fold(Kinds::NONE, |all, found| all.and(found.kinds));
    if let Some(kind) = kinds.common(ending.failed).strongest() {
        return CheckRun::Failed(kind, strongest_scope(&hidden, kind));
    }
    // The lines of several checks cannot be told apart.
    let takes_output = takes_output && hidden.len() == 1;
    let passed = only_kinds(hidden, ending.passed);
    if takes_output && ending.failed.is_empty() && !passed.is_empty() {
        CheckRun::Passed(passed)
    } else if ending.no_tests {
        CheckRun::NoTests
    } else {
        CheckRun::Hidden
    }
}

fn strongest_scope(evidence: &[CheckEvidence], kind: CheckKind) -> CheckScope {
    let found = evidence.iter().find(|found| found.kinds.has(kind)).or(evidence.first());
    found.map(|found| found.scope.clone()).unwrap_or_default()
}

fn only_kinds(evidence: Vec<CheckEvidence>, kinds: Kinds) -> Vec<CheckEvidence> {
    let of = |found: CheckEvidence| CheckEvidence { kinds: found.kinds.common(kinds), ..found };
    evidence.into_iter().map(of).filter(|found| !found.kinds.is_empty()).collect()
}

/// Texts of runners and shells that did not start the check.
const NOT_STARTED: [&str; 15] = [
    "Missing script",
    "No such file or directory",
    "command not found",
    "No rule to make target",
    "could not find `Cargo.toml`",
    "no such command",
    "does not contain recipe",
    "no task ",
    "ENOENT",
    "No tests found",
    "not recognized as",
    "error TS6053",
    "error TS5058",
    "No files matching the pattern",
    "Unknown command",
];

fn never_ran(command: &ShellCommand<'_>) -> bool {
    let output = command.last_output(LONGEST_OUTPUT);
    output.lines().count() <= 12 && NOT_STARTED.iter().any(|told| output.contains(told))
}

fn open_changes<'f>(facts: &'f Facts<'_>) -> Option<&'f ChangeSet> {
    facts.marks.value().and_then(|marks| marks.verification.changes.as_ref())
}

/// Files that are unverified once these marks are made.
fn open_files(facts: &Facts<'_>, new: &[Mark]) -> Vec<String> {
    let mut files = open_changes(facts).map(|changes| changes.files.clone()).unwrap_or_default();
    for mark in new {
        if let Mark::Edit(edit) = mark
            && !files.contains(&edit.file)
        {
            files.push(edit.file.clone());
        }
    }
    files
}

fn ended_task_marks(facts: &Facts<'_>, config: &Config, task: &str, exit: Exit) -> Vec<Mark> {
    let known = facts
        .marks
        .value()
        .and_then(|marks| marks.verification.background.iter().find(|known| known.task == task));
    let Some(known) = known else { return Vec::new() };
    let mut marks = vec![Mark::Ended(task.to_owned())];
    let BackgroundCheck { kinds, at, scope, line, .. } = known.clone();
    match (exit, kinds.strongest()) {
        (Exit::Known(0), _) => {
            let files = open_files(facts, &[]);
            let base = open_changes(facts).map(|changes| changes.without_cleared(kinds, Some(&scope)));
            let valid = base.map_or(kinds, |base| base.valid(base.checked.and(kinds)));
            let verified = is_sufficient(facts.verification.checks.as_ref(), config, &files, valid);
            // What it reads was not kept: in the background it is nearly always the whole suite.
            let left = Vec::new();
            let seen = facts.now;
            marks.push(Mark::Checked(SucceededChecks {
                kinds,
                at,
                seen,
                verified,
                left,
                scope: Some(scope),
            }));
        }
        (Exit::Known(status), Some(kind)) if !was_ended(status) => {
            marks.push(Mark::Failed(CheckFailure { kind, at, scope, line }));
        }
        _ => {}
    }
    marks
}

/// Of the checks of the strongest kind, the one that goes through most.
fn widest_scope(evidence: &[CheckEvidence], kinds: Kinds) -> Option<CheckScope> {
    let strongest = evidence.iter().filter(|found| found.kinds.strongest() == kinds.strongest());
    let widest = strongest.min_by_key(|found| (found.scope.selected.len(), found.scope.folder.len()));
    widest.map(|found| found.scope.clone())
}

/// The command was not found or cannot be run, or something ended it.
fn was_ended(status: i32) -> bool {
    matches!(status, 124 | 126 | 127 | 130 | 137 | 143)
}

/// `None` if the checks read none of the edited files. `before`: the change set, if the line did not add to it.
fn judge_passed(
    facts: &Facts<'_>,
    config: &Config,
    before: Option<&ChangeSet>,
    files: &[String],
    evidence: &[CheckEvidence],
    at: Millis,
) -> Option<SucceededChecks> {
    let checks = facts.verification.checks.as_ref();
    let left: Vec<String> = checks
        .map(|checks| checks.left_by(evidence, files).into_iter().cloned().collect())
        .unwrap_or_default();
    if !files.is_empty() && left.len() == files.len() {
        return None;
    }
    let each = config.policies.verify_stop.wants == Wants::Each;
    let kinds = evidence.iter().fold(Kinds::NONE, |all, found| all.and(found.kinds));
    let scope = widest_scope(evidence, kinds);
    let valid = match before.map(|changes| changes.without_cleared(kinds, scope.as_ref())) {
        Some(base) => base.valid(base.checked.and(kinds)),
        None => kinds,
    };
    let read: Vec<String> = files.iter().filter(|file| !left.contains(file)).cloned().collect();
    let verified = is_sufficient(checks, config, if each { files } else { &read }, valid);
    // Whoever requires every kind counts them over all files together.
    let left = if each { Vec::new() } else { left };
    Some(SucceededChecks { kinds, at, seen: facts.now, verified, left, scope })
}

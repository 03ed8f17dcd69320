//! The marks that an event leaves about work: edits and checks. Only from actions that succeeded, never from
//! attempts.

use std::borrow::Cow;
use std::path::Path;

use crate::event::action::{Exit, ShellCommand};
use crate::event::{Event, EventKind, Start};
use crate::feature::config::Config;
use crate::feature::facts::{Facts, Needs};
use crate::feature::marks::Marks;
use crate::feature::verification::check_run::{self, CheckRun};
use crate::feature::verification::checks::{
    CheckEvidence, CheckKind, CheckScope, Kinds, LineProof, Targets, TreeMove, kinds_of,
};
use crate::feature::verification::facts as own;
use crate::feature::verification::marks::{Mark, Marks as VerificationMarks};
use crate::feature::verification::named_check::NamedCheck;
use crate::feature::verification::required_checks::{SKILL, is_sufficient, open_files};
use crate::feature::verification::verify_stop::settings::Wants;
use crate::feature::verification::work::{
    AnnouncedPatch, BackgroundCheck, ChangeSet, CheckFailure, Edit, HiddenBy, HiddenCheck, ReadPart,
    SucceededChecks, UncountedCheck, WhyNot,
};
use crate::file_class::FileClass;
use crate::text::skill_name::satisfies;
use crate::time::Millis;

/// The start of a call may be this much too early: an edit of the same answer may have ended just
/// before (1 to 12 ms seen with 2.1.325).
const START_SLACK_MS: u64 = 50;

pub fn needs(event: &Event<'_>, marks: Option<&Marks>, config: &Config) -> Needs {
    let runs = event.command_line().is_some() || event.other_shell().is_some();
    let files = runs || !written_files(event, config).is_empty();
    let known = |task: &str| {
        marks.is_some_and(|marks| marks.verification.background.iter().any(|known| known.task == task))
    };
    let checks = event.ended_task().is_some_and(|task| task.exit != Exit::Unknown && known(&task.id));
    Needs { verification: own::Needs { files, checks }, ..Needs::default() }
}

/// By a tool other than the shell.
pub fn written_files<'e, 'a>(event: &'e Event<'a>, config: &Config) -> &'e [Cow<'a, str>] {
    event.written_paths(|tool| {
        config.tools.writers.0.iter().any(|writer| event.host.is_mcp_tool(tool, &writer.0))
    })
}

/// Checks matter to a command line only while something is unverified or was just edited, and after that only if
/// they may have failed, or if no check has passed yet.
pub fn wants_checks(event: &Event<'_>, marks: Option<&Marks>, edited: bool) -> bool {
    let work = marks.map(|marks| &marks.verification);
    let open = work.is_some_and(|work| work.changes.is_some());
    let past = work.filter(|work| work.past.is_some());
    let by_skill = past.is_some_and(VerificationMarks::is_by_skill);
    let matters = |command: &ShellCommand<'_>| by_skill || command.may_have_failed();
    edited || open || past.is_some() && event.finished_command().is_some_and(matters)
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
    marks.extend(announced_patch(event).map(Mark::Announced));
    if !written_files(event, config).is_empty() {
        marks.extend(code_edits(facts, config, false).map(|(edit, _)| Mark::Edit(edit)));
    }
    if let Some(command) = event.finished_command().filter(|command| command.line.is_some()) {
        marks.extend(command_marks(facts, config, command));
    }
    // What its success proves is not known.
    if event.other_shell().is_some() {
        marks.extend(code_edits(facts, config, true).map(|(edit, _)| Mark::Edit(edit)));
    }
    if let Some(task) = event.ended_task() {
        marks.extend(ended_task_marks(facts, config, &task.id, task.exit));
    }
    if let Some(task) = event.stopped_task() {
        marks.extend(ended_task_marks(facts, config, task, Exit::Unknown));
    }
    let held = facts.marks.value().and_then(|marks| marks.verification.changes.as_ref());
    let prompt =
        event.kind == EventKind::UserPromptSubmit && event.is_main_thread() && event.is_human_prompt();
    if prompt && held.is_some_and(|changes| (changes.held > 0 || changes.told) && !changes.prompted) {
        marks.push(Mark::Prompted);
    }
    let tool = matches!(event.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure);
    if tool && held.is_some_and(|changes| changes.held > 0 && !changes.ran) {
        marks.push(Mark::Ran);
    }
    marks
}

/// Without an id no later event could be told to be its own.
fn announced_patch(event: &Event<'_>) -> Option<AnnouncedPatch> {
    /// One is enough to ask for a check.
    const MOST: usize = 64;
    let may_be_code = |path: &&Cow<'_, str>| match FileClass::of(path) {
        FileClass::Code => true,
        // A script is known by its first line.
        FileClass::Other => Path::new(path.as_ref()).extension().is_none(),
        _ => false,
    };
    let files = event.announced_patch()?.iter().filter(may_be_code).take(MOST);
    Some(AnnouncedPatch {
        call: event.call.as_deref()?.to_owned(),
        agent: event.agent_id().map(str::to_owned),
        transcript: event.transcript.as_deref().unwrap_or_default().to_owned(),
        files: files.map(ToString::to_string).collect(),
    })
}

/// Edits alone, kept aside if the event's marks cannot be written.
pub fn edit_marks(facts: &Facts<'_>, config: &Config) -> Vec<Mark> {
    let event = facts.event;
    if !matches!(event.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure) {
        return Vec::new();
    }
    let by_shell = event.command_line().is_some() || event.other_shell().is_some();
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
        let edit = Edit { file: file.inside.clone()?, at: facts.now, shell, removed: file.removed };
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
    // A closing line proves less than a status: whoever requires every kind does not take it.
    let takes_output = config.policies.verify_stop.wants != Wants::Each;
    let run = check_run::judge_run(command, LineProof { visible, hidden, ..proof.checks }, takes_output);
    // Edits earlier in the same line are older than the check; edits by others in the meantime are not.
    let began = command.began.unwrap_or(facts.now.before(command.duration.unwrap_or_default()));
    let at = facts.now.min(Millis(began.0.saturating_add(START_SLACK_MS)));
    if !matches!(run, CheckRun::Nothing | CheckRun::Hidden(_)) {
        for (edit, _) in &mut edited {
            edit.at = at;
        }
    }
    let mut marks: Vec<Mark> = edited.into_iter().map(|(edit, _)| Mark::Edit(edit)).collect();
    marks.extend(undone_mark(facts, command, &marks));
    let changes = changes_after(facts, &marks);
    let line = &proof.line;
    let named = |step: usize| proof.named.iter().find(|named| named.step == step);
    match (run, &command.background) {
        (CheckRun::Nothing, background) => {
            let ran = command.exit == Exit::Known(0) && background.is_none();
            marks.extend(proof.void.filter(|_| ran).map(|why| uncounted(line, why)));
        }
        (CheckRun::Passed(_) | CheckRun::Failed(..), _) if changes.is_absent() => {
            marks.push(uncounted(line, if changes.away { WhyNot::Stashed } else { WhyNot::Elsewhere }));
        }
        (CheckRun::Hidden(step), _) => {
            let by = named(step).and_then(|named| named.hidden).map_or(HiddenBy::Other, HiddenBy::from);
            marks.push(Mark::Hidden(HiddenCheck { line: line.clone(), by }));
        }
        (CheckRun::NoTests, _) => marks.push(uncounted(line, WhyNot::NoTests)),
        (CheckRun::Failed(kind, found), _) => {
            marks.extend(judge_failed(facts, config, kind, &found, at).map(Mark::Failed));
        }
        (CheckRun::Passed(evidence), None) => match judge_passed(facts, config, &changes, &evidence, at) {
            None => marks.push(uncounted(line, WhyNot::Unread)),
            Some(checked) => {
                let weak = why_weak(&checked, config).map(|why| uncounted(&checked.check, why));
                marks.push(Mark::Checked(checked));
                marks.extend(weak);
            }
        },
        // The host reports the end of a subagent's task only to that subagent (seen with 2.1.325).
        (CheckRun::Passed(_), Some(_)) if !facts.event.is_main_thread() => {}
        (CheckRun::Passed(evidence), Some(task)) => {
            let kinds = kinds_of(&evidence);
            let scope = widest_scope(&evidence, kinds).unwrap_or_default();
            let (task, line) = (task.to_string(), strongest_name(facts, &evidence));
            let left = unread_by(facts, &evidence, &changes.files);
            let awaited = None;
            marks.push(Mark::Launched(BackgroundCheck { task, kinds, at, scope, line, left, awaited }));
        }
    }
    if command.exit == Exit::Known(0) {
        marks.extend(tree_marks(facts, command, &changes));
    }
    marks
}

/// Where git leaves the edits.
fn tree_marks(facts: &Facts<'_>, command: &ShellCommand<'_>, changes: &ChangeSet) -> Vec<Mark> {
    let proof = &facts.verification.proof;
    let mut marks = Vec::new();
    let is_open = !changes.files.is_empty();
    if proof.commits && is_open && !changes.committed {
        marks.push(Mark::Committed);
    }
    let committed = changes.committed || proof.commits;
    match proof.tree {
        Some(TreeMove::Leaves) if !command.says("No local changes to save") => marks.push(Mark::Away(true)),
        Some(TreeMove::Returns) => marks.push(Mark::Away(false)),
        Some(TreeMove::Rejoins) if changes.elsewhere => marks.push(Mark::Elsewhere(false)),
        Some(TreeMove::Departs) if is_open => marks.push(Mark::Elsewhere(true)),
        // Back from another commit, or away from those of this branch.
        Some(TreeMove::Switches) if changes.elsewhere || committed && is_open => {
            marks.push(Mark::Elsewhere(!changes.elsewhere));
        }
        _ => {}
    }
    marks
}

/// Edits that git took back. After a commit, an earlier state of a file may be an edit, too.
fn undone_mark(facts: &Facts<'_>, command: &ShellCommand<'_>, new: &[Mark]) -> Option<Mark> {
    let changes = facts.marks.value()?.verification.changes.as_ref()?;
    if facts.verification.undone.is_empty() || changes.committed || command.exit != Exit::Known(0) {
        return None;
    }
    let is_new =
        |file: &String| new.iter().any(|mark| matches!(mark, Mark::Edit(edit) if edit.file == *file));
    let undone: Vec<String> =
        facts.verification.undone.iter().filter(|file| !is_new(file)).cloned().collect();
    (!undone.is_empty()).then_some(Mark::Undone(undone))
}

fn uncounted(line: &str, why: WhyNot) -> Mark {
    Mark::Uncounted(UncountedCheck { line: line.to_owned(), why })
}

/// The reason that a check which passed is not enough. Where each kind is required, the text lists what is missing.
fn why_weak(checked: &SucceededChecks, config: &Config) -> Option<WhyNot> {
    if checked.verified || checked.check.is_empty() || config.policies.verify_stop.wants == Wants::Each {
        return None;
    }
    Some(if checked.kinds == Kinds::LINT { WhyNot::OnlyLint } else { WhyNot::OtherKind })
}

/// The check of the strongest kind, by itself.
fn strongest_name(facts: &Facts<'_>, evidence: &[CheckEvidence]) -> String {
    let strongest = kinds_of(evidence).strongest();
    let found = evidence.iter().find(|found| found.kinds.strongest() == strongest);
    found.map(|found| name_of(facts, found.step)).unwrap_or_default()
}

fn name_of(facts: &Facts<'_>, step: usize) -> String {
    let is_it = |named: &&NamedCheck| named.step == step;
    let named = facts.verification.proof.named.iter().find(is_it);
    named.map(|named| named.text.clone()).unwrap_or_default()
}

/// The change set once these marks are made; the last one if only the skill was invoked for it; empty if nothing is open.
fn changes_after(facts: &Facts<'_>, new: &[Mark]) -> ChangeSet {
    let work = facts.marks.value().map(|marks| &marks.verification);
    let past = work.filter(|work| work.is_by_skill() && new.is_empty());
    let open = work.and_then(|work| work.changes.clone()).or_else(|| past?.past.clone());
    let mut changes = open.unwrap_or_default();
    for mark in new {
        match mark {
            Mark::Edit(edit) => changes.add(edit),
            Mark::Undone(files) => changes = changes.without_undone(files).unwrap_or_default(),
            _ => {}
        }
    }
    changes
}

fn unread_by(facts: &Facts<'_>, evidence: &[CheckEvidence], files: &[String]) -> Vec<String> {
    let checks = facts.verification.checks.as_ref();
    checks.map(|checks| checks.left_by(evidence, files).into_iter().cloned().collect()).unwrap_or_default()
}

/// A check that failed is asked only for what it reads, not for what it was told to go through: the edit may well be
/// the reason that another part fails.
fn judge_failed(
    facts: &Facts<'_>,
    config: &Config,
    kind: CheckKind,
    found: &CheckEvidence,
    at: Millis,
) -> Option<CheckFailure> {
    let files = open_or_past(facts)?;
    let check = name_of(facts, found.step);
    let found = CheckEvidence { targets: Targets::default(), ..found.clone() };
    let unread = unread_by(facts, std::slice::from_ref(&found), files);
    let line = facts.verification.proof.line.clone();
    note_failure(
        facts,
        config,
        CheckFailure { kind, at, seen: facts.now, opens: false, scope: found.scope, line, check },
        &unread,
    )
}

fn open_or_past<'f>(facts: &'f Facts<'_>) -> Option<&'f [String]> {
    let work = &facts.marks.value()?.verification;
    Some(&work.changes.as_ref().or(work.past.as_ref())?.files)
}

/// `None` if the check reads none of the files that are open, or were.
fn note_failure(
    facts: &Facts<'_>,
    config: &Config,
    failure: CheckFailure,
    unread: &[String],
) -> Option<CheckFailure> {
    let files = open_or_past(facts)?;
    if !files.is_empty() && files.iter().all(|file| unread.contains(file)) {
        return None;
    }
    let valid = facts.marks.value()?.verification.proof.stronger_than(failure.kind);
    let opens = !is_sufficient(facts.verification.checks.as_ref(), config, files, valid);
    Some(CheckFailure { opens, ..failure })
}

fn ended_task_marks(facts: &Facts<'_>, config: &Config, task: &str, exit: Exit) -> Vec<Mark> {
    let work = facts.marks.value().map(|marks| &marks.verification);
    let known = work.and_then(|work| work.background.iter().find(|known| known.task == task));
    let Some(known) = known else { return Vec::new() };
    let mut marks = vec![Mark::Ended(task.to_owned())];
    let BackgroundCheck { kinds, at, scope, line: check, left, .. } = known.clone();
    match (exit, kinds.strongest()) {
        (Exit::Known(0), _) => {
            let parts = vec![ReadPart { kinds, unread: left }];
            let checked = add_parts(facts, config, &changes_after(facts, &[]), parts, at, Some(scope));
            marks.push(Mark::Checked(SucceededChecks { check, ..checked }));
        }
        (Exit::Known(status), Some(kind)) if !check_run::was_ended(status) => {
            let (line, opens) = (check.clone(), false);
            let failure = CheckFailure { kind, at, seen: facts.now, opens, scope, line, check };
            marks.extend(note_failure(facts, config, failure, &left).map(Mark::Failed));
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

/// `None` if the checks read none of the edited files.
fn judge_passed(
    facts: &Facts<'_>,
    config: &Config,
    changes: &ChangeSet,
    evidence: &[CheckEvidence],
    at: Millis,
) -> Option<SucceededChecks> {
    let files = &changes.files;
    if !files.is_empty() && unread_by(facts, evidence, files).len() == files.len() {
        return None;
    }
    let part = |found: &CheckEvidence| {
        let unread = unread_by(facts, std::slice::from_ref(found), files);
        ReadPart { kinds: found.kinds, unread }
    };
    let parts: Vec<ReadPart> = evidence.iter().map(part).collect();
    let kinds = kinds_of(evidence);
    let scope = widest_scope(evidence, kinds);
    let check = strongest_name(facts, evidence);
    Some(SucceededChecks { check, ..add_parts(facts, config, changes, parts, at, scope) })
}

/// What is left open after these checks.
fn add_parts(
    facts: &Facts<'_>,
    config: &Config,
    changes: &ChangeSet,
    parts: Vec<ReadPart>,
    at: Millis,
    scope: Option<CheckScope>,
) -> SucceededChecks {
    let kinds = parts.iter().fold(Kinds::NONE, |all, part| all.and(part.kinds));
    let mut after = changes.without_cleared(kinds, scope.as_ref());
    for part in &parts {
        after.prove(part);
    }
    let open = open_files(facts.verification.checks.as_ref(), config, &after);
    let verified = after.files.is_empty() || open.len() < after.files.len();
    // Most checks read everything.
    let is_plain = parts.iter().all(|part| part.unread.is_empty());
    let parts = if is_plain { Vec::new() } else { parts };
    let left = if verified { open } else { Vec::new() };
    let check = String::new();
    SucceededChecks { kinds, at, seen: facts.now, verified, parts, left, scope, check }
}

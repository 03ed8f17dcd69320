//! Patches that a host applies without an event afterwards, or not as a whole: its transcript tells what became of them.
//!
//! The next event adds their edits to the marks as if there had been one, with the time of the patch: a check that began
//! before it does not verify it. An edit that was never made, because something denied the call or the patch did not
//! fit, is in no transcript; at the end of the turn it is no longer waited for. If nothing can tell, the announced files
//! count as edited.

use std::path::Path;
use std::time::Duration;

use tidegate_core::event::{Action, Event, EventKind, FailedStep, Thread};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::{Mark, Marks};
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::work::AnnouncedPatch;
use tidegate_core::pipeline;
use tidegate_core::time::Millis;
use tidegate_state::feature::{HookContext, verification};
use tidegate_state::file::lock::LockMode;
use tidegate_state::host::transcript;
use tidegate_state::session::marks;

use crate::environment::Environment;
use crate::hook::event_run::describe_marks_error;
use crate::hook::gather::Gather;

/// Before the next call nothing depends on it yet.
pub(super) fn is_awaited(event: &Event<'_>, marks: Option<&Marks>) -> bool {
    marks.is_some_and(|marks| !marks.verification.patches.is_empty()) && event.kind != EventKind::PreToolUse
}

/// A call that was denied applies no patch.
pub(super) fn withdraw(marks: &mut Vec<Mark>) {
    marks.retain(|mark| !matches!(mark, Mark::Verification(VerificationMark::Announced(_))));
}

/// The edits of a patch. None if it was not applied, or if this event tells the same.
#[derive(Default)]
struct PatchEdits {
    at: Option<Millis>,
    files: Vec<String>,
}

/// Searches before the lock. Under it the marks count as they are then: parallel hooks find the same edits, and one that
/// comes twice voids the checks in between.
#[cold]
pub(super) fn collect(
    event: &Event<'_>,
    env: &Environment,
    here: &HookContext<'_>,
    marks: Known<Marks>,
    patience: Duration,
) -> Result<Known<Marks>, FailedStep> {
    let Known::Value(seen) = &marks else { return Ok(marks) };
    let settled = seen
        .verification
        .patches
        .iter()
        .filter_map(|patch| Some((&patch.call, settle(event, seen, patch, here)?)));
    let settled: Vec<(&String, PatchEdits)> = settled.collect();
    if settled.is_empty() {
        return Ok(marks);
    }
    let lock = marks::lock(here.folder, LockMode::Exclusive, patience)
        .map_err(|error| describe_marks_error(&error))?;
    let known = marks::read(here.folder);
    let Known::Value(mut now) = known else { return Ok(known) };
    let mut new: Vec<Mark> = Vec::new();
    for (call, edits) in settled {
        let Some(patch) = now.verification.patches.iter().find(|patch| patch.call == *call).cloned() else {
            continue;
        };
        let mut found = observe(event, env, here, &now, &patch, edits);
        found.push(VerificationMark::Patched(patch.call).into());
        for mark in &found {
            now.apply(mark.clone());
        }
        new.extend(found);
    }
    lock.append(&new).map_err(|error| describe_marks_error(&error))?;
    Ok(marks::read(here.folder))
}

/// `None` while a later event may still tell.
fn settle(
    event: &Event<'_>,
    marks: &Marks,
    patch: &AnnouncedPatch,
    here: &HookContext<'_>,
) -> Option<PatchEdits> {
    let announced = || PatchEdits { at: None, files: patch.files.clone() };
    if event.call.as_deref() == Some(&patch.call) && event.kind == EventKind::PostToolUse {
        // What its own event names is noted with it. A folder may be one that only a shell knows.
        let named = match &event.action {
            Action::Edit(Ok(paths)) => paths.iter().map(ToString::to_string).collect(),
            _ => verification::named_files(event, Some(marks), here),
        };
        let unnamed = patch.files.iter().filter(|file| !named.contains(file));
        return Some(PatchEdits { at: None, files: unnamed.map(|file| place(file, here.root)).collect() });
    }
    if patch.transcript.is_empty() {
        return Some(announced());
    }
    match transcript::read_patch(event.host, patch, here.in_time) {
        Ok(Some((at, files))) => Some(PatchEdits { at, files }),
        _ if !ends_turn(event, patch) => None,
        Ok(None) => Some(PatchEdits::default()),
        Err(transcript::Incomplete) => Some(announced()),
    }
}

/// A file of that name, wherever it is in the project: at the place itself none is.
fn place(file: &str, root: Option<&Path>) -> String {
    let path = Path::new(file);
    match root.zip(path.file_name()) {
        Some((root, name)) if !path.exists() => root.join("**").join(name).to_string_lossy().into_owned(),
        _ => file.to_owned(),
    }
}

/// The marks of an event that reports these edits.
fn observe(
    event: &Event<'_>,
    env: &Environment,
    here: &HookContext<'_>,
    marks: &Marks,
    patch: &AnnouncedPatch,
    edits: PatchEdits,
) -> Vec<Mark> {
    if edits.files.is_empty() {
        return Vec::new();
    }
    let thread =
        patch.agent.as_deref().map_or(Thread::Main, |id| Thread::Agent { id: Some(id.into()), kind: None });
    let edit = Event {
        thread,
        cwd: event.cwd.clone(),
        tool: Ok("apply_patch".into()),
        call: Some(patch.call.as_str().into()),
        action: Action::Edit(Ok(edits.files.into_iter().map(Into::into).collect())),
        ..Event::new(event.host, EventKind::PostToolUse, "PostToolUse".into(), event.session.clone())
    };
    let here = HookContext { now: edits.at.unwrap_or(here.now).min(here.now), ..*here };
    let facts = Gather { env, payload: b"{}", here: &here }.facts(&edit, Known::Value(marks.clone()));
    pipeline::observe(&facts, here.config)
}

/// All calls of the turn are over. An agent may have ended without an event of its own.
fn ends_turn(event: &Event<'_>, patch: &AnnouncedPatch) -> bool {
    match event.kind {
        EventKind::Stop => event.is_main_thread() || event.agent_id() == patch.agent.as_deref(),
        EventKind::SubagentStop => event.agent_id() == patch.agent.as_deref(),
        _ => false,
    }
}

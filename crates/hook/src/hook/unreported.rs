//! Patches that a host applies without an event afterwards, or not as a whole: its transcript tells what became of them.
//!
//! The next event adds their edits to the marks as if there had been one, with the time of the patch: a check that began
//! before it does not verify it. An edit that was never made, because something denied the call or the patch did not
//! fit, is in no transcript; at the end of the turn it is no longer waited for.

use std::time::Duration;

use tidegate_core::event::{Action, Event, EventKind, FailedStep, Thread};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::marks::{Mark, Marks};
use tidegate_core::feature::verification::marks::Mark as VerificationMark;
use tidegate_core::feature::verification::work::AnnouncedPatch;
use tidegate_core::pipeline;
use tidegate_state::feature::HookContext;
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

/// Under the lock, because parallel hooks see the same marks, and an edit that comes twice voids the checks in between.
#[cold]
pub(super) fn collect(
    event: &Event<'_>,
    env: &Environment,
    here: &HookContext<'_>,
    patience: Duration,
) -> Result<Known<Marks>, FailedStep> {
    let lock = marks::lock(here.folder, LockMode::Exclusive, patience)
        .map_err(|error| describe_marks_error(&error))?;
    let known = marks::read(here.folder);
    let Known::Value(marks) = &known else { return Ok(known) };
    let mut new: Vec<Mark> = Vec::new();
    for patch in &marks.verification.patches {
        // Its own event tells the same.
        if event.call.as_deref() == Some(&patch.call) && event.kind == EventKind::PostToolUse {
            new.push(VerificationMark::Patched(patch.call.clone()).into());
            continue;
        }
        let found = transcript::read_patch(event.host, patch, here.in_time);
        if found.is_none() && !ends_turn(event, patch) {
            continue;
        }
        if let Some((at, files)) = found.filter(|(_, files)| !files.is_empty()) {
            let edit = Event {
                thread: patch
                    .agent
                    .as_deref()
                    .map_or(Thread::Main, |id| Thread::Agent { id: Some(id.into()), kind: None }),
                cwd: event.cwd.clone(),
                tool: Ok("apply_patch".into()),
                call: Some(patch.call.as_str().into()),
                action: Action::Edit(Ok(files.into_iter().map(Into::into).collect())),
                ..Event::new(event.host, EventKind::PostToolUse, "PostToolUse".into(), event.session.clone())
            };
            let here = HookContext { now: at.unwrap_or(here.now).min(here.now), ..*here };
            let facts = Gather { env, payload: b"{}", here: &here }.facts(&edit, Known::Value(marks.clone()));
            new.extend(pipeline::observe(&facts, here.config));
        }
        new.push(VerificationMark::Patched(patch.call.clone()).into());
    }
    lock.append(&new).map_err(|error| describe_marks_error(&error))?;
    Ok(marks::read(here.folder))
}

/// All calls of the turn are over.
fn ends_turn(event: &Event<'_>, patch: &AnnouncedPatch) -> bool {
    matches!(event.kind, EventKind::Stop | EventKind::SubagentStop)
        && event.agent_id() == patch.agent.as_deref()
}

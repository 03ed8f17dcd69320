//! Hooks that are registered and silently do not run.
//!
//! A hook that the client does not call leaves no trace in Tidegate's state, so the evidence is the client's own:
//! sessions of this project that the state does not know, and events that must have happened in sessions it does know.

use std::collections::BTreeSet;

use tidegate_core::event::EventKind;
use tidegate_core::time::Millis;

use super::super::client_session::ClientSession;
use crate::doctor::check::NO_STATE;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::doctor::history::DAYS;
use crate::print::format_count;

pub(crate) const CURE: &str = "mend what else is found here, then start the client anew, trust the folder, and see with \
                               `/hooks` what it has loaded; `--bare`, `--safe-mode` and `--setting-sources` leave hooks out";

/// The state keeps sessions longer than this, so a missing one was never seen by a hook.
const LOOK_BACK_DAYS: u64 = 30;

/// In one session there can be another reason: it began before the install, or its turn is not over.
const SESSIONS: usize = 2;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let Some(installed) = seen.installed().filter(|_| seen.has_hooks()) else {
        found.ok("no hooks, no signs");
        return;
    };
    if seen.state.is_err() {
        found.note(NO_STATE);
        return;
    }
    let back = Millis(seen.now.0.saturating_sub(LOOK_BACK_DAYS * 86_400_000));
    let ran: Vec<&ClientSession> = seen
        .client
        .sessions
        .iter()
        .filter(|session| session.modified >= installed.max(back) && session.shown.has_turn())
        .collect();
    let (known, unknown): (Vec<&ClientSession>, Vec<&ClientSession>) =
        ran.iter().partition(|session| is_known(seen, session));
    if let (Some(oldest), Some(newest)) = (unknown.last(), ran.first()) {
        let text = format!(
            "no hook was seen in {} of the last {} of this project, since {}",
            unknown.len(),
            format_count(ran.len(), "session"),
            oldest.modified.iso()
        );
        if unknown.iter().any(|session| session.id == newest.id) {
            found.problem(text, CURE);
        } else {
            found.note(format!("{text}; in the newest one they run"));
        }
    }
    let week = Millis(seen.now.0.saturating_sub(DAYS * 86_400_000));
    let known: Vec<&ClientSession> = known.into_iter().filter(|session| session.modified >= week).collect();
    for (event, silent) in silent_events(seen, &known) {
        found.problem(
            format!("{event} is registered, but was not seen in any of {}", format_count(silent, "session")),
            CURE,
        );
    }
    if found.is_empty() {
        found.ok(match ran.len() {
            0 => "no session since the install".to_owned(),
            some => format!("hooks ran in {} since the install", format_count(some, "session")),
        });
    }
}

/// The status line's bridge does not count: it is not a hook.
fn is_known(seen: &Gathered, session: &ClientSession) -> bool {
    let folder = seen.state.as_ref().ok().map(|state| state.session(&session.id));
    folder.is_some_and(|folder| folder.join("marks").exists() || folder.join("claims").exists())
        || seen.history.records.iter().any(|record| record.session.as_deref() == Some(session.id.as_str()))
}

/// Events that several sessions must have had and none recorded, with the number of these sessions.
fn silent_events(seen: &Gathered, known: &[&ClientSession]) -> Vec<(&'static str, usize)> {
    let records = seen.history.records.iter();
    let heard: BTreeSet<(&str, EventKind)> = records
        .filter_map(|record| Some((record.session.as_deref()?, EventKind::from_name(&record.event))))
        .collect();
    // An event can only be missing in a session that the journal knows.
    let written_down: BTreeSet<&str> = heard.iter().map(|(session, _)| *session).collect();
    let mut silent = Vec::new();
    for event in EventKind::ALL.iter().filter(|event| seen.is_registered(event.name())) {
        let expected: Vec<&str> = known
            .iter()
            .filter(|session| session.shown.events.contains(event))
            .map(|session| session.id.as_str())
            .filter(|id| written_down.contains(id))
            .collect();
        if expected.len() >= SESSIONS && !expected.iter().any(|id| heard.contains(&(*id, *event))) {
            silent.push((event.name(), expected.len()));
        }
    }
    silent
}

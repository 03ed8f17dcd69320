//! Hooks that are registered and silently do not run.
//!
//! A hook that the client does not call leaves no trace in Tidegate's state, so the evidence is the client's own:
//! sessions of this project that the state does not know, and events that must have happened in sessions it does know.

use std::collections::BTreeSet;

use tidegate_core::event::EventKind;
use tidegate_core::time::Millis;

use super::super::client_session::ClientSession;
use crate::bilingual::{Bilingual, both, count_en};
use crate::doctor::check::without_state;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::doctor::history::DAYS;

/// For hooks that are registered and do not run.
pub(super) fn fix() -> Bilingual {
    both!(
        "Start Claude Code again, trust the folder, and look for Tidegate in `/hooks`. The options `--bare`, `--safe-mode` \
         and `--setting-sources` leave hooks out.",
        "Claude Code を起動し直してフォルダを信頼し、`/hooks` に Tidegate があるか見てください。`--bare`、`--safe-mode`、\
         `--setting-sources` を付けるとフックは使われません。"
    )
}

/// Checks whose problems keep hooks from running.
const CAUSES: &[&str] = &["settings", "disabled", "paths"];

/// The state keeps sessions longer than this, so a missing one was never seen by a hook.
const LOOK_BACK_DAYS: u64 = 30;

/// In one session there can be another reason: it began before the install, or its turn is not over.
const SESSIONS: usize = 2;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let Some(installed) = seen.installed().filter(|_| seen.has_hooks()) else {
        found.ok(both!(
            "Nothing to check: no hooks are registered.",
            "フックがないため、確認するものはありません。"
        ));
        return;
    };
    if seen.state.is_err() {
        found.unchecked(without_state());
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
        let (silent, all, since) = (unknown.len(), ran.len(), seen.clock.dated_minute(oldest.modified));
        let sessions = count_en(all, "session");
        if unknown.iter().any(|session| session.id == newest.id) {
            let text = both!(
                "Claude Code did not run Tidegate's hooks in {silent} of the last {sessions} in this project, first on {since}.",
                "このプロジェクトの直近{all}セッションのうち{silent}回で、Claude Code が Tidegate のフックを実行していません（最初は{since}）。"
            );
            found.problem(text, fix()).unless_caused_by(CAUSES);
        } else {
            found.note(both!(
                "Claude Code did not run Tidegate's hooks in {silent} of the last {sessions} in this project. In the newest one it \
                 did.",
                "このプロジェクトの直近{all}セッションのうち{silent}回で、フックが実行されていません。最新のセッションでは実行されています。"
            ));
        }
    }
    let week = Millis(seen.now.0.saturating_sub(DAYS * 86_400_000));
    let known: Vec<&ClientSession> = known.into_iter().filter(|session| session.modified >= week).collect();
    for (event, silent) in silent_events(seen, &known) {
        let sessions = count_en(silent, "session");
        let text = both!(
            "Claude Code did not run the hook for {event} in any of {sessions}, although it is registered.",
            "{event} のフックは登録されていますが、{silent}セッションのどれでも実行されていません。"
        );
        found.problem(text, fix()).unless_caused_by(CAUSES);
    }
    if found.is_empty() {
        let (sessions, number) = (count_en(ran.len(), "session"), ran.len());
        found.ok(match number {
            0 => both!("No session since the install.", "インストール後のセッションはまだありません。"),
            _ => both!(
                "Hooks ran in {sessions} since the install.",
                "インストール後の{number}セッションでフックが実行されました。"
            ),
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

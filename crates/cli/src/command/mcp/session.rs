//! Finding the session that a tool call belongs to.
//!
//! The client starts the server once and names its session in the environment. `/clear` and `/resume` give it another
//! session and leave the server and its environment as they are (Claude Code 2.1.325). So the journal tells which
//! session came after the one in the environment.

use tidegate_core::pipeline::record::Record;
use tidegate_state::journal;

use crate::bilingual::both;
use crate::error::CliError;
use crate::sessions::{Here, Session};

/// Without a name in the environment, the last session here is taken for this one, unless it began longer ago.
const GUESSED_MS: u64 = 24 * 3_600_000;

/// With its newest record.
pub(super) fn find_session(here: &Here, named: Option<&str>) -> Result<(Session, Option<Record>), CliError> {
    let named = named.map(|typed| here.complete_name(typed).into_owned());
    let mut id = named.clone().or_else(|| here.env.session.clone());
    let mut newest = None;
    while let Some(at) = &id {
        let mut records = from_last_of(here, at);
        // Each successor begins later in the journal than the one before it, so this ends.
        let next = named.is_none().then(|| find_successor(&records)).flatten().map(str::to_owned);
        if next.is_none() {
            newest = (!records.is_empty()).then(|| records.swap_remove(0));
            break;
        }
        id = next;
    }
    let session = here.session(id.as_deref()).and_then(|session| match &id {
        None if session.marks.session.attached.is_none_or(|at| here.now.since(at) > GUESSED_MS) => {
            Err(CliError::new(both!(
                "which session this is about is not known",
                "どのセッションのことかわかりません"
            )))
        }
        _ => Ok(session),
    });
    let session = session.map_err(|error| {
        error.hint(if named.is_some() {
            "leave `session` out to read the session of this client"
        } else {
            "call again after the next prompt; if that fails, ask the person to run `tidegate doctor`: the hooks may not run"
        })
    })?;
    let newest = newest.or_else(|| from_last_of(here, session.id.as_str()).into_iter().next());
    Ok((session, newest))
}

/// From a session's last record on, across days; empty if it has none.
fn from_last_of(here: &Here, session: &str) -> Vec<Record> {
    let mut later = Vec::new();
    for file in journal::list_files(&here.state.journal()).unwrap_or_default().iter().rev() {
        let Ok(day) = journal::read(file) else { continue };
        for record in day.records.into_iter().rev() {
            let found = record.session.as_deref() == Some(session);
            later.push(record);
            if found {
                later.reverse();
                return later;
            }
        }
    }
    Vec::new()
}

/// The session that the client continued with after the first of these records ended one.
fn find_successor(records: &[Record]) -> Option<&str> {
    let (end, later) = records.split_first()?;
    let goes_on = |record: &&Record| {
        record.event == "SessionStart"
            && matches!(record.cause.as_deref(), Some("clear" | "resume"))
            && record.project == end.project
    };
    // A session that continues has a newer record: a prompt comes before every call.
    (end.event == "SessionEnd").then(|| later.iter().find(goes_on))??.session.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(event: &str, cause: Option<&str>, session: &str, project: &str) -> Record {
        Record {
            event: event.to_owned(),
            cause: cause.map(str::to_owned),
            session: Some(session.to_owned()),
            project: Some(project.to_owned()),
            ..Record::default()
        }
    }

    #[test]
    fn the_next_session_of_the_same_project_goes_on() {
        let end = record("SessionEnd", None, "a", "/p");
        let others = [
            record("SessionStart", Some("clear"), "x", "/other"),
            record("SessionStart", Some("startup"), "y", "/p"),
            record("Stop", None, "z", "/p"),
        ];
        let alone: Vec<Record> = [end.clone()].into_iter().chain(others).collect();
        assert_eq!(find_successor(&alone), None);
        let mut cleared = alone.clone();
        cleared.push(record("SessionStart", Some("clear"), "b", "/p"));
        cleared.push(record("SessionStart", Some("resume"), "c", "/p"));
        assert_eq!(find_successor(&cleared), Some("b"));
        cleared[0].event = "Stop".to_owned();
        assert_eq!(find_successor(&cleared), None, "it has not ended");
        assert_eq!(find_successor(&[]), None);
    }
}

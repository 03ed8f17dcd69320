//! What a check found, and how to mend it.

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// As it should be.
    Ok,
    /// Worth knowing, nothing to mend.
    Note,
    /// Something works less well than it could.
    Warning,
    /// Something does not work.
    Problem,
}

impl State {
    pub(super) fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Note => "note",
            State::Warning => "warning",
            State::Problem => "problem",
        }
    }

    /// Whether something has to be mended.
    pub(super) fn is_wrong(self) -> bool {
        self >= State::Warning
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// The check.
    pub(super) id: &'static str,
    pub(super) state: State,
    pub(super) found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cure: Option<String>,
}

/// What one check found. A check that finds nothing amiss says in a few words what it looked at.
#[derive(Debug)]
pub(super) struct Findings {
    id: &'static str,
    all: Vec<Finding>,
}

impl Findings {
    pub(super) fn of(id: &'static str) -> Findings {
        Findings { id, all: Vec::new() }
    }

    fn push(&mut self, state: State, found: impl Into<String>, cure: Option<String>) {
        self.all.push(Finding { id: self.id, state, found: found.into(), cure });
    }

    pub(super) fn ok(&mut self, found: impl Into<String>) {
        self.push(State::Ok, found, None);
    }

    pub(super) fn note(&mut self, found: impl Into<String>) {
        self.push(State::Note, found, None);
    }

    pub(super) fn note_with(&mut self, found: impl Into<String>, cure: impl Into<String>) {
        self.push(State::Note, found, Some(cure.into()));
    }

    pub(super) fn warning(&mut self, found: impl Into<String>, cure: impl Into<String>) {
        self.push(State::Warning, found, Some(cure.into()));
    }

    pub(super) fn problem(&mut self, found: impl Into<String>, cure: impl Into<String>) {
        self.push(State::Problem, found, Some(cure.into()));
    }

    /// Whether nothing was found so far.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn into_vec(self) -> Vec<Finding> {
        self.all
    }
}

/// `1 session`, `3 sessions`.
pub(super) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

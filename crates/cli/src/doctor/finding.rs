//! What a check found, and how to mend it.

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
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
    pub(crate) fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Note => "note",
            State::Warning => "warning",
            State::Problem => "problem",
        }
    }

    /// Whether something has to be mended.
    pub(crate) fn is_wrong(self) -> bool {
        self >= State::Warning
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// The check.
    pub(crate) id: &'static str,
    pub(crate) state: State,
    pub(crate) found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<String>,
}

/// What one check found. A check that finds nothing amiss says in a few words what it looked at.
#[derive(Debug)]
pub(crate) struct Findings {
    id: &'static str,
    all: Vec<Finding>,
}

impl Findings {
    pub(crate) fn of(id: &'static str) -> Findings {
        Findings { id, all: Vec::new() }
    }

    fn push(&mut self, state: State, found: impl Into<String>, cure: Option<String>) {
        self.all.push(Finding { id: self.id, state, found: found.into(), cure });
    }

    pub(crate) fn ok(&mut self, found: impl Into<String>) {
        self.push(State::Ok, found, None);
    }

    pub(crate) fn note(&mut self, found: impl Into<String>) {
        self.push(State::Note, found, None);
    }

    pub(crate) fn note_with(&mut self, found: impl Into<String>, cure: impl Into<String>) {
        self.push(State::Note, found, Some(cure.into()));
    }

    pub(crate) fn warning(&mut self, found: impl Into<String>, cure: impl Into<String>) {
        self.push(State::Warning, found, Some(cure.into()));
    }

    pub(crate) fn problem(&mut self, found: impl Into<String>, cure: impl Into<String>) {
        self.push(State::Problem, found, Some(cure.into()));
    }

    /// Whether nothing was found so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn into_vec(self) -> Vec<Finding> {
        self.all
    }
}

/// `1 session`, `3 sessions`.
pub(crate) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

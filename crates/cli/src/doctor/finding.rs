//! A finding of `doctor`, with its cure.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Ok,
    /// Worth knowing, nothing to repair.
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

    /// Something has to be repaired.
    pub(crate) fn is_wrong(self) -> bool {
        self >= State::Warning
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// Name of the check.
    pub(crate) id: &'static str,
    pub(crate) state: State,
    pub(crate) found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<String>,
}

/// The findings of one check. A check without a problem says in a few words what it looked at.
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

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn into_vec(self) -> Vec<Finding> {
        self.all
    }
}

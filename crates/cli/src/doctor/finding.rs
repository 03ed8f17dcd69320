//! A finding of `doctor`: a problem with its fix, a note, or that all is well.

use serde::{Serialize, Serializer};

use crate::bilingual::Bilingual;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Ok,
    /// Worth knowing; nothing has to be fixed.
    Note,
    /// Something works less well than it could.
    Warning,
    /// Something does not work.
    Problem,
}

impl State {
    pub(crate) fn has_to_be_fixed(self) -> bool {
        self >= State::Warning
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Name of the check.
    pub(crate) id: &'static str,
    pub(crate) state: State,
    pub(crate) found: Bilingual,
    pub(crate) fix: Option<Bilingual>,
    /// The check could not look, or found only what a problem of another check explains.
    pub(crate) is_unchecked: bool,
    /// A problem of one of these checks is the cause of this one.
    pub(crate) causes: &'static [&'static str],
}

/// For other programs: in English, and with the names that they know.
#[derive(Serialize)]
struct FindingJson<'a> {
    id: &'a str,
    state: State,
    found: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cure: Option<&'a str>,
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cure = self.fix.as_ref().map(|fix| fix.en.as_str());
        FindingJson { id: self.id, state: self.state, found: &self.found.en, cure }.serialize(serializer)
    }
}

impl Finding {
    /// Left out while one of these checks has a problem: each cause is reported once.
    pub(crate) fn unless_caused_by(&mut self, checks: &'static [&'static str]) {
        self.causes = checks;
    }

    /// Only a fix elsewhere lets this check look.
    pub(crate) fn could_not_look(&self) -> bool {
        self.is_unchecked && self.causes.is_empty()
    }
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

    fn push(&mut self, state: State, found: Bilingual, fix: Option<Bilingual>) -> &mut Finding {
        let at = self.all.len();
        self.all.push(Finding { id: self.id, state, found, fix, is_unchecked: false, causes: &[] });
        &mut self.all[at]
    }

    pub(crate) fn ok(&mut self, found: Bilingual) {
        self.push(State::Ok, found, None);
    }

    pub(crate) fn note(&mut self, found: Bilingual) {
        self.push(State::Note, found, None);
    }

    /// With something that can be done about it.
    pub(crate) fn note_with(&mut self, found: Bilingual, next: Bilingual) -> &mut Finding {
        self.push(State::Note, found, Some(next))
    }

    /// The check could not look, for this reason.
    pub(crate) fn unchecked(&mut self, why: Bilingual) -> &mut Finding {
        let finding = self.push(State::Note, why, None);
        finding.is_unchecked = true;
        finding
    }

    pub(crate) fn warning(&mut self, found: Bilingual, fix: Bilingual) -> &mut Finding {
        self.push(State::Warning, found, Some(fix))
    }

    pub(crate) fn problem(&mut self, found: Bilingual, fix: Bilingual) -> &mut Finding {
        self.push(State::Problem, found, Some(fix))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn into_vec(self) -> Vec<Finding> {
        self.all
    }
}

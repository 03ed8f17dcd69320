//! What a cycle lacks of the person's consent before a stage that publishes.
//!
//! Such a stage begins by itself only if the person's newest word since the order is that order, or a plain yes after
//! everything that was waited for. Anything else leaves a go-ahead owed. It is owed in the project, not in a session or in
//! the state file: whoever starts or resumes a cycle takes it over.

use serde::{Deserialize, Serialize};

use crate::feature::cycle::Head;
use crate::time::Millis;

/// Private, one per project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Consent {
    pub owed: Vec<Owed>,
    /// The project when the stage before a publishing one was reported as done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
}

/// Why a go-ahead is owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Owed {
    /// The most that a stage reported as open, and whether they still are.
    Findings {
        stage: String,
        most: u64,
        open: bool,
    },
    /// The report of a stage forbade to publish.
    Forbidden {
        stage: String,
        /// Its words. Made safe where they are shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    Failed {
        stage: String,
    },
    /// Words of the person about publishing, other than asking for it plainly. Made safe where they are shown.
    Reserved(String),
    /// Claude asked the person something.
    Asked,
    /// The person's prompt came before an end of Claude's turn was reported.
    Interrupted,
    /// Another prompt of the person.
    Said,
    /// No person is known to have ordered the cycle.
    Unordered,
}

/// A commit that was made since counts for the publishing stage, too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Base {
    /// When the cycle began, as its file says.
    pub run: Option<String>,
    /// The stage that was done.
    pub stage: String,
    pub head: Head,
    pub at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsentChange {
    /// A person ordered a cycle, with these words about publishing.
    Ordered(Option<String>),
    /// A plain yes of the person. After a stage that is done, it also pays for findings that no report closed.
    Given {
        stage_done: bool,
    },
    Owe(Owed),
    /// The stage reported that none of its findings is open any more.
    Fixed(String),
    StageDone(Base),
}

impl Owed {
    fn outlives_order(&self) -> bool {
        matches!(self, Owed::Findings { .. } | Owed::Forbidden { .. } | Owed::Failed { .. })
    }

    /// The first of them is said first.
    fn rank(&self) -> usize {
        match self {
            Owed::Findings { .. } => 0,
            Owed::Forbidden { .. } => 1,
            Owed::Failed { .. } => 2,
            Owed::Reserved(_) => 3,
            Owed::Asked => 4,
            Owed::Interrupted => 5,
            Owed::Said => 6,
            Owed::Unordered => 7,
        }
    }

    fn stage(&self) -> Option<&str> {
        match self {
            Owed::Findings { stage, .. } | Owed::Forbidden { stage, .. } | Owed::Failed { stage } => {
                Some(stage)
            }
            _ => None,
        }
    }
}

impl Consent {
    /// Where nothing is noted, or it cannot be read.
    pub fn unknown() -> Consent {
        Consent { owed: vec![Owed::Unordered], base: None }
    }

    /// What is owed before `stage`, most important first. Its own findings and failures do not keep it from another attempt.
    pub fn owed_before(&self, stage: &str) -> Vec<&Owed> {
        let mut owed: Vec<&Owed> = self.owed.iter().filter(|owed| owed.stage() != Some(stage)).collect();
        owed.sort_by_key(|owed| owed.rank());
        owed
    }

    #[must_use]
    pub fn after(&self, change: &ConsentChange) -> Consent {
        let mut new = self.clone();
        match change {
            ConsentChange::Ordered(said) => {
                new.owed.retain(Owed::outlives_order);
                new.owed.extend(said.clone().map(Owed::Reserved));
                new.base = None;
            }
            ConsentChange::Given { stage_done } => {
                new.owed.retain(|owed| !stage_done && matches!(owed, Owed::Findings { open: true, .. }));
            }
            ConsentChange::Owe(owed) => new.owe(owed),
            ConsentChange::Fixed(of) => {
                for owed in &mut new.owed {
                    if let Owed::Findings { stage, open, .. } = owed {
                        *open &= stage != of;
                    }
                }
            }
            ConsentChange::StageDone(base) => {
                let is_known = |known: &Base| known.run == base.run && known.stage == base.stage;
                // The first report counts: a commit may have been made between two.
                if !new.base.as_ref().is_some_and(is_known) {
                    new.base = Some(base.clone());
                }
            }
        }
        new
    }

    fn owe(&mut self, new: &Owed) {
        let same = |known: &&mut Owed| known.rank() == new.rank() && known.stage() == new.stage();
        match (self.owed.iter_mut().find(same), new) {
            (Some(Owed::Findings { most, open, .. }), Owed::Findings { most: now, .. }) => {
                (*most, *open) = ((*most).max(*now), true);
            }
            (Some(known), _) => *known = new.clone(),
            (None, _) => self.owed.push(new.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(open: bool) -> Owed {
        Owed::Findings { stage: "audit".into(), most: 3, open }
    }

    fn after(changes: &[ConsentChange]) -> Vec<Owed> {
        changes.iter().fold(Consent::default(), |known, change| known.after(change)).owed
    }

    #[test]
    fn an_order_pays_for_words_only() {
        let owe = |owed: Owed| ConsentChange::Owe(owed);
        let failed = Owed::Failed { stage: "audit".into() };
        let all = [
            owe(Owed::Said),
            owe(findings(true)),
            owe(failed.clone()),
            owe(Owed::Asked),
            owe(Owed::Unordered),
        ];
        let ordered = [&all[..], &[ConsentChange::Ordered(None)]].concat();
        assert_eq!(after(&ordered), [findings(true), failed]);
        let reserved = [&all[..1], &[ConsentChange::Ordered(Some("do not ship".into()))]].concat();
        assert_eq!(after(&reserved), [Owed::Reserved("do not ship".into())]);
    }

    #[test]
    fn a_yes_pays_for_all_but_what_is_still_open() {
        let owe = [ConsentChange::Owe(findings(true)), ConsentChange::Owe(Owed::Said)];
        let yes = |stage_done| ConsentChange::Given { stage_done };
        assert_eq!(after(&[&owe[..], &[yes(false)]].concat()), [findings(true)]);
        assert_eq!(after(&[&owe[..], &[yes(true)]].concat()), []);
        let fixed = ConsentChange::Fixed("audit".into());
        assert_eq!(after(&[&owe[..], std::slice::from_ref(&fixed)].concat()), [findings(false), Owed::Said]);
        assert_eq!(after(&[&owe[..], &[fixed, yes(false)]].concat()), []);
    }

    #[test]
    fn the_same_is_owed_once() {
        let more = Owed::Findings { stage: "audit".into(), most: 5, open: true };
        let owe =
            [findings(true), more.clone(), findings(true), Owed::Said, Owed::Said].map(ConsentChange::Owe);
        assert_eq!(after(&owe), [more, Owed::Said]);
        let known = Consent { owed: vec![Owed::Said, findings(true)], base: None };
        assert_eq!(known.owed_before("ship"), [&findings(true), &Owed::Said]);
        assert_eq!(known.owed_before("audit"), [&Owed::Said]);
    }

    #[test]
    fn the_first_report_of_a_stage_is_the_base() {
        let base = |run: &str, at| Base {
            run: Some(run.into()),
            stage: "audit".into(),
            at: Millis(at),
            ..Base::default()
        };
        let done = |run, at| ConsentChange::StageDone(base(run, at));
        let known = Consent::default().after(&done("a", 1)).after(&done("a", 2));
        assert_eq!(known.base, Some(base("a", 1)));
        assert_eq!(known.after(&done("b", 3)).base, Some(base("b", 3)));
    }
}

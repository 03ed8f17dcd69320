//! Edits of a session, and the checks since.

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::feature::marks::{self, RoomMarks};
use crate::feature::verification::checks::Kinds;
use crate::feature::verification::work::{BackgroundCheck, ChangeSet, Edit, SucceededChecks, WrittenCode};
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    Edit(Edit),
    Checked(SucceededChecks),
    /// The command line of a check whose exit status was hidden.
    Hidden(String),
    /// The time of the last verification.
    Verified(Millis),
    /// The kinds of checks in it.
    Proof(Kinds),
    /// A check runs in the background.
    Launched(BackgroundCheck),
    /// The id of a background task.
    Ended(String),
    /// A stop was blocked for the change set.
    Held,
    /// A tool ran since a stop was blocked.
    Ran,
    /// The person was told that the change set stays unverified.
    Told,
    /// A stop passed because its last message asked the person a question.
    Asked,
    Changes(ChangeSet),
    Wrote(WrittenCode),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// Code that is not verified.
    pub changes: Option<ChangeSet>,
    /// The time of the last verification.
    pub verified: Option<Millis>,
    /// The kinds of checks in it; none if only the skill was invoked.
    pub proof: Kinds,
    /// Checks in the background.
    pub background: Vec<BackgroundCheck>,
    /// Verified or not.
    pub wrote: WrittenCode,
}

/// Hooks of parallel calls may write their marks in another order than they began.
const CLOCK_SLACK_MS: u64 = 60_000;

/// More checks than usually run at once.
const BACKGROUND_KEPT: usize = 8;

impl RoomMarks for Marks {
    type Mark = Mark;

    fn apply(&mut self, mark: Mark) {
        match mark {
            Mark::Edit(edit) => self.edit(&edit),
            Mark::Wrote(wrote) => self.wrote = wrote,
            Mark::Checked(checked) => self.check(&checked),
            Mark::Verified(at) => (self.verified, self.proof) = (Some(at), Kinds::NONE),
            Mark::Proof(kinds) => self.proof = kinds,
            Mark::Launched(background) => self.launch(background),
            Mark::Ended(task) => self.end(&task),
            Mark::Changes(changes) => self.changes = Some(changes),
            Mark::Hidden(command) => self.change(|changes| changes.hidden = Some(command)),
            Mark::Held => self.change(|changes| {
                changes.held += 1;
                changes.ran = false;
            }),
            Mark::Ran => self.change(|changes| changes.ran = true),
            Mark::Told => self.change(|changes| changes.told = true),
            Mark::Asked => self.change(|changes| changes.asked = true),
        }
    }

    fn short(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        marks.extend(self.verified.map(Mark::Verified));
        marks.extend((!self.proof.is_empty()).then_some(Mark::Proof(self.proof)));
        marks.extend(self.changes.clone().map(Mark::Changes));
        marks.extend(self.background.iter().cloned().map(Mark::Launched));
        marks.extend((self.wrote != WrittenCode::default()).then(|| Mark::Wrote(self.wrote.clone())));
        marks
    }
}

impl Marks {
    fn edit(&mut self, edit: &Edit) {
        if self.changes.is_none() {
            self.wrote.began = edit.at;
        }
        self.wrote.add(edit);
        self.changes.get_or_insert_default().add(edit);
    }

    fn check(&mut self, checked: &SucceededChecks) {
        let Some(changes) = &mut self.changes else {
            return;
        };
        // Marks are in the order in which they were made. If the last edit is later than the end of the
        // check, the clock was set back, and the order is more reliable.
        let clock_set_back = changes.last.since(checked.seen) > CLOCK_SLACK_MS;
        if changes.last > checked.at && !clock_set_back {
            return;
        }
        if checked.verified {
            (self.verified, self.proof) = (Some(checked.at), changes.checked.and(checked.kinds));
            self.changes = None;
        } else {
            changes.checked = changes.checked.and(checked.kinds);
        }
    }

    fn launch(&mut self, background: BackgroundCheck) {
        self.end(&background.task);
        self.background.push(background);
        if self.background.len() > BACKGROUND_KEPT {
            self.background.remove(0);
        }
    }

    fn end(&mut self, task: &str) {
        self.background.retain(|known| known.task != task);
    }

    fn change(&mut self, how: impl FnOnce(&mut ChangeSet)) {
        if let Some(changes) = &mut self.changes {
            how(changes);
        }
    }

    /// The result with further marks of the session.
    #[must_use]
    pub fn after(&self, new: &[marks::Mark]) -> Marks {
        let mut all = marks::Marks { verification: self.clone(), ..marks::Marks::default() };
        for mark in new {
            all.apply(mark.clone());
        }
        all.verification
    }

    /// Checks in the background that could still verify the change set.
    pub fn pending(&self) -> impl Iterator<Item = &BackgroundCheck> {
        let last = self.changes.as_ref().map(|changes| changes.last).unwrap_or_default();
        self.background.iter().filter(move |check| check.at >= last)
    }

    /// Whether one of them still runs at the end of a turn.
    pub fn check_runs(&self, event: &Event<'_>) -> bool {
        self.pending().any(|check| event.is_running(&check.task))
    }
}

#[cfg(test)]
pub(in crate::feature) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in crate::feature) fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![
            ("[a-z/]{1,40}", 0u64..1 << 40, any::<bool>()).prop_map(|(file, at, shell)| Mark::Edit(Edit {
                file,
                at: Millis(at),
                shell
            })),
            (0u64..1 << 40, any::<bool>()).prop_map(|(at, verified)| Mark::Checked(SucceededChecks {
                kinds: Kinds::TEST,
                at: Millis(at),
                seen: Millis(at),
                verified,
            })),
            Just(Mark::Hidden("cargo test | tail".into())),
            (0u64..1 << 40).prop_map(|at| Mark::Verified(Millis(at))),
            Just(Mark::Proof(Kinds::LINT)),
            ("[a-z0-9]{9}", 0u64..1 << 40).prop_map(|(task, at)| Mark::Launched(BackgroundCheck {
                task,
                kinds: Kinds::BUILD,
                at: Millis(at),
                awaited: Some("p".into()),
            })),
            "[a-z0-9]{9}".prop_map(Mark::Ended),
            Just(Mark::Held),
            Just(Mark::Ran),
            Just(Mark::Told),
            Just(Mark::Asked),
            ("[a-z/]{1,24}", 0u64..1 << 40).prop_map(|(file, at)| Mark::Wrote(WrittenCode {
                files: vec![file],
                last: Millis(at),
                began: Millis(at),
            })),
        ]
    }

    fn edit(file: &str, at: u64) -> Edit {
        Edit { file: file.into(), at: Millis(at), shell: false }
    }

    #[test]
    fn a_check_speaks_only_of_what_was_there_when_it_began() {
        let kinds = Kinds::TEST;
        let checked =
            |at, verified| SucceededChecks { kinds, at: Millis(at), seen: Millis(at + 5), verified };
        let mut marks = Marks::default();
        marks.edit(&edit("a.rs", 10));
        marks.check(&checked(9, true));
        assert!(marks.changes.is_some());
        marks.check(&checked(10, false));
        assert_eq!(marks.changes.as_ref().map(|changes| changes.checked), Some(kinds));
        marks.check(&checked(11, true));
        assert_eq!((marks.changes.is_some(), marks.verified), (false, Some(Millis(11))));
        assert_eq!(marks.proof, kinds);
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_hold_for_an_hour() {
        let mut marks = Marks::default();
        marks.edit(&edit("a.rs", 3_600_000));
        let at =
            |seen| SucceededChecks { kinds: Kinds::TEST, at: Millis(10), seen: Millis(seen), verified: true };
        marks.check(&at(3_599_000));
        assert!(marks.changes.is_some(), "a long check, and an edit in the middle of it");
        marks.check(&at(20));
        assert!(marks.changes.is_none());
    }
}

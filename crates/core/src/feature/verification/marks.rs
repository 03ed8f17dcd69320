//! Edits of a session, and the checks since.

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::feature::marks::{self, RoomMarks};
use crate::feature::verification::checks::Kinds;
use crate::feature::verification::work::{
    BackgroundCheck, ChangeSet, CheckFailure, Edit, ReadPart, SucceededChecks, UncountedCheck, WrittenCode,
};
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    Edit(Edit),
    Checked(SucceededChecks),
    Failed(CheckFailure),
    Uncounted(UncountedCheck),
    /// The edits were put away, or came back.
    Away(bool),
    /// Another commit was checked out, or the edits' own one again.
    Elsewhere(bool),
    /// Edits were committed.
    Committed,
    /// Edits of these files were taken back.
    Undone(Vec<String>),
    /// The last change set, verified.
    Past(ChangeSet),
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
    /// The model was told how a check has to be run.
    ToldHow,
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
    /// The last change set, verified: a check that fails opens it again.
    pub past: Option<ChangeSet>,
    /// Checks in the background.
    pub background: Vec<BackgroundCheck>,
    /// Verified or not.
    pub wrote: WrittenCode,
    /// The model was told how a check has to be run.
    pub advised: bool,
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
            Mark::Failed(failed) => self.fail(failed),
            Mark::Uncounted(check) => self.change(|changes| {
                (changes.uncounted, changes.hidden) = (Some(check), None);
            }),
            Mark::Away(away) => {
                self.changes.iter_mut().chain(&mut self.past).for_each(|changes| changes.away = away);
            }
            Mark::Elsewhere(elsewhere) => {
                self.changes.iter_mut().chain(&mut self.past).for_each(|set| set.elsewhere = elsewhere);
            }
            Mark::Committed => self.change(|changes| changes.committed = true),
            Mark::Undone(files) => {
                self.changes = self.changes.take().and_then(|changes| changes.without_undone(&files));
            }
            Mark::Past(changes) => self.past = Some(changes),
            Mark::Verified(at) => (self.verified, self.proof) = (Some(at), Kinds::NONE),
            Mark::Proof(kinds) => self.proof = kinds,
            Mark::Launched(background) => self.launch(background),
            Mark::Ended(task) => self.end(&task),
            Mark::Changes(changes) => self.changes = Some(changes),
            Mark::Hidden(command) => self.change(|changes| {
                (changes.uncounted, changes.hidden) = (None, Some(command));
            }),
            Mark::Held => self.change(|changes| {
                changes.held += 1;
                changes.ran = false;
            }),
            Mark::Ran => self.change(|changes| changes.ran = true),
            Mark::ToldHow => self.advised = true,
            Mark::Told => self.change(|changes| changes.told = true),
            Mark::Asked => self.change(|changes| changes.asked = true),
        }
    }

    fn short(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        marks.extend(self.verified.map(Mark::Verified));
        marks.extend((!self.proof.is_empty()).then_some(Mark::Proof(self.proof)));
        marks.extend(self.advised.then_some(Mark::ToldHow));
        marks.extend(self.past.clone().map(Mark::Past));
        marks.extend(self.changes.clone().map(Mark::Changes));
        marks.extend(self.background.iter().cloned().map(Mark::Launched));
        marks.extend((self.wrote != WrittenCode::default()).then(|| Mark::Wrote(self.wrote.clone())));
        marks
    }
}

/// Whether a check began before the last edit.
///
/// Marks are in the order in which they were made. If the last edit is later than the end of the check, the clock
/// was set back, and the order is more reliable.
fn is_older(changes: &ChangeSet, began: Millis, ended: Millis) -> bool {
    let clock_set_back = changes.last.since(ended) > CLOCK_SLACK_MS;
    changes.last > began && !clock_set_back
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
        if is_older(changes, checked.at, checked.seen) || changes.is_absent() {
            return;
        }
        *changes = changes.without_cleared(checked.kinds, checked.scope.as_ref());
        let whole = [ReadPart { kinds: checked.kinds, unread: Vec::new() }];
        let parts = if checked.parts.is_empty() { &whole[..] } else { &checked.parts };
        for part in parts {
            changes.prove(part);
        }
        if checked.verified && !checked.left.is_empty() {
            changes.keep_only(&checked.left);
        } else if checked.verified {
            let all = changes.proved.iter().fold(changes.checked, |all, proved| all.and(*proved));
            (self.verified, self.proof) = (Some(checked.at), all);
            self.past = self.changes.take();
        }
    }

    fn fail(&mut self, failed: CheckFailure) {
        let is_newer = |set: &ChangeSet| !is_older(set, failed.at, failed.seen) && !set.is_absent();
        if self.changes.is_none() && failed.opens && self.past.as_ref().is_some_and(is_newer) {
            let past = self.past.take().unwrap_or_default();
            let (checked, proved) = (Kinds::NONE, Vec::new());
            self.changes = Some(ChangeSet { checked, proved, held: 0, told: false, ran: true, ..past });
        }
        if let Some(changes) = self.changes.as_mut().filter(|changes| is_newer(changes)) {
            changes.fail(failed);
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
    use crate::feature::verification::checks::{CheckKind, CheckScope};
    use proptest::prelude::*;

    pub(in crate::feature) fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![
            ("[a-z/]{1,40}", 0u64..1 << 40, any::<bool>()).prop_map(|(file, at, shell)| Mark::Edit(Edit {
                file,
                at: Millis(at),
                shell,
                removed: shell,
            })),
            (0u64..1 << 40, any::<bool>()).prop_map(|(at, verified)| Mark::Checked(SucceededChecks {
                kinds: Kinds::TEST,
                at: Millis(at),
                seen: Millis(at),
                verified,
                parts: vec![ReadPart { kinds: Kinds::TEST, unread: vec!["b".into()] }],
                left: Vec::new(),
                scope: Some(CheckScope::default()),
            })),
            (0u64..1 << 40).prop_map(|at| Mark::Failed(failed(at, CheckKind::Test))),
            any::<bool>().prop_map(Mark::Away),
            any::<bool>().prop_map(Mark::Elsewhere),
            Just(Mark::Committed),
            "[a-z/]{1,3}".prop_map(|file| Mark::Undone(vec![file])),
            Just(Mark::Hidden("cargo test | tail".into())),
            (0u64..1 << 40).prop_map(|at| Mark::Verified(Millis(at))),
            Just(Mark::Proof(Kinds::LINT)),
            ("[a-z0-9]{9}", 0u64..1 << 40).prop_map(|(task, at)| Mark::Launched(BackgroundCheck {
                task,
                kinds: Kinds::BUILD,
                at: Millis(at),
                scope: CheckScope::default(),
                line: "cargo build".into(),
                left: Vec::new(),
                awaited: Some("p".into()),
            })),
            "[a-z0-9]{9}".prop_map(Mark::Ended),
            Just(Mark::Held),
            Just(Mark::Ran),
            Just(Mark::Told),
            Just(Mark::ToldHow),
            Just(Mark::Asked),
            ("[a-z/]{1,24}", 0u64..1 << 40).prop_map(|(file, at)| Mark::Wrote(WrittenCode {
                files: vec![file],
                last: Millis(at),
                began: Millis(at),
            })),
        ]
    }

    fn edit(file: &str, at: u64) -> Edit {
        Edit { file: file.into(), at: Millis(at), shell: false, removed: false }
    }

    fn failed(at: u64, kind: CheckKind) -> CheckFailure {
        CheckFailure {
            kind,
            at: Millis(at),
            seen: Millis(at + 5),
            opens: kind == CheckKind::Test,
            scope: CheckScope::default(),
            line: "cargo test".into(),
        }
    }

    fn passed(at: u64, kinds: Kinds, verified: bool) -> SucceededChecks {
        let scope = Some(CheckScope::default());
        SucceededChecks {
            kinds,
            at: Millis(at),
            seen: Millis(at + 5),
            verified,
            parts: Vec::new(),
            left: Vec::new(),
            scope,
        }
    }

    #[test]
    fn a_failure_opens_what_was_verified_by_something_weaker() {
        let mut marks = Marks::default();
        marks.edit(&edit("a.rs", 10));
        marks.check(&passed(11, Kinds::TYPECHECK, true));
        marks.fail(failed(12, CheckKind::Lint));
        assert_eq!(marks.changes, None);
        marks.fail(failed(13, CheckKind::Test));
        let changes = marks.changes.clone().unwrap();
        assert_eq!((changes.files.as_slice(), changes.failed.len()), (&["a.rs".to_owned()][..], 1));
        assert_eq!(changes.valid(Kinds::TYPECHECK.and(Kinds::TEST)), Kinds::NONE);
        marks.check(&passed(14, Kinds::TYPECHECK, false));
        assert_eq!(marks.changes.as_ref().unwrap().failed.len(), 1);
        marks.check(&passed(15, Kinds::TEST, true));
        assert_eq!(marks.changes, None);
    }

    #[test]
    fn files_that_a_check_does_not_read_stay_open() {
        let mut marks = Marks::default();
        marks.edit(&edit("a.rs", 10));
        marks.edit(&edit("b.py", 11));
        marks.check(&SucceededChecks { left: vec!["b.py".into()], ..passed(12, Kinds::TEST, true) });
        assert_eq!(marks.changes.as_ref().unwrap().files, ["b.py"]);
        marks.apply(Mark::Away(true));
        marks.check(&passed(13, Kinds::TEST, true));
        assert!(marks.changes.is_some(), "the edits are in the stash");
        marks.apply(Mark::Away(false));
        marks.check(&passed(14, Kinds::TEST, true));
        assert_eq!(marks.changes, None);
    }

    #[test]
    fn a_check_of_another_commit_does_not_count() {
        let mut marks = Marks::default();
        marks.edit(&edit("a.rs", 10));
        marks.apply(Mark::Elsewhere(true));
        marks.check(&passed(11, Kinds::TEST, true));
        assert!(marks.changes.is_some());
        marks.apply(Mark::Elsewhere(false));
        marks.check(&passed(12, Kinds::TEST, true));
        assert_eq!(marks.changes, None);
    }

    #[test]
    fn an_edit_that_was_taken_back_is_not_open() {
        let mut marks = Marks::default();
        marks.edit(&edit("a.rs", 10));
        marks.edit(&edit("b.rs", 11));
        marks.check(&SucceededChecks {
            parts: vec![ReadPart { kinds: Kinds::LINT, unread: vec!["a.rs".into()] }],
            ..passed(12, Kinds::LINT, false)
        });
        marks.apply(Mark::Undone(vec!["a.rs".into()]));
        let changes = marks.changes.clone().unwrap();
        assert_eq!((changes.files.as_slice(), changes.passed_of(0)), (&["b.rs".to_owned()][..], Kinds::LINT));
        marks.apply(Mark::Undone(vec!["b.rs".into()]));
        assert_eq!(marks.changes, None);
    }

    #[test]
    fn a_check_speaks_only_of_what_was_there_when_it_began() {
        let kinds = Kinds::TEST;
        let checked = |at, verified| passed(at, kinds, verified);
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
        let at = |seen| SucceededChecks { seen: Millis(seen), ..passed(10, Kinds::TEST, true) };
        marks.check(&at(3_599_000));
        assert!(marks.changes.is_some(), "a long check, and an edit in the middle of it");
        marks.check(&at(20));
        assert!(marks.changes.is_none());
    }
}

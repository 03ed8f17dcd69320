//! Edits of a session, and the checks since.

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::feature::marks::{self, RoomMarks};
use crate::feature::verification::checks::Kinds;
use crate::feature::verification::work::{
    AnnouncedPatch, BackgroundCheck, ChangeSet, CheckFailure, Edit, HiddenCheck, ReadPart, SucceededChecks,
    UncountedCheck, WrittenCode,
};
use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    Edit(Edit),
    /// A patch is about to be applied.
    Announced(AnnouncedPatch),
    /// The call of a patch of which all is known.
    Patched(String),
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
    Hidden(HiddenCheck),
    /// The time of the last verification.
    Verified(Millis),
    /// The kinds of checks in it.
    Proof(Kinds),
    /// The last check of it, shortened.
    CheckedBy(String),
    /// A check runs in the background.
    Launched(BackgroundCheck),
    /// The id of a background task.
    Ended(String),
    /// A stop was blocked for the change set.
    Held,
    /// A tool ran since a stop was blocked.
    Ran,
    /// A person's prompt followed a block.
    Prompted,
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
    /// The last check of it, shortened; empty if it is not known.
    pub checked_by: String,
    /// The last change set, verified: a check that fails opens it again.
    pub past: Option<ChangeSet>,
    /// Checks in the background.
    pub background: Vec<BackgroundCheck>,
    /// Patches that may have been applied.
    pub patches: Vec<AnnouncedPatch>,
    /// Verified or not.
    pub wrote: WrittenCode,
    /// The model was told how a check has to be run.
    pub advised: bool,
}

/// Hooks of parallel calls may write their marks in another order than they began.
const CLOCK_SLACK_MS: u64 = 60_000;

/// More checks than usually run at once.
const BACKGROUND_KEPT: usize = 8;

/// More patches than one answer of a model holds.
const PATCHES_KEPT: usize = 16;

impl RoomMarks for Marks {
    type Mark = Mark;

    fn apply(&mut self, mark: Mark) {
        match mark {
            Mark::Edit(edit) => self.edit(&edit),
            Mark::Announced(patch) => self.announce(patch),
            Mark::Patched(call) => self.patches.retain(|known| known.call != call),
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
            Mark::Verified(at) => {
                (self.verified, self.proof, self.checked_by) = (Some(at), Kinds::NONE, String::new());
            }
            Mark::Proof(kinds) => self.proof = kinds,
            Mark::CheckedBy(check) => self.checked_by = check,
            Mark::Launched(background) => self.launch(background),
            Mark::Ended(task) => self.end(&task),
            Mark::Changes(changes) => self.changes = Some(changes),
            Mark::Hidden(check) => self.change(|changes| {
                (changes.uncounted, changes.hidden) = (None, Some(Box::new(check)));
            }),
            Mark::Held => self.change(|changes| {
                changes.held += 1;
                changes.ran = false;
            }),
            Mark::Ran => self.change(|changes| changes.ran = true),
            Mark::Prompted => self.change(|changes| changes.prompted = true),
            Mark::ToldHow => self.advised = true,
            Mark::Told => self.change(|changes| changes.told = true),
            Mark::Asked => self.change(|changes| changes.asked = true),
        }
    }

    fn short(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        marks.extend(self.verified.map(Mark::Verified));
        marks.extend((!self.proof.is_empty()).then_some(Mark::Proof(self.proof)));
        marks.extend((!self.checked_by.is_empty()).then(|| Mark::CheckedBy(self.checked_by.clone())));
        marks.extend(self.advised.then_some(Mark::ToldHow));
        marks.extend(self.past.clone().map(Mark::Past));
        marks.extend(self.changes.clone().map(Mark::Changes));
        marks.extend(self.background.iter().cloned().map(Mark::Launched));
        marks.extend(self.patches.iter().cloned().map(Mark::Announced));
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

    fn announce(&mut self, patch: AnnouncedPatch) {
        self.patches.retain(|known| known.call != patch.call);
        self.patches.push(patch);
        if self.patches.len() > PATCHES_KEPT {
            self.patches.remove(0);
        }
    }

    fn check(&mut self, checked: &SucceededChecks) {
        let Some(changes) = &mut self.changes else {
            return self.check_again(checked);
        };
        if is_older(changes, checked.at, checked.seen) || changes.is_absent() {
            return;
        }
        if !checked.check.is_empty() || checked.kinds.is_empty() {
            self.checked_by.clone_from(&checked.check);
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

    /// A check that passes after the skill alone was taken for one.
    fn check_again(&mut self, checked: &SucceededChecks) {
        let is_whole = checked.verified && checked.left.is_empty() && !checked.kinds.is_empty();
        let reads_edits = |past: &ChangeSet| !is_older(past, checked.at, checked.seen) && !past.is_absent();
        if is_whole && self.is_by_skill() && self.past.as_ref().is_some_and(reads_edits) {
            (self.verified, self.proof) = (Some(checked.at), checked.kinds);
            self.checked_by.clone_from(&checked.check);
        }
    }

    /// Whether nothing is open, and only the skill was invoked: no check has passed.
    pub fn is_by_skill(&self) -> bool {
        self.changes.is_none() && self.verified.is_some() && self.proof.is_empty()
    }

    fn fail(&mut self, failed: CheckFailure) {
        let is_newer = |set: &ChangeSet| !is_older(set, failed.at, failed.seen) && !set.is_absent();
        if self.changes.is_none() && failed.opens && self.past.as_ref().is_some_and(is_newer) {
            let past = self.past.take().unwrap_or_default();
            let (checked, proved, tested) = (Kinds::NONE, Vec::new(), past.files.clone());
            let past =
                ChangeSet { hidden: None, uncounted: None, held: 0, prompted: false, told: false, ..past };
            self.changes = Some(ChangeSet { checked, proved, tested, ran: true, ..past });
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
    use crate::feature::verification::work::HiddenBy;
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
                check: "cargo test".into(),
            })),
            (0u64..1 << 40).prop_map(|at| Mark::Failed(failed(at, CheckKind::Test))),
            any::<bool>().prop_map(Mark::Away),
            any::<bool>().prop_map(Mark::Elsewhere),
            Just(Mark::Committed),
            "[a-z/]{1,3}".prop_map(|file| Mark::Undone(vec![file])),
            any::<bool>().prop_map(|old| Mark::Hidden(HiddenCheck {
                line: "cargo test | tail".into(),
                by: if old { HiddenBy::Other } else { HiddenBy::Pipe },
            })),
            (0u64..1 << 40).prop_map(|at| Mark::Verified(Millis(at))),
            Just(Mark::Proof(Kinds::LINT)),
            Just(Mark::CheckedBy("npm test".into())),
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
            ("[a-c]", any::<bool>()).prop_map(|(call, of_agent)| Mark::Announced(AnnouncedPatch {
                call,
                agent: of_agent.then(|| "a1".into()),
                transcript: "/r.jsonl".into(),
                files: vec!["/a.rs".into()],
            })),
            "[a-c]".prop_map(Mark::Patched),
            Just(Mark::Held),
            Just(Mark::Ran),
            Just(Mark::Prompted),
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
            check: String::new(),
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
            check: "cargo test".into(),
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
    fn a_check_after_the_skill_is_what_counts() {
        let mut marks = Marks::default();
        marks.edit(&edit("a.rs", 10));
        marks.check(&SucceededChecks::seen_at(Millis(11), Kinds::NONE, true));
        assert!(marks.is_by_skill());
        marks.check(&passed(9, Kinds::TEST, true));
        marks.check(&SucceededChecks { left: vec!["a.rs".into()], ..passed(12, Kinds::TEST, true) });
        assert!(marks.is_by_skill(), "neither read the edit");
        marks.check(&passed(12, Kinds::TEST, true));
        assert_eq!((marks.proof, marks.verified), (Kinds::TEST, Some(Millis(12))));
        assert_eq!(marks.checked_by, "cargo test");
        // One that is weaker does not take its place.
        marks.check(&passed(13, Kinds::LINT, true));
        assert_eq!(marks.proof, Kinds::TEST);
    }

    #[test]
    fn a_new_prompt_with_a_new_edit_may_be_blocked_again() {
        let mut marks = Marks::default();
        marks.edit(&edit("a.rs", 10));
        marks.apply(Mark::Held);
        marks.apply(Mark::Told);
        let standing = |marks: &Marks| marks.changes.as_ref().map(|set| (set.held, set.told));
        marks.edit(&edit("b.rs", 11));
        assert_eq!(standing(&marks), Some((1, true)), "in the same prompt");
        marks.apply(Mark::Prompted);
        assert_eq!(standing(&marks), Some((1, true)), "no edit yet");
        marks.edit(&edit("c.rs", 12));
        assert_eq!(standing(&marks), Some((0, false)));
        marks.apply(Mark::Held);
        marks.edit(&edit("d.rs", 13));
        assert_eq!(standing(&marks), Some((1, false)), "once per prompt");
    }

    #[test]
    fn a_set_that_a_failure_opened_again_names_only_new_edits() {
        let mut marks = Marks::default();
        marks.edit(&edit("a.rs", 10));
        marks.edit(&edit("b.rs", 10));
        marks.check(&passed(11, Kinds::TEST, true));
        marks.fail(failed(12, CheckKind::Test));
        let changes = marks.changes.clone().unwrap();
        assert!(changes.is_reopened());
        assert_eq!((changes.list_files().as_str(), changes.count()), ("a.rs, b.rs", 2));
        marks.edit(&edit("c.rs", 13));
        marks.edit(&edit("b.rs", 14));
        let changes = marks.changes.unwrap();
        assert!(!changes.is_reopened());
        assert_eq!((changes.list_files().as_str(), changes.count()), ("b.rs, c.rs", 2));
        assert_eq!(changes.files.len(), 3, "a check has to read all of them");
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

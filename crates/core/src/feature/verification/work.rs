//! Edits of a session, and the checks that succeeded since.
//!
//! A *change set* begins with the first code edit after the last verification and ends with the next
//! verification; edits in between belong to it. Everything here is folded from marks, so that it survives
//! compaction and resume and is the same for the main thread and its subagents.

use serde::{Deserialize, Serialize};

use crate::feature::verification::checks::{CheckKind, CheckScope, Kinds};
use crate::shell::Why;
use crate::text::cut::last_bytes;
use crate::text::fnv::hash_short;
use crate::text::quoted::quoted_line;
use crate::time::Millis;

/// An edit of a code file inside the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Relative to the project if it is below its root.
    pub file: String,
    pub at: Millis,
    /// By a command line, not by an editing tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shell: bool,
    /// The file was there before the session and was removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

/// A patch that the host may apply without an event afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnouncedPatch {
    /// The host's id of the call.
    pub call: String,
    /// The subagent that makes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The file that will tell what became of it; empty if there is none.
    pub transcript: String,
    /// The code that it names, which counts as edited if nothing can tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SucceededChecks {
    pub kinds: Kinds,
    /// The beginning of the checks: they prove nothing about later edits.
    pub at: Millis,
    /// The time at which the hook saw their success.
    #[serde(default)]
    pub seen: Millis,
    /// Together with earlier checks they are all that the config requires.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verified: bool,
    /// One for each check, unless all of them read all edited files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ReadPart>,
    /// Edited files that are not verified yet, if others are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
    /// `None` for the skill, which clears every failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<CheckScope>,
    /// The check by itself, shortened; empty for the skill.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub check: String,
}

/// A check that passed, and the edited files that it does not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadPart {
    pub kinds: Kinds,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

impl SucceededChecks {
    /// Of everything there is: the skill, or checks counted before.
    pub fn seen_at(at: Millis, kinds: Kinds, verified: bool) -> SucceededChecks {
        let (parts, left, scope, check) = <_>::default();
        SucceededChecks { kinds, at, seen: at, verified, parts, left, scope, check }
    }
}

/// A check that failed and has not passed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFailure {
    /// The strongest kind in it.
    pub kind: CheckKind,
    /// Its beginning.
    pub at: Millis,
    /// The time at which the hook saw it.
    pub seen: Millis,
    /// What is verified already is open again.
    pub opens: bool,
    #[serde(default)]
    pub scope: CheckScope,
    /// The command line, shortened.
    #[serde(default)]
    pub line: String,
    /// The check by itself, without what hides its exit status.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub check: String,
}

/// A check whose exit status its line does not show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "HiddenForm", into = "HiddenForm")]
pub struct HiddenCheck {
    /// The command line, shortened.
    pub line: String,
    pub by: HiddenBy,
}

/// Version 0.1.0 wrote the line alone.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum HiddenForm {
    Line(String),
    Check { line: String, by: HiddenBy },
}

impl From<HiddenForm> for HiddenCheck {
    fn from(form: HiddenForm) -> HiddenCheck {
        match form {
            HiddenForm::Line(line) => HiddenCheck { line, by: HiddenBy::Other },
            HiddenForm::Check { line, by } => HiddenCheck { line, by },
        }
    }
}

impl From<HiddenCheck> for HiddenForm {
    fn from(HiddenCheck { line, by }: HiddenCheck) -> HiddenForm {
        match by {
            HiddenBy::Other => HiddenForm::Line(line),
            by => HiddenForm::Check { line, by },
        }
    }
}

/// The part of a line that hides a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HiddenBy {
    /// `| tail`, and nothing else: `pipefail` would show it.
    Pipe,
    /// `; echo $?`.
    Next,
    /// `|| true`.
    Or,
    /// `! npm test`.
    Not,
    /// `npm test &`.
    Background,
    /// `if npm test; then …`.
    Condition,
    Other,
}

impl From<Why> for HiddenBy {
    fn from(why: Why) -> HiddenBy {
        match why {
            Why::Piped => HiddenBy::Pipe,
            Why::Followed => HiddenBy::Next,
            Why::Alternative => HiddenBy::Or,
            Why::Negated => HiddenBy::Not,
            Why::Background => HiddenBy::Background,
            Why::Conditional => HiddenBy::Condition,
            _ => HiddenBy::Other,
        }
    }
}

/// A check that passed and did not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncountedCheck {
    /// The command line, shortened.
    pub line: String,
    pub why: WhyNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyNot {
    /// It does not read the edited files: another language, another package, no tests.
    Unread,
    /// It found no test.
    NoTests,
    /// The edits were in git's stash.
    Stashed,
    /// Another commit was checked out.
    Elsewhere,
    /// Git put another state of the files in the folder before it, or changed them after it.
    TreeMoved,
    /// It only lists or prints (`pytest --co`, `make -n test`).
    OnlyLists,
    /// Of syntax or style, and the project has more.
    OnlyLint,
    /// Of a kind other than those that the project has.
    OtherKind,
}

impl CheckFailure {
    /// The check, for people and models; the whole line where only that is known.
    pub fn shown(&self) -> Option<&str> {
        [&self.check, &self.line].into_iter().find(|text| !text.is_empty()).map(String::as_str)
    }

    /// Whether a success of these kinds in this scope shows that it would pass now.
    fn is_cleared_by(&self, kinds: Kinds, scope: Option<&CheckScope>) -> bool {
        let Some(scope) = scope else { return true };
        kinds.has(self.kind) && scope.covers(&self.scope)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundCheck {
    /// The host's id.
    pub task: String,
    /// The kinds that it would prove.
    pub kinds: Kinds,
    /// The time of its start.
    pub at: Millis,
    #[serde(default, skip_serializing_if = "CheckScope::is_empty")]
    pub scope: CheckScope,
    /// The check by itself, shortened. Version 0.1.0 wrote the whole line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub line: String,
    /// Edited files that it does not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
    /// The prompt at whose end the task was gone without a report of its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<String>,
}

/// Code that was edited and not verified since.
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeSet {
    /// The first edit.
    pub began: Millis,
    /// The last edit.
    pub last: Millis,
    /// The first files; more are only counted.
    pub files: Vec<String>,
    /// Hashes, to count each further file once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<u32>,
    /// Kinds that succeeded since the last edit, for all files.
    #[serde(skip_serializing_if = "no_kinds")]
    pub checked: Kinds,
    /// The same for each named file; may be shorter than the files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proved: Vec<Kinds>,
    /// Checks since the last edit that failed and have not passed since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<CheckFailure>,
    /// A check since the last edit whose exit status was hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Box<HiddenCheck>>,
    /// A check since the last edit that proves nothing about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncounted: Option<UncountedCheck>,
    /// The edits are put away (`git stash`): what runs now does not read them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub away: bool,
    /// Another commit, without the edits, is checked out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
    /// Some of the edits were committed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub committed: bool,
    /// One of the files was there before the session and was removed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
    /// Files of an earlier set that a failure opened again, as far as they were not edited since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tested: Vec<String>,
    /// How often a stop was blocked for the edits of the last prompt that made some.
    #[serde(skip_serializing_if = "is_zero")]
    pub held: u32,
    /// A person's prompt followed a block: the next edit is a new reason to block.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prompted: bool,
    /// A tool ran since a stop was blocked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ran: bool,
    /// The person was told that it stays unverified.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
    /// A stop passed because its last message asked the person a question.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn no_kinds(kinds: &Kinds) -> bool {
    kinds.is_empty()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// In place of a file whose name could not be written down.
pub const UNNAMED: &str = "(a file that could not be noted)";

/// Files kept by name: enough to tell which checks read them.
const FILES_KEPT: usize = 24;

/// Files that a message names.
const FILES_NAMED: usize = 5;

/// Failures kept: more than a session has open at once.
const FAILED_KEPT: usize = 8;

/// Further files counted; beyond that a number says little.
const OTHERS_KEPT: usize = 60;

/// Longer paths are shortened in messages. The end of a path says more than its beginning.
const LONGEST_SHOWN: usize = 80;

/// Longer paths are also shortened in marks.
const LONGEST_KEPT: usize = 1024;

/// In place of the beginning of a shortened path.
const CUT: char = '…';

impl ChangeSet {
    /// Files edited since the last good check, up to the limit of counted files.
    pub fn count(&self) -> usize {
        self.edited().count() + self.others.len()
    }

    /// Files edited since the last good check; all of them where nothing was.
    pub fn edited(&self) -> impl Iterator<Item = &String> {
        let all = self.is_reopened();
        self.files.iter().filter(move |file| all || !self.tested.contains(file))
    }

    /// Whether a check passed and then failed, without an edit in between.
    pub fn is_reopened(&self) -> bool {
        let is_tested = |file: &String| self.tested.contains(file);
        !self.tested.is_empty() && self.others.is_empty() && self.files.iter().all(is_tested)
    }

    /// The last check that failed and has not passed since.
    pub fn failure(&self) -> Option<&CheckFailure> {
        self.failed.last()
    }

    /// Voids the checks before it.
    pub(super) fn add(&mut self, edit: &Edit) {
        if self.files.is_empty() {
            self.began = edit.at;
        }
        self.last = self.last.max(edit.at);
        self.checked = Kinds::default();
        self.proved.clear();
        self.failed.clear();
        self.hidden = None;
        self.uncounted = None;
        (self.away, self.elsewhere) = (false, false);
        self.removed |= edit.removed;
        self.ran = true;
        if std::mem::take(&mut self.prompted) {
            (self.held, self.told) = (0, false);
        }
        let name = shorten_path(&edit.file, LONGEST_KEPT);
        self.tested.retain(|file| *file != name);
        if self.files.contains(&name) {
            return;
        }
        let hash = hash_short(edit.file.as_bytes());
        if self.files.len() < FILES_KEPT {
            self.others.retain(|known| *known != hash);
            self.files.push(name);
            return;
        }
        if self.others.len() < OTHERS_KEPT && !self.others.contains(&hash) {
            self.others.push(hash);
        }
    }

    /// Whether the edits are not in the folder: what runs now does not read them.
    pub fn is_absent(&self) -> bool {
        self.away || self.elsewhere
    }

    /// The same work in another session that continues it, with that session's own. What the person and the model heard of it
    /// there is not known here.
    #[must_use]
    pub fn continued_with(self, own: Option<&ChangeSet>) -> ChangeSet {
        let (held, prompted, ran, told, asked) = <_>::default();
        let mut all = ChangeSet { held, prompted, ran, told, asked, ..self };
        let Some(own) = own else { return all };
        all.began = all.began.min(own.began);
        all.last = all.last.max(own.last);
        // A check of one session need not have read the edits of the other.
        (all.checked, all.proved, all.tested) = (Kinds::NONE, Vec::new(), Vec::new());
        (all.hidden, all.uncounted) = (own.hidden.clone(), own.uncounted.clone());
        (all.away, all.elsewhere) = (own.away, own.elsewhere);
        all.committed |= own.committed;
        all.removed |= own.removed;
        let new: Vec<&String> = own.files.iter().filter(|file| !all.files.contains(file)).collect();
        let (kept, counted) = new.split_at(new.len().min(FILES_KEPT.saturating_sub(all.files.len())));
        let hashes = counted.iter().map(|file| hash_short(file.as_bytes())).chain(own.others.iter().copied());
        all.files.extend(kept.iter().map(|file| (*file).clone()));
        for hash in hashes {
            if all.others.len() < OTHERS_KEPT && !all.others.contains(&hash) {
                all.others.push(hash);
            }
        }
        for failed in &own.failed {
            all.fail(failed.clone());
        }
        all
    }

    /// Without edits that were taken back. `None` if nothing is left.
    #[must_use]
    pub(super) fn without_undone(mut self, undone: &[String]) -> Option<ChangeSet> {
        let proved = std::mem::take(&mut self.proved);
        let mut proved = proved.into_iter().chain(std::iter::repeat(Kinds::NONE));
        let mut kept = Vec::new();
        self.files.retain(|file| {
            let own = proved.next().unwrap_or_default();
            let keeps = !undone.contains(file);
            kept.extend(keeps.then_some(own));
            keeps
        });
        self.proved = if kept.iter().all(|kinds| kinds.is_empty()) { Vec::new() } else { kept };
        (!self.files.is_empty() || !self.others.is_empty()).then_some(self)
    }

    /// The kinds that count, of those that passed: a failure voids what is not stronger than it.
    pub fn valid(&self, passed: Kinds) -> Kinds {
        self.failed.iter().fold(passed, |kinds, failed| kinds.stronger_than(failed.kind))
    }

    /// The same set after a success of these kinds in this scope.
    #[must_use]
    pub fn without_cleared(&self, kinds: Kinds, scope: Option<&CheckScope>) -> ChangeSet {
        let mut changes = self.clone();
        changes.failed.retain(|failed| !failed.is_cleared_by(kinds, scope));
        changes
    }

    pub(super) fn fail(&mut self, failed: CheckFailure) {
        self.failed.retain(|known| known.kind != failed.kind || known.scope != failed.scope);
        self.failed.push(failed);
        if self.failed.len() > FAILED_KEPT {
            self.failed.remove(0);
        }
        self.hidden = None;
    }

    /// Kinds that succeeded since the last edit and read this file.
    pub fn passed_of(&self, file: usize) -> Kinds {
        self.checked.and(self.proved.get(file).copied().unwrap_or_default())
    }

    /// Kinds that succeeded since the last edit and read all files.
    pub fn passed(&self) -> Kinds {
        let each = (0..self.files.len()).map(|file| self.passed_of(file));
        each.reduce(Kinds::common).unwrap_or(self.checked)
    }

    pub(super) fn prove(&mut self, part: &ReadPart) {
        if part.unread.is_empty() {
            self.checked = self.checked.and(part.kinds);
            return;
        }
        self.proved.resize(self.files.len(), Kinds::NONE);
        for (file, proved) in self.files.iter().zip(&mut self.proved) {
            if !part.unread.contains(file) {
                *proved = proved.and(part.kinds);
            }
        }
    }

    /// Only these files are left to be verified.
    pub(super) fn keep_only(&mut self, left: &[String]) {
        let proved: Vec<Kinds> = (0..self.files.len()).map(|file| self.passed_of(file)).collect();
        let kept = self.files.iter().zip(proved).filter(|(file, _)| left.contains(file));
        (self.files, self.proved) = kept.map(|(file, proved)| (file.clone(), proved)).unzip();
        self.others.clear();
        self.checked = Kinds::NONE;
        self.hidden = None;
    }

    /// A check of the syntax that needs no file of the project, if it can read all of them.
    pub(super) fn syntax_check(&self) -> Option<&'static str> {
        let ending = |file: &String| file.rsplit_once('.').map(|(_, ending)| ending.to_owned());
        let check = |file: &String| match ending(file)?.as_str() {
            "sh" | "bash" => Some("bash -n"),
            "py" => Some("python3 -m py_compile"),
            "js" | "mjs" | "cjs" => Some("node --check"),
            "rb" => Some("ruby -c"),
            "php" => Some("php -l"),
            _ => None,
        };
        let first = check(self.files.first()?)?;
        self.files.iter().all(|file| check(file) == Some(first)).then_some(first)
    }

    /// The files that a message names, in full.
    pub fn named_files(&self) -> Vec<&str> {
        self.edited().take(FILES_NAMED).map(String::as_str).collect()
    }

    pub(super) fn shown_files(&self) -> impl Iterator<Item = String> {
        self.edited().take(FILES_NAMED).map(|file| shorten_path(file, LONGEST_SHOWN))
    }

    /// `None` if some were only counted, could not be noted, were shortened, or are known by a pattern.
    pub fn paths(&self) -> Option<&[String]> {
        let is_whole = |file: &String| file != UNNAMED && !file.starts_with(CUT) && !file.contains('*');
        (self.others.is_empty() && self.files.iter().all(is_whole)).then_some(&self.files)
    }

    /// `src/a.rs, src/b.rs and 3 more`.
    pub fn list_files(&self) -> String {
        let names = self.shown_files().map(|file| quoted_line(&file)).collect::<Vec<_>>().join(", ");
        match self.more() {
            More::None => names,
            More::Some(more) => format!("{names} and {more} more"),
            More::Many(more) => format!("{names} and more than {more} more"),
        }
    }

    /// Files that a message does not name.
    pub(super) fn more(&self) -> More {
        let more = self.count().saturating_sub(FILES_NAMED);
        match (more, self.others.len()) {
            (0, _) => More::None,
            (more, OTHERS_KEPT) => More::Many(more),
            (more, _) => More::Some(more),
        }
    }
}

pub(super) enum More {
    None,
    Some(usize),
    /// At least.
    Many(usize),
}

fn shorten_path(path: &str, longest: usize) -> String {
    let end = last_bytes(path, longest);
    if end.len() == path.len() { path.to_owned() } else { format!("{CUT}{end}") }
}

/// Code that a session wrote, also after it was verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WrittenCode {
    /// Newest last.
    pub files: Vec<String>,
    /// The last edit.
    pub last: Millis,
    /// The beginning of the last change set.
    pub began: Millis,
}

/// More than a summary should name.
const WROTE_KEPT: usize = 20;

impl WrittenCode {
    pub(super) fn add(&mut self, edit: &Edit) {
        // Marks are in the order in which they were made, even if the clock was set back in between.
        self.last = edit.at;
        let name = shorten_path(&edit.file, LONGEST_SHOWN);
        self.files.retain(|known| *known != name);
        self.files.push(name);
        if self.files.len() > WROTE_KEPT {
            self.files.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(file: &str, at: u64) -> Edit {
        Edit { file: file.into(), at: Millis(at), shell: false, removed: false }
    }

    #[test]
    fn five_files_are_named_and_the_rest_counted_once() {
        let mut changes = ChangeSet::default();
        for at in 0..9 {
            changes.add(&edit(&format!("src/{}.rs", at % 7), at));
        }
        assert_eq!(changes.count(), 7);
        assert_eq!(changes.list_files(), "src/0.rs, src/1.rs, src/2.rs, src/3.rs, src/4.rs and 2 more");
        assert_eq!((changes.began, changes.last), (Millis(0), Millis(8)));
    }

    #[test]
    fn work_that_another_session_continues_stays_unverified() {
        let failed = CheckFailure {
            kind: CheckKind::Test,
            at: Millis(5),
            seen: Millis(5),
            opens: true,
            scope: CheckScope::default(),
            line: "npm test".into(),
            check: String::new(),
        };
        let mut left = ChangeSet { held: 1, told: true, ..ChangeSet::default() };
        left.add(&edit("src/a.js", 1));
        left.fail(failed);
        let alone = left.clone().continued_with(None);
        assert_eq!((alone.list_files().as_str(), alone.held, alone.told), ("src/a.js", 0, false));
        assert_eq!(alone.failure().and_then(CheckFailure::shown), Some("npm test"));
        let mut own = ChangeSet { checked: Kinds::TEST, ..ChangeSet::default() };
        own.add(&edit("src/a.js", 8));
        own.add(&edit("src/b.js", 9));
        let both = left.continued_with(Some(&own));
        assert_eq!((both.list_files().as_str(), both.last), ("src/a.js, src/b.js", Millis(9)));
        assert_eq!((both.passed(), both.failed.len()), (Kinds::NONE, 1));
    }
}

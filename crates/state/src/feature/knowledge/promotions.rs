//! Promotions of a project: entries that a person was shown, and sets of entries that caused a nudge. Private, so
//! that two terminals do not overwrite each other; appended lines, and torn ones are skipped.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::entry_id::EntryId;
use tidegate_core::feature::knowledge::flow::ShownEntries;
use tidegate_core::time::Millis;

use crate::feature::knowledge::edit::lock_project;
use crate::feature::knowledge::folder::ContextFolder;
use crate::feature::knowledge::public_copies;
use crate::file::{append, bounded, replace};
use crate::place::StateDir;

/// A longer file is rewritten if that halves it.
const LONG: u64 = 64 * 1024;

const LARGEST: u64 = 4 * 1024 * 1024;

/// An older set counts as new again.
const SETS_KEPT: usize = 16;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Promotions {
    /// Entries that a person was shown.
    pub shown: BTreeSet<EntryId>,
    /// The last time.
    pub shown_at: Option<Millis>,
    /// Sets of entries that caused a nudge, oldest first.
    pub nudged: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Shown { shown: Vec<EntryId>, at: Millis },
    Nudged { nudged: String },
}

impl Promotions {
    fn fold(bytes: &[u8]) -> Promotions {
        let mut promotions = Promotions::default();
        for line in bytes.split(|byte| *byte == b'\n') {
            match serde_json::from_slice(line) {
                Ok(Line::Shown { shown, at }) => {
                    promotions.shown.extend(shown);
                    promotions.shown_at = promotions.shown_at.max(Some(at));
                }
                Ok(Line::Nudged { nudged }) => {
                    if let Ok(set) = u64::from_str_radix(&nudged, 16) {
                        promotions.nudge(set);
                    }
                }
                Err(_) => {}
            }
        }
        promotions
    }

    /// The time that another tool left counts only if nothing was shown here.
    pub fn into_shown(self, folder: &ContextFolder, now: Millis) -> ShownEntries {
        let nothing = self.shown.is_empty();
        let last_run =
            if nothing { public_copies::read_last_run(folder, now).value().map(|run| run.at) } else { None };
        ShownEntries { ids: self.shown, last_run }
    }

    fn nudge(&mut self, set: u64) {
        self.nudged.retain(|known| *known != set);
        self.nudged.push(set);
        if self.nudged.len() > SETS_KEPT {
            self.nudged.remove(0);
        }
    }

    fn lines(&self) -> io::Result<String> {
        let mut lines = String::new();
        let shown = Line::Shown {
            shown: self.shown.iter().copied().collect(),
            at: self.shown_at.unwrap_or_default(),
        };
        let nudged = self.nudged.iter().map(|set| nudged_line(*set));
        for line in self.shown_at.map(|_| shown).into_iter().chain(nudged) {
            // Writing to a String does not fail.
            let _ = writeln!(lines, "{}", serde_json::to_string(&line)?);
        }
        Ok(lines)
    }
}

fn nudged_line(set: u64) -> Line {
    Line::Nudged { nudged: format!("{set:016x}") }
}

fn file_path(state: &StateDir, root: &Path) -> PathBuf {
    state.project(root).join("knowledge")
}

pub fn read(state: &StateDir, root: &Path) -> Known<Promotions> {
    let path = file_path(state, root);
    match bounded::read(&path, LARGEST) {
        Ok(bytes) => Known::Value(Promotions::fold(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Known::Absent,
        Err(error) => Known::Broken(format!("{}: {error}", path.display())),
    }
}

pub fn read_shown(state: &StateDir, folder: &ContextFolder, now: Millis) -> ShownEntries {
    read(state, folder.root()).value().cloned().unwrap_or_default().into_shown(folder, now)
}

pub fn remember_shown(state: &StateDir, root: &Path, ids: &[EntryId], at: Millis) -> io::Result<()> {
    let _lock = lock_project(state, root)?;
    append_line(state, root, &Line::Shown { shown: ids.to_vec(), at })
}

/// `false` if it is known already.
pub fn remember_nudged(state: &StateDir, root: &Path, set: u64) -> io::Result<bool> {
    let _lock = lock_project(state, root)?;
    let known = matches!(read(state, root), Known::Value(promotions) if promotions.nudged.contains(&set));
    if !known {
        append_line(state, root, &nudged_line(set))?;
    }
    Ok(!known)
}

/// The caller holds the lock. The leading line break protects this line if a kill tore the last one.
fn append_line(state: &StateDir, root: &Path, line: &Line) -> io::Result<()> {
    let path = file_path(state, root);
    let mut file = append::open(&path)?;
    append::lines(&mut file, &format!("\n{}\n", serde_json::to_string(line)?))?;
    let length = file.metadata()?.len();
    if length > LONG
        && let Known::Value(promotions) = read(state, root)
    {
        let lines = promotions.lines()?;
        if lines.len() as u64 * 2 < length {
            replace::copy(&path, lines.as_bytes())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::PlaceEnv;
    use std::fs;

    fn state() -> (tempfile::TempDir, StateDir) {
        let base = tempfile::tempdir().unwrap();
        let env = PlaceEnv { state_dir: Some(base.path().join("s")), ..PlaceEnv::default() };
        let state = StateDir::open(&env).unwrap();
        (base, state)
    }

    fn id(n: u64) -> EntryId {
        EntryId::of("題", &n.to_string())
    }

    fn known(state: &StateDir, root: &Path) -> Promotions {
        match read(state, root) {
            Known::Value(promotions) => promotions,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_shown_and_nudged_is_remembered_by_project() {
        let (base, state) = state();
        let (one, other) = (base.path().join("一"), base.path().join("二"));
        fs::create_dir(&one).unwrap();
        assert_eq!(read(&state, &one), Known::Absent);
        remember_shown(&state, &one, &[id(1), id(2)], Millis(5)).unwrap();
        remember_shown(&state, &one, &[id(2), id(3)], Millis(7)).unwrap();
        assert!(remember_nudged(&state, &one, u64::MAX).unwrap());
        assert!(!remember_nudged(&state, &one, u64::MAX).unwrap());
        let promotions = known(&state, &one);
        assert_eq!(
            (promotions.shown.len(), promotions.shown_at, promotions.nudged),
            (3, Some(Millis(7)), vec![u64::MAX])
        );
        assert_eq!(read(&state, &other), Known::Absent);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&one, &other).unwrap();
            assert_eq!(known(&state, &other), known(&state, &one), "the same project by another way");
        }
    }

    #[test]
    fn a_torn_line_takes_no_other_along() {
        let (base, state) = state();
        let path = file_path(&state, base.path());
        remember_shown(&state, base.path(), &[id(1)], Millis(5)).unwrap();
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str(
            "{\"shown\":[\"0123\n\u{0}\n{\"nudged\":\"x\"}\n{\"later\":1}\n[]\n{\"shown\":[\"aac9ca",
        );
        fs::write(&path, text).unwrap();
        remember_shown(&state, base.path(), &[id(2)], Millis(6)).unwrap();
        assert_eq!(known(&state, base.path()).shown, [id(1), id(2)].into());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(matches!(read(&state, base.path()), Known::Broken(_)));
        assert!(remember_shown(&state, base.path(), &[id(2)], Millis(6)).is_err());
    }

    #[test]
    fn a_long_file_is_rewritten_and_forgets_only_old_nudges() {
        let (base, state) = state();
        let ids: Vec<EntryId> = (0..200).map(id).collect();
        for n in 0..100 {
            remember_shown(&state, base.path(), &ids, Millis(n)).unwrap();
            assert!(remember_nudged(&state, base.path(), n).unwrap());
        }
        assert!(fs::metadata(file_path(&state, base.path())).unwrap().len() < LONG + 4096);
        let promotions = known(&state, base.path());
        assert_eq!((promotions.shown.len(), promotions.shown_at), (200, Some(Millis(99))));
        assert_eq!(promotions.nudged, (84..100).collect::<Vec<_>>());
    }

    #[test]
    fn of_many_that_want_to_nudge_one_does() {
        let (base, state) = state();
        let nudge = || usize::from(remember_nudged(&state, base.path(), 7).unwrap());
        let nudges: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(nudge)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(nudges, 1);
    }
}

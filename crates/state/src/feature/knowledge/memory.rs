//! What a project remembers about promotions: which entries a person was shown, and for which sets of entries somebody was
//! nudged. Private, so that two terminals do not overwrite each other; lines that are appended, and a torn one is skipped.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::entry_id::EntryId;
use tidegate_core::feature::knowledge::flow::ShownEntries;
use tidegate_core::time::Millis;

use crate::feature::knowledge::json;
use crate::feature::knowledge::read::Folder;
use crate::feature::knowledge::write::lock;
use crate::file::{append, bounded, replace};
use crate::place::StateDir;

/// From here on it is looked whether the file would be much shorter rewritten.
const LONG: u64 = 64 * 1024;

/// More than this is damage.
const LARGEST: u64 = 4 * 1024 * 1024;

/// A set that is older than so many others comes back as new.
const SETS_KEPT: usize = 16;

/// What a project remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The entries that a person was shown.
    pub shown: BTreeSet<EntryId>,
    /// When that was last.
    pub shown_at: Option<Millis>,
    /// For which sets of entries somebody was nudged, oldest first.
    pub nudged: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Shown { shown: Vec<EntryId>, at: Millis },
    Nudged { nudged: String },
}

impl Memory {
    fn fold(bytes: &[u8]) -> Memory {
        let mut memory = Memory::default();
        for line in bytes.split(|byte| *byte == b'\n') {
            match serde_json::from_slice(line) {
                Ok(Line::Shown { shown, at }) => {
                    memory.shown.extend(shown);
                    memory.shown_at = memory.shown_at.max(Some(at));
                }
                Ok(Line::Nudged { nudged }) => {
                    if let Ok(set) = u64::from_str_radix(&nudged, 16) {
                        memory.nudge(set);
                    }
                }
                Err(_) => {}
            }
        }
        memory
    }

    /// Which entries count as gone through. The time that another tool left counts only where we know nothing ourselves.
    pub fn into_shown(self, folder: &Folder, now: Millis) -> ShownEntries {
        let nothing = self.shown.is_empty();
        let last_run = if nothing { json::last_run(folder, now).value().map(|run| run.at) } else { None };
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
        let nudged = self.nudged.iter().map(|set| nudged(*set));
        for line in self.shown_at.map(|_| shown).into_iter().chain(nudged) {
            // A String takes everything.
            let _ = writeln!(lines, "{}", serde_json::to_string(&line)?);
        }
        Ok(lines)
    }
}

fn nudged(set: u64) -> Line {
    Line::Nudged { nudged: format!("{set:016x}") }
}

fn file(state: &StateDir, root: &Path) -> PathBuf {
    state.project(root).join("knowledge")
}

/// What a project remembers.
pub fn read(state: &StateDir, root: &Path) -> Known<Memory> {
    let path = file(state, root);
    match bounded::read(&path, LARGEST) {
        Ok(bytes) => Known::Value(Memory::fold(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Known::Absent,
        Err(error) => Known::Broken(format!("{}: {error}", path.display())),
    }
}

/// Which entries of a project count as gone through.
pub fn shown(state: &StateDir, folder: &Folder, now: Millis) -> ShownEntries {
    read(state, folder.root()).value().cloned().unwrap_or_default().into_shown(folder, now)
}

/// Remembers that a person was shown these entries.
pub fn remember_shown(state: &StateDir, root: &Path, ids: &[EntryId], at: Millis) -> io::Result<()> {
    let _lock = lock(state, root)?;
    append(state, root, &Line::Shown { shown: ids.to_vec(), at })
}

/// Remembers that somebody was nudged for this set of entries; `false` if that was so already.
pub fn remember_nudged(state: &StateDir, root: &Path, set: u64) -> io::Result<bool> {
    let _lock = lock(state, root)?;
    let known = matches!(read(state, root), Known::Value(memory) if memory.nudged.contains(&set));
    if !known {
        append(state, root, &nudged(set))?;
    }
    Ok(!known)
}

/// Under the lock. The line is led by a line break, so that one torn by a killed process does not take it along.
fn append(state: &StateDir, root: &Path, line: &Line) -> io::Result<()> {
    let path = file(state, root);
    let mut file = append::open(&path)?;
    append::lines(&mut file, &format!("\n{}\n", serde_json::to_string(line)?))?;
    let length = file.metadata()?.len();
    if length > LONG
        && let Known::Value(memory) = read(state, root)
    {
        let lines = memory.lines()?;
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

    fn known(state: &StateDir, root: &Path) -> Memory {
        match read(state, root) {
            Known::Value(memory) => memory,
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
        let memory = known(&state, &one);
        assert_eq!(
            (memory.shown.len(), memory.shown_at, memory.nudged),
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
        let path = file(&state, base.path());
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
        assert!(fs::metadata(file(&state, base.path())).unwrap().len() < LONG + 4096);
        let memory = known(&state, base.path());
        assert_eq!((memory.shown.len(), memory.shown_at), (200, Some(Millis(99))));
        assert_eq!(memory.nudged, (84..100).collect::<Vec<_>>());
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

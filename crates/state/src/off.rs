//! What a person switched off with `tidegate off`: one small file, replaced as a whole under a lock. A hook reads it; a
//! file that cannot be read switches nothing off.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidegate_core::time::Millis;

use crate::place::StateDir;
use crate::{bounded, private, project, replace};

const LARGEST: u64 = 256 * 1024;

/// One policy that is switched off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Off {
    /// Which.
    pub policy: String,
    /// Where.
    pub scope: Scope,
    /// Since when.
    pub since: Millis,
    /// Until when; for good without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
}

/// Where something is switched off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// In every project of this user.
    Everywhere,
    /// In one project, by its root.
    Project(String),
    /// In one session.
    Session(String),
}

impl Off {
    /// Whether it counts now, in any of these places and this session.
    pub fn counts(&self, now: Millis, places: &[PathBuf], session: Option<&str>) -> bool {
        let here = match &self.scope {
            Scope::Everywhere => true,
            Scope::Project(path) => places.iter().any(|place| place == Path::new(path)),
            Scope::Session(id) => session == Some(id),
        };
        here && !self.lapsed(now)
    }

    /// Whether its time is over, or has not come: then the clock was set back, and how long it was meant for is not known.
    pub fn lapsed(&self, now: Millis) -> bool {
        self.until.is_some_and(|until| until <= now || self.since.since(now) > 60_000)
    }
}

/// Everything that was switched off and not on again. What cannot be read switches nothing off.
pub fn read(state: &StateDir) -> Vec<Off> {
    entries(state).unwrap_or_default().into_iter().filter_map(Result::ok).collect()
}

/// Why part of the list cannot be read, for whoever would mend it.
pub fn problem(state: &StateDir) -> Option<String> {
    let path = file(state);
    match entries(state) {
        Err(error) => Some(format!("{}: {error}", path.display())),
        Ok(entries) => {
            let unread = entries.iter().filter(|entry| entry.is_err()).count();
            (unread > 0).then(|| format!("{}: {unread} of its entries cannot be read", path.display()))
        }
    }
}

/// The policies that are off here and now.
pub fn policies(state: &StateDir, now: Millis, root: Option<&Path>, session: Option<&str>) -> Vec<String> {
    let list = read(state);
    if list.is_empty() {
        return Vec::new();
    }
    let counting = list.iter().filter(|off| off.counts(now, &places(root), session));
    counting.map(|off| off.policy.clone()).collect()
}

/// The names a project goes by: its root, what that leads to, and the main worktree, whose project a worktree is too.
pub fn places(root: Option<&Path>) -> Vec<PathBuf> {
    let Some(root) = root else { return Vec::new() };
    let mut places = vec![root.to_owned()];
    places.extend(fs::canonicalize(root));
    places.extend(project::main_worktree(root));
    places.dedup();
    places
}

/// Changes the list, alone. Entries that cannot be read stay; a file that cannot be is not written over.
pub fn change(state: &StateDir, now: Millis, edit: impl FnOnce(&mut Vec<Off>)) -> io::Result<()> {
    let lock = private::to_lock(&state.root().join("off.lock"))?;
    lock.lock()?;
    let (mut list, mut unread) = (Vec::new(), Vec::new());
    for entry in entries(state)? {
        match entry {
            Ok(off) => list.push(off),
            Err(entry) => unread.push(entry),
        }
    }
    list.retain(|off: &Off| !off.lapsed(now));
    edit(&mut list);
    let known = list.into_iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>();
    unread.extend(known.map_err(io::Error::other)?);
    let json = serde_json::to_vec_pretty(&unread).map_err(io::Error::other)?;
    replace::durable(&file(state), &json)
}

/// Each entry, or what stands there instead: a newer version may write what this one does not know.
fn entries(state: &StateDir) -> io::Result<Vec<Result<Off, Value>>> {
    let bytes = match bounded::read(&file(state), LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    let entries: Vec<Value> = serde_json::from_slice(&bytes).map_err(io::Error::other)?;
    let read = |entry: Value| serde_json::from_value(entry.clone()).map_err(|_| entry);
    Ok(entries.into_iter().map(read).collect())
}

fn file(state: &StateDir) -> PathBuf {
    state.root().join("off.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_where_and_while_it_was_meant() {
        let off = |scope, until: Option<u64>| Off {
            policy: "pressure".into(),
            scope,
            since: Millis(0),
            until: until.map(Millis),
        };
        let at = |off: &Off, now, root: &str, session| off.counts(Millis(now), &[root.into()], Some(session));
        let everywhere = off(Scope::Everywhere, Some(10));
        assert!(at(&everywhere, 9, "/p", "s") && !at(&everywhere, 10, "/p", "s"));
        let project = off(Scope::Project("/p".into()), None);
        assert!(at(&project, 9, "/p", "s") && !at(&project, 9, "/p/q", "s"));
        let session = off(Scope::Session("s".into()), None);
        assert!(at(&session, 9, "/p", "s") && !at(&session, 9, "/p", "t"));
    }

    #[test]
    fn a_broken_list_switches_nothing_off() {
        let folder = tempfile::tempdir().unwrap();
        let env = crate::place::PlaceEnv { state_dir: Some(folder.path().join("s")), ..Default::default() };
        let state = StateDir::open(&env).unwrap();
        let off = Off { policy: "pressure".into(), scope: Scope::Everywhere, since: Millis(0), until: None };
        change(&state, Millis(1), |list| list.push(off)).unwrap();
        assert_eq!(policies(&state, Millis(2), None, None), ["pressure"]);
        std::fs::write(state.root().join("off.json"), "[{\"policy\": \"pressure\"").unwrap();
        assert!(policies(&state, Millis(2), None, None).is_empty());
        assert!(problem(&state).is_some());
        assert!(change(&state, Millis(2), |_| {}).is_err(), "it is not written over");
    }

    #[test]
    fn entries_of_another_version_stay() {
        let folder = tempfile::tempdir().unwrap();
        let env = crate::place::PlaceEnv { state_dir: Some(folder.path().join("s")), ..Default::default() };
        let state = StateDir::open(&env).unwrap();
        assert_eq!(problem(&state), None);
        let newer = r#"[{"policy": "pressure", "scope": {"moon": 1}, "since": 0}]"#;
        std::fs::write(state.root().join("off.json"), newer).unwrap();
        let off =
            Off { policy: "skill-gate".into(), scope: Scope::Everywhere, since: Millis(0), until: None };
        change(&state, Millis(1), |list| list.push(off)).unwrap();
        assert_eq!(policies(&state, Millis(2), None, None), ["skill-gate"]);
        assert!(problem(&state).is_some_and(|problem| problem.contains("1 of its entries")));
        assert!(std::fs::read_to_string(state.root().join("off.json")).unwrap().contains("moon"));
    }
}

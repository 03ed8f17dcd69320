//! What a person switched off with `tidegate off`: one small file, replaced as a whole under a lock. A hook reads it; a
//! file that cannot be read switches nothing off.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidegate_core::time::Millis;

use crate::place::StateDir;
use crate::{bounded, project, replace};

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

    /// Whether its time is over.
    pub fn lapsed(&self, now: Millis) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

/// Everything that was switched off and not on again.
pub fn read(state: &StateDir) -> Vec<Off> {
    let bytes = bounded::read(&state.root().join("off.json"), LARGEST);
    bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// The policies that are off here and now.
pub fn policies(state: &StateDir, now: Millis, root: Option<&Path>, session: Option<&str>) -> Vec<String> {
    counting(&read(state), now, root, session)
}

/// The same from a list that was read before.
pub fn counting(list: &[Off], now: Millis, root: Option<&Path>, session: Option<&str>) -> Vec<String> {
    if list.is_empty() {
        return Vec::new();
    }
    // A worktree is its repository's project too.
    let mut places: Vec<PathBuf> = root.map(Path::to_owned).into_iter().collect();
    places.extend(root.and_then(project::main_worktree));
    list.iter().filter(|off| off.counts(now, &places, session)).map(|off| off.policy.clone()).collect()
}

/// Changes the list, alone.
pub fn change(state: &StateDir, now: Millis, edit: impl FnOnce(&mut Vec<Off>)) -> io::Result<()> {
    let _lock = lock(state)?;
    let mut list = read(state);
    list.retain(|off| !off.lapsed(now));
    edit(&mut list);
    let json = serde_json::to_vec_pretty(&list).map_err(io::Error::other)?;
    replace::durable(&state.root().join("off.json"), &json)
}

fn lock(state: &StateDir) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(state.root().join("off.lock"))?;
    file.lock()?;
    Ok(file)
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
    }
}

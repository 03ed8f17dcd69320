//! Policies that a person switched off with `tidegate off`, and policies that only advise because people overrode
//! them often. One small file, replaced as a whole under a lock. An unreadable file switches nothing off.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::config::former_names;
use tidegate_core::settings::preset::Preset;
use tidegate_core::time::Millis;

use crate::file::lock;
use crate::file::lock::LockMode;
use crate::file::{bounded, private, replace};
use crate::place::StateDir;
use crate::project;

const LARGEST: u64 = 256 * 1024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Off {
    #[serde(deserialize_with = "former_names::read_policy")]
    pub policy: String,
    pub scope: Scope,
    pub since: Millis,
    /// Without it, for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    Everywhere,
    /// By the project's root.
    Project(String),
    /// By its id.
    Session(String),
}

impl Off {
    /// `places`: the paths of the current project.
    pub fn is_active(&self, now: Millis, places: &[PathBuf], session: Option<&str>) -> bool {
        let here = match &self.scope {
            Scope::Everywhere => true,
            Scope::Project(path) => places.iter().any(|place| place == Path::new(path)),
            Scope::Session(id) => session == Some(id),
        };
        here && !self.is_expired(now)
    }

    /// A start in the future means that the clock moved back: also expired.
    pub fn is_expired(&self, now: Millis) -> bool {
        self.until.is_some_and(|until| until <= now || self.since.since(now) > 60_000)
    }
}

/// A blocking policy that only advises in a project, until a person lets it block again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteppedDown {
    #[serde(deserialize_with = "former_names::read_policy")]
    pub policy: String,
    /// The project's root.
    pub stepped_down_in: String,
    pub since: Millis,
    /// A hook has told the person.
    #[serde(default)]
    pub told: bool,
}

impl SteppedDown {
    pub fn is_in(&self, places: &[PathBuf]) -> bool {
        places.iter().any(|place| place == Path::new(&self.stepped_down_in))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    pub off: Vec<Off>,
    pub stepped_down: Vec<SteppedDown>,
}

impl Switches {
    pub fn is_empty(&self) -> bool {
        self.off.is_empty() && self.stepped_down.is_empty()
    }

    pub fn is_down(&self, policy: &str, places: &[PathBuf]) -> bool {
        self.stepped_down.iter().any(|down| down.policy == policy && down.is_in(places))
    }

    pub fn off_here(&self, now: Millis, places: &[PathBuf], session: Option<&str>) -> Vec<String> {
        let counting = self.off.iter().filter(|off| off.is_active(now, places, session));
        counting.map(|off| off.policy.clone()).collect()
    }

    /// Puts the active switches into the config. Policies step down only with the preset `guide`.
    pub fn apply(&self, config: &mut Config, now: Millis, root: Option<&Path>, session: Option<&str>) {
        if self.is_empty() {
            return;
        }
        let places = project_paths(root);
        config.off_by_command = self.off_here(now, &places, session);
        if !may_step_down(config) {
            return;
        }
        for down in self.stepped_down.iter().filter(|down| down.is_in(&places)) {
            config.stepped_down.push(down.policy.clone());
            if !down.told {
                config.step_downs_to_tell.push(down.policy.clone());
            }
        }
    }
}

pub fn may_step_down(config: &Config) -> bool {
    config.general.preset == Preset::Guide && config.policies.friction.step_down
}

/// Unreadable entries switch nothing off.
pub fn read(state: &StateDir) -> Switches {
    split_entries(read_entries(state).unwrap_or_default()).0
}

/// The rest are entries that do not parse: a newer version may have written them.
fn split_entries(entries: Vec<Value>) -> (Switches, Vec<Value>) {
    let (mut switches, mut unread) = (Switches::default(), Vec::new());
    for entry in entries {
        if let Ok(off) = Off::deserialize(&entry) {
            switches.off.push(off);
        } else if let Ok(down) = SteppedDown::deserialize(&entry) {
            switches.stepped_down.push(down);
        } else {
            unread.push(entry);
        }
    }
    (switches, unread)
}

/// For doctor: the reason why entries are unreadable.
pub fn find_problem(state: &StateDir) -> Option<String> {
    let path = file_path(state);
    match read_entries(state) {
        Err(error) => Some(format!("{}: {error}", path.display())),
        Ok(entries) => {
            let unread = split_entries(entries).1.len();
            (unread > 0).then(|| format!("{}: {unread} of its entries cannot be read", path.display()))
        }
    }
}

/// The paths of a project: its root, the canonical one, and the main worktree.
pub fn project_paths(root: Option<&Path>) -> Vec<PathBuf> {
    let Some(root) = root else { return Vec::new() };
    let mut places = vec![root.to_owned()];
    places.extend(fs::canonicalize(root));
    places.extend(project::main_worktree(root));
    places.dedup();
    places
}

/// Keeps entries that do not parse, and fails if the file does not.
pub fn change(state: &StateDir, now: Millis, edit: impl FnOnce(&mut Switches)) -> io::Result<()> {
    let path = state.root().join("off.lock");
    let lock = private::open_lock_file(&path)?;
    lock::wait(&lock, &path, LockMode::Exclusive)?;
    let (mut switches, mut all) = split_entries(read_entries(state)?);
    switches.off.retain(|off: &Off| !off.is_expired(now));
    edit(&mut switches);
    for off in switches.off {
        all.push(serde_json::to_value(off).map_err(io::Error::other)?);
    }
    for down in switches.stepped_down {
        all.push(serde_json::to_value(down).map_err(io::Error::other)?);
    }
    let json = serde_json::to_vec_pretty(&all).map_err(io::Error::other)?;
    replace::durable(&file_path(state), &json)
}

fn read_entries(state: &StateDir) -> io::Result<Vec<Value>> {
    let bytes = match bounded::read(&file_path(state), LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    serde_json::from_slice(&bytes).map_err(io::Error::other)
}

fn file_path(state: &StateDir) -> PathBuf {
    state.root().join("off.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_where_and_while_it_was_meant() {
        let off = |scope, until: Option<u64>| Off {
            policy: "context-warning".into(),
            scope,
            since: Millis(0),
            until: until.map(Millis),
        };
        let at =
            |off: &Off, now, root: &str, session| off.is_active(Millis(now), &[root.into()], Some(session));
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
        let off =
            Off { policy: "context-warning".into(), scope: Scope::Everywhere, since: Millis(0), until: None };
        change(&state, Millis(1), |switches| switches.off.push(off)).unwrap();
        assert_eq!(read(&state).off_here(Millis(2), &[], None), ["context-warning"]);
        std::fs::write(state.root().join("off.json"), "[{\"policy\": \"pressure\"").unwrap();
        assert!(read(&state).off_here(Millis(2), &[], None).is_empty());
        assert!(find_problem(&state).is_some());
        assert!(change(&state, Millis(2), |_| {}).is_err(), "it is not written over");
    }

    #[test]
    fn entries_of_another_version_stay() {
        let folder = tempfile::tempdir().unwrap();
        let env = crate::place::PlaceEnv { state_dir: Some(folder.path().join("s")), ..Default::default() };
        let state = StateDir::open(&env).unwrap();
        assert_eq!(find_problem(&state), None);
        let newer = r#"[{"policy": "pressure", "scope": {"moon": 1}, "since": 0}]"#;
        std::fs::write(state.root().join("off.json"), newer).unwrap();
        let off =
            Off { policy: "skill-gate".into(), scope: Scope::Everywhere, since: Millis(0), until: None };
        change(&state, Millis(1), |switches| switches.off.push(off)).unwrap();
        assert_eq!(read(&state).off_here(Millis(2), &[], None), ["skill-gate"]);
        assert!(find_problem(&state).is_some_and(|problem| problem.contains("1 of its entries")));
        assert!(std::fs::read_to_string(state.root().join("off.json")).unwrap().contains("moon"));
    }

    #[test]
    fn a_policy_steps_down_in_its_project_and_in_guide_only() {
        let folder = tempfile::tempdir().unwrap();
        let env = crate::place::PlaceEnv { state_dir: Some(folder.path().join("s")), ..Default::default() };
        let state = StateDir::open(&env).unwrap();
        let down = SteppedDown {
            policy: "skill-gate".into(),
            stepped_down_in: "/p".into(),
            since: Millis(0),
            told: false,
        };
        change(&state, Millis(1), |switches| switches.stepped_down.push(down)).unwrap();
        let here = |root: &str, preset: Preset, step_down: bool| {
            let mut config = Config::default();
            config.general.preset = preset;
            config.policies.friction.step_down = step_down;
            read(&state).apply(&mut config, Millis(2), Some(Path::new(root)), None);
            assert!(config.off_by_command.is_empty(), "it is not off");
            assert_eq!(config.stepped_down, config.step_downs_to_tell);
            config.stepped_down
        };
        assert_eq!(here("/p", Preset::Guide, true), ["skill-gate"]);
        assert!(here("/q", Preset::Guide, true).is_empty());
        assert!(here("/p", Preset::Strict, true).is_empty());
        assert!(here("/p", Preset::Guide, false).is_empty());
        change(&state, Millis(2), |switches| switches.stepped_down[0].told = true).unwrap();
        let mut config = Config::default();
        read(&state).apply(&mut config, Millis(2), Some(Path::new("/p")), None);
        assert_eq!((config.stepped_down.len(), config.step_downs_to_tell.len()), (1, 0));
    }
}

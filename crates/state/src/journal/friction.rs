//! Outcomes of recent interruptions, read from the journal.

use std::io;
use std::path::Path;

use tidegate_core::feature::config::Config;
use tidegate_core::pipeline::friction::FrictionFold;

use tidegate_core::pipeline::record::Record;
use tidegate_core::time::Millis;

use crate::config::switches;
use crate::config::switches::SteppedDown;
use crate::journal;
use crate::place::StateDir;

#[derive(Clone, Copy, Debug, Default)]
pub struct SkippedRecords {
    /// Torn lines, and records of newer versions.
    pub lines: usize,
    /// Unreadable files.
    pub files: usize,
}

/// Reads the last `of_a_day` bytes of each of the last `days`, and passes each record to `see`.
pub fn read(
    state: &StateDir,
    now: Millis,
    days: u64,
    of_a_day: u64,
    mut see: impl FnMut(&Record),
) -> io::Result<(FrictionFold, SkippedRecords)> {
    let oldest = Millis(now.0.saturating_sub(days.saturating_sub(1) * 86_400_000)).day();
    let (mut friction, mut unread) = (FrictionFold::default(), SkippedRecords::default());
    for path in journal::list_files(&state.journal())? {
        let day = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
        if *day < *oldest {
            continue;
        }
        let take = |record: Record| {
            see(&record);
            friction.add_record(&record);
        };
        match journal::for_each_record(&path, of_a_day, take) {
            Ok(skipped) => unread.lines += skipped,
            Err(_) => unread.files += 1,
        }
    }
    Ok((friction, unread))
}

/// The part of the journal that decides whether a policy steps down.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    pub days: u64,
    /// Bytes of each day.
    pub of_a_day: u64,
}

/// Steps down the policies that people overrode too often in this project. Returns them.
pub fn step_down(
    state: &StateDir,
    now: Millis,
    config: &Config,
    root: &Path,
    policies: &[String],
    reach: Reach,
) -> io::Result<Vec<String>> {
    let places = switches::project_paths(Some(root));
    let known = switches::read(state);
    let is_down = |policy: &String| known.is_down(policy, &places);
    if !switches::may_step_down(config) || policies.iter().all(is_down) {
        return Ok(Vec::new());
    }
    let (friction, _) = read(state, now, reach.days, reach.of_a_day, |_| {})?;
    let is_here = |project: &str| places.iter().any(|place| place == Path::new(project));
    let often = |policy: &&String| !is_down(policy) && friction.often_overridden(policy, is_here);
    let mut down: Vec<String> = policies.iter().filter(often).cloned().collect();
    if !down.is_empty() {
        let stepped_down_in = root.to_string_lossy();
        let entry = |policy: &String| SteppedDown {
            policy: policy.clone(),
            stepped_down_in: stepped_down_in.clone().into_owned(),
            since: now,
            told: false,
        };
        // Another command may have done the same meanwhile.
        switches::change(state, now, |switches| {
            down.retain(|policy| !switches.is_down(policy, &places));
            switches.stepped_down.extend(down.iter().map(entry));
        })?;
    }
    Ok(down)
}

pub fn mark_told(state: &StateDir, now: Millis, root: &Path, policies: &[String]) -> io::Result<()> {
    let places = switches::project_paths(Some(root));
    switches::change(state, now, |switches| {
        for down in &mut switches.stepped_down {
            down.told |= policies.contains(&down.policy) && down.is_in(&places);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::PlaceEnv;
    use tidegate_core::feature::verdict::Asks;
    use tidegate_core::pipeline::record::{Deeds, SwitchedPolicy, VerdictRecord};

    #[test]
    fn commands_at_the_same_time_step_down_once() {
        let folder = tempfile::tempdir().unwrap();
        let env = PlaceEnv { state_dir: Some(folder.path().join("s")), ..PlaceEnv::default() };
        let state = StateDir::open(&env).unwrap();
        let policy = "skill-gate".to_owned();
        let project = Some("/p".to_owned());
        let now = Millis(1_800_000_000_000);
        for n in 0..5 {
            let verdict = VerdictRecord {
                policy: policy.clone(),
                call: "deny".into(),
                asks: Asks::skills(vec!["a".into()], "x"),
                ..VerdictRecord::default()
            };
            let at = |seconds: u64| Millis(now.0 - 3_600_000 + (n * 60 + seconds) * 1000);
            let mut denied = Record {
                session: Some(format!("s{n}")),
                project: project.clone(),
                verdicts: vec![verdict],
                ..Record::begin("PreToolUse", at(0))
            };
            let switched = SwitchedPolicy { policy: policy.clone(), session: None, project: project.clone() };
            let did = Deeds { switched_off: Some(switched), ..Deeds::default() };
            let mut off = Record {
                person: tidegate_core::host::person::Person::There,
                did,
                ..Record::begin("tidegate off", at(9))
            };
            journal::append(&state.journal(), now, &mut denied).unwrap();
            journal::append(&state.journal(), now, &mut off).unwrap();
        }
        let reach = Reach { days: 7, of_a_day: 1024 * 1024 };
        let config = Config::default();
        let step = || {
            step_down(&state, now, &config, Path::new("/p"), std::slice::from_ref(&policy), reach)
                .unwrap()
                .len()
        };
        let times: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(step)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((times, switches::read(&state).stepped_down.len()), (1, 1));
    }
}

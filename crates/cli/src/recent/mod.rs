//! What the journal says of the last days, by session. Kept between requests, and read on from where it ended.

pub(crate) mod curve;
pub(crate) mod last_readings;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use tidegate_core::pipeline::record::Record;
use tidegate_core::time::Millis;
use tidegate_state::journal::{self, Follower};

use curve::Curve;

/// Days that are read at the start, and bytes of each: a second of work at most, on a busy machine.
const DAYS: usize = 3;
const OF_A_DAY: u64 = 4 * 1024 * 1024;

/// Sessions that are kept.
const MOST_SESSIONS: usize = 500;

#[derive(Clone, Debug, Default)]
pub(crate) struct RecentSession {
    pub(crate) project: Option<String>,
    pub(crate) last: Millis,
    pub(crate) curve: Curve,
    /// The newest records in which something happened, oldest first.
    pub(crate) events: Vec<Record>,
}

/// Events that are kept of a session.
pub(crate) const EVENTS: usize = 3;

impl RecentSession {
    pub(crate) fn newest_event(&self) -> Option<&Record> {
        self.events.last()
    }
}

/// By id. A copy shares what it holds, so that a page can be made while records are read.
pub(crate) type RecentSessions = BTreeMap<String, Arc<RecentSession>>;

#[derive(Debug)]
pub(crate) struct Recent {
    pub(crate) sessions: RecentSessions,
    follower: Follower,
}

impl Recent {
    pub(crate) fn read(folder: &Path, now: Millis) -> io::Result<Recent> {
        // Before the files: records written in between are then taken twice rather than never.
        let follower = Follower::from_here(folder, now);
        let mut recent = Recent { sessions: BTreeMap::new(), follower };
        let files: Vec<PathBuf> = journal::list_files(folder)?;
        for path in &files[files.len().saturating_sub(DAYS)..] {
            // A file that cannot be read leaves its day out; `tidegate doctor` reports it.
            let _ = journal::for_each_record(path, OF_A_DAY, |record| recent.take(record));
        }
        Ok(recent)
    }

    /// Takes what was written since the last call.
    pub(crate) fn refresh(&mut self, now: Millis) {
        loop {
            let day = self.follower.day().to_owned();
            let Ok(entries) = self.follower.next(now) else { break };
            if entries.records.is_empty() && self.follower.day() == day {
                break;
            }
            entries.records.into_iter().for_each(|record| self.take(record));
        }
        self.leave_newest();
    }

    fn leave_newest(&mut self) {
        if self.sessions.len() <= MOST_SESSIONS {
            return;
        }
        let mut all: Vec<_> = self.sessions.iter().map(|(id, session)| (session.last, id.clone())).collect();
        all.sort_unstable();
        for (_, id) in &all[..all.len() - MOST_SESSIONS] {
            self.sessions.remove(id);
        }
    }

    fn take(&mut self, record: Record) {
        let Some(id) = record.session.clone() else { return };
        let session = Arc::make_mut(self.sessions.entry(id).or_default());
        session.project = record.project.clone().or_else(|| session.project.take());
        session.last = session.last.max(Millis::from_iso(&record.at).unwrap_or_default());
        session.curve.take(&record);
        if crate::command::record_words::headline(&record).is_some() {
            session.events.push(record);
            if session.events.len() > EVENTS {
                session.events.remove(0);
            }
        }
    }
}

/// Small curves by session, without signs.
pub(crate) type SmallCurves = BTreeMap<String, Curve>;

/// Bytes of the journal that are read for them, newest first: a second of work at most. A day of much work has one or two
/// million.
const FOR_SMALL: u64 = 64 * 1024 * 1024;

/// Also of sessions that ended weeks ago.
pub(crate) fn read_small_curves(folder: &Path) -> io::Result<SmallCurves> {
    let mut all = SmallCurves::new();
    let mut left = FOR_SMALL;
    for path in journal::list_files(folder)?.iter().rev() {
        let mut of_day = SmallCurves::new();
        let take = |record: Record| {
            if let Some(id) = &record.session {
                // No copy of the id for each record.
                match of_day.get_mut(id) {
                    Some(curve) => curve.take(&record),
                    None => of_day.entry(id.clone()).or_default().take(&record),
                }
            }
        };
        // As above.
        let _ = journal::for_each_record(path, left, take);
        for (id, mut curve) in of_day {
            curve.signs = Vec::new();
            all.entry(id).or_default().put_before(curve);
        }
        left = left.saturating_sub(fs::metadata(path).map_or(0, |found| found.len()));
        if left == 0 {
            break;
        }
    }
    Ok(all)
}

/// A number that grows with every record of the day, for pages that wait for news.
pub(crate) fn journal_size(folder: &Path, now: Millis) -> u64 {
    fs::metadata(journal::day_file(folder, &now.day())).map_or(0, |found| found.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::pipeline::record::MeterRecord;

    #[test]
    fn sessions_of_weeks_ago_have_a_small_curve() {
        let folder = tempfile::tempdir().unwrap();
        let now = Millis::from_iso("2026-11-15T12:00:00Z").unwrap();
        let put = |days_ago: u64, session: &str, used: u64| {
            let at = Millis(now.0 - days_ago * 86_400_000);
            let mut record = Record {
                session: Some(session.to_owned()),
                ruling: "pass".to_owned(),
                meter: Some(MeterRecord { used: Some(used), ..MeterRecord::default() }),
                ..Record::begin("PostToolUse", at)
            };
            journal::append(folder.path(), at, &mut record).unwrap();
        };
        put(20, "old", 1_000);
        put(20, "old", 2_000);
        put(19, "old", 3_000);
        put(0, "new", 5_000);
        let curves = read_small_curves(folder.path()).unwrap();
        let used = |id: &str| curves[id].points.iter().map(|point| point.used).collect::<Vec<_>>();
        assert_eq!((used("old"), used("new")), (vec![1_000, 2_000, 3_000], vec![5_000]));
        let recent = Recent::read(folder.path(), now).unwrap();
        assert!(recent.sessions.contains_key("new"));
    }

    #[test]
    fn only_the_newest_sessions_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut recent = Recent::read(folder.path(), Millis(0)).unwrap();
        for number in 0..=MOST_SESSIONS as u64 {
            let session = RecentSession { last: Millis(1_000 - number), ..RecentSession::default() };
            recent.sessions.insert(format!("s{number}"), Arc::new(session));
        }
        recent.refresh(Millis(0));
        assert_eq!(recent.sessions.len(), MOST_SESSIONS);
        assert!(
            recent.sessions.contains_key("s0") && !recent.sessions.contains_key(&format!("s{MOST_SESSIONS}"))
        );
    }
}

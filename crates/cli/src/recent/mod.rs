//! What the journal says of the last days, by session. Kept between requests, and read on from where it ended.

pub(crate) mod curve;

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
    /// The newest record in which something happened.
    pub(crate) last_event: Option<Record>,
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
        while self.sessions.len() > MOST_SESSIONS {
            let oldest =
                self.sessions.iter().min_by_key(|(_, session)| session.last).map(|(id, _)| id.clone());
            oldest.and_then(|id| self.sessions.remove(&id));
        }
    }

    fn take(&mut self, record: Record) {
        let Some(id) = record.session.clone() else { return };
        let session = Arc::make_mut(self.sessions.entry(id).or_default());
        session.project = record.project.clone().or_else(|| session.project.take());
        session.last = session.last.max(Millis::from_iso(&record.at).unwrap_or_default());
        session.curve.take(&record);
        if crate::command::record_words::headline(&record).is_some() {
            session.last_event = Some(record);
        }
    }
}

/// A number that grows with every record of the day, for pages that wait for news.
pub(crate) fn journal_size(folder: &Path, now: Millis) -> u64 {
    fs::metadata(journal::day_file(folder, &now.day())).map_or(0, |found| found.len())
}

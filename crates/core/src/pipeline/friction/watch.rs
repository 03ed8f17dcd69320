//! Interruptions whose outcome may still change, found by what a record can name: a journal holds thousands of them, and
//! nearly every record bears on those of its own session alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::feature::verdict::Asks;
use crate::pipeline::friction::Interruption;
use crate::pipeline::record::Record;
use crate::time::Millis;

/// An interruption that is open, or ignored so far.
#[derive(Debug)]
pub(super) struct WatchedInterruption {
    /// Index into the interruptions.
    pub(super) at: usize,
    /// Its conditions.
    pub(super) asked: Asks,
    /// The conditions that are still unmet.
    pub(super) asks: Asks,
    /// The subagent that was spoken to.
    pub(super) agent: Option<String>,
    /// Number of the session's prompts at that time.
    pub(super) prompts: u32,
    /// When its session ended.
    pub(super) ended: Option<Millis>,
}

type Places = BTreeMap<Option<String>, BTreeSet<usize>>;

#[derive(Debug, Default)]
pub(super) struct Watch {
    /// By index.
    watched: BTreeMap<usize, WatchedInterruption>,
    by_session: Places,
    by_project: Places,
    /// When to look whether a session has fallen silent. Too early is no harm.
    due: BTreeSet<(Millis, usize)>,
}

impl Watch {
    /// One that this record holds.
    pub(super) fn add(&mut self, watched: WatchedInterruption, record: &Record) {
        self.by_session.entry(record.session.clone()).or_default().insert(watched.at);
        self.by_project.entry(record.project.clone()).or_default().insert(watched.at);
        self.watched.insert(watched.at, watched);
    }

    pub(super) fn remove(&mut self, at: usize, said: &Interruption) {
        self.watched.remove(&at);
        for (places, key) in [(&mut self.by_session, &said.session), (&mut self.by_project, &said.project)] {
            if let Some(found) = places.get_mut(key) {
                found.remove(&at);
            }
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<&WatchedInterruption> {
        self.watched.get(&at)
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut WatchedInterruption> {
        self.watched.get_mut(&at)
    }

    pub(super) fn all(&self) -> BTreeSet<usize> {
        self.watched.keys().copied().collect()
    }

    pub(super) fn of_session(&self, session: Option<&String>) -> impl Iterator<Item = usize> {
        self.by_session.get(&session.cloned()).into_iter().flatten().copied()
    }

    pub(super) fn of_project(&self, project: Option<&String>) -> impl Iterator<Item = usize> {
        self.by_project.get(&project.cloned()).into_iter().flatten().copied()
    }

    /// Does nothing for one that is settled.
    pub(super) fn look_again(&mut self, at: usize, after: Millis) {
        if self.watched.contains_key(&at) {
            self.due.insert((after, at));
        }
    }

    /// Those whose time is over.
    pub(super) fn take_due(&mut self, now: Millis) -> BTreeSet<usize> {
        let later = self.due.split_off(&(now, 0));
        std::mem::replace(&mut self.due, later).into_iter().map(|(_, at)| at).collect()
    }
}

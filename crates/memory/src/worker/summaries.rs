//! Summaries by a language model, for relays that are already stored. The store knows which relays wait; the
//! retry file knows only when to try next, and may be lost.

use std::iter;

use tidegate_core::feature::memory::summary;
use tidegate_core::feature::memory::summary::{RelaySummary, StoredRelay};
use tidegate_core::time::Millis;
use tidegate_state::feature::memory::retries::{LONGEST_PAUSE_MS, MOST, Retries, Retry};

use super::relay_rows::LOCAL;
use super::{NoSummary, Worker, WorkerEvent, WorkerReport};
use crate::error::Result;
use crate::record::{LogRow, LogSummary, Record};
use crate::store::Put;

/// The last pause repeats: once a day without end.
const DELAYS_MS: [u64; 5] = [60_000, 600_000, 3_600_000, 6 * 3_600_000, LONGEST_PAUSE_MS];

/// After this many failures in a row, the remaining relays wait as if each had failed.
const PATIENCE: u32 = 3;

const HOUR_MS: u64 = 3_600_000;

impl Worker<'_> {
    /// Schedules relays that the store lists and the retry file does not: it was lost, or full.
    pub(super) fn schedule_missing_summaries(&mut self, retries: &mut Retries) -> Result<()> {
        if self.summarise.is_none() {
            return Ok(());
        }
        let waits = self.with_store(|store| store.logs_to_summarise(MOST))?;
        let (before, now) = (retries.summaries.len(), (self.now)());
        for uid in waits {
            if retries.summaries.len() >= MOST {
                break;
            }
            retries.summaries.entry(uid).or_insert(Retry { tries: 0, next: now, lang: None });
        }
        if retries.summaries.len() > before { self.write_retries(retries) } else { Ok(()) }
    }

    pub(super) fn write_due_summaries(
        &mut self,
        retries: &mut Retries,
        report: &mut WorkerReport,
    ) -> Result<()> {
        let now = (self.now)();
        let mut due: Vec<(Millis, String)> = retries
            .summaries
            .iter()
            .filter(|(_, retry)| self.at_once || retry.is_due(now))
            .map(|(uid, retry)| (retry.next, uid.clone()))
            .collect();
        due.sort_unstable();
        let mut due = due.into_iter().map(|(_, uid)| uid);
        let mut failures = 0;
        while let Some(uid) = due.next() {
            if (self.now)() >= self.until {
                break;
            }
            let log = self.with_store(|store| store.log(&uid))?.map(|log| log.row);
            let Some(log) = log.filter(|log| log.uid == uid && log.summary.again) else {
                retries.summaries.remove(&uid);
                self.write_retries(retries)?;
                continue;
            };
            let lang = retries.summaries.get(&uid).and_then(|retry| retry.lang);
            let Some(summarise) = self.summarise.as_deref_mut() else {
                // No language model is configured any more.
                self.store_summary(&uid, log, None, retries, report)?;
                continue;
            };
            let name = summarise.name();
            let lang = summary::language(&log.prompt, &log.answer, lang);
            match summarise.sum_up(summary::message(stored_relay(&log)), lang) {
                Ok(told) => {
                    failures = 0;
                    self.store_summary(&uid, log, Some((told, name)), retries, report)?;
                }
                Err(NoSummary::LimitReached) => {
                    // All wait for the next hour; this is not counted as a try.
                    let next = Millis(((self.now)().0 / HOUR_MS + 1) * HOUR_MS);
                    for uid in iter::once(uid).chain(due.by_ref()) {
                        retries.summaries.entry(uid).and_modify(|retry| retry.next = next);
                    }
                    self.write_retries(retries)?;
                }
                Err(NoSummary::Failed(why)) => {
                    failures += 1;
                    (self.notify)(WorkerEvent::SummaryFailed(&why));
                    let now = (self.now)();
                    let rest = if failures < PATIENCE { 0 } else { usize::MAX };
                    for uid in iter::once(uid).chain(due.by_ref().take(rest)) {
                        retries.summaries.entry(uid).and_modify(|retry| postpone_retry(retry, now));
                    }
                    self.write_retries(retries)?;
                }
            }
        }
        Ok(())
    }

    /// Stores the summary and removes the relay from the retry file.
    fn store_summary(
        &mut self,
        uid: &str,
        log: LogRow,
        told: Option<(RelaySummary, String)>,
        retries: &mut Retries,
        report: &mut WorkerReport,
    ) -> Result<()> {
        let told_by_other = told.is_some();
        let (told, by) = told.unwrap_or_else(|| {
            (RelaySummary { title: log.title.clone(), text: log.text.clone() }, LOCAL.to_owned())
        });
        // Newer than the version it was made from, and older than any later version of the relay.
        let updated = Millis(log.updated.0 + 1);
        let row = LogRow {
            title: told.title,
            text: told.text,
            summary: LogSummary { by, again: false },
            updated,
            ..log
        };
        let put = self.with_store(|store| store.put(&[Record::Log(row.clone())]))?;
        if told_by_other && put == [Put::Changed] {
            report.summed_up += 1;
        }
        retries.summaries.remove(uid);
        self.write_retries(retries)
    }
}

fn postpone_retry(retry: &mut Retry, now: Millis) {
    let last = DELAYS_MS.len() - 1;
    let delay = DELAYS_MS[last.min(retry.tries as usize)];
    retry.tries = retry.tries.saturating_add(1);
    retry.next = Millis(now.0 + delay);
}

fn stored_relay(log: &LogRow) -> StoredRelay<'_> {
    StoredRelay { prompt: &log.prompt, said: &log.answer, tools: &log.tools, files: &log.files }
}

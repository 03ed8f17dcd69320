//! Summaries by a language model: of what is stored already, as often as it takes, and not for ever.

use tidegate_core::memory::relay::Relay;
use tidegate_core::memory::summary::{self, Told};
use tidegate_core::time::Millis;
use tidegate_state::memory::retries::Retries;

use super::keep::LOCAL;
use super::{NotTold, Progress, Report, Worker};
use crate::error::Result;
use crate::record::{Log, Record, Summary};
use crate::store::Put;

/// How long after each try the next one waits. After the last the summary stays ours.
const DELAYS_MS: [u64; 5] = [60_000, 600_000, 3_600_000, 6 * 3_600_000, 24 * 3_600_000];

/// Who fails so often in a row is left alone until the next worker comes.
const PATIENCE: u32 = 3;

impl Worker<'_> {
    /// Has everything summed up that is due.
    pub(super) fn sum_up_again(&mut self, retries: &mut Retries, report: &mut Report) -> Result<()> {
        let now = (self.now)();
        let mut due: Vec<(Millis, String)> = retries
            .summaries
            .iter()
            .filter(|(_, retry)| retry.next <= now)
            .map(|(uid, retry)| (retry.next, uid.clone()))
            .collect();
        due.sort_unstable();
        let mut failures = 0;
        for (_, uid) in due {
            if (self.now)() >= self.until {
                break;
            }
            let log = self.with_store(|store| store.log(&uid))?.map(|log| log.row);
            let Some(log) = log.filter(|log| log.uid == uid && log.summary.again) else {
                retries.summaries.remove(&uid);
                self.write(retries)?;
                continue;
            };
            let lang = retries.summaries.get(&uid).and_then(|retry| retry.lang);
            let relay = relay_of(&log);
            let Some(summarise) = self.summarise.as_deref_mut() else {
                // Nobody is there any more who would.
                self.settle(&uid, log, None, retries, report)?;
                continue;
            };
            if failures >= PATIENCE {
                break;
            }
            let name = summarise.name();
            match summarise.sum_up(&relay, summary::language(&relay, lang)) {
                Ok(told) => {
                    failures = 0;
                    self.settle(&uid, log, Some((told, name)), retries, report)?;
                }
                Err(NotTold::Enough) => self.settle(&uid, log, None, retries, report)?,
                Err(NotTold::Failed(why)) => {
                    failures += 1;
                    (self.tell)(Progress::NotToldYet(&why));
                    let now = (self.now)();
                    let retry = retries.summaries.get_mut(&uid);
                    let delay = retry.as_ref().and_then(|retry| DELAYS_MS.get(retry.tries as usize));
                    match (retry, delay) {
                        (Some(retry), Some(delay)) => {
                            retry.tries += 1;
                            retry.next = Millis(now.0 + delay);
                            self.write(retries)?;
                        }
                        _ => self.settle(&uid, log, None, retries, report)?,
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes down who summed a log up, and that nobody will again.
    fn settle(
        &mut self,
        uid: &str,
        log: Log,
        told: Option<(Told, String)>,
        retries: &mut Retries,
        report: &mut Report,
    ) -> Result<()> {
        let told_by_other = told.is_some();
        let (told, by) = told
            .unwrap_or_else(|| (Told { title: log.title.clone(), text: log.text.clone() }, LOCAL.to_owned()));
        // A version newer than what it was made from, and older than whatever the relay still becomes.
        let updated = Millis(log.updated.0 + 1);
        let row =
            Log { title: told.title, text: told.text, summary: Summary { by, again: false }, updated, ..log };
        let put = self.with_store(|store| store.put(&[Record::Log(row.clone())]))?;
        if told_by_other && put == [Put::Changed] {
            report.summed_up += 1;
        }
        retries.summaries.remove(uid);
        self.write(retries)
    }
}

/// A relay from what is stored of it.
fn relay_of(log: &Log) -> Relay {
    Relay {
        uid: log.uid.clone(),
        at: log.at,
        ended: log.updated,
        prompt: log.prompt.clone(),
        answer: log.answer.clone(),
        tools: log.tools.clone(),
        files: log.files.clone(),
        ..Relay::default()
    }
}

//! Forecasts of turns left in the journal, each against the automatic compaction that came.

use std::collections::BTreeMap;

use tidegate_core::pipeline::record::Record;
use tidegate_replay::report::ForecastError;

/// Collected as records come in.
#[derive(Default)]
pub(super) struct Forecasts {
    sessions: BTreeMap<String, Open>,
    /// How many turns each was off.
    checked: Vec<(u32, u32)>,
}

/// Of a session, since its last compaction.
#[derive(Default)]
struct Open {
    prompts: u32,
    /// The prompt, and turns left.
    forecasts: Vec<(u32, u32)>,
    /// The compaction that ended the last ones.
    noted: String,
}

impl Forecasts {
    pub(super) fn take(&mut self, record: &Record) {
        let Some(session) = record.session.as_ref().filter(|_| record.agent.is_none()) else { return };
        if record.did.prompt {
            let open = self.sessions.entry(session.clone()).or_default();
            open.prompts += 1;
            let turns = record.meter.as_ref().and_then(|meter| meter.turns_left);
            open.forecasts.extend(turns.map(|turns| (open.prompts, turns)));
        }
        // Of several records about one compaction the first one counts.
        let Some(boundary) = &record.boundary else { return };
        let Some(open) = self.sessions.get_mut(session).filter(|open| open.noted != boundary.noted) else {
            return;
        };
        open.noted.clone_from(&boundary.noted);
        let forecasts = std::mem::take(&mut open.forecasts);
        // A person may compact at any time, which no forecast can know.
        if boundary.trigger == "auto" {
            let now = open.prompts;
            self.checked.extend(forecasts.into_iter().map(|(at, turns)| (turns, now - at)));
        }
    }

    pub(super) fn finish(self) -> Option<ForecastError> {
        ForecastError::of(self.checked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::pipeline::record::{BoundaryRecord, Deeds, MeterRecord};

    fn prompt(turns: u32) -> Record {
        Record {
            session: Some("s".to_owned()),
            did: Deeds { prompt: true, ..Deeds::default() },
            meter: Some(MeterRecord { turns_left: Some(turns), ..MeterRecord::default() }),
            ..Record::default()
        }
    }

    fn compaction(noted: &str, trigger: &str) -> Record {
        let boundary = BoundaryRecord {
            noted: noted.to_owned(),
            trigger: trigger.to_owned(),
            ..BoundaryRecord::default()
        };
        Record { session: Some("s".to_owned()), boundary: Some(boundary), ..Record::default() }
    }

    #[test]
    fn forecasts_are_checked_at_automatic_compactions() {
        let mut forecasts = Forecasts::default();
        let records =
            [prompt(5), compaction("a", "manual"), prompt(3), prompt(1), prompt(0), compaction("b", "auto")];
        for record in &records {
            forecasts.take(record);
        }
        forecasts.take(&compaction("b", "auto"));
        let error = forecasts.finish().unwrap();
        assert_eq!((error.forecasts, error.median_turns, error.p90_turns), (3, 0, 1));
        assert!(Forecasts::default().finish().is_none());
    }
}

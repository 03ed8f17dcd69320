//! Picks one of several readings, and the window for it.

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::host::window::{HostSettings, Window};
use crate::meter::transcript::TranscriptReading;
use crate::meter::{Meter, NoReading, Reading, Source};
use crate::time::Millis;

/// Numbers that the status line leaves for the hooks of the same session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bridge {
    /// Tokens; absent before the first answer and right after a compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// The model's window according to the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The time of the last change of the numbers.
    pub changed: Millis,
    /// The last time a status line ran.
    pub seen: Millis,
    /// Readings in a row without a hook in between.
    #[serde(skip_serializing_if = "is_zero")]
    pub unheard: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A status line that was last seen longer ago than this is not running any more.
const BRIDGE_MS: u64 = 300_000;

#[derive(Clone, Debug)]
pub struct MeterSources<'a> {
    pub now: Millis,
    /// Used tokens and window.
    pub payload: Option<(Option<u64>, Option<u64>)>,
    pub bridge: Option<Bridge>,
    pub transcript: Result<Option<TranscriptReading>, NoReading>,
    /// The time of the last compaction.
    pub boundary: Option<Millis>,
    /// The model that the host named last, and when.
    pub model: Option<(&'a str, Millis)>,
    /// `[meter] window` of the config.
    pub window: Option<u64>,
    pub host: Host,
    /// From the host's files and environment.
    pub settings: &'a HostSettings,
}

impl MeterSources<'_> {
    /// The newest reading; of two from the same moment the first in the order payload, bridge, transcript.
    pub fn meter(&self) -> Meter {
        let found = self.transcript.as_ref().ok().and_then(Option::as_ref);
        // The transcript may not have the boundary yet: readings older than it belong to another
        // conversation.
        let since = self.boundary.unwrap_or_default();
        let found = found.filter(|found| found.boundary || found.at >= since);
        let window = self.find_window(found);
        let reading = |used, source, at: Millis| Reading { used, window, source, at: at.min(self.now) };

        if let Some(used) = self.payload.and_then(|(used, _)| used) {
            return Meter::Current(reading(used, Source::Payload, self.now));
        }
        let live = self.bridge.as_ref().filter(|bridge| self.now.since(bridge.seen) <= BRIDGE_MS);
        let from_bridge =
            live.and_then(|bridge| Some((bridge.used?, bridge.changed))).filter(|(_, at)| *at >= since);
        match (from_bridge, found) {
            // A transcript that lags is older than the status line, which ran after the same answer. One that
            // holds the event's own trace does not lag, however late a slow status line wrote.
            (Some((used, at)), found) if found.is_none_or(|found| at >= found.at && !found.current) => {
                Meter::StaleByOne(reading(used, Source::Bridge, at))
            }
            (_, Some(found)) => {
                let source = if found.boundary { Source::Boundary } else { Source::Transcript };
                let reading = reading(found.used, source, found.at);
                if found.current { Meter::Current(reading) } else { Meter::StaleByOne(reading) }
            }
            (_, None) => Meter::Unknown(match &self.transcript {
                Err(why) => why.clone(),
                Ok(_) => NoReading::NothingYet,
            }),
        }
    }

    /// A window does not age: the status line's counts until the model changes.
    fn find_window(&self, found: Option<&TranscriptReading>) -> Option<Window> {
        let since = self.model.map_or(Millis(0), |(_, at)| at);
        let bridge = self.bridge.as_ref().filter(|bridge| bridge.seen >= since);
        let told =
            self.window.or(self.payload.and_then(|(_, window)| window)).or(bridge.and_then(|b| b.window));
        // The transcript keeps the `[1m]` that other sources lose, so it counts unless the model changed
        // since.
        let from_transcript =
            found.filter(|found| found.at >= since).and_then(|found| found.model.as_deref());
        let model = from_transcript
            .or(bridge.and_then(|bridge| bridge.model.as_deref()))
            .or(self.model.map(|(id, _)| id))
            .or(found.and_then(|found| found.model.as_deref()));
        match (model, told) {
            (None, None) => None,
            (model, told) => self.host.window(model.unwrap_or_default(), told, self.settings),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(used: u64, at: u64, current: bool) -> TranscriptReading {
        TranscriptReading {
            used,
            answer: 0,
            boundary: false,
            model: Some("claude-sonnet-4-6".into()),
            at: Millis(at),
            current,
        }
    }

    fn bridge(used: u64, changed: u64) -> Bridge {
        Bridge {
            used: Some(used),
            window: Some(200_000),
            model: None,
            changed: Millis(changed),
            seen: Millis(changed),
            unheard: 0,
        }
    }

    fn meter(bridge: Option<Bridge>, transcript: Option<TranscriptReading>) -> Meter {
        let host = HostSettings::default();
        MeterSources {
            now: Millis(100_000),
            payload: None,
            bridge,
            transcript: Ok(transcript),
            boundary: None,
            model: None,
            window: None,
            host: Host::ClaudeCode,
            settings: &host,
        }
        .meter()
    }

    fn used(meter: &Meter) -> (u64, &'static str, &'static str) {
        let reading = meter.reading().unwrap();
        (reading.used, reading.source.name(), meter.freshness())
    }

    #[test]
    fn the_newest_counts() {
        assert_eq!(
            used(&meter(Some(bridge(50, 10)), Some(found(60, 20, true)))),
            (60, "transcript", "current")
        );
        assert_eq!(
            used(&meter(Some(bridge(50, 30)), Some(found(40, 20, false)))),
            (50, "bridge", "stale_by_one")
        );
        assert_eq!(
            used(&meter(Some(bridge(50, 30)), Some(found(40, 20, true)))),
            (40, "transcript", "current")
        );
        assert_eq!(
            used(&meter(Some(bridge(50, 20)), Some(found(60, 20, false)))),
            (50, "bridge", "stale_by_one")
        );
        assert_eq!(used(&meter(None, Some(found(60, 20, false)))), (60, "transcript", "stale_by_one"));
        assert_eq!(meter(None, None), Meter::Unknown(NoReading::NothingYet));
    }

    #[test]
    fn an_old_bridge_says_only_the_window() {
        let host = HostSettings::default();
        let sources = MeterSources {
            now: Millis(400_000),
            payload: None,
            bridge: Some(bridge(50, 99_999)),
            transcript: Err(NoReading::TimedOut),
            boundary: None,
            model: None,
            window: None,
            host: Host::ClaudeCode,
            settings: &host,
        };
        assert_eq!(sources.meter(), Meter::Unknown(NoReading::TimedOut));
        let told = Bridge { window: Some(300_000), ..bridge(50, 99_999) };
        let sources =
            MeterSources { bridge: Some(told), transcript: Ok(Some(found(60, 20, false))), ..sources };
        let meter = sources.meter();
        assert_eq!(used(&meter), (60, "transcript", "stale_by_one"));
        assert_eq!(meter.reading().unwrap().window.unwrap().tokens, 300_000);
    }

    /// With the time of a boundary, and with a model and the time at which the host named it.
    fn since(
        boundary: Option<u64>,
        model: Option<(&str, u64)>,
        bridge: Option<Bridge>,
        transcript: TranscriptReading,
    ) -> Meter {
        let (transcript, host) = (Ok(Some(transcript)), HostSettings::default());
        MeterSources {
            now: Millis(100),
            payload: None,
            bridge,
            transcript,
            boundary: boundary.map(Millis),
            model: model.map(|(id, at)| (id, Millis(at))),
            window: None,
            host: Host::ClaudeCode,
            settings: &host,
        }
        .meter()
    }

    #[test]
    fn what_is_older_than_the_boundary_is_void() {
        let used = |bridge, transcript| {
            since(Some(50), None, bridge, transcript).reading().map(|reading| reading.used)
        };
        assert_eq!(used(Some(bridge(150, 30)), found(160, 40, true)), None);
        assert_eq!(used(Some(bridge(150, 30)), found(9, 60, true)), Some(9));
        assert_eq!(used(Some(bridge(8, 70)), found(160, 40, true)), Some(8));
        assert_eq!(used(None, TranscriptReading { boundary: true, ..found(5, 49, false) }), Some(5));
    }

    #[test]
    fn after_a_model_switch_the_old_models_window_is_forgotten() {
        let window = |bridge, transcript| {
            since(None, Some(("claude-opus-5-5", 50)), bridge, transcript)
                .reading()
                .and_then(|reading| reading.window)
                .unwrap()
                .tokens
        };
        assert_eq!(window(None, found(60, 20, false)), 1_000_000);
        assert_eq!(window(Some(bridge(60, 20)), found(60, 20, false)), 1_000_000);
        assert_eq!(window(None, found(60, 70, false)), 200_000);
        assert_eq!(window(Some(bridge(60, 70)), found(60, 20, false)), 200_000);
    }
}

//! Times for people: local, with the zone where it matters, or as a distance. JSON stays in UTC.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use tidegate_core::text::lang::Lang;
use tidegate_core::time::{Millis, describe_age};
use tidegate_memory::view::LocalTime;

use crate::bilingual::{Bilingual, both};

/// The clock changes that are looked back at: some years.
const CHANGES: usize = 8;

/// Knows the zone (`TZ`, else the system's) and what time it is.
pub(crate) struct LocalClock {
    zone: TimeZone,
    now: Millis,
}

impl LocalClock {
    pub(crate) fn of_system(now: Millis) -> LocalClock {
        let zone = TimeZone::system();
        LocalClock { zone: if zone.is_unknown() { TimeZone::UTC } else { zone }, now }
    }

    pub(crate) fn utc(now: Millis) -> LocalClock {
        LocalClock { zone: TimeZone::UTC, now }
    }

    pub(crate) fn now(&self) -> Millis {
        self.now
    }

    /// For words such as "last week" in a search.
    pub(crate) fn local_time(&self) -> LocalTime {
        let now = i64::try_from(self.now.0).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let now = now.unwrap_or(Timestamp::MAX);
        let millis = |at: Timestamp| Millis(u64::try_from(at.as_millisecond()).unwrap_or_default());
        let changes = self.zone.preceding(now).take(CHANGES);
        let mut offsets: Vec<(Millis, i32)> =
            changes.map(|change| (millis(change.timestamp()), change.offset().seconds() / 60)).collect();
        if offsets.is_empty() {
            offsets.push((Millis(0), self.zone.to_offset(now).seconds() / 60));
        }
        LocalTime { now: self.now, offsets }
    }

    fn at(&self, time: Millis) -> Option<Zoned> {
        let time = Timestamp::from_millisecond(i64::try_from(time.0).ok()?).ok()?;
        Some(time.to_zoned(self.zone.clone()))
    }

    fn format(&self, time: Millis, today: &str, other_day: &str) -> String {
        let (Some(local), Some(now)) = (self.at(time), self.at(self.now)) else { return time.iso() };
        let form = if local.date() == now.date() { today } else { other_day };
        local.strftime(form).to_string()
    }

    /// `14:05`, or `2026-11-15 14:05` on another day.
    pub(crate) fn minute(&self, time: Millis) -> String {
        self.format(time, "%H:%M", "%Y-%m-%d %H:%M")
    }

    /// With the zone: `14:05 JST`. For times that somebody waits for or compares with other clocks.
    pub(crate) fn minute_with_zone(&self, time: Millis) -> String {
        self.format(time, "%H:%M %Z", "%Y-%m-%d %H:%M %Z")
    }

    /// `2026-11-15 14:05 JST`, whatever the day: for lists of things that are kept.
    pub(crate) fn dated_minute(&self, time: Millis) -> String {
        let form = "%Y-%m-%d %H:%M %Z";
        self.format(time, form, form)
    }

    /// `14:05:09`, for one line of many of the same day.
    pub(crate) fn second(&self, time: Millis) -> String {
        self.format(time, "%H:%M:%S", "%H:%M:%S")
    }

    /// `2026-11-15 14:05:09 JST`, whatever the day.
    pub(crate) fn exact(&self, time: Millis) -> String {
        let form = "%Y-%m-%d %H:%M:%S %Z";
        self.format(time, form, form)
    }

    /// `2026-11-15`.
    pub(crate) fn day(&self, time: Millis) -> String {
        self.format(time, "%Y-%m-%d", "%Y-%m-%d")
    }

    /// `3 minutes ago`; a date when it is more than two weeks. A time to come is `just now`: clocks differ.
    pub(crate) fn ago(&self, time: Millis) -> Bilingual {
        const LONGEST_MS: u64 = 15 * 24 * 3600 * 1000;
        let age = self.now.since(time);
        if age >= LONGEST_MS {
            return both!("on {day}", "{day}", day = self.day(time));
        }
        Bilingual { en: describe_age(Lang::En, age), ja: describe_age(Lang::Ja, age) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::offset;

    const NOW: Millis = Millis(1_794_963_600_000); // 2026-11-18T01:00:00Z

    fn clock(hours: i8) -> LocalClock {
        LocalClock { zone: TimeZone::fixed(offset(hours)), now: NOW }
    }

    #[test]
    fn a_day_begins_at_local_midnight() {
        let two_hours_ago = NOW.before(2 * 3_600_000);
        assert_eq!(clock(0).minute(two_hours_ago), "2026-11-17 23:00");
        assert_eq!(clock(9).minute(two_hours_ago), "08:00");
        assert_eq!(clock(9).minute_with_zone(two_hours_ago), "08:00 +09");
        assert_eq!(clock(9).dated_minute(two_hours_ago), "2026-11-18 08:00 +09");
        assert_eq!(clock(-8).exact(NOW), "2026-11-17 17:00:00 -08");
        assert_eq!(clock(9).day(NOW), "2026-11-18");
    }

    #[test]
    fn a_search_knows_the_zone_and_its_changes() {
        assert_eq!(clock(9).local_time(), LocalTime { now: NOW, offsets: vec![(Millis(0), 540)] });
        let Ok(zone) = TimeZone::get("Europe/Berlin") else { return };
        let offsets = LocalClock { zone, now: NOW }.local_time().offsets;
        let minutes: Vec<i32> = offsets.iter().map(|(_, minutes)| *minutes).take(3).collect();
        assert_eq!(minutes, [60, 120, 60]);
        assert_eq!(offsets[0].0.iso_seconds(), "2026-10-25T01:00:00Z");
    }

    #[test]
    fn distances_have_the_largest_unit_that_fits() {
        let clock = clock(0);
        let minute = 60_000;
        for (ms, en, ja) in [
            (0, "just now", "たった今"),
            (minute, "1 minute ago", "1分前"),
            (59 * minute, "59 minutes ago", "59分前"),
            (60 * minute, "1 hour ago", "1時間前"),
            (48 * 60 * minute, "2 days ago", "2日前"),
            (15 * 24 * 60 * minute, "on 2026-11-03", "2026-11-03"),
        ] {
            let ago = clock.ago(NOW.before(ms));
            assert_eq!((ago.en.as_str(), ago.ja.as_str()), (en, ja));
        }
        assert_eq!(clock.ago(Millis(NOW.0 + minute)).en, "just now");
    }

    #[test]
    fn a_time_beyond_the_calendar_is_shown_as_it_is() {
        assert_eq!(clock(0).minute(Millis(u64::MAX)), Millis(u64::MAX).iso());
    }
}

//! Points in time: milliseconds, and the one text form that all files use.

use serde::{Deserialize, Serialize};

use crate::text::lang::Lang;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// Milliseconds from `earlier` to here; zero when the clock went backwards.
    pub fn since(self, earlier: Millis) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// This many milliseconds earlier.
    #[must_use]
    pub fn before(self, ms: u64) -> Millis {
        Millis(self.0.saturating_sub(ms))
    }

    /// `2026-11-15`, the day in UTC.
    pub fn day(self) -> String {
        let mut text = String::with_capacity(24);
        self.push_day(&mut text);
        text
    }

    fn push_day(self, text: &mut String) {
        let (year, month, day) = date_of_days(self.0 / 86_400_000);
        push_number(text, year, 4);
        for number in [month, day] {
            text.push('-');
            push_number(text, number, 2);
        }
    }

    /// `2026-11-15T11:51:28.759Z`.
    pub fn iso(self) -> String {
        // `format!` takes ten times as long, and every hook writes the time down.
        let mut text = String::with_capacity(24);
        self.push_day(&mut text);
        let ms = self.0 % 86_400_000;
        for (sign, number) in [('T', ms / 3_600_000), (':', ms / 60_000 % 60), (':', ms / 1000 % 60)] {
            text.push(sign);
            push_number(&mut text, number, 2);
        }
        text.push('.');
        push_number(&mut text, ms % 1000, 3);
        text.push('Z');
        text
    }

    /// `2026-11-15T11:51:28Z`.
    pub fn iso_seconds(self) -> String {
        let iso = self.iso();
        format!("{}Z", iso.rsplit_once('.').map_or(iso.as_str(), |(seconds, _)| seconds))
    }

    /// The beginning of a day in UTC, if there was or will be such a day.
    pub fn of_day(year: u64, month: u64, day: u64) -> Option<Millis> {
        if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let days = days_of_date(year, month, day);
        (date_of_days(days) == (year, month, day)).then_some(Millis(days * 86_400_000))
    }

    /// Reads what [`Millis::iso`] writes, with or without a fraction. Only UTC: the host writes nothing else.
    pub fn from_iso(text: &str) -> Option<Millis> {
        let bytes = text.as_bytes();
        let number = |range: std::ops::Range<usize>| -> Option<u64> {
            let digits = text.get(range)?;
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            digits.parse().ok()
        };
        let shape = bytes.len() >= 20
            && bytes[4] == b'-'
            && bytes[7] == b'-'
            && bytes[10] == b'T'
            && bytes[13] == b':'
            && bytes[16] == b':'
            && text.ends_with('Z');
        if !shape {
            return None;
        }
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
        let in_range =
            (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
        if !in_range || year < 1970 {
            return None;
        }
        let fraction = match bytes[19] {
            b'Z' => 0,
            b'.' => {
                let digits = text.get(20..text.len() - 1)?;
                number(20..text.len() - 1)?;
                format!("{digits:0<3}").get(..3)?.parse::<u64>().ok()?
            }
            _ => return None,
        };
        let seconds = days_of_date(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
        Some(Millis(seconds * 1000 + fraction))
    }
}

/// How long ago something was, in the largest unit that fits: `3 days ago`, 「3日前」.
pub fn describe_age(lang: Lang, ms: u64) -> String {
    let minutes = ms / 60_000;
    let (number, en, ja) = match minutes {
        0 => {
            return match lang {
                Lang::En => "just now".to_owned(),
                Lang::Ja => "たった今".to_owned(),
            };
        }
        1..60 => (minutes, "minute", "分"),
        60..1440 => (minutes / 60, "hour", "時間"),
        _ => (minutes / 1440, "day", "日"),
    };
    match lang {
        Lang::En => format!("{number} {en}{} ago", if number == 1 { "" } else { "s" }),
        Lang::Ja => format!("{number}{ja}前"),
    }
}

/// A number with at least so many digits.
fn push_number(text: &mut String, number: u64, digits: u32) {
    let mut unit = 10_u64.pow(digits - 1);
    while number / unit >= 10 {
        unit *= 10;
    }
    while unit > 0 {
        text.push(char::from(b'0' + (number / unit % 10) as u8));
        unit /= 10;
    }
}

/// Days since 1970-01-01 to year, month, day (proleptic Gregorian).
///
/// Counted in 400-year cycles from 1 March 0000, so that the leap day is the last day of a year.
fn date_of_days(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let cycle = days / 146_097;
    let in_cycle = days % 146_097;
    let year = (in_cycle - in_cycle / 1460 + in_cycle / 36_524 - in_cycle / 146_096) / 365;
    let in_year = in_cycle - (365 * year + year / 4 - year / 100);
    let shifted = (5 * in_year + 2) / 153;
    let day = in_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (cycle * 400 + year + u64::from(month <= 2), month, day)
}

/// The inverse of [`date_of_days`].
fn days_of_date(year: u64, month: u64, day: u64) -> u64 {
    let year = year - u64::from(month <= 2);
    let (cycle, in_cycle) = (year / 400, year % 400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let in_year = (153 * shifted + 2) / 5 + day - 1;
    cycle * 146_097 + in_cycle * 365 + in_cycle / 4 - in_cycle / 100 + in_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_days() {
        assert_eq!(Millis(0).iso(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Millis(951_782_400_000).day(), "2000-02-29");
        assert_eq!(Millis(1_794_743_488_759).iso(), "2026-11-15T11:51:28.759Z");
        assert_eq!(Millis(1_794_743_488_759).iso_seconds(), "2026-11-15T11:51:28Z");
        assert_eq!(Millis::of_day(2000, 2, 29), Some(Millis(951_782_400_000)));
        for (year, month, day) in
            [(2026, 2, 29), (2026, 4, 31), (2026, 0, 1), (1969, 12, 31), (u64::MAX, 1, 1)]
        {
            assert_eq!(Millis::of_day(year, month, day), None, "{year}-{month}-{day}");
        }
    }

    #[test]
    fn ages_have_the_largest_unit_that_fits() {
        let minute = 60_000;
        for (ms, en, ja) in [
            (59_999, "just now", "たった今"),
            (minute, "1 minute ago", "1分前"),
            (59 * minute, "59 minutes ago", "59分前"),
            (60 * minute, "1 hour ago", "1時間前"),
            (1439 * minute, "23 hours ago", "23時間前"),
            (1440 * minute, "1 day ago", "1日前"),
            (30 * 1440 * minute, "30 days ago", "30日前"),
        ] {
            assert_eq!([Lang::En, Lang::Ja].map(|lang| describe_age(lang, ms)), [en, ja]);
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2026-11-15",
            "2026-13-15T11:51:28.759Z",
            "2026-11-15T11:51:28.759+09:00",
            "２026-11-15T11:51:28Z",
        ] {
            assert_eq!(Millis::from_iso(text), None, "{text}");
        }
        assert_eq!(Millis::from_iso("1970-01-01T00:00:01Z"), Some(Millis(1000)));
        assert_eq!(Millis::from_iso("1970-01-01T00:00:01.5Z"), Some(Millis(1500)));
    }

    proptest! {
        #[test]
        fn text_and_back(ms in 0u64..253_402_300_799_999) {
            prop_assert_eq!(Millis::from_iso(&Millis(ms).iso()), Some(Millis(ms)));
        }

        #[test]
        fn any_text_is_survived(text in "\\PC{0,32}") {
            let _ = Millis::from_iso(&text);
        }
    }
}

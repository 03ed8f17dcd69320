//! Points in time as people and models write them in headings.

use std::ops::Range;

use crate::time::Millis;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Without a zone in UTC, without a time of day at the beginning of the day.
    pub at: Millis,
    /// It has a zone.
    pub zoned: bool,
    /// It has a time of day.
    pub timed: bool,
    pub range: Range<usize>,
}

/// Finds `2026-02-18`, `2026/2/18 14:30`, `2026-02-18T14:30:00+09:00`, `2026年2月18日 14時30分` and the like.
pub fn find_first(text: &str) -> Option<Timestamp> {
    let mut before = None;
    for (start, c) in text.char_indices() {
        let begins = c.is_ascii_digit() && !before.is_some_and(|before: char| before.is_alphanumeric());
        if begins && let Some(found) = read_at(text, start) {
            return Some(found);
        }
        before = Some(c);
    }
    None
}

fn read_at(text: &str, start: usize) -> Option<Timestamp> {
    let mut reader = TimeReader { text, at: start };
    let year = reader.number(4..=4)?;
    let separator = reader.one_of(&["-", "/", "年"])?;
    let month = reader.number(1..=2)?;
    reader.one_of(&[if separator == "年" { "月" } else { separator }])?;
    let day = reader.number(1..=2)?;
    if separator == "年" {
        reader.one_of(&["日"])?;
    }
    let day = Millis::of_day(year, month, day)?;
    let mut found = Timestamp { at: day, zoned: false, timed: false, range: start..reader.at };
    if let Some(time) = reader.time() {
        found = Timestamp { at: Millis(day.0 + time), timed: true, range: start..reader.at, ..found };
        if let Some(east) = reader.zone() {
            let at = i64::try_from(found.at.0).ok()?.checked_sub(east * 60_000)?;
            let at = Millis(u64::try_from(at).ok()?);
            found = Timestamp { at, zoned: true, range: start..reader.at, ..found };
        }
    }
    Some(found)
}

/// Each step reads what fits, or does not move.
#[derive(Clone)]
struct TimeReader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> TimeReader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Fails if more digits follow.
    fn number(&mut self, digits: std::ops::RangeInclusive<usize>) -> Option<u64> {
        let rest = self.rest();
        let count = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = digits.contains(&count).then(|| rest[..count].parse().ok()).flatten()?;
        self.at += count;
        Some(number)
    }

    fn one_of<'s>(&mut self, signs: &[&'s str]) -> Option<&'s str> {
        let sign = signs.iter().find(|sign| self.rest().starts_with(**sign))?;
        self.at += sign.len();
        Some(sign)
    }

    /// Takes all that `read` reads, or nothing.
    fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = self.at;
        let value = read(self);
        if value.is_none() {
            self.at = before;
        }
        value
    }

    /// Milliseconds since the beginning of the day.
    fn time(&mut self) -> Option<u64> {
        self.maybe(|reader| {
            reader.one_of(&["T", ", ", " "])?;
            let hour = reader.number(1..=2)?;
            let minute = match reader.one_of(&[":", "時"])? {
                ":" => reader.number(2..=2)?,
                _ => reader
                    .maybe(|reader| {
                        let minute = reader.number(1..=2)?;
                        reader.one_of(&["分"])?;
                        Some(minute)
                    })
                    .unwrap_or(0),
            };
            let second = reader.maybe(|reader| {
                reader.one_of(&[":"])?;
                reader.number(2..=2)
            });
            let fraction = reader.maybe(|reader| {
                second.and(reader.one_of(&["."]))?;
                let digits = reader.rest();
                reader.number(1..=9)?;
                format!("{:0<3}", &digits[..digits.len() - reader.rest().len()]).get(..3)?.parse().ok()
            });
            let (second, fraction) = (second.unwrap_or(0), fraction.unwrap_or(0));
            let real = hour < 24 && minute < 60 && second < 61;
            real.then_some(((hour * 60 + minute) * 60 + second) * 1000 + fraction)
        })
    }

    /// Minutes east of Greenwich.
    fn zone(&mut self) -> Option<i64> {
        self.maybe(|reader| {
            let spaced = reader.one_of(&[" "]).is_some();
            let named = reader.one_of(&["UTC", "GMT", "JST", "Z"]);
            if let Some(name) = named {
                let ends = !reader.rest().starts_with(|next: char| next.is_ascii_alphanumeric());
                return ends.then_some(if name == "JST" { 9 * 60 } else { 0 });
            }
            let west = reader.one_of(&["+", "-"])? == "-";
            let (hours, minutes) = match reader.clone().number(1..=4)? {
                _ if reader.clone().number(4..=4).is_some() => {
                    let both = reader.number(4..=4)?;
                    (both / 100, both % 100)
                }
                hours => {
                    reader.number(2..=2)?;
                    let minutes = reader.maybe(|reader| {
                        reader.one_of(&[":"])?;
                        reader.number(2..=2)
                    });
                    // After a blank, `-5` or `-10` is rather part of the heading than a zone.
                    if spaced && minutes.is_none() {
                        return None;
                    }
                    (hours, minutes.unwrap_or(0))
                }
            };
            let east = i64::try_from(hours * 60 + minutes).ok().filter(|_| hours < 15 && minutes < 60)?;
            Some(if west { -east } else { east })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn how_people_write_a_time() {
        for (text, at, zoned, timed, rest) in [
            ("2026-02-18", "2026-02-18T00:00:00.000Z", false, false, ""),
            ("[2026-02-18 14:30] — x", "2026-02-18T14:30:00.000Z", false, true, "] — x"),
            ("[2026-02-18T14:30:00Z] x", "2026-02-18T14:30:00.000Z", true, true, "] x"),
            ("2026-02-18T14:30:00.25Z: x", "2026-02-18T14:30:00.250Z", true, true, ": x"),
            ("2026-02-18T14:30:00+09:00 x", "2026-02-18T05:30:00.000Z", true, true, " x"),
            ("2026-02-18 14:30 +0900 x", "2026-02-18T05:30:00.000Z", true, true, " x"),
            ("2026-02-18 14:30-08 x", "2026-02-18T22:30:00.000Z", true, true, " x"),
            ("2026-02-18 14:30 JST — x", "2026-02-18T05:30:00.000Z", true, true, " — x"),
            ("2026-02-18 14:30 UTC", "2026-02-18T14:30:00.000Z", true, true, ""),
            ("2026-02-18 14:30 Zed", "2026-02-18T14:30:00.000Z", false, true, " Zed"),
            ("2026-02-18 14:30 - 10 files", "2026-02-18T14:30:00.000Z", false, true, " - 10 files"),
            ("2026-02-18 14:30 -10 files", "2026-02-18T14:30:00.000Z", false, true, " -10 files"),
            ("2026-02-18 9:05 x", "2026-02-18T09:05:00.000Z", false, true, " x"),
            ("2026-02-18 25:00 x", "2026-02-18T00:00:00.000Z", false, false, " 25:00 x"),
            ("2026-02-18 3 files", "2026-02-18T00:00:00.000Z", false, false, " 3 files"),
            ("2026/2/8: x", "2026-02-08T00:00:00.000Z", false, false, ": x"),
            ("第3回 2026年2月18日 14時30分 設計", "2026-02-18T14:30:00.000Z", false, true, " 設計"),
            ("2026年2月18日 14時、設計", "2026-02-18T14:00:00.000Z", false, true, "、設計"),
            ("Session 3 (2026-02-18)", "2026-02-18T00:00:00.000Z", false, false, ")"),
            ("v2026-1 2026-02-18", "2026-02-18T00:00:00.000Z", false, false, ""),
        ] {
            let found = find_first(text).unwrap_or_else(|| panic!("{text}"));
            let (is, end) = (found.at.iso(), &text[found.range.end..]);
            assert_eq!((is.as_str(), found.zoned, found.timed, end), (at, zoned, timed, rest), "{text}");
        }
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "設計",
            "2026-13-18",
            "2026-02-30",
            "2026-02/18",
            "2026-02-189",
            "12026-02-18",
            "x2026-02-18",
            "2026.02.18",
            "1969-12-31",
            "２０２６-02-18",
            "[timestamp]",
            "14:30",
        ] {
            assert_eq!(find_first(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_we_write_is_read(seconds in 0_u64..253_402_300_799) {
            let at = Millis(seconds * 1000);
            let found = find_first(&format!("日 [{}] — x", at.iso_seconds())).unwrap();
            prop_assert_eq!((found.at, found.zoned, found.timed), (at, true, true));
        }

        #[test]
        fn any_text_is_survived(text in "[0-9年月日時分:/T+Z JS-]{0,32}") {
            let _ = find_first(&text);
        }
    }
}

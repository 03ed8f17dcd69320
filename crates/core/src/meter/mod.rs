//! The context meter: how full the context is, the distance to the next compaction, and how fresh the
//! numbers are.
//!
//! Used tokens are those of the last main-thread request. Of three sources the newest counts ([`sources`]):
//! the payload, the *bridge* (the last numbers of the status line), and the end of the transcript. The
//! transcript is read backwards in growing steps, from 16 KB on, until a usable answer or a boundary comes:
//! its size does not matter.
//!
//! The client writes its transcript up to about 100 ms late. So a reading is *current* only if the event's
//! own trace is there already (its tool call, or at Stop the last message); otherwise it is *stale by one*.
//!
//! Windows and compaction points come from one table and one formula of the host, moved by its settings and
//! variables. Warnings are distances before the *reference point* (where the host compacts, else the
//! window), not percentages of the window: 60% of a million tokens is far too early, and 85% of 200K is
//! never reached before the compaction. More use than the known window holds proves a longer one, for the rest
//! of the session ([`Reading::outgrown`]): not every source keeps the `[1m]` of a model.

pub mod forecast;
pub mod sources;
pub mod transcript;
pub mod words;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::host::window::Window;
use crate::settings::setting::{Setting, Shape};
use crate::settings::value::Value;
use crate::time::Millis;
use forecast::Forecast;

/// A reading with its freshness. Without a default: "unknown" is a value, never 0 or 100.
#[derive(Clone, Debug, PartialEq)]
pub enum Meter {
    /// The numbers of this event's request.
    Current(Reading),
    /// The host writes its transcript with a delay: these may be the numbers of the previous request.
    StaleByOne(Reading),
    Unknown(NoReading),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoReading {
    /// No policy asked for one.
    NotNeeded,
    /// The model has not answered yet, or the transcript's path is unknown.
    NothingYet,
    /// The transcript exists but cannot be read.
    Broken(String),
    /// Not found within the hook's deadline.
    TimedOut,
}

impl fmt::Display for NoReading {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoReading::NotNeeded => out.write_str("not needed"),
            NoReading::NothingYet => out.write_str("no model answer yet"),
            NoReading::Broken(why) => out.write_str(why),
            NoReading::TimedOut => out.write_str("the transcript did not arrive in time"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Payload,
    /// The last numbers of Tidegate's status line.
    Bridge,
    /// The last usable answer in the transcript.
    Transcript,
    /// A compaction's own estimate of the tokens it left, too low until the next answer.
    Boundary,
}

impl Source {
    /// The name in JSON output.
    pub fn name(self) -> &'static str {
        match self {
            Source::Payload => "payload",
            Source::Bridge => "bridge",
            Source::Transcript => "transcript",
            Source::Boundary => "boundary",
        }
    }
}

/// The numbers of one main-thread request.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Tokens of the request: input, cache writes and cache reads.
    pub used: u64,
    /// `None` if the model is unknown.
    pub window: Option<Window>,
    pub source: Source,
    /// The time of the last change of the numbers.
    pub at: Millis,
    /// A model, and tokens of one of its answers, if they exceed the window that was known until now.
    pub outgrown: Option<(String, u64)>,
}

impl Reading {
    /// Percentage of the window in use: the number that the host shows. Never more than 100.
    pub fn used_pct(&self) -> Option<f64> {
        let window = self.window?;
        Some((100.0 * self.used as f64 / window.tokens as f64).min(100.0))
    }

    /// Tokens to the reference point; zero past it.
    pub fn left(&self) -> Option<u64> {
        Some(self.window?.reference().saturating_sub(self.used))
    }

    /// The highest level reached, as its percentage; 0 below all of them.
    pub fn level(&self) -> Option<u8> {
        let window = self.window?;
        let reached = LEVELS.iter().rev().find(|level| self.reaches(&window, f64::from(level.percent)));
        Some(reached.map_or(0, |level| level.percent))
    }

    fn reaches(&self, window: &Window, percent: f64) -> bool {
        window.reference().saturating_sub(self.used) as f64 <= distance(percent, window)
    }
}

impl Meter {
    /// Fresh or not.
    pub fn reading(&self) -> Option<&Reading> {
        match self {
            Meter::Current(reading) | Meter::StaleByOne(reading) => Some(reading),
            Meter::Unknown(_) => None,
        }
    }

    /// The word in records and JSON output.
    pub fn freshness(&self) -> &'static str {
        match self {
            Meter::Current(_) => "current",
            Meter::StaleByOne(_) => "stale_by_one",
            Meter::Unknown(_) => "unknown",
        }
    }
}

/// Named by its percentage of a 200K window, defined as a distance before the reference point.
struct Level {
    percent: u8,
    /// Tokens, if the host compacts only on an error or not at all.
    before_window: f64,
    /// Tokens, if the host compacts by itself.
    before_compaction: f64,
}

const LEVELS: [Level; 5] = [
    Level { percent: 60, before_window: 80_000.0, before_compaction: 47_000.0 },
    Level { percent: 75, before_window: 50_000.0, before_compaction: 17_000.0 },
    Level { percent: 80, before_window: 40_000.0, before_compaction: 12_000.0 },
    Level { percent: 85, before_window: 30_000.0, before_compaction: 7_000.0 },
    Level { percent: 95, before_window: 10_000.0, before_compaction: 2_000.0 },
];

/// Distances shrink in proportion for reference points below this one. 167K is where the client compacts a
/// 200K window, for which the levels were first written.
const FULL_DISTANCES_FROM: f64 = 167_000.0;

/// Tokens before the reference point at which a level begins. Interpolated between the named levels; 2K per
/// percent below 60; nothing at 100.
fn distance(percent: f64, window: &Window) -> f64 {
    let at = |level: &Level| match window.compact_at {
        Some(_) => level.before_compaction,
        None => level.before_window,
    };
    let above = LEVELS.iter().position(|level| f64::from(level.percent) >= percent);
    let tokens = match above {
        Some(0) => at(&LEVELS[0]) + (f64::from(LEVELS[0].percent) - percent) * 2000.0,
        Some(next) => {
            let (low, high) = (&LEVELS[next - 1], &LEVELS[next]);
            let part = (percent - f64::from(low.percent)) / f64::from(high.percent - low.percent);
            at(low) + part * (at(high) - at(low))
        }
        None => at(&LEVELS[4]) * (100.0 - percent.min(100.0)) / 5.0,
    };
    tokens * (window.reference() as f64 / FULL_DISTANCES_FROM).min(1.0)
}

/// In the config `"47k"`, `"4 turns"`, `"75%"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// A distance before the reference point, by the name of its level.
    Level(f64),
    /// Tokens left to the reference point.
    Tokens(u64),
    /// Turns left by the forecast.
    Turns(u32),
}

impl Threshold {
    /// Not reached while the numbers it needs are unknown.
    pub fn reached(self, reading: &Reading, forecast: Option<&Forecast>) -> bool {
        match self {
            Threshold::Level(percent) => {
                reading.window.is_some_and(|window| reading.reaches(&window, percent))
            }
            Threshold::Tokens(tokens) => reading.left().is_some_and(|left| left <= tokens),
            Threshold::Turns(turns) => forecast.is_some_and(|forecast| forecast.turns <= turns),
        }
    }
}

impl Threshold {
    pub const EARLY: Threshold = Threshold::Level(60.0);
    pub const LATE: Threshold = Threshold::Level(75.0);

    /// Whether it is reached earlier than the other one, in a window of 200K; false for turns and tokens, which cannot be
    /// compared.
    pub fn is_before(self, other: Threshold) -> bool {
        let window = Window { tokens: 200_000, compact_at: Some(FULL_DISTANCES_FROM as u64) };
        let tokens = |threshold| match threshold {
            Threshold::Level(percent) => Some(distance(percent, &window)),
            Threshold::Tokens(tokens) => Some(tokens as f64),
            Threshold::Turns(_) => None,
        };
        match (self, other) {
            (Threshold::Turns(one), Threshold::Turns(other)) => one > other,
            _ => tokens(self).zip(tokens(other)).is_some_and(|(one, other)| one > other),
        }
    }

    pub fn parse(text: &str) -> Option<Threshold> {
        let number = |part: &str| part.trim().parse::<f64>().ok().filter(|number| *number >= 0.0);
        let trimmed = text.trim();
        if let Some(percent) = trimmed.strip_suffix('%') {
            return number(percent).filter(|n| *n <= 100.0).map(Threshold::Level);
        }
        if let Some(turns) = trimmed.strip_suffix("turns").or_else(|| trimmed.strip_suffix("turn")) {
            return turns.trim().parse().map(Threshold::Turns).ok();
        }
        let (part, factor) = match trimmed.strip_suffix(['k', 'K']) {
            Some(part) => (part, 1000.0),
            None => (trimmed, 1.0),
        };
        let tokens = number(part).filter(|n| *n < 1e9)? * factor;
        // A level can be written as its distance, and then adapts to the window as well.
        let level = LEVELS.iter().find(|level| level.before_compaction as u64 == tokens as u64);
        let of_level = level.map(|level| Threshold::Level(f64::from(level.percent)));
        Some(of_level.unwrap_or(Threshold::Tokens(tokens as u64)))
    }
}

impl Setting for Threshold {
    const SHAPE: Shape = Shape::Text {
        pattern: "^ *[0-9]+(\\.[0-9]+)? *(%|k|K|turns?)? *$",
        example: "\"47k\" (tokens left), \"4 turns\" (turns left) or \"75%\" (a level of a 200k window)",
    };

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        Threshold::parse(text)
    }

    fn to_value(&self) -> Value {
        Value::Text(self.to_string())
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Level(percent) => {
                match LEVELS.iter().find(|level| Threshold::Level(f64::from(level.percent)) == *self) {
                    Some(level) => write!(out, "{}k", level.before_compaction / 1000.0),
                    None => write!(out, "{percent}%"),
                }
            }
            Threshold::Tokens(tokens) if tokens % 1000 == 0 => write!(out, "{}k", tokens / 1000),
            Threshold::Tokens(tokens) => write!(out, "{tokens}"),
            Threshold::Turns(1) => out.write_str("1 turn"),
            Threshold::Turns(turns) => write!(out, "{turns} turns"),
        }
    }
}

/// `46k`, `7.2k`, `900`: short enough for a sentence. Never rounded up, because it is the number of tokens
/// left.
pub fn short_tokens(tokens: u64) -> String {
    match tokens {
        0..1000 => tokens.to_string(),
        1000..10_000 => format!("{}.{}k", tokens / 1000, tokens % 1000 / 100),
        10_000..1_000_000 => format!("{}k", tokens / 1000),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reading(used: u64, tokens: u64, compact_at: Option<u64>) -> Reading {
        Reading {
            used,
            window: Some(Window { tokens, compact_at }),
            source: Source::Transcript,
            at: Millis(0),
            outgrown: None,
        }
    }

    #[test]
    fn levels_are_the_seeds_numbers_on_a_200k_window() {
        // (used, window, compact_at) -> level
        let table = [
            (119_999, 200_000, None, 0),
            (120_000, 200_000, None, 60),
            (149_999, 200_000, None, 60),
            (150_000, 200_000, None, 75),
            (160_000, 200_000, None, 80),
            (170_000, 200_000, None, 85),
            (190_000, 200_000, None, 95),
            (250_000, 200_000, None, 95),
            (119_999, 200_000, Some(167_000), 0),
            (120_000, 200_000, Some(167_000), 60),
            (149_999, 200_000, Some(167_000), 60),
            (150_000, 200_000, Some(167_000), 75),
            (155_000, 200_000, Some(167_000), 80),
            (160_000, 200_000, Some(167_000), 85),
            (165_000, 200_000, Some(167_000), 95),
            (600_000, 1_000_000, Some(967_000), 0),
            (919_999, 1_000_000, Some(967_000), 0),
            (920_000, 1_000_000, Some(967_000), 60),
            (950_000, 1_000_000, Some(967_000), 75),
            (919_999, 1_000_000, None, 0),
            (920_000, 1_000_000, None, 60),
        ];
        for (used, window, compact_at, level) in table {
            assert_eq!(
                reading(used, window, compact_at).level(),
                Some(level),
                "{used} of {window}, {compact_at:?}"
            );
        }
    }

    #[test]
    fn small_windows_shrink_the_distances() {
        // 83.5K is half of 167K, so level 60 begins 23.5K before it.
        assert_eq!(reading(59_999, 116_500, Some(83_500)).level(), Some(0));
        assert_eq!(reading(60_000, 116_500, Some(83_500)).level(), Some(60));
    }

    #[test]
    fn without_a_window_there_is_no_percentage() {
        let blind = Reading { window: None, ..reading(1, 1, None) };
        assert_eq!((blind.used_pct(), blind.left(), blind.level()), (None, None, None));
        assert!(!Threshold::Level(0.0).reached(&blind, None));
    }

    #[test]
    fn thresholds_read_and_refuse() {
        let read = Threshold::parse;
        assert_eq!(read("75%"), Some(Threshold::Level(75.0)));
        assert_eq!(read(" 30k "), Some(Threshold::Tokens(30_000)));
        assert_eq!(read("1500"), Some(Threshold::Tokens(1500)));
        assert_eq!(read("4 turns"), Some(Threshold::Turns(4)));
        assert_eq!(read("1 turn"), Some(Threshold::Turns(1)));
        // A level's distance is that level, and is shown so.
        for (written, shown) in
            [("47k", "47k"), ("60%", "47k"), ("17000", "17k"), ("2k", "2k"), ("70%", "70%")]
        {
            assert_eq!(read(written).map(|threshold| threshold.to_string()).as_deref(), Some(shown));
        }
        assert_eq!((read("47k"), read("17k")), (Some(Threshold::EARLY), Some(Threshold::LATE)));
        for wrong in ["", "k", "%", "101%", "-1k", "4 tuns", "NaN%", "1e300"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn thresholds_have_an_order() {
        let before = |one: &str, other: &str| {
            Threshold::parse(one).unwrap().is_before(Threshold::parse(other).unwrap())
        };
        assert!(
            before("47k", "20k")
                && before("60%", "75%")
                && before("20k", "17k")
                && before("4 turns", "1 turn")
        );
        assert!(!before("17k", "20k") && !before("20k", "20k") && !before("1 turn", "20k"));
        assert_eq!(Threshold::Turns(1).to_string(), "1 turn");
    }

    #[test]
    fn tokens_are_shortened_downwards() {
        let shown: Vec<String> = [999, 1999, 9999, 46_999, 999_999, 1_250_000].map(short_tokens).into();
        assert_eq!(shown, ["999", "1.9k", "9.9k", "46k", "999k", "1.2M"]);
    }

    proptest! {
        #[test]
        fn more_use_never_lowers_the_level(a in 0u64..1_200_000, b in 0u64..1_200_000, window in 50_000u64..1_000_000, auto: bool) {
            let compact_at = auto.then(|| window - 33_000);
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(reading(low, window, compact_at).level() <= reading(high, window, compact_at).level());
        }

        #[test]
        fn a_higher_level_begins_nearer(a in 0.0f64..100.0, b in 0.0f64..100.0, auto: bool) {
            let window = Window { tokens: 200_000, compact_at: auto.then_some(167_000) };
            prop_assert!(distance(a.max(b), &window) <= distance(a.min(b), &window));
        }
    }
}

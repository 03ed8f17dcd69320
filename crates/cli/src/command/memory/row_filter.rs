//! `--project`, `--topic`, `--session`, `--since` and `--until`, as `search` and `list` take them.

use tidegate_core::time::Millis;

use crate::args::Span;

/// Options that narrow a search or a list.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct RowFilter {
    /// Only this project: its name, its id or a folder in it
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only this topic
    #[arg(long, value_name = "ID", value_parser = super::parse_id)]
    pub(crate) topic: Option<i64>,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only since then: `2026-11-01`, or `7d` for seven days; days are UTC
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<When>,
    /// Only until then, that day included
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<When>,
}

/// A point in time: a day, a moment in UTC, or how long ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// The whole day, in UTC.
    Day(Millis),
    At(Millis),
    /// In milliseconds.
    Ago(u64),
}

impl When {
    /// Start of the span.
    pub(crate) fn since(self, now: Millis) -> Millis {
        match self {
            When::Day(at) | When::At(at) => at,
            When::Ago(ms) => now.before(ms),
        }
    }

    /// End of the span.
    pub(crate) fn until(self, now: Millis) -> Millis {
        match self {
            When::Day(at) => Millis(at.0 + 86_400_000),
            When::At(_) | When::Ago(_) => self.since(now),
        }
    }
}

impl std::str::FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<When, String> {
        let day = || {
            let mut numbers = text.split('-').map(|number| number.parse().ok());
            let day = Millis::of_day(numbers.next()??, numbers.next()??, numbers.next()??);
            day.filter(|_| numbers.next().is_none())
        };
        let when = day()
            .map(When::Day)
            .or_else(|| Millis::from_iso(text).map(When::At))
            .or_else(|| text.parse::<Span>().ok().map(|span| When::Ago(span.0)));
        when.ok_or_else(|| "use a day such as 2026-11-01, or how long ago: 30m, 12h, 7d".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_time() {
        let now = Millis(1_794_743_488_759);
        let day =
            |text: &str| text.parse::<When>().map(|when| (when.since(now).iso(), when.until(now).iso()));
        let span = |from: &str, to: &str| Ok((from.to_owned(), to.to_owned()));
        assert_eq!(day("2026-11-01"), span("2026-11-01T00:00:00.000Z", "2026-11-02T00:00:00.000Z"));
        assert_eq!(day("1d"), span("2026-11-14T11:51:28.759Z", "2026-11-14T11:51:28.759Z"));
        let moment = "2026-11-01T10:00:00Z";
        assert_eq!(day(moment), span("2026-11-01T10:00:00.000Z", "2026-11-01T10:00:00.000Z"));
        for text in ["", "yesterday", "2026-11", "2026-13-01", "2026-11-01-02", "-3d", "7"] {
            assert!(text.parse::<When>().is_err(), "{text}");
        }
    }
}

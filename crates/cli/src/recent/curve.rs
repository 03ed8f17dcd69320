//! How full a session's context was: readings, and signs where something happened.

use tidegate_core::meter::Reading;
use tidegate_core::pipeline::record::Record;
use tidegate_core::time::Millis;

use crate::bilingual::{Bilingual, both};

/// More readings are thinned out before they are drawn: the picture has no more columns.
const MOST_READINGS: usize = 600;

/// The same of a small drawing.
const MOST_SMALL: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CurvePoint {
    pub(crate) at: Millis,
    pub(crate) used: u64,
    /// Where the client compacts, else the end of the window.
    pub(crate) end: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignKind {
    Compaction,
    Warning,
    Block,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sign {
    pub(crate) at: Millis,
    pub(crate) kind: SignKind,
    /// Of the record.
    pub(crate) id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Curve {
    pub(crate) points: Vec<CurvePoint>,
    pub(crate) signs: Vec<Sign>,
}

impl Curve {
    /// Takes what a record of the session shows. Subagents have a context of their own.
    pub(crate) fn take(&mut self, record: &Record) {
        if record.agent.is_some() {
            return;
        }
        let Some(at) = Millis::from_iso(&record.at) else { return };
        if let Some(meter) = &record.meter
            && let Some(used) = meter.used
        {
            let point = CurvePoint { at, used, end: meter.compact_at.or(meter.window) };
            if self.points.last().is_none_or(|last| last.used != used) {
                self.points.push(point);
            }
        }
        self.signs.extend(signs_of(record).map(|kind| Sign { at, kind, id: record.id.clone() }));
        self.thin_to(2 * MOST_READINGS);
    }

    /// Of the same session, from before. It may have as many readings as a small drawing shows.
    pub(crate) fn put_before(&mut self, mut earlier: Curve) {
        earlier.points.append(&mut self.points);
        self.points = earlier.points;
        self.thin_to(2 * MOST_SMALL);
    }

    fn thin_to(&mut self, most: usize) {
        while self.points.len() > most {
            let before = self.points.len();
            self.thin_out();
            // What is left are falls.
            if self.points.len() == before {
                return;
            }
        }
    }

    /// Ends the curve with what the session's own files say: no hook runs between the last answer and the next prompt.
    pub(crate) fn continue_to(&mut self, reading: Option<&Reading>) {
        let Some(reading) = reading else { return };
        let point = CurvePoint {
            at: reading.at,
            used: reading.used,
            end: reading.window.map(|window| window.reference()),
        };
        if self.points.last().is_none_or(|last| (last.used, last.end) != (point.used, point.end)) {
            self.points.push(point);
        }
    }

    /// Every second point goes, except for those before a fall: they say when the client compacted.
    fn thin_out(&mut self) {
        let points = std::mem::take(&mut self.points);
        let is_kept = |at: usize| {
            at.is_multiple_of(2) || points.get(at + 1).is_none_or(|next| next.used < points[at].used / 2)
        };
        self.points =
            points.iter().enumerate().filter(|(at, _)| is_kept(*at)).map(|(_, point)| *point).collect();
    }

    /// Where the client compacts, else the end of the window.
    pub(crate) fn end(&self) -> Option<u64> {
        self.points.last().and_then(|point| point.end)
    }

    /// Tokens at the top of the drawing.
    pub(crate) fn top(&self) -> u64 {
        let most = self.points.iter().map(|point| point.used).max().unwrap_or(0);
        let end = self.end().unwrap_or(0);
        (most.max(end) * 21 / 20).max(1)
    }

    /// The place of a time among the readings, between 0 and 1.
    pub(crate) fn place(&self, at: Millis) -> f64 {
        let before = self.points.partition_point(|point| point.at <= at);
        let last = self.points.len().saturating_sub(1).max(1);
        (before.saturating_sub(1) as f64 / last as f64).min(1.0)
    }
}

/// One record can block and warn.
fn signs_of(record: &Record) -> impl Iterator<Item = SignKind> {
    let warns = |policy: &str| {
        record.verdicts.iter().any(|verdict| {
            verdict.policy == policy
                && !verdict.shadow
                && (verdict.says.model.is_some() || verdict.says.user.is_some())
        })
    };
    let blocks = matches!(record.ruling.as_str(), "deny" | "halt" | "ask");
    let signs = [
        (blocks, SignKind::Block),
        (!blocks && record.did.compacted, SignKind::Compaction),
        (warns("context-warning"), SignKind::Warning),
    ];
    signs.into_iter().filter_map(|(is_there, kind)| is_there.then_some(kind))
}

impl SignKind {
    pub(crate) fn title(self) -> Bilingual {
        match self {
            SignKind::Compaction => both!("compaction", "圧縮"),
            SignKind::Warning => both!("warning", "警告"),
            SignKind::Block => both!("block or question", "ブロックまたは確認"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::pipeline::record::{Deeds, MeterRecord, SaidTexts, VerdictRecord};

    fn record(minute: u64, used: u64) -> Record {
        Record {
            id: format!("r{minute}"),
            at: Millis(1_794_963_600_000 + minute * 60_000).iso(),
            ruling: "pass".to_owned(),
            meter: Some(MeterRecord {
                used: Some(used),
                compact_at: Some(160_000),
                ..MeterRecord::default()
            }),
            ..Record::default()
        }
    }

    #[test]
    fn records_make_points_and_signs() {
        let mut curve = Curve::default();
        curve.take(&record(0, 20_000));
        curve.take(&record(1, 20_000));
        curve.take(&Record { agent: Some("a1".to_owned()), ..record(2, 5_000) });
        let says = SaidTexts { model: Some("x".to_owned()), ..SaidTexts::default() };
        let warning =
            VerdictRecord { policy: "context-warning".to_owned(), says, ..VerdictRecord::default() };
        curve.take(&Record { verdicts: vec![warning.clone()], ..record(3, 120_000) });
        curve.take(&Record {
            ruling: "deny".to_owned(),
            verdicts: vec![warning.clone()],
            ..record(4, 130_000)
        });
        curve.take(&Record { did: Deeds { compacted: true, ..Deeds::default() }, ..record(5, 18_000) });
        curve.take(&Record { meter: None, ..record(6, 0) });
        let used: Vec<u64> = curve.points.iter().map(|point| point.used).collect();
        assert_eq!(used, [20_000, 120_000, 130_000, 18_000]);
        let signs: Vec<(SignKind, &str)> =
            curve.signs.iter().map(|sign| (sign.kind, sign.id.as_str())).collect();
        assert_eq!(
            signs,
            [
                (SignKind::Warning, "r3"),
                (SignKind::Block, "r4"),
                (SignKind::Warning, "r4"),
                (SignKind::Compaction, "r5")
            ]
        );
    }

    #[test]
    fn days_of_a_session_make_one_small_curve() {
        let day = |first: u64| {
            let mut curve = Curve::default();
            (0..500).for_each(|minute| curve.take(&record(first + minute, 1_000 + (first + minute) * 100)));
            curve
        };
        let mut curve = Curve::default();
        curve.put_before(day(500));
        curve.put_before(day(0));
        let used: Vec<u64> = curve.points.iter().map(|point| point.used).collect();
        assert!(used.len() <= 2 * MOST_SMALL && used.is_sorted(), "{used:?}");
        assert_eq!((used.first(), used.last()), (Some(&1_000), Some(&100_900)));
        let mut falls = Curve::default();
        let saw =
            (0..1_000).map(|minute| CurvePoint { at: Millis(minute), used: minute % 2 * 50_000, end: None });
        falls.put_before(Curve { points: saw.collect(), signs: Vec::new() });
        assert!(falls.points.len() >= 500, "falls are kept, and thinning ends");
    }

    #[test]
    fn a_long_session_keeps_its_peaks() {
        let mut curve = Curve::default();
        for minute in 0..20_000 {
            curve.take(&record(minute, 10_000 + minute % 1000 * 150));
        }
        assert!(curve.points.len() <= 2 * MOST_READINGS);
        assert_eq!(curve.points.iter().map(|point| point.used).max(), Some(159_850));
    }
}

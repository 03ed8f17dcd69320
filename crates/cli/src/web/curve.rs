//! How full a session's context was, as a drawing: a line for the tokens, and a sign where something happened.
//!
//! Steps on the way are as wide as each other, whatever the time between them: a night without a word is not the news.

use std::fmt::Write as _;

use maud::{Markup, html};
use tidegate_core::meter::short_tokens;
use tidegate_core::pipeline::record::Record;
use tidegate_core::time::Millis;

use crate::bilingual::{Bilingual, both};

/// More readings are thinned out before they are drawn: the picture has no more columns.
const MOST_READINGS: usize = 600;

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
        if let Some(kind) = sign_of(record) {
            self.signs.push(Sign { at, kind, id: record.id.clone() });
        }
        if self.points.len() > 2 * MOST_READINGS {
            self.thin_out();
        }
    }

    /// Every second point goes, except for those before a fall: they say when the client compacted.
    fn thin_out(&mut self) {
        let points = std::mem::take(&mut self.points);
        let is_kept = |at: usize| {
            at % 2 == 0 || points.get(at + 1).is_none_or(|next| next.used < points[at].used / 2)
        };
        self.points = points.iter().enumerate().filter(|(at, _)| is_kept(*at)).map(|(_, point)| *point).collect();
    }

    fn end(&self) -> Option<u64> {
        self.points.last().and_then(|point| point.end)
    }

    /// Tokens at the top of the drawing.
    fn top(&self) -> u64 {
        let most = self.points.iter().map(|point| point.used).max().unwrap_or(0);
        let end = self.end().unwrap_or(0);
        (most.max(end) * 21 / 20).max(1)
    }

    /// The place of a time among the readings, between 0 and 1.
    fn place(&self, at: Millis) -> f64 {
        let before = self.points.partition_point(|point| point.at <= at);
        let last = self.points.len().saturating_sub(1).max(1);
        (before.saturating_sub(1) as f64 / last as f64).min(1.0)
    }
}

fn sign_of(record: &Record) -> Option<SignKind> {
    let warns = |policy: &str| {
        record.verdicts.iter().any(|verdict| {
            verdict.policy == policy && !verdict.shadow && (verdict.says.model.is_some() || verdict.says.user.is_some())
        })
    };
    match record.ruling.as_str() {
        "deny" | "halt" | "ask" => Some(SignKind::Block),
        _ if record.did.compacted => Some(SignKind::Compaction),
        _ if warns("context-warning") => Some(SignKind::Warning),
        _ => None,
    }
}

impl SignKind {
    pub(crate) fn title(self) -> Bilingual {
        match self {
            SignKind::Compaction => both!("compaction", "圧縮"),
            SignKind::Warning => both!("warning", "警告"),
            SignKind::Block => both!("block or question", "ブロックまたは確認"),
        }
    }

    fn class(self) -> &'static str {
        match self {
            SignKind::Compaction => "compaction",
            SignKind::Warning => "warned",
            SignKind::Block => "blocked",
        }
    }

    /// Shapes differ, not only colours.
    fn shape(self, x: f64, y: f64) -> String {
        match self {
            SignKind::Compaction => format!("M{x:.1} {:.1}l6 6l-6 6l-6 -6z", y - 6.0),
            SignKind::Warning => format!("M{x:.1} {:.1}l6.5 11h-13z", y - 6.0),
            SignKind::Block => format!("M{:.1} {:.1}h10v10h-10z", x - 5.0, y - 5.0),
        }
    }
}

/// The size of the drawing, and its margins.
const SIZE: (f64, f64) = (760.0, 250.0);
const LEFT: f64 = 48.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 24.0;

/// Texts that a drawing needs.
pub(crate) struct CurveWords<'a> {
    pub(crate) summary: &'a str,
    pub(crate) compacts_at: &'a str,
    pub(crate) time: &'a dyn Fn(Millis) -> String,
    /// Where a sign leads, and what it says.
    pub(crate) sign: &'a dyn Fn(&Sign) -> (Option<String>, String),
}

impl Curve {
    pub(crate) fn draw(&self, words: &CurveWords<'_>) -> Markup {
        let (width, height) = SIZE;
        let (room_x, room_y) = (width - LEFT - 14.0, height - TOP - BOTTOM);
        let top = self.top() as f64;
        let y = |tokens: u64| TOP + room_y * (1.0 - tokens as f64 / top);
        let x = |place: f64| LEFT + room_x * place;
        let last = self.points.len().saturating_sub(1).max(1) as f64;
        let mut line = String::new();
        for (at, point) in self.points.iter().enumerate() {
            let _ = write!(line, "{}{:.1} {:.1}", if at == 0 { "M" } else { "L" }, x(at as f64 / last), y(point.used));
        }
        let area = format!("{line}V{:.1}H{LEFT:.1}Z", TOP + room_y);
        let steps = [0.25, 0.5, 0.75, 1.0].map(|part| (top / 1.05 * part) as u64);
        let ends = [self.points.first(), self.points.last()].map(|point| point.map(|point| (words.time)(point.at)));
        html! {
            svg.curve viewBox=(format!("0 0 {width} {height}")) role="group" aria-label=(words.summary) {
                g.grid aria-hidden="true" {
                    @for tokens in steps {
                        path d=(format!("M{LEFT} {:.1}H{:.1}", y(tokens), LEFT + room_x)) {}
                        text x=(LEFT - 6.0) y=(format!("{:.1}", y(tokens) + 4.0)) text-anchor="end" { (short_tokens(tokens)) }
                    }
                    @if let Some(first) = &ends[0] { text x=(LEFT) y=(height - 6.0) { (first) } }
                    @if let Some(last) = &ends[1] { text x=(LEFT + room_x) y=(height - 6.0) text-anchor="end" { (last) } }
                }
                path.area d=(area) aria-hidden="true" {}
                path.line d=(line) aria-hidden="true" {}
                @if let Some(end) = self.end() {
                    path.end d=(format!("M{LEFT} {:.1}H{:.1}", y(end), LEFT + room_x)) aria-hidden="true" {}
                    text.end x=(LEFT + 4.0) y=(format!("{:.1}", y(end) - 5.0)) aria-hidden="true" { (words.compacts_at) }
                }
                @for sign in &self.signs {
                    @let (link, title) = (words.sign)(sign);
                    @let shape = sign.kind.shape(x(self.place(sign.at)), 12.0);
                    @let stem = format!("M{:.1} 18V{:.1}", x(self.place(sign.at)), TOP + room_y);
                    a.sign class=(sign.kind.class()) href=[link] aria-label=(title) {
                        title { (title) }
                        path.stem d=(stem) {}
                        path d=(shape) {}
                    }
                }
            }
        }
    }

    /// A small line without words, for a list.
    pub(crate) fn draw_small(&self, label: &str) -> Markup {
        let top = self.top() as f64;
        let last = self.points.len().saturating_sub(1).max(1) as f64;
        let mut line = String::new();
        for (at, point) in self.points.iter().enumerate() {
            let (x, y) = (160.0 * at as f64 / last, 34.0 - 32.0 * point.used as f64 / top);
            let _ = write!(line, "{}{x:.1} {y:.1}", if at == 0 { "M" } else { "L" });
        }
        html! {
            svg.small viewBox="0 0 160 36" role="img" aria-label=(label) preserveAspectRatio="none" {
                path.area d=(format!("{line}V36H0Z")) {}
                path.line d=(line) {}
            }
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
            meter: Some(MeterRecord { used: Some(used), compact_at: Some(160_000), ..MeterRecord::default() }),
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
        let warning = VerdictRecord { policy: "context-warning".to_owned(), says, ..VerdictRecord::default() };
        curve.take(&Record { verdicts: vec![warning], ..record(3, 120_000) });
        curve.take(&Record { ruling: "deny".to_owned(), ..record(4, 130_000) });
        curve.take(&Record { did: Deeds { compacted: true, ..Deeds::default() }, ..record(5, 18_000) });
        curve.take(&Record { meter: None, ..record(6, 0) });
        let used: Vec<u64> = curve.points.iter().map(|point| point.used).collect();
        assert_eq!(used, [20_000, 120_000, 130_000, 18_000]);
        let signs: Vec<(SignKind, &str)> = curve.signs.iter().map(|sign| (sign.kind, sign.id.as_str())).collect();
        assert_eq!(signs, [(SignKind::Warning, "r3"), (SignKind::Block, "r4"), (SignKind::Compaction, "r5")]);
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

    #[test]
    fn a_drawing_names_its_signs() {
        let mut curve = Curve::default();
        curve.take(&record(0, 20_000));
        curve.take(&Record { ruling: "deny".to_owned(), ..record(4, 130_000) });
        let words = CurveWords {
            summary: "from 20k to 130k",
            compacts_at: "compacts here",
            time: &|at| at.iso(),
            sign: &|sign| (Some(format!("/t/event/{}", sign.id)), "blocked <b>".to_owned()),
        };
        let drawn = curve.draw(&words).into_string();
        assert!(drawn.contains("href=\"/t/event/r4\" aria-label=\"blocked &lt;b&gt;\""), "{drawn}");
        assert!(drawn.contains("d=\"M48.0 "), "{drawn}");
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        let nothing = Curve::default().draw(&words).into_string();
        assert!(!nothing.contains("NaN") && !nothing.contains("inf"), "{nothing}");
    }
}

//! A session's context curve as a drawing: a line for the tokens, and a sign where something happened.
//!
//! Steps on the way are as wide as each other, whatever the time between them: a night without a word is not the news.

use std::fmt::Write as _;

use maud::{Markup, html};
use tidegate_core::meter::short_tokens;
use tidegate_core::time::Millis;

use crate::recent::curve::{Curve, Sign, SignKind};

/// Shapes differ, not only colours.
fn shape(kind: SignKind, x: f64, y: f64) -> String {
    match kind {
        SignKind::Compaction => format!("M{x:.1} {:.1}l6 6l-6 6l-6 -6z", y - 6.0),
        SignKind::Warning => format!("M{x:.1} {:.1}l6.5 11h-13z", y - 6.0),
        SignKind::Block => format!("M{:.1} {:.1}h10v10h-10z", x - 5.0, y - 5.0),
    }
}

fn class(kind: SignKind) -> &'static str {
    match kind {
        SignKind::Compaction => "sign compaction",
        SignKind::Warning => "sign warned",
        SignKind::Block => "sign blocked",
    }
}

/// The size of the drawing, and its margins.
///
/// On a phone the drawing is half as large and its letters twice: there has to be room for them.
const SIZE: (f64, f64) = (760.0, 280.0);
const LEFT: f64 = 62.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 30.0;

/// Texts that a drawing needs.
pub(crate) struct CurveWords<'a> {
    pub(crate) summary: &'a str,
    pub(crate) time: &'a dyn Fn(Millis) -> String,
    /// Where a sign leads, and what it says.
    pub(crate) sign: &'a dyn Fn(&Sign) -> (Option<String>, String),
}

/// Readings that a mouse can see: of several next to each other, the highest.
const MOST_HOVERED: usize = 150;

/// Columns of a sign.
const SIGN: f64 = 16.0;

/// Where signs are drawn so that none hides another: in their order, as near to their places as there is room. Their stems show
/// the places.
fn apart(places: &[f64], end: f64) -> Vec<f64> {
    let step = SIGN.min((end - LEFT) / places.len().max(1) as f64);
    let mut drawn: Vec<f64> = Vec::with_capacity(places.len());
    for place in places {
        drawn.push(drawn.last().map_or(*place, |before| place.max(before + step)));
    }
    let mut limit = end;
    for place in drawn.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - step;
    }
    drawn
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
            let _ = write!(
                line,
                "{}{:.1} {:.1}",
                if at == 0 { "M" } else { "L" },
                x(at as f64 / last),
                y(point.used)
            );
        }
        let area = format!("{line}V{:.1}H{LEFT:.1}Z", TOP + room_y);
        let steps = [0.25, 0.5, 0.75, 1.0].map(|part| (top / 1.05 * part) as u64);
        let places: Vec<f64> = self.signs.iter().map(|sign| x(self.place(sign.at))).collect();
        let ends =
            [self.points.first(), self.points.last()].map(|point| point.map(|point| (words.time)(point.at)));
        html! {
            svg.curve viewBox=(format!("0 0 {width} {height}")) role="group" aria-label=(words.summary) {
                g.grid aria-hidden="true" {
                    @for tokens in steps {
                        path d=(format!("M{LEFT} {:.1}H{:.1}", y(tokens), LEFT + room_x)) {}
                        text x=(LEFT - 6.0) y=(format!("{:.1}", y(tokens) + 4.0)) text-anchor="end" { (short_tokens(tokens)) }
                    }
                    @if let Some(first) = &ends[0] { text x=(LEFT) y=(height - 8.0) { (first) } }
                    @if let Some(last) = &ends[1] { text x=(LEFT + room_x) y=(height - 8.0) text-anchor="end" { (last) } }
                }
                path.area d=(area) aria-hidden="true" {}
                path.line d=(line) aria-hidden="true" {}
                // A mouse that rests on the curve sees the reading. The table has them for everyone.
                g.hover aria-hidden="true" {
                    @let step = self.points.len().div_ceil(MOST_HOVERED).max(1);
                    @for (at, near) in self.points.chunks(step).enumerate() {
                        @let highest = near.iter().max_by_key(|point| point.used);
                        rect x=(format!("{:.1}", x((at * step) as f64 / last) - room_x / last / 2.0)) y=(TOP)
                            width=(format!("{:.1}", room_x * near.len() as f64 / last)) height=(room_y) {
                            @if let Some(point) = highest {
                                title { ((words.time)(point.at)) ": " (short_tokens(point.used)) }
                            }
                        }
                    }
                }
                @if let Some(end) = self.end() {
                    path.end d=(format!("M{LEFT} {:.1}H{:.1}", y(end), LEFT + room_x)) aria-hidden="true" {}
                }
                @for (sign, shown_at) in self.signs.iter().zip(apart(&places, LEFT + room_x)) {
                    @let (link, title) = (words.sign)(sign);
                    @let shape = shape(sign.kind, shown_at, 14.0);
                    @let stem = format!("M{:.1} 20V{:.1}", x(self.place(sign.at)), TOP + room_y);
                    a class=(class(sign.kind)) href=[link] aria-label=(title) {
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
    use crate::recent::curve::CurvePoint;

    #[test]
    fn no_sign_hides_another() {
        assert_eq!(apart(&[100.0, 300.0], 700.0), [100.0, 300.0]);
        assert_eq!(apart(&[100.0, 100.0, 105.0], 700.0), [100.0, 116.0, 132.0]);
        assert_eq!(apart(&[700.0, 700.0], 700.0), [684.0, 700.0]);
        let many = apart(&[400.0; 200], 700.0);
        assert!(many.iter().all(|place| (LEFT..=700.0).contains(place)), "{many:?}");
        assert!(many.windows(2).all(|pair| pair[1] > pair[0]), "{many:?}");
        assert!(apart(&[], 700.0).is_empty());
    }

    #[test]
    fn a_drawing_names_its_signs() {
        let point = |minute: u64, used| CurvePoint { at: Millis(minute * 60_000), used, end: Some(160_000) };
        let sign = Sign { at: Millis(240_000), kind: SignKind::Block, id: "r4".to_owned() };
        let curve = Curve { points: vec![point(0, 20_000), point(4, 130_000)], signs: vec![sign] };
        let words = CurveWords {
            summary: "from 20k to 130k",
            time: &|at| at.iso(),
            sign: &|sign| (Some(format!("/t/event/{}", sign.id)), "blocked <b>".to_owned()),
        };
        let drawn = curve.draw(&words).into_string();
        assert!(drawn.contains("href=\"/t/event/r4\" aria-label=\"blocked &lt;b&gt;\""), "{drawn}");
        assert!(drawn.contains("d=\"M62.0 "), "{drawn}");
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        let nothing = Curve::default().draw(&words).into_string();
        assert!(!nothing.contains("NaN") && !nothing.contains("inf"), "{nothing}");
    }
}

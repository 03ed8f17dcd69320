//! Rows of bars in parts, such as what became of each policy's interruptions.
//!
//! Each part has a pattern of its own, so that it keeps its meaning on grey paper and for readers who see no colours. The same
//! pattern stands before its count in the words next to the bar.

use maud::{Markup, html};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    Good,
    Later,
    Warning,
    Bad,
    Dim,
}

impl Fill {
    const ALL: [Fill; 5] = [Fill::Good, Fill::Later, Fill::Warning, Fill::Bad, Fill::Dim];

    /// Its pattern's id on every page, and the colour's class in the style sheet.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Fill::Good => ("fill-good", "good"),
            Fill::Later => ("fill-later", "accent"),
            Fill::Warning => ("fill-warning", "warning"),
            Fill::Bad => ("fill-bad", "bad"),
            Fill::Dim => ("fill-dim", "dim"),
        }
    }

    /// Lines on the tile of eight by eight, from dense to light. `None` fills it.
    fn lines(self) -> Option<(&'static str, f64)> {
        match self {
            Fill::Good => None,
            Fill::Later => Some(("M2 -1V9M6 -1V9", 2.0)),
            Fill::Warning => Some(("M-2 2L2 -2M-2 10L10 -2M6 10L10 6", 2.2)),
            Fill::Bad => Some(("M-2 2L2 -2M-2 10L10 -2M6 10L10 6M-2 6L2 10M-2 -2L10 10M6 -2L10 2", 2.0)),
            Fill::Dim => Some(("M2 3.2V4.8M6 7.2V8.8M6 -0.8V0.8", 1.8)),
        }
    }
}

/// The patterns, once on each page that has bars: their ids are the page's.
pub(crate) fn patterns() -> Markup {
    html! {
        svg.patterns width="0" height="0" aria-hidden="true" focusable="false" {
            defs {
                @for fill in Fill::ALL {
                    @let (id, class) = fill.names();
                    pattern id=(id) width="8" height="8" patternUnits="userSpaceOnUse" {
                        @match fill.lines() {
                            None => rect class=(class) width="8" height="8" {},
                            Some((lines, width)) => {
                                rect.ground width="8" height="8" {}
                                path class=(class) d=(lines) stroke-width=(width) {}
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(crate) struct BarPart {
    pub(crate) fill: Fill,
    pub(crate) amount: usize,
    /// With the amount.
    pub(crate) words: String,
}

pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) parts: Vec<BarPart>,
}

/// Widths are shares of the longest bar. The words say the same, for readers who see no bars.
pub(crate) fn draw(bars: &[Bar]) -> Markup {
    let total = |bar: &Bar| bar.parts.iter().map(|part| part.amount).sum::<usize>();
    let longest = bars.iter().map(total).max().unwrap_or(0).max(1) as f64;
    let percent = |amount: usize| format!("{:.2}%", 100.0 * amount as f64 / longest);
    html! {
        dl.bars {
            @for bar in bars {
                @let parts: Vec<&BarPart> = bar.parts.iter().filter(|part| part.amount > 0).collect();
                dt { (bar.label) }
                dd {
                    svg aria-hidden="true" {
                        @for (at, part) in parts.iter().enumerate() {
                            @let before: usize = parts[..at].iter().map(|part| part.amount).sum();
                            rect x=(percent(before)) width=(percent(part.amount)) height="100%" fill=(url(part.fill)) {}
                        }
                    }
                    @for part in parts {
                        span.key {
                            svg aria-hidden="true" { rect width="100%" height="100%" fill=(url(part.fill)) {} }
                            (part.words)
                        }
                        " "
                    }
                }
            }
        }
    }
}

fn url(fill: Fill) -> String {
    format!("url(#{})", fill.names().0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(fill: Fill, amount: usize) -> BarPart {
        BarPart { fill, amount, words: format!("{amount} <x>") }
    }

    #[test]
    fn bars_are_shares_of_the_longest() {
        let bars = [
            Bar {
                label: "a".to_owned(),
                parts: vec![part(Fill::Good, 3), part(Fill::Bad, 1), part(Fill::Dim, 0)],
            },
            Bar { label: "b".to_owned(), parts: vec![part(Fill::Good, 2)] },
            Bar { label: "c".to_owned(), parts: Vec::new() },
        ];
        let drawn = draw(&bars).into_string();
        assert!(
            drawn.contains("x=\"0.00%\" width=\"75.00%\" height=\"100%\" fill=\"url(#fill-good)\""),
            "{drawn}"
        );
        assert!(
            drawn.contains("x=\"75.00%\" width=\"25.00%\" height=\"100%\" fill=\"url(#fill-bad)\""),
            "{drawn}"
        );
        assert!(drawn.contains("</svg>3 &lt;x&gt;</span>") && !drawn.contains("fill-dim"), "{drawn}");
        assert!(!super::draw(&[]).into_string().contains("NaN"));
    }

    /// In grey, the pattern is all that is left.
    #[test]
    fn each_part_has_a_pattern_of_its_own() {
        let defined = patterns().into_string();
        let mut seen = std::collections::BTreeSet::new();
        for fill in Fill::ALL {
            let (id, class) = fill.names();
            assert_eq!(defined.matches(&format!("<pattern id=\"{id}\"")).count(), 1, "{defined}");
            let drawn = draw(&[Bar { label: String::new(), parts: vec![part(fill, 1)] }]).into_string();
            // The bar, and the swatch before the count.
            assert_eq!(drawn.matches(&format!("fill=\"url(#{id})\"")).count(), 2, "{drawn}");
            let tile = defined
                .split(&format!("id=\"{id}\""))
                .nth(1)
                .and_then(|rest| rest.split("</pattern>").next());
            let shape = tile.expect("its tile").replace(class, "");
            assert!(seen.insert(shape), "{id} looks like another one");
        }
    }
}

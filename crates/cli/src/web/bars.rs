//! Rows of bars in parts, such as what became of each policy's interruptions.

use maud::{Markup, html};

pub(crate) struct BarPart {
    /// Of the style sheet: a colour and a pattern.
    pub(crate) class: &'static str,
    pub(crate) amount: usize,
    pub(crate) title: String,
}

pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) parts: Vec<BarPart>,
}

/// Widths are shares of the longest bar. The titles say the same in words, for readers who see no bars.
pub(crate) fn draw(bars: &[Bar]) -> Markup {
    let total = |bar: &Bar| bar.parts.iter().map(|part| part.amount).sum::<usize>();
    let longest = bars.iter().map(total).max().unwrap_or(0).max(1) as f64;
    html! {
        dl.bars {
            @for bar in bars {
                @let parts: Vec<&BarPart> = bar.parts.iter().filter(|part| part.amount > 0).collect();
                @let titles: Vec<&str> = parts.iter().map(|part| part.title.as_str()).collect();
                dt { (bar.label) }
                dd {
                    svg viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true" {
                        @for (at, part) in parts.iter().enumerate() {
                            @let before: usize = parts[..at].iter().map(|part| part.amount).sum();
                            rect class=(part.class) x=(format!("{:.1}", 1000.0 * before as f64 / longest)) y="0" height="20"
                                width=(format!("{:.1}", (1000.0 * part.amount as f64 / longest - 2.0).max(1.0))) {}
                        }
                    }
                    span { (titles.join(", ")) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_shares_of_the_longest() {
        let part = |class, amount| BarPart { class, amount, title: format!("{amount} <x>") };
        let bars = [
            Bar { label: "a".to_owned(), parts: vec![part("good", 3), part("bad", 1), part("open", 0)] },
            Bar { label: "b".to_owned(), parts: vec![part("good", 2)] },
            Bar { label: "c".to_owned(), parts: Vec::new() },
        ];
        let drawn = draw(&bars).into_string();
        assert!(drawn.contains("class=\"good\" x=\"0.0\" y=\"0\" height=\"20\" width=\"748.0\""), "{drawn}");
        assert!(drawn.contains("class=\"bad\" x=\"750.0\" y=\"0\" height=\"20\" width=\"248.0\""), "{drawn}");
        assert!(drawn.contains("3 &lt;x&gt;, 1 &lt;x&gt;") && !drawn.contains("open"), "{drawn}");
        assert!(!super::draw(&[]).into_string().contains("NaN"));
    }
}

//! How pages look: snapshots in both languages at two widths, and no line is wider than its screen at any width.

use tidegate_core::text::lang::Lang;

use super::fold::width;
use super::page::Page;
use super::terminal::Terminal;

pub(crate) fn assert_looks(name: &str, page: &Page) {
    for (code, lang) in [("en", Lang::En), ("ja", Lang::Ja)] {
        for columns in 40..=120 {
            let text = page.render(lang, Terminal { width: columns, has_colors: false, breaks_words: true });
            let too_wide = text.lines().find(|line| width(line) > columns);
            assert_eq!(too_wide, None, "{name} {code} {columns}");
        }
        for columns in [60, 80] {
            let text = page.render(lang, Terminal { width: columns, has_colors: false, breaks_words: true });
            insta::assert_snapshot!(format!("{name}-{code}-{columns}"), text);
        }
    }
}

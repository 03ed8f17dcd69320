//! A page as HTML: the headings, lists and tables that a terminal gets, for a browser.

use maud::{Markup, html};
use tidegate_core::text::hidden::show_hidden;
use tidegate_core::text::lang::Lang;

use super::page::{Page, PageBlock};
use super::table::Table;
use super::text::{Text, Tone};

impl Page {
    /// Its headings follow one of the document's, `<h1>` or `<h2>`.
    pub(crate) fn html(&self, lang: Lang) -> Markup {
        let mut blocks = self.blocks().iter().peekable();
        html! {
            @while let Some((indent, block)) = blocks.next() {
                @match block {
                    PageBlock::Gap => {}
                    PageBlock::Heading(text) => h2 class=(step(*indent)) { (text.html(lang)) }
                    PageBlock::Paragraph(text) => p class=(step(*indent)) { (text.html(lang)) }
                    PageBlock::Labelled(label, text) => {
                        p class=(step(*indent)) { strong { (label.html(lang)) ":" } " " (text.html(lang)) }
                    }
                    PageBlock::Item(text) => {
                        ul class=(step(*indent)) {
                            li { (text.html(lang)) }
                            @while let Some((_, PageBlock::Item(text))) =
                                blocks.next_if(|(next, block)| next == indent && matches!(block, PageBlock::Item(_)))
                            {
                                li { (text.html(lang)) }
                            }
                        }
                    }
                    PageBlock::Pairs { pairs, .. } => {
                        dl class=(step(*indent)) {
                            @for (key, value) in pairs { dt { (key.html(lang)) } dd { (value.html(lang)) } }
                        }
                    }
                    PageBlock::Table(table) => (table.html(lang)),
                    PageBlock::Verbatim(text) => pre tabindex="0" { (show_hidden(text)) },
                }
            }
        }
    }
}

fn step(indent: usize) -> &'static str {
    if indent == 0 { "block" } else { "block inner" }
}

impl Text {
    /// Commands lose their ticks, in whichever tone: `<code>` shows them.
    pub(crate) fn html(&self, lang: Lang) -> Markup {
        let spoken = self.spoken(lang);
        html! {
            @for (tone, part) in spoken.parts() {
                @match tone {
                    Tone::Plain => (with_code(part)),
                    Tone::Strong => strong { (with_code(part)) },
                    Tone::Dim => span.dim { (with_code(part)) },
                    Tone::Good => span.good { (with_code(part)) },
                    Tone::Warning => span.warning { (with_code(part)) },
                    Tone::Bad => span.bad { (with_code(part)) },
                    Tone::Command if part.contains('`') => (with_code(part)),
                    Tone::Command => code { (part) },
                }
            }
        }
    }
}

/// A tick without a partner is only a character.
fn with_code(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    let is_code = |at: usize| at % 2 == 1 && at + 1 < parts.len() && !parts[at].is_empty();
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if is_code(at) { code { (part) } } @else {
                // The tick before it, and the one after it.
                @if at % 2 == 1 { "`" }
                (part)
                @if at % 2 == 1 && at + 1 < parts.len() { "`" }
            }
        }
    }
}

impl Table {
    fn html(&self, lang: Lang) -> Markup {
        let has_titles = self.columns.iter().any(|column| !column.title.spoken(lang).text.is_empty());
        html! {
            div.wide tabindex="0" {
                table {
                    @if has_titles {
                        thead { tr {
                            @for column in &self.columns {
                                th scope="col" class=[column.is_number.then_some("number")] { (column.title.html(lang)) }
                            }
                        } }
                    }
                    tbody {
                        @for row in &self.rows {
                            tr {
                                @for (at, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                                    @if at == 0 { th scope="row" { (cell.html(lang)) } }
                                    @else { td class=[column.is_number.then_some("number")] { (cell.html(lang)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bilingual::both;
    use crate::print::table::Column;
    use crate::print::text::data;

    #[test]
    fn a_page_has_the_same_parts_in_a_browser() {
        let mut page = Page::new();
        page.heading(both!("What it did", "したこと"));
        page.item(both!("ran `npm test`", "`npm test` を実行"));
        page.item(data("two").bad());
        page.pairs([(data("key").strong(), data("a\nb"))]);
        let mut table =
            Table::new([Column::text(both!("policy", "ポリシー")), Column::number(both!("n", "数"))]);
        table.row([data("verify-stop"), data(3)]);
        page.table(table);
        page.verbatim("x < y");
        let shown = page.html(Lang::En).into_string();
        let wanted = "<h2 class=\"block\">What it did</h2><ul class=\"block\"><li>ran <code>npm test</code></li>\
            <li><span class=\"bad\">two</span></li></ul><dl class=\"block\"><dt><strong>key</strong></dt><dd>a\nb</dd></dl>\
            <div class=\"wide\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">policy</th>\
            <th scope=\"col\" class=\"number\">n</th></tr></thead><tbody><tr><th scope=\"row\">verify-stop</th>\
            <td class=\"number\">3</td></tr></tbody></table></div><pre tabindex=\"0\">x &lt; y</pre>";
        assert_eq!(shown, wanted);
        assert!(page.html(Lang::Ja).into_string().contains("<code>npm test</code> を実行"));
    }

    #[test]
    fn commands_are_code_in_every_tone() {
        let shown = |text: Text| text.html(Lang::En).into_string();
        let text = || data("passed: `npm <test>`, twice");
        let code = "passed: <code>npm &lt;test&gt;</code>, twice";
        assert_eq!(shown(text()), code);
        assert_eq!(shown(text().good()), format!("<span class=\"good\">{code}</span>"));
        assert_eq!(shown(text().strong()), format!("<strong>{code}</strong>"));
        assert_eq!(shown(data("npm test").command()), "<code>npm test</code>");
        assert_eq!(shown(data("``` and a b").dim()), "<span class=\"dim\">``` and a b</span>");
    }

    #[test]
    fn words_of_others_are_only_words() {
        let hostile = "<script>alert(1)</script>\"'>\u{202e}\u{1b}[31m";
        let mut page = Page::of(data(hostile));
        page.verbatim(hostile);
        page.heading(data(hostile));
        let shown = page.html(Lang::En).into_string();
        assert!(
            !shown.contains("<script") && !shown.contains('\u{202e}') && !shown.contains('\u{1b}'),
            "{shown}"
        );
    }
}

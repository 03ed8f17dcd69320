//! A Markdown file as sections below level-2 headings.
//!
//! Everything is a byte range of the text, so that a change of one part copies the others byte for byte.

use std::ops::Range;

use crate::text::search;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newline {
    Lf,
    CrLf,
}

impl Newline {
    /// The most frequent one in the text.
    pub fn of(text: &str) -> Newline {
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let (with, without): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.ends_with("\r\n"));
        if with.len() > without.len() { Newline::CrLf } else { Newline::Lf }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Newline::Lf => "\n",
            Newline::CrLf => "\r\n",
        }
    }
}

/// An open code fence: its character and their count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeFence {
    mark: u8,
    count: usize,
}

impl CodeFence {
    pub(super) fn opened(line: &str) -> Option<CodeFence> {
        let text = unindented(line)?;
        let mark = *text.as_bytes().first().filter(|first| matches!(first, b'`' | b'~'))?;
        let count = text.bytes().take_while(|byte| *byte == mark).count();
        // Further backticks in the line make it inline code.
        let inline = mark == b'`' && text[count..].contains('`');
        (count >= 3 && !inline).then_some(CodeFence { mark, count })
    }

    pub(super) fn is_closed_by(self, line: &str) -> bool {
        unindented(line).is_some_and(|text| {
            let count = text.bytes().take_while(|byte| *byte == self.mark).count();
            count >= self.count && text[count..].trim().is_empty()
        })
    }
}

/// `None` if the indentation is so deep that it makes the line code.
fn unindented(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() <= 3).then_some(text)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownLine<'a> {
    /// Without its end, and without a byte order mark.
    pub text: &'a str,
    /// Counted from 1.
    pub number: usize,
    /// With its end, without a byte order mark.
    pub range: Range<usize>,
    /// Inside a code fence, or one of its two marks.
    pub fenced: bool,
}

#[derive(Clone, Debug)]
pub struct MarkdownLines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
    fence: Option<CodeFence>,
}

/// A fence that is never closed reaches to the end.
pub fn lines(text: &str) -> MarkdownLines<'_> {
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    MarkdownLines { text, at, number: 0, fence: None }
}

impl<'a> Iterator for MarkdownLines<'a> {
    type Item = MarkdownLine<'a>;

    fn next(&mut self) -> Option<MarkdownLine<'a>> {
        if self.at >= self.text.len() {
            return None;
        }
        let rest = &self.text[self.at..];
        let end = search::first(rest.as_bytes(), b'\n').map_or(rest.len(), |at| at + 1);
        let text = &rest[..end];
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let range = self.at..self.at + end;
        self.at = range.end;
        self.number += 1;
        let fenced = if let Some(fence) = self.fence {
            if fence.is_closed_by(text) {
                self.fence = None;
            }
            true
        } else {
            self.fence = CodeFence::opened(text);
            self.fence.is_some()
        };
        Some(MarkdownLine { text, number: self.number, range, fenced })
    }
}

/// The line that would close a fence left open in the text.
pub(super) fn closing_fence(text: &str) -> Option<String> {
    let mut lines = lines(text);
    lines.by_ref().for_each(drop);
    lines.fence.map(|fence| char::from(fence.mark).to_string().repeat(fence.count))
}

/// A level-2 heading with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownSection<'a> {
    /// Without `## `, trimmed.
    pub heading: &'a str,
    /// The heading's line, counted from 1.
    pub line: usize,
    /// From the heading's line to the next heading.
    pub range: Range<usize>,
    /// Without the heading's line.
    pub body: &'a str,
}

/// A text cut at its level-2 headings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownSections<'a> {
    pub text: &'a str,
    /// The text above the first heading, with a byte order mark.
    pub preamble: Range<usize>,
    /// In the order of the text.
    pub sections: Vec<MarkdownSection<'a>>,
}

/// At lines that begin with `## ` outside of code fences.
pub fn sections(text: &str) -> MarkdownSections<'_> {
    let mut sections: Vec<MarkdownSection<'_>> = Vec::new();
    for line in lines(text).filter(|line| !line.fenced) {
        if let Some(heading) = line.text.strip_prefix("## ") {
            if let Some(last) = sections.last_mut() {
                end_section(last, text, line.range.start);
            }
            let (heading, line, range) = (heading.trim(), line.number, line.range);
            // Cut at the next heading.
            sections.push(MarkdownSection { heading, line, body: &text[range.end..], range });
        }
    }
    if let Some(last) = sections.last_mut() {
        end_section(last, text, text.len());
    }
    let preamble = 0..sections.first().map_or(text.len(), |first| first.range.start);
    MarkdownSections { text, preamble, sections }
}

fn end_section<'a>(section: &mut MarkdownSection<'a>, text: &'a str, at: usize) {
    let body = text.len() - section.body.len();
    section.body = &text[body..at];
    section.range.end = at;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn headings(text: &str) -> Vec<&str> {
        sections(text).sections.iter().map(|section| section.heading).collect()
    }

    #[test]
    fn what_is_a_heading() {
        for (text, expected) in [
            ("", vec![]),
            ("# title\n\nwords\n", vec![]),
            ("## a\nx\n## b", vec!["a", "b"]),
            ("##  設計を決めた  \r\nx\r\n", vec!["設計を決めた"]),
            ("\u{feff}## a\n", vec!["a"]),
            ("\u{feff}```\n## a\n```\n## b\n", vec!["b"]),
            ("### a\n##a\n ## a\n#\n", vec![]),
            ("```md\n## a\n```\n## b\n", vec!["b"]),
            ("   ~~~\n## a\n```\n## a\n~~~~\n## b\n", vec!["b"]),
            ("````\n```\n## a\n````\n## b\n", vec!["b"]),
            ("``` `x`\n## a\n", vec!["a"]),
            ("```x``` is code\n## a\n", vec!["a"]),
            ("    ```\n## a\n", vec!["a"]),
            ("``\n## a\n", vec!["a"]),
            ("```\n## a\n``` no end\n## a\n", vec![]),
            ("## a\n```\n## b\n", vec!["a"]),
            ("```\r\n## a\r\n```\r\n## b\r\n", vec!["b"]),
        ] {
            assert_eq!(headings(text), expected, "{text:?}");
        }
    }

    #[test]
    fn where_a_section_is() {
        let text = "\u{feff}# 進捗\r\n\r\n## 一\r\nあ\r\n\r\n## 二";
        let found = sections(text);
        assert_eq!(&text[found.preamble.clone()], "\u{feff}# 進捗\r\n\r\n");
        let [one, two] = &found.sections[..] else { panic!("{found:?}") };
        assert_eq!((one.line, one.body, &text[one.range.clone()]), (3, "あ\r\n\r\n", "## 一\r\nあ\r\n\r\n"));
        assert_eq!((two.line, two.body, &text[two.range.clone()]), (6, "", "## 二"));
    }

    #[test]
    fn how_lines_end() {
        assert_eq!(Newline::of("a\r\nb\r\nc\n"), Newline::CrLf);
        assert_eq!(Newline::of("a\r\nb\n"), Newline::Lf);
        assert_eq!(Newline::of(""), Newline::Lf);
        assert_eq!(Newline::of("\n\r"), Newline::Lf);
    }

    #[test]
    fn what_closes_a_fence() {
        assert_eq!(closing_fence("a\n~~~~ rust\n~~~\n").as_deref(), Some("~~~~"));
        assert_eq!(closing_fence("```\n```\n"), None);
    }

    proptest! {
        #[test]
        fn the_parts_are_the_text(lines in proptest::collection::vec(
            prop_oneof![Just("## a\n"), Just("## 日\r\n"), Just("```\n"), Just("~~~\r\n"), Just("\u{feff}"), Just("x"), Just("\n")],
            0..24)) {
            let text = lines.concat();
            let found = sections(&text);
            let mut whole = text[found.preamble.clone()].to_owned();
            let mut at = found.preamble.end;
            for section in &found.sections {
                prop_assert_eq!(section.range.start, at);
                at = section.range.end;
                prop_assert!(text[section.range.clone()].ends_with(section.body));
                whole.push_str(&text[section.range.clone()]);
            }
            prop_assert_eq!(whole, text);
        }

        #[test]
        fn any_text_is_survived(text in "\\PC{0,64}") {
            let _ = sections(&text);
        }
    }
}

//! The meta tag, with which an answer names its project and topic.
//!
//! Two forms are read, and the first is written:
//!
//! ```text
//! <!-- [meta] project: NAME (id: N) | topic: NAME (id: M) -->
//!
//! **[meta]**
//! - project: NAME (id: N)
//! - topic: NAME (id: M)
//! ```
//!
//! A tag in code is an example, so the text is read as Markdown as far as necessary: fences, indented code,
//! code between backticks. The work is linear in the text's length. The rules with examples are in
//! `meta_tag.md`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::feature::memory::catalogue::NamedId;
use crate::text::search;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicTag {
    /// `None` without an id.
    pub project: Option<NamedId>,
    pub topic: NamedId,
}

/// Only outside of code.
pub fn find_last(text: &str) -> Option<TopicTag> {
    read_tags(text).pop().map(|(tag, _)| tag)
}

/// Tags in code stay.
pub fn without_tags(text: &str) -> Cow<'_, str> {
    let tags = read_tags(text);
    if tags.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
    for (_, place) in tags {
        rest.push_str(text.get(at..place.start).unwrap_or_default());
        at = place.end.max(at);
    }
    rest.push_str(&text[at..]);
    Cow::Owned(rest)
}

/// With their ranges in the text.
fn read_tags(text: &str) -> Vec<(TopicTag, Range<usize>)> {
    if !search::holds_in_any_case(text.as_bytes(), b"[meta]") {
        return Vec::new();
    }
    let mut reader = TagReader::default();
    let mut at = 0;
    while at < text.len() {
        at = reader.line(text, at);
    }
    reader.end_of_paragraph(text);
    reader.found
}

/// Characters of a name that would end the tag are replaced.
pub fn render(project: &NamedId, topic: &NamedId) -> String {
    let (project_name, topic_name) = (in_a_tag(&project.name), in_a_tag(&topic.name));
    format!(
        "<!-- [meta] project: {project_name} (id: {}) | topic: {topic_name} (id: {}) -->",
        project.id, topic.id
    )
}

/// One line, without characters that would end the comment or begin the next part of the tag.
fn in_a_tag(name: &str) -> String {
    let line: String = name
        .chars()
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect();
    let name = line.trim();
    let mut out = String::with_capacity(name.len());
    for (at, c) in name.char_indices() {
        let rest = &name[at + c.len_utf8()..];
        out.push(match c {
            '<' if rest.starts_with("!--") => '‹',
            '>' if name[..at].ends_with("--") || name[..at].ends_with("--!") => '›',
            '|' | '｜' if value_after(rest, "topic").is_some() => '/',
            c => c,
        });
    }
    out
}

/// Reads lines and gathers paragraphs, which are searched at their end.
#[derive(Debug, Default)]
struct TagReader {
    found: Vec<(TopicTag, Range<usize>)>,
    /// The open fence.
    fence: Option<OpenFence>,
    /// The paragraph so far, as a range of the text.
    paragraph: Option<(usize, usize)>,
    /// Indentation of the last list item's text, while the list lasts.
    list: Option<usize>,
    /// The previous line was empty, missing, or indented code.
    code_may_begin: bool,
    started: bool,
    /// The list below a heading `[meta]`.
    listed: Option<OpenList>,
    close: CommentEnd,
}

#[derive(Debug)]
struct OpenList {
    from: usize,
    project: Option<NamedId>,
}

#[derive(Clone, Copy, Debug)]
struct OpenFence {
    mark: u8,
    length: usize,
    quotes: usize,
}

impl TagReader {
    /// Takes the line at `start`; returns where to continue.
    fn line(&mut self, text: &str, start: usize) -> usize {
        let end = search::first(&text.as_bytes()[start..], b'\n').map_or(text.len(), |at| start + at + 1);
        if !self.started {
            self.started = true;
            self.code_may_begin = true;
        }
        let (quotes, line) = without_quotes(&text[start..end]);
        let (indent, content) = indented(line);
        let content = content.trim_end();

        if let Some(fence) = self.fence {
            self.close_fence(fence, quotes, content);
            // A line outside of the quote that held the fence is not part of it.
            return if quotes < fence.quotes { self.line(text, start) } else { end };
        }
        if content.is_empty() {
            self.end_of_paragraph(text);
            self.code_may_begin = true;
            return end;
        }
        let base = self.list.map_or(0, |list| list.min(indent));
        if self.code_may_begin && self.paragraph.is_none() && indent >= base + 4 {
            self.listed = None;
            return end;
        }
        if let Some((mark, length)) = fence_of(content) {
            self.end_of_paragraph(text);
            self.listed = None;
            self.fence = Some(OpenFence { mark, length, quotes });
            return end;
        }
        if content.starts_with("<!--") {
            self.end_of_paragraph(text);
            self.listed = None;
            self.code_may_begin = false;
            return self.comment_block(text, end - content_after(&text[start..end], "<!--"));
        }
        let item = list_item(content);
        if let Some(marker) = item {
            self.end_of_paragraph(text);
            self.list = Some(indent + marker);
        } else if self.paragraph.is_none() && self.list.is_some_and(|list| indent < list) {
            self.list = None;
        }
        if content.starts_with('#') {
            self.end_of_paragraph(text);
        }
        self.code_may_begin = false;
        let from = self.paragraph.map_or(start, |(from, _)| from);
        self.paragraph = Some((from, end));
        if content.starts_with('#') {
            self.end_of_paragraph(text);
        }
        end
    }

    /// Closes the fence at its closing line, or at the end of the quote that holds it.
    fn close_fence(&mut self, fence: OpenFence, quotes: usize, content: &str) {
        let rest = content.trim_start_matches(char::from(fence.mark));
        let is_closing = rest.is_empty() && content.len() >= fence.length;
        if quotes < fence.quotes || is_closing {
            self.fence = None;
            self.code_may_begin = true;
        }
    }

    /// A comment that begins a block continues over empty lines. `inside` is the beginning of its content.
    fn comment_block(&mut self, text: &str, inside: usize) -> usize {
        let Some(close) = self.close.after(text.as_bytes(), inside) else {
            // Without an end it holds no tag; the lines after it are read as usual.
            return inside;
        };
        self.comment(text, inside - "<!--".len()..close + "-->".len());
        close + "-->".len()
    }

    fn end_of_paragraph(&mut self, text: &str) {
        let Some((from, to)) = self.paragraph.take() else { return };
        let paragraph = &text[from..to];
        let spans = code_and_comments(paragraph);
        let mut hidden = spans.iter().peekable();
        let mut at = 0;
        for line in paragraph.split_inclusive('\n') {
            while hidden.next_if(|span| span.end <= at).is_some() {}
            let begins_inside = hidden.peek().is_some_and(|span| span.start < at);
            if begins_inside {
                self.listed = None;
            } else {
                self.list_line(line, from + at);
            }
            at += line.len();
        }
        for comment in spans.iter().filter(|span| span.comment) {
            self.comment(text, from + comment.start..from + comment.end);
        }
    }

    /// A line of the second form, or any other.
    fn list_line(&mut self, line: &str, start: usize) {
        let end = start + line.len();
        let line = line.trim();
        let is_heading =
            line.trim_matches(['*', '_', '#', ':', '：', ' ', '\\']).eq_ignore_ascii_case("[meta]");
        if is_heading {
            self.listed = Some(OpenList { from: start, project: None });
            return;
        }
        let Some(OpenList { from, project }) = &mut self.listed else { return };
        let content = line.trim_start_matches(['-', '*', '+', '•', '・', '_', ' ']);
        if let Some(rest) = value_after(content, "project") {
            *project = name_and_id(rest);
        } else if let Some(topic) = value_after(content, "topic").and_then(name_and_id) {
            let tag = (TopicTag { project: project.take(), topic }, *from..end);
            self.listed = None;
            self.found.push(tag);
        } else {
            self.listed = None;
        }
    }

    fn comment(&mut self, text: &str, place: Range<usize>) {
        let content = &text[place.start + "<!--".len()..place.end - "-->".len()];
        // An unfinished comment before the tag.
        let content = content.rsplit("<!--").next().unwrap_or_default().trim();
        let Some((head, rest)) = content.split_at_checked("[meta]".len()) else { return };
        if !head.eq_ignore_ascii_case("[meta]") {
            return;
        }
        if let Some(tag) = fields(rest.trim_start().trim_start_matches([':', '：'])) {
            self.found.push((tag, place));
        }
    }
}

/// `project: NAME (id: N) | topic: NAME (id: M)`, or the topic alone.
fn fields(text: &str) -> Option<TopicTag> {
    if let Some(topic) = value_after(text, "topic") {
        return Some(TopicTag { project: None, topic: name_and_id(topic)? });
    }
    let project = value_after(text, "project")?;
    let (before, topic) =
        project.char_indices().filter(|(_, c)| matches!(c, '|' | '｜')).find_map(|(at, bar)| {
            Some((&project[..at], value_after(&project[at + bar.len_utf8()..], "topic")?))
        })?;
    Some(TopicTag { project: name_and_id(before), topic: name_and_id(topic)? })
}

/// The text after `word:`.
fn value_after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let text = text.trim_start();
    let (head, rest) = text.split_at_checked(word.len())?;
    if !head.eq_ignore_ascii_case(word) {
        return None;
    }
    let after = rest.trim_start_matches(['*', '_']).trim_start();
    let value = after.strip_prefix([':', '：'])?;
    // `**topic:**`
    let bold = rest.starts_with([':', '：']) && value.starts_with("**");
    Some(if bold { &value[2..] } else { value })
}

/// `NAME (id: N)`.
fn name_and_id(text: &str) -> Option<NamedId> {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '.' | '。' | '\\'));
    let inner = text.strip_suffix([')', '）'])?;
    let open = inner.rfind(['(', '（'])?;
    let name = inner[..open].trim();
    let paren = inner[open..].chars().next().map_or(1, char::len_utf8);
    let digits = value_after(&inner[open + paren..], "id")?.trim();
    let id = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()?;
    Some(NamedId { id, name: name.to_owned() })
}

/// A part of a paragraph that is code or a comment.
struct HiddenSpan {
    start: usize,
    end: usize,
    comment: bool,
}

/// Of two that overlap, the first to begin counts.
fn code_and_comments(text: &str) -> Vec<HiddenSpan> {
    let bytes = text.as_bytes();
    let mut runs: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut at = 0;
    while let Some(next) = search::first(&bytes[at..], b'`') {
        let start = at + next;
        at = start + backticks(&bytes[start..]);
        runs.entry(at - start).or_default().push(start);
    }
    let mut spans = Vec::new();
    let mut close = CommentEnd::default();
    at = 0;
    while let Some(next) = bytes[at..].iter().position(|b| matches!(b, b'`' | b'<')) {
        let start = at + next;
        if bytes[start] == b'<' {
            let end = bytes[start..].starts_with(b"<!--").then(|| close.after(bytes, start + 4)).flatten();
            at = end.map_or(start + 1, |end| end + 3);
            spans.extend(end.map(|end| HiddenSpan { start, end: end + 3, comment: true }));
            continue;
        }
        let escaped = bytes[..start].iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1;
        let start = start + usize::from(escaped);
        let length = backticks(&bytes[start..]);
        at = start + length;
        let Some(ends) = runs.get(&length) else { continue };
        if let Some(end) = ends.get(ends.partition_point(|end| *end < at)).filter(|_| length > 0) {
            at = end + length;
            spans.push(HiddenSpan { start, end: at, comment: false });
        }
    }
    spans
}

/// The next `-->`, searched only once.
#[derive(Debug, Default)]
struct CommentEnd {
    from: usize,
    found: Option<usize>,
    searched: bool,
}

impl CommentEnd {
    fn after(&mut self, bytes: &[u8], at: usize) -> Option<usize> {
        let still = self.searched && self.from <= at && self.found.is_none_or(|found| found >= at);
        if !still {
            self.found = search::find(&bytes[at..], b"-->").map(|found| at + found);
            (self.from, self.searched) = (at, true);
        }
        self.found
    }
}

fn backticks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| **b == b'`').count()
}

/// The depth of the quotes, and the rest of the line.
fn without_quotes(line: &str) -> (usize, &str) {
    let (mut quotes, mut line) = (0, line);
    loop {
        let (indent, rest) = indented(line);
        match rest.strip_prefix('>') {
            Some(rest) if indent < 4 => {
                quotes += 1;
                line = rest.strip_prefix(' ').unwrap_or(rest);
            }
            _ => return (quotes, line),
        }
    }
}

/// The columns of the indentation, and the rest of the line.
fn indented(line: &str) -> (usize, &str) {
    let rest = line.trim_start_matches([' ', '\t']);
    let columns = line[..line.len() - rest.len()]
        .bytes()
        .fold(0, |columns, b| if b == b'\t' { columns / 4 * 4 + 4 } else { columns + 1 });
    (columns, rest)
}

fn fence_of(content: &str) -> Option<(u8, usize)> {
    let mark = content.bytes().next().filter(|b| matches!(b, b'`' | b'~'))?;
    let length = content.bytes().take_while(|b| *b == mark).count();
    let info_is_sound = mark == b'~' || !content[length..].contains('`');
    (length >= 3 && info_is_sound).then_some((mark, length))
}

/// The width of a list item's marker, with one space.
fn list_item(content: &str) -> Option<usize> {
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let marker = match content.as_bytes().get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => 1,
        b'.' | b')' if (1..10).contains(&digits) => digits + 1,
        _ => return None,
    };
    (content.as_bytes().get(marker) == Some(&b' ')).then_some(marker + 1)
}

/// Bytes of the line after the given beginning.
fn content_after(line: &str, begins: &str) -> usize {
    line.split_once(begins).map_or(0, |(_, rest)| rest.len())
}

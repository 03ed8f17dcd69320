//! Secrets known by the text before them: a name, a header, a scheme and a user, a flag.

use std::ops::Range;

use crate::redact::keyword;
use crate::redact::keyword::{Keyword, Weight};
use crate::redact::kind::MARKER;
use crate::redact::looks::{Style, is_placeholder, like_a_secret};
use crate::redact::url::is_variable;
use crate::redact::{BLANK, DASH, Finding, Kind, OPERATOR, class, is_word};
use crate::text::japanese::{HIRAGANA_BLOCK, is_sign};
use crate::text::search;

/// Bytes of a value that are looked at to judge it. A secret is then taken to its end.
pub(super) const LOOKED_AT: usize = 128;

/// More blanks before an operator are not layout.
pub(super) const MOST_BLANKS: usize = 40;

/// Distance before a flag in which the program of the command line is looked for.
const LINE_BEFORE: usize = 256;

/// The longest type between a name and its value.
const LONGEST_TYPE: usize = 48;

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut scan = Scan::new(text);
    let mut at = 0;
    while let Some(byte) = scan.bytes.get(at) {
        if class(*byte) & (OPERATOR | DASH | BLANK) == 0 {
            at += 1;
            continue;
        }
        match byte {
            b':' if scan.bytes[at..].starts_with(b"://") => scan.read_url(at),
            b':' | b'=' => scan.read_operator(at, 1),
            b'>' if at > scan.from && scan.bytes[at - 1] == b'-' => scan.read_arrow(at - 1, 2),
            b'>' => scan.read_element(at),
            b'-' if scan.bytes[at..].starts_with(b"--") => scan.read_flag(at),
            b'@' => scan.read_connect_string(at),
            b' ' if scan.bytes.get(at + 1) == Some(&b'i') && scan.bytes[at..].starts_with(b" is ") => {
                scan.read_prose(at, 4);
            }
            0xe2.. => {
                scan.read_foreign_sign(at);
                at += 2;
            }
            _ => {}
        }
        at = (at + 1).max(scan.from);
    }
    scan.findings
}

/// A text and the findings in it so far.
pub(super) struct Scan<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) findings: Vec<Finding>,
    /// Findings in rows of tables, which are read ahead of the scan.
    pub(super) in_rows: Vec<Finding>,
    /// Bytes before this are taken.
    pub(super) from: usize,
}

/// The place of a value, as far as it is looked at.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) at: Range<usize>,
    pub(super) style: Style,
    /// The quote and how many backslashes are before it.
    pub(super) quote: Option<(u8, usize)>,
    /// It extends further.
    long: bool,
}

impl Value {
    /// A value that is looked at to its end.
    pub(super) fn whole(at: Range<usize>, style: Style) -> Value {
        Value { at, style, quote: None, long: false }
    }
}

/// The layout of a value on the line below its name.
#[derive(Clone, Copy, Debug)]
struct Indented {
    /// Of YAML, behind `|` or `>`.
    block: bool,
    blanks: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Scan<'a> {
        Scan { text, bytes: text.as_bytes(), findings: Vec::new(), in_rows: Vec::new(), from: 0 }
    }

    pub(super) fn take(&mut self, kind: Kind, at: Range<usize>) {
        self.from = at.end;
        self.findings.push(Finding { kind, at });
    }

    /// A name, an operator, a value.
    pub(super) fn read_operator(&mut self, at: usize, length: usize) {
        let mut after = at + length;
        // `=>`, `==`, `:=`.
        while let Some(b'=' | b'>' | b':') = self.bytes.get(after) {
            after += 1;
            if after > at + 3 {
                return;
            }
        }
        if self.read_user_of_program(at) {
            return;
        }
        let Some((name, tight)) = self.name_before(at) else {
            if let Some(keyword) = self.foreign_before(at) {
                self.read_value(after, keyword, Style::Spaced);
            }
            return;
        };
        let text = &self.bytes[name.clone()];
        let header = self.bytes[at] == b':' || self.bytes[at] == b'=';
        if header && ends_in_any_case(text, b"authorization") {
            return self.read_authorization(after);
        }
        if header && ends_in_any_case(text, b"cookie") && self.bytes[at] == b':' {
            return self.read_cookies(after, ends_in_any_case(text, b"set-cookie"));
        }
        let signed =
            text == b"sig" && name.start > 0 && matches!(self.bytes[name.start - 1], b'?' | b'&' | b';');
        let keyword = if signed {
            Some(Keyword { kind: Kind::AzureSas, weight: Weight::Likely, phrase: false, capitals: false })
        } else {
            keyword::read_name(text)
        };
        let style = if tight && self.bytes[at] == b'=' { Style::Tight } else { Style::Spaced };
        let Some(keyword) = keyword else {
            // The last letters of `contraseña` and `Schlüssel`.
            if matches!(text, b"a" | b"A" | b"ssel") {
                if let Some(keyword) = self.foreign_before(at) {
                    self.read_value(after, keyword, style);
                }
            } else if (3..=12).contains(&text.len()) && matches!(text[text.len() - 1] | 0x20, b'e' | b'y') {
                self.read_field(name.start, text, after, style);
            }
            if self.from <= at && self.bytes[at] == b'=' && !tight {
                self.read_typed(at, after);
            }
            return;
        };
        if keyword.kind == Kind::SshPrivateKey {
            return self.read_lines_of_key(after);
        }
        // `--password=…` is for a shell, as `PASSWORD=…` is.
        let capitals = keyword.capitals || text.starts_with(b"-");
        self.read_value(after, Keyword { capitals, ..keyword }, style);
    }

    /// `password: &str = "…"`, `var password string = "…"`: the name stands before the type.
    fn read_typed(&mut self, at: usize, after: usize) {
        let first = self.from.max(at.saturating_sub(LONGEST_TYPE));
        let window = &self.bytes[first..at];
        let is_type = |byte: &u8| {
            is_word(*byte) || matches!(byte, b' ' | b'&' | b'\'' | b'<' | b'>' | b'*' | b'.' | b'[' | b']')
        };
        let length = window.iter().rev().take_while(|byte| is_type(byte)).count();
        let start = at - length;
        let name = if start > first && self.bytes[start - 1] == b':' {
            self.name_before(start - 1).map(|(name, _)| name)
        } else {
            let before = trim_blanks(&self.bytes[start..at]);
            before
                .strip_suffix(b"string")
                .or_else(|| before.strip_suffix(b"String"))
                .and_then(|rest| self.name_before(start + rest.len()))
                .map(|(name, _)| name)
        };
        if let Some(keyword) = name.and_then(|name| keyword::read_name(&self.bytes[name]))
            && let Some(value) = self.value_at(after, Style::Spaced).filter(|value| value.quote.is_some())
        {
            self.judge_value(&value, keyword);
        }
    }

    /// The word of another script that ends before an operator; a quote or blanks may be between.
    fn foreign_before(&self, at: usize) -> Option<Keyword> {
        let mut before = trim_blanks(&self.bytes[self.from..at]);
        before = before.strip_suffix("　".as_bytes()).unwrap_or(before);
        if let [rest @ .., b'"' | b'\'' | b'`'] = before {
            before = rest.strip_suffix(b"\\").unwrap_or(rest);
        }
        keyword::read_foreign_name(before)
    }

    /// `<password>…</password>`.
    fn read_element(&mut self, at: usize) {
        let Some((name, true)) = self.name_before(at) else { return };
        if name.start == 0 || self.bytes[name.start - 1] != b'<' {
            return;
        }
        let Some(keyword) = keyword::read_name(&self.bytes[name]) else { return };
        let (end, long) = self.plain_end(at + 1, Style::Quoted, LOOKED_AT);
        if end > at + 1 && (long || self.bytes[end..].starts_with(b"</")) {
            let value = Value { at: at + 1..end, style: Style::Quoted, quote: None, long };
            self.judge_value(&value, keyword);
        }
    }

    /// `--password …`.
    fn read_flag(&mut self, at: usize) {
        if at > 0 && (is_word(self.bytes[at - 1]) || at < self.from) {
            return;
        }
        let name = at + 2;
        let length =
            self.bytes[name..].iter().take(keyword::LONGEST).take_while(|byte| is_word(**byte)).count();
        let after = name + length;
        if length == 0 || !matches!(self.bytes.get(after), Some(b' ' | b'\t')) {
            return;
        }
        let Some(keyword) = keyword::read_name(&self.bytes[name..after]) else { return };
        if let Some(value) =
            self.value_at(after, Style::Flag).filter(|value| self.bytes[value.at.start] != b'-')
        {
            self.judge_value(&value, keyword);
        }
    }

    pub(super) fn read_value(&mut self, after: usize, keyword: Keyword, style: Style) {
        if let Some((first, indented)) = self.next_line(after) {
            return self.read_below(first, indented, keyword);
        }
        match self.value_at(after, style) {
            Some(value) => self.judge_value(&value, keyword),
            None => self.read_foreign(after, keyword, false),
        }
    }

    pub(super) fn judge_value(&mut self, value: &Value, keyword: Keyword) {
        let text = &self.text[value.at.clone()];
        if like_a_secret(text, keyword, value.style, &self.bytes[value.at.end..]) {
            let end = self.end_of(value);
            self.take(keyword.kind, value.at.start..end);
        }
    }

    /// Letters beyond ASCII that end with digits, `さくら2024`, without a counter behind them as in `変更から90日`.
    pub(super) fn read_foreign(&mut self, after: usize, keyword: Keyword, prose: bool) {
        if keyword.weight != Weight::Sure {
            return;
        }
        let blanks = self.count_blanks(after);
        let rest = self.text.get(after + blanks..).unwrap_or_default();
        let is_end = |c: char| {
            c.is_whitespace()
                || is_sign(c)
                || matches!(c, '"' | '\'' | '`' | '\\' | ',' | ';' | '<' | '>' | '(' | '[' | '{')
        };
        let whole = rest.char_indices().take(LOOKED_AT).find(|(_, c)| is_end(*c));
        let whole = &rest[..whole.map_or(rest.floor_char_boundary(LOOKED_AT), |(at, _)| at)];
        let Some(last) = whole.rfind(|c: char| c.is_ascii_graphic()).map(|at| at + 1) else { return };
        let text = &whole[..last];
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let follows = &whole[last..];
        let ends = follows.is_empty()
            || ["です", "だ", "でし"].iter().any(|end| follows.starts_with(end))
            || !prose && follows.starts_with(|c: char| HIRAGANA_BLOCK.contains(&c));
        if digits >= 2 && ends && !text.contains(MARKER) && !is_placeholder(text) {
            let start = after + blanks;
            self.take(keyword.kind, start..start + last);
        }
    }

    /// The start of the next line and its indentation, if the rest of this line is empty or the sign of a YAML block.
    fn next_line(&self, after: usize) -> Option<(usize, Indented)> {
        let mut at = after + self.count_blanks(after);
        let block = matches!(self.bytes.get(at), Some(b'|' | b'>'));
        if block {
            at += 1;
            at += usize::from(matches!(self.bytes.get(at), Some(b'-' | b'+')));
            at += self.count_blanks(at);
        }
        let ended = self.line_end(at);
        let first = at + ended;
        let blanks = self.count_blanks(first);
        (ended > 0 && (!block || blanks > 0)).then_some((first, Indented { block, blanks }))
    }

    /// A value that stands on the line below its name.
    fn read_below(&mut self, first: usize, indented: Indented, keyword: Keyword) {
        let start = first + indented.blanks;
        let style = if indented.block { Style::Quoted } else { Style::Prose };
        let Some(mut value) = self.value_at(start, style) else { return };
        let alone = self.line_end(value.at.end) > 0
            || matches!(self.bytes.get(value.at.end), None | Some(b'"' | b'\'' | b'`'));
        if !alone || value.quote.is_some() || value.long {
            return;
        }
        value.style = style;
        if !indented.block {
            // Below a word with a colon there may be anything.
            if value.at.len() >= 8 {
                self.judge_value(&value, keyword);
            }
            return;
        }
        let text = &self.text[value.at.clone()];
        if !like_a_secret(text, keyword, style, &self.bytes[value.at.end..]) {
            return;
        }
        // The other lines of the block.
        let mut end = value.at.end;
        loop {
            let line = end + self.line_end(end);
            if line == end || self.count_blanks(line) < indented.blanks {
                break;
            }
            let length = (line..self.bytes.len())
                .take_while(|at| self.line_end(*at) == 0 && self.bytes[*at] != b'"')
                .count();
            if length == 0 {
                break;
            }
            end = line + length;
        }
        self.take(keyword.kind, value.at.start..end);
    }

    /// The length of a line's end here, as it is or escaped.
    pub(super) fn line_end(&self, at: usize) -> usize {
        match &self.bytes[at..] {
            [b'\r', b'\n', ..] => 2,
            [b'\n', ..] => 1,
            [b'\\', b'r', b'\\', b'n', ..] => 4,
            [b'\\', b'n', ..] => 2,
            _ => 0,
        }
    }

    pub(super) fn count_blanks(&self, at: usize) -> usize {
        self.bytes[at..].iter().take(MOST_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }

    /// `Private-Lines: 14`, and that many lines.
    fn read_lines_of_key(&mut self, after: usize) {
        let number = after + self.count_blanks(after);
        let digits = self.bytes[number..].iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
        let count = self.text[number..number + digits].parse().unwrap_or(0_usize);
        let first = number + digits + self.line_end(number + digits);
        let mut end = first;
        for line in 0..count {
            let start = if line == 0 { end } else { end + self.line_end(end) };
            let length = self.bytes[start..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
                .count();
            if length == 0 || (line > 0 && start == end) {
                break;
            }
            end = start + length;
        }
        if end >= first + 16 {
            self.take(Kind::SshPrivateKey, first..end);
        }
    }

    /// The name that ends before an operator, and whether it touches it. A quote, a bracket or blanks may be between.
    pub(super) fn name_before(&self, at: usize) -> Option<(Range<usize>, bool)> {
        let bytes = &self.bytes[self.from..at];
        let mut end = bytes.len();
        // `?:`, `?=`, `!:`, `+=`, `:=`.
        while end > 0 && matches!(bytes[end - 1], b'?' | b'!' | b'+' | b':' | b'=') && bytes.len() - end < 2 {
            end -= 1;
        }
        let signs = end;
        while end > 0 && matches!(bytes[end - 1], b' ' | b'\t') && signs - end < MOST_BLANKS {
            end -= 1;
        }
        let tight = end == bytes.len();
        end -= invisible_tail(&bytes[..end]);
        if bytes[..end].ends_with(b"[]") {
            end -= 2;
        }
        let bracket = end > 0 && bytes[end - 1] == b']';
        if bracket {
            end -= 1;
        }
        if end > 0 && matches!(bytes[end - 1], b'"' | b'\'' | b'`') {
            end -= 1;
            while end > 0 && bytes[end - 1] == b'\\' {
                end -= 1;
            }
        }
        let is_name = |byte: &&u8| is_word(**byte) || matches!(byte, b'.' | b'$' | b'@');
        let length =
            |end: usize| bytes[..end].iter().rev().take(keyword::LONGEST).take_while(is_name).count();
        let mut start = end - length(end);
        if start == end || (bracket && bytes[..start].ends_with(MARKER.as_bytes())) {
            return None;
        }
        // `API key: …`.
        if bytes[start..end].eq_ignore_ascii_case(b"key") && start > 1 && bytes[start - 1] == b' ' {
            start -= 1 + length(start - 1);
        }
        Some((self.from + start..self.from + end, tight))
    }

    /// The value behind an operator.
    pub(super) fn value_at(&self, mut at: usize, style: Style) -> Option<Value> {
        let bytes = self.bytes;
        at += bytes[at..].iter().take(MOST_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        // `r"…"`, `b'…'`, `f"…"`.
        let letters = bytes[at..].iter().take(2).take_while(|byte| byte.is_ascii_alphabetic()).count();
        let mut open = at
            + if bytes[at..].iter().skip(letters).take(2).any(|b| matches!(b, b'"' | b'\'')) {
                letters
            } else {
                0
            };
        if open > at && bytes.get(open) == Some(&b'#') {
            open += 1;
        }
        let slashes = bytes[open..].iter().take(16).take_while(|byte| **byte == b'\\').count();
        let quote = bytes.get(open + slashes).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        if let Some(quote) = quote {
            let start = open + slashes + 1;
            let (end, long) = self.quoted_end(start, quote, slashes, LOOKED_AT);
            return (end > start).then_some(Value {
                at: start..end,
                style: Style::Quoted,
                quote: Some((quote, slashes)),
                long,
            });
        }
        if bytes.get(at).is_some_and(|byte| *byte >= 0xc2)
            && let Some((start, end)) = self.find_bracketed(at)
        {
            return (end > start).then(|| Value::whole(start..end, Style::Quoted));
        }
        let (end, long) = self.plain_end(at, style, LOOKED_AT);
        let mut value = Value { at: at..end, style, quote: None, long };
        // The end of a sentence.
        while !long
            && value.at.end > at
            && (matches!(bytes[value.at.end - 1], b'.' | b',' | b';' | b':')
                || style == Style::Prose && bytes[value.at.end - 1] == b'!')
        {
            value.at.end -= 1;
        }
        (value.at.end > at).then_some(value)
    }

    /// The inside of quotes beyond ASCII. Quotes that do not close on a short line hold one word; a line with a marker may have
    /// been longer.
    fn find_bracketed(&self, at: usize) -> Option<(usize, usize)> {
        static BRACKETS: [(&str, &str); 7] =
            [("「", "」"), ("『", "』"), ("【", "】"), ("“", "”"), ("„", "“"), ("«", "»"), ("‘", "’")];
        let (open, close) =
            BRACKETS.iter().find(|(open, _)| self.bytes[at..].starts_with(open.as_bytes()))?;
        let start = at + open.len();
        let line = &self.bytes[start..self.bytes.len().min(start + LOOKED_AT)];
        let line_end = search::first(line, b'\n');
        let line = &line[..line_end.unwrap_or(line.len())];
        if let Some(length) = search::find(line, close.as_bytes()) {
            return Some((start, start + length));
        }
        let ends = line_end.is_some() || start + line.len() == self.bytes.len();
        let one_word = ends && search::find(line, MARKER.as_bytes()).is_none();
        Some((start, if one_word { self.plain_end(start, Style::Quoted, LOOKED_AT).0 } else { start }))
    }

    /// The place where the quote closes or the line ends, and whether that is further away than `most`.
    fn quoted_end(&self, start: usize, quote: u8, slashes: usize, most: usize) -> (usize, bool) {
        let mut before = 0;
        for (length, byte) in self.bytes[start..].iter().enumerate() {
            let at = start + length;
            if length >= most && self.text.is_char_boundary(at) {
                return (at, true);
            }
            match *byte {
                b'\n' | b'\r' => return (at, false),
                b'\\' => before += 1,
                _ if *byte == quote => {
                    let closes = if slashes == 0 { before % 2 == 0 } else { before <= slashes };
                    if closes {
                        return (if slashes == 0 { at } else { at - before }, false);
                    }
                    before = 0;
                }
                _ => before = 0,
            }
        }
        (self.bytes.len(), false)
    }

    /// The end of a value without quotes, and whether that is further away than `most`.
    fn plain_end(&self, start: usize, style: Style, most: usize) -> (usize, bool) {
        for (length, byte) in self.bytes[start..].iter().enumerate() {
            let at = start + length;
            if length >= most && self.text.is_char_boundary(at) {
                return (at, true);
            }
            let next = self.bytes.get(at + 1).copied().unwrap_or(b' ');
            let ends = match *byte {
                b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'>' => true,
                b'\\' => matches!(next, b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b' ' | b'\n'),
                b'&' | b';' | b'|' if style == Style::Tight || style == Style::Flag => true,
                b',' if style == Style::Tight => true,
                b',' | b';' | b')' | b'}' | b']' | b'|' => !is_word(next),
                // `、`, `。`, `」` and their like; in prose and behind a Japanese word every other letter.
                0xe3.. => {
                    style != Style::Quoted
                        || ["」", "』"].iter().any(|close| self.bytes[at..].starts_with(close.as_bytes()))
                }
                0..=0x1f => true,
                _ => false,
            };
            if ends {
                return (at, false);
            }
        }
        (self.bytes.len(), false)
    }

    pub(super) fn end_of(&self, value: &Value) -> usize {
        match value.quote {
            _ if !value.long => value.at.end,
            Some((quote, slashes)) => self.quoted_end(value.at.start, quote, slashes, usize::MAX).0,
            None => self.plain_end(value.at.start, value.style, usize::MAX).0,
        }
    }

    /// `curl -u user:password`. Returns whether it was one.
    fn read_user_of_program(&mut self, colon: usize) -> bool {
        // In prose a blank follows.
        if self.bytes[colon] != b':' || self.bytes.get(colon + 1).is_none_or(u8::is_ascii_whitespace) {
            return false;
        }
        let before = &self.bytes[self.from..colon];
        let is_user = |byte: &&u8| is_word(**byte) || matches!(byte, b'.' | b'@' | b'+' | b'%');
        let user = before.iter().rev().take(keyword::LONGEST).take_while(is_user).count();
        let before = &before[..before.len() - user];
        let before = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"'")).unwrap_or(before);
        let before = before.strip_suffix(b"\\").unwrap_or(before);
        let flag = trim_blanks(before);
        let is_flag = flag.ends_with(b" -u") || flag.ends_with(b" --user") || flag.ends_with(b" --user=");
        if !is_flag {
            return false;
        }
        // The program may come before the last taken secret.
        let flag_end = self.from + flag.len();
        let line = &self.bytes[flag_end.saturating_sub(LINE_BEFORE)..flag_end];
        let names_program = |name: &[u8]| search::find(line, name).is_some();
        if !(names_program(b"curl") || names_program(b"wget") || names_program(b"xh ")) {
            return false;
        }
        let start = colon + 1;
        let (end, _) = self.plain_end(start, Style::Quoted, usize::MAX);
        let Some(text) = self.text.get(start..end).filter(|text| !text.is_empty()) else { return false };
        if text.contains(MARKER) || is_variable(text) {
            return false;
        }
        self.take(Kind::UrlPassword, start..end);
        true
    }
}

/// Bytes of characters at the end that no reader sees: selectors of variants, joiners.
fn invisible_tail(bytes: &[u8]) -> usize {
    let mut length = 0;
    while let [.., a, b, c] = bytes[..bytes.len() - length]
        && matches!(
            [a, b, c],
            [0xef, 0xb8, 0x80..=0x8f] | [0xe2, 0x80, 0x8b..=0x8d] | [0xe2, 0x81, 0xa0] | [0xef, 0xbb, 0xbf]
        )
    {
        length += 3;
    }
    length
}

pub(super) fn trim_blanks(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().rev().take(MOST_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &bytes[..bytes.len() - blanks]
}

fn ends_in_any_case(text: &[u8], word: &[u8]) -> bool {
    text.len().checked_sub(word.len()).is_some_and(|at| text[at..].eq_ignore_ascii_case(word))
}

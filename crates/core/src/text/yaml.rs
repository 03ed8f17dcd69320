//! YAML as people write it: read into a tree that knows where everything stands, and changed by a splice of the text, so that
//! comments, order and layout stay as they are.
//!
//! A change is read back before anybody gets it: it says the new value and everything else as before, or it is refused.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::ops::Range;

use crate::text::hidden::plain_word;
use saphyr_parser::{Event, Parser, ScalarStyle};

/// Deeper is no manifest.
const DEEPEST: usize = 64;

/// More values are no manifest.
const MOST_NODES: usize = 200_000;

/// So many bytes are said again by aliases: a long text under many of them would be far more than the file.
const MOST_REPEATED: usize = 1024 * 1024;

const BOM: &str = "\u{feff}";

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    /// Its bytes in the text. Of a block only where it begins counts.
    pub span: Range<usize>,
    /// The column it begins in, in characters.
    column: usize,
    /// It has a name for aliases, or a tag: what is changed here may be changed elsewhere, or not be of its kind any more.
    marked: bool,
    /// What it is.
    pub kind: Kind<'a>,
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum Kind<'a> {
    /// Text, a number, a flag, or nothing.
    Scalar {
        /// What it says.
        text: Cow<'a, str>,
        /// How it is written.
        style: Style,
    },
    /// A list.
    List {
        /// Its items.
        items: Vec<Node<'a>>,
        /// Whether it is written in brackets.
        flow: bool,
    },
    /// Keys with their values.
    Map {
        /// In their order.
        entries: Vec<(Node<'a>, Node<'a>)>,
        /// Whether it is written in braces.
        flow: bool,
    },
    /// What stands elsewhere.
    Alias,
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Not at all.
    Empty,
    /// As it is.
    Plain,
    /// In quotes.
    Quoted,
    /// In lines below its key.
    Block,
    /// By a name for what stands elsewhere.
    Alias,
}

/// Why a text is no YAML that we read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is not UTF-8.
    NotText,
    /// It is no YAML: why, and in which line.
    Syntax(String, usize),
    /// It is nested too deeply or has too many values.
    TooMuch,
    /// A key occurs twice.
    Twice(String),
    /// There is more than one document in it.
    Documents,
    /// There is nothing in it, or no keys with values.
    NoMap,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::NotText => out.write_str("it is not text in UTF-8"),
            Unreadable::Syntax(why, line) => write!(out, "line {line} is no YAML ({why})"),
            Unreadable::TooMuch => out.write_str("it is nested too deeply or has too many values"),
            Unreadable::Twice(key) => write!(out, "the key `{}` occurs twice", plain_word(key)),
            Unreadable::Documents => out.write_str("there is more than one document in it"),
            Unreadable::NoMap => out.write_str("there are no keys with values in it"),
        }
    }
}

impl<'a> Node<'a> {
    /// What a scalar says; nothing for anything else, and for one that is not there.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { style: Style::Empty, .. } => None,
            Kind::Scalar { text, style: Style::Plain }
                if matches!(text.as_ref(), "~" | "null" | "Null" | "NULL") =>
            {
                None
            }
            Kind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Keys and values; none of anything else.
    pub fn entries(&self) -> &[(Node<'a>, Node<'a>)] {
        match &self.kind {
            Kind::Map { entries, .. } => entries,
            _ => &[],
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.entries().iter().find(|(known, _)| known.key() == Some(key)).map(|(_, value)| value)
    }

    /// What a key says.
    pub fn key(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Whether it says nothing.
    pub fn is_nothing(&self) -> bool {
        matches!(self.kind, Kind::Scalar { .. }) && self.text().is_none()
    }

    /// Whether two values say the same, wherever they stand and however they are written.
    fn says_the_same(&self, other: &Node<'_>) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Scalar { .. }, Kind::Scalar { .. }) => self.text() == other.text(),
            (Kind::List { items, .. }, Kind::List { items: others, .. }) => {
                items.len() == others.len()
                    && items.iter().zip(others).all(|(one, other)| one.says_the_same(other))
            }
            (Kind::Map { .. }, Kind::Map { .. }) => {
                same_entries(self.entries().iter(), other.entries().iter())
            }
            (Kind::Alias, Kind::Alias) => true,
            _ => false,
        }
    }

    /// Where the last of it ends that is not in lines of its own below a key.
    fn content_end(&self) -> usize {
        match &self.kind {
            Kind::Scalar { style: Style::Block, .. } => self.span.start,
            Kind::List { items, flow: false } => items.last().map_or(self.span.start, Node::content_end),
            Kind::Map { entries, flow: false } => {
                entries.last().map_or(self.span.start, |(key, value)| key.span.end.max(value.content_end()))
            }
            _ => self.span.end,
        }
    }
}

type Entry<'a> = (Node<'a>, Node<'a>);

fn same_entries<'x, 'y: 'x, 'z: 'x>(
    mut ones: impl Iterator<Item = &'x Entry<'y>>,
    mut others: impl Iterator<Item = &'x Entry<'z>>,
) -> bool {
    loop {
        match (ones.next(), others.next()) {
            (None, None) => return true,
            (Some((key, value)), Some((other_key, other)))
                if key.says_the_same(other_key) && value.says_the_same(other) => {}
            _ => return false,
        }
    }
}

/// Bytes by characters, for places that come mostly in order.
struct Cursor<'a> {
    text: &'a str,
    byte: usize,
    character: usize,
}

impl Cursor<'_> {
    fn to(&mut self, character: usize) -> usize {
        let bytes = self.text.as_bytes();
        let inner = |byte: usize| bytes.get(byte).is_some_and(|b| b & 0b1100_0000 == 0b1000_0000);
        while self.character < character && self.byte < bytes.len() {
            self.byte += 1;
            while inner(self.byte) {
                self.byte += 1;
            }
            self.character += 1;
        }
        while self.character > character && self.byte > 0 {
            self.byte -= 1;
            while inner(self.byte) {
                self.byte -= 1;
            }
            self.character -= 1;
        }
        self.byte
    }
}

/// What is being put together.
struct Open<'a> {
    node: Node<'a>,
    /// The key of the entry to come.
    key: Option<Node<'a>>,
}

/// Reads a text: keys with values, in one document.
pub fn parse(text: &str) -> Result<Node<'_>, Unreadable> {
    let body = text.strip_prefix(BOM).unwrap_or(text);
    let before = text.len() - body.len();
    let mut cursor = Cursor { text: body, byte: 0, character: 0 };
    let (mut open, mut root, mut documents): (Vec<Open<'_>>, Option<Node<'_>>, usize) = (Vec::new(), None, 0);
    let mut scalars: BTreeMap<usize, Cow<'_, str>> = BTreeMap::new();
    let (mut nodes, mut repeated) = (0, 0);
    for event in Parser::new_from_str(body) {
        let (event, span) =
            event.map_err(|error| Unreadable::Syntax(error.info().to_owned(), error.marker().line()))?;
        let column = span.start.col();
        let (start, end) = (cursor.to(span.start.index()) + before, cursor.to(span.end.index()) + before);
        let at = |kind| Node { span: start..end, column, marked: false, kind };
        let end_of_quotes = end_of_quotes(&text[start..]).map(|length| start + length);
        let done = match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err(Unreadable::Documents);
                }
                continue;
            }
            Event::Scalar(said, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::Plain if start == end => Style::Empty,
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
                    ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
                };
                if anchor > 0 {
                    scalars.insert(anchor, said.clone());
                }
                let end = end_of_quotes.filter(|_| style == Style::Quoted).unwrap_or(end);
                let marked = anchor > 0 || tag.is_some();
                Node { span: start..end, marked, ..at(Kind::Scalar { text: said, style }) }
            }
            Event::Alias(anchor) => match scalars.get(&anchor) {
                Some(text) => {
                    repeated += text.len();
                    if repeated > MOST_REPEATED {
                        return Err(Unreadable::TooMuch);
                    }
                    at(Kind::Scalar { text: text.clone(), style: Style::Alias })
                }
                None => at(Kind::Alias),
            },
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= DEEPEST => {
                return Err(Unreadable::TooMuch);
            }
            Event::SequenceStart(anchor, tag) => {
                let marked = anchor > 0 || tag.is_some();
                let node = Node { marked, ..at(Kind::List { items: Vec::new(), flow: false }) };
                open.push(Open { node, key: None });
                continue;
            }
            Event::MappingStart(anchor, _) => {
                let node = Node { marked: anchor > 0, ..at(Kind::Map { entries: Vec::new(), flow: false }) };
                open.push(Open { node, key: None });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(mut closed) = open.pop() else { continue };
                // The end of a block is written nowhere; with a bracket the parser counts what follows on the line.
                let in_brackets = end > start;
                closed.node.span.end = if in_brackets { start + 1 } else { end };
                match &mut closed.node.kind {
                    Kind::List { flow, .. } | Kind::Map { flow, .. } => *flow = in_brackets,
                    Kind::Scalar { .. } | Kind::Alias => {}
                }
                closed.node
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => continue,
        };
        nodes += 1;
        if nodes > MOST_NODES {
            return Err(Unreadable::TooMuch);
        }
        match open.last_mut() {
            None => root = Some(done),
            Some(Open { node: Node { kind: Kind::List { items, .. }, .. }, .. }) => items.push(done),
            Some(Open { node: Node { kind: Kind::Map { entries, .. }, .. }, key, .. }) => match key.take() {
                None => *key = Some(done),
                Some(known) => entries.push((known, done)),
            },
            Some(_) => {}
        }
    }
    let root = root.filter(|root| matches!(root.kind, Kind::Map { .. })).ok_or(Unreadable::NoMap)?;
    match twice(&root) {
        Some(key) => Err(Unreadable::Twice(key)),
        None => Ok(root),
    }
}

/// How long a text in quotes is that begins here: the parser counts what follows on the line to it.
fn end_of_quotes(text: &str) -> Option<usize> {
    let quote = text.bytes().next().filter(|first| matches!(first, b'"' | b'\''))?;
    let mut bytes = text.bytes().enumerate().skip(1).peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if quote == b'"' => {
                bytes.next();
            }
            b'\'' if quote == b'\'' && bytes.peek().is_some_and(|(_, next)| *next == b'\'') => {
                bytes.next();
            }
            _ if byte == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// A key that occurs twice: which of the two somebody means cannot be told.
fn twice(node: &Node<'_>) -> Option<String> {
    match &node.kind {
        Kind::Map { entries, .. } => {
            let mut seen = std::collections::BTreeSet::new();
            let again = entries.iter().filter_map(|(key, _)| key.key()).find(|key| !seen.insert(*key));
            again.map(str::to_owned).or_else(|| entries.iter().find_map(|(_, value)| twice(value)))
        }
        Kind::List { items, .. } => items.iter().find_map(twice),
        Kind::Scalar { .. } | Kind::Alias => None,
    }
}

/// A value to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A text.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// Yes or no.
    Flag(bool),
    /// Texts, in brackets.
    Texts(Vec<String>),
}

impl From<&str> for Scalar {
    fn from(text: &str) -> Scalar {
        Scalar::Text(text.to_owned())
    }
}

impl Scalar {
    /// What it says when it is read.
    fn says(&self) -> String {
        match self {
            Scalar::Text(text) => text.clone(),
            Scalar::Whole(number) => number.to_string(),
            Scalar::Flag(flag) => flag.to_string(),
            Scalar::Texts(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
                format!("[{}]", texts.join(", "))
            }
        }
    }

    /// Whether a value that was read is this one.
    fn is(&self, node: &Node<'_>) -> bool {
        match (self, &node.kind) {
            (Scalar::Texts(texts), Kind::List { items, .. }) => {
                items.len() == texts.len()
                    && items.iter().zip(texts).all(|(item, text)| item.key() == Some(text))
            }
            (Scalar::Texts(_), _) => false,
            (_, Kind::Scalar { text, .. }) => *text == self.says(),
            _ => false,
        }
    }

    /// As it is written.
    fn written(&self) -> String {
        match self {
            Scalar::Text(text) => {
                let is_word = text.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'-'))
                    && text.starts_with(|c: char| c.is_ascii_lowercase())
                    && !matches!(
                        text.as_str(),
                        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
                    );
                if is_word { text.clone() } else { quoted(text) }
            }
            other => other.says(),
        }
    }
}

/// In double quotes, on one line.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        let _ = match c {
            '"' => write!(out, "\\\""),
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\t' => write!(out, "\\t"),
            // What a parser could take for a line break or refuse.
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
            {
                write!(out, "\\u{:04x}", c as u32)
            }
            c => write!(out, "{c}"),
        };
    }
    out + "\""
}

/// A key as it is written.
fn key_text(key: &str) -> String {
    let is_plain = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if is_plain { key.to_owned() } else { quoted(key) }
}

/// Why a text was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It cannot be read.
    Unreadable(Unreadable),
    /// What stands there is something else than keys with values, or than a value on one line.
    Other(String),
    /// The change would not read back as meant.
    Layout,
}

impl fmt::Display for Unfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Unreadable(why) => write!(out, "{why}"),
            Unfit::Other(key) => write!(out, "`{}` is not what could be changed there", plain_word(key)),
            Unfit::Layout => {
                out.write_str("its layout does not let the change be made without touching the rest")
            }
        }
    }
}

/// What is put where.
struct Splice {
    range: Range<usize>,
    new: String,
}

/// Sets the value that these keys lead to; what is missing on the way is made.
pub fn set(text: &str, path: &[&str], value: &Scalar) -> Result<String, Unfit> {
    let root = parse(text).map_err(Unfit::Unreadable)?;
    let Some(splice) = splice(text, &root, path, value)? else { return Ok(text.to_owned()) };
    let mut new = text.to_owned();
    new.replace_range(splice.range, &splice.new);
    let reads_back = parse(&new).is_ok_and(|changed| is_changed(&root, &changed, path, value));
    if reads_back { Ok(new) } else { Err(Unfit::Layout) }
}

/// Whether `new` says what `old` says, but for the one value.
fn is_changed(old: &Node<'_>, new: &Node<'_>, path: &[&str], value: &Scalar) -> bool {
    let Some((key, rest)) = path.split_first() else {
        return value.is(new);
    };
    let not_it = |entry: &&Entry<'_>| entry.0.key() != Some(*key);
    let Some(changed) = new.get(key) else { return false };
    let nothing =
        Node { span: 0..0, column: 0, marked: false, kind: Kind::Map { entries: Vec::new(), flow: false } };
    let before = old.get(key).filter(|before| matches!(before.kind, Kind::Map { .. })).unwrap_or(&nothing);
    same_entries(old.entries().iter().filter(not_it), new.entries().iter().filter(not_it))
        && is_changed(before, changed, rest, value)
}

fn splice(text: &str, root: &Node<'_>, path: &[&str], value: &Scalar) -> Result<Option<Splice>, Unfit> {
    let mut node = root;
    for (at, key) in path.iter().enumerate() {
        let entry = node.entries().iter().find(|(known, _)| known.key() == Some(*key));
        let Some((known, found)) = entry else {
            return Ok(Some(insert(text, root, node, &path[at..], value)));
        };
        let rest = &path[at + 1..];
        match &found.kind {
            _ if found.marked => return Err(Unfit::Other((*key).to_owned())),
            Kind::List { flow: true, .. }
                if rest.is_empty() && !text[found.span.clone()].contains(['\n', '\r']) =>
            {
                return Ok(Some(Splice { range: found.span.clone(), new: value.written() }));
            }
            Kind::Map { .. } if !rest.is_empty() => node = found,
            Kind::Scalar { style, .. } if rest.is_empty() => {
                let one_line = !text[found.span.clone()].contains(['\n', '\r']);
                return match style {
                    Style::Plain | Style::Quoted if found.text() == Some(value.says().as_str()) => Ok(None),
                    Style::Plain | Style::Quoted if one_line => {
                        Ok(Some(Splice { range: found.span.clone(), new: value.written() }))
                    }
                    Style::Empty => Ok(Some(fill(text, root, node, known, rest, value))),
                    _ => Err(Unfit::Other((*key).to_owned())),
                };
            }
            Kind::Scalar { style: Style::Empty, .. } => {
                return Ok(Some(fill(text, root, node, known, rest, value)));
            }
            // `null`: nothing is lost with it.
            Kind::Scalar { style: Style::Plain, .. } if found.is_nothing() => {
                let new = format!("{{{}}}", inline(rest, value));
                return Ok(Some(Splice { range: found.span.clone(), new }));
            }
            _ => return Err(Unfit::Other((*key).to_owned())),
        }
    }
    Err(Unfit::Other(path.join(".")))
}

/// The line ending of the text.
fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// By how much what is below a key is indented here.
fn step(node: &Node<'_>) -> Option<usize> {
    node.entries().iter().find_map(|(key, value)| {
        let inner = value.entries().first().filter(|_| !matches!(value.kind, Kind::Map { flow: true, .. }));
        inner
            .map(|(first, _)| first.column.saturating_sub(key.column))
            .filter(|step| *step > 0)
            .or_else(|| step(value))
    })
}

/// Lines that say `path: value` at this column.
fn lines(path: &[&str], value: &Scalar, column: usize, step: usize) -> Vec<String> {
    let last = path.len().saturating_sub(1);
    let line = |(at, key): (usize, &&str)| {
        let indent = " ".repeat(column + at * step);
        let value = if at == last { format!(" {}", value.written()) } else { String::new() };
        format!("{indent}{}:{value}", key_text(key))
    };
    path.iter().enumerate().map(line).collect()
}

/// `path: value` within braces.
fn inline(path: &[&str], value: &Scalar) -> String {
    match path.split_first() {
        None => value.written(),
        Some((key, [])) => format!("{}: {}", key_text(key), value.written()),
        Some((key, rest)) => format!("{}: {{{}}}", key_text(key), inline(rest, value)),
    }
}

/// A new entry at the end of `map`.
fn insert(text: &str, root: &Node<'_>, map: &Node<'_>, path: &[&str], value: &Scalar) -> Splice {
    let Kind::Map { entries, flow } = &map.kind else {
        return Splice { range: map.span.end..map.span.end, new: String::new() };
    };
    if *flow {
        return match entries.last() {
            None => {
                let inner = map.span.end.saturating_sub(1);
                Splice { range: inner..inner, new: inline(path, value) }
            }
            Some((key, last)) => {
                let is_empty = matches!(last.kind, Kind::Scalar { style: Style::Empty, .. });
                let end = if is_empty {
                    key.span.end + text[key.span.end..].find([',', '}']).unwrap_or(0)
                } else {
                    last.span.end
                };
                Splice { range: end..end, new: format!(", {}", inline(path, value)) }
            }
        };
    }
    let Some((first, last)) = entries.first().zip(entries.last()) else {
        return Splice { range: map.span.end..map.span.end, new: String::new() };
    };
    let column = first.0.column;
    let at = end_of_entry(text, last, column);
    let end = line_end(text);
    let lines = lines(path, value, column, step(root).unwrap_or(2));
    below(text, at, &lines, end)
}

/// Lines after the line that ends at `at`.
fn below(text: &str, at: usize, lines: &[String], end: &str) -> Splice {
    let joined = lines.join(end);
    let new = if text[..at].ends_with('\n') { format!("{joined}{end}") } else { format!("{end}{joined}") };
    Splice { range: at..at, new }
}

/// Gives a key that has no value one.
fn fill(
    text: &str,
    root: &Node<'_>,
    map: &Node<'_>,
    key: &Node<'_>,
    rest: &[&str],
    value: &Scalar,
) -> Splice {
    let colon = text[key.span.end..].find(':').map_or(key.span.end, |at| key.span.end + at + 1);
    if rest.is_empty() {
        return Splice { range: colon..colon, new: format!(" {}", value.written()) };
    }
    if matches!(map.kind, Kind::Map { flow: true, .. }) {
        return Splice { range: colon..colon, new: format!(" {{{}}}", inline(rest, value)) };
    }
    let end = line_end(text);
    let step = step(root).unwrap_or(2);
    let lines = lines(rest, value, key.column + step, step);
    below(text, end_of_line(text, colon), &lines, end)
}

/// After the line break of the line that this byte is in.
fn end_of_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// After the last line of an entry of a block of keys. Below its value belongs to it what is indented further.
fn end_of_entry(text: &str, (key, value): &Entry<'_>, column: usize) -> usize {
    let mut end = end_of_line(text, key.span.end.max(value.content_end().min(text.len())));
    let is_list = matches!(value.kind, Kind::List { flow: false, .. });
    let mut at = end;
    while at < text.len() {
        let next = end_of_line(text, at);
        let line = text[at..next].trim_end_matches(['\n', '\r']);
        let inner = line.trim_start_matches(' ');
        let indent = line.len() - inner.len();
        at = next;
        if inner.is_empty() {
            continue;
        }
        let belongs =
            indent > column || is_list && indent == column && (inner == "-" || inner.starts_with("- "));
        if !belongs {
            break;
        }
        end = next;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text_at<'a>(text: &'a str, node: &Node<'_>) -> &'a str {
        &text[node.span.clone()]
    }

    #[test]
    fn values_know_where_they_stand() {
        let text = "\u{feff}# 日本語\r\nname: \"ユーザー\" # é\r\nphases:\r\n  1: done\r\n  two: {a: 語, b: }\r\nlast: x";
        let root = parse(text).unwrap();
        assert_eq!(text_at(text, root.get("name").unwrap()), "\"ユーザー\"");
        let phases = root.get("phases").unwrap();
        assert_eq!(text_at(text, phases.get("1").unwrap()), "done");
        assert_eq!(text_at(text, phases.get("two").unwrap().get("a").unwrap()), "語");
        assert!(phases.get("two").unwrap().get("b").unwrap().is_nothing());
        assert_eq!(text_at(text, root.get("last").unwrap()), "x");
    }

    #[test]
    fn what_is_no_manifest_is_said() {
        let of = |text: &str| parse(text).unwrap_err();
        for text in ["", "# nothing\n", "- a\n- b\n", "text", "\u{feff}", "---\n"] {
            assert_eq!(of(text), Unreadable::NoMap, "{text:?}");
        }
        assert_eq!(of("a: 1\na: 2\n"), Unreadable::Twice("a".into()));
        assert_eq!(of("a:\n  b: 1\n  b: 2\n"), Unreadable::Twice("b".into()));
        assert_eq!(of("a: 1\n---\nb: 2\n"), Unreadable::Documents);
        for torn in ["a:\n\t- b\n", "a: \"x\n", "a: [1, 2\n", "a: {b: 1\n", "a: *nothing\n", "a\nb: 1\n"] {
            assert!(matches!(of(torn), Unreadable::Syntax(..)), "{torn:?}: {:?}", parse(torn));
        }
        let deep = format!("a: {}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(of(&deep), Unreadable::TooMuch | Unreadable::Syntax(..)));
        let nested: String = (0..200).flat_map(|depth| [" ".repeat(depth), "a:\n".to_owned()]).collect();
        assert_eq!(of(&nested), Unreadable::TooMuch);
        let again = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(20_000), "*a, ".repeat(5000));
        assert_eq!(of(&again), Unreadable::TooMuch);
    }

    #[test]
    fn aliases_and_tags_are_read() {
        let root = parse("base: &b done\ncopy: *b\nmap: &m {a: 1}\nother: *m\nnumber: !!str 3\n").unwrap();
        assert_eq!(root.get("copy").and_then(Node::text), Some("done"));
        assert_eq!(root.get("number").and_then(Node::text), Some("3"));
        assert!(matches!(root.get("other").unwrap().kind, Kind::Alias));
        assert_eq!(set("a: &x 1\nb: *x\n", &["b"], &"c".into()), Err(Unfit::Other("b".into())));
    }

    /// Old text, path, value, new text.
    #[test]
    fn changes_touch_nothing_else() {
        for (old, path, value, new) in [
            ("a: 1 # one\nb: 2\n", "a", "x", "a: x # one\nb: 2\n"),
            ("a: 'old'\n", "a", "New one", "a: \"New one\"\n"),
            ("a: 1", "b", "x", "a: 1\nb: x"),
            ("a: 1\r\nb: 2\r\n", "c", "x", "a: 1\r\nb: 2\r\nc: x\r\n"),
            ("\u{feff}a: 1\n", "b", "x", "\u{feff}a: 1\nb: x\n"),
            ("a: 1\n\n# end\n", "b", "x", "a: 1\nb: x\n\n# end\n"),
            (
                "a:\n    b: 1\n    # inner\n# outer\nc: 2\n",
                "a.d",
                "x",
                "a:\n    b: 1\n    d: x\n    # inner\n# outer\nc: 2\n",
            ),
            (
                "a:\n  b: |\n    line\n\n    # no comment\n\nc: 2\n",
                "a.d",
                "x",
                "a:\n  b: |\n    line\n\n    # no comment\n  d: x\n\nc: 2\n",
            ),
            ("a:\n- 1\n- 2\nb:\n- 3\n", "c", "x", "a:\n- 1\n- 2\nb:\n- 3\nc: x\n"),
            ("a:\n  l:\n  - 1\n  - 2\nb: 1\n", "a.c", "x", "a:\n  l:\n  - 1\n  - 2\n  c: x\nb: 1\n"),
            ("a: {b: 1, c: 2} # k\n", "a.d", "x", "a: {b: 1, c: 2, d: x} # k\n"),
            ("a: {}\n", "a.b.c", "x", "a: {b: {c: x}}\n"),
            ("a: {} # none yet\nb: 1\n", "a.c", "x", "a: {c: x} # none yet\nb: 1\n"),
            ("a: null # none yet\nb: 1\n", "a.c.d", "x", "a: {c: {d: x}} # none yet\nb: 1\n"),
            ("a: {b: ~}\n", "a.b.c", "x", "a: {b: {c: x}}\n"),
            ("a: { b: 1 }\n", "a.b", "x", "a: { b: x }\n"),
            ("a: {b: }\n", "a.c", "x", "a: {b: , c: x}\n"),
            ("a:\nb: 1\n", "a", "x", "a: x\nb: 1\n"),
            ("a: # later\nb: 1\n", "a.c.d", "x", "a: # later\n  c:\n    d: x\nb: 1\n"),
            (
                "a:\n   b: 1\nc: 1\n",
                "g.1.status",
                "passed",
                "a:\n   b: 1\nc: 1\ng:\n   1:\n      status: passed\n",
            ),
            ("---\na: 1\n...\n", "b", "x", "---\na: 1\nb: x\n...\n"),
            ("a: x\n", "a", "x", "a: x\n"),
            ("a: \"two\n  lines\"\nb: 1\n", "c", "x", "a: \"two\n  lines\"\nb: 1\nc: x\n"),
            ("b: 1\na: \"two\n  lines\"\n", "c", "x", "b: 1\na: \"two\n  lines\"\nc: x\n"),
            ("a: [1, 2] # l\nb: 1\n", "a", "x", "a: x # l\nb: 1\n"),
            ("a: {b: 1,\n    c: 2}\nz: 1\n", "a.d", "x", "a: {b: 1,\n    c: 2, d: x}\nz: 1\n"),
        ] {
            let path: Vec<&str> = path.split('.').collect();
            assert_eq!(set(old, &path, &value.into()).as_deref(), Ok(new), "{old:?}");
        }
    }

    #[test]
    fn what_cannot_be_changed_alone_is_refused() {
        for (old, path) in [
            ("a: |\n  x\n", "a"),
            ("a: [1,\n  2]\n", "a"),
            ("a:\n- 1\n", "a"),
            ("a: [1]\n", "a.b"),
            ("a: x\n", "a.b"),
            ("a: \"two\n  lines\"\n", "a"),
            ("a:\n  b: 1\n", "a"),
            ("<<: 1\n? [k]\n: v\n", "<<.x"),
            ("a: !!str \"1\" # why\n", "a"),
            ("a: &x '1' # why\n", "a"),
            ("a: &x 1\n", "a"),
            ("a: &m\n  c: 1\nb:\n  <<: *m\n", "a.b"),
            ("a: &m {c: 1}\nb: *m\n", "a.b"),
        ] {
            let path: Vec<&str> = path.split('.').collect();
            assert!(set(old, &path, &"x".into()).is_err(), "{old:?}");
        }
        assert!(matches!(set("- a\n", &["b"], &"x".into()), Err(Unfit::Unreadable(_))));
    }

    #[test]
    fn a_list_can_be_a_value() {
        let texts = Scalar::Texts(vec!["a.md".into(), "b: c".into()]);
        for old in ["a: 1\n", "a: [x]\n", "a:\n", "b: 1\n"] {
            let new = set(old, &["a"], &texts).unwrap();
            assert!(texts.is(parse(&new).unwrap().get("a").unwrap()), "{new}");
        }
    }

    #[test]
    fn any_text_can_be_a_value() {
        for value in [
            "", "a: b", "# no", "true", "12", "- x", "\"q\"", "a\nb", "日本", "\u{1}", "*x", "&x", "\\", " ",
            "\u{2028}", "\u{85}",
        ] {
            let new = set("a: 1\n", &["b"], &value.into()).unwrap();
            assert_eq!(parse(&new).unwrap().get("b").unwrap().key(), Some(value), "{new:?}");
            assert_eq!(new.lines().count(), 2, "{new:?}");
        }
    }

    /// Manifests as people write them, in several layouts.
    fn manifest() -> impl Strategy<Value = String> {
        let comment =
            prop_oneof![Just(String::new()), Just(" # note".to_owned()), Just("   # 注: x".to_owned())];
        let value = prop_oneof![
            Just("done".to_owned()),
            Just("\"in: quotes\"".to_owned()),
            Just("'it''s'".to_owned()),
            Just("[a, b]".to_owned()),
            Just("{status: complete, n: 1}".to_owned()),
            Just("日本語の値".to_owned()),
            Just(String::new()),
        ];
        let entry = (0usize..6, value, comment).prop_map(|(shape, value, comment)| (shape, value, comment));
        let layout = (1usize..5, any::<bool>(), any::<bool>(), any::<bool>());
        (proptest::collection::vec(entry, 1..6), layout).prop_map(|(entries, (step, crlf, bom, last))| {
            let indent = " ".repeat(step);
            let mut text = String::from("# head\nfeature: x\nphases:\n");
            for (at, (shape, value, comment)) in entries.iter().enumerate() {
                let section = match shape {
                    0 => format!("{indent}{at}_p: {value}{comment}\n"),
                    1 => format!(
                        "{indent}{at}_p:{comment}\n{indent}{indent}status: done\n{indent}{indent}note: {value}\n"
                    ),
                    2 => format!(
                        "{indent}{at}_p:\n{indent}{indent}log: |\n{indent}{indent} a: b\n\n{indent}{indent} # c\n"
                    ),
                    3 => format!(
                        "{indent}{at}_p:\n{indent}{indent}list:\n{indent}{indent}- a{comment}\n{indent}{indent}- b\n"
                    ),
                    4 => format!(
                        "\n{indent}# before\n{indent}{at}_p: >-\n{indent}{indent}folded\n{indent}{indent}text\n"
                    ),
                    _ => format!("{indent}{at}_p: \"a\n{indent}{indent}b\"{comment}\n"),
                };
                text.push_str(&section);
            }
            text += "# tail\nend: 1\n";
            if !last {
                text.truncate(text.len() - 1);
            }
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            if bom { format!("{BOM}{text}") } else { text }
        })
    }

    proptest! {
        #[test]
        fn a_change_reads_back_and_leaves_the_other_lines(old in manifest(), at in 0usize..7, deep in 0usize..3, value in ".{0,20}") {
            let phase = format!("{at}_p");
            let paths = [vec!["gates", "1", "status"], vec!["phases", &phase, "skip_reason"], vec!["phases", &phase]];
            let path = paths[deep].as_slice();
            prop_assume!(parse(&old).is_ok());
            if let Ok(new) = set(&old, path, &Scalar::Text(value.clone())) {
                let root = parse(&new).unwrap();
                let found = path.iter().try_fold(&root, |node, key| node.get(key));
                prop_assert_eq!(found.and_then(Node::key), Some(value.as_str()));
                // What is not in the changed lines is there, to the byte and in its order.
                let (mut kept, mut lost) = (new.split_inclusive('\n'), 0);
                for line in old.split_inclusive('\n') {
                    let before = kept.clone();
                    if kept.by_ref().all(|known| known.trim_end_matches(['\r', '\n']) != line.trim_end_matches(['\r', '\n'])) {
                        kept = before;
                        lost += 1;
                    }
                }
                prop_assert!(lost <= 1, "{lost} lines changed:\n{old}\n=>\n{new}");
                prop_assert_eq!(old.ends_with('\n'), new.ends_with('\n'));
                prop_assert_eq!(old.contains("\r\n"), new.contains("\r\n"));
                prop_assert!(!old.contains("\r\n") || !new.replace("\r\n", "").contains('\n'));
            } else {
                // What a gate records can always be written where there are keys with values.
                prop_assert!(deep > 0, "refused:\n{old}");
            }
        }

        #[test]
        fn any_text_is_survived(text in "[ -~\\n\\t:{}\\[\\]#&*|>'\"?!%@`,語é-]{0,200}") {
            let _ = parse(&text);
            let _ = set(&text, &["gates", "1", "status"], &"passed".into());
        }
    }
}

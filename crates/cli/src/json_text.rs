//! JSON text, edited in place: what is not touched stays as it is, to the byte.
//!
//! Reading is lenient: comments and trailing commas are taken and reported, since a person may have added them. Writing
//! follows the file's own newlines and indentation, and [`Document::remove`] undoes [`Document::push`] exactly.

use std::ops::Range;

use serde_json::{Map, Value};

/// More than any settings file has, and far from the end of the stack.
const DEEPEST: usize = 128;

#[derive(Debug)]
pub(crate) struct Document<'a> {
    text: &'a str,
    pub(crate) root: Node,
    /// Comments and trailing commas: most hosts do not read a file with them.
    pub(crate) oddities: Vec<Fault>,
    newline: &'static str,
    /// One step of indentation.
    unit: &'a str,
    /// No space behind a colon.
    tight: bool,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Object(Vec<Item>),
    Array(Vec<Item>),
    String(String),
    /// A number, `true`, `false` or `null`.
    Plain,
}

/// A member of an object, or an element of an array.
#[derive(Debug)]
pub(crate) struct Item {
    /// Empty in an array.
    pub(crate) key: String,
    /// Start of the key, or of the element.
    start: usize,
    pub(crate) value: Node,
    /// Position of the comma after it.
    comma: Option<usize>,
}

/// An oddity that some readers take.
pub(crate) const COMMENT: &str = "a comment";

/// Something that is not JSON, with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) what: String,
}

impl Node {
    pub(crate) fn members(&self) -> Option<&[Item]> {
        if let Kind::Object(items) = &self.kind { Some(items) } else { None }
    }

    pub(crate) fn elements(&self) -> Option<&[Item]> {
        if let Kind::Array(items) = &self.kind { Some(items) } else { None }
    }

    pub(crate) fn string(&self) -> Option<&str> {
        if let Kind::String(text) = &self.kind { Some(text) } else { None }
    }

    /// Of two members with the same name the last counts, as for the host.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.members()?.iter().rev().find(|item| item.key == key).map(|item| &item.value)
    }

    fn items(&self) -> &[Item] {
        self.members().or(self.elements()).unwrap_or_default()
    }
}

impl<'a> Document<'a> {
    /// Stops at the first error.
    pub(crate) fn parse(text: &'a str) -> Result<Document<'a>, Fault> {
        let begin = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut parser = Parser { text, at: begin, oddities: Vec::new() };
        let root = parser.blank().and_then(|()| parser.value(0));
        let root = root.and_then(|root| parser.end().map(|()| root));
        let root = root.map_err(|(at, what)| fault_at(text, at, what))?;
        let oddities = parser.oddities.iter().map(|(at, what)| fault_at(text, *at, *what)).collect();
        let newline = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let tight = root.members().and_then(<[_]>::first);
        let tight = tight.is_some_and(|first| text[..first.value.span.start].ends_with(':'));
        let unit = unit_of(text, &root).unwrap_or("  ");
        Ok(Document { text, root, oddities, newline, unit, tight })
    }

    /// The first thing for which a reader of strict JSON refuses the text.
    pub(crate) fn find_fault(text: &str) -> Option<Fault> {
        match Document::parse(text) {
            Ok(document) => document.oddities.into_iter().next(),
            Err(fault) => Some(fault),
        }
    }

    pub(crate) fn fault(&self, node: &Node, what: impl Into<String>) -> Fault {
        fault_at(self.text, node.span.start, what)
    }

    /// As it stands in the file.
    pub(crate) fn raw(&self, node: &Node) -> &'a str {
        &self.text[node.span.clone()]
    }

    pub(crate) fn value(&self, node: &Node) -> Value {
        match &node.kind {
            Kind::Object(items) => {
                let members = items.iter().map(|item| (item.key.clone(), self.value(&item.value)));
                Value::Object(members.collect::<Map<_, _>>())
            }
            Kind::Array(items) => items.iter().map(|item| self.value(&item.value)).collect(),
            Kind::String(text) => Value::String(text.clone()),
            Kind::Plain => serde_json::from_str(self.raw(node)).unwrap_or_default(),
        }
    }

    /// Adds an item at the end of an object (with a key) or of an array.
    pub(crate) fn push(&self, container: &Node, key: Option<&str>, value: &Value) -> String {
        let item = |indent: Option<&str>| {
            let colon = if self.tight { ":" } else { ": " };
            let key = key.map(|key| format!("{}{colon}", quote_string(key))).unwrap_or_default();
            format!("{key}{}", self.render(value, indent))
        };
        let (open, close) = (container.span.start + 1, container.span.end - 1);
        let items = container.items();
        let Some(last) = items.last() else {
            // After a lone carriage return, an added newline would be read as the second half of one.
            return if self.is_one_line() || self.text[open..close].ends_with('\r') {
                self.splice(open..open, &item(None))
            } else {
                let outer = self.indent(container.span.start);
                let inner = format!("{outer}{}", self.unit);
                let newline = self.newline;
                self.splice(close..close, &format!("{newline}{inner}{}{newline}{outer}", item(Some(&inner))))
            };
        };
        let before = match items.len().checked_sub(2).and_then(|at| items[at].comma) {
            Some(comma) => &self.text[comma + 1..last.start],
            None => &self.text[open..last.start],
        };
        let end = last.value.span.end;
        let added = if before.contains('\n') {
            let indent = self.indent(last.start);
            format!(",{}{indent}{}", self.newline, item(Some(indent)))
        } else {
            let space = if items.len() > 1 && before.trim().is_empty() {
                before
            } else if self.tight {
                ""
            } else {
                " "
            };
            let indent = self.raw(&last.value).contains('\n').then(|| self.indent(end));
            format!(",{space}{}", item(indent))
        };
        self.splice(end..end, &added)
    }

    /// Removes an item. Comments stay.
    pub(crate) fn remove(&self, container: &Node, index: usize) -> String {
        let items = container.items();
        let item = &items[index];
        let (start, end) = (item.start, item.value.span.end);
        let with_comma = item.comma.map_or(end, |comma| comma + 1);
        let has_comment = |gap: Range<usize>| self.text[gap].contains('/');
        match (index.checked_sub(1).map(|before| &items[before]), items.get(index + 1)) {
            (Some(before), _) if !has_comment(before.value.span.end..start) => {
                self.splice(before.value.span.end..end, "")
            }
            // Text after a line comment must stay on its own line: only the item and one comma are removed.
            (Some(before), _) if item.comma.is_none() => {
                let comma = before.comma.unwrap_or(start);
                let kept = &self.text[(comma + 1).min(start)..start];
                self.splice(comma..end, kept)
            }
            (None, Some(after)) if !has_comment(end..after.start) => self.splice(start..after.start, ""),
            (None, None) => {
                let (open, close) = (container.span.start + 1, container.span.end - 1);
                if has_comment(open..start) || has_comment(end..close) {
                    return self.splice(start..with_comma, "");
                }
                let (before, behind) = (&self.text[open..start], &self.text[with_comma..close]);
                let kept = if before.is_empty() {
                    behind
                } else {
                    let line = before.trim_end_matches([' ', '\t']);
                    line.strip_suffix(self.newline).or(line.strip_suffix('\n')).unwrap_or_default()
                };
                self.splice(open..close, kept)
            }
            _ => self.splice(start..with_comma, ""),
        }
    }

    pub(crate) fn replace(&self, node: &Node, raw: &str) -> String {
        self.splice(node.span.clone(), raw)
    }

    /// Replaces several values, given in the order of the text, in the file's style.
    pub(crate) fn replace_values(&self, values: &[(&Node, Value)]) -> String {
        let mut text = String::with_capacity(self.text.len());
        let mut done = 0;
        for (node, value) in values {
            let indent = self.raw(node).contains('\n').then(|| self.indent(node.span.start));
            text.push_str(&self.text[done..node.span.start]);
            text.push_str(&self.render(value, indent));
            done = node.span.end;
        }
        text.push_str(&self.text[done..]);
        text
    }

    fn splice(&self, range: Range<usize>, with: &str) -> String {
        format!("{}{with}{}", &self.text[..range.start], &self.text[range.end..])
    }

    /// A file that was squeezed into one line stays in one line.
    fn is_one_line(&self) -> bool {
        !self.root.items().is_empty() && !self.raw(&self.root).contains('\n')
    }

    fn indent(&self, at: usize) -> &'a str {
        line_indent(self.text, at)
    }

    /// In the file's style; over several lines if `indent` is given. Lists of plain values stay in one line.
    fn render(&self, value: &Value, indent: Option<&str>) -> String {
        let (open, close, items): (_, _, Vec<(String, &Value)>) = match value {
            Value::Object(members) => {
                let colon = if self.tight { ":" } else { ": " };
                let key = |key: &str| format!("{}{colon}", quote_string(key));
                ('{', '}', members.iter().map(|(name, value)| (key(name), value)).collect())
            }
            Value::Array(elements) => {
                ('[', ']', elements.iter().map(|value| (String::new(), value)).collect())
            }
            plain => return plain.to_string(),
        };
        let is_flat = value.is_array() && items.iter().all(|(_, item)| !item.is_object() && !item.is_array());
        let indent = indent.filter(|_| !is_flat && !items.is_empty());
        let inner = indent.map(|indent| format!("{indent}{}", self.unit));
        let items: Vec<String> = items
            .iter()
            .map(|(key, value)| format!("{key}{}", self.render(value, inner.as_deref())))
            .collect();
        match (indent, inner) {
            (Some(indent), Some(inner)) => {
                let newline = self.newline;
                let items = items.join(&format!(",{newline}{inner}"));
                format!("{open}{newline}{inner}{items}{newline}{indent}{close}")
            }
            _ => format!("{open}{}{close}", items.join(if self.tight { "," } else { ", " })),
        }
    }
}

pub(crate) fn quote_string(text: &str) -> String {
    Value::from(text).to_string()
}

pub(crate) fn fault_at(text: &str, at: usize, what: impl Into<String>) -> Fault {
    let before = &text[..at];
    let line = before.rsplit('\n').next().unwrap_or_default();
    Fault {
        line: before.matches('\n').count() + 1,
        column: line.trim_start_matches('\u{feff}').chars().count() + 1,
        what: what.into(),
    }
}

fn line_indent(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let rest = &text[line..];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// The indentation of the first item on its own line, relative to its parent.
fn unit_of<'a>(text: &'a str, node: &Node) -> Option<&'a str> {
    let items = node.items();
    let own = items.first().filter(|first| text[node.span.start..first.start].contains('\n'));
    let unit = own.and_then(|first| {
        line_indent(text, first.start)
            .strip_prefix(line_indent(text, node.span.start))
            .filter(|unit| !unit.is_empty())
    });
    unit.or_else(|| items.iter().find_map(|item| unit_of(text, &item.value)))
}

/// Position and reason.
type Wrong = (usize, &'static str);

struct Parser<'a> {
    text: &'a str,
    at: usize,
    oddities: Vec<Wrong>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Skips white space and comments.
    fn blank(&mut self) -> Result<(), Wrong> {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
                self.at += 1;
            }
            let (at, rest) = (self.at, &self.text[self.at..]);
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").ok_or((at, "a comment without an end"))? + 2;
            } else {
                return Ok(());
            }
            self.oddities.push((at, COMMENT));
        }
    }

    fn end(&mut self) -> Result<(), Wrong> {
        self.blank()?;
        if self.at < self.text.len() { Err((self.at, "text behind the end of the JSON")) } else { Ok(()) }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Wrong> {
        let start = self.at;
        if depth > DEEPEST {
            return Err((start, "nested too deeply"));
        }
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.items(depth, b'}')?),
            Some(b'[') => Kind::Array(self.items(depth, b']')?),
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9' | b'a'..=b'z') => {
                let rest = &self.text[start..];
                let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
                self.at += rest.len() - rest.trim_start_matches(is_part).len();
                if serde_json::from_str::<Box<serde_json::value::RawValue>>(&self.text[start..self.at])
                    .is_err()
                {
                    return Err((start, "neither a value nor a number"));
                }
                Kind::Plain
            }
            Some(_) => return Err((start, "a value is missing")),
            None => return Err((start, "the file ends too early")),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn items(&mut self, depth: usize, close: u8) -> Result<Vec<Item>, Wrong> {
        self.at += 1;
        let mut items: Vec<Item> = Vec::new();
        loop {
            self.blank()?;
            let last = items.last().map(|item| item.comma);
            if self.take(close) {
                self.oddities.extend(last.flatten().map(|comma| (comma, "a trailing comma")));
                return Ok(items);
            }
            if last == Some(None) {
                let missing =
                    if self.peek().is_none() { "the file ends too early" } else { "a comma is missing" };
                return Err((self.at, missing));
            }
            let start = self.at;
            let key = if close == b'}' { self.key()? } else { String::new() };
            let value = self.value(depth + 1)?;
            self.blank()?;
            let comma = self.at;
            let comma = self.take(b',').then_some(comma);
            items.push(Item { key, start, value, comma });
        }
    }

    fn key(&mut self) -> Result<String, Wrong> {
        match self.peek() {
            Some(b'"') => {}
            Some(_) => return Err((self.at, "a name in double quotes is missing")),
            None => return Err((self.at, "the file ends too early")),
        }
        let key = self.string()?;
        self.blank()?;
        if !self.take(b':') {
            return Err((self.at, "a colon is missing"));
        }
        self.blank()?;
        Ok(key)
    }

    fn string(&mut self) -> Result<String, Wrong> {
        let start = self.at;
        let mut decoded = String::new();
        let mut chars = self.text[start + 1..].char_indices();
        let at = |offset: usize| start + 1 + offset;
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = at(offset) + 1;
                    return Ok(decoded);
                }
                '\\' => match chars.next().map(|(_, escaped)| escaped) {
                    Some(escaped @ ('"' | '\\' | '/')) => decoded.push(escaped),
                    Some('b') => decoded.push('\u{8}'),
                    Some('f') => decoded.push('\u{c}'),
                    Some('n') => decoded.push('\n'),
                    Some('r') => decoded.push('\r'),
                    Some('t') => decoded.push('\t'),
                    Some('u') => {
                        let mut unit =
                            parse_hex(chars.as_str()).ok_or((at(offset), "an escape that is none"))?;
                        let _ = chars.nth(3);
                        // Two escapes can be one character; half of a pair is none.
                        let low = chars.as_str().strip_prefix("\\u").and_then(parse_hex);
                        if let (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) = (unit, low) {
                            unit = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                            let _ = chars.nth(5);
                        }
                        decoded.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                    _ => return Err((at(offset), "an escape that is none")),
                },
                '\0'..='\u{1f}' => return Err((at(offset), "a line break or control character in a string")),
                c => decoded.push(c),
            }
        }
        Err((start, "a string without an end"))
    }
}

fn parse_hex(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn parse(text: &str) -> Document<'_> {
        Document::parse(text).unwrap_or_else(|fault| panic!("{fault:?}: {text}"))
    }

    fn pushed(text: &str) -> String {
        let document = parse(text);
        let back = |with: &str| {
            let document = Document::parse(with).unwrap_or_else(|fault| panic!("{fault:?}: {with}"));
            document.remove(&document.root, document.root.items().len() - 1)
        };
        let key = document.root.members().map(|_| "new");
        let with = document.push(&document.root, key, &json!({ "a": ["x", 1], "b": [{}], "c": [] }));
        assert_eq!(back(&with), text, "{with}");
        with
    }

    #[test]
    fn an_item_is_added_in_the_style_of_the_file() {
        let cases = [
            (
                "{}",
                "{\n  \"new\": {\n    \"a\": [\"x\", 1],\n    \"b\": [\n      {}\n    ],\n    \"c\": []\n  }\n}",
            ),
            ("{\"k\":1}", "{\"k\":1,\"new\":{\"a\":[\"x\",1],\"b\":[{}],\"c\":[]}}"),
            ("{ \"k\": 1 }", "{ \"k\": 1, \"new\": {\"a\": [\"x\", 1], \"b\": [{}], \"c\": []} }"),
            (
                "{\r\n\t\"k\": 1\r\n}\r\n",
                "{\r\n\t\"k\": 1,\r\n\t\"new\": {\r\n\t\t\"a\": [\"x\", 1],\r\n\t\t\"b\": [\r\n\t\t\t{}\r\n\t\t],\r\n\t\t\"c\": []\r\n\t}\r\n}\r\n",
            ),
            (
                "[{\n    \"k\": 1\n}]",
                "[{\n    \"k\": 1\n}, {\n    \"a\": [\"x\", 1],\n    \"b\": [\n        {}\n    ],\n    \"c\": []\n}]",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(pushed(text), expected);
        }
        for text in [
            "{ }",
            "{\n}\n",
            "{\r}",
            "\u{feff}{\r\n}",
            "[]",
            "[ ]",
            "[1\n]",
            "[\n1 , 2]",
            "{\"a\":1\n,\"b\":2}",
        ] {
            pushed(text);
        }
    }

    #[test]
    fn what_others_wrote_around_it_stays() {
        let without = |text: &str, index| {
            let document = parse(text);
            document.remove(&document.root, index)
        };
        assert_eq!(without("{\"a\": 1, \"b\": 2}", 0), "{\"b\": 2}");
        assert_eq!(without("{\"a\": 1, \"b\": 2}", 1), "{\"a\": 1}");
        assert_eq!(without("[1, 2, 3,]", 1), "[1, 3,]");
        assert_eq!(without("[1, 2,]", 1), "[1,]");
        assert_eq!(without("[1,]", 0), "[]");
        assert_eq!(without("{\n  \"a\": 1\n}", 0), "{}");
        for (text, index) in [
            ("[ // one\n 1 ]", 0),
            ("[ 1 // one\n]", 0),
            ("[ 1, // one\n]", 0),
            ("[1, // one\n 2]", 0),
            ("[1, // one\n 2]", 1),
            ("[1 // one\n, 2]", 1),
            ("[1 /* one */, 2, 3]", 1),
            ("[1, // one\n 2, 3]", 1),
            ("[1, // one\n 2, // one\n 3]", 2),
        ] {
            let left = without(text, index);
            let document = parse(&left);
            assert_eq!(left.matches("one").count(), text.matches("one").count(), "{left}");
            assert_eq!(document.root.items().len() + 1, parse(text).root.items().len(), "{left}");
        }
    }

    #[test]
    fn what_the_host_would_not_take_is_reported_with_its_place() {
        let found = |text| {
            let document = parse(text);
            document.oddities.into_iter().map(|odd| (odd.line, odd.column, odd.what)).collect::<Vec<_>>()
        };
        assert_eq!(found("{\"a\": [1, 2]}"), []);
        assert_eq!(
            found("\u{feff}{\n  // x\n  \"é\": 1, /* y */\n}"),
            [
                (2, 3, "a comment".to_owned()),
                (3, 11, "a comment".to_owned()),
                (3, 9, "a trailing comma".to_owned()),
            ]
        );
    }

    #[test]
    fn broken_text_is_refused_where_it_breaks() {
        for (text, line, column, what) in [
            ("", 1, 1, "too early"),
            ("{", 1, 2, "too early"),
            ("{\"a\": 1\n \"b\": 2}", 2, 2, "comma"),
            ("{a: 1}", 1, 2, "double quotes"),
            ("{\"a\" 1}", 1, 6, "colon"),
            ("{\"a\": }", 1, 7, "value"),
            ("{\"a\": 01}", 1, 7, "number"),
            ("{\"a\": tru}", 1, 7, "number"),
            ("{\"a\": \"x\ny\"}", 1, 9, "line break"),
            ("{\"a\": \"\\x\"}", 1, 8, "escape"),
            ("{\"a\": \"\\u12g4\"}", 1, 8, "escape"),
            ("{\"a\": \"x}", 1, 7, "without an end"),
            ("{} {}", 1, 4, "behind the end"),
            ("{} /* x", 1, 4, "comment"),
            ("[,]", 1, 2, "value"),
            ("{,}", 1, 2, "double quotes"),
        ] {
            let fault = Document::parse(text).expect_err(text);
            assert_eq!((fault.line, fault.column), (line, column), "{text}: {fault:?}");
            assert!(fault.what.contains(what), "{text}: {fault:?}");
        }
        assert!(Document::parse(&"[".repeat(1_000_000)).is_err_and(|fault| fault.what.contains("deeply")));
    }

    #[test]
    fn strings_are_read_as_the_host_reads_them() {
        let text = r#"{"\u0061\ud83d\ude00\"\/\n": "\ud800x", "a": 1, "a": "last"}"#;
        let document = parse(text);
        let members = document.root.members().unwrap();
        assert_eq!(members[0].key, "a\u{1f600}\"/\n");
        assert_eq!(members[0].value.string(), Some("\u{fffd}x"));
        assert_eq!(document.root.get("a").and_then(Node::string), Some("last"));
    }

    fn blank() -> impl Strategy<Value = &'static str> + Clone {
        prop_oneof![
            6 => Just(""),
            3 => Just(" "),
            4 => Just("\n  "),
            1 => prop::sample::select(vec!["\r\n", "\n", "\t", "\r", "  \n\t", "\r\n    ", "\n\n", " \r"]),
        ]
    }

    /// Any JSON, with white space anywhere it may stand.
    pub(in super::super) fn odd_json(keys: &'static [&'static str]) -> impl Strategy<Value = String> {
        let plain = prop::sample::select(vec![
            "1",
            "-0.5e3",
            "true",
            "null",
            "\"\"",
            "\"\\u00e9 \\\"{[\"",
            "\"日本\"",
            "{}",
            "[]",
        ]);
        let leaf = plain.prop_map(str::to_owned);
        leaf.prop_recursive(4, 40, 5, move |inner| {
            let item = (blank(), inner, blank()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
            let member = ((blank(), prop::sample::select(keys), blank()), item.clone())
                .prop_map(|((a, key, b), value)| format!("{a}\"{key}\"{b}:{value}"));
            let joined = |open: &'static str, close: &'static str| {
                move |(items, space): (Vec<String>, &str)| {
                    let inner = if items.is_empty() { space.to_owned() } else { items.join(",") };
                    format!("{open}{inner}{close}")
                }
            };
            prop_oneof![
                (prop::collection::vec(item, 0..5), blank()).prop_map(joined("[", "]")),
                (prop::collection::vec(member, 0..5), blank()).prop_map(joined("{", "}")),
            ]
        })
    }

    fn containers<'n>(node: &'n Node, found: &mut Vec<&'n Node>) {
        if !matches!(node.kind, Kind::String(_) | Kind::Plain) {
            found.push(node);
        }
        for item in node.items() {
            containers(&item.value, found);
        }
    }

    /// What to do to the container that the first document's walk finds at this place.
    fn at_place(text: &str, place: usize, act: impl Fn(&Document<'_>, &Node) -> String) -> String {
        let document = parse(text);
        let mut found = Vec::new();
        containers(&document.root, &mut found);
        act(&document, found[place])
    }

    proptest! {
        /// Anywhere, twice, in any format: taking out what was put in gives the same text.
        #[test]
        fn removing_undoes_adding(json in odd_json(&["a", "b", "c"]), bom in any::<bool>(), around in (blank(), blank()), place in any::<prop::sample::Index>()) {
            let text = format!("{}{}{json}{}", if bom { "\u{feff}" } else { "" }, around.0, around.1);
            let document = parse(&text);
            prop_assert!(document.oddities.is_empty());
            let mut found = Vec::new();
            containers(&document.root, &mut found);
            if !found.is_empty() {
                let place = place.index(found.len());
                let add = |document: &Document<'_>, node: &Node| {
                    document.push(node, node.members().map(|_| "hooks"), &json!({ "Stop": [{ "args": ["x"] }] }))
                };
                let remove = |document: &Document<'_>, node: &Node| document.remove(node, node.items().len() - 1);
                let once = at_place(&text, place, add);
                let twice = at_place(&once, place, add);
                prop_assert!(serde_json::from_str::<Value>(twice.trim_start_matches('\u{feff}')).is_ok(), "{}", twice);
                prop_assert_eq!(&at_place(&twice, place, remove), &once);
                prop_assert_eq!(at_place(&once, place, remove), text);
            }
        }

        /// What it reads is what the reference reader reads, and nothing makes it panic.
        #[test]
        fn it_reads_what_serde_reads(json in odd_json(&["a", "b", "c"]), noise in "[\\[\\]{}\",:a1/* \n\\\\u]{0,12}") {
            let document = parse(&json);
            prop_assert_eq!(document.value(&document.root), serde_json::from_str::<Value>(&json).unwrap());
            if let Ok(strict) = Document::parse(&noise) {
                let is_strict = strict.oddities.is_empty();
                prop_assert_eq!(is_strict, serde_json::from_str::<Value>(&noise).is_ok(), "{}", noise);
            }
        }
    }
}

//! From a text to its tree.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::{BOM, Kind, Node, Style, Unreadable};

/// A manifest is never nested this deep.
const DEEPEST: usize = 64;

/// A manifest never has this many values.
const MOST_NODES: usize = 200_000;

/// Bytes that aliases may repeat: a long text under many of them would be far more than the file.
const MOST_REPEATED: usize = 1024 * 1024;

/// Byte places of character places. Quick where they come mostly in order.
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

/// A list or map whose end has not been read.
struct Open<'a> {
    node: Node<'a>,
    /// The key whose value comes next.
    key: Option<Node<'a>>,
}

/// Reads one document whose root is a map.
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
                // A block has no written end; after a bracket the parser counts the rest of the line.
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
    match find_repeated_key(&root) {
        Some(key) => Err(Unreadable::Twice(key)),
        None => Ok(root),
    }
}

/// The length of the quoted text that begins here. The parser's own end includes the rest of the line.
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

/// A key that occurs twice in a map: its value would be ambiguous.
fn find_repeated_key(node: &Node<'_>) -> Option<String> {
    match &node.kind {
        Kind::Map { entries, .. } => {
            let mut seen = BTreeSet::new();
            let again = entries.iter().filter_map(|(key, _)| key.key()).find(|key| !seen.insert(*key));
            again
                .map(str::to_owned)
                .or_else(|| entries.iter().find_map(|(_, value)| find_repeated_key(value)))
        }
        Kind::List { items, .. } => items.iter().find_map(find_repeated_key),
        Kind::Scalar { .. } | Kind::Alias => None,
    }
}

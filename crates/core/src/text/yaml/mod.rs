//! YAML as people write it: read into a tree with the place of every value, and changed by a splice of the text, so that
//! comments, order and layout stay as they are.
//!
//! A change is read back first. Unless it holds the new value and everything else as before, it is refused.

mod change;
mod read;
mod scalar;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::text::hidden::plain_word;

pub use change::{Unfit, set};
pub use read::parse;
pub use scalar::{Scalar, quote};

const BOM: &str = "\u{feff}";

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    /// Its bytes in the text. Of a block only the start counts.
    pub span: Range<usize>,
    /// The column it begins in, in characters.
    column: usize,
    /// It has an anchor or a tag: a change here may change other places, or no longer fit the tag.
    marked: bool,
    /// Scalar, list, map or alias.
    pub kind: Kind<'a>,
}

/// The sort of a value.
#[derive(Clone, Debug)]
pub enum Kind<'a> {
    /// Text, a number, a flag, or nothing.
    Scalar {
        /// Without quotes and escapes.
        text: Cow<'a, str>,
        /// Its notation.
        style: Style,
    },
    /// A list.
    List {
        /// Its items.
        items: Vec<Node<'a>>,
        /// Written in brackets.
        flow: bool,
    },
    /// Keys with their values.
    Map {
        /// In their order.
        entries: Vec<(Node<'a>, Node<'a>)>,
        /// Written in braces.
        flow: bool,
    },
    /// An alias of a list or a map.
    Alias,
}

/// The notation of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Nothing behind the key.
    Empty,
    /// Without quotes.
    Plain,
    /// In quotes.
    Quoted,
    /// In lines below its key.
    Block,
    /// As an alias.
    Alias,
}

/// The reason that a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is not UTF-8.
    NotText,
    /// It is not YAML: the reason and the line.
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
            Unreadable::Syntax(why, line) => write!(out, "line {line} is not YAML ({why})"),
            Unreadable::TooMuch => out.write_str("it is nested too deeply or has too many values"),
            Unreadable::Twice(key) => write!(out, "the key `{}` occurs twice", plain_word(key)),
            Unreadable::Documents => out.write_str("there is more than one document in it"),
            Unreadable::NoMap => out.write_str("there are no keys with values in it"),
        }
    }
}

impl<'a> Node<'a> {
    /// The text of a scalar; `None` for `null`, for a missing value and for anything else.
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

    /// Keys and values of a map; empty for anything else.
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

    /// The text of a scalar, also of an empty one.
    pub fn key(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// `null` or a missing value.
    pub fn is_nothing(&self) -> bool {
        matches!(self.kind, Kind::Scalar { .. }) && self.text().is_none()
    }

    /// Compares values without place and notation.
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

    /// The end of its last part that does not stand on lines of its own below a key.
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

//! YAML as people write it: read into a tree that knows where everything stands, and changed by a splice of the text, so that
//! comments, order and layout stay as they are.
//!
//! A change is read back before anybody gets it: it says the new value and everything else as before, or it is refused.

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

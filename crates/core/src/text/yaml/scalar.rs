//! Values as they are written into a file.

use std::fmt::Write as _;

use super::{Kind, Node};

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
    /// Its text when it is read back.
    pub(super) fn plain_text(&self) -> String {
        match self {
            Scalar::Text(text) => text.clone(),
            Scalar::Whole(number) => number.to_string(),
            Scalar::Flag(flag) => flag.to_string(),
            Scalar::Texts(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| quote(text)).collect();
                format!("[{}]", texts.join(", "))
            }
        }
    }

    /// A value that was read is this one.
    pub(super) fn reads_as(&self, node: &Node<'_>) -> bool {
        match (self, &node.kind) {
            (Scalar::Texts(texts), Kind::List { items, .. }) => {
                items.len() == texts.len()
                    && items.iter().zip(texts).all(|(item, text)| item.key() == Some(text))
            }
            (Scalar::Texts(_), _) => false,
            (_, Kind::Scalar { text, .. }) => *text == self.plain_text(),
            _ => false,
        }
    }

    pub(super) fn to_yaml(&self) -> String {
        match self {
            Scalar::Text(text) => {
                let is_word = text.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'-'))
                    && text.starts_with(|c: char| c.is_ascii_lowercase())
                    && !matches!(
                        text.as_str(),
                        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
                    );
                if is_word { text.clone() } else { quote(text) }
            }
            other => other.plain_text(),
        }
    }
}

/// In double quotes, on one line.
pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        let _ = match c {
            '"' => write!(out, "\\\""),
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\t' => write!(out, "\\t"),
            // A parser could refuse these or take them for line breaks.
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

pub(super) fn key_text(key: &str) -> String {
    let is_plain = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if is_plain { key.to_owned() } else { quote(key) }
}

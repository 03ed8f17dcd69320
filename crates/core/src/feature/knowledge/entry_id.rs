//! Ids of entries, derived from their text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::feature::knowledge::document::closing_fence;
use crate::text::fnv;

/// Stays the same when the entry moves to another file, to other line ends or through an editor that trims
/// blanks. Another text has another id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(u64);

/// As many bits as are displayed, so that a parsed id equals the original.
const BITS: u32 = 48;

impl EntryId {
    pub fn of(heading: &str, body: &str) -> EntryId {
        let body = body.trim_end();
        // A fence that is open to the end of its file must be closed before anything can follow; the entry
        // stays the same.
        let closing = closing_fence(body);
        let lines = [heading].into_iter().chain(body.split('\n')).chain(closing.as_deref());
        let hash = fnv::hash(lines.flat_map(|line| line.trim_end().bytes().chain([b'\n'])));
        EntryId((hash >> BITS) ^ (hash & ((1 << BITS) - 1)))
    }

    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:012x}", self.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidEntryId;

impl fmt::Display for InvalidEntryId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("not an id of 12 hexadecimal digits")
    }
}

impl std::error::Error for InvalidEntryId {}

impl FromStr for EntryId {
    type Err = InvalidEntryId;

    fn from_str(text: &str) -> Result<EntryId, InvalidEntryId> {
        let shape = text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        shape.then(|| u64::from_str_radix(text, 16).ok()).flatten().map(EntryId).ok_or(InvalidEntryId)
    }
}

impl Serialize for EntryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EntryId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EntryId, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_is_the_same_in_every_version() {
        assert_eq!(EntryId::of("[2026-02-18 14:30] — 設計", "- 決定: 一つ\n").to_string(), "aac9ca526b0b");
    }

    #[test]
    fn what_is_the_same_entry() {
        let id = EntryId::of("a", "- x\n\n- y\n");
        for body in ["- x\n\n- y", "- x\r\n\r\n- y\r\n\r\n", "- x  \n \t\n- y\u{3000}\n\n \n"] {
            assert_eq!(EntryId::of("a", body), id, "{body:?}");
        }
        for (heading, body) in [("a", "- x\n- y\n"), ("b", "- x\n\n- y\n"), ("a", " - x\n\n- y\n"), ("a", "")]
        {
            assert_ne!(EntryId::of(heading, body), id, "{body:?}");
        }
        assert_eq!(EntryId::of("a", "~~~~\nx\n\n"), EntryId::of("a", "~~~~\nx\n~~~~\n\n"));
        assert_ne!(EntryId::of("a", "b"), EntryId::of("a\nb", ""));
    }

    #[test]
    fn what_is_no_id() {
        for text in ["", "abc", "0123456789ag", "+12345678901", "0123456789abc", "日本語日"] {
            assert_eq!(text.parse::<EntryId>(), Err(InvalidEntryId), "{text}");
        }
    }

    proptest! {
        #[test]
        fn line_ends_and_blanks_do_not_matter(heading in "[a-z日 ]{0,8}", body in "([a-z日 `#-]{0,8}\n){0,6}") {
            let id = EntryId::of(&heading, &body);
            prop_assert_eq!(EntryId::of(&heading, &body.replace('\n', "\r\n")), id);
            prop_assert_eq!(EntryId::of(&heading, &body.replace('\n', " \t\n")), id);
            prop_assert_eq!(EntryId::of(&heading, &format!("{body}\n \n")), id);
            let text = serde_json::to_string(&id).unwrap();
            prop_assert_eq!(serde_json::from_str::<EntryId>(&text).unwrap(), id);
        }
    }
}

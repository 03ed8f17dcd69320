//! Members of a JSON object, each as it stands in the text.
//!
//! A line is read once as JSON, which shows whether it is any. Its parts are then only stepped over: most bytes are texts
//! within texts within objects, and each level would be read again.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use tidegate_core::text::json::Field;

/// Undecoded, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'a> Members<'a> {
    /// `None` for what is not an object.
    pub(crate) fn of(json: &'a str) -> Option<Members<'a>> {
        serde_json::from_str(json).ok()
    }

    /// The same of a value within JSON that was read before.
    pub(crate) fn within(json: &'a str) -> Option<Members<'a>> {
        let mut steps = Steps::into(json, b'{')?;
        let mut members = Vec::new();
        while steps.has_more(b'}')? {
            let name = steps.value()?;
            steps.pass(b':')?;
            members.push((read_name(name)?, steps.value()?));
        }
        Some(Members(members))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// Of a member that occurs twice the second counts.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let found = self.0.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| *value)
    }

    pub(crate) fn object(&self, name: &str) -> Option<Members<'a>> {
        self.get(name).and_then(Members::within)
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<Field<Cow<'de, str>>>()? {
                    let value: &RawValue = map.next_value()?;
                    members.push((name.value().unwrap_or_default(), value.get()));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

/// Elements of a list within JSON that was read before; nothing for another value.
pub(crate) fn list(json: &str) -> Vec<&str> {
    let elements = || {
        let mut steps = Steps::into(json, b'[')?;
        let mut elements = Vec::new();
        while steps.has_more(b']')? {
            elements.push(steps.value()?);
        }
        Some(elements)
    };
    elements().unwrap_or_default()
}

fn read_name(json: &str) -> Option<Cow<'_, str>> {
    let plain = json.get(1..json.len().checked_sub(1)?)?;
    if !json.starts_with('"') || memchr(b'\\', plain.as_bytes()).is_some() {
        return serde_json::from_str(json).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(plain))
}

/// A text without escapes, as it stands in JSON that was read before.
pub(crate) fn plain_text(json: &str) -> Option<&str> {
    let plain = json.strip_prefix('"')?.strip_suffix('"')?;
    memchr(b'\\', plain.as_bytes()).is_none().then_some(plain)
}

const NEAR: usize = 24;

/// A place in JSON.
struct Steps<'a> {
    json: &'a str,
    at: usize,
    /// Behind the first element.
    is_later: bool,
}

impl<'a> Steps<'a> {
    /// Behind the opening bracket.
    fn into(json: &'a str, bracket: u8) -> Option<Steps<'a>> {
        let mut steps = Steps { json, at: 0, is_later: false };
        steps.pass(bracket)?;
        Some(steps)
    }

    fn next(&mut self) -> Option<u8> {
        let rest = self.json.as_bytes().get(self.at..)?;
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.json.as_bytes().get(self.at).copied()
    }

    fn pass(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    /// Whether another element follows, to which it steps.
    fn has_more(&mut self, end: u8) -> Option<bool> {
        if self.next()? == end {
            return Some(false);
        }
        if std::mem::replace(&mut self.is_later, true) {
            self.pass(b',')?;
        }
        Some(true)
    }

    fn value(&mut self) -> Option<&'a str> {
        let first = self.next()?;
        let start = self.at;
        match first {
            b'"' => self.pass_text()?,
            b'{' | b'[' => self.pass_nested()?,
            _ => {
                let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                let rest = &self.json.as_bytes()[start..];
                self.at += rest.iter().position(is_end).unwrap_or(rest.len());
            }
        }
        self.json.get(start..self.at)
    }

    /// Looks for quotation marks alone: line breaks within texts are escapes, too, and far more.
    fn pass_text(&mut self) -> Option<()> {
        let bytes = self.json.as_bytes();
        let start = self.at + 1;
        let mut from = start;
        loop {
            let rest = bytes.get(from..)?;
            // Names and most values are shorter than a search takes to prepare.
            let (near, far) = rest.split_at(rest.len().min(NEAR));
            let found = match near.iter().position(|byte| *byte == b'"') {
                Some(found) => found,
                None => near.len() + memchr(b'"', far)?,
            };
            let end = from + found;
            let escapes = bytes[start..end].iter().rev().take_while(|byte| **byte == b'\\').count();
            from = end + 1;
            if escapes % 2 == 0 {
                self.at = from;
                return Some(());
            }
        }
    }

    fn pass_nested(&mut self) -> Option<()> {
        let mut depth = 0;
        loop {
            match self.json.as_bytes().get(self.at)? {
                b'"' => {
                    self.pass_text()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &str = r#" { "a" : "x\"}\\" , "b":[1, {"c": "]"}, "d"] ,"c" :null,"\u0064":-1.5e3,"a":{"k" : [ ] }, "é\n": {} } "#;

    #[test]
    fn members_stand_as_they_are_written() {
        let members = Members::within(OBJECT).unwrap();
        assert_eq!(Some(members), Members::of(OBJECT));
        let members = Members::within(OBJECT).unwrap();
        assert_eq!(members.get("a"), Some(r#"{"k" : [ ] }"#), "the second one counts");
        assert_eq!(members.get("d"), Some("-1.5e3"));
        assert_eq!(members.get("é\n"), Some("{}"));
        assert_eq!(list(members.get("b").unwrap()), ["1", r#"{"c": "]"}"#, "\"d\""]);
        assert_eq!(Members::within("{}"), Some(Members::default()));
    }

    #[test]
    fn other_values_have_no_members() {
        for other in ["", "null", "[]", "\"{\"", "1", " "] {
            assert_eq!(Members::within(other), None, "{other}");
            assert_eq!(list(other).len(), 0, "{other}");
        }
    }

    #[test]
    fn a_text_ends_at_the_first_mark_that_is_not_escaped() {
        for inside in ["", r"\\", r#"\""#, r#"\\\""#, r#"a\"b\\"#, r#"a\\\"b\\\\"#] {
            for before in ["", "x", "a longer text than is looked at byte by byte"] {
                let json = format!(r#"{{"a":"{before}{inside}","b":"c"}}"#);
                let members = Members::within(&json).unwrap();
                assert_eq!(Some(&members), Members::of(&json).as_ref(), "{json}");
                assert_eq!(members.get("b"), Some("\"c\""), "{json}");
                let is_plain = plain_text(members.get("a").unwrap()).is_some();
                assert_eq!(is_plain, inside.is_empty(), "{json}");
            }
        }
    }

    /// Only JSON is asked for, but nothing else may end the program.
    #[test]
    fn broken_json_is_passed_over() {
        for end in 0..OBJECT.trim_end().len() {
            if let Some(part) = OBJECT.get(..end) {
                assert_eq!(Members::within(part), None, "{part}");
            }
        }
        for broken in ["{\"a\"}", "{\"a\":}", "{\"a\\", "{a:1}", "{\"a\":1 \"b\":2}", "{1:2}"] {
            let _ = Members::within(broken);
            let _ = list(broken);
        }
    }
}

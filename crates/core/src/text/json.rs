//! JSON that other programs wrote: every member optional, unknown members skipped without being built.
//!
//! `null` is the same as missing; a wrong type is neither an error of the whole object nor a missing member,
//! since a gate has to tell the two apart ([`Field`]). A member that occurs twice counts the second time, as
//! it does for most parsers.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::text::search;

/// A member of a JSON object that another program wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Field<T> {
    /// Not there, or `null`.
    #[default]
    Missing,
    /// There, and of the type we expect.
    Value(T),
    /// There, and of another type.
    WrongType,
}

impl<T> Field<T> {
    /// The value, where a wrong type is as good as none.
    pub fn value(self) -> Option<T> {
        match self {
            Field::Value(value) => Some(value),
            Field::Missing | Field::WrongType => None,
        }
    }

    /// The value by reference, where a wrong type is as good as none.
    pub fn get(&self) -> Option<&T> {
        match self {
            Field::Value(value) => Some(value),
            Field::Missing | Field::WrongType => None,
        }
    }
}

/// A type that a [`Field`] can hold. Each takes the JSON values it has a method for.
pub trait Member<'de>: Sized {
    /// Takes a string.
    fn text(_: Cow<'de, str>) -> Option<Self> {
        None
    }
    /// Takes `true` or `false`.
    fn truth(_: bool) -> Option<Self> {
        None
    }
    /// Takes a number; negative ones and fractions arrive as `f64`.
    fn number(_: f64) -> Option<Self> {
        None
    }
    /// Takes an object; unless it does, its members are skipped.
    fn object<A: MapAccess<'de>>(map: A) -> Result<Option<Self>, A::Error> {
        skip_object(map)?;
        Ok(None)
    }

    /// Takes an array; unless it does, its elements are skipped.
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

fn skip_object<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

impl<'de> Member<'de> for Cow<'de, str> {
    fn text(text: Cow<'de, str>) -> Option<Self> {
        Some(text)
    }
}

/// The texts of a list; members of other types are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextList<'a>(pub Vec<Cow<'a, str>>);

impl<'de> Member<'de> for TextList<'de> {
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = seq.next_element::<Field<Cow<'de, str>>>()? {
            texts.extend(text.value());
        }
        Ok(Some(TextList(texts)))
    }
}

/// The objects of a list; members of other types are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectList<T>(pub Vec<T>);

impl<T> Default for ObjectList<T> {
    fn default() -> Self {
        ObjectList(Vec::new())
    }
}

impl<'de, T> Member<'de> for ObjectList<T>
where
    Field<T>: Deserialize<'de>,
{
    fn list<A: SeqAccess<'de>>(mut seq: A) -> Result<Option<Self>, A::Error> {
        let mut objects = Vec::new();
        while let Some(object) = seq.next_element::<Field<T>>()? {
            objects.extend(object.value());
        }
        Ok(Some(ObjectList(objects)))
    }
}

impl Member<'_> for bool {
    fn truth(truth: bool) -> Option<Self> {
        Some(truth)
    }
}

impl Member<'_> for f64 {
    fn number(number: f64) -> Option<Self> {
        Some(number)
    }
}

/// Token counts: whole, not negative. Anything else is a wrong type.
impl Member<'_> for u64 {
    fn number(number: f64) -> Option<Self> {
        let whole = number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_992.0;
        whole.then_some(number as u64)
    }
}

impl<'de, T: Member<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<T>(PhantomData<T>);

        impl<'de, T: Member<'de>> Visitor<'de> for Any<T> {
            type Value = Field<T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("any value")
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Field::Missing)
            }
            fn visit_bool<E: Error>(self, truth: bool) -> Result<Self::Value, E> {
                Ok(T::truth(truth).map_or(Field::WrongType, Field::Value))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(T::number(number as f64).map_or(Field::WrongType, Field::Value))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(T::number(number as f64).map_or(Field::WrongType, Field::Value))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                Ok(T::number(number).map_or(Field::WrongType, Field::Value))
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(T::text(Cow::Borrowed(text)).map_or(Field::WrongType, Field::Value))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(T::text(Cow::Owned(text.to_owned())).map_or(Field::WrongType, Field::Value))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Ok(T::list(seq)?.map_or(Field::WrongType, Field::Value))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Ok(T::object(map)?.map_or(Field::WrongType, Field::Value))
            }
        }

        deserializer.deserialize_any(Any(PhantomData))
    }
}

/// Declares an object of the wire: its members, all of them [`Field`]s, with their name in JSON where it
/// is not the same.
///
/// Written out by macro because serde's derive refuses a member that occurs twice and cannot keep a wrong
/// type apart from a missing value.
macro_rules! wire_object {
    ($(#[$doc:meta])* $vis:vis struct $name:ident<$life:lifetime> { $($member:ident $(as $key:literal)?: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $name<$life> {
            $(#[doc = concat!("`", stringify!($member), "` on the wire.")] $vis $member: Field<$type>,)*
            lifetime: std::marker::PhantomData<&$life ()>,
        }

        impl<$life> Member<$life> for $name<$life> {
            fn object<A: MapAccess<$life>>(mut map: A) -> Result<Option<Self>, A::Error> {
                let mut object = Self::default();
                while let Some(key) = map.next_key::<Cow<'_, str>>()? {
                    match &*key {
                        $(wire_key!($member $($key)?) => object.$member = map.next_value()?,)*
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(Some(object))
            }
        }
    };
}

/// The name of a member in JSON.
macro_rules! wire_key {
    ($member:ident) => {
        stringify!($member)
    };
    ($member:ident $key:literal) => {
        $key
    };
}
pub(crate) use {wire_key, wire_object};

/// A text that may be megabytes long and of which we need a little: kept as it stands in the payload, decoded
/// in part, so that a large payload is never held twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongText<'a> {
    /// JSON, with its quotes.
    raw: &'a str,
}

impl<'a> LongText<'a> {
    /// At most `bytes` of JSON from the beginning, decoded.
    pub fn head(self, bytes: usize) -> Cow<'a, str> {
        let inner = &self.raw[1..self.raw.len() - 1];
        if inner.len() <= bytes {
            return decode(self.raw).unwrap_or_default();
        }
        // Cut where no character and no escape is cut: an escape is six bytes at most, a surrogate pair twelve.
        let mut end = (bytes.saturating_sub(12)..=bytes).rev().filter(|end| inner.is_char_boundary(*end));
        let decoded = end.find_map(|end| decode(&format!("\"{}\"", &inner[..end])).map(Cow::into_owned));
        Cow::Owned(decoded.unwrap_or_default())
    }

    /// At most `bytes` of JSON from the end, decoded.
    pub fn tail(self, bytes: usize) -> Cow<'a, str> {
        let inner = &self.raw[1..self.raw.len() - 1];
        let Some(from) = inner.len().checked_sub(bytes).filter(|from| *from > 0) else {
            return decode(self.raw).unwrap_or_default();
        };
        // Cut as above; half an escape may read as plain letters, which costs the first few characters their meaning.
        let mut start = (from..inner.len().min(from + 12)).filter(|start| inner.is_char_boundary(*start));
        let decoded =
            start.find_map(|start| decode(&format!("\"{}\"", &inner[start..])).map(Cow::into_owned));
        Cow::Owned(decoded.unwrap_or_default())
    }

    /// Its first words, without blanks before them: as they stand in the JSON, if nothing there is escaped.
    pub fn first_words(self, bytes: usize) -> Option<&'a str> {
        let mut inner = self.raw[1..self.raw.len() - 1].trim_start();
        while let Some(rest) = ["\\n", "\\r", "\\t"].iter().find_map(|blank| inner.strip_prefix(blank)) {
            inner = rest.trim_start();
        }
        let end = (0..=bytes.min(inner.len())).rev().find(|end| inner.is_char_boundary(*end))?;
        Some(&inner[..end]).filter(|words| !words.contains('\\'))
    }

    /// All of it, however long. Half a surrogate pair becomes U+FFFD.
    pub fn lossy(self) -> Cow<'a, str> {
        decode(self.raw).unwrap_or_else(|| {
            let whole = replace_lone_surrogates(self.raw);
            Cow::Owned(decode(&whole).map(Cow::into_owned).unwrap_or_default())
        })
    }

    /// Looks for a short text of plain letters in any case, without decoding.
    pub fn mentions(self, lower: &[u8]) -> bool {
        search::holds_in_any_case(self.raw.as_bytes(), lower)
    }

    /// It has no characters.
    pub fn is_empty(self) -> bool {
        self.raw.len() <= 2
    }

    /// All of it, unless that is more than `bytes` of JSON.
    pub fn whole(self, bytes: usize) -> Option<Cow<'a, str>> {
        (self.raw.len() <= bytes).then(|| decode(self.raw)).flatten()
    }

    /// The same piece by piece, and never as a copy. `None` where [`whole`](Self::whole) is.
    pub fn pieces(self, bytes: usize, mut take: impl FnMut(&str)) -> Option<()> {
        let mut rest = self.raw.get(1..self.raw.len() - 1).filter(|_| self.raw.len() <= bytes)?;
        while let Some(at) = rest.find('\\') {
            let (character, length) = read_escape(&rest[at..])?;
            take(&rest[..at]);
            take(character.encode_utf8(&mut [0; 4]));
            rest = &rest[at + length..];
        }
        take(rest);
        Some(())
    }
}

/// The escaped character at the beginning and the length of its escape; `None` for half a surrogate pair.
fn read_escape(json: &str) -> Option<(char, usize)> {
    let plain = match json.as_bytes().get(1)? {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let units = [0, 6].into_iter().map_while(|at| read_unit(json, at));
            let character = char::decode_utf16(units).next()?.ok()?;
            return Some((character, 6 * character.len_utf16()));
        }
        other => char::from(*other),
    };
    Some((plain, 2))
}

/// The escaped UTF-16 unit at this place.
fn read_unit(json: &str, at: usize) -> Option<u16> {
    u16::from_str_radix(json.get(at..at + 6)?.strip_prefix("\\u")?, 16).ok()
}

/// The same JSON with `\ufffd` for every escaped surrogate that stands alone.
fn replace_lone_surrogates(json: &str) -> String {
    let mut whole = String::with_capacity(json.len());
    let mut at = 0;
    while let Some(next) = json[at..].find('\\').map(|next| at + next) {
        whole.push_str(&json[at..next]);
        let pair = (read_unit(json, next), read_unit(json, next + 6));
        let (taken, length) = match pair {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => (&json[next..next + 12], 12),
            (Some(0xd800..0xe000), _) => ("\\ufffd", 6),
            (Some(_), _) => (&json[next..next + 6], 6),
            (None, _) => {
                let end = json[next + 1..].chars().next().map_or(next + 1, |c| next + 1 + c.len_utf8());
                (&json[next..end], end - next)
            }
        };
        whole.push_str(taken);
        at = next + length;
    }
    whole.push_str(&json[at..]);
    whole
}

fn decode(json: &str) -> Option<Cow<'_, str>> {
    let field: Field<Cow<'_, str>> = serde_json::from_str(json).ok()?;
    field.value()
}

/// Raw JSON, parsed on demand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Verbatim<'a>(pub(crate) &'a str);

impl<'de> Deserialize<'de> for Field<Verbatim<'de>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?.get();
        Ok(if raw == "null" { Field::Missing } else { Field::Value(Verbatim(raw)) })
    }
}

impl<'de> Deserialize<'de> for Field<LongText<'de>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?.get();
        Ok(match raw.as_bytes().first() {
            Some(b'"') => Field::Value(LongText { raw }),
            Some(b'n') => Field::Missing,
            _ => Field::WrongType,
        })
    }
}

/// The reason that bytes cannot be read as an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAnObject {
    /// No bytes, or only white space.
    Empty,
    /// Broken JSON; where it breaks.
    Json {
        /// Counted from one.
        line: usize,
        /// Counted from one.
        column: usize,
    },
    /// JSON, but not an object.
    OtherValue,
}

impl fmt::Display for NotAnObject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAnObject::Empty => out.write_str("the payload is empty"),
            NotAnObject::Json { line, column } => {
                write!(out, "the payload is not JSON (line {line}, column {column})")
            }
            NotAnObject::OtherValue => out.write_str("the payload is not a JSON object"),
        }
    }
}

/// Reads one object, and nothing after it.
pub fn read_object<'a, T: Member<'a>>(bytes: &'a [u8]) -> Result<T, NotAnObject> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(NotAnObject::Empty);
    }
    match serde_json::from_slice::<Field<T>>(bytes) {
        Ok(Field::Value(object)) => Ok(object),
        Ok(Field::Missing | Field::WrongType) => Err(NotAnObject::OtherValue),
        Err(error) => Err(NotAnObject::Json { line: error.line(), column: error.column() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    wire_object! {
        /// A payload.
        struct Sample<'a> {
            session_id: Cow<'a, str>,
            cwd: Cow<'a, str>,
            prompt: LongText<'a>,
        }
    }

    fn read(text: &str) -> Sample<'_> {
        read_object(text.as_bytes()).unwrap()
    }

    #[test]
    fn null_is_missing_and_a_wrong_type_is_neither() {
        assert_eq!(read(r#"{"session_id": null}"#).session_id, Field::Missing);
        assert_eq!(read("{}").session_id, Field::Missing);
        for wrong in ["1", "-1.5", "true", "[1, {}]", "{\"a\": [1]}"] {
            let text = format!("{{\"session_id\": {wrong}, \"cwd\": \"/x\"}}");
            assert_eq!(read(&text).session_id, Field::WrongType, "{wrong}");
            assert_eq!(read(&text).cwd, Field::Value("/x".into()), "{wrong}");
        }
    }

    #[test]
    fn the_second_of_two_members_counts() {
        assert_eq!(read(r#"{"cwd": "/a", "cwd": "/b"}"#).cwd, Field::Value("/b".into()));
    }

    #[test]
    fn deep_nesting_in_an_unused_member_is_skipped() {
        let deep =
            format!("{{\"tool_response\": {}{}, \"cwd\": \"/x\"}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(read(&deep).cwd, Field::Value("/x".into()));
    }

    #[test]
    fn what_is_no_object_says_why() {
        assert_eq!(read_object::<Sample>(b" \n"), Err(NotAnObject::Empty));
        assert_eq!(read_object::<Sample>(b"[]"), Err(NotAnObject::OtherValue));
        assert_eq!(read_object::<Sample>(b"null"), Err(NotAnObject::OtherValue));
        assert_eq!(read_object::<Sample>(b"{}{}"), Err(NotAnObject::Json { line: 1, column: 3 }));
        assert!(matches!(read_object::<Sample>(b"{\"cwd\": \"\xff\"}"), Err(NotAnObject::Json { .. })));
    }

    #[test]
    fn long_texts_are_cut_at_whole_characters() {
        let text = r#"{"prompt": "aé\n\u3042\ud83d\ude00日本語"}"#;
        let prompt = read(text).prompt.value().unwrap();
        assert_eq!(prompt.head(1000), "aé\nあ😀日本語");
        for bytes in 0..60 {
            assert!("aé\nあ😀日本語".starts_with(&*prompt.head(bytes)), "{bytes}");
        }
        assert_eq!(prompt.head(12), "aé\nあ");
        assert_eq!(prompt.whole(10), None);
        for (value, field) in [("null", Field::Missing), ("5", Field::WrongType), ("{}", Field::WrongType)] {
            assert_eq!(read(&format!("{{\"prompt\": {value}}}")).prompt, field);
        }
    }

    #[test]
    fn half_a_pair_costs_only_itself() {
        for (json, text) in [
            (r#""a""#, "a"),
            (r#""x\ud83d""#, "x\u{fffd}"),
            (r#""\ud83d\ude00\\ud800 \ude00\n\u3042\ud800x""#, "😀\\ud800 \u{fffd}\nあ\u{fffd}x"),
        ] {
            assert_eq!(LongText { raw: json }.lossy(), text, "{json}");
        }
    }

    /// Strings as a host may write them: plain text, every escape, whole pairs, and pairs of which a half is missing.
    fn json_strings() -> impl Strategy<Value = String> {
        let escape = prop_oneof![
            Just(r"\n".to_owned()),
            r#"\\["\\/bfnrt]"#,
            r"\\u[0-9a-fA-F]{4}",
            Just(r"\ud83d\ude00".to_owned()),
            Just(r"\ud83d".to_owned()),
            Just(r"\ude00".to_owned()),
            Just(r"\\ud83d".to_owned()),
        ];
        let plain = r"[ -!#-\[\]-~あ-ん😀é\x7f]{0,8}";
        proptest::collection::vec(prop_oneof![plain, escape], 0..12)
            .prop_map(|parts| format!("\"{}\"", parts.concat()))
    }

    proptest! {
        #[test]
        fn pieces_are_the_whole(json in json_strings(), longest in prop_oneof![0..80_usize, Just(usize::MAX)]) {
            let text = serde_json::from_str::<Field<LongText<'_>>>(&json).unwrap().value().unwrap();
            let mut put_together = String::new();
            let all = text.pieces(longest, |piece| put_together.push_str(piece));
            prop_assert_eq!(all.map(|()| put_together), text.whole(longest).map(Cow::into_owned), "{}", json);
        }
    }

    #[test]
    fn token_counts_are_whole_numbers() {
        let count = |text: &str| serde_json::from_str::<Field<u64>>(text).unwrap();
        assert_eq!(count("12"), Field::Value(12));
        assert_eq!(count("12.0"), Field::Value(12));
        for wrong in ["-1", "1.5", "\"1\"", "1e300"] {
            assert_eq!(count(wrong), Field::WrongType, "{wrong}");
        }
    }
}

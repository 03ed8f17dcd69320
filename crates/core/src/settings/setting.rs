//! The types of settings: each can be read, shown, described and compared.

use crate::settings::section::Put;
use crate::settings::value::Value;
use crate::text::lang::Lang;

/// The values that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// One of these, from the weakest to the strictest where they have such an order.
    Choice(&'static [&'static str]),
    /// A whole number from the first to the last.
    Whole(u64, u64),
    /// Text of a form that a regular expression describes, with an example.
    Text {
        /// As in a JSON schema.
        pattern: &'static str,
        /// A value that fits.
        example: &'static str,
    },
    /// Text that may hold a password: as [`Shape::Text`], but no message repeats it.
    Secret {
        /// As in a JSON schema.
        pattern: &'static str,
        /// A value that fits.
        example: &'static str,
    },
    /// Yes or no.
    Flag,
    /// Any number of these.
    List(&'static [&'static str]),
    /// Any number of texts.
    Texts {
        /// A noun for them, in the plural.
        of: &'static str,
        /// A value that fits.
        example: &'static str,
    },
}

impl Shape {
    /// Reads a value from an environment variable, where everything is text.
    pub fn from_text(self, text: &str) -> Value {
        match self {
            Shape::Whole(..) => {
                text.trim().parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Whole)
            }
            Shape::Flag => text.trim().parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Flag),
            Shape::List(_) | Shape::Texts { .. } => {
                let items = split_list(text).into_iter().map(str::trim).filter(|item| !item.is_empty());
                Value::List(items.map(Value::from).collect())
            }
            Shape::Choice(_) | Shape::Text { .. } | Shape::Secret { .. } => Value::Text(text.to_owned()),
        }
    }

    /// The error for a value of another shape.
    pub(super) fn refuses(self, value: &Value) -> String {
        let found = match value {
            _ if self.is_secret() => "the value".to_owned(),
            Value::Text(_) | Value::Whole(_) | Value::Number(_) | Value::Flag(_) => value.to_string(),
            Value::List(_) | Value::Table(_) | Value::Other(_) | Value::Nothing => value.kind().to_owned(),
        };
        format!("{found} does not fit: {}", self.wanted())
    }

    /// Its values must not be repeated in messages.
    pub fn is_secret(self) -> bool {
        matches!(self, Shape::Secret { .. })
    }

    /// Completes the error "… does not fit: ".
    fn wanted(self) -> String {
        match self {
            Shape::Choice(names) => format!("use one of {}", quote_names(names)),
            Shape::Whole(least, u64::MAX) => format!("use a whole number of at least {least}"),
            Shape::Whole(least, most) => format!("use a whole number from {least} to {most}"),
            Shape::Text { example, .. } | Shape::Secret { example, .. } => {
                format!("use a text such as {example}")
            }
            Shape::Flag => "use true or false".to_owned(),
            Shape::List(names) => format!("use a list of {}", quote_names(names)),
            Shape::Texts { of, example } => format!("use a list of {of}, such as [\"{example}\"]"),
        }
    }
}

/// Parts between commas. One within brackets or quotes is part of a pattern or a command line.
fn split_list(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut closing) = (Vec::new(), 0, Vec::new());
    for (at, c) in text.char_indices() {
        let quoted = matches!(closing.last(), Some('"' | '\''));
        match c {
            c if closing.last() == Some(&c) => drop(closing.pop()),
            '"' | '\'' if !quoted => closing.push(c),
            '{' if !quoted => closing.push('}'),
            '[' if !quoted => closing.push(']'),
            ',' if closing.is_empty() => {
                parts.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    // An unclosed bracket or quote does not group.
    if !closing.is_empty() {
        return text.split(',').collect();
    }
    parts.push(&text[begin..]);
    parts
}

fn quote_names(names: &[&str]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// A type of settings.
pub trait Setting: Sized + PartialEq {
    /// The values it takes.
    const SHAPE: Shape;

    /// Reads it; the error names the values it takes.
    fn read(value: &Value) -> Result<Self, String> {
        Self::from_value(value).ok_or_else(|| Self::SHAPE.refuses(value))
    }

    /// Reads it; `None` for a value that it does not take.
    fn from_value(value: &Value) -> Option<Self>;

    /// As it would be written.
    fn to_value(&self) -> Value;

    /// Its rank, where values have an order of strictness.
    fn strictness(&self) -> Option<usize> {
        let Shape::Choice(names) = Self::SHAPE else { return None };
        let Value::Text(name) = self.to_value() else { return None };
        names.iter().position(|choice| *choice == name)
    }

    /// Takes the stricter part of another value.
    fn tighten(&mut self, new: Self) -> Put {
        if new == *self {
            return Put::Kept;
        }
        if new.strictness() <= self.strictness() {
            return Put::Waits;
        }
        *self = new;
        Put::Taken
    }
}

/// A setting that need not be set.
impl<T: Setting> Setting for Option<T> {
    const SHAPE: Shape = T::SHAPE;

    fn from_value(value: &Value) -> Option<Self> {
        T::from_value(value).map(Some)
    }

    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Nothing, T::to_value)
    }
}

/// A whole number within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole<const LEAST: u64, const MOST: u64>(u64);

impl<const LEAST: u64, const MOST: u64> Whole<LEAST, MOST> {
    /// A number within the bounds.
    pub const fn new(number: u64) -> Self {
        assert!(LEAST <= number && number <= MOST, "out of its bounds");
        Whole(number)
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl<const LEAST: u64, const MOST: u64> Setting for Whole<LEAST, MOST> {
    const SHAPE: Shape = Shape::Whole(LEAST, MOST);

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Whole(number) = value else { return None };
        u64::try_from(*number).ok().filter(|number| (LEAST..=MOST).contains(number)).map(Whole)
    }

    fn to_value(&self) -> Value {
        Value::Whole(i64::try_from(self.0).unwrap_or(i64::MAX))
    }
}

/// A whole number within bounds, of which more is stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count<const LEAST: u64, const MOST: u64>(Whole<LEAST, MOST>);

impl<const LEAST: u64, const MOST: u64> Count<LEAST, MOST> {
    /// A number within the bounds.
    pub const fn new(number: u64) -> Self {
        Count(Whole::new(number))
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

impl<const LEAST: u64, const MOST: u64> Setting for Count<LEAST, MOST> {
    const SHAPE: Shape = Shape::Whole(LEAST, MOST);

    fn from_value(value: &Value) -> Option<Self> {
        Whole::from_value(value).map(Count)
    }

    fn to_value(&self) -> Value {
        self.0.to_value()
    }

    fn strictness(&self) -> Option<usize> {
        usize::try_from(self.get()).ok()
    }
}

/// Yes or no.
impl Setting for bool {
    const SHAPE: Shape = Shape::Flag;

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Flag(flag) = value else { return None };
        Some(*flag)
    }

    fn to_value(&self) -> Value {
        Value::Flag(*self)
    }
}

/// A number of days: `"30 days"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Days(pub u64);

impl Setting for Days {
    const SHAPE: Shape = Shape::Text { pattern: "^ *[1-9][0-9]{0,4} *(days?)? *$", example: "\"30 days\"" };

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let number = text.trim().trim_end_matches("days").trim_end_matches("day").trim();
        number.parse().ok().filter(|days| (1..=36_500).contains(days)).map(Days)
    }

    fn to_value(&self) -> Value {
        Value::Text(format!("{} day{}", self.0, if self.0 == 1 { "" } else { "s" }))
    }
}

/// A path from the root or the home directory. A relative one would be another file in every folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholePath(pub String);

impl Setting for WholePath {
    const SHAPE: Shape =
        Shape::Text { pattern: "^(/|~/|[A-Za-z]:[/\\\\]).*[^/\\\\]$", example: "\"~/notes/learnings.md\"" };

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let drive = |text: &str| {
            let bytes = text.as_bytes();
            bytes.len() > 3
                && bytes[0].is_ascii_alphabetic()
                && bytes[1] == b':'
                && matches!(bytes[2], b'/' | b'\\')
        };
        let whole = text.starts_with('/') || text.starts_with("~/") || drive(text);
        (whole && !text.ends_with(['/', '\\'])).then(|| WholePath(text.clone()))
    }

    fn to_value(&self) -> Value {
        Value::Text(self.0.clone())
    }
}

impl Setting for Lang {
    const SHAPE: Shape = Shape::Choice(&["en", "ja"]);

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(name) if name == "en" => Some(Lang::En),
            Value::Text(name) if name == "ja" => Some(Lang::Ja),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Lang::En => "en".into(),
            Lang::Ja => "ja".into(),
        }
    }
}

/// A type whose values are names: the names from the weakest to the strictest, each with its value.
macro_rules! choices {
    ($type:ty { $($name:literal => $value:expr),+ $(,)? }) => {
        impl $crate::settings::setting::Setting for $type {
            const SHAPE: $crate::settings::setting::Shape = $crate::settings::setting::Shape::Choice(&[$($name),+]);

            fn from_value(value: &$crate::settings::value::Value) -> Option<Self> {
                match value {
                    $($crate::settings::value::Value::Text(name) if name == $name => Some($value),)+
                    _ => None,
                }
            }

            fn to_value(&self) -> $crate::settings::value::Value {
                let names = [$(($name, $value)),+];
                let found = names.iter().find(|(_, value)| value == self);
                found.map_or($crate::settings::value::Value::Nothing, |(name, _)| (*name).into())
            }
        }
    };
}
pub(crate) use choices;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_paths_are_whole() {
        for (text, whole) in [
            ("/a/b.md", true),
            ("~/b.md", true),
            ("C:\\b.md", true),
            ("b.md", false),
            ("./b.md", false),
            ("~b.md", false),
            ("/a/", false),
            ("~/", false),
            ("", false),
        ] {
            assert_eq!(WholePath::from_value(&Value::from(text)).is_some(), whole, "{text}");
        }
    }

    #[test]
    fn a_list_in_a_variable() {
        for (text, items) in [
            ("a, b,,c ", &["a", "b", "c"][..]),
            ("", &[]),
            ("*.{ts,tsx},[a,b].rs", &["*.{ts,tsx}", "[a,b].rs"]),
            ("pytest -k \"a,b\",make 'x,y'", &["pytest -k \"a,b\"", "make 'x,y'"]),
            ("echo \"{,\",b", &["echo \"{,\"", "b"]),
            ("a{b,c", &["a{b", "c"]),
            ("don't,b", &["don't", "b"]),
        ] {
            let expected = Value::List(items.iter().map(|item| Value::from(*item)).collect());
            assert_eq!(Shape::List(&[]).from_text(text), expected, "{text}");
        }
    }
}

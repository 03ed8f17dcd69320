//! Values of a config file, independent of its format.

use std::fmt::{self, Write as _};

use crate::text::hidden::judged;
use std::borrow::Cow;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// Another number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// A list.
    List(Vec<Value>),
    /// A table: keys with their values.
    Table(Vec<(String, Value)>),
    /// Something that no setting takes.
    Other(&'static str),
    /// Not set.
    Nothing,
}

impl Value {
    /// It has keys of its own.
    pub fn is_table(&self) -> bool {
        matches!(self, Value::Table(_))
    }

    /// A noun for an error.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "a text",
            Value::Whole(_) | Value::Number(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(kind) => kind,
            Value::Nothing => "nothing",
        }
    }

    /// As JSON.
    pub fn json(&self) -> serde_json::Value {
        match self {
            Value::Text(text) => text.as_str().into(),
            Value::Whole(number) => (*number).into(),
            Value::Number(number) => (*number).into(),
            Value::Flag(flag) => (*flag).into(),
            Value::List(values) => values.iter().map(Value::json).collect::<Vec<_>>().into(),
            Value::Table(members) => {
                let json = members.iter().map(|(key, value)| (key.clone(), value.json()));
                serde_json::Value::Object(json.collect())
            }
            Value::Other(_) | Value::Nothing => serde_json::Value::Null,
        }
    }
}

/// As it would stand in a TOML file.
impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => write_quoted(text, out),
            Value::Whole(number) => write!(out, "{number}"),
            Value::Number(number) => write!(out, "{number}"),
            Value::Flag(flag) => write!(out, "{flag}"),
            Value::List(values) => {
                out.write_char('[')?;
                for (at, value) in values.iter().enumerate() {
                    write!(out, "{}{value}", if at == 0 { "" } else { ", " })?;
                }
                out.write_char(']')
            }
            Value::Table(members) => {
                out.write_str("{ ")?;
                for (at, (key, value)) in members.iter().enumerate() {
                    write!(out, "{}{} = {value}", if at == 0 { "" } else { ", " }, key_text(key))?;
                }
                out.write_str(" }")
            }
            Value::Other(kind) => write!(out, "({kind})"),
            Value::Nothing => out.write_str("(not set)"),
        }
    }
}

/// Text without the passwords of addresses in it.
pub fn without_passwords(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        let end = after.find(|c: char| c.is_whitespace() || "\"'`<>".contains(c)).unwrap_or(after.len());
        let (address, behind) = after.split_at(end);
        plain.push_str(before);
        plain.push_str("://");
        match address.rsplit_once('@').and_then(|(login, host)| Some((login.split_once(':')?.0, host))) {
            Some((user, host)) => plain.extend([user, ":…@", host]),
            None => plain.push_str(address),
        }
        rest = behind;
    }
    plain + rest
}

fn write_quoted(text: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    out.write_char('"')?;
    for (c, is_plain) in judged(text) {
        match c {
            '"' | '\\' => write!(out, "\\{c}")?,
            '\n' => out.write_str("\\n")?,
            c if is_plain => out.write_char(c)?,
            c if c <= '\u{ffff}' => write!(out, "\\u{:04x}", u32::from(c))?,
            c => write!(out, "\\U{:08x}", u32::from(c))?,
        }
    }
    out.write_char('"')
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

/// A key as it would stand in a TOML file: in quotes unless it is a plain word.
pub fn key_text(key: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(plain) { key.into() } else { Value::from(key).to_string().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_addresses_are_left_out() {
        for (text, plain) in [
            ("nothing", "nothing"),
            ("\"postgres://me:s3@cr/et@db/m\"", "\"postgres://me:…@db/m\""),
            ("a https://x:y@h/p b http://h:80/@z", "a https://x:…@h/p b http://h:…@z"),
            ("https://h/p", "https://h/p"),
            ("://", "://"),
        ] {
            assert_eq!(without_passwords(text), plain);
        }
    }
}

//! Words: quotes, expansions and substitutions.

use super::Parser;
use super::tree::{Part, Parts};

impl Parser<'_> {
    /// One word; fails where there is none.
    pub(super) fn parse_word(&mut self) -> Option<Parts> {
        let start = self.at;
        let mut parts = Parts::new();
        while let Some(byte) = self.peek_byte() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => break,
                b'<' | b'>' if self.peek_byte_at(1) == Some(b'(') && (self.at == start || byte == b'<') => {
                    self.at += 2;
                    let commands = self.parse_substitution(self.at - 2)?;
                    parts.push(commands);
                }
                b'<' | b'>' => break,
                b'\\' if self.peek_byte_at(1) == Some(b'\n') => self.at += 2,
                b'\\' => {
                    self.at += 1;
                    let character = self.rest().chars().next()?;
                    self.at += character.len_utf8();
                    push_quoted(&mut parts, character.encode_utf8(&mut [0; 4]));
                }
                b'\'' => {
                    let end = self.rest()[1..].find('\'')?;
                    let text = self.rest()[1..=end].to_owned();
                    self.at += end + 2;
                    push_quoted(&mut parts, &text);
                }
                b'"' => {
                    self.at += 1;
                    self.parse_double_quoted(&mut parts)?;
                }
                b'$' | b'`' => self.parse_expansion(&mut parts, false)?,
                b'*' | b'?' | b'[' => {
                    self.at += 1;
                    parts.push(Part::Pattern(char::from(byte)));
                }
                _ => {
                    let rest = self.rest();
                    let end = rest.bytes().position(|byte| b" \t\r\n;&|()<>\\'\"$`*?[".contains(&byte));
                    let text = &rest[..end.unwrap_or(rest.len())];
                    self.at += text.len();
                    match parts.last_mut() {
                        Some(Part::Plain(before)) => before.push_str(text),
                        _ => parts.push(Part::Plain(text.to_owned())),
                    }
                }
            }
        }
        (self.at > start && !parts.is_empty()).then_some(parts)
    }

    fn parse_double_quoted(&mut self, parts: &mut Parts) -> Option<()> {
        push_quoted(parts, "");
        loop {
            match self.peek_byte()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => match self.peek_byte_at(1)? {
                    b'\n' => self.at += 2,
                    byte @ (b'$' | b'`' | b'"' | b'\\') => {
                        self.at += 2;
                        push_quoted(parts, char::from(byte).encode_utf8(&mut [0; 4]));
                    }
                    _ => {
                        self.at += 1;
                        push_quoted(parts, "\\");
                    }
                },
                b'$' | b'`' => self.parse_expansion(parts, true)?,
                _ => {
                    let end = self.rest().find(['"', '\\', '$', '`'])?;
                    let text = self.rest()[..end].to_owned();
                    self.at += end;
                    push_quoted(parts, &text);
                }
            }
        }
    }

    fn parse_expansion(&mut self, parts: &mut Parts, in_quotes: bool) -> Option<()> {
        let start = self.at;
        if self.eat("`") {
            let mut inner = String::new();
            loop {
                let character = self.rest().chars().next()?;
                self.at += character.len_utf8();
                match character {
                    '`' => break,
                    '\\' if matches!(self.peek_byte(), Some(b'`' | b'\\' | b'$')) => {
                        inner.push(char::from(self.peek_byte()?));
                        self.at += 1;
                    }
                    other => inner.push(other),
                }
            }
            let depth = self.depth;
            let list = self.deeper(|_| {
                let mut parser = Parser {
                    text: &inner,
                    at: 0,
                    depth: depth + 1,
                    documents: Vec::new(),
                    pending: Vec::new(),
                };
                let list = parser.parse_list(&[])?;
                // A document in here would be numbered apart from the others.
                (parser.at == inner.len() && parser.documents.is_empty()).then_some(list)
            })?;
            parts.push(Part::Commands { list, raw: self.text[start..self.at].to_owned() });
            return Some(());
        }
        self.at += 1;
        match self.peek_byte() {
            Some(b'(')
                if self.peek_byte_at(1) == Some(b'(') && self.arithmetic_end(self.at + 2).is_some() =>
            {
                self.at = self.arithmetic_end(self.at + 2)?;
                parts.push(Part::Other(self.text[start..self.at].to_owned()));
            }
            Some(b'(') => {
                self.at += 1;
                let commands = self.parse_substitution(start)?;
                parts.push(commands);
            }
            Some(b'{') => {
                self.at += 1;
                let name = self.rest().split('}').next().filter(|name| is_name(name)).map(str::to_owned);
                self.deeper(Parser::skip_parameter)?;
                parts.push(match name {
                    Some(name) => Part::Variable { name, quoted: in_quotes },
                    None => Part::Other(self.text[start..self.at].to_owned()),
                });
            }
            Some(b'\'') if !in_quotes => {
                self.at += 1;
                let text = self.parse_ansi_quoted()?;
                push_quoted(parts, &text);
            }
            Some(b'"') if !in_quotes => {
                self.at += 1;
                self.parse_double_quoted(parts)?;
            }
            Some(byte) if byte == b'_' || byte.is_ascii_alphabetic() => {
                let rest = self.rest();
                let length =
                    rest.bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count();
                let name = rest[..length].to_owned();
                self.at += length;
                parts.push(Part::Variable { name, quoted: in_quotes });
            }
            Some(byte) if b"?$!#@*-0123456789".contains(&byte) => {
                self.at += 1;
                let name = char::from(byte).to_string();
                parts.push(Part::Variable { name, quoted: in_quotes });
            }
            _ if in_quotes => push_quoted(parts, "$"),
            _ => parts.push(Part::Plain("$".into())),
        }
        Some(())
    }

    /// Commands up to the parenthesis that closes them, of a word that has `start` before them.
    fn parse_substitution(&mut self, start: usize) -> Option<Part> {
        let list = self.deeper(|parser| parser.parse_list(&[]))?;
        self.skip_space();
        let closed = self.eat(")");
        closed.then(|| Part::Commands { list, raw: self.text[start..self.at].to_owned() })
    }

    /// Skips to behind the brace that ends `${…`.
    fn skip_parameter(&mut self) -> Option<()> {
        let mut ignored = Parts::new();
        loop {
            match self.peek_byte()? {
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.at += 1 + self.rest()[1..].chars().next()?.len_utf8(),
                b'\'' => self.at += self.rest()[1..].find('\'')? + 2,
                b'"' => {
                    self.at += 1;
                    self.parse_double_quoted(&mut ignored)?;
                }
                b'$' | b'`' => self.parse_expansion(&mut ignored, false)?,
                _ => self.at += self.rest().chars().next()?.len_utf8(),
            }
        }
    }

    fn parse_ansi_quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        loop {
            let character = self.rest().chars().next()?;
            self.at += character.len_utf8();
            match character {
                '\'' => return Some(text),
                '\\' => {
                    let escaped = self.rest().chars().next()?;
                    self.at += escaped.len_utf8();
                    match escaped {
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        'r' => text.push('\r'),
                        '\\' | '\'' | '"' | '?' => text.push(escaped),
                        // Numbers and control characters: nothing that a command or a path needs.
                        other => text.extend(['\\', other]),
                    }
                }
                other => text.push(other),
            }
        }
    }
}

fn push_quoted(parts: &mut Parts, text: &str) {
    match parts.last_mut() {
        Some(Part::Quoted(before)) => before.push_str(text),
        _ => parts.push(Part::Quoted(text.to_owned())),
    }
}

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// `NAME=value`, as name and value.
pub(super) fn as_assignment(parts: &Parts) -> Option<(String, Parts)> {
    let Some(Part::Plain(first)) = parts.first() else { return None };
    let (name, value) = first.split_once('=')?;
    let appended = name.strip_suffix('+');
    let name = appended.unwrap_or(name);
    if !is_name(name) {
        return None;
    }
    let mut parts = parts.clone();
    match &mut parts[0] {
        Part::Plain(first) if !value.is_empty() => value.clone_into(first),
        _ => drop(parts.remove(0)),
    }
    if appended.is_some() {
        parts.insert(0, Part::Variable { name: name.to_owned(), quoted: true });
    }
    Some((name.to_owned(), parts))
}

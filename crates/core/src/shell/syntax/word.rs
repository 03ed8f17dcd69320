//! Words: quotes, expansions and substitutions.

use super::Parser;
use super::tree::{Part, Parts};

impl Parser<'_> {
    /// One word; not understood where there is none.
    pub(super) fn word(&mut self) -> Option<Parts> {
        let start = self.at;
        let mut parts = Parts::new();
        while let Some(byte) = self.byte() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => break,
                b'<' | b'>' if self.byte_at(1) == Some(b'(') && (self.at == start || byte == b'<') => {
                    self.at += 2;
                    let commands = self.substitution(self.at - 2)?;
                    parts.push(commands);
                }
                b'<' | b'>' => break,
                b'\\' if self.byte_at(1) == Some(b'\n') => self.at += 2,
                b'\\' => {
                    self.at += 1;
                    let character = self.rest().chars().next()?;
                    self.at += character.len_utf8();
                    quoted(&mut parts, character.encode_utf8(&mut [0; 4]));
                }
                b'\'' => {
                    let end = self.rest()[1..].find('\'')?;
                    let text = self.rest()[1..=end].to_owned();
                    self.at += end + 2;
                    quoted(&mut parts, &text);
                }
                b'"' => {
                    self.at += 1;
                    self.double_quoted(&mut parts)?;
                }
                b'$' | b'`' => self.expansion(&mut parts, false)?,
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

    fn double_quoted(&mut self, parts: &mut Parts) -> Option<()> {
        quoted(parts, "");
        loop {
            match self.byte()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => match self.byte_at(1)? {
                    b'\n' => self.at += 2,
                    byte @ (b'$' | b'`' | b'"' | b'\\') => {
                        self.at += 2;
                        quoted(parts, char::from(byte).encode_utf8(&mut [0; 4]));
                    }
                    _ => {
                        self.at += 1;
                        quoted(parts, "\\");
                    }
                },
                b'$' | b'`' => self.expansion(parts, true)?,
                _ => {
                    let end = self.rest().find(['"', '\\', '$', '`'])?;
                    let text = self.rest()[..end].to_owned();
                    self.at += end;
                    quoted(parts, &text);
                }
            }
        }
    }

    fn expansion(&mut self, parts: &mut Parts, in_quotes: bool) -> Option<()> {
        let start = self.at;
        if self.eat("`") {
            let mut inner = String::new();
            loop {
                let character = self.rest().chars().next()?;
                self.at += character.len_utf8();
                match character {
                    '`' => break,
                    '\\' if matches!(self.byte(), Some(b'`' | b'\\' | b'$')) => {
                        inner.push(char::from(self.byte()?));
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
                let list = parser.list(&[])?;
                // A document in here would be numbered apart from the others.
                (parser.at == inner.len() && parser.documents.is_empty()).then_some(list)
            })?;
            parts.push(Part::Commands { list, raw: self.text[start..self.at].to_owned() });
            return Some(());
        }
        self.at += 1;
        match self.byte() {
            Some(b'(') if self.byte_at(1) == Some(b'(') && self.arithmetic_end(self.at + 2).is_some() => {
                self.at = self.arithmetic_end(self.at + 2)?;
                parts.push(Part::Other(self.text[start..self.at].to_owned()));
            }
            Some(b'(') => {
                self.at += 1;
                let commands = self.substitution(start)?;
                parts.push(commands);
            }
            Some(b'{') => {
                self.at += 1;
                let name = self.rest().split('}').next().filter(|name| is_name(name)).map(str::to_owned);
                self.deeper(Parser::parameter_end)?;
                parts.push(match name {
                    Some(name) => Part::Variable { name, quoted: in_quotes },
                    None => Part::Other(self.text[start..self.at].to_owned()),
                });
            }
            Some(b'\'') if !in_quotes => {
                self.at += 1;
                let text = self.ansi_quoted()?;
                quoted(parts, &text);
            }
            Some(b'"') if !in_quotes => {
                self.at += 1;
                self.double_quoted(parts)?;
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
            _ if in_quotes => quoted(parts, "$"),
            _ => parts.push(Part::Plain("$".into())),
        }
        Some(())
    }

    /// Commands up to the parenthesis that closes them, of a word that has `start` before them.
    fn substitution(&mut self, start: usize) -> Option<Part> {
        let list = self.deeper(|parser| parser.list(&[]))?;
        self.space();
        let closed = self.eat(")");
        closed.then(|| Part::Commands { list, raw: self.text[start..self.at].to_owned() })
    }

    /// Behind the brace that ends `${…`.
    fn parameter_end(&mut self) -> Option<()> {
        let mut ignored = Parts::new();
        loop {
            match self.byte()? {
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.at += 1 + self.rest()[1..].chars().next()?.len_utf8(),
                b'\'' => self.at += self.rest()[1..].find('\'')? + 2,
                b'"' => {
                    self.at += 1;
                    self.double_quoted(&mut ignored)?;
                }
                b'$' | b'`' => self.expansion(&mut ignored, false)?,
                _ => self.at += self.rest().chars().next()?.len_utf8(),
            }
        }
    }

    fn ansi_quoted(&mut self) -> Option<String> {
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

fn quoted(parts: &mut Parts, text: &str) {
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
pub(super) fn assignment(parts: &Parts) -> Option<(String, Parts)> {
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

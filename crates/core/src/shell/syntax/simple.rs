//! Simple commands: assignments, words, redirections.

use super::tree::{Body, Command, Document, Part, Redirect, RedirectKind, as_written};
use super::word::{as_assignment, is_name};
use super::{Parser, Pending};

impl Parser<'_> {
    pub(super) fn parse_simple(&mut self) -> Option<Command> {
        let (mut assigned, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.parse_redirect()? {
                redirects.push(redirect);
                continue;
            }
            if matches!(self.peek_byte(), None | Some(b'\n' | b';' | b'&' | b'|' | b')')) {
                break;
            }
            let mut parts = self.parse_word()?;
            if self.peek_byte() == Some(b'(') {
                // An array; anything else cannot be followed by a parenthesis.
                let name = matches!(parts.as_slice(), [Part::Plain(text)] if text.ends_with('='));
                name.then_some(())?;
                self.skip_array()?;
                parts.push(Part::Other("(…)".into()));
            }
            match as_assignment(&parts) {
                Some(assignment) if words.is_empty() => assigned.push(assignment),
                _ => words.push(parts),
            }
        }
        let something = !(assigned.is_empty() && words.is_empty() && redirects.is_empty());
        something.then_some(Command { body: Body::Simple { assigned, words }, redirects })
    }

    fn skip_array(&mut self) -> Option<()> {
        self.eat("(");
        loop {
            self.skip_space();
            if self.eat(")") {
                return Some(());
            }
            self.parse_word()?;
        }
    }

    #[expect(clippy::option_option, reason = "outer: not understood; inner: no redirection here")]
    pub(super) fn parse_redirect(&mut self) -> Option<Option<Redirect>> {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let name = rest.strip_prefix('{').unwrap_or_default();
        let length = name.bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count();
        let named = match &name.as_bytes()[length..] {
            [b'}', b'<' | b'>', ..] if is_name(&name[..length]) => length + 2,
            _ => 0,
        };
        let operator = &rest[digits.max(named)..];
        let (kind, length) = match operator.as_bytes() {
            [b'&', b'>', b'>', ..] if digits == 0 => (RedirectKind::Write, 3),
            [b'&', b'>', ..] if digits == 0 => (RedirectKind::Write, 2),
            [b'>', b'>' | b'|', ..] => (RedirectKind::Write, 2),
            [b'>' | b'<', b'&', ..] => (RedirectKind::Duplicate, 2),
            [b'>' | b'<', b'(', ..] => return Some(None),
            [b'<', b'<', b'<', ..] => (RedirectKind::Text, 3),
            [b'<', b'<', ..] => (RedirectKind::Document(self.documents.len()), 2),
            [b'<', b'>', ..] => (RedirectKind::Write, 2),
            [b'>', ..] => (RedirectKind::Write, 1),
            [b'<', ..] => (RedirectKind::Read, 1),
            _ => return Some(None),
        };
        self.at += digits.max(named) + length;
        let tabs = matches!(kind, RedirectKind::Document(_)) && self.eat("-");
        self.skip_blanks();
        let target = self.parse_word()?;
        if let RedirectKind::Document(number) = kind {
            let literal = target.iter().any(|part| matches!(part, Part::Quoted(_)));
            self.documents.push(Document::default());
            self.pending.push(Pending { number, end: as_written(&target), tabs, literal });
        }
        Some(Some(Redirect { kind, target }))
    }
}

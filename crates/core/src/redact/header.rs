//! Credentials in headers of HTTP: `Authorization` and `Cookie`.

use crate::redact::kind::MARKER;
use crate::redact::looks::is_placeholder;
use crate::redact::value::{LOOKED_AT, MOST_BLANKS, Scan};
use crate::redact::{Kind, is_word};
use crate::text::word_list::among;

impl Scan<'_> {
    /// `Authorization: Bearer …`, with any other scheme, or without one.
    pub(super) fn read_authorization(&mut self, after: usize) {
        let value = self.header_start(after);
        let text = &self.bytes[value..self.bytes.len().min(value + LOOKED_AT)];
        let scheme =
            text.iter().take(24).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
        let blanks = text[scheme..].iter().take_while(|byte| **byte == b' ').count();
        let known = "bearer basic token digest negotiate ntlm apikey bot oauth ssws hawk";
        let name = String::from_utf8_lossy(&text[..scheme]).to_ascii_lowercase();
        let start = value + if blanks > 0 { scheme + blanks } else { 0 };
        let (word, _) = self.header_end(start, true, LOOKED_AT);
        // Some schemes have a list of parameters.
        let parameters = self.bytes.get(word) == Some(&b' ')
            && (self.bytes[start..word].ends_with(b",") || self.bytes[start..word].contains(&b'='));
        let (end, long) = self.header_end(start, !parameters, LOOKED_AT);
        let Some(text) = self.text.get(start..end) else { return };
        let digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let mixed =
            text.bytes().any(|b| b.is_ascii_uppercase()) && text.bytes().any(|b| b.is_ascii_lowercase());
        let alone = self.bytes.get(end) != Some(&b' ');
        let fits = if blanks > 0 && among(known, &name) {
            text.len() >= 4 && (digit || mixed || text.len() >= 20 || alone && text.len() >= 8)
        } else {
            text.len() >= 8 && digit && !text.contains('(')
        };
        if fits && !text.contains(MARKER) && !is_placeholder(text) {
            let end = if long { self.header_end(start, !parameters, usize::MAX).0 } else { end };
            self.take(Kind::Authorization, start..end);
        }
    }

    /// The values of a header's cookies. Behind `Set-Cookie` only the first pair is one.
    pub(super) fn read_cookies(&mut self, after: usize, set: bool) {
        let mut at = self.header_start(after);
        loop {
            at += self.bytes[at..].iter().take_while(|byte| **byte == b' ').count();
            let is_name = |byte: &&u8| is_word(**byte) || **byte == b'.';
            let name = self.bytes[at..].iter().take(LOOKED_AT).take_while(is_name).count();
            if name == 0 || self.bytes.get(at + name) != Some(&b'=') {
                return;
            }
            let start = at + name + 1;
            let (end, long) = self.header_end(start, true, LOOKED_AT);
            let Some(text) = self.text.get(start..end) else { return };
            at = end;
            if text.len() >= 4 && !text.contains(MARKER) && !is_placeholder(text) {
                at = if long { self.header_end(start, true, usize::MAX).0 } else { end };
                self.take(Kind::Cookie, start..at);
            } else if long || (text.contains([':', '=', '>']) && !text.contains(MARKER)) {
                return;
            }
            if set || self.bytes.get(at) != Some(&b';') {
                return;
            }
            at += 1;
        }
    }

    /// The start of a header's value.
    fn header_start(&self, at: usize) -> usize {
        let blanks =
            self.bytes[at..].iter().take(MOST_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let at = at + blanks;
        let slashes = self.bytes[at..].iter().take(16).take_while(|byte| **byte == b'\\').count();
        let quoted = matches!(self.bytes.get(at + slashes), Some(b'"' | b'\'' | b'`'));
        if quoted { at + slashes + 1 } else { at }
    }

    /// The end of a header's value, or of one word or pair of it: the end of its line, or of the quotes around it. Also
    /// whether that is further away than `most`.
    fn header_end(&self, start: usize, one: bool, most: usize) -> (usize, bool) {
        for (length, byte) in self.bytes[start..].iter().enumerate() {
            let at = start + length;
            if length >= most && self.text.is_char_boundary(at) {
                return (at, true);
            }
            let ends = match byte {
                b'\n' | b'\r' | b'"' | b'\'' | b'`' => true,
                b'\\' => matches!(self.bytes.get(at + 1), Some(b'n' | b'r' | b'"' | b'\\')),
                b' ' | b';' => one,
                _ => false,
            };
            if ends {
                return (at, false);
            }
        }
        (self.bytes.len(), false)
    }
}

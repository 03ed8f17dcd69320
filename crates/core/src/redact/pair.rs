//! Values whose names stand in a field of their own: `- name: DB_PASSWORD` and `value: …` below, in either order.

use crate::redact::is_word;
use crate::redact::keyword;
use crate::redact::kind::MARKER;
use crate::redact::looks::Style;
use crate::redact::value::{Scan, Value};

/// Longest distance between the two fields.
const BETWEEN: usize = 96;

/// The longest value before its name.
const LONGEST_VALUE: usize = 256;

impl Scan<'_> {
    /// The field that begins at `field` and whose value begins at `after`.
    pub(super) fn read_field(&mut self, field: usize, name: &[u8], after: usize, style: Style) {
        // Two words are taken for a name where the second is `key`.
        let name = name.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
        let field = field.max(self.from);
        if name.eq_ignore_ascii_case(b"value") {
            if let Some(keyword) = self.name_above(field) {
                self.read_value(after, keyword, style);
            }
        } else if is_naming(name)
            && let Some(named) = self.value_at(after, Style::Spaced)
            && let Some(keyword) = keyword::read_name(&self.bytes[named.at.clone()])
            && !self.text[named.at].contains(MARKER)
            && let Some(value) = self.value_above(field)
        {
            self.judge_value(&value, keyword);
        }
    }

    /// The field before, if it names a secret.
    fn name_above(&self, field: usize) -> Option<keyword::Keyword> {
        let end = self.before_gap(field);
        let bytes = &self.bytes[self.from..end];
        let length =
            bytes.iter().rev().take(keyword::LONGEST).take_while(|b| is_word(**b) || **b == b'.').count();
        let start = end - length;
        (length > 0 && self.is_behind(start, is_naming))
            .then(|| keyword::read_name(&self.bytes[start..end]))?
    }

    fn value_above(&self, field: usize) -> Option<Value> {
        let end = self.before_gap(field);
        let quote = self.bytes[end..field].iter().copied().find(|byte| matches!(byte, b'"' | b'\''));
        let quote = quote
            .filter(|quote| self.bytes[end] == *quote || self.bytes[end..].starts_with(&[b'\\', *quote]));
        let first = self.text.ceil_char_boundary(self.from.max(end.saturating_sub(LONGEST_VALUE)));
        let inside = |byte: &u8| match quote {
            Some(quote) => *byte != quote && *byte != b'\n',
            None => !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b',' | b'{'),
        };
        let start = end - self.bytes[first..end].iter().rev().take_while(|byte| inside(byte)).count();
        let is_value = start < end && self.is_behind(start, |name| name.eq_ignore_ascii_case(b"value"));
        let style = if quote.is_some() { Style::Quoted } else { Style::Spaced };
        is_value.then(|| Value::whole(start..end, style))
    }

    /// The end of the field before, across blanks, a comma, quotes and one line's end.
    fn before_gap(&self, field: usize) -> usize {
        let first = self.from.max(field.saturating_sub(BETWEEN));
        let mut at = field;
        while at > first {
            at -= match &self.bytes[first..at] {
                [.., b'\\', b'n' | b'r' | b't'] => 2,
                [.., b' ' | b'\t' | b'\n' | b'\r' | b',' | b';' | b'"' | b'\'' | b'\\'] => 1,
                _ => break,
            };
        }
        at
    }

    /// A value that begins here follows a field of this name.
    fn is_behind(&self, start: usize, is_field: impl Fn(&[u8]) -> bool) -> bool {
        let first = self.from.max(start.saturating_sub(BETWEEN));
        let before = &self.bytes[first..start];
        let quotes = before
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'\\'))
            .count();
        let Some(operator) = (start - quotes).checked_sub(1).filter(|at| *at >= first) else { return false };
        matches!(self.bytes[operator], b':' | b'=')
            && self.name_before(operator).is_some_and(|(name, _)| {
                is_field(self.bytes[name].rsplit(|byte| *byte == b' ').next().unwrap_or_default())
            })
    }
}

fn is_naming(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"name") || name.eq_ignore_ascii_case(b"key")
}

//! Text marked as private: from `<private>` to its `</private>`, or to the end.

use crate::redact::{Finding, Kind};
use crate::text::search;

const NAME: &[u8] = b"private";

pub(super) fn find(text: &str) -> Vec<Finding> {
    let bytes = text.as_bytes();
    let mut findings = Vec::new();
    let (mut at, mut start, mut depth) = (0, 0, 0_usize);
    while let Some(found) = search::first(&bytes[at..], b'<') {
        let tag = at + found;
        at = tag + 1;
        if let Some(end) = tag_end(bytes, tag + 1, true) {
            if depth == 0 {
                start = tag;
            }
            depth += 1;
            at = end;
        } else if depth > 0
            && bytes.get(tag + 1) == Some(&b'/')
            && let Some(end) = tag_end(bytes, tag + 2, false)
        {
            depth -= 1;
            at = end;
            if depth == 0 {
                findings.push(Finding { kind: Kind::Private, at: start..end });
            }
        }
    }
    if depth > 0 {
        findings.push(Finding { kind: Kind::Private, at: start..bytes.len() });
    }
    findings
}

/// The end of the tag whose name should begin here. Only an opening one has attributes.
fn tag_end(bytes: &[u8], at: usize, opens: bool) -> Option<usize> {
    let rest = bytes.get(at..)?;
    if !rest.get(..NAME.len())?.eq_ignore_ascii_case(NAME) {
        return None;
    }
    let rest = &rest[NAME.len()..];
    let length = rest.iter().position(|byte| matches!(byte, b'<' | b'>'))?;
    let inside = &rest[..length];
    let fits = match inside.first() {
        None => true,
        Some(first) => first.is_ascii_whitespace() && (opens || inside.trim_ascii().is_empty()),
    };
    (rest[length] == b'>' && fits).then_some(at + NAME.len() + length + 1)
}

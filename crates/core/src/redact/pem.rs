//! Private key blocks: whole, torn at their end or their beginning, indented, numbered, within JSON, without the lines
//! around them, or in base64 once more.

use crate::redact::{Finding, Kind};
use crate::text::search;

const DASHES: &[u8] = b"-----";

/// Longest label.
const LONGEST_LABEL: usize = 64;

/// Longest line between the label and the key itself.
const LONGEST_HEADER: usize = 256;

/// Fewer bytes in a row only mention a key.
const LEAST: usize = 16;

/// A key on a longer line has no further lines.
const LONGEST_LINE: usize = 80;

/// A shorter line is a key's last one.
const FULL_LINE: usize = 40;

/// The shortest key without the lines around it, of Ed25519, and as much of a block in base64.
const LEAST_BARE: usize = 60;

/// A line with dashes around a label.
struct Edge {
    begins: bool,
    /// Of a private key; `None` for a certificate and the like.
    kind: Option<Kind>,
    end: usize,
}

/// A block whose end has not been seen.
struct Open {
    kind: Kind,
    start: usize,
    body: usize,
}

pub(super) fn find(text: &str) -> Vec<Finding> {
    let bytes = text.as_bytes();
    let mut findings: Vec<Finding> = Vec::new();
    let mut open: Option<Open> = None;
    let mut at = 0;
    while let Some(found) = search::find(&bytes[at..], DASHES) {
        let dashes = at + found;
        let Some(edge) = read_edge(bytes, dashes) else {
            at = edge_over(bytes, dashes);
            continue;
        };
        at = edge.end;
        match (open.take(), edge.kind) {
            (Some(block), Some(_)) if !edge.begins => {
                if has_body(&bytes[block.body..dashes]) {
                    findings.push(Finding { kind: block.kind, at: block.start..edge.end });
                }
            }
            (None, Some(kind)) if !edge.begins => {
                let from = findings.last().map_or(0, |last| last.at.end);
                if let Some(start) = body_before(bytes, from, dashes) {
                    findings.push(Finding { kind, at: start..edge.end });
                }
            }
            (block, kind) => {
                findings.extend(block.and_then(|block| find_torn(bytes, &block, dashes)));
                open = kind.filter(|_| edge.begins).map(|kind| Open { kind, start: dashes, body: edge.end });
            }
        }
    }
    findings.extend(open.and_then(|block| find_torn(bytes, &block, bytes.len())));
    findings
}

fn edge_over(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|byte| **byte == b'-').count()
}

fn read_edge(bytes: &[u8], dashes: usize) -> Option<Edge> {
    let at = edge_over(bytes, dashes);
    let rest = &bytes[at..];
    let (begins, label) = match (rest.strip_prefix(b"BEGIN "), rest.strip_prefix(b"END ")) {
        (Some(label), _) => (true, label),
        (_, Some(label)) => (false, label),
        _ => return None,
    };
    let window = &label[..label.len().min(LONGEST_LABEL)];
    let length = search::find(window, DASHES)?;
    let label_text = &label[..length];
    let private = search::find(label_text, b"PRIVATE KEY").is_some();
    let holds = |word: &[u8]| search::find(label_text, word).is_some();
    let kind = if !private {
        None
    } else if holds(b"OPENSSH") || holds(b"SSH2") {
        Some(Kind::SshPrivateKey)
    } else if holds(b"PGP") {
        Some(Kind::PgpPrivateKey)
    } else {
        Some(Kind::PrivateKey)
    };
    let label_start = bytes.len() - label.len();
    Some(Edge { begins, kind, end: edge_over(bytes, label_start + length) })
}

/// A key whose base64 begins here, without the lines around it or together with them.
pub(super) fn find_bare(bytes: &[u8], start: usize) -> Option<Finding> {
    let rest = &bytes[start..];
    let kind = match rest {
        [b'M', b'I' | b'H' | b'C', ..] if is_key(rest) => Kind::PrivateKey,
        [b'b', b'3', ..] if rest.starts_with(b"b3BlbnNzaC1rZXktdjEA") => Kind::SshPrivateKey,
        [b'L', b'S', ..] if rest.starts_with(b"LS0tLS1CRUdJTi") => {
            let label = decode_base64(&rest[..base64_run(&rest[..rest.len().min(LONGEST_LABEL)])]);
            let dashes = edge_over(&label, 0);
            search::find(&label[dashes..], b"PRIVATE KEY")?;
            if search::find(&label, b"OPENSSH").is_some() { Kind::SshPrivateKey } else { Kind::PrivateKey }
        }
        _ => return None,
    };
    let end = bare_end(bytes, start);
    (end - start >= LEAST_BARE).then_some(Finding { kind, at: start..end })
}

/// The end of a key without a closing line: its first line that is shorter than the others.
fn bare_end(bytes: &[u8], start: usize) -> usize {
    let width = base64_run(&bytes[start..]);
    let mut end = start + width;
    if width > LONGEST_LINE {
        return end;
    }
    loop {
        let (gap, ended) = between_lines(&bytes[end..]);
        let mut line = end + gap;
        line += line_number_length(&bytes[line..]);
        line += between_lines(&bytes[line..]).0;
        let run = base64_run(&bytes[line..]);
        let text = &bytes[line..line + run];
        // A word is not a line of a key.
        let mixed = text.iter().any(|byte| !byte.is_ascii_lowercase())
            && text.iter().skip(1).any(|byte| !byte.is_ascii_lowercase());
        let alone = bytes
            .get(line + run)
            .is_none_or(|next| matches!(next, b'\n' | b'\r' | b'\\' | b'"' | b'\'' | b'`'));
        if !ended || run > width || !(run == width || run > 0 && run.is_multiple_of(4) && mixed && alone) {
            break;
        }
        end = line + run;
        if run < width {
            break;
        }
    }
    end
}

/// DER that begins as a private key does: a sequence, a version, then an algorithm or the first number of the key.
/// Certificates and public keys have no version there.
fn is_key(rest: &[u8]) -> bool {
    let behind = |at: usize, words: &[&str]| {
        rest.get(at..).is_some_and(|rest| words.iter().any(|word| rest.starts_with(word.as_bytes())))
    };
    match rest {
        [b'M', b'I', b'I', ..] => {
            behind(6, &["IBADAN", "IBAAKC", "IBAAKB"]) || behind(8, &["BgkqhkiG9w0BBQ"])
        }
        [b'M', b'I', ..] => behind(4, &["AgEAM", "AgEBBD", "AgEBBE"]),
        _ => behind(0, &["MHcCAQEEI", "MHQCAQEEI", "MC4CAQAwBQYDK2V"]),
    }
}

/// Decodes base64 as far as it is whole.
fn decode_base64(text: &[u8]) -> Vec<u8> {
    let value = |byte: &u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let whole = text
        .chunks_exact(4)
        .map(|four| four.iter().fold(0_u32, |bits, byte| bits << 6 | u32::from(value(byte))));
    whole.flat_map(|bits| bits.to_be_bytes().into_iter().skip(1)).collect()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn base64_run(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| is_base64(**byte)).count()
}

fn has_body(bytes: &[u8]) -> bool {
    let mut run = 0;
    bytes.iter().any(|byte| {
        run = if is_base64(*byte) { run + 1 } else { 0 };
        run >= LEAST
    })
}

/// The length of white space and escaped line ends, and whether a line ended.
fn between_lines(bytes: &[u8]) -> (usize, bool) {
    let (mut at, mut ended) = (0, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' => at += 1,
            b'\n' | b'\r' => (at, ended) = (at + 1, true),
            b'\\' => {
                let slashes = bytes[at..].iter().take_while(|byte| **byte == b'\\').count();
                match bytes.get(at + slashes) {
                    Some(b'n' | b'r') => (at, ended) = (at + slashes + 1, true),
                    _ => break,
                }
            }
            _ => break,
        }
    }
    (at, ended)
}

/// The length of a line's number as files are shown with: `12→`, `12` and a tab, `12|`.
fn line_number_length(bytes: &[u8]) -> usize {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || digits > 6 {
        return 0;
    }
    let rest = &bytes[digits..];
    ["→", "\t", "|"]
        .iter()
        .find(|sign| rest.starts_with(sign.as_bytes()))
        .map_or(0, |sign| digits + sign.len())
}

/// The length of a line such as `DEK-Info: …`.
fn header_length(bytes: &[u8]) -> usize {
    let window = &bytes[..bytes.len().min(LONGEST_HEADER)];
    let names = ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:"];
    if !names.iter().any(|name| window.starts_with(name.as_bytes())) {
        return 0;
    }
    window.iter().position(|byte| matches!(byte, b'\n' | b'\r' | b'\\' | b'"' | b'\'')).unwrap_or(0)
}

/// A block without an end: as far as lines look like a key's.
fn find_torn(bytes: &[u8], block: &Open, limit: usize) -> Option<Finding> {
    let bytes = &bytes[..limit];
    let (mut at, mut end) = (block.body, block.body);
    let (mut first, mut numbered) = (true, false);
    loop {
        let (gap, ended) = between_lines(&bytes[at..]);
        if !ended && !first {
            break;
        }
        let mut line = at + gap;
        let number = line_number_length(&bytes[line..]);
        if numbered && number == 0 {
            break;
        }
        if number > 0 {
            numbered = true;
            line += number + between_lines(&bytes[line + number..]).0;
        }
        let headed = header_length(&bytes[line..]);
        if headed > 0 {
            at = line + headed;
            first = false;
            continue;
        }
        let run = base64_run(&bytes[line..]);
        let after = line + run;
        let (gap, ended) = between_lines(&bytes[after..]);
        // Words follow each other on a line, lines of a key do not.
        let alone = ended || gap == 0;
        if run == 0 || !alone || (end == block.body && run < LEAST) {
            break;
        }
        (at, end, first) = (after, after, false);
        if run < FULL_LINE && !(ended && is_padding_or_sum(&bytes[after + gap..])) {
            break;
        }
    }
    (end > block.body).then_some(Finding { kind: block.kind, at: block.start..end })
}

/// The check sum behind a PGP key.
fn is_padding_or_sum(bytes: &[u8]) -> bool {
    bytes.first() == Some(&b'=') && base64_run(bytes) <= 8
}

/// The start of a key that ends at `dashes` and whose first part was cut off.
fn body_before(bytes: &[u8], from: usize, dashes: usize) -> Option<usize> {
    let mut start = None;
    let mut at = dashes;
    loop {
        let (line_end, ended) = lines_before(&bytes[from..at]);
        let line_end = from + line_end;
        if !ended {
            break;
        }
        let run = bytes[from..line_end].iter().rev().take_while(|byte| is_base64(**byte)).count();
        let mut line = line_end - run;
        // The `n` of an escaped line end is not part of the key.
        let escaped = line > from && bytes[line - 1] == b'\\' && matches!(bytes.get(line), Some(b'n' | b'r'));
        if escaped {
            line += 1;
        }
        let clean = line <= from
            || escaped
            || matches!(bytes[line - 1], b'\n' | b'\r' | b'"' | b'\'' | b'`' | b' ' | b'\t' | b'>' | b'|')
            || bytes[..line].ends_with("→".as_bytes())
            || bytes[..line].ends_with("…".as_bytes());
        let length = line_end.saturating_sub(line);
        if !clean || length < if start.is_none() { 1 } else { FULL_LINE } {
            // The rest of the line at which the text was cut.
            if clean && start.is_some() && length > 0 && line == from && from == 0 {
                start = Some(line);
            }
            break;
        }
        start = Some(line);
        at = line;
    }
    start.filter(|start| has_body(&bytes[*start..dashes]))
}

/// As [`between_lines`], backwards: the start of the white space.
fn lines_before(bytes: &[u8]) -> (usize, bool) {
    let (mut at, mut ended) = (bytes.len(), false);
    loop {
        match &bytes[..at] {
            [.., b' ' | b'\t'] => at -= 1,
            [.., b'\n' | b'\r'] => (at, ended) = (at - 1, true),
            [.., b'\\', b'n' | b'r'] => {
                ended = true;
                at -= 1;
                while at > 0 && bytes[at - 1] == b'\\' {
                    at -= 1;
                }
            }
            _ => return (at, ended),
        }
    }
}

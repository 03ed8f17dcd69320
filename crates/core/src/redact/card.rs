//! Numbers of payment cards: whole or in groups, with the first digits of an issuer and a correct last one.

use super::is_word;

/// The shortest number.
pub(super) const SHORTEST: usize = 13;

/// The longest number, and the most groups of one.
const LONGEST: usize = 19;
const MOST_GROUPS: usize = 5;

/// How far back a word that says what the number is may begin.
const WORDS_BEFORE: usize = 24;

/// Whether four digits are the first group of a number that is written with blanks; for the glance at a text.
#[inline]
pub(super) fn could_begin(bytes: &[u8]) -> bool {
    matches!(bytes, [b'2'..=b'6', _, _, _, b' ', b'0'..=b'9', ..])
}

/// Where the number ends that begins here.
pub(super) fn end_of(bytes: &[u8], start: usize) -> Option<usize> {
    let clear = match bytes[..start].last() {
        None => true,
        Some(byte) => {
            byte.is_ascii_whitespace()
                || matches!(byte, b'"' | b'\'' | b'`' | b'(' | b'[' | b':' | b'=' | b',' | b'|' | b'>' | b'*' | 0x80..)
        }
    };
    if !clear || !matches!(bytes[start], b'2'..=b'6') {
        return None;
    }
    let mut digits = [0; LONGEST];
    let mut groups = [0; MOST_GROUPS];
    let (mut count, mut group, mut at) = (0, 0, start);
    let mut separator = None;
    loop {
        match bytes.get(at) {
            Some(digit @ b'0'..=b'9') => {
                *digits.get_mut(count)? = digit - b'0';
                groups[group] += 1;
                count += 1;
            }
            Some(sign @ (b' ' | b'-'))
                if *separator.get_or_insert(*sign) == *sign && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) =>
            {
                group += 1;
                if group == MOST_GROUPS {
                    return None;
                }
            }
            _ => break,
        }
        at += 1;
    }
    let goes_on = match bytes.get(at) {
        Some(b'.' | b',') => bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric),
        Some(byte) => is_word(*byte) || matches!(byte, b'/' | b'%' | b'@' | b'+'),
        None => false,
    };
    let digits = &digits[..count];
    let shape = &groups[..=group];
    let usual = match shape {
        [15] | [4, 6, 5] => matches!(digits, [3, 4 | 7, ..]),
        [16] | [4, 4, 4, 4] => is_issuer_of_sixteen(digits),
        [4, 6, 4] => matches!(digits, [3, 0 | 6 | 8, ..]),
        [4, 4, 4, 4, 3] => matches!(digits, [4, ..] | [6, 2, ..]),
        [length] if *length >= SHORTEST => {
            matches!(digits, [4, ..] | [3, 0 | 6 | 8, ..] | [6, 2 | 5, ..]) && is_called_card(&bytes[..start])
        }
        _ => false,
    };
    let numbered = shape.len() == 1 && is_called_id(&bytes[..start]);
    (!goes_on && usual && !numbered && has_correct_sum(digits)).then_some(at)
}

fn is_issuer_of_sixteen(digits: &[u8]) -> bool {
    let first = digits[..4].iter().fold(0_u16, |number, digit| number * 10 + u16::from(*digit));
    matches!(first, 4000..=4999 | 5100..=5599 | 2221..=2720 | 6011 | 6440..=6599 | 3528..=3589 | 6200..=6299)
}

/// Luhn's sum. Numbers of one and the same digit have it, too.
fn has_correct_sum(digits: &[u8]) -> bool {
    let sum = digits.iter().rev().enumerate().fold(0_u32, |sum, (index, digit)| {
        let digit = u32::from(*digit) * if index % 2 == 0 { 1 } else { 2 };
        sum + digit / 10 + digit % 10
    });
    sum % 10 == 0 && digits.iter().any(|digit| *digit != digits[0])
}

fn words_before(before: &[u8]) -> String {
    String::from_utf8_lossy(&before[before.len().saturating_sub(WORDS_BEFORE)..]).to_lowercase()
}

fn is_called_card(before: &[u8]) -> bool {
    let before = words_before(before);
    ["card", "karte", "tarjeta", "カード", "卡", "카드", "visa", "pan"].iter().any(|word| before.contains(word))
}

/// Whether a number without groups is called an id or a time.
fn is_called_id(before: &[u8]) -> bool {
    let before = words_before(before);
    let name = before.trim_end_matches(|c: char| !c.is_alphanumeric());
    ["id", "ids", "ts", "time", "timestamp", "seed", "nonce", "offset", "hash", "inode", "pid"]
        .iter()
        .any(|end| name.ends_with(end))
}

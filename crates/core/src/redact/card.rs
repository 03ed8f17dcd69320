//! Numbers of payment cards: whole or in groups, with the first digits of an issuer and a correct last one.

use crate::redact::is_word;

/// The shortest number.
pub(super) const SHORTEST: usize = 13;

/// The longest number, and the most groups of one.
const LONGEST: usize = 19;
const MOST_GROUPS: usize = 5;

/// Distance before a number in which words such as `card` are looked for.
const WORDS_BEFORE: usize = 32;

/// Four digits that could be the first group of a number with blanks; for the glance at a text.
#[inline]
pub(super) fn could_begin(bytes: &[u8]) -> bool {
    matches!(bytes, [b'2'..=b'6', _, _, _, b' ', b'0'..=b'9', ..])
}

/// The end of the number that begins here.
pub(super) fn end_of(bytes: &[u8], start: usize) -> Option<usize> {
    let clear = match bytes[..start].last() {
        None => true,
        Some(byte) => {
            byte.is_ascii_whitespace()
                || matches!(
                    byte,
                    b'"' | b'\'' | b'`' | b'(' | b'[' | b':' | b'=' | b',' | b'|' | b'>' | b'*' | 0x80..
                )
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
                // Too many are counted, too: the last group may not belong to the number.
                if let Some(place) = digits.get_mut(count) {
                    *place = digit - b'0';
                }
                groups[group] += 1;
                count += 1;
            }
            Some(sign @ (b' ' | b'-'))
                if groups[0] < SHORTEST
                    && *separator.get_or_insert(*sign) == *sign
                    && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) =>
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
    if separator == Some(b' ') && group > 0 && goes_on(bytes, at) {
        // The last group begins a word of its own, such as a token.
        at -= groups[group] + 1;
        count -= groups[group];
        group -= 1;
    }
    let digits = digits.get(..count)?;
    let shape = &groups[..=group];
    let usual = match shape {
        [4, 6, 5] => matches!(digits, [3, 4 | 7, ..]),
        [4, 4, 4, 4] => is_issuer_of_sixteen(digits),
        [4, 6, 4] => matches!(digits, [3, 0 | 6 | 8, ..]),
        [4, 4, 4, 4, 3] => matches!(digits, [4, ..] | [6, 2, ..]),
        [length] if *length >= SHORTEST => match length {
            16 => is_issuer_of_sixteen(digits),
            15 => matches!(digits, [3, 4 | 7, ..]),
            _ => matches!(digits, [4, ..] | [3, 0 | 6 | 8, ..] | [6, 2 | 5, ..]),
        },
        _ => false,
    };
    if goes_on(bytes, at) || !usual || !has_correct_sum(digits) {
        return None;
    }
    let before = &bytes[..start];
    let fits = if shape.len() == 1 { is_called_card(before) } else { !is_in_a_series(before) };
    fits.then_some(at)
}

/// What follows belongs to the number.
fn goes_on(bytes: &[u8], end: usize) -> bool {
    match &bytes[end..] {
        // `[` begins the marker of what was there.
        [b'.' | b',', next, ..] => next.is_ascii_alphanumeric() || *next == b'[',
        [byte, ..] => is_word(*byte) || matches!(byte, b'/' | b'%' | b'@' | b'+' | b'['),
        [] => false,
    }
}

fn is_issuer_of_sixteen(digits: &[u8]) -> bool {
    let first = digits[..4].iter().fold(0_u16, |number, digit| number * 10 + u16::from(*digit));
    matches!(first, 4000..=4999 | 5100..=5599 | 2221..=2720 | 6011 | 6440..=6599 | 3528..=3589 | 6200..=6299)
}

/// Luhn's sum. Numbers of a single repeated digit have it as well.
fn has_correct_sum(digits: &[u8]) -> bool {
    let sum = digits.iter().rev().enumerate().fold(0_u32, |sum, (index, digit)| {
        let digit = u32::from(*digit) * if index % 2 == 0 { 1 } else { 2 };
        sum + digit / 10 + digit % 10
    });
    sum % 10 == 0 && digits.iter().any(|digit| *digit != digits[0])
}

/// The words before a number name a card. Digits without them may be anything.
fn is_called_card(before: &[u8]) -> bool {
    let before = &before[before.len().saturating_sub(WORDS_BEFORE)..];
    // Markers say nothing, and the words before them were further away.
    let before = before.rsplit(|byte| *byte == b']').next().unwrap_or_default();
    let before = String::from_utf8_lossy(before).to_lowercase();
    let card = [
        "card",
        "karte",
        "tarjeta",
        "カード",
        "卡",
        "카드",
        "visa",
        "amex",
        "express",
        "diners",
        "credit",
        "pan:",
        "pan=",
        "pan\"",
        "cc:",
        "cc=",
        "ccnum",
        "cc_",
        "pay",
    ];
    let id = ["id", "ids", "ts", "time", "timestamp", "hash"];
    let name = before.trim_end_matches(|c: char| !c.is_alphanumeric());
    card.iter().any(|word| before.contains(word)) && !id.iter().any(|end| name.ends_with(end))
}

/// Other numbers come before the first group, or a marker that may have replaced one.
fn is_in_a_series(before: &[u8]) -> bool {
    let Some(before) = before.strip_suffix(b" ") else { return false };
    before.ends_with(b"]")
        || before.iter().rev().take(8).take_while(|byte| is_word(**byte)).any(u8::is_ascii_digit)
}

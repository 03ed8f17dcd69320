//! A person's reply as a prompt: `approve CODE` or `refuse CODE`, as people type it.
//!
//! Case and full-width letters do not matter, nor do spaces and hyphens inside the code, nor a polite word around it.

use std::borrow::Cow;

use super::marks::{ApprovalRequest, CODE_LENGTH};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Approve,
    Refuse,
}

const VERBS: [(&str, Reply); 5] = [
    ("approve", Reply::Approve),
    ("承認", Reply::Approve),
    ("refuse", Reply::Refuse),
    ("拒否", Reply::Refuse),
    ("却下", Reply::Refuse),
];

/// Words that people put around a reply.
const POLITE: [&str; 9] =
    ["please", "yes", "ok", "okay", "thanks", "はい", "お願いします", "ください", "どうぞ"];

/// The reply and its code in capitals. A code in several parts counts only if a request has it: `approve all PRs` is a prompt.
pub(super) fn typed_reply(prompt: &str, requests: &[ApprovalRequest]) -> Option<(Reply, String)> {
    let line = prompt.trim();
    if line.contains(['\n', '\r', '\t']) {
        return None;
    }
    let line: Cow<'_, str> =
        if line.is_ascii() { line.into() } else { line.chars().map(half_width).collect::<String>().into() };
    let words = line.split([' ', '`', ',', '.', '!', ':', '、', '。']);
    let is_said =
        |word: &&str| !word.is_empty() && !POLITE.iter().any(|polite| word.eq_ignore_ascii_case(polite));
    let mut words = words.filter(is_said);
    let first = words.next()?;
    let (verb, reply, attached) = VERBS.iter().find_map(|(verb, reply)| {
        let begin = first.get(..verb.len()).filter(|begin| begin.eq_ignore_ascii_case(verb))?;
        Some((begin, *reply, &first[begin.len()..]))
    })?;
    // Only Japanese is written without a space.
    if !attached.is_empty() && verb.is_ascii() {
        return None;
    }
    let parts: Vec<&str> = std::iter::once(attached)
        .chain(words)
        .flat_map(|word| word.split(is_hyphen))
        .filter(|part| !part.is_empty())
        .collect();
    let code = parts.concat().to_ascii_uppercase();
    let is_known = || requests.iter().any(|request| request.code == code);
    (ApprovalRequest::is_code(&code) && (parts.len() == 1 || is_known())).then_some((reply, code))
}

/// Words of a prompt that only agrees.
const AGREES: [&str; 12] = [
    "approve",
    "approved",
    "it",
    "this",
    "that",
    "yep",
    "yeah",
    "sure",
    "承認",
    "承認します",
    "承認する",
    "了解",
];

/// "ok", "approve it": a person who waits for a request may mean it, but it names none.
pub(super) fn agrees_without_code(prompt: &str) -> bool {
    /// A longer one says more.
    const MOST: usize = 60;
    let is_one = |word: &str, words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    let mut words =
        prompt.split([' ', ',', '.', '!', '、', '。', '　']).filter(|word| !word.is_empty()).peekable();
    prompt.len() <= MOST
        && words.peek().is_some_and(|first| !is_one(first, &["please", "thanks", "it", "this", "that"]))
        && words.all(|word| is_one(word, &POLITE) || is_one(word, &AGREES))
}

/// `ａ` to `a`, `　` to a space.
fn half_width(c: char) -> char {
    match c {
        '\u{3000}' => ' ',
        '！'..='～' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '_' | '‐'..='―' | '−' | 'ー')
}

/// The code in any form that [`typed_reply`] understands, and not only as a word: after `\n` in JSON, a letter precedes it.
pub(super) fn contains_code(text: &str, code: &str) -> bool {
    let Some(first) = code.bytes().next() else { return false };
    let may_begin = |byte: u8| byte.eq_ignore_ascii_case(&first) || byte == FULL_WIDTH || byte == b'\\';
    let bytes = text.as_bytes();
    let begins = (0..bytes.len()).filter(|at| may_begin(bytes[*at]) && text.is_char_boundary(*at));
    begins.into_iter().any(|at| begins_with_code(&text[at..], code))
}

/// The first byte of full-width letters in UTF-8.
const FULL_WIDTH: u8 = 0xef;

fn begins_with_code(text: &str, code: &str) -> bool {
    let mut rest = text;
    let mut next = || {
        let escape = rest.strip_prefix("\\u").and_then(|rest| rest.get(..4));
        let escaped = escape.and_then(|hex| char::from_u32(u32::from_str_radix(hex, 16).ok()?));
        let (c, length) = match escaped {
            Some(c) => (c, 6),
            None => rest.chars().next().map(|c| (c, c.len_utf8()))?,
        };
        rest = &rest[length..];
        Some(half_width(c))
    };
    let mut matched = 0;
    let letters = code.as_bytes();
    // Longer than any way to space a code out.
    for _ in 0..4 * CODE_LENGTH {
        let Some(c) = next() else { return false };
        if matched > 0 && (c == ' ' || is_hyphen(c)) {
            continue;
        }
        if !letters.get(matched).is_some_and(|letter| c.eq_ignore_ascii_case(&char::from(*letter))) {
            return false;
        }
        matched += 1;
        if matched == letters.len() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::marks::ApprovalStage;
    use super::*;
    use crate::time::Millis;

    fn request() -> ApprovalRequest {
        ApprovalRequest {
            code: "K7QF2M".into(),
            command: "off skill-gate".into(),
            about: None,
            at: Millis(0),
            client: Some(7),
            shown: false,
            stage: ApprovalStage::Asked,
        }
    }

    #[test]
    fn replies_as_people_type_them() {
        let requests = [request()];
        let forms =
            ["K7QF2M", "k7q f2m", "K7Q-F2M", "Ｋ７ＱＦ２Ｍ", "ｋ７ｑ－ｆ２ｍ", "K7Q　F2M", "K7-QF-2M"];
        for form in forms {
            for (typed, reply) in [
                (format!("approve {form}"), Reply::Approve),
                (format!("ａｐｐｒｏｖｅ　{form}"), Reply::Approve),
                (format!("承認{form}"), Reply::Approve),
                (format!("承認：{form}。"), Reply::Approve),
                (format!("please refuse `{form}`!"), Reply::Refuse),
                (format!("拒否 {form}"), Reply::Refuse),
            ] {
                assert_eq!(typed_reply(&typed, &requests), Some((reply, "K7QF2M".into())), "{typed}");
            }
        }
        for typed in [
            "approve all PRs",
            "approve re-test",
            "approve K7QF2M now",
            "approved K7QF2M",
            "未承認 K7QF2M",
            "refuse it",
            "approve\nK7QF2M",
            "approve",
            "",
        ] {
            assert_eq!(typed_reply(typed, &requests), None, "{typed}");
        }
        assert_eq!(typed_reply("approve K7Q F2X", &requests), None);
        assert_eq!(typed_reply("approve K7QF2X", &requests), Some((Reply::Approve, "K7QF2X".into())));
    }

    #[test]
    fn what_agrees_and_names_no_code() {
        for prompt in [
            "approve",
            "Approve it.",
            "ok",
            "Yes, please",
            "OK thanks!",
            "承認します。",
            "はい、お願いします。",
        ] {
            assert!(agrees_without_code(prompt), "{prompt}");
        }
        for other in
            ["", "please", "that", "approve all PRs", "ok, show me the diff", "yes?", "thanks", "続けて"]
        {
            assert!(!agrees_without_code(other), "{other}");
        }
    }

    /// Everything that a person may type, the model must not have typed.
    #[test]
    fn a_code_is_found_however_it_is_written() {
        for text in [
            "K7QF2M",
            "approve k7qf2m",
            "(K7QF2M)",
            "approve\\nK7QF2M",
            "\\tK7QF2M",
            "xK7QF2My",
            "K7Q F2M",
            "承認 Ｋ７Ｑ－Ｆ２Ｍ",
            "K7 - QF - 2M",
            "\\uff2b7QF2M",
            "\\u004B\\u0037QF2M",
            "kk7qf2m",
        ] {
            assert!(contains_code(text, "K7QF2M"), "{text}");
        }
        for text in ["K7QF2", "K7QxF2M", "", "K", "\\u", "\\uff", "Ｋ", "K7Q\nF2M"] {
            assert!(!contains_code(text, "K7QF2M"), "{text}");
        }
    }
}

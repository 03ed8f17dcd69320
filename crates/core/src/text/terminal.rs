//! Texts on a terminal: colours and links that another program drew, and columns.

use std::borrow::Cow;

use crate::text::hidden::{is_plain_text, steers};

/// Another program's output: colours (`ESC [ … m`) and links (OSC 8) stay, every other sequence and steering character goes.
pub fn keep_styles(text: &str) -> Cow<'_, str> {
    if is_plain_text(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (length, keeps) = match c {
            '\x1b' => read_sequence(rest),
            c => (c.len_utf8(), matches!(c, '\n' | '\t') || !steers(c)),
        };
        let (taken, after) = rest.split_at(length);
        if keeps {
            out.push_str(taken);
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// Another program's output without its sequences.
pub fn without_styles(text: &str) -> Cow<'_, str> {
    if !text.contains('\x1b') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + read_sequence(&rest[at..]).0..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The length of the sequence that this text begins with, and whether it only styles.
fn read_sequence(text: &str) -> (usize, bool) {
    let after = &text[1..];
    if let Some(parameters) = after.strip_prefix('[') {
        let end = parameters.find(|c: char| !matches!(c, ' '..='?'));
        return match end.and_then(|at| Some((at, parameters[at..].chars().next()?))) {
            Some((at, 'm')) => (at + 3, parameters[..at].chars().all(|c| matches!(c, '0'..='9' | ';' | ':'))),
            Some((at, '@'..='~')) => (at + 3, false),
            _ => (2, false),
        };
    }
    if let Some(command) = after.strip_prefix(']') {
        let Some(at) = command.find(|c: char| c.is_control()) else { return (text.len(), false) };
        let end = match &command[at..] {
            end if end.starts_with('\x07') => 1,
            end if end.starts_with("\x1b\\") => 2,
            _ => return (at + 2, false),
        };
        return (2 + at + end, command.starts_with("8;") && !command[..at].chars().any(steers));
    }
    (1, false)
}

/// The columns that a text takes: colour codes take none, letters beyond Latin two.
pub fn count_columns(text: &str) -> usize {
    let mut columns = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => skip_sequence(&mut chars),
            c => columns += columns_of(c),
        }
    }
    columns
}

/// Plain text in at most `room` columns, a `…` among them.
pub fn cut_columns(text: &str, room: usize) -> Cow<'_, str> {
    if count_columns(text) <= room {
        return Cow::Borrowed(text);
    }
    let mut columns = 1;
    let fits = |c: &char| {
        columns += columns_of(*c);
        columns <= room
    };
    Cow::Owned(text.chars().take_while(fits).chain(['…']).collect())
}

fn columns_of(c: char) -> usize {
    if c < '\u{2e80}' { 1 } else { 2 }
}

/// A colour code ends with a letter, a link's address with BEL or `ESC \`.
fn skip_sequence(chars: &mut std::str::Chars<'_>) {
    if chars.next() == Some(']') {
        let mut before = ' ';
        let _ = chars.find(|c| *c == '\x07' || (std::mem::replace(&mut before, *c) == '\x1b' && *c == '\\'));
    } else {
        let _ = chars.find(char::is_ascii_alphabetic);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::hidden::tests::DECEIVING;
    use proptest::prelude::*;

    #[test]
    fn the_text_is_what_stays_without_its_sequences() {
        assert_eq!(without_styles("\x1b[1m\x1b[32m 5 pass\x1b[0m"), " 5 pass");
        assert_eq!(without_styles("plain"), "plain");
        assert_eq!(without_styles("a\x1b]8;;https://x\x1b\\b\x1b]8;;\x1b\\"), "ab");
        assert_eq!(without_styles("cut \x1b"), "cut ");
    }

    #[test]
    fn only_colours_and_links_of_another_program_stay() {
        for (text, kept) in [
            ("plain 語", "plain 語"),
            ("\x1b[1;38:5:3mred\x1b[0m\x1b[m", "\x1b[1;38:5:3mred\x1b[0m\x1b[m"),
            (
                "\x1b]8;;https://example.org\x07a\x1b]8;;\x1b\\b",
                "\x1b]8;;https://example.org\x07a\x1b]8;;\x1b\\b",
            ),
            ("a\x1b[2Jb\x1b[?25lc\x1b[>4;1md", "abcd"),
            ("a\x1b]52;c;aGk=\x07b\x1b]0;title\x1b\\c", "abc"),
            ("a\x1b]8;;x\ny\x07b", "a\nyb"),
            ("a\x1bcb\x07\u{9b}2J\u{202e}\r\n", "acb2J\n"),
            ("end\x1b", "end"),
            ("end\x1b[", "end"),
            ("end\x1b]8;;", "end"),
            ("\u{200d}", "\u{200d}"),
        ] {
            assert_eq!(keep_styles(text), kept, "{text:?}");
        }
    }

    #[test]
    fn columns_are_what_is_seen() {
        for (text, columns) in [
            ("", 0),
            ("plain é", 7),
            ("使用 62%", 8),
            ("\x1b[31mred\x1b[0m", 3),
            ("\x1b]8;;https://example.org\x07link\x1b]8;;\x1b\\ end", 8),
        ] {
            assert_eq!(count_columns(text), columns, "{text:?}");
        }
    }

    #[test]
    fn a_cut_text_fits_its_columns() {
        for (room, cut) in [(6, "ab漢字"), (5, "ab漢…"), (4, "ab…"), (1, "…")] {
            assert_eq!(cut_columns("ab漢字", room), cut);
        }
    }

    proptest! {
        #[test]
        fn a_second_time_changes_nothing(text in any::<String>(), at in 0..40_usize) {
            let mut mixed: String = DECEIVING.chars().skip(at).collect();
            mixed.push_str(&text);
            let styled = keep_styles(&mixed).into_owned();
            prop_assert_eq!(keep_styles(&styled), styled.as_str());
        }
    }
}

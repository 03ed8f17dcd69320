//! Characters that deceive a reader: those that show nothing, and those that move a cursor, change colours or turn the order
//! of a text around. File names, notes, tool names and the rest of a payload may hold any of them.
//!
//! One table for everything that shows text which others wrote.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character takes no room on a screen, as far as the character alone tells: see [`varies`].
fn hides(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a variation selector belongs to the character before it: emoji (❤️, 1️⃣) and Japanese names (葛󠄀) need one. Letters
/// take none, and no character takes two: any text could be hidden in them.
fn varies(before: char, selector: char, after: Option<char>) -> bool {
    match selector {
        '\u{fe0e}'..='\u{fe0f}' => match before {
            '0'..='9' | '#' | '*' => after == Some('\u{20e3}'),
            // Symbols that count as letters.
            '\u{2139}' | '\u{24c2}' | '\u{1f170}'..='\u{1f189}' => true,
            _ => {
                !(before.is_ascii() || before.is_alphanumeric() || before.is_whitespace()) && is_plain(before)
            }
        },
        '\u{e0100}'..='\u{e01ef}' => matches!(
            before,
            '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3fffd}'
        ),
        _ => false,
    }
}

/// Each character, and whether it is what it looks like where it stands.
pub fn judged(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut before = None;
    let mut chars = text.chars().peekable();
    std::iter::from_fn(move || {
        let c = chars.next()?;
        let is_plain = is_plain(c) || before.is_some_and(|before| varies(before, c, chars.peek().copied()));
        before = Some(c);
        Some((c, is_plain))
    })
}

/// The characters that take room on a screen, or belong to one that does.
pub fn unhidden(text: &str) -> impl Iterator<Item = char> {
    judged(text).filter(|(c, is_plain)| *is_plain || !hides(*c)).map(|(c, _)| c)
}

/// Whether a character steers a terminal, ends a line, or changes the direction of the text around it.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{2029}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

/// Whether a character is what it looks like, whatever stands before it.
pub fn is_plain(c: char) -> bool {
    !(steers(c) || hides(c))
}

/// Whether every character is what it looks like, besides line breaks and tabs. Most text is ASCII, and then a look at its
/// bytes is enough.
pub fn is_plain_text(text: &str) -> bool {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let Some(begin) = text.as_bytes().iter().position(|byte| !plain(byte)) else { return true };
    // A byte that is not ASCII begins a character. What it may vary is the one before it.
    let rest = text.get(begin.saturating_sub(1)..).unwrap_or_default();
    judged(rest).all(|(c, is_plain)| matches!(c, '\n' | '\t') || is_plain)
}

/// Text for a terminal: line breaks and tabs stay, every other character of the table is written out as `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if is_plain_text(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = judged(text).peekable();
    while let Some((c, is_plain)) = chars.next() {
        match c {
            // A file of Windows has its line breaks like this.
            '\r' if chars.peek().is_some_and(|(next, _)| *next == '\n') => {}
            c if matches!(c, '\n' | '\t') || is_plain => out.push(c),
            c => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(out)
}

/// The same JSON, with every character of the table as `\u001b`. Those characters stand only within strings, besides line
/// breaks and tabs between them, so a reader gets the same value.
pub fn json(text: &str) -> Cow<'_, str> {
    if is_plain_text(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (c, is_plain) in judged(text) {
        if matches!(c, '\n' | '\t') || is_plain {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    Cow::Owned(out)
}

/// One line: spaces, line breaks and steering characters become one space, hidden ones go.
#[expect(clippy::needless_bitwise_bool, reason = "without branches, many bytes are looked at together")]
pub fn one_line(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_printed = bytes.iter().fold(true, |all, byte| all & matches!(byte, b' '..=b'~'));
    let twos = || bytes.iter().zip(bytes.iter().skip(1));
    if is_printed && !twos().fold(false, |any, (one, next)| any | ((*one == b' ') & (*next == b' '))) {
        return text.trim_matches(' ').to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for word in words(text) {
        let before = line.len();
        if before > 0 {
            line.push(' ');
        }
        let begin = line.len();
        line.extend(unhidden(word));
        if line.len() == begin {
            line.truncate(before);
        }
    }
    line
}

/// What stands between spaces and steering characters.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || steers(c)).filter(|word| !word.is_empty())
}

/// What another program drew: colours (`ESC [ … m`) and links (OSC 8) stay, every other sequence and steering character goes.
pub fn styled(text: &str) -> Cow<'_, str> {
    if is_plain_text(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (length, keeps) = match c {
            '\x1b' => sequence(rest),
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

/// How long the sequence is that this text begins with, and whether it only styles.
fn sequence(text: &str) -> (usize, bool) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One of each range of both tables.
    const DECEIVING: &str = "\0\u{7}\u{8}\r\u{1b}\u{7f}\u{80}\u{9b}\u{ad}\u{34f}\u{61c}\u{115f}\u{17b4}\u{180e}\u{200b}\u{200c}\
                             \u{200d}\u{200e}\u{200f}\u{2028}\u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{206a}\u{3164}\u{feff}\
                             \u{ffa0}\u{fff9}\u{1bca0}\u{1d173}\u{e0000}\u{e0001}\u{e0041}\u{e007f}\u{fe00}\u{fe0f}\u{e0100}\
                             \u{e01ef}\u{e01f0}\u{e0fff}";

    #[test]
    fn the_table() {
        assert!(DECEIVING.chars().all(|c| !is_plain(c)));
        assert!(is_plain_text("aé語 🙂\u{fe0f}葛\u{e0100}\u{3000}\u{e0b0}-‹›"));
    }

    #[test]
    fn a_variation_selector_stands_only_behind_what_it_varies_and_alone() {
        for plain in [
            "❤\u{fe0f}",
            "a ☎\u{fe0e} b",
            "1\u{fe0f}\u{20e3}",
            "#\u{fe0f}\u{20e3}",
            "ℹ\u{fe0f}",
            "Ⓜ\u{fe0f}",
            "🅰\u{fe0f}🅱\u{fe0f}",
            "㊙\u{fe0f}",
            "葛\u{e0100}飾区の渡邉\u{e0103}",
            "\u{20bb7}\u{e0101}",
        ] {
            assert!(is_plain_text(plain), "{plain:?}");
            assert_eq!((visible(plain), one_line(plain).as_str()), (plain.into(), plain), "{plain:?}");
        }
        for (hidden, rest) in [
            ("a\u{fe0f}b", "ab"),
            (".\u{fe0f}", "."),
            ("1\u{fe0f}2\u{fe0e}", "12"),
            ("\u{fe0f}", ""),
            (" \u{fe0f}x", "x"),
            ("é\u{fe0f}語\u{fe0e}", "é語"),
            ("❤\u{fe0f}\u{fe0f}\u{fe0e}", "❤\u{fe0f}"),
            ("❤\u{fe00}\u{fe0d}", "❤"),
            ("❤\u{200b}\u{fe0f}", "❤"),
            ("葛\u{e0100}\u{e0101}", "葛\u{e0100}"),
            ("あ\u{e0100}a\u{e01ef}❤\u{e0100}", "あa❤"),
            ("葛\u{e01f0}\u{e0fff}", "葛"),
        ] {
            assert!(!is_plain_text(hidden), "{hidden:?}");
            assert_eq!(one_line(hidden), rest, "{hidden:?}");
            assert!(is_plain_text(&visible(hidden)), "{hidden:?}");
        }
        // Bytes as they are hidden in public examples, one selector each.
        let hidden: String = (0..=255_u32)
            .filter_map(|byte| char::from_u32(if byte < 16 { 0xfe00 + byte } else { 0xe0100 + byte - 16 }))
            .collect();
        for carrier in ["a", "❤", "葛"] {
            assert!(one_line(&format!("{carrier}{hidden}")).chars().count() <= 2, "{carrier}");
        }
    }

    #[test]
    fn a_terminal_shows_what_would_deceive() {
        assert_eq!(visible("plain\n\ttext, 語"), "plain\n\ttext, 語");
        assert!(matches!(visible("plain"), Cow::Borrowed(_)));
        assert_eq!(visible("a\r\nb\rc"), "a\nb\\u{d}c");
        assert_eq!(
            visible("\u{1b}[2J\u{7}\u{202e}x\u{2060}\u{e0041}"),
            "\\u{1b}[2J\\u{7}\\u{202e}x\\u{2060}\\u{e0041}"
        );
        assert!(is_plain_text(&visible(DECEIVING)));
    }

    #[test]
    fn one_line_of_words() {
        assert_eq!(one_line(" a\n\u{1b}b\u{200b}c \u{feff} d\u{202e}\u{e0041}"), "a bc d");
        assert_eq!(one_line("\u{200b} \n"), "");
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
            assert_eq!(styled(text), kept, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn json_says_the_same_without_them(text in any::<String>()) {
            let all = format!("{text}{DECEIVING}\n\t");
            let written = serde_json::to_string_pretty(&[&all]).unwrap();
            let escaped = json(&written);
            prop_assert!(is_plain_text(&escaped) && !escaped.contains('\t'));
            prop_assert_eq!(serde_json::from_str::<Vec<String>>(&escaped).unwrap(), [all]);
        }

        #[test]
        fn nothing_deceiving_passes(text in any::<String>(), at in 0..40_usize) {
            let mut mixed: String = DECEIVING.chars().skip(at).collect();
            mixed.push_str(&text);
            prop_assert!(is_plain_text(&visible(&mixed)));
            prop_assert!(is_plain_text(&one_line(&mixed)));
            let styled = styled(&mixed).into_owned();
            prop_assert_eq!(super::styled(&styled), styled.as_str());
        }
    }
}

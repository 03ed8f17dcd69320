//! Characters that deceive a reader: those that show nothing, and those that move a cursor, change colours or turn the order
//! of a text around. File names, notes, tool names and the rest of a payload may hold any of them.
//!
//! One table for everything that shows text which others wrote.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character takes no room on a screen. Variation selectors are not in here: emoji and Japanese names need them.
pub fn hides(c: char) -> bool {
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
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}'
    )
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

/// Whether a character is what it looks like.
pub fn is_plain(c: char) -> bool {
    !(steers(c) || hides(c))
}

/// Most text is ASCII, and then a look at its bytes is enough.
fn is_plain_text(text: &str) -> bool {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let Some(begin) = text.as_bytes().iter().position(|byte| !plain(byte)) else { return true };
    // A byte that is not ASCII begins a character.
    let rest = text.get(begin..).unwrap_or_default();
    rest.chars().all(|c| matches!(c, '\n' | '\t') || is_plain(c))
}

/// Text for a terminal: line breaks and tabs stay, every other character of the table is written out as `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if is_plain_text(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // A file of Windows has its line breaks like this.
            '\r' if chars.peek() == Some(&'\n') => {}
            c if matches!(c, '\n' | '\t') || is_plain(c) => out.push(c),
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
    for c in text.chars() {
        if matches!(c, '\n' | '\t') || is_plain(c) {
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
        line.extend(word.chars().filter(|c| !hides(*c)));
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
                             \u{ffa0}\u{fff9}\u{1bca0}\u{1d173}\u{e0000}\u{e0001}\u{e0041}\u{e007f}";

    #[test]
    fn the_table() {
        assert!(DECEIVING.chars().all(|c| !is_plain(c)));
        assert!("aé語 🙂\u{fe0f}葛\u{e0100}\u{3000}\u{e0b0}-‹›".chars().all(is_plain));
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
        assert!(visible(DECEIVING).chars().all(is_plain));
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
            prop_assert!(escaped.chars().all(|c| c == '\n' || is_plain(c)));
            prop_assert_eq!(serde_json::from_str::<Vec<String>>(&escaped).unwrap(), [all]);
        }

        #[test]
        fn nothing_deceiving_passes(text in any::<String>(), at in 0..40_usize) {
            let mut mixed: String = DECEIVING.chars().skip(at).collect();
            mixed.push_str(&text);
            prop_assert!(visible(&mixed).chars().all(|c| matches!(c, '\n' | '\t') || is_plain(c)));
            prop_assert!(one_line(&mixed).chars().all(is_plain));
            let styled = styled(&mixed).into_owned();
            prop_assert_eq!(super::styled(&styled), styled.as_str());
        }
    }
}

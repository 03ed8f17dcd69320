//! Characters that deceive a reader: those that show nothing, and those that move a cursor, change colours or turn the order
//! of a text around. File names, notes, tool names and the rest of a payload may hold any of them.
//!
//! One table for everything that shows text which others wrote.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::text::cut::cut_after;

/// A character that takes no room on a screen. Variation selectors are not in the table: emoji and Japanese names need them.
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

/// A character that steers a terminal, ends a line, or changes the direction of the text around it.
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

/// A character that neither hides nor steers.
pub fn is_plain(c: char) -> bool {
    !(steers(c) || hides(c))
}

/// Checks bytes first: most text is ASCII.
pub(super) fn is_plain_text(text: &str) -> bool {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let Some(begin) = text.as_bytes().iter().position(|byte| !plain(byte)) else { return true };
    // A byte that is not ASCII begins a character.
    let rest = text.get(begin..).unwrap_or_default();
    rest.chars().all(|c| matches!(c, '\n' | '\t') || is_plain(c))
}

/// Text for a terminal: line breaks and tabs stay, every other character of the table is written out as `\u{1b}`.
pub fn show_hidden(text: &str) -> Cow<'_, str> {
    if is_plain_text(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // Line breaks of Windows.
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
pub fn escape_in_json(text: &str) -> Cow<'_, str> {
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

/// The text with `instead` in the place of every character of the table.
pub fn replace_hidden(text: &str, instead: char) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { instead }).collect()
}

/// A word from a file that others wrote, short enough for a message.
pub fn plain_word(word: &str) -> String {
    const LONGEST: usize = 100;
    replace_hidden(&cut_after(word, LONGEST), ' ')
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One of each range of both tables.
    pub(in crate::text) const DECEIVING: &str = "\0\u{7}\u{8}\r\u{1b}\u{7f}\u{80}\u{9b}\u{ad}\u{34f}\u{61c}\u{115f}\u{17b4}\u{180e}\u{200b}\u{200c}\
                             \u{200d}\u{200e}\u{200f}\u{2028}\u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{206a}\u{3164}\u{feff}\
                             \u{ffa0}\u{fff9}\u{1bca0}\u{1d173}\u{e0000}\u{e0001}\u{e0041}\u{e007f}";

    #[test]
    fn the_table() {
        assert!(DECEIVING.chars().all(|c| !is_plain(c)));
        assert!("aé語 🙂\u{fe0f}葛\u{e0100}\u{3000}\u{e0b0}-‹›".chars().all(is_plain));
    }

    #[test]
    fn a_terminal_shows_what_would_deceive() {
        assert_eq!(show_hidden("plain\n\ttext, 語"), "plain\n\ttext, 語");
        assert!(matches!(show_hidden("plain"), Cow::Borrowed(_)));
        assert_eq!(show_hidden("a\r\nb\rc"), "a\nb\\u{d}c");
        assert_eq!(
            show_hidden("\u{1b}[2J\u{7}\u{202e}x\u{2060}\u{e0041}"),
            "\\u{1b}[2J\\u{7}\\u{202e}x\\u{2060}\\u{e0041}"
        );
        assert!(show_hidden(DECEIVING).chars().all(is_plain));
    }

    #[test]
    fn a_word_of_others_is_plain_and_short() {
        assert_eq!(plain_word("a\u{1b}[1m\nb"), "a [1m b");
        assert_eq!(plain_word(&"x".repeat(101)), format!("{}…", "x".repeat(100)));
        assert_eq!(replace_hidden("a\u{202e}b", '\u{fffd}'), "a\u{fffd}b");
    }

    proptest! {
        #[test]
        fn json_says_the_same_without_them(text in any::<String>()) {
            let all = format!("{text}{DECEIVING}\n\t");
            let written = serde_json::to_string_pretty(&[&all]).unwrap();
            let escaped = escape_in_json(&written);
            prop_assert!(escaped.chars().all(|c| c == '\n' || is_plain(c)));
            prop_assert_eq!(serde_json::from_str::<Vec<String>>(&escaped).unwrap(), [all]);
        }

        #[test]
        fn nothing_deceiving_passes(text in any::<String>(), at in 0..40_usize) {
            let mut mixed: String = DECEIVING.chars().skip(at).collect();
            mixed.push_str(&text);
            prop_assert!(show_hidden(&mixed).chars().all(|c| matches!(c, '\n' | '\t') || is_plain(c)));
            prop_assert!(replace_hidden(&mixed, ' ').chars().all(is_plain));
        }
    }
}

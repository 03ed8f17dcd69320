//! Characters that deceive a reader: those that show nothing, and those that move a cursor, change colours or turn the order
//! of a text around. File names, notes, tool names and the rest of a payload may hold any of them.
//!
//! One table for everything that shows text which others wrote.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::text::cut::cut_after;

/// A character that takes no room on a screen, as far as the character alone tells: see [`varies`].
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

/// A character that neither hides nor steers, wherever it stands.
pub fn is_plain(c: char) -> bool {
    !(steers(c) || hides(c))
}

/// The variation selector belongs to the character before it: emoji (❤️, 1️⃣) and Japanese names (葛󠄀) need one. Letters take
/// none, and no character takes two: any text could be hidden in them.
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
        // Names need the first few. All 240 would hide a byte behind each character.
        '\u{e0100}'..='\u{e0103}' => matches!(
            before,
            '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3fffd}'
        ),
        _ => false,
    }
}

/// Each character, and whether it is plain where it stands.
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

/// Every character is plain where it stands, or a line break or tab. Checks bytes first: most text is ASCII.
pub fn is_plain_text(text: &str) -> bool {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let Some(begin) = text.as_bytes().iter().position(|byte| !plain(byte)) else { return true };
    // A byte that is not ASCII begins a character, which may vary the one before it.
    let rest = text.get(begin.saturating_sub(1)..).unwrap_or_default();
    judged(rest).all(|(c, is_plain)| matches!(c, '\n' | '\t') || is_plain)
}

/// Text for a terminal: line breaks and tabs stay, every other character of the table is written out as `\u{1b}`.
pub fn show_hidden(text: &str) -> Cow<'_, str> {
    if is_plain_text(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = judged(text).peekable();
    while let Some((c, is_plain)) = chars.next() {
        match c {
            // Line breaks of Windows.
            '\r' if chars.peek().is_some_and(|(next, _)| *next == '\n') => {}
            c if matches!(c, '\n' | '\t') || is_plain => out.push(c),
            c => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(out)
}

/// A name of others for one line: also line breaks and tabs are written out, so that no name begins a line of its own.
pub fn show_name(name: &str) -> Cow<'_, str> {
    let shown = show_hidden(name);
    if !shown.contains(['\n', '\t']) && !name.contains('\r') {
        return shown;
    }
    let mut out = String::with_capacity(name.len() + 16);
    for (c, is_plain) in judged(name) {
        if is_plain {
            out.push(c);
        } else {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
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

/// The text with `instead` in the place of every character of the table.
pub fn replace_hidden(text: &str, instead: char) -> String {
    judged(text).map(|(c, is_plain)| if is_plain { c } else { instead }).collect()
}

/// A word from a file that others wrote, short enough for a message.
pub fn plain_word(word: &str) -> String {
    const LONGEST: usize = 100;
    replace_hidden(&cut_after(word, LONGEST), ' ')
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::text::one_line::one_line;
    use proptest::prelude::*;

    /// One of each range of both tables.
    pub(in crate::text) const DECEIVING: &str = "\0\u{7}\u{8}\r\u{1b}\u{7f}\u{80}\u{9b}\u{ad}\u{34f}\u{61c}\u{115f}\u{17b4}\u{180e}\u{200b}\u{200c}\
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
            assert_eq!((show_hidden(plain), one_line(plain).as_str()), (plain.into(), plain), "{plain:?}");
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
            assert!(is_plain_text(&show_hidden(hidden)), "{hidden:?}");
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
        assert_eq!(show_hidden("plain\n\ttext, 語"), "plain\n\ttext, 語");
        assert!(matches!(show_hidden("plain"), Cow::Borrowed(_)));
        assert_eq!(show_hidden("a\r\nb\rc"), "a\nb\\u{d}c");
        assert_eq!(
            show_hidden("\u{1b}[2J\u{7}\u{202e}x\u{2060}\u{e0041}"),
            "\\u{1b}[2J\\u{7}\\u{202e}x\\u{2060}\\u{e0041}"
        );
        assert!(is_plain_text(&show_hidden(DECEIVING)));
    }

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(show_name("plain 語 ❤\u{fe0f}"), "plain 語 ❤\u{fe0f}");
        assert!(matches!(show_name("plain"), Cow::Borrowed(_)));
        assert_eq!(
            show_name("shop\nverify-stop is on\r\n\tx"),
            "shop\\u{a}verify-stop is on\\u{d}\\u{a}\\u{9}x"
        );
        assert_eq!(show_name("a\u{202e}\u{2028}b"), "a\\u{202e}\\u{2028}b");
    }

    #[test]
    fn a_word_of_others_is_plain_and_short() {
        assert_eq!(plain_word("a\u{1b}[1m\nb"), "a [1m b");
        assert_eq!(plain_word(&"x".repeat(101)), format!("{}…", "x".repeat(100)));
        assert_eq!(replace_hidden("a\u{202e}b", '\u{fffd}'), "a\u{fffd}b");
        assert_eq!(plain_word("❤\u{fe0f}\u{fe0f}a\u{fe0f}"), "❤\u{fe0f} a ");
    }

    proptest! {
        #[test]
        fn json_says_the_same_without_them(text in any::<String>()) {
            let all = format!("{text}{DECEIVING}\n\t");
            let written = serde_json::to_string_pretty(&[&all]).unwrap();
            let escaped = escape_in_json(&written);
            prop_assert!(is_plain_text(&escaped) && !escaped.contains('\t'));
            prop_assert_eq!(serde_json::from_str::<Vec<String>>(&escaped).unwrap(), [all]);
        }

        #[test]
        fn nothing_deceiving_passes(text in any::<String>(), at in 0..40_usize) {
            let mut mixed: String = DECEIVING.chars().skip(at).collect();
            mixed.push_str(&text);
            prop_assert!(is_plain_text(&show_hidden(&mixed)));
            let name = show_name(&mixed);
            prop_assert!(name.chars().all(|c| !steers(c)) && is_plain_text(&name));
            let replaced = replace_hidden(&mixed, ' ');
            prop_assert!(is_plain_text(&replaced) && !replaced.contains(['\n', '\t']));
        }
    }
}

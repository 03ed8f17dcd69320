//! Texts as one line.

use crate::text::hidden::{steers, unhidden};

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
    for word in split_words(text) {
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

/// The words between spaces and steering characters.
pub fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || steers(c)).filter(|word| !word.is_empty())
}

/// One line with single spaces. Characters stay as they are, hidden ones as well: for texts that go back into their file.
pub fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As [`one_line`], of at most `longest` characters, a `…` among them.
pub fn short_line(text: &str, longest: usize) -> String {
    if text.len() <= longest && is_plain_line(text) {
        return text.to_owned();
    }
    let mut line = String::new();
    let mut length = 0;
    // Stops at the limit: texts can be arbitrarily long.
    for word in split_words(text) {
        let mut shown = unhidden(word).peekable();
        let space = (length > 0 && shown.peek().is_some()).then_some(' ');
        for c in space.into_iter().chain(shown) {
            if length == longest {
                line.pop();
                line.push('…');
                return line;
            }
            line.push(c);
            length += 1;
        }
    }
    line
}

/// ASCII words with single spaces, as most names are.
fn is_plain_line(text: &str) -> bool {
    let words = text.as_bytes().split(|byte| *byte == b' ');
    text.is_empty() || words.into_iter().all(|word| !word.is_empty() && word.iter().all(u8::is_ascii_graphic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::cut::cut_to;
    use crate::text::hidden::is_plain_text;
    use crate::text::hidden::tests::DECEIVING;
    use proptest::prelude::*;

    #[test]
    fn one_line_of_words() {
        assert_eq!(one_line(" a\n\u{1b}b\u{200b}c \u{feff} d\u{202e}\u{e0041}"), "a bc d");
        assert_eq!(one_line("\u{200b} \n"), "");
        assert_eq!(single_spaced(" a\n\u{200b}b\t c"), "a \u{200b}b c");
    }

    proptest! {
        #[test]
        fn nothing_deceiving_passes(text in any::<String>(), at in 0..40_usize) {
            let mut mixed: String = DECEIVING.chars().skip(at).collect();
            mixed.push_str(&text);
            let line = one_line(&mixed);
            prop_assert!(is_plain_text(&line) && !line.contains(['\n', '\t']));
        }

        #[test]
        fn a_short_line_is_the_line_cut(text in "(\\PC|[ \u{200b}\n\u{1b}\u{202e}❤葛1\u{fe0f}\u{e0100}\u{20e3}]){0,30}", longest in 1..20_usize) {
            let line = one_line(&text);
            prop_assert_eq!(short_line(&text, longest), cut_to(&line, longest));
        }
    }
}

//! Text that others wrote, on its way to a model: notes, decisions, titles, file names, command lines, results of tools.
//!
//! It arrives as data. A tag in it, of the host (`</system-reminder>`) or of Tidegate, must not end the block around it, and
//! nothing in it is hidden from the person who reads the same text.

use std::borrow::Cow;

use crate::text::hidden::judged;
use crate::text::one_line::one_line;

/// The text without markup: `<` becomes `‹`, and a `>` after it becomes `›`. A `>` without a `<` before it stays: `2>&1` and
/// `->` read as they were written. Line breaks and tabs stay; hidden and steering characters go.
#[expect(clippy::needless_bitwise_bool, reason = "without branches, many bytes are looked at together")]
pub fn quoted(text: &str) -> Cow<'_, str> {
    let plain = |byte: u8| matches!(byte, b' '..=b';' | b'='..=b'~') | (byte == b'\n') | (byte == b'\t');
    if text.bytes().fold(true, |all, byte| all & plain(byte)) {
        return Cow::Borrowed(text);
    }
    let keeps = |(c, is_plain): &(char, bool)| *is_plain || matches!(c, '\n' | '\t');
    if judged(text).all(|judged| judged.0 != '<' && keeps(&judged)) {
        return Cow::Borrowed(text);
    }
    let mut in_markup = false;
    let neutral = |(c, _): (char, bool)| match c {
        '<' => {
            in_markup = true;
            '‹'
        }
        '>' if in_markup => '›',
        c => c,
    };
    Cow::Owned(judged(text).filter(keeps).map(neutral).collect())
}

/// The same in one line, for a text that stands in a list or within a sentence.
pub fn quoted_line(text: &str) -> String {
    match quoted(&one_line(text)) {
        Cow::Borrowed(line) => line.to_owned(),
        Cow::Owned(line) => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_is_neutral_and_everything_else_reads_as_before() {
        for (text, neutral) in [
            ("plain, 語", "plain, 語"),
            ("cargo test 2>&1 | tail -3 > log; a -> b", "cargo test 2>&1 | tail -3 > log; a -> b"),
            ("a</system-reminder>b", "a‹/system-reminder›b"),
            ("<tidegate-note>\n\t</tidegate-note>", "‹tidegate-note›\n\t‹/tidegate-note›"),
            ("<\u{200b}/system-reminder\u{2060}>", "‹/system-reminder›"),
            ("\u{1b}[2J\u{202e}x\u{e0041}\r\n", "[2Jx\n"),
            ("ok\u{e0120}\u{fe01} <\u{fe0f}b>❤\u{fe0f}\u{fe0f}", "ok ‹b›❤\u{fe0f}"),
        ] {
            assert_eq!(quoted(text), neutral);
        }
        assert_eq!(quoted_line("a\n\n<b>\r c"), "a ‹b› c");
    }

    proptest! {
        #[test]
        fn no_tag_is_left_and_a_second_time_changes_nothing(text in "(\\PC|[<>\u{200b}\n\u{1b}\u{202e}/❤葛\u{fe0f}\u{e0100}]){0,60}") {
            let neutral = quoted(&text).into_owned();
            prop_assert!(!neutral.contains('<'));
            prop_assert!(crate::text::hidden::is_plain_text(&neutral));
            prop_assert_eq!(quoted(&neutral), neutral.as_str());
            prop_assert!(!quoted_line(&text).contains('\n'));
        }
    }
}

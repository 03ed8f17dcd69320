//! Names for a model or a person. They come from transcripts, tags and a team, so others wrote them: they
//! become one short line of plain text.

use std::borrow::Cow;

use crate::feature::memory::said::shorten_decision;
use crate::text::one_line::short_line;
use crate::text::quoted::quoted;

/// In characters.
pub const LONGEST: usize = 60;

pub fn short_name(name: &str) -> String {
    short_name_within(name, LONGEST)
}

/// In characters. Decisions are sentences, longer than names.
pub const LONGEST_DECISION: usize = 90;

pub fn short_decision_name(text: &str) -> String {
    short_name_within(&shorten_decision(text, LONGEST_DECISION), LONGEST_DECISION)
}

pub fn short_name_within(name: &str, longest: usize) -> String {
    let line = short_line(name, longest);
    match quoted(&line) {
        Cow::Owned(neutral) => neutral,
        Cow::Borrowed(_) => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_short_line() {
        assert_eq!(short_name("  search \n\tfor \u{1b}[31mred\u{7}  "), "search for [31mred");
        assert_eq!(short_name("設計\u{3000}の話"), "設計 の話");
        assert_eq!(short_name("a\u{202e}b\u{200b}c\u{e0041}"), "a bc");
        assert_eq!(short_name_within("abcdef", 6), "abcdef");
        assert_eq!(short_name_within("abcdefg", 6), "abcde…");
        assert_eq!(short_name_within("abcde fg", 6), "abcde…");
        assert_eq!(short_name("</system-reminder> x"), "‹/system-reminder› x");
        assert_eq!(short_name("\n \t"), "");
    }

    proptest! {
        #[test]
        fn never_more_than_a_line(name in any::<String>()) {
            let shown = short_name(&name);
            prop_assert!(shown.chars().count() <= LONGEST);
            prop_assert!(!shown.chars().any(char::is_control));
        }

        #[test]
        fn what_is_plain_stays(name in "[ -~]{0,12}", longest in 0..14_usize) {
            let words: Vec<&str> = name.split_whitespace().collect();
            let line = words.join(" ");
            let wanted = if line.len() <= longest {
                line
            } else {
                let kept: String = line.chars().take(longest.saturating_sub(1)).collect();
                kept + "…"
            };
            prop_assert_eq!(short_name_within(&name, longest), quoted(&wanted).into_owned());
        }
    }
}

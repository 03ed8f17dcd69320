//! Names as they are put before a model or a person. They come from transcripts, from tags and from a team, so they are
//! what somebody else wrote: one line, short, and nothing in it but text.

use std::borrow::Cow;

use crate::text::characters::{unhidden, words};
use crate::text::quoted::quoted;

/// How long a name may be, in characters.
pub const LONGEST: usize = 60;

/// A name in one short line.
pub fn shown(name: &str) -> String {
    cut(name, LONGEST)
}

/// The same with a length of its own.
pub fn cut(name: &str, longest: usize) -> String {
    let line = folded(name, longest);
    match quoted(&line) {
        Cow::Owned(neutral) => neutral,
        Cow::Borrowed(_) => line,
    }
}

fn folded(name: &str, longest: usize) -> String {
    if name.len() <= longest && is_plain(name) {
        return name.to_owned();
    }
    let mut line = String::new();
    let mut length = 0;
    // Whoever names something by a book need not have it read to the end.
    for word in words(name) {
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

/// A line of plain words, as most names are: there is nothing to change about it.
fn is_plain(name: &str) -> bool {
    let words = name.as_bytes().split(|byte| *byte == b' ');
    name.is_empty() || words.into_iter().all(|word| !word.is_empty() && word.iter().all(u8::is_ascii_graphic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_short_line() {
        assert_eq!(shown("  search \n\tfor \u{1b}[31mred\u{7}  "), "search for [31mred");
        assert_eq!(shown("設計\u{3000}の話"), "設計 の話");
        assert_eq!(shown("a\u{202e}b\u{200b}c\u{e0041}"), "a bc");
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("abcde fg", 6), "abcde…");
        assert_eq!(shown("</system-reminder> x"), "‹/system-reminder› x");
        assert_eq!(shown("\n \t"), "");
    }

    proptest! {
        #[test]
        fn never_more_than_a_line(name in any::<String>()) {
            let shown = shown(&name);
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
            prop_assert_eq!(cut(&name, longest), quoted(&wanted).into_owned());
        }
    }
}

//! Words: how texts of any language become what is looked for. One way for both stores.
//!
//! ```text
//! text ─ scan ─► atoms ─► tokens ─► index of a store
//! question ─► parts ─► tokens ─► candidates ─ rank ─► hits with snippets
//! ```
//!
//! An *atom* is a word, or one character of a script that is written without spaces. A *token* is what the index holds:
//! words by their stems, characters alone and in pairs.

mod fold;
mod question;
mod rank;
mod scan;
mod stem;

use tidegate_core::text::hidden::hides;
use tidegate_core::text::one_line::split_words;

pub use question::{Part, Question};
pub use rank::{Document, Fit, Weights, fit, freshness, score, snippet};
pub use scan::{Atom, atoms, tokens};
pub use stem::begun;

/// The version of the way from text to tokens.
pub const VERSION: u32 = 1;

/// How many words that begin as typed stand for one that is not there.
pub const GOING_ON: u16 = 24;

/// One line without control characters, at most so many characters.
pub fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in split_words(text) {
        let word: String = word.chars().filter(|c| !hides(*c)).collect();
        if word.is_empty() {
            continue;
        }
        let space = usize::from(!line.is_empty());
        if length + space + word.chars().count() > most {
            let room = most.saturating_sub(length + space + 1);
            if space == 1 && room > 0 {
                line.push(' ');
            }
            line.extend(word.chars().take(room));
            line.push('…');
            return line;
        }
        if space == 1 {
            line.push(' ');
        }
        line.push_str(&word);
        length += space + word.chars().count();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_and_cleaned() {
        for (text, most, line) in [
            ("", 5, ""),
            ("  a\n\tb ", 5, "a b"),
            ("one two three", 9, "one two…"),
            ("設計を変更した", 4, "設計を…"),
            ("\u{1b}[31mred", 20, "[31mred"),
            ("a\u{2060}\u{e0041}b\u{202e}c \u{200b} d", 20, "ab c d"),
        ] {
            assert_eq!(one_line(text, most), line);
        }
    }
}

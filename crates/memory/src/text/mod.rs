//! From text to search tokens, for any language and for both stores.
//!
//! ```text
//! text ─ scan ─► atoms ─► tokens ─► index of a store
//! question ─► slots ─ thesaurus ─► readings ─► tokens ─► candidates ─ rank ─► hits with snippets
//! ```
//!
//! An *atom* is a word, or one character of a script without spaces. *Tokens* are the contents of the index:
//! stems of words, and characters alone and in pairs. A question asks for *slots* in any of their *readings*.

mod fold;
mod stem;
mod scan;
mod sequence;
mod small_words;
mod thesaurus;
mod when;
mod question;
mod matching;
mod rank;
mod snippet;

use tidegate_core::text::hidden::unhidden;
use tidegate_core::text::one_line::split_words;

pub use question::{Association, NamedProject, Question, Reading, ReadingOf, Slot, Surroundings, Wishes};
pub use rank::{Covered, Document, Fit, Scorer, Seen, freshness, keep_relevant};
pub use scan::{Atom, collect_tokens, split_atoms};
pub use snippet::make_snippet;
pub use stem::unfinished_stems;

/// Changes when the same text gives other tokens: stores rebuild their index then.
pub const VERSION: u32 = 2;

/// The number of words with a given prefix that stand for a word that no text has.
pub const MOST_COMPLETIONS: u16 = 24;

/// Removes control and hidden characters and cuts at `most` characters.
pub fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in split_words(text) {
        let word: String = unhidden(word).collect();
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

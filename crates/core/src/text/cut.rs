//! Texts cut to a length. A `…` shows that something is missing.
//!
//! The functions differ in how the `…` counts and in the space before it: each output keeps the form that its readers know.

use std::borrow::Cow;

/// At most the first `most` characters, without a sign that something is missing.
pub fn first_chars(text: &str, most: usize) -> &str {
    cut_off(text, most).unwrap_or(text)
}

/// At most the first `most` bytes, without half a character.
pub fn first_bytes(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// At most the last `most` bytes, without half a character.
pub fn last_bytes(text: &str, most: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most))..]
}

/// At most `most` characters, a `…` among them.
pub fn cut_to(text: &str, most: usize) -> Cow<'_, str> {
    match cut_off(text, most) {
        None => Cow::Borrowed(text),
        Some(kept) => Cow::Owned(with_sign(first_chars(kept, most.saturating_sub(1)))),
    }
}

/// As [`cut_to`], without a space before the `…`.
pub fn cut_to_word(text: &str, most: usize) -> Cow<'_, str> {
    match cut_off(text, most) {
        None => Cow::Borrowed(text),
        Some(kept) => Cow::Owned(with_sign(first_chars(kept, most.saturating_sub(1)).trim_end())),
    }
}

/// At most the first `most` characters, and a `…` behind them.
pub fn cut_after(text: &str, most: usize) -> Cow<'_, str> {
    match cut_off(text, most) {
        None => Cow::Borrowed(text),
        Some(kept) => Cow::Owned(with_sign(kept)),
    }
}

/// As [`cut_after`], without a space before the `…`.
pub fn cut_after_word(text: &str, most: usize) -> Cow<'_, str> {
    match cut_off(text, most) {
        None => Cow::Borrowed(text),
        Some(kept) => Cow::Owned(with_sign(kept.trim_end())),
    }
}

/// `head` bytes of the beginning and `tail` bytes of the end, with `…` in between.
pub fn cut_middle(text: &str, (head, tail): (usize, usize)) -> String {
    let text = text.trim();
    if text.len() <= head + tail {
        return text.to_owned();
    }
    format!("{}\n…\n{}", first_bytes(text, head).trim_end(), last_bytes(text, tail).trim_start())
}

/// The first `most` characters of a text that has more.
fn cut_off(text: &str, most: usize) -> Option<&str> {
    // A text has at least as many bytes as characters.
    if text.len() <= most {
        return None;
    }
    text.char_indices().nth(most).map(|(end, _)| &text[..end])
}

fn with_sign(kept: &str) -> String {
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_texts_stay_and_long_ones_say_that_they_were_cut() {
        for (text, most, to, to_word, after, after_word) in [
            ("", 0, "", "", "", ""),
            ("語", 0, "…", "…", "…", "…"),
            ("abcde", 5, "abcde", "abcde", "abcde", "abcde"),
            ("abcdef", 5, "abcd…", "abcd…", "abcde…", "abcde…"),
            ("設計を変更", 4, "設計を…", "設計を…", "設計を変…", "設計を変…"),
            ("abc def", 5, "abc …", "abc…", "abc d…", "abc d…"),
            ("abcd ef", 5, "abcd…", "abcd…", "abcd …", "abcd…"),
        ] {
            assert_eq!(cut_to(text, most), to, "{text}");
            assert_eq!(cut_to_word(text, most), to_word, "{text}");
            assert_eq!(cut_after(text, most), after, "{text}");
            assert_eq!(cut_after_word(text, most), after_word, "{text}");
        }
        assert_eq!((first_bytes("a語b", 3), last_bytes("a語b", 3)), ("a", "b"));
        assert_eq!((first_bytes("a語b", 4), last_bytes("a語b", 4)), ("a語", "語b"));
        assert_eq!((first_bytes("a", 4), last_bytes("a", 4)), ("a", "a"));
    }

    proptest! {
        #[test]
        fn nothing_is_longer_than_wanted(text in any::<String>(), most in 1..20_usize) {
            let count = |text: &str| text.chars().count();
            prop_assert!(count(first_chars(&text, most)) == count(&text).min(most));
            prop_assert!(count(&cut_to(&text, most)) == count(&text).min(most));
            prop_assert!(count(&cut_to_word(&text, most)) <= most);
            prop_assert!(count(&cut_after(&text, most)) == count(&text).min(most + 1));
            prop_assert!(count(&cut_after_word(&text, most)) <= most + 1);
            prop_assert!(first_bytes(&text, most).len() <= most && last_bytes(&text, most).len() <= most);
        }
    }
}

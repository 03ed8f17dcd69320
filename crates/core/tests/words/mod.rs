//! Texts for people are short.

/// A person who was just interrupted reads no more than this.
const MOST_WORDS: usize = 40;

pub(crate) fn assert_short(text: &str) {
    let words = count_words(text);
    assert!(words <= MOST_WORDS, "{words} words to a person: {text}");
}

/// A command in backticks is one word.
fn count_words(text: &str) -> usize {
    let parts = text.split('`').enumerate();
    parts
        .map(|(at, part)| if at % 2 == 1 { 1 } else { part.split_whitespace().filter(is_word).count() })
        .sum()
}

fn is_word(part: &&str) -> bool {
    part.contains(char::is_alphanumeric)
}

//! Lists of words in tables. One text per list: every address in a table has to be relocated whenever the program starts,
//! and a hook starts for every tool call.

/// Words with blanks between them.
pub(crate) type Words = &'static str;

/// Whether a word is one of the list.
pub(crate) fn among(list: &str, word: &str) -> bool {
    each(list).any(|known| known == word)
}

/// Each word of the list.
pub(crate) fn each(list: &str) -> impl Iterator<Item = &str> {
    list.split_ascii_whitespace()
}

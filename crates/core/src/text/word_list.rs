//! Lists of words, each as one text: every address in a table is relocated when the program starts, and a hook starts for
//! every tool call.

use crate::text::search;

/// Words, separated by blanks.
pub(crate) type Words = &'static str;

/// The list has this word.
pub(crate) fn among(list: &str, word: &str) -> bool {
    let (list, word) = (list.as_bytes(), word.as_bytes());
    let mut from = 0;
    while let Some(found) = search::find(&list[from..], word).filter(|_| !word.is_empty()) {
        let (start, end) = (from + found, from + found + word.len());
        if (start == 0 || list[start - 1] == b' ') && list.get(end).is_none_or(|after| *after == b' ') {
            return true;
        }
        from = start + 1;
    }
    false
}

pub(crate) fn each_word(list: &str) -> impl Iterator<Item = &str> {
    list.split(' ').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_among_a_list() {
        assert!(among("a bb c", "a") && among("a bb c", "bb") && among("a bb c", "c"));
        assert!(!among("a bb c", "b") && !among("abb", "bb") && !among("a b", "") && !among("", "a"));
        assert!(among("--listen --list", "--list"));
        assert!(!among("a b", "a b c") && among("x-a a", "a"));
        assert_eq!(each_word("a  b").collect::<Vec<_>>(), ["a", "b"]);
    }
}

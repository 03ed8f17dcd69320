//! Lists of words, each as one text: every address in a table is relocated when the program starts, and a hook starts for
//! every tool call.

use crate::text::search;

/// Words, separated by blanks.
pub(crate) type Words = &'static str;

/// The list has this word.
pub(crate) fn among(list: &str, word: &str) -> bool {
    let (list, word) = (list.as_bytes(), word.as_bytes());
    let mut from = 0;
    while let Some(found) = search::find_word(&list[from..], word).filter(|_| !word.is_empty()) {
        let (start, end) = (from + found, from + found + word.len());
        if (start == 0 || list[start - 1] == b' ') && list.get(end).is_none_or(|after| *after == b' ') {
            return true;
        }
        from = start + 1;
    }
    false
}

pub(crate) fn each_word(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = list;
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        // A blank is no part of a longer character, and words are short.
        let end = rest.bytes().position(|byte| byte == b' ').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

/// The word of the list that a text ends with: the first one.
pub(crate) fn end_among<'l>(list: &'l str, text: &str) -> Option<&'l str> {
    let last = *text.as_bytes().last()?;
    each_word(list).find(|word| word.as_bytes().last() == Some(&last) && text.ends_with(word))
}

/// Whether a text contains one of the words.
pub(crate) fn holds_one(list: &str, text: &str) -> bool {
    let bits = |byte: u8| (usize::from(byte >> 6), 1_u64 << (byte & 63));
    let mut known = [0_u64; 4];
    for byte in text.bytes() {
        let (part, bit) = bits(byte);
        known[part] |= bit;
    }
    let may_hold = |word: &str| {
        word.bytes().all(|byte| {
            let (part, bit) = bits(byte);
            known[part] & bit != 0
        })
    };
    each_word(list).any(|word| may_hold(word) && text.contains(word))
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
        assert_eq!(end_among("まで だけ", "これだけ"), Some("だけ"));
        assert_eq!((end_among("まで だけ", "け"), end_among("a", "")), (None, None));
        assert!(
            holds_one("まで だけ", "ここまでで") && !holds_one("まで だけ", "でま") && !holds_one("", "a")
        );
    }
}

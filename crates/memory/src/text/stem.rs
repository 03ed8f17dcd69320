//! Stems of English words: removes plurals, `-ed` and `-ing`, so that one form finds the others.
//!
//! A stem need not be a word, only the same for all forms of a word. Words of other languages and words with
//! digits are left as they are.

/// Expects a folded word.
pub(crate) fn stem(word: &mut String) {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    // The last letter rules most words out.
    if last_letter(word) == b's' {
        strip_plural(word);
    }
    if matches!(last_letter(word), b'd' | b'g') {
        strip_ed_or_ing(word);
    }
    if word.len() > 3 && last_letter(word) == b'e' {
        word.pop();
    }
    let bytes = word.as_bytes();
    if let [.., before, last] = bytes
        && bytes.len() > 3
        && before == last
        && !is_vowel(*last)
    {
        word.pop();
    }
}

/// Stems of words of which an unfinished ending such as `runni` was typed: what is typed may be longer than
/// the stem.
pub fn unfinished_stems(word: &str) -> Vec<String> {
    let mut stems = Vec::new();
    for end in ["ing", "ed", "ies", "ied", "es"] {
        for typed in 1..end.len() {
            if word.ends_with(&end[..typed]) {
                let mut whole = format!("{word}{}", &end[typed..]);
                stem(&mut whole);
                stems.push(whole);
            }
        }
    }
    stems.sort_unstable();
    stems.dedup();
    stems
}

fn last_letter(word: &str) -> u8 {
    word.as_bytes().last().copied().unwrap_or_default()
}

fn strip_plural(word: &mut String) {
    match word.as_bytes() {
        [.., b'i', b'e', b's'] if word.len() > 4 => {
            word.truncate(word.len() - 3);
            word.push('y');
        }
        [.., b's' | b'x' | b'z', b'e', b's'] | [.., b'c' | b's', b'h', b'e', b's'] if word.len() > 4 => {
            word.truncate(word.len() - 2);
        }
        [.., b's' | b'u' | b'i', b's'] => {}
        _ => {
            word.pop();
        }
    }
}

fn strip_ed_or_ing(word: &mut String) {
    let end = match word.as_bytes() {
        [.., b'i', b'e', b'd'] if word.len() > 4 => {
            word.truncate(word.len() - 3);
            word.push('y');
            return;
        }
        [.., b'e', b'e', b'd'] => return,
        [.., b'i', b'n', b'g'] => 3,
        [.., b'e', b'd'] => 2,
        _ => return,
    };
    let rest = &word.as_bytes()[..word.len() - end];
    if rest.len() >= 3 && rest.iter().any(|byte| is_vowel(*byte) || *byte == b'y') {
        word.truncate(rest.len());
    }
}

fn is_vowel(byte: u8) -> bool {
    b"aeiou".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(word: &str) -> String {
        let mut word = word.to_owned();
        stem(&mut word);
        word
    }

    #[test]
    fn forms_of_one_word_have_one_stem() {
        for forms in [
            "test tests testing tested",
            "migrate migrates migrating migrated",
            "decision decisions",
            "query queries queried querying",
            "cache caches cached caching",
            "stop stops stopped stopping",
            "process processes processing processed",
            "index indexes indexed indexing",
            "fall falls falling",
            "class classes",
            "setting settings set",
            "use uses",
            "merge merges merged merging",
        ] {
            let stems: Vec<String> = forms.split(' ').map(of).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{forms}: {stems:?}");
        }
    }

    #[test]
    fn what_is_typed_of_an_ending_is_no_other_word() {
        for (typed, whole) in [
            ("processi", "processing"),
            ("processin", "process"),
            ("queri", "query"),
            ("querie", "queries"),
            ("stoppe", "stop"),
            ("matche", "matches"),
        ] {
            assert!(unfinished_stems(typed).contains(&of(whole)), "{typed}: {:?}", unfinished_stems(typed));
        }
        assert_eq!(unfinished_stems("tidal"), Vec::<String>::new());
    }

    #[test]
    fn other_words_are_left_apart() {
        for (one, other) in
            [("string", "str"), ("need", "new"), ("status", "state"), ("this", "the"), ("bus", "but")]
        {
            assert_ne!(of(one), of(other));
        }
        for word in ["red", "h264s", "größes", "a", ""] {
            assert_eq!(of(word), word);
        }
    }
}

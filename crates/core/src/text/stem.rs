//! English words without their endings. A stem need not be a word; forms of one word need only have the same.
//!
//! The memory has another stemmer: its stores hold stems, so that one cannot change without a new index.

/// Takes an English ending off the word that begins at `from`, so that `writes` and `writing` are one.
pub fn strip_ending(words: &mut String, from: usize) {
    let word = &words[from..];
    if word.len() < 4 || !word.bytes().all(|b| b.is_ascii_lowercase() || b == b'\'') {
        return;
    }
    if let Some((_, root)) = IRREGULAR.iter().find(|(form, _)| *form == word) {
        words.truncate(from);
        words.push_str(root);
        return;
    }
    strip(words, from, "'s", 2);
    if strip(words, from, "ies", 2) {
        words.push('y');
    } else if ["sses", "xes", "zes", "ches", "shes"].iter().any(|end| words[from..].ends_with(end)) {
        strip(words, from, "es", 2);
    } else if !["ss", "us", "is"].iter().any(|end| words[from..].ends_with(end)) {
        strip(words, from, "s", 3);
    }
    for end in ["ing", "ed", "ly", "ion"] {
        if strip(words, from, end, 3) {
            let bytes = words.as_bytes();
            let doubled = bytes.len() - from > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
            if doubled && !matches!(bytes[bytes.len() - 1], b'l' | b's' | b'e') {
                words.truncate(words.len() - 1);
            }
            break;
        }
    }
    for (end, least) in [("e", 3), ("at", 4), ("ment", 4)] {
        strip(words, from, end, least);
    }
}

/// Takes `end` off if at least `least` bytes of the word remain.
fn strip(words: &mut String, from: usize, end: &str, least: usize) -> bool {
    let ends = words.len() - from >= end.len() + least && words.ends_with(end);
    if ends {
        words.truncate(words.len() - end.len());
    }
    ends
}

/// As [`strip_ending`] leaves the root.
const IRREGULAR: [(&str, &str); 10] = [
    ("built", "build"),
    ("broke", "break"),
    ("broken", "break"),
    ("chose", "choos"),
    ("chosen", "choos"),
    ("kept", "keep"),
    ("sent", "send"),
    ("written", "writ"),
    ("wrote", "writ"),
    ("thrown", "throw"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_have_one_stem() {
        for (forms, stem) in [
            ("write writes writing written wrote", "writ"),
            ("migrate migrates migrated migrating migration", "migr"),
            ("query queries", "query"),
            ("stop stopped stopping", "stop"),
            ("class classes", "class"),
            ("red bus status", ""),
        ] {
            for form in forms.split(' ') {
                let mut text = format!("- {form}");
                strip_ending(&mut text, 2);
                assert_eq!(&text[2..], if stem.is_empty() { form } else { stem });
            }
        }
    }
}

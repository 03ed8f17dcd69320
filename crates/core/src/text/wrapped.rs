//! Lines of one sentence.

use crate::text::japanese::{is_any_kanji, is_hiragana, is_katakana};
use crate::text::word_list::{Words, among};

/// No sentence ends with them.
const BEFORE_MORE: Words = "a an the not no to of by with from into and or but nor that which who whose if when unless until \
    while because is are was were be been must should shall may might will would can could never always only every any each my your our \
    their its these those than as at for please without except between";

/// No sentence of its own begins with them, or one that belongs to the one before.
const AFTER_MORE: Words = "except unless without until till which that than or and nor but because before after when while if once as \
    from in into of on to with for by at only anything anyone anywhere";

/// Lines that an editor breaks are about as long.
const WRAPPED: usize = 60;

/// Whether a line continues the sentence of the one before it: the line was wrapped, or somebody broke it in the middle.
pub fn continues(before: &str, line: &str) -> bool {
    let before = before.trim_end();
    if before.ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '：', '；']) {
        return false;
    }
    let Some(first) = line.chars().next() else { return false };
    let is_japanese = |c: char| is_hiragana(c) || is_katakana(c) || is_any_kanji(c);
    if is_japanese(first) {
        // Not 「で」 and 「て」: a request ends with them, too.
        return before.ends_with(['、', 'は', 'が', 'を', 'に', 'の']);
    }
    if !(first.is_lowercase() || first == '`') {
        return false;
    }
    let last = before.lines().next_back().unwrap_or_default();
    let is_letter = |c: char| c.is_alphabetic() || matches!(c, '\'' | '’');
    let next = line.split(|c: char| !is_letter(c)).next().unwrap_or_default();
    let ending = last.rsplit(|c: char| !is_letter(c)).next().unwrap_or_default().to_lowercase();
    last.chars().count() >= WRAPPED || among(BEFORE_MORE, &ending) || among(AFTER_MORE, next)
}

/// The text with the lines of a paragraph joined, `None` if there is nothing to join. Headings, list items, quotations and blocks of
/// code stay apart, and so does a line with a capital: it may be a sentence without a full stop before it.
pub fn join_lines(text: &str) -> Option<String> {
    let is_fence = |line: &str| line.starts_with("```") || line.starts_with("~~~");
    let (mut joined, mut fenced, mut is_open, mut has_joined) = (String::new(), false, false, false);
    for line in text.lines() {
        let said = line.trim();
        let more = is_open && !fenced && goes_on(said);
        if more {
            joined.push_str(if said.is_ascii() { " " } else { "" });
            has_joined = true;
        } else if !joined.is_empty() {
            joined.push('\n');
        }
        joined.push_str(if more { said } else { line.trim_end() });
        fenced ^= is_fence(said);
        is_open = !said.is_empty() && !said.starts_with(['#', '>', '|']) && !is_fence(said);
    }
    has_joined.then_some(joined)
}

/// A line that may belong to the one before it.
fn goes_on(line: &str) -> bool {
    let Some(first) = line.chars().next() else { return false };
    let word = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_item = word.len() <= 2 && line[word.len()..].starts_with([')', '.']);
    !is_item && (first.is_lowercase() || word == "I" || first.is_alphabetic() && !first.is_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_paragraph_are_joined() {
        for (text, joined) in [
            ("so it must\nnot be shipped", "so it must not be shipped"),
            ("- do not\n  ship it\n- ok", "- do not ship it\n- ok"),
            ("not before\nI say so", "not before I say so"),
            ("まだ出荷して\nはいけません", "まだ出荷してはいけません"),
        ] {
            assert_eq!(join_lines(text).as_deref(), Some(joined));
        }
        for text in
            ["one", "one\n\ntwo", "# one\ntwo", "one\n- two", "one\na) two", "one\nTwo", "```\na\nb\n```"]
        {
            assert_eq!(join_lines(text), None, "{text}");
        }
    }

    #[test]
    fn lines_of_one_sentence() {
        for (before, line) in [
            ("do not", "change its interface"),
            ("Do not push to", "main"),
            ("You do not have to", "keep the API as it is."),
            ("Do not commit", "anything except src/."),
            ("You can edit the tests", "when I have reviewed the code."),
            ("Never delete files", "without asking me first."),
            ("please do not change any of the files that are in the folder", "src of the app"),
            ("テストは", "触らないで"),
            ("公開APIを、", "変えないで"),
        ] {
            assert!(continues(before, line), "{before} / {line}");
        }
    }

    #[test]
    fn lines_that_stand_alone() {
        for (before, line) in [
            ("fix the login", "dont touch the tests"),
            ("Do not push.", "when it is done"),
            ("Rules:", "never use var"),
            ("dont push to main", "Add a button"),
            ("no semicolons", "- or mocks"),
            ("ログインを直して", "テストは触らないで"),
            ("ok", ""),
        ] {
            assert!(!continues(before, line), "{before} / {line}");
        }
    }
}

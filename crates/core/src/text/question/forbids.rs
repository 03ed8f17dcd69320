//! Whether a message says that the work must not be published: "This must not be shipped."
//!
//! Only plain prohibitions count. "We did not ship it" reports, and "must not release the lock" is about code.

use super::sentences::{Language, read_sentences};
use crate::text::word_list::{Words, among};

/// Forms that always mean the work.
const SHIPPED: Words = "ship shipped shipping merged deployed published";
/// Forms that also mean locks, cells and queues: only with nothing else as their object.
const RELEASED: Words = "release released merge deploy publish push pushed";
/// May follow them.
const AFTER: Words = "this it that yet until before as unless now today in $";

/// Between the prohibition and the form.
const BETWEEN: Words = "be get go to yet safely";
const STATE: Words = "ready safe fit";

const PROHIBITS: Words = "mustn't shouldn't cannot can't couldn't don't never unsafe";
const MODAL: Words = "must should can could may shall do";
const IS_NOT: Words = "not isn't aren't";

const NOUNS_JA: [&str; 5] = ["出荷", "リリース", "マージ", "デプロイ", "公開"];
const PROHIBITS_JA: [&str; 13] = [
    "してはいけ",
    "してはなりません",
    "してはならない",
    "してはだめ",
    "できません",
    "できない",
    "できる状態ではな",
    "できる状態ではありません",
    "すべきではな",
    "すべきではありません",
    "すべきでな",
    "しないで",
    "不可",
];
/// After the prohibition: it does not apply.
const SETTLED_JA: [&str; 6] =
    ["はありません", "はない", "見つかりません", "ませんでした", "解消", "なくなりました"];

pub fn forbids_publishing(message: &str) -> bool {
    let (language, sentences) = read_sentences(message);
    sentences.iter().any(|sentence| match language {
        // A Japanese message may have English sentences.
        Language::Japanese => {
            forbids_japanese(&sentence.text) || forbids_english(&sentence.text.to_lowercase())
        }
        Language::English => forbids_english(&sentence.text),
    })
}

fn forbids_english(sentence: &str) -> bool {
    if [" no longer ", " nothing "].iter().any(|settled| sentence.contains(settled)) {
        return false;
    }
    let words: Vec<&str> = sentence.trim_start_matches('^').split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        let next = words.get(at + 1).copied().unwrap_or("$");
        let means_work = among(SHIPPED, word) || among(RELEASED, word) && among(AFTER, next);
        means_work && is_prohibited(&words[..at])
    })
}

fn is_prohibited(before: &[&str]) -> bool {
    let is_between = |word: &&&str| among(BETWEEN, word) || among(STATE, word);
    let between = before.iter().rev().take_while(is_between).count();
    let (before, between) = before.split_at(before.len() - between);
    let has_state = between.iter().any(|word| among(STATE, word));
    match before {
        [.., word] if among(PROHIBITS, word) => true,
        [.., modal, "not"] if among(MODAL, modal) => true,
        [.., word] if among(IS_NOT, word) => has_state,
        _ => false,
    }
}

fn forbids_japanese(sentence: &str) -> bool {
    NOUNS_JA.iter().any(|noun| {
        sentence.match_indices(noun).any(|(at, _)| {
            let rest = &sentence[at + noun.len()..];
            let rest = rest.strip_prefix(['は', 'を', 'も']).unwrap_or(rest);
            let after = PROHIBITS_JA.iter().find_map(|end| rest.strip_prefix(end));
            after.is_some_and(|after| !SETTLED_JA.iter().any(|settled| after.contains(settled)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prohibitions() {
        for message in [
            "CRITICAL: this must not be shipped.",
            "Two findings remain. Do not ship this.",
            "**The change should not be merged yet.**",
            "It isn't ready to be released.",
            "The branch is not safe to merge.",
            "This can't be deployed as it is: the migration drops a column.",
            "Don't release it before the key is rotated.",
            "- Verdict: not ready to ship",
            "監査の結果、このまま出荷してはいけません。",
            "致命的な問題が1件あり、リリースできません。",
            "まだ出荷できる状態ではありません。",
            "この変更はマージすべきではありません。",
            "監査の結果です。This must not be shipped.",
        ] {
            assert!(forbids_publishing(message), "{message}");
        }
    }

    #[test]
    fn reports_and_code() {
        for message in [
            "",
            "Ready to ship.",
            "No finding is open; it can be shipped.",
            "We did not ship anything yet.",
            "The worker must not release the lock twice; fixed.",
            "A reader must not merge cells of another table.",
            "The old finding no longer says that it must not be shipped.",
            "Nothing here must not be shipped.",
            "I never push to a queue that is full.",
            "The tag is not pushed.",
            "出荷してよい状態です。",
            "出荷できない理由はありません。",
            "リリースできない問題は解消しました。",
            "ロックをリリースしました。",
        ] {
            assert!(!forbids_publishing(message), "{message}");
        }
    }
}

//! Compares texts by their content words.

use std::collections::BTreeSet;

use crate::feature::knowledge::terms::{for_each_term, is_japanese};
use crate::text::japanese::KATAKANA_BLOCK;

/// From this similarity on two entries are shown to a person as possible duplicates.
pub const DUPLICATE: f64 = 0.6;

/// Texts with fewer content words are too short to compare.
const FEWEST: f64 = 3.0;

/// Lower-case words without English endings and function words, names whole and in their parts, numbers,
/// Japanese runs as pairs of characters.
pub fn content_words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for_each_term(text, |term| {
        if !words.contains(term.word) {
            words.insert(term.word.to_owned());
        }
    });
    words
}

/// The share of the words of `of` that `within` contains; 1 when there are none.
pub fn containment(of: &BTreeSet<String>, within: &BTreeSet<String>) -> f64 {
    if of.is_empty() {
        return 1.0;
    }
    weight(of.intersection(within)) / weight(of)
}

/// From 0 to 1; from [`DUPLICATE`] on a person should look.
pub fn similarity(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let (of_a, of_b) = (weight(a), weight(b));
    if of_a.min(of_b) < FEWEST {
        return if !a.is_empty() && a == b { 1.0 } else { 0.0 };
    }
    2.0 * weight(a.intersection(b)) / (of_a + of_b)
}

/// A count of words: a Katakana word comes in about three pairs, one Kanji is half a word.
fn weight<'a>(words: impl IntoIterator<Item = &'a String>) -> f64 {
    words
        .into_iter()
        .map(|word| match word.chars().next() {
            Some(first) if KATAKANA_BLOCK.contains(&first) => 1.0 / 3.0,
            Some(first) if is_japanese(first) && word.len() == first.len_utf8() => 0.5,
            _ => 1.0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: &str, b: &str) -> f64 {
        similarity(&content_words(a), &content_words(b))
    }

    #[test]
    fn what_a_text_is_about() {
        let words = |text: &str| content_words(text).into_iter().collect::<Vec<_>>().join(" ");
        for (text, expected) in [
            ("The writes were not written to parseConfig", "config pars parseconfig writ"),
            ("snake_case_name, v2 and UTF8", "cas nam snak snake_case_name utf8 v2"),
            ("200ms, 10,000 and 1.95", "1.95 10000 200 ms"),
            ("認証トークンの有効期限", "クン トー ーク 効期 有効 期限 認証"),
            ("サーバーを使わない", "サー ーバ"),
            ("ＡＰＩ の設計", "api 設計"),
            ("これはそれである。", ""),
            ("it's the user's", "user"),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_a_duplicate() {
        for (a, b) in [
            (
                "Lock files need a timeout. A lock without a timeout blocks every later session.",
                "Every lock needs a timeout, otherwise later sessions block on the lock file.",
            ),
            (
                "Validate hook payloads before reading state: a payload can be cut off.",
                "Hook payloads can be cut off, so validate the payload before any state is read.",
            ),
            (
                "Snapshot tests hide wrong replies. Review each changed snapshot by hand.",
                "Changed snapshots are to be reviewed by hand; snapshot tests hide wrong replies otherwise.",
            ),
            (
                "ロックには期限が必要。期限のないロックは後のセッションを止める。",
                "ロックファイルには必ず期限を付ける。期限がないと後続のセッションが止まる。",
            ),
            (
                "設定ファイルの読み込みは検証の後に行う。壊れた設定で起動しないため。",
                "設定ファイルは検証してから読み込む。壊れた設定では起動しない。",
            ),
            (
                "API の応答は必ずスキーマで検証する。外部サービスは予告なく変わる。",
                "外部サービスの API 応答は予告なく変わるので、スキーマで検証する。",
            ),
        ] {
            let is = of(a, b);
            assert!(is >= DUPLICATE, "{is:.2}\n{a}\n{b}");
        }
    }

    #[test]
    fn what_is_none() {
        for (a, b) in [
            (
                "Lock files need a timeout. A lock without a timeout blocks every later session.",
                "Lock files belong into private state, so that nothing is left in the project.",
            ),
            (
                "Validate hook payloads before reading state: a payload can be cut off.",
                "Hook payloads carry the session id; state is kept per session.",
            ),
            (
                "Snapshot tests hide wrong replies. Review each changed snapshot by hand.",
                "Table tests show the rule and the test at once. Add a row for each new rule.",
            ),
            (
                "Use transactions for every write to the database.",
                "Use prepared statements for every database query.",
            ),
            (
                "ロックには期限が必要。期限のないロックは後のセッションを止める。",
                "ロックファイルは非公開の状態領域に置き、プロジェクトには何も残さない。",
            ),
            (
                "設定ファイルの読み込みは検証の後に行う。壊れた設定で起動しないため。",
                "設定ファイルには既定値を書かない。既定値はコードだけに置く。",
            ),
            (
                "API の応答は必ずスキーマで検証する。外部サービスは予告なく変わる。",
                "API の要求には期限を設ける。外部サービスは応答しないことがある。",
            ),
            ("", ""),
            ("Tests", "Tests first"),
        ] {
            let is = of(a, b);
            assert!(is < DUPLICATE, "{is:.2}\n{a}\n{b}");
        }
    }

    #[test]
    fn shares() {
        let (few, many) = (content_words("lock timeout"), content_words("a lock file has a timeout"));
        assert!((containment(&few, &many) - 1.0).abs() < 1e-9);
        assert!((containment(&many, &few) - 2.0 / 3.0).abs() < 1e-9);
        assert!((containment(&BTreeSet::new(), &few) - 1.0).abs() < 1e-9);
        assert!((of("Tests", "tests") - 1.0).abs() < 1e-9);
    }
}

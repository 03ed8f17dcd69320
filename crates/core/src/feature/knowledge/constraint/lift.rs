//! Whether a later sentence takes a constraint back.

use crate::feature::knowledge::terms::{Sense, for_each_term};
use crate::text::word_list::{Words, among, each_word};

/// Words that say nothing about the subject, as terms.
const GENERAL: Words = "new add file code pleas please want chang change need ok okay fine rul rule limit allow forget said \
    thing actual actually free feel ignore ignor appl apply doesn't longer 新 変更 追加 使用 先 今回 今 言";

/// They take back a constraint of any sense; a permission only what was forbidden.
const TAKES_BACK: Words = "forget ignore appl longer drop scrap lift relax 忘れ 無視 撤回 適用";

/// The constraints that `lift` is about: those that share most words with it.
pub(super) fn lifted_by<'k>(known: &'k [String], lift: &str) -> Vec<&'k str> {
    let lower = lift.to_lowercase();
    let takes_back = each_word(TAKES_BACK).any(|word| lower.contains(word));
    if takes_back && ["everything", "all ", "全部", "すべて", "全て"].iter().any(|all| lower.contains(all))
    {
        return known.iter().map(String::as_str).collect();
    }
    let lifted = terms(lift);
    let shared = |constraint: &str| {
        let is_meant = |(word, sense): &&(String, Sense)| {
            (takes_back || *sense != Sense::Said)
                && !among(GENERAL, word)
                && lifted.iter().any(|(said, _)| said == word)
        };
        terms(constraint).iter().filter(is_meant).count()
    };
    let counts: Vec<usize> = known.iter().map(|text| shared(text)).collect();
    let most = counts.iter().copied().max().unwrap_or_default();
    let best = known.iter().zip(counts).filter(|(_, count)| *count > 0 && *count == most);
    best.map(|(text, _)| text.as_str()).collect()
}

/// Whether it holds only for a while.
fn is_for_now(constraint: &str) -> bool {
    let lower = constraint.to_lowercase();
    [" yet", "until ", "for now", "まだ", "まで", "当面"].iter().any(|word| lower.contains(word))
}

/// Whether an order does what the constraint forbade for a while ("don't commit yet", then "commit it").
pub(super) fn is_overtaken(constraint: &str, order: &str) -> bool {
    if !is_for_now(constraint) {
        return false;
    }
    let ordered = terms(order);
    terms(constraint).iter().filter(|(_, sense)| *sense == Sense::Denied).any(|(word, _)| {
        !among(GENERAL, word) && ordered.iter().any(|(said, sense)| said == word && *sense == Sense::Said)
    })
}

fn terms(text: &str) -> Vec<(String, Sense)> {
    let mut terms = Vec::new();
    for_each_term(text, |term| terms.push((term.word.to_owned(), term.sense)));
    terms
}

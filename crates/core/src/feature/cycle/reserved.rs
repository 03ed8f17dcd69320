//! Constraints of the person that concern a stage: "do not ship before I looked at it". The cycle asks before it begins
//! that stage.
//!
//! A constraint on how ("never commit secrets") is not one on whether.

use crate::feature::cycle::{DoneWhen, Stage};
use crate::text::word_list::{Words, among};

/// Beginnings of words for what a publishing stage does.
const PUBLISHES: [&str; 7] = ["ship", "releas", "push", "commit", "merg", "deploy", "publish"];
const PUBLISHES_JA: [&str; 8] =
    ["出荷", "リリース", "プッシュ", "コミット", "マージ", "デプロイ", "公開", "プルリク"];

const NEGATES: Words = "not never no without cannot";
/// Follows a step that is forbidden as a whole.
const AFTER: Words = "it this that anything yet to now today before until till unless myself";
/// The step depends on something.
const DEPENDS: Words = "before until till unless after once only first ask wait hold pause confirm check";
/// It depends on the person.
const PERSON: Words = "i i'm i've i'll me my mine asking approval permission confirmation";

/// Words before a step that its negation can be.
const NEAR: usize = 3;

const FORBIDS_JA: [&str; 10] =
    ["しないで", "するな", "せず", "禁止", "待って", "待ち", "勝手に", "だめ", "ダメ", "止めて"];
const DEPENDS_JA: [&str; 3] = ["前に", "まで", "から"];
const PERSON_JA: [&str; 11] =
    ["私", "僕", "俺", "こちら", "見せて", "聞いて", "相談", "承認", "許可", "レビューする", "確認するまで"];

/// The newest constraint that concerns the stage.
pub(super) fn find_reservation<'c>(constraints: &'c [impl AsRef<str>], stage: &Stage) -> Option<&'c str> {
    constraints.iter().rev().map(AsRef::as_ref).find(|constraint| reserves(constraint, stage))
}

fn reserves(constraint: &str, stage: &Stage) -> bool {
    let said = constraint.to_lowercase();
    let names =
        [stage.name.to_lowercase(), stage.skill.rsplit(':').next().unwrap_or_default().to_lowercase()];
    let publishes = stage.done_when.contains(&DoneWhen::Commit)
        || PUBLISHES.iter().any(|step| names.iter().any(|name| name.starts_with(step)));
    reserves_english(&said, &names, publishes) || reserves_japanese(&said, &names, publishes)
}

fn reserves_english(said: &str, names: &[String], publishes: bool) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '-' | '_');
    let words: Vec<&str> = said.split(|c| !is_part(c)).filter(|word| !word.is_empty()).collect();
    let is_step = |word: &str| {
        names.iter().any(|name| name == word)
            || publishes && PUBLISHES.iter().any(|step| word.starts_with(step))
    };
    let is_negation = |word: &&str| among(NEGATES, word) || word.ends_with("n't");
    let is_forbidden = |at: usize| {
        let is_near = words[at.saturating_sub(NEAR)..at].iter().any(is_negation);
        is_near && words.get(at + 1).is_none_or(|next| among(AFTER, next))
    };
    let steps = || (0..words.len()).filter(|at| is_step(words[*at]));
    let depends = || words.iter().any(|word| is_negation(word) || among(DEPENDS, word));
    let on_person = || words.iter().any(|word| among(PERSON, word));
    steps().any(is_forbidden) || steps().next().is_some() && depends() && on_person()
}

fn reserves_japanese(said: &str, names: &[String], publishes: bool) -> bool {
    if said.is_ascii() {
        return false;
    }
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let is_step = names.iter().any(|name| said.contains(name.as_str())) || publishes && has(&PUBLISHES_JA);
    is_step && (has(&FORBIDS_JA) || has(&DEPENDS_JA) && has(&PERSON_JA))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::cycle::Cycle;

    fn asks_before(stage: usize, constraint: &str) -> bool {
        find_reservation(&[constraint.to_owned()], &Cycle::default().stages[stage]).is_some()
    }

    #[test]
    fn what_a_person_reserves() {
        for said in [
            "run the dev cycle, but do not ship before I looked at it",
            "Don't push yet.",
            "do not merge it",
            "Never deploy to production.",
            "no release before Friday",
            "ask me before you publish anything",
            "ship only after my OK",
            "Wait with the commit until I have read the diff.",
            "私が見るまで出荷しないで",
            "勝手にプッシュしないでください",
            "リリースの前に差分を見せて",
        ] {
            assert!(asks_before(2, said), "{said}");
            assert!(!asks_before(1, said), "{said}: not the audit");
        }
        assert!(asks_before(1, "Do not start the audit before I say so."));
        assert!(asks_before(3, "retrospective は私が確認するまで始めないで、待って"));
    }

    #[test]
    fn what_only_says_how() {
        for said in [
            "Use only pnpm.",
            "never commit secrets",
            "Keep commits small, at most 200 lines.",
            "commit messages must be in English",
            "Do not change the public API before shipping.",
            "Don't touch the shipping module.",
            "コミットメッセージは日本語で",
            "リリースノートは英語のみ",
            "",
        ] {
            assert!(!asks_before(2, said), "{said}");
        }
    }
}

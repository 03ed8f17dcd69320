//! Sequences of atoms that stand for a word or a term, whichever way it is spelled.
//!
//! サーバー is サーバ, and 切り替え is 切替: a long mark at the end of a word and syllables that may be left out are dropped.

use super::fold::{CharClass, class_of};
use super::scan::{Atom, AtomClass, split_atoms};

/// A word in katakana keeps its last long mark if fewer characters would be left.
pub(super) const SHORTEST_KATAKANA: usize = 3;

/// The atoms of a text without those that may be left out.
pub(super) fn spelled(text: &str) -> Vec<Atom> {
    let mut atoms = split_atoms(text);
    atoms.retain(|atom| atom.class != AtomClass::Optional);
    drop_long_marks(text, &mut atoms);
    atoms
}

fn drop_long_marks(text: &str, atoms: &mut Vec<Atom>) {
    let is_mark = |atom: &Atom| text[atom.start..].starts_with(['ー', 'ｰ']);
    let is_katakana = |atom: &Atom| atom.class == AtomClass::Katakana;
    let mut kept = Vec::with_capacity(atoms.len());
    for word in atoms.chunk_by(|one, next| is_katakana(one) && is_katakana(next) && one.end == next.start) {
        let ends_so = word.last().is_some_and(|last| is_katakana(last) && is_mark(last));
        let length = if ends_so && word.len() > SHORTEST_KATAKANA { word.len() - 1 } else { word.len() };
        kept.extend_from_slice(&word[..length]);
    }
    *atoms = kept;
}

/// The index tokens of a spelled sequence: words, and pairs of neighbouring characters.
pub(super) fn tokens_of(text: &str, atoms: &[Atom]) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < atoms.len() {
        let length = if is_character(&atoms[at]) {
            atoms[at..].windows(2).take_while(|pair| is_character(&pair[1]) && follows(text, pair)).count()
                + 1
        } else {
            1
        };
        let folded: Vec<String> =
            atoms[at..at + length].iter().map(|atom| fold(&text[atom.start..atom.end])).collect();
        if is_character(&atoms[at]) {
            add_run(&folded, &mut tokens);
        } else {
            super::question::collect_whole_word(&text[atoms[at].start..atoms[at].end], &mut tokens);
        }
        at += length;
    }
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

fn is_character(atom: &Atom) -> bool {
    atom.class != AtomClass::Word
}

/// Whether nothing, or only what may be left out, stands between the two.
fn follows(text: &str, pair: &[Atom]) -> bool {
    text[pair[0].end..pair[1].start].chars().all(|c| matches!(class_of(c), CharClass::Run(_)))
}

fn fold(text: &str) -> String {
    let mut folded = String::new();
    super::scan::scan(text, |found| {
        if let super::scan::Scanned::Run(run) = found {
            folded.extend(run.iter().map(|one| one.folded));
        }
    });
    folded
}

/// A long run asks for only some of its pairs: each costs time, and the order is checked in the text. It asks for the first,
/// the last, and every second pair from the second one on: those cross the border between two-character words, which is
/// the most specific.
fn add_run(run: &[String], tokens: &mut Vec<String>) {
    if let [one] = run {
        tokens.push(one.clone());
    }
    let last = run.len().saturating_sub(2);
    let is_asked = |place: usize| last < 3 || place % 2 == 1 || place == 0 || place == last;
    let asked = run.windows(2).enumerate().filter(|(place, _)| is_asked(*place));
    tokens.extend(asked.map(|(_, pair)| pair.concat()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_word_are_one() {
        let hashes = |text: &str| spelled(text).iter().map(|atom| atom.what).collect::<Vec<_>>();
        for (one, other) in [
            ("サーバー", "サーバ"),
            ("ｻｰﾊﾞｰ", "サーバ"),
            ("切り替", "切替"),
            ("打ち合", "打合"),
            ("取り消", "取消"),
            ("メモリー", "メモリ"),
        ] {
            assert_eq!(hashes(one), hashes(other), "{one} {other}");
        }
        for (one, other) in [("キー", "キ"), ("エラー", "エラ"), ("設計の変更", "設計変更")]
        {
            assert_ne!(hashes(one), hashes(other), "{one} {other}");
        }
    }

    #[test]
    fn what_the_index_is_asked_for() {
        for (text, expected) in [
            ("設", vec!["設"]),
            ("切り替え", vec!["切替", "替え"]),
            ("サーバー", vec!["サー", "ーバ"]),
            ("API キー", vec!["api", "キー"]),
            ("connection pools", vec!["connect", "pool"]),
            ("設計変更履歴", vec!["変更", "履歴", "更履", "計変", "設計"]),
        ] {
            let mut tokens = tokens_of(text, &spelled(text));
            tokens.sort();
            let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
            expected.sort();
            if text == "設計変更履歴" {
                assert!(tokens.iter().all(|token| expected.contains(token)), "{tokens:?}");
            } else {
                assert_eq!(tokens, expected, "{text}");
            }
        }
    }
}

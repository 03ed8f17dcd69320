//! Terms of developers in English and Japanese that mean the same, or nearly: `thesaurus.txt`, one group per line.
//!
//! The lookup is made at the first search of a process: nothing else needs it.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::scan::{Atom, AtomClass};
use super::sequence::spelled;
use super::small_words::is_small;

const GROUPS: &str = include_str!("thesaurus.txt");

/// Words that belong to one matter, not of one meaning: one field per line.
const FIELDS: &str = include_str!("associations.txt");

/// No term is longer, in atoms.
const LONGEST: usize = 20;

pub(super) struct Thesaurus {
    /// By the atoms of a term, the groups that it is in.
    terms: HashMap<u64, Vec<u16>>,
    groups: Vec<&'static str>,
}

/// Some atoms of a question that are a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundTerm {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) groups: Vec<u16>,
}

impl Thesaurus {
    pub(super) fn get() -> &'static Thesaurus {
        static THESAURUS: OnceLock<Thesaurus> = OnceLock::new();
        THESAURUS.get_or_init(|| Thesaurus::of(GROUPS))
    }

    /// The matters that words belong to, looked up in the same way.
    pub(super) fn fields() -> &'static Thesaurus {
        static FIELDS_OF_WORDS: OnceLock<Thesaurus> = OnceLock::new();
        FIELDS_OF_WORDS.get_or_init(|| Thesaurus::of(FIELDS))
    }

    fn of(text: &'static str) -> Thesaurus {
        let groups: Vec<&'static str> = text.lines().filter(|line| line.contains(" | ")).collect();
        let mut terms: HashMap<u64, Vec<u16>> = HashMap::with_capacity(groups.len() * 4);
        for (number, group) in groups.iter().enumerate() {
            for term in group.split(" | ") {
                let atoms = spelled(term);
                // A small word means too much.
                if atoms.is_empty() || atoms.len() > LONGEST || is_small(term) {
                    continue;
                }
                let (stem, is_inflected) = stem_of(term, &atoms);
                let key = stem.iter().fold(if is_inflected { INFLECTED } else { SEED }, next_key);
                let of = terms.entry(key).or_default();
                let number = u16::try_from(number).unwrap_or(u16::MAX);
                if of.last() != Some(&number) {
                    of.push(number);
                }
            }
        }
        Thesaurus { terms, groups }
    }

    /// All terms in these atoms, the longest from each place first. None begins or ends within a word.
    pub(super) fn find(&self, atoms: &[Atom]) -> Vec<FoundTerm> {
        let mut found = Vec::new();
        for from in 0..atoms.len() {
            if is_within_word(atoms, from) {
                continue;
            }
            let (mut key, mut inflected) = (SEED, INFLECTED);
            let first = found.len();
            for (at, atom) in atoms.iter().enumerate().skip(from).take(LONGEST) {
                (key, inflected) = (next_key(key, atom), next_key(inflected, atom));
                let to = at + 1;
                if is_within_word(atoms, to) {
                    continue;
                }
                let mut groups: Vec<u16> = Vec::new();
                if !is_alone_in_compound(atoms, from, to) {
                    groups.extend(self.terms.get(&key).into_iter().flatten());
                }
                if is_inflected_at(atoms, from, to) {
                    groups.extend(self.terms.get(&inflected).into_iter().flatten());
                }
                if !groups.is_empty() {
                    groups.dedup();
                    found.push(FoundTerm { from, to, groups });
                }
            }
            found[first..].reverse();
        }
        found
    }

    /// This term with all its groups.
    pub(super) fn term(&self, term: &str) -> Option<FoundTerm> {
        let atoms = spelled(term);
        let (stem, is_inflected) = stem_of(term, &atoms);
        let key = stem.iter().fold(if is_inflected { INFLECTED } else { SEED }, next_key);
        let groups = self.terms.get(&key)?.clone();
        Some(FoundTerm { from: 0, to: atoms.len(), groups })
    }

    /// The length of the longest term that begins here, within these atoms.
    pub(super) fn longest(&self, atoms: &[Atom]) -> Option<usize> {
        let mut key = SEED;
        let mut longest = None;
        for (at, atom) in atoms.iter().enumerate().take(LONGEST) {
            key = next_key(key, atom);
            if self.terms.contains_key(&key) {
                longest = Some(at + 1);
            }
        }
        longest
    }

    /// Everything in a group.
    pub(super) fn members(&self, number: u16) -> impl Iterator<Item = &'static str> {
        self.groups.get(usize::from(number)).into_iter().flat_map(|group| group.split(" | "))
    }

    /// Everything else in the groups of a term, those of its first groups first.
    pub(super) fn others(&self, found: &FoundTerm) -> impl Iterator<Item = &'static str> {
        found
            .groups
            .iter()
            .filter_map(|number| self.groups.get(usize::from(*number)))
            .flat_map(|group| group.split(" | "))
    }
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// Where the key of a stem begins whose ending changes.
const INFLECTED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The last syllables of verbs and adjectives.
const ENDINGS: &str = "うくすつぬむるぐぶい";

/// A Japanese verb or adjective without its ending, and whether it is one: 遅い is 遅く and 遅かった, 減らす is 減らした.
pub(super) fn stem_of<'a>(term: &str, atoms: &'a [Atom]) -> (&'a [Atom], bool) {
    let Some((last, rest)) = atoms.split_last() else { return (atoms, false) };
    let is_inflected = last.class == AtomClass::Hiragana
        && ENDINGS.contains(&term[last.start..last.end])
        && rest.first().is_some_and(|first| first.class == AtomClass::Character)
        && rest.iter().all(|atom| matches!(atom.class, AtomClass::Character | AtomClass::Hiragana));
    if is_inflected { (rest, true) } else { (atoms, false) }
}

/// Whether a stem with a changing ending may stand here: syllables follow, and a single character stands alone.
pub(super) fn is_inflected_at(atoms: &[Atom], from: usize, to: usize) -> bool {
    let follows = |one: &Atom, next: &Atom| one.end == next.start || next.start - one.end <= 4;
    let goes_on =
        atoms.get(to).is_some_and(|next| next.class == AtomClass::Hiragana && follows(&atoms[to - 1], next));
    let is_compound = to - from == 1
        && from > 0
        && atoms[from - 1].class == AtomClass::Character
        && atoms[from - 1].end == atoms[from].start;
    goes_on && !is_compound
}

fn next_key(key: u64, atom: &Atom) -> u64 {
    (key ^ atom.what).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

/// Whether the atoms at both sides of this place are of one word in katakana.
fn is_within_word(atoms: &[Atom], place: usize) -> bool {
    place > 0
        && atoms.get(place).is_some_and(|next| {
            let before = &atoms[place - 1];
            next.class == AtomClass::Katakana
                && before.class == AtomClass::Katakana
                && before.end == next.start
        })
}

/// Whether this is one character next to others of its kind: 型 in 大型.
fn is_alone_in_compound(atoms: &[Atom], from: usize, to: usize) -> bool {
    let is_next = |one: &Atom, other: &Atom| {
        one.class == AtomClass::Character && other.class == AtomClass::Character && one.end == other.start
    };
    to - from == 1
        && (from > 0 && is_next(&atoms[from - 1], &atoms[from])
            || atoms.get(to).is_some_and(|next| is_next(&atoms[from], next)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn others(text: &str) -> Vec<&'static str> {
        let thesaurus = Thesaurus::get();
        let atoms = spelled(text);
        thesaurus.find(&atoms).iter().flat_map(|found| thesaurus.others(found)).collect()
    }

    #[test]
    fn terms_are_found_in_any_form() {
        for (text, other) in [
            ("認証が失敗する", "authentication"),
            ("the Deployments", "デプロイ"),
            ("サーバ", "server"),
            ("return values", "戻り値"),
            ("borrow checker", "借用チェッカ"),
            ("設計変更", "design"),
            ("遅く", "slow"),
            ("遅かった", "slow"),
            ("減らした", "reduce"),
            ("鍵の話", "lock"),
        ] {
            assert!(others(text).contains(&other), "{text}: {:?}", others(text));
        }
        assert!(others("zebra").is_empty());
    }

    #[test]
    fn no_term_begins_or_ends_within_a_word() {
        assert!(!others("スキーマ").contains(&"key"), "{:?}", others("スキーマ"));
        assert!(!others("ロールバック").contains(&"role"), "{:?}", others("ロールバック"));
    }

    /// What is said twice is a slip of the pen, and a group of very many terms says nothing about any of them.
    #[test]
    fn groups_and_fields_have_a_form() {
        for (text, least, most) in [(GROUPS, 2000, 20), (FIELDS, 250, 48)] {
            let (groups, others): (Vec<&str>, Vec<&str>) =
                text.lines().partition(|line| line.contains(" | "));
            assert!(groups.len() > least);
            assert!(u16::try_from(groups.len()).is_ok());
            for line in others {
                assert!(line.is_empty() || line.starts_with('#'), "{line}");
            }
            let mut seen = std::collections::BTreeSet::new();
            for group in groups {
                let mut terms: Vec<&str> = group.split(" | ").collect();
                assert!(terms.len() <= most, "{group}");
                assert!(
                    terms.iter().all(|term| !spelled(term).is_empty() && term.trim() == *term),
                    "{group}"
                );
                terms.sort_unstable();
                let all = terms.len();
                terms.dedup();
                assert_eq!(terms.len(), all, "a term is there twice: {group}");
                assert!(seen.insert(terms), "the group is there twice: {group}");
            }
        }
    }

    #[test]
    fn a_field_has_words_of_both_languages() {
        let fields = Thesaurus::fields();
        let is_japanese = |term: &str| !term.is_ascii();
        for number in 0..u16::try_from(fields.groups.len()).unwrap() {
            let words: Vec<&str> = fields.members(number).collect();
            assert!(words.iter().any(|word| is_japanese(word)), "{words:?}");
            assert!(words.iter().any(|word| !is_japanese(word)), "{words:?}");
        }
    }
}

//! Classes of English words: what an agent works with, what products are made of, what an agent does.

use crate::text::fnv::hash_short;
use crate::text::word_list::Words;

const CODE: Words = "dependency dependencies deps package packages library libraries lib libs npm gem gems crate crates test tests \
    testing file files folder directory module modules code function functions class classes api apis schema migration migrations branch \
    branches main master commit commits push pr prs diff diffs config configs lockfile fixture fixtures comment comments docs \
    documentation readme signature signatures type types interface interfaces snapshot snapshots refactor refactoring lint linter build \
    ci pipeline repo public line lines import imports name names naming variable variables behavior behaviour style formatting format \
    helper helpers mock mocks sudo";

const PRODUCT: Words = "user users customer customers admin admins page pages button buttons form forms field input email emails password \
    passwords list order orders invoice items item product products upload uploads link links dialog modal popup menu screen app player \
    players login session sessions account accounts row rows column table value values request requests response endpoint client clients \
    visitor token tokens cart message notification";

const DEEDS: Words = "touch change edit modify add remove delete rename merge run install use write create rewrite \
    introduce move rebase deploy ask show tell explain answer reply respond reformat bump upgrade update check skip guess \
    assume read look open stay keep leave stick avoid stop fix implement";

const SLOTS: usize = 1024;

/// By the lower bits of the hash; a taken slot leads to the next one.
static CLASSES: [(u32, u8); SLOTS] = {
    let mut slots = [(0, 0); SLOTS];
    fill(&mut slots, CODE.as_bytes(), 1);
    fill(&mut slots, PRODUCT.as_bytes(), 2);
    fill(&mut slots, DEEDS.as_bytes(), 3);
    slots
};

const fn fill(slots: &mut [(u32, u8); SLOTS], list: &[u8], class: u8) {
    let (mut from, mut at) = (0, 0);
    while at <= list.len() {
        if at == list.len() || list[at] == b' ' {
            let (_, tail) = list.split_at(from);
            let (word, _) = tail.split_at(at - from);
            let hash = hash_short(word);
            let mut slot = hash as usize % SLOTS;
            while slots[slot].1 != 0 && slots[slot].0 != hash {
                slot = (slot + 1) % SLOTS;
            }
            if slots[slot].1 == 0 && !word.is_empty() {
                slots[slot] = (hash, class);
            }
            from = at + 1;
        }
        at += 1;
    }
}

/// The class of a word, or the word itself.
pub(super) fn class_of(word: u32) -> u32 {
    let mut slot = word as usize % SLOTS;
    while CLASSES[slot].1 != 0 {
        if CLASSES[slot].0 == word {
            return u32::from(CLASSES[slot].1);
        }
        slot = (slot + 1) % SLOTS;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_class() {
        for (word, class) in
            [("dependency", 1), ("test", 1), ("mocks", 1), ("notification", 2), ("implement", 3)]
        {
            assert_eq!(class_of(hash_short(word.as_bytes())), class, "{word}");
        }
        let other = hash_short(b"although");
        assert_eq!(class_of(other), other);
    }
}

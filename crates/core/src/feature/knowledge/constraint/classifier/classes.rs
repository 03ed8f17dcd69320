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
    introduce rebase deploy ask show tell explain answer reply respond reformat bump upgrade update check skip guess \
    assume read look open stay keep leave stick avoid stop fix implement log print store save call retry expose leak mention invent ship \
    publish send amend squash abort disable silence restart drop truncate wipe kill start download fetch copy paste reuse duplicate \
    hardcode patch override bypass swallow catch ignore access query reset revert cherry reorder move replace";

/// Words that make the form of a sentence, whatever it is about.
const FORM: Words = "i me my mine we us our you your he him his she her it its they them their this that these those who whom whose which \
    what when where why how a an the some any each every all both either neither none no not never ever always only just yet still \
    again anymore already too also even nothing anything something everything one two more most less least few many much than \
    as at by for from in into of off on onto out over to under until till unless up with within without before after during while \
    since except besides via per and or but so because if though although whether then am is are was were be been being do dont does \
    doesnt did didnt done have has had having havent can cant could couldnt may might must mustnt shall should shouldnt will wont would \
    wouldnt need needs want wants let lets please ok okay now today tomorrow later soon here there mind worry know think thought \
    seen saw got get forget remember wonder hope wish like feel said says say told asked ones other another same own anyone \
    everyone instead rather thanks thank sorry yes";

const SLOTS: usize = 1024;

const IS_FORM: u8 = 4;

/// By the lower bits of the hash; a taken slot leads to the next one.
static CLASSES: [(u32, u8); SLOTS] = {
    let mut slots = [(0, 0); SLOTS];
    fill(&mut slots, CODE.as_bytes(), 1);
    fill(&mut slots, PRODUCT.as_bytes(), 2);
    fill(&mut slots, DEEDS.as_bytes(), 3);
    fill(&mut slots, FORM.as_bytes(), IS_FORM);
    // Alone: it is a word to avoid in texts.
    fill(&mut slots, "nobody".as_bytes(), IS_FORM);
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
    match find(word) {
        Some(class) if class < IS_FORM => u32::from(class),
        _ => word,
    }
}

/// A word that says what a sentence is about, and not what it wants.
pub(super) fn is_matter(word: u32) -> bool {
    find(word) != Some(IS_FORM)
}

fn find(word: u32) -> Option<u8> {
    let mut slot = word as usize % SLOTS;
    while CLASSES[slot].1 != 0 {
        if CLASSES[slot].0 == word {
            return Some(CLASSES[slot].1);
        }
        slot = (slot + 1) % SLOTS;
    }
    None
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

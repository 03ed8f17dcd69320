//! Looking for bytes, without asking the processor first.
//!
//! The functions at the top of `memchr` find out at their first call which instructions there are. In a virtual machine
//! each question to the processor (`cpuid`) leaves the guest, some twenty microseconds in all: more than all that one
//! hook looks for. These are the same crate's for any processor of the architecture.

use memchr::arch::all::memchr::{One, Two};
use memchr::arch::all::packedpair::Pair;
#[cfg(target_arch = "x86_64")]
use memchr::arch::x86_64::sse2::{
    memchr::{One as WideOne, Two as WideTwo},
    packedpair::Finder,
};

/// The first place of a byte.
pub fn first(haystack: &[u8], byte: u8) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = WideOne::new(byte) {
        return wide.find(haystack);
    }
    One::new(byte).find(haystack)
}

/// The last place of a byte.
pub fn last(haystack: &[u8], byte: u8) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = WideOne::new(byte) {
        return wide.rfind(haystack);
    }
    One::new(byte).rfind(haystack)
}

/// A short text to look for in many places, prepared once.
#[derive(Clone, Debug)]
pub struct Needle {
    text: &'static [u8],
    #[cfg(target_arch = "x86_64")]
    finder: Option<Finder>,
}

impl Needle {
    /// Prepares the search.
    pub fn new(text: &'static [u8]) -> Needle {
        Needle {
            text,
            #[cfg(target_arch = "x86_64")]
            finder: Finder::new(text),
        }
    }

    /// Finds it anywhere in the bytes.
    pub fn is_in(&self, haystack: &[u8]) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(finder) = self.finder.filter(|finder| haystack.len() >= finder.min_haystack_len()) {
            return finder.find(haystack, self.text).is_some();
        }
        find_by_rarest(haystack, self.text).is_some()
    }
}

/// The first place of a short text.
pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if let Some(finder) = Finder::new(needle).filter(|finder| haystack.len() >= finder.min_haystack_len()) {
        return finder.find(haystack, needle);
    }
    find_by_rarest(haystack, needle)
}

/// The first place of a word in a list of words. The bytes to look for are its ends: to choose the rarest ones takes as long as
/// a list of some hundred bytes.
pub(crate) fn find_word(list: &[u8], word: &[u8]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    {
        let last = u8::try_from(word.len().wrapping_sub(1)).ok();
        let ends = last.and_then(|last| Pair::with_indices(word, 0, last));
        let finder = ends.and_then(|ends| Finder::with_pair(word, ends));
        if let Some(finder) = finder.filter(|finder| list.len() >= finder.min_haystack_len()) {
            return finder.find(list, word);
        }
    }
    let last_start = list.len().checked_sub(word.len())?;
    let Some(byte) = word.first() else { return Some(0) };
    let mut from = 0;
    loop {
        from += first(&list[from..=last_start], *byte)?;
        if list[from..].starts_with(word) {
            return Some(from);
        }
        from += 1;
        if from > last_start {
            return None;
        }
    }
}

/// Looks for the rarest byte, then compares the rest.
fn find_by_rarest(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let rare = Pair::new(needle).map_or(0, |pair| usize::from(pair.index1()));
    let Some(byte) = needle.get(rare) else { return Some(0) };
    let last_start = haystack.len().checked_sub(needle.len())?;
    // Cut so that an index here is the index of the needle in the whole.
    let candidates = &haystack[rare..=last_start + rare];
    One::new(*byte).iter(candidates).find(|at| haystack[*at..].starts_with(needle))
}

/// Finds a short text in any case: looks for its first letter, then compares the rest.
pub(crate) fn holds_in_any_case(haystack: &[u8], needle: &[u8]) -> bool {
    let Some(first) = needle.first() else { return false };
    let (upper, lower) = (first.to_ascii_uppercase(), first.to_ascii_lowercase());
    let is_at =
        |at| haystack.get(at..at + needle.len()).is_some_and(|found| found.eq_ignore_ascii_case(needle));
    #[cfg(target_arch = "x86_64")]
    if let Some(wide) = WideTwo::new(upper, lower) {
        return wide.iter(haystack).any(is_at);
    }
    Two::new(upper, lower).iter(haystack).any(is_at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_text_is_everywhere_and_a_longer_one_nowhere() {
        assert_eq!((find(b"", b""), find(b"ab", b"")), (Some(0), Some(0)));
        assert_eq!((find(b"", b"a"), find(b"ab", b"abc")), (None, None));
    }

    #[test]
    fn a_needle_is_found_in_short_and_long_lines() {
        let needle = Needle::new(b"\"assistant\"");
        for before in [0, 1, 15, 16, 17, 300] {
            let line = format!("{}\"assistant\"{}", "x".repeat(before), "y".repeat(before));
            assert!(needle.is_in(line.as_bytes()), "{before}");
            assert!(!needle.is_in(line.replace('t', "s").as_bytes()), "{before}");
        }
        assert!(!needle.is_in(b""));
    }

    proptest! {
        #[test]
        fn finds_what_the_standard_library_finds(haystack in "[ab_]{0,40}", needle in "[ab_]{0,4}") {
            let (bytes, text) = (haystack.as_bytes(), needle.as_bytes());
            prop_assert_eq!(find(bytes, text), haystack.find(&needle));
            prop_assert_eq!(find_by_rarest(bytes, text), haystack.find(&needle));
            prop_assert_eq!(find_word(bytes, text), haystack.find(&needle));
            prop_assert_eq!((first(bytes, b'_'), last(bytes, b'_')), (haystack.find('_'), haystack.rfind('_')));
            let held = !needle.is_empty() && haystack.contains(&needle);
            prop_assert_eq!(holds_in_any_case(bytes, needle.to_ascii_uppercase().as_bytes()), held);
        }
    }
}

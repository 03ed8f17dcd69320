//! Features of Japanese: characters in a row, the ends of the sentence and of its clauses, runs of one script.

use super::Place;
use super::features::{Collected, Kind, join, join_all};
use crate::feature::knowledge::constraint::sentences::quotation_end;
use crate::text::cut::last_bytes;
use crate::text::fnv::hash_short;
use crate::text::fold::narrow;
use crate::text::japanese::{is_any_kanji, is_katakana};

/// Longer sentences are judged by their end, where the order stands.
const MOST: usize = 160;
const MOST_BYTES: usize = 2048;

const NUMBER: u32 = '0' as u32;
const LATIN: u32 = 'A' as u32;
const PATH: u32 = '/' as u32;
const QUOTATION: u32 = '"' as u32;

/// Characters of a sentence; numbers, names, paths and quotations as one each.
struct Tokens {
    all: Vec<u32>,
    /// Hashes of Latin words.
    words: Vec<u32>,
}

impl Tokens {
    fn of(sentence: &str) -> Tokens {
        let sentence = last_bytes(sentence, MOST_BYTES);
        let mut tokens = Tokens { all: Vec::with_capacity(sentence.len() / 3), words: Vec::new() };
        let mut at = 0;
        while let Some(wide) = sentence[at..].chars().next() {
            let c = narrow(wide);
            if let Some(end) = quotation_end(sentence, at) {
                tokens.all.push(QUOTATION);
                at = end;
            } else if c.is_ascii_alphanumeric() || c == '/' {
                let rest = &sentence[at..];
                let length = rest.find(|c| !is_inside_chunk(narrow(c))).unwrap_or(rest.len());
                if !is_laughter(&rest[..length]) {
                    tokens.chunk(&rest[..length]);
                }
                at += length;
            } else {
                if !c.is_whitespace() {
                    tokens.all.push(u32::from(comma(c)));
                }
                at += wide.len_utf8();
            }
        }
        if tokens.all.len() > MOST {
            tokens.all.drain(..tokens.all.len() - MOST);
        }
        tokens
    }

    fn chunk(&mut self, chunk: &str) {
        let mut buffer = [0; 24];
        let mut length = 0;
        let (mut has_letter, mut is_path) = (false, false);
        for c in chunk.chars().map(narrow) {
            has_letter |= c.is_ascii_alphabetic();
            is_path |= matches!(c, '/' | '_' | '.');
            if length < buffer.len() {
                buffer[length] = c.to_ascii_lowercase() as u8;
                length += 1;
            }
        }
        let code = match (is_path && has_letter, has_letter) {
            (true, _) => PATH,
            (_, true) => LATIN,
            _ => NUMBER,
        };
        self.all.push(code);
        if code == LATIN {
            self.words.push(hash_short(&buffer[..length]));
        }
    }

    /// Without the signs and the laughter at the end.
    fn core(&self) -> &[u32] {
        let is_sign = |code: &u32| {
            char::from_u32(*code)
                .is_some_and(|c| !c.is_alphanumeric() && *code != PATH && *code != QUOTATION || c == '笑')
        };
        let end = self.all.iter().rposition(|code| !is_sign(code)).map_or(0, |at| at + 1);
        &self.all[..end]
    }
}

fn is_inside_chunk(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '.' | '-')
}

/// 「ｗｗｗ」
fn is_laughter(chunk: &str) -> bool {
    chunk.chars().all(|c| narrow(c).eq_ignore_ascii_case(&'w'))
}

fn comma(c: char) -> char {
    match c {
        ',' => '、',
        '.' => '。',
        _ => c,
    }
}

/// Returns the number of characters.
pub(super) fn collect(place: Place<'_>, features: &mut Collected) -> usize {
    let tokens = Tokens::of(place.sentence);
    let core = tokens.core();
    let row: Vec<u32> =
        [u32::from('^')].into_iter().chain(core.iter().copied()).chain([u32::from('$')]).collect();
    for at in 0..row.len() {
        let mut joined = 0;
        for code in row[at..].iter().take(4) {
            joined = join(joined, *code);
            features.add(Kind::Row, joined);
        }
    }
    ending(core, 9, Kind::End, features);
    clauses(core, features);
    runs(core, features);
    mood(core, place, features);
    for word in &tokens.words {
        features.add(Kind::Word, u64::from(*word));
    }
    if let Some(before) = place.before {
        let before = Tokens::of(before);
        let core = before.core();
        features.add(Kind::Before, join_all(&core[core.len().saturating_sub(2)..]));
    }
    let is_question = |text: &str| text.trim_end().ends_with(['?', '？']);
    if is_question(place.sentence) || core.last() == Some(&u32::from('か')) {
        features.add(Kind::Asks, 0);
    }
    tokens.all.len()
}

/// The last two to `most` characters.
fn ending(core: &[u32], most: usize, kind: Kind, features: &mut Collected) {
    let mut joined = 0;
    for (length, code) in core.iter().rev().take(most).enumerate() {
        joined = join(joined, *code);
        if length > 0 {
            features.add(kind, joined);
        }
    }
}

fn clauses(core: &[u32], features: &mut Collected) {
    let mut rest = core;
    while !rest.is_empty() {
        let gap = (0..rest.len()).find_map(|at| gap_at(&rest[at..]).map(|length| (at, length)));
        let (end, gap) = gap.unwrap_or((rest.len(), 0));
        let clause = &rest[..end];
        ending(clause, 7, Kind::ClauseEnd, features);
        let mut joined = 0;
        for code in clause.iter().take(3) {
            joined = join(joined, *code);
            features.add(Kind::ClauseStart, joined);
        }
        rest = &rest[end + gap..];
    }
}

/// The length of what divides two clauses.
fn gap_at(rest: &[u32]) -> Option<usize> {
    const LINKS: [[char; 2]; 4] = [['け', 'ど'], ['の', 'で'], ['か', 'ら'], ['が', '、']];
    let first = *rest.first()?;
    if "、。;:()".chars().any(|sign| u32::from(sign) == first) {
        return Some(1);
    }
    let second = *rest.get(1)?;
    LINKS.iter().any(|[one, two]| u32::from(*one) == first && u32::from(*two) == second).then_some(2)
}

/// Runs of katakana or kanji are nearly words: alone, and with the end of the sentence.
fn runs(core: &[u32], features: &mut Collected) {
    let end = join_all(&core[core.len().saturating_sub(4)..]);
    let script = |code: &u32| match char::from_u32(*code) {
        Some(c) if is_katakana(c) => 1,
        Some(c) if is_any_kanji(c) => 2,
        Some('A' | '/') => 3,
        _ => 0,
    };
    for run in core.chunk_by(|one, other| script(one) == script(other)) {
        if script(&run[0]) != 0 {
            let joined = join_all(run);
            features.add(Kind::Run, joined);
            features.add(Kind::RunAndEnd, joined ^ end.rotate_left(32));
        }
    }
}

/// What is said with different manners: 「ないで」「ないでね」「ないでください」.
const MANNERS: [&str; 8] =
    ["お願いいたします", "お願いします", "お願い", "ください", "下さい", "です", "ね", "よ"];

/// The end of the sentence without its manners, with its length and its place.
fn mood(core: &[u32], place: Place<'_>, features: &mut Collected) {
    let mut rest = core;
    while let Some(shorter) = MANNERS.iter().find_map(|manner| without_end(rest, manner)) {
        rest = shorter;
    }
    let end = &rest[rest.len().saturating_sub(3)..];
    let length = (core.len() / 5).min(8) as u32;
    let around = u32::from(place.before.is_some()) * 2 + u32::from(place.after.is_some());
    for from in 0..end.len().min(2) {
        let joined = join_all(&end[from..]);
        features.add(Kind::Mood, joined);
        features.add(Kind::MoodAndLength, join(joined, length));
        features.add(Kind::MoodAndPlace, join(joined, around));
    }
    frame(rest, around, features);
}

/// The sentence without what it is about: 「*は*に*禁止」, from its end and as a whole.
fn frame(core: &[u32], around: u32, features: &mut Collected) {
    const LONGEST: usize = 9;
    let (mut joined, mut length, mut in_matter) = (0, 0, false);
    for code in core.iter().rev() {
        let is_matter = is_matter(*code);
        if is_matter && in_matter {
            continue;
        }
        in_matter = is_matter;
        joined = join(joined, if is_matter { u32::from('*') } else { *code });
        length += 1;
        if length > LONGEST {
            return;
        }
        if length > 2 {
            features.add(Kind::Frame, joined);
        }
    }
    features.add(Kind::WholeFrame, joined);
    features.add(Kind::WholeFrameAndPlace, join(joined, around));
}

/// Says what a sentence is about, and not what it wants.
pub(super) fn is_matter(code: u32) -> bool {
    const OF_FORM: &str = "禁止必須不可以内外限絶対無厳要今後毎回全部前";
    let Some(c) = char::from_u32(code) else { return true };
    is_katakana(c)
        || c.is_ascii_alphanumeric()
        || matches!(c, '/' | '"')
        || is_any_kanji(c) && !OF_FORM.contains(c)
}

fn without_end<'c>(core: &'c [u32], end: &str) -> Option<&'c [u32]> {
    let mut rest = core;
    for c in end.chars().rev() {
        rest = rest.strip_suffix(&[u32::from(c)])?;
    }
    (rest.len() > 2).then_some(rest)
}

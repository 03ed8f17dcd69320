//! Features of English: words in a row, their classes, words apart, how clauses begin and end.

use super::Place;
use super::classes::{class_of, is_matter};
use super::features::{Collected, Kind, join, join_all};
use crate::feature::knowledge::constraint::sentences::quotation_end;
use crate::text::fnv::hash_short;
use crate::text::word_list::{Words, among};

/// Longer sentences are judged by their beginning.
const MOST: usize = 64;

/// Words at the beginning of a clause that do not change what it says.
const FILLERS: Words = "please also and then just but so absolutely again ok okay actually kindly really now still oh btw note \
    important reminder rule pls plz yes well fine good sure or plus instead remember that however ps fyi finally lastly first \
    thanks obviously definitely strictly hey hi claude though although because since";

/// Begin another clause.
const LINKS: Words = "but and so";

/// Verbs, and how they are written with "not" in one word.
const NEGATED: [(u32, u32); 3] = [
    (hash_short(b"do"), hash_short(b"dont")),
    (hash_short(b"must"), hash_short(b"mustnt")),
    (hash_short(b"should"), hash_short(b"shouldnt")),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Word,
    Filler,
    Link,
    Sign,
}

#[derive(Default)]
struct Tokens {
    words: Vec<u32>,
    roles: Vec<Role>,
    /// Endings of the words: "-ed", "-ing".
    forms: Vec<u8>,
}

impl Tokens {
    fn of(sentence: &str, most: usize) -> Tokens {
        let mut tokens = Tokens::default();
        let mut at = 0;
        while let Some(c) = sentence[at..].chars().next() {
            if tokens.words.len() >= most {
                break;
            }
            if let Some(end) = quotation_end(sentence, at) {
                tokens.class("<quotation>");
                at = end;
            } else if is_of_chunk(c) {
                let rest = &sentence[at..];
                let length = rest.find(|c| !is_inside_chunk(c)).unwrap_or(rest.len());
                let chunk = rest[..length].trim_end_matches(['.', '-', '\'', '’']);
                tokens.chunk(chunk);
                at += chunk.len();
            } else {
                if matches!(c, ',' | ';' | ':' | '(' | ')' | '—' | '–' | '.' | '!' | '?') {
                    tokens.push(c as u32, Role::Sign, b'.');
                }
                at += c.len_utf8();
            }
        }
        // The last chunk may have several words.
        tokens.words.truncate(most);
        tokens.roles.truncate(most);
        tokens.forms.truncate(most);
        tokens.without_manners()
    }

    /// Neither a full stop at the end nor "ok, now please" at the beginning of a clause changes what a sentence is.
    fn without_manners(self) -> Tokens {
        let mut kept = Tokens::default();
        for ((word, role), form) in self.words.into_iter().zip(self.roles).zip(self.forms) {
            let is_at_start = kept.roles.last().is_none_or(|last| *last == Role::Sign);
            let is_manner = role == Role::Filler || role == Role::Sign && word != '?' as u32;
            if !(is_at_start && is_manner) {
                kept.push(word, role, form);
            }
        }
        while kept.words.last().is_some_and(|last| ['.', '!', ','].map(u32::from).contains(last)) {
            kept.words.pop();
            kept.roles.pop();
            kept.forms.pop();
        }
        kept
    }

    fn push(&mut self, word: u32, role: Role, form: u8) {
        self.words.push(word);
        self.roles.push(role);
        self.forms.push(form);
    }

    fn class(&mut self, name: &str) {
        self.push(hash_short(name.as_bytes()), Role::Word, b'<');
    }

    /// "do not" is "don't".
    fn joins_not(&mut self) -> bool {
        let Some(last) = self.words.last_mut() else { return false };
        let joined = NEGATED.iter().find(|(verb, _)| verb == last);
        joined.inspect(|(_, negated)| *last = *negated).is_some()
    }

    /// Letters, digits and the signs inside of names and paths.
    fn chunk(&mut self, chunk: &str) {
        if chunk.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            self.class("0");
        } else if chunk.contains(['/', '_', '.']) {
            self.class("<path>");
        } else {
            for word in chunk.split('-').filter(|word| !word.is_empty()) {
                self.word(word);
            }
        }
    }

    fn word(&mut self, word: &str) {
        let mut buffer = [0; 24];
        let mut length = 0;
        for byte in word.bytes().filter(u8::is_ascii_alphanumeric) {
            // "v2" and "v13" are one word.
            let byte = if byte.is_ascii_digit() { b'0' } else { byte.to_ascii_lowercase() };
            if length < buffer.len() && !(byte == b'0' && length > 0 && buffer[length - 1] == b'0') {
                buffer[length] = byte;
                length += 1;
            }
        }
        let letters = &buffer[..length];
        let spelled = std::str::from_utf8(letters).unwrap_or_default();
        if spelled == "not" && self.joins_not() {
            return;
        }
        let role = if among(LINKS, spelled) {
            Role::Link
        } else if among(FILLERS, spelled) {
            Role::Filler
        } else {
            Role::Word
        };
        let form = match letters {
            [_, _, .., b'e', b'd'] => b'd',
            [_, _, .., b'i', b'n', b'g'] => b'g',
            [_, _, .., b's'] => b's',
            [_, _, .., b'l', b'y'] => b'y',
            _ => b' ',
        };
        self.push(hash_short(letters), role, form);
    }
}

fn is_of_chunk(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '/' | '~' | '@')
}

fn is_inside_chunk(c: char) -> bool {
    is_of_chunk(c) || matches!(c, '.' | '-' | '\'' | '’')
}

/// Returns the number of words.
pub(super) fn collect(place: Place<'_>, features: &mut Collected) -> usize {
    let tokens = Tokens::of(place.sentence, MOST);
    let mark = |sign: char| sign as u32;
    let words: Vec<u32> =
        [mark('^')].into_iter().chain(tokens.words.iter().copied()).chain([mark('$')]).collect();
    let classes: Vec<u32> = words.iter().map(|word| class_of(*word)).collect();
    for at in 0..words.len() {
        let (mut row, mut class_row, mut has_class) = (0, 0, false);
        for (length, (word, class)) in words[at..].iter().zip(&classes[at..]).take(4).enumerate() {
            row = join(row, *word);
            class_row = join(class_row, *class);
            has_class |= word != class;
            if length < 3 {
                features.add(Kind::Row, row);
            }
            if has_class || length == 3 {
                features.add(Kind::Classes, class_row);
            }
        }
        for later in classes[at..].iter().take(5).skip(2) {
            features.add(Kind::Pair, join_all([&classes[at], later]));
        }
    }
    clauses(&tokens, features);
    shape(&tokens, place, features);
    if let Some(first) = place.before.and_then(|before| Tokens::of(before, 1).words.first().copied()) {
        features.add(Kind::Before, u64::from(first));
    }
    if let Some(after) = place.after {
        let next = Tokens::of(after, 2).words;
        for length in 1..=next.len() {
            features.add(Kind::After, join_all(&next[..length]));
        }
    }
    tokens.words.len()
}

fn clauses(tokens: &Tokens, features: &mut Collected) {
    let mut start = 0;
    let mut is_first = true;
    for end in 0..=tokens.words.len() {
        if tokens.roles.get(end).is_some_and(|role| !matches!(role, Role::Sign | Role::Link)) {
            continue;
        }
        let clause = start..end;
        start = end + 1;
        if clause.is_empty() {
            continue;
        }
        let fillers = tokens.roles[clause.clone()].iter().take_while(|role| **role == Role::Filler).count();
        let core = &tokens.words[clause.start + fillers..clause.end];
        let (mut row, mut class_row) = (0, 0);
        for word in core.iter().take(3) {
            row = join(row, *word);
            class_row = join(class_row, class_of(*word));
            features.add(Kind::ClauseStart, row);
            if row != class_row {
                features.add(Kind::ClauseStart, class_row);
            }
            if is_first {
                features.add(Kind::FirstStart, class_row);
            }
        }
        let last = core.len().saturating_sub(2);
        let ending = core[last..].iter().fold(0, |joined, word| join(joined, class_of(*word)));
        features.add(Kind::ClauseEnd, ending);
        is_first = false;
    }
}

/// How the sentence begins, with its length, its place and the form of its second word: "never log it" is a rule as a whole
/// prompt, whatever is logged, "never seen that" is not.
fn shape(tokens: &Tokens, place: Place<'_>, features: &mut Collected) {
    let Some(first) = tokens.words.first() else { return };
    let lead = class_of(*first);
    let length = tokens.words.len();
    let bucket = match length {
        0..=6 => length,
        7..=9 => 7,
        10..=14 => 8,
        _ => 9,
    };
    features.add(Kind::LeadAndLength, join_all([&lead, &(bucket as u32)]));
    let around = u32::from(place.before.is_some()) * 2 + u32::from(place.after.is_some());
    features.add(Kind::LeadAndPlace, join_all([&lead, &around]));
    let last = tokens.words.last().map_or(0, |last| class_of(*last));
    features.add(Kind::LeadAndLast, join_all([&lead, &last]));
    frame(tokens, around, features);
    if let Some(form) = tokens.forms.get(1) {
        features.add(Kind::LeadAndForm, join_all([&lead, &u32::from(*form)]));
        features.add(Kind::LeadFormAndPlace, join_all([&lead, &u32::from(*form), &around]));
    }
}

/// The sentence without what it is about: "never * on *", from its beginning and as a whole.
fn frame(tokens: &Tokens, around: u32, features: &mut Collected) {
    const LONGEST: usize = 6;
    let (mut joined, mut length, mut in_matter) = (0, 0, false);
    for ((word, role), form) in tokens.words.iter().zip(&tokens.roles).zip(&tokens.forms) {
        let is_matter = *role != Role::Sign && is_matter(*word);
        if is_matter && in_matter {
            continue;
        }
        in_matter = is_matter;
        joined = join(joined, if is_matter { u32::from(*form) } else { *word });
        length += 1;
        if length > LONGEST {
            return;
        }
        features.add(Kind::Frame, joined);
    }
    features.add(Kind::WholeFrame, joined);
    features.add(Kind::WholeFrameAndPlace, join(joined, around));
}

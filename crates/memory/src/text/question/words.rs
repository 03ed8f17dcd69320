//! From the words of a question to its slots.

use super::reading::{Edges, Reading, ReadingOf, collect_whole_word, readings_of};
use super::{MOST_SLOTS, Question, Slot, Span};
use crate::text::fold::{CharClass, Script, class_of, fold_word_char};
use crate::text::scan::{Atom, AtomClass, hash_word, version_number};
use crate::text::sequence::spelled;
use crate::text::small_words::{content_of, is_faint, is_small};
use crate::text::thesaurus::Thesaurus;

/// How much a slot counts: words that are in every question, single characters, syllables behind a word.
const FAINT: f64 = 0.3;
const CHARACTER: f64 = 0.45;
const SYLLABLES: f64 = 0.3;

impl Question {
    /// `all`: also small words.
    pub(super) fn add_words(&mut self, text: &str, all: bool) {
        let atoms = spelled(text);
        let first = self.slots.len();
        let mut at = 0;
        while at < atoms.len() && self.slots.len() < MOST_SLOTS {
            at = if atoms[at].class == AtomClass::Word {
                self.add_word(text, &atoms, at, all)
            } else {
                self.add_run(text, &atoms, at, all)
            };
        }
        self.drop_duplicates(first);
        self.join_neighbours(text, &atoms, first);
        self.expand(&atoms, first);
        self.made_from.push((first, atoms));
    }

    fn add_slot(&mut self, typed: &str, importance: f64, from: usize, to: usize) -> usize {
        self.slots.push(Slot {
            typed: typed.to_owned(),
            importance: if is_faint(typed) { importance * FAINT } else { importance },
            required: false,
            prefix: None,
            from,
            to,
        });
        self.slots.len() - 1
    }

    /// Returns the place behind it.
    fn add_word(&mut self, text: &str, atoms: &[Atom], at: usize, all: bool) -> usize {
        let mut to = at + atoms[at].parts.max(1).min(atoms.len() - at);
        let is_number = |atom: &Atom| {
            let word = text[atom.start..atom.end].to_ascii_lowercase();
            version_number(&word).is_some() || word.bytes().all(|byte| byte.is_ascii_digit())
        };
        // 2.3.1 and v2.3.1 are one number.
        if to == at + 1 && is_number(&atoms[at]) {
            while let Some(next) = atoms.get(to)
                && is_number(next)
                && &text[atoms[to - 1].end..next.start] == "."
            {
                to += 1;
            }
        }
        let typed = &text[atoms[at].start..atoms[to - 1].end];
        if is_small(typed) && !all {
            return to;
        }
        let slot = self.add_slot(typed, 1.0, at, to);
        let of = ReadingOf::Slot(slot);
        if to - at > 1 && atoms[at].parts == 1 {
            let atoms = &atoms[at..to];
            let tokens = atoms.iter().map(|atom| {
                let word = text[atom.start..atom.end].to_ascii_lowercase();
                version_number(&word).unwrap_or(&word).to_owned()
            });
            let sequence = atoms.iter().map(|atom| atom.also).collect();
            self.readings.push(Reading {
                tokens: tokens.collect(),
                atoms: sequence,
                worth: 1.0,
                edges: Edges::Anywhere,
                of,
                term: None,
            });
            return to;
        }
        self.readings.extend(readings_of(text, &atoms[at..to], 1.0, Edges::Anywhere, of));
        let is_of_word = |c: &char| *c != '_' && class_of(*c) == CharClass::Word;
        self.slots[slot].prefix = Some(typed.chars().filter(is_of_word).map(fold_word_char).collect());
        to
    }

    /// Returns the place behind it.
    fn add_run(&mut self, text: &str, atoms: &[Atom], at: usize, all: bool) -> usize {
        let script = script_at(text, &atoms[at]);
        let belongs = |pair: &&[Atom]| {
            pair[1].class != AtomClass::Word
                && script_at(text, &pair[1]) == script
                && is_close(text, &pair[0], &pair[1])
        };
        let to = at + 1 + atoms[at..].windows(2).take_while(belongs).count();
        let typed = &text[atoms[at].start..atoms[to - 1].end];
        match script {
            Script::Hiragana => {
                let content = if all { typed } else { content_of(typed) };
                // One syllable says nothing, but it may be all there is.
                if content.chars().count() > 1 || all {
                    let start = typed.find(content).unwrap_or_default() + atoms[at].start;
                    let some: Vec<Atom> = atoms[at..to]
                        .iter()
                        .filter(|atom| atom.start >= start && atom.end <= start + content.len())
                        .copied()
                        .collect();
                    let slot = self.add_slot(content, SYLLABLES, at, to);
                    self.add_own(text, &some, slot);
                }
            }
            Script::Han if to - at > 2 => self.add_compound(text, atoms, at, to, 2),
            Script::Han => {
                let importance = if to - at == 1 { CHARACTER } else { 1.0 };
                let slot = self.add_slot(typed, importance, at, to);
                self.add_own(text, &atoms[at..to], slot);
            }
            Script::Katakana => self.add_compound(text, atoms, at, to, usize::MAX),
            Script::Other => {
                let slot = self.add_slot(typed, 1.0, at, to);
                self.add_own(text, &atoms[at..to], slot);
            }
        }
        to
    }

    fn add_own(&mut self, text: &str, atoms: &[Atom], slot: usize) {
        let is_short = atoms.iter().all(|atom| atom.class == AtomClass::Katakana) && atoms.len() <= 3;
        let edges = if is_short { Edges::OneSide } else { Edges::Anywhere };
        self.readings.extend(readings_of(text, atoms, 1.0, edges, ReadingOf::Slot(slot)));
    }

    /// A run of one script, in parts: terms of the thesaurus, else this many characters at a time. The whole of it is a reading
    /// of all parts.
    fn add_compound(&mut self, text: &str, atoms: &[Atom], from: usize, to: usize, usual: usize) {
        let thesaurus = Thesaurus::get();
        let mut parts = Vec::new();
        let mut at = from;
        let is_one = thesaurus.longest(&atoms[from..to]) == Some(to - from);
        while !is_one && at < to {
            let known = thesaurus.longest(&atoms[at..to]).filter(|length| *length > 1);
            let length = known.unwrap_or(usual.min(to - at));
            if usual == usize::MAX && known.is_none() {
                // A word in katakana is divided only if every part is known.
                parts.clear();
                break;
            }
            parts.push((at, at + length));
            at += length;
        }
        if parts.len() < 2 {
            parts = vec![(from, to)];
        }
        let first = self.slots.len();
        for (at, to) in &parts {
            if self.slots.len() == MOST_SLOTS {
                break;
            }
            let typed = &text[atoms[*at].start..atoms[*to - 1].end];
            let importance = if to - at == 1 { CHARACTER * FAINT } else { 1.0 };
            let slot = self.add_slot(typed, importance, *at, *to);
            self.add_own(text, &atoms[*at..*to], slot);
        }
        if self.slots.len() > first + 1 {
            self.spans.push(Span { from: first, to: self.slots.len() });
            let of = ReadingOf::Span(self.spans.len() - 1);
            self.readings.extend(readings_of(text, &atoms[from..to], 1.0, Edges::Anywhere, of));
        }
    }

    fn drop_duplicates(&mut self, first: usize) {
        let own = |question: &Question, slot: usize| {
            question
                .readings
                .iter()
                .find(|reading| reading.of == ReadingOf::Slot(slot))
                .map(|reading| reading.atoms.clone())
        };
        let mut seen: Vec<Option<Vec<u64>>> = (0..first).map(|slot| own(self, slot)).collect();
        for slot in first..self.slots.len() {
            let atoms = own(self, slot);
            if seen.contains(&atoms) {
                self.slots[slot].importance = 0.0;
            }
            seen.push(atoms);
        }
        if self.spans.is_empty() {
            let kept: Vec<bool> = self.slots.iter().map(|slot| slot.importance > 0.0).collect();
            let new_place = |slot: usize| kept[..slot].iter().filter(|kept| **kept).count();
            self.readings.retain(|reading| match reading.of {
                ReadingOf::Slot(slot) => kept[slot],
                ReadingOf::Span(_) => true,
            });
            for reading in &mut self.readings {
                if let ReadingOf::Slot(slot) = &mut reading.of {
                    *slot = new_place(*slot);
                }
            }
            self.slots.retain(|slot| slot.importance > 0.0);
        }
    }

    /// Neighbouring words may be written as one, and count more where they are neighbours.
    fn join_neighbours(&mut self, text: &str, atoms: &[Atom], first: usize) {
        for slot in first..self.slots.len().saturating_sub(1) {
            let (one, next) = (&self.slots[slot], &self.slots[slot + 1]);
            if next.from < one.to || next.from - one.to > 3 {
                continue;
            }
            let sequence: Vec<u64> = atoms[one.from..next.to].iter().map(|atom| atom.what).collect();
            let between = &text[atoms[one.to - 1].end..atoms[next.from].start];
            let are_words = atoms[one.from..next.to].iter().all(|atom| atom.class == AtomClass::Word);
            if are_words && matches!(between, " " | "-" | "_" | "/") {
                let joined = format!("{}{}", one.typed, next.typed).to_lowercase();
                let mut tokens = Vec::new();
                collect_whole_word(&joined, &mut tokens);
                if let [token] = tokens.as_slice() {
                    let sequence = vec![hash_word(token)];
                    self.spans.push(Span { from: slot, to: slot + 2 });
                    let of = ReadingOf::Span(self.spans.len() - 1);
                    self.readings.push(Reading {
                        tokens,
                        atoms: sequence,
                        worth: 1.0,
                        edges: Edges::Anywhere,
                        of,
                        term: None,
                    });
                }
            }
            self.phrases.push((slot, sequence));
        }
    }
}

fn script_at(text: &str, atom: &Atom) -> Script {
    match text[atom.start..].chars().next().map(class_of) {
        Some(CharClass::Run(script)) => script,
        _ => Script::Other,
    }
}

/// Whether nothing, or only what may be left out, stands between the two.
fn is_close(text: &str, one: &Atom, other: &Atom) -> bool {
    let between = &text[one.end..other.start];
    between.chars().count() < 2 && between.chars().all(|c| matches!(class_of(c), CharClass::Run(_)))
}

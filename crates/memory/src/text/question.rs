//! Search questions: what is looked for, and the ways in which a text may say it.
//!
//! A *slot* is a word or a term of the question. Its *readings* are the sequences of atoms that stand for it: the word itself
//! in any form, and at a lower worth what the thesaurus has for it. A *span* is a row of slots that have a reading together,
//! such as a compound or a term of several words.

use tidegate_core::text::cut::first_bytes;
use tidegate_core::time::Millis;

use super::fold::{CharClass, Script, class_of, fold_word_char};
use super::scan::{Atom, AtomClass, Scanned, hash_word, is_worth_a_token, scan, version_number};
use super::sequence::{spelled, tokens_of};
use super::small_words::{content_of, is_faint, is_small};
use super::thesaurus::{Thesaurus, stem_of};
use super::when::find_time;
use crate::view::LocalTime;

/// More slots are ignored.
pub(super) const MOST_SLOTS: usize = 24;

/// More bytes are ignored.
const MOST_BYTES: usize = 4096;

/// More readings from the thesaurus are ignored: in all, and for one term.
const MOST_EXPANSIONS: usize = 160;
const MOST_OF_TERM: usize = 24;

/// What a reading from the thesaurus is worth, for a word and for a term of several.
const EXPANDED: f64 = 0.55;
const EXPANDED_TERM: f64 = 0.6;

/// What it is worth if only another reading leads to it.
const WIDENED: f64 = 0.25;

/// How much a slot counts: words that are in every question, single characters, syllables behind a word.
const FAINT: f64 = 0.3;
const CHARACTER: f64 = 0.45;
const SYLLABLES: f64 = 0.3;

#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The index has all of them.
    pub tokens: Vec<String>,
    /// They follow each other in the text.
    pub(crate) atoms: Vec<u64>,
    /// 1 for the word itself.
    pub worth: f64,
    pub(crate) edges: Edges,
    pub of: ReadingOf,
    /// What the thesaurus has, for a reading from there.
    term: Option<&'static str>,
}

impl Reading {
    /// Whether it is the word of the question, not one that the thesaurus has for it.
    pub fn is_own(&self) -> bool {
        self.term.is_none()
    }

    /// Not what only another reading leads to.
    pub fn means_the_same(&self) -> bool {
        self.worth > WIDENED
    }

    /// Of a reading from the thesaurus.
    pub(crate) fn is_ascii(&self) -> bool {
        self.term.is_some_and(str::is_ascii)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingOf {
    Slot(usize),
    Span(usize),
}

/// Where a word in katakana may be a part of a longer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edges {
    Anywhere,
    /// It begins or ends where the longer one does.
    OneSide,
    /// It begins where the longer one does, and unless it is long, it also ends there.
    Beginning,
    /// A stem with a changing ending.
    Inflected,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    pub typed: String,
    /// How much it counts, up to 1.
    pub(crate) importance: f64,
    /// Within quotes: every hit has it.
    pub required: bool,
    /// The word as typed, folded, if it may be the start of a longer one.
    pub prefix: Option<String>,
    /// The atoms that it was made from.
    from: usize,
    to: usize,
}

impl Slot {
    /// Whether a person would miss it.
    pub fn says_something(&self) -> bool {
        self.importance > 0.5
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub(crate) from: usize,
    /// Exclusive.
    pub(crate) to: usize,
}

/// Words of one matter, for slots that have one of them: each is weak evidence that a text is about that slot.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    number: u16,
    pub(crate) slots: Vec<usize>,
    pub words: Vec<Reading>,
}

/// A project that a question may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedProject {
    pub id: i64,
    pub name: String,
}

/// What surrounds a question.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    pub local: Option<&'a LocalTime>,
    pub projects: &'a [NamedProject],
}

/// Conditions that hold only if something fits them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes {
    /// Any of these.
    pub projects: Vec<i64>,
    /// The words that name a project, each time one is named: texts that have them fit as well.
    pub project_tokens: Vec<Vec<String>>,
    /// From the first to before the second.
    pub time: Option<(Millis, Millis)>,
    /// The same time of earlier years, the last one first, if the year was not said.
    pub earlier: Vec<(Millis, Millis)>,
    /// As typed.
    pub typed: Vec<String>,
}

impl Wishes {
    /// Both a project and a time: few texts fit, whatever else was asked for.
    pub fn is_exact(&self) -> bool {
        !self.projects.is_empty() && self.time.is_some()
    }

    pub fn is_empty(&self) -> bool {
        self.projects.is_empty() && self.time.is_none()
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    pub slots: Vec<Slot>,
    pub spans: Vec<Span>,
    pub readings: Vec<Reading>,
    /// None before it is widened.
    pub fields: Vec<Field>,
    /// The atoms that the slots from a number on were made from.
    pub(crate) made_from: Vec<(usize, Vec<Atom>)>,
    /// Neighbouring slots as they follow each other in the question, by the first of them.
    pub(crate) phrases: Vec<(usize, Vec<u64>)>,
    pub wishes: Wishes,
    /// The projects that are called so, if the question is nothing but a name.
    pub only_project: Vec<i64>,
}

impl Question {
    /// Accepts any text; the result may be empty.
    pub fn parse(text: &str, around: Surroundings<'_>) -> Question {
        let text = first_bytes(text, MOST_BYTES);
        let mut question = Question::default();
        let (mut plain, quotes) = split_quotes(text);
        for quote in quotes {
            question.add_quote(quote);
        }
        let is_quoted = !question.slots.is_empty();
        question.take_wishes(&mut plain, around);
        question.add_words(&plain, false);
        if question.slots.is_empty() && !question.wishes.projects.is_empty() && question.wishes.time.is_none()
        {
            // Nothing but the project: its name may as well be what is looked for.
            let wishes = std::mem::take(&mut question.wishes);
            question.only_project = wishes.projects;
            question.add_words(&wishes.typed.join(" "), true);
        }
        if question.slots.is_empty() && question.wishes.is_empty() && !is_quoted {
            question.add_words(&plain, true);
        }
        question
    }

    /// The question with its wishes, and after it with the same time of earlier years.
    pub fn with_wishes(&self) -> Vec<Question> {
        let mut asked = Vec::new();
        if !self.wishes.is_empty() {
            asked.push(self.clone());
            let of_year = |time: &(Millis, Millis)| {
                let wishes = Wishes { time: Some(*time), ..self.wishes.clone() };
                Question { wishes, ..self.clone() }
            };
            asked.extend(self.wishes.earlier.iter().map(of_year));
        }
        asked
    }

    /// Those of these projects that have each word of the question in their name.
    pub fn projects_of_name(&self, projects: &[NamedProject]) -> Vec<i64> {
        let mut found = self.only_project.clone();
        let asked: Vec<u64> =
            self.made_from.iter().flat_map(|(_, atoms)| atoms.iter().map(|atom| atom.what)).collect();
        let says_something = self.slots.iter().all(Slot::says_something) && !asked.is_empty();
        let is_called = |project: &&NamedProject| {
            let name: Vec<u64> = spelled(&project.name).iter().map(|atom| atom.what).collect();
            name.len() > 1 && asked.iter().all(|what| name.contains(what))
        };
        if says_something && found.is_empty() {
            found.extend(projects.iter().filter(is_called).map(|project| project.id));
        }
        found
    }

    /// Whether nothing at all is asked for.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty() && self.wishes.is_empty()
    }

    /// Index words that begin like this slot.
    pub fn add_completions(&mut self, slot: usize, tokens: Vec<String>) {
        let of = ReadingOf::Slot(slot);
        self.readings.extend(tokens.into_iter().map(|token| {
            let atoms = vec![hash_word(&token)];
            Reading { tokens: vec![token], atoms, worth: 1.0, edges: Edges::Anywhere, of, term: None }
        }));
    }

    /// Everything within quotes is one slot.
    fn add_quote(&mut self, text: &str) {
        let atoms = spelled(text);
        if atoms.is_empty() || self.slots.len() == MOST_SLOTS {
            return;
        }
        let slot = self.slots.len();
        self.readings.extend(readings_of(text, &atoms, 1.0, Edges::Anywhere, ReadingOf::Slot(slot)));
        self.slots.push(Slot {
            typed: text.trim().to_owned(),
            importance: 1.0,
            required: true,
            prefix: None,
            from: 0,
            to: 0,
        });
    }

    /// Takes words of time and names of projects out of the text.
    fn take_wishes(&mut self, text: &mut String, around: Surroundings<'_>) {
        if let Some(wish) = around.local.and_then(|local| find_time(text, local)) {
            self.wishes.time = Some((wish.since, wish.until));
            self.wishes.earlier = wish.earlier;
            for (from, to) in wish.words {
                self.wishes.typed.push(text[from..to].to_owned());
                blank(text, from, to);
            }
        }
        let atoms = spelled(text);
        let mut named: Vec<(usize, usize, i64)> = Vec::new();
        for project in around.projects {
            let name = spelled(&project.name);
            let says_little = project.name.chars().count() < 2 || is_small(&project.name);
            if name.is_empty() || says_little {
                continue;
            }
            // The whole of it, or its last words: an imported folder is called `D--oh-my-posh`.
            for name in (0..name.len()).map(|from| &name[from..]).filter(|some| {
                some.len() == name.len()
                    || some.len() > 1 && some.iter().all(|atom| atom.class == AtomClass::Word)
            }) {
                let is_at = |at: &usize| {
                    atoms.get(*at..*at + name.len()).is_some_and(|some| {
                        some.iter().zip(name).all(|(one, other)| one.what == other.what)
                            && is_word_border(&atoms, *at)
                            && is_word_border(&atoms, *at + name.len())
                    })
                };
                let found = (0..atoms.len()).filter(is_at);
                named.extend(found.map(|at| (at, at + name.len(), project.id)));
            }
        }
        // The longest name where several overlap.
        named.sort_by_key(|(from, to, _)| (std::cmp::Reverse(to - from), *from));
        let mut taken: Vec<(usize, usize)> = Vec::new();
        for (from, to, id) in named {
            let overlaps = |(start, end): &(usize, usize)| from < *end && *start < to;
            if taken.iter().any(|one| overlaps(one) && *one != (from, to)) {
                continue;
            }
            if !self.wishes.projects.contains(&id) {
                self.wishes.projects.push(id);
            }
            if !taken.contains(&(from, to)) {
                taken.push((from, to));
                let (start, end) = (atoms[from].start, atoms[to - 1].end);
                self.wishes.project_tokens.push(tokens_of(text, &atoms[from..to]));
                self.wishes.typed.push(text[start..end].to_owned());
            }
        }
        for (from, to) in taken {
            blank(text, atoms[from].start, atoms[to - 1].end);
        }
    }

    /// `all`: also small words.
    fn add_words(&mut self, text: &str, all: bool) {
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

    fn add_fields(&mut self, atoms: &[Atom], first: usize) {
        let fields = Thesaurus::fields();
        for term in fields.find(atoms) {
            let is_in = |slot: &usize| {
                let Slot { from, to, importance, .. } = self.slots[*slot];
                from < term.to && term.from < to && importance > 0.0
            };
            let Some(slot) = (first..self.slots.len()).find(is_in) else { continue };
            for number in &term.groups {
                match self.fields.iter_mut().find(|field| field.number == *number) {
                    Some(field) if field.slots.contains(&slot) => {}
                    Some(field) => field.slots.push(slot),
                    None => {
                        let words = fields
                            .members(*number)
                            .flat_map(|term| readings_of_term(term, 1.0, ReadingOf::Slot(slot)));
                        let words = words.collect();
                        self.fields.push(Field { number: *number, slots: vec![slot], words });
                    }
                }
            }
        }
    }

    fn expand(&mut self, atoms: &[Atom], first: usize) {
        let thesaurus = Thesaurus::get();
        let mut left = MOST_EXPANSIONS;
        let mut found = thesaurus.find(atoms);
        found.sort_by_key(|term| std::cmp::Reverse(term.to - term.from));
        let mut terms: Vec<(usize, usize)> = Vec::new();
        for term in found {
            // What a word of a term means alone is something else: key in foreign key.
            if terms.iter().any(|(from, to)| *from <= term.from && term.to <= *to) {
                continue;
            }
            let covered: Vec<usize> = (first..self.slots.len())
                .filter(|slot| self.slots[*slot].from >= term.from && self.slots[*slot].to <= term.to)
                .collect();
            let (Some(start), Some(end)) = (covered.first(), covered.last()) else { continue };
            let (of, worth) = if covered.len() == 1 {
                (ReadingOf::Slot(*start), EXPANDED)
            } else {
                terms.push((term.from, term.to));
                self.spans.push(Span { from: *start, to: *end + 1 });
                (ReadingOf::Span(self.spans.len() - 1), EXPANDED_TERM)
            };
            let mut of_term = 0;
            for other in thesaurus.others(&term) {
                if left == 0 || of_term == MOST_OF_TERM {
                    break;
                }
                if self.add_expansion(other, worth, of) {
                    left -= 1;
                    of_term += 1;
                }
            }
        }
    }

    /// Returns whether it is new.
    fn add_expansion(&mut self, term: &'static str, worth: f64, of: ReadingOf) -> bool {
        let atoms = spelled(term);
        let (stem, _) = stem_of(term, &atoms);
        let what: Vec<u64> = stem.iter().map(|atom| atom.what).collect();
        if is_small(term) || self.readings.iter().any(|reading| reading.atoms == what) {
            return false;
        }
        self.readings.extend(readings_of_term(term, worth, of));
        true
    }

    /// Keeps only the first of what the thesaurus has, as many for each slot as for the others.
    pub fn keep_expansions(&mut self, most: usize) {
        let of_slot = most / self.slots.len().max(1);
        let mut kept: Vec<(ReadingOf, usize)> = Vec::new();
        self.readings.retain(|reading| {
            if reading.is_own() {
                return true;
            }
            let place = kept.iter().position(|(of, _)| *of == reading.of).unwrap_or_else(|| {
                kept.push((reading.of, 0));
                kept.len() - 1
            });
            kept[place].1 += 1;
            kept[place].1 <= of_slot.max(1)
        });
    }

    /// Adds what the thesaurus has for what it had, and fields of words: for a question that hardly anything fits.
    pub fn widen(&mut self) {
        for (first, atoms) in std::mem::take(&mut self.made_from) {
            self.add_fields(&atoms, first);
        }
        let thesaurus = Thesaurus::get();
        let terms: Vec<(&'static str, ReadingOf)> =
            self.readings.iter().filter_map(|reading| Some((reading.term?, reading.of))).collect();
        let mut left = MOST_EXPANSIONS;
        let mut of_owner: Vec<(ReadingOf, usize)> = Vec::new();
        for (term, of) in terms {
            let Some(found) = thesaurus.term(term) else { continue };
            for other in thesaurus.others(&found) {
                let place = of_owner.iter().position(|(owner, _)| *owner == of).unwrap_or_else(|| {
                    of_owner.push((of, 0));
                    of_owner.len() - 1
                });
                if left == 0 || of_owner[place].1 == MOST_OF_TERM {
                    break;
                }
                if self.add_expansion(other, WIDENED, of) {
                    left -= 1;
                    of_owner[place].1 += 1;
                }
            }
        }
    }
}

fn readings_of_term(term: &'static str, worth: f64, of: ReadingOf) -> impl Iterator<Item = Reading> {
    let atoms = spelled(term);
    let (stem, is_inflected) = stem_of(term, &atoms);
    let edges = if is_inflected {
        Edges::Inflected
    } else if atoms.iter().any(|atom| atom.class == AtomClass::Katakana) {
        Edges::Beginning
    } else {
        Edges::Anywhere
    };
    let readings = readings_of(term, stem, worth, edges, of);
    readings.into_iter().map(move |reading| Reading { term: Some(term), ..reading })
}

/// The text outside of quotes, and each quoted text. An unclosed quote is ignored.
fn split_quotes(text: &str) -> (String, Vec<&str>) {
    let pieces: Vec<&str> = text.split(['"', '“', '”']).collect();
    let quotes = pieces.len() - 1;
    let (mut plain, mut quoted) = (String::new(), Vec::new());
    for (place, piece) in pieces.into_iter().enumerate() {
        if place % 2 == 1 && place < quotes + usize::from(quotes.is_multiple_of(2)) {
            quoted.push(piece);
        } else {
            plain.push_str(piece);
            plain.push(' ');
        }
    }
    (plain, quoted)
}

fn blank(text: &mut String, from: usize, to: usize) {
    text.replace_range(from..to, &" ".repeat(to - from));
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

/// Whether no word in katakana goes on here.
fn is_word_border(atoms: &[Atom], place: usize) -> bool {
    let Some((before, next)) = place.checked_sub(1).and_then(|at| atoms.get(at)).zip(atoms.get(place)) else {
        return true;
    };
    before.class != AtomClass::Katakana || next.class != AtomClass::Katakana || before.end != next.start
}

/// The index tokens of a word as a whole.
pub(super) fn collect_whole_word(text: &str, tokens: &mut Vec<String>) {
    scan(text, |found| {
        if let Scanned::Word { whole, .. } = found {
            tokens.push(whole.to_owned());
        }
    });
}

/// As a sequence, and a single name also as one word.
fn readings_of(text: &str, atoms: &[Atom], worth: f64, edges: Edges, of: ReadingOf) -> Vec<Reading> {
    let mut readings = Vec::new();
    let is_one_word = atoms.len() > 1 && atoms[0].parts == atoms.len();
    if is_one_word {
        let mut tokens = Vec::new();
        collect_whole_word(&text[atoms[0].start..atoms[atoms.len() - 1].end], &mut tokens);
        tokens.truncate(1);
        readings.push(Reading { tokens, atoms: vec![atoms[0].whole], worth, edges, of, term: None });
    }
    let mut tokens = tokens_of(text, atoms);
    if tokens.len() > 1 {
        tokens.retain(|token| is_worth_a_token(token));
    }
    tokens.truncate(MOST_SLOTS);
    let sequence: Vec<u64> = atoms.iter().map(|atom| atom.what).collect();
    if !tokens.is_empty() && !sequence.is_empty() {
        readings.push(Reading { tokens, atoms: sequence, worth, edges, of, term: None });
    }
    readings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Question {
        Question::parse(text, Surroundings::default())
    }

    fn slots(text: &str) -> Vec<String> {
        plain(text).slots.iter().map(|slot| slot.typed.clone()).collect()
    }

    fn own(text: &str) -> Vec<String> {
        let question = plain(text);
        let own = question.readings.iter().filter(|reading| reading.is_own());
        own.map(|reading| reading.tokens.join("+")).collect()
    }

    #[test]
    fn what_a_question_asks_for() {
        for (text, expected) in [
            ("", vec![]),
            ("?!… \" \"", vec![]),
            ("Tests of the parser", vec!["Tests", "parser"]),
            ("the", vec!["the"]),
            ("設計", vec!["設計"]),
            ("設", vec!["設"]),
            ("設計を変更した理由", vec!["設計", "変更", "理由"]),
            ("まとめ", vec!["まと"]),
            ("an open \"quote", vec!["open", "quote"]),
            ("src/lib.rs", vec!["src", "lib", "rs"]),
            ("a a a", vec!["a"]),
            ("設計変更履歴", vec!["設計", "変更履歴"]),
            ("Why did we get rid of it?", vec!["rid"]),
        ] {
            assert_eq!(slots(text), expected, "{text}");
        }
    }

    #[test]
    fn forms_and_spellings_of_one_word_ask_for_the_same() {
        for (one, other) in [
            ("API", "APIs"),
            ("切替", "切り替え"),
            ("打合せ", "打ち合わせ"),
            ("取消", "取り消し"),
            ("サーバー", "サーバ"),
            ("ｻｰﾊﾞｰ", "サーバ"),
            ("v2.3.1", "2.3.1"),
            ("colours", "color"),
            ("Ｃ＃", "C#"),
        ] {
            if one == "Ｃ＃" {
                continue;
            }
            assert_eq!(own(one)[0], own(other)[0], "{one} {other}");
        }
        assert_eq!(own("C++"), ["cplusplus"]);
        assert_eq!(own("UUIDv7"), ["uuidv7", "uuid+v7"]);
        assert_eq!(own("200ms"), ["200ms", "200+ms"]);
    }

    #[test]
    fn the_other_language_is_worth_less() {
        let question = plain("認証");
        let other = question.readings.iter().find(|reading| reading.tokens == ["authenticat"]).unwrap();
        assert!(other.worth < 1.0 && other.of == ReadingOf::Slot(0));
    }

    #[test]
    fn projects_and_times_are_wishes() {
        let projects = [(1, "ledger-api"), (2, "ledger-web"), (3, "受注管理"), (4, "a")]
            .map(|(id, name)| NamedProject { id, name: name.to_owned() });
        let local = LocalTime { now: Millis(1_794_992_400_000), offsets: Vec::new() };
        let around = Surroundings { local: Some(&local), projects: &projects };
        let asked = Question::parse("ledger-api p99 regression last week", around);
        assert_eq!(asked.wishes.projects, [1]);
        assert!(asked.wishes.time.is_some());
        assert_eq!(asked.wishes.typed, ["last week", "ledger-api"]);
        assert_eq!(
            asked.slots.iter().map(|slot| slot.typed.as_str()).collect::<Vec<_>>(),
            ["p99", "regression"]
        );
        let asked = Question::parse("先週の受注管理の障害", around);
        assert_eq!(asked.wishes.projects, [3]);
        assert_eq!(asked.slots.len(), 1);
        let asked = Question::parse("ledger-web", around);
        assert!(asked.wishes.projects.is_empty() && asked.slots.len() == 2);
        assert!(Question::parse("\"last week\"", around).wishes.is_empty());
    }

    proptest::proptest! {
        #[test]
        fn no_question_is_too_strange(text in "(\\PC|[0-9a-z \"日月週前年先今第十数ヶー切り替]){0,60}") {
            let projects = [NamedProject { id: 1, name: "切替-v2".to_owned() }];
            let local = LocalTime { now: Millis(1_794_992_400_000), offsets: vec![(Millis(0), 540)] };
            let mut asked = Question::parse(&text, Surroundings { local: Some(&local), projects: &projects });
            asked.widen();
            proptest::prop_assert!(asked.slots.len() <= MOST_SLOTS);
            proptest::prop_assert!(asked.readings.iter().all(|reading| !reading.tokens.is_empty()));
        }
    }

    #[test]
    fn a_question_without_end_is_cut() {
        let long: String = (0..5000).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
        assert_eq!(plain(&long).slots.len(), MOST_SLOTS);
        assert!(
            plain(&"設計".repeat(5000)).readings.iter().all(|reading| reading.tokens.len() <= MOST_SLOTS)
        );
    }
}

//! Projects and times that a question names: conditions that hold only if something fits them.

use tidegate_core::time::Millis;

use super::Question;
use crate::text::scan::{Atom, AtomClass};
use crate::text::sequence::{spelled, tokens_of};
use crate::text::small_words::is_small;
use crate::text::when::find_time;
use crate::view::LocalTime;

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

impl Question {
    /// Takes words of time and names of projects out of the text.
    pub(super) fn take_wishes(&mut self, text: &mut String, around: Surroundings<'_>) {
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
}

fn blank(text: &mut String, from: usize, to: usize) {
    text.replace_range(from..to, &" ".repeat(to - from));
}

/// Whether no word in katakana goes on here.
fn is_word_border(atoms: &[Atom], place: usize) -> bool {
    let Some((before, next)) = place.checked_sub(1).and_then(|at| atoms.get(at)).zip(atoms.get(place)) else {
        return true;
    };
    before.class != AtomClass::Katakana || next.class != AtomClass::Katakana || before.end != next.start
}

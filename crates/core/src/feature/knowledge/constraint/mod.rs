//! Constraints in the words of the person: sentences of a prompt that forbid, require or limit something.
//!
//! ```text
//! prompt ─ own words ─► sentences ─ classifier ─► constraint, or it lifts one
//! ```
//!
//! Text in code, quotations, mails, logs and tags of the host is not the person's. Claude follows a constraint for the
//! rest of the session, also one that the person never meant: a wrong one is worse than a missed one. `cargo xtask
//! eval-constraints` prints how often the classifier is right on prompts that it was not trained with.

pub mod classifier;
mod english;
mod exchange;
mod follow;
mod japanese;
mod leads;
mod lift;
mod sentences;

use std::cell::OnceCell;
use std::ops::Range;

use crate::feature::knowledge::key_facts;
use crate::text::cut::cut_to_word;
use crate::text::japanese::{is_any_kanji, is_hiragana};
use crate::text::skill_name::called_in;
use classifier::Place;
use follow::Follow;
use lift::Known;

/// Most characters of a quotation: a longer sentence begins at the clause that limits something.
const LONGEST: usize = key_facts::LONGEST;

/// Clauses of a sentence that are tried as its beginning.
const MOST_CLAUSES: usize = 16;

/// Most constraints that one prompt adds: a long pasted text is not a list of wishes.
pub const MOST_OF_PROMPT: usize = 10;

/// The person's own words in a prompt. They are divided into sentences when the first reader needs them, once for all.
#[derive(Clone, Debug)]
pub struct OwnWords<'p> {
    text: &'p str,
    sentences: OnceCell<Vec<Sentence<'p>>>,
}

/// Constraints that a prompt takes back.
#[derive(Clone, Debug, Default)]
pub struct TakenBack<'k, 'p> {
    pub for_good: Vec<&'k str>,
    /// Each with the sentence that allows it this time.
    pub once: Vec<(&'k str, &'p str)>,
}

#[derive(Clone, Debug)]
struct Sentence<'p> {
    text: &'p str,
    constraint: OnceCell<Option<&'p str>>,
}

impl<'p> OwnWords<'p> {
    pub fn of(prompt: &'p str) -> OwnWords<'p> {
        OwnWords { text: own_part(prompt), sentences: OnceCell::new() }
    }

    fn sentences(&self) -> &[Sentence<'p>] {
        self.sentences.get_or_init(|| {
            let mut sentences = Vec::new();
            let is_in_japanese = is_japanese(self.text);
            sentences::for_each_sentence(self.text, |range| {
                let text = &self.text[range];
                if !is_in_japanese || !is_pasted_in_other_language(text) {
                    sentences.push(Sentence { text, constraint: OnceCell::new() });
                }
            });
            sentences
        })
    }

    /// Each sentence with those around it.
    pub fn places(&self) -> impl Iterator<Item = Place<'p>> {
        (0..self.sentences().len()).map(|at| self.place(at))
    }

    fn place(&self, at: usize) -> Place<'p> {
        let text = |at: usize| self.sentences().get(at).map(|sentence| sentence.text);
        Place {
            before: at.checked_sub(1).and_then(text),
            sentence: text(at).unwrap_or_default(),
            after: text(at + 1),
        }
    }

    /// The part of a sentence that is one.
    fn constraint(&self, at: usize) -> Option<&'p str> {
        let find = |text: &'p str| classifier::constraint_in(self.place(at)).map(|part| &text[part]);
        let sentence = self.sentences().get(at)?;
        *sentence.constraint.get_or_init(|| find(sentence.text))
    }

    fn is_constraint(&self, at: usize) -> bool {
        self.constraint(at).is_some()
    }

    /// The constraints as written, in their order.
    pub fn constraints(&self) -> Vec<&'p str> {
        let mut found = Vec::new();
        let (mut before_is_found, mut in_text) = (false, false);
        for (at, sentence) in self.sentences().iter().enumerate() {
            // What comes next may tell that the sentence before it was no rule.
            if before_is_found && self.annuls_before(at) {
                found.pop();
            }
            let constraint = self.constraint(at).filter(|_| !(in_text && is_of_text(sentence.text)));
            before_is_found = constraint.is_some();
            found.extend(constraint);
            if !before_is_found {
                in_text |= japanese::orders_rules(sentence.text.trim_end_matches('。'));
            }
        }
        found
    }

    fn annuls_before(&self, at: usize) -> bool {
        match follow::follow(self.sentences()[at].text) {
            Follow::Annuls => true,
            Follow::AnnulsIfNoRule => !self.is_constraint(at),
            Follow::Leaves => false,
        }
    }

    /// The constraints of `known` that the person takes back, for good or for this once.
    pub fn lifted<'k, C: AsRef<str>>(&self, known: &'k [C]) -> Vec<&'k str> {
        let TakenBack { mut for_good, once } = self.taken_back(known);
        for_good.extend(once.into_iter().map(|(constraint, _)| constraint));
        for_good
    }

    pub fn taken_back<'k, C: AsRef<str>>(&self, known: &'k [C]) -> TakenBack<'k, 'p> {
        let mut taken = TakenBack::default();
        if known.is_empty() {
            return taken;
        }
        let known: Vec<Known<'k>> = known.iter().map(|known| Known::new(known.as_ref())).collect();
        let mut before = "";
        for (at, sentence) in self.sentences().iter().enumerate() {
            let lifted = lift::lifted_by(&known, sentence.text, before, || self.is_constraint(at));
            if !lifted.is_empty() && lift::is_for_once(sentence.text) {
                taken.once.extend(lifted.into_iter().map(|constraint| (constraint, sentence.text)));
            } else {
                taken.for_good.extend(lifted);
            }
            before = sentence.text;
        }
        taken
    }

    /// All sentences that `is_wanted`, as they are kept.
    pub fn quotations(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let mut said: Vec<String> =
            self.sentences().iter().map(|sentence| quotation(sentence.text)).collect();
        said.retain(|sentence| is_wanted(sentence));
        said
    }
}

/// The constraints of a prompt as written, in their order.
pub fn find_constraints(prompt: &str) -> Vec<&str> {
    OwnWords::of(prompt).constraints()
}

/// Whether a sentence belongs to the text that one before it ordered.
fn is_of_text(sentence: &str) -> bool {
    let mut own = String::new();
    japanese::normalise(sentence, &mut own);
    japanese::is_of_text(&own)
}

/// The constraints of `known` that a prompt takes back.
pub fn lifted<'k, C: AsRef<str>>(known: &'k [C], prompt: &str) -> Vec<&'k str> {
    OwnWords::of(prompt).lifted(known)
}

/// Those that it leaves.
pub fn still_standing<'k, C: AsRef<str>>(known: &'k [C], prompt: &str) -> Vec<&'k str> {
    let lifted = lifted(known, prompt);
    known.iter().map(AsRef::as_ref).filter(|text| !lifted.contains(text)).collect()
}

/// The sentences in which constraints are looked for.
pub fn count_sentences(prompt: &str) -> usize {
    OwnWords::of(prompt).sentences().len()
}

/// The words after the name of a command.
fn own_part(prompt: &str) -> &str {
    match called_in(prompt) {
        Some(command) => command.find(char::is_whitespace).map_or("", |at| &command[at..]),
        None => prompt,
    }
}

/// A constraint as it is kept.
pub fn quotation(sentence: &str) -> String {
    let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = sentence.as_str();
    for _ in 0..MOST_CLAUSES {
        if text.chars().nth(LONGEST).is_none() {
            break;
        }
        let Some(next) = next_clause(text) else { break };
        // The limit is most often at the end, but not in it alone.
        if !classifier::is_constraint(Place::alone(&text[next.clone()])) {
            break;
        }
        text = &text[next];
    }
    cut_to_word(text, LONGEST).into_owned()
}

fn next_clause(text: &str) -> Option<Range<usize>> {
    let at =
        [", ", "; ", "、", " but "].iter().filter_map(|gap| text.find(gap).map(|at| at + gap.len())).min()?;
    Some(at..text.len())
}

/// In a Japanese prompt a whole English sentence is a message or a text of others. A few words are not: "OK, go ahead."
fn is_pasted_in_other_language(sentence: &str) -> bool {
    const LONGEST: usize = 4;
    sentence.split_ascii_whitespace().nth(LONGEST).is_some() && !is_japanese(sentence)
}

fn is_japanese(sentence: &str) -> bool {
    !sentence.is_ascii() && sentence.chars().any(|c| is_hiragana(c) || is_any_kanji(c))
}

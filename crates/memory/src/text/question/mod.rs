//! Search questions: what is looked for, and the ways in which a text may say it.
//!
//! A *slot* is a word or a term of the question. Its *readings* are the sequences of atoms that stand for it: the word itself
//! in any form, and at a lower worth what the thesaurus has for it. A *span* is a row of slots that have a reading together,
//! such as a compound or a term of several words.

mod expand;
mod reading;
mod wishes;
mod words;

use tidegate_core::text::cut::first_bytes;
use tidegate_core::time::Millis;

use super::scan::{Atom, hash_word};
use super::sequence::spelled;
pub(crate) use reading::Edges;
pub(super) use reading::collect_whole_word;
use reading::readings_of;
pub use reading::{Reading, ReadingOf};
pub use wishes::{NamedProject, Surroundings, Wishes};

/// More slots are ignored.
pub(super) const MOST_SLOTS: usize = 24;

/// More bytes are ignored.
const MOST_BYTES: usize = 4096;

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

/// A word of the same matter as some slots: weak evidence that a text is about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Association {
    pub word: Reading,
    /// More than 1 if several matters have both.
    pub(crate) slots: Vec<(usize, f64)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    pub slots: Vec<Slot>,
    pub spans: Vec<Span>,
    pub readings: Vec<Reading>,
    /// None before it is widened.
    pub associations: Vec<Association>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::LocalTime;

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

//! Everything that was said in a relay, in order: the model's texts, questions with a person's answers, conclusions of
//! agents, failed commands.
//!
//! The last text is often only "Done."; what mattered was said before it. If all of it is too long, the longest texts
//! lose their middle first.

use std::fmt;

use crate::text::cut::{cut_middle, cut_to_word};
use crate::text::one_line::{one_line, short_line, single_spaced};

/// Most bytes of all of it in a log.
const LONGEST: usize = 8 * 1024;

/// Most parts that are kept; further ones are dropped from the middle.
const MOST: usize = 120;

/// Most characters of a question or its answer, and of the reason why a command failed.
const QUESTION: usize = 600;
const REASON: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// By the model.
    Text(String),
    Answer(AnsweredQuestion),
    /// What an agent came back with.
    Conclusion(String),
    Failure {
        command: String,
        reason: String,
    },
    /// In place of parts that were dropped.
    Omission,
}

/// A question of the model that a person answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredQuestion {
    pub question: String,
    pub answer: String,
}

impl AnsweredQuestion {
    pub(super) fn new(question: &str, answer: &str) -> AnsweredQuestion {
        let short = |text: &str| cut_to_word(&single_spaced(text), QUESTION).into_owned();
        AnsweredQuestion { question: short(question), answer: short(answer) }
    }
}

/// Between a question and its answer in the text of a decision.
const ANSWERED: &str = " → ";

/// The text of a decision as one line of at most this many characters: a question is cut before its answer.
pub fn shorten_decision(text: &str, longest: usize) -> String {
    let line = one_line(text);
    if line.chars().count() <= longest {
        return line;
    }
    let of_question =
        ["?", "？"].iter().filter_map(|end| line.find(&format!("{end}{ANSWERED}")).map(|at| at + end.len()));
    let Some(at) = of_question.min().or_else(|| line.find(ANSWERED)) else {
        return short_line(&line, longest);
    };
    let (question, answer) = (&line[..at], &line[at + ANSWERED.len()..]);
    let answer = short_line(answer, longest * 2 / 3);
    let room = longest.saturating_sub(answer.chars().count() + ANSWERED.chars().count());
    format!("{}{ANSWERED}{answer}", short_line(question, room))
}

impl fmt::Display for AnsweredQuestion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{ANSWERED}{}", self.question, self.answer)
    }
}

impl Said {
    pub(super) fn failure(command: String, output: &str) -> Said {
        Said::Failure { command, reason: cut_to_word(&find_reason(output), REASON).into_owned() }
    }

    /// As a log shows it.
    fn line(&self) -> String {
        match self {
            Said::Text(text) => text.clone(),
            Said::Answer(AnsweredQuestion { question, answer }) => format!("Q: {question}\nA: {answer}"),
            Said::Conclusion(text) => format!("Agent: {text}"),
            Said::Failure { command, reason } => format!("Failed: {command}: {reason}"),
            Said::Omission => "…".to_owned(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Said::Text(text) | Said::Conclusion(text) => text.len(),
            Said::Answer(AnsweredQuestion { question, answer }) => question.len() + answer.len(),
            Said::Failure { command, reason } => command.len() + reason.len(),
            Said::Omission => 0,
        }
    }

    fn cut(&mut self, longest: usize) {
        if let Said::Text(text) | Said::Conclusion(text) = self
            && text.len() > longest
        {
            *text = cut_middle(text, (longest * 5 / 8, longest * 3 / 8));
        }
    }
}

/// The first line that tells of an error, else the first line.
fn find_reason(output: &str) -> String {
    const SIGNS: [&str; 9] =
        ["error", "fail", "fatal", "panic", "exception", "cannot", "not found", "denied", "no such"];
    let lines = || output.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
    let is_error = |line: &&str| {
        let line = line.to_lowercase();
        SIGNS.iter().any(|sign| line.contains(sign))
    };
    single_spaced(lines().find(is_error).or(lines().next()).unwrap_or_default())
}

/// Parts of a relay under way, never much longer than a log.
#[derive(Debug, Default)]
pub(super) struct SaidParts {
    parts: Vec<Said>,
    bytes: usize,
}

impl SaidParts {
    pub(super) fn push(&mut self, said: Said) {
        self.bytes += said.len();
        self.parts.push(said);
        if self.bytes > 8 * LONGEST || self.parts.len() > 4 * MOST {
            shorten(&mut self.parts, 4 * LONGEST);
            self.bytes = self.parts.iter().map(Said::len).sum();
        }
    }

    /// Adds to the last text: the host writes the blocks of one message apart.
    pub(super) fn extend_text(&mut self, more: &str) {
        let last = self.parts.iter_mut().rev().find_map(|said| match said {
            Said::Text(text) => Some(text),
            _ => None,
        });
        match last {
            Some(text) => {
                text.push_str("\n\n");
                text.push_str(more);
                self.bytes += more.len() + 2;
            }
            None => self.push(Said::Text(more.to_owned())),
        }
    }

    pub(super) fn done(mut self) -> Vec<Said> {
        shorten(&mut self.parts, LONGEST);
        self.parts
    }
}

fn shorten(parts: &mut Vec<Said>, longest: usize) {
    if parts.len() > MOST {
        let omitted = MOST / 2..parts.len() - MOST / 2;
        parts.splice(omitted, [Said::Omission]);
    }
    let lengths: Vec<usize> = parts.iter().map(Said::len).collect();
    if lengths.iter().sum::<usize>() <= longest {
        return;
    }
    // The largest length to which texts can stay.
    let all_within = |cap: usize| lengths.iter().map(|length| (*length).min(cap)).sum::<usize>() <= longest;
    let (mut low, mut high) = (0, longest);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if all_within(middle) { low = middle } else { high = middle - 1 }
    }
    for said in parts {
        said.cut(low);
    }
}

/// As a log holds it.
pub fn join(said: &[Said]) -> String {
    said.iter().map(Said::line).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(all: impl IntoIterator<Item = Said>) -> Vec<Said> {
        let mut parts = SaidParts::default();
        all.into_iter().for_each(|said| parts.push(said));
        parts.done()
    }

    #[test]
    fn the_longest_texts_lose_their_middle_and_short_ones_stay_whole() {
        let long = format!("begin {}end", "word ".repeat(8_000));
        let told = parts([
            Said::Text("the cause is kestrel".to_owned()),
            Said::Text(long),
            Said::Text("All done.".to_owned()),
        ]);
        let text = join(&told);
        assert!(text.starts_with("the cause is kestrel\n\nbegin word"), "{}", &text[..80]);
        assert!(text.ends_with("word end\n\nAll done."), "{}", &text[text.len() - 80..]);
        assert!(text.len() <= LONGEST + 16 && text.contains("\n…\n"), "{}", text.len());
    }

    #[test]
    fn a_question_is_cut_before_its_answer() {
        for (text, longest, line) in [
            ("Which queue? → SQS", 20, "Which queue? → SQS"),
            ("Which queue should the importer use? → SQS", 20, "Which queue s… → SQS"),
            ("How → why? → because → so", 22, "How → … → because → so"),
            ("Which queue? → one that keeps its messages", 20, "Whi… → one that kee…"),
            ("保存先はどれにしますか？ → SQLite", 16, "保存先はどれ… → SQLite"),
            ("Whole cents in every table", 11, "Whole cent…"),
        ] {
            assert_eq!(shorten_decision(text, longest), line);
        }
    }

    #[test]
    fn of_very_many_parts_the_first_and_the_last_stay() {
        let told = parts((0..5_000).map(|number| Said::Text(format!("step {number}"))));
        assert_eq!(told[0], Said::Text("step 0".to_owned()));
        assert_eq!(told.last(), Some(&Said::Text("step 4999".to_owned())));
        assert!(told.len() <= MOST + 1 && told.contains(&Said::Omission), "{}", told.len());
    }

    #[test]
    fn a_failure_is_one_line_with_its_first_error() {
        let output = "   Compiling shop\nerror[E0308]: mismatched   types\n --> src/a.rs\nerror: aborting";
        let said = join(&[Said::failure("cargo test --all".to_owned(), output)]);
        assert_eq!(said, "Failed: cargo test --all: error[E0308]: mismatched types");
        assert_eq!(join(&[Said::failure("make".to_owned(), "\n---\n2 of 3\n")]), "Failed: make: 2 of 3");
    }

    proptest! {
        #[test]
        fn it_never_grows_beyond_a_log(lengths in prop::collection::vec(0..40_000_usize, 0..200)) {
            let texts = lengths.iter().enumerate().map(|(at, length)| Said::Text(format!("{at} {}", "あ".repeat(length / 3))));
            let told = parts(texts);
            // Separators, and the sign of a cut in each.
            prop_assert!(join(&told).len() <= LONGEST + told.len() * 8);
            if let Some(Said::Text(first)) = told.first() {
                prop_assert!(first.starts_with('0'));
            }
        }
    }
}

//! Whether a last message waits for the person ([`needs_answer`]): the work cannot continue without their decision,
//! fact, credential or permission. An offer to do more is not such a question, but it does ask ([`asks_person`]).
//!
//! ```text
//! message ─ end of it ─► sentences ─ phrases ─► score of the questions + score of the closing sentences ─► yes from 4
//! ```
//!
//! A wrong yes ends one turn with unverified code, a wrong no costs one more turn: so the limit favours no.
//! The phrases and their weights were chosen by the training part of `corpus/question`. `cargo xtask
//! eval-question` prints how often the answer is right on both parts.

mod asking;
mod forbids;
mod phrases;
mod sentences;

pub use asking::asks_person;
pub use forbids::{find_prohibition, find_unfinished};

use phrases::{Cue, Phrases};
use sentences::{Language, Sentence, read_sentences};

/// JSON bytes of a message that can matter: the characters below, in Japanese.
pub const BYTES: usize = 3 * CHARS;

/// Characters at the end of a message that are read.
const CHARS: usize = 1200;

/// The least score of a message that waits.
const LIMIT: i32 = 4;

/// Closing sentences in which statements count: next to a question, and alone.
const CLOSING: [usize; 2] = [7, 5];

/// A heading that asks ("Why did it fail?") introduces its own answer.
const HEADING: i32 = -3;

/// Sentences that follow on the same line and do not explain the question usually answer it.
const ANSWERED: i32 = -3;

/// Questions that are judged, from the end: bounds the work for a text of nothing else.
const QUESTIONS: usize = 8;

/// The agent said this many more sentences after its question.
const LONG_AFTER: usize = 5;
const EARLY: i32 = -2;

fn last_chars(message: &str) -> &str {
    match message.char_indices().rev().nth(CHARS - 1) {
        Some((start, _)) => &message[start..],
        None => message,
    }
}

pub fn needs_answer(message: &str) -> bool {
    let (language, mut sentences) = read_sentences(last_chars(message));
    let phrases = match language {
        Language::English => &phrases::ENGLISH,
        Language::Japanese => &phrases::JAPANESE,
    };
    join_alternatives(&mut sentences, phrases);
    let questions = (0..sentences.len()).rev().filter(|at| sentences[*at].is_question).take(QUESTIONS);
    let scores: Vec<i32> = questions.map(|at| score_question(&sentences, at, phrases)).collect();
    let asked = match scores.first() {
        None => phrases.unasked,
        // The last one is an offer: the questions before it were rhetorical, or are part of it.
        Some(last) if *last < 0 => *last,
        Some(_) => scores.iter().copied().max().unwrap_or_default(),
    };
    asked + score_closing(&sentences, !scores.is_empty(), phrases) >= LIMIT
}

/// "Shall I do A? Or B?" is one question.
fn join_alternatives(sentences: &mut Vec<Sentence>, phrases: &Phrases) {
    let mut at = 1;
    while at < sentences.len() {
        let joins = sentences[at - 1].is_question
            && sentences[at].is_question
            && phrases.joins.is_some_and(|joins| sentences[at].text.starts_with(joins));
        if joins {
            let second = sentences.remove(at);
            sentences[at - 1].text.push_str(&second.text);
        } else {
            at += 1;
        }
    }
}

fn score_question(sentences: &[Sentence], at: usize, phrases: &Phrases) -> i32 {
    let Sentence { text, is_heading, line, .. } = &sentences[at];
    let way = phrases.way.find_first(text);
    let choice = phrases.choice.find_first(text);
    let mut score = phrases.asked;
    score += if way.is_some() { phrases.way.weight } else { 0 };
    score += if choice.is_some() { phrases.choice.weight } else { 0 };
    // "How should I …" and "which one shall I …" ask; "shall I …" offers.
    let offers = |cue: &Cue| cue.find_first(text).is_some_and(|at| way.is_none_or(|way| way > at));
    for cue in phrases.offers.iter().filter(|cue| offers(cue)) {
        score += cue.weight;
    }
    // "Should I do A or B" is a choice.
    if choice.is_none() && offers(&phrases.proposal) {
        score += phrases.proposal.weight;
    }
    let address = phrases.address.score(text);
    score += address + phrases.question.iter().map(|cue| cue.score(text)).sum::<i32>();
    if *is_heading {
        score += HEADING;
    }
    let next = sentences.get(at + 1).filter(|next| !next.is_question && next.line == *line);
    let is_answered = |next: &Sentence| {
        address == 0 && choice.is_none() && phrases.explains.find_first(&next.text).is_none()
    };
    if next.is_some_and(is_answered) {
        score += ANSWERED;
    }
    let after = sentences[at + 1..].iter().filter(|sentence| !sentence.is_question).count();
    if after >= LONG_AFTER { score + EARLY } else { score }
}

/// Each cue counts once, in the last sentences.
fn score_closing(sentences: &[Sentence], has_question: bool, phrases: &Phrases) -> i32 {
    let most = CLOSING[usize::from(!has_question)];
    let closing = &sentences[sentences.len().saturating_sub(most)..];
    let text: String = closing.iter().map(|sentence| sentence.text.as_str()).collect();
    let doubt = if has_question { phrases.doubt.score(&text) } else { 0 };
    doubt + phrases.closing.iter().map(|cue| cue.score(&text)).sum::<i32>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn questions_that_wait() {
        for message in [
            "Which of the two should I use?",
            "The hook fails. Should I commit with `--no-verify`?",
            "I've renamed the columns. Before I continue: may I drop the old ones?",
            "Please send me the API key, I can't continue without it.",
            "どちらの方式で進めますか？",
            "本番のデータを削除してもよろしいでしょうか？",
        ] {
            assert!(needs_answer(message), "{message}");
        }
    }

    #[test]
    fn offers_and_reports() {
        for message in [
            "",
            "Done.",
            "Done. Shall I run the tests?",
            "Fixed. Anything else?",
            "All green. Want me to commit?",
            "The prompt says \"Which one?\" now.",
            "## Why did it fail?\n\nThe clock was wrong. I fixed it.",
            "直しました。テストも実行しましょうか？",
            "この内容でよろしければコミットします。",
        ] {
            assert!(!needs_answer(message), "{message}");
        }
    }

    #[test]
    fn only_the_end_of_a_message_is_read() {
        let report = "The parser reads one more form. ".repeat(60);
        assert!(!needs_answer(&format!("Which one do you want?\n\n{report}")));
        assert!(needs_answer(&format!("{report}\n\nWhich one do you want?")));
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer(message in "(\\PC|[?？。\n`\"「」]){0,2000}") {
            let first = needs_answer(&message);
            prop_assert_eq!(first, needs_answer(&message));
        }
    }
}

//! The host's question to the person, as far as an approval depends on it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::search;

/// What the model asks, and whether it answers itself.
#[derive(Deserialize)]
pub(super) struct Question {
    questions: Vec<Text>,
    #[serde(default)]
    answers: serde_json::Value,
}

#[derive(Deserialize)]
struct Text {
    question: String,
}

impl Question {
    /// Reads the tool's input.
    pub(super) fn asked(input: &str) -> Option<Question> {
        serde_json::from_str(input).ok()
    }

    pub(super) fn holds(&self, code: &str) -> bool {
        self.questions.iter().any(|text| holds(&text.question, code))
    }

    /// Whether it came with an answer. Empty ones are none.
    pub(super) fn is_answered(&self) -> bool {
        match &self.answers {
            serde_json::Value::Null => false,
            serde_json::Value::Object(answers) => !answers.is_empty(),
            _ => true,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    answers: BTreeMap<String, serde_json::Value>,
    /// The host went on by itself because nobody answered in time; what was ticked by then is in the answers.
    #[serde(default)]
    afk_timeout_ms: serde_json::Value,
}

/// What the person made of a question about a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Yes.
    Approval,
    /// Something else.
    Other,
    /// Nothing.
    None,
}

/// The answer to the question that holds the code.
pub(super) fn answer(response: &str, code: &str) -> Answer {
    let Ok(response) = serde_json::from_str::<Response>(response) else { return Answer::None };
    if !response.afk_timeout_ms.is_null() {
        return Answer::None;
    }
    let about = response.answers.iter().filter(|(question, _)| holds(question, code));
    let mut yes = about.map(|(_, answer)| answer.as_str().is_some_and(|answer| is_approval(answer, code)));
    match yes.next() {
        None => Answer::None,
        Some(first) if first && yes.all(|also| also) => Answer::Approval,
        Some(_) => Answer::Other,
    }
}

/// `approve`, alone or with the code. Models like to add "(Recommended)" to a label.
fn is_approval(answer: &str, code: &str) -> bool {
    let lower = answer.trim().to_lowercase();
    let plain = ["(recommended)", "(推奨)", "（推奨）"].iter().find_map(|note| lower.strip_suffix(note));
    let mut words = plain.unwrap_or(&lower).split_whitespace();
    let verb = words.next().is_some_and(|verb| verb.eq_ignore_ascii_case("approve") || verb == "承認");
    let rest = words.next().is_none_or(|word| word.eq_ignore_ascii_case(code));
    verb && rest && words.next().is_none()
}

/// Whether the code stands in the text, in capitals or not. Not only as a word: in JSON a line break before it is a letter.
pub(super) fn holds(text: &str, code: &str) -> bool {
    search::holds_in_any_case(text.as_bytes(), code.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_however_it_is_written() {
        for text in ["K7QF2M", "approve k7qf2m", "(K7QF2M)", "approve\\nK7QF2M", "\\tK7QF2M", "xK7QF2My"] {
            assert!(holds(text, "K7QF2M"), "{text}");
        }
        for text in ["K7QF2", "K7Q F2M", ""] {
            assert!(!holds(text, "K7QF2M"), "{text}");
        }
    }

    #[test]
    fn only_a_plain_yes_is_one() {
        for answer in ["approve", "Approve K7QF2M", " approve  k7qf2m ", "承認", "Approve (Recommended)"] {
            assert!(is_approval(answer, "K7QF2M"), "{answer}");
        }
        for answer in ["", "no", "approve later", "approve K7QF2X", "approve K7QF2M now", "do not approve", "yes", "no (approve)", "approve (not yet)", "approve (recommended) later"] {
            assert!(!is_approval(answer, "K7QF2M"), "{answer}");
        }
    }
}

//! The host's question to the person, as far as an approval depends on it.

use std::collections::BTreeMap;

use serde::Deserialize;

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
    answers: BTreeMap<String, String>,
    /// The host went on by itself because nobody answered in time; what was ticked by then is in the answers.
    #[serde(default)]
    afk_timeout_ms: serde_json::Value,
}

/// Whether the tool's response says that the person approved the code: the answer to a question that holds it.
pub(super) fn approves(response: &str, code: &str) -> bool {
    let Ok(response) = serde_json::from_str::<Response>(response) else { return false };
    if !response.afk_timeout_ms.is_null() {
        return false;
    }
    response.answers.iter().any(|(question, answer)| holds(question, code) && is_approval(answer, code))
}

/// `approve`, alone or with the code.
fn is_approval(answer: &str, code: &str) -> bool {
    let mut words = answer.split_whitespace();
    let verb = words.next().is_some_and(|verb| verb.eq_ignore_ascii_case("approve") || verb == "承認");
    let rest = words.next().is_none_or(|word| word.eq_ignore_ascii_case(code));
    verb && rest && words.next().is_none()
}

/// Whether the code stands in the text as a word, in capitals or not.
pub(super) fn holds(text: &str, code: &str) -> bool {
    let (text, code) = (text.as_bytes(), code.as_bytes());
    let word = |at: Option<&u8>| at.is_some_and(u8::is_ascii_alphanumeric);
    // A code is short and tool inputs are long: look for its first letter, which is cheap.
    let (Some(first), false) = (code.first(), code.is_empty()) else { return false };
    let mut starts = memchr::memchr2_iter(first.to_ascii_uppercase(), first.to_ascii_lowercase(), text);
    starts.any(|at| {
        let end = at + code.len();
        let same = text.get(at..end).is_some_and(|found| found.eq_ignore_ascii_case(code));
        same && !word(at.checked_sub(1).and_then(|before| text.get(before))) && !word(text.get(end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_a_word() {
        for text in ["K7QF2M", "approve k7qf2m", "(K7QF2M)", "x\\nK7QF2M"] {
            assert_eq!(holds(text, "K7QF2M"), !text.contains("\\n"), "{text}");
        }
        for text in ["AK7QF2M", "K7QF2MX", "K7QF2", ""] {
            assert!(!holds(text, "K7QF2M"), "{text}");
        }
    }

    #[test]
    fn only_a_plain_yes_is_one() {
        for answer in ["approve", "Approve K7QF2M", " approve  k7qf2m ", "承認"] {
            assert!(is_approval(answer, "K7QF2M"), "{answer}");
        }
        for answer in ["", "no", "approve later", "approve K7QF2X", "approve K7QF2M now", "do not approve", "yes"] {
            assert!(!is_approval(answer, "K7QF2M"), "{answer}");
        }
    }
}

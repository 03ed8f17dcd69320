//! The tool that puts a question to the person.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::event::action::{Question, QuestionAnswer};

/// The question in the tool's input.
pub(super) fn asked(input: &str) -> Option<Question> {
    #[derive(Deserialize)]
    struct Input {
        questions: Vec<Asked>,
        #[serde(default)]
        answers: Value,
    }
    #[derive(Deserialize)]
    struct Asked {
        question: String,
    }
    let input: Input = serde_json::from_str(input).ok()?;
    // Empty ones are none.
    let is_answered = match &input.answers {
        Value::Null => false,
        Value::Object(answers) => !answers.is_empty(),
        _ => true,
    };
    Some(Question { texts: input.questions.into_iter().map(|asked| asked.question).collect(), is_answered })
}

/// The answers in the tool's response, by their questions.
pub(super) fn answers(response: &str) -> Option<Vec<QuestionAnswer>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Response {
        answers: BTreeMap<String, Value>,
        /// The host continued by itself because no answer came in time; the answers hold what was ticked by then.
        #[serde(default)]
        afk_timeout_ms: Value,
    }
    let response: Response = serde_json::from_str(response).ok()?;
    let answer = |(question, answer): (String, Value)| QuestionAnswer {
        question,
        text: answer.as_str().map(str::to_owned),
    };
    response.afk_timeout_ms.is_null().then(|| response.answers.into_iter().map(answer).collect())
}

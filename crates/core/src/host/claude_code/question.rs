//! The tool that asks the person a question.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::event::action::{
    AnswerOption, PersonQuestion, QuestionAnswer, QuestionAnswers, QuestionCall, QuestionInput,
};

pub(super) const TOOL: &str = "AskUserQuestion";

pub(super) fn parse_input(input: &str) -> Option<QuestionInput> {
    #[derive(Deserialize)]
    struct Input {
        questions: Vec<Value>,
        #[serde(default)]
        answers: Value,
        #[serde(flatten)]
        more: Map<String, Value>,
    }
    let input: Input = serde_json::from_str(input).ok()?;
    // An empty object is not an answer.
    let is_answered = match &input.answers {
        Value::Null => false,
        Value::Object(answers) => !answers.is_empty(),
        _ => true,
    };
    Some(QuestionInput {
        shown: input.questions.iter().map(ToString::to_string).collect(),
        only: only_question(&input.questions).filter(|_| input.more.is_empty()),
        is_answered,
    })
}

pub(super) fn parse_response(response: &str) -> Option<QuestionAnswers> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Response {
        #[serde(default)]
        questions: Vec<Value>,
        answers: BTreeMap<String, Value>,
        /// The host continued by itself after this time without an answer; `answers` then holds the choices
        /// ticked so far.
        #[serde(default)]
        afk_timeout_ms: Value,
    }
    let response: Response =
        serde_json::from_str(response).ok().filter(|r: &Response| r.afk_timeout_ms.is_null())?;
    let answer = |(question, answer): (String, Value)| QuestionAnswer {
        question,
        text: answer.as_str().map(str::to_owned),
    };
    Some(QuestionAnswers {
        only: only_question(&response.questions),
        given: response.answers.into_iter().map(answer).collect(),
    })
}

pub(super) fn question_call(question: &PersonQuestion) -> QuestionCall {
    let option = |option: &AnswerOption| json!({ "label": option.label, "description": option.description });
    let options: Vec<Value> = question.options.iter().map(option).collect();
    let question = json!({
        "question": question.text,
        "header": question.header,
        "multiSelect": question.takes_several,
        "options": options,
    });
    QuestionCall { tool: TOOL, input: json!({ "questions": [question] }).to_string() }
}

/// A member that has no place in [`PersonQuestion`] makes it `None`: it could say the opposite.
fn only_question(questions: &[Value]) -> Option<PersonQuestion> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Text {
        question: String,
        header: Option<String>,
        multi_select: Option<bool>,
        options: Vec<Choice>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Choice {
        label: String,
        description: Option<String>,
    }
    let [question] = questions else { return None };
    let text = Text::deserialize(question).ok()?;
    let option = |choice: Choice| AnswerOption {
        label: choice.label,
        description: choice.description.unwrap_or_default(),
    };
    Some(PersonQuestion {
        text: text.question,
        header: text.header.unwrap_or_default(),
        options: text.options.into_iter().map(option).collect(),
        takes_several: text.multi_select.unwrap_or_default(),
    })
}

//! A question to a language model, and its answer.

pub mod backend;

use serde_json::{Value, json};

use crate::language_model::backend::BackendKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelQuestion {
    /// The task, the same for every message.
    pub instruction: String,
    /// The input of the task, as data.
    pub message: String,
    /// Limit of the answer, for endpoints that take one.
    pub tokens: u32,
}

impl ModelQuestion {
    /// The body of a request to an endpoint. The newer models of OpenAI's form refuse the older limit, so
    /// they get none.
    pub fn body(&self, form: BackendKind, model: &str) -> String {
        let user = json!({ "role": "user", "content": self.message });
        match form {
            BackendKind::OpenAi => json!({
                "model": model,
                "messages": [{ "role": "system", "content": self.instruction }, user],
            }),
            BackendKind::Off | BackendKind::Claude | BackendKind::Anthropic => json!({
                "model": model,
                "max_tokens": self.tokens,
                "system": self.instruction,
                "messages": [user],
            }),
        }
        .to_string()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelAnswer {
    pub text: Option<String>,
    /// With cached tokens. `None` if not reported.
    pub input_tokens: Option<u64>,
    /// `None` if not reported.
    pub output_tokens: Option<u64>,
}

impl ModelAnswer {
    /// From the output of the program or the endpoint's response.
    pub fn parse(form: BackendKind, text: &str) -> ModelAnswer {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return ModelAnswer::default() };
        let usage = &value["usage"];
        let count = |name: &str| usage[name].as_u64();
        let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
        let (said, input, output) = match form {
            BackendKind::OpenAi => (
                value["choices"][0]["message"]["content"].as_str().map(str::to_owned),
                count("prompt_tokens"),
                count("completion_tokens"),
            ),
            BackendKind::Off | BackendKind::Claude | BackendKind::Anthropic => (
                if form == BackendKind::Anthropic {
                    let texts = value["content"].as_array().map(Vec::as_slice).unwrap_or_default();
                    texts.iter().find_map(|block| block["text"].as_str()).map(str::to_owned)
                } else {
                    value["result"].as_str().filter(|_| value["is_error"] != true).map(str::to_owned)
                },
                count("input_tokens").map(|tokens| {
                    cached.iter().filter_map(|name| count(name)).fold(tokens, u64::saturating_add)
                }),
                count("output_tokens"),
            ),
        };
        ModelAnswer { text: said, input_tokens: input, output_tokens: output }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn answers_are_read_in_each_form() {
        let anthropic = r#"{"content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "debug"}],
            "usage": {"input_tokens": 5, "cache_read_input_tokens": 200, "output_tokens": 2}}"#;
        let openai = r#"{"choices": [{"message": {"content": "**Review**\n"}}],
            "usage": {"prompt_tokens": 210, "completion_tokens": 3}}"#;
        let claude = r#"{"type": "result", "is_error": false, "result": "The label is: ship.",
            "usage": {"input_tokens": 5, "output_tokens": 7}}"#;
        let read = |text: &str, input_tokens, output_tokens| ModelAnswer {
            text: Some(text.to_owned()),
            input_tokens: Some(input_tokens),
            output_tokens: Some(output_tokens),
        };
        assert_eq!(ModelAnswer::parse(BackendKind::Anthropic, anthropic), read("debug", 205, 2));
        assert_eq!(ModelAnswer::parse(BackendKind::OpenAi, openai), read("**Review**\n", 210, 3));
        assert_eq!(ModelAnswer::parse(BackendKind::Claude, claude), read("The label is: ship.", 5, 7));
        let failed = claude.replace("false", "true");
        assert_eq!(ModelAnswer::parse(BackendKind::Claude, &failed).text, None);
    }

    proptest! {
        #[test]
        fn any_answer_is_survived(text in "\\PC{0,200}") {
            for form in [BackendKind::Claude, BackendKind::Anthropic, BackendKind::OpenAi] {
                let _ = ModelAnswer::parse(form, &text);
            }
        }
    }
}

//! The question to the person, as far as an approval depends on it.

use crate::event::action::{
    AnswerOption, OWN_HEADER, PersonQuestion, QuestionAnswer, QuestionCall, QuestionInput,
};
use crate::feature::approval::marks::ApprovalRequest;
use crate::feature::approval::typed::contains_code;
use crate::host::Host;
use crate::text::hidden::judged;
use crate::text::quoted::quoted_line;

/// Label and description of each option.
const OPTIONS: [(&str, &str); 2] =
    [("approve", "Allow exactly this command, once."), ("refuse", "Nothing is changed.")];

/// The tool call for the only question whose answer counts, if the host has such a tool.
pub fn approval_question_call(host: Host, request: &ApprovalRequest) -> Option<QuestionCall> {
    let option = |(label, description): (&str, &str)| AnswerOption {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    host.question_call(&PersonQuestion {
        text: quoted_line(&request.question()),
        header: OWN_HEADER.to_owned(),
        options: OPTIONS.into_iter().map(option).collect(),
        takes_several: false,
    })
}

/// The code appears anywhere in what the person sees.
pub(super) fn is_about(question: &QuestionInput, code: &str) -> bool {
    question.shown.iter().any(|shown| contains_code(shown, code))
}

/// It is the only question whose answer counts for this request.
pub(super) fn is_for(question: &QuestionInput, request: &ApprovalRequest) -> bool {
    question.only.as_ref().is_some_and(|asked| is_given_question(asked, request))
}

/// Compared to the letter: text around the question, or below the options, could reverse its meaning.
fn is_given_question(asked: &PersonQuestion, request: &ApprovalRequest) -> bool {
    let is_option = |option: &AnswerOption, (label, description): (&str, &str)| {
        option.label == label && (option.description.is_empty() || option.description == description)
    };
    is_given_text(&asked.text, request)
        && (asked.header.is_empty() || asked.header == OWN_HEADER)
        && !asked.takes_several
        && asked.options.len() == OPTIONS.len()
        && asked.options.iter().zip(OPTIONS).all(|(option, ours)| is_option(option, ours))
}

/// Line breaks may differ. Characters that draw over others are not accepted.
fn is_given_text(question: &str, request: &ApprovalRequest) -> bool {
    let is_visible = judged(question).all(|(c, is_plain)| matches!(c, '\n' | '\r' | '\t') || is_plain);
    is_visible
        && quoted_line(question).split_whitespace().eq(quoted_line(&request.question()).split_whitespace())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Approval,
    Other,
    None,
}

pub(super) fn read_answer(host: Host, response: &str, request: &ApprovalRequest) -> Answer {
    let code = request.code.as_str();
    let Some(answers) = host.question_answers(response) else { return Answer::None };
    if !answers.given.iter().any(|answer| contains_code(&answer.question, code)) {
        return Answer::None;
    }
    let is_yes = |answer: &QuestionAnswer| {
        is_given_text(&answer.question, request)
            && answer.text.as_deref().is_some_and(|text| is_approval(text, code))
    };
    let is_for = answers.only.is_some_and(|asked| is_given_question(&asked, request));
    if is_for && answers.given.iter().all(is_yes) { Answer::Approval } else { Answer::Other }
}

/// `approve`, alone or with the code, chosen or typed.
fn is_approval(answer: &str, code: &str) -> bool {
    let mut words = answer.split_whitespace();
    let verb = words.next().is_some_and(|verb| verb.eq_ignore_ascii_case("approve") || verb == "承認");
    let rest = words.next().is_none_or(|word| word.eq_ignore_ascii_case(code));
    verb && rest && words.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const HOST: Host = Host::ClaudeCode;

    fn input(request: &ApprovalRequest) -> String {
        approval_question_call(HOST, request).expect("a host with such a tool").input
    }

    fn request(command: &str, about: Option<&str>) -> ApprovalRequest {
        ApprovalRequest {
            code: "K7QF2M".into(),
            command: command.into(),
            about: about.map(str::to_owned),
            at: crate::time::Millis(0),
            client: Some(7),
            shown: false,
            stage: crate::feature::approval::marks::ApprovalStage::Asked,
        }
    }

    fn skip() -> ApprovalRequest {
        request("workflow skip 1 --reason 'one file'", Some("risks: the context may run out"))
    }

    const WHOLE: &str = "Allow this once? `tidegate workflow skip 1 --reason 'one file'` (risks: the context may run out) (code K7QF2M)";

    #[test]
    fn a_question_shows_the_whole_command_and_its_risks() {
        for (question, is_shown) in [
            (WHOLE, true),
            (&WHOLE.replace(' ', "\n  "), true),
            ("Ready to continue? (ticket K7QF2M)", false),
            (&format!("Which colour? {WHOLE}"), false),
            (
                &format!(
                    "The repository asked me to run\n{WHOLE}\nI declined. Do you approve that I declined?"
                ),
                false,
            ),
            (&format!("{WHOLE}\u{1b}[8m"), false),
            (&format!("{WHOLE}\u{202e}"), false),
            (&WHOLE.replace("one file", "two files"), false),
            (&WHOLE.replace("skip 1", "skip 12"), false),
            (&WHOLE.replace("may", "will not"), false),
        ] {
            assert_eq!(is_given_text(question, &skip()), is_shown, "{question}");
        }
        let wide = request("off skill-gate", Some("<b>a</b>"));
        assert!(
            HOST.question(&input(&wide)).is_some_and(|asked| is_for(&asked, &wide)),
            "what is said is taken"
        );
    }

    #[test]
    fn a_question_has_its_own_options_and_header() {
        let request = skip();
        let asked = |change: &dyn Fn(&mut Value)| {
            let mut input: Value = serde_json::from_str(&input(&request)).expect("JSON");
            change(&mut input["questions"][0]);
            HOST.question(&input.to_string()).is_some_and(|asked| is_for(&asked, &request))
        };
        assert!(asked(&|_| ()));
        assert!(asked(&|question| question["options"][0]["description"] = "".into()));
        assert!(!asked(&|question| question["options"][0]["description"] = "Nothing is changed.".into()));
        assert!(!asked(&|question| question["options"][0]["label"] = "refuse".into()));
        assert!(!asked(&|question| question["header"] = "Weather".into()));
        assert!(!asked(&|question| question["multiSelect"] = true.into()));
    }

    #[test]
    fn a_question_hides_nothing_in_variation_selectors() {
        let hidden = "\u{fe01}\u{e0120}\u{e0121}\u{fe0f}";
        let sly = request(&format!("off skill-gate{hidden}"), Some(&format!("a{hidden} ❤\u{fe0f}{hidden}")));
        let asked: Value = serde_json::from_str(&input(&sly)).expect("JSON");
        let text = asked["questions"][0]["question"].as_str().expect("a text");
        assert_eq!(text, "Allow this once? `tidegate off skill-gate` (a ❤\u{fe0f}) (code K7QF2M)");
        assert!(!is_given_text(&format!("{WHOLE}{hidden}"), &skip()));
        assert!(!is_given_text(&WHOLE.replace("one", &format!("one{hidden}")), &skip()));
    }

    /// Each part of what a person sees.
    #[test]
    fn only_the_question_that_is_given_counts() {
        let ours = || serde_json::from_str::<Value>(&input(&skip())).expect("JSON");
        let counts = |asked: &Value| is_for(&HOST.question(&asked.to_string()).expect("a question"), &skip());
        let with = |change: &dyn Fn(&mut Value)| {
            let mut asked = ours();
            change(&mut asked);
            counts(&asked)
        };
        assert!(counts(&ours()));
        assert!(with(&|asked| {
            let question = &mut asked["questions"][0];
            question["options"] = json!([{ "label": "approve" }, { "label": "refuse" }]);
            *question = json!({ "question": question["question"], "options": question["options"] });
        }));
        assert!(!with(
            &|asked| asked["questions"][0]["options"][0]["description"] = json!("Keep the check on")
        ));
        assert!(!with(&|asked| asked["questions"][0]["options"][1]["description"] = json!("Run it anyway")));
        assert!(!with(&|asked| asked["questions"][0]["options"][0]["preview"] = json!("nothing is run")));
        assert!(!with(&|asked| asked["questions"][0]["options"][1]["label"] = json!("approve")));
        assert!(!with(&|asked| {
            let options = asked["questions"][0]["options"].as_array_mut().expect("options");
            options.push(json!({ "label": "later" }));
        }));
        assert!(!with(&|asked| asked["questions"][0]["options"].as_array_mut().expect("options").reverse()));
        assert!(!with(&|asked| asked["questions"][0]["header"] = json!("Formatting")));
        assert!(!with(&|asked| asked["questions"][0]["multiSelect"] = json!(true)));
        assert!(!with(&|asked| {
            let questions = asked["questions"].as_array_mut().expect("questions");
            questions.insert(0, json!({ "question": "Format the code?", "options": [] }));
        }));
        assert!(!with(&|asked| asked["metadata"] = json!({ "source": "x" })));
    }

    /// A hook can change a question after the model has asked it.
    #[test]
    fn an_answer_counts_only_to_the_question_that_was_given() {
        let ours = serde_json::from_str::<Value>(&input(&skip())).expect("JSON");
        let answer = |questions: &Value, asked: &str| {
            let response = json!({ "questions": questions, "answers": { asked: "approve" } });
            super::read_answer(HOST, &response.to_string(), &skip())
        };
        assert_eq!(answer(&ours["questions"], WHOLE), Answer::Approval);
        let mut reversed = ours["questions"].clone();
        reversed[0]["options"][0]["description"] = json!("Do not run it");
        assert_eq!(answer(&reversed, WHOLE), Answer::Other);
        assert_eq!(answer(&json!([]), WHOLE), Answer::Other);
        assert_eq!(answer(&ours["questions"], "Format the code? K7QF2M"), Answer::Other);
        assert_eq!(answer(&ours["questions"], "Format the code?"), Answer::None);
    }

    /// Agent text inside a message of Tidegate cannot end the quotation.
    #[test]
    fn a_backtick_does_not_end_a_quoted_command() {
        let sly = request("workflow skip 1 --reason 'x`. To refuse, type approve. `'", Some("a `b`"));
        assert_eq!(sly.wording().matches('`').count(), 2, "{}", sly.wording());
    }

    #[test]
    fn only_a_plain_yes_is_one() {
        for answer in ["approve", "Approve K7QF2M", " approve  k7qf2m ", "承認"] {
            assert!(is_approval(answer, "K7QF2M"), "{answer}");
        }
        for answer in [
            "",
            "no",
            "approve later",
            "approve K7QF2X",
            "approve K7QF2M now",
            "do not approve",
            "yes",
            "no (approve)",
            "approve (not yet)",
            "approve (recommended)",
        ] {
            assert!(!is_approval(answer, "K7QF2M"), "{answer}");
        }
    }
}

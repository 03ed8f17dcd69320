//! The host's question to the person, as far as an approval depends on it.

use crate::event::action::{AnswerOption, PersonQuestion, QuestionAnswer, QuestionCall, QuestionInput};
use crate::feature::approval::marks::Approval;
use crate::host::Host;
use crate::text::hidden::is_plain;
use crate::text::quoted::quoted_line;
use crate::text::search;

const HEADER: &str = "Tidegate";

/// The two options, with what the person reads below each.
const OPTIONS: [(&str, &str); 2] =
    [("approve", "Allow exactly this command, once."), ("refuse", "Nothing is changed.")];

/// The call that asks the one question whose answer counts, if the host has a tool for that.
pub fn to_ask(host: Host, request: &Approval) -> Option<QuestionCall> {
    let option = |(label, description): (&str, &str)| AnswerOption {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    host.question_call(&PersonQuestion {
        text: quoted_line(&request.question()),
        header: HEADER.to_owned(),
        options: OPTIONS.into_iter().map(option).collect(),
        takes_several: false,
    })
}

/// Whether a code stands anywhere in what the person sees.
pub(super) fn is_about(question: &QuestionInput, code: &str) -> bool {
    question.shown.iter().any(|shown| holds(shown, code))
}

/// Whether it is the one question whose answer counts for this request.
pub(super) fn is_for(question: &QuestionInput, request: &Approval) -> bool {
    question.only.as_ref().is_some_and(|asked| is_ours(asked, request))
}

/// Whether this is our question to the letter: text around it, or what stands below the options, could say the opposite.
fn is_ours(asked: &PersonQuestion, request: &Approval) -> bool {
    let is_option = |option: &AnswerOption, (label, description): (&str, &str)| {
        option.label == label && (option.description.is_empty() || option.description == description)
    };
    is_text_for(&asked.text, request)
        && (asked.header.is_empty() || asked.header == HEADER)
        && !asked.takes_several
        && asked.options.len() == OPTIONS.len()
        && asked.options.iter().zip(OPTIONS).all(|(option, ours)| is_option(option, ours))
}

/// However its lines are broken. A character that draws over others is not part of it.
fn is_text_for(question: &str, request: &Approval) -> bool {
    let is_visible = question.chars().all(|c| matches!(c, '\n' | '\r' | '\t') || is_plain(c));
    is_visible
        && quoted_line(question).split_whitespace().eq(quoted_line(&request.question()).split_whitespace())
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
pub(super) fn answer(host: Host, response: &str, request: &Approval) -> Answer {
    let code = request.code.as_str();
    let Some(answers) = host.question_answers(response) else { return Answer::None };
    if !answers.given.iter().any(|answer| holds(&answer.question, code)) {
        return Answer::None;
    }
    let is_yes = |answer: &QuestionAnswer| {
        is_text_for(&answer.question, request)
            && answer.text.as_deref().is_some_and(|text| is_approval(text, code))
    };
    let is_for = answers.only.is_some_and(|asked| is_ours(&asked, request));
    if is_for && answers.given.iter().all(is_yes) { Answer::Approval } else { Answer::Other }
}

/// `approve`, alone or with the code, also where a person typed it instead of choosing it.
fn is_approval(answer: &str, code: &str) -> bool {
    let mut words = answer.split_whitespace();
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
    use serde_json::{Value, json};

    const HOST: Host = Host::ClaudeCode;

    fn input(request: &Approval) -> String {
        to_ask(HOST, request).expect("a host with such a tool").input
    }

    #[test]
    fn a_code_is_found_however_it_is_written() {
        for text in ["K7QF2M", "approve k7qf2m", "(K7QF2M)", "approve\\nK7QF2M", "\\tK7QF2M", "xK7QF2My"] {
            assert!(holds(text, "K7QF2M"), "{text}");
        }
        for text in ["K7QF2", "K7Q F2M", ""] {
            assert!(!holds(text, "K7QF2M"), "{text}");
        }
    }

    fn request(command: &str, about: Option<&str>) -> Approval {
        Approval {
            code: "K7QF2M".into(),
            command: command.into(),
            about: about.map(str::to_owned),
            at: crate::time::Millis(0),
            client: Some(7),
            shown: false,
            stage: crate::feature::approval::marks::ApprovalStage::Asked,
        }
    }

    fn skip() -> Approval {
        request("gate skip 1 --reason 'one file'", Some("risks: the context may run out"))
    }

    const WHOLE: &str = "Allow this once? `tidegate gate skip 1 --reason 'one file'` (risks: the context may run out) (code K7QF2M)";

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
            assert_eq!(is_text_for(question, &skip()), is_shown, "{question}");
        }
        let wide = request("off skill-gate", Some("<b>a</b>"));
        assert!(
            HOST.question(&input(&wide)).is_some_and(|asked| is_for(&asked, &wide)),
            "what is said is taken"
        );
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
            super::answer(HOST, &response.to_string(), &skip())
        };
        assert_eq!(answer(&ours["questions"], WHOLE), Answer::Approval);
        let mut reversed = ours["questions"].clone();
        reversed[0]["options"][0]["description"] = json!("Do not run it");
        assert_eq!(answer(&reversed, WHOLE), Answer::Other);
        assert_eq!(answer(&json!([]), WHOLE), Answer::Other);
        assert_eq!(answer(&ours["questions"], "Format the code? K7QF2M"), Answer::Other);
        assert_eq!(answer(&ours["questions"], "Format the code?"), Answer::None);
    }

    /// In the middle of a message of Tidegate's, nothing that an agent wrote ends the quotation.
    #[test]
    fn a_backtick_does_not_end_a_quoted_command() {
        let sly = request("gate skip 1 --reason 'x`. To refuse, type approve. `'", Some("a `b`"));
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

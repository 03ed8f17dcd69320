//! The host's question to the person, as far as an approval depends on it.

use crate::event::action::Question;
use crate::feature::marks::Approval;
use crate::host::Host;
use crate::text::characters::is_plain;
use crate::text::quoted::quoted_line;
use crate::text::search;

/// Whether a question is about the request with this code.
pub(super) fn is_about(question: &Question, code: &str) -> bool {
    question.texts.iter().any(|text| holds(text, code))
}

/// Whether each question about this request shows the person what it is for.
pub(super) fn is_open(question: &Question, request: &Approval) -> bool {
    let mut about = question.texts.iter().filter(|text| holds(text, &request.code));
    about.all(|text| shows(text, request))
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
    let about = answers.iter().filter(|answer| holds(&answer.question, code));
    let mut yes = about.map(|answer| {
        shows(&answer.question, request) && answer.text.as_deref().is_some_and(|text| is_approval(text, code))
    });
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

/// How much a question may say besides what it is about, in bytes, and how many lines it may have.
const MOST_MORE: usize = 300;
const MOST_LINES: usize = 8;

/// Whether a question shows the whole command and what it means, however its lines are broken.
fn shows(question: &str, request: &Approval) -> bool {
    // A person reads a few lines, and nothing may draw over them.
    if question.lines().count() > MOST_LINES || question.chars().any(|c| c != '\n' && !is_plain(c)) {
        return false;
    }
    // As the model was told it: without markup.
    let question = quoted_line(question);
    let mut more = question.len();
    request.terms().all(|term| {
        let term = quoted_line(&term);
        more = more.saturating_sub(term.len());
        question.contains(&term)
    }) && more <= MOST_MORE
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

    fn request(about: Option<&str>) -> Approval {
        Approval {
            code: "K7QF2M".into(),
            command: "gate skip 1 --reason 'one file'".into(),
            about: about.map(str::to_owned),
            at: crate::time::Millis(0),
            client: Some(7),
            shown: false,
            stage: crate::feature::marks::ApprovalStage::Asked,
        }
    }

    const WHOLE: &str = "`tidegate gate skip 1 --reason 'one file'` (risks: the context may run out)";

    #[test]
    fn a_question_shows_the_whole_command_and_its_risks() {
        let skip = request(Some("risks: the context may run out"));
        for (question, is_shown) in [
            ("`tidegate gate skip 1 --reason 'one file'` (risks: the context may run out)", true),
            ("Run tidegate gate skip 1\n  --reason 'one file'?\nrisks: the context\nmay run out.", true),
            ("Ready to continue? (ticket K7QF2M)", false),
            (&format!("Which colour? {}{WHOLE}", "bla ".repeat(200)), false),
            (&format!("Which colour?{}{WHOLE}", "\n".repeat(40)), false),
            (&format!("Which colour?\u{1b}[8m {WHOLE}"), false),
            (&format!("Which colour?\u{202e} {WHOLE}"), false),
            ("`tidegate gate skip 1 --reason 'one file'`?", false),
            ("tidegate gate skip 1? risks: the context may run out", false),
            ("tidegate gate skip 12 --reason 'one file', risks: the context may run out", false),
        ] {
            assert_eq!(shows(question, &skip), is_shown, "{question}");
        }
        let plain = request(None);
        assert!(shows("May I `tidegate gate skip 1 --reason 'one file'`?", &plain));
        let long = request(Some(&"x".repeat(1000)));
        assert!(shows(&long.wording(), &long), "a long plan is shortened on both sides");
    }

    #[test]
    fn only_a_plain_yes_is_one() {
        for answer in ["approve", "Approve K7QF2M", " approve  k7qf2m ", "承認", "Approve (Recommended)"] {
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
            "approve (recommended) later",
        ] {
            assert!(!is_approval(answer, "K7QF2M"), "{answer}");
        }
    }
}

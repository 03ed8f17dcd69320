//! Whether the output of a line is that of its checks, with its last lines whole.

use super::CheckEvidence;
use crate::shell::{Script, Sort, Status, Step, Why, Word};
use crate::text::word_list::{Words, among};

/// Commands that print nothing, or nothing that looks like the end of a check. With arguments only: `set` and `export`
/// by themselves print variables.
const QUIET: Words = "cd pushd popd set export unset true : sleep mkdir rm touch wait exit test [";

const QUIET_ALONE: Words = "cd popd true : wait exit";

const QUIET_GIT: Words = "add commit status stash checkout switch fetch push";

/// Parts of words with which an `echo` could imitate a closing line.
const IMITATES: [&str; 10] =
    ["pass", "ok", "succe", "fail", "test", "finish", "error", "issue", "build", "checked"];

/// `grep` and the like may have cut a failure out; any other command may have printed the lines itself. Of a
/// check in a loop only the last run shows.
pub(super) fn is_of_checks(script: &Script, evidence: &[CheckEvidence]) -> bool {
    let is_check = |number: usize| evidence.iter().any(|found| found.step == number);
    let is_clear = |step: &Step| {
        let is_other =
            matches!(step.status, Status::Hidden(Why::Function | Why::Substitution | Why::Redefined));
        // Go closes each package by itself: what was ended before the next one looks the same.
        let may_be_short = step.limited && step.name() == Some("go");
        !is_other && !step.repeats && !may_be_short
    };
    script.steps.iter().enumerate().all(
        |(number, step)| {
            if is_check(number) { is_clear(step) } else { is_harmless(step) }
        },
    )
}

/// An output of as many lines or more may have been cut by `head`.
pub(super) fn cut_from(script: &Script) -> Option<usize> {
    let shortest = script.steps.iter().filter_map(head_lines).min()?;
    // Behind another `tail`, the lines that are left do not tell.
    let tails = script.steps.iter().any(|step| step.name() == Some("tail"));
    Some(if tails { 0 } else { shortest })
}

/// The number of lines that `head` leaves, as the end of a pipe.
fn head_lines(step: &Step) -> Option<usize> {
    if step.name() != Some("head") || step.fed {
        return None;
    }
    let words: Vec<&str> = step.words[1..].iter().map(Word::known).collect::<Option<_>>()?;
    match words.as_slice() {
        [] => Some(10),
        ["-n" | "--lines", number] => number.parse().ok(),
        [word] => {
            word.strip_prefix("--lines=").or(word.strip_prefix("-n")).or(word.strip_prefix('-'))?.parse().ok()
        }
        _ => None,
    }
}

fn is_harmless(step: &Step) -> bool {
    let Some(name) = step.name() else { return step.words.is_empty() };
    let arguments = &step.words[1..];
    let is_literal = arguments.iter().all(|word| word.sort == Sort::Literal);
    // It prints into a word of another command.
    if step.status == Status::Hidden(Why::Substitution) {
        return true;
    }
    if step.fed {
        return false;
    }
    match name {
        // As the end of a pipe: without a file of its own.
        "tail" => {
            is_literal
                && arguments.iter().all(|word| {
                    let text = word.text.strip_prefix("--lines=").unwrap_or(&word.text);
                    text.trim_start_matches(['-', 'n']).chars().all(|c| c.is_ascii_digit())
                })
        }
        "head" => head_lines(step).is_some(),
        "cat" | "pwd" | "date" => arguments.is_empty(),
        "tee" => is_literal,
        "echo" => arguments.iter().all(|word| {
            let text = word.text.to_ascii_lowercase();
            let plain = text.replace("${pipestatus[0]}", "").replace("$?", "").replace("$pipestatus", "");
            !plain.contains(['$', '`', '\\', '*']) && !IMITATES.iter().any(|part| plain.contains(part))
        }),
        "git" => arguments.first().is_some_and(|verb| among(QUIET_GIT, &verb.text)),
        name => among(QUIET, name) && (!arguments.is_empty() || among(QUIET_ALONE, name)),
    }
}

//! Whether the output of a line is that of its checks, with its last lines whole.

use super::CheckEvidence;
use crate::shell::{Script, Sort, Step};
use crate::text::word_list::{Words, among};

/// Commands that print nothing, or nothing that looks like the end of a check.
const QUIET: Words =
    "cd pushd popd set export unset true : sleep mkdir rm touch cp mv pwd date wait git exit test [";

/// Parts of words with which an `echo` could imitate a closing line.
const IMITATES: [&str; 9] = ["pass", "ok", "succe", "fail", "test", "finish", "error", "issue", "build"];

/// `head`, `grep` and the like may have cut a failure out; any other command may have printed the lines itself.
pub(super) fn is_of_checks(script: &Script, evidence: &[CheckEvidence]) -> bool {
    let is_check = |number: usize| evidence.iter().any(|found| found.step == number);
    script.steps.iter().enumerate().all(|(number, step)| is_check(number) || is_harmless(step))
}

fn is_harmless(step: &Step) -> bool {
    let Some(name) = step.name() else { return step.words.is_empty() };
    let arguments = &step.words[1..];
    match name {
        // As the end of a pipe: without a file of its own.
        "tail" => arguments.iter().all(|word| {
            let text = word.text.as_str();
            word.sort == Sort::Literal
                && (text.trim_start_matches(['-', '+', 'n']).chars().all(|c| c.is_ascii_digit())
                    || text.strip_prefix("--lines=").is_some_and(|n| n.chars().all(|c| c.is_ascii_digit())))
                && !text.starts_with('+')
        }),
        "cat" => arguments.is_empty(),
        "tee" => arguments.iter().all(|word| word.sort == Sort::Literal),
        "echo" | "printf" => arguments.iter().all(|word| {
            let text = word.text.to_ascii_lowercase();
            let plain = text.replace("${pipestatus[0]}", "").replace("$?", "").replace("$pipestatus", "");
            !plain.contains(['$', '`']) && !IMITATES.iter().any(|part| plain.contains(part))
        }),
        name => among(QUIET, name),
    }
}

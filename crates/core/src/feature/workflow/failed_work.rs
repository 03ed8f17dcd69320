//! Whether an agent's answer says that its work failed, and whether two descriptions mean the same work.
//!
//! Hosts report an agent as completed when it ended, whatever it says. Only a plain statement counts: at the beginning
//! or the end of the answer, at the start of a line. A wrong yes costs one sentence of advice.

/// Lines looked at from each end.
const LINES: usize = 4;

/// Words before a result: `Status: FAILED`, `Task completed, FAILED: …`.
const BEFORE: [&str; 18] = [
    "the",
    "task",
    "agent",
    "work",
    "status",
    "result",
    "outcome",
    "verdict",
    "overall",
    "final",
    "completed",
    "complete",
    "done",
    "finished",
    "ended",
    "build",
    "tests",
    "it",
];

/// A line that begins with one of these after such words tells of a failure.
const FAILED: [&str; 12] = [
    "failed",
    "failure",
    "fail",
    "fails",
    "error",
    "aborted",
    "blocked",
    "unsuccessful",
    "incomplete",
    "rejected",
    "tests_failed",
    "review_rejected",
];

/// Beginnings of a sentence, in small letters.
const CONFESSIONS: [&str; 16] = [
    "i could not",
    "i couldn't",
    "i was unable",
    "i was not able",
    "i wasn't able",
    "i am unable",
    "i'm unable",
    "i failed",
    "could not complete",
    "couldn't complete",
    "unable to complete",
    "unable to finish",
    "the task could not be",
    "this could not be completed",
    "not completed",
    "test_plan_blocked",
];

const CONFESSIONS_JA: [&str; 6] =
    ["失敗しました", "失敗です", "できませんでした", "完了できません", "エラーで終了", "中断しました"];

/// `head` and `tail` are the answer's beginning and end, which may overlap.
pub fn says_failed(head: &str, tail: &str) -> bool {
    fn filled(text: &str) -> impl DoubleEndedIterator<Item = &str> {
        text.lines().map(str::trim).filter(|line| !line.is_empty())
    }
    filled(head).take(LINES).any(tells_failure) || filled(tail).rev().take(LINES).any(tells_failure)
}

fn tells_failure(line: &str) -> bool {
    let is_mark = |c: char| {
        c.is_ascii_punctuation() && c != '_'
            || c.is_whitespace()
            || matches!(c, '❌' | '✗' | '✘' | '⛔' | '「' | '・')
    };
    let line = line.trim_start_matches(is_mark).to_lowercase().replace('’', "'");
    if CONFESSIONS.iter().any(|start| line.starts_with(start)) {
        return true;
    }
    // Japanese ends with it.
    if CONFESSIONS_JA.iter().any(|end| line.contains(end)) {
        return true;
    }
    let words =
        line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\'')).filter(|word| !word.is_empty());
    let mut words =
        words.skip_while(|word| BEFORE.contains(word) || *word == "has" || *word == "was" || *word == "is");
    let Some(first) = words.next().filter(|word| FAILED.contains(word)) else { return false };
    // `Failed tests are fixed now`, `error handling was added`, `failed: 0`.
    let next = words.next().unwrap_or_default();
    let is_about = matches!(first, "failed" | "failure" | "fail" | "error" | "blocked" | "rejected")
        && matches!(
            next,
            "test"
                | "tests"
                | "case"
                | "cases"
                | "handling"
                | "handler"
                | "handlers"
                | "message"
                | "messages"
                | "type"
                | "types"
                | "checks"
                | "builds"
                | "runs"
                | "0"
                | "none"
                | "no"
        );
    !is_about
}

/// Words that say nothing about the work.
const EMPTY_WORDS: [&str; 22] = [
    "a", "an", "the", "of", "in", "on", "for", "to", "and", "with", "again", "retry", "try", "second",
    "third", "attempt", "another", "time", "please", "it", "this", "once",
];

/// The words of a description that say something about the work, sorted.
fn content_words(description: &str) -> Vec<String> {
    let lower = description.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<String> = words
        .filter(|word| !EMPTY_WORDS.contains(word) && !word.bytes().all(|b| b.is_ascii_digit()))
        .map(str::to_owned)
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// `fixing` and `fix`, `tests` and `test`.
fn is_same_word(one: &str, other: &str) -> bool {
    let is_form = |long: &str, short: &str| short.chars().count() >= 3 && long.starts_with(short);
    one == other || is_form(one, other) || is_form(other, one)
}

/// The same words, or most of those of the shorter one.
pub fn is_same_work(one: &str, other: &str) -> bool {
    let (one, other) = (content_words(one), content_words(other));
    let shared = one.iter().filter(|word| other.iter().any(|known| is_same_word(word, known))).count();
    let (shorter, longer) = (one.len().min(other.len()), one.len().max(other.len()));
    if shorter == 0 {
        return longer == 0;
    }
    // A single shared word is a subject, not a task.
    let enough = if shorter == 1 { longer == 1 } else { longer <= shorter * 3 };
    enough && shared * 3 >= shorter * 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_answer_is_looked_through(text in ".{0,200}") {
            let _ = says_failed(&text, &text);
            prop_assert!(is_same_work(&text, &text));
        }
    }
}

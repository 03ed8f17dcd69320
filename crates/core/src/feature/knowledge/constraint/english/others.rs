//! English sentences that say what others say, or that are in another language.

use super::words::{CLAUSE, Words, normalise};
use crate::text::word_list::among;

/// Whether a sentence is in another language, or says what others say.
pub(in super::super) fn is_of_others(sentence: &str) -> bool {
    let mut buffer = String::new();
    normalise(sentence, &mut buffer);
    let words = Words::of(&buffer);
    is_foreign(&words) || is_report(&words)
}

/// Languages that share "no" with English, and notes in shorthand.
fn is_foreign(words: &Words<'_>) -> bool {
    words.has("el los las una que del por para con hay funciona esta uma não che il → => ->")
        || words.at(0) == "…" && words.at(1) == CLAUSE
}

/// They have wishes of their own.
const PERSONS: &str = "colleague boss teacher friend manager teammate coworker reviewer professor lecturer ceo cto interviewer mentor \
     designer architect vendor client customer supervisor predecessor";

/// What another person, a text or a program says, a guess, or a question without a question mark.
fn is_report(words: &Words<'_>) -> bool {
    const ASKS: &str =
        "turns why what how where who whose is does isn't doesn't which assume suppose imagine maybe perhaps";
    if among(ASKS, words.at(0)) && words.at(1) != CLAUSE {
        return true;
    }
    // "Can you check that they don't …" is a task.
    if among("can could would will", words.at(0)) && words.at(1) == "you" && !asks_not_to(words) {
        return true;
    }
    // "Apparently", "the guide recommends": not the person's own wish.
    let guesses = words.at(0) == "i"
        && among("think guess thought wonder believe would don't", words.at(1))
        && words.at(2) != "want";
    // "My colleague keeps saying: no mocks."
    let is_person =
        among("my our the a one some", words.at(0)) && (1..3).any(|at| among(PERSONS, words.at(at)));
    guesses
        || is_person
        || words.words.windows(2).any(|pair| pair == ["best", "practice"] || pair == ["of", "thumb"])
        || words.has(
            "rumour rumor says wrote thinks claims insists complains complained argues suggests wonders according \
             wouldn't couldn't probably theory currently warns warned recommends recommended advises advised mentions mentioned \
             demands demanded replied reckons wants prefers apparently supposedly allegedly reportedly hypothetically opinion",
        )
        || is_told(words)
        || words.words.iter().enumerate().any(|(at, word)| {
            matches!(*word, "said" | "say") && !among("i we i've you don't doesn't |", words.before(at))
        })
}

/// Words of reports that are also in "until I've heard back" and "a command that writes".
fn is_told(words: &Words<'_>) -> bool {
    words.words.iter().enumerate().any(|(at, word)| match *word {
        "suggested" => !among("you i we", words.before(at)),
        "told" => !among("i i've we we've", words.before(at)),
        "heard" => at < 3,
        "writes" | "states" => at < 4 && !among("that which it", words.before(at)),
        _ => false,
    })
}

/// "Could you please not touch …?"; the first two words are known.
fn asks_not_to(words: &Words<'_>) -> bool {
    // "Can you not see the file?" only asks.
    if words.at(0) == "can" && words.at(2) == "not" && !words.has("please") {
        return false;
    }
    // "Would you mind leaving it alone?" is judged by what follows.
    if words.at(2) == "mind" {
        return among("not leaving keeping", words.at(3));
    }
    words.words[2..].iter().take(3).enumerate().any(|(at, word)| {
        among("not avoid never", word) || among("leave keep", word) && is_kept(words.rest(3 + at))
    })
}

/// "… alone", "… as it is", "… to me".
fn is_kept(rest: &[&str]) -> bool {
    // "As it is", not "as an alias".
    let is_pair = |pair: &[&str]| {
        pair[0] == "to" && among("me us", pair[1]) || pair[0] == "as" && among("is it they before", pair[1])
    };
    rest.windows(2).any(is_pair)
        || rest.iter().any(|word| among("alone unchanged untouched intact", word))
        || rest.ends_with(&["in", "place"])
}

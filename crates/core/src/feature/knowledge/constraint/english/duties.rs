//! "Must", "has to", "should": which of them require something of Claude, and do not describe or guess.

use super::words::{CLAUSE, Words};
use super::{PEOPLE, PRODUCT, THINGS, starts_with_digit};
use crate::text::word_list::among;

/// "It must be a race condition" and "it must have moved" are guesses.
pub(super) fn requires_with_must(words: &Words<'_>, at: usize) -> bool {
    const GUESSED: &str = "a an the some something because that in kidding wrong broken missing joking related due my me very nice hard";
    const DONE: &str =
        "been gone had got broken lost done made come run read forgotten put set seen happened";
    let subject = words.before(at);
    if among("i what he she |", subject)
        || words.has("somewhere suspect guess why")
        || words.words[..at].iter().any(|word| among("if whether", word))
    {
        return false;
    }
    // The product's rule, not Claude's: "users must be able to …", "add validation: the password must …".
    if words.at(at + 1) == "be" && words.at(at + 2) == "able"
        || among(PEOPLE, subject)
            && !(among("function method form", subject)
                && words.head(at).first().is_some_and(|first| among("every each all any", first)))
        || among("add implement write build", words.at(0)) && words.has("validation validator rule check")
    {
        return false;
    }
    let mut verb = at + 1;
    while among("also still always now then all", words.at(verb)) {
        verb += 1;
    }
    let after = words.at(verb + 1);
    let pointed = among("it this that there you something these", subject);
    match words.at(verb) {
        CLAUSE => false,
        "be" if pointed => !among(GUESSED, after) && !after.ends_with("ing"),
        "be" => {
            !among("wrong broken missing because happening something down stale dead", after)
                && !after.ends_with("ing")
        }
        "have" => !after.ends_with("ed") && !among(DONE, after),
        "not" if after == "be" => !(pointed && among("a the in", words.at(verb + 2))),
        _ => true,
    }
}

pub(super) fn requires_with_have(words: &Words<'_>, at: usize) -> bool {
    let (word, next) = (words.words[at], words.at(at + 1));
    let head = words.head(at);
    let quantified = head.iter().any(|word| among("every each any all", word));
    if words.before(at) == "only" {
        return false;
    }
    if next != "to" {
        // "Any change needs my approval."
        return word.starts_with("need")
            && (quantified
                && head.len() > 1
                && !head.iter().any(|word| among(PEOPLE, word) || among(THINGS, word))
                || among("my approval", next))
            && !words.has("i if whether check");
    }
    let repeats = words.words.windows(2).any(|pair| among("every each", pair[0]) && pair[1] == "time");
    if repeats || words.has("moment today right why yesterday means so if unless manually again") {
        return false;
    }
    let verb = words.at(at + 2);
    let subject = head.iter().rev().find(|word| !among("still also always really only", word)).copied();
    match subject {
        None | Some("…") => false,
        // "Whatever we do has to work offline."
        Some("do") => head.contains(&"whatever"),
        Some("you") => words.has("before after every each always whenever"),
        Some("we") => among("stay keep remain support comply preserve maintain avoid be stick", verb),
        Some(subject) => {
            // "It has to be the cache", "the length has to be 20".
            let after = words.at(at + 3);
            let guesses = among("it this that", subject)
                && among("a an the some something somewhere someone either because in my your", after);
            if verb == "be" && (guesses || starts_with_digit(after)) {
                return false;
            }
            let other = "there something someone one no i he she who don't doesn't not i'll might may could would will should and then we'll you'll just to";
            let lasting = among("be stay work run support keep remain fit pass compile come", verb);
            !among(other, subject) && !among(PEOPLE, subject) && (word.starts_with("ha") || lasting)
        }
    }
}

pub(super) fn requires_with_should(words: &Words<'_>, at: usize) -> bool {
    let denied = words.words[at] != "should" || words.at(at + 1) == "not";
    let verb = if words.at(at + 1) == "not" { at + 2 } else { at + 1 };
    let subject = words.before(at);
    // "It shouldn't ever touch the database."
    if denied && words.at(verb) == "ever" || words.words[at] == "should" && words.at(verb) == "never" {
        return !words.has("but still yet currently") && words.at(verb + 1) != "have";
    }
    if among("i we it that this |", subject) {
        return false;
    }
    match words.at(verb) {
        CLAUSE | "have" => false,
        "always" | "only" => !among(PEOPLE, subject) && !among(PRODUCT, words.at(verb + 1)),
        "touch" | "change" | "depend" | "contain" | "import" | "use" | "log" | "know" if denied => true,
        _ => denied && (subject == "you" || words.has("more longer larger bigger exceed fewer less")),
    }
}

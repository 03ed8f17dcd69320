//! "Don't", "never", "no", "without": which of them forbid something to Claude.

use super::words::{CLAUSE, Words};
use super::{CHANGES, DOES, ORDERS, PRODUCT, STATEMENTS, is_added, is_third_person, requires_with_must};
use crate::text::word_list::among;

/// "…, without disabling any rule", but not "without the patch it takes 3 seconds".
pub(super) fn works_without(words: &Words<'_>, at: usize) -> bool {
    const ACTS: &str = "any asking adding changing breaking touching new external";
    // What a program does.
    const RUNS: &str = "raising throwing crashing failing blocking loading";
    let next = words.at(at + 1);
    let rest = words.rest(at);
    if among(RUNS, next) {
        return false;
    }
    if !words.opens(at) {
        // "Fix the slow query without adding gems."
        return among(DOES, words.head(at).first().unwrap_or(&""))
            && among("adding changing breaking touching introducing installing", next);
    }
    let is_added = !words.begins(at) && is_added(words, at);
    among(ACTS, next)
        || is_added && (next.ends_with("ing") && next.len() > 5)
        || is_added && rest.len() <= 3 && !among("| the a an it this that problems luck success result", next)
}

/// `verb` is the index of the word after the denial.
pub(super) fn forbids(words: &Words<'_>, at: usize, verb: usize) -> bool {
    const OTHER: &str = "| worry mind know think care see get understand forget like hesitate bother need remember matter be you we \
                         they panic wait work recall believe trust wanna feel agree seem exist really recognise recognize give \
                         rush let allow permit accept crash stress overthink laugh judge blame show display render redirect hide highlight animate scroll";
    let word = words.at(verb);
    if word == "you" && words.at(verb + 1) == "dare" {
        return true;
    }
    let asks_me = word == "ask" && words.at(verb + 1) == "me" && words.at(verb + 2) == "why";
    if among(OTHER, word) || asks_me || word == "have" && !words.opens(at) {
        return false;
    }
    if words.opens(at) {
        // "Don't send the newsletter to guests."
        let is_for_people = words
            .rest(verb)
            .iter()
            .any(|word| among("users customers visitors subscribers guests members", word));
        let is_mail = is_for_people && among("send notify email charge ask", word);
        return !is_mail && !is_name_of(words.rest(verb));
    }
    let after = words.at(verb + 1);
    match words.before(at) {
        "i" if word == "want" && after == "to" => {
            let sees_any = words.at(verb + 2) == "see" && among("any a new", words.at(verb + 3));
            sees_any || !among("know see wait hear go bother be think", words.at(verb + 2))
        }
        "i" => word == "want" && among("any a another new you your our more extra us the this", after),
        "we" => {
            among("use commit merge push add deploy ship log store allow want do", word)
                && words.has("here repo project codebase anymore team directly any this")
                && !words.has("except yet remove drop delete clean")
        }
        // It follows an order.
        "and" => words.head(at).first().is_some_and(|first| !among("i we it they the if when", first)),
        _ => false,
    }
}

/// "Do not disturb mode is broken."
fn is_name_of(rest: &[&str]) -> bool {
    const LINKS: &str =
        "that which who where what if when while because until unless as since it they there this how";
    let finite = rest.iter().position(|word| among("is are was were should", word));
    finite.is_some_and(|at| at > 1 && !rest[..at].iter().any(|word| among(LINKS, word)))
}

pub(super) fn forbids_with_not(words: &Words<'_>, at: usize) -> bool {
    let next = words.at(at + 1);
    match words.before(at) {
        // "I'd ask you not to touch it."
        "you" => words.asks || next == "to" && words.before(at - 1) == "ask" && words.has("i i'd"),
        "to" => {
            words.words[..at].ends_with(&["you", "to"])
                && words.begins_with_clause(at)
                && words.has("like want need prefer ask")
        }
        // "You are not to read that file."
        "is" | "are" | "you're" if next == "to" => {
            words.head(at).iter().any(|word| among("you you're", word)) || words.at(at + 2) == "be"
        }
        _ if next == "more" && words.at(at + 2) == "than" && words.opens(at) => true,
        "please" | "pls" | "plz" => !among("| that this those these it now yet so again", next),
        "let's" => among("add use touch change introduce break commit deploy merge rewrite", next),
        CLAUSE => {
            // "tabs, not spaces", "use pnpm, not npm", "on the branch, not on main".
            let instead = words.head(at.saturating_sub(1));
            let pointed = among("that this the so yet sure really because a just it too like |", next);
            let ordered = instead.first().is_some_and(|first| among(ORDERS, first))
                && !instead.get(1).is_some_and(|what| instead[0] == "use" && among("a an the", what))
                || instead.iter().any(|word| among("must always only", word));
            let is_short = words.words.len() <= 7
                && !instead.is_empty()
                && !among("in on at from when with for", words.at(0))
                && !instead.iter().any(|word| among(STATEMENTS, word));
            !pointed && at > 0 && (ordered || is_short)
        }
        "must" => requires_with_must(words, at - 1),
        _ => false,
    }
}

pub(super) fn forbids_with_never(words: &Words<'_>, at: usize) -> bool {
    const PAST: &str = "| mind seen had been got heard thought knew understood ran have said did saw came a";
    // "Never, ever …"
    let ever = words.at(at + 1) == CLAUSE && words.at(at + 2) == "ever";
    let next = words.at(if ever { at + 3 } else { at + 1 });
    if among(PAST, next) || next.ends_with("ed") && !among("need embed exceed feed seed", next) {
        return false;
    }
    match words.before(at) {
        _ if words.opens(at) => !among(PRODUCT, next) && !is_third_person(next),
        // "It should never be null, but it is" describes a fault.
        "should" => !words.has("but still yet currently") && next != "have",
        "must" | "may" => true,
        "can" => words.before(at - 1) != "i",
        "we" => !next.ends_with("es") && next != "know",
        "and" => words.head(at).first().is_some_and(|first| among(ORDERS, first) || *first == "always"),
        _ => false,
    }
}

pub(super) fn forbids_with_no(words: &Words<'_>, at: usize) -> bool {
    const OTHER: &str = "problem problems idea need worries luck way doubt matter wonder one thanks thank it it's that that's this the i \
                         you we he she they not difference clue hurry rush reason rule no please don't just if but because there \
                         wait sorry longer later sooner and test sign response surprise question questions joke wrong still clear big link such \
                         stdout stderr args dice joy chance avail cigar";
    const RESULTS: &str = "error errors output result results success crash crashes warnings effect change changes failures logs diff \
                           matches regressions validation timeout response stack trace traceback exception message messages data rows entries answer \
                           reply progress internet network access permission traffic request requests event events value luck";
    const HAPPENS: &str = "arrives fires reaches goes comes shows appears works happens gets loads starts runs returns matches helps fails \
                           exists exist remains seems makes appear show work happen come arrive";
    let rest = words.rest(at + 1);
    // "When I save, no request goes out."
    if among("when if after since while because although once whenever still somehow", words.at(0)) && at > 0
        || rest.iter().take(4).any(|word| among(HAPPENS, word))
        || rest.get(1).is_some_and(|word| *word == "run")
    {
        return false;
    }
    let Some(next) = rest.first() else { return false };
    if among(OTHER, next)
        || rest.iter().any(|word| among("needed required necessary is are was were has exists found", word))
    {
        return false;
    }
    // "No border radius on the cards."
    if rest.iter().take(3).any(|word| among("border borders padding margin margins shadow shadows radius gap gaps scrollbar scrollbars underline underlines outline", word)) {
        return false;
    }
    // "No test covers this function."
    if matches!(rest, [_, verb, object, ..] if verb.ends_with('s') && among("the this that it a an any my our me us them", object))
    {
        return false;
    }
    let is_reported = among(RESULTS, next)
        && rest.get(1).is_some_and(|word| among("in on at from so yet anymore", word))
        || *next == "more"
            && rest.get(1).is_some_and(|word| among("questions question ideas time news", word));
    if is_reported || rest.len() < 3 && rest.iter().any(|word| among(RESULTS, word)) {
        return false;
    }
    let head = words.head(at);
    // "Root cause: no validation" describes; "two things: no mocks" orders.
    let described = words.words[..at].iter().any(|word| {
        among("cause reason result …", word)
            || word.ends_with("ing") && !among("existing string during following nothing", word)
    });
    words.opens(at) && (!described || words.begins(at))
        || head.ends_with(&["i", "said"])
        || head.ends_with(&["want"]) && head.contains(&"i")
        || head.ends_with(&["with"])
            && among("new extra additional external third-party", next)
            && among(DOES, head[0])
        || head.ends_with(&["with"]) && head.first().is_some_and(|first| among(ORDERS, first))
}

pub(super) fn forbids_with_nothing(words: &Words<'_>, at: usize) -> bool {
    const DEEDS: &str = "may must should gets touches leaves ships merges deploys pushes changes edits goes";
    let rest = words.rest(at + 1);
    if words.words[at] == "nothing" {
        let ordered =
            among("write change touch delete install push commit add edit merge skip", words.before(at));
        if ordered && words.opens(at - 1) {
            return true;
        }
        if words.opens(at)
            && rest.first().is_some_and(|next| among("longer bigger larger more newer older", next))
        {
            return true;
        }
        // "Fix the typo, nothing else."
        if words.opens(at) && matches!(rest, ["else"] | ["else", "please"]) && at > 0 {
            return among(CHANGES, words.at(0)) || words.has("only just");
        }
    }
    // "Nothing changes when I save."
    let describes = rest.iter().any(|word| among("when if after even although anymore but", word))
        || rest.windows(2).any(|pair| {
            among("gets goes", pair[0])
                && !among("edited changed touched merged deployed pushed committed deleted removed renamed modified shipped into", pair[1])
        });
    words.opens(at) && !describes && rest.iter().any(|word| among(DEEDS, word))
}

pub(super) fn forbids_with_cannot(words: &Words<'_>, at: usize) -> bool {
    const ACTS: &str = "use add have change upgrade break touch rely depend ship deploy merge exceed store drop require afford \
                        introduce install modify share migrate";
    let (subject, verb) = (words.before(at), words.at(at + 1));
    if words.words[at] == "won't" {
        return subject == "we" && among("use do support add upgrade need migrate accept", verb);
    }
    // "The response shape can't change."
    let is_fixed =
        verb == "change" && words.at(at + 2) == CLAUSE && !among("i it he she they user users |", subject);
    (among("we you", subject) && among(ACTS, verb) || is_fixed) && !words.has("see why")
}

//! English sentences that forbid, require or limit something.
//!
//! A sentence becomes a list of lower-case words with a mark (`|`) between clauses. Each word that can carry a
//! constraint is judged by its neighbours and by its place in the clause.

mod denials;
mod duties;
mod vetoes;
mod words;

use crate::text::search;
use crate::text::word_list::{Words as WordList, among};
use denials::{
    forbids, forbids_with_cannot, forbids_with_never, forbids_with_no, forbids_with_not,
    forbids_with_nothing, works_without,
};
use duties::{requires_with_have, requires_with_must, requires_with_should};
pub(super) use vetoes::{Follow, follow, is_of_others, is_statement};
use vetoes::{
    asks_not_to, is_fault, is_foreign, is_kept, is_of_product, is_report, lifts, purpose, second_order,
    specifies, text_from,
};
use words::CLAUSE;
pub(super) use words::{Words, normalise};

/// Words with which a sentence is worth reading closely.
const CUES: WordList = "don't dont not never no nothing nobody must mustn't mustnt has have needs need may should shouldn't can't \
    cannot cant won't only always avoid stop leave keep stick ensure sure prefer instead rather limit most max \
    max. maximum stay stays read-only readonly scope ask until without allowed forbidden prohibited mandatory \
    nowhere limits off-limits freeze on me want circumstances account important throughout except session whenever \
    budget hard wait doubt under keeps hands table isn't aren't refrain per gets each every forbids bans frozen \
    english german japanese french spanish shouldnt none taboo untouchable verboten banned no-go case point \
    exclusively mind restrict skip possible treat preserve steer hold forward zero untouched unchanged intact remain remains shall";

/// For each first letter of a cue the set of its last letters, in any case: a cheap look at most words.
const CUE_ENDS: [u32; 32] = {
    let (list, mut ends) = (CUES.as_bytes(), [0_u32; 32]);
    let (mut first, mut at) = (0, 1);
    while at <= list.len() {
        if at == list.len() || list[at] == b' ' {
            ends[(list[first] % 32) as usize] |= 1 << (list[at - 1] % 32);
            first = at + 1;
        }
        at += 1;
    }
    ends
};

fn may_be_cue(word: &[u8]) -> bool {
    let (Some(first), Some(last)) = (word.first(), word.last()) else { return false };
    CUE_ENDS[usize::from(first % 32)] >> (last % 32) & 1 != 0
}

fn is_cue(word: &str) -> bool {
    may_be_cue(word.as_bytes()) && among(CUES, word)
}

/// Whether a cue is anywhere in a text: most prompts have none, and are not read closely.
pub(super) fn has_cue(text: &str) -> bool {
    if search::find(text.as_bytes(), b"w/o").is_some() {
        return true;
    }
    let is_part = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'\'' | b'-');
    text.as_bytes().split(|byte| !is_part(byte)).any(|word| {
        let word = without_hyphens(word);
        may_be_cue(word) && is_cue_in_any_case(word)
    })
}

fn without_hyphens(mut word: &[u8]) -> &[u8] {
    while let [b'-', rest @ ..] | [rest @ .., b'-'] = word {
        word = rest;
    }
    word
}

fn is_cue_in_any_case(word: &[u8]) -> bool {
    let mut lower = [0; LONGEST_CUE];
    let Some(lower) = lower.get_mut(..word.len()).filter(|_| word.len() > 1) else { return false };
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    std::str::from_utf8(lower).is_ok_and(is_cue)
}

const LONGEST_CUE: usize = 16;

/// "don't touch it", "no new deps", "only in src/": not the "no" and "only" of a description.
pub(super) fn begins_with_order(remark: &str) -> bool {
    let first = remark.trim_start().split(' ').next().unwrap_or_default().to_ascii_lowercase();
    among("don't dont do no never only without please", &first) && remark.contains(' ')
}

pub(super) fn is_constraint(words: &Words<'_>) -> bool {
    if !words.words.iter().any(|word| is_cue(word)) || is_foreign(words) || lifts(words) {
        return false;
    }
    let begins = among("can could would will", words.at(0)) && words.at(1) == "you";
    let from = if begins && !asks_not_to(words) { second_order(words) } else { 0 };
    if from == 0 && (words.asks && !asks_not_to(words) || is_report(words))
        || is_fault(words)
        || specifies(words)
    {
        return false;
    }
    let until = text_from(words);
    let purpose = purpose(words);
    (from..until).any(|at| {
        is_cue(words.words[at])
            && !purpose.contains(&at)
            && constrains(words, at)
            && !is_of_product(words, at)
    })
}

fn constrains(words: &Words<'_>, at: usize) -> bool {
    let (before, next) = (words.before(at), words.at(at + 1));
    let orders = || words.opens(at) && next != CLAUSE;
    match words.words[at] {
        "don't" | "dont" => forbids(words, at, at + 1),
        "not" if before == "do" => forbids(words, at - 1, at + 1),
        "not" => forbids_with_not(words, at),
        "never" => forbids_with_never(words, at),
        "no" => forbids_with_no(words, at),
        "nothing" | "nobody" | "none" => forbids_with_nothing(words, at),
        "must" | "mustn't" | "mustnt" => requires_with_must(words, at),
        "shall" => among("not never only remain stay", next) && requires_with_must(words, at),
        "has" | "have" | "needs" | "need" => requires_with_have(words, at),
        "should" | "shouldn't" | "shouldnt" => requires_with_should(words, at),
        "can't" | "cannot" | "cant" | "won't" => forbids_with_cannot(words, at),
        "may" => among("not only never", next) && (among("you we", before) || before == "nobody"),
        // "Treat it as read only."
        "only" if words.words[..at].ends_with(&["as", "read"]) => true,
        "only" => limits_with_only(words, at),
        "always" => {
            // "Always showing the old one" is a fault.
            let describes = is_third_person(next) || next.ends_with("ed") || next.ends_with("ing") && next.len() > 5;
            orders() && !among("the a an when on been", next) && !among(PRODUCT, next) && !describes
        }
        "prefer" if before == "i" || before == "i'd" || before == "would" => {
            among("if you it", next) && words.has("didn't don't not") && words.has("you")
        }
        // "Would you mind leaving the fixtures alone?"
        "mind" => minds(words, at),
        "avoid" if words.asks && before == "we" => among("adding changing touching introducing any new", next),
        // "Would it be possible not to touch the tests?"
        "possible" => words.asks && next == "not" && words.begins_with_clause(at),
        "restrict" => words.opens(at) && among("yourself your the", next) && words.rest(at).contains(&"to"),
        "skip" => orders() && defers(words.rest(at)),
        "avoid" | "prefer" => orders() && next != "that",
        "stop" if next == "before" => words.opens(at),
        "stop" => {
            let is_complaint = among("wasting kidding joking lying pretending complaining whining being", next);
            let ends = words.rest(at).iter().any(|word| among("after once when", word));
            words.opens(at) && next.ends_with("ing") && next.len() > 5 && !is_complaint && !ends
        }
        "leave" | "keep" if words.asks && before == "you" && at > 1 => is_kept(words.rest(at)),
        "leave" => {
            let is_last = words.rest(at) == ["leave", "it"] && at + 2 == words.words.len() && at > 0;
            let to_person = words.rest(at).windows(2).any(|pair| pair[0] == "to" && among("me us", pair[1]));
            words.opens(at) && is_last
                || to_person && (words.opens(at) || words.asks)
                || words.opens(at)
                    && !among("a an", next)
                    && words
                        .rest(at)
                        .iter()
                        .any(|word| among("alone unchanged untouched place intact is are", word))
        }
        "keep" if among("their its", next) && !words.opens(at) => keeps_its_name(words, at),
        "keep" => orders() && keeps(words.rest(at)),
        "stick" => words.opens(at) && among("to with", next),
        "sure" => before == "make" && words.opens(at - 1) && is_general(words, at),
        "ensure" => orders() && is_general(words, at),
        "instead" => next == "of" && uses_instead(words, at),
        "rather" if next == "you" && among("i'd would", before) => words.has("didn't don't not wouldn't"),
        "rather" => among("i'd would", before) && next == "not" || next == "than" && uses_instead(words, at),
        "limit" => {
            let own = "yourself change changes edit edits scope diff diffs commit commits answers answer work it lines";
            let rest = words.rest(at);
            words.begins(at) && rest.contains(&"to") && rest.iter().any(|word| among(own, word))
        }
        "most" => {
            before == "at"
                && (words.begins(at - 1) || is_added(words, at - 1))
                && !words.rest(at).iter().any(|word| among("is are was comes come get gets works", word))
        }
        // "Three runs max."
        "max" if next == CLAUSE => is_number(words.head(at).first().copied().unwrap_or_default()),
        "max" | "max." | "maximum" => {
            let counts = || words.rest(at).iter().any(|word| among(UNITS, word));
            let is_built = among("add implement create build set make extend", words.at(0));
            let is_rule =
                words.begins(at) || words.opens(at) && !is_built && starts_with_digit(next) && counts();
            let is_of_work = words.head(at).iter().all(|word| among("answer answers reply replies response responses commits prs functions comments", word))
                && !words.head(at).is_empty();
            (is_rule || is_of_work && starts_with_digit(next)) && next != CLAUSE && !words.rest(at).iter().any(|word| among("is are was has reached", word))
        }
        "stay" if words.opens(at) => !among("| tuned", next),
        "stay" | "remain" => {
            let kept = among("as the below under unchanged untouched green intact compatible identical", next);
            kept && !words.head(at).iter().any(|word| among("should might could to i they", word)) && stays(words, at)
        }
        "stays" | "remains" => stays(words, at),
        "untouched" | "unchanged" | "intact" => {
            among("is are be left keep leave completely totally", before)
                && stays(words, at)
                && !words.has("after even somehow")
        }
        "read-only" | "readonly" => among("is are as |", before) && words.words.len() < 12,
        "scope" => before == "of" && words.words[..at].ends_with(&["out", "of"]),
        "limits" => before == "off" && !words.has("nothing"),
        "off-limits" | "forbidden" | "prohibited" | "mandatory" | "taboo" | "untouchable" | "verboten" | "banned" | "no-go" => {
            among("as is are strictly remains remain stays stay still |", before)
                && !words.has("if 403 error returns")
        }
        // "I'm not allowed to do that myself."
        "allowed" if words.has("i'm i am") => false,
        "allowed" => among("not isn't aren't", before) || words.has("not") && words.has("you're you"),
        "ask" => {
            // "Ask the user before …" is built.
            if among("the users them people customers for", next) && !words.rest(at).iter().any(|word| among("me my", word)) {
                return false;
            }
            let first = matches!(words.rest(at), ["ask", "first"] | ["ask", "me", "first"]);
            first && among("for when before if", words.head(at).first().unwrap_or(&""))
                || words.opens(at)
                    && (words.rest(at).iter().any(|word| among("before first", word)) || words.has("doubt"))
        }
        "until" => words.head(at).contains(&"only") || words.rest(at).starts_with(&["until", "i", "say"]),
        "without" => works_without(words, at),
        "freeze" => before == "code",
        "nowhere" => next == "else" && !words.has("it happens appears fails works is"),
        // "From now on, answer in short sentences."
        "on" => {
            let head = &words.words[..at];
            let is_from = head.ends_with(&["from", "now"]) || head.ends_with(&["from", "here"]);
            is_from
                && (at < 4 && !words.has("i i'll we")
                    || next == CLAUSE && words.has("need want every all always"))
        }
        // "Before touching infra/ check with me."
        "me" if before == "let" => {
            // "Let me see the diff before you commit."
            words.opens(at - 1)
                && among("review see look check approve read verify confirm", next)
                && words.rest(at).windows(2).any(|pair| pair == ["before", "you"])
        }
        "me" => {
            let asked = words.words[..at].ends_with(&["check", "with"])
                || words.words[..at].ends_with(&["confirm", "with"])
                || before == "by" && words.has("run");
            asked && words.has("before first")
        }
        // "I want you to stay away from …"
        "want" => {
            let verb = words.at(at + 3);
            before == "i"
                && (words.words[at + 1..].starts_with(&["you", "to"])
                    && among("stay keep always never only not avoid ask leave stick", verb)
                    || among("each every", next) && among(WORK, words.at(at + 2)))
        }
        "circumstances" | "account" | "case" | "point" => {
            before == "no" && at > 1 && among("under on in at", words.before(at - 1)) && !words.has("is was did")
        }
        "exclusively" => words.begins(at) || words.head(at).first().is_some_and(|first| among(ORDERS, first)),
        "preserve" => orders() && words.begins(at),
        "steer" => words.opens(at) && next == "clear",
        "hold" if next == "to" => words.opens(at) && words.rest(at).contains(&"as"),
        "treat" => words.opens(at) && words.rest(at).windows(2).any(|pair| pair[0] == "as" && among("protected fixed immutable given final", pair[1])),
        "hold" => words.opens(at) && next == "off" && among("on with until from", words.at(at + 2)),
        "forward" => before == "going" && words.words.len() > 4 && !words.has("i i'll we we'll is"),
        "zero" => words.opens(at) && among("new additional external extra", next),
        "important" => next == "that" && among("it's is", before),
        "throughout" => next == CLAUSE && words.head(at).len() == 2 && words.words.len() <= 4,
        "except" => words.opens(at) && next != CLAUSE && among(CHANGES, words.at(0)),
        // "For this whole session, …"
        "session" => next == CLAUSE && words.at(0) == "for" && words.begins_with_clause(at),
        "whenever" => {
            words.begins(at)
                && next == "you"
                && !words.rest(at).iter().any(|word| among("time want like can ready", word))
        }
        "budget" => among("is of", next) && starts_with_digit(words.at(at + 2)),
        "hard" => among("limit cap", next) && words.opens(at) || next == "requirement" && before == "a" && words.has("is"),
        "wait" => words.opens(at) && among("for until", next) && among("my me i", words.at(at + 2)),
        "doubt" => before == "in" && among("when if", words.before(at - 1)),
        "under" => {
            starts_with_digit(next) && words.head(at).iter().any(|word| among("stay stays keep remain", word))
        }
        "keeps" => among("its their", next) && keeps_its_name(words, at),
        "hands" => next == "off" && words.opens(at),
        // Not "that's off the table now": the rule is.
        "table" => words.words[..at].ends_with(&["off", "the"]) && !words.has("now that's rule"),
        "isn't" | "aren't" => words.words[at + 1..].starts_with(&["to", "be"]),
        "refrain" => next == "from" && !words.has("i they"),
        // "One PR per module."
        "per" => at > 1 && words.at(at - 2) == "one" && among(WORK, before) && words.begins(at - 2),
        "gets" => {
            among("each every", words.head(at).first().unwrap_or(&""))
                && words.words[at + 1..].starts_with(&["its", "own"])
        }
        // "Commit after each step."
        "each" | "every" => {
            among("after before", before)
                && words.head(at).first().is_some_and(|first| {
                    among(REPEATED, first) || *first == "show" && words.head(at).contains(&"me")
                })
        }
        "forbids" | "bans" => {
            words.has("our we") && at < 6 && !among("linter eslint ci hook compiler pipeline config clippy", before)
        }
        "frozen" => among("is are", before) && !words.has("it ui screen app page window process tab browser simulator terminal cursor video game animation row"),
        // "Answers in German, please."
        "english" | "german" | "japanese" | "french" | "spanish" => {
            before == "in"
                && words.words.len() <= 12
                && words.head(at).iter().any(|word| {
                    among("answer answers reply replies respond comments comment docs messages", word)
                })
        }
        _ => false,
    }
}

/// "Would you mind not touching it?", "mind leaving it in place?"; not "would you mind explaining it?"
fn minds(words: &Words<'_>, at: usize) -> bool {
    let begins = at == 0 || words.before(at) == "you" && among("would do", words.before(at - 1));
    let rest = &words.rest(at)[1..];
    let (first, after) = (rest.first().copied().unwrap_or_default(), rest.get(1..).unwrap_or_default());
    words.asks && begins && (first == "not" || among("leaving keeping", first) && is_kept(after))
}

/// "Skip the push for the moment."
fn defers(rest: &[&str]) -> bool {
    let now = rest.windows(2).any(|pair| matches!(pair, ["for", "now"]));
    (now || rest.windows(3).any(|three| matches!(three, ["for", "the", "moment"])))
        && rest.iter().any(|word| among("push commit commits deploy release tests docs merge tag", word))
}

/// Orders that make sense more than once.
const REPEATED: &str = "commit run test push format lint check ask stop rebuild";

/// They measure code.
const UNITS: &str = "lines line chars characters columns words sentences files commits";

/// What the product deals with.
const THINGS: &str =
    "page pages order orders invoice invoices item items product products card row booking post account slug";

/// What a person works with, and its singular after "one" and "each".
const WORK: &str = "pr commit step change diff file test function branch module ticket patch";

/// "The column keeps its old name."
fn keeps_its_name(words: &Words<'_>, at: usize) -> bool {
    let named = |word: &&str| among("name names format shape signature signatures", word);
    words.rest(at).iter().any(named) && !words.has("it why when if")
}

fn is_number(word: &str) -> bool {
    starts_with_digit(word) || among("one two three four five ten", word)
}

/// Orders to change something.
const CHANGES: &str =
    "update upgrade bump change rename fix move delete remove refactor convert migrate format clean run";

/// A short limit after a task: "add retries, at most three".
fn is_added(words: &Words<'_>, at: usize) -> bool {
    const TOLD: &str = "it it's is are was were took takes has i we they fails";
    words.opens(at) && words.rest(at).len() <= 6 && !words.words[..at].iter().any(|word| among(TOLD, word))
}

/// Orders to do something.
const DOES: &str = "fix make solve implement add build rewrite speed get find port split move do replace rename refactor clean update";

fn starts_with_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

const ORDERS: &str = "use work write put store call run name import log do";

const STATEMENTS: &str = "is are was it it's i i'm that that's comes were works fails wait no yes he she they sorry ok has does hmm \
                          maybe yet";

/// What a program does, more often than Claude.
const PRODUCT: &str = "show shows display render redirect hide appear close load fires arrives works happens finishes returns return sort lowercase uppercase trim round escape sanitize throw";

/// They use what is built, or build something else.
const PEOPLE: &str = "user users customer customers visitor visitors admin admins editor editors people team teams client clients tenant tenants \
     member members guest guests player players form function method field input button dialog popup password token";

/// Where something happens.
const PLACES: &str = "safari firefox chrome edge ios android windows mac macos linux mobile desktop prod production staging ci locally";

fn limits_with_only(words: &Words<'_>, at: usize) -> bool {
    const ACTS: &str = "change touch edit use modify run work commit add fix write look read update deploy merge refactor bug standard in";
    const FINITE: &str =
        "is are was were fails fail works has have does do happens took takes need needs failed works";
    const LEFT: &str = "left remaining remains missing question questions";
    let ever = usize::from(words.at(at + 1) == "ever");
    let next = words.at(at + 1 + ever);
    let head = words.head(at);
    let has_subject = head.iter().any(|word| among("i we it you he she they it's i'm that is are", word));
    // "The only file you may edit is config.yaml."
    if words.before(at) == "the" {
        return words.rest(at).windows(2).any(|pair| pair[0] == "you" && among("may can should", pair[1]));
    }
    if words.opens(at) {
        // "Only I merge."
        if among("i me", next) {
            return (3..=4).contains(&words.rest(at).len()) && !words.has("see get have");
        }
        let is_counted = among("one two three", next)
            && !words.rest(at).iter().any(|word| among(FINITE, word) || among(LEFT, word));
        // "Only in Safari" tells where it fails.
        let is_place = next == "in" && !words.rest(at).iter().any(|word| is_path(word) || among(PARTS, word));
        return among(ACTS, next) && words.rest(at).len() > 2 && !is_place
            || is_counted
            || words.rest(at).contains(&"until");
    }
    // "comments in English only", "backend only".
    if next == CLAUSE || next == "please" && words.at(at + 2) == CLAUSE {
        let is_short = words.words.len() <= 8 || head.len() <= 3 && words.words.len() <= 14;
        let describes = words.words.iter().any(|word| among(PEOPLE, word) || among(PLACES, word));
        let is_rule =
            !words.has("… yeah create make show hide display render enable") && !describes && is_short;
        return is_rule && !has_subject && !head.iter().any(|word| among(FINITE, word));
    }
    if has_subject {
        return false;
    }
    // "Run only the unit tests", "Deploys only through the pipeline".
    let is_ordered = head.len() == 1
        && among("use work write put run name import log change edit touch test commit fix deploy", head[0]);
    is_ordered || among("through via after", next) && head.len() <= 3
}

const PARTS: &str = "file files folder directory module package branch repo";

/// "Returns", not "access".
fn is_third_person(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us")
}

fn is_path(word: &str) -> bool {
    word == "…" || word.trim_end_matches('.').contains(['/', '.'])
}

fn keeps(rest: &[&str]) -> bool {
    const STATES: &str =
        "open closed visible hidden focused selected highlighted expanded alive connected logged";
    const OTHER: &str = "going on track working trying me that in up looking at digging pushing both only an";
    let next = rest.get(1).copied().unwrap_or_default();
    !among(OTHER, next)
        && !next.ends_with("ing")
        && !rest.iter().any(|word| among(STATES, word))
        && !rest.iter().any(|word| among("mind eye up", word))
}

/// "Make sure every endpoint has a test", not "make sure the server runs".
fn is_general(words: &Words<'_>, at: usize) -> bool {
    /// What Claude makes or changes.
    const MADE: &str = "test tests endpoint endpoints file files function functions commit commits type types lint build existing api \
                        signature signatures name names behaviour behavior change changes code step comment comments docs module modules";
    let rest = words.rest(at);
    let has = |list| rest.iter().any(|word| among(list, word));
    has("never not don't") && rest.contains(&"you")
        || has("every each any all no always only before nothing none without") && has(MADE) && !has(PEOPLE)
}

/// "Use X instead of Y", as an order.
fn uses_instead(words: &Words<'_>, at: usize) -> bool {
    let everywhere = words.has("everywhere always");
    let is_order = |index: &usize| among("use prefer", words.words[*index]) && words.opens(*index);
    // "Use a set instead of a list in dedupe.rs" is a task.
    let names_tool = |index: &usize| !among("a an the this that", words.at(index + 1));
    let used = (0..words.words.len()).any(|index| is_order(&index) && (everywhere || names_tool(&index)));
    if !everywhere && words.words.iter().any(|word| is_path(word)) {
        return false;
    }
    (used || at == 0 && words.has("use")) && (everywhere || words.words.len() <= 9)
        || everywhere && words.words.len() <= 8 && !words.has(STATEMENTS)
}

/// "The JSON renderer stays the default."
fn stays(words: &Words<'_>, at: usize) -> bool {
    let head = words.head(at);
    !head.is_empty()
        && words.words.len() <= 10
        && !head.iter().any(|word| among("it if when why that which but still", word))
        && !words.rest(at).iter().any(|word| among("open empty blank red stuck null", word))
}

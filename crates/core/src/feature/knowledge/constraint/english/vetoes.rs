//! English sentences that only look like a constraint: faults, questions, guesses, the words of others, permissions.

use super::words::{CLAUSE, FILLERS, Words, normalise};
use crate::text::word_list::among;

/// "The list should never be empty, fix that."
pub(super) fn is_fault(words: &Words<'_>) -> bool {
    let is_order = |words: &[&str]| {
        matches!(
            words,
            ["fix" | "implement" | "enforce" | "add" | "handle", "it" | "that" | "this", ..]
                | ["please" | "just" | "so" | "and", "fix" | "implement", ..]
                | ["add" | "write", "a" | "tests", ..]
        )
    };
    let begins_with_order = among("don't dont do never please only no", words.at(0));
    // "It must be unique but currently it isn't."
    let is_contradicted = words.words.windows(2).any(|pair| {
        among("but yet though although whereas instead", pair[0])
            && among(
                "it they currently now right at sometimes still somehow mine ours this that actually nothing",
                pair[1],
            )
    });
    // "The export must not lose rows, right now it does."
    let pairs = || words.words.windows(2);
    let is_wish = !among(
        "don't dont do never please only no leave keep avoid stay stop hands hold always i you make",
        words.at(0),
    );
    let is_present = pairs()
        .any(|pair| matches!(pair, ["right", "now"] | ["out", "why"] | ["any" | "no", "idea"]))
        || words.has("anyway somehow") && words.has("but");
    if is_wish && is_present {
        return true;
    }
    (words.words.split(|word| *word == CLAUSE).skip(1).any(is_order) || is_contradicted) && !begins_with_order
        || words.at(0) == "todo"
}

/// "Make the password rules configurable: never the same as the last five": what is built has rules of its own.
pub(super) fn specifies(words: &Words<'_>) -> bool {
    const BUILDS: &str =
        "add implement write build make create validate configure enforce support extend define introduce";
    const RULES: &str = "validation validator validate validates rule rules configurable constraint policy checks lint linter";
    let first = words.words.iter().position(|word| !among(FILLERS, word) && *word != CLAUSE);
    let Some(first) = first.filter(|at| among(BUILDS, words.at(*at))) else { return false };
    words.rest(first).iter().any(|word| among(RULES, word))
}

/// "Could you please not touch …?"
pub(super) fn asks_not_to(words: &Words<'_>) -> bool {
    let is_impersonal = matches!(
        words.words.as_slice(),
        ["can" | "could", "we", "avoid", ..] | ["would", "it", "be", "possible", "not", ..]
    );
    if is_impersonal || words.at(0) == "mind" && among("not leaving keeping", words.at(1)) {
        return true;
    }
    let you = words.words.iter().take(4).position(|word| *word == "you");
    let Some(you) = you.filter(|you| among("could can would will ask", words.before(*you))) else {
        return false;
    };
    // "Can you not see the file?" only asks.
    if words.before(you) == "can" && words.at(you + 1) == "not" && !words.has("please") {
        return false;
    }
    // "Would you mind leaving it alone?" is judged by what follows.
    if words.at(you + 1) == "mind" {
        return among("not leaving keeping", words.at(you + 2));
    }
    // "Could I ask you to leave it to me?"
    let asked = words.before(you) == "ask";
    words.words[you + 1..].iter().take(3).enumerate().any(|(at, word)| {
        among("not avoid never", word)
            || asked && among("leave stay keep refrain", word)
            || among("leave keep", word) && is_kept(words.rest(you + 2 + at))
    })
}

/// "… alone", "… as it is", "… to me".
pub(super) fn is_kept(rest: &[&str]) -> bool {
    // "As it is", not "as an alias".
    let is_pair = |pair: &[&str]| {
        pair[0] == "to" && among("me us", pair[1]) || pair[0] == "as" && among("is it they before", pair[1])
    };
    rest.windows(2).any(is_pair)
        || rest.iter().any(|word| among("alone unchanged untouched intact", word))
        || rest.ends_with(&["in", "place"])
}

/// In "Can you add it, but don't touch the schema?": where the second part begins.
pub(super) fn second_order(words: &Words<'_>) -> usize {
    (4..words.words.len())
        .find(|at| {
            among("don't dont do no never only hands leave keep", words.at(*at)) && words.before(*at) == "but"
        })
        .unwrap_or(words.words.len())
}

/// Whether a sentence is in another language, or says what others say.
pub(in super::super) fn is_of_others(sentence: &str) -> bool {
    let mut buffer = String::new();
    normalise(sentence, &mut buffer);
    let words = Words::of(&buffer, sentence);
    is_foreign(&words) || is_report(&words)
}

/// Languages that share "no" with English, and notes in shorthand.
pub(super) fn is_foreign(words: &Words<'_>) -> bool {
    words.has("el los las una que del por para con hay funciona esta uma não che il → => ->")
        || words.at(0) == "…" && words.at(1) == CLAUSE
}

/// They have wishes of their own.
const PERSONS: &str = "colleague boss teacher friend manager teammate coworker reviewer professor lecturer ceo cto interviewer mentor \
     designer architect vendor client customer supervisor predecessor";

/// What a sentence makes of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Follow {
    /// It is no rule, whatever its form.
    Annuls,
    /// The same, unless this sentence adds a rule: "Actually no, never touch the tests either."
    AnnulsIfNoRule,
    /// It is no rule if it states something: it tells what the product should do.
    Describes,
    Leaves,
}

/// Whether a sentence has a subject, and gives no order.
pub(in super::super) fn is_statement(sentence: &str) -> bool {
    let is_order =
        |word: &str| among("don't dont do never no only always keep leave avoid stop use please pls", word);
    let mut words = sentence.split_ascii_whitespace().map(str::to_ascii_lowercase);
    let first = words.next().unwrap_or_default();
    !is_order(&first)
        && words.any(|word| among("must has have should needs need may never can't cannot", &word))
}

/// A sentence after which the one before is no rule for Claude: "Implement that.", "Is he right?", "Actually no".
pub(in super::super) fn follow(sentence: &str) -> Follow {
    let mut lower = [0; 24];
    let head = sentence.as_bytes();
    let length = head.len().min(lower.len());
    lower[..length].copy_from_slice(&head[..length]);
    lower[..length].make_ascii_lowercase();
    let begin_in = |list: &[&'static str]| {
        list.iter().copied().find(|begin| lower[..length].starts_with(begin.as_bytes()))
    };
    // "Scratch that", but not "scratch that itch"; "actually no", but not "actually no new dependencies".
    let stands_alone = |begin: &str| stands_alone(&sentence[begin.len()..]);
    if begin_in(&["scratch that"]).is_some_and(stands_alone) {
        return Follow::Annuls;
    }
    if begin_in(&["actually no", "actually, no", "wait no", "wait, no", "no wait", "no, wait"])
        .is_some_and(stands_alone)
    {
        return Follow::AnnulsIfNoRule;
    }
    let begins = |list: &[&'static str]| begin_in(list).is_some();
    if begins(&[
        "is that ",
        "is he ",
        "is she ",
        "is it true",
        "are they ",
        "does that ",
        "what does ",
        "what do they",
    ]) {
        return Follow::Annuls;
    }
    if begins(&[
        "fix it",
        "fix that",
        "fix this",
        "please fix",
        "implement it",
        "implement that",
        "implement this",
        "please implement",
        "can you fix",
        "can you implement",
        "right now",
        "currently",
        "at the moment",
        "but right now",
        "but now",
        "but it ",
        "write a test",
        "add a test for",
        "add a constraint",
        "add a check",
        "add a unique",
        "add validation",
        "enforce th",
        "instead it",
    ]) {
        return Follow::Describes;
    }
    Follow::Leaves
}

/// Whether nothing that follows belongs to the words before it: their clause ends, or a new one begins with its subject.
fn stands_alone(rest: &str) -> bool {
    let is_joined = rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '\'' | '-'));
    let rest = rest.trim_start();
    let next = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default().to_ascii_lowercase();
    !is_joined && (!rest.starts_with(char::is_alphanumeric) || among("i we you it", &next))
}

/// What another person, a text or a program says, a guess, or a question without a question mark.
pub(super) fn is_report(words: &Words<'_>) -> bool {
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

/// "The sidebar must collapse on mobile": what the product does, or when it does it.
pub(super) fn is_of_product(words: &Words<'_>, at: usize) -> bool {
    const DOES: &str = "collapse close open expire show hide display render load appear submit redirect scroll resize overlap blink jump animate \
         process skip charge accept validate trigger fire play pause refresh reload focus blur fade slide notify sort filter return stop start";
    let mut verb = at + 1;
    while among("not never only always to also be", words.at(verb)) {
        verb += 1;
    }
    let subject = words.head(at);
    let is_wish = among("must not has have needs need should shouldn't never only", words.words[at]);
    let is_of_work = subject.iter().any(|word| {
        among("you we every each all everything nothing test tests build code lint ci command commands", word)
    });
    is_wish && !subject.is_empty() && !is_of_work && !words.opens(at) && among(DOES, words.at(verb))
        || happens_when(words, at)
}

/// "Keep the ratio when resizing": it happens while the product runs.
fn happens_when(words: &Words<'_>, at: usize) -> bool {
    const OF_WORK: &str = "you i i'm you're refactoring doing touching editing renaming fixing writing adding changing moving committing working \
         implementing testing migrating updating in needed necessary possible";
    let rest = words.rest(at);
    let when = rest.iter().position(|word| among("when while", word));
    let Some(when) = when.filter(|when| *when > 0) else { return false };
    among("keep avoid prefer stop don't dont never must has", words.words[at])
        && !rest.get(when + 1).is_none_or(|word| among(OF_WORK, word))
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

/// An order to write a text, and what it has to say: "write a notice that we must not …".
pub(super) fn text_from(words: &Words<'_>) -> usize {
    const WRITES: &str = "write draft compose post send put add update show display";
    const TEXTS: &str = "announcement message email e-mail mail note notice banner comment post text tooltip label readme docs docstring \
         heading title reply slack warning memo";
    let none = words.words.len();
    let Some(first) = words.words.iter().position(|word| !among(FILLERS, word) && *word != CLAUSE) else {
        return none;
    };
    if !among(WRITES, words.at(first)) {
        return none;
    }
    let text = (first..none).find(|at| among(TEXTS, words.at(*at)));
    let says = |at: &usize| among("that saying telling stating", words.at(*at));
    text.and_then(|text| (text..none).find(says)).unwrap_or(none)
}

/// "Add a lock so only one worker runs": the clause that says what the product does then.
pub(super) fn purpose(words: &Words<'_>) -> std::ops::Range<usize> {
    const BUILDS: &str = "add implement write build make create introduce fix";
    let first = words.words.iter().position(|word| !among(FILLERS, word) && *word != CLAUSE).unwrap_or(0);
    let builds = among(BUILDS, words.at(first));
    let so = (first..words.words.len()).find(|at| {
        words.at(*at) == "so"
            && !among("no don't dont never please i we keep", words.at(at + 1))
            && words.before(*at) != CLAUSE
            || among("which", words.at(*at))
    });
    let Some(so) = so.filter(|_| builds) else { return 0..0 };
    let end = (so..words.words.len()).find(|at| words.at(*at) == CLAUSE).unwrap_or(words.words.len());
    so..end
}

/// Whether the sentence takes something back or allows it.
pub(super) fn lifts(words: &Words<'_>) -> bool {
    const RULES: &str =
        "rule rules limit limits constraint constraints restriction restrictions requirement said";
    if words.asks {
        return false;
    }
    words.words.iter().enumerate().any(|(at, word)| {
        let next = words.at(at + 1);
        match *word {
            "forget" => among("what about the my that all everything any", next),
            "ignore" | "drop" | "lift" | "scrap" | "relax" => {
                words.rest(at).iter().any(|word| among(RULES, word))
            }
            // Not "you can't", "you may only", "you can find it in …".
            "you" if among("can may could", next) => {
                !among("only not never find see read look check tell assume start |", words.at(at + 2))
                    && !words.has("only not never but don't")
            }
            "ok" | "okay" | "fine" | "alright" | "acceptable" => {
                next == "to" || next == "now" && among("is are", words.before(at))
            }
            "allowed" => next == "now" || words.before(at) == "now",
            "free" => words.before(at) == "feel",
            "apply" | "applies" | "holds" => among("doesn't don't longer not", words.before(at)),
            "longer" => {
                let is_closed =
                    || words.has("off-limits limits forbidden frozen prohibited taboo banned locked");
                words.before(at) == "no"
                    && (among("needed required necessary a applies", next) || is_closed())
            }
            _ => false,
        }
    })
}

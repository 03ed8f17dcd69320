//! English sentences that forbid, require or limit something.
//!
//! A sentence becomes a list of lower-case words with a mark (`|`) between clauses. Each word that can carry a
//! constraint is judged by its neighbours and by its place in the clause.

use super::sentences::closing_of;

/// Between clauses.
const CLAUSE: &str = "|";
/// In the place of code and quotations.
const QUOTED: &str = "\u{2026}";

/// The words of a sentence.
pub(super) struct Words<'a> {
    words: Vec<&'a str>,
    asks: bool,
}

/// Lower case, with `|` between clauses; quotations are masked.
pub(super) fn normalise(sentence: &str, to: &mut String) {
    to.clear();
    let mut rest = sentence;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '`' | '"' | '“' => {
                to.push_str(" \u{2026} ");
                if let Some((_, after)) = rest.split_once(closing_of(c)) {
                    rest = after;
                }
            }
            '’' => to.push('\''),
            ',' | ';' | ':' | '(' | ')' | '—' | '–'
                if !rest.starts_with(|c: char| c.is_ascii_digit() || c == '/') =>
            {
                to.push_str(" | ");
            }
            '-' if rest.starts_with(' ') => to.push_str(" | "),
            '*' | '_' if rest.starts_with('*') || rest.starts_with('_') => {}
            '\n' | '\t' => to.push(' '),
            '!' | '?' | '.' if rest.trim_start().is_empty() => {}
            _ => to.push(c.to_ascii_lowercase()),
        }
    }
}

impl<'a> Words<'a> {
    pub(super) fn of(normalised: &'a str, sentence: &str) -> Words<'a> {
        let words: Vec<&str> = normalised.split_ascii_whitespace().collect();
        let asks = sentence.trim_end().ends_with('?');
        Words { words, asks }
    }

    fn at(&self, index: usize) -> &'a str {
        self.words.get(index).copied().unwrap_or(CLAUSE)
    }

    fn before(&self, index: usize) -> &'a str {
        index.checked_sub(1).map_or(CLAUSE, |index| self.at(index))
    }

    /// The clause from `index` on.
    fn rest(&self, index: usize) -> &[&'a str] {
        let rest = self.words.get(index..).unwrap_or_default();
        let end = rest.iter().position(|word| *word == CLAUSE).unwrap_or(rest.len());
        &rest[..end]
    }

    /// The clause before `index`.
    fn head(&self, index: usize) -> &[&'a str] {
        let head = &self.words[..index];
        let start = head.iter().rposition(|word| *word == CLAUSE).map_or(0, |at| at + 1);
        &head[start..]
    }

    /// Whether only words without content are before `index` in its clause.
    fn opens(&self, index: usize) -> bool {
        let head = self.head(index);
        // "… so no locks", "… but don't change it".
        let from = head.iter().rposition(|word| matches!(*word, "so" | "but")).map_or(0, |at| at + 1);
        head[from..].iter().all(|word| is_filler(word))
            || head == ["from", "now", "on"]
            || head == ["for", "now"]
    }

    fn has(&self, wanted: &[&str]) -> bool {
        self.words.iter().any(|word| wanted.contains(word))
    }
}

fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "please"
            | "also"
            | "and"
            | "then"
            | "just"
            | "but"
            | "so"
            | "absolutely"
            | "again"
            | "ok"
            | "okay"
            | "actually"
            | "kindly"
            | "really"
            | "now"
            | "still"
            | "oh"
            | "btw"
            | "note"
            | "important"
            | "reminder"
            | "rule"
            | "pls"
            | "yes"
            | "well"
            | "fine"
            | "good"
            | "sure"
            | "or"
            | "plus"
            | "instead"
            | "remember"
            | "that"
            | "however"
            | "under"
            | "circumstances"
    )
}

/// A cheap look at a single word: whether a sentence with it is worth reading closely.
pub(super) fn is_cue(word: &str) -> bool {
    matches!(
        word,
        "don't"
            | "dont"
            | "not"
            | "never"
            | "no"
            | "nothing"
            | "nobody"
            | "none"
            | "must"
            | "mustn't"
            | "mustnt"
            | "has"
            | "have"
            | "needs"
            | "need"
            | "shall"
            | "may"
            | "should"
            | "shouldn't"
            | "can't"
            | "cannot"
            | "cant"
            | "won't"
            | "only"
            | "always"
            | "avoid"
            | "stop"
            | "leave"
            | "keep"
            | "stick"
            | "make"
            | "ensure"
            | "sure"
            | "prefer"
            | "instead"
            | "rather"
            | "limit"
            | "most"
            | "max"
            | "max."
            | "maximum"
            | "minimum"
            | "least"
            | "under"
            | "below"
            | "stay"
            | "stays"
            | "remain"
            | "remains"
            | "read-only"
            | "readonly"
            | "scope"
            | "ask"
            | "until"
            | "without"
            | "allowed"
            | "forbidden"
            | "prohibited"
            | "required"
            | "mandatory"
            | "everywhere"
            | "nowhere"
            | "limits"
            | "off-limits"
            | "freeze"
            | "over"
    )
}

pub(super) fn is_constraint(words: &Words<'_>) -> bool {
    if words.asks && !asks_not_to(words) || is_other_speech(words) || is_hypothesis(words) || lifts(words) {
        return false;
    }
    (0..words.words.len()).any(|at| is_cue(words.words[at]) && constrains(words, at))
}

/// "Could you please not touch …?"
fn asks_not_to(words: &Words<'_>) -> bool {
    let you = words.words.iter().take(4).position(|word| *word == "you");
    let Some(you) = you.filter(|you| matches!(words.before(*you), "could" | "can" | "would" | "will")) else {
        return false;
    };
    words.words[you + 1..].iter().take(3).any(|word| matches!(*word, "not" | "avoid" | "never"))
}

/// The person reports what another person, a text or a program says, or asks without a question mark.
fn is_other_speech(words: &Words<'_>) -> bool {
    let first = words.at(0);
    if matches!(
        first,
        "why" | "what" | "how" | "where" | "who" | "whose" | "is" | "does" | "isn't" | "doesn't" | "which"
    ) && words.at(1) != CLAUSE
        && words.at(0) != "whatever"
    {
        return true;
    }
    words.words.iter().enumerate().any(|(at, word)| match *word {
        "says" | "wrote" | "writes" | "thinks" | "claims" | "insists" | "complains" | "complained"
        | "told" | "argues" | "suggested" | "suggests" | "wonders" => true,
        "said" | "say" => {
            !matches!(words.before(at), "i" | "we" | CLAUSE | "i've")
                && !(*word == "say" && words.before(at) == "i")
        }
        "according" => true,
        _ => false,
    })
}

fn is_hypothesis(words: &Words<'_>) -> bool {
    matches!(words.at(0), "assume" | "suppose" | "imagine" | "maybe" | "perhaps")
        || words.has(&["wouldn't", "couldn't", "probably", "theory"])
        || (words.at(0) == "i"
            && matches!(words.at(1), "think" | "guess" | "thought" | "wonder" | "believe" | "would"))
}

/// Whether the sentence takes something back or allows it.
pub(super) fn lifts(words: &Words<'_>) -> bool {
    if words.asks {
        return false;
    }
    words.words.iter().enumerate().any(|(at, word)| {
        let next = words.at(at + 1);
        match *word {
            "forget" => {
                matches!(next, "what" | "about" | "the" | "my" | "that" | "all" | "everything" | "any")
            }
            "ignore" => words.rest(at).iter().any(|word| {
                matches!(
                    *word,
                    "rule"
                        | "rules"
                        | "limit"
                        | "constraint"
                        | "constraints"
                        | "restriction"
                        | "restrictions"
                        | "said"
                )
            }),
            "drop" | "lift" | "scrap" | "relax" => words.rest(at).iter().any(|word| {
                matches!(*word, "rule" | "rules" | "limit" | "constraint" | "restriction" | "requirement")
            }),
            "you" => {
                let verb = if matches!(next, "can" | "may" | "could") { words.at(at + 2) } else { "" };
                // "You can't", "you may only", "you can find it in …".
                !verb.is_empty()
                    && !matches!(
                        verb,
                        "only"
                            | "not"
                            | "never"
                            | "find"
                            | "see"
                            | "read"
                            | "look"
                            | "check"
                            | "tell"
                            | "assume"
                            | "start"
                            | CLAUSE
                    )
                    && !words.has(&["only", "not", "never", "but"])
            }
            "ok" | "okay" | "fine" | "alright" | "acceptable" => {
                next == "to"
                    || words.before(at) == "is" && next == "now"
                    || words.before(at) == "are" && next == "now"
            }
            "allowed" => next == "now" || words.before(at) == "now",
            "free" => words.before(at) == "feel",
            "apply" | "applies" | "holds" => {
                matches!(words.before(at), "doesn't" | "don't" | "longer" | "not")
            }
            "longer" => {
                words.before(at) == "no"
                    && matches!(next, "needed" | "required" | "necessary" | "a" | "applies")
            }
            _ => false,
        }
    })
}

fn constrains(words: &Words<'_>, at: usize) -> bool {
    let next = words.at(at + 1);
    match words.words[at] {
        "don't" | "dont" => forbids(words, at, at + 1),
        "not" if words.before(at) == "do" => forbids(words, at - 1, at + 1),
        "not" => forbids_with_not(words, at),
        "never" => forbids_with_never(words, at),
        "no" => forbids_with_no(words, at),
        "nothing" | "nobody" | "none" => forbids_with_nothing(words, at),
        "must" | "mustn't" | "mustnt" | "shall" => requires_with_must(words, at),
        "has" | "have" | "needs" | "need" => requires_with_have(words, at),
        "should" | "shouldn't" => requires_with_should(words, at),
        "can't" | "cannot" | "cant" | "won't" => forbids_with_cannot(words, at),
        "may" => matches!(next, "not" | "only" | "never") && !words.has(&["be"]) || next == "only",
        "only" => limits_with_only(words, at),
        "always" => words.opens(at) && !matches!(next, CLAUSE | "the" | "a" | "when" | "on" | "been"),
        "avoid" => words.opens(at) && next != CLAUSE,
        "stop" => words.opens(at) && next.ends_with("ing") && next.len() > 5,
        "leave" => words.opens(at) && leaves(words.rest(at)),
        "keep" => words.opens(at) && keeps(next, words.rest(at)),
        "stick" => words.opens(at) && matches!(next, "to" | "with"),
        "sure" => words.before(at) == "make" && words.opens(at - 1) && !matches!(next, CLAUSE),
        "ensure" => words.opens(at) && next != CLAUSE,
        "prefer" => words.opens(at) && next != CLAUSE,
        "instead" => next == "of" && has_imperative_use(words),
        "rather" => {
            matches!(words.before(at), "i'd" | "would") && next == "not"
                || next == "than" && has_imperative_use(words)
        }
        "limit" => words.opens(at) && words.rest(at).contains(&"to"),
        "most" | "least" => words.before(at) == "at" && at > 0 && words.opens(at - 1),
        "max" | "max." | "maximum" => words.opens(at) && next != CLAUSE || next == CLAUSE && false,
        "stay" | "stays" | "remain" | "remains" => stays(words, at),
        "read-only" | "readonly" => matches!(words.before(at), "is" | "are" | CLAUSE),
        "scope" => words.before(at) == "of" && at > 1 && words.words[at - 2] == "out",
        "limits" => words.before(at) == "off",
        "off-limits" | "forbidden" | "prohibited" | "mandatory" => !words.has(&["if", "403"]),
        "required" => matches!(words.before(at), "is" | "are") && words.has(&["every", "each", "all", "any"]),
        "allowed" => {
            matches!(words.before(at), "not" | "isn't" | "aren't")
                || words.rest(at).contains(&"not")
                || words.has(&["not"]) && words.has(&["you're", "you"])
        }
        "ask" => {
            words.opens(at)
                && (words.rest(at).contains(&"before")
                    || words.words[..at].contains(&"doubt")
                    || words.rest(at).contains(&"first"))
        }
        "until" => words.head(at).contains(&"only") || words.rest(at).starts_with(&["until", "i", "say"]),
        "without" => {
            words.opens(at)
                && matches!(
                    next,
                    "any" | "asking" | "adding" | "changing" | "breaking" | "touching" | "new" | "external"
                )
        }
        "freeze" => words.before(at) == "code",
        "nowhere" => next == "else",
        "everywhere" => has_imperative_use(words) && words.has(&["instead", "always", "not"]),
        _ => false,
    }
}

/// `verb` is the index of the word after the denial.
fn forbids(words: &Words<'_>, at: usize, verb: usize) -> bool {
    let word = words.at(verb);
    if matches!(
        word,
        CLAUSE
            | "worry"
            | "mind"
            | "know"
            | "think"
            | "care"
            | "see"
            | "get"
            | "understand"
            | "forget"
            | "like"
            | "hesitate"
            | "bother"
            | "need"
            | "have"
            | "remember"
            | "matter"
            | "be"
            | "you"
            | "we"
            | "they"
            | "panic"
            | "wait"
    ) && !(word == "have" && words.opens(at))
    {
        return false;
    }
    if words.opens(at) {
        return true;
    }
    let after = words.at(verb + 1);
    match words.before(at) {
        "i" => {
            word == "want"
                && matches!(
                    after,
                    "any" | "a" | "another" | "new" | "you" | "more" | "extra" | "us" | "the" | "this"
                )
        }
        "we" => {
            matches!(
                word,
                "use"
                    | "commit"
                    | "merge"
                    | "push"
                    | "add"
                    | "deploy"
                    | "ship"
                    | "log"
                    | "store"
                    | "allow"
                    | "want"
                    | "do"
            ) && words
                .has(&["here", "repo", "project", "codebase", "anymore", "team", "directly", "any", "this"])
                && !words.has(&["except", "yet"])
        }
        // "If you change X, don't …" opens a clause; "and don't …" follows an order.
        "and" => !matches!(words.head(at).first(), Some(&("i" | "we" | "it" | "they" | "the"))),
        "to" => false,
        _ => false,
    }
}

fn forbids_with_not(words: &Words<'_>, at: usize) -> bool {
    let next = words.at(at + 1);
    match words.before(at) {
        // Questions of the form "could you please not".
        "you" | "please" => words.asks || words.before(at) == "please",
        "let's" => matches!(
            next,
            "add"
                | "use"
                | "touch"
                | "change"
                | "introduce"
                | "break"
                | "commit"
                | "deploy"
                | "merge"
                | "rewrite"
        ),
        "rather" | "prefer" => matches!(words.words[0], "i'd" | "i" | "we'd"),
        CLAUSE => {
            // "tabs, not spaces", "use pnpm, not npm", "on the branch, not on main".
            let instead = words.head(at.saturating_sub(1));
            let pointed = matches!(
                next,
                "that"
                    | "this"
                    | "the"
                    | "so"
                    | "yet"
                    | "sure"
                    | "really"
                    | "because"
                    | "a"
                    | "just"
                    | "it"
                    | "too"
                    | CLAUSE
            );
            let ordered = instead.first().is_some_and(|first| is_order(first))
                || instead.iter().any(|word| matches!(*word, "must" | "always" | "only"));
            let is_short = words.words.len() <= 7
                && !instead.is_empty()
                && !instead.iter().any(|word| is_statement(word));
            !pointed && at > 0 && (ordered || is_short) || words.at(at + 1) == "until"
        }
        "must" | "may" | "shall" => true,
        _ => false,
    }
}

fn is_order(word: &str) -> bool {
    matches!(
        word,
        "use"
            | "work"
            | "write"
            | "put"
            | "store"
            | "call"
            | "run"
            | "name"
            | "import"
            | "place"
            | "log"
            | "return"
    )
}

fn is_statement(word: &str) -> bool {
    matches!(
        word,
        "is" | "are"
            | "was"
            | "it"
            | "it's"
            | "i"
            | "i'm"
            | "that"
            | "that's"
            | "comes"
            | "were"
            | "works"
            | "fails"
            | "wait"
            | "no"
            | "yes"
            | "he"
            | "she"
            | "they"
            | "sorry"
            | "ok"
            | "has"
            | "does"
            | "hmm"
            | "maybe"
            | "yet"
    )
}

fn forbids_with_never(words: &Words<'_>, at: usize) -> bool {
    let next = words.at(at + 1);
    let is_past = next.ends_with("ed") && !matches!(next, "need" | "embed" | "exceed" | "feed" | "seed")
        || matches!(
            next,
            CLAUSE
                | "mind"
                | "seen"
                | "had"
                | "been"
                | "got"
                | "heard"
                | "thought"
                | "knew"
                | "understood"
                | "ran"
                | "have"
                | "said"
                | "finishes"
                | "did"
                | "saw"
                | "came"
                | "a"
        );
    if is_past {
        return false;
    }
    match words.before(at) {
        _ if words.opens(at) => true,
        "must" | "should" | "may" | "can" | "shall" | "to" => true,
        "we" | "you" => !next.ends_with("es") && next != "know",
        // "On 4xx we never retry" is above; "PRs never …" could be a complaint.
        "and" => words.head(at).first().is_some_and(|first| is_order(first) || *first == "always"),
        _ => false,
    }
}

fn forbids_with_no(words: &Words<'_>, at: usize) -> bool {
    let rest = words.rest(at + 1);
    let Some(next) = rest.first() else { return false };
    if matches!(
        *next,
        "problem"
            | "problems"
            | "idea"
            | "need"
            | "worries"
            | "luck"
            | "way"
            | "doubt"
            | "matter"
            | "wonder"
            | "one"
            | "thanks"
            | "thank"
            | "it"
            | "it's"
            | "that"
            | "that's"
            | "this"
            | "the"
            | "i"
            | "you"
            | "we"
            | "he"
            | "she"
            | "they"
            | "not"
            | "difference"
            | "clue"
            | "hurry"
            | "rush"
            | "reason"
            | "rule"
            | "no"
            | "please"
            | "don't"
            | "just"
            | "if"
            | "but"
            | "because"
            | "there"
            | "wait"
            | "sorry"
            | "longer"
            | "and"
            | "test"
            | "sign"
            | "response"
            | "surprise"
            | "question"
            | "questions"
            | "joke"
            | "wrong"
            | "still"
            | "clear"
            | "big"
    ) {
        return false;
    }
    let is_result = matches!(
        *next,
        "error"
            | "errors"
            | "output"
            | "result"
            | "results"
            | "success"
            | "crash"
            | "crashes"
            | "warnings"
            | "effect"
            | "change"
            | "changes"
            | "failures"
            | "logs"
            | "diff"
            | "matches"
    );
    if is_result && rest.len() < 3 {
        return false;
    }
    let head = words.head(at);
    words.opens(at)
        || head.ends_with(&["i", "said"])
        || head.ends_with(&["want"]) && head.contains(&"i")
        || head.ends_with(&["there", "must", "be"])
        || head.ends_with(&["for", "now"])
        || head.ends_with(&["with"]) && head.first().is_some_and(|first| is_order(first))
}

fn forbids_with_nothing(words: &Words<'_>, at: usize) -> bool {
    let rest = words.rest(at + 1);
    if words.words[at] == "nothing" {
        let ordered = matches!(
            words.before(at),
            "write"
                | "change"
                | "touch"
                | "delete"
                | "install"
                | "push"
                | "commit"
                | "add"
                | "edit"
                | "merge"
        );
        if ordered && words.opens(at - 1) {
            return true;
        }
        if words.opens(at)
            && rest.first().is_some_and(|next| matches!(*next, "longer" | "bigger" | "larger" | "more"))
        {
            return true;
        }
    }
    words.opens(at)
        && rest.iter().any(|word| {
            matches!(
                *word,
                "may"
                    | "must"
                    | "should"
                    | "gets"
                    | "touches"
                    | "leaves"
                    | "ships"
                    | "merges"
                    | "deploys"
                    | "pushes"
                    | "changes"
                    | "edits"
                    | "goes"
            )
        })
}

/// "It must be a race condition" and "it must have moved" are guesses.
fn requires_with_must(words: &Words<'_>, at: usize) -> bool {
    let subject = words.before(at);
    if matches!(subject, "i" | "what" | "he" | "she" | CLAUSE)
        || words.has(&["theory", "guess", "somewhere", "suspect"])
    {
        return false;
    }
    let mut verb = at + 1;
    while matches!(words.at(verb), "also" | "still" | "always" | "now" | "then" | "all") {
        verb += 1;
    }
    let after = words.at(verb + 1);
    let pointed = matches!(subject, "it" | "this" | "that" | "there" | "you" | "something" | "these");
    match words.at(verb) {
        CLAUSE => false,
        "be" if pointed => {
            !(matches!(
                after,
                "a" | "an"
                    | "the"
                    | "some"
                    | "something"
                    | "because"
                    | "that"
                    | "in"
                    | "kidding"
                    | "wrong"
                    | "broken"
                    | "missing"
                    | "joking"
                    | "related"
                    | "due"
                    | "my"
                    | "me"
                    | "very"
                    | "nice"
                    | "hard"
            ) || after.ends_with("ing"))
        }
        "be" => {
            !(matches!(after, "wrong" | "broken" | "missing" | "because" | "happening" | "something")
                || after.ends_with("ing"))
        }
        "have" => {
            !(after.ends_with("ed")
                || matches!(
                    after,
                    "been"
                        | "gone"
                        | "had"
                        | "got"
                        | "broken"
                        | "lost"
                        | "done"
                        | "made"
                        | "come"
                        | "run"
                        | "read"
                        | "forgotten"
                        | "put"
                        | "set"
                        | "seen"
                        | "happened"
                ))
        }
        "not" if after == "be" => !(pointed && matches!(words.at(verb + 2), "a" | "the" | "in")),
        _ => true,
    }
}

fn requires_with_have(words: &Words<'_>, at: usize) -> bool {
    let (word, next) = (words.words[at], words.at(at + 1));
    let head = words.head(at);
    let quantified = head.iter().any(|word| matches!(*word, "every" | "each" | "any" | "all"));
    if next != "to" {
        // "Any change needs my approval."
        return matches!(word, "needs" | "need")
            && (quantified && head.len() > 1 || matches!(next, "my" | "approval"))
            && !words.has(&["i"]);
    }
    if words.has(&["moment", "currently", "today", "right", "why", "yesterday"]) {
        return false;
    }
    let verb = words.at(at + 2);
    let subject = head
        .iter()
        .rev()
        .find(|word| !matches!(**word, "still" | "also" | "always" | "will" | "really" | "only" | "would"))
        .copied();
    match subject {
        None | Some("i" | "he" | "she" | "who" | "they'd" | "don't" | "doesn't" | "not" | "i'll") => false,
        Some("you") => words.has(&["before", "after", "every", "each", "always", "whenever"]),
        Some("we") => matches!(
            verb,
            "stay"
                | "keep"
                | "remain"
                | "support"
                | "comply"
                | "preserve"
                | "maintain"
                | "avoid"
                | "be"
                | "stick"
        ),
        Some(_) => true,
    }
}

fn requires_with_should(words: &Words<'_>, at: usize) -> bool {
    let denied = words.words[at] == "shouldn't" || words.at(at + 1) == "not";
    let verb = if words.at(at + 1) == "not" { at + 2 } else { at + 1 };
    let head = words.head(at);
    let limit = words.has(&["more", "longer", "larger", "bigger", "exceed", "fewer", "less"]);
    let subject = words.before(at);
    if matches!(subject, "i" | "we" | "it" | "that" | "this" | CLAUSE) {
        return false;
    }
    match words.at(verb) {
        CLAUSE | "have" => false,
        "always" | "only" => !head.is_empty(),
        "touch" | "change" | "depend" | "contain" | "import" | "use" | "log" | "know" if denied => true,
        _ => denied && limit || subject == "you" && denied,
    }
}

fn forbids_with_cannot(words: &Words<'_>, at: usize) -> bool {
    let verb = words.at(at + 1);
    let acts = matches!(
        verb,
        "use"
            | "add"
            | "have"
            | "change"
            | "upgrade"
            | "break"
            | "touch"
            | "rely"
            | "depend"
            | "ship"
            | "deploy"
            | "merge"
            | "exceed"
            | "store"
            | "drop"
            | "require"
            | "afford"
            | "introduce"
            | "install"
            | "modify"
            | "share"
            | "migrate"
    );
    let will_not = words.words[at] == "won't"
        && matches!(verb, "use" | "do" | "support" | "add" | "upgrade" | "need" | "migrate" | "accept");
    matches!(words.before(at), "we" | "you")
        && (acts && words.words[at] != "won't" || will_not && words.before(at) == "we")
}

fn limits_with_only(words: &Words<'_>, at: usize) -> bool {
    let next = words.at(at + 1);
    let head = words.head(at);
    let has_subject = head.iter().any(|word| {
        matches!(
            *word,
            "i" | "we" | "it" | "you" | "he" | "she" | "they" | "it's" | "i'm" | "that" | "is" | "are"
        )
    });
    if words.opens(at) {
        let ordered = matches!(
            next,
            "change"
                | "touch"
                | "edit"
                | "use"
                | "modify"
                | "run"
                | "work"
                | "commit"
                | "add"
                | "fix"
                | "write"
                | "look"
                | "read"
                | "update"
                | "log"
                | "retry"
                | "import"
                | "show"
                | "deploy"
                | "merge"
                | "refactor"
                | "bug"
                | "standard"
                | "in"
                | "on"
        );
        let counted =
            matches!(next, "one" | "two" | "three") && !words.rest(at).iter().any(|word| is_finite(word));
        return ordered || counted || words.rest(at).contains(&"until");
    }
    // "comments in English only", "backend only".
    if next == CLAUSE || next == "please" && words.at(at + 2) == CLAUSE {
        return !has_subject && !head.iter().any(|word| is_finite(word));
    }
    if has_subject {
        return false;
    }
    // "Run only the unit tests", "Deploys only through the pipeline".
    let ordered = head.len() == 1
        && (is_order(head[0])
            || matches!(
                head[0],
                "change" | "edit" | "touch" | "test" | "commit" | "fix" | "add" | "update" | "deploy"
            ));
    ordered || matches!(next, "through" | "via" | "after") && head.len() <= 3
}

fn is_finite(word: &str) -> bool {
    matches!(
        word,
        "is" | "are"
            | "was"
            | "were"
            | "fails"
            | "fail"
            | "works"
            | "has"
            | "have"
            | "does"
            | "do"
            | "happens"
            | "took"
            | "takes"
            | "need"
            | "needs"
            | "failed"
    )
}

fn leaves(rest: &[&str]) -> bool {
    let is_end = |word: &&str| {
        matches!(*word, "alone" | "unchanged" | "untouched" | "place" | "intact" | "is" | "are")
    };
    rest.iter().any(is_end)
}

fn keeps(next: &str, rest: &[&str]) -> bool {
    !matches!(
        next,
        CLAUSE
            | "going"
            | "on"
            | "working"
            | "trying"
            | "me"
            | "that"
            | "in"
            | "up"
            | "looking"
            | "at"
            | "digging"
            | "pushing"
    ) && !next.ends_with("ing")
        && !rest.contains(&"mind")
        && !rest.contains(&"eye")
        && !rest.contains(&"up")
}

/// "Use X instead of Y", as an order.
fn has_imperative_use(words: &Words<'_>) -> bool {
    let find = |at: &usize| matches!(words.words[*at], "use" | "write" | "prefer" | "call" | "return");
    let used = (0..words.words.len()).filter(find).any(|at| words.opens(at));
    used || words.at(0) == "instead" && words.has(&["use"])
        || words.words.len() <= 8
            && !words.words.iter().any(|word| is_statement(word) || matches!(*word, "why" | "did" | "used"))
}

fn stays(words: &Words<'_>, at: usize) -> bool {
    let head = words.head(at);
    match words.words[at] {
        "stays" | "remains" => {
            !head.is_empty()
                && !head.iter().any(|word| {
                    matches!(*word, "it" | "if" | "when" | "why" | "that" | "which" | "but" | "still")
                })
                && !words
                    .rest(at)
                    .iter()
                    .any(|word| matches!(*word, "open" | "empty" | "blank" | "red" | "stuck" | "null"))
        }
        "stay" | "remain" => words.opens(at) && !matches!(words.at(at + 1), CLAUSE | "tuned"),
        _ => false,
    }
}

//! What an English constraint is about.

use super::SPEAKERS;
use super::act::GENERAL;
use super::clause::{ADVERBS, Clause, DENIALS, Token, clauses, content, has, owned, word};
use crate::feature::knowledge::constraint::lift::ConstraintKind;
use crate::text::word_list::among;

#[expect(clippy::struct_excessive_bools, reason = "each says something of its own about one sentence")]
pub(in super::super) struct Gist {
    pub(super) kind: ConstraintKind,
    /// What is forbidden. None: to have something, as in "no mocks".
    pub(super) verb: Option<String>,
    /// Without the verb.
    pub(super) stems: Vec<String>,
    /// "New dependencies", not the old ones.
    pub(super) only_new: bool,
    /// Of any kind.
    pub(super) any: bool,
    pub(super) anything: bool,
    /// All words of the sentence.
    pub(super) all: Vec<String>,
    pub(super) for_now: bool,
    /// "Never", not only "don't".
    pub(super) never: bool,
    /// "… is forbidden."
    pub(super) closed: bool,
    /// It names a place: "to main".
    pub(super) placed: bool,
    /// "Just analyse it."
    pub(super) only_looks: bool,
    /// "Wait for my approval."
    pub(super) waits: bool,
    /// "Until CI is green"
    pub(super) until: Vec<String>,
    /// "Use pnpm, not npm": npm.
    pub(super) rejected: Option<String>,
    /// The person wants to be asked.
    pub(super) asks: bool,
    /// One after the other.
    pub(super) singly: bool,
    /// About answers.
    pub(super) short: bool,
    pub(super) has_number: bool,
    /// The word of a path, in a constraint that only allows it.
    pub(super) path: Option<String>,
    pub(super) language: Option<String>,
}

pub(super) const LANGUAGES: &str =
    "english german japanese french spanish italian portuguese dutch chinese korean";

impl Gist {
    pub(in super::super) fn of(constraint: &str) -> Gist {
        let clauses = clauses(constraint);
        let all = owned(clauses.iter().flat_map(|clause| content(clause)).collect());
        let any_has = |list| clauses.iter().any(|clause| has(clause, list));
        let holds = |first: &str, second: &str| {
            clauses
                .iter()
                .any(|clause| clause.windows(2).any(|pair| pair[0].word == first && pair[1].word == second))
        };
        let has_limit = |clause: &Clause| has(clause, "only most max maximum exclusively");
        let forbids = |clause: &Clause| has(clause, DENIALS) || has(clause, "avoid stop nothing refrain");
        let rejected = rejected(&clauses);
        let protected = clauses.iter().find_map(|clause| protected(clause));
        let forbidding = clauses.iter().find(|clause| forbids(clause));
        let is_limit = forbidding.is_none_or(has_limit) && clauses.iter().any(has_limit);
        let kind = match forbidding {
            _ if is_limit => ConstraintKind::Limits,
            _ if protected.is_some() => ConstraintKind::Forbids,
            Some(_) if rejected.is_none() => ConstraintKind::Forbids,
            _ => ConstraintKind::Requires,
        };
        let (verb, stems) = match (protected, forbidding) {
            (Some((verb, stems)), _) => (Some(verb), stems),
            (None, Some(clause)) if kind == ConstraintKind::Forbids => parts_of(clause, &all),
            _ => (None, all.clone()),
        };
        let words = || clauses.iter().flatten().map(|token| token.word.as_str());
        Gist {
            only_new: any_has("new additional extra more further"),
            any: any_has("any anything"),
            anything: any_has("anything"),
            never: any_has("never"),
            closed: any_has("off-limits forbidden prohibited taboo banned") || holds("off", "limits"),
            placed: forbidding
                .is_some_and(|clause| has(clause, "to on in into inside within under against from with")),
            only_looks: any_has("just only")
                && any_has(
                    "analyse analyze review explain plan look investigate audit diagnose diagnosis analysis report",
                ),
            waits: any_has("wait until") && any_has("my i me"),
            for_now: any_has("yet until till hold moment") || holds("for", "now"),
            until: until(&clauses),
            asks: any_has("ask confirm")
                || holds("check", "with")
                || holds("my", "ok")
                || holds("my", "approval"),
            singly: holds("a", "time") || holds("one", "by") || holds("step", "by"),
            short: any_has("short brief concise terse briefly") && stems_speak(&all),
            has_number: constraint.bytes().any(|byte| byte.is_ascii_digit()),
            path: words().find(|word| kind == ConstraintKind::Limits && is_path(word)).map(str::to_owned),
            language: words().find(|word| among(LANGUAGES, word)).map(str::to_owned),
            kind,
            verb,
            stems,
            all,
            rejected,
        }
    }

    /// What has to be named to mean it: without the words that mean anything.
    pub(super) fn needed(&self) -> Vec<&str> {
        let needed: Vec<&str> =
            self.stems.iter().map(String::as_str).filter(|stem| !among(GENERAL, stem)).collect();
        needed
    }
}

fn is_path(word: &str) -> bool {
    word.contains('/') && word.len() > 2
}

/// Nothing but the answers is named.
fn stems_speak(all: &[String]) -> bool {
    all.iter().all(|stem| among("keep answer reply respons respond explain explan short brief briefly concis ters be it messag write giv make", stem))
}

/// "Leave X alone", "stay out of X", "X is off limits": X, and what must not be done with it.
fn protected(clause: &[Token]) -> Option<(String, Vec<String>)> {
    // "Nothing under vendor/ gets edited."
    if word(clause, 0) == "nothing" && among("under in inside within", word(clause, 1)) {
        let end = clause
            .iter()
            .position(|token| among("gets may must should is", &token.word))
            .unwrap_or(clause.len());
        return (end > 2).then(|| ("touch".to_owned(), owned(content(&clause[2..end]))));
    }
    let touch = |tokens: &[Token]| Some(("touch".to_owned(), owned(content(tokens))));
    let at = |list| clause.iter().position(|token| among(list, &token.word));
    let end = |list| at(list).unwrap_or(clause.len());
    if let Some(leave) = at("leave keep treat preserve") {
        let to_person =
            clause.windows(2).position(|pair| pair[0].word == "to" && among("me us", &pair[1].word));
        if let Some(to) = to_person.filter(|to| *to > leave) {
            return touch(&clause[leave + 1..to]);
        }
        let end = end("alone untouched unchanged intact as exactly where read-only frozen off-limits");
        let is_kept = end < clause.len() || among("preserve", word(clause, leave));
        return (is_kept && leave < end).then(|| touch(&clause[leave + 1..end])).flatten();
    }
    if let Some(out) = clause.windows(2).position(|pair| {
        among("out away off clear hands", &pair[0].word) && among("of from off", &pair[1].word)
    }) && !has(clause, "hold")
    {
        return touch(&clause[out + 2..]);
    }
    if let Some(off) = at("off").filter(|off| *off > 0 && among("stay hands keep", word(clause, off - 1))) {
        return touch(&clause[off + 1..]);
    }
    if let Some(closed) = at("off-limits untouchable frozen forbidden prohibited taboo banned read-only off")
        .filter(|closed| {
            among("is are stays remains", word(clause, closed.wrapping_sub(1)))
                && (word(clause, *closed) != "off" || word(clause, closed + 1) == "limits")
        })
    {
        let subject = &clause[..closed - 1];
        return match subject.first() {
            Some(first) if first.word.ends_with("ing") => {
                Some((first.stem.clone(), owned(content(&subject[1..]))))
            }
            _ => touch(subject),
        };
    }
    // "No edits to the workflows", "hold off on tagging".
    if let Some(edits) = at("edits changes modifications")
        .filter(|edits| *edits > 0 && among("no any", word(clause, edits - 1)))
    {
        return touch(&clause[edits + 1..]);
    }
    // "The tests stay as they are", "hold the deploy".
    if let Some(stays) = at("stay stays remain remains").filter(|stays| {
        *stays > 0 && has(&clause[*stays..], "as unchanged untouched put same intact identical")
    }) {
        return touch(&clause[..stays]);
    }
    let waits = among("hold pause", word(clause, 0)) && among("the all any", word(clause, 1))
        || word(clause, 0) == "wait" && word(clause, 1) == "with";
    if waits {
        let until = clause.iter().position(|token| among("until till", &token.word)).unwrap_or(clause.len());
        return Some(("do".to_owned(), owned(content(&clause[1..until]))));
    }
    // "Skip the push for now."
    if word(clause, 0) == "skip" {
        let end = clause.iter().position(|token| token.word == "for").unwrap_or(clause.len());
        return Some(("do".to_owned(), owned(content(&clause[1..end]))));
    }
    // "Hold to the file as it is."
    if let Some(hold) = at("hold stick").filter(|hold| word(clause, hold + 1) == "to") {
        let end = clause.iter().position(|token| token.word == "as");
        return end.filter(|end| *end > hold + 2).and_then(|end| touch(&clause[hold + 2..end]));
    }
    let off = clause.windows(2).position(|pair| pair[0].word == "hold" && pair[1].word == "off")?;
    let rest = &clause[off + 2..];
    let rest = &rest[..rest.iter().position(|token| among("until till", &token.word)).unwrap_or(rest.len())];
    let verb = rest.iter().position(|token| token.word.ends_with("ing"));
    let stems = owned(content(verb.map_or(rest, |verb| &rest[verb + 1..])));
    verb.map(|verb| (rest[verb].stem.clone(), stems.clone())).or_else(|| Some(("do".to_owned(), stems)))
}

/// "… until CI is green": the words with content.
fn until(clauses: &[Clause]) -> Vec<String> {
    let after = clauses.iter().find_map(|clause| {
        let at = clause.iter().position(|token| among("until till before", &token.word))?;
        let is_speaker = |token: &Token| among(SPEAKERS, &token.word);
        let from = at + 1 + usize::from(clause.get(at + 1).is_some_and(is_speaker));
        (at > 0).then(|| owned(content(&clause[from..])))
    });
    after.unwrap_or_default()
}

/// The verb of a clause that forbids, and its other stems.
fn parts_of(clause: &[Token], all: &[String]) -> (Option<String>, Vec<String>) {
    // "… until the review is done", "… because it is slow".
    let is_end = |at: &usize| {
        among("until unless till because since yet before", word(clause, *at))
            || *at > 3 && among("that which who", word(clause, *at)) && !has(&clause[*at..], DENIALS)
    };
    let end = (0..clause.len()).find(is_end);
    let clause = &clause[..end.unwrap_or(clause.len())];
    let denial = clause
        .iter()
        .position(|token| among(DENIALS, &token.word) || among("avoid stop nothing refrain", &token.word))
        .unwrap_or(0);
    // "Under no circumstances change …"
    let denial = denial + usize::from(among("circumstances account case event", word(clause, denial + 1)));
    let modal = (denial..clause.len()).find(|at| among("may must can should", word(clause, *at)));
    let is_gerund = |at: usize| clause.get(at).is_some_and(|token| token.word.ends_with("ing"));
    let verb_at = match word(clause, denial) {
        "no" | "nothing" | "nobody" => modal.map(|at| at + 1),
        "without" | "w/o" | "avoid" => is_gerund(denial + 1).then_some(denial + 1),
        _ => (denial + 1..clause.len()).find(|at| {
            !among(ADVERBS, word(clause, *at)) && !among("ever be to want you create from", word(clause, *at))
                || word(clause, *at) == "create"
        }),
    };
    let verb = verb_at.and_then(|at| clause.get(at)).map(|token| token.stem.clone());
    // "Don't make changes" is "don't change".
    let verb = verb.map(|verb| {
        if verb == "mak" && has(clause, "change changes edits") { "touch".to_owned() } else { verb }
    });
    // The task before "without …" is not forbidden.
    let verb_stem = verb.as_deref();
    let after = owned(content(&clause[denial + 1..]));
    let is_whole = after.iter().all(|stem| Some(stem.as_str()) == verb_stem || stem == "anything");
    let mut stems =
        if is_whole && !has(clause, "it this that them") && !among("no without w/o", word(clause, denial)) {
            owned(content(clause))
        } else {
            after
        };
    let points = has(clause, "it this that them these those") && stems.len() < 2;
    if points {
        stems = all.to_vec();
    }
    stems.retain(|stem| Some(stem) != verb.as_ref() && !among("avoid stop want refrain anything", stem));
    stems.retain(|stem| !clause.iter().any(|token| token.stem == *stem && token.word.ends_with("'s")));
    (verb, stems)
}

/// "Use pnpm, not npm", "use pnpm instead of npm", "prefer pnpm over npm".
fn rejected(clauses: &[Clause]) -> Option<String> {
    let words: Vec<&str> = clauses.iter().flatten().map(|token| token.word.as_str()).collect();
    let from = words.iter().position(|word| among("use prefer", word)).unwrap_or(0);
    let at = words.windows(2).skip(from).position(|pair| {
        among("not never", pair[0])
            && clauses.iter().skip(1).any(|clause| among("not never", &clause[0].word))
            || matches!(pair, ["instead", "of"] | ["rather", "than"])
            || pair[0] == "over" && among("prefer", words[from])
    })? + from;
    let skip = if among("not never over", words[at]) { 1 } else { 2 };
    (at + skip + 1 == words.len()).then(|| words[at + skip].to_owned())
}

//! What a clause orders or permits: its verb and everything that it names.

use super::clause::{ADVERBS, DENIALS, FUNCTION, Token, content, has, owned, word};
use crate::text::word_list::{Words, among};

pub(super) const ALLOWED: Words = "fine ok okay alright acceptable allowed permitted welcome";

/// The permission is not for now, or not for here.
const ELSEWHERE: Words =
    "wish tomorrow later someday sandbox theoretically said says maybe perhaps except myself monday next";

/// They begin what a verb does not have as its own object.
const PREPOSITIONS: Words = "to on in into onto inside within under against from with without for about at as by of over via through like until since";

/// Where something is changed.
pub(super) const PLACES: Words = "to in into inside within";

/// After the object.
const ENDS: Words = "and then so because since while though although instead which who if before after once how however where whichever";

/// "Pull in a library."
const PARTICLES: Words = "pull bring hook roll rip tear swap strip clear take cut split turn switch";

const POINTERS: Words = "it them this that these those everything all one";

/// A preposition, and what follows it.
pub(super) type Place = (String, Vec<String>);

/// "Commit it."
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own about one sentence")]
pub(super) struct Act {
    /// The stem; none in "npm is fine".
    pub(super) verb: Option<String>,
    pub(super) object: Vec<String>,
    /// "It", and what that may be.
    pub(super) points: bool,
    pub(super) antecedent: Vec<String>,
    /// "The dependencies" are known already.
    pub(super) is_definite: bool,
    /// "A dependency", "some comments".
    pub(super) is_one: bool,
    /// After prepositions, each with it.
    pub(super) places: Vec<Place>,
    pub(super) is_permission: bool,
    /// "… too", "outside …"
    pub(super) exceeds: bool,
}

impl Act {
    pub(super) fn head(&self) -> Option<&str> {
        head_of(if self.points { &self.antecedent } else { &self.object })
    }

    /// Everything that it names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let places = self.places.iter().flat_map(|(_, stems)| stems);
        self.object.iter().chain(&self.antecedent).chain(places).map(String::as_str)
    }
}

/// They say little without the words before them.
pub(super) const GENERAL: Words = "component content fil folder directory command cod stuff thing part page block thing version vers chang work anything way";

/// The last word that says something.
pub(super) fn head_of(stems: &[String]) -> Option<&str> {
    let specific = stems.iter().rev().find(|stem| !among(GENERAL, stem));
    specific.or(stems.last()).map(String::as_str)
}

/// The acts of a clause. `antecedent`: what "it" may mean.
pub(super) fn acts(clause: &[Token], antecedent: &[String]) -> Vec<Act> {
    let clause = without_text(clause);
    let is_elsewhere =
        clause.windows(2).any(|pair| pair[0].word == "other" && among("repo project app", &pair[1].word));
    if has(clause, DENIALS) || has(clause, "only") || has(clause, ELSEWHERE) || is_elsewhere {
        return Vec::new();
    }
    let mut found = Vec::new();
    if let Some(fine) = predicate(clause) {
        found.push(fine);
    }
    let mut at = 0;
    while let Some((verb, is_permission)) = next_verb(clause, at) {
        at = verb + 1;
        found.extend(act_at(clause, verb, is_permission, antecedent));
    }
    found
}

/// "Write a doc that says you may push", "leave a comment on the ticket saying it is done": up to what the text says.
fn without_text(clause: &[Token]) -> &[Token] {
    const TEXTS: Words = "write document explain mention note state add put draft line sentence doc docs readme section page text comment message tell";
    const OF_OTHERS: Words = "ticket tickets issue issues thread slack channel jira";
    let says = (1..clause.len()).find(|at| {
        let next = word(clause, at + 1);
        among("that how why", word(clause, *at))
            && among("you we they it people everyone users says it's", next)
            || among("saying stating", word(clause, *at))
    });
    match says.filter(|at| has(&clause[..*at], TEXTS)) {
        Some(_) if has(clause, OF_OTHERS) => &[],
        Some(at) => &clause[..at],
        None => clause,
    }
}

/// Where the next verb of an order is, and whether it is only permitted.
fn next_verb(clause: &[Token], from: usize) -> Option<(usize, bool)> {
    if from == 0
        && let Some(found) = skip_lead(clause, 0)
    {
        return Some(found);
    }
    (from.max(1)..clause.len()).find_map(|at| {
        let (before, this) = (word(clause, at - 1), word(clause, at));
        match before {
            "and" | "then" | "so" | "please" | "just" | "pls" => skip_lead(clause, at),
            "to" if at > 1
                && (among(ALLOWED, word(clause, at - 2))
                    || among("free want need like have able", word(clause, at - 2))) =>
            {
                let denied = at > 2
                    && among("want need like have", word(clause, at - 2))
                    && word(clause, at - 3) == "i";
                (!denied).then(|| (skip_adverbs(clause, at), true))
            }
            "you" if among("can could may should must will", this) => skip_lead(clause, at - 1),
            _ => None,
        }
    })
}

pub(super) fn skip_adverbs(clause: &[Token], mut at: usize) -> usize {
    while among(ADVERBS, word(clause, at)) && at < clause.len() {
        at += 1;
    }
    at
}

/// Words before the verb: "ok, you can now …", "feel free to …", "let's …".
pub(super) fn skip_lead(clause: &[Token], from: usize) -> Option<(usize, bool)> {
    const LEADS: [&[&str]; 15] = [
        &["you", "can"],
        &["you", "could"],
        &["you", "may"],
        &["you'll", "have", "to"],
        &["you'll", "need", "to"],
        &["you", "have", "to"],
        &["you", "should"],
        &["feel", "free", "to"],
        &["let's"],
        &["lets"],
        &["we", "can"],
        &["we", "have", "to"],
        &["you're", "free", "to"],
        &["i", "want", "you", "to"],
        &["time", "to"],
    ];
    let mut at = skip_adverbs(clause, from);
    let mut is_permission = false;
    for lead in LEADS {
        let matches = lead.iter().enumerate().all(|(offset, wanted)| word(clause, at + offset) == *wanted);
        if matches {
            is_permission = !matches!(lead[0], "let's" | "lets" | "time");
            at = skip_adverbs(clause, at + lead.len());
            break;
        }
    }
    (at < clause.len()).then_some((at, is_permission))
}

fn act_at(clause: &[Token], verb: usize, is_permission: bool, antecedent: &[String]) -> Option<Act> {
    let rest = &clause[verb + 1..];
    let next = word(clause, verb + 1);
    let own = &clause[verb];
    // "Commit messages should be short", "the parser is slow", "commit to one of them".
    let is_noun = own.word.ends_with('s') && own.stem != own.word && !own.word.ends_with("ss");
    let finite = rest.iter().position(|token| among("is are was were should has must", &token.word));
    let relative = rest.iter().position(|token| among("that which who what how why where as", &token.word));
    let is_statement = finite.is_some_and(|finite| relative.is_none_or(|relative| relative > finite));
    if !is_permission && (is_noun || is_statement)
        // A permission for a part is not one for all.
        || is_permission && among("commit push deploy merge", &own.word) && has(rest, "docs doc documentation tests")
        || own.word == "commit" && next == "to"
        || own.word == "touch" && next == "up"
    {
        return None;
    }
    if among(FUNCTION, &own.word) && !among("do have go with", &own.word) {
        return None;
    }
    let rest = &rest[usize::from(among(PARTICLES, &own.word) && among("in out on off", next))..];
    let joins =
        |at: usize| among("and or", word(rest, at)) && among("the a an our my its", word(rest, at + 1));
    let end =
        |list| (0..rest.len()).find(|at| among(list, word(rest, *at)) && !joins(*at)).unwrap_or(rest.len());
    let (object, points, _) = named(&rest[..end(ENDS)]);
    // "Implement 1 and 3 in the workflows."
    let (_, _, places) = named(&rest[..end("so because since which who if before after once")]);
    let mut places = places;
    if has(rest, "there") {
        places.push(("in".to_owned(), antecedent.to_vec()));
    }
    // "Go ahead with the release."
    let goes_ahead = own.word == "with" && verb > 0 && word(clause, verb - 1) == "ahead";
    let antecedent = if points { antecedent.to_vec() } else { Vec::new() };
    Some(Act {
        verb: Some(if goes_ahead { "do".to_owned() } else { own.stem.clone() }),
        is_one: has(&rest[..rest.len().min(4)], "a an some another one more"),
        is_definite: has(&rest[..rest.len().min(1)], "the our my these those"),
        object,
        points,
        antecedent,
        places,
        is_permission,
        exceeds: has(clause, "outside beyond more longer other else exceed too also well"),
    })
}

/// The object of a verb, whether it only points at one, and what follows each preposition.
fn named(rest: &[Token]) -> (Vec<String>, bool, Vec<Place>) {
    let is_preposition = |token: &Token| among(PREPOSITIONS, &token.word);
    let first = rest.iter().position(is_preposition).unwrap_or(rest.len());
    // Without "completely".
    let is_manner = |token: &&Token| token.word.len() > 5 && token.word.ends_with("ly");
    let object: Vec<Token> = rest[..first].iter().filter(|token| !is_manner(token)).cloned().collect();
    let object = owned(content(&object));
    let points = has(&rest[..first.min(2)], POINTERS) && object.is_empty();
    let mut places: Vec<Place> = Vec::new();
    let mut at = first;
    while at < rest.len() {
        let end = rest[at + 1..].iter().position(is_preposition).map_or(rest.len(), |end| at + 1 + end);
        let stems = owned(content(&rest[at + 1..end]));
        if !stems.is_empty() {
            places.push((rest[at].word.clone(), stems));
        }
        at = end;
    }
    (object, points, places)
}

/// The object that "it" may mean: what a clause begins with.
pub(super) fn subject(clause: &[Token]) -> Vec<String> {
    let finite = |token: &Token| {
        among(
            "is are was were has needs need lives looks asserts both out from in on isn't aren't should must",
            &token.word,
        )
    };
    let from = clause.iter().position(|token| !among(ADVERBS, &token.word)).unwrap_or(0);
    // "We need one more endpoint."
    let need = clause.iter().position(|token| among("need needs want", &token.word));
    if let Some(need) = need.filter(|_| among("we i we'll you you'll i'll", word(clause, from))) {
        return named(&clause[need + 1..]).0;
    }
    match clause[from..].iter().position(finite) {
        Some(end) if end > 0 => owned(content(&clause[from..from + end])),
        _ => Vec::new(),
    }
}

/// "Npm is fine", "changing it is okay", "files may be longer".
fn predicate(clause: &[Token]) -> Option<Act> {
    let at = (1..clause.len()).find(|at| {
        let before = clause[..*at].iter().rev().take(2);
        let is_fine =
            among(ALLOWED, word(clause, *at)) && before.clone().any(|token| among("is are be", &token.word));
        let may_be = word(clause, *at) == "be" && among("may can", word(clause, *at - 1));
        // "The old one can go", "the lock file may change".
        let may_go = among("go change grow break differ", word(clause, *at))
            && among("may can", word(clause, *at - 1))
            && !among("you we i they", word(clause, 0))
            && !among("on ahead through to", word(clause, *at + 1));
        let would_be = among("good nice great", word(clause, *at)) && word(clause, *at - 1) == "be";
        may_go || would_be || is_fine && word(clause, at + 1) != "with" || may_be
    })?;
    let may_be = word(clause, at) == "be";
    let after = &clause[at + 1..];
    let end = clause[..at].iter().position(|token| among("is are may can would", &token.word))?;
    let from = skip_adverbs(clause, 0);
    let subject = clause.get(from..end).filter(|subject| !subject.is_empty())?;
    let points = among("it that this", &subject[0].word);
    let exceeds = has(clause, "outside beyond more longer other else exceed too also well");
    // "Infra is fine to edit"; "it's fine to edit it" is found by its verb.
    let to_verb = after.first().filter(|token| token.word == "to").and_then(|_| after.get(1));
    let gerund = subject[0].word.ends_with("ing") && subject[0].word.len() > 4;
    let participle = after.first().filter(|token| may_be && token.word.ends_with("ed"));
    let verb = match (to_verb, participle) {
        (Some(verb), _) | (None, Some(verb)) => Some(verb.stem.clone()),
        _ if word(clause, at) == "go" => Some("remov".to_owned()),
        _ if among("change grow break differ", word(clause, at)) => Some("chang".to_owned()),
        _ if may_be => Some("be".to_owned()),
        _ if gerund => Some(subject[0].stem.clone()),
        _ => None,
    };
    if points && !(may_be && exceeds) {
        return None;
    }
    let (object, _, mut places) = named(&subject[usize::from(gerund && to_verb.is_none())..]);
    let (_, _, more) = named(after);
    places.extend(more);
    if may_be && participle.is_none() {
        places.push(("be".to_owned(), owned(content(after))));
    }
    Some(Act {
        verb,
        object,
        points: false,
        antecedent: Vec::new(),
        is_definite: false,
        is_one: true,
        places,
        is_permission: true,
        exceeds,
    })
}

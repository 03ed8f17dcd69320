//! English: "forget the rule about …", "you can …", "you don't have to …", and orders.
//!
//! A prompt becomes acts: verbs with what they name. An act lifts a constraint if it does what the constraint forbids: with
//! the same verb or one of its class, and with everything that the constraint names.

mod act;
mod clause;
mod cover;
mod gist;

use super::{ConstraintKind, is_sibling};
use crate::text::word_list::{Words, among};
use act::{ALLOWED, Act, acts, skip_adverbs, skip_lead, subject};
use clause::{ADVERBS, DENIALS, Token, clauses, content, has, owned, word};
pub(super) use gist::Gist;
use gist::LANGUAGES;

/// They stand for what the person asked for.
const RULES: Words = "rule rules limit limits constraint constraints restriction restrictions requirement requirements said ban \
     freeze embargo thing";

/// The permission comes later, or perhaps never.
const CONDITIONS: Words = "if once when unless until after whenever provided assuming";

/// Verbs of one meaning. What must not be touched must not be changed in any way.
const CHANGE: Words = "touch chang edit modify updat alter rewrit adapt adjust refactor renam reorganis reorganiz reformat fix clean \
     replac regener extend improv correct simplify rework restyl redesign patch tweak migr delet remov break bump redo restructur";
const SAME: [Words; 14] = [
    "add introduc install use hav have creat writ bring includ pull import load put tak get",
    "use import load switch go adopt tak add",
    "deploy ship releas publish roll",
    "run execut start kick launch trigger",
    "print log output writ emit",
    "delet remov drop wip purg eras get clean",
    "renam",
    "creat add mak put",
    "upgrad bump updat",
    "merg",
    "install add",
    "send post submit publish",
    "open creat rais",
    "giv show tell spoil reveal provid writ",
];

/// They do what their object says: "do the release", "start coding".
const LIGHT: Words = "do mak start begin run perform giv cut execut";

/// What belongs to the work at hand.
const WORK: Words = "chang work cod code diff fix edit everyth anything messag short stag product branch remote origin main master prod pr request \
     titl it rest list far";

/// They leave a thing as it is.
const READS: Words = "read look check explain show list run test use call import describ compar copy find search review see open print count tell ask load \
     follow render docu analys pars query measur benchmark verify validat inspect view cit mention keep leav skip ignor mock profil debug commit push \
     deploy need want get try log grep trac stop start restart mov with do be hav know understand creat writ add put imple send watch note consider wait apply app";

/// They do not bring more of it.
const UNDOES: Words = "remov delet drop replac clean avoid skip strip migr convert refactor fix rewrit chang updat renam mov list read show explain find check test \
     count look use run review describ compar copy search see tell keep ignor";

/// Areas of a program.
const AREAS: Words = "frontend backend server client web mobile io android css html api ui";

/// Another one of the same kind.
const OTHERS: Words = "stag dev local temp temporary internal privat own feature fork sandbox demo helper scratch test unit except main-test";

const LIBRARIES: Words = "dependency packag librar library gem crat plugin";

/// What a sentence takes back.
pub(super) struct Lift {
    parts: Vec<Part>,
}

enum Part {
    /// All rules.
    All,
    /// "Forget the rule about …": the stems of its subject, and whether it names a rule.
    TakesBack {
        subject: Vec<String>,
        names_rule: bool,
    },
    Acts(Act),
    /// "You don't have to …"
    Releases {
        stems: Vec<String>,
    },
    /// "The parser is no longer off limits": the stems of its subject.
    Frees {
        subject: Vec<String>,
    },
    /// "Use X": X.
    Uses {
        what: String,
        stem: String,
    },
    /// "CI is green now": its words.
    States {
        stems: Vec<String>,
    },
    /// "English is fine": the language, and what it is for.
    Speaks {
        language: String,
        stems: Vec<String>,
    },
    /// "Do the rest in one go."
    Together,
    /// "Explain it in detail."
    AtLength,
    /// "As many as you need."
    WithoutLimit,
    /// "You have my approval."
    Consents,
}

/// What follows "my boss said yes, …": the consent of others is a reason.
pub(super) fn without_consent(sentence: &str) -> &str {
    let lower = sentence.to_ascii_lowercase();
    let consents = [
        "said yes",
        "said ok",
        "said it's ok",
        "said it's fine",
        "said go",
        "says yes",
        "says ok",
        "says it's ok",
        "says it's fine",
        "gave the ok",
        "signed off",
    ];
    let found = consents.iter().find_map(|consent| lower.find(consent));
    let rest = found.and_then(|at| sentence[at..].split_once(", "));
    rest.map_or(sentence, |(_, rest)| rest)
}

/// "Can you commit it?" orders to commit. Other questions say nothing.
pub(super) fn without_request(sentence: &str) -> &str {
    let clean = sentence.trim_end_matches(['?', '.', '!']);
    let is_word = |word: &str, list| among(list, &word.trim_matches(',').to_lowercase());
    let mut rest = clean;
    loop {
        let (first, after) = rest.split_once(' ').unwrap_or((rest, ""));
        if is_word(first, "can could would will")
            && is_word(after.split(' ').next().unwrap_or_default(), "you")
        {
            return after.split_once(' ').map_or("", |(_, order)| order);
        }
        if !is_word(first, ADVERBS) || after.is_empty() {
            return if clean.len() < sentence.len() && sentence.ends_with('?') { "" } else { sentence };
        }
        rest = after;
    }
}

impl Lift {
    /// `before`: the sentence before it.
    pub(super) fn of(sentence: &str, before: &str, restates: bool) -> Option<Lift> {
        let clauses = clauses(sentence);
        let is_conditional = clauses.iter().any(|clause| is_on_condition(clause));
        let mut antecedent = clauses_subject(before);
        let mut parts = Vec::new();
        for clause in &clauses {
            match takes_back(clause).filter(|_| !restates && !is_on_condition(clause)) {
                Some(part) => parts.push(part),
                None if is_conditional => {}
                None => {
                    parts.extend(releases(clause));
                    parts.extend(frees(clause));
                    parts.extend(acts(clause, &antecedent).into_iter().map(Part::Acts));
                    parts.extend(opposites(clause));
                    parts.extend(states(clause));
                }
            }
            if !is_conditional {
                parts.extend(uses(clause));
            }
            let own = subject(clause);
            if !own.is_empty() {
                antecedent = own;
            }
        }
        (!parts.is_empty()).then_some(Lift { parts })
    }

    pub(super) fn covers(&self, gist: &Gist) -> bool {
        self.parts.iter().any(|part| gist.is_covered_by(part))
    }
}

fn clauses_subject(sentence: &str) -> Vec<String> {
    clauses(sentence).first().map(|clause| subject(clause)).unwrap_or_default()
}

fn is_on_condition(clause: &[Token]) -> bool {
    clause.iter().enumerate().any(|(at, token)| {
        let next = word(clause, at + 1);
        // "After all", "just this once", "run it once".
        let is_once = token.word == "once"
            && (at + 1 == clause.len() || at > 0 && word(clause, at - 1) == "this" || next == "before");
        among(CONDITIONS, &token.word)
            && !is_mere_courtesy(clause, at)
            && next != "all"
            && !is_once
            && !(token.word == "after" && has(clause, RULES))
            && word(clause, 0) != "i"
    })
}

fn takes_back(clause: &[Token]) -> Option<Part> {
    let (at, subject) = clause.iter().enumerate().find_map(|(at, token)| {
        let before = at.checked_sub(1).map_or("", |before| clause[before].word.as_str());
        match token.word.as_str() {
            "forget" | "ignore" | "drop" | "scrap" | "lift" | "relax" | "disregard" | "waive" => {
                Some((at, &clause[at + 1..]))
            }
            "scratch" | "revoke" | "withdraw" | "cancel" | "rescind" => Some((at, &clause[at + 1..])),
            "mind" if before == "my" && has(&clause[..at], "changed change") => {
                Some((at - 2, &clause[at + 1..]))
            }
            "go" if among("can may should", before) && has(&clause[..at], RULES) => {
                Some((at, &clause[..at - 1]))
            }
            "off" | "over" | "void" | "obsolete" | "revoked" | "cancelled" | "canceled" | "withdrawn"
            | "moot" | "history"
                if among("is are", before) =>
            {
                Some((at, &clause[..at]))
            }
            "mind" if before == "never" => Some((at - 1, &clause[at + 1..])),
            "lifted" | "dropped" | "gone" if has(&clause[..at], "is are") => Some((at, &clause[..at])),
            "apply" | "applies" | "holds" | "stands" | "counts"
                if among("doesn't don't longer not", before) =>
            {
                let from = clause[..at].iter().position(|token| among("no doesn't don't not", &token.word));
                Some((from?, &clause[..from?]))
            }
            _ => None,
        }
    })?;
    if has(&clause[..at], DENIALS) || !is_open(&clause[..at], clause[at].word.as_str()) {
        return None;
    }
    let names_rule = has(subject, RULES);
    // "Everything I said about the parser" is about the parser.
    let about = subject.iter().position(|token| token.word == "about" || token.word == "regarding");
    let subject = about.map_or(subject, |about| &subject[about + 1..]);
    // "The 300 line rule in generated files" is about 300 lines.
    let rule = subject.iter().position(|token| among(RULES, &token.word)).unwrap_or(0);
    let subject = if content(&subject[..rule]).is_empty() { subject } else { &subject[..rule] };
    let has_number = subject.iter().any(|token| token.word.starts_with(|c: char| c.is_ascii_digit()));
    let is_forget = among("forget changed", &clause[at].word) || has_number && clause[at].word == "never";
    let of: Vec<String> = (content(subject).into_iter())
        .filter(|stem| {
            !among("rul limit constraint restrict requir said ban thing old earlier previou above", stem)
        })
        .map(str::to_owned)
        .collect();
    let says_all = names_rule && has(subject, "all everything any every");
    let only_all = of.iter().all(|stem| stem == "anything" || stem == "far");
    if says_all && only_all {
        return Some(Part::All);
    }
    if !names_rule && !is_forget || of.is_empty() {
        return None;
    }
    Some(Part::TakesBack { subject: of, names_rule })
}

/// "Please forget …", "you can drop …"; not "you seem to forget …".
fn is_open(head: &[Token], verb: &str) -> bool {
    if among(
        "go off over void obsolete revoked cancelled canceled withdrawn moot history stands counts changed",
        verb,
    ) {
        return true;
    }
    if among("lifted dropped gone never mind no not doesn't don't", verb) {
        return true;
    }
    let is_known = |token: &Token| {
        among(ADVERBS, &token.word)
            || among("you can could may let's lets we should feel free to", &token.word)
    };
    let speaks_to = head.iter().position(|token| token.word == "you");
    let permits = |at: usize| head.get(at + 1).is_some_and(|next| among("can could may should", &next.word));
    head.iter().all(is_known) && speaks_to.is_none_or(permits)
}

/// "If needed", "whenever you like" and "fine if you do it": no real condition.
fn is_mere_courtesy(clause: &[Token], at: usize) -> bool {
    let word = |at: usize| clause.get(at).map_or("", |token| token.word.as_str());
    among("needed necessary required possible helpful useful", word(at + 1))
        || word(at + 1) == "you" && among("need want like think feel must have wish see", word(at + 2))
        || word(at) == "if" && at > 0 && among(ALLOWED, word(at - 1)) && word(at + 1) == "you"
}

/// "… is no longer off limits", "… is fair game", "… is open again".
fn frees(clause: &[Token]) -> Option<Part> {
    let word = |at: usize| word(clause, at);
    let verb = clause.iter().position(|token| among("is are isn't aren't", &token.word))?;
    let denied = among("isn't aren't", word(verb)) || word(verb + 1) == "no" || word(verb + 1) == "not";
    let rest = &clause[verb + 1..];
    let was_closed = has(rest, "off-limits forbidden frozen prohibited taboo banned locked read-only")
        || rest.windows(2).any(|pair| pair[0].word == "off" && pair[1].word == "limits");
    let is_over = denied && was_closed && has(rest, "longer anymore more now");
    let is_open = !denied
        && (rest.windows(2).any(|pair| pair[0].word == "fair" && pair[1].word == "game")
            || has(rest, "unlocked unfrozen open writable") && has(rest, "again now"));
    let subject: Vec<String> = content(&clause[..verb]).into_iter().map(str::to_owned).collect();
    ((is_over || is_open) && !subject.is_empty()).then_some(Part::Frees { subject })
}

/// "You don't have to …", "no longer needed", "without asking", "skip the tests this time".
fn releases(clause: &[Token]) -> Option<Part> {
    let is_denied = clause.windows(2).any(|pair| {
        let (first, second) = (pair[0].word.as_str(), pair[1].word.as_str());
        among("don't doesn't needn't no longer not without stop", first)
            && among("have need needs needed required necessary asking ask checking confirming", second)
    });
    let names_none = word(clause, 0) == "no" && has(clause, "needed required necessary need");
    let at = clause.iter().position(|token| !among(ADVERBS, &token.word))?;
    let skips = among("skip omit", word(clause, at)) || word(clause, at) == "leave" && has(clause, "out");
    (is_denied || names_none || skips || word(clause, at) == "don't" && word(clause, at + 1) == "ask").then(
        || {
            let stems = content(clause).into_iter();
            let stems = stems.filter(|stem| !among("need requir necessary skip omit stop", stem));
            Part::Releases { stems: owned(stems.collect()) }
        },
    )
}

/// What is the contrary of a wish: another language, all at once, longer.
fn opposites(clause: &[Token]) -> Vec<Part> {
    let mut found = Vec::new();
    if has(clause, "don't not never") {
        return found;
    }
    let holds = |first: &str, second: &str| {
        clause.windows(2).any(|pair| pair[0].word == first && pair[1].word == second)
    };
    if holds("one", "go") || holds("at", "once") || holds("all", "together") || holds("without", "stopping") {
        found.push(Part::Together);
    }
    let is_long = holds("in", "detail")
        || has(clause, "in") && holds("more", "detail")
        || holds("long", "version")
        || holds("full", "explanation");
    if is_long
        || has(clause, "explain describe elaborate answer answers")
            && has(clause, "long longer detailed thoroughly fully")
    {
        found.push(Part::AtLength);
    }
    let as_needed =
        clause.windows(4).any(|four| four[0].word == "as" && among("many much long", &four[1].word))
            && has(clause, "need want like takes");
    if as_needed || holds("over", "the") && has(clause, "limit") || has(clause, "exceed") {
        found.push(Part::WithoutLimit);
    }
    if word(clause, 0) == "approved" && clause.len() < 3
        || holds("my", "approval") && has(clause, "have")
        || holds("green", "light")
    {
        found.push(Part::Consents);
    }
    let language = clause.iter().find(|token| among(LANGUAGES, &token.word));
    let is_chosen =
        has(clause, "answer reply write switch use speak respond fine ok okay can may back again")
            || says_only(clause);
    if let Some(language) = language.filter(|_| is_chosen) {
        let other = "answer reply writ switch use speak respond back again";
        let stems = content(clause).into_iter().filter(|stem| *stem != language.stem && !among(other, stem));
        found.push(Part::Speaks { language: language.word.clone(), stems: owned(stems.collect()) });
    }
    found
}

/// "English please", "from now on English please".
fn says_only(clause: &[Token]) -> bool {
    clause
        .iter()
        .all(|token| among(LANGUAGES, &token.word) || among("please from now on in again", &token.word))
}

/// "CI is green now", "review is done", "I checked it".
fn states(clause: &[Token]) -> Option<Part> {
    if has(clause, DENIALS)
        || among("is are does did make get wait", word(clause, 0))
        || has(clause, "waiting still almost will should would could might")
        || orders(clause)
    {
        return None;
    }
    let from = skip_adverbs(clause, 0);
    let is_of_person = among(SPEAKERS, word(clause, from));
    if is_of_person && !clause[from..].iter().take(MOST_BEFORE_PAST).any(is_past) {
        return None;
    }
    let mut stems = owned(content(if is_of_person { &clause[from + 1..] } else { clause }));
    stems.retain(|stem| stem != "already");
    let is_enough = stems.len() > 1 || !stems.is_empty() && (is_of_person || has(clause, "is are"));
    is_enough.then_some(Part::States { stems })
}

/// "I have already checked it."
const MOST_BEFORE_PAST: usize = 4;

pub(super) const SPEAKERS: Words = "i i've we we've";

/// What has happened, or is the case.
fn is_past(token: &Token) -> bool {
    token.word.ends_with("ed")
        || among(
            "i've we've is are am was were have had did done saw read ran went gave said got took made",
            &token.word,
        )
}

/// "Check the tests", for what holds "until I checked it": nothing is said about the person.
fn orders(clause: &[Token]) -> bool {
    const NAMED: Words = "the a an this that these those my our your its all each every it them everything at into in on with over \
         through again what how which if whether why who where";
    const OVER: Words = "is are was were has have looks done finished complete ok okay fine good green over out in came went ran";
    let Some((from, _)) = skip_lead(clause, 0) else { return false };
    let first = &clause[from];
    let is_base = !["ed", "ing", "s"].iter().any(|end| first.word.ends_with(end));
    let is_verb = among(READS, &first.stem)
        || among(CHANGE, &first.stem)
        || among("say approv confirm sign decid answer reply agree merg releas ship finish", &first.stem);
    if !is_base || !is_verb {
        return false;
    }
    let next = word(clause, from + 1);
    if among(OVER, next) || next.ends_with("ed") {
        return false;
    }
    among(NAMED, next) || !has(&clause[from..], "is are was were has have")
}

/// "Use npm", "you can use npm again", "switch to npm".
fn uses(clause: &[Token]) -> Option<Part> {
    let begins = |at: &usize| match word(clause, *at) {
        "use" | "prefer" => true,
        "switch" | "move" | "back" => word(clause, at + 1) == "to",
        "go" => word(clause, at + 1) == "with",
        _ => false,
    };
    let at = (0..clause.len()).find(begins)?;
    let opens = clause[..at]
        .iter()
        .all(|token| among(ADVERBS, &token.word) || among("you can may let's lets", &token.word));
    let what = at + if among("use prefer", word(clause, at)) { 1 } else { 2 };
    let ends = among(
        "now again here there instead for please not over rather after then too anyway everywhere",
        word(clause, what + 1),
    );
    let name = clause.get(what)?;
    (opens && (ends || what + 1 == clause.len()))
        .then(|| Part::Uses { what: name.word.clone(), stem: name.stem.clone() })
}

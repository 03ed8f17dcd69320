//! English: "forget the rule about …", "you can …", "you don't have to …", and orders.

use super::ConstraintKind;
use crate::feature::knowledge::constraint::sentences::quotation_end;
use crate::text::stem::strip_ending;
use crate::text::word_list::{Words, among};

/// They stand for what the person asked for.
const RULES: Words = "rule rules limit limits constraint constraints restriction restrictions requirement requirements said ban \
     freeze embargo thing";

const DENIALS: Words =
    "not no never don't dont doesn't won't can't cannot mustn't shouldn't isn't aren't without nothing";

/// The permission comes later, or perhaps never.
const CONDITIONS: Words = "if once when unless until after whenever provided assuming before";

const ALLOWED: Words = "fine ok okay alright acceptable allowed permitted";

/// Words without a subject, between the parts of a sentence.
#[rustfmt::skip]
const FUNCTION: Words = "a an the this that these those my your our its it's their some every each all both i we you it they them he she \
    me us in on at to of for from by with about into onto under against over through as is are was were be been am do does did \
    don't dont not no never nothing doesn't and or so then but just also too please now yet here there again anymore ever always only \
    must mustn't may can could should shouldn't will won't cannot can't would have has had what which who whom whose more longer \
    really actually still directly straight today ok okay fine new extra additional further another other else one ones feel free \
    allowed permitted let's before after when while because since than go ahead anymore without if any until";

/// Before the verb of an order or a permission.
const ADVERBS: Words = "now also just still again simply of course please ok okay then great good perfect nice alright so and actually \
    yes well lgtm instead go ahead always finally go";

/// "Commit it", not "commit messages are short".
const OBJECTS: Words = "a an it this that these those the them everything all now to and then with please my your our as in on |";

const CHANGE: Words = "touch chang edit modify updat alter rewrit adapt adjust";
const ADD: Words = "add introduc install use hav have creat writ bring includ";

/// A word as it is written, in lower case, and its stem.
#[derive(Clone, Debug)]
struct Token {
    word: String,
    stem: String,
}

/// Stems of short forms.
const SHORT: [(&str, &str); 5] = [
    ("dep", "dependency"),
    ("db", "database"),
    ("repo", "repository"),
    ("config", "configuration"),
    ("doc", "document"),
];

type Clause = Vec<Token>;

/// What is only quoted is not said. A name in code is.
fn without_quotations(sentence: &str) -> String {
    let (mut own, mut at) = (String::with_capacity(sentence.len()), 0);
    while let Some(c) = sentence[at..].chars().next() {
        if let Some(end) = quotation_end(sentence, at).filter(|_| c != '`') {
            own.push_str(" … ");
            at = end;
        } else {
            own.push(c);
            at += c.len_utf8();
        }
    }
    own
}

/// At commas, colons, dashes and "but".
fn clauses(sentence: &str) -> Vec<Clause> {
    let sentence = &without_quotations(sentence);
    let mut clauses = vec![Clause::new()];
    for raw in sentence.split_whitespace() {
        let is_outer = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '+' | '#');
        let word = raw.trim_start_matches(|c: char| is_outer(c) && c != '.').trim_end_matches(is_outer);
        let ends = raw.ends_with([',', ';', ':', ')', '—', '–', '.', '!']);
        let word = word.replace('’', "'").to_lowercase();
        if word == "but" || word.is_empty() {
            clauses.push(Clause::new());
            continue;
        }
        let mut stem = word.clone();
        strip_ending(&mut stem, 0);
        if among("using uses used", &word) {
            "use".clone_into(&mut stem);
        }
        if let Some((_, usual)) = SHORT.iter().find(|(short, _)| *short == stem) {
            (*usual).clone_into(&mut stem);
        }
        if let Some(clause) = clauses.last_mut() {
            clause.push(Token { word, stem });
        }
        if ends {
            clauses.push(Clause::new());
        }
    }
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

fn has(clause: &[Token], list: Words) -> bool {
    clause.iter().any(|token| among(list, &token.word))
}

/// Stems of the words with content.
fn content(clause: &[Token]) -> Vec<&str> {
    let mut stems = Vec::new();
    for (at, token) in clause.iter().enumerate() {
        // The type `any`, not the determiner.
        let next = clause.get(at + 1).map_or("in", |next| next.word.as_str());
        let is_any = token.word == "any" && among("in here now at again", next);
        let stem = match token.word.as_str() {
            "anything" | "everything" | "something" => "anything",
            _ => token.stem.as_str(),
        };
        if (is_any || !among(FUNCTION, &token.word)) && !stems.contains(&stem) {
            stems.push(stem);
        }
    }
    stems
}

fn is_same_verb(one: &str, other: &str) -> bool {
    one == other || among(CHANGE, one) && among(CHANGE, other)
}

/// What a sentence takes back.
pub(super) enum Lift {
    /// All rules.
    All,
    Several(Vec<Part>),
}

pub(super) enum Part {
    /// "Forget the rule about …": the stems of its subject, and whether it names a rule.
    TakesBack { subject: Vec<String>, names_rule: bool },
    /// "You can …", with the verb and the first word with content after it.
    Permits { verb: Option<String>, object: Option<String>, stems: Vec<String>, exceeds: bool },
    /// "You don't have to …"
    Releases { stems: Vec<String> },
    /// "The parser is no longer off limits": the stems of its subject.
    Frees { subject: Vec<String> },
    /// "Commit it."
    Orders { verb: String, stems: Vec<String> },
    /// "Use X": X.
    Uses { what: String, stem: String },
}

impl Lift {
    /// `restates`: the sentence is itself a constraint.
    pub(super) fn of(sentence: &str, restates: bool) -> Option<Lift> {
        let clauses = clauses(sentence);
        if restates {
            // "You can edit the tests now, but not the fixtures" does both.
            let allowed = clauses.iter().filter(|clause| !has(clause, CONDITIONS)).filter_map(|clause| {
                let speaks_to = clause.iter().take(3).any(|token| token.word == "you");
                uses(clause).or_else(|| permits(clause).filter(|_| speaks_to))
            });
            let parts: Vec<Part> = allowed.collect();
            return (!parts.is_empty()).then_some(Lift::Several(parts));
        }
        let is_conditional = clauses.iter().any(|clause| {
            clause.iter().enumerate().any(|(at, token)| {
                // "After all", "before a commit".
                let next = clause.get(at + 1).map_or("", |next| next.word.as_str());
                let is_once = token.word == "once" && at > 0 && clause[at - 1].word == "this";
                among(CONDITIONS, &token.word)
                    && !is_mere_courtesy(clause, at)
                    && next != "all"
                    && !is_once
                    && !(matches!(token.word.as_str(), "before" | "after") && has(clause, RULES))
                    && !(token.word == "before" && releases(clause))
            })
        });
        let mut parts = Vec::new();
        for clause in &clauses {
            match takes_back(clause) {
                Some(TakenBack::All) => return Some(Lift::All),
                Some(TakenBack::Part(part)) => parts.push(part),
                None if is_conditional => {}
                None => parts.extend(frees(clause).or_else(|| permits(clause)).or_else(|| orders(clause))),
            }
            if !is_conditional {
                parts.extend(uses(clause));
            }
        }
        (!parts.is_empty()).then_some(Lift::Several(parts))
    }

    pub(super) fn covers(&self, constraint: &str) -> bool {
        match self {
            Lift::All => true,
            Lift::Several(parts) => {
                let gist = Gist::of(constraint);
                parts.iter().any(|part| gist.is_covered_by(part))
            }
        }
    }
}

enum TakenBack {
    All,
    Part(Part),
}

fn takes_back(clause: &[Token]) -> Option<TakenBack> {
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
    // "The 300 line rule in generated files" is about 300 lines.
    let rule = subject.iter().position(|token| among(RULES, &token.word)).unwrap_or(0);
    let subject = if content(&subject[..rule]).is_empty() { subject } else { &subject[..rule] };
    let is_forget = among("forget changed", &clause[at].word);
    let of: Vec<String> = (content(subject).into_iter())
        .filter(|stem| !among("rul limit constraint restrict requir said ban thing old earli previou", stem))
        .map(str::to_owned)
        .collect();
    let says_all = names_rule && has(subject, "all everything any every");
    let only_all = of.iter().all(|stem| stem == "anything" || stem == "far");
    if says_all && only_all {
        return Some(TakenBack::All);
    }
    if !names_rule && !is_forget || of.is_empty() {
        return None;
    }
    Some(TakenBack::Part(Part::TakesBack { subject: of, names_rule }))
}

/// "Please forget …", "you can drop …"; not "you seem to forget …".
fn is_open(head: &[Token], verb: &str) -> bool {
    if among(
        "off over void obsolete revoked cancelled canceled withdrawn moot history stands counts changed",
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

/// They name what is at hand.
const WORK: Words = "chang work cod code diff fix everyth messag short stag product branch";

/// The permission is not for now, or not for here.
const ELSEWHERE: Words = "wish tomorrow later someday sandbox theoretically said says";

/// "If needed", "whenever you like" and "fine if you do it": no real condition.
fn is_mere_courtesy(clause: &[Token], at: usize) -> bool {
    let word = |at: usize| clause.get(at).map_or("", |token| token.word.as_str());
    among("needed necessary required possible helpful useful", word(at + 1))
        || word(at + 1) == "you" && among("need want like think feel must have wish see", word(at + 2))
        || word(at) == "if" && at > 0 && among(ALLOWED, word(at - 1)) && word(at + 1) == "you"
}

/// "… is no longer off limits", "… is fair game", "… is open again".
fn frees(clause: &[Token]) -> Option<Part> {
    let word = |at: usize| clause.get(at).map_or("", |token| token.word.as_str());
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

/// "You don't have to …", "no longer needed".
fn releases(clause: &[Token]) -> bool {
    clause.windows(2).any(|pair| {
        let (first, second) = (pair[0].word.as_str(), pair[1].word.as_str());
        among("don't doesn't needn't no longer not", first)
            && among("have need needs needed required necessary", second)
    })
}

fn permits(clause: &[Token]) -> Option<Part> {
    if releases(clause) {
        let stems = content(clause).into_iter().filter(|stem| !among("need requir necessary", stem));
        return Some(Part::Releases { stems: stems.map(str::to_owned).collect() });
    }
    let is_elsewhere =
        clause.windows(2).any(|pair| pair[0].word == "other" && among("repo project app", &pair[1].word));
    if has(clause, DENIALS) || has(clause, "only") || has(clause, ELSEWHERE) || is_elsewhere {
        return None;
    }
    let word = |at: usize| clause.get(at).map_or("", |token| token.word.as_str());
    let (mut verb, mut object) = (None, None);
    let mut is_permission = false;
    for at in 0..clause.len() {
        let next = match word(at) {
            "you" if among("can may could", word(at + 1)) => at + 2,
            // "Files may be longer", "they may be changed".
            "may" | "can" if word(at + 1) == "be" && at > 0 => at + 2,
            "free" if word(at + 1) == "to" && at > 0 && word(at - 1) == "feel" => at + 2,
            fine if among(ALLOWED, fine) && word(at + 1) == "to" => at + 2,
            fine if among(ALLOWED, fine) && word(at + 1) == "if" && word(at + 2) == "you" => at + 3,
            "free" if word(at + 1) == "to" && at > 0 && among("are you're", word(at - 1)) => at + 2,
            fine if among(ALLOWED, fine) && is_predicate(clause, at) => {
                is_permission = true;
                // "Changing it is fine."
                let first = clause.iter().find(|token| !among(ADVERBS, &token.word));
                verb = first.filter(|token| token.word.ends_with("ing")).map(|token| token.stem.clone());
                object = content(&clause[..at]).get(usize::from(verb.is_some())).copied().map(str::to_owned);
                break;
            }
            _ => continue,
        };
        let from = clause.iter().skip(next).find(|token| !among(ADVERBS, &token.word))?;
        let is_passive = word(next - 1) == "be";
        verb =
            Some(if is_passive && !from.word.ends_with("ed") { "be".to_owned() } else { from.stem.clone() });
        let after = clause.iter().position(|token| std::ptr::eq(token, from)).map_or(next, |at| at + 1);
        object = content(&clause[after..]).first().filter(|_| !is_passive).map(|stem| (*stem).to_owned());
        is_permission = true;
        break;
    }
    let stems = content(clause).into_iter().map(str::to_owned).collect();
    let exceeds = has(clause, "outside beyond more longer other else exceed too also");
    is_permission.then_some(Part::Permits { verb, object, stems, exceeds })
}

/// "… is fine", "… are allowed now".
fn is_predicate(clause: &[Token], at: usize) -> bool {
    clause[..at].iter().rev().take(2).any(|token| among("is are", &token.word))
        && !among("it that", &clause[0].word)
}

/// A clause that begins with its verb, or goes on with a second one.
fn orders(clause: &[Token]) -> Option<Part> {
    if has(clause, "don't dont never no not can't cannot won't only") {
        return None;
    }
    let word = |at: usize| clause.get(at).map_or("|", |token| token.word.as_str());
    let first = clause.iter().position(|token| !among(ADVERBS, &token.word))?;
    let second = (first + 1..clause.len()).find(|at| {
        among("and then", word(at - 1))
            && (among(OBJECTS, word(at + 1)) && word(at + 1) != "|" || word(at - 1) == "then")
    });
    let at = if among(OBJECTS, word(first + 1)) { first } else { second? };
    // "Search docs, commits, comments", "commit to one of them".
    let is_noun = word(at).ends_with('s') && clause[at].stem != word(at);
    if is_noun || word(at) == "commit" && word(at + 1) == "to" {
        return None;
    }
    let stems = content(&clause[at + 1..]).into_iter().map(str::to_owned).collect();
    Some(Part::Orders { verb: clause[at].stem.clone(), stems })
}

/// "Use npm", "you can use npm again", "switch to npm".
fn uses(clause: &[Token]) -> Option<Part> {
    let word = |at: usize| clause.get(at).map_or("", |token| token.word.as_str());
    let begins = |at: &usize| match word(*at) {
        "use" | "prefer" => true,
        "switch" | "move" => word(at + 1) == "to",
        "go" => word(at + 1) == "with",
        _ => false,
    };
    let at = (0..clause.len()).find(begins)?;
    let opens = clause[..at]
        .iter()
        .all(|token| among(ADVERBS, &token.word) || among("you can may let's", &token.word));
    let what = at + if among("use prefer", word(at)) { 1 } else { 2 };
    let ends = among("now again here instead for please not over rather after", word(what + 1));
    let name = clause.get(what)?;
    (opens && (ends || what + 1 == clause.len()))
        .then(|| Part::Uses { what: name.word.clone(), stem: name.stem.clone() })
}

/// What a constraint is about.
struct Gist {
    kind: ConstraintKind,
    verb: Option<String>,
    /// Without the verb.
    stems: Vec<String>,
    /// All words of the sentence.
    all: Vec<String>,
    for_now: bool,
    /// "Use pnpm, not npm": npm.
    rejected: Option<String>,
}

impl Gist {
    fn of(constraint: &str) -> Gist {
        let clauses = clauses(constraint);
        let all: Vec<String> = clauses.iter().flat_map(|clause| content(clause)).map(str::to_owned).collect();
        let has_limit = |clause: &Clause| has(clause, "only most max maximum");
        let forbids = |clause: &Clause| has(clause, DENIALS) || has(clause, "avoid stop nothing");
        let for_now = clauses.iter().any(|clause| {
            has(clause, "yet until till")
                || clause.windows(2).any(|pair| pair[0].word == "for" && pair[1].word == "now")
        });
        let rejected = rejected(&clauses);
        let forbidding = clauses.iter().find(|clause| forbids(clause));
        let kind = match forbidding {
            _ if clauses.iter().any(has_limit) => ConstraintKind::Limits,
            Some(_) if rejected.is_none() => ConstraintKind::Forbids,
            _ => ConstraintKind::Requires,
        };
        let (verb, stems) = match forbidding {
            Some(clause) if kind == ConstraintKind::Forbids => parts_of(clause, &all),
            _ => (None, all.clone()),
        };
        Gist { kind, verb, stems, all, for_now, rejected }
    }

    fn is_covered_by(&self, part: &Part) -> bool {
        let has_all = |stems: &[String]| self.stems.iter().all(|stem| stems.contains(stem));
        match part {
            Part::TakesBack { subject, names_rule } => {
                let shared = subject.iter().filter(|stem| self.all.contains(stem)).count();
                super::is_about(shared, subject.len(), self.all.len(), *names_rule)
            }
            Part::Releases { stems } => {
                let shared = self.all.iter().filter(|stem| stems.contains(stem)).count();
                // "No need to ask any more" names nothing else.
                let names_deed = self.all.first().is_some_and(|deed| stems.contains(deed))
                    && stems.iter().all(|stem| self.all.contains(stem));
                let is_named = shared > 0 && shared * 5 >= self.all.len() * 3;
                match self.kind {
                    ConstraintKind::Requires => is_named || names_deed,
                    ConstraintKind::Limits => is_named,
                    ConstraintKind::Forbids => false,
                }
            }
            Part::Frees { subject } => {
                let shared = subject.iter().filter(|stem| self.all.contains(stem)).count();
                self.kind == ConstraintKind::Forbids
                    && shared == subject.len()
                    && shared * 2 >= self.stems.len()
            }
            Part::Permits { verb, object, stems, exceeds } => match self.kind {
                ConstraintKind::Requires => false,
                ConstraintKind::Limits => *exceeds && has_all(stems),
                ConstraintKind::Forbids => {
                    let same_verb = match (&self.verb, verb) {
                        (Some(own), Some(other)) => is_same_verb(own, other),
                        (None, Some(other)) => among(ADD, other),
                        (own, None) => own.is_none(),
                    };
                    let is_known = self.verb.is_some() || !self.stems.is_empty();
                    // A permission for one thing does not lift what holds for all.
                    let is_whole = !self.stems.is_empty() || self.for_now || stems.len() <= 1;
                    // "You can write a page about the database" does not allow to write to it.
                    let is_object = |object: &String| self.stems.is_empty() || self.stems.contains(object);
                    is_known
                        && same_verb
                        && has_all(stems)
                        && is_whole
                        && object.as_ref().is_none_or(is_object)
                }
            },
            Part::Orders { verb, stems } => {
                let same_verb = match &self.verb {
                    Some(own) => is_same_verb(own, verb),
                    None => !self.for_now && among(ADD, verb),
                };
                // "Merge the two helpers" says nothing of the pull request.
                let names_all = !self.stems.is_empty() && has_all(stems);
                let is_same = names_all && stems.iter().all(|stem| self.stems.contains(stem));
                self.kind == ConstraintKind::Forbids
                    && same_verb
                    && (is_same || self.for_now && (names_all || stems.iter().all(|stem| among(WORK, stem))))
            }
            Part::Uses { what, stem } => {
                let is_forbidden = self.kind == ConstraintKind::Forbids
                    && self.verb.as_deref() == Some("use")
                    && self.stems == [stem.as_str()];
                self.rejected.as_ref() == Some(what) || is_forbidden
            }
        }
    }
}

/// The verb of a clause that forbids, and its other stems.
fn parts_of(clause: &[Token], all: &[String]) -> (Option<String>, Vec<String>) {
    // "… until the review is done", "… because it is slow".
    let end = clause.iter().position(|token| among("until unless till because since yet", &token.word));
    let clause = &clause[..end.unwrap_or(clause.len())];
    let denial = clause
        .iter()
        .position(|token| among(DENIALS, &token.word) || among("avoid stop nothing", &token.word))
        .unwrap_or(0);
    let word = |at: usize| clause.get(at).map_or("", |token| token.word.as_str());
    let modal = (denial..clause.len()).find(|at| among("may must can should", word(*at)));
    let verb_at = match word(denial) {
        "no" | "nothing" | "nobody" => modal.map(|at| at + 1),
        "without" => clause.get(denial + 1).filter(|token| token.word.ends_with("ing")).map(|_| denial + 1),
        _ => (denial + 1..clause.len())
            .find(|at| !among(ADVERBS, word(*at)) && !among("ever be to want you", word(*at))),
    };
    let verb = verb_at.and_then(|at| clause.get(at)).map(|token| token.stem.clone());
    let mut stems: Vec<String> = content(clause).into_iter().map(str::to_owned).collect();
    let points = has(clause, "it this that them these those") && stems.len() < 2;
    if points {
        stems = all.to_vec();
    }
    stems.retain(|stem| Some(stem) != verb.as_ref() && !among("avoid stop want", stem));
    (verb, stems)
}

/// "Use pnpm, not npm", "use pnpm instead of npm", "prefer pnpm over npm".
fn rejected(clauses: &[Clause]) -> Option<String> {
    let words: Vec<&str> = clauses.iter().flatten().map(|token| token.word.as_str()).collect();
    let from = words.iter().position(|word| among("use prefer", word)).unwrap_or(0);
    let at = words.windows(2).skip(from).position(|pair| {
        pair[0] == "not" && clauses.iter().skip(1).any(|clause| clause[0].word == "not")
            || matches!(pair, ["instead", "of"] | ["rather", "than"])
            || pair[0] == "over" && among("prefer", words[from])
    })? + from;
    let skip = if among("not over", words[at]) { 1 } else { 2 };
    (at + skip + 1 == words.len()).then(|| words[at + skip].to_owned())
}

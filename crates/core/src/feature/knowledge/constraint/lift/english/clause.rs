//! A sentence as clauses of words and their stems.

use crate::feature::knowledge::constraint::sentences::quotation_end;
use crate::text::stem::strip_ending;
use crate::text::word_list::{Words, among};

pub(super) const DENIALS: Words = "not no never don't dont doesn't won't can't cannot mustn't shouldn't isn't aren't without nothing didn't w/o cant shouldnt wouldn't";

/// Words without a subject, between the parts of a sentence.
#[rustfmt::skip]
pub(super) const FUNCTION: Words = "a an the this that these those my your our its it's their some every each all both i we you it they them he she \
    me us in on at to of for from by with about into onto under against over through as is are was were be been am do does did \
    don't dont not no never nothing doesn't and or so then but just also just too please pls now yet here there again anymore ever always only \
    must mustn't may can could should shouldn't will won't cannot can't would have has had what which who whom whose more longer \
    really actually still directly straight today ok okay fine new extra additional further another other else one ones feel free \
    allowed permitted let's before after when while because since than go ahead anymore without if any until once time well after \
    though anyway instead everywhere yourself accordingly it'll that's hand back exist existing current own further entirely completely exactly strictly";

/// Before the verb of an order or a permission.
pub(super) const ADVERBS: Words = "now also just still again simply of course please pls ok okay then great good perfect nice alright so and actually \
    yes yep yeah well lgtm instead go ahead always finally go cool right fine sure anyway thanks thx ugh hmm hi hello hey but first \
    quickly looks done green approved too oh all";

/// A word as it is written, in lower case, and its stem.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) word: String,
    pub(super) stem: String,
}

pub(super) type Clause = Vec<Token>;

/// Stems of short forms.
const SHORT: [(&str, &str); 9] = [
    ("emojis", "emoji"),
    ("apis", "api"),
    ("dep", "dependency"),
    ("db", "database"),
    ("repo", "repository"),
    ("config", "configuration"),
    ("doc", "docu"),
    ("modifi", "modify"),
    ("pkg", "packag"),
];

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
pub(super) fn clauses(sentence: &str) -> Vec<Clause> {
    let sentence = &without_quotations(sentence);
    let mut clauses = vec![Clause::new()];
    for raw in sentence.split_whitespace() {
        let is_outer = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '+' | '#');
        let word = raw.trim_start_matches(|c: char| is_outer(c) && c != '.').trim_end_matches(is_outer);
        // "unwrap()" is one word.
        let ends =
            raw.ends_with([',', ';', ':', '—', '–', '.', '!']) || raw.ends_with(')') && !raw.contains('(');
        let word = word.replace('’', "'").to_lowercase();
        if word == "but" || word.is_empty() {
            clauses.push(Clause::new());
            continue;
        }
        let stem = stem_of(&word);
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

fn stem_of(word: &str) -> String {
    if among("using uses used", word) {
        return "use".to_owned();
    }
    let mut stem = word.to_owned();
    strip_ending(&mut stem, 0);
    let usual = SHORT.iter().find(|(short, _)| *short == stem);
    usual.map_or(stem, |(_, usual)| (*usual).to_owned())
}

pub(super) fn has(clause: &[Token], list: Words) -> bool {
    clause.iter().any(|token| among(list, &token.word))
}

pub(super) fn word(clause: &[Token], at: usize) -> &str {
    clause.get(at).map_or("", |token| token.word.as_str())
}

/// Stems of the words with content.
pub(super) fn content(clause: &[Token]) -> Vec<&str> {
    let mut stems = Vec::new();
    for (at, token) in clause.iter().enumerate() {
        // The type `any`, not the determiner.
        let next = clause.get(at + 1).map_or("in", |next| next.word.as_str());
        let is_any = token.word == "any" && among("in here there now at again", next);
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

pub(super) fn owned(stems: Vec<&str>) -> Vec<String> {
    stems.into_iter().map(str::to_owned).collect()
}

/// `own` is the other word, or has it as a part: "package-lock" and "lock".
pub(super) fn is_alike(own: &str, other: &str) -> bool {
    own == other
        || own.ends_with('/') && other.starts_with(own)
        || other.split_once('.').is_some_and(|(name, _)| name.len() > 3 && stem_of(name) == own)
        || own.contains(['-', '_'])
            && !own.starts_with("non-")
            && own.split(['-', '_']).any(|piece| piece == other || stem_of(piece) == other)
}

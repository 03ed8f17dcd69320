//! A person's words that look like a yes to a cycle, and why they do not count as one. They hear it at once: a yes that is
//! ignored in silence looks like a fault.

use crate::feature::cycle::go_ahead::{
    Assent, holds_back, is_question, is_quoted, lets_continue, read_plain,
};
use crate::text::word_list::{Words, among};

/// How a cycle takes the words of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Yes {
    Counts,
    /// It looks like one.
    NotCounted(WhyNot),
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WhyNot {
    Quoted,
    Question,
    /// More than a yes: a condition, or another wish.
    More,
    /// A mere assent, which may be meant for something else.
    Assent(String),
    /// It names this stage; another one is next, or not done.
    OtherStage(String),
    /// No end of Claude's turn was reported. The client reports no interrupt either.
    TurnOpen,
}

/// What a yes has to say.
pub(super) struct Asked<'a> {
    /// Names that may be in it.
    pub(super) known: &'a [&'a str],
    /// The stages among them.
    pub(super) stages: &'a [&'a str],
    /// The stage that it lets begin, or that is not done.
    pub(super) stage: Option<&'a str>,
    /// A mere assent is not enough.
    pub(super) by_name: bool,
}

/// More is a prompt of its own.
const MAX_BYTES: usize = 200;

/// Each begins a condition, or puts the yes off.
const CONDITIONS: Words =
    "but if when after once only unless until before first later tomorrow as provided assuming";
const CONDITIONS_JA: [&str; 10] =
    ["でも", "ただ", "先に", "たら", "れば", "てから", "あとで", "後で", "次第", "けど"];
/// Ends of a Japanese yes with a condition before it.
const ENDS_JA: [&str; 8] =
    ["続けて", "続けてください", "進めて", "進めてください", "出荷して", "再開して", "どうぞ", "続行して"];

pub(super) fn read_yes(said: &str, asked: &Asked<'_>) -> Yes {
    let said = said.trim();
    if lets_continue(said, asked.known, asked.by_name) {
        let other = named_stage(said, asked).map(|named| Yes::NotCounted(WhyNot::OtherStage(named)));
        return other.unwrap_or(Yes::Counts);
    }
    find_why_not(said, asked.known).map_or(Yes::Other, Yes::NotCounted)
}

/// The stage that it names, if that is not the one asked for.
fn named_stage(said: &str, asked: &Asked<'_>) -> Option<String> {
    let stage = asked.stage?;
    let lower = said.to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '\'';
    let names = |name: &str| {
        let mut words = lower.split(|c| !is_part(c));
        words.any(|word| word == name || !word.is_ascii() && word.contains(name))
    };
    let named = asked.stages.iter().find(|name| names(&name.to_lowercase()))?;
    (!names(&stage.to_lowercase())).then(|| (*named).to_owned())
}

fn find_why_not(said: &str, known: &[&str]) -> Option<WhyNot> {
    if said.len() > MAX_BYTES {
        return None;
    }
    let is_yes = |text: &str| lets_continue(text, known, false);
    if is_yes(said) {
        return Some(WhyNot::Assent(said.to_owned()));
    }
    if is_quoted(said) {
        let is_mark = |c: char| matches!(c, '>' | '＞' | '`') || is_quoted(&c.to_string());
        let bare: String = said.chars().filter(|c| !is_mark(*c)).collect();
        return is_yes(&bare).then_some(WhyNot::Quoted);
    }
    if is_question(said) {
        return is_yes(said.trim_end_matches(['?', '？'])).then_some(WhyNot::Question);
    }
    says_more(said, known).then_some(WhyNot::More)
}

/// "Yes, but fix the typo first", "when CI is green, continue". Not "ok, stop": that is a no.
fn says_more(said: &str, known: &[&str]) -> bool {
    let lower = said.to_lowercase();
    let is_end = |c: char| matches!(c, ',' | '.' | ';' | ':' | '!' | '—' | '\n' | '、' | '。' | '！' | '，');
    let agrees = |text: &str| read_plain(text, known, "").is_some_and(|most| most >= Assent::Agrees);
    let first = lower.split(is_end).next().unwrap_or_default();
    if agrees(first) {
        let rest = lower[first.len()..].trim_start_matches(is_end).trim();
        return has_condition(rest) || !holds_back(rest) && !is_question(rest);
    }
    // "continue after I looked at it"
    let condition = first.split_whitespace().position(|word| among(CONDITIONS, word));
    if let Some(at) = condition {
        let before: Vec<&str> = first.split_whitespace().take(at).collect();
        let last = lower.trim_end_matches(is_end).rsplit(is_end).next().unwrap_or_default();
        return agrees(&before.join(" ")) || at == 0 && last != first && agrees(last);
    }
    let end = lower.trim_end_matches(is_end);
    ENDS_JA.iter().any(|yes| end.ends_with(yes)) && CONDITIONS_JA.iter().any(|word| end.contains(word))
}

fn has_condition(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| among(CONDITIONS, word))
        || CONDITIONS_JA.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGES: [&str; 4] = ["sprint", "audit", "ship", "retrospective"];
    const KNOWN: [&str; 5] = ["sprint", "audit", "ship", "retrospective", "dev-cycle"];

    fn read(said: &str, stage: &str, by_name: bool) -> Yes {
        read_yes(said, &Asked { known: &KNOWN, stages: &STAGES, stage: Some(stage), by_name })
    }

    #[test]
    fn a_yes_that_does_not_count_has_a_reason() {
        for (said, why) in [
            ("\"continue\"", WhyNot::Quoted),
            ("> continue", WhyNot::Quoted),
            ("```\ncontinue\n```", WhyNot::Quoted),
            ("「続けて」", WhyNot::Quoted),
            ("continue?", WhyNot::Question),
            ("yes?", WhyNot::Question),
            ("ok", WhyNot::Assent("ok".into())),
            ("はい", WhyNot::Assent("はい".into())),
            ("yes, but fix the typo first", WhyNot::More),
            ("ok, show me the diff first", WhyNot::More),
            ("continue, and use tabs", WhyNot::More),
            ("continue after I looked at it", WhyNot::More),
            ("continue only after I say so", WhyNot::More),
            ("ship it if CI is green", WhyNot::More),
            ("when CI is green, continue", WhyNot::More),
            ("はい、でも先に型を直して", WhyNot::More),
            ("テストが通ったら続けて", WhyNot::More),
            ("continue with retrospective", WhyNot::OtherStage("retrospective".into())),
            ("retrospectiveに進めて", WhyNot::OtherStage("retrospective".into())),
        ] {
            assert_eq!(read(said, "ship", true), Yes::NotCounted(why), "{said}");
        }
    }

    #[test]
    fn a_plain_yes_counts() {
        for said in
            ["continue", "ship it", "continue with ship", "続けて", "shipに進めて", "/dev-cycle", "go ahead"]
        {
            assert_eq!(read(said, "ship", true), Yes::Counts, "{said}");
        }
        assert_eq!(read("yes", "ship", false), Yes::Counts);
        assert_eq!(read("ship it", "audit", true), Yes::NotCounted(WhyNot::OtherStage("ship".into())));
    }

    #[test]
    fn other_words_are_no_yes() {
        for said in [
            "",
            "no",
            "No. Don't commit yet.",
            "ok, stop",
            "ok, do not ship it",
            "wait",
            "What does a.js do?",
            "great, what is in a.js?",
            "hello, I am back",
            "the audit looks wrong, revert it",
            "fix the bug in ship.py",
            "mail from Bob: ship it",
            "いいえ",
            "続けないで",
            "差分を見せて",
        ] {
            assert_eq!(read(said, "ship", true), Yes::Other, "{said}");
        }
    }
}

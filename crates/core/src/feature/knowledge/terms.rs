//! A text as terms: its content words, and whether they are asserted or denied.
//!
//! One pass, one buffer: this reads a whole summary inside a hook.

use std::iter::Peekable;
use std::str::CharIndices;

use crate::text::fold::narrow;
use crate::text::japanese::{
    is_any_kanji, is_half_width_katakana, is_hiragana, is_katakana, repeats_hiragana,
};
use crate::text::stem::strip_ending;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunScript {
    /// Letters and digits of every script that puts spaces between words.
    Latin,
    Kanji,
    Katakana,
    /// Particles and endings: no terms, only denials.
    Hiragana,
}

/// The form of a term; a name must occur elsewhere unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TermLook {
    Plain,
    /// `Postgres`, not at the beginning of an English sentence.
    Capital,
    /// `CI`.
    Capitals,
    /// `parse_config`, `parseConfig`, `v2`.
    Name,
    Number,
    /// A part of a name that is a term itself.
    Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Term<'a> {
    /// Lower case, without an English ending.
    pub(super) word: &'a str,
    pub(super) look: TermLook,
    /// [`WHOLE`] for a word; less for one of several bigrams that make up a word.
    pub(super) weight: u32,
    /// Byte offset in the text.
    pub(super) at: usize,
    pub(super) sense: Sense,
}

/// Whether a clause asserts or denies a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    Said,
    Denied,
    /// Before a "not", which may or may not refer to it.
    Either,
}

/// The weight of a word.
pub(super) const WHOLE: u32 = 12;

/// A longer run of one script without a gap is not a word.
const LONGEST: usize = 120;

/// In the order of the text.
pub(super) fn for_each_term(text: &str, mut see: impl FnMut(Term<'_>)) {
    let mut clause = Clause::default();
    let mut runs = ScriptRuns::of(text).peekable();
    let mut before: Option<ScriptRun<'_>> = None;
    while let Some(run) = runs.next() {
        if run.breaks {
            clause.flush(&mut see);
            before = None;
        }
        match run.script {
            RunScript::Latin => {
                let english_next =
                    runs.peek().is_some_and(|next| next.script == RunScript::Latin && !next.breaks);
                clause.latin(&run, before.is_none() && english_next);
            }
            RunScript::Kanji => {
                let instead = runs.peek().is_some_and(|next| {
                    next.script == RunScript::Hiragana && !next.breaks && next.text.starts_with("わり")
                });
                clause.kanji(&run, instead);
            }
            RunScript::Katakana => clause.katakana(&run),
            RunScript::Hiragana => {
                let after = before.as_ref().filter(|run| run.script == RunScript::Kanji);
                if denies(run.text, after.and_then(|run| run.text.chars().next_back())) {
                    clause.so_far(Sense::Denied);
                }
            }
        }
        before = Some(run);
    }
    clause.flush(&mut see);
}

/// With its byte offset.
pub(super) fn longest_latin_run(text: &str) -> Option<(usize, &str)> {
    ScriptRuns::of(text)
        .filter(|run| run.script == RunScript::Latin)
        .max_by_key(|run| run.text.len())
        .map(|run| (run.at, run.text))
}

/// With their byte offsets.
pub(super) fn latin_runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    ScriptRuns::of(text).filter(|run| run.script == RunScript::Latin).map(|run| (run.at, run.text))
}

/// If an English text has lower-case words, its capitals mean something.
pub(super) fn has_small_words(text: &str) -> bool {
    let mut word = String::new();
    latin_runs(text).filter(|(_, run)| run.len() > 2 && run.chars().all(char::is_lowercase)).any(
        |(_, run)| {
            word.clear();
            push_lower(run, &mut word);
            word_role(&word) == WordRole::Word
        },
    )
}

pub(super) fn is_japanese(c: char) -> bool {
    matches!(script_of(c), Some(RunScript::Kanji | RunScript::Katakana | RunScript::Hiragana))
}

/// The terms of the current clause: only its end shows which are denied.
#[derive(Default)]
struct Clause {
    words: String,
    terms: Vec<(std::ops::Range<usize>, TermLook, u32, usize, Sense)>,
    /// Index of the first term that is not denied yet.
    open: usize,
    /// An earlier word says "not".
    denying: bool,
    /// A word anywhere in the clause denies all of it.
    denied: bool,
    /// The last word was `instead` or `rather`.
    instead: bool,
}

impl Clause {
    fn flush(&mut self, see: &mut impl FnMut(Term<'_>)) {
        for (word, look, weight, at, sense) in self.terms.drain(..) {
            let sense = if self.denied { Sense::Denied } else { sense };
            see(Term { word: &self.words[word], look, weight, at, sense });
        }
        self.words.clear();
        (self.open, self.denying, self.denied, self.instead) = (0, false, false, false);
    }

    fn push(&mut self, from: usize, look: TermLook, weight: u32, at: usize) {
        if self.words.len() > from {
            let sense = if self.denying { Sense::Denied } else { Sense::Said };
            self.terms.push((from..self.words.len(), look, weight, at, sense));
        }
    }

    /// Sets the sense of the terms so far.
    fn so_far(&mut self, sense: Sense) {
        for term in &mut self.terms[self.open..] {
            term.4 = sense;
        }
        self.open = self.terms.len();
    }

    fn latin(&mut self, run: &ScriptRun<'_>, opens_english: bool) {
        if run.text.len() > LONGEST {
            return;
        }
        let from = self.words.len();
        push_lower(run.text, &mut self.words);
        let word = &self.words[from..];
        if self.instead && (word == "of" || word == "than") {
            self.denying = true;
        }
        self.instead = matches!(word, "instead" | "rather");
        match word_role(word) {
            WordRole::Denial => {
                self.so_far(Sense::Either);
                self.denying = true;
            }
            WordRole::Contrast => self.denying = true,
            WordRole::DenialOfAll => self.denied = true,
            WordRole::Turn => {
                self.denying = false;
                self.open = self.terms.len();
            }
            WordRole::Nothing => {}
            WordRole::Word => {
                self.word(run, from, opens_english);
                return;
            }
        }
        self.words.truncate(from);
    }

    /// The lower-case word is at the end of `words`, from `from` on.
    fn word(&mut self, run: &ScriptRun<'_>, from: usize, opens_english: bool) {
        let look = look_of(run.text, opens_english);
        if look == TermLook::Number {
            // `200ms` and `200 ms` are the same.
            let number = self.words.split_off(from);
            let (digits, unit) = number.split_at(number.find(char::is_alphabetic).unwrap_or(number.len()));
            self.words.extend(digits.chars().filter(|c| !matches!(c, ',' | '_')));
            self.push(from, TermLook::Number, WHOLE, run.at);
            let from = self.words.len();
            self.words.push_str(unit);
            self.push(from, TermLook::Part, WHOLE / 4, run.at);
            return;
        }
        strip_ending(&mut self.words, from);
        self.push(from, look, WHOLE, run.at);
        if look == TermLook::Name {
            for part in name_parts(run.text) {
                let from = self.words.len();
                push_lower(part, &mut self.words);
                if word_role(&self.words[from..]) == WordRole::Word {
                    strip_ending(&mut self.words, from);
                    self.push(from, TermLook::Part, WHOLE, run.at);
                } else {
                    self.words.truncate(from);
                }
            }
        }
    }

    fn kanji(&mut self, run: &ScriptRun<'_>, instead: bool) {
        let mut text = run.text;
        let denial = DENIALS_IN_KANJI.iter().find_map(|denial| text.strip_suffix(denial));
        if let Some(rest) = denial {
            text = rest;
        } else if instead && let Some(rest) = text.strip_suffix('代') {
            text = rest;
        }
        self.bigrams(text, run.at, |length| WHOLE * length.div_ceil(2));
        if denial.is_some() || text.len() < run.text.len() {
            self.so_far(Sense::Denied);
        }
    }

    fn katakana(&mut self, run: &ScriptRun<'_>) {
        // サーバ and サーバー are the same.
        let text = match run.text.strip_suffix('ー') {
            Some(short) if short.chars().count() >= 2 => short,
            _ => run.text,
        };
        if text.chars().nth(1).is_some() {
            self.bigrams(text, run.at, |length| WHOLE * length.div_ceil(5));
        }
    }

    fn bigrams(&mut self, text: &str, at: usize, weigh: impl Fn(u32) -> u32) {
        let length = text.chars().count() as u32;
        if length == 1 {
            if !LIGHT_KANJI.contains(text) {
                let from = self.words.len();
                self.words.push_str(text);
                self.push(from, TermLook::Plain, WHOLE / 2, at);
            }
            return;
        }
        let weight = weigh(length) / length.saturating_sub(1).max(1);
        for (offset, first) in text.char_indices() {
            let Some(second) = text[offset + first.len_utf8()..].chars().next() else { break };
            let from = self.words.len();
            self.words.push(first);
            self.words.push(second);
            self.push(from, TermLook::Plain, weight, at + offset);
        }
    }
}

/// Consecutive characters of one script.
struct ScriptRun<'a> {
    script: RunScript,
    text: &'a str,
    at: usize,
    /// A clause ended before it.
    breaks: bool,
}

struct ScriptRuns<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
}

impl<'a> ScriptRuns<'a> {
    fn of(text: &'a str) -> ScriptRuns<'a> {
        ScriptRuns { text, chars: text.char_indices().peekable() }
    }
}

impl<'a> Iterator for ScriptRuns<'a> {
    type Item = ScriptRun<'a>;

    fn next(&mut self) -> Option<ScriptRun<'a>> {
        let mut breaks = false;
        let (at, script, mut last) = loop {
            let (at, c) = self.chars.next()?;
            match script_of(c) {
                Some(script) => break (at, script, c),
                None => breaks |= ends_clause(c, &self.text[at + c.len_utf8()..]),
            }
        };
        let mut end = at + last.len_utf8();
        while let Some(&(offset, c)) = self.chars.peek() {
            let goes_on = match script_of(c) {
                Some(next) => next == script || (c == 'ー' && script == RunScript::Hiragana),
                None => script == RunScript::Latin && joins(last, c, &self.text[offset + c.len_utf8()..]),
            };
            if !goes_on {
                break;
            }
            last = c;
            end = offset + c.len_utf8();
            self.chars.next();
        }
        Some(ScriptRun { script, text: &self.text[at..end], at, breaks })
    }
}

fn script_of(c: char) -> Option<RunScript> {
    match c {
        '0'..='9' | 'A'..='Z' | 'a'..='z' | '_' => Some(RunScript::Latin),
        '\0'..='\x7f' => None,
        c if is_hiragana(c) || repeats_hiragana(c) => Some(RunScript::Hiragana),
        'ヽ'..='ヿ' => Some(RunScript::Katakana),
        c if is_katakana(c) || is_half_width_katakana(c) => Some(RunScript::Katakana),
        c if is_any_kanji(c) => Some(RunScript::Kanji),
        _ if c.is_alphanumeric() => Some(RunScript::Latin),
        _ => None,
    }
}

/// An apostrophe inside a word, the point or comma of a number.
fn joins(last: char, c: char, rest: &str) -> bool {
    let Some(next) = rest.chars().next() else { return false };
    match c {
        '\'' | '’' => last.is_alphabetic() && next.is_alphabetic() && !is_japanese(next),
        '.' => last.is_ascii_digit() && next.is_ascii_digit(),
        ',' => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            last.is_ascii_digit() && digits == 3
        }
        _ => false,
    }
}

fn ends_clause(c: char, rest: &str) -> bool {
    let next = rest.chars().next();
    match c {
        '、' | '。' | '，' | '．' | '；' | '：' | '！' | '？' | '「' | '」' | '『' | '』' | '（' | '）'
        | '—' | '–' | '|' | '(' | ')' | '•' | ';' => true,
        ',' | '.' | ':' | '!' | '?' => {
            next.is_none_or(|next| !next.is_alphanumeric() && !":/\\".contains(next))
        }
        '\n' => {
            // A continued line belongs to the same clause; a bullet, a heading or a blank line does not.
            let line = rest.trim_start_matches([' ', '\t', '\r']);
            line.is_empty()
                || line.starts_with(['\n', '-', '*', '#', '|', '+', '`', '<', '>'])
                || line.starts_with(|c: char| c.is_ascii_digit())
        }
        _ => false,
    }
}

/// Appends `text` in lower case; full-width letters become ordinary ones.
fn push_lower(text: &str, to: &mut String) {
    for c in text.chars() {
        match c {
            'A'..='Z' => to.push(c.to_ascii_lowercase()),
            '\0'..='\x7f' => to.push(c),
            '’' => to.push('\''),
            _ => match narrow(c) {
                narrow if narrow.is_ascii() => to.push(narrow.to_ascii_lowercase()),
                _ => to.extend(c.to_lowercase()),
            },
        }
    }
}

fn look_of(text: &str, opens_english: bool) -> TermLook {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return TermLook::Plain };
    if first.is_numeric() {
        return TermLook::Number;
    }
    let rest = chars.as_str().trim_end_matches("'s").trim_end_matches("’s");
    let all_capitals = !rest.is_empty() && rest.chars().all(char::is_uppercase);
    if first.is_uppercase() && all_capitals {
        TermLook::Capitals
    } else if rest.chars().any(|c| c.is_uppercase() || c.is_numeric()) || text.trim_matches('_').contains('_')
    {
        TermLook::Name
    } else if first.is_uppercase() && !opens_english {
        TermLook::Capital
    } else {
        TermLook::Plain
    }
}

/// `parse_config`, `parseConfig` and `HTTPServer`; empty if there is only one part.
fn name_parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for word in name.split('_').filter(|word| !word.is_empty()) {
        let mut from = 0;
        let chars: Vec<(usize, char)> = word.char_indices().collect();
        for (index, pair) in chars.windows(2).enumerate() {
            let (here, next) = (pair[0].1, pair[1].1);
            let after = chars.get(index + 2).map(|(_, c)| *c);
            let cut = (here.is_lowercase() && next.is_uppercase())
                || (here.is_uppercase() && next.is_uppercase() && after.is_some_and(char::is_lowercase));
            if cut {
                parts.push(&word[from..pair[1].0]);
                from = pair[1].0;
            }
        }
        parts.push(&word[from..]);
    }
    if parts.len() < 2 { Vec::new() } else { parts }
}

/// The role of an English word in its clause.
#[derive(Debug, PartialEq, Eq)]
enum WordRole {
    Word,
    /// A function word.
    Nothing,
    /// Denies the words after it, and perhaps those before it.
    Denial,
    /// Denies only the words after it.
    Contrast,
    /// Denies the whole clause.
    DenialOfAll,
    /// Ends a denial.
    Turn,
}

fn word_role(word: &str) -> WordRole {
    let first = word.as_bytes().first().copied().unwrap_or_default();
    if word.len() < 2 {
        return if first.is_ascii_digit() { WordRole::Word } else { WordRole::Nothing };
    }
    if word.len() > 10 {
        return if word.starts_with("prohibit") { WordRole::DenialOfAll } else { WordRole::Word };
    }
    match word {
        "not" | "no" | "never" | "none" | "nothing" | "nobody" | "neither" | "nor" | "cannot" => {
            WordRole::Denial
        }
        "without" => WordRole::Contrast,
        "avoid" | "avoids" | "avoided" | "avoiding" | "forbid" | "forbids" | "forbidden" | "prohibits"
        | "prohibited" | "ban" | "bans" | "banned" | "disallow" | "disallows" | "disallowed" | "reject"
        | "rejects" | "rejected" | "rejecting" | "abandon" | "abandoned" => WordRole::DenialOfAll,
        "but" | "because" | "while" | "whereas" | "then" => WordRole::Turn,
        _ if word.ends_with("n't") => WordRole::Denial,
        _ if FUNCTION_WORDS.binary_search(&word).is_ok() => WordRole::Nothing,
        _ => WordRole::Word,
    }
}

/// Sorted, for the search.
const FUNCTION_WORDS: [&str; 129] = [
    "about", "above", "after", "again", "all", "already", "also", "always", "am", "an", "and", "any", "are",
    "as", "at", "be", "been", "before", "being", "below", "between", "both", "by", "can", "could", "did",
    "do", "does", "doing", "done", "during", "each", "either", "etc", "every", "for", "from", "get", "gets",
    "got", "had", "has", "have", "having", "he", "her", "here", "his", "how", "however", "if", "in",
    "instead", "into", "is", "it", "it's", "its", "just", "let", "like", "may", "me", "might", "more",
    "most", "much", "must", "my", "now", "of", "on", "once", "only", "onto", "or", "other", "our", "out",
    "over", "own", "per", "rather", "same", "shall", "she", "should", "so", "some", "such", "than", "that",
    "the", "their", "them", "there", "these", "they", "this", "those", "through", "thus", "to", "too",
    "under", "up", "upon", "us", "use", "used", "uses", "using", "very", "via", "was", "we", "were", "what",
    "when", "where", "which", "who", "why", "will", "with", "would", "yet", "you", "your",
];

/// They deny the words before them.
const DENIALS_IN_KANJI: [&str; 8] = ["非推奨", "禁止", "不可", "不要", "却下", "廃止", "中止", "見送"];

/// Alone they mean as little as `use` or `thing`.
const LIGHT_KANJI: &str = "使行事時物方為後前中上下等他個回今来見出入的化者";

/// Whether a hiragana ending denies the clause before it.
fn denies(run: &str, before: Option<char>) -> bool {
    if ["なければ", "なくては", "ないと", "かもしれない", "だけで", "のみならず"]
        .iter()
        .any(|must| run.contains(must))
    {
        return false;
    }
    let ends_in_zu = (run.ends_with('ず') || run.contains("ずに"))
        && before != Some('必')
        && !["まず", "はず", "いずれ", "ひとまず"].iter().any(|word| run.contains(word));
    let has_not = ["ない", "なく", "なかった", "ません"].iter().any(|not| run.contains(not))
        && !(run.starts_with("ない") && matches!(before, Some('少' | '危' | '幼')))
        && !(run.starts_with("なく") && before == Some('少'));
    ends_in_zu || has_not || run.contains("やめ") || run.contains("かわりに")
}

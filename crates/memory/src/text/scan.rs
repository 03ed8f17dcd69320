//! Splits text into atoms, and turns atoms into index tokens.

use std::collections::BTreeSet;

use tidegate_core::text::fnv;

use super::fold::{self, CharClass, Script};
use super::stem::stem;

/// In bytes; longer sequences are not words.
const LONGEST: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom {
    /// A hash.
    pub(crate) what: u64,
    /// For the first part of a compound word the hash of the whole word, else the same as `what`.
    pub(crate) whole: u64,
    /// Another reading of the same atom, else the same as `what`: the number of a version such as `v2`.
    pub(crate) also: u64,
    /// The number of atoms of the whole word.
    pub(crate) parts: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) class: AtomClass,
}

/// What a match may step over, and where it may begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomClass {
    Word,
    Katakana,
    Hiragana,
    /// A syllable between two Chinese characters that is not always written: 切り替え is 切替.
    Optional,
    /// Any other character of a script without spaces.
    Character,
}

pub(super) enum Scanned<'a> {
    /// The stems of its parts with their byte ranges, and the stem of the whole word.
    Word { parts: &'a [(String, usize, usize)], whole: &'a str },
    /// Folded characters with their byte ranges.
    Run(&'a [RunChar]),
}

#[derive(Clone, Copy)]
pub(super) struct RunChar {
    pub(super) folded: char,
    pub(super) script: Script,
    pub(super) start: usize,
    pub(super) end: usize,
}

pub(super) fn scan(text: &str, mut take: impl FnMut(Scanned<'_>)) {
    let mut run: Vec<RunChar> = Vec::new();
    let mut word = WordReader::default();
    let mut at = 0;
    while let Some((c, end)) = char_at(text, at) {
        if c.is_ascii() && !is_of_word(c as u8) {
            at = end;
            continue;
        }
        let start = std::mem::replace(&mut at, end);
        match fold::class_of(c) {
            CharClass::Between | CharClass::Mark => {}
            CharClass::Run(script) => {
                run.clear();
                run.push(RunChar { folded: fold::fold_run_char(c), script, start, end });
                while let Some((c, end)) = char_at(text, at) {
                    match fold::class_of(c) {
                        CharClass::Run(script) => {
                            run.push(RunChar { folded: fold::fold_run_char(c), script, start: at, end });
                        }
                        CharClass::Mark => {
                            if let Some(last) = run.last_mut() {
                                last.folded = fold::add_mark(last.folded, c);
                                last.end = end;
                            }
                        }
                        CharClass::Word | CharClass::Between => break,
                    }
                    at = end;
                }
                take(Scanned::Run(&run));
            }
            CharClass::Word => {
                let plain = text.as_bytes()[at..].iter().take_while(|byte| is_of_word(**byte));
                at += plain.count();
                while let Some((c, end)) = char_at(text, at) {
                    if !matches!(fold::class_of(c), CharClass::Word | CharClass::Mark) {
                        break;
                    }
                    at = end;
                }
                if let Some(signs) = language_signs(text, start, at) {
                    at += signs.0;
                    word.read_as(text, start, at, signs.1);
                } else {
                    word.read(&text[start..at], start);
                }
                if word.count > 0 {
                    take(Scanned::Word { parts: &word.parts[..word.count], whole: word.whole() });
                }
            }
        }
    }
}

/// The length and the name of the signs behind the single letter of a language's name: `C++`, `C#`.
fn language_signs(text: &str, start: usize, end: usize) -> Option<(usize, &'static str)> {
    if end != start + 1 || !text.as_bytes()[start].is_ascii_alphabetic() {
        return None;
    }
    let rest = &text[end..];
    if rest.starts_with("++") {
        return Some((2, "plusplus"));
    }
    rest.starts_with('#').then_some((1, "sharp"))
}

/// The same as [`fold::class_of`] for ASCII, only faster.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Fast for ASCII, which most text is.
fn char_at(text: &str, at: usize) -> Option<(char, usize)> {
    let byte = *text.as_bytes().get(at)?;
    if byte.is_ascii() {
        return Some((char::from(byte), at + 1));
    }
    let c = text[at..].chars().next()?;
    Some((c, at + c.len_utf8()))
}

/// Splits words such as `snake_case`, `camelCase` and `HTTPServer`. The buffers are reused from word to word.
#[derive(Default)]
struct WordReader {
    parts: Vec<(String, usize, usize)>,
    /// The number of `parts` in use.
    count: usize,
    /// Empty if the only part is the whole word.
    whole: String,
}

impl WordReader {
    fn read(&mut self, text: &str, offset: usize) {
        self.count = 0;
        self.whole.clear();
        // Fast path for most words: only a capital at the start to fold.
        let bytes = text.as_bytes();
        let is_plain = bytes[0].is_ascii_alphabetic() && bytes[1..].iter().all(u8::is_ascii_lowercase)
            || bytes.iter().all(u8::is_ascii_digit);
        if bytes.len() <= LONGEST && is_plain {
            let part = self.next_part(offset, offset + text.len());
            part.push_str(text);
            part.make_ascii_lowercase();
            stem(part);
            return;
        }
        let mut open = false;
        let mut before: Option<char> = None;
        let splits_digits = counts_as_words(bytes);
        for (at, c) in text.char_indices() {
            let rest = &text[at + c.len_utf8()..];
            let at = offset + at;
            if c == '_' {
                self.close(&mut open, at);
                before = None;
                continue;
            }
            if fold::class_of(c) == CharClass::Mark {
                continue;
            }
            if before.is_some_and(|before| begins_part(before, c, rest, text, splits_digits)) {
                self.close(&mut open, at);
            }
            if !open {
                self.next_part(at, at);
                open = true;
            }
            // Of several, as in APIs and IDs.
            if c == 's' && before.is_some_and(char::is_uppercase) && !rest.starts_with(char::is_alphanumeric)
            {
                continue;
            }
            let folded = fold::fold_word_char(c);
            let part = &mut self.parts[self.count - 1].0;
            if part.len() < LONGEST {
                part.push(folded);
            }
            if self.whole.len() < LONGEST {
                self.whole.push(folded);
            }
            before = Some(c);
        }
        self.close(&mut open, offset + text.len());
        stem(&mut self.whole);
    }

    /// A letter with signs, under a name that is a word.
    fn read_as(&mut self, text: &str, start: usize, end: usize, name: &str) {
        self.count = 0;
        self.whole.clear();
        let letter = char::from(text.as_bytes()[start].to_ascii_lowercase());
        let part = self.next_part(start, end);
        part.push(letter);
        part.push_str(name);
    }

    fn whole(&self) -> &str {
        if self.whole.is_empty() { &self.parts[0].0 } else { &self.whole }
    }

    fn next_part(&mut self, start: usize, end: usize) -> &mut String {
        if self.count == self.parts.len() {
            self.parts.push(Default::default());
        }
        self.count += 1;
        let part = &mut self.parts[self.count - 1];
        part.0.clear();
        (part.1, part.2) = (start, end);
        &mut part.0
    }

    fn close(&mut self, open: &mut bool, end: usize) {
        if std::mem::take(open) {
            let part = &mut self.parts[self.count - 1];
            stem(&mut part.0);
            part.2 = end;
        }
    }
}

/// Letters in front of a version: `UUIDv7` is `UUID v7` in small letters, too.
const VERSIONED: [&str; 8] = ["uuid", "ip", "api", "http", "tls", "ssl", "oauth", "smb"];

/// More changes between letters and digits are those of a key, not of a name with a number.
const MOST_CHANGES: usize = 4;

fn counts_as_words(word: &[u8]) -> bool {
    let changes = word.windows(2).filter(|pair| {
        pair[0].is_ascii_digit() && pair[1].is_ascii_alphabetic()
            || pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit()
    });
    changes.take(MOST_CHANGES + 1).count() <= MOST_CHANGES
}

/// Whether a part begins at `c`, which is followed by `rest`.
fn begins_part(before: char, c: char, rest: &str, word: &str, splits_digits: bool) -> bool {
    let mut after = rest.chars();
    let (next, second) = (after.next(), after.next());
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    if matches!(c, 'v' | 'V') && is_digit(next) && before.is_alphabetic() {
        let in_front = &word[..word.len() - rest.len() - 1];
        return before.is_uppercase() || VERSIONED.contains(&in_front);
    }
    if c.is_ascii_digit() != before.is_ascii_digit() {
        // Also a number behind a single v is its version.
        return splits_digits
            && !(c.is_ascii_digit() && matches!(before, 'v' | 'V') && is_version(word, rest));
    }
    if !c.is_uppercase() {
        return false;
    }
    let ends_plural = next == Some('s') && !second.is_some_and(char::is_alphanumeric);
    let is_version = next == Some('v') && is_digit(second);
    let next_is_small = next.is_some_and(char::is_lowercase) && !ends_plural && !is_version;
    before.is_lowercase() || before.is_uppercase() && next_is_small
}

/// Whether the digit in front of `rest` follows a v that stands alone or behind other letters of a name.
fn is_version(word: &str, rest: &str) -> bool {
    let in_front = word.as_bytes()[..word.len() - rest.len() - 1].strip_suffix(b"v");
    let in_front = in_front.or_else(|| word.as_bytes()[..word.len() - rest.len() - 1].strip_suffix(b"V"));
    in_front.is_some_and(|in_front| {
        in_front.last().is_none_or(|last| !last.is_ascii_lowercase())
            || std::str::from_utf8(in_front).is_ok_and(|name| VERSIONED.contains(&name))
    })
}

/// The number of a version such as `v2`.
pub(super) fn version_number(word: &str) -> Option<&str> {
    let number = word.strip_prefix('v')?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

/// A letter within a name with digits says nothing alone.
pub(super) fn is_worth_a_token(part: &str) -> bool {
    part.len() > 1 || !part.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Syllables that end the stem of a verb, and are not always written between two Chinese characters.
const OPTIONAL: &str = "いきしちみりぎじびえけせてめれげべ";

/// Whether this character of a run may be left out.
pub(super) fn is_optional(run: &[RunChar], at: usize) -> bool {
    let is_han = |one: Option<&RunChar>| one.is_some_and(|one| one.script == Script::Han);
    run[at].script == Script::Hiragana
        && at > 0
        && is_han(run.get(at - 1))
        && is_han(run.get(at + 1))
        && OPTIONAL.contains(run[at].folded)
}

pub(super) fn hash_word(text: &str) -> u64 {
    fnv::hash(text.bytes())
}

pub(super) fn hash_char(c: char) -> u64 {
    // Differs from `hash` of the same character: a one-letter word is something else.
    u64::from(u32::from(c)) | 1 << 63
}

pub fn split_atoms(text: &str) -> Vec<Atom> {
    let mut atoms = Vec::with_capacity(text.len() / 6);
    atoms_into(text, &mut atoms);
    atoms
}

/// Reuses the buffer of another text.
pub(super) fn atoms_into(text: &str, atoms: &mut Vec<Atom>) {
    atoms.clear();
    scan(text, |found| match found {
        Scanned::Run(run) => atoms.extend(run.iter().enumerate().map(|(at, one)| {
            let what = hash_char(one.folded);
            let class = match one.script {
                Script::Katakana => AtomClass::Katakana,
                Script::Hiragana if is_optional(run, at) => AtomClass::Optional,
                Script::Hiragana => AtomClass::Hiragana,
                _ => AtomClass::Character,
            };
            Atom { what, whole: what, also: what, parts: 1, start: one.start, end: one.end, class }
        })),
        Scanned::Word { parts, whole } => {
            let whole = hash_word(whole);
            atoms.extend(parts.iter().enumerate().map(|(place, (part, start, end))| {
                let what = hash_word(part);
                let also = version_number(part).map_or(what, hash_word);
                let (whole, parts) = if place == 0 { (whole, parts.len()) } else { (what, 1) };
                Atom { what, whole, also, parts, start: *start, end: *end, class: AtomClass::Word }
            }));
        }
    });
}

/// Without duplicates. No token contains a space, a quote or a colon.
pub fn collect_tokens(text: &str, into: &mut BTreeSet<String>) {
    scan(text, |found| match found {
        Scanned::Run(run) => {
            let mut bytes = [0; 8];
            for at in 0..run.len() {
                let first = run[at].folded.encode_utf8(&mut bytes).len();
                add_token(std::str::from_utf8(&bytes[..first]).unwrap_or_default(), into);
                let mut add_pair = |next: &RunChar| {
                    let second = next.folded.encode_utf8(&mut bytes[first..]).len();
                    add_token(std::str::from_utf8(&bytes[..first + second]).unwrap_or_default(), into);
                };
                if let Some(next) = run.get(at + 1) {
                    add_pair(next);
                    if is_optional(run, at + 1) {
                        add_pair(&run[at + 2]);
                    }
                }
            }
        }
        Scanned::Word { parts, whole } => {
            if parts.len() > 1 {
                add_token(whole, into);
            }
            for (part, ..) in parts.iter().filter(|(part, ..)| parts.len() == 1 || is_worth_a_token(part)) {
                add_token(part, into);
                if let Some(number) = version_number(part) {
                    add_token(number, into);
                }
            }
        }
    });
}

/// Checks before allocating: most words of a text are repeated.
fn add_token(token: &str, into: &mut BTreeSet<String>) {
    if !token.is_empty() && !into.contains(token) {
        into.insert(token.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let mut set = BTreeSet::new();
        collect_tokens(text, &mut set);
        set.into_iter().collect()
    }

    #[test]
    fn what_the_index_holds() {
        for (text, tokens) in [
            ("", ""),
            ("The tests, the TESTS!", "test the"),
            ("設計", "計 設 設計"),
            ("設計書。", "書 計 計書 設 設計"),
            ("ｶﾞｽ", "ガ ガス ス"),
            ("SQLiteの設計", "sq sqlit の の設 lit 計 設 設計"),
            ("camelCase", "camel camelcas cas"),
            ("HTTPServer", "http httpserver server"),
            ("snake_case_", "cas snak snakecas"),
            ("src/lib.rs", "lib rs src"),
            ("v1.95", "1 95 v1"),
            ("200ms", "200 200ms ms"),
            ("UUIDv7 uuidv7 dev2", "2 7 dev dev2 uuid uuidv7 v7"),
            ("p99 k8s", "8 99 k8s p99"),
            ("APIs, order_ids and IDs", "and api id order orderid"),
            ("C++, C# or F#?", "cplusplus csharp fsharp or"),
            ("切り替え", "え り り替 切 切り 切替 替 替え"),
            ("a1b2c3d4e5", "a1b2c3d4e5"),
            ("__ -- ::", ""),
            ("e\u{301}te\u{301}", "ete"),
        ] {
            let mut expected: Vec<&str> = tokens.split_whitespace().collect();
            expected.sort_unstable();
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn atoms_say_where_they_stand() {
        let text = "use fooBar で設計";
        let at: Vec<&str> = split_atoms(text).iter().map(|atom| &text[atom.start..atom.end]).collect();
        assert_eq!(at, ["use", "foo", "Bar", "で", "設", "計"]);
        assert_eq!(split_atoms("fooBar")[0].whole, split_atoms("foobar")[0].what);
    }

    #[test]
    fn bytes_are_classed_as_characters_are() {
        for byte in 0..128 {
            assert_eq!(is_of_word(byte), fold::class_of(char::from(byte)) == CharClass::Word, "{byte}");
        }
    }

    #[test]
    fn a_word_without_end_is_cut() {
        assert!(of(&"x".repeat(100_000))[0].len() <= LONGEST);
    }
}

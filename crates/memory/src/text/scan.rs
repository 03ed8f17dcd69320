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
    /// The number of atoms of the whole word.
    pub(crate) parts: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
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
                word.read(&text[start..at], start);
                if word.count > 0 {
                    take(Scanned::Word { parts: &word.parts[..word.count], whole: word.whole() });
                }
            }
        }
    }
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
        let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        if bytes.len() <= LONGEST && bytes[0].is_ascii_alphanumeric() && bytes[1..].iter().all(plain) {
            let part = self.next_part(offset, offset + text.len());
            part.push_str(text);
            part.make_ascii_lowercase();
            stem(part);
            return;
        }
        let mut open = false;
        let mut before: Option<char> = None;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let at = offset + at;
            if c == '_' {
                self.close(&mut open, at);
                before = None;
                continue;
            }
            if fold::class_of(c) == CharClass::Mark {
                continue;
            }
            let next_is_small = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
            let begins = before.is_some_and(|before| {
                c.is_uppercase() && (before.is_lowercase() || before.is_uppercase() && next_is_small)
            });
            if begins {
                self.close(&mut open, at);
            }
            if !open {
                self.next_part(at, at);
                open = true;
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
        Scanned::Run(run) => atoms.extend(run.iter().map(|one| {
            let what = hash_char(one.folded);
            Atom { what, whole: what, parts: 1, start: one.start, end: one.end }
        })),
        Scanned::Word { parts: [(word, start, end)], .. } => {
            let what = hash_word(word);
            atoms.push(Atom { what, whole: what, parts: 1, start: *start, end: *end });
        }
        Scanned::Word { parts, whole } => {
            let whole = hash_word(whole);
            atoms.extend(parts.iter().enumerate().map(|(place, (part, start, end))| {
                let what = hash_word(part);
                let (whole, parts) = if place == 0 { (whole, parts.len()) } else { (what, 1) };
                Atom { what, whole, parts, start: *start, end: *end }
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
                if let Some(next) = run.get(at + 1) {
                    let second = next.folded.encode_utf8(&mut bytes[first..]).len();
                    add_token(std::str::from_utf8(&bytes[..first + second]).unwrap_or_default(), into);
                }
            }
        }
        Scanned::Word { parts, whole } => {
            if parts.len() > 1 {
                add_token(whole, into);
            }
            for (part, ..) in parts {
                add_token(part, into);
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
            ("v1.95", "95 v1"),
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

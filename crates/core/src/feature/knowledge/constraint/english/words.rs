//! A sentence as lower-case words, with a mark between clauses.

use crate::feature::knowledge::constraint::sentences::quotation_end;
use crate::text::word_list::each_word;

/// Between clauses.
pub(super) const CLAUSE: &str = "|";

/// The words of a sentence.
pub(super) struct Words<'a> {
    pub(super) words: Vec<&'a str>,
    /// A bit for each kind of word that is among them.
    kinds: u64,
}

/// Words with another beginning or length have most often another bit.
fn kind_of(word: &str) -> u64 {
    let first = word.as_bytes().first().copied().unwrap_or_default();
    1 << ((usize::from(first) * 7 + word.len()) % 64)
}

/// Lower case, with `|` between clauses; code and quotations become `…`, a remark in parentheses is left out.
pub(super) fn normalise(sentence: &str, to: &mut String) {
    to.clear();
    let mut at = 0;
    while let Some(c) = sentence[at..].chars().next() {
        // Most characters, without a closer look.
        if c.is_ascii_alphabetic() || c == ' ' {
            to.push(c.to_ascii_lowercase());
            at += 1;
            continue;
        }
        let end = quotation_end(sentence, at);
        let is_remark = c == '(';
        at += c.len_utf8();
        let rest = &sentence[at..];
        match c {
            _ if end.is_some() || matches!(c, '"' | '`') => {
                to.push_str(" … ");
                at = end.unwrap_or(at);
            }
            _ if is_remark => {
                to.push(' ');
                at = rest.find(')').map_or(at, |end| at + end + 1);
            }
            '’' | '´' => to.push('\''),
            ',' | ';' | ':' | ')' | '—' | '–'
                if !rest.starts_with(|c: char| c.is_ascii_digit() || c == '/') =>
            {
                to.push_str(" | ");
            }
            '-' if rest.starts_with(' ') => to.push_str(" | "),
            '*' => {}
            '\n' | '\t' => to.push(' '),
            '!' | '?' | '.' if rest.trim_start().is_empty() => {}
            _ => to.push(c.to_ascii_lowercase()),
        }
    }
}

impl<'a> Words<'a> {
    pub(super) fn of(normalised: &'a str) -> Words<'a> {
        let words: Vec<&str> = normalised
            .split_ascii_whitespace()
            .map(|word| if word == "w/o" { "without" } else { word })
            .collect();
        let kinds = words.iter().fold(0, |kinds, word| kinds | kind_of(word));
        Words { words, kinds }
    }

    pub(super) fn at(&self, index: usize) -> &'a str {
        self.words.get(index).copied().unwrap_or(CLAUSE)
    }

    pub(super) fn before(&self, index: usize) -> &'a str {
        index.checked_sub(1).map_or(CLAUSE, |index| self.at(index))
    }

    /// The clause from `index` on.
    pub(super) fn rest(&self, index: usize) -> &[&'a str] {
        let rest = self.words.get(index..).unwrap_or_default();
        let end = rest.iter().position(|word| *word == CLAUSE).unwrap_or(rest.len());
        &rest[..end]
    }

    pub(super) fn has(&self, list: &str) -> bool {
        each_word(list).any(|listed| self.kinds & kind_of(listed) != 0 && self.words.contains(&listed))
    }
}

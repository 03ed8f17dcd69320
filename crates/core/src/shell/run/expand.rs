//! Words with their variables, `~` and braces put in, as far as these are known.

use super::LONGEST_VALUE;
use super::state::Shell;
use crate::shell::syntax::Part;
use crate::shell::{Sort, Word};

/// The value of an assignment, which is never split into words.
pub(super) fn expand_value(parts: &[Part], shell: &Shell) -> Word {
    let mut word = Word::literal("");
    for (number, part) in parts.iter().enumerate() {
        match part {
            Part::Plain(text) if number == 0 && text.starts_with('~') => {
                match shell.at_home(text, parts.len() == 1) {
                    Some(path) => word.text = path,
                    None => append_unknown(&mut word, text),
                }
            }
            Part::Plain(text) | Part::Quoted(text) => word.text.push_str(text),
            Part::Pattern(pattern) => word.text.push(*pattern),
            Part::Variable { name, .. } => match shell.variable(name) {
                Some(known) if word.text.len() <= LONGEST_VALUE => {
                    word.text.push_str(&known.text);
                    word.sort = word.sort.max(known.sort);
                }
                _ => append_unknown(&mut word, &format!("${name}")),
            },
            Part::Commands { raw, .. } | Part::Other(raw) => append_unknown(&mut word, raw),
        }
    }
    word
}

fn append_unknown(word: &mut Word, raw: &str) {
    word.text.push_str(raw);
    word.sort = Sort::Unknown;
}

/// The words that one word expands to.
pub(super) fn expand_word(parts: &[Part], shell: &Shell, out: &mut Vec<Word>) {
    let mut word: Option<Word> = None;
    let mut braces = false;
    for (number, part) in parts.iter().enumerate() {
        match part {
            Part::Plain(text) => {
                let current = word.get_or_insert_with(|| Word::literal(""));
                braces |= text.contains('{');
                match shell.at_home(text, parts.len() == 1).filter(|_| number == 0) {
                    Some(path) => current.text.push_str(&path),
                    None => current.text.push_str(text),
                }
                if number == 0 && current.text.starts_with('~') {
                    current.sort = Sort::Unknown;
                }
            }
            Part::Quoted(text) => word.get_or_insert_with(|| Word::literal("")).text.push_str(text),
            Part::Pattern(pattern) => {
                let current = word.get_or_insert_with(|| Word::literal(""));
                current.text.push(*pattern);
                // `[` alone is a command.
                if parts.len() > 1 || *pattern != '[' {
                    current.sort = current.sort.max(Sort::Pattern);
                }
            }
            Part::Variable { name, quoted } => match shell
                .variable(name)
                .filter(|_| word.as_ref().is_none_or(|word| word.text.len() <= LONGEST_VALUE))
            {
                Some(known) if *quoted || known.sort == Sort::Unknown => {
                    let current = word.get_or_insert_with(|| Word::literal(""));
                    current.text.push_str(&known.text);
                    current.sort = current.sort.max(if *quoted && known.sort == Sort::Pattern {
                        Sort::Literal
                    } else {
                        known.sort
                    });
                }
                Some(known) => {
                    let sort =
                        if known.text.contains(['*', '?', '[']) { Sort::Pattern } else { Sort::Literal };
                    for (number, field) in known.text.split_whitespace().enumerate() {
                        if number > 0 || known.text.starts_with(char::is_whitespace) {
                            out.extend(word.take());
                        }
                        let current = word.get_or_insert_with(|| Word::literal(""));
                        current.text.push_str(field);
                        current.sort = current.sort.max(sort);
                    }
                    if known.text.ends_with(char::is_whitespace) {
                        out.extend(word.take());
                    }
                }
                None => append_unknown(word.get_or_insert_with(|| Word::literal("")), &format!("${name}")),
            },
            Part::Commands { raw, .. } | Part::Other(raw) => {
                append_unknown(word.get_or_insert_with(|| Word::literal("")), raw);
            }
        }
    }
    match word {
        Some(word) if braces && parts.len() == 1 => expand_braces(&word, out),
        Some(word) => out.push(word),
        None => {}
    }
}

/// `src/{a,b}.rs`, one level of it; deeper ones and ranges are patterns.
fn expand_braces(word: &Word, out: &mut Vec<Word>) {
    let inner = word.text.split_once('{').and_then(|(before, rest)| {
        let (inner, after) = rest.split_once('}')?;
        (inner.contains(',') || inner.contains("..")).then_some((before, inner, after))
    });
    let Some((before, inner, after)) = inner else { return out.push(word.clone()) };
    if inner.contains('{') || after.contains('{') || !inner.contains(',') || word.text.len() > LONGEST_VALUE {
        return out.push(Word { text: word.text.clone(), sort: word.sort.max(Sort::Pattern) });
    }
    for choice in inner.split(',').take(64) {
        out.push(Word { text: format!("{before}{choice}{after}"), sort: word.sort });
    }
}

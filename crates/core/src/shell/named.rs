//! File names in texts: string literals of an inline script, and the headers of a patch.

use crate::text::patch::patched_files;
use crate::text::word_list::{Words, among};

/// Most names that are taken from one text.
const MOST: usize = 64;

/// Longer literals are not file names.
const LONGEST: usize = 256;

/// File names without an extension that are code all the same.
const KNOWN: Words =
    "Makefile makefile GNUmakefile Dockerfile Containerfile justfile Justfile Rakefile Gemfile";

pub(super) fn looks_like_file(text: &str) -> bool {
    if text.is_empty() || text.len() > LONGEST || text.contains("://") || text.starts_with('-') {
        return false;
    }
    if text.contains(|c: char| c.is_whitespace() || c.is_control() || "*?<>|$\"'`(){}=;,:\\^&!%#".contains(c))
    {
        return false;
    }
    let name = text.rsplit('/').next().unwrap_or_default();
    if among(KNOWN, name) {
        return true;
    }
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=10).contains(&extension.len())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// The string literals of a script that look like files. A quote that opens nothing is passed over, so that an
/// apostrophe in a comment hides nothing.
pub(super) fn files_in_script(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(['"', '\'', '`']) {
        let start = at + found + 1;
        let quote = text.as_bytes()[start - 1];
        let window = &text.as_bytes()[start..(start + LONGEST + 1).min(text.len())];
        let end = window.iter().position(|byte| *byte == quote || *byte == b'\n');
        at = start;
        let Some(end) = end.filter(|end| window[*end] == quote) else { continue };
        let literal = &text[start..start + end];
        if looks_like_file(literal) {
            at = start + end + 1;
            if !names.iter().any(|name| name == literal) {
                names.push(literal.to_owned());
            }
            if names.len() == MOST {
                break;
            }
        }
    }
    names
}

/// The files that a patch changes: one of `diff`, or one for `apply_patch`.
pub fn files_in_patch(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines() {
        let Some(name) = line.strip_prefix("+++ ").and_then(|name| name.split('\t').next()) else { continue };
        let name = name.trim();
        let name = name.strip_prefix("b/").unwrap_or(name);
        if !name.is_empty() && name != "/dev/null" {
            names.push(name.to_owned());
        }
    }
    names.extend(patched_files(text));
    names.truncate(MOST);
    names
}

/// The words of a text in another language than the shell's that look like files, quoted or not.
pub fn files_in_text(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || "\"'`;|(),{}=<>[]".contains(c)) {
        let word = word.replace('\\', "/");
        let (drive, rest) = match word.split_at_checked(2) {
            Some((drive, rest)) if drive.ends_with(':') => (drive, rest),
            _ => ("", word.as_str()),
        };
        if looks_like_file(rest) && names.len() < MOST {
            names.push(format!("{drive}{rest}"));
        }
    }
    names
}

//! Lines of shell, as far as they can be told without running them.

use std::fmt::Write as _;
use std::path::Path;

use tidegate_core::text::hidden;

/// As `sh` splits them, without filling in variables.
pub(crate) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if c == open => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The words of a line that is one command and nothing more: no pipe, no list, no assignment, no variable but the home
/// directory. Anything else was written by a person.
pub(crate) fn plain_words(text: &str) -> Option<Vec<String>> {
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some('\''), _) => {}
            (_, '`') => return None,
            (_, '$') => {
                let rest = chars.as_str();
                let name = rest.strip_prefix("{HOME}").or_else(|| rest.strip_prefix("HOME"))?;
                if name.starts_with(|next: char| next == '_' || next.is_ascii_alphanumeric()) {
                    return None;
                }
                if rest.starts_with('{') {
                    chars = name.chars();
                }
            }
            (_, '\\') => drop(chars.next()),
            (None, '\'' | '"') => quote = Some(c),
            (None, ';' | '&' | '|' | '<' | '>' | '(' | ')' | '#' | '*' | '?' | '[' | '{' | '\n') => {
                return None;
            }
            _ => {}
        }
    }
    let words = split_words(text);
    (quote.is_none() && !words.first().is_some_and(|first| is_assignment(first))).then_some(words)
}

pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
    })
}

pub(crate) fn quote_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    if is_plain(&text) {
        text.into_owned()
    } else if hidden::judged(&text).all(|(_, is_plain)| is_plain) {
        quote_text(&text)
    } else {
        quote_hidden(&text)
    }
}

/// On one line and with nothing hidden, as bash, zsh and ksh read it.
fn quote_hidden(text: &str) -> String {
    let mut quoted = "$'".to_owned();
    for (c, is_plain) in hidden::judged(text) {
        let _ = match c {
            '\\' | '\'' => write!(quoted, "\\{c}"),
            c if is_plain => write!(quoted, "{c}"),
            c => write!(quoted, "\\U{:08x}", u32::from(c)),
        };
    }
    quoted + "'"
}

/// A shell reads such a text as one word, wherever it stands in a line.
pub(crate) fn is_plain(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    !text.is_empty() && text.chars().all(is_plain)
}

/// In single quotes, inside which only the quote itself is special.
pub(crate) fn quote_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_hides_something_is_quoted_on_one_line() {
        let quoted = |path: &str| quote_path(Path::new(path));
        assert_eq!(quoted("/a b'c"), r"'/a b'\''c'");
        assert_eq!(quoted("/a\nb'\\\u{202e}"), r"$'/a\U0000000ab\'\\\U0000202e'");
    }

    #[test]
    fn words_come_apart_as_in_a_shell() {
        assert_eq!(split_words(r#"a 'b c' "d \"e" f\ g'h' ''"#), ["a", "b c", "d \"e", "f gh", ""]);
        assert!(split_words(" \n").is_empty());
    }

    #[test]
    fn one_command_and_nothing_more() {
        for line in [
            "/old/bin/tidegate hook --event Stop",
            "$HOME/.cargo/bin/tidegate hook",
            "\"${HOME}/my bin/tidegate\" hook",
            "~/bin/tidegate hook",
            "'/it'\\''s $here; now/tidegate' hook",
        ] {
            assert_eq!(
                plain_words(line).and_then(|words| words.get(1).cloned()).as_deref(),
                Some("hook"),
                "{line}"
            );
        }
        for line in [
            "A=1 tidegate hook",
            "tidegate hook | tee log",
            "tidegate hook && true",
            "cd x; tidegate hook",
            "tidegate hook > log",
            "$OTHER/tidegate hook",
            "$HOMES/tidegate hook",
            "\"$(which tidegate)\" hook",
            "`which tidegate` hook",
            "(tidegate hook)",
            "tidegate hook\nmore",
            "'tidegate hook",
        ] {
            assert_eq!(plain_words(line), None, "{line}");
        }
    }
}

//! A prompt as the person's own sentences: without code, quotations, pasted logs and the host's tags.

use std::ops::Range;

/// Calls `see` with the byte range of each sentence.
pub(super) fn for_each_sentence(prompt: &str, mut see: impl FnMut(Range<usize>)) {
    let mut paragraph: Option<Range<usize>> = None;
    let mut outside = Outside::default();
    let mut at = 0;
    for line in prompt.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let text = line.trim();
        let is_own = outside.admits(line, text);
        if let Some(open) = paragraph.take() {
            if is_own && continues(prompt[open.clone()].trim_end(), text) {
                paragraph = Some(open.start..at);
                continue;
            }
            split_sentences(prompt, open, &mut see);
        }
        if is_own && !text.is_empty() {
            let from = start + (line.len() - after_list_mark(line.trim_start()).len());
            paragraph = Some(from..at);
        }
    }
    if let Some(open) = paragraph {
        split_sentences(prompt, open, &mut see);
    }
}

/// Which lines are not the person's own words.
#[derive(Default)]
struct Outside<'a> {
    /// The fence of an open block of code.
    fence: Option<&'a str>,
    /// The name of an open tag of the host.
    tag: Option<&'a str>,
    /// Inside a pasted log or diff, until an empty line.
    pasted: bool,
    /// Below a heading: a plan, an issue, a page that the person pasted.
    document: bool,
    /// Lines that were admitted.
    lines: usize,
}

/// A person types fewer; the rest is pasted.
const MOST_LINES: usize = 20;

impl<'a> Outside<'a> {
    fn admits(&mut self, line: &str, text: &'a str) -> bool {
        if let Some(fence) = self.fence {
            if text.starts_with(fence) {
                self.fence = None;
            }
            return false;
        }
        if let Some(tag) = self.tag {
            if closes_tag(text, tag) {
                self.tag = None;
            }
            return false;
        }
        if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| text.starts_with(fence)) {
            self.fence = Some(fence);
            return false;
        }
        if let Some(tag) = opened_tag(text) {
            self.tag = Some(tag).filter(|tag| !closes_tag(text, tag));
            return false;
        }
        if text.is_empty() {
            self.pasted = false;
            return false;
        }
        if is_heading(text) {
            self.document = true;
        }
        if self.document || self.lines >= MOST_LINES {
            return false;
        }
        let is_code = line.starts_with("    ") || line.starts_with('\t');
        let is_quotation = text.starts_with(['>', '|', '＞']);
        if is_written_by_program(text) {
            self.pasted = true;
        }
        // Words of the person may follow a log directly.
        let is_others = is_code
            || is_quotation
            || is_written_by_program(text)
            || after_list_mark(text).starts_with("**")
            || self.pasted && line.starts_with(' ');
        self.lines += usize::from(!is_others);
        !is_others
    }
}

/// The name of the tag that a line begins with.
fn opened_tag(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('<')?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))?;
    (end > 1 && rest[end..].starts_with(['>', ' '])).then(|| &rest[..end])
}

fn closes_tag(text: &str, tag: &str) -> bool {
    text.match_indices("</").any(|(at, _)| text[at + 2..].starts_with(tag))
}

/// `# Title`.
fn is_heading(text: &str) -> bool {
    let rest = text.trim_start_matches('#');
    rest.len() < text.len() && rest.starts_with(' ')
}

fn is_written_by_program(text: &str) -> bool {
    const BEGINS: [&str; 16] = [
        "at ",
        "--> ",
        "File \"",
        "Traceback",
        "thread '",
        "npm ERR!",
        "npm warn",
        "diff --git",
        "@@ ",
        "+++ ",
        "--- ",
        "$ ",
        "% ",
        "commit ",
        "CONFLICT ",
        "Caused by",
    ];
    if BEGINS.iter().any(|begin| text.starts_with(begin))
        || text.starts_with(['●', '⎿', '⏺', '✗', '✘', '✓', '✔', '│', '('])
    {
        return true;
    }
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    // `[Cursor Agent]   - …`, but not `[x] …`.
    if bytes.first() == Some(&b'[') && text.find("] ").is_some_and(|end| end > 3) {
        return true;
    }
    // `2026-11-02 …`, `12:00:01 …`, `[2026-…`, `[ERROR] …`.
    let from = usize::from(bytes.first() == Some(&b'['));
    let has_time = (is_digit(from + 1) && matches!(bytes.get(from + 2), Some(b':')) && is_digit(from + 3))
        || (is_digit(from + 3) && bytes.get(from + 4) == Some(&b'-') && is_digit(from + 5));
    if is_digit(from) && has_time {
        return true;
    }
    let first = text[from..].split([' ', ':', ']', '[', '(']).next().unwrap_or_default();
    let after = &text[from + first.len()..];
    let is_level =
        ["error", "warning", "warn", "info", "debug", "fatal", "panic", "exception", "エラー", "警告"]
            .iter()
            .any(|level| ends_with_ignoring_case(first, level));
    let by_capitals = first.len() > 3 && first.bytes().all(|byte| byte.is_ascii_uppercase());
    is_level && (after.starts_with([':', ']', '[', '(']) || by_capitals)
}

fn ends_with_ignoring_case(text: &str, end: &str) -> bool {
    let from = text.len().checked_sub(end.len());
    from.and_then(|from| text.get(from..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// Whether a line continues the one before it, because an editor wrapped it.
fn continues(before: &str, line: &str) -> bool {
    const WRAPPED: usize = 60;
    let last = before.lines().next_back().unwrap_or_default();
    last.chars().count() >= WRAPPED
        && !before.ends_with(['.', '!', '?', ':', '。', '！', '？', '：', ';'])
        && line.starts_with(|c: char| c.is_lowercase() || c == '`')
}

/// `- `, `* `, `・`, `1. `, `## `.
fn after_list_mark(line: &str) -> &str {
    let rest = line.trim_start_matches(['-', '*', '•', '・', '#', '+']);
    if rest.len() < line.len() && (rest.starts_with(' ') || line.starts_with(['・', '•'])) {
        return rest.trim_start();
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = line[digits..].strip_prefix(['.', ')']).and_then(|rest| rest.strip_prefix(' '));
    numbered.filter(|_| digits > 0).map_or(line, str::trim_start)
}

/// At full stops and question marks, not at the dots inside names and after abbreviations.
fn split_sentences(prompt: &str, within: Range<usize>, see: &mut impl FnMut(Range<usize>)) {
    let text = &prompt[within.clone()];
    let mut from = 0;
    let mut quoted: Option<char> = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if let Some(end) = quoted {
            if c == end {
                quoted = None;
            }
            continue;
        }
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '`' | '"' | '“' | '「' | '『' => {
                let closing = closing_of(c);
                quoted = Some(closing).filter(|end| text[at + c.len_utf8()..].contains(*end));
                false
            }
            '。' | '！' | '？' => !next.is_some_and(|next| matches!(next, '！' | '？' | '」')),
            '!' | '?' => next.is_none_or(|next| !matches!(next, '!' | '?' | ')')),
            '.' => next.is_none_or(char::is_whitespace) && !ends_in_abbreviation(&text[from..at]),
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            give(prompt, within.start + from..within.start + end, see);
            from = end;
        }
    }
    give(prompt, within.start + from..within.end, see);
}

pub(super) fn closing_of(opening: char) -> char {
    match opening {
        '“' => '”',
        '「' => '」',
        '『' => '』',
        other => other,
    }
}

fn ends_in_abbreviation(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default().trim_start_matches('(');
    ["e.g", "i.e", "etc", "max", "min", "vs", "approx", "cf", "incl", "resp"]
        .iter()
        .any(|short| word.eq_ignore_ascii_case(short))
}

fn give(prompt: &str, range: Range<usize>, see: &mut impl FnMut(Range<usize>)) {
    let text = &prompt[range.clone()];
    let start = range.start + (text.len() - text.trim_start().len());
    let end = range.start + text.trim_end().len();
    if start < end {
        see(start..end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(prompt: &str) -> Vec<&str> {
        let mut found = Vec::new();
        for_each_sentence(prompt, |range| found.push(&prompt[range]));
        found
    }

    #[test]
    fn own_words_only() {
        for (prompt, expected) in [
            ("Fix it. don't touch a.b! ok", vec!["Fix it.", "don't touch a.b!", "ok"]),
            ("直して。触らないで", vec!["直して。", "触らないで"]),
            ("> never do it\nok", vec!["ok"]),
            ("```\nnever\n```\nok", vec!["ok"]),
            ("<system-reminder>\nnever\n</system-reminder>\nok", vec!["ok"]),
            ("<tag>never</tag>\nok", vec!["ok"]),
            ("error: never\n  --> a.rs\nok", vec!["ok"]),
            ("2026-11-02 12:00:01 never\nok", vec!["ok"]),
            ("- no mocks\n- no sleeps", vec!["no mocks", "no sleeps"]),
            ("use max. two, e.g. one. ok", vec!["use max. two, e.g. one.", "ok"]),
            ("he said \"no. never.\" to me. ok", vec!["he said \"no. never.\" to me.", "ok"]),
            (
                "please do not change any of the files that are in the folder\nsrc/generated of the app",
                vec![
                    "please do not change any of the files that are in the folder\nsrc/generated of the app",
                ],
            ),
        ] {
            assert_eq!(sentences(prompt), expected, "{prompt}");
        }
    }
}

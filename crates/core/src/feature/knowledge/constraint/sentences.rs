//! A prompt as the person's own sentences: without code, quotations, pasted logs and the host's tags.

use std::ops::Range;

use super::exchange::speaker_of;
use super::leads::{Lead, lead_of};
use crate::feature::knowledge::document::CodeFence;
use crate::text::cut::first_bytes;
use crate::text::wrapped::continues;

/// A sign without its other half does not make the rest of the prompt a quotation.
const LONGEST_QUOTATION: usize = 2048;

/// Calls `see` with the byte range of each sentence.
pub(super) fn for_each_sentence(prompt: &str, mut see: impl FnMut(Range<usize>)) {
    let mut paragraph: Option<Range<usize>> = None;
    let mut outside = Outside::default();
    let mut at = quoted_until(prompt);
    outside.may_be_signed = prompt.contains("\n-- ") || prompt.contains("\n— ");
    for line in prompt[at..].split_inclusive('\n') {
        let start = at;
        at += line.len();
        let text = line.trim();
        let own = outside.admit(line, text, &prompt[at..]);
        if let Some(open) = paragraph.take() {
            if own != Own::Nothing && continues(&prompt[open.clone()], text) {
                match own {
                    Own::Until(end) => split_sentences(prompt, open.start..start + end, true, &mut see),
                    _ => paragraph = Some(open.start..at),
                }
                continue;
            }
            split_sentences(prompt, open, false, &mut see);
        }
        let from = start + (line.len() - after_list_mark(line.trim_start()).len());
        match own {
            Own::Line => paragraph = Some(from..at),
            Own::Until(end) if from < start + end => {
                split_sentences(prompt, from..start + end, true, &mut see);
            }
            Own::Until(_) | Own::Nothing => {}
        }
    }
    if let Some(open) = paragraph {
        split_sentences(prompt, open, false, &mut see);
    }
}

/// The part of a line in the person's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    Nothing,
    Line,
    /// Up to this byte of the line; the sentence there is cut.
    Until(usize),
}

/// Which lines are not the person's own words.
#[derive(Default)]
struct Outside<'a> {
    fence: Option<CodeFence>,
    /// The name of an open tag of the host.
    tag: Option<&'a str>,
    /// The end of a block: of a comment, a quotation of several lines, a part between two rules.
    until: Option<BlockEnd>,
    /// Inside a pasted log or diff, until an empty line.
    pasted: bool,
    /// Below a heading: a plan, an issue, a page that the person pasted. Or below the beginning of a mail.
    document: bool,
    /// Words of others follow.
    quoting: Quoting,
    /// Below "Hi Anna,", until the name of the sender.
    letter: Letter,
    /// There is a line like "-- Bob" in the prompt.
    may_be_signed: bool,
    /// Lines that were admitted.
    lines: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Letter {
    #[default]
    No,
    Open,
    /// The name comes next.
    Closing,
}

#[derive(Clone, Copy)]
enum BlockEnd {
    /// `-->`
    Comment,
    /// `---`
    Rule,
    Quotation(char),
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Quoting {
    #[default]
    No,
    /// Announced, and still empty.
    Announced,
    /// Until an empty line.
    Paragraph,
}

/// A person types fewer; the rest is pasted.
const MOST_LINES: usize = 20;

impl<'a> Outside<'a> {
    /// `rest` is the prompt after the line.
    fn admit(&mut self, line: &str, text: &'a str, rest: &str) -> Own {
        if self.is_in_block(text) || self.opens_block(text, rest) {
            return Own::Nothing;
        }
        if text.is_empty() {
            self.pasted = false;
            if self.quoting == Quoting::Paragraph {
                self.quoting = Quoting::No;
            }
            return Own::Nothing;
        }
        if self.quoting != Quoting::No {
            self.quoting = Quoting::Paragraph;
            return Own::Nothing;
        }
        if self.is_in_letter(text) || self.may_be_signed && is_signed(text, rest) {
            return Own::Nothing;
        }
        if is_heading(text) || begins_foreign_document(text) {
            self.document = true;
        }
        if is_numbered_section(text) {
            self.quoting = Quoting::Paragraph;
            return Own::Nothing;
        }
        if self.document || self.lines >= MOST_LINES {
            return Own::Nothing;
        }
        if Self::is_of_speaker(text) || is_of_form(text) {
            self.quoting = Quoting::Paragraph;
            return Own::Nothing;
        }
        let is_code = line.starts_with("    ")
            || line.starts_with('\t')
            || text.starts_with("//")
            || text.starts_with("-- ")
            || text.starts_with("/*");
        let is_quotation = text.starts_with(['>', '|', '＞']);
        let is_log = is_written_by_program(text);
        // Words of the person may follow a log directly, but a whole sentence is more often its next line.
        let continues_log = self.pasted && (line.starts_with(' ') || text.starts_with(char::is_uppercase));
        self.pasted |= is_log;
        if is_code || is_quotation || is_log || continues_log || after_list_mark(text).starts_with("**") {
            return Own::Nothing;
        }
        self.lines += 1;
        self.own_part(line, rest)
    }

    /// A line of a pasted exchange, or the words of one person: "alice: never use lodash". A usual label is the person's own:
    /// "note: don't touch it".
    fn is_of_speaker(text: &str) -> bool {
        speaker_of(after_list_mark(text)).is_some()
    }

    fn is_in_letter(&mut self, text: &str) -> bool {
        match self.letter {
            Letter::No if greets(text) => self.letter = Letter::Open,
            Letter::No => return false,
            Letter::Open if closes_letter(text) => self.letter = Letter::Closing,
            Letter::Open => {}
            Letter::Closing => self.letter = Letter::No,
        }
        true
    }

    fn is_in_block(&mut self, text: &str) -> bool {
        if let Some(fence) = self.fence {
            if fence.is_closed_by(text) {
                self.fence = None;
            }
            return true;
        }
        if let Some(tag) = self.tag {
            if closes_tag(text, tag) {
                self.tag = None;
            }
            return true;
        }
        let Some(end) = self.until else { return false };
        let is_end = match end {
            BlockEnd::Comment => text.contains("-->"),
            BlockEnd::Rule => is_rule(text),
            BlockEnd::Quotation(closing) => text.contains(closing),
        };
        if is_end {
            self.until = None;
        }
        true
    }

    fn opens_block(&mut self, text: &'a str, rest: &str) -> bool {
        if let Some(fence) = CodeFence::opened(text) {
            self.fence = Some(fence);
        } else if text.starts_with("<!--") {
            self.until = (!text.contains("-->")).then_some(BlockEnd::Comment);
        } else if let Some(tag) = opened_tag(text) {
            self.tag = Some(tag).filter(|tag| !closes_tag(text, tag));
        } else if is_rule(text) {
            self.until = rest.lines().any(|line| is_rule(line.trim())).then_some(BlockEnd::Rule);
        } else {
            return false;
        }
        true
    }

    /// Without a quotation that ends on a later line, and without what the line says that others said.
    fn own_part(&mut self, line: &str, rest: &str) -> Own {
        let opened = open_quotation(line).filter(|(_, closing)| rest.contains(*closing));
        if let Some((at, closing)) = opened {
            self.until = Some(BlockEnd::Quotation(closing));
            return Own::Until(at);
        }
        match lead_of(line.trim_end()) {
            None => Own::Line,
            Some(Lead::Inline(at)) => Own::Until(at),
            Some(Lead::Paragraph) => {
                self.quoting = Quoting::Announced;
                Own::Line
            }
            Some(Lead::Rest) => {
                self.document = true;
                Own::Line
            }
        }
    }
}

/// "Hi Anna,": a letter to another person.
fn greets(text: &str) -> bool {
    let Some(greeting) = text.strip_suffix(',') else { return false };
    let mut words = greeting.split(' ');
    let first = words.next().unwrap_or_default();
    let is_name =
        |word: &str| word.starts_with(char::is_uppercase) || matches!(word, "all" | "team" | "everyone");
    matches!(first, "Hi" | "Hello" | "Hey" | "Dear")
        && words.clone().count() > 0
        && words.all(|word| is_name(word) && word != "Claude")
}

/// "Best regards,", "Cheers,"
fn closes_letter(text: &str) -> bool {
    let text = text.trim_end_matches(',');
    ["regards", "Regards", "Best", "Cheers", "Thanks", "Sincerely", "wishes"]
        .iter()
        .any(|end| text.ends_with(end))
        && text.split(' ').count() <= 3
}

/// Whether the paragraph ends with the name of another person: "-- Bob".
fn is_signed(text: &str, rest: &str) -> bool {
    let mut lines =
        std::iter::once(text).chain(rest.lines().map(str::trim)).take_while(|line| !line.is_empty());
    lines.any(|line| {
        let name = line.strip_prefix("-- ").or_else(|| line.strip_prefix("— "));
        name.is_some_and(|name| name.starts_with(char::is_uppercase) && name.split(' ').count() <= 2)
    })
}

/// The end of what comes before a line like 「って来たけど、どう返す？」.
fn quoted_until(prompt: &str) -> usize {
    [
        "\nって来",
        "\nって言",
        "\nってメール",
        "\nと来た",
        "\nと言われ",
        "\nというメール",
        "\nという返",
        "\nとの連絡",
        "\nとのこと",
    ]
    .iter()
    .filter_map(|after| prompt.find(after))
    .max()
    .map_or(0, |at| at + 1)
}

/// A line of dashes.
fn is_rule(text: &str) -> bool {
    text.len() >= 3 && ["-", "=", "*", "_"].iter().any(|mark| text.trim_start_matches(mark).is_empty())
}

/// A line of a ticket or of an article of law: 「チケットNo.12」, 「■対応方針：…」, 「第8条（…）」.
fn is_of_form(text: &str) -> bool {
    const LABELS: [&str; 12] = [
        "概要",
        "担当",
        "対応方針",
        "再現",
        "発生",
        "環境",
        "報告者",
        "起票",
        "期待",
        "ステータス",
        "優先度",
        "原因",
    ];
    let mut chars = text.chars();
    match chars.next() {
        Some('■' | '◆' | '【' | '□') => {
            let label = chars.as_str().trim_start();
            LABELS.iter().any(|known| label.starts_with(known))
        }
        Some('第') => {
            let rest = chars
                .as_str()
                .trim_start_matches(|c: char| c.is_numeric() || "一二三四五六七八九十百".contains(c));
            rest.len() < chars.as_str().len() && rest.starts_with(['条', '項'])
        }
        Some('チ') => ["チケットNo", "チケット番号", "チケット#", "チケット："]
            .iter()
            .any(|begin| text.starts_with(begin)),
        _ => false,
    }
}

/// "3.2 Reports", "2.1.4 …": a line of a specification, not a version at the beginning of a sentence.
fn is_numbered_section(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let parts = number.trim_end_matches('.').split('.');
    let is_number = |part: &str| (1..=2).contains(&part.len());
    parts.clone().count() > 1
        && parts.clone().all(is_number)
        && rest.starts_with([' ', '\u{3000}'])
        && rest.trim_start().starts_with(|c: char| c.is_uppercase() || !c.is_ascii())
}

/// The head of a mail, or the text with which the client continues a conversation.
fn begins_foreign_document(text: &str) -> bool {
    const BEGINS: [&str; 7] = [
        "Subject: ",
        "From: ",
        "件名:",
        "件名：",
        "差出人:",
        "Begin forwarded message",
        "This session is being continued from a previous conversation",
    ];
    BEGINS.iter().any(|begin| text.starts_with(begin))
        || text.contains("Original Message--")
        || text.contains("Forwarded message --")
}

/// The first quotation that the line does not close, with its closing mark.
fn open_quotation(line: &str) -> Option<(usize, char)> {
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        if is_plain(c) {
            at += 1;
            continue;
        }
        match quotation_end(line, at) {
            Some(end) => at = end,
            None if !matches!(c, '`' | '\'' | '‘') && closing_of(c).is_some() => {
                return closing_of(c).map(|closing| (at, closing));
            }
            None => at += c.len_utf8(),
        }
    }
    None
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
    const BEGINS: [&str; 18] = [
        "at ",
        "--> ",
        "File \"",
        "Traceback",
        "thread '",
        "npm ERR!",
        "npm warn",
        "npm WARN",
        "! ",
        "diff --git",
        "@@ ",
        "+++ ",
        "--- ",
        "$ ",
        "% ",
        "CONFLICT ",
        "Caused by",
        "Operation stopped by hook",
    ];
    if BEGINS.iter().any(|begin| text.starts_with(begin))
        || text.starts_with(['●', '⎿', '⏺', '✗', '✘', '✓', '✔', '│', '('])
    {
        return true;
    }
    // `commit 3f2a…`, but not "commit after each step".
    let hash = text.strip_prefix("commit ").and_then(|rest| rest.split(' ').next());
    if hash.is_some_and(|hash| hash.len() > 6 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())) {
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
        || (is_digit(from + 3) && matches!(bytes.get(from + 4), Some(b'-' | b'/')) && is_digit(from + 5));
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

/// At full stops and question marks, not at the dots inside names and after abbreviations. `is_cut`: the last sentence is
/// not whole and is left out.
fn split_sentences(prompt: &str, within: Range<usize>, is_cut: bool, see: &mut impl FnMut(Range<usize>)) {
    let text = &prompt[within.clone()];
    let (mut from, mut at) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        if is_plain(c) {
            at += 1;
            continue;
        }
        if let Some(end) = quotation_end(text, at) {
            at = end;
            continue;
        }
        let end = at + c.len_utf8();
        let next = text[end..].chars().next();
        let ends = match c {
            '。' | '！' | '？' => !next.is_some_and(|next| matches!(next, '！' | '？' | '」')),
            '!' | '?' => next.is_none_or(|next| !matches!(next, '!' | '?' | ')')),
            '.' => next.is_none_or(char::is_whitespace) && !ends_in_abbreviation(&text[from..at]),
            _ => false,
        };
        if ends {
            give(prompt, within.start + from..within.start + end, see);
            from = end;
        }
        at = end;
    }
    if !is_cut {
        give(prompt, within.start + from..within.end, see);
    }
}

/// Begins no quotation and ends no sentence, as most characters.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == ' '
}

/// The end of the quotation or code that begins at `at`, if it is closed soon.
pub(super) fn quotation_end(text: &str, at: usize) -> Option<usize> {
    let opening = text[at..].chars().next()?;
    let closing = closing_of(opening)?;
    let from = at + opening.len_utf8();
    let rest = first_bytes(&text[from..], LONGEST_QUOTATION);
    if opening != '\'' {
        return rest.find(closing).map(|end| from + end + closing.len_utf8());
    }
    // Not the apostrophe in "don't" and "users'".
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    if is_word(text[..at].chars().next_back()) || !is_word(rest.chars().next()) {
        return None;
    }
    let closes = |end: &usize| !is_word(text[end + 1..].chars().next());
    rest.match_indices(closing).map(|(end, _)| from + end).find(closes).map(|end| end + 1)
}

fn closing_of(opening: char) -> Option<char> {
    Some(match opening {
        '`' | '"' | '\'' => opening,
        '“' => '”',
        '„' => '“',
        '‘' => '’',
        '«' => '»',
        '‹' => '›',
        '「' => '」',
        '『' => '』',
        _ => return None,
    })
}

fn ends_in_abbreviation(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default().trim_start_matches('(');
    ["e.g", "i.e", "etc", "max", "min", "vs", "approx", "cf", "incl", "resp"]
        .iter()
        .any(|short| word.eq_ignore_ascii_case(short))
}

/// Code or a compiler's message in a line of its own words.
fn has_code(text: &str) -> bool {
    ['{', '}', ';'].iter().all(|sign| text.contains(*sign))
}

fn give(prompt: &str, range: Range<usize>, see: &mut impl FnMut(Range<usize>)) {
    let text = &prompt[range.clone()];
    if has_code(text) {
        return;
    }
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
            ("I see: type '{ a: number; b: never }' never. ok", vec!["ok"]),
            ("Hi Anna,\nnever\n\nCheers,\nBob\n\nok", vec!["ok"]),
            ("Hi Claude,\nok", vec!["Hi Claude,", "ok"]),
            ("never\n-- Bob\n\nok", vec!["ok"]),
            ("触らないで\n\nって来たけど", vec!["って来たけど"]),
            ("2.1 Never\n2.2 Never\n\nok", vec!["ok"]),
            ("3.12 is out. ok", vec!["3.12 is out.", "ok"]),
            ("2026-11-02 12:00:01 never\nok", vec!["ok"]),
            ("- no mocks\n- no sleeps", vec!["no mocks", "no sleeps"]),
            ("fix it\ndo not\npush to\nmain\nok", vec!["fix it", "do not\npush to\nmain", "ok"]),
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

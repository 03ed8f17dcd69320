//! The end of a message as sentences: without code, quotations and marks of Markdown.

use crate::text::japanese::is_hiragana;

#[derive(Debug)]
pub(super) struct Sentence {
    /// English: lower-case words with a space around each, and a `$` at the end. A `^` shows the beginning
    /// in both languages.
    pub(super) text: String,
    pub(super) is_question: bool,
    pub(super) is_heading: bool,
    /// Sentences of one line belong together.
    pub(super) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Japanese,
}

/// Questions of a Japanese text that end with a full stop.
const POLITE_ENDS: [&str; 4] = ["ますか", "ですか", "ょうか", "ませんか"];

pub(super) fn read_sentences(text: &str) -> (Language, Vec<Sentence>) {
    let lines = prose_lines(text);
    let is_japanese = lines.iter().any(|line| line.chars().any(is_hiragana));
    let language = if is_japanese { Language::Japanese } else { Language::English };
    let mut sentences = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let is_heading = line.starts_with('#') || (line.starts_with("**") && line.ends_with("**"));
        split_line(&spoken_part(line), |sentence, asked| {
            let asked = asked || (is_japanese && POLITE_ENDS.iter().any(|end| sentence.ends_with(end)));
            let text = if is_japanese { format!("^{sentence}") } else { plain_words(sentence) };
            sentences.push(Sentence { text, is_question: asked, is_heading, line: number });
        });
    }
    (language, sentences)
}

/// The sentence at this place of [`read_sentences`], as it was written. Read again: few messages are quoted.
pub(super) fn spoken_sentence(text: &str, at: usize) -> Option<String> {
    spoken_sentences(text).into_iter().nth(at)
}

pub(super) fn spoken_sentences(text: &str) -> Vec<String> {
    let mut spoken = Vec::new();
    for line in prose_lines(text) {
        split_line(&spoken_part(line), |sentence, _| spoken.push(sentence.to_owned()));
    }
    spoken
}

/// Lines that are neither code nor a quotation.
fn prose_lines(text: &str) -> Vec<&str> {
    let is_fence = |line: &str| line.starts_with("```") || line.starts_with("~~~");
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    // An odd number of fences: the text begins inside of a block.
    let mut fenced = lines().filter(|line| is_fence(line)).count() % 2 == 1;
    let mut prose = Vec::new();
    for line in lines() {
        if is_fence(line) {
            fenced = !fenced;
        } else if !fenced && !line.starts_with('>') {
            prose.push(line);
        }
    }
    prose
}

/// Without list marks and emphasis, and without quoted questions: the agent only mentions them.
fn spoken_part(line: &str) -> String {
    let mut rest = after_list_mark(line);
    let mut spoken = String::with_capacity(rest.len());
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let closing = match c {
            '"' | '`' => c,
            '“' => '”',
            '「' => '」',
            '『' => '』',
            '*' => continue,
            '’' => {
                spoken.push('\'');
                continue;
            }
            _ => {
                spoken.push(c);
                continue;
            }
        };
        if let Some((inner, after)) = rest.split_once(closing) {
            spoken.push_str(if inner.contains(['?', '？']) { "…" } else { inner });
            rest = after;
        }
    }
    spoken
}

/// `- x`, `2. x`, `B) x` and `## x` become `x`.
fn after_list_mark(line: &str) -> &str {
    let line = line.trim_start_matches(['#', '-', '*', '+', '•', '・']).trim_start();
    match line.split_once(['.', ')']) {
        Some((mark, rest))
            if mark.len() <= 2
                && rest.starts_with(' ')
                && mark.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
        {
            rest.trim_start()
        }
        _ => line,
    }
}

/// Calls `each` with every sentence, and whether a question mark ends it.
fn split_line(line: &str, mut each: impl FnMut(&str, bool)) {
    let mut start = 0;
    let mut finish = |from: usize, to: usize, asked: bool| {
        let sentence = line[from..to].trim();
        if !sentence.is_empty() {
            each(sentence, asked);
        }
    };
    for (at, c) in line.char_indices() {
        let after = at + c.len_utf8();
        let next = line[after..].chars().next().unwrap_or(' ');
        let asked = match c {
            '？' => true,
            '?' if matches!(next, ' ' | ')' | '"' | '”' | '」' | '）' | '。' | '!' | ',' | '　') => {
                true
            }
            '。' | '！' => false,
            '.' | '!' if matches!(next, ' ' | ')' | '"') => false,
            _ => continue,
        };
        finish(start, at, asked);
        start = after;
    }
    finish(start, line.len(), false);
}

fn plain_words(sentence: &str) -> String {
    let mut plain = String::with_capacity(sentence.len() + 4);
    plain.push('^');
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '\'' | '/' | '+' | '-');
    for word in sentence.split(|c| !is_part(c)).filter(|word| !word.is_empty()) {
        plain.push(' ');
        plain.push_str(word);
    }
    plain.push_str(" $");
    plain.make_ascii_lowercase();
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, bool)> {
        read_sentences(text).1.into_iter().map(|sentence| (sentence.text, sentence.is_question)).collect()
    }

    #[test]
    fn sentences_questions_and_list_marks() {
        let text = "## Status\n\n1. **Done**: the parser.\n2. Which file?  `a.rs`, or *b.rs*?\n";
        let expected = [
            ("^ status $", false),
            ("^ done the parser $", false),
            ("^ which file $", true),
            ("^ a rs or b rs $", true),
        ];
        assert_eq!(read(text), expected.map(|(text, asked)| (text.to_owned(), asked)));
        assert!(read_sentences(text).1[0].is_heading);
    }

    #[test]
    fn code_and_quoted_questions_are_left_out() {
        let text = "It asks \"Continue?\" now.\n```\nwhat?\n```\n> why?\nSee `?a=1`.";
        assert_eq!(read(text), [("^ it asks now $".to_owned(), false), ("^ see $".to_owned(), false)]);
        assert_eq!(
            read("let x = y?;\n```\nDone."),
            [("^ done $".to_owned(), false)],
            "cut inside of a block"
        );
    }

    #[test]
    fn japanese_questions_need_no_question_mark() {
        let (language, sentences) = read_sentences("直しました。どちらにしますか。「本当に？」と出ます");
        assert_eq!(language, Language::Japanese);
        let asked: Vec<bool> = sentences.iter().map(|sentence| sentence.is_question).collect();
        assert_eq!(asked, [false, true, false]);
        assert_eq!(sentences[1].text, "^どちらにしますか");
    }

    #[test]
    fn a_sentence_is_quoted_as_it_was_written() {
        let text =
            "## Audit\n\n- **CRITICAL**: this must *not* be shipped. Don't. \n```\nx. y.\n```\nIt's over";
        let spoken: Vec<String> = (0..5).filter_map(|at| spoken_sentence(text, at)).collect();
        assert_eq!(spoken, ["Audit", "CRITICAL: this must not be shipped", "Don't", "It's over"]);
        assert_eq!(spoken.len(), read_sentences(text).1.len());
    }

    #[test]
    fn a_query_string_is_not_a_question() {
        assert_eq!(read("Open /search?q=1 now"), [("^ open /search q 1 now $".to_owned(), false)]);
    }
}

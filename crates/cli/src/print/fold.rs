//! Folds a text into lines of a width. Words stay whole, wide characters count twice, and Japanese is broken where its rules
//! allow it.

use textwrap::core::{Word, break_words};
use textwrap::wrap_algorithms::wrap_first_fit;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::terminal::Terminal;
use super::text::Spoken;

pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Lines of at most `width` columns, unless words stay whole. A line break in the text stays one; the spaces at the beginning of a
/// line are repeated in the lines that follow from it.
pub(super) fn fold(spoken: &Spoken, width: usize, terminal: Terminal) -> Vec<String> {
    let mut lines = Vec::new();
    let mut begin = 0;
    for line in spoken.text.split('\n') {
        fold_line(spoken, begin, line, Terminal { width, ..terminal }, &mut lines);
        begin += line.len() + 1;
    }
    lines
}

fn fold_line(spoken: &Spoken, begin: usize, line: &str, terminal: Terminal, lines: &mut Vec<String>) {
    let Terminal { width, has_colors, breaks_words } = terminal;
    let text = line.trim_start_matches(' ');
    let indent = (line.len() - text.len()).min(width / 2);
    let room = width - indent;
    let words: Vec<Word<'_>> = if breaks_words {
        break_words(separate(text, room).flat_map(|word| separate_path(word, room)), room)
    } else {
        separate(text, room).collect()
    };
    let mut at = begin + line.len() - text.len();
    for folded in wrap_first_fit(&words, &[room as f64]) {
        let whole: usize = folded.iter().map(|word| word.word.len() + word.whitespace.len()).sum();
        let tail = folded.last().map_or(0, |word| word.whitespace.len());
        let (from, to) = (at, at + whole - tail);
        let part = if has_colors { spoken.paint(from, to) } else { spoken.text[from..to].to_owned() };
        lines.push(if part.is_empty() { part } else { format!("{:indent$}{part}", "") });
        at += whole;
    }
}

/// A path that is wider than a line is broken after its slashes.
fn separate_path(word: Word<'_>, room: usize) -> Vec<Word<'_>> {
    if word.word.width() <= room || !word.word.contains('/') {
        return vec![word];
    }
    let mut parts: Vec<Word<'_>> = word.word.split_inclusive('/').map(Word::from).collect();
    if let Some(last) = parts.last_mut() {
        last.whitespace = word.whitespace;
    }
    parts
}

/// Breaks after spaces, and around wide characters where Unicode's rules allow it: no `。` begins a line. Not after hyphens or
/// slashes, nor within a command in backticks that fits in a line: names, paths and commands are copied.
fn separate(line: &str, room: usize) -> impl Iterator<Item = Word<'_>> {
    let ticks: Vec<usize> = line.match_indices('`').map(|(at, _)| at).collect();
    let commands: Vec<(usize, usize)> = ticks
        .chunks_exact(2)
        .map(|pair| (pair[0], pair[1]))
        .filter(|(begin, end)| width(&line[*begin..=*end]) <= room)
        .collect();
    let is_wide = |c: char| c.width() == Some(2);
    // Unicode allows no break before `.`, not even after a space: `attach .claude` would be one word.
    let after_spaces =
        line.match_indices(' ').map(|(at, _)| at + 1).filter(|at| !line[*at..].starts_with(' '));
    let mut breaks: Vec<usize> =
        unicode_linebreak::linebreaks(line).map(|(at, _)| at).chain(after_spaces).collect();
    breaks.sort_unstable();
    breaks.dedup();
    let mut breaks = breaks.into_iter().filter(move |at| {
        let before = line[..*at].chars().next_back();
        let after = line[*at..].chars().next();
        let is_between = before.is_some_and(|c| c == ' ' || is_wide(c)) || after.is_some_and(is_wide);
        let is_in_command = commands.iter().any(|(begin, end)| (*begin + 1..=*end).contains(at));
        after.is_none() || is_between && !is_in_command
    });
    let mut from = 0;
    std::iter::from_fn(move || {
        let to = breaks.next()?;
        let word = Word::from(&line[from..to]);
        from = to;
        Some(word)
    })
}

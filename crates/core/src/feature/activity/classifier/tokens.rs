//! A prompt as tokens: words, single Japanese characters, signs, and classes of texts with endless spellings
//! (paths, names in code, numbers).

use std::borrow::Cow;

use crate::feature::activity::classifier::excerpt;
use crate::feature::activity::classifier::excerpt::PromptLine;
use crate::text::fold::narrow;
use crate::text::japanese::{is_hiragana, is_kanji, is_katakana};

/// Selects the table of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Any language with spaces between words.
    English,
    /// Also mixed with English.
    Japanese,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// In Latin letters, or of any script that is not Japanese.
    Word,
    /// One character.
    Hiragana,
    /// One character.
    Katakana,
    /// One character.
    Kanji,
    /// The token's text is the name of the class.
    Class,
    /// A comma, a bracket: divides less than the end of a sentence.
    Sign,
    /// The end of a sentence or line.
    End,
}

/// The text is in [`PromptTokens`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) hash: u64,
    start: u32,
    end: u32,
}

#[derive(Debug)]
pub(super) struct PromptTokens {
    pub(super) language: Language,
    pub(super) all: Vec<Token>,
    /// Words inside backticks: mentioned, not said.
    pub(super) mentioned: Vec<u64>,
    text: String,
}

/// Enough for any prompt that a person wrote.
const MOST: usize = 700;

impl PromptTokens {
    pub(super) fn of(prompt: &str) -> PromptTokens {
        let mut tokens = PromptTokens {
            language: Language::English,
            all: Vec::with_capacity(128),
            mentioned: Vec::new(),
            text: String::with_capacity(512),
        };
        for line in excerpt::lines(prompt) {
            match line {
                PromptLine::Written(line) => tokens.line(line),
                PromptLine::Failure(line) => {
                    tokens.class("<failure>");
                    tokens.line(line);
                }
                PromptLine::Pasted => tokens.class("<pasted>"),
            }
            tokens.end("\n");
            if tokens.all.len() > MOST {
                break;
            }
        }
        while tokens
            .all
            .last()
            .is_some_and(|token| token.kind == TokenKind::End && tokens.text(token) == "\n")
        {
            tokens.all.pop();
        }
        tokens.language = tokens.detect();
        tokens
    }

    pub(super) fn text(&self, token: &Token) -> &str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// Nearly every Japanese sentence has hiragana; titles without it have more Japanese characters than
    /// Latin words.
    fn detect(&self) -> Language {
        let count = |kinds: &[TokenKind]| self.all.iter().filter(|token| kinds.contains(&token.kind)).count();
        let japanese = count(&[TokenKind::Katakana, TokenKind::Kanji]);
        if count(&[TokenKind::Hiragana]) > 0 || (japanese > 0 && japanese >= count(&[TokenKind::Word])) {
            Language::Japanese
        } else {
            Language::English
        }
    }

    fn push(&mut self, kind: TokenKind, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.push_written(kind, start);
    }

    /// Makes a token of the text written since `start`.
    fn push_written(&mut self, kind: TokenKind, start: usize) {
        let hash = hash_text(&self.text[start..]);
        self.all.push(Token { kind, hash, start: start as u32, end: self.text.len() as u32 });
    }

    fn class(&mut self, name: &str) {
        // Several in a row say no more than one.
        if self.all.last().is_none_or(|last| self.text(last) != name) {
            self.push(TokenKind::Class, name);
        }
    }

    fn end(&mut self, text: &str) {
        match self.all.last() {
            None => {}
            // `?!`, a full stop before a new line: the first says more.
            Some(last) if last.kind == TokenKind::End => {}
            Some(_) => self.push(TokenKind::End, text),
        }
    }

    fn line(&mut self, line: &str) {
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            if self.all.len() > MOST {
                return;
            }
            let c = fold_width(first);
            let after = &rest[first.len_utf8()..];
            let length = match c {
                '`' => match after.find('`').filter(|end| *end > 0) {
                    Some(end) => {
                        self.mention(&after[..end]);
                        first.len_utf8() + end + 1
                    }
                    None => first.len_utf8(),
                },
                _ if starts_chunk(c) => {
                    let length = chunk_length(rest);
                    self.chunk(&rest[..length]);
                    length
                }
                _ => {
                    self.character(c);
                    first.len_utf8()
                }
            };
            rest = &rest[length..];
        }
    }

    /// A single character outside of a chunk.
    fn character(&mut self, c: char) {
        let mut buffer = [0; 4];
        let mut sign =
            |tokens: &mut PromptTokens, kind, c: char| tokens.push(kind, c.encode_utf8(&mut buffer));
        match c {
            '.' | '。' | '．' => self.end("."),
            '?' => self.end("?"),
            '!' => self.end("!"),
            '、' | ',' => sign(self, TokenKind::Sign, ','),
            ':' | ';' | '(' | '=' | '+' | '&' | '<' | '>' => sign(self, TokenKind::Sign, c),
            '"' | '「' | '『' | '“' | '”' => sign(self, TokenKind::Sign, '"'),
            '-' | '–' | '—' | '…' | '→' | '・' | '~' | '〜' => sign(self, TokenKind::Sign, '-'),
            c if is_katakana(c) => sign(self, TokenKind::Katakana, c),
            c if is_hiragana(c) => sign(self, TokenKind::Hiragana, c),
            c if is_kanji(c) => sign(self, TokenKind::Kanji, c),
            _ => {}
        }
    }

    /// The text between backticks.
    fn mention(&mut self, inner: &str) {
        self.class("<code>");
        let words = inner.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        self.mentioned.extend(words.take(8).map(|word| hash_text(&word.to_lowercase())));
    }

    /// A run of Latin letters, digits and the signs inside of names and paths.
    fn chunk(&mut self, chunk: &str) {
        let folded: Cow<'_, str> =
            if chunk.is_ascii() { chunk.into() } else { chunk.chars().map(fold_width).collect() };
        let core = folded.trim_end_matches(['.', ':', '-', '\'', '/', '~', '+', '*']);
        let tail = &folded[core.len()..];
        if let Some(class) = chunk_class(core) {
            self.class(class);
        } else {
            for word in core.split(|c: char| !(c.is_alphanumeric() || c == '\'')) {
                let start = self.text.len();
                for c in word.chars().filter(|c| *c != '\'') {
                    if c.is_ascii() {
                        self.text.push(c.to_ascii_lowercase());
                    } else {
                        self.text.extend(c.to_lowercase());
                    }
                }
                if self.text.len() > start {
                    self.push_written(TokenKind::Word, start);
                }
            }
        }
        for c in tail.chars() {
            self.character(c);
        }
    }
}

/// `None` if the chunk is words.
fn chunk_class(chunk: &str) -> Option<&'static str> {
    let digits = chunk.bytes().filter(u8::is_ascii_digit).count();
    let letters = chunk.chars().filter(|c| c.is_alphabetic()).count();
    if chunk.contains("://") || chunk.starts_with("www.") {
        return Some("<url>");
    }
    if chunk.starts_with('#') && digits > 0 && letters == 0 {
        return Some("<ticket>");
    }
    if chunk.starts_with('-') && letters > 0 {
        return Some("<flag>");
    }
    if digits > 0 {
        let bare = chunk.trim_start_matches(['v', 'V']);
        if bare.matches('.').count() >= 1 && bare.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return Some("<version>");
        }
        if letters <= 2 && chunk.starts_with(|c: char| c.is_ascii_digit() || c == '~' || c == '$') {
            return Some("<number>");
        }
        if letters >= 2
            && chunk.contains('-')
            && chunk.ends_with(|c: char| c.is_ascii_digit())
            && chunk.starts_with(|c: char| c.is_ascii_uppercase())
        {
            return Some("<ticket>");
        }
        if chunk.len() >= 7 && digits >= 2 && chunk.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Some("<digest>");
        }
    }
    if chunk.contains('/') {
        // `undo/redo`, `CI/CD` and `and/or` are words.
        let words = chunk.split('/').all(|part| {
            !part.is_empty() && part.len() < 12 && part.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
        });
        return (!words || chunk.matches('/').count() > 2).then_some("<path>");
    }
    if let Some((name, extension)) = chunk.rsplit_once('.')
        && !name.is_empty()
        && (1..=5).contains(&extension.len())
        && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        && !matches!(extension, "g" | "e" | "js")
    {
        let document = matches!(extension, "md" | "txt" | "rst" | "adoc" | "docx" | "pdf");
        return Some(if document { "<document>" } else { "<path>" });
    }
    if chunk.ends_with("Error") || chunk.ends_with("Exception") {
        return (chunk.len() > 9).then_some("<error>");
    }
    let mut previous = ' ';
    for c in chunk.chars() {
        if c == '_' || (previous.is_lowercase() && c.is_uppercase()) || (previous == ':' && c == ':') {
            return Some("<name>");
        }
        previous = c;
    }
    None
}

fn starts_chunk(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '#' | '_' | '/' | '$' | '@' | '\\') || is_other_letter(c)
}

/// Neither ASCII nor Japanese.
fn is_other_letter(c: char) -> bool {
    !c.is_ascii()
        && c.is_alphabetic()
        && !matches!(c, '\u{3005}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

fn chunk_length(text: &str) -> usize {
    let inside = |c: char| {
        let c = fold_width(c);
        starts_chunk(c) || matches!(c, '.' | '-' | ':' | '\'' | '~' | '+' | '*' | '%')
    };
    text.find(|c| !inside(c)).unwrap_or(text.len())
}

/// Full-width ASCII as ASCII, typographic quotes as plain ones.
fn fold_width(c: char) -> char {
    match c {
        '’' | '‘' => '\'',
        _ => narrow(c),
    }
}

pub(super) fn hash_text(text: &str) -> u64 {
    crate::text::fnv::hash(text.bytes())
}

/// Depends on the order.
pub(super) fn join_hashes(joined: u64, next: u64) -> u64 {
    (joined.rotate_left(23) ^ next).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(prompt: &str) -> Vec<String> {
        let tokens = PromptTokens::of(prompt);
        tokens.all.iter().map(|token| tokens.text(token).to_owned()).collect()
    }

    #[test]
    fn words_signs_and_ends() {
        assert_eq!(
            read("Don't  touch it... just LOOK, ok?!"),
            ["dont", "touch", "it", ".", "just", "look", ",", "ok", "?"]
        );
        assert_eq!(read("one\n\ntwo"), ["one", "\n", "two"]);
        assert_eq!(read("follow-up: undo/redo"), ["follow", "up", ":", "undo", "redo"]);
    }

    #[test]
    fn classes() {
        let rows = [
            ("src/auth/session.ts", "<path>"),
            ("main.rs", "<path>"),
            ("README.md", "<document>"),
            ("https://example.org/a?b=1", "<url>"),
            ("#412", "<ticket>"),
            ("PROJ-88", "<ticket>"),
            ("v1.2.3", "<version>"),
            ("30s", "<number>"),
            ("3fa9c2d1", "<digest>"),
            ("loadUserConfig", "<name>"),
            ("load_user", "<name>"),
            ("NullPointerException", "<error>"),
            ("`git push`", "<code>"),
        ];
        for (chunk, class) in rows {
            let tokens = read(chunk);
            assert_eq!(tokens.first().map(String::as_str), Some(class), "{chunk}: {tokens:?}");
        }
        assert_eq!(read("e.g. CI/CD"), ["e", "g", ".", "ci", "cd"]);
    }

    #[test]
    fn japanese_is_single_characters_and_whole_words() {
        assert_eq!(read("ＰＲを作って。"), ["pr", "を", "作", "っ", "て", "."]);
        assert_eq!(read("実装、`f()`で"), ["実", "装", ",", "<code>", "で"]);
    }

    #[test]
    fn which_language() {
        let rows = [
            ("fix it", Language::English),
            ("PR作成", Language::Japanese),
            ("fix the 保存 button on the settings page", Language::English),
            ("undo/redoの実装", Language::Japanese),
            ("テスト追加", Language::Japanese),
            ("почини это", Language::English),
            ("", Language::English),
        ];
        for (prompt, language) in rows {
            assert_eq!(PromptTokens::of(prompt).language, language, "{prompt}");
        }
    }

    #[test]
    fn there_is_an_end_to_tokens() {
        assert!(PromptTokens::of(&"a ".repeat(500_000)).all.len() <= MOST + 1);
        assert!(PromptTokens::of(&"あ\n".repeat(500_000)).all.len() <= MOST + 1);
    }
}

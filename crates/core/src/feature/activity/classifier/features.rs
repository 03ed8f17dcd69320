//! Features for the weights: hashes of words, characters and their positions.

use crate::feature::activity::classifier::lexicon::Lexicon;
use crate::feature::activity::classifier::tokens::{PromptTokens, Token, TokenKind, hash_text, join_hashes};

pub use crate::feature::activity::classifier::tokens::Language;

/// Groups of features; each is normalised by itself.
pub const GROUPS: usize = 3;

/// Most letters of a word, with its two marked ends.
const LONGEST_WORD: usize = 24;

/// The features of a prompt, repeated as often as they occur.
#[derive(Debug)]
pub struct Features {
    pub language: Language,
    /// Words and their order; parts of words; meanings of words.
    pub groups: [Vec<u32>; GROUPS],
}

/// The same word at the beginning is another feature.
#[derive(Clone, Copy)]
enum FeatureKind {
    Words,
    Skip,
    First,
    Last,
    SentenceStart,
    SentenceEnd,
    Mentioned,
    Shape,
    Part,
    Characters,
    CharactersAtEnd,
    CharactersAtStart,
    Content,
    Meaning,
    Meanings,
    FirstMeaning,
    LastMeaning,
    SentenceMeaning,
    SentenceLastMeaning,
    Mixed,
}

impl Features {
    pub fn of<'a>(prompt: &str, lexicon: impl Fn(Language) -> Lexicon<'a>) -> Features {
        let tokens = PromptTokens::of(prompt);
        let groups = [Vec::with_capacity(512), Vec::with_capacity(1024), Vec::with_capacity(256)];
        let mut features = Features { language: tokens.language, groups };
        if tokens.all.is_empty() {
            return features;
        }
        match tokens.language {
            Language::English => features.english(&tokens),
            Language::Japanese => features.japanese(&tokens),
        }
        for hash in &tokens.mentioned {
            features.add(0, FeatureKind::Mentioned, *hash);
        }
        features.shape(&tokens);
        features.meanings(&tokens, lexicon(tokens.language));
        features
    }

    pub fn is_empty(&self) -> bool {
        self.groups.iter().all(Vec::is_empty)
    }

    fn add(&mut self, group: usize, about: FeatureKind, hash: u64) {
        let mixed = (hash ^ (about as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.groups[group].push((mixed >> 32) as u32);
    }

    fn english(&mut self, tokens: &PromptTokens) {
        let mut row = Vec::with_capacity(tokens.all.len() + 2);
        row.push(hash_text("^"));
        row.extend(tokens.all.iter().map(|token| token.hash));
        row.push(hash_text("$"));
        for at in 0..row.len() {
            let mut joined = 0;
            for (length, next) in row[at..].iter().take(3).enumerate() {
                joined = join_hashes(joined, *next);
                if length > 0 || (at > 0 && at + 1 < row.len()) {
                    self.add(0, FeatureKind::Words, joined);
                }
            }
            if let (Some(first), Some(third)) = (row.get(at), row.get(at + 2)) {
                self.add(0, FeatureKind::Skip, join_hashes(*first, *third));
            }
        }
        let words =
            || tokens.all.iter().filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Class));
        for token in words().take(4) {
            self.add(0, FeatureKind::First, token.hash);
        }
        for token in words().rev().take(4) {
            self.add(0, FeatureKind::Last, token.hash);
        }
        for sentence in tokens.all.split(|token| token.kind == TokenKind::End) {
            let mut joined = 0;
            for token in sentence.iter().take(3) {
                joined = join_hashes(joined, token.hash);
                self.add(0, FeatureKind::SentenceStart, joined);
            }
        }
        for token in &tokens.all {
            if token.kind == TokenKind::Word {
                self.parts(tokens.text(token));
            }
        }
    }

    /// Three to five letters of a word, with marked ends.
    fn parts(&mut self, word: &str) {
        let mut row = ['<'; LONGEST_WORD];
        let mut length = 1;
        for (place, letter) in row[1..].iter_mut().zip(word.chars().chain(['>'])) {
            *place = letter;
            length += 1;
        }
        let letters = &row[..length];
        if letters.len() < 6 {
            return;
        }
        for at in 0..letters.len() {
            let mut joined = 0;
            for (length, letter) in letters[at..].iter().take(5).enumerate() {
                joined = join_hashes(joined, *letter as u64 + 1);
                if length >= 2 {
                    self.add(1, FeatureKind::Part, joined);
                }
            }
        }
    }

    fn japanese(&mut self, tokens: &PromptTokens) {
        let row: Vec<u64> = tokens.all.iter().map(|token| token.hash).collect();
        for at in 0..row.len() {
            let mut joined = 0;
            for next in row[at..].iter().take(5) {
                joined = join_hashes(joined, *next);
                self.add(1, FeatureKind::Characters, joined);
            }
        }
        for sentence in tokens.all.split(|token| token.kind == TokenKind::End) {
            self.ending(0, FeatureKind::SentenceEnd, sentence);
            let mut joined = 0;
            for token in sentence.iter().take(4) {
                joined = join_hashes(joined, token.hash);
                self.add(0, FeatureKind::SentenceStart, joined);
            }
        }
        let last =
            tokens.all.iter().rposition(|token| token.kind != TokenKind::End).map_or(0, |last| last + 1);
        self.ending(0, FeatureKind::CharactersAtEnd, &tokens.all[..last]);
        let mut joined = 0;
        for token in tokens.all.iter().take(6) {
            joined = join_hashes(joined, token.hash);
            self.add(0, FeatureKind::CharactersAtStart, joined);
        }
        self.content(tokens);
    }

    /// The last one to eight tokens.
    fn ending(&mut self, group: usize, about: FeatureKind, tokens: &[Token]) {
        let mut joined = 0;
        for token in tokens.iter().rev().take(8) {
            joined = join_hashes(joined, token.hash);
            self.add(group, about, joined);
        }
    }

    /// Runs of one script are nearly words: alone, and in pairs regardless of the text between them.
    fn content(&mut self, tokens: &PromptTokens) {
        let mut previous: Option<u64> = None;
        let mut before: Option<u64> = None;
        let mut at = 0;
        while at < tokens.all.len() {
            let kind = tokens.all[at].kind;
            let length = match kind {
                TokenKind::Kanji | TokenKind::Katakana => {
                    tokens.all[at..].iter().take_while(|token| token.kind == kind).count()
                }
                _ => 1,
            };
            if matches!(kind, TokenKind::Kanji | TokenKind::Katakana | TokenKind::Word | TokenKind::Class) {
                let run = tokens.all[at..at + length]
                    .iter()
                    .fold(0, |joined, token| join_hashes(joined, token.hash));
                self.add(0, FeatureKind::Content, run);
                if let Some(previous) = previous {
                    self.add(0, FeatureKind::Skip, join_hashes(previous, run));
                }
                if let (Some(before), Some(previous)) = (before, previous) {
                    self.add(0, FeatureKind::Skip, join_hashes(join_hashes(before, previous), run));
                }
                before = previous;
                previous = Some(run);
            }
            at += length;
        }
        if let Some(previous) = previous {
            self.add(0, FeatureKind::Last, previous);
        }
    }

    /// Phrases of the lexicon, their order, and the tokens between them.
    fn meanings(&mut self, tokens: &PromptTokens, lexicon: Lexicon<'_>) {
        let mut mixed: Vec<(u64, bool)> = Vec::with_capacity(tokens.all.len());
        let mut row: Vec<u64> = Vec::with_capacity(32);
        let mut sentence = 0;
        let mut at = 0;
        while at < tokens.all.len() {
            if let Some((length, class)) = lexicon.longest(&tokens.all[at..]) {
                let meaning = u64::from(class) + 1;
                self.add(2, FeatureKind::Meaning, meaning);
                mixed.push((meaning, true));
                row.push(meaning);
                at += length;
            } else {
                mixed.push((tokens.all[at].hash, false));
                at += 1;
            }
            let ends = at >= tokens.all.len() || tokens.all[at - 1].kind == TokenKind::End;
            if ends && row.len() > sentence {
                self.add(2, FeatureKind::SentenceMeaning, row[sentence]);
                self.add(2, FeatureKind::SentenceLastMeaning, row[row.len() - 1]);
                sentence = row.len();
            }
        }
        for pair in row.windows(2) {
            self.add(2, FeatureKind::Meanings, join_hashes(join_hashes(0, pair[0]), pair[1]));
        }
        for three in row.windows(3) {
            self.add(
                2,
                FeatureKind::Meanings,
                join_hashes(join_hashes(join_hashes(0, three[0]), three[1]), three[2]),
            );
        }
        if let (Some(first), Some(last)) = (row.first(), row.last()) {
            self.add(2, FeatureKind::FirstMeaning, *first);
            self.add(2, FeatureKind::LastMeaning, *last);
            self.add(2, FeatureKind::Meanings, join_hashes(join_hashes(7, *first), *last));
        }
        for length in [2, 3] {
            for window in mixed.windows(length) {
                if window.iter().any(|(_, class)| *class) {
                    let joined = window.iter().fold(0, |joined, (hash, _)| join_hashes(joined, *hash));
                    self.add(2, FeatureKind::Mixed, joined);
                }
            }
        }
    }

    /// Length, number of sentences, end of the last one.
    fn shape(&mut self, tokens: &PromptTokens) {
        let length = (tokens.all.len() as u64 + 1).ilog2();
        let sentences = tokens.all.iter().filter(|token| token.kind == TokenKind::End).count().min(4) as u64;
        let end =
            tokens.all.last().filter(|token| token.kind == TokenKind::End).map_or(0, |token| token.hash);
        self.add(0, FeatureKind::Shape, join_hashes(1, u64::from(length)));
        self.add(0, FeatureKind::Shape, join_hashes(2, sentences));
        self.add(0, FeatureKind::Shape, join_hashes(3, end));
    }
}

/// The hash of each beginning of a phrase, the whole last.
pub fn phrase_hashes(text: &str) -> Vec<u32> {
    let mut joined = 0;
    let hashes = PromptTokens::of(text).all.into_iter().map(|token| {
        joined = join_hashes(joined, token.hash);
        (joined >> 32) as u32
    });
    hashes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(prompt: &str) -> Features {
        Features::of(prompt, |_| Lexicon::default())
    }

    #[test]
    fn order_counts() {
        for (one, other) in [("review the plan", "plan the review"), ("計画のレビュー", "レビューの計画")]
        {
            let (one, other) = (of(one), of(other));
            assert_ne!(one.groups[0], other.groups[0]);
            assert_eq!(one.groups[0].len(), other.groups[0].len());
        }
    }

    #[test]
    fn short_words_have_no_parts() {
        assert!(of("fix it now").groups[1].is_empty());
        // <deploy>: three to five of eight letters.
        assert_eq!(of("deploy").groups[1].len(), 6 + 5 + 4);
    }

    #[test]
    fn nothing_has_no_features() {
        for prompt in ["", "\n", "🎉", "[]"] {
            assert!(of(prompt).is_empty(), "{prompt:?}");
        }
        assert!(!of("a").is_empty());
    }

    #[test]
    fn the_longest_phrase_counts() {
        let words = ["look", "look up", "up"].map(phrase_hashes);
        assert_eq!(words[0][0], words[1][0], "a phrase begins as its first word does");
        let mut entries = [(words[0][0], 1_u8), (words[1][1], 2), (words[2][0], 3)];
        entries.sort_unstable();
        let mut bytes = 3_u32.to_le_bytes().to_vec();
        bytes.extend(entries.iter().flat_map(|(hash, _)| hash.to_le_bytes()));
        bytes.extend(entries.iter().map(|(_, class)| class));
        let (lexicon, rest) = Lexicon::read(&bytes).expect("a lexicon");
        assert!(rest.is_empty());
        let longest = |text: &str| lexicon.longest(&PromptTokens::of(text).all);
        assert_eq!(longest("look up there"), Some((2, 2)));
        assert_eq!(longest("look there"), Some((1, 1)));
        assert_eq!(longest("there"), None);
        assert!(Lexicon::read(&bytes[..bytes.len() - 1]).is_none());
    }
}

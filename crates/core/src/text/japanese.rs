//! Characters of Japanese.
//!
//! Two views of a script: its letters, for what is compared word by word, and its Unicode block with all signs, for what is
//! counted. Classifier, index and estimates were fitted to one of them each, so neither can replace the other.

use std::ops::RangeInclusive;

/// Hiragana, its marks and punctuation.
pub const HIRAGANA_BLOCK: RangeInclusive<char> = '\u{3040}'..='\u{309f}';
/// Katakana, its marks and punctuation.
pub const KATAKANA_BLOCK: RangeInclusive<char> = '\u{30a0}'..='\u{30ff}';
/// Common and less common kanji, and what stands between the two.
pub const KANJI_BLOCKS: RangeInclusive<char> = '\u{3400}'..='\u{9fff}';
/// Punctuation, brackets and the wide space.
pub const SIGN_BLOCK: RangeInclusive<char> = '\u{3000}'..='\u{303f}';
/// Latin of full width, katakana of half width.
pub const WIDTH_BLOCK: RangeInclusive<char> = '\u{ff00}'..='\u{ffef}';

/// A letter of hiragana.
#[inline]
pub fn is_hiragana(c: char) -> bool {
    matches!(c, 'ぁ'..='ゖ')
}

/// The signs that repeat a hiragana.
#[inline]
pub fn repeats_hiragana(c: char) -> bool {
    matches!(c, 'ゝ' | 'ゞ')
}

/// A letter of katakana, or the sign of a long vowel.
#[inline]
pub fn is_katakana(c: char) -> bool {
    matches!(c, 'ァ'..='ヺ' | 'ー')
}

/// Katakana of half width, with its two marks.
#[inline]
pub fn is_half_width_katakana(c: char) -> bool {
    matches!(c, 'ｦ'..='ﾟ')
}

/// Hiragana or katakana, with all signs of their blocks.
#[inline]
pub fn is_kana(c: char) -> bool {
    HIRAGANA_BLOCK.contains(&c) || KATAKANA_BLOCK.contains(&c)
}

/// A kanji of everyday texts, or a sign that stands for one.
#[inline]
pub fn is_kanji(c: char) -> bool {
    matches!(c, '々' | '〆' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

/// A kanji, also one that only names and old texts have.
#[inline]
pub fn is_any_kanji(c: char) -> bool {
    is_kanji(c) || matches!(c, '〇' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// A sign that ends a word: Japanese punctuation, and ASCII punctuation of full width.
#[inline]
pub fn is_sign(c: char) -> bool {
    SIGN_BLOCK.contains(&c) || matches!(c, '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_told_apart() {
        let all = |text: &str, is: fn(char) -> bool| text.chars().all(is);
        assert!(all("あぁゖん", is_hiragana) && all("ゝゞ", repeats_hiragana));
        assert!(all("アァヺー", is_katakana) && all("ｱﾝｰﾞﾟ", is_half_width_katakana));
        assert!(all("漢字々〆", is_kanji) && all("漢〇\u{fa11}\u{20b9f}", is_any_kanji));
        assert!(all("あゝアー・", is_kana) && all("。、「」\u{3000}！？", is_sign));
        for is in [is_hiragana, is_katakana, is_kanji, is_kana, is_any_kanji, is_half_width_katakana, is_sign]
        {
            assert!(!"aZ9 é한".chars().any(is));
        }
    }
}

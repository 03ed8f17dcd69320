//! Characters: which belong together, and which mean the same.

use tidegate_core::text::fold::narrow;
use tidegate_core::text::japanese::{is_any_kanji, is_hiragana, repeats_hiragana};

/// What a character is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A word that ends where a character of another class begins.
    Word,
    /// A script without spaces; which one, for telling content from endings.
    Run(Script),
    /// A mark that belongs to the character before it.
    Mark,
    /// Neither.
    Between,
}

/// Scripts whose words are not set apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    Han,
    Hiragana,
    Katakana,
    Other,
}

pub(crate) fn class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Class::Word,
        '\0'..='\u{7f}' => Class::Between,
        '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' | 'ﾞ' | 'ﾟ' => Class::Mark,
        c if is_hiragana(c) || repeats_hiragana(c) => Class::Run(Script::Hiragana),
        '\u{30a1}'..='\u{30fa}' | 'ー' | 'ヽ' | 'ヾ' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9d}' => {
            Class::Run(Script::Katakana)
        }
        c if is_any_kanji(c) => Class::Run(Script::Han),
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{ac00}'..='\u{d7af}' => Class::Run(Script::Other),
        c if c.is_alphanumeric() => Class::Word,
        _ => Class::Between,
    }
}

/// A character of a word as it is compared: small, of ordinary width, without an accent where it has a common one.
pub(crate) fn of_word(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let c = narrow(c);
    let c = c.to_lowercase().next().unwrap_or(c);
    match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => 'e',
        'ì'..='ï' | 'ī' | 'į' | 'ı' => 'i',
        'ñ' | 'ń' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => 'o',
        'ù'..='ü' | 'ū' | 'ů' | 'ű' => 'u',
        'ý' | 'ÿ' => 'y',
        'ś' | 'š' | 'ş' => 's',
        'ź' | 'ż' | 'ž' => 'z',
        'ł' => 'l',
        'ğ' => 'g',
        'ř' => 'r',
        c => c,
    }
}

/// A character of a run as it is compared: kana of half width are the same as the others.
pub(crate) fn of_run(c: char) -> char {
    const WIDE: &str = "ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン";
    match c {
        '\u{ff66}'..='\u{ff9d}' => WIDE.chars().nth(c as usize - 0xff66).unwrap_or(c),
        c => c,
    }
}

/// A kana with the mark that follows it.
pub(crate) fn with_mark(c: char, mark: char) -> char {
    let step = match mark {
        '\u{3099}' | 'ﾞ' => 1,
        '\u{309a}' | 'ﾟ' => 2,
        _ => return c,
    };
    match c {
        'ウ' if step == 1 => 'ヴ',
        'う' if step == 1 => 'ゔ',
        'か'..='と' | 'カ'..='ト' if step == 1 => char::from_u32(c as u32 + 1).unwrap_or(c),
        'は'..='ほ' | 'ハ'..='ホ' => char::from_u32(c as u32 + step).unwrap_or(c),
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_cases_and_marks_are_one() {
        let word = |text: &str| text.chars().map(of_word).collect::<String>();
        assert_eq!(word("ＳＱＬite Größe Ångström"), "sqlite große angstrom");
        assert_eq!("ｶﾀﾅ".chars().map(of_run).collect::<String>(), "カタナ");
        assert_eq!(with_mark('カ', 'ﾞ'), 'ガ');
        assert_eq!(with_mark('は', '\u{309a}'), 'ぱ');
        assert_eq!(with_mark('設', 'ﾞ'), '設');
    }

    #[test]
    fn classes() {
        assert_eq!("a1_é１Ж".chars().map(class).collect::<Vec<_>>(), [Class::Word; 6]);
        assert_eq!(class('設'), Class::Run(Script::Han));
        assert_eq!(class('ー'), Class::Run(Script::Katakana));
        assert_eq!(class('の'), Class::Run(Script::Hiragana));
        assert_eq!(class('한'), Class::Run(Script::Other));
        for c in ['・', '。', ' ', '-', '"', '\u{1b}', '★'] {
            assert_eq!(class(c), Class::Between, "{c}");
        }
    }
}

//! Character classes and folding: which characters belong together, and which compare as equal.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CharClass {
    /// Ends where a character of another class begins.
    Word,
    /// A script without spaces. The script tells content words from endings.
    Run(Script),
    /// Belongs to the character before it.
    Mark,
    Between,
}

/// Scripts without spaces between words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    Han,
    Hiragana,
    Katakana,
    Other,
}

pub(crate) fn class_of(c: char) -> CharClass {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => CharClass::Word,
        '\0'..='\u{7f}' => CharClass::Between,
        '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' | 'ﾞ' | 'ﾟ' => CharClass::Mark,
        '\u{3041}'..='\u{3096}' | 'ゝ' | 'ゞ' => CharClass::Run(Script::Hiragana),
        '\u{30a1}'..='\u{30fa}' | 'ー' | 'ヽ' | 'ヾ' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9d}' => {
            CharClass::Run(Script::Katakana)
        }
        '々'
        | '〆'
        | '〇'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => CharClass::Run(Script::Han),
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{ac00}'..='\u{d7af}' => CharClass::Run(Script::Other),
        c if c.is_alphanumeric() => CharClass::Word,
        _ => CharClass::Between,
    }
}

/// Folds case, full width and common accents.
pub(crate) fn fold_word_char(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let c = match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        c => c,
    };
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

/// Half-width kana become ordinary ones.
pub(crate) fn fold_run_char(c: char) -> char {
    const WIDE: &str = "ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン";
    match c {
        '\u{ff66}'..='\u{ff9d}' => WIDE.chars().nth(c as usize - 0xff66).unwrap_or(c),
        c => c,
    }
}

/// Combines a kana with the voicing mark after it.
pub(crate) fn add_mark(c: char, mark: char) -> char {
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
        let word = |text: &str| text.chars().map(fold_word_char).collect::<String>();
        assert_eq!(word("ＳＱＬite Größe Ångström"), "sqlite große angstrom");
        assert_eq!("ｶﾀﾅ".chars().map(fold_run_char).collect::<String>(), "カタナ");
        assert_eq!(add_mark('カ', 'ﾞ'), 'ガ');
        assert_eq!(add_mark('は', '\u{309a}'), 'ぱ');
        assert_eq!(add_mark('設', 'ﾞ'), '設');
    }

    #[test]
    fn classes() {
        assert_eq!("a1_é１Ж".chars().map(class_of).collect::<Vec<_>>(), [CharClass::Word; 6]);
        assert_eq!(class_of('設'), CharClass::Run(Script::Han));
        assert_eq!(class_of('ー'), CharClass::Run(Script::Katakana));
        assert_eq!(class_of('の'), CharClass::Run(Script::Hiragana));
        assert_eq!(class_of('한'), CharClass::Run(Script::Other));
        for c in ['・', '。', ' ', '-', '"', '\u{1b}', '★'] {
            assert_eq!(class_of(c), CharClass::Between, "{c}");
        }
    }
}

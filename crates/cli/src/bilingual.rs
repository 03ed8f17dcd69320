//! Texts for people, in both languages. The printer picks one at the end, so no function has to know the language.

use std::fmt::Display;

use tidegate_core::text::lang::Lang;

/// A text for people. Made by [`both!`], so that a missing language does not compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bilingual {
    pub(crate) en: String,
    pub(crate) ja: String,
}

impl Bilingual {
    /// The same in every language: a name, a path, a number, words of others.
    pub(crate) fn data(value: impl Display) -> Bilingual {
        let text = value.to_string();
        Bilingual { en: text.clone(), ja: text }
    }

    pub(crate) fn get(&self, lang: Lang) -> &str {
        match lang {
            Lang::En => &self.en,
            Lang::Ja => &self.ja,
        }
    }

    /// `a, b, c`, or `a、b、c`.
    pub(crate) fn list(texts: impl IntoIterator<Item = Bilingual>) -> Bilingual {
        let (en, ja): (Vec<String>, Vec<String>) = texts.into_iter().map(|text| (text.en, text.ja)).unzip();
        Bilingual { en: en.join(", "), ja: ja.join("、") }
    }
}

/// `both!("{n} files", "{n}個のファイル")` is a [`Bilingual`]. Names come from the scope, or follow the texts:
/// `both!("{found} of {all}", "{all}件中{found}件", found = hits.len(), all = rows.len())`.
macro_rules! both {
    ($en:literal, $ja:literal $(,)?) => {
        $crate::bilingual::Bilingual { en: format!($en), ja: format!($ja) }
    };
    ($en:literal, $ja:literal, $($name:ident = $value:expr),+ $(,)?) => {
        match ($(&$value,)+) {
            ($($name,)+) => $crate::bilingual::Bilingual { en: format!($en), ja: format!($ja) },
        }
    };
}
pub(crate) use both;

/// `1 session`, `3 sessions`: for the English text of [`both!`].
pub(crate) fn count_en(number: usize, noun: &str) -> String {
    if number == 1 {
        return format!("1 {noun}");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{number} {stem}ies"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_take_the_same_values() {
        let n = 3;
        let text = both!("{n} of {all}", "{all}件中{n}件", all = 4);
        assert_eq!((text.get(Lang::En), text.get(Lang::Ja)), ("3 of 4", "4件中3件"));
        let texts = Bilingual::list([both!("a", "ア"), Bilingual::data("x.rs")]);
        assert_eq!((texts.get(Lang::En), texts.get(Lang::Ja)), ("a, x.rs", "ア、x.rs"));
    }

    #[test]
    fn english_counts() {
        let counted = [(1, "turn"), (0, "turn"), (2, "entry"), (2, "day"), (1, "entry")];
        let shown: Vec<String> = counted.into_iter().map(|(n, noun)| count_en(n, noun)).collect();
        assert_eq!(shown, ["1 turn", "0 turns", "2 entries", "2 days", "1 entry"]);
    }
}

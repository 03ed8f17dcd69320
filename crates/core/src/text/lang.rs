//! The language of texts for people.

use serde::{Deserialize, Serialize};

use crate::text::japanese::is_kana;

/// A language that every text for people exists in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Japanese.
    Ja,
}

impl Lang {
    /// The language of a locale such as `ja_JP.UTF-8`; `None` for one that says nothing (`C`, `POSIX`).
    pub fn of_locale(locale: &str) -> Option<Lang> {
        let language = locale.split(['_', '.', '@']).next().unwrap_or_default();
        match language {
            "" | "C" | "POSIX" => None,
            "ja" => Some(Lang::Ja),
            _ => Some(Lang::En),
        }
    }

    /// The language a prompt is written in: kana are Japanese, a few words of Latin letters English.
    pub fn of_text(text: &str) -> Option<Lang> {
        let head = || text.chars().take(2000);
        if head().any(is_kana) {
            return Some(Lang::Ja);
        }
        (head().filter(char::is_ascii_alphabetic).count() >= 8).then_some(Lang::En)
    }

    /// Config, else locale, else the last prompt, else English.
    pub fn choose(config: Option<Lang>, locale: Option<&str>, prompt: Option<Lang>) -> Lang {
        config.or_else(|| locale.and_then(Lang::of_locale)).or(prompt).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_chosen_in_order() {
        assert_eq!(Lang::choose(Some(Lang::Ja), Some("en_US.UTF-8"), None), Lang::Ja);
        assert_eq!(Lang::choose(None, Some("ja_JP.UTF-8"), Some(Lang::En)), Lang::Ja);
        assert_eq!(Lang::choose(None, Some("de_DE"), Some(Lang::Ja)), Lang::En);
        assert_eq!(Lang::choose(None, Some("C.UTF-8"), Some(Lang::Ja)), Lang::Ja);
        assert_eq!(Lang::choose(None, None, None), Lang::En);
    }

    #[test]
    fn prompts_tell_their_language() {
        assert_eq!(Lang::of_text("undo/redoの実装を調べて"), Some(Lang::Ja));
        assert_eq!(Lang::of_text("please fix the parser"), Some(Lang::En));
        assert_eq!(Lang::of_text("ok"), None);
        assert_eq!(Lang::of_text("12345 67890"), None);
    }
}

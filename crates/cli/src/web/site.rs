//! Where the pages of a server are, and in which language one is wanted.

use std::fmt::Write as _;

use tidegate_core::text::lang::Lang;

use crate::bilingual::Bilingual;

/// All pages have addresses below the token. There is no cookie that another page of the browser could use.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) token: String,
    pub(crate) lang: Lang,
    /// The reader chose another language than the browser's: links keep it.
    pub(crate) is_chosen: bool,
    /// Size of the journal before the page was made.
    pub(crate) known: u64,
}

impl Site {
    /// The address of a page, such as `session/91b38a40`. A part that others wrote has to go through [`escape`] before.
    pub(crate) fn link(&self, page: &str) -> String {
        let mut link = format!("/{}/{page}", self.token);
        if self.is_chosen {
            link.push(if page.contains('?') { '&' } else { '?' });
            link.push_str("lang=");
            link.push_str(code(self.lang));
        }
        link
    }

    /// For files that have no language.
    pub(crate) fn file(&self, name: &str) -> String {
        format!("/{}/{name}", self.token)
    }

    pub(crate) fn say<'t>(&self, text: &'t Bilingual) -> &'t str {
        text.get(self.lang)
    }
}

/// As HTML names it.
pub(crate) fn code(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "en",
        Lang::Ja => "ja",
    }
}

/// As one part of a path, or as a value in a query.
pub(crate) fn escape(part: &str) -> String {
    let mut escaped = String::with_capacity(part.len());
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// Japanese where the browser asks for it before English.
pub(crate) fn preferred_lang(accepted: Option<&str>, fallback: Lang) -> Lang {
    let mut wanted = accepted.unwrap_or_default().split(',').map(|part| part.trim().to_ascii_lowercase());
    let known = |part: String| match part.get(..2) {
        Some("ja") => Some(Lang::Ja),
        Some("en") => Some(Lang::En),
        _ => None,
    };
    wanted.find_map(known).unwrap_or(fallback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_keep_the_chosen_language() {
        let mut site = Site { token: "t0".to_owned(), lang: Lang::Ja, is_chosen: false, known: 0 };
        assert_eq!(site.link("memory?q=x"), "/t0/memory?q=x");
        site.is_chosen = true;
        assert_eq!(site.link("memory?q=x"), "/t0/memory?q=x&lang=ja");
        assert_eq!(site.link(""), "/t0/?lang=ja");
        assert_eq!(site.file("style.css"), "/t0/style.css");
    }

    #[test]
    fn parts_of_others_stay_parts() {
        assert_eq!(escape("a-b_1"), "a-b_1");
        assert_eq!(escape("../x?y=1&z#\"設"), "%2E%2E%2Fx%3Fy%3D1%26z%23%22%E8%A8%AD");
    }

    #[test]
    fn the_browser_says_the_language() {
        assert_eq!(preferred_lang(Some("ja,en-US;q=0.8"), Lang::En), Lang::Ja);
        assert_eq!(preferred_lang(Some("de-DE, en;q=0.8, ja"), Lang::Ja), Lang::En);
        assert_eq!(preferred_lang(Some("fr"), Lang::Ja), Lang::Ja);
        assert_eq!(preferred_lang(None, Lang::En), Lang::En);
    }
}

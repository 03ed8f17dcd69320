//! The frame of every page: head, navigation, footer.

use std::borrow::Cow;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use tidegate_core::text::hidden::show_hidden;

use super::bars;
use super::site::{Site, code};
use crate::bilingual::{Bilingual, both};
use tidegate_core::text::lang::Lang;

const STYLE: &str = include_str!("style.css");

/// The parts of the server, in the order of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Sessions,
    Memory,
    Work,
    Report,
}

impl Part {
    const ALL: [Part; 4] = [Part::Sessions, Part::Memory, Part::Work, Part::Report];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Part::Sessions => "",
            Part::Memory => "memory",
            Part::Work => "work",
            Part::Report => "report",
        }
    }

    fn title(self) -> Bilingual {
        match self {
            Part::Sessions => both!("Sessions", "セッション"),
            Part::Memory => both!("Memory", "記憶"),
            Part::Work => both!("Stages and workflows", "ステージとワークフロー"),
            Part::Report => both!("Report", "レポート"),
        }
    }
}

/// A page of the server. `address` is its own, for the link to the other language.
pub(crate) fn served(site: &Site, part: Part, address: &str, title: &str, body: &Markup) -> Markup {
    let other = Site {
        lang: if site.lang == Lang::Ja { Lang::En } else { Lang::Ja },
        is_chosen: true,
        ..site.clone()
    };
    let page = html! {
        (DOCTYPE)
        html lang=(code(site.lang)) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Tidegate" }
                link rel="icon" href=(site.file("icon.svg")) type="image/svg+xml";
                link rel="stylesheet" href=(site.file("style.css"));
                script src=(site.file("live.js")) defer {}
            }
            body data-live=(site.file("live")) data-known=(site.known) {
                (bars::patterns())
                a.skip href="#main" { (site.say(&both!("Skip to the content", "本文へ移動"))) }
                header {
                    a.name href=(site.link("")) { "Tidegate" }
                    nav aria-label=(site.say(&both!("Parts", "ページ"))) {
                        @for one in Part::ALL {
                            a href=(site.link(one.path())) aria-current=[(one == part).then_some("page")] {
                                (site.say(&one.title()))
                            }
                        }
                    }
                    form.search role="search" action=(site.file("memory")) method="get" {
                        @if site.is_chosen { input type="hidden" name="lang" value=(code(site.lang)); }
                        label.hidden for="q" { (site.say(&both!("Search the memory", "記憶を検索"))) }
                        input #q type="search" name="q" placeholder=(site.say(&both!("Search the memory", "記憶を検索")));
                        button { (site.say(&both!("Search", "検索"))) }
                    }
                    a.lang lang=(code(other.lang)) hreflang=(code(other.lang)) href=(other.link(address)) {
                        (if other.lang == Lang::Ja { "日本語" } else { "English" })
                    }
                }
                main #main tabindex="-1" { (body) }
                footer {
                    p {
                        (site.say(&both!(
                            "Only this machine can open these pages. They change nothing; commands do.",
                            "これらのページを開けるのはこのマシンだけです。ページから変更されるものはありません。操作はコマンドで行います。"
                        )))
                        " " span #live {}
                    }
                }
            }
        }
    };
    plain(page)
}

/// Every page passes here, so that no text of others hides characters or turns a line around.
fn plain(page: Markup) -> Markup {
    match show_hidden(&page.0) {
        Cow::Borrowed(_) => page,
        Cow::Owned(shown) => PreEscaped(shown),
    }
}

/// How every page in a file begins, in each language: the mark by which Tidegate knows its own.
pub(super) const BEGINNINGS: [&str; 2] = [
    "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"generator\" content=\"Tidegate\">",
    "<!DOCTYPE html><html lang=\"ja\"><head><meta charset=\"utf-8\"><meta name=\"generator\" content=\"Tidegate\">",
];

/// A page of its own, in one file, without any request.
pub(crate) fn alone(lang: Lang, title: &str, body: &Markup) -> String {
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    let page = html! {
        (DOCTYPE)
        html lang=(code(lang)) {
            head {
                meta charset="utf-8";
                meta name="generator" content="Tidegate";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body.alone { (bars::patterns()) main { (body) } }
        }
    };
    plain(page).into_string()
}

/// The files that pages name.
pub(super) fn file(name: &str) -> Option<(&'static str, &'static str)> {
    match name {
        "style.css" => Some(("text/css; charset=utf-8", STYLE)),
        "live.js" => Some(("text/javascript; charset=utf-8", include_str!("live.js"))),
        "icon.svg" => Some(("image/svg+xml", include_str!("icon.svg"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_in_a_file_begins_with_its_mark() {
        for (lang, beginning) in [Lang::En, Lang::Ja].into_iter().zip(BEGINNINGS) {
            assert!(alone(lang, "x", &html! {}).starts_with(beginning));
        }
    }

    #[test]
    fn names_of_others_are_plain_on_every_page() {
        let name = "shop\u{202e}\u{1b}[31m\u{200b}";
        let site = Site { token: "t0".to_owned(), lang: Lang::En, is_chosen: false, known: 0 };
        let body = html! { h1 { (name) } };
        for page in [alone(Lang::En, name, &body), served(&site, Part::Work, "", name, &body).into_string()] {
            assert!(!page.contains(['\u{202e}', '\u{1b}', '\u{200b}']), "{page}");
            assert_eq!(page.matches("shop\\u{202e}\\u{1b}[31m\\u{200b}").count(), 2, "{page}");
        }
    }
}

//! Exchanges, decisions and topics: newest first, or those that a search finds.

use std::collections::BTreeMap;

use maud::{Markup, html};
use tidegate_memory::act;
use tidegate_memory::memory;
use tidegate_memory::store::Store;
use tidegate_memory::view::{Filter, Hit, HitKind, Log, Page as RowPage, Query};

use super::{Asked, Shown, ViewError, Viewing};
use crate::bilingual::{Bilingual, both};
use crate::command::memory::row_words::{ShownRow, decision_row, log_row, topic_row};
use crate::command::memory::show::{decision_page, log_page, read_topic, topic_page};
use crate::print::text::{Text, data, marked_words};
use crate::web::document::Part;
use crate::web::site::escape;

/// Rows on a page.
const ROWS: usize = 30;

type Title = fn() -> Bilingual;

/// The lists, by the value in the address.
const LISTS: [(&str, Title); 3] = [
    ("exchanges", || both!("Exchanges", "やりとり")),
    ("decisions", || both!("Decisions", "決定")),
    ("topics", || both!("Topics", "トピック")),
];

/// `None` before anything was recorded.
pub(super) fn look<T>(
    viewing: &Viewing<'_>,
    read: impl FnMut(&mut dyn Store) -> Result<T, ViewError>,
) -> Result<Option<T>, ViewError> {
    let mut read = read;
    memory::look(&viewing.here.env.place, |store| read(store))
}

pub(super) fn show_list(viewing: &Viewing<'_>, asked: &Asked) -> Result<Shown, ViewError> {
    let words = asked.q.as_deref().map(str::trim).filter(|words| !words.is_empty());
    let list = asked
        .list
        .as_deref()
        .filter(|list| LISTS.iter().any(|(name, _)| name == list))
        .unwrap_or("exchanges");
    let title = both!("Memory", "記憶");
    let found = look(viewing, |memory| match words {
        Some(words) => search(viewing, memory, words),
        None => rows(viewing, memory, list, asked.after.clone()),
    })?;
    let found = found.unwrap_or_else(|| {
        nothing(
            viewing,
            &both!(
                "Nothing is recorded yet. `tidegate memory import` adds past conversations.",
                "まだ何も記録されていません。`tidegate memory import` で過去の会話を追加できます。"
            ),
        )
    });
    let body = html! {
        h1 { (viewing.say(&title)) }
        form.large role="search" method="get" action=(viewing.site.file("memory")) {
            @if viewing.site.is_chosen { input type="hidden" name="lang" value=(crate::web::site::code(viewing.site.lang)); }
            label for="words" { (viewing.say(&both!("Words or a question, in English or Japanese", "言葉または質問（日本語・英語）"))) }
            div {
                input #words type="search" name="q" value=[words];
                button { (viewing.say(&both!("Search", "検索"))) }
            }
        }
        nav.lists aria-label=(viewing.say(&both!("Lists", "一覧"))) {
            @for (name, title) in LISTS {
                a href=(viewing.site.link(&format!("memory?list={name}")))
                    aria-current=[(words.is_none() && name == list).then_some("page")] { (viewing.say(&title())) }
            }
        }
        (found)
    };
    let address = match words {
        Some(words) => format!("memory?q={}", escape(words)),
        None => format!("memory?list={list}"),
    };
    Ok(Shown { part: Part::Memory, address, title: viewing.say(&title).to_owned(), body })
}

fn nothing(viewing: &Viewing<'_>, text: &Bilingual) -> Markup {
    html! { p.dim { (viewing.show(text)) } }
}

fn search(viewing: &Viewing<'_>, memory: &mut dyn Store, words: &str) -> Result<Markup, ViewError> {
    let local = Some(viewing.clock.local_time());
    let query = Query { text: words.to_owned(), limit: ROWS, local, ..Query::default() };
    let found = memory.search(&query)?;
    let hits = act::with_authors(memory, found.hits, &BTreeMap::default())?;
    if hits.is_empty() {
        return Ok(nothing(
            viewing,
            &both!(
                "Nothing found. Try fewer or other words.",
                "見つかりませんでした。言葉を減らすか、変えてみてください。"
            ),
        ));
    }
    Ok(html! {
        ol.rows { @for found in &hits { li { (hit_row(viewing, &found.hit, found.by.as_deref())) } } }
        @if !found.without.is_empty() {
            p.dim { (viewing.say(&both!(
                "Without: {words}. No result has this.",
                "除いた言葉: {words}。どの結果にもありません。",
                words = found.without.join(", ")
            ))) }
        }
    })
}

fn hit_row(viewing: &Viewing<'_>, hit: &Hit, author: Option<&str>) -> Markup {
    let (page, kind) = match hit.kind {
        HitKind::Log => (Some("exchange"), both!("exchange", "やりとり")),
        HitKind::Decision => (Some("decision"), both!("decision", "決定")),
        HitKind::Topic => (Some("topic"), both!("topic", "トピック")),
        HitKind::Stock => (None, both!("learning", "学び")),
        HitKind::Progress => (None, both!("progress note", "作業メモ")),
    };
    let link = page.map(|page| viewing.site.link(&format!("{page}/{}", escape(&hit.id))));
    let at = tidegate_core::time::Millis::from_iso(&hit.at);
    html! {
        @match link {
            Some(link) => a href=(link) { (data(&hit.title).html(viewing.site.lang)) },
            None => strong { (data(&hit.title).html(viewing.site.lang)) },
        }
        p.dim {
            (viewing.say(&kind))
            @if let Some(author) = author { " · " (data(author).html(viewing.site.lang)) }
            @if let Some(project) = &hit.project { " · " (data(project).html(viewing.site.lang)) }
            @if let Some(at) = at { " · " (viewing.time(at)) }
        }
        @if !hit.snippet.is_empty() { p { (marked_words(&hit.snippet).html(viewing.site.lang)) } }
    }
}

fn rows(
    viewing: &Viewing<'_>,
    memory: &mut dyn Store,
    list: &str,
    after: Option<String>,
) -> Result<Markup, ViewError> {
    let (filter, page) = (Filter::default(), RowPage { limit: ROWS, after });
    let clock = &viewing.clock;
    let (shown, next) = match list {
        "decisions" => {
            let found = memory.decisions(&filter, &page)?;
            let rows =
                found.rows.iter().map(|row| (format!("decision/{}", row.id), decision_row(clock, row)));
            (list_rows(viewing, rows), found.next)
        }
        "topics" => {
            let found = memory.topics(&filter, &page)?;
            let rows = found.rows.iter().map(|row| (format!("topic/{}", row.id), topic_row(clock, row)));
            (list_rows(viewing, rows), found.next)
        }
        _ => {
            let found = memory.logs(&filter, &page)?;
            (log_list(viewing, &found.rows), found.next)
        }
    };
    Ok(html! {
        (shown)
        @if let Some(next) = next {
            p { a href=(viewing.site.link(&format!("memory?list={list}&after={}", escape(&next)))) {
                (viewing.say(&both!("Older", "以前のもの")))
            } }
        }
    })
}

pub(super) fn log_list(viewing: &Viewing<'_>, logs: &[Log]) -> Markup {
    let rows =
        logs.iter().map(|log| (format!("exchange/{}", escape(&log.row.uid)), log_row(&viewing.clock, log)));
    list_rows(viewing, rows)
}

fn list_rows(viewing: &Viewing<'_>, rows: impl Iterator<Item = (String, ShownRow)>) -> Markup {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return nothing(viewing, &both!("Nothing to list.", "表示するものがありません。"));
    }
    html! {
        ol.rows {
            @for (page, row) in rows {
                li {
                    a href=(viewing.site.link(&page)) { (data(&row.title).html(viewing.site.lang)) }
                    p.dim { (Text::from(row.details()).html(viewing.site.lang)) }
                }
            }
        }
    }
}

pub(super) fn show_one(viewing: &Viewing<'_>, page: &str, id: &str) -> Result<Shown, ViewError> {
    let number = || id.parse::<i64>().map_err(|_| ViewError::Missing);
    let shown = look(viewing, |memory| {
        Ok(match page {
            "exchange" => log_page(&act::find_log(memory, id)?, &viewing.clock),
            "decision" => {
                let decision = act::find_decision(memory, number()?)?;
                let earlier = act::earlier_wordings(memory, &decision)?;
                decision_page(&decision, &earlier, &viewing.clock)
            }
            _ => {
                let topic = act::find_topic(memory, number()?)?;
                topic_page(&read_topic(memory, topic)?, &viewing.clock)
            }
        })
    })?;
    let shown = shown.ok_or(ViewError::Missing)?;
    let title = both!("Memory", "記憶");
    let body = html! {
        p { a href=(viewing.site.link("memory")) { (viewing.say(&title)) } }
        div.entry { (shown.html(viewing.site.lang)) }
    };
    let address = format!("{page}/{}", escape(id));
    Ok(Shown { part: Part::Memory, address, title: viewing.say(&title).to_owned(), body })
}

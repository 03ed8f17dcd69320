//! One file per page: what it shows, read anew for each request.

mod event;
mod memory;
mod report;
mod session;
mod sessions;
mod work;

use std::borrow::Cow;

use axum::http::StatusCode;
use maud::{Markup, html};
use serde::Deserialize;
use tidegate_core::pipeline::record::Record;
use tidegate_core::text::hidden::show_name;
use tidegate_core::time::Millis;
use tidegate_memory::error::{Error as MemoryError, ErrorKind};

use super::document::{Part, served};
use super::site::{Site, escape};
use crate::bilingual::{Bilingual, both};
use crate::command::record_words::headline;
use crate::error::CliError;
use crate::local_time::LocalClock;
use crate::memory_trouble::describe_trouble;
use crate::print::text::Text;
use crate::recent::last_readings::LastReadings;
use crate::recent::{RecentSessions, SmallCurves};
use crate::sessions::Here;

/// What an address asks for behind its question mark.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    /// Words to search for.
    q: Option<String>,
    /// Which list of the memory.
    list: Option<String>,
    after: Option<String>,
    days: Option<String>,
    /// The number of rows before the first one.
    from: Option<String>,
}

#[derive(Debug)]
pub(super) enum ViewError {
    Missing,
    /// Another process is changing the memory, for example to bring it up to date.
    Busy,
    Failed(CliError),
}

impl ViewError {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            ViewError::Missing => StatusCode::NOT_FOUND,
            ViewError::Busy => StatusCode::SERVICE_UNAVAILABLE,
            ViewError::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<CliError> for ViewError {
    fn from(error: CliError) -> ViewError {
        ViewError::Failed(error)
    }
}

impl From<MemoryError> for ViewError {
    fn from(error: MemoryError) -> ViewError {
        match error.kind {
            ErrorKind::Busy => ViewError::Busy,
            ErrorKind::Missing => ViewError::Missing,
            _ => ViewError::Failed(describe_trouble(error)),
        }
    }
}

/// In place of what the memory would show.
fn busy_words() -> Bilingual {
    both!(
        "Another Tidegate process is changing the memory, for example after an update. Nothing is lost. Open this page \
         again in a moment.",
        "別の Tidegate プロセスが記憶を変更しています（更新直後など）。何も失われていません。少し待って、このページを開き直してください。"
    )
}

/// What the server read of the journal.
pub(super) struct Seen<'a> {
    pub(super) recent: RecentSessions,
    /// `None` while they are read.
    pub(super) small_curves: Option<&'a SmallCurves>,
    pub(super) readings: &'a LastReadings,
}

/// What every page starts from.
struct Viewing<'a> {
    site: &'a Site,
    here: Here,
    clock: LocalClock,
    seen: Seen<'a>,
}

/// A page with its title, and where it is.
struct Shown {
    part: Part,
    address: String,
    title: String,
    body: Markup,
}

pub(super) fn show<'a>(
    site: &'a Site,
    here: Here,
    seen: Seen<'a>,
    page: &str,
    id: &str,
    asked: &Asked,
) -> Result<Markup, ViewError> {
    let clock = LocalClock::of_system(here.now);
    let viewing = Viewing { site, here, clock, seen };
    let shown = match (page, id) {
        ("", "") => sessions::show(&viewing, asked),
        ("session", id) => session::show(viewing, id)?,
        ("event", id) => event::show(&viewing, id)?,
        ("memory", "") => memory::show_list(&viewing, asked)?,
        ("exchange" | "decision" | "topic", id) => memory::show_one(&viewing, page, id)?,
        ("work", "") => work::show(viewing),
        ("report", "") => report::show(&viewing, asked)?,
        _ => return Err(ViewError::Missing),
    };
    Ok(served(site, shown.part, &shown.address, &shown.title, &shown.body))
}

pub(super) fn show_error(site: &Site, error: &ViewError) -> Markup {
    let (title, text) = match error {
        ViewError::Missing => (
            both!("Not found", "見つかりません"),
            both!(
                "There is no such page, or what it showed is gone.",
                "このページは存在しないか、内容が削除されています。"
            ),
        ),
        ViewError::Busy => (both!("The memory is in use", "記憶は使用中です"), busy_words()),
        ViewError::Failed(_) => {
            (both!("This page cannot be shown", "このページを表示できません"), Bilingual::default())
        }
    };
    let body = html! {
        h1 { (site.say(&title)) }
        @match error {
            ViewError::Failed(error) => (trouble(site, error)),
            ViewError::Missing | ViewError::Busy => p { (site.say(&text)) },
        }
        p { a href=(site.link("")) { (site.say(&both!("Back to the sessions", "セッション一覧に戻る"))) } }
    };
    served(site, Part::Sessions, "", site.say(&title), &body)
}

/// With the command that fixes it, if there is one.
fn trouble(site: &Site, error: &CliError) -> Markup {
    let texts = [Some(&error.message), error.hint.as_ref()];
    html! { @for text in texts.into_iter().flatten() { p { (Text::from(text.clone()).html(site.lang)) } } }
}

impl Viewing<'_> {
    fn say<'t>(&self, text: &'t Bilingual) -> &'t str {
        self.site.say(text)
    }

    /// A text in which a command is code.
    fn show(&self, text: &Bilingual) -> Markup {
        Text::from(text.clone()).html(self.site.lang)
    }

    fn time(&self, at: Millis) -> Markup {
        html! { time datetime=(at.iso()) { (self.clock.minute(at)) } }
    }

    /// What happened, in the words of `tidegate log`, each with a link to its explanation.
    fn event_line(&self, record: &Record) -> Option<Markup> {
        let headline = headline(record)?;
        let at = Millis::from_iso(&record.at).unwrap_or_default();
        Some(html! {
            (self.time(at)) " "
            a href=(self.site.link(&format!("event/{}", escape(&record.id)))) { (headline.html(self.site.lang)) }
        })
    }
}

/// The last part of a folder's path.
fn folder_name(path: &str) -> Cow<'_, str> {
    show_name(path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(path))
}

//! One event, as `tidegate explain` tells it.

use maud::html;
use tidegate_state::journal;

use super::{Shown, ViewError, Viewing};
use crate::bilingual::both;
use crate::command::explain::explain_page;
use crate::error::CliError;
use crate::web::document::Part;
use crate::web::site::escape;

pub(super) fn show(viewing: &Viewing<'_>, id: &str) -> Result<Shown, ViewError> {
    let found = journal::find_record(&viewing.here.state.journal(), id).map_err(CliError::from)?;
    let record = found.ok_or(ViewError::Missing)?;
    let title = both!("Event", "出来事");
    let back =
        record.session.as_deref().map(|session| viewing.site.link(&format!("session/{}", escape(session))));
    let body = html! {
        h1 { (viewing.say(&title)) " " small { code { (record.id) } } }
        (explain_page(&record, &viewing.clock).html(viewing.site.lang))
        @if let Some(back) = back { p { a href=(back) { (viewing.say(&both!("The session", "このセッション"))) } } }
    };
    let address = format!("event/{}", escape(id));
    Ok(Shown { part: Part::Sessions, address, title: viewing.say(&title).to_owned(), body })
}

//! What Tidegate did and what it cost, over all projects.

use maud::html;

use super::{Asked, Shown, ViewError, Viewing};
use crate::bilingual::both;
use crate::command::report;
use crate::web::document::Part;

/// Spans that the page offers.
const SPANS: [u64; 3] = [1, 7, 30];

pub(super) fn show(viewing: &Viewing<'_>, asked: &Asked) -> Result<Shown, ViewError> {
    let wished = asked.days.as_deref().and_then(|days| days.parse().ok());
    let days = wished.filter(|days| SPANS.contains(days)).unwrap_or(7);
    let title = both!("Report", "レポート");
    let report = report::read_all(&viewing.here, days)?;
    let body = html! {
        h1 { (viewing.say(&title)) }
        nav.lists aria-label=(viewing.say(&both!("Time", "期間"))) {
            @for span in SPANS {
                a href=(viewing.site.link(&format!("report?days={span}"))) aria-current=[(span == days).then_some("page")] {
                    (viewing.say(&if span == 1 { both!("today", "今日") } else { both!("{span} days", "{span}日間") }))
                }
            }
        }
        p { strong { (viewing.say(&report.finding())) } }
        (report.html(&viewing.clock, viewing.site.lang))
    };
    let address = format!("report?days={days}");
    Ok(Shown { part: Part::Report, address, title: viewing.say(&title).to_owned(), body })
}

//! The tool `timeline`: logs and decisions in order of time.

use std::cmp::Reverse;

use serde_json::{Value, json};
use tidegate_core::time::Millis;
use tidegate_memory::view::{Filter, Page, Paged};

use super::arguments::{Scope, Which};
use super::schema::{self, text};
use super::{Does, Done, Tool, parse_arguments, rows};
use crate::command::mcp::memory::Memory;
use crate::error::CliError;

pub(super) const TOOL: Tool = Tool { name: "timeline", definition, does: Does::Looks(call) };

fn definition() -> Value {
    let entry = schema::object(
        json!({
            "kind": { "type": "string", "enum": ["log", "decision"] },
            "id": text("Its id, for `log_id` or `decision_id`"),
            "at": text("When, UTC"),
            "title": text("One line"),
            "topic": rows::topic_ref_schema(),
            "project": rows::project_ref_schema(),
        }),
        &["kind", "id", "at", "title", "topic", "project"],
    );
    json!({
        "title": "Timeline",
        "description": "List logs and decisions of a project, topic or session together, newest first, one line each.",
        "inputSchema": schema::object(Value::Object(Which::members()), &[]),
        "outputSchema": rows::page_schema("entries", &entry, "What happened"),
        "annotations": schema::reads(),
    })
}

struct TimelineEntry {
    at: Millis,
    row: Value,
    line: String,
}

fn call(given: Value, memory: Option<&mut Memory>) -> Done {
    let which: Which = parse_arguments(given)?;
    let nothing = "Nothing happened then.";
    let Some(memory) = memory else { return Ok(rows::empty_page("entries", nothing)) };
    let filter = match which.scope(memory)? {
        Scope::NothingYet(why) => return Ok(rows::empty_page("entries", &why)),
        Scope::Of(filter) => filter,
    };
    let page = which.page();
    let from = page.after.as_deref().map(PageEnd::read).transpose()?;
    let paged = merge_entries(memory, filter, page.limit, from)?;
    Ok(rows::page_content("entries", &paged, |entry| entry.row.clone(), |entry| entry.line.clone(), nothing))
}

/// End of a page: its time, and how many entries of that time were shown.
#[derive(Clone, Copy)]
struct PageEnd {
    at: Millis,
    shown: usize,
}

impl PageEnd {
    fn read(text: &str) -> Result<PageEnd, CliError> {
        let parts =
            text.split_once('.').and_then(|(at, shown)| Some((at.parse().ok()?, shown.parse().ok()?)));
        let place =
            parts.filter(|(_, shown)| *shown <= 10_000).map(|(at, shown)| PageEnd { at: Millis(at), shown });
        place.ok_or_else(|| {
            CliError::new("`after` is not the `next` of a page")
                .hint("pass the `next` of the page before unchanged, or leave `after` out")
        })
    }
}

/// Merges both lists as far as a page needs them.
fn merge_entries(
    memory: &mut Memory,
    mut filter: Filter,
    limit: usize,
    from: Option<PageEnd>,
) -> Result<Paged<TimelineEntry>, CliError> {
    filter.all = true;
    if let Some(place) = from {
        let end = Millis(place.at.0.saturating_add(1));
        filter.until = Some(filter.until.map_or(end, |until| until.min(end)));
    }
    let shown = from.map_or(0, |place| place.shown);
    let page = Page { limit: limit + shown + 1, after: None };
    let logs = memory.store().logs(&filter, &page)?.rows;
    let decisions = memory.store().decisions(&filter, &page)?.rows;
    let of_logs = logs.iter().map(|log| TimelineEntry {
        at: log.row.at,
        row: json!({
            "kind": "log", "id": log.row.uid, "at": log.row.at.iso_seconds(), "title": rows::cut_line(&log.row.title),
            "topic": rows::topic_ref(&log.in_topic), "project": rows::project_ref(&log.in_project),
        }),
        line: format!("log {}", rows::log_line(log)),
    });
    let of_decisions = decisions.iter().map(|decision| TimelineEntry {
        at: decision.row.created,
        row: json!({
            "kind": "decision", "id": decision.id.to_string(), "at": decision.row.created.iso_seconds(),
            "title": rows::cut_decision(&decision.row.text),
            "topic": rows::topic_ref(&decision.in_topic), "project": rows::project_ref(&decision.in_project),
        }),
        line: format!("decision {}", rows::decision_line(decision)),
    });
    let mut all: Vec<TimelineEntry> = of_decisions.chain(of_logs).collect();
    all.sort_by_key(|entry| Reverse(entry.at));
    let shown_already = all.iter().take_while(|entry| from.is_some_and(|place| entry.at == place.at)).count();
    let mut rest: Vec<TimelineEntry> = all.split_off(shown.min(shown_already));
    let more = rest.len() > limit;
    rest.truncate(limit);
    let next = rest.last().filter(|_| more).map(|last| {
        let same = rest.iter().rev().take_while(|entry| entry.at == last.at).count();
        let before = from.filter(|place| place.at == last.at).map_or(0, |place| place.shown);
        format!("{}.{}", last.at.0, same + before)
    });
    Ok(Paged { rows: rest, next })
}

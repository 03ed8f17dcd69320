//! Reads what the board shows.

use std::collections::BTreeMap;
use std::path::Path;

use tidegate_core::feature::verification::work::ChangeSet;
use tidegate_core::pipeline::record::MeterRecord;
use tidegate_hook::host::claude_code::client;
use tidegate_memory::act;
use tidegate_memory::error::Error as MemoryError;
use tidegate_memory::memory;
use tidegate_memory::store::Store;
use tidegate_memory::view::{Filter, Page as RowPage, Query};
use tidegate_state::feature::cycle;
use tidegate_state::feature::memory::spool;
use tidegate_state::project::memory_project;

use super::board::{Board, SessionRow};
use crate::bilingual::both;
use crate::command::memory::row_words::decision_row;
use crate::command::memory::search::hits_page;
use crate::error::CliError;
use crate::local_time::LocalClock;
use crate::memory_trouble::describe_trouble;
use crate::print::page::Page;
use crate::recent::Recent;
use crate::sessions::{Here, Session};

/// Sessions that are looked at.
const MOST: usize = 40;
const DECISIONS: usize = 3;

pub(super) fn refresh(board: &mut Board, here: &Here, recent: &Recent) {
    board.put_rows(here.newest(MOST).into_iter().map(|session| row_of(here, recent, session)).collect());
    board.queue = spool::list(&here.state).map_or(0, |jobs| jobs.len());
    let root = board.row().and_then(|row| row.root.clone());
    // Without a memory, or with one that is being rebuilt, there is nothing to show.
    board.decisions = root.and_then(|root| read_decisions(here, Path::new(&root)).ok()).unwrap_or_default();
}

fn row_of(here: &Here, recent: &Recent, session: Session) -> SessionRow {
    let known = recent.sessions.get(session.id.as_str());
    let (meter, forecast) = here.meter(Some(&session), None);
    let mut curve = known.map(|known| known.curve.clone()).unwrap_or_default();
    curve.continue_to(meter.reading());
    let marks = session.marks;
    SessionRow {
        is_open: cycle::is_live(&here.state, session.id.as_str(), here.now, client::is_running),
        root: marks.session.root.or_else(|| known.and_then(|known| known.project.clone())),
        last: known.map(|known| known.last).or(marks.session.attached),
        curve,
        meter: MeterRecord::from_meter(&meter, forecast, here.now),
        unchecked: marks.verification.changes.as_ref().map_or(0, ChangeSet::count),
        events: known.map(|known| known.events.iter().rev().cloned().collect()).unwrap_or_default(),
        id: session.id.to_string(),
    }
}

fn read_decisions(here: &Here, root: &Path) -> Result<Vec<String>, MemoryError> {
    let clock = LocalClock::of_system(here.now);
    let found = memory::look::<_, MemoryError>(&here.env.place, |memory| {
        let Some(project) = act::find_own_project(memory, Some(&memory_project(root)))? else {
            return Ok(Vec::new());
        };
        let filter = Filter { project: Some(project.id), ..Filter::default() };
        let found = memory.decisions(&filter, &RowPage { limit: DECISIONS, after: None })?;
        Ok(found.rows.iter().map(|row| decision_row(&clock, row).title).collect())
    })?;
    Ok(found.unwrap_or_default())
}

pub(super) fn search(here: &Here, words: &str) -> Result<Page, CliError> {
    let clock = LocalClock::of_system(here.now);
    let query = Query { text: words.to_owned(), local: Some(clock.local_time()), ..Query::default() };
    let found = memory::look::<_, MemoryError>(&here.env.place, |memory| {
        let found = memory.search(&query)?;
        Ok((act::with_authors(memory, found.hits, &BTreeMap::default())?, found.without))
    });
    Ok(match found.map_err(describe_trouble)? {
        Some((hits, without)) if !hits.is_empty() => hits_page(&clock, &hits, &without),
        _ => Page::of(both!("Nothing found.", "見つかりませんでした。")),
    })
}

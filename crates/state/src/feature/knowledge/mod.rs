//! Flow and stock on disk: read leniently, written so that nothing is lost.

pub mod boundary;
pub mod handoff;
pub mod json;
pub mod known;
pub mod listed;
pub mod memory;
pub mod read;
pub mod write;

use std::io;
use std::path::Path;

use tidegate_core::feature::facts::Facts;
use tidegate_core::feature::knowledge::boundary::Boundary;
use tidegate_core::feature::knowledge::compaction::KEPT_ENTRIES;
use tidegate_core::feature::knowledge::effect::Effect;
use tidegate_core::feature::knowledge::facts::{Knowledge, Needs};
use tidegate_core::feature::knowledge::flow;
use tidegate_core::time::Millis;

use crate::feature::Where;
use crate::host::transcript;
use json::{ConfidenceSummary, LastCompact, ProgressSummary, SurvivalSummary};
use read::Folder;

pub(super) fn read_facts(facts: &mut Facts<'_>, needs: Needs, here: &Where<'_>) {
    let known = &mut facts.knowledge;
    if needs.boundary {
        known.boundary = boundary::read(here.folder);
    }
    if needs.preserved
        && let (Some(boundary), Some(path)) = (&known.boundary, facts.event.transcript.as_deref())
    {
        known.preserved =
            transcript::preserved(facts.event.host, Path::new(path), boundary.noted, here.in_time);
    }
    if needs.flow_changed {
        known.flow_changed = here.root.and_then(Folder::of).and_then(|folder| folder.modified(flow::FILE));
    }
    if needs.files {
        known.files = files(facts.marks.value().and_then(|marks| marks.session.began), here);
    }
}

/// Flow and stock of the project.
fn files(began: Option<Millis>, here: &Where<'_>) -> Option<Knowledge> {
    let folder = Folder::of(here.root?)?;
    Some(known::knowledge(here.state, &folder, &known::texts(&folder), began, here.now))
}

pub(super) fn carry_out(effect: &Effect, here: &Where<'_>) -> io::Result<()> {
    match effect {
        Effect::NoteBoundary(noted) => boundary::write(here.folder, noted),
        Effect::PublishCompaction(boundary) => publish_compaction(boundary, here),
        Effect::TidyFlow => {
            let (state, folder) = (here.state()?, Folder::of(here.root()?));
            folder.map_or(Ok(()), |folder| write::trim(state, &folder, KEPT_ENTRIES, here.now).map(drop))
        }
        Effect::Nudged(set) => memory::remember_nudged(here.state()?, here.root()?, *set).map(drop),
    }
}

/// `last-compact.json`, where the project has that folder.
fn publish_compaction(boundary: &Boundary, here: &Where<'_>) -> io::Result<()> {
    let Some(folder) = Folder::of(here.root()?) else { return Ok(()) };
    let number = |count: usize| count as u64;
    let compact = LastCompact {
        timestamp: boundary.noted.iso_seconds(),
        session_id: Some(here.session.to_string()),
        compound_run: boundary.all_promoted(),
        trigger: Some(boundary.trigger.clone()),
        progress_summary: ProgressSummary {
            entry_count: number(boundary.entries),
            recent_headings: boundary.headings.clone(),
        },
        confidence_summary: ConfidenceSummary {
            total_entries: number(boundary.confidence.total),
            avg_confirmed: boundary.confidence.average,
            unverified_count: number(boundary.confidence.unverified),
        },
        survival: boundary.survival.as_ref().map(|survival| SurvivalSummary {
            kept: number(survival.kept),
            of: number(survival.of),
            lost: survival.lost.iter().map(|fact| fact.text.clone()).collect(),
        }),
    };
    // What became of a boundary is known later than that it was; another session may have had one since.
    let newer = |last: &LastCompact| {
        last.session_id != compact.session_id
            && Millis::from_iso(&last.timestamp).is_some_and(|at| at > boundary.noted)
    };
    if boundary.survival.is_some() && json::last_compact(&folder).value().is_some_and(newer) {
        return Ok(());
    }
    json::write_last_compact(&folder, &compact)
}

//! Flow and stock on disk: read leniently, written without losses.
//!
//! Every read is bounded and follows no link out of the project. Writes hold the project's lock in private
//! state, which only Tidegate's processes know. People and models write without it, so [`edit`] starts again
//! if a file changed meanwhile. An entry is in the archive before it leaves the flow: a crash in between
//! leaves it in both, never in none.

pub mod boundary;
pub mod edit;
pub mod facts;
pub mod folder;
pub mod handoff;
pub mod listed;
pub mod promotions;
pub mod public_copies;

use std::io;
use std::path::Path;

use tidegate_core::feature::facts::Facts;
use tidegate_core::feature::knowledge::boundary::Boundary;
use tidegate_core::feature::knowledge::compaction::KEPT_ENTRIES;
use tidegate_core::feature::knowledge::effect::Effect;
use tidegate_core::feature::knowledge::facts::{Knowledge, Needs};
use tidegate_core::feature::knowledge::flow;
use tidegate_core::feature::knowledge::key_facts::{FactKind, KeyFact};
use tidegate_core::time::Millis;

use crate::feature::HookContext;
use crate::host::transcript;
use crate::project::is_known;
use folder::ContextFolder;
use public_copies::{ConfidenceSummary, LastCompact, ProgressSummary, SurvivalSummary};

pub(super) fn read_facts(facts: &mut Facts<'_>, needs: Needs, here: &HookContext<'_>) {
    let known = &mut facts.knowledge;
    if needs.boundary {
        known.boundary = boundary::read(here.folder);
    }
    if needs.preserved
        && let (Some(boundary), Some(path)) = (&known.boundary, facts.event.transcript.as_deref())
    {
        known.preserved =
            transcript::read_preserved(facts.event.host, Path::new(path), boundary.noted, here.in_time);
    }
    if needs.flow_changed {
        known.flow_changed =
            here.root.and_then(ContextFolder::find).and_then(|folder| folder.modified(flow::FILE));
    }
    if needs.files {
        known.takes_no_notes = !here.root.is_some_and(|root| is_known(root, here.place.home.as_deref()));
        let began = facts.marks.value().and_then(|marks| marks.session.began);
        known.files = if known.takes_no_notes { None } else { read_files(began, here) };
    }
}

fn read_files(began: Option<Millis>, here: &HookContext<'_>) -> Option<Knowledge> {
    let root = here.root?;
    let folder = ContextFolder::find(root)?;
    Some(facts::collect(here.state, &folder, &facts::read_texts(&folder), began, here.now))
}

pub(super) fn carry_out(effect: &Effect, here: &HookContext<'_>) -> io::Result<()> {
    match effect {
        Effect::NoteBoundary(noted) => boundary::write(here.folder, noted),
        Effect::PublishCompaction(boundary) => publish_compaction(boundary, here),
        Effect::TidyFlow => {
            let (state, folder) = (here.state()?, ContextFolder::find(here.root()?));
            folder.map_or(Ok(()), |folder| edit::trim(state, &folder, KEPT_ENTRIES, here.now).map(drop))
        }
        Effect::WriteHandoff(work) => handoff::write_now(here, work.clone()),
        Effect::Nudged(set) => promotions::remember_nudged(here.state()?, here.root()?, *set).map(drop),
    }
}

/// The copy lies in the repository: a person's prompt does not belong there.
fn public_text(fact: &KeyFact) -> String {
    match fact.kind {
        FactKind::Stated => "a constraint of the user".to_owned(),
        _ => fact.text.clone(),
    }
}

/// Writes `last-compact.json` if the project has the folder.
fn publish_compaction(boundary: &Boundary, here: &HookContext<'_>) -> io::Result<()> {
    let Some(folder) = ContextFolder::find(here.root()?) else { return Ok(()) };
    let number = |count: usize| count as u64;
    let compact = LastCompact {
        timestamp: boundary.noted.iso_seconds(),
        session_id: Some(here.session.to_string()),
        compound_run: boundary.all_promoted(),
        trigger: Some(boundary.trigger.clone()),
        progress_summary: ProgressSummary {
            entry_count: number(boundary.unpromoted),
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
            lost: survival.lost.iter().map(public_text).collect(),
            given_back: Some(number(survival.given_back)).filter(|given| *given > 0),
        }),
    };
    // The survival is known later than the compaction itself; another session may have compacted since.
    let newer = |last: &LastCompact| {
        last.session_id != compact.session_id
            && Millis::from_iso(&last.timestamp).is_some_and(|at| at > boundary.noted)
    };
    if boundary.survival.is_some() && public_copies::read_last_compact(&folder).value().is_some_and(newer) {
        return Ok(());
    }
    public_copies::write_last_compact(&folder, &compact)
}

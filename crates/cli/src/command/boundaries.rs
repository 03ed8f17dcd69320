//! Compactions in the journal, each with what its summary kept.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_core::pipeline::record::{BoundaryRecord, Record};

/// One compaction.
#[derive(Serialize)]
pub(super) struct Boundary {
    /// Time at which its key facts were noted.
    at: String,
    session: String,
    trigger: String,
    /// Key facts that survived.
    kept: usize,
    of: usize,
    /// Key facts that were named to the summariser.
    named: usize,
    /// Entries of the flow that were not promoted then.
    unpromoted: usize,
    lost: Vec<String>,
}

impl Boundary {
    /// `2026-11-15 11:51 auto: 7 of 9 key facts survived; lost: …`.
    pub(super) fn line(&self) -> String {
        const SHOWN: usize = 3;
        let at = self.at.get(..16).unwrap_or(&self.at).replace('T', " ");
        let facts = if self.of == 1 { "key fact" } else { "key facts" };
        let mut line = format!("{at} {}: {} of {} {facts} survived", self.trigger, self.kept, self.of);
        if !self.lost.is_empty() {
            let shown: Vec<&str> = self.lost.iter().take(SHOWN).map(String::as_str).collect();
            let more = self.lost.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            line = format!("{line}; lost: {}{more}", shown.join(", "));
        }
        line
    }
}

/// Collected as records come in.
#[derive(Default)]
pub(super) struct Boundaries(BTreeMap<(String, String), BoundaryRecord>);

impl Boundaries {
    /// Of several records about one compaction the last counts: the result is complete only later.
    pub(super) fn take(&mut self, record: &Record) {
        let (Some(session), Some(boundary)) = (&record.session, &record.boundary) else { return };
        if boundary.kept.is_some() {
            self.0.insert((boundary.noted.clone(), session.clone()), boundary.clone());
        }
    }

    /// Oldest first. Compactions without noted facts had nothing to lose.
    pub(super) fn finish(self) -> Vec<Boundary> {
        let measured = self.0.into_iter().filter(|(_, boundary)| boundary.of > 0);
        measured
            .map(|((at, session), boundary)| Boundary {
                at,
                session,
                trigger: boundary.trigger,
                kept: boundary.kept.unwrap_or_default(),
                of: boundary.of,
                named: boundary.named,
                unpromoted: boundary.unpromoted,
                lost: boundary.lost,
            })
            .collect()
    }
}

pub(super) fn describe_boundaries(boundaries: &[Boundary]) -> Vec<String> {
    const SHOWN: usize = 5;
    if boundaries.is_empty() {
        return Vec::new();
    }
    let (kept, of) = boundaries.iter().fold((0, 0), |(kept, of), one| (kept + one.kept, of + one.of));
    let compactions = crate::print::format_count(boundaries.len(), "compaction");
    let mut lines =
        vec![format!("{compactions}: {kept} of {of} key facts survived ({}%)", kept * 100 / of.max(1))];
    let skipped = boundaries.len().saturating_sub(SHOWN);
    lines.extend(boundaries.iter().skip(skipped).map(|one| format!("  {}", one.line())));
    lines
}

//! Compactions in the journal, each with what its summary kept.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_core::pipeline::record::{BoundaryRecord, Record};
use tidegate_core::text::hidden::show_name;
use tidegate_core::time::Millis;

use crate::bilingual::{Bilingual, both, count_en};
use crate::local_time::LocalClock;
use crate::print::page::Page;
use crate::print::text::Text;

/// One compaction.
#[derive(Serialize)]
pub(super) struct Boundary {
    /// Time at which its key facts were noted.
    pub(super) at: String,
    session: String,
    trigger: String,
    /// Key facts that survived.
    pub(super) kept: usize,
    pub(super) of: usize,
    /// Key facts that were named to the summariser.
    named: usize,
    /// Entries of the flow that were not promoted then.
    unpromoted: usize,
    lost: Vec<String>,
    /// How many of these the conversation had again.
    given_back: usize,
}

impl Boundary {
    fn line(&self, clock: &LocalClock) -> Bilingual {
        const SHOWN: usize = 3;
        let Boundary { kept, of, lost, given_back, .. } = self;
        let at = Millis::from_iso(&self.at)
            .map_or_else(|| show_name(&self.at).into_owned(), |at| clock.minute(at));
        let facts = count_en(*of, "fact");
        let (back_en, back_ja) = given_back_words(*given_back);
        let is_lost = *given_back < lost.len();
        let shown: Vec<_> = lost.iter().filter(|_| is_lost).take(SHOWN).map(|fact| show_name(fact)).collect();
        let more = lost.len().saturating_sub(SHOWN);
        let (en, ja) = match (shown.is_empty(), more) {
            (true, _) => <_>::default(),
            (_, 0) => (
                format!("; not in the summary: {}", shown.join(", ")),
                format!("、残らなかったもの: {}", shown.join("、")),
            ),
            _ => (
                format!("; not in the summary: {} and {more} more", shown.join(", ")),
                format!("、残らなかったもの: {}ほか{more}件", shown.join("、")),
            ),
        };
        both!("{at}: kept {kept} of {facts}{back_en}{en}", "{at}: {of}件中{kept}件{back_ja}{ja}")
    }
}

fn given_back_words(number: usize) -> (String, String) {
    match number {
        0 => <_>::default(),
        _ => (format!(", given back {number}"), format!("、Claude に戻したもの{number}件")),
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
                given_back: boundary.given_back.unwrap_or_default(),
            })
            .collect()
    }
}

pub(super) fn add_boundaries(page: &mut Page, boundaries: &[Boundary], clock: &LocalClock) {
    const SHOWN: usize = 5;
    if boundaries.is_empty() {
        return;
    }
    let (kept, of) = boundaries.iter().fold((0, 0), |(kept, of), one| (kept + one.kept, of + one.of));
    let back = boundaries.iter().map(|one| one.given_back).sum();
    let (back_en, back_ja) = given_back_words(back);
    let (number, compactions) = (boundaries.len(), count_en(boundaries.len(), "compaction"));
    page.item(both!(
        "{compactions}: the summaries kept {kept} of {of} facts{back_en}",
        "圧縮{number}回: 要約に残った事実は{of}件中{kept}件{back_ja}です"
    ));
    page.indented(|page| {
        for one in boundaries.iter().skip(number.saturating_sub(SHOWN)) {
            page.item(Text::from(one.line(clock)).dim());
        }
    });
}

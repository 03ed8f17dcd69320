//! Flow and stock of a project as facts for policies.

use tidegate_core::feature::HANDOFF_FILE;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::facts::{Knowledge, Persisted, PromotionMemory};
use tidegate_core::feature::knowledge::tracked::TRACKED;
use tidegate_core::time::Millis;

use crate::feature::knowledge::folder::{ContextFolder, ReadTexts};
use crate::feature::knowledge::promotions;
use crate::place::StateDir;

pub fn read_texts(folder: &ContextFolder) -> ReadTexts {
    let names: Vec<&'static str> = TRACKED.into_iter().chain([HANDOFF_FILE]).collect();
    folder.texts(&names)
}

/// `began`: the start of the session, if it is known.
pub fn collect(
    state: Option<&StateDir>,
    folder: &ContextFolder,
    texts: &ReadTexts,
    began: Option<Millis>,
    now: Millis,
) -> Knowledge {
    let there = texts.all().filter_map(|(name, read)| {
        let text = match &read.text {
            Known::Absent => return None,
            known => known.value().map(String::as_str),
        };
        Some(Persisted { name, modified: read.modified.unwrap_or_default(), text })
    });
    let files: Vec<Persisted<'_>> = there.collect();
    let known = state.map(|state| promotions::read(state, folder.root()));
    let known = known.as_ref().and_then(Known::value).cloned().unwrap_or_default();
    let nudged = known.nudged.clone();
    let remembered = PromotionMemory { shown: known.into_shown(folder, now), nudged };
    Knowledge::from_files(&files, &remembered, began)
}

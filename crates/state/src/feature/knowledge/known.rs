//! Flow and stock of a project as policies may know them.

use tidegate_core::feature::HANDOFF_FILE;
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::facts::{Knowledge, Persisted, PromotionMemory};
use tidegate_core::feature::knowledge::tracked::TRACKED;
use tidegate_core::time::Millis;

use crate::feature::knowledge::memory;
use crate::feature::knowledge::read::{Folder, Texts};
use crate::place::StateDir;

/// The files as they are.
pub fn texts(folder: &Folder) -> Texts {
    let names: Vec<&'static str> = TRACKED.into_iter().chain([HANDOFF_FILE]).collect();
    folder.texts(&names)
}

/// What they say. `began` is when the session began, as far as that is known.
pub fn knowledge(
    state: Option<&StateDir>,
    folder: &Folder,
    texts: &Texts,
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
    let memory = state.map(|state| memory::read(state, folder.root()));
    let memory = memory.as_ref().and_then(Known::value).cloned().unwrap_or_default();
    let nudged = memory.nudged.clone();
    let remembered = PromotionMemory { shown: memory.into_shown(folder, now), nudged };
    Knowledge::from_files(&files, &remembered, began)
}

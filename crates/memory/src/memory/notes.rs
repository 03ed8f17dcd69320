//! Learnings and progress notes of a project, searchable together with its logs.

use std::path::Path;

use tidegate_core::feature::knowledge::flow;
use tidegate_core::feature::knowledge::flow::Progress;
use tidegate_core::feature::knowledge::stock::{Stock, StockFile};
use tidegate_core::time::Millis;
use tidegate_state::feature::knowledge::folder::ContextFolder;

use super::Memory;
use crate::error::Result;
use crate::sqlite::SearchableNote;
use crate::store::Store;
use crate::view::HitKind;

impl Memory {
    /// Updates the searchable notes of the project with this key from its files.
    pub fn refresh_notes(&mut self, root: &Path, key: &str) -> Result<()> {
        let Some(project) = self.project_by_key(key)? else { return Ok(()) };
        let notes = read_notes(root);
        self.with_store(|store| store.refresh_notes(project.id, &notes))
    }
}

/// Unreadable files are left out: `doctor` reports them.
fn read_notes(root: &Path) -> Vec<SearchableNote> {
    let Some(folder) = ContextFolder::find(root) else { return Vec::new() };
    let mut notes: Vec<SearchableNote> = Vec::new();
    for name in [flow::FILE, flow::ARCHIVE] {
        let text = folder.text(name);
        let Some(text) = text.value() else { continue };
        let written = folder.modified(name).unwrap_or_default();
        let parsed = if name == flow::FILE { Progress::parse_flow(text) } else { Progress::parse(text) };
        for entry in &parsed.entries {
            let id = entry.id.to_string();
            // An entry that was just archived may be in both files.
            if notes.iter().any(|note| note.id == id) {
                continue;
            }
            let at = entry.at.unwrap_or(written);
            let (title, text) = (entry.what.to_owned(), entry.body.trim().to_owned());
            notes.push(SearchableNote { kind: HitKind::Progress, id, title, text, at });
        }
    }
    for file in StockFile::ALL {
        let text = folder.text(file.file_name());
        let Some(text) = text.value() else { continue };
        let written = folder.modified(file.file_name()).unwrap_or_default();
        for learning in &Stock::parse(text).entries {
            let parts = [learning.learning, learning.context, learning.implication];
            let text: Vec<&str> = parts.into_iter().flatten().collect();
            let day = learning.confirmed.as_ref().and_then(|confirmed| parse_day(&confirmed.date));
            notes.push(SearchableNote {
                kind: HitKind::Stock,
                id: learning.id.to_string(),
                title: learning.title.to_owned(),
                text: text.join("\n"),
                at: day.unwrap_or(written),
            });
        }
    }
    notes
}

fn parse_day(text: &str) -> Option<Millis> {
    let mut numbers = text.split('-').map(|number| number.parse().ok());
    Millis::of_day(numbers.next()??, numbers.next()??, numbers.next()??)
}

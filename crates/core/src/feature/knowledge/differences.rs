//! Compares two folders of the same project.

use std::collections::{BTreeMap, BTreeSet};

use crate::feature::knowledge::entry_id::EntryId;
use crate::feature::knowledge::flow::Progress;
use crate::feature::knowledge::stock::Stock;
use crate::feature::knowledge::{plan, tracked};

/// Whether content of a flow or stock file would be lost with it. `elsewhere`: texts that may hold the same
/// content; an older version of them has nothing of its own.
pub fn has_unique_content(name: &str, text: &str, elsewhere: &[&str]) -> bool {
    if tracked::is_flow(name) {
        let known: BTreeSet<EntryId> = elsewhere
            .iter()
            .flat_map(|text| Progress::parse(text).entries.into_iter().map(|entry| entry.id))
            .collect();
        return Progress::parse(text).entries.iter().any(|entry| !known.contains(&entry.id));
    }
    if tracked::is_stock(name) {
        let known: BTreeMap<EntryId, u32> = elsewhere
            .iter()
            .flat_map(|text| Stock::parse(text).entries.into_iter().map(|entry| (entry.id, entry.count())))
            .collect();
        let is_new = |id, count| known.get(&id).is_none_or(|known| *known < count);
        return Stock::parse(text).entries.iter().any(|entry| is_new(entry.id, entry.count()));
    }
    // Finished or reworded points are found in the other texts too.
    let points = [plan::constraints(text), plan::open_items(text)].concat();
    points.iter().any(|point| !elsewhere.iter().any(|text| text.contains(point)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_nowhere_else_is_more() {
        let (one, two) = ("## [2026-02-18] - one\n- Next: x\n", "## [2026-02-19] - two\n");
        let both = format!("# Progress\n\n{two}\n{one}");
        assert!(has_unique_content("progress.md", one, &[]));
        assert!(has_unique_content("progress.md", &both, &[one]));
        assert!(!has_unique_content("progress.md", one, &[&both]), "an older state");
        assert!(!has_unique_content("progress.md", &both, &[two, one]), "one of them was archived");
        assert!(has_unique_content("progress.archive.md", two, &[one]));
        assert!(!has_unique_content("progress.md", "# Progress\n", &[]));

        let learning =
            |count| format!("## A\n- **Learning**: a\n- **Confirmed**: {count} times | 2026-02-18 | debug\n");
        assert!(has_unique_content("learnings.md", &learning(2), &[]));
        assert!(has_unique_content("learnings.md", &learning(3), &[&learning(2)]));
        assert!(!has_unique_content("learnings.md", &learning(2), &[&learning(3)]));

        let plan = |mark| format!("# Current Task: x\n\n## Remaining\n- [{mark}] write it\n");
        assert!(has_unique_content("task_plan.md", &plan(" "), &[]));
        assert!(!has_unique_content("task_plan.md", &plan(" "), &[&plan("x")]), "done there");
        assert!(!has_unique_content("task_plan.md", "# Current Task: x\n", &[]));
    }
}

//! Notes and manifests as people and other tools write them: those in a folder next to the checkout, if there is one, and some of the
//! same kinds that are always read.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::feature::knowledge::flow::{NewEntry, Progress};
use tidegate_core::feature::workflow::{BUILT_IN, Manifest, Workflow};
use tidegate_core::time::Millis;

/// Folders `notes` and `manifests` with one file each.
const CORPUS: &str = "../../../shared/corpus";

#[expect(clippy::print_stdout, reason = "says which files were read, or that there were none")]
fn of_folder(name: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(CORPUS).join(name);
    let Ok(entries) = fs::read_dir(&folder) else {
        println!("left out: there is no folder {CORPUS}/{name} next to the checkout");
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = String::from_utf8_lossy(&fs::read(&path).expect("a file of the corpus")).into_owned();
        (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), text)
    };
    let found: Vec<(String, String)> = paths.into_iter().map(read).collect();
    println!("{}: {} files", folder.display(), found.len());
    found
}

fn owned(texts: &[(&str, &str)]) -> Vec<(String, String)> {
    texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

/// Status pages: nothing in them is a note, whatever date they show.
const PAGES: [(&str, &str); 5] = [
    (
        "date_in_a_heading",
        "# Importer\n\n## State: running\n\n## Last Updated: 2026-03-04T10:00:00Z\n\n---\n\n## Done\n- schema\n\n## Open\n- limits\n",
    ),
    (
        "date_above",
        "# Progress\n\n**Last updated**: 2026-03-04\n\n## Current state\n- Next: ask the team\n\n## Blockers\nnone\n",
    ),
    ("japanese", "# 進捗\n\n## 最終更新：2026年3月4日\n\n## 完了\n- 設計\n\n## 残り\n- 実装\n\n## 次\n"),
    (
        "history_as_a_list",
        "# Status\n\n## Now\nworking\n\n## History\n- 2026-03-01: began\n- 2026-03-04: half done\n",
    ),
    (
        "dates_in_a_fence",
        "# Form\n\n## How to write\n```\n## [2026-03-04] — what\n- Decision: x\n```\n\n## Example\n",
    ),
];

/// Has a heading with a date that is not the page's, by a reading of its own.
fn has_dated_heading(text: &str) -> bool {
    let mut is_fenced = false;
    text.lines().any(|line| {
        is_fenced ^= line.trim_start().starts_with("```");
        let heading = line.strip_prefix("## ").filter(|_| !is_fenced).unwrap_or_default().to_lowercase();
        let digits: Vec<bool> = heading.chars().map(|c| c.is_ascii_digit()).collect();
        let has_date = digits.windows(4).any(|four| four.iter().all(|is_digit| *is_digit))
            && heading.contains(['-', '/', '年']);
        has_date && !["updated", "更新"].iter().any(|word| heading.contains(word))
    })
}

#[test]
fn a_page_without_a_dated_entry_has_no_entries_and_is_never_rewritten() {
    let fixtures = owned(&PAGES);
    for (name, text) in &fixtures {
        assert!(!has_dated_heading(text), "{name} is to be a page");
    }
    let new = NewEntry { at: Millis(1_794_795_005_000), what: "one".to_owned(), ..NewEntry::default() };
    let mut entries = 0;
    for (name, text) in fixtures.into_iter().chain(of_folder("notes")) {
        let flow = Progress::parse_flow(&text);
        entries += flow.entries.len();
        if has_dated_heading(&text) {
            continue;
        }
        let headings: Vec<&str> = flow.entries.iter().map(|entry| entry.heading).collect();
        assert!(headings.is_empty(), "{name}: {headings:?}");
        assert_eq!(flow.trim_to(1), None, "{name}");
        let with = flow.with(&new);
        assert!(with.starts_with(text.trim_end()), "{name}");
        let written = Progress::parse_flow(&with);
        assert_eq!(written.entries.len(), 1, "{name}");
        assert_eq!(written.trim_to(1), None, "{name}");
    }
    println!("{entries} entries");
}

/// Manifests in forms that other tools write.
const MANIFESTS: [(&str, &str); 4] = [
    (
        "list_of_artifacts",
        "feature_name: \"Importer review\"\nfeature_slug: importer-review\nstatus: complete\nagents_contributed:\n  - agent: \
         reviewer\n    artifact: review.md\nartifacts:\n  - path: review.md\n    type: review\n",
    ),
    (
        "capability",
        "capability_name: Importer\ncapability_slug: importer\nstatus: in-progress\ncurrent_phase: 8\ncurrent_phase_name: \
         implementation\nphases:\n  3_codebase_discovery: { status: completed }\n  7_architecture_plan: { status: completed, \
         checkpoint_approved: true }\n  8_implementation:\n    status: in-progress\n    batches_completed: 2\n",
    ),
    (
        "words_for_phases",
        "name: review-fixes\nphases:\n  setup: complete\n  discovery: in_progress\n  review: pending\nmetrics:\n  total: 30\n",
    ),
    (
        "phases_that_slipped",
        "capability_slug: slipped\nstatus: complete\ncurrent_phase: 16\nphases:\n  5_complexity:\n    status: \
         complete\ncomplexity:\n  score: 12\n  6_brainstorming:\n    status: complete\n",
    ),
];

#[test]
fn every_manifest_is_read_and_named() {
    for (name, text) in owned(&MANIFESTS).into_iter().chain(of_folder("manifests")) {
        let read = Manifest::parse(text.as_bytes(), |name| (name == BUILT_IN).then(Workflow::default));
        let manifest = read.unwrap_or_else(|damage| panic!("{name}: {damage}"));
        let mut named = text.lines().filter(|line| {
            ["feature_name:", "capability_name:", "feature_slug:", "capability_slug:", "name:"]
                .iter()
                .any(|member| line.starts_with(member))
        });
        let feature = manifest.feature.as_deref().unwrap_or_else(|| panic!("{name} has no name"));
        assert!(named.any(|line| line.contains(feature)), "{name}: {feature}");
        let has_phases =
            text.lines().any(|line| line.starts_with("phases:") || line.starts_with("current_phase:"));
        assert_eq!(manifest.has_phases(), has_phases, "{name}");
    }
}

//! The labelled prompts under `corpus/phase`, checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::workspace;

const LABELS: [&str; 11] = [
    "brainstorm",
    "debug",
    "design",
    "implement",
    "other",
    "plan",
    "reflect",
    "research",
    "review",
    "ship",
    "spec",
];

/// A prompt in both parts would be measured on what was learned by heart.
#[test]
fn every_prompt_is_whole_and_stands_once() {
    let mut seen = BTreeSet::new();
    for part in ["train", "held-out"] {
        for lang in ["en", "ja"] {
            let path = workspace::root().join(format!("corpus/phase/{part}.{lang}.jsonl"));
            let text = fs::read_to_string(&path).unwrap();
            let mut labels: BTreeMap<String, usize> = BTreeMap::new();
            for line in text.lines() {
                let entry: Value =
                    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
                assert_eq!(entry.as_object().map(serde_json::Map::len), Some(4), "{line}");
                assert_eq!(entry["lang"], lang, "{line}");
                assert!(entry["hard"].is_boolean(), "{line}");
                let label = entry["label"].as_str().filter(|label| LABELS.contains(label));
                *labels.entry(label.unwrap_or_else(|| panic!("{line}")).to_owned()).or_default() += 1;
                let prompt = entry["prompt"].as_str().unwrap_or_default().to_lowercase();
                let words: Vec<&str> = prompt.split_whitespace().collect();
                assert!(!words.is_empty() && seen.insert(words.join(" ")), "twice, or empty: {line}");
            }
            let least = if part == "train" { 200 } else { 20 };
            assert!(
                labels.len() == LABELS.len() && labels.values().all(|count| *count >= least),
                "{labels:?}"
            );
        }
    }
}

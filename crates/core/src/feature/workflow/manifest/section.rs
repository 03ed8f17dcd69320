//! The section of a phase: its status, its output and its summary.

use crate::feature::workflow::summary::{MAX_PATHS, find_paths};
use crate::text::tokens::estimate_tokens;
use crate::text::yaml::{Kind, Node, Style};
use crate::time::Millis;

/// Members of a phase's section that do not count as its output.
const BOOKKEEPING: [&str; 27] = [
    "status",
    "summary",
    "artifacts",
    "output_file",
    "output_files",
    "output_dir",
    "checkpoint_approved",
    "compaction_gate",
    "started_at",
    "began_at",
    "completed_at",
    "ended_at",
    "timestamp",
    "approved",
    "retry_count",
    "conditional",
    "name",
    "number",
    "phase",
    "agent",
    "agents",
    "compaction_skipped",
    "skip_reason",
    "skip_timestamp",
    "token_triggered_compaction",
    "approved_by",
    "approved_at",
];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseSection {
    /// Number of the phase.
    pub number: usize,
    pub key: String,
    pub lines: usize,
    /// `pending`, `in_progress`, `complete`, `blocked` or `skipped`.
    pub status: Option<String>,
    pub began: Option<Millis>,
    /// Estimated tokens of its content without summary and bookkeeping.
    pub body: u64,
    pub summary: Option<String>,
    /// The summary has a key for decisions.
    pub decisions: bool,
    /// Files with the output.
    pub artifacts: Vec<String>,
    /// Values that are a path as a whole.
    pub paths: Vec<String>,
    /// It claims that the compaction after it was skipped.
    pub skipped: bool,
}

pub(in crate::feature::workflow) fn scalar_text<'n>(node: &'n Node<'_>, key: &str) -> Option<&'n str> {
    node.get(key).and_then(Node::text).map(str::trim).filter(|text| !text.is_empty())
}

pub(super) fn read_time(node: &Node<'_>, keys: &[&str]) -> Option<Millis> {
    keys.iter().find_map(|key| Millis::from_iso(scalar_text(node, key)?))
}

fn is_true(text: Option<&str>) -> bool {
    text.is_some_and(|text| matches!(text.to_ascii_lowercase().as_str(), "true" | "yes"))
}

pub fn is_finished(status: &str) -> bool {
    matches!(status.to_ascii_lowercase().as_str(), "complete" | "completed" | "done" | "finished" | "skipped")
}

impl PhaseSection {
    pub fn is_finished(&self) -> bool {
        self.status.as_deref().is_some_and(is_finished)
    }

    pub(super) fn is_under_way(&self) -> bool {
        let status = self.status.as_deref().unwrap_or_default().to_ascii_lowercase();
        matches!(status.as_str(), "in_progress" | "in-progress")
    }

    /// One that is skipped did not begin.
    pub(super) fn has_begun(&self) -> bool {
        self.is_under_way() || self.is_complete()
    }

    pub(super) fn is_complete(&self) -> bool {
        let is_skipped = self.status.as_deref().is_some_and(|status| status.eq_ignore_ascii_case("skipped"));
        self.is_finished() && !is_skipped
    }

    /// Adds what the section itself does not have.
    pub(super) fn complete_from(&mut self, node: &Node<'_>) {
        let other = PhaseSection::parse(self.number, &self.key, node, "");
        if self.summary.is_none() {
            (self.summary, self.decisions) = (other.summary, other.decisions);
        }
        self.decisions |= node.entries().iter().any(holds_decisions);
        if self.artifacts.is_empty() {
            self.artifacts = other.artifacts;
        }
        self.body += other.body;
    }

    pub(super) fn parse(number: usize, key: &str, node: &Node<'_>, text: &str) -> PhaseSection {
        let mut section = PhaseSection {
            number,
            key: key.to_owned(),
            lines: count_lines(node, text),
            ..PhaseSection::default()
        };
        if let Some(said) = node.text() {
            // `3_discovery: complete`, or the whole output as one text.
            if said.split_whitespace().count() == 1 {
                section.status = Some(said.trim().to_owned());
            } else {
                section.body = estimate_tokens(said);
            }
            return section;
        }
        section.status = scalar_text(node, "status").map(str::to_owned);
        section.began = read_time(node, &["started_at", "began_at"]);
        section.skipped = is_true(scalar_text(node, "compaction_skipped"));
        if let Some(summary) = node.get("summary").filter(|summary| !summary.is_nothing()) {
            section.summary = Some(flatten_text(summary)).filter(|text| !text.trim().is_empty());
            section.decisions = summary.entries().iter().any(holds_decisions);
        }
        for key in ["artifacts", "output_file", "output_files"] {
            if let Some(artifacts) = node.get(key) {
                collect_artifacts(artifacts, &mut section.artifacts);
            }
        }
        for (key, value) in node.entries() {
            let key = key.key().unwrap_or_default();
            if BOOKKEEPING.contains(&key) {
                continue;
            }
            if names_removed(key) {
                section.body += estimate_tokens(&flatten_text(value));
                continue;
            }
            // Counts the text of block values without their indentation.
            section.body += estimate_tokens(&flatten_text(value));
            collect_whole_paths(value, &mut section.paths);
        }
        section
    }
}

fn holds_decisions((key, value): &(Node<'_>, Node<'_>)) -> bool {
    let is_one = |key: &str| key == "key_patterns" || key.to_ascii_lowercase().contains("decision");
    key.key().is_some_and(is_one) && !value.is_nothing()
}

/// The files below such a key need not exist.
fn names_removed(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["removed", "deleted"].iter().any(|word| key.contains(word))
}

/// Lines of a value, including its key.
fn count_lines(node: &Node<'_>, text: &str) -> usize {
    fn last(node: &Node<'_>) -> usize {
        match &node.kind {
            Kind::List { items, flow: false } => items.last().map_or(node.span.start, last),
            Kind::Map { entries, flow: false } => {
                entries.last().map_or(node.span.start, |(_, value)| last(value))
            }
            _ => node.span.end.max(node.span.start + 1),
        }
    }
    let (from, to) = (node.span.start.min(text.len()), last(node).min(text.len()));
    // The parser ends a block where the next value begins.
    let between = text.as_bytes()[from..to.max(from)].trim_ascii_end();
    let breaks = between.split(|b| *b == b'\n').count() - 1;
    let below =
        usize::from(matches!(&node.kind, Kind::Map { flow: false, .. } | Kind::List { flow: false, .. }));
    breaks + 1 + below
}

/// Keys and values as text, one per line.
pub(in crate::feature::workflow) fn flatten_text(node: &Node<'_>) -> String {
    fn put(node: &Node<'_>, out: &mut String) {
        match &node.kind {
            Kind::Scalar { text, style } if *style != Style::Empty => {
                out.push_str(text);
                out.push('\n');
            }
            Kind::Scalar { .. } | Kind::Alias => {}
            Kind::List { items, .. } => items.iter().for_each(|item| put(item, out)),
            Kind::Map { entries, .. } => {
                for (key, value) in entries {
                    out.push_str(key.key().unwrap_or_default());
                    out.push_str(": ");
                    put(value, out);
                }
            }
        }
    }
    let mut out = String::new();
    put(node, &mut out);
    out
}

/// Collects paths, or tables with a `path`.
fn collect_artifacts(node: &Node<'_>, out: &mut Vec<String>) {
    let mut add = |text: &str| {
        if out.len() < MAX_PATHS && !text.trim().is_empty() {
            out.push(text.trim().to_owned());
        }
    };
    match &node.kind {
        Kind::Scalar { .. } => node.text().into_iter().for_each(add),
        Kind::List { items, .. } => items.iter().for_each(|item| collect_artifacts(item, out)),
        Kind::Map { .. } => match scalar_text(node, "path").or_else(|| scalar_text(node, "file")) {
            Some(path) => add(path),
            None => node.entries().iter().for_each(|(_, value)| collect_artifacts(value, out)),
        },
        Kind::Alias => {}
    }
}

/// Collects values that are a path as a whole.
fn collect_whole_paths(node: &Node<'_>, out: &mut Vec<String>) {
    match &node.kind {
        Kind::Scalar { .. } => {
            let text = node.text().map(str::trim).filter(|text| !text.contains(char::is_whitespace));
            let path = text.and_then(|text| find_paths(text).into_iter().next());
            if let Some(path) = path.filter(|_| out.len() < MAX_PATHS) {
                out.push(path);
            }
        }
        Kind::List { items, .. } => items.iter().for_each(|item| collect_whole_paths(item, out)),
        Kind::Map { entries, .. } => entries.iter().for_each(|(_, value)| collect_whole_paths(value, out)),
        Kind::Alias => {}
    }
}

//! `MANIFEST.yaml`: the progress of a workflow, in the forms that people and other tools write.
//!
//! It is authoritative for phases but not for gates: its writer could also claim that a gate was passed.

use std::fmt;

use crate::feature::workflow::BUILT_IN;
use crate::feature::workflow::definition::Workflow;
use crate::feature::workflow::must_stay::MustStay;
use crate::feature::workflow::summary::{MAX_PATHS, find_paths};
use crate::text::hidden::plain_word;
use crate::text::tokens::estimate_tokens;
use crate::text::yaml;
use crate::text::yaml::{Kind, Node, Scalar, Style, Unfit, Unreadable};
use crate::time::Millis;

pub const MANIFEST_FILE: &str = "MANIFEST.yaml";

/// The manifests of a project, one subfolder per feature.
pub const FEATURES_FOLDER: &str = ".claude/.output/features";

/// Folders at a project's root that hold one manifest each.
pub const DEVELOPMENT_FOLDERS: [&str; 3] =
    [".feature-development", ".capability-development", ".integration-development"];

/// Every manifest below this folder belongs to a workflow.
const OUTPUT_FOLDER: &str = ".claude/.output/";

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

/// Belongs to a workflow by its location alone.
pub fn is_manifest(path: &str) -> bool {
    let path = path.replace('\\', "/");
    path.ends_with(&format!("/{MANIFEST_FILE}"))
        && (path.starts_with(OUTPUT_FOLDER)
            || path.contains(&format!("/{OUTPUT_FOLDER}"))
            || is_in_development_folder(&path))
}

/// Elsewhere other tools keep lists of their own under this file name.
pub fn is_feature_manifest(path: &str) -> bool {
    path.strip_prefix(FEATURES_FOLDER).is_some_and(|rest| rest.starts_with('/'))
        || is_in_development_folder(path)
}

/// In the form of [`DEVELOPMENT_FOLDERS`]: `.feature-development/MANIFEST.yaml`, at the project's root or in a
/// worktree.
fn is_in_development_folder(path: &str) -> bool {
    let Some(folder) = path.strip_suffix(&format!("/{MANIFEST_FILE}")) else { return false };
    let name = folder.rsplit('/').next().unwrap_or_default();
    DEVELOPMENT_FOLDERS.contains(&name)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestDamage {
    /// Not YAML.
    Unreadable(Unreadable),
    /// A member with an impossible value.
    Member(&'static str),
    /// The config has no such workflow.
    UnknownWorkflow(String),
}

impl fmt::Display for ManifestDamage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ManifestDamage::Unreadable(why) => write!(out, "{why}"),
            ManifestDamage::Member(name) => write!(out, "`{name}` is not what it should be"),
            ManifestDamage::UnknownWorkflow(name) => {
                write!(out, "there is no workflow {} in the config", plain_word(name))
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Name of the feature.
    pub feature: Option<String>,
    /// Name of the workflow.
    pub name: String,
    /// The manifest itself names the workflow.
    pub named: bool,
    /// Its definition in the config.
    pub workflow: Workflow,
    /// It says so, or its last phase is finished.
    pub complete: bool,
    pub created: Option<Millis>,
    /// Number of the phase under way.
    pub current: Option<usize>,
    pub sections: Vec<PhaseSection>,
    /// Claims about gates, by number.
    pub gates: Vec<(usize, GateClaim)>,
    /// What must stay in the conversation.
    pub keep: MustStay,
}

/// A manifest's claim that a gate was passed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateClaim {
    /// `passed`.
    pub status: Option<String>,
    pub at: Option<Millis>,
    /// Tokens of the whole output.
    pub before: Option<u64>,
    /// Tokens of the summary.
    pub after: Option<u64>,
}

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

pub(super) fn scalar_text<'n>(node: &'n Node<'_>, key: &str) -> Option<&'n str> {
    node.get(key).and_then(Node::text).map(str::trim).filter(|text| !text.is_empty())
}

fn read_time(node: &Node<'_>, keys: &[&str]) -> Option<Millis> {
    keys.iter().find_map(|key| Millis::from_iso(scalar_text(node, key)?))
}

fn read_whole(node: &Node<'_>, key: &str) -> Option<u64> {
    scalar_text(node, key)?.parse().ok()
}

fn is_true(text: Option<&str>) -> bool {
    text.is_some_and(|text| matches!(text.to_ascii_lowercase().as_str(), "true" | "yes"))
}

pub fn is_finished(status: &str) -> bool {
    matches!(status.to_ascii_lowercase().as_str(), "complete" | "completed" | "done" | "finished" | "skipped")
}

impl Manifest {
    /// `workflow` looks up a definition in the config.
    pub fn parse(
        text: &[u8],
        workflow: impl FnOnce(&str) -> Option<Workflow>,
    ) -> Result<Manifest, ManifestDamage> {
        let text = std::str::from_utf8(text).map_err(|_| ManifestDamage::Unreadable(Unreadable::NotText))?;
        let root = yaml::parse(text).map_err(ManifestDamage::Unreadable)?;
        let named = scalar_text(&root, "workflow");
        let (name, named) = (named.unwrap_or(BUILT_IN).to_owned(), named.is_some());
        let workflow = workflow(&name).ok_or_else(|| ManifestDamage::UnknownWorkflow(name.clone()))?;
        let told = match root.get("current_phase").filter(|node| !node.is_nothing()) {
            None => None,
            Some(node) => {
                let word = node.text().ok_or(ManifestDamage::Member("current_phase"))?;
                Some(workflow.phase_number(word).ok_or(ManifestDamage::Member("current_phase"))?)
            }
        };
        let mut sections: Vec<PhaseSection> = Vec::new();
        match root.get("phases") {
            None => {}
            Some(node) if node.is_nothing() => {}
            Some(node @ Node { kind: Kind::Map { .. }, .. }) => {
                for (key, value) in node.entries() {
                    let key = key.key().ok_or(ManifestDamage::Member("phases"))?;
                    // Other tools store other data there.
                    let Some(number) = workflow.phase_number(key) else { continue };
                    if sections.iter().any(|known| known.number == number) {
                        return Err(ManifestDamage::Unreadable(Unreadable::Twice(key.to_owned())));
                    }
                    sections.push(PhaseSection::parse(number, key, value, text));
                }
            }
            Some(_) => return Err(ManifestDamage::Member("phases")),
        }
        for (key, value) in root.entries() {
            // Some tools keep the result of a phase at the top: `architecture_plan: {summary: …}`.
            let number = key.key().and_then(|key| workflow.phase_number_by_name(key));
            let found = number.and_then(|number| sections.iter_mut().find(|known| known.number == number));
            if let (Some(section), Kind::Map { .. }) = (found, &value.kind) {
                section.complete_from(value);
            }
        }
        let current = told.or_else(|| only_phase_in_progress(&sections));
        let keep = MustStay::read(&root, &workflow, current);
        let last = sections.iter().find(|section| section.number == workflow.phases.len());
        let is_over = current == Some(workflow.phases.len()) && last.is_some_and(PhaseSection::is_finished);
        let gate = |(key, value): &(Node<'_>, Node<'_>)| {
            let passed = GateClaim {
                status: scalar_text(value, "status").map(str::to_owned),
                at: read_time(value, &["at"]),
                before: read_whole(value, "before_tokens"),
                after: read_whole(value, "after_tokens"),
            };
            Some((key.key()?.trim().parse().ok()?, passed))
        };
        let gates = root.get("gates").map(|node| node.entries().iter().filter_map(gate).collect());
        Ok(Manifest {
            feature: scalar_text(&root, "feature_name")
                .or_else(|| scalar_text(&root, "feature_slug"))
                .map(str::to_owned),
            name,
            named,
            workflow,
            complete: is_over || scalar_text(&root, "status").is_some_and(is_finished),
            created: read_time(&root, &["created_at"]),
            current,
            sections,
            gates: gates.unwrap_or_default(),
            keep,
        })
    }

    /// A list of artifacts may have the same file name.
    pub fn is_workflow(&self, path: &str) -> bool {
        self.named || is_feature_manifest(path) && (self.current.is_some() || !self.sections.is_empty())
    }

    /// The work has left this phase, by its own status, by `current_phase` or by a later phase that began.
    pub fn is_past(&self, phase: usize) -> bool {
        let has_later = || self.sections.iter().any(|later| later.number > phase && later.has_begun());
        // Nothing comes after the last one.
        let is_complete = || {
            phase < self.workflow.phases.len() && self.section(phase).is_some_and(PhaseSection::is_complete)
        };
        self.current.is_some_and(|current| phase < current) || is_complete() || has_later()
    }

    pub fn section(&self, number: usize) -> Option<&PhaseSection> {
        self.sections.iter().find(|section| section.number == number)
    }

    pub fn passed(&self, gate: usize) -> Option<&GateClaim> {
        self.gates.iter().find(|(number, _)| *number == gate).map(|(_, passed)| passed)
    }
}

/// Some tools keep no `current_phase`.
fn only_phase_in_progress(sections: &[PhaseSection]) -> Option<usize> {
    let mut active = sections.iter().filter(|section| section.is_under_way());
    active.next().filter(|_| active.next().is_none()).map(|section| section.number)
}

impl PhaseSection {
    pub fn is_finished(&self) -> bool {
        self.status.as_deref().is_some_and(is_finished)
    }

    fn is_under_way(&self) -> bool {
        let status = self.status.as_deref().unwrap_or_default().to_ascii_lowercase();
        matches!(status.as_str(), "in_progress" | "in-progress")
    }

    /// One that is skipped did not begin.
    fn has_begun(&self) -> bool {
        self.is_under_way() || self.is_complete()
    }

    fn is_complete(&self) -> bool {
        let is_skipped = self.status.as_deref().is_some_and(|status| status.eq_ignore_ascii_case("skipped"));
        self.is_finished() && !is_skipped
    }

    /// Adds what the section itself does not have.
    fn complete_from(&mut self, node: &Node<'_>) {
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

    fn parse(number: usize, key: &str, node: &Node<'_>, text: &str) -> PhaseSection {
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
pub(super) fn flatten_text(node: &Node<'_>) -> String {
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

pub fn new_manifest(id: &str, workflow: &str, definition: &Workflow, now: Millis) -> String {
    let first = definition.phases.first().map(|phase| phase.name.as_str()).unwrap_or_default();
    let now = now.iso_seconds();
    format!(
        "feature_name: {name}\nworkflow: {workflow}\nstatus: in-progress\ncreated_at: \"{now}\"\ncurrent_phase: 1\nphases:\n  \
         1_{first}:\n    status: in_progress\n    started_at: \"{now}\"\n",
        name = yaml::quote(id),
    )
}

pub fn note_passed(text: &str, gate: usize, at: Millis, before: u64, after: u64) -> Result<String, Unfit> {
    let number = gate.to_string();
    let members = [
        ("status", Scalar::from("passed")),
        ("at", Scalar::Text(at.iso_seconds())),
        ("before_tokens", Scalar::Whole(before)),
        ("after_tokens", Scalar::Whole(after)),
    ];
    let set = |text: String, (key, value): &(&str, Scalar)| yaml::set(&text, &["gates", &number, key], value);
    members.iter().try_fold(text.to_owned(), set)
}

/// Notes in a phase's section that a person skipped the compaction after it, and why.
pub fn note_skipped(text: &str, section: &str, reason: &str, at: Millis) -> Result<String, Unfit> {
    let members = [
        ("compaction_skipped", Scalar::Flag(true)),
        ("skip_reason", Scalar::from(reason)),
        ("skip_timestamp", Scalar::Text(at.iso_seconds())),
    ];
    let set =
        |text: String, (key, value): &(&str, Scalar)| yaml::set(&text, &["phases", section, key], value);
    members.iter().try_fold(text.to_owned(), set)
}

/// Values to write into a phase's section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseNote<'a> {
    pub status: Option<&'a str>,
    pub summary: Option<&'a str>,
    /// Replaces the whole list.
    pub artifacts: Vec<String>,
}

/// Adds the time of completion if the status says that the phase is over.
pub fn note_phase(text: &str, section: &str, note: &PhaseNote<'_>, now: Millis) -> Result<String, Unfit> {
    let mut text = text.to_owned();
    let mut set = |key: &str, value: Scalar| -> Result<(), Unfit> {
        text = yaml::set(&text, &["phases", section, key], &value)?;
        Ok(())
    };
    if let Some(status) = note.status {
        set("status", Scalar::from(status))?;
        if is_finished(status) {
            set("completed_at", Scalar::Text(now.iso_seconds()))?;
        }
    }
    if !note.artifacts.is_empty() {
        set("artifacts", Scalar::Texts(note.artifacts.clone()))?;
    }
    if let Some(summary) = note.summary {
        set("summary", Scalar::from(summary))?;
    }
    Ok(text)
}

/// The last phase is finished.
pub fn complete_workflow(text: &str) -> Result<String, Unfit> {
    yaml::set(text, &["status"], &Scalar::from("complete"))
}

/// Completes the phase `ended` and begins another one.
pub fn begin_phase(
    text: &str,
    ended: Option<&str>,
    number: usize,
    section: &str,
    now: Millis,
) -> Result<String, Unfit> {
    let complete = PhaseNote { status: Some("complete"), ..PhaseNote::default() };
    let text = match ended {
        Some(ended) => note_phase(text, ended, &complete, now)?,
        None => text.to_owned(),
    };
    let text = yaml::set(&text, &["current_phase"], &Scalar::Whole(number as u64))?;
    let text = yaml::set(&text, &["phases", section, "status"], &Scalar::from("in_progress"))?;
    yaml::set(&text, &["phases", section, "started_at"], &Scalar::Text(now.iso_seconds()))
}

/// Notes in a phase's section that the level of context use caused a compaction.
pub fn note_compacted(text: &str, section: &str) -> Result<String, Unfit> {
    yaml::set(text, &["phases", section, "token_triggered_compaction"], &Scalar::Flag(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Manifest, ManifestDamage> {
        Manifest::parse(text.as_bytes(), |name| (name == BUILT_IN).then(Workflow::default))
    }

    #[test]
    fn the_last_phase_ends_the_workflow() {
        let of = |text: &str| read(text).unwrap().complete;
        assert!(of("status: in-progress\ncurrent_phase: 16\nphases: {16_completion: {status: complete}}\n"));
        assert!(of("status: complete\ncurrent_phase: 3\n"));
        assert!(!of("current_phase: 16\nphases: {16_completion: {status: in_progress}}\n"));
        assert!(!of("current_phase: 3\nphases: {16_completion: {status: skipped}}\n"), "ahead of the work");
    }

    #[test]
    fn its_status_or_a_later_phase_shows_the_end_of_one() {
        let is_past = |third: &str, fourth: &str| {
            let text =
                format!("current_phase: 3\nphases: {{3: {{status: {third}}}, 4: {{status: {fourth}}}}}\n");
            read(&text).unwrap().is_past(3)
        };
        assert!(is_past("complete", "in_progress") && is_past("skipped", "complete"));
        assert!(is_past("in_progress", "in_progress"), "it may be left so for good");
        assert!(is_past("complete", "pending") && is_past("done", "skipped"));
        for (third, fourth) in [("in_progress", "pending"), ("blocked", "skipped"), ("skipped", "pending")] {
            assert!(!is_past(third, fourth), "{third}, {fourth}");
        }
        assert!(!read("current_phase: 16\nphases: {16: {status: complete}}\n").unwrap().is_past(16));
    }

    /// As written by the first phase of another tool.
    const ANCESTOR: &str = "\
feature_name: user-dashboard
feature_slug: \"2026-01-20-user-dashboard\"
created_at: \"2026-01-20T10:00:00Z\"
created_by: orchestrator
status: in-progress
current_phase: 4
current_phase_name: skill_discovery
work_type: MEDIUM
phases:
  1_setup:
    status: complete
    completed_at: \"2026-01-20T10:05:00Z\"
  2_triage: { status: complete }
  3_discovery:
    status: complete   # three agents
    started_at: \"2026-01-20T10:10:00Z\"
    completed_at: \"2026-01-20T11:00:00Z\"
    findings: |
      Components live in src/sections/.

      # not a comment
      Hooks are shared.
    files:
      - src/sections/assets/List.tsx
      - path: src/hooks/useAssets.ts
        lines: 120
    artifacts: [discovery.md, {path: notes/patterns.md, type: notes}]
    summary: |
      Phase 3 (Discovery): COMPLETE
      - Key decisions: keep the hooks
      - Full details: .claude/.output/features/x/discovery.md
  4_skill_discovery: {status: in_progress}
  5_complexity: pending
worktree:
  path: .worktrees/x
metrics: {tokens: {context_percentage: 61}}
";

    #[test]
    fn the_ancestors_form_is_read() {
        let manifest = read(ANCESTOR).unwrap();
        assert_eq!(manifest.feature.as_deref(), Some("user-dashboard"));
        assert_eq!((manifest.current, manifest.complete, manifest.sections.len()), (Some(4), false, 5));
        let section = manifest.section(3).unwrap();
        assert_eq!((section.key.as_str(), section.status.as_deref()), ("3_discovery", Some("complete")));
        assert_eq!(section.artifacts, ["discovery.md", "notes/patterns.md"]);
        assert_eq!(section.paths, ["src/sections/assets/List.tsx", "src/hooks/useAssets.ts"]);
        assert_eq!(section.began, Millis::from_iso("2026-01-20T10:10:00Z"));
        assert!(section.body > 10 && section.summary.as_deref().unwrap().contains("keep the hooks"));
        assert_eq!(section.lines, 18);
        assert_eq!(manifest.section(2).unwrap().lines, 1);
        assert_eq!(manifest.section(5).unwrap().status.as_deref(), Some("pending"));
    }

    #[test]
    fn current_phase_and_keys_come_in_many_forms() {
        for current in ["3", "\"3\"", "3_discovery", "discovery", "Codebase Discovery", "phase_3"] {
            for key in ["3", "\"3\"", "3_discovery", "discovery", "phase_3"] {
                let text = format!("current_phase: {current}\nphases:\n  {key}:\n    status: done\n");
                let manifest = read(&text).unwrap();
                assert_eq!((manifest.current, manifest.section(3).is_some()), (Some(3), true), "{text}");
            }
        }
        assert_eq!(read("phases:\n").unwrap().current, None);
    }

    #[test]
    fn what_cannot_be_true_is_damage() {
        for (text, damage) in [
            ("current_phase: 17\n", ManifestDamage::Member("current_phase")),
            ("current_phase: [1]\n", ManifestDamage::Member("current_phase")),
            ("phases: [a]\n", ManifestDamage::Member("phases")),
            (
                "phases: {3: {}, discovery: {}}\n",
                ManifestDamage::Unreadable(Unreadable::Twice("discovery".into())),
            ),
            ("workflow: release\n", ManifestDamage::UnknownWorkflow("release".into())),
            ("a: 1\n---\nb: 1\n", ManifestDamage::Unreadable(Unreadable::Documents)),
        ] {
            assert_eq!(read(text), Err(damage), "{text}");
        }
        let binary = Manifest::parse(b"\xff\xfe\x00", |_| None);
        assert_eq!(binary, Err(ManifestDamage::Unreadable(Unreadable::NotText)));
    }

    #[test]
    fn which_manifests_are_ours() {
        for path in
            [".claude/.output/features/x/MANIFEST.yaml", "/p/.claude/.output/research/x/MANIFEST.yaml"]
        {
            assert!(is_manifest(path), "{path}");
        }
        for path in ["MANIFEST.yaml", "/p/charts/MANIFEST.yaml", ".claude/.output/features/x/manifest.md"] {
            assert!(!is_manifest(path), "{path}");
        }
    }

    #[test]
    fn a_new_one_reads_back() {
        let text = new_manifest("Add: \"it\"", "feature", &Workflow::default(), Millis(1_768_900_000_000));
        let manifest = read(&text).unwrap();
        assert_eq!((manifest.feature.as_deref(), manifest.current), (Some("Add: \"it\""), Some(1)));
        assert_eq!(manifest.section(1).unwrap().began, manifest.created);
    }

    #[test]
    fn what_is_noted_leaves_the_rest_as_it_was() {
        let at = Millis(1_768_919_535_000);
        let passed = note_passed(ANCESTOR, 1, at, 14_832, 187).unwrap();
        assert_eq!(
            passed.strip_prefix(ANCESTOR),
            Some(
                "gates:\n  1:\n    status: passed\n    at: \"2026-01-20T14:32:15Z\"\n    before_tokens: 14832\n    \
                 after_tokens: 187\n"
            )
        );
        let gate = read(&passed).unwrap().passed(1).cloned().unwrap();
        assert_eq!((gate.at, gate.before, gate.after), (Some(at), Some(14_832), Some(187)));
        let skipped = note_skipped(ANCESTOR, "3_discovery", "user override", at).unwrap();
        let added: Vec<&str> = skipped.lines().filter(|line| !ANCESTOR.contains(line)).collect();
        assert_eq!(
            added,
            [
                "    compaction_skipped: true",
                "    skip_reason: \"user override\"",
                "    skip_timestamp: \"2026-01-20T14:32:15Z\""
            ]
        );
        assert!(read(&skipped).unwrap().section(3).unwrap().skipped);
        // A section that is a single word has no place for it.
        assert!(note_skipped(ANCESTOR, "5_complexity", "x", at).is_err());
    }

    #[test]
    fn moving_on_touches_two_sections() {
        let now = Millis(1_768_919_535_000);
        let text = "# x\ncurrent_phase: 3   # now\nphases:\n  3_discovery: {status: in_progress}\nend: 1\n";
        let moved = begin_phase(text, Some("3_discovery"), 4, "4_skill_discovery", now).unwrap();
        assert_eq!(
            moved,
            "# x\ncurrent_phase: 4   # now\nphases:\n  3_discovery: {status: complete, completed_at: \"2026-01-20T14:32:15Z\"}\n  \
             4_skill_discovery:\n    status: in_progress\n    started_at: \"2026-01-20T14:32:15Z\"\nend: 1\n"
        );
        let note =
            PhaseNote { summary: Some("one\ntwo"), artifacts: vec!["d.md".into()], ..PhaseNote::default() };
        let noted = super::note_phase(&moved, "3_discovery", &note, now).unwrap();
        let section = read(&noted).unwrap().section(3).cloned().unwrap();
        assert_eq!(
            (section.summary.as_deref(), section.artifacts.as_slice()),
            (Some("one\ntwo\n"), &["d.md".to_owned()][..])
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Manifest::parse(&bytes, |_| Some(Workflow::default()));
        }
    }
}

//! What a manifest has that must stay in the conversation: constraints, decisions of the phase before, blockers, and
//! files in work. A compaction names them to the summariser.

use crate::feature::workflow::definition::Workflow;
use crate::feature::workflow::manifest::{flatten_text, scalar_text};
use crate::feature::workflow::summary::{decision_lines, find_existing_paths};
use crate::text::yaml::{Kind, Node};

/// Of each kind.
const MOST: usize = 6;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MustStay {
    pub constraints: Vec<String>,
    /// Of the last phase before the current one that has any.
    pub decisions: Vec<String>,
    pub blockers: Vec<String>,
    pub files: Vec<String>,
}

impl MustStay {
    /// `current` is the phase under way.
    pub(super) fn read(root: &Node<'_>, workflow: &Workflow, current: Option<usize>) -> MustStay {
        let mut keep = MustStay::default();
        keep.add_standing(root);
        let Some(current) = current else { return keep };
        for section in sections(root, workflow, current) {
            keep.add_standing(section);
            keep.add_files(section);
        }
        let mut before = (1..current).rev();
        while keep.decisions.is_empty()
            && let Some(number) = before.next()
        {
            for section in sections(root, workflow, number) {
                keep.add_decisions(section);
            }
        }
        keep
    }

    /// The facts as lines, the most important first.
    pub fn lines(&self) -> Vec<String> {
        let labelled = |label: &'static str, list: &[String]| -> Vec<String> {
            list.iter().map(|text| format!("{label}: {text}")).collect()
        };
        let files: Vec<String> = self.files.iter().map(|path| format!("`{path}`")).collect();
        [
            labelled("constraint", &self.constraints),
            labelled("decided before", &self.decisions),
            labelled("blocker", &self.blockers),
            labelled("file in work", &files),
        ]
        .concat()
    }

    /// Constraints and blockers hold wherever they are written.
    fn add_standing(&mut self, node: &Node<'_>) {
        for (key, value) in node.entries() {
            let key = key.key().unwrap_or_default().to_ascii_lowercase();
            if ["constraint", "invariant", "preference"].iter().any(|word| key.contains(word)) {
                add_items(value, &mut self.constraints);
            } else if key.contains("blocker")
                || matches!(key.as_str(), "blocked_by" | "blocked_on" | "blocked_reason")
            {
                add_items(value, &mut self.blockers);
            }
        }
    }

    fn add_decisions(&mut self, section: &Node<'_>) {
        for (key, value) in section.entries() {
            if key.key().is_some_and(|key| key.to_ascii_lowercase().contains("decision")) {
                add_items(value, &mut self.decisions);
            }
        }
        match section.get("summary") {
            Some(summary @ Node { kind: Kind::Map { .. }, .. }) => self.add_decisions(summary),
            Some(summary) => {
                let text = flatten_text(summary);
                for line in decision_lines(&text) {
                    add(line, &mut self.decisions);
                }
            }
            None => {}
        }
    }

    fn add_files(&mut self, section: &Node<'_>) {
        for (key, value) in section.entries() {
            let key = key.key().unwrap_or_default().to_ascii_lowercase();
            if key.contains("files")
                && !key.contains("output")
                && !key.contains("removed")
                && !key.contains("deleted")
            {
                for path in find_existing_paths(&flatten_text(value)) {
                    add(&path, &mut self.files);
                }
            }
        }
    }
}

/// The sections of a phase: below `phases`, and at the top by the phase's name.
fn sections<'n, 'a>(
    root: &'n Node<'a>,
    workflow: &'n Workflow,
    number: usize,
) -> impl Iterator<Item = &'n Node<'a>> {
    let below = root.get("phases").map(Node::entries).unwrap_or_default().iter();
    let below =
        below.filter(move |(key, _)| key.key().and_then(|key| workflow.phase_number(key)) == Some(number));
    let top = root.entries().iter();
    let top = top
        .filter(move |(key, _)| key.key().and_then(|key| workflow.phase_number_by_name(key)) == Some(number));
    below.chain(top).map(|(_, value)| value)
}

/// Each item of a list, or the value as one.
fn add_items(value: &Node<'_>, list: &mut Vec<String>) {
    match &value.kind {
        Kind::List { items, .. } => items.iter().for_each(|item| add_items(item, list)),
        Kind::Map { entries, .. } => {
            // `{description: …, status: open}`, or one constraint per key.
            let told = ["description", "text", "what", "decision", "reason"];
            match told.iter().find_map(|key| scalar_text(value, key)) {
                Some(text) => add(text, list),
                None => entries.iter().for_each(|(_, value)| add_items(value, list)),
            }
        }
        Kind::Scalar { .. } => {
            let text = value.text().unwrap_or_default();
            text.lines().for_each(|line| add(line, list));
        }
        Kind::Alias => {}
    }
}

fn add(text: &str, list: &mut Vec<String>) {
    let text = text.trim().trim_start_matches(['-', '*']).trim();
    // `blockers: 0`, `blockers: none`.
    let says_nothing =
        text.chars().all(|c| !c.is_alphabetic()) || text.eq_ignore_ascii_case("none") || text == "なし";
    if !says_nothing && list.len() < MOST && !list.iter().any(|known| known == text) {
        list.push(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use crate::feature::workflow::{Manifest, Workflow};

    fn lines(text: &str) -> Vec<String> {
        Manifest::parse(text.as_bytes(), |_| Some(Workflow::default())).unwrap().keep.lines()
    }

    #[test]
    fn what_must_stay_is_found() {
        let text = "\
constraints:
  - must use TDD
  - no new dependencies
critical_invariants: the store stays append-only
current_phase: 8
phases:
  3_discovery: {summary: 'Key decisions: old'}
  7_architecture_plan:
    summary: |
      Key decisions: signed cookies, valid for 30 days
      Full details: plan.md
  8_implementation:
    blockers: [waits for the API key]
    files_modified: [src/a.rs, 'src/b.rs (new)']
    files_deleted: [src/old.rs]
metrics: {blockers: 12}
architecture_plan:
  key_decisions:
    - session.rs owns the clock
";
        assert_eq!(
            lines(text),
            [
                "constraint: must use TDD",
                "constraint: no new dependencies",
                "constraint: the store stays append-only",
                "decided before: signed cookies, valid for 30 days",
                "decided before: session.rs owns the clock",
                "blocker: waits for the API key",
                "file in work: `src/a.rs`",
                "file in work: `src/b.rs`",
            ]
        );
    }

    #[test]
    fn a_phase_without_decisions_leads_to_the_one_before() {
        let text = "current_phase: 5\nphases:\n  3: {summary: 'Key decisions: keep it'}\n  4: {summary: 'Key decisions: none'}\n";
        assert_eq!(lines(text), ["decided before: keep it"]);
        assert_eq!(lines("blockers: none\nconstraints: []\nphases: {}\n"), [""; 0]);
    }
}

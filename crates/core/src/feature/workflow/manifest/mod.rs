//! `MANIFEST.yaml`: the progress of a workflow, in the forms that people and other tools write.
//!
//! It is authoritative for phases but not for gates: its writer could also claim that a gate was passed.

mod place;
mod section;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;

use crate::feature::workflow::BUILT_IN;
use crate::feature::workflow::definition::Workflow;
use crate::feature::workflow::must_stay::MustStay;
use crate::text::hidden::plain_word;
use crate::text::yaml;
use crate::text::yaml::{Kind, Node, Unreadable};
use crate::time::Millis;

use section::read_time;

pub use place::{DEVELOPMENT_FOLDERS, FEATURES_FOLDER, MANIFEST_FILE, is_feature_manifest, is_manifest};
pub use section::{PhaseSection, is_finished};
pub(super) use section::{flatten_text, scalar_text};
pub use write::{
    PhaseNote, begin_phase, complete_workflow, new_manifest, note_compacted, note_passed, note_phase,
    note_skipped,
};

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

/// Members that name what is built, the best first.
const NAMES: [&str; 5] = ["feature_name", "capability_name", "feature_slug", "capability_slug", "name"];

#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Name of the feature or capability.
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

fn read_whole(node: &Node<'_>, key: &str) -> Option<u64> {
    scalar_text(node, key)?.parse().ok()
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
            feature: NAMES.iter().find_map(|key| scalar_text(&root, key)).map(str::to_owned),
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
        self.named || is_feature_manifest(path) && self.has_phases()
    }

    /// Without phases nothing shows how far the work is.
    pub fn has_phases(&self) -> bool {
        self.current.is_some() || !self.sections.is_empty()
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

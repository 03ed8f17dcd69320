//! What this room has done.

use crate::feature::facts::Steps;
use crate::feature::verdict::Carried;

/// An effect of this room.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A manifest belongs to this session from now on.
    OwnManifest {
        /// The project, by its root.
        project: String,
        /// The manifest.
        manifest: String,
    },
    /// Note in a manifest that a compaction followed the end of a phase.
    NoteCompaction {
        /// The project, by its root.
        project: String,
        /// The manifest.
        manifest: String,
        /// The key of the phase's section.
        section: String,
    },
    /// Write a handoff, with these steps besides what is known without them.
    WriteHandoff(Vec<Steps>),
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        matches!(self, Effect::OwnManifest { .. })
    }
}

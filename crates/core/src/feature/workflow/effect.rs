use crate::feature::facts::Steps;
use crate::feature::verdict::Carried;
use crate::feature::workflow::closed::PendingGate;

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// The manifest belongs to this session from now on.
    OwnManifest { project: String, manifest: String },
    /// Note in the manifest that a compaction followed the end of a phase.
    NoteCompaction {
        project: String,
        manifest: String,
        /// Key of the phase's section.
        section: String,
    },
    /// This session heard of these unfinished workflows.
    RememberTold { project: String, manifests: Vec<String> },
    /// This session saw these gates closed.
    RememberClosed { project: String, manifest: String, workflow: String, closed: Vec<PendingGate> },
    /// Write a handoff that includes these steps.
    WriteHandoff(Vec<Steps>),
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        matches!(
            self,
            Effect::OwnManifest { .. } | Effect::RememberTold { .. } | Effect::RememberClosed { .. }
        )
    }
}

use crate::feature::facts::Steps;
use crate::feature::verdict::Carried;

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
    /// Write a handoff that includes these steps.
    WriteHandoff(Vec<Steps>),
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        matches!(self, Effect::OwnManifest { .. } | Effect::RememberTold { .. })
    }
}

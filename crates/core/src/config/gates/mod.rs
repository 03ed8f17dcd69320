//! What the gates and the phases go by: one file per section.

pub mod phase;
pub mod skill_gate;
pub mod task_gate;
pub mod verify_stop;

use std::collections::BTreeSet;

use super::section::Section;
use phase::PhaseMode;
use skill_gate::SkillGateMode;
use verify_stop::VerifyMode;

/// The sections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gates {
    /// Section `[skill_gate]`.
    pub skill_gate: skill_gate::Settings,
    /// Section `[verify_stop]`.
    pub verify_stop: verify_stop::Settings,
    /// Section `[task_gate]`.
    pub task_gate: task_gate::Settings,
    /// Section `[phase]`.
    pub phase: phase::Settings,
}

impl Gates {
    /// The sections, in the order in which they are shown.
    pub(super) fn sections(&self) -> [&dyn Section; 4] {
        [&self.skill_gate, &self.verify_stop, &self.task_gate, &self.phase]
    }

    /// The same, to be changed.
    pub(super) fn sections_mut(&mut self) -> [&mut dyn Section; 4] {
        [&mut self.skill_gate, &mut self.verify_stop, &mut self.task_gate, &mut self.phase]
    }

    /// Every skill that something here asks for or names, each once.
    pub fn skills(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        if self.skill_gate.mode != SkillGateMode::Off {
            let require = &self.skill_gate.require;
            let of_classes = [&require.code, &require.document, &require.config, &require.other];
            let of_paths = require.paths.0.iter().map(|(_, skills)| skills);
            let skills = of_classes.into_iter().chain(of_paths).flat_map(|skills| &skills.0);
            names.extend(skills.map(|skill| skill.0.as_str()));
        }
        if [self.verify_stop.mode, self.task_gate.mode].iter().any(|mode| *mode != VerifyMode::Off) {
            names.push(verify_stop::SKILL);
        }
        if self.phase.mode != PhaseMode::Off {
            names.extend(self.phase.labels().into_iter().flat_map(phase::Label::names));
        }
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(*name));
        names
    }
}

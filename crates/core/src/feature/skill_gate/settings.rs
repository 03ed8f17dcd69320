//! Section `[skill_gate]`: the skills that must be invoked before files are edited.

use crate::file_class::FileClass;
use crate::settings::list::{AgentType, Exempted, Required, Skill};
use crate::settings::section::section;
use crate::settings::setting::choices;
use crate::text::glob::Glob;

section! {
    /// Section `[skill_gate]`.
    Settings "skill_gate" {
        /// Before a required skill was invoked: deny the edit (`deny`), allow it and remind the model (`remind`), only record it (`shadow`), or do not look (`off`).
        mode: SkillGateMode = SkillGateMode::Deny, Tightens;
        /// For edits of subagents: require nothing (`exempt`), accept skills that the session invoked (`inherit`), or only skills that the subagent invoked itself (`own`).
        subagents: Subagents = Subagents::Inherit, Tightens;
        /// Types of subagents that start with the required skills loaded: their edits pass.
        preloaded: Exempted<AgentType> = Exempted::default(), Tightens;
        /// Files that need no skill, by pattern.
        exempt: Exempted<Glob> = Exempted::default(), Tightens;
    }
    presets {
        mode: SkillGateMode::Shadow, SkillGateMode::Deny;
    }
    sections {
        /// Section `[skill_gate.require]`.
        require: Require = Require::default();
    }
}

/// The section with the required skills.
pub const REQUIRE: &str = "skill_gate.require";

section! {
    /// Section `[skill_gate.require]`.
    Require "skill_gate.require" {
        /// Skills for code.
        code: Required<Skill> = Required::default(), Tightens;
        /// Skills for documents.
        document: Required<Skill> = Required::default(), Tightens;
        /// Skills for settings and data files.
        config: Required<Skill> = Required::default(), Tightens;
        /// Skills for all other files.
        other: Required<Skill> = Required::default(), Tightens;
    }
    presets {
        code: Required::default(), Required::new(&["code-quality-rules"]);
        document: Required::default(), Required::new(&["document-quality-rules"]);
    }
    patterns {
        /// Skills for files that match the pattern, in addition to those of their class.
        paths: Required<Skill>, Tightens;
    }
}

impl Settings {
    /// Skills without which every edit of code is denied or reminded of.
    pub fn before_code(&self) -> impl Iterator<Item = &str> {
        let speaks = matches!(self.mode, SkillGateMode::Deny | SkillGateMode::Remind);
        self.require.code.0.iter().filter(move |_| speaks).map(|skill| skill.0.as_str())
    }
}

impl Require {
    /// `path` is relative to the project's root. Skills of its class come first, then those of each matching pattern,
    /// without duplicates.
    pub fn skills(&self, path: &str) -> Vec<&str> {
        let class = match FileClass::of(path) {
            FileClass::Code => &self.code,
            FileClass::Document => &self.document,
            FileClass::Config => &self.config,
            FileClass::Other => &self.other,
        };
        let mut names: Vec<&str> = Vec::new();
        for skill in std::iter::once(class).chain(self.paths.of(path)).flat_map(|skills| &skills.0) {
            if !names.contains(&skill.0.as_str()) {
                names.push(&skill.0);
            }
        }
        names
    }

    pub fn all_skills(&self) -> impl Iterator<Item = &str> {
        let of_classes = [&self.code, &self.document, &self.config, &self.other];
        let of_paths = self.paths.0.iter().map(|(_, skills)| skills);
        of_classes.into_iter().chain(of_paths).flat_map(|skills| &skills.0).map(|skill| skill.0.as_str())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillGateMode {
    Deny,
    /// The edit passes, and the model is told.
    Remind,
    Shadow,
    Off,
}

choices!(SkillGateMode {
    "off" => SkillGateMode::Off,
    "shadow" => SkillGateMode::Shadow,
    "remind" => SkillGateMode::Remind,
    "deny" => SkillGateMode::Deny,
});

/// Whose skills count for a subagent's edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subagents {
    /// Subagents need no skills.
    Exempt,
    /// Skills invoked anywhere in the session.
    Inherit,
    /// Skills invoked by the subagent itself.
    Own,
}

choices!(Subagents {
    "exempt" => Subagents::Exempt,
    "inherit" => Subagents::Inherit,
    "own" => Subagents::Own,
});

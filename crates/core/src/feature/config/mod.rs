//! The config: all sections with their defaults, declared here and in the rooms.
//!
//! A section declares its keys, defaults, and what a project's file may do with them ([`crate::settings::section`]);
//! files and environment are layered ([`layer`]); a preset is one word for many values ([`Preset`]).

pub mod former_names;
pub mod layer;
mod preset;
pub mod schema;
pub mod status_line;

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Event, EventKind};
use crate::feature::PolicySettings;
use crate::feature::memory::settings::MemorySettings;
use crate::feature::skill_gate;
use crate::feature::skill_gate::settings::SkillGateMode;
use crate::feature::verification::verify_stop;
use crate::feature::verification::verify_stop::settings::VerifyMode;
use crate::settings::list::{Required, Tool};
use crate::settings::preset::Preset;
use crate::settings::section::{Section, section};
use crate::settings::setting::{Days, Whole, WholePath};
use crate::text::lang::Lang;
use layer::{FormerName, Origin, WaitingValue};
use status_line::StatusLineSettings;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Keys outside any section.
    pub general: GeneralSettings,
    pub meter: MeterSettings,
    pub status_line: StatusLineSettings,
    pub journal: JournalSettings,
    pub tools: ToolSettings,
    pub knowledge: KnowledgeSettings,
    pub memory: MemorySettings,
    pub policies: PolicySettings,
    /// From `TIDEGATE_OFF`.
    pub off: Vec<String>,
    /// From `tidegate off`.
    pub off_by_command: Vec<String>,
    /// Blocking policies that only advise here, because people overrode them often.
    pub stepped_down: Vec<String>,
    /// The subset that no hook has reported to a person yet.
    pub step_downs_to_tell: Vec<String>,
    /// Invalid values; earlier values count instead.
    pub problems: Vec<String>,
    pub broken: Vec<BrokenFile>,
    /// Names of an earlier version, which count like those of today; each once per file.
    pub former_names: Vec<FormerName>,
    /// Values of a project's files without effect.
    pub waiting: Vec<WaitingValue>,
    /// Skills that a file or a variable requires by name, as opposed to a preset.
    pub required_by_name: BTreeSet<String>,
    /// By `section.key`, except for built-in values.
    pub origins: BTreeMap<String, Origin>,
}

/// A config file that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenFile {
    pub file: String,
    /// Line of the mistake, if known.
    pub line: Option<usize>,
    /// The last readable version was kept.
    pub has_copy: bool,
    /// Decides about the copy: a user's counts as a whole, of a project's only stricter values. Stricter values of
    /// the file itself always count.
    pub owner: ConfigOwner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigOwner {
    User,
    Project,
}

impl BrokenFile {
    /// `/home/me/.config/tidegate/config.toml:3`.
    pub fn location(&self) -> String {
        self.line.map_or_else(|| self.file.clone(), |line| format!("{}:{line}", self.file))
    }
}

section! {
    /// Keys outside any section.
    GeneralSettings "" {
        /// How strict the policies are: `observe` only records, `guide` blocks a "done" without a check, `strict` switches every check on.
        preset: Preset = Preset::Guide, Tightens;
        /// The language of texts for people. Unset: the locale decides, else the language of the last prompt.
        lang: Option<Lang> = None, WithTrust;
        /// Characters for the model in one reply. Claude Code's own limit is 10,000.
        text_budget: Whole<200, 9_000> = Whole::new(1200), WithTrust;
    }
}

section! {
    /// Section `[meter]`.
    MeterSettings "meter" {
        /// The size of the context window in tokens, if Tidegate finds a wrong one.
        window: Option<Whole<1, { u64::MAX }>> = None, WithTrust;
    }
}

section! {
    /// Section `[journal]`.
    JournalSettings "journal" {
        /// How long to keep records.
        keep: Days = Days(30), WithTrust;
    }
}

section! {
    /// Section `[tools]`.
    ToolSettings "tools" {
        /// Tools of MCP servers that write files. A successful call counts as an edit.
        writers: Required<Tool> = Required::default(), Tightens;
    }
}

section! {
    /// Section `[knowledge]`.
    KnowledgeSettings "knowledge" {
        /// A file of learnings for all projects: `tidegate compound promote --to global` writes to it.
        global: Option<WholePath> = None, Never;
    }
}

impl Config {
    /// In the order of display.
    pub fn sections(&self) -> Vec<&dyn Section> {
        let mut sections: Vec<&dyn Section> = Vec::with_capacity(32);
        for section in self.general_sections().chain(self.policies.sections()) {
            sections.push(section);
            sections.extend(section.nested());
        }
        sections
    }

    /// Hides secrets.
    pub fn display_value(&self, assignment: &layer::Assignment) -> crate::settings::value::Value {
        let section = self.section(&assignment.section);
        section.map_or_else(
            || assignment.value.clone(),
            |section| section.shown(&assignment.key, &assignment.value),
        )
    }

    pub fn section(&self, name: &str) -> Option<&dyn Section> {
        let mut top = self.general_sections().chain(self.policies.sections());
        match name.split_once('.') {
            None => top.find(|section| section.name() == name),
            Some((outer, _)) => {
                let outer = top.find(|section| section.name() == outer)?;
                outer.nested().into_iter().find(|section| section.name() == name)
            }
        }
    }

    /// Sections that belong to no policy.
    fn general_sections(&self) -> impl Iterator<Item = &dyn Section> {
        let sections: [&dyn Section; 7] = [
            &self.general,
            &self.meter,
            &self.status_line,
            &self.journal,
            &self.tools,
            &self.knowledge,
            &self.memory,
        ];
        sections.into_iter()
    }

    fn section_mut(&mut self, name: &str) -> Option<&mut dyn Section> {
        let general: [&mut dyn Section; 7] = [
            &mut self.general,
            &mut self.meter,
            &mut self.status_line,
            &mut self.journal,
            &mut self.tools,
            &mut self.knowledge,
            &mut self.memory,
        ];
        let mut top = general.into_iter().chain(self.policies.sections_mut());
        match name.split_once('.') {
            None => top.find(|section| section.name() == name),
            Some((outer, _)) => {
                let outer = top.find(|section| section.name() == outer)?;
                outer.nested_mut().into_iter().find(|section| section.name() == name)
            }
        }
    }

    pub fn origin(&self, path: &str) -> &Origin {
        self.origins.get(path).unwrap_or(&Origin::BuiltIn)
    }

    /// Characters for the model in the reply to this event.
    pub fn text_budget(&self, event: &Event<'_>) -> usize {
        // Text for the summariser does not stay in the context, unless a person asked for the compaction: then the
        // client repeats it there (seen with 2.1.325).
        let summariser = event.kind == EventKind::PreCompact && !event.by_hand;
        let most = if summariser {
            self.policies.compaction.instructions.get()
        } else {
            self.general.text_budget.get()
        };
        most as usize
    }

    /// Skills that only a preset requires: they count where they are installed.
    pub fn is_of_preset(&self, skill: &str) -> bool {
        skill_gate::RULES.contains(&skill) && !self.required_by_name.contains(skill)
    }

    pub fn stepped_down(&self, policy: &str) -> bool {
        self.stepped_down.iter().any(|down| down == policy)
    }

    /// Edits that cannot be checked are denied.
    pub fn edit_gate_closes(&self) -> bool {
        let denies = self.policies.skill_gate.mode == SkillGateMode::Deny;
        denies && !self.switched_off(skill_gate::ID) && !self.stepped_down(skill_gate::ID)
    }

    /// The end of a turn that cannot be checked is blocked.
    pub fn stop_gate_closes(&self) -> bool {
        let blocks = self.policies.verify_stop.mode == VerifyMode::Block;
        blocks && !self.switched_off(verify_stop::ID) && !self.stepped_down(verify_stop::ID)
    }

    pub fn switched_off(&self, policy: &str) -> bool {
        self.off.iter().chain(&self.off_by_command).any(|off| off == policy)
    }
}

/// Parses `TIDEGATE_OFF=skill-gate,context-warning` into ids of today.
pub fn parse_off_list(list: &str) -> Vec<String> {
    split_off_list(list).map(|id| former_names::current_policy(id).to_owned()).collect()
}

/// As written.
pub fn split_off_list(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', ' ']).map(str::trim).filter(|id| !id.is_empty())
}

//! Settings, with their defaults: here and with each policy, once.
//!
//! A section is declared with its keys, defaults, and what a project's file may do with them ([`section`]); files and
//! environment are laid over each other ([`layer`]); a preset is one word for many values ([`Preset`]).

pub mod layer;
mod preset;
pub mod schema;

use std::collections::BTreeMap;

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
use layer::{Origin, Waiting};

/// Everything that can be set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Section-less keys.
    pub general: General,
    /// Section `[meter]`.
    pub meter: MeterSettings,
    /// Section `[journal]`.
    pub journal: JournalSettings,
    /// Section `[tools]`.
    pub tools: ToolSettings,
    /// Section `[knowledge]`.
    pub knowledge: KnowledgeSettings,
    /// Section `[memory]`.
    pub memory: MemorySettings,
    /// One section per policy.
    pub policies: PolicySettings,
    /// Policies that `TIDEGATE_OFF` switches off.
    pub off: Vec<String>,
    /// Policies that `tidegate off` switched off here.
    pub off_by_command: Vec<String>,
    /// Blocking policies that only advise here, since people overrode them so often.
    pub stepped_down: Vec<String>,
    /// Those of them that no hook has told a person yet.
    pub step_downs_to_tell: Vec<String>,
    /// What was wrong with the config; what stood there before counts instead.
    pub problems: Vec<String>,
    /// Files that cannot be read as a whole.
    pub broken: Vec<BrokenFile>,
    /// What a project's files say without effect.
    pub waiting: Vec<Waiting>,
    /// Where values come from that are not built in, by `section.key`.
    pub origins: BTreeMap<String, Origin>,
}

/// A config file that cannot be read as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenFile {
    /// Its path.
    pub file: String,
    /// The line with the mistake, where it is one of a line.
    pub line: Option<usize>,
    /// There is a copy of it as it could last be read.
    pub has_copy: bool,
    /// Whose it is: a user's copy counts, of a project's only what is stricter. Of the file itself that always does.
    pub owner: Owner,
}

/// Whose config file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The user's own.
    User,
    /// A project's.
    Project,
}

impl BrokenFile {
    /// `/home/me/.config/tidegate/config.toml:3`.
    pub fn place(&self) -> String {
        self.line.map_or_else(|| self.file.clone(), |line| format!("{}:{line}", self.file))
    }
}

section! {
    /// Keys outside any section.
    General "" {
        /// What the policies do: `observe` decides and says nothing, `guide` blocks where it has a fact, `strict` does everything.
        preset: Preset = Preset::Guide, Tightens;
        /// The language for people: `en` or `ja`. Unset: the locale, else the language of the last prompt.
        lang: Option<Lang> = None, WithTrust;
        /// Characters for the model in one reply. The host's own limit is 10,000.
        text_budget: Whole<200, 9_000> = Whole::new(1200), WithTrust;
    }
}

section! {
    /// Section `[meter]`.
    MeterSettings "meter" {
        /// The window in tokens, where the host and the model table are wrong.
        window: Option<Whole<1, { u64::MAX }>> = None, WithTrust;
    }
}

section! {
    /// Section `[journal]`.
    JournalSettings "journal" {
        /// How long records are kept.
        keep: Days = Days(30), WithTrust;
    }
}

section! {
    /// Section `[tools]`.
    ToolSettings "tools" {
        /// Tools of MCP servers that write files: a call of one that succeeded counts as an edit, like one of `Write`.
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
    /// All sections, in the order in which they are shown.
    pub fn sections(&self) -> Vec<&dyn Section> {
        let mut sections: Vec<&dyn Section> = Vec::with_capacity(32);
        for section in self.top().chain(self.policies.sections()) {
            sections.push(section);
            sections.extend(section.nested());
        }
        sections
    }

    /// What somebody wrote, as it may be shown.
    pub fn shown(&self, assignment: &layer::Assignment) -> crate::settings::value::Value {
        let section = self.section(&assignment.section);
        section.map_or_else(
            || assignment.value.clone(),
            |section| section.shown(&assignment.key, &assignment.value),
        )
    }

    /// The section of this name.
    pub fn section(&self, name: &str) -> Option<&dyn Section> {
        let mut top = self.top().chain(self.policies.sections());
        match name.split_once('.') {
            None => top.find(|section| section.name() == name),
            Some((outer, _)) => {
                let outer = top.find(|section| section.name() == outer)?;
                outer.nested().into_iter().find(|section| section.name() == name)
            }
        }
    }

    /// The sections that are no policy's.
    fn top(&self) -> impl Iterator<Item = &dyn Section> {
        let sections: [&dyn Section; 6] =
            [&self.general, &self.meter, &self.journal, &self.tools, &self.knowledge, &self.memory];
        sections.into_iter()
    }

    fn section_mut(&mut self, name: &str) -> Option<&mut dyn Section> {
        let general: [&mut dyn Section; 6] = [
            &mut self.general,
            &mut self.meter,
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

    /// Where a value comes from.
    pub fn origin(&self, path: &str) -> &Origin {
        self.origins.get(path).unwrap_or(&Origin::BuiltIn)
    }

    /// Characters for the model in the reply to this event.
    pub fn text_budget(&self, event: &Event<'_>) -> usize {
        // What goes to a summariser does not stay in the context, unless a person asked for the compaction: then the client
        // repeats it there (seen with 2.1.325).
        let summariser = event.kind == EventKind::PreCompact && !event.by_hand;
        let most = if summariser {
            self.policies.compaction.instructions.get()
        } else {
            self.general.text_budget.get()
        };
        most as usize
    }

    /// Whether a policy only advises here because people kept overriding it.
    pub fn stepped_down(&self, policy: &str) -> bool {
        self.stepped_down.iter().any(|down| down == policy)
    }

    /// Whether an edit that cannot be checked is not let through.
    pub fn edit_gate_closes(&self) -> bool {
        let denies = self.policies.skill_gate.mode == SkillGateMode::Deny;
        denies && !self.switched_off(skill_gate::ID) && !self.stepped_down(skill_gate::ID)
    }

    /// Whether a turn that cannot be checked is held at its end.
    pub fn stop_gate_closes(&self) -> bool {
        let blocks = self.policies.verify_stop.mode == VerifyMode::Block;
        blocks && !self.switched_off(verify_stop::ID) && !self.stepped_down(verify_stop::ID)
    }

    /// Whether a person switched this policy off.
    pub fn switched_off(&self, policy: &str) -> bool {
        self.off.iter().chain(&self.off_by_command).any(|off| off == policy)
    }
}

/// `TIDEGATE_OFF=skill-gate,pressure`.
pub fn split_off(list: &str) -> Vec<String> {
    list.split([',', ' ']).map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

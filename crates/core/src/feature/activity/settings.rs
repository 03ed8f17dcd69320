//! Section `[activity]`.

use crate::language_model::backend::Backend;
use crate::settings::list::{Required, Skill};
use crate::settings::preset::Preset;
use crate::settings::section::{Key, Project, Put, Section, Voice, Wrong, put, section};
use crate::settings::setting::{Setting, Whole, choices};
use crate::settings::value::Value;

section! {
    /// Section `[activity]`.
    Settings "activity" {
        /// When a prompt begins another activity: name its skills and files to the model (`advise`), only record it (`shadow`), or do not look (`off`).
        mode: PhaseMode = PhaseMode::Advise, Tightens;
        /// The confidence in per cent that the classifier needs to change the activity.
        confidence: Whole<0, 100> = Whole::new(80), WithTrust;
    }
    presets {
        mode: PhaseMode::Shadow, PhaseMode::Advise;
    }
    sections {
        /// Section `[activity.research]`.
        research: PhaseSettings = PhaseSettings::new("activity.research", &[]);
        /// Section `[activity.brainstorm]`.
        brainstorm: PhaseSettings = PhaseSettings::new("activity.brainstorm", &[]);
        /// Section `[activity.spec]`.
        spec: PhaseSettings = PhaseSettings::new("activity.spec", &[]);
        /// Section `[activity.design]`.
        design: PhaseSettings = PhaseSettings::new("activity.design", &[]);
        /// Section `[activity.plan]`.
        plan: PhaseSettings = PhaseSettings::new("activity.plan", &[]);
        /// Section `[activity.implement]`.
        implement: PhaseSettings = PhaseSettings::new("activity.implement", RULES);
        /// Section `[activity.debug]`.
        debug: PhaseSettings = PhaseSettings::new("activity.debug", RULES);
        /// Section `[activity.review]`.
        review: PhaseSettings = PhaseSettings::new("activity.review", &[]);
        /// Section `[activity.ship]`.
        ship: PhaseSettings = PhaseSettings::new("activity.ship", &[]);
        /// Section `[activity.reflect]`.
        reflect: PhaseSettings = PhaseSettings::new("activity.reflect", &[]);
        /// Section `[activity.llm]`.
        llm: Backend = Backend::default();
    }
}

impl Settings {
    /// In the usual order of work.
    pub fn labels(&self) -> [&PhaseSettings; 10] {
        [
            &self.research,
            &self.brainstorm,
            &self.spec,
            &self.design,
            &self.plan,
            &self.implement,
            &self.debug,
            &self.review,
            &self.ship,
            &self.reflect,
        ]
    }

    /// `None` for `other` and unknown words.
    pub fn label(&self, label: &str) -> Option<&PhaseSettings> {
        self.labels().into_iter().find(|found| found.section.strip_prefix("activity.") == Some(label))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseMode {
    /// Tells the model.
    Advise,
    /// Only records.
    Shadow,
    Off,
}

choices!(PhaseMode {
    "off" => PhaseMode::Off,
    "shadow" => PhaseMode::Shadow,
    "advise" => PhaseMode::Advise,
});

const RULES: &[&str] = &["code-quality-rules"];

/// The settings of one phase: all have the same key.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseSettings {
    section: &'static str,
    /// The skills that the preset `strict` names.
    strict: &'static [&'static str],
    /// Skills that are named when it begins.
    pub skills: Required<Skill>,
}

const SKILLS: Key = Key {
    name: "skills",
    doc: "Skills to name when this activity begins. Invoking one of them begins it, too.",
    shape: <Required<Skill> as Setting>::SHAPE,
    project: Project::Tightens,
};

impl PhaseSettings {
    fn new(section: &'static str, strict: &'static [&'static str]) -> PhaseSettings {
        PhaseSettings { section, strict, skills: Required::default() }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.skills.0.iter().map(|skill| skill.0.as_str())
    }
}

impl Section for PhaseSettings {
    fn name(&self) -> &'static str {
        self.section
    }

    fn keys(&self) -> &'static [Key] {
        const KEYS: &[Key] = &[SKILLS];
        KEYS
    }

    fn preset(&self, preset: Preset) -> Vec<(&'static str, Value)> {
        if self.strict.is_empty() {
            return Vec::new();
        }
        let skills = if preset == Preset::Strict { self.strict } else { &[] };
        vec![(SKILLS.name, Required::<Skill>::new(skills).to_value())]
    }

    fn get(&self, key: &str) -> Value {
        if key == SKILLS.name { self.skills.to_value() } else { Value::Nothing }
    }

    fn check(&self, key: &str, value: &Value) -> Result<(), Wrong> {
        if key != SKILLS.name {
            return Err(Wrong::Unknown);
        }
        Required::<Skill>::read(value).map(drop).map_err(Wrong::Value)
    }

    fn put(&mut self, key: &str, value: &Value, voice: Voice) -> Put {
        if key == SKILLS.name { put(&mut self.skills, value, SKILLS.project, voice) } else { Put::Kept }
    }
}

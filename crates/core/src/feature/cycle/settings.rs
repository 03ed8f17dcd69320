//! Section `[cycle]`: the mode, and the cycles by name.
//!
//! A project's own cycle waits for trust: it names the skills that the model is sent to, a repository can bring
//! skills of its own, and `min_left` can be anything. A person sees all of that before it steers a session.

use serde_json::json;

use crate::feature::cycle::BUILT_IN;
use crate::feature::cycle::definition;
use crate::feature::cycle::definition::{BUILT_IN_STAGES, Cycle};
use crate::feature::cycle::reserved::step_of;
use crate::settings::preset::Preset;
use crate::settings::section::{Key, Named, Project, Put, Section, Voice, Wrong, put};
use crate::settings::setting::{Setting, choices};
use crate::settings::value::Value;
use crate::text::reserved::{Step, may_name_step};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleMode {
    Off,
    Shadow,
    On,
}

choices!(CycleMode { "off" => CycleMode::Off, "shadow" => CycleMode::Shadow, "on" => CycleMode::On });

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub mode: CycleMode,
    /// Includes the built-in cycle only if a config replaces it.
    cycles: Vec<(String, Cycle)>,
}

impl Default for Settings {
    fn default() -> Settings {
        // The built-in cycle is created on demand: every hook run creates a config.
        Settings { mode: CycleMode::On, cycles: Vec::new() }
    }
}

const MODE: Key = Key {
    name: "mode",
    doc: "When a stage is done: start the next one (`on`), only record it (`shadow`), or do not look (`off`).",
    shape: <CycleMode as Setting>::SHAPE,
    project: Project::Tightens,
};

const NAMED: Named = Named {
    doc: "A cycle: `stages`, a list of `{ name, skill, min_left, done_when }`, and `fix_loop_limit`. Without `stages` or `fix_loop_limit`, \
          those of `dev-cycle` count. The default `skill` of a stage is its name, its default `min_left` is `\"auto\"`. `done_when` lists what \
          Tidegate must see before the stage is done: `skill`, `verified`, `no-open-findings`, `commit`, `file:PATH`. By default `skill`, for \
          `sprint` also `verified`, for `audit` also `verified` and `no-open-findings`, for `ship` also `commit`.",
    what: "a cycle's name",
    takes: "a table",
    project: Project::WithTrust,
    schema: || {
        let text = json!({ "type": "string", "minLength": 1, "maxLength": 64 });
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "stages": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 20,
                    "items": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["name"],
                        "properties": {
                            "name": text,
                            "skill": text,
                            "min_left": { "type": "string", "pattern": "^ *([0-9]+(\\.[0-9]+)? *(%|k|K)?|auto) *$" },
                            "done_when": {
                                "type": "array",
                                "maxItems": 16,
                                "uniqueItems": true,
                                "items": {
                                    "type": "string",
                                    "pattern": "^(skill|verified|no-open-findings|commit|file:[^/].*)$",
                                },
                            },
                        },
                    },
                },
                "fix_loop_limit": { "type": "integer", "minimum": 0, "maximum": 100 },
            },
        })
    },
};

impl Settings {
    pub fn cycle(&self, name: &str) -> Option<Cycle> {
        let known = self.cycles.iter().find(|(known, _)| known == name).map(|(_, cycle)| cycle.clone());
        known.or_else(|| (name == BUILT_IN).then(Cycle::default))
    }

    pub fn configured_names(&self) -> impl Iterator<Item = &str> {
        self.cycles.iter().map(|(name, _)| name.as_str())
    }

    /// The stages of all cycles as people speak of them; none where the policy is off.
    pub fn steps(&self) -> Vec<Step> {
        if self.mode == CycleMode::Off {
            return Vec::new();
        }
        let cycles = self.cycle_names().filter_map(|name| self.cycle(name));
        cycles
            .flat_map(|cycle| {
                (0..cycle.stages.len()).filter_map(|at| step_of(&cycle, at)).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Those of [`Settings::steps`] that make work public.
    pub fn publishing_steps(&self) -> Vec<Step> {
        self.steps().into_iter().filter(|step| step.publishes).collect()
    }

    /// Whether a prompt may name a stage: a quick look before [`Settings::steps`].
    pub fn may_name_step(&self, prompt: &str) -> bool {
        let configured = self
            .cycles
            .iter()
            .flat_map(|(_, cycle)| &cycle.stages)
            .flat_map(|stage| [stage.name.as_str(), stage.skill.rsplit(':').next().unwrap_or_default()]);
        self.mode != CycleMode::Off
            && may_name_step(prompt, BUILT_IN_STAGES.iter().map(|(name, _)| *name).chain(configured))
    }

    /// The built-in cycle first.
    pub fn cycle_names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(BUILT_IN).chain(self.configured_names().filter(|name| *name != BUILT_IN))
    }
}

impl Section for Settings {
    fn name(&self) -> &'static str {
        "cycle"
    }

    fn keys(&self) -> &'static [Key] {
        const KEYS: &[Key] = &[MODE];
        KEYS
    }

    fn named(&self) -> Option<Named> {
        Some(NAMED)
    }

    fn names(&self) -> Vec<&str> {
        std::iter::once(MODE.name).chain(self.cycle_names()).collect()
    }

    fn project(&self, name: &str) -> Option<Project> {
        if name == MODE.name {
            Some(MODE.project)
        } else {
            definition::is_cycle_name(name).then_some(NAMED.project)
        }
    }

    fn preset(&self, preset: Preset) -> Vec<(&'static str, Value)> {
        let mode = match preset {
            Preset::Observe => CycleMode::Shadow,
            Preset::Guide => CycleMode::On,
            Preset::Strict => CycleMode::On,
        };
        vec![(MODE.name, mode.to_value())]
    }

    fn get(&self, key: &str) -> Value {
        if key == MODE.name {
            return self.mode.to_value();
        }
        self.cycle(key).map_or(Value::Nothing, |cycle| cycle.to_value())
    }

    fn check(&self, key: &str, value: &Value) -> Result<(), Wrong> {
        match key {
            "mode" => CycleMode::read(value).map(drop).map_err(Wrong::Value),
            // A mistyped key.
            _ if !value.is_table() => Err(Wrong::Unknown),
            name if !definition::is_cycle_name(name) => {
                Err(Wrong::Value("this cannot name a cycle".to_owned()))
            }
            _ => Cycle::read(value).map(drop).map_err(Wrong::Value),
        }
    }

    fn put(&mut self, key: &str, value: &Value, voice: Voice) -> Put {
        if key == MODE.name {
            return put(&mut self.mode, value, MODE.project, voice);
        }
        let Ok(new) = Cycle::read(value) else { return Put::Kept };
        if self.cycle(key).as_ref() == Some(&new) {
            return Put::Kept;
        }
        if voice == Voice::Untrusted {
            return Put::Waits;
        }
        self.cycles.retain(|(name, _)| name != key);
        self.cycles.push((key.to_owned(), new));
        Put::Taken
    }
}

//! Section `[workflow]`: the mode, the base of the ladder, and the workflows by name.
//!
//! A project's own workflow waits for trust: it decides where gates lie, and one without gates blocks nothing.

use serde_json::json;

use crate::feature::workflow::BUILT_IN;
use crate::feature::workflow::definition;
use crate::feature::workflow::definition::Workflow;
use crate::host::window::Window;
use crate::meter::Reading;
use crate::settings::preset::Preset;
use crate::settings::section::{Key, Named, Project, Put, Section, Voice, Wrong, put};
use crate::settings::setting::{Setting, Shape, choices};
use crate::settings::value::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkflowMode {
    Off,
    Shadow,
    /// Blocks agents while a workflow is under way.
    On,
    /// Blocks agents in every session once the context is full enough, and requires a compaction at every gate.
    Strict,
}

choices!(WorkflowMode {
    "off" => WorkflowMode::Off,
    "shadow" => WorkflowMode::Shadow,
    "on" => WorkflowMode::On,
    "strict" => WorkflowMode::Strict,
});

/// Tokens in use from which agents are blocked, on every window: `"170k"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RotAt(pub u64);

impl RotAt {
    fn parse(text: &str) -> Option<RotAt> {
        let text = text.trim();
        let (part, factor) = match text.strip_suffix(['k', 'K']) {
            Some(part) => (part, 1000.0),
            None => (text, 1.0),
        };
        let number = part.trim().parse::<f64>().ok().filter(|number| (1.0..1e7).contains(number))?;
        Some(RotAt((number * factor) as u64)).filter(|rot| rot.0 >= 1000)
    }

    /// Places the 85% level at these tokens and the other levels around it, as on a window of 200K.
    pub fn level(self, reading: &Reading) -> Option<u8> {
        let window = Window { tokens: self.0 * 200 / 170, compact_at: None };
        Reading { window: Some(window), ..reading.clone() }.level()
    }
}

impl Setting for RotAt {
    const SHAPE: Shape = Shape::Text { pattern: "^ *[0-9]+(\\.[0-9]+)? *(k|K)? *$", example: "\"170k\"" };

    fn from_value(value: &Value) -> Option<RotAt> {
        match value {
            Value::Text(text) => RotAt::parse(text),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        match self.0 {
            tokens if tokens % 1000 == 0 => Value::Text(format!("{}k", tokens / 1000)),
            tokens => Value::Text(tokens.to_string()),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub mode: WorkflowMode,
    /// Replaces the levels before the reference point.
    pub rot_at: Option<RotAt>,
    /// Includes the built-in workflow only if a config replaces it.
    workflows: Vec<(String, Workflow)>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { mode: WorkflowMode::On, rot_at: None, workflows: Vec::new() }
    }
}

const MODE: Key = Key {
    name: "mode",
    doc: "Block agents at checkpoints and in a nearly full context while a workflow is active (`on`). `strict` also blocks in a nearly \
          full context of any session, and requires a compaction at each checkpoint. Or only record it (`shadow`), or do not look (`off`).",
    shape: <WorkflowMode as Setting>::SHAPE,
    project: Project::Tightens,
};

const ROT_AT: Key = Key {
    name: "rot_at",
    doc: "Block new agents from this many tokens in use, whatever the window. The other levels move with it: with `\"170k\"` they are \
          120k, 150k, 160k, 170k and 190k tokens in use.",
    shape: <RotAt as Setting>::SHAPE,
    project: Project::WithTrust,
};

const NAMED: Named = Named {
    doc: "A workflow: `phases`, a list of names or `{ name, gate, heavy }`. A phase with `gate = true` ends with a checkpoint; a phase \
          with `heavy = true` spawns many agents.",
    what: "a workflow's name",
    takes: "a table",
    project: Project::WithTrust,
    schema: || {
        let name = json!({ "type": "string", "minLength": 1, "maxLength": 64 });
        let flag = json!({ "type": "boolean" });
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["phases"],
            "properties": {
                "phases": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 40,
                    "items": {
                        "anyOf": [
                            name,
                            {
                                "type": "object",
                                "additionalProperties": false,
                                "required": ["name"],
                                "properties": { "name": name, "gate": flag, "heavy": flag },
                            },
                        ],
                    },
                },
            },
        })
    },
};

impl Settings {
    pub fn workflow(&self, name: &str) -> Option<Workflow> {
        let known =
            self.workflows.iter().find(|(known, _)| known == name).map(|(_, workflow)| workflow.clone());
        known.or_else(|| (name == BUILT_IN).then(Workflow::default))
    }

    /// The built-in workflow first.
    pub fn workflow_names(&self) -> impl Iterator<Item = &str> {
        let others = self.workflows.iter().map(|(name, _)| name.as_str()).filter(|name| *name != BUILT_IN);
        std::iter::once(BUILT_IN).chain(others)
    }

    /// The level of context use on the configured ladder.
    pub fn level(&self, reading: &Reading) -> Option<u8> {
        match self.rot_at {
            Some(rot_at) => rot_at.level(reading),
            None => reading.level(),
        }
    }
}

impl Section for Settings {
    fn name(&self) -> &'static str {
        "workflow"
    }

    fn keys(&self) -> &'static [Key] {
        const KEYS: &[Key] = &[MODE, ROT_AT];
        KEYS
    }

    fn named(&self) -> Option<Named> {
        Some(NAMED)
    }

    fn names(&self) -> Vec<&str> {
        [MODE.name, ROT_AT.name].into_iter().chain(self.workflow_names()).collect()
    }

    fn project(&self, name: &str) -> Option<Project> {
        match name {
            "mode" => Some(MODE.project),
            "rot_at" => Some(ROT_AT.project),
            name => definition::is_workflow_name(name).then_some(NAMED.project),
        }
    }

    fn preset(&self, preset: Preset) -> Vec<(&'static str, Value)> {
        let mode = match preset {
            Preset::Observe => WorkflowMode::Shadow,
            Preset::Guide => WorkflowMode::On,
            Preset::Strict => WorkflowMode::Strict,
        };
        vec![(MODE.name, mode.to_value())]
    }

    fn get(&self, key: &str) -> Value {
        match key {
            "mode" => self.mode.to_value(),
            "rot_at" => self.rot_at.to_value(),
            name => self.workflow(name).map_or(Value::Nothing, |workflow| workflow.to_value()),
        }
    }

    fn check(&self, key: &str, value: &Value) -> Result<(), Wrong> {
        match key {
            "mode" => WorkflowMode::read(value).map(drop).map_err(Wrong::Value),
            "rot_at" => Option::<RotAt>::read(value).map(drop).map_err(Wrong::Value),
            // A mistyped key.
            _ if !value.is_table() => Err(Wrong::Unknown),
            name if !definition::is_workflow_name(name) => {
                Err(Wrong::Value("this cannot name a workflow".to_owned()))
            }
            _ => Workflow::read(value).map(drop).map_err(Wrong::Value),
        }
    }

    fn put(&mut self, key: &str, value: &Value, voice: Voice) -> Put {
        match key {
            "mode" => return put(&mut self.mode, value, MODE.project, voice),
            "rot_at" => return put(&mut self.rot_at, value, ROT_AT.project, voice),
            _ => {}
        }
        let Ok(new) = Workflow::read(value) else { return Put::Kept };
        if self.workflow(key).as_ref() == Some(&new) {
            return Put::Kept;
        }
        if voice == Voice::Untrusted {
            return Put::Waits;
        }
        self.workflows.retain(|(name, _)| name != key);
        self.workflows.push((key.to_owned(), new));
        Put::Taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::Source;
    use crate::time::Millis;

    #[test]
    fn absolute_numbers_on_a_large_window() {
        let window = Some(Window { tokens: 1_000_000, compact_at: Some(967_000) });
        let level = |used, rot: &str| {
            let reading = Reading { used, window, source: Source::Transcript, at: Millis(0), outgrown: None };
            RotAt::parse(rot).and_then(|rot| rot.level(&reading))
        };
        for (used, is) in [
            (119_999, 0),
            (120_000, 60),
            (150_000, 75),
            (160_000, 80),
            (169_999, 80),
            (170_000, 85),
            (190_000, 95),
        ] {
            assert_eq!(level(used, "170k"), Some(is), "{used}");
        }
        for wrong in ["", "k", "-1k", "much", "NaN", "1e9", "170 thousand", "85%"] {
            assert_eq!(RotAt::parse(wrong), None, "{wrong}");
        }
    }
}

//! Layers: built-in < user < project < local < environment. A later one counts more, but a project's own files can
//! only tighten until a person trusts them.

use std::fmt;

use super::Config;
use super::near::nearest;
use super::section::{Put, Section, Voice, Wrong};
use super::value::Value;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Ours.
    BuiltIn,
    /// A line of a file.
    Line(String, usize),
    /// The preset that a line of a file chose.
    Preset(Box<Origin>),
    /// A variable.
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::BuiltIn => out.write_str("built in"),
            Origin::Line(file, line) => write!(out, "{file}:{line}"),
            Origin::Preset(origin) => write!(out, "preset at {origin}"),
            Origin::Variable(name) => out.write_str(name),
        }
    }
}

/// A key that is set somewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The section; empty above all sections.
    pub section: String,
    /// The key.
    pub key: String,
    /// The value.
    pub value: Value,
    /// Where.
    pub origin: Origin,
}

impl Assignment {
    /// `section.key`.
    pub fn path(&self) -> String {
        path(&self.section, &self.key)
    }
}

/// `section.key`, or the key alone above all sections.
pub fn path(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

/// Everything one file, or the environment, says.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Whose word it is.
    pub voice: Voice,
    /// What it sets.
    pub assignments: Vec<Assignment>,
}

/// A value that would count if a person trusted its file, or that can never count from there.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// What.
    pub assignment: Assignment,
    /// What counts instead.
    pub now: Value,
    /// Trust would not help: only the user's own config may say this.
    pub never: bool,
}

impl Config {
    /// Takes one more layer. A section of it with a value that cannot be used is left out as a whole, so that what was
    /// there before stands; `problems` says so.
    pub fn apply(&mut self, layer: &Layer) {
        let mut broken: Vec<&str> = Vec::new();
        for assignment in &layer.assignments {
            let Assignment { section, key, value, origin } = assignment;
            let Some(found) = self.section(section) else {
                let names = self.sections().into_iter().map(Section::name).filter(|name| !name.is_empty());
                let hint = did_you_mean(nearest(section, names));
                self.problems.push(format!("{origin}: there is no section [{section}]{hint}"));
                broken.push(section);
                continue;
            };
            match found.check(key, value) {
                Ok(()) => {}
                Err(Wrong::Unknown) => {
                    let hint = did_you_mean(nearest(key, found.keys().iter().map(|key| key.name)));
                    self.problems.push(format!("{origin}: there is no key `{}`{hint}", assignment.path()));
                }
                Err(Wrong::Value(why)) => {
                    let left_out = match section.as_str() {
                        "" => "the keys above all sections are".to_owned(),
                        section => format!("[{section}] is"),
                    };
                    self.problems
                        .push(format!("{origin}: `{}`: {why}; {left_out} left out here", assignment.path()));
                    broken.push(section);
                }
            }
        }
        let mut usable: Vec<&Assignment> =
            layer.assignments.iter().filter(|found| !broken.contains(&found.section.as_str())).collect();
        // A section is only said to be missing once.
        self.problems.dedup();
        if let Some(at) = usable.iter().position(|found| found.path() == "preset") {
            let chosen = usable.remove(at);
            self.choose_preset(chosen, layer.voice);
        }
        for assignment in usable {
            self.assign(assignment, layer.voice);
        }
    }

    /// Takes a preset and what it stands for. Other values of its layer come after it and count more.
    fn choose_preset(&mut self, chosen: &Assignment, voice: Voice) {
        if self.assign(chosen, voice) != Put::Taken {
            return;
        }
        for (section, key, value) in self.general.preset.values() {
            let Some(found) = self.section_mut(section) else { continue };
            if found.put(key, &value, voice) == Put::Taken {
                self.origins.insert(path(section, key), Origin::Preset(Box::new(chosen.origin.clone())));
            }
        }
    }

    fn assign(&mut self, assignment: &Assignment, voice: Voice) -> Put {
        let Some(section) = self.section_mut(&assignment.section) else { return Put::Kept };
        let now = section.get(&assignment.key);
        let put = section.put(&assignment.key, &assignment.value, voice);
        match put {
            Put::Taken => {
                self.origins.insert(assignment.path(), assignment.origin.clone());
            }
            Put::Kept => {}
            Put::Waits | Put::Refused => {
                let never = put == Put::Refused;
                self.waiting.push(Waiting { assignment: assignment.clone(), now, never });
            }
        }
        put
    }

    /// What the environment says: variables named `TIDEGATE_` and the key's path.
    pub fn layer_of_environment(&self, variables: &[(String, String)]) -> Layer {
        let mut assignments = Vec::new();
        for (name, text) in variables {
            let mut keys = self.sections().into_iter().flat_map(|section| {
                section
                    .keys()
                    .iter()
                    .map(move |key| (section.name(), key, variable(section.name(), key.name)))
            });
            let origin = Origin::Variable(name.clone());
            let assignment = match keys.find(|(_, _, variable)| variable == name) {
                Some((section, key, _)) => Assignment {
                    section: section.to_owned(),
                    key: key.name.to_owned(),
                    value: key.shape.from_text(text),
                    origin,
                },
                // The variable is no key's: said like any other key that is not there.
                None => Assignment {
                    section: String::new(),
                    key: name.trim_start_matches("TIDEGATE_").to_ascii_lowercase(),
                    value: text.as_str().into(),
                    origin,
                },
            };
            assignments.push(assignment);
        }
        Layer { voice: Voice::Environment, assignments }
    }
}

/// The variable of a key: `TIDEGATE_PRESSURE_MODE`.
pub fn variable(section: &str, key: &str) -> String {
    format!("TIDEGATE_{}", path(section, key).replace('.', "_").to_ascii_uppercase())
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

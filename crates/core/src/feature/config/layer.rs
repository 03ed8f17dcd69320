//! Layers: built-in < user < project < local < environment. A later one counts more, but a project's own files can
//! only tighten until a person trusts them.

use std::collections::BTreeSet;
use std::fmt;

use crate::feature::config::Config;
use crate::settings::near;
use crate::settings::section::{Put, Section, Voice, Wrong};
use crate::settings::value::{Value, key_text};
use crate::text::characters::judged;

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
    /// What the first said, with what the second added.
    Both(Box<Origin>, Box<Origin>),
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::BuiltIn => out.write_str("built in"),
            Origin::Line(file, line) => write!(out, "{file}:{line}"),
            Origin::Preset(origin) => write!(out, "preset at {origin}"),
            Origin::Variable(name) => out.write_str(name),
            Origin::Both(first, second) => write!(out, "{first} and {second}"),
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
    let key = key_text(key);
    if section.is_empty() { key.into_owned() } else { format!("{section}.{key}") }
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
    /// Trust would not help: only the user's own config may say this.
    pub never: bool,
    /// What it adds to a list counts already; what it would drop does not.
    pub in_part: bool,
}

/// So many problems are described; of the rest it is enough that they are there.
const MOST_HINTS: usize = 20;

impl Config {
    /// Takes one more layer. Of a section with a value that cannot be used only what makes something stricter is taken, so
    /// that what was there before stands; `problems` says so.
    pub fn apply(&mut self, layer: &Layer) {
        let mut broken: BTreeSet<&str> = BTreeSet::new();
        let mut unknown: BTreeSet<&str> = BTreeSet::new();
        for assignment in &layer.assignments {
            let Assignment { section, key, value, origin } = assignment;
            let hints = self.problems.len() < MOST_HINTS;
            let problem = match self.section(section).map(|found| (found, found.check(key, value))) {
                Some((_, Ok(()))) => continue,
                None if !unknown.insert(section) => continue,
                None => {
                    let names =
                        self.sections().into_iter().map(Section::name).filter(|name| !name.is_empty());
                    let hint = if hints { near::hint(section, names) } else { String::new() };
                    format!("there is no section [{}]{hint}", plain(section))
                }
                Some((_, Err(Wrong::Unknown))) if matches!(origin, Origin::Variable(_)) => {
                    let hint = if hints { self.near_variable(origin) } else { String::new() };
                    format!("no setting has this variable{hint}")
                }
                Some((_, Err(Wrong::Unknown))) if self.section(&assignment.path()).is_some() => {
                    let section = assignment.path();
                    format!("`{section}` is a section, not a key: write it as [{section}]")
                }
                Some((found, Err(Wrong::Unknown))) => {
                    let within = found.nested().into_iter().map(|section| last(section.name()));
                    let names = found.keys().iter().map(|key| key.name).chain(within);
                    let hint = match near::hint(key, names) {
                        _ if !hints => String::new(),
                        near if near.is_empty() && found.patterns().is_some() => pattern_hint(key, value),
                        near => near,
                    };
                    let what = if value.is_table() { "section" } else { "key" };
                    format!("there is no {what} `{}`{hint}", plain(&assignment.path()))
                }
                Some((_, Err(Wrong::Value(why)))) => {
                    broken.insert(section);
                    let left_out = match section.as_str() {
                        "" => "the keys above all sections are".to_owned(),
                        section => format!("[{section}] is"),
                    };
                    format!("`{}`: {why}; {left_out} left out here", plain(&assignment.path()))
                }
            };
            self.problems.push(format!("{origin}: {problem}"));
        }
        let known = layer.assignments.iter().filter(|found| !unknown.contains(found.section.as_str()));
        let (rest, usable): (Vec<&Assignment>, Vec<&Assignment>) =
            known.partition(|found| broken.contains(found.section.as_str()));
        for assignment in rest {
            self.tighten(assignment);
        }
        // A preset first: other values of its layer come after it and count more.
        let (presets, others): (Vec<&Assignment>, Vec<&Assignment>) =
            usable.into_iter().partition(|found| found.path() == "preset");
        for chosen in presets {
            self.choose_preset(chosen, layer.voice);
        }
        for assignment in others {
            self.assign(assignment, layer.voice);
        }
    }

    /// Takes a value of a broken section if it makes something stricter; else it stands there without effect.
    fn tighten(&mut self, assignment: &Assignment) {
        if assignment.path() == "preset" {
            let before = self.waiting.len();
            self.choose_preset(assignment, Voice::Untrusted);
            self.waiting.truncate(before);
        } else if let Some(section) = self.section_mut(&assignment.section) {
            let put = section.put(&assignment.key, &assignment.value, Voice::Untrusted);
            self.note_origin(assignment.path(), assignment.origin.clone(), &put);
        }
    }

    /// Takes a preset and what it stands for.
    fn choose_preset(&mut self, chosen: &Assignment, voice: Voice) {
        if self.assign(chosen, voice) != Put::Taken {
            return;
        }
        for (section, key, value) in self.preset_values(self.general.preset) {
            let Some(found) = self.section_mut(section) else { continue };
            let put = found.put(key, &value, voice);
            self.note_origin(path(section, key), Origin::Preset(Box::new(chosen.origin.clone())), &put);
        }
    }

    fn assign(&mut self, assignment: &Assignment, voice: Voice) -> Put {
        let Some(section) = self.section_mut(&assignment.section) else { return Put::Kept };
        let put = section.put(&assignment.key, &assignment.value, voice);
        self.note_origin(assignment.path(), assignment.origin.clone(), &put);
        if matches!(put, Put::TakenInPart | Put::Waits | Put::Refused) {
            let (never, in_part) = (put == Put::Refused, put == Put::TakenInPart);
            self.waiting.push(Waiting { assignment: assignment.clone(), never, in_part });
        }
        put
    }

    /// Remembers where a value comes from, if it counts.
    fn note_origin(&mut self, path: String, origin: Origin, put: &Put) {
        let origin = match put {
            Put::Taken => origin,
            Put::TakenInPart => Origin::Both(Box::new(self.origin(&path).clone()), Box::new(origin)),
            Put::Kept | Put::Waits | Put::Refused => return,
        };
        self.origins.insert(path, origin);
    }

    /// The variable that a mistyped one most likely means.
    fn near_variable(&self, origin: &Origin) -> String {
        const PREFIX: &str = "TIDEGATE_";
        let Origin::Variable(name) = origin else { return String::new() };
        let sections = self.sections().into_iter();
        let names =
            sections.flat_map(|section| section.keys().iter().map(|key| variable(section.name(), key.name)));
        // What all of them begin with says nothing about which is near.
        let names: Vec<String> = names.map(|name| name.trim_start_matches(PREFIX).to_owned()).collect();
        let near = near::nearest(name.trim_start_matches(PREFIX), names.iter().map(String::as_str));
        near.map(|near| format!("; did you mean `{PREFIX}{near}`?")).unwrap_or_default()
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

/// How a key that was to be a pattern is written as one.
fn pattern_hint(key: &str, value: &Value) -> String {
    if value.is_table() {
        return "; a pattern with a dot in it stands in quotes".to_owned();
    }
    let plain = plain(key);
    format!("; a pattern for files of this name is written \"**/{plain}\"")
}

/// The last part of a section's name.
fn last(section: &str) -> &str {
    section.rsplit('.').next().unwrap_or(section)
}

/// A name that somebody else wrote, fit for a terminal and a journal: short, and without anything that steers either.
fn plain(name: &str) -> String {
    const LONGEST: usize = 64;
    let safe = |(c, is_plain): (char, bool)| if is_plain { c } else { '\u{fffd}' };
    let mut plain: String = judged(name).take(LONGEST).map(safe).collect();
    if name.chars().nth(LONGEST).is_some() {
        plain.push('…');
    }
    plain
}

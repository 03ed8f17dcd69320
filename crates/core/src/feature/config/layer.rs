//! Layers: built-in < user < project < local < environment. A later layer overrides earlier ones, but a project's own
//! files can only tighten until a person trusts them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::feature::config::Config;
use crate::feature::config::former_names;
use crate::feature::skill_gate;
use crate::settings::list::{Item, Tool};
use crate::settings::near;
use crate::settings::section::{Put, Section, Voice, Wrong};
use crate::settings::setting::Shape;
use crate::settings::value::{Value, key_text};
use crate::text::cut::cut_after;
use crate::text::hidden::replace_hidden;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    /// File and line.
    Line(String, usize),
    /// Set by a preset, with the preset's own origin.
    Preset(Box<Origin>),
    Variable(String),
    /// A list with additions.
    Both(Box<Origin>, Box<Origin>),
}

impl Origin {
    /// Without the line.
    fn place(&self) -> &str {
        match self {
            Origin::Line(file, _) => file,
            Origin::Variable(name) => name,
            Origin::BuiltIn | Origin::Preset(_) | Origin::Both(..) => "",
        }
    }
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

#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// Empty above all sections.
    pub section: String,
    pub key: String,
    pub value: Value,
    pub origin: Origin,
    /// Section and key as written, if one of them has another name today.
    pub former: Option<(String, String)>,
}

impl Assignment {
    /// Under the names of today, whichever it was written with.
    pub fn new(section: &str, key: &str, value: Value, origin: Origin) -> Assignment {
        let now = former_names::current_section(section);
        let key_now = former_names::current_key(&now, key);
        let former = (*now != *section || key_now != key).then(|| (section.to_owned(), key.to_owned()));
        Assignment { section: now.into_owned(), key: key_now.to_owned(), value, origin, former }
    }

    pub fn path(&self) -> String {
        key_path(&self.section, &self.key)
    }

    fn written_path(&self) -> String {
        self.former.as_ref().map_or_else(|| self.path(), |(section, key)| key_path(section, key))
    }
}

/// `section.key`, or the key alone above all sections.
pub fn key_path(section: &str, key: &str) -> String {
    let key = key_text(key);
    if section.is_empty() { key.into_owned() } else { format!("{section}.{key}") }
}

/// The settings of one file, or of the environment.
#[derive(Clone, Debug)]
pub struct Layer {
    pub voice: Voice,
    pub assignments: Vec<Assignment>,
}

/// A value without effect until a person trusts its file, or forever.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingValue {
    pub assignment: Assignment,
    /// Trust would not help: only the user's own config may set this.
    pub never: bool,
    /// Additions to a list already count; removals do not.
    pub in_part: bool,
}

/// A name of an earlier version, and the place where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerName {
    pub origin: Origin,
    pub written: String,
    pub now: String,
}

impl fmt::Display for FormerName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: `{}` is called `{}` now", self.origin, self.written, self.now)
    }
}

/// Further problems are only reported, without a hint.
const MAX_HINTS: usize = 20;

const WRITERS: &str = "tools.writers";

/// Characters of a name that cannot be one.
const LONGEST_SHOWN: usize = 60;

impl Config {
    /// Applies the next layer. In a section with an invalid value only stricter values count, so that earlier values
    /// stay in place; `problems` tells so.
    pub fn apply(&mut self, layer: &Layer) {
        let layer = &*self.without_bad_writers(layer);
        let doubled = self.note_former_names(layer);
        let mut broken: BTreeSet<&str> = BTreeSet::new();
        let mut unknown: BTreeSet<&str> = BTreeSet::new();
        for assignment in &layer.assignments {
            let Assignment { section, key, value, origin, .. } = assignment;
            let hints = self.problems.len() < MAX_HINTS;
            let problem = match self.section(section).map(|found| (found, found.check(key, value))) {
                Some((_, Ok(()))) => continue,
                None if !unknown.insert(section) => continue,
                None => {
                    let hint = if hints { self.near_section(section) } else { String::new() };
                    format!("there is no section [{}]{hint}", sanitize_name(section))
                }
                Some((_, Err(Wrong::Unknown))) if matches!(origin, Origin::Variable(_)) => {
                    let hint = if hints { self.near_variable(origin) } else { String::new() };
                    format!("no setting has this variable{hint}")
                }
                Some((_, Err(Wrong::Unknown))) if self.section_at(assignment).is_some() => {
                    let section = self.section_at(assignment).map_or("", Section::name);
                    format!("`{}` is a section, not a key: write it as [{section}]", assignment.path())
                }
                Some((found, Err(Wrong::Unknown))) => {
                    let within = found.nested().into_iter().map(|section| last_part(section.name()));
                    let names = found.keys().iter().map(|key| key.name).chain(within);
                    let hint = match near::hint(key, names) {
                        _ if !hints => String::new(),
                        near if near.is_empty() && found.patterns().is_some() => pattern_hint(key, value),
                        near => near,
                    };
                    let what = if value.is_table() { "section" } else { "key" };
                    format!("there is no {what} `{}`{hint}", sanitize_name(&assignment.path()))
                }
                Some((_, Err(Wrong::Value(why)))) => {
                    broken.insert(section);
                    let left_out = match section.as_str() {
                        "" => "the keys above all sections are".to_owned(),
                        section => format!("[{section}] is"),
                    };
                    format!("`{}`: {why}; {left_out} left out here", sanitize_name(&assignment.path()))
                }
            };
            self.problems.push(format!("{origin}: {problem}"));
        }
        let known = layer.assignments.iter().filter(|found| !unknown.contains(found.section.as_str()));
        let known = known.filter(|found| !doubled.iter().any(|other| std::ptr::eq(*other, *found)));
        let (rest, usable): (Vec<&Assignment>, Vec<&Assignment>) =
            known.partition(|found| broken.contains(found.section.as_str()));
        self.note_required_skills(rest.iter().chain(&usable));
        for assignment in rest {
            self.tighten(assignment);
        }
        // The preset first: other values of the same layer override it.
        let (presets, others): (Vec<&Assignment>, Vec<&Assignment>) =
            usable.into_iter().partition(|found| found.path() == "preset");
        for chosen in presets {
            self.choose_preset(chosen, layer.voice);
        }
        for assignment in others {
            self.assign(assignment, layer.voice);
        }
        // A stranger's file can only tighten, so of two names the stricter value counts.
        for assignment in doubled.into_iter().filter(|_| layer.voice == Voice::Untrusted) {
            self.tighten(assignment);
        }
    }

    /// Each name in the list adds a check, so one that cannot be a tool leaves the others in place.
    fn without_bad_writers<'l>(&mut self, layer: &'l Layer) -> Cow<'l, Layer> {
        let mut layer = Cow::Borrowed(layer);
        for number in 0..layer.assignments.len() {
            let assignment = &layer.assignments[number];
            let Value::List(items) = &assignment.value else { continue };
            if assignment.path() != WRITERS {
                continue;
            }
            let wrong = |item: &Value| match item {
                Value::Text(text) => Tool::read(text).err(),
                _ => None,
            };
            let problems: Vec<String> = items
                .iter()
                .filter_map(|item| {
                    let short = match item {
                        Value::Text(text) => Value::Text(cut_after(text, LONGEST_SHOWN).into_owned()),
                        item => item.clone(),
                    };
                    let (origin, of) = (&assignment.origin, Tool::OF);
                    Some(format!(
                        "{origin}: `{WRITERS}`: {short} is left out of the list of {of}: {}; the other names count",
                        wrong(item)?
                    ))
                })
                .collect();
            if problems.is_empty() {
                continue;
            }
            let kept = items.iter().filter(|item| wrong(item).is_none()).cloned().collect();
            self.problems.extend(problems);
            layer.to_mut().assignments[number].value = Value::List(kept);
        }
        layer
    }

    /// The list alone does not tell: a preset may have put the same skill there before.
    fn note_required_skills<'l>(&mut self, assignments: impl Iterator<Item = &'l &'l Assignment>) {
        let lists = assignments.filter(|found| found.section == skill_gate::settings::REQUIRE);
        for item in lists.flat_map(|found| match &found.value {
            Value::List(items) => items.as_slice(),
            _ => &[],
        }) {
            if let Value::Text(skill) = item {
                self.required_by_name.insert(skill.clone());
            }
        }
    }

    /// Lists former names, and warns of settings that are written by two names. Returns those that do not count: the
    /// name of today wins over a former one, and of two former ones the later line.
    fn note_former_names<'l>(&mut self, layer: &'l Layer) -> Vec<&'l Assignment> {
        if layer.assignments.iter().all(|assignment| assignment.former.is_none()) {
            return Vec::new();
        }
        let mut winners: BTreeMap<String, &Assignment> = BTreeMap::new();
        let mut doubled = Vec::new();
        for assignment in &layer.assignments {
            if let Some((section, key)) = &assignment.former {
                self.note_former_name(assignment, section, key);
            }
            let Some(other) = winners.insert(assignment.path(), assignment) else { continue };
            let (loses, wins) = match (&assignment.former, &other.former) {
                (Some(_), None) => (assignment, other),
                _ => (other, assignment),
            };
            winners.insert(assignment.path(), wins);
            doubled.push(loses);
            let counts = match layer.voice {
                Voice::Untrusted => "the stricter value counts".to_owned(),
                _ => format!("`{}` counts", wins.written_path()),
            };
            self.problems.push(format!(
                "{}: `{}` and `{}` ({}) are the same setting; {counts}",
                loses.origin,
                loses.written_path(),
                wins.written_path(),
                wins.origin
            ));
        }
        doubled
    }

    fn note_former_name(&mut self, assignment: &Assignment, section: &str, key: &str) {
        let (written, now) = match &assignment.origin {
            Origin::Variable(name) => (name.clone(), variable_name(&assignment.section, &assignment.key)),
            _ if *key != assignment.key => (key_path(section, key), assignment.path()),
            _ => (bracketed_top(section), bracketed_top(&assignment.section)),
        };
        let is_known = |known: &FormerName| {
            (&known.written, known.origin.place()) == (&written, assignment.origin.place())
        };
        if !self.former_names.iter().any(is_known) {
            self.former_names.push(FormerName { origin: assignment.origin.clone(), written, now });
        }
    }

    /// The section that a key names by mistake.
    fn section_at(&self, assignment: &Assignment) -> Option<&dyn Section> {
        self.section(&former_names::current_section(&assignment.path()))
    }

    /// Suggests the closest section.
    fn near_section(&self, name: &str) -> String {
        let names = self.sections().into_iter().map(Section::name).filter(|name| !name.is_empty());
        let names: Vec<&str> = names.chain(former_names::SECTIONS.map(|(former, _)| former)).collect();
        let near = near::nearest(name, names).map(former_names::current_section);
        near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
    }

    /// Applies a value of a broken section only if it is stricter.
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

    fn choose_preset(&mut self, chosen: &Assignment, voice: Voice) {
        if self.assign(chosen, voice) != Put::Taken {
            return;
        }
        for (section, key, value) in self.preset_values(self.general.preset) {
            let path = key_path(section, key);
            let is_explicit = !matches!(self.origin(&path), Origin::BuiltIn | Origin::Preset(_));
            let Some(found) = self.section_mut(section) else { continue };
            // Lists of a preset are requirements: they add to those that somebody wrote down.
            let value = if is_explicit { join_lists(found.get(key), value) } else { value };
            let is_joined = is_explicit && matches!(value, Value::List(_));
            let put = match found.put(key, &value, voice) {
                Put::Taken if is_joined => Put::TakenInPart,
                put => put,
            };
            self.note_origin(path, Origin::Preset(Box::new(chosen.origin.clone())), &put);
        }
    }

    fn assign(&mut self, assignment: &Assignment, voice: Voice) -> Put {
        let Some(section) = self.section_mut(&assignment.section) else { return Put::Kept };
        let put = section.put(&assignment.key, &assignment.value, voice);
        self.note_origin(assignment.path(), assignment.origin.clone(), &put);
        if matches!(put, Put::TakenInPart | Put::Waits | Put::Refused) {
            let (never, in_part) = (put == Put::Refused, put == Put::TakenInPart);
            self.waiting.push(WaitingValue { assignment: assignment.clone(), never, in_part });
        }
        put
    }

    fn note_origin(&mut self, path: String, origin: Origin, put: &Put) {
        let origin = match put {
            Put::Taken => origin,
            Put::TakenInPart => Origin::Both(Box::new(self.origin(&path).clone()), Box::new(origin)),
            Put::Kept | Put::Waits | Put::Refused => return,
        };
        self.origins.insert(path, origin);
    }

    /// Suggests the closest variable name.
    fn near_variable(&self, origin: &Origin) -> String {
        const PREFIX: &str = "TIDEGATE_";
        let Origin::Variable(name) = origin else { return String::new() };
        let sections = self.sections().into_iter();
        let names = sections
            .flat_map(|section| section.keys().iter().map(|key| variable_name(section.name(), key.name)));
        // The common prefix would make every name look close.
        let names: Vec<String> = names.map(|name| name.trim_start_matches(PREFIX).to_owned()).collect();
        let near = near::nearest(name.trim_start_matches(PREFIX), names.iter().map(String::as_str));
        near.map(|near| format!("; did you mean `{PREFIX}{near}`?")).unwrap_or_default()
    }

    /// Reads variables named `TIDEGATE_` plus the key's path.
    pub fn layer_of_environment(&self, variables: &[(String, String)]) -> Layer {
        let mut assignments = Vec::new();
        for (name, text) in variables {
            let mut keys = self.sections().into_iter().flat_map(|section| {
                section
                    .keys()
                    .iter()
                    .map(move |key| (section.name(), key, variable_name(section.name(), key.name)))
            });
            let origin = Origin::Variable(name.clone());
            let known = keys.find(|(_, _, variable)| variable == name);
            let known = known.map(|(section, key, _)| (section.to_owned(), key.name.to_owned(), key.shape));
            let unknown = || name.trim_start_matches("TIDEGATE_").to_ascii_lowercase();
            let assignment = match known.or_else(|| self.former_variable(name)) {
                Some((section, key, shape)) => Assignment::new(&section, &key, shape.from_text(text), origin),
                // Reported like any other unknown key.
                None => Assignment::new("", &unknown(), text.as_str().into(), origin),
            };
            assignments.push(assignment);
        }
        Layer { voice: Voice::Environment, assignments }
    }

    /// Section and key of a variable with a former name, as they were called.
    fn former_variable(&self, name: &str) -> Option<(String, String, Shape)> {
        self.sections().into_iter().find_map(|section| {
            section.keys().iter().find_map(|key| {
                let spellings = former_names::former_spellings(section.name(), key.name);
                let mut spellings = spellings.into_iter();
                let (section, written) =
                    spellings.find(|(section, key)| variable_name(section, key) == name)?;
                Some((section, written, key.shape))
            })
        })
    }
}

/// `TIDEGATE_CONTEXT_WARNING_MODE`.
pub fn variable_name(section: &str, key: &str) -> String {
    format!("TIDEGATE_{}", key_path(section, key).replace('.', "_").to_ascii_uppercase())
}

/// The items of both, if these are lists; otherwise the second.
fn join_lists(old: Value, new: Value) -> Value {
    match (old, new) {
        (Value::List(mut old), Value::List(new)) => {
            for item in new {
                if !old.contains(&item) {
                    old.push(item);
                }
            }
            Value::List(old)
        }
        (_, new) => new,
    }
}

/// Suggests the notation for a key that was meant as a pattern.
fn pattern_hint(key: &str, value: &Value) -> String {
    if value.is_table() {
        return "; put a pattern with a dot in it into quotes".to_owned();
    }
    let plain = sanitize_name(key);
    format!("; a pattern for files of this name is written \"**/{plain}\"")
}

fn bracketed_top(section: &str) -> String {
    format!("[{}]", section.split('.').next().unwrap_or_default())
}

fn last_part(section: &str) -> &str {
    section.rsplit('.').next().unwrap_or(section)
}

/// Untrusted text, made safe for a terminal and the journal: short, without control characters.
fn sanitize_name(name: &str) -> String {
    const LONGEST: usize = 64;
    replace_hidden(&cut_after(name, LONGEST), char::REPLACEMENT_CHARACTER)
}

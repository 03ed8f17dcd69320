//! Definition of a workflow: its phases, the gates after some of them, and the phases that spawn many agents.

use crate::settings::value::Value;
use crate::text::hidden::is_plain;

/// Sanity limit: people lose track of more.
const MAX_PHASES: usize = 40;

const MAX_NAME_CHARS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowPhase {
    /// Usable as a key of a manifest.
    pub name: String,
    /// A gate follows this phase.
    pub gate: bool,
    /// Spawns many agents.
    pub heavy: bool,
}

impl WorkflowPhase {
    /// For people: `skill discovery`.
    pub fn title(&self) -> String {
        self.name.replace(['_', '-'], " ")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workflow {
    /// At least one; names are unique.
    pub phases: Vec<WorkflowPhase>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Counted from one.
    pub number: usize,
    /// Number of the phase before it.
    pub after: usize,
}

/// The built-in workflow: name, alias, gate, heavy.
static FEATURE: [(&str, &str, bool, bool); 16] = [
    ("setup", "", false, false),
    ("triage", "", false, false),
    ("discovery", "codebase_discovery", true, false),
    ("skill_discovery", "", false, false),
    ("complexity", "complexity_assessment", false, false),
    ("brainstorming", "", false, false),
    ("architecture_plan", "architecture", false, true),
    ("implementation", "", true, true),
    ("design_verification", "", false, false),
    ("domain_compliance", "", false, false),
    ("code_quality", "", false, false),
    ("test_planning", "", false, false),
    ("testing", "", true, true),
    ("coverage", "coverage_verification", false, false),
    ("test_quality", "", false, false),
    ("completion", "", false, false),
];

impl Default for Workflow {
    /// The built-in workflow.
    fn default() -> Workflow {
        let phase = |(name, _, gate, heavy): &(&str, &str, bool, bool)| WorkflowPhase {
            name: (*name).to_owned(),
            gate: *gate,
            heavy: *heavy,
        };
        Workflow { phases: FEATURE.iter().map(phase).collect() }
    }
}

/// Normalises spellings: `Skill Discovery`, `skill-discovery` and `skill_discovery` are the same name.
fn normalize_name(text: &str) -> String {
    let part = |c: char| if c.is_alphanumeric() { c.to_lowercase().next().unwrap_or(c) } else { '_' };
    text.trim().chars().map(part).collect()
}

impl Workflow {
    /// Counted from one.
    pub fn phase(&self, number: usize) -> Option<&WorkflowPhase> {
        self.phases.get(number.checked_sub(1)?)
    }

    /// Resolves a word of a manifest to a phase number: `3`, `3_discovery`, `discovery`, `phase_3`.
    pub fn phase_number(&self, word: &str) -> Option<usize> {
        let word = normalize_name(word);
        let named = |word: &str| {
            let known = self.phases.iter().position(|phase| normalize_name(&phase.name) == word)?;
            Some(known + 1)
        };
        let other_name = |word: &str| {
            let (name, ..) = FEATURE.iter().find(|(_, other, ..)| !other.is_empty() && *other == word)?;
            named(name)
        };
        let word = word.strip_prefix("phase_").filter(|rest| !rest.is_empty()).unwrap_or(&word);
        if let Some(found) = named(word).or_else(|| other_name(word)) {
            return Some(found);
        }
        let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, rest) = word.split_at(digits);
        if !rest.is_empty() && !rest.starts_with('_') {
            return None;
        }
        let number: usize = number.parse().ok()?;
        (1..=self.phases.len()).contains(&number).then_some(number)
    }

    /// Not by its number alone.
    pub fn phase_number_by_name(&self, word: &str) -> Option<usize> {
        self.phase_number(word).filter(|_| !word.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    }

    pub fn gates(&self) -> Vec<Gate> {
        let after = self.phases.iter().enumerate().filter(|(_, phase)| phase.gate).map(|(at, _)| at + 1);
        after.enumerate().map(|(at, after)| Gate { number: at + 1, after }).collect()
    }

    pub fn gate(&self, number: usize) -> Option<Gate> {
        self.gates().into_iter().find(|gate| gate.number == number)
    }

    /// Reads a workflow from the config, or tells what is wrong with it.
    pub fn read(value: &Value) -> Result<Workflow, String> {
        let Value::Table(members) = value else {
            return Err(format!("{} is not a workflow: use a table with `phases`", value.kind()));
        };
        let mut phases = None;
        for (key, value) in members {
            match key.as_str() {
                "phases" => phases = Some(read_phases(value)?),
                _ => return Err(format!("a workflow has no `{key}`: use `phases`")),
            }
        }
        Ok(Workflow { phases: phases.ok_or("its `phases` are missing")? })
    }

    pub fn to_value(&self) -> Value {
        let phase = |phase: &WorkflowPhase| {
            if !phase.gate && !phase.heavy {
                return Value::from(phase.name.as_str());
            }
            let mut members = vec![("name".to_owned(), Value::from(phase.name.as_str()))];
            members.extend(phase.gate.then(|| ("gate".to_owned(), Value::Flag(true))));
            members.extend(phase.heavy.then(|| ("heavy".to_owned(), Value::Flag(true))));
            Value::Table(members)
        };
        Value::Table(vec![("phases".to_owned(), Value::List(self.phases.iter().map(phase).collect()))])
    }
}

fn read_phases(value: &Value) -> Result<Vec<WorkflowPhase>, String> {
    let Value::List(items) = value else {
        return Err(format!(
            "`phases` is {}: use a list of names or {{ name = \"…\", gate = true }}",
            value.kind()
        ));
    };
    if items.is_empty() || items.len() > MAX_PHASES {
        return Err(format!("a workflow has from 1 to {MAX_PHASES} phases"));
    }
    let mut phases: Vec<WorkflowPhase> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let phase = read_phase(item).map_err(|why| format!("phase {}: {why}", at + 1))?;
        if phases.iter().any(|known| normalize_name(&known.name) == normalize_name(&phase.name)) {
            return Err(format!("phase {}: there is a phase of that name already", at + 1));
        }
        phases.push(phase);
    }
    Ok(phases)
}

fn read_phase(item: &Value) -> Result<WorkflowPhase, String> {
    let members = match item {
        Value::Text(name) => return Ok(WorkflowPhase { name: read_name(name)?, gate: false, heavy: false }),
        Value::Table(members) => members,
        _ => {
            return Err(format!(
                "{} is not a phase: use a name or {{ name = \"…\", gate = true }}",
                item.kind()
            ));
        }
    };
    let (mut name, mut gate, mut heavy) = (None, false, false);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("name", Value::Text(text)) => name = Some(read_name(text)?),
            ("name", _) => return Err(format!("`name` is {}: use a text", value.kind())),
            ("gate", Value::Flag(flag)) => gate = *flag,
            ("heavy", Value::Flag(flag)) => heavy = *flag,
            ("gate" | "heavy", _) => return Err(format!("`{key}` is {}: use true or false", value.kind())),
            _ => return Err(format!("it has no `{key}`: use `name`, `gate` and `heavy`")),
        }
    }
    Ok(WorkflowPhase { name: name.ok_or("its `name` is missing")?, gate, heavy })
}

fn read_name(text: &str) -> Result<String, String> {
    let fits = |c: char| is_plain(c) && (c.is_alphanumeric() || matches!(c, '_' | '-'));
    let is_number = text.bytes().all(|b| b.is_ascii_digit());
    if text.is_empty() || is_number || text.chars().count() > MAX_NAME_CHARS || !text.chars().all(fits) {
        return Err(format!(
            "a name has 1 to {MAX_NAME_CHARS} letters, digits, `_` and `-`, and is not a number"
        ));
    }
    Ok(text.to_owned())
}

pub fn is_workflow_name(text: &str) -> bool {
    read_name(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_one_has_three_gates() {
        let workflow = Workflow::default();
        let gates: Vec<(usize, usize)> =
            workflow.gates().iter().map(|gate| (gate.number, gate.after)).collect();
        assert_eq!(gates, [(1, 3), (2, 8), (3, 13)]);
        let heavy = workflow.phases.iter().enumerate().filter(|(_, phase)| phase.heavy).map(|(at, _)| at + 1);
        assert_eq!(heavy.collect::<Vec<_>>(), [7, 8, 13]);
        assert_eq!(workflow.phases.len(), 16);
    }

    #[test]
    fn a_phase_is_known_by_its_number_and_its_name() {
        let workflow = Workflow::default();
        for word in [
            "3",
            "03",
            "3_discovery",
            "3-discovery",
            "discovery",
            "Discovery",
            "codebase_discovery",
            "Codebase Discovery",
            "phase_3",
            "Phase 3",
            "phase-3-codebase-discovery",
            " 3 ",
        ] {
            assert_eq!(workflow.phase_number(word), Some(3), "{word}");
        }
        assert_eq!(workflow.phase_number("4_skill_discovery"), Some(4));
        assert_eq!(workflow.phase_number("16_completion"), Some(16));
        assert_eq!(workflow.phase_number("architecture"), Some(7));
        for word in ["", "0", "17", "discover", "phase", "phase_", "3rd", "-1", "99999999999999999999999"] {
            assert_eq!(workflow.phase_number(word), None, "{word}");
        }
    }

    #[test]
    fn what_is_shown_reads_back() {
        let workflow = Workflow::default();
        assert_eq!(Workflow::read(&workflow.to_value()), Ok(workflow));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let table = |members: &[(&str, Value)]| {
            Value::Table(members.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
        };
        let phases = |items: Vec<Value>| table(&[("phases", Value::List(items))]);
        for (value, why) in [
            (Value::Flag(true), "is not a workflow"),
            (table(&[]), "`phases` are missing"),
            (table(&[("gates", Value::Nothing)]), "no `gates`"),
            (table(&[("phases", "a".into())]), "use a list"),
            (phases(vec![]), "from 1 to 40"),
            (phases(vec![Value::Whole(3)]), "phase 1: a number is not a phase"),
            (phases(vec!["a".into(), "A".into()]), "phase 2: there is a phase of that name already"),
            (phases(vec!["12".into()]), "is not a number"),
            (phases(vec!["a b".into()]), "a name has"),
            (phases(vec![table(&[("gate", Value::Flag(true))])]), "its `name` is missing"),
            (phases(vec![table(&[("name", "a".into()), ("gate", "yes".into())])]), "use true or false"),
            (phases(vec![table(&[("name", "a".into()), ("command", "rm".into())])]), "it has no `command`"),
        ] {
            let said = Workflow::read(&value).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}

//! Skills that a config, a cycle or a workflow refers to. `init` does not take them away.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tidegate_core::feature::config::Config;
use tidegate_core::feature::config::layer::Origin;
use tidegate_core::feature::facts::Known;
use tidegate_core::text::skill_name::{OWN_PREFIX, satisfies};
use tidegate_state::feature::{cycle, workflow};
use tidegate_state::place::StateDir;

use super::shipped::{Part, SKILLS, Skill};
use crate::install::target::Target;

pub(crate) fn find_used_parts(target: &Target, config: &Config) -> Vec<Part> {
    let (state, root) = (target.state(), (!target.is_user).then_some(target.root.as_path()));
    let cycles = name_cycles(config, root, state.as_ref());
    let cycles = cycles.iter().filter_map(|name| config.policies.cycle.cycle(name));
    let stages: Vec<String> = cycles.flat_map(|cycle| cycle.stages).map(|stage| stage.skill).collect();
    let named = required_by_config(config).chain(stages.iter().map(String::as_str));
    let mut used: Vec<Part> = named.filter_map(part_of).collect();
    let is_left = |name: &str| state.as_ref().is_some_and(|state| has_history(state, name));
    // Without a project, the history of all of them shows what people work with.
    if target.is_user && is_left("cycles.jsonl")
        || root.is_some_and(|root| matches!(cycle::read(None, root, config), Known::Broken(_)))
    {
        used.push(Part::Cycle);
    }
    if config.policies.workflow_gate.workflow_names().count() > 1
        || target.is_user && is_left("gates.jsonl")
        || root.is_some_and(|root| !workflow::find_manifests(root).is_empty())
    {
        used.push(Part::Workflow);
    }
    used.sort();
    used.dedup();
    used
}

/// The configured ones and those begun here. The built-in cycle does not count unless it was started here.
pub(crate) fn name_cycles(
    config: &Config,
    root: Option<&Path>,
    state: Option<&StateDir>,
) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = config.policies.cycle.configured_names().map(str::to_owned).collect();
    if let Some(root) = root {
        if let Known::Value(standing) = cycle::read(None, root, config)
            && let (Ok(state), true) = (standing.state, standing.of_project)
        {
            names.insert(state.cycle);
        }
        let runs = state.map(|state| cycle::read_runs(state, root)).unwrap_or_default();
        names.extend(runs.into_iter().map(|run| run.cycle));
    }
    names
}

/// Skills that a person or a team wrote down. Those of a preset come and go with it.
fn required_by_config(config: &Config) -> impl Iterator<Item = &str> {
    let require = &config.policies.skill_gate.require;
    let classes = [
        ("code", &require.code),
        ("document", &require.document),
        ("config", &require.config),
        ("other", &require.other),
    ];
    let is_written = |key: &str| {
        let origin = config.origin(&format!("skill_gate.require.{key}"));
        !matches!(origin, Origin::BuiltIn | Origin::Preset(_))
    };
    let classes = classes.into_iter().filter(move |(key, _)| is_written(key)).map(|(_, skills)| skills);
    let paths = require.paths.0.iter().map(|(_, skills)| skills);
    classes.chain(paths).flat_map(|skills| &skills.0).map(|skill| skill.0.as_str())
}

fn part_of(name: &str) -> Option<Part> {
    let is_it = |skill: &&Skill| {
        satisfies(skill.name, name) || satisfies(&format!("{OWN_PREFIX}{}", skill.name), name)
    };
    SKILLS.iter().find(is_it)?.part
}

fn has_history(state: &StateDir, name: &str) -> bool {
    let projects = fs::read_dir(state.root().join("projects")).into_iter().flatten().flatten();
    projects.into_iter().any(|project| project.path().join(name).is_file())
}

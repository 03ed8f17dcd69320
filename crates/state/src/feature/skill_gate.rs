//! Looks for required skills, once an edit would be denied for want of one.

use tidegate_core::feature::facts::Facts;
use tidegate_core::feature::skill_gate::SkillFacts;

use crate::feature::HookContext;
use crate::host::{has_skill, skill_folders};

pub(super) fn read_facts(facts: &Facts<'_>, here: &HookContext<'_>) -> SkillFacts {
    let places = skill_folders(facts.event.host, here.root, here.place, here.plugin);
    let required = here.config.policies.skill_gate.require.all_skills();
    let mut not_installed: Vec<String> = required
        .filter(|name| !has_skill(facts.event.host, name, &places, here.place))
        .map(str::to_owned)
        .collect();
    not_installed.dedup();
    SkillFacts { not_installed }
}

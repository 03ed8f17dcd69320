//! Skills that the gates ask for, and those that are the stages of cycles.

use std::collections::BTreeSet;
use std::path::Path;

use tidegate_core::feature;
use tidegate_core::feature::cycle::policy::ID;
use tidegate_core::feature::cycle::settings::CycleMode;
use tidegate_core::feature::facts::Known;
use tidegate_core::text::skill_name::OWN_PREFIX;
use tidegate_state::feature::cycle;
use tidegate_state::host::claude_code::skills;

use super::super::listing::Listing;
use super::super::shipped::Skill;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::print::format_count;
use crate::shell::quote_path;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    if !seen.has_hooks() {
        found.ok("none is needed without hooks");
        return;
    }
    let plugin = seen.client.plugin.as_ref().and_then(|plugin| plugin.folder.clone());
    let host = seen.client.folder.as_deref();
    let places = skills::folders(seen.project.as_deref(), host, plugin.as_deref());
    let is_there = |name: &str| {
        // Stages and gates take Tidegate's longer name, too.
        skills::is_installed(name, &places, host)
            || skills::is_installed(&format!("{OWN_PREFIX}{name}"), &places, host)
    };
    let wanted = list_wanted_skills(seen);
    // Other plugins keep their skills in unknown places: `plugin:name` is taken on trust.
    let looked_for: Vec<&Wanted> = wanted.iter().filter(|wanted| !wanted.name.contains(':')).collect();
    for Wanted { name, stage } in &looked_for {
        if is_there(name) {
            continue;
        }
        // `init` does not replace a foreign file.
        let there = places.iter().map(|place| place.join("skills").join(name).join("SKILL.md"));
        let there = there.into_iter().find(|path| path.exists());
        let part = Skill::find(name).map(|skill| skill.part);
        let init = seen.init_command(seen.scope());
        let of_part = part.flatten().map(|part| format!("`{init} --with {}` installs it", part.name()));
        let install = match stage {
            _ if of_part.is_some() => of_part.unwrap_or_default(),
            _ if part == Some(None) => format!("`{init}` installs it"),
            Some((cycle, stage)) => format!(
                "put it into `.claude/skills/{name}`, or give stage `{stage}` in [cycle.{cycle}] another `skill`"
            ),
            None => {
                format!(
                    "put it into `.claude/skills/{name}`; `tidegate config show --origin` says who wants it"
                )
            }
        };
        let missing = match stage {
            Some((cycle, stage)) => format!(
                "the skill `{name}` of stage `{stage}` of the cycle `{cycle}` is not installed, so no model can invoke it"
            ),
            None => format!("the skill `{name}` is required, but not installed"),
        };
        let cure = match there {
            Some(empty) => format!("remove {}, which has no text; then {install}", quote_path(&empty)),
            None => install,
        };
        found.warning(missing, cure);
    }
    check_listing(seen, found);
    if found.is_empty() {
        found.ok(match wanted.len() - looked_for.len() {
            0 => format!("{} required, all installed", format_count(wanted.len(), "skill")),
            of_plugins => format!(
                "{} required, all installed but for {of_plugins} of plugins that were not looked for",
                format_count(wanted.len(), "skill")
            ),
        });
    }
}

/// Tidegate's skills must not cost others their descriptions.
fn check_listing(seen: &Gathered, found: &mut Findings) {
    let project = seen.project.as_ref().map(|root| root.join(".claude"));
    let folders: Vec<&Path> =
        [project.as_deref(), seen.client.folder.as_deref()].into_iter().flatten().collect();
    let listing = Listing::read(&folders, &seen.client.settings);
    if listing.ours == 0 || listing.total() <= listing.budget {
        return;
    }
    let text = format!(
        "the listing of skills has about {} characters, and the client allows {} on models with a 200K window: some skills lose \
         their descriptions; Tidegate's take {}",
        listing.total(),
        listing.budget,
        listing.ours
    );
    let share = (listing.total() * 100).div_ceil(listing.budget);
    let cure = format!(
        "give it more room with `\"skillListingBudgetFraction\": {:.3}` in the settings, or remove skills that nobody uses",
        share as f64 / 10_000.0
    );
    if listing.theirs <= listing.budget {
        found.warning(text, cure);
    } else {
        found.note_with(text, cure);
    }
}

struct Wanted {
    name: String,
    /// Cycle and stage; `None` if a gate wants it.
    stage: Option<(String, String)>,
}

fn list_wanted_skills(seen: &Gathered) -> Vec<Wanted> {
    let gates = feature::skills(&seen.config).into_iter();
    let gates = gates.map(|name| Wanted { name: name.to_owned(), stage: None });
    let mut wanted: Vec<Wanted> = gates.chain(skills_of_stages(seen)).collect();
    let mut known = BTreeSet::new();
    wanted.retain(|wanted| known.insert(wanted.name.clone()));
    wanted
}

/// From configured cycles and from those begun here. The built-in cycle does not count unless it was started here.
fn skills_of_stages(seen: &Gathered) -> Vec<Wanted> {
    let settings = &seen.config.policies.cycle;
    if settings.mode == CycleMode::Off || seen.config.switched_off(ID) {
        return Vec::new();
    }
    let mut names: BTreeSet<String> = settings.configured_names().map(str::to_owned).collect();
    if let Some(root) = &seen.project {
        if let Known::Value(standing) = cycle::read(None, root, &seen.config)
            && let (Ok(state), true) = (standing.state, standing.of_project)
        {
            names.insert(state.cycle);
        }
        let runs = seen.state.as_ref().map(|state| cycle::read_runs(state, root)).unwrap_or_default();
        names.extend(runs.into_iter().map(|run| run.cycle));
    }
    let stages = names.iter().filter_map(|name| Some((name, settings.cycle(name)?)));
    let skills = stages.flat_map(|(name, cycle)| {
        let wanted = |stage: tidegate_core::feature::cycle::Stage| Wanted {
            name: stage.skill,
            stage: Some((name.clone(), stage.name)),
        };
        cycle.stages.into_iter().map(wanted).collect::<Vec<_>>()
    });
    skills.collect()
}

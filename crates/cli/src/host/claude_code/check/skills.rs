//! Skills that the gates ask for, and those that are the stages of cycles.

use std::collections::BTreeSet;
use std::path::Path;

use tidegate_core::feature::config::Config;
use tidegate_core::feature::cycle::policy::ID;
use tidegate_core::feature::cycle::settings::CycleMode;
use tidegate_core::feature::skill_gate;
use tidegate_core::feature::skill_gate::settings::SkillGateMode;
use tidegate_core::feature::{self, Mode, Policy};
use tidegate_core::host::Host;
use tidegate_core::text::skill_name::OWN_PREFIX;
use tidegate_state::host::claude_code::skills;
use tidegate_state::host::{has_skill, skill_folders};

use super::super::listing::Listing;
use super::super::shipped::Skill;
use super::super::used_parts::name_cycles;
use crate::bilingual::{Bilingual, both, count_en};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::registered::{HOSTS, HostHooks};
use crate::shell::quote_path;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let hosts = list_hosts(seen);
    if hosts.is_empty() {
        found.ok(both!(
            "Nothing to check without Tidegate's hooks.",
            "Tidegate のフックがないため、確認するものはありません。"
        ));
        return;
    }
    let plugin = seen.client.plugin.as_ref().and_then(|plugin| plugin.folder.clone());
    let host = seen.client.folder.as_deref();
    let folders = |of: Host| {
        // `doctor` may look for a client whose folder a variable names.
        let mut folders = skill_folders(of, seen.project.as_deref(), &seen.env.place, plugin.as_deref());
        folders.extend(host.filter(|_| of != Host::Qwen).map(Path::to_owned));
        folders
    };
    // Stages and gates take Tidegate's longer name, too.
    let is_there = |of: Host, name: &str| {
        let own = format!("{OWN_PREFIX}{name}");
        [name, &own].iter().any(|name| has_skill(of, name, &folders(of), &seen.env.place))
    };
    // Elsewhere only a gate waits for one.
    let lacks =
        |of: Host, name: &str| !is_there(of, name) && (of == Host::ClaudeCode || is_required(seen, name));
    let wanted = list_wanted_skills(seen);
    // Other plugins keep their skills in unknown places: `plugin:name` is taken on trust.
    let looked_for: Vec<&Wanted> = wanted.iter().filter(|wanted| !wanted.name.contains(':')).collect();
    for missing in &looked_for {
        let lacking: Vec<Host> = hosts.iter().copied().filter(|host| lacks(*host, &missing.name)).collect();
        let Some(first) = lacking.first().copied() else { continue };
        // `init` does not replace a foreign file.
        let mut files =
            folders(first).into_iter().map(|place| place.join("skills").join(&missing.name).join("SKILL.md"));
        let there = files.find(|path| path.exists());
        let mut fix = describe_install(seen, missing, &lacking);
        if let Some(empty) = there {
            let (path, Bilingual { en, ja }) = (quote_path(&empty), fix);
            fix =
                both!("Remove {path}, which is empty. {en}", "空のファイル {path} を削除してください。{ja}");
        }
        let is_of_preset = missing.stage.is_none() && seen.config.is_of_preset(&missing.name);
        if is_required(seen, &missing.name) && !is_of_preset {
            let Bilingual { en, ja } = fix;
            fix = both!(
                "{en} To edit without it, run `tidegate off skill-gate --for 1h`.",
                "{ja}なしで編集するには `tidegate off skill-gate --for 1h` を実行してください。"
            );
        }
        let text = if is_of_preset {
            describe_preset_skill(&missing.name)
        } else {
            describe_missing(missing, &lacking)
        };
        found.warning(text, fix);
    }
    if seen.has_hooks() {
        check_listing(seen, found);
    }
    if found.is_empty() {
        let (all, number) = (count_en(wanted.len(), "skill"), wanted.len());
        found.ok(match number - looked_for.len() {
            0 => both!("All required skills are installed ({number}).", "必須のスキル{number}個がそろっています。"),
            of_plugins => both!(
                "{all} required; {of_plugins} of other plugins not looked for, the rest is installed.",
                "必須のスキルは{number}個です。ほかのプラグインの{of_plugins}個は調べていません。残りはそろっています。"
            ),
        });
    }
}

/// Those whose hooks are here.
fn list_hosts(seen: &Gathered) -> Vec<Host> {
    let is_here =
        |hooks: &&HostHooks| hooks.is_installed(seen.project.as_deref(), &seen.env.place, &seen.call);
    let of_others = HOSTS.iter().copied().filter(is_here).map(|hooks| hooks.host);
    seen.has_hooks().then_some(Host::ClaudeCode).into_iter().chain(of_others).collect()
}

/// For `status`, too.
pub(crate) fn describe_preset_skill(name: &str) -> Bilingual {
    both!(
        "The skill `{name}` of the preset is not installed, so edits do not need it.",
        "プリセットのスキル `{name}` がないため、編集の前に求めません。"
    )
}

/// Skills that only the preset requires and that are not there.
pub(crate) fn find_missing_of_preset(
    config: &Config,
    project: Option<&Path>,
    host: Option<&Path>,
) -> Vec<String> {
    let gate = &config.policies.skill_gate;
    if gate.mode == SkillGateMode::Off || config.switched_off(skill_gate::ID) {
        return Vec::new();
    }
    let places = skills::folders(project, host, None);
    let of_preset = gate.require.all_skills().filter(|name| config.is_of_preset(name));
    let missing = of_preset.filter(|name| !skills::is_installed(name, &places, host));
    missing.map(str::to_owned).collect()
}

fn describe_missing(Wanted { name, stage }: &Wanted, hosts: &[Host]) -> Bilingual {
    let is_others = hosts.iter().any(|host| *host != Host::ClaudeCode);
    let agents: Vec<&str> = hosts.iter().map(|host| Host::title(host.name())).collect();
    match stage {
        Some((cycle, stage)) if is_others => both!(
            "{agents} cannot find the skill `{name}`, which the stage `{stage}` of the cycle `{cycle}` runs.",
            "サイクル `{cycle}` のステージ `{stage}` で使うスキル `{name}` が、{agents} からは見つかりません。",
            agents = agents.join(", ")
        ),
        None if is_others => both!(
            "{agents} cannot find the required skill `{name}`.",
            "必須のスキル `{name}` が、{agents} からは見つかりません。",
            agents = agents.join(", ")
        ),
        Some((cycle, stage)) => both!(
            "The skill `{name}`, which the stage `{stage}` of the cycle `{cycle}` runs, is not installed.",
            "サイクル `{cycle}` のステージ `{stage}` で使うスキル `{name}` がありません。"
        ),
        None => both!(
            "The skill `{name}` is required, but not installed.",
            "必須のスキル `{name}` がありません。"
        ),
    }
}

fn describe_install(seen: &Gathered, Wanted { name, stage }: &Wanted, hosts: &[Host]) -> Bilingual {
    let init = match hosts.first().copied().unwrap_or_default() {
        Host::ClaudeCode => seen.init_command(seen.scope()),
        host => format!("tidegate init --host {}", host.name()),
    };
    let homes: Vec<String> =
        hosts.iter().map(|host| format!("`{}/skills/{name}`", host.skill_home())).collect();
    let homes = homes.join(", ");
    match (Skill::find(name).map(|skill| skill.part), stage) {
        (Some(Some(part)), _) => both!(
            "Run `{init} --with {part}`.",
            "`{init} --with {part}` を実行してください。",
            part = part.name()
        ),
        (Some(None), _) => both!("Run `{init}`.", "`{init}` を実行してください。"),
        (None, Some((cycle, stage))) => both!(
            "Put it into {homes}, or give the stage `{stage}` in `[cycle.{cycle}]` another `skill`.",
            "{homes} に置くか、`[cycle.{cycle}]` のステージ `{stage}` に別の `skill` を指定してください。"
        ),
        (None, None) => both!(
            "Put it into {homes}. `tidegate config show --origin` shows which file requires it.",
            "{homes} に置いてください。どのファイルが必須にしたかは `tidegate config show --origin` でわかります。"
        ),
    }
}

/// Without it, every edit of some file is denied.
fn is_required(seen: &Gathered, name: &str) -> bool {
    let requires = |policy: &&dyn Policy| {
        policy.id() == skill_gate::ID
            && policy.mode(&seen.config) == Mode::Live
            && policy.skills(&seen.config).contains(&name)
    };
    feature::POLICIES.iter().any(requires)
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
    let (total, budget, ours) = (listing.total(), listing.budget, listing.ours);
    let text = both!(
        "On models with a 200K window, some skills lose their descriptions: the list of skills has about {total} characters, \
         Claude Code allows {budget}. Tidegate's skills take {ours}.",
        "200K のモデルでは、一部のスキルの説明が省かれます。スキルの一覧は約{total}文字で、Claude Code の上限は{budget}文字です。\
         うち{ours}文字が Tidegate のスキルです。"
    );
    let share = listing.needed_share();
    let fix = both!(
        "Put `\"skillListingBudgetFraction\": {share:.3}` into Claude Code's settings, or remove skills that you do not use.",
        "Claude Code の設定に `\"skillListingBudgetFraction\": {share:.3}` を書くか、使わないスキルを削除してください。"
    );
    if listing.theirs <= listing.budget {
        found.warning(text, fix);
    } else {
        found.note_with(text, fix);
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

fn skills_of_stages(seen: &Gathered) -> Vec<Wanted> {
    let settings = &seen.config.policies.cycle;
    if settings.mode == CycleMode::Off || seen.config.switched_off(ID) {
        return Vec::new();
    }
    let names = name_cycles(&seen.config, seen.project.as_deref(), seen.state.as_ref().ok());
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

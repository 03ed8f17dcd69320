//! States of Claude Code's files in which an install does not help as it should: one line each.

use std::path::PathBuf;

use super::misread::{self, Origin};
use super::settings_file::{self, Content, SettingsFile};
use super::{hook_shape, plugin, registrations, settings_text};
use crate::bilingual::{Bilingual, both};
use crate::host::agent_homes::AgentHomes;
use crate::install::place::Place;
use crate::install::plan::Plan;
use crate::install::step::{Act, What};
use crate::install::target::Target;
use crate::path::is_same_place;
use crate::project_root;
use crate::shell::quote_path;

pub(crate) fn read_settings(target: &Target) -> Vec<SettingsFile> {
    let project = (!target.is_user).then_some(target.root.as_path());
    settings_file::read_all(project, target.env.place.host().as_deref())
}

/// Switches that silence hooks, and other installs.
pub(crate) fn of_other_hooks(target: &Target, files: &[SettingsFile]) -> Vec<Bilingual> {
    let mut warnings = Vec::new();
    if let Some(file) = settings_file::find_disabling_file(files) {
        warnings.push(both!(
            "no hook will run: {file} has `disableAllHooks`",
            "フックは動きません。{file} に `disableAllHooks` があります",
            file = file.path.display()
        ));
    }
    if let Some(plugin) = plugin::find_plugin(files, target.env.place.host().as_deref()) {
        let id = plugin.id;
        warnings.push(both!(
            "the plugin {id} has the same hooks: Tidegate answers each event once, but starts twice; \
             `claude plugin disable {id}` leaves only these",
            "プラグイン {id} にも同じフックがあります。応答は1回ですが、2回起動します。こちらだけにするには `claude plugin disable {id}`"
        ));
    }
    let shared = target.shared_settings().filter(|_| !target.shared);
    if let Some(shared) = shared.filter(|place| has_shared_hooks(place, target)) {
        warnings.push(both!(
            "{shared} has the same hooks: Tidegate answers each event once, but starts twice; to keep only those, run \
             `tidegate uninstall`, then `tidegate init --shared` for the status line",
            "{shared} にも同じフックがあります。応答は1回ですが、2回起動します。そちらだけにするには `tidegate uninstall` の後、\
             `tidegate init --shared` でステータスラインを追加してください",
            shared = shared.shown.display()
        ));
    }
    warnings
}

pub(crate) fn of_hook_shapes(target: &Target, files: &[SettingsFile]) -> Vec<Bilingual> {
    files.iter().filter_map(|file| describe_faults(file, target)).collect()
}

/// Entries that other agents run as scripts and that the plan leaves: one line per file.
pub(crate) fn left_by(plan: &Plan, target: &Target) -> Vec<Bilingual> {
    let mut looked_at: Vec<PathBuf> = Vec::new();
    let mut warnings = Vec::new();
    for (file, origin) in misread_files(target) {
        if looked_at.iter().any(|known| is_same_place(known, &file)) {
            continue;
        }
        let step = plan.steps.iter().find(|step| is_same_place(&step.place.file, &file));
        let text = match step.map(|step| (&step.act, step.what)) {
            Some((Act::Text { new, .. }, _)) => new.clone(),
            // Its own line says why.
            Some((Act::Nothing, What::Kept)) => None,
            _ => settings_file::read_text(&file),
        };
        let problems = text.map(|text| misread::describe_problems(&file, &origin, misread::count_in(&text)));
        let lines = problems.into_iter().flatten().map(|(problem, fix)| {
            let (en, ja) = (problem.en, problem.ja);
            both!("{en} Fix: {fix}", "{ja}直し方: {fix_ja}", fix = fix.en, fix_ja = fix.ja)
        });
        let (en, ja): (Vec<String>, Vec<String>) = lines.map(|line| (line.en, line.ja)).unzip();
        if !en.is_empty() {
            warnings.push(Bilingual { en: en.join(" "), ja: ja.concat() });
        }
        looked_at.push(file);
    }
    warnings
}

/// Files that agents read in this project; for `--user`, in the project of the current folder.
fn misread_files(target: &Target) -> Vec<(PathBuf, Origin)> {
    let homes = AgentHomes::find(&target.env.place);
    let project = if target.is_user {
        project_root::find_project(&target.env, None, Vec::new)
    } else {
        Some(target.root.clone())
    };
    let init = match &project {
        Some(project) if !target.is_user => format!("tidegate init --project {}", quote_path(project)),
        _ => "tidegate init --user".to_owned(),
    };
    let user = homes.client.iter().map(|client| (client.join("settings.json"), Origin::user()));
    let mut files: Vec<(PathBuf, Origin)> = user.collect();
    if let Some(project) = &project {
        for name in [".claude/settings.json", ".claude/settings.local.json"] {
            let file = project.join(name);
            let origin = Origin::project(project, &file);
            files.push((file, origin));
        }
    }
    let others = homes.settings_of_others(project.as_deref());
    files.extend(others.into_iter().map(|file| (file, Origin::OtherAgent { init: init.clone() })));
    let copies = homes.plugin_copies();
    files.extend(copies.into_iter().map(|file| (file, Origin::PluginCopy { init: init.clone() })));
    files.extend(homes.plugins_in_place().into_iter().map(|file| (file, Origin::LivePlugin)));
    files
}

fn has_shared_hooks(place: &Place, target: &Target) -> bool {
    settings_file::read_text(&place.file)
        .is_some_and(|text| settings_text::has_shared_hooks(&text, &target.call))
}

/// Entries of other tools that make the host ignore the whole file.
fn describe_faults(file: &SettingsFile, target: &Target) -> Option<Bilingual> {
    let Content::Object(object) = &file.content else { return None };
    let faults = hook_shape::find_faults(object, |handler| !registrations::is_ours(handler, &target.call));
    let Bilingual { en, ja } = (!faults.is_empty()).then(|| Bilingual::list(faults))?;
    Some(both!(
        "Claude Code ignores all of {file}: {en}",
        "Claude Code は {file} 全体を無視します: {ja}",
        file = file.path.display()
    ))
}

//! What `init` does and yet does not help: each is one line for the person, and no reason to refuse.

use std::fs;
use std::path::{Path, PathBuf};

use super::misread::{self, Origin};
use super::plan::Plan;
use super::shell::quoted;
use super::step::{Act, What};
use super::target::{Place, Target};
use super::{link, registrations, settings};
use crate::host::agent_homes::AgentHomes;
use crate::host::settings_file::{self, Content, SettingsFile};
use crate::host::{hook_shape, plugin};
use crate::project_root;

/// All of them.
pub(crate) fn of_init(target: &Target) -> Vec<String> {
    let host = target.env.place.host();
    let project = (!target.is_user).then_some(target.root.as_path());
    let files = settings_file::read_all(project, host.as_deref());
    let mut warnings = Vec::new();
    if target.link.is_some() && link::is_build(&target.program) {
        let program = target.program.display();
        warnings.push(format!("{program} is a build: `cargo clean` takes it away, and the gates close"));
    }
    if let Some(file) = settings_file::disabling(&files) {
        warnings.push(format!("{} has `disableAllHooks`: no hook will run", file.path.display()));
    }
    if let Some(plugin) = plugin::find(&files, host.as_deref()) {
        let id = plugin.id;
        warnings.push(format!(
            "the plugin {id} is enabled, too: each event is answered once, but costs two processes; \
             `claude plugin disable {id}` leaves these hooks"
        ));
    }
    let shared = target.shared_settings().filter(|_| !target.shared);
    if let Some(shared) = shared.filter(|place| has_shared_hooks(place, target)) {
        warnings.push(format!(
            "{} registers the hooks already: each event is answered once, but costs two processes; \
             `tidegate uninstall` leaves those, and `tidegate init --shared` adds the status line to them",
            shared.shown.display()
        ));
    }
    warnings.extend(above(target));
    warnings.extend(files.iter().filter_map(|file| shape(file, target)));
    warnings
}

/// Entries that other agents run as scripts and that the plan leaves: one line for each file.
pub(crate) fn left_by(plan: &Plan, target: &Target) -> Vec<String> {
    let mut looked_at: Vec<PathBuf> = Vec::new();
    let mut warnings = Vec::new();
    for (file, origin) in misread_files(target) {
        if looked_at.iter().any(|known| settings_file::is_same(known, &file)) {
            continue;
        }
        let step = plan.steps.iter().find(|step| settings_file::is_same(&step.place.file, &file));
        let text = match step.map(|step| (&step.act, step.what)) {
            Some((Act::Text { new, .. }, _)) => new.clone(),
            // Its own line says why.
            Some((Act::Nothing, What::Kept)) => None,
            _ => settings_file::text(&file),
        };
        let problems = text.map(|text| misread::problems(&file, &origin, misread::count_in(&text)));
        let lines: Vec<String> =
            problems.into_iter().flatten().map(|(problem, fix)| format!("{problem}; fix: {fix}")).collect();
        if !lines.is_empty() {
            warnings.push(lines.join("; "));
        }
        looked_at.push(file);
    }
    warnings
}

/// The files that agents read in this project, or, for an install of the user, in the one that the command runs in.
fn misread_files(target: &Target) -> Vec<(PathBuf, Origin)> {
    let homes = AgentHomes::find(&target.env.place);
    let project =
        if target.is_user { project_root::find(&target.env, None, &[]) } else { Some(target.root.clone()) };
    let init = match &project {
        Some(project) if !target.is_user => format!("tidegate init --project {}", quoted(project)),
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
    settings_file::text(&place.file).is_some_and(|text| settings::has_shared_hooks(&text, &target.call))
}

/// An install in a folder above, in the same repository: a client started there does not read this one, and the other way
/// round.
fn above(target: &Target) -> Option<String> {
    let top = |folder: &Path| fs::symlink_metadata(folder.join(".git")).is_ok();
    if target.is_user || top(&target.root) {
        return None;
    }
    let depth = target.root.ancestors().position(top)?;
    let mut above = target.root.ancestors().skip(1).take(depth);
    let folder = above.find(|folder| project_root::is_installed(&target.env, folder))?;
    Some(format!(
        "{} has an install, too: a client started there does not see this one; `tidegate uninstall` takes it out again",
        folder.display()
    ))
}

/// Entries of others by which the host leaves out the whole file, and ours in it.
fn shape(file: &SettingsFile, target: &Target) -> Option<String> {
    let Content::Object(object) = &file.content else { return None };
    let faults = hook_shape::faults(object, |handler| !registrations::is_ours(handler, &target.call));
    let faults = (!faults.is_empty()).then(|| faults.join("; "))?;
    Some(format!("the client leaves out all of {}: {faults}", file.path.display()))
}

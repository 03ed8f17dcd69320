//! Entries of version 0.1.0 that other agents misread: they would run the payload of a hook as a shell script.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tidegate_state::project;

use super::super::misread::{self, Origin};
use super::super::settings_file::{Scope, read_text};
use crate::bilingual::both;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::host::agent_homes::AgentHomes;
use crate::install::record::Records;
use crate::path::{is_same_place, real_path};

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let mut looked_at: BTreeSet<PathBuf> = BTreeSet::new();
    for (file, origin) in list_files(seen) {
        if !looked_at.insert(real_path(&file)) {
            continue;
        }
        let Some(text) = read_text(&file) else { continue };
        for (problem, fix) in misread::describe_problems(&file, &origin, misread::count_in(&text)) {
            found.problem(problem, fix);
        }
    }
    if found.is_empty() {
        found.ok(both!(
            "No hook entry would make another agent run prompts as a script.",
            "ほかのエージェントがスクリプトとして実行してしまう項目はありません。"
        ));
    }
}

fn list_files(seen: &Gathered) -> Vec<(PathBuf, Origin)> {
    let homes = AgentHomes::find(&seen.env.place);
    let init = seen.init_command(seen.scope());
    let here = seen.project.as_deref();
    let of_scope = |scope: Scope, file: &Path| match (scope, here) {
        (Scope::Managed, _) => Origin::Managed,
        (Scope::Local | Scope::Shared, Some(project)) => Origin::project(project, file),
        _ => Origin::user(),
    };
    let mut files: Vec<(PathBuf, Origin)> = seen
        .client
        .settings
        .iter()
        .map(|file| (file.path.clone(), of_scope(file.scope, &file.path)))
        .collect();
    let others = homes.settings_of_others(here);
    files.extend(others.into_iter().map(|file| (file, Origin::OtherAgent { init: init.clone() })));
    let copies = homes.plugin_copies();
    files.extend(copies.into_iter().map(|file| (file, Origin::PluginCopy { init: init.clone() })));
    files.extend(homes.plugins_in_place().into_iter().map(|file| (file, Origin::LivePlugin)));

    let installs = Records::look(&seen.env).map(|records| records.settings()).unwrap_or_default();
    let is_host = |root: &Path| seen.client.folder.as_deref().is_some_and(|host| is_same_place(host, root));
    files.extend(installs.iter().map(|(root, file)| {
        (file.clone(), if is_host(root) { Origin::user() } else { Origin::project(root, file) })
    }));
    for root in other_projects(seen, installs.into_iter().map(|(root, _)| root)) {
        for name in [".claude/settings.local.json", ".claude/settings.json"] {
            let file = root.join(name);
            if file.is_file() {
                let origin = Origin::project(&root, &file);
                files.push((file, origin));
            }
        }
    }
    files
}

/// Each worktree of a project's repository, and in it the project's folder, if that is not the top.
fn in_worktrees(project: &Path) -> Vec<PathBuf> {
    let trees = project::worktrees(project);
    let real = real_path(project);
    // A worktree may be inside another one: the innermost is the project's.
    let top = trees.iter().filter(|tree| real.starts_with(tree)).max_by_key(|tree| tree.components().count());
    let below = top.and_then(|top| real.strip_prefix(top).ok()).unwrap_or(Path::new("")).to_owned();
    trees.into_iter().flat_map(|tree| [tree.join(&below), tree]).collect()
}

/// Projects with an install or a session, and the other worktrees of this repository.
fn other_projects(seen: &Gathered, installs: impl Iterator<Item = PathBuf>) -> BTreeSet<PathBuf> {
    let sessions =
        seen.sessions.iter().filter_map(|session| session.marks.session.root.as_deref().map(PathBuf::from));
    installs.chain(sessions).chain(seen.project.iter().flat_map(|project| in_worktrees(project))).collect()
}

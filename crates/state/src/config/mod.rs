//! The config: files and variables laid over each other, in this order: the user's file, its sections for
//! this project, the project's file, the project's local file, the environment. Later ones count more.
//!
//! In a section with an invalid value only stricter values of that file count, so that earlier ones stand. A
//! file that does not parse counts as its last good copy in private state; of a project's file only what
//! tightens. A stray bracket must not open a gate. The config names both mistakes. Copies are made at a
//! session's start and by commands. A trusted file is kept whole and compared to the byte.

mod copies;
mod file;
mod last_good;
mod parse;
pub mod switches;
pub mod trust;

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::feature as policy;
use tidegate_core::feature::config::former_names;
use tidegate_core::feature::config::layer::{Assignment, FormerName, Layer, Origin};
use tidegate_core::feature::config::{Config, ConfigOwner, parse_off_list, split_off_list};
use tidegate_core::settings::section::Voice;

use crate::config::file::{ConfigFile, read_file};
use crate::place::StateDir;
use crate::project;

pub use last_good::keep_copies;
pub use parse::list_assignments;

/// In bytes; a larger file counts as unreadable.
pub const LARGEST: u64 = 256 * 1024;

const MOST_PROBLEMS: usize = 20;

/// Relative to the project's root. The later one counts more.
pub const PROJECT_FILES: [&str; 2] = [".claude/tidegate.toml", ".claude/tidegate.local.toml"];

#[derive(Clone, Copy, Debug, Default)]
pub struct Sources<'a> {
    /// The user's own file.
    pub user: Option<&'a Path>,
    /// The project's root.
    pub root: Option<&'a Path>,
    /// Holds trust and the last good copies.
    pub state: Option<&'a StateDir>,
    /// `TIDEGATE_*` variables that set a key.
    pub variables: &'a [(String, String)],
    /// `TIDEGATE_OFF`.
    pub off: Option<&'a str>,
}

/// Missing files are not a problem.
pub fn read(sources: &Sources<'_>) -> Config {
    let mut config = Config::default();
    if let Some(user) = sources.user {
        apply_user_file(user, sources, &mut config);
    }
    for path in project_files(sources.root) {
        apply_project_file(&path, sources, &mut config);
    }
    if !sources.variables.is_empty() {
        let layer = config.layer_of_environment(sources.variables);
        config.apply(&layer);
    }
    if let Some(off) = sources.off {
        apply_off_variable(off, &mut config);
    }
    let more = config.problems.len().saturating_sub(MOST_PROBLEMS);
    if more > 0 {
        config.problems.truncate(MOST_PROBLEMS);
        config.problems.push(format!("and {more} more"));
    }
    config
}

fn apply_user_file(path: &Path, sources: &Sources<'_>, config: &mut Config) {
    let (settled, stricter) = match read_file(path, ConfigOwner::User, sources.state, config) {
        ConfigFile::Missing => (None, None),
        ConfigFile::Parsed(parsed, _) => (Some(parsed), None),
        ConfigFile::Broken { copy, rest } => (copy, rest),
    };
    if let Some(parsed) = settled {
        config.problems.extend(parsed.problems);
        config.apply(&Layer { voice: Voice::User, assignments: parsed.assignments });
        for assignments in select_for_project(parsed.projects, sources.root) {
            config.apply(&Layer { voice: Voice::User, assignments });
        }
    }
    if let Some(parsed) = stricter {
        apply_stricter(config, parsed.assignments);
        for assignments in select_for_project(parsed.projects, sources.root) {
            apply_stricter(config, assignments);
        }
    }
}

fn apply_project_file(path: &Path, sources: &Sources<'_>, config: &mut Config) {
    match read_file(path, ConfigOwner::Project, sources.state, config) {
        ConfigFile::Missing => {}
        ConfigFile::Parsed(parsed, text) => {
            if !parsed.projects.is_empty() {
                config.problems.push(format!(
                    "{}: [project] is for the user's own config and left out here",
                    path.display()
                ));
            }
            let trusted = sources.state.is_some_and(|state| trust::is_trusted(state, path, &text));
            let voice = if trusted { Voice::Trusted } else { Voice::Untrusted };
            config.apply(&Layer { voice, assignments: parsed.assignments });
        }
        // Any change revokes trust, also one that breaks the file.
        ConfigFile::Broken { copy, rest } => {
            for parsed in [copy, rest].into_iter().flatten() {
                apply_stricter(config, parsed.assignments);
            }
        }
    }
}

fn apply_off_variable(off: &str, config: &mut Config) {
    config.off = parse_off_list(off);
    for id in split_off_list(off) {
        if let Some(now) = former_names::renamed_policy(id) {
            let origin = Origin::Variable("TIDEGATE_OFF".to_owned());
            config.former_names.push(FormerName { origin, written: id.to_owned(), now: now.to_owned() });
        }
    }
    let unknown =
        config.off.iter().filter(|id| !policy::switchable_policies().any(|known| known == id.as_str()));
    let problem = |id: &String| {
        let near = former_names::nearest_policy(id);
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        format!("TIDEGATE_OFF: there is no policy `{id}`{hint}")
    };
    let problems: Vec<String> = unknown.map(problem).collect();
    config.problems.extend(problems);
}

pub fn project_files(root: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    root.into_iter().flat_map(|root| PROJECT_FILES.map(|file| root.join(file)))
}

/// Applies only assignments that tighten something. Reports no further problems: the broken file is reported already.
fn apply_stricter(config: &mut Config, assignments: Vec<Assignment>) {
    let (problems, waiting, former) =
        (config.problems.len(), config.waiting.len(), config.former_names.len());
    config.apply(&Layer { voice: Voice::Untrusted, assignments });
    config.problems.truncate(problems);
    config.waiting.truncate(waiting);
    config.former_names.truncate(former);
}

/// The user's sections for this project, the nearest folder last. Sections for a worktree count more than those for the main
/// worktree of its repository.
fn select_for_project(projects: Vec<(String, Vec<Assignment>)>, root: Option<&Path>) -> Vec<Vec<Assignment>> {
    let Some(root) = root.filter(|_| !projects.is_empty()) else { return Vec::new() };
    let mut places: Vec<PathBuf> = project::main_worktree(root).into_iter().collect();
    let of_worktree = places.len();
    places.push(root.to_owned());
    places.extend(fs::canonicalize(root).ok());
    let rank = |path: &str| {
        let nearest = places.iter().rposition(|place| place.starts_with(path))?;
        Some((nearest >= of_worktree, Path::new(path).components().count()))
    };
    let ranked = projects.into_iter().filter_map(|(path, assignments)| Some((rank(&path)?, assignments)));
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, assignments)| assignments).collect()
}

#[cfg(test)]
mod tests;

//! Keeps variables that a repository set from commands, the MCP server, the worker, and all programs that these start.
//!
//! The host puts the `env` of a project's settings into the environment of its shell and its servers. A program cannot
//! safely change its own environment while it runs, so it restarts itself without such a variable. Nothing that reads
//! the environment afterwards, here or in a child, has to check again.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use tidegate_core::event::SessionId;
use tidegate_core::host::claude_code::settings_file::Guard;
use tidegate_hook::environment::Environment;
use tidegate_hook::host::claude_code::client::{self, OwnVariables};
use tidegate_state::host::claude_code::settings::{may_come_from_project, read_project_variables};
use tidegate_state::place::PlaceEnv;
use tidegate_state::place::running_program;
use tidegate_state::session::marks;

use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::path::is_same_place;
use crate::print::page::Page;

/// Runs this command without the variables that a repository set. `None` if there are none.
pub(crate) fn start_anew() -> Option<ExitCode> {
    let guarded: Vec<_> = std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            Guard::of(&name).map(|guard| (name, value, guard))
        })
        .collect();
    let env = Environment::of_process();
    let of_projects =
        list_projects(&env).into_iter().map(|project| (read_project_variables(&project), project));
    let of_projects: Vec<(Option<Vec<_>>, PathBuf)> = of_projects.collect();
    // Unreadable settings may set anything, but only for programs that the host starts.
    let counting = || of_projects.iter().filter(|(of_project, _)| env.agent || of_project.is_some());
    // The client keeps values of a settings file that is gone by now. An agent's own word does not count.
    let of_client =
        if guarded.is_empty() { None } else { client::find_above(env.client).and_then(OwnVariables::read) };
    let is_project = |folder: &&Path| folder.join(".git").exists() || folder.join(".claude").exists();
    let roots: Vec<&Path> =
        of_projects.iter().map(|(_, project)| project.as_path()).filter(is_project).collect();
    let is_of_project = |name: &str, value: &OsStr| {
        counting()
            .any(|(of_project, project)| may_come_from_project(project, of_project.as_deref(), name, value))
    };
    let is_unknown_to_client =
        |name: &str, value: &OsStr| of_client.as_ref().is_some_and(|own| !own.counts(name, value, &roots));
    let is_foreign =
        |name: &str, value: &OsStr| is_of_project(name, value) || is_unknown_to_client(name, value);
    let foreign: Vec<_> = guarded.iter().filter(|(name, value, _)| is_foreign(name, value)).collect();
    if foreign.is_empty() {
        return None;
    }
    // A team's proxy settings are expected; they only do not reach programs started here.
    let told = foreign.iter().filter(|(_, _, guard)| *guard != Guard::Programs);
    let (theirs, unknown): (Vec<_>, Vec<_>) = told
        .map(|(name, value, _)| (name.as_str(), value))
        .partition(|(name, value)| is_of_project(name, value));
    for (variables, why) in [
        (
            theirs,
            both!(
                "the project's settings set it, or cannot be read",
                "プロジェクトの設定が指定したか、設定を読めません"
            ),
        ),
        (unknown, both!("Claude Code was not started with it", "Claude Code の起動時には指定されていません")),
    ] {
        let names: Vec<&str> = variables.into_iter().map(|(name, _)| name).collect();
        if !names.is_empty() {
            let (names, Bilingual { en, ja }) = (names.join(", "), why);
            let mut page = Page::new();
            page.labelled(
                both!("note", "注意"),
                both!("ignored {names}: {en}", "{names} を無視しました: {ja}"),
            );
            page.print_to_stderr();
        }
    }
    let program = match running_program() {
        Ok(program) => program,
        Err(error) => return Some(restart_failed(&error)),
    };
    let mut command = Command::new(program);
    command.args(std::env::args_os().skip(1));
    for (name, ..) in foreign {
        command.env_remove(name);
    }
    Some(become_it(command))
}

#[cfg(unix)]
fn become_it(mut command: Command) -> ExitCode {
    use std::os::unix::process::CommandExt;
    if let Some(name) = std::env::args_os().next() {
        command.arg0(name);
    }
    restart_failed(&command.exec())
}

#[cfg(not(unix))]
fn become_it(mut command: Command) -> ExitCode {
    match command.status() {
        Ok(status) => {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            code.map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => restart_failed(&error),
    }
}

fn restart_failed(error: &std::io::Error) -> ExitCode {
    CliError::new(both!(
        "cannot restart without the variables that the project's settings set: {error}",
        "プロジェクトの設定が指定した環境変数なしで再起動できません: {error}"
    ))
    .hint(both!(
        "remove them from `env` in the project's .claude/settings.json",
        "プロジェクトの .claude/settings.json の `env` から取り除いてください"
    ))
    .report()
}

/// Every project whose settings may be in this environment: the one that the host names, those at and above the current
/// folder, and that of the session, since an agent can call from anywhere.
fn list_projects(env: &Environment) -> Vec<PathBuf> {
    let mut projects: Vec<PathBuf> = env.project.iter().cloned().collect();
    let cwd = std::env::current_dir().unwrap_or_default();
    projects.extend(cwd.ancestors().filter(|folder| folder.is_absolute()).map(Path::to_owned));
    if let Some(session) = env.session.as_deref().and_then(|id| SessionId::parse(id).ok()) {
        // All places where hooks may keep their state: the variables that name it may be the repository's.
        let usual = PlaceEnv { home: env.place.home.clone(), ..PlaceEnv::default() };
        let moved = PlaceEnv { xdg_state: env.place.xdg_state.clone(), ..usual.clone() };
        for place in [&usual, &moved, &env.place] {
            let folder = place.state().map(|state| state.join("sessions").join(session.as_str()));
            let marks = folder.map(|folder| marks::read(&folder));
            let root =
                marks.ok().and_then(|marks| marks.value().and_then(|marks| marks.session.root.clone()));
            projects.extend(root.map(PathBuf::from));
        }
    }
    // In the home directory the settings are the user's own, unless they are what makes it the home directory.
    let home = env.place.home.as_deref();
    let is_home = |project: &Path| home.is_some_and(|home| is_same_place(home, project));
    let makes_it_so = |project: &Path| {
        let variables = read_project_variables(project).unwrap_or_default();
        let is_theirs =
            |name, home: &Path| may_come_from_project(project, Some(&variables), name, home.as_os_str());
        home.is_some_and(|home| ["HOME", "USERPROFILE"].into_iter().any(|name| is_theirs(name, home)))
    };
    projects.retain(|project| !is_home(project) || makes_it_so(project));
    projects
}

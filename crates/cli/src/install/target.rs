//! Where an install goes: a project or the user, and the files there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tidegate_core::feature::cycle::state::FILE;
use tidegate_core::time::Millis;
use tidegate_hook::environment::Environment;
use tidegate_state::clock;
use tidegate_state::feature::cycle;

use super::arguments::InstallTarget;
use super::json_text::fault;
use super::settings;
use crate::error::CliError;
use crate::host::agent_homes::AgentHomes;
use crate::host::settings_file;

/// A project, or the user's own settings.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) env: Environment,
    pub(crate) now: Millis,
    pub(crate) is_user: bool,
    /// Hooks go into the file that a team shares.
    pub(crate) shared: bool,
    /// The project's folder, or the host's, as a person named it.
    pub(crate) shown: PathBuf,
    /// And as it is.
    pub(crate) root: PathBuf,
    /// This program.
    pub(crate) program: PathBuf,
    /// The link to it, where there can be one.
    pub(crate) link: Option<PathBuf>,
    /// What settings call.
    pub(crate) call: String,
}

/// A file, as it is shown and as it is.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) shown: PathBuf,
    pub(crate) file: PathBuf,
}

impl Place {
    /// A file that has no other name.
    pub(crate) fn plain(file: PathBuf) -> Place {
        Place { shown: file.clone(), file }
    }

    /// Its text; `None` when there is no file.
    pub(crate) fn read(&self) -> Result<Option<String>, CliError> {
        let shown = self.shown.display();
        let bytes =
            match fs::metadata(&self.file) {
                Ok(found) if !found.is_file() => {
                    return Err(CliError::new(format!("{shown} is not a file"))
                        .hint("move it away; nothing was changed"));
                }
                Ok(_) => fs::read(&self.file).map_err(|error| self.failed(&error))?,
                Err(error) if is_missing(&error) => {
                    if let Ok(end) = fs::read_link(&self.file) {
                        let what = format!("{shown} is a link to {}, which is not there", end.display());
                        return Err(CliError::new(what)
                            .hint("make that file or remove the link; nothing was changed"));
                    }
                    return Ok(None);
                }
                Err(error) => return Err(self.failed(&error)),
            };
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
            self.refused(
                &fault(&text, text.len(), "not UTF-8"),
                "save it as UTF-8, then run this again; nothing was changed",
            )
        })
    }

    /// Whether it is a link.
    pub(crate) fn is_link(&self) -> bool {
        fs::symlink_metadata(&self.file).is_ok_and(|found| found.is_symlink())
    }

    /// Refuses a place in which nothing can be put, so that nothing is done by half.
    pub(crate) fn check_folder(&self) -> Result<(), CliError> {
        check_folder(&self.file)
    }

    /// Refuses a file that its owner locked (replacing it would work, and is not what they meant), and one that can not
    /// be there.
    pub(crate) fn check_writable(&self) -> Result<(), CliError> {
        // What a link leads to is replaced where it is.
        check_folder(&fs::canonicalize(&self.file).unwrap_or_else(|_| self.file.clone()))?;
        let locked = fs::metadata(&self.file).is_ok_and(|found| found.permissions().readonly());
        let shown = self.shown.display();
        if locked {
            let cure =
                format!("make it writable (`chmod u+w {shown}`), then run this again; nothing was changed");
            return Err(CliError::new(format!("{shown} is read-only")).hint(cure));
        }
        Ok(())
    }

    /// An error of the system with this file.
    pub(crate) fn failed(&self, error: &io::Error) -> CliError {
        CliError::new(format!("{}: {error}", self.shown.display()))
    }

    /// A refusal to touch this file.
    pub(crate) fn refused(&self, fault: &super::json_text::Fault, hint: &str) -> CliError {
        let super::json_text::Fault { line, column, what } = fault;
        CliError::new(format!("{}:{line}:{column}: {what}", self.shown.display())).hint(hint)
    }
}

fn check_folder(file: &Path) -> Result<(), CliError> {
    let Some(above) = file.ancestors().skip(1).find(|folder| folder.exists()) else { return Ok(()) };
    if !above.is_dir() {
        let what = format!("{} is not a folder", above.display());
        return Err(CliError::new(what).hint("move it away; nothing was changed"));
    }
    if let Some(cure) = lock_of(above) {
        let what = format!("nothing can be written in {}", above.display());
        return Err(CliError::new(what).hint(format!("{cure}, then run this again; nothing was changed")));
    }
    Ok(())
}

/// What opens a folder, if its mode says that nothing is to be put in it or the system does.
#[cfg(unix)]
fn lock_of(folder: &Path) -> Option<String> {
    use rustix::fs::Access;
    use std::os::unix::fs::MetadataExt;

    let found = fs::metadata(folder).ok()?;
    let access = rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK);
    if access.is_ok() && !found.permissions().readonly() {
        return None;
    }
    Some(match access {
        Err(rustix::io::Errno::ROFS) => "make its file system writable".to_owned(),
        _ if found.uid() == rustix::process::geteuid().as_raw() => {
            format!("`chmod u+wx {}`", super::shell::quoted(folder))
        }
        _ => "have its owner give you the right to".to_owned(),
    })
}

#[cfg(not(unix))]
fn lock_of(_: &Path) -> Option<String> {
    None
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Target {
    /// Finds it.
    pub(crate) fn find(args: &InstallTarget) -> Result<Target, CliError> {
        let env = Environment::of_process();
        let shown = if args.user {
            let missing = || CliError::new("neither HOME nor CLAUDE_CONFIG_DIR is set");
            env.place.host().ok_or_else(missing)?
        } else if args.project.is_dir() {
            args.project.clone()
        } else {
            return Err(CliError::new(format!("{} is not a folder", args.project.display()))
                .hint("name the project's folder with --project"));
        };
        let root = canonical(&shown).map_err(|error| Place::plain(shown.clone()).failed(&error))?;
        let program = std::env::current_exe().and_then(fs::canonicalize).map_err(CliError::new)?;
        let link = env.place.link().filter(|_| cfg!(unix));
        let call = link.as_ref().unwrap_or(&program).to_str();
        let call = call.ok_or_else(|| CliError::new("the path of this program is not UTF-8"))?.to_owned();
        let (now, is_user, shared) = (clock::now(), args.user, args.shared);
        Ok(Target { env, now, is_user, shared, shown, root, program, link, call })
    }

    /// Whether settings here call us already.
    pub(crate) fn is_called(&self) -> bool {
        let places = [Some(self.own_settings()), self.shared_settings()];
        let text = |place: Place| settings_file::text(&place.file);
        places.into_iter().flatten().filter_map(text).any(|text| settings::has_ours(&text, &self.call))
    }

    /// What hooks and commands write there for other tools to read. Flow, its archive and stock are a person's.
    pub(crate) fn public_copies(&self) -> [Place; 4] {
        [
            "context/context-pressure.json",
            "context/last-compact.json",
            "context/compound-last-run.json",
            cycle::BUDGET,
        ]
        .map(|name| self.in_host_folder(name))
    }

    /// Where a cycle stands, and what of that was put aside: a person may want to go on with it.
    pub(crate) fn cycle_files(&self) -> Vec<Place> {
        let folder = self.root.join(".claude");
        let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        let is_of_cycle = |name: &String| {
            name.strip_prefix(FILE).is_some_and(|end| end.is_empty() || end.starts_with(".bad"))
        };
        let mut names: Vec<String> = names.filter(is_of_cycle).collect();
        names.sort();
        names.iter().map(|name| self.in_host_folder(name)).collect()
    }

    /// A file below the target.
    pub(crate) fn place(&self, path: impl AsRef<Path>) -> Place {
        Place { shown: self.shown.join(path.as_ref()), file: self.root.join(path.as_ref()) }
    }

    /// A file in the host's folder there.
    pub(crate) fn in_host_folder(&self, path: &str) -> Place {
        if self.is_user { self.place(path) } else { self.place(Path::new(".claude").join(path)) }
    }

    /// The settings that are a person's own.
    pub(crate) fn own_settings(&self) -> Place {
        self.in_host_folder(if self.is_user { "settings.json" } else { "settings.local.json" })
    }

    /// The settings that a team shares.
    pub(crate) fn shared_settings(&self) -> Option<Place> {
        (!self.is_user).then(|| self.in_host_folder("settings.json"))
    }

    /// Where entries of 0.1.0 may still be: settings of this project and of the person, and copies of the plugin.
    pub(crate) fn misread_places(&self) -> Vec<Place> {
        let homes = AgentHomes::find(&self.env.place);
        let project = (!self.is_user).then_some(self.root.as_path());
        let user = homes.client.iter().map(|client| client.join("settings.json"));
        let files = user.chain(homes.settings_of_others(project)).chain(homes.plugin_copies());
        // Links may lead to one file by two ways; it is planned once.
        let place =
            |file: PathBuf| Place { file: canonical(&file).unwrap_or_else(|_| file.clone()), shown: file };
        self.shared_settings().into_iter().chain(files.map(place)).collect()
    }

    /// The status line that the host would draw without ours.
    pub(crate) fn farther_line(&self) -> Option<String> {
        if self.is_user {
            return None;
        }
        let user = self.env.place.host().map(|host| host.join("settings.json"));
        let farther = [self.shared_settings().map(|place| place.file), user];
        farther
            .into_iter()
            .flatten()
            .find_map(|path| settings::foreign_line(&settings_file::text(&path)?, &self.call))
    }

    /// Whether the project is in a git repository.
    pub(crate) fn is_in_git(&self) -> bool {
        !self.is_user && self.root.ancestors().any(|folder| fs::symlink_metadata(folder.join(".git")).is_ok())
    }
}

/// The true path, also of what is not there yet.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Err(error), Some(parent), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
            Ok(canonical(parent)?.join(name))
        }
        (found, _, _) => found,
    }
}

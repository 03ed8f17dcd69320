//! Everything the checks look at, read once and bounded.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::event::SessionId;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::marks::Marks;
use tidegate_core::time::Millis;
use tidegate_hook::environment::Environment;
use tidegate_state::file::bounded;
use tidegate_state::place::StateDir;
use tidegate_state::{clock, config};

use super::client_session::{self, ClientSession};
use super::history::{self, History};
use super::registration::{self, Around, Command};
use crate::error::CliError;
use crate::host::plugin::{self, Plugin};
use crate::host::settings_file::{self, Scope, SettingsFile, modified};
use crate::install::record::Records;
use crate::install::registrations::Calls;
use crate::install::shell::quoted;
use crate::program;
use crate::project_root;

/// More than this is damage.
const LARGEST_MARKS: u64 = 4 * 1024 * 1024;

pub(crate) struct Gathered {
    pub(crate) env: Environment,
    pub(crate) now: Millis,
    /// The folders of `PATH`.
    pub(crate) path: Vec<PathBuf>,
    /// `CLAUDE_CODE_SIMPLE`: a client started from here would run no hooks.
    pub(crate) simple: bool,
    /// This program.
    pub(crate) exe: Option<PathBuf>,
    /// Where `init` puts a link to it.
    pub(crate) link: Option<PathBuf>,
    /// What settings call us by.
    pub(crate) call: String,
    pub(crate) project: Option<PathBuf>,
    /// The client's own folder.
    pub(crate) host: Option<PathBuf>,
    /// The one that counts most first.
    pub(crate) settings: Vec<SettingsFile>,
    /// Every command in them.
    pub(crate) commands: Vec<Command>,
    pub(crate) plugin: Option<Plugin>,
    pub(crate) config: Config,
    pub(crate) state: Result<StateDir, String>,
    /// The state directory's mode before it was opened, which mends it.
    pub(crate) state_mode: Option<u32>,
    pub(crate) history: History,
    pub(crate) sessions: Vec<Session>,
    pub(crate) client_sessions: Vec<ClientSession>,
}

/// A session that our hooks know.
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) marks: Marks,
}

impl Gathered {
    pub(crate) fn gather(named: Option<&Path>) -> Result<Gathered, CliError> {
        let named = match named {
            Some(folder) if !folder.is_dir() => {
                return Err(CliError::new(format!("{} is not a folder", folder.display()))
                    .hint("name the project's folder with --project"));
            }
            named => named.map(|folder| fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())),
        };
        let (env, now) = (Environment::of_process(), clock::now());
        let path = program::search_path();
        let simple = std::env::var("CLAUDE_CODE_SIMPLE").is_ok_and(|value| is_on(&value));
        let exe = std::env::current_exe().and_then(fs::canonicalize).ok();
        let host = env.place.host();

        let state_mode = env.place.state().ok().as_deref().and_then(mode);
        let state = StateDir::open(&env.place);
        let history = state.as_ref().map(|state| history::read(state, now)).unwrap_or_default();
        let sessions = state.as_ref().map(read_sessions).unwrap_or_default();
        let project = named.or_else(|| {
            let root = |session: &Session| session.marks.session.root.as_deref().map(PathBuf::from);
            let is_ours = |known: &&Session| env.session.as_deref() == Some(known.id.as_str());
            let of_session = sessions.iter().find(is_ours).and_then(root);
            project_root::find(&env, of_session, &sessions.iter().filter_map(root).collect::<Vec<_>>())
        });
        let user = env.place.config();
        let config = config::read(&config::Sources {
            user: user.as_deref(),
            root: project.as_deref(),
            state: state.as_ref().ok(),
            variables: &env.settings,
            off: env.off.as_deref(),
        });

        let settings = settings_file::read_all(project.as_deref(), host.as_deref());
        let plugin = plugin::find(&settings, host.as_deref());
        let link = env.place.link();
        let call = link.as_ref().filter(|_| cfg!(unix)).or(exe.as_ref());
        let call = call.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        let commands = settings.iter().flat_map(|file| registration::commands(file, &call)).collect();
        let mut gathered = Gathered {
            env,
            now,
            path,
            simple,
            exe,
            link,
            call,
            project,
            host,
            settings,
            commands,
            plugin,
            config,
            state,
            state_mode,
            history,
            sessions,
            client_sessions: Vec::new(),
        };
        if let (Some(host), Some(project)) = (&gathered.host, &gathered.project) {
            let since = gathered.installed().unwrap_or(now);
            gathered.client_sessions = client_session::read_all(host, project, since);
        }
        Ok(gathered)
    }

    pub(crate) fn around(&self) -> Around<'_> {
        Around {
            home: self.env.place.home.as_deref(),
            project: self.project.as_deref(),
            path: &self.path,
            link: self.link.as_deref(),
        }
    }

    /// The commands in the settings files that call us.
    pub(crate) fn ours(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(|command| command.calls != Calls::Not)
    }

    /// Those of them that are hooks.
    pub(crate) fn hooks(&self) -> impl Iterator<Item = &Command> {
        self.ours().filter(|command| command.event.is_some())
    }

    /// Where our hooks are, or would be: what `init` has to be told to mend them. A status line of its own says nothing,
    /// since beside shared hooks it is in another file.
    pub(crate) fn scope(&self) -> Scope {
        self.hooks().map(|command| command.scope).min().unwrap_or(Scope::Local)
    }

    /// Whether a program is in the project's folder: what is there may be the repository's, and is not run.
    pub(crate) fn is_in_project(&self, program: &Path) -> bool {
        let real = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
        let is_this = self.exe.as_deref() == Some(&real);
        !is_this && self.project.as_deref().is_some_and(|project| program::is_in(program, project))
    }

    /// Whether an event calls us, by a settings file or by the plugin.
    pub(crate) fn is_registered(&self, event: &str) -> bool {
        let by_plugin = self.plugin.as_ref().is_some_and(|plugin| {
            plugin.events.as_ref().is_none_or(|events| events.iter().any(|own| own == event))
        });
        by_plugin || self.hooks().any(|command| command.event.as_deref() == Some(event))
    }

    /// Whether any hook calls us.
    pub(crate) fn has_hooks(&self) -> bool {
        self.plugin.is_some() || self.hooks().next().is_some()
    }

    /// Since when hooks are registered here, as early as there is a trace of it: the client changes its settings files
    /// itself, so their own times say little.
    pub(crate) fn installed(&self) -> Option<Millis> {
        let with_ours = |file: &&SettingsFile| self.hooks().any(|command| command.file == file.path);
        let of_settings = self.settings.iter().filter(with_ours).filter_map(|file| file.modified);
        let records = Records::look(&self.env).ok();
        let since = |file: &SettingsFile| records.as_ref()?.since(&file.path);
        let of_records = self.settings.iter().filter(with_ours).filter_map(since);
        let of_plugin = self.plugin.as_ref().and_then(|plugin| modified(plugin.folder.as_deref()?));
        let first_record = self.history.records.iter().find(|record| self.is_here(record)).map(history::time);
        let times = of_settings.chain(of_records).chain(of_plugin);
        // A record alone is no install: it may have been taken out since.
        times.min().map(|time| first_record.map_or(time, |first| first.min(time)))
    }

    /// Whether a record is of this project.
    pub(crate) fn is_here(&self, record: &tidegate_core::pipeline::record::Record) -> bool {
        record.project.is_some() && record.project.as_deref().map(Path::new) == self.project.as_deref()
    }

    /// The sessions of this project that our hooks know.
    pub(crate) fn sessions_here(&self) -> impl Iterator<Item = &Session> {
        let here = |session: &&Session| {
            session.marks.session.root.is_some()
                && session.marks.session.root.as_deref().map(Path::new) == self.project.as_deref()
        };
        self.sessions.iter().filter(here)
    }

    /// The command that puts a project's hooks in place, or what stands in a settings file of this scope.
    pub(crate) fn init_command(&self, scope: Scope) -> String {
        format!("tidegate init {}", self.scope_arguments(scope))
    }

    /// The command that mends an entry in a settings file of this scope.
    pub(crate) fn mending_command(&self, scope: Scope) -> String {
        // Beside shared hooks a person's own file has the status line alone.
        let is_line = scope == Scope::Local && self.scope() == Scope::Shared;
        self.init_command(if is_line { Scope::Shared } else { scope })
    }

    /// The command that takes them out.
    pub(crate) fn uninstall_command(&self, scope: Scope) -> String {
        format!("tidegate uninstall {}", self.scope_arguments(scope))
    }

    fn scope_arguments(&self, scope: Scope) -> String {
        let project = self.project.as_deref().map_or_else(|| ".".to_owned(), quoted);
        match scope {
            Scope::Local => format!("--project {project}"),
            Scope::Shared => format!("--project {project} --shared"),
            Scope::Managed | Scope::User => "--user".to_owned(),
        }
    }
}

/// As the client reads its own switches.
fn is_on(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on")
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    fs::metadata(path).ok().map(|found| std::os::unix::fs::PermissionsExt::mode(&found.permissions()))
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}

fn read_sessions(state: &StateDir) -> Vec<Session> {
    let entries = fs::read_dir(state.sessions()).into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| SessionId::parse(&entry.file_name().to_string_lossy()).ok());
    let read = |id: SessionId| {
        let bytes = bounded::read(&state.session(&id).join("marks"), LARGEST_MARKS).ok()?;
        Some(Session { id, marks: Marks::fold(&bytes) })
    };
    ids.filter_map(read).collect()
}

//! The environment variables that matter, read once.
//!
//! The host puts `env` of a project's settings into the environment of its hooks. A repository must not
//! switch Tidegate off or move its files that way, so such variables are ignored unless a person set them,
//! too: at the client's start or in their own settings ([`client`](crate::host::claude_code::client)). The
//! list is `Guard` in the core's `host/claude_code/settings_file.rs`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tidegate_core::event::SessionId;
use tidegate_core::host::Host;
use tidegate_core::host::person::Person;
use tidegate_core::host::variables::CompactionVariables;
use tidegate_core::host::window::HostSettings;
use tidegate_core::text::lang::Lang;
use tidegate_state::host::claude_code::settings::{may_come_from_project, read_project_variables};
use tidegate_state::place::PlaceEnv;
use tidegate_state::session::marks::FallbackFolders;

use crate::host::claude_code::caller;
use crate::host::claude_code::client::OwnVariables;

/// Only selected variables: the host keeps secrets in the environment.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    pub place: PlaceEnv,
    /// The project's folder, by the host.
    pub project: Option<PathBuf>,
    pub plugin: Option<PathBuf>,
    /// The client's process id.
    pub client: Option<u64>,
    /// The name of a session, set in the host's own shell, for commands.
    pub session: Option<String>,
    /// `TIDEGATE_OFF`.
    pub off: Option<String>,
    /// Further `TIDEGATE_*` variables, each for a key of the config.
    pub settings: Vec<(String, String)>,
    /// An agent called this command: the host tells every process that it starts. Not determined for hooks.
    pub agent: bool,
    /// `TIDEGATE_GUARD`: Tidegate started this host itself.
    pub guard: bool,
    pub person: Person,
    /// The client says that no person is there. For approvals, this overrides `TIDEGATE_ATTENDED`.
    pub unattended: bool,
    /// `LC_ALL`, `LC_MESSAGES` or `LANG`.
    pub locale: Option<String>,
    /// `COLUMNS`.
    pub columns: Option<usize>,
    /// Variables that do not count, because the project's settings set them.
    pub ignored: Vec<String>,
    /// The folder of another host than Claude Code, if a variable names it.
    pub(crate) host_home: Option<PathBuf>,
    compaction: CompactionVariables,
}

/// `TIDEGATE_*` variables that do not set a key of the config.
const NOT_SETTINGS: [&str; 5] =
    ["TIDEGATE_OFF", "TIDEGATE_GUARD", "TIDEGATE_STATE_DIR", "TIDEGATE_DATA_DIR", "TIDEGATE_ATTENDED"];

/// Places. Without the home directory: the host does not take it from a project.
const PLACES: [&str; 4] = ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR"];

/// Set by the plugin's selector.
pub(crate) const SELECTOR: &str = "TIDEGATE_SELECTOR";

/// Faster than two dozen lookups in the environment.
struct Variables(Vec<(OsString, OsString)>);

impl Variables {
    fn read() -> Variables {
        Variables(std::env::vars_os().collect())
    }

    fn get(&self, name: &str) -> Option<&OsString> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

/// Variables for keys of the config.
fn settings(variables: &Variables, counts: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let ours = |name: &str| {
        let other = NOT_SETTINGS.contains(&name) || name == SELECTOR;
        name.starts_with("TIDEGATE_") && !other && counts(name)
    };
    let named = variables.0.iter().filter_map(|(name, value)| {
        let name = name.to_str().filter(|name| ours(name))?;
        Some((name.to_owned(), value.to_string_lossy().into_owned()))
    });
    let mut settings: Vec<(String, String)> = named.collect();
    settings.sort();
    settings
}

impl Environment {
    pub fn of_process() -> Environment {
        let variables = Variables::read();
        let agent = Host::agent_variables().any(|name| variables.get(name).is_some());
        let env = Environment::unfiltered(&variables);
        let session = env.session.clone().or_else(|| Environment::session_of_others(&variables));
        Environment { session, agent, ..env }
    }

    fn unfiltered(variables: &Variables) -> Environment {
        let get = |name: &str| variables.get(name).cloned();
        Environment { settings: settings(variables, |_| true), ..Environment::read(&get) }
    }

    /// For a process that the host started: a `TIDEGATE_*` variable counts only if a person set it, not the
    /// repository. (Commands restart without such variables; see `without_repository` of the command line.)
    pub fn of_hook() -> Environment {
        let variables = Variables::read();
        let env = Environment::unfiltered(&variables);
        // Avoids two reads in the usual case without such variables.
        let PlaceEnv { xdg_state, xdg_config, xdg_data, host_config, .. } = &env.place;
        let some = !env.settings.is_empty()
            || [xdg_state, xdg_config, xdg_data, host_config].into_iter().any(Option::is_some)
            || NOT_SETTINGS.iter().any(|name| variables.get(name).is_some());
        let Some(project) = env.project.as_deref().filter(|_| some) else { return env };
        let of_project = read_project_variables(project);
        // The file may be gone, while the client still has its variables.
        let of_client = env.client.filter(|client| caller::is_client(*client)).and_then(OwnVariables::read);
        let counts = |name: &str| {
            variables.get(name).is_none_or(|value| {
                !may_come_from_project(project, of_project.as_deref(), name, value)
                    && of_client.as_ref().is_none_or(|own| own.counts(name, value, &[project]))
            })
        };
        let ours = NOT_SETTINGS.iter().chain(&PLACES).copied();
        let ours =
            ours.chain(["HOME", "USERPROFILE"]).chain(env.settings.iter().map(|(name, _)| name.as_str()));
        let ignored: Vec<String> = ours.filter(|name| !counts(name)).map(str::to_owned).collect();
        if ignored.is_empty() {
            return env;
        }
        let get = |name: &str| variables.get(name).filter(|_| counts(name)).cloned();
        Environment { ignored, settings: settings(&variables, counts), ..Environment::read(&get) }
    }

    pub fn read(get: &dyn Fn(&str) -> Option<OsString>) -> Environment {
        let path = |name| get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let text =
            |name| get(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty());
        let host = Host::ClaudeCode.variables(get);
        let unattended = host.attended.as_deref() == Some("0");
        let attended = text("TIDEGATE_ATTENDED").or(host.attended);
        Environment {
            place: PlaceEnv {
                state_dir: path("TIDEGATE_STATE_DIR"),
                data_dir: path("TIDEGATE_DATA_DIR"),
                xdg_state: path("XDG_STATE_HOME"),
                xdg_config: path("XDG_CONFIG_HOME"),
                xdg_data: path("XDG_DATA_HOME"),
                home: path("HOME").or_else(|| path("USERPROFILE")),
                host_config: host.config,
                qwen_trust: path("QWEN_CODE_TRUSTED_FOLDERS_PATH"),
            },
            project: host.project,
            plugin: host.plugin,
            client: host.client,
            session: host.session,
            off: text("TIDEGATE_OFF"),
            settings: Vec::new(),
            agent: false,
            guard: text("TIDEGATE_GUARD").is_some(),
            unattended,
            person: attended.map_or(Person::Unknown, |value| (value != "0").into()),
            locale: text("LC_ALL").or_else(|| text("LC_MESSAGES")).or_else(|| text("LANG")),
            ignored: Vec::new(),
            columns: text("COLUMNS").and_then(|value| value.parse().ok()).filter(|columns| *columns > 0),
            host_home: None,
            compaction: host.compaction,
        }
    }

    /// For a hook of another host: what Claude Code's variables say here is about the client in whose shell that host was
    /// started.
    pub(crate) fn for_host(&self, host: Host) -> Environment {
        let variables = Variables::read();
        let own = host.variables(&|name: &str| variables.get(name).cloned());
        let attended = variables.get("TIDEGATE_ATTENDED").filter(|value| !value.is_empty());
        let is_ignored = self.ignored.iter().any(|name| name == "TIDEGATE_ATTENDED");
        let attended = attended.filter(|_| !is_ignored).map(|value| value.to_string_lossy().into_owned());
        Environment {
            project: own.project,
            plugin: own.plugin,
            client: own.client,
            session: own.session.and_then(|id| name_session(host, &id)),
            unattended: false,
            person: attended.or(own.attended).map_or(Person::Unknown, |value| (value != "0").into()),
            host_home: own.config,
            compaction: own.compaction,
            ..self.clone()
        }
    }

    /// The session of the host in whose shell this command runs.
    fn session_of_others(variables: &Variables) -> Option<String> {
        let get = |name: &str| variables.get(name).cloned();
        Host::ALL
            .iter()
            .filter(|host| **host != Host::ClaudeCode)
            .find_map(|host| name_session(*host, &host.variables(&get).session?))
    }

    /// Another host that started this process, by its variables. Not read at the start: hooks of Claude Code never
    /// need it.
    pub fn other_host() -> Option<Host> {
        Host::by_variable(|name| std::env::var_os(name).is_some())
    }

    /// The host's settings with the overrides of its variables.
    pub fn host_settings(&self, files: &HostSettings) -> HostSettings {
        self.compaction.apply_to(files)
    }

    /// Places for unnoted edits if the session's folder cannot be written.
    pub(crate) fn unnoted_fallbacks(session: &str, state: &Path) -> FallbackFolders {
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        FallbackFolders::new(session, state, runtime.as_deref().filter(|folder| folder.is_absolute()))
    }

    pub fn lang(&self, config: Option<Lang>, prompt: Option<Lang>) -> Lang {
        Lang::choose(config, self.locale.as_deref(), prompt)
    }
}

/// An id of another host, with which no session can begin, names none.
fn name_session(host: Host, id: &str) -> Option<String> {
    SessionId::of(host, id).ok().map(|session| session.to_string())
}

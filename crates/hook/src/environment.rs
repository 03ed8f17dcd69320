//! The environment, read once, as data.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tidegate_core::host::Host;
use tidegate_core::host::person::Person;
use tidegate_core::host::variables::CompactionVariables;
use tidegate_core::host::window::HostSettings;
use tidegate_core::text::lang::Lang;
use tidegate_state::host::claude_code::settings::{may_be_of_project, variables_of_project};
use tidegate_state::place::PlaceEnv;
use tidegate_state::session::marks::Elsewhere;

use crate::caller;
use crate::client::OwnVariables;

/// The variables we look at. Never the whole environment: the host keeps secrets in it.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Where things are.
    pub place: PlaceEnv,
    /// The project's folder, as the host says it.
    pub project: Option<PathBuf>,
    /// The plugin that started this hook.
    pub plugin: Option<PathBuf>,
    /// The client's process.
    pub client: Option<u64>,
    /// The session: set in the host's own shell, for commands.
    pub session: Option<String>,
    /// `TIDEGATE_OFF`.
    pub off: Option<String>,
    /// Other variables of ours: each stands for a key of the config.
    pub settings: Vec<(String, String)>,
    /// A command was called by an agent: the host says so to whatever it starts. Not known of hooks, which need not.
    pub agent: bool,
    /// `TIDEGATE_GUARD`: we started this host ourselves.
    pub guard: bool,
    /// Whether a person is there.
    pub person: Person,
    /// The client itself says that nobody is there. For an approval that counts more than `TIDEGATE_ATTENDED`.
    pub unattended: bool,
    /// `LC_ALL`, `LC_MESSAGES` or `LANG`.
    pub locale: Option<String>,
    /// `COLUMNS`.
    pub columns: Option<usize>,
    /// Variables that the project's settings set, and that therefore do not count.
    pub ignored: Vec<String>,
    compaction: CompactionVariables,
}

/// Variables of ours that are no key of the config.
const NOT_SETTINGS: [&str; 5] =
    ["TIDEGATE_OFF", "TIDEGATE_GUARD", "TIDEGATE_STATE_DIR", "TIDEGATE_DATA_DIR", "TIDEGATE_ATTENDED"];

/// Where things are, by other names. Not the home directory, which everybody has: the host takes none from a project.
const PLACES: [&str; 4] = ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR"];

/// Left behind by the plugin's selector.
pub(crate) const SELECTOR: &str = "TIDEGATE_SELECTOR";

/// All variables, read once: looking each of two dozen up in the environment takes longer.
struct Variables(Vec<(OsString, OsString)>);

impl Variables {
    fn read() -> Variables {
        Variables(std::env::vars_os().collect())
    }

    fn get(&self, name: &str) -> Option<&OsString> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

/// The variables that are, of those that count.
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
    /// Of this process.
    pub fn of_process() -> Environment {
        let variables = Variables::read();
        let agent = Host::agent_variables().any(|name| variables.get(name).is_some());
        Environment { agent, ..Environment::unfiltered(&variables) }
    }

    fn unfiltered(variables: &Variables) -> Environment {
        let get = |name: &str| variables.get(name).cloned();
        Environment { settings: settings(variables, |_| true), ..Environment::read(&get) }
    }

    /// Of a process that the host started: a variable of ours counts only if a person set it, not the repository. (Commands
    /// start anew without what a repository set; see `without_repository` of the command line.)
    pub fn of_hook() -> Environment {
        let variables = Variables::read();
        let env = Environment::unfiltered(&variables);
        // Reading two files is worth avoiding in the usual case that none is set.
        let PlaceEnv { xdg_state, xdg_config, xdg_data, host_config, .. } = &env.place;
        let some = !env.settings.is_empty()
            || [xdg_state, xdg_config, xdg_data, host_config].into_iter().any(Option::is_some)
            || NOT_SETTINGS.iter().any(|name| variables.get(name).is_some());
        let Some(project) = env.project.as_deref().filter(|_| some) else { return env };
        let of_project = variables_of_project(project);
        // The file may be gone by now, and the client still has what was in it.
        let of_client = env.client.filter(|client| caller::is(*client)).and_then(OwnVariables::of);
        let counts = |name: &str| {
            variables.get(name).is_none_or(|value| {
                !may_be_of_project(project, of_project.as_deref(), name, value)
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

    /// From any set of variables.
    pub fn read(get: &dyn Fn(&str) -> Option<OsString>) -> Environment {
        let path = |name| get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let text =
            |name| get(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty());
        // Another host's hooks are recorded only, so its variables are not looked for.
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
            compaction: host.compaction,
        }
    }

    /// The other host that started this process, as far as variables tell. Not part of what is read at the start: hooks of
    /// Claude Code never need it.
    pub fn other_host() -> Option<Host> {
        Host::by_variable(|name| std::env::var_os(name).is_some())
    }

    /// Whether this process has the variable that the client sets for its shell tool and not for its hooks.
    pub(crate) fn is_of_shell_tool() -> bool {
        std::env::var("AI_AGENT").is_ok_and(|agent| agent.ends_with("_agent"))
    }

    /// The host's settings as its environment leaves them.
    pub fn host_settings(&self, files: &HostSettings) -> HostSettings {
        self.compaction.apply_to(files)
    }

    /// Where a session leaves signs of edits when its own folder cannot be written: elsewhere in the state, and outside of it.
    pub(crate) fn signs_elsewhere(session: &str, state: &Path) -> Elsewhere {
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        Elsewhere::of(session, state, runtime.as_deref().filter(|folder| folder.is_absolute()))
    }

    /// The language for people.
    pub fn lang(&self, config: Option<Lang>, prompt: Option<Lang>) -> Lang {
        Lang::choose(config, self.locale.as_deref(), prompt)
    }
}

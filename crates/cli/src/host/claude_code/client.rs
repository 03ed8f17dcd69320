//! Claude Code as `doctor` finds it here: its folder, its settings with Tidegate's entries, its sessions.

use std::path::{Path, PathBuf};

use tidegate_core::time::Millis;

use super::client_session::{self, ClientSession};
use super::plugin::{self, Plugin};
use super::registrations::Calls;
use super::settings_command::{self, NameValues, SettingsCommand};
use super::settings_file::{self, Scope, SettingsFile};
use crate::doctor::gathered::Gathered;
use crate::doctor::history;
use crate::host::registered::{HOSTS, HostHooks};
use crate::install::record::Records;
use crate::path::modified_at;
use crate::program::find_on_path;
use crate::shell::quote_path;

pub(crate) struct Client {
    /// `CLAUDE_CODE_SIMPLE` is set: a client started from here would run no hooks.
    pub(crate) is_simple: bool,
    pub(crate) folder: Option<PathBuf>,
    /// The one that counts most first.
    pub(crate) settings: Vec<SettingsFile>,
    pub(crate) commands: Vec<SettingsCommand>,
    pub(crate) plugin: Option<Plugin>,
    /// The newest first.
    pub(crate) sessions: Vec<ClientSession>,
}

impl Client {
    /// Reads all but the sessions: which of them count depends on when hooks were registered.
    pub(crate) fn read(folder: Option<PathBuf>, project: Option<&Path>, call: &str) -> Client {
        let is_simple = std::env::var("CLAUDE_CODE_SIMPLE").is_ok_and(|value| is_on(&value));
        let settings = settings_file::read_all(project, folder.as_deref());
        let plugin = plugin::find_plugin(&settings, folder.as_deref());
        let commands = settings.iter().flat_map(|file| settings_command::list_commands(file, call)).collect();
        Client { is_simple, folder, settings, commands, plugin, sessions: Vec::new() }
    }

    pub(crate) fn read_sessions(&mut self, project: Option<&Path>, since: Millis) {
        if let (Some(folder), Some(project)) = (&self.folder, project) {
            self.sessions = client_session::read_all(folder, project, since);
        }
    }
}

/// As the client reads its own switches.
fn is_on(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on")
}

impl Gathered {
    pub(crate) fn around(&self) -> NameValues<'_> {
        NameValues {
            home: self.env.place.home.as_deref(),
            project: self.project.as_deref(),
            path: &self.path,
            link: self.link.as_deref(),
        }
    }

    pub(crate) fn ours(&self) -> impl Iterator<Item = &SettingsCommand> {
        self.client.commands.iter().filter(|command| command.calls != Calls::Not)
    }

    pub(crate) fn hooks(&self) -> impl Iterator<Item = &SettingsCommand> {
        self.ours().filter(|command| command.event.is_some())
    }

    /// The scope of Tidegate's hooks, or of those that `init` would write. The status line does not count: with shared
    /// hooks it is in another file.
    pub(crate) fn scope(&self) -> Scope {
        self.hooks().map(|command| command.scope).min().unwrap_or(Scope::Local)
    }

    /// A person's own scripts around Tidegate.
    pub(crate) fn scripts(&self) -> impl Iterator<Item = &SettingsCommand> {
        self.client.commands.iter().filter(|command| command.is_script_around)
    }

    /// By a settings file or by the plugin.
    pub(crate) fn is_registered(&self, event: &str) -> bool {
        let by_plugin = self.client.plugin.as_ref().is_some_and(|plugin| {
            plugin.events.as_ref().is_none_or(|events| events.iter().any(|own| own == event))
        });
        by_plugin || self.hooks().chain(self.scripts()).any(|command| command.event.as_deref() == Some(event))
    }

    pub(crate) fn has_hooks(&self) -> bool {
        self.client.plugin.is_some() || self.hooks().next().is_some()
    }

    /// The earliest trace of a registration: the client changes its settings files itself, so their own times say
    /// little.
    pub(crate) fn installed(&self) -> Option<Millis> {
        let with_ours = |file: &&SettingsFile| self.hooks().any(|command| command.file == file.path);
        let of_settings = self.client.settings.iter().filter(with_ours).filter_map(|file| file.modified);
        let records = Records::look(&self.env).ok();
        let since = |file: &SettingsFile| records.as_ref()?.since(&file.path);
        let of_records = self.client.settings.iter().filter(with_ours).filter_map(since);
        let of_plugin = self.client.plugin.as_ref().and_then(|plugin| modified_at(plugin.folder.as_deref()?));
        let first_record =
            self.history.records.iter().find(|record| self.is_here(record)).map(history::record_time);
        let times = of_settings.chain(of_records).chain(of_plugin);
        // A journal record alone proves no install: it may have been removed since.
        times.min().map(|time| first_record.map_or(time, |first| first.min(time)))
    }

    pub(crate) fn init_command(&self, scope: Scope) -> String {
        format!("tidegate init {}", self.scope_arguments(scope))
    }

    /// For Claude Code, or for the host that has Tidegate's hooks here instead.
    pub(crate) fn init_of_installed(&self) -> String {
        let (project, place) = (self.project.as_deref(), &self.env.place);
        let is_ours = |hooks: &HostHooks, path: &Path| {
            settings_file::read_text(path).is_some_and(|text| hooks.has_ours(&text, &self.call))
        };
        let of_others = HOSTS.iter().flat_map(|hooks| {
            let files = hooks.files(project, place).into_iter();
            files.filter(|(_, path)| is_ours(hooks, path)).map(|(scope, _)| (scope, hooks.host.name()))
        });
        match of_others.into_iter().next().filter(|_| !self.has_hooks()) {
            Some((scope, host)) => format!("{} --host {host}", self.init_command(scope)),
            None => self.init_command(self.scope()),
        }
    }

    /// Restores entries of this scope.
    pub(crate) fn repair_command(&self, scope: Scope) -> String {
        // With shared hooks, a person's own file has only the status line.
        let is_line = scope == Scope::Local && self.scope() == Scope::Shared;
        self.init_command(if is_line { Scope::Shared } else { scope })
    }

    pub(crate) fn uninstall_command(&self, scope: Scope) -> String {
        format!("tidegate uninstall {}", self.scope_arguments(scope))
    }

    /// The same command for a shell that may not find `tidegate`.
    pub(crate) fn callable(&self, command: &str) -> String {
        let exe = self.exe.as_deref().filter(|_| find_on_path(&self.path, "tidegate").is_none());
        match (exe, command.strip_prefix("tidegate ")) {
            (Some(exe), Some(rest)) => format!("{} {rest}", quote_path(exe)),
            _ => command.to_owned(),
        }
    }

    pub(crate) fn scope_arguments(&self, scope: Scope) -> String {
        let project = self.project.as_deref().map_or_else(|| ".".to_owned(), quote_path);
        match scope {
            Scope::Local => format!("--project {project}"),
            Scope::Shared => format!("--project {project} --shared"),
            Scope::Managed | Scope::User => "--user".to_owned(),
        }
    }
}

//! The target of an install: a project, or the user.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::feature::config::Config;
use tidegate_core::host::Host;
use tidegate_core::time::Millis;
use tidegate_hook::environment::Environment;
use tidegate_state::config::switches;
use tidegate_state::place::StateDir;
use tidegate_state::project::Checkout;
use tidegate_state::{clock, config};

use super::arguments::{InstallHost, InstallTarget};
use super::place::Place;
use super::tracked::is_tracked;
use crate::bilingual::both;
use crate::error::CliError;
use crate::host::registered::HostHooks;
use crate::path::future_real_path;

#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) env: Environment,
    pub(crate) now: Millis,
    /// Named by the person; without, Claude Code.
    pub(crate) host: Option<Host>,
    pub(crate) is_user: bool,
    /// Hooks go into the file that a team shares.
    pub(crate) shared: bool,
    /// The project's folder, or the host's, as a person named it.
    pub(crate) shown: PathBuf,
    /// Behind all links.
    pub(crate) root: PathBuf,
    pub(crate) program: PathBuf,
    /// If there can be one.
    pub(crate) link: Option<PathBuf>,
    /// Path of the program in settings.
    pub(crate) call: String,
    /// The repository of a project, if git knows this checkout.
    pub(crate) checkout: Option<Checkout>,
}

impl Target {
    pub(crate) fn find(args: &InstallTarget) -> Result<Target, CliError> {
        let env = Environment::of_process();
        let shown = if args.user {
            let missing = || {
                CliError::new(both!(
                    "neither HOME nor CLAUDE_CONFIG_DIR is set",
                    "HOME も CLAUDE_CONFIG_DIR も設定されていません"
                ))
            };
            env.place.host().ok_or_else(missing)?
        } else if args.project.is_dir() {
            args.project.clone()
        } else {
            let missing = both!(
                "{folder} is not a folder",
                "{folder} はフォルダではありません",
                folder = args.project.display()
            );
            return Err(CliError::new(missing).hint(both!(
                "name the project's folder with --project",
                "--project でプロジェクトのフォルダを指定してください"
            )));
        };
        let root = future_real_path(&shown).map_err(|error| Place::plain(shown.clone()).failed(&error))?;
        let program = std::env::current_exe().and_then(fs::canonicalize).map_err(CliError::new)?;
        let link = env.place.link().filter(|_| cfg!(unix));
        let call = link.as_ref().unwrap_or(&program).to_str();
        let call = call
            .ok_or_else(|| {
                CliError::new(both!(
                    "the path of this program is not UTF-8",
                    "このプログラムのパスが UTF-8 ではありません"
                ))
            })?
            .to_owned();
        let (now, is_user, shared) = (clock::now(), args.user, args.shared);
        let checkout = Checkout::find(&root).filter(|_| !is_user);
        let host = args.host.map(InstallHost::host);
        Ok(Target { env, now, host, is_user, shared, shown, root, program, link, call, checkout })
    }

    /// A host other than Claude Code.
    pub(crate) fn other_host(&self) -> Option<&'static HostHooks> {
        self.host.and_then(HostHooks::of)
    }

    /// The file with the hooks of another host.
    pub(crate) fn hooks_of(&self, hooks: &HostHooks) -> Option<Place> {
        if self.is_user {
            hooks.file(None, &self.env.place).map(Place::plain)
        } else {
            Some(self.place(hooks.in_project))
        }
    }

    /// Below the folder of another host.
    pub(crate) fn of_host_folder(&self, hooks: &HostHooks, path: &str) -> Option<Place> {
        if self.is_user {
            hooks.person_folder(&self.env.place).map(|folder| Place::plain(folder.join(path)))
        } else {
            Some(self.place(Path::new(hooks.project_home).join(path)))
        }
    }

    pub(crate) fn place(&self, path: impl AsRef<Path>) -> Place {
        Place { shown: self.shown.join(path.as_ref()), file: self.root.join(path.as_ref()) }
    }

    /// Git tracks the file: deleting it would be a change to commit.
    pub(crate) fn is_committed(&self, place: &Place) -> bool {
        self.checkout.as_ref().is_some_and(|checkout| is_tracked(checkout, &place.file))
    }

    /// `None` if there is none: a look makes no folder.
    pub(crate) fn state(&self) -> Option<StateDir> {
        let is_there = self.env.place.state().is_ok_and(|folder| folder.is_dir());
        is_there.then(|| StateDir::open(&self.env.place).ok()).flatten()
    }

    /// The config in force.
    pub(crate) fn read_config(&self) -> Config {
        let (state, user) = (self.state(), self.env.place.config());
        let root = (!self.is_user).then_some(self.root.as_path());
        let sources = config::Sources {
            user: user.as_deref(),
            root,
            state: state.as_ref(),
            variables: &self.env.settings,
            off: None,
        };
        let mut config = config::read(&sources);
        if let Some(state) = &state {
            switches::read(state).apply(&mut config, self.now, root, None);
        }
        config
    }

    pub(crate) fn is_in_git(&self) -> bool {
        !self.is_user && self.root.ancestors().any(|folder| fs::symlink_metadata(folder.join(".git")).is_ok())
    }
}

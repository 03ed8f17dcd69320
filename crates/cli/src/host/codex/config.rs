//! Codex's own settings, as far as they decide whether it runs hooks: the project's `config.toml` counts more than the
//! person's, and nothing of a project counts until the person trusts it.

use std::path::{Path, PathBuf};

use tidegate_state::place::PlaceEnv;
use tidegate_state::project::Checkout;
use toml_edit::{DocumentMut, Item};

use super::registrations::HOOKS;
use super::server_text::{self, Refusal};
use crate::host::claude_code::settings_file::read_text;
use crate::path::real_path;

pub(crate) struct Config {
    pub(crate) person: Option<ConfigFile>,
    project: Option<ConfigFile>,
    /// The folders whose trust counts for the project, the nearest first.
    folders: Vec<PathBuf>,
}

pub(crate) struct ConfigFile {
    pub(crate) path: PathBuf,
    /// Empty if there is none.
    pub(crate) text: String,
}

impl ConfigFile {
    fn read(path: PathBuf) -> ConfigFile {
        ConfigFile { text: read_text(&path).unwrap_or_default(), path }
    }

    fn document(&self) -> DocumentMut {
        server_text::parse(&self.text).unwrap_or_default()
    }

    /// Why it cannot be read.
    pub(crate) fn fault(&self) -> Option<Refusal> {
        server_text::parse(&self.text).err()
    }

    /// By its name, or by the one that it had before.
    fn runs_hooks(&self) -> Option<bool> {
        let document = self.document();
        let features = document.get("features")?;
        ["hooks", "codex_hooks"].iter().find_map(|name| features.get(name)?.as_bool())
    }
}

impl Config {
    pub(crate) fn read(project: Option<&Path>, place: &PlaceEnv) -> Config {
        let person = HOOKS.person_folder(place).map(|folder| ConfigFile::read(folder.join("config.toml")));
        let own = project.map(|project| ConfigFile::read(project.join(".codex/config.toml")));
        Config { person, project: own, folders: project.map(trusted_by).unwrap_or_default() }
    }

    /// The file that switches hooks off.
    pub(crate) fn find_switch(&self) -> Option<&ConfigFile> {
        let project = self.project.as_ref().filter(|_| self.is_trusted());
        let said = |file: &ConfigFile| file.runs_hooks();
        let files = [project, self.person.as_ref()].into_iter().flatten();
        files.into_iter().find(|file| said(file).is_some()).filter(|file| said(file) == Some(false))
    }

    /// The nearest folder with a level decides.
    pub(crate) fn is_trusted(&self) -> bool {
        let document = self.person.as_ref().map(ConfigFile::document).unwrap_or_default();
        let projects = document.get("projects");
        let level = |folder: &PathBuf| {
            projects?.get(folder.to_str()?)?.get("trust_level").and_then(Item::as_str).map(str::to_owned)
        };
        self.folders.iter().find_map(level).is_some_and(|level| level == "trusted")
    }
}

/// The project, its repository, and the repository of which it is a linked worktree.
fn trusted_by(project: &Path) -> Vec<PathBuf> {
    let top = project.ancestors().find(|folder| folder.join(".git").exists());
    let main = Checkout::find(project).and_then(|checkout| checkout.common.parent().map(Path::to_owned));
    let folders = [Some(project.to_owned()), top.map(Path::to_owned), main];
    folders.into_iter().flatten().flat_map(|folder| [real_path(&folder), folder]).collect()
}

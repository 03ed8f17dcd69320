//! Files of Claude Code at the target of an install.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::feature::cycle::state::STATE_FILE;
use tidegate_state::feature::cycle;

use super::{settings_file, settings_text};
use crate::host::agent_homes::AgentHomes;
use crate::install::place::Place;
use crate::install::target::Target;
use crate::path::future_real_path;

impl Target {
    pub(crate) fn is_called(&self) -> bool {
        let places = [Some(self.own_settings()), self.shared_settings()];
        let text = |place: Place| settings_file::read_text(&place.file);
        places.into_iter().flatten().filter_map(text).any(|text| settings_text::has_ours(&text, &self.call))
    }

    /// Files that hooks and commands write for other tools. Flow, its archive and stock are a person's.
    pub(crate) fn public_copies(&self) -> [Place; 4] {
        [
            "context/context-pressure.json",
            "context/last-compact.json",
            "context/compound-last-run.json",
            cycle::BUDGET,
        ]
        .map(|name| self.in_host_folder(name))
    }

    /// The cycle's state file, and damaged ones that were set aside: a person may want to continue with them.
    pub(crate) fn cycle_files(&self) -> Vec<Place> {
        let folder = self.root.join(".claude");
        let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        let is_of_cycle = |name: &String| {
            name.strip_prefix(STATE_FILE).is_some_and(|end| end.is_empty() || end.starts_with(".bad"))
        };
        let mut names: Vec<String> = names.filter(is_of_cycle).collect();
        names.sort();
        names.iter().map(|name| self.in_host_folder(name)).collect()
    }

    pub(crate) fn in_host_folder(&self, path: &str) -> Place {
        if self.is_user { self.place(path) } else { self.place(Path::new(".claude").join(path)) }
    }

    /// A person's own.
    pub(crate) fn own_settings(&self) -> Place {
        self.in_host_folder(if self.is_user { "settings.json" } else { "settings.local.json" })
    }

    pub(crate) fn shared_settings(&self) -> Option<Place> {
        (!self.is_user).then(|| self.in_host_folder("settings.json"))
    }

    /// Files that may still have entries of 0.1.0: settings of this project and of the person, and copies of the
    /// plugin.
    pub(crate) fn misread_places(&self) -> Vec<Place> {
        let homes = AgentHomes::find(&self.env.place);
        let project = (!self.is_user).then_some(self.root.as_path());
        let user = homes.client.iter().map(|client| client.join("settings.json"));
        let files = user.chain(homes.settings_of_others(project)).chain(homes.plugin_copies());
        // Two paths may lead to one file through links; it is planned once.
        let place = |file: PathBuf| Place {
            file: future_real_path(&file).unwrap_or_else(|_| file.clone()),
            shown: file,
        };
        self.shared_settings().into_iter().chain(files.map(place)).collect()
    }

    /// The status line that the host would draw without Tidegate's.
    pub(crate) fn farther_line(&self) -> Option<String> {
        if self.is_user {
            return None;
        }
        let user = self.env.place.host().map(|host| host.join("settings.json"));
        let farther = [self.shared_settings().map(|place| place.file), user];
        farther
            .into_iter()
            .flatten()
            .find_map(|path| settings_text::foreign_line(&settings_file::read_text(&path)?, &self.call))
    }
}

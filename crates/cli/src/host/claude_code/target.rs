//! Files of Claude Code at the place that an install goes to.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::feature::cycle::state::FILE;
use tidegate_state::feature::cycle;

use super::{settings_file, settings_text};
use crate::host::agent_homes::AgentHomes;
use crate::install::place::Place;
use crate::install::target::Target;
use crate::path::future_real_path;

impl Target {
    /// Whether settings here call us already.
    pub(crate) fn is_called(&self) -> bool {
        let places = [Some(self.own_settings()), self.shared_settings()];
        let text = |place: Place| settings_file::text(&place.file);
        places.into_iter().flatten().filter_map(text).any(|text| settings_text::has_ours(&text, &self.call))
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
        let place = |file: PathBuf| Place {
            file: future_real_path(&file).unwrap_or_else(|_| file.clone()),
            shown: file,
        };
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
            .find_map(|path| settings_text::foreign_line(&settings_file::text(&path)?, &self.call))
    }
}

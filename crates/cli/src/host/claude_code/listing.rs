//! The listing of skills that the client gives the model. Beyond its budget skills lose their descriptions, and the model
//! no longer knows when to use them.

use std::fs;
use std::path::Path;

use super::settings_file::{SettingsFile, read_text};
use super::shipped;

/// Characters of the window of most models: 200K tokens of four characters.
const WINDOW: f64 = 800_000.0;

/// Unless `skillListingBudgetFraction` in the settings says otherwise.
const SHARE: f64 = 0.01;

/// What the client's own skills take, which never lose theirs (2.1.325).
const BUILT_IN: usize = 5_700;

/// A longer description is cut.
const LONGEST: usize = 1_536;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    /// Characters of Tidegate's entries.
    pub(crate) ours: usize,
    /// Characters of everything else, with the client's own.
    pub(crate) theirs: usize,
    pub(crate) budget: usize,
}

impl Listing {
    /// Skills and commands in the folders of the project and of the person.
    pub(crate) fn read(folders: &[&Path], settings: &[SettingsFile]) -> Listing {
        let share = settings.iter().find_map(|file| file.get("skillListingBudgetFraction")?.as_f64());
        let budget = (WINDOW * share.unwrap_or(SHARE)) as usize;
        let mut listing = Listing { ours: 0, theirs: BUILT_IN, budget };
        for folder in folders {
            for path in paths_in(folder) {
                let Some(text) = read_text(&folder.join(&path)) else { continue };
                let Some(length) = entry_length(&path, &text) else { continue };
                if shipped::is_shipped(&path, &text) {
                    listing.ours += length;
                } else {
                    listing.theirs += length;
                }
            }
        }
        listing
    }

    pub(crate) fn total(&self) -> usize {
        self.ours + self.theirs
    }

    /// The smallest `skillListingBudgetFraction` with three digits that is enough.
    pub(crate) fn needed_share(&self) -> f64 {
        (self.total() as f64 / WINDOW * 1000.0).ceil() / 1000.0
    }
}

fn paths_in(folder: &Path) -> Vec<String> {
    let names = |below: &str| {
        let entries = fs::read_dir(folder.join(below)).into_iter().flatten().flatten().take(1024);
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<_>>()
    };
    let skills = names("skills").into_iter().map(|name| format!("skills/{name}/SKILL.md"));
    let commands = names("commands")
        .into_iter()
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "md"));
    skills.chain(commands.map(|name| format!("commands/{name}"))).collect()
}

/// `- name: description` and a line break. `None` if the model does not see it.
fn entry_length(path: &str, text: &str) -> Option<usize> {
    let front = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---"));
    let value = |key: &str| {
        let mut lines = front.map(|(front, _)| front.lines()).into_iter().flatten();
        let found = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        found.map(|value| value.trim().trim_matches('"'))
    };
    if value("disable-model-invocation") == Some("true") {
        return None;
    }
    let name = path.strip_suffix("/SKILL.md").or(path.strip_suffix(".md"))?.rsplit('/').next()?;
    let body = front.map_or(text, |(_, body)| body);
    let first_line = || body.lines().map(str::trim).find(|line| !line.is_empty());
    let description = value("description").or_else(first_line).unwrap_or_default().chars().count();
    let when = value("when_to_use").map_or(0, |when| when.chars().count() + " - ".len());
    Some(name.len() + "- : \n".len() + (description + when).min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_as_long_as_the_client_writes_it() {
        let skill = "---\nname: x\ndescription: \"Do it.\"\nwhen_to_use: Now\n---\n\nText\n";
        assert_eq!(entry_length("skills/tidy/SKILL.md", skill), Some("- tidy: Do it. - Now\n".len()));
        assert_eq!(entry_length("commands/go.md", "\nFirst line\n"), Some("- go: First line\n".len()));
        let listing = Listing { ours: 237, theirs: 8931, budget: 8000 };
        assert_eq!(format!("{:.3}", listing.needed_share()), "0.012", "9168 characters are 1.146%");
        let hidden = "---\ndescription: x\ndisable-model-invocation: true\n---\nText\n";
        assert_eq!(entry_length("commands/off.md", hidden), None);
    }
}

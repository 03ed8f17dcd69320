//! Files in which agents keep hooks: settings of other agents, and plugins.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_core::text::hidden::show_name;
use tidegate_state::feature::memory::transcript_files::{self, TranscriptFile};
use tidegate_state::host::moved_folders;
use tidegate_state::place::PlaceEnv;

use super::claude_code::settings_file;
use crate::bilingual::{Bilingual, both, count_en};
use crate::error::{CliError, io_words};
use crate::print::remark;

/// Settings of other agents below a project, into which people and importers copy hook entries.
const IN_PROJECT: &[&str] = &[
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".factory/hooks.json",
    ".factory/settings.json",
    ".gemini/settings.json",
    ".github/copilot/settings.json",
    ".github/copilot/settings.local.json",
    ".github/hooks/*.json",
    ".qwen/settings.json",
];

/// The same below a person's home.
const IN_HOME: &[&str] = &[
    // Where a variable has moved Claude Code's folder, others still read this one.
    ".claude/settings.json",
    ".codex/hooks.json",
    ".copilot/hooks/*.json",
    ".copilot/settings.json",
    ".cursor/hooks.json",
    ".factory/hooks.json",
    ".factory/settings.json",
    ".gemini/settings.json",
    ".qwen/settings.json",
];

/// Copies of plugins that agents made. Some name the folder after the one that it came from, so any name counts.
const PLUGIN_COPIES: &[&str] = &[
    ".codex/plugins/cache/*/*/*/hooks/hooks.json",
    ".copilot/installed-plugins/*/*/hooks/hooks.json",
    ".gemini/extensions/*/hooks/hooks.json",
    ".qwen/extensions/*/hooks/hooks.json",
    ".qwen/extensions/*/qwen-extension.json",
];

/// The same in Claude Code's own folder, which a variable can move.
const CLIENT_PLUGIN_COPIES: &[&str] = &["plugins/cache/*/*/*/hooks/hooks.json", "skills/*/hooks/hooks.json"];

/// Lists in which agents name the folders of plugins that they run in place.
const PLUGIN_LISTS: &[&str] = &[".copilot/config.json", ".copilot/settings.json"];
const CLIENT_PLUGIN_LISTS: &[&str] = &["plugins/installed_plugins.json", "plugins/known_marketplaces.json"];

/// A person's folders in which agents keep things.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentHomes {
    pub(crate) home: Option<PathBuf>,
    pub(crate) client: Option<PathBuf>,
    /// Folders that replace `.codex` and the like, set by variables.
    pub(crate) moved: Vec<(&'static str, PathBuf)>,
}

impl AgentHomes {
    pub(crate) fn find(place: &PlaceEnv) -> AgentHomes {
        AgentHomes { home: place.home.clone(), client: place.host(), moved: moved_folders() }
    }

    fn below(&self, patterns: &'static [&'static str]) -> Vec<PathBuf> {
        let in_home = self.home.iter().flat_map(|home| find_below(home, patterns.iter().copied()));
        let elsewhere = self.moved.iter().flat_map(|(folder, path)| {
            find_below(path, patterns.iter().filter_map(|it| it.strip_prefix(folder)?.strip_prefix('/')))
        });
        in_home.chain(elsewhere).collect()
    }

    /// A project's first.
    pub(crate) fn settings_of_others(&self, project: Option<&Path>) -> Vec<PathBuf> {
        let in_project =
            project.into_iter().flat_map(|project| find_below(project, IN_PROJECT.iter().copied()));
        without_repeats(in_project.chain(self.below(IN_HOME)))
    }

    /// A checkout, which its owner updates.
    pub(crate) fn plugins_in_place(&self) -> Vec<PathBuf> {
        let of_client =
            self.client.iter().flat_map(|host| find_below(host, CLIENT_PLUGIN_LISTS.iter().copied()));
        let lists = self.below(PLUGIN_LISTS).into_iter().chain(of_client);
        let copies = self.plugin_copies();
        let hooks = lists.flat_map(|list| hooks_of_listed(&list)).filter(|file| !copies.contains(file));
        without_repeats(hooks)
    }

    /// Every copy of a plugin's hooks that an agent may run.
    pub(crate) fn plugin_copies(&self) -> Vec<PathBuf> {
        let of_client =
            self.client.iter().flat_map(|host| find_below(host, CLIENT_PLUGIN_COPIES.iter().copied()));
        // Claude Code marks versions that an update left behind, and no longer runs them.
        let is_left =
            |file: &PathBuf| file.ancestors().nth(2).is_some_and(|it| it.join(".orphaned_at").exists());
        without_repeats(self.below(PLUGIN_COPIES).into_iter().chain(of_client).filter(|file| !is_left(file)))
    }
}

/// Folders in which agents keep transcripts, below those of [`AgentHomes::moved`], and the names of the transcripts.
const TRANSCRIPTS: &[(&str, &str, &str)] = &[
    (".codex", "sessions", "*/*/*/*.jsonl"),
    (".codex", "archived_sessions", "*.jsonl"),
    (".copilot", "session-state", "*/events.jsonl"),
    (".qwen", "projects", "*/chats/*.jsonl"),
];

impl AgentHomes {
    /// Folders with transcripts that Tidegate can read, as far as they exist, and the names in them. Claude Code's is
    /// the first.
    fn transcripts(&self) -> Vec<(PathBuf, &'static str)> {
        let of_client = self.client.iter().map(|host| (host.join("projects"), "*/*.jsonl"));
        let of_others = TRANSCRIPTS.iter().filter_map(|(folder, below, names)| {
            let moved = self.moved.iter().find(|(name, _)| name == folder).map(|(_, path)| path.clone());
            let folder = moved.or_else(|| Some(self.home.as_ref()?.join(folder)))?;
            Some((folder.join(below), *names))
        });
        of_client.chain(of_others).filter(|(folder, _)| folder.is_dir()).collect()
    }

    pub(crate) fn transcript_folders(&self) -> Vec<PathBuf> {
        self.transcripts().into_iter().map(|(folder, _)| folder).collect()
    }

    /// Those that a person named, else these.
    pub(crate) fn chosen_folders(&self, named: &[PathBuf]) -> Vec<PathBuf> {
        if named.is_empty() { self.transcript_folders() } else { named.to_vec() }
    }

    /// Conversations in these folders that this says are wanted, as far as names tell.
    pub(crate) fn count_transcripts(&self, is_wanted: &mut dyn FnMut(&Path) -> bool) -> usize {
        self.transcripts().iter().map(|(folder, names)| count_sessions(folder, names, is_wanted)).sum()
    }

    /// Claude Code names a folder after each project.
    pub(crate) fn count_transcripts_of(
        &self,
        project: &Path,
        is_wanted: &mut dyn FnMut(&Path) -> bool,
    ) -> usize {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = project.to_string_lossy().chars().map(plain).collect();
        let folder = self.client.as_ref().map(|host| host.join("projects").join(name));
        folder.map_or(0, |folder| count_sessions(&folder, "*.jsonl", is_wanted))
    }
}

/// Folders that are named one by one.
const NAMED: usize = 10;

/// Each file once. A folder below that cannot be read is left out with a warning.
pub(crate) fn find_transcripts(folders: &[PathBuf]) -> Result<Vec<TranscriptFile>, CliError> {
    let (mut files, mut unreadable) = (Vec::new(), Vec::new());
    for folder in folders {
        // One file has many names.
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let found = transcript_files::find_readable(&real).map_err(|error| {
            CliError::new(cannot_read(folder, &error)).hint(both!("check the path", "パスを確認してください"))
        })?;
        files.extend(found.files);
        unreadable.extend(found.unreadable);
    }
    for (folder, error) in unreadable.iter().take(NAMED) {
        remark::warn(cannot_read(folder, error));
    }
    let more = unreadable.len().saturating_sub(NAMED);
    if more > 0 {
        remark::warn(both!(
            "cannot read {n}",
            "ほかに読めないフォルダが{more}個あります",
            n = count_en(more, "more folder")
        ));
    }
    files.sort();
    files.dedup_by(|one, other| one.path == other.path);
    Ok(files)
}

fn cannot_read(folder: &Path, error: &io::Error) -> Bilingual {
    let folder = folder.display().to_string();
    let (folder, Bilingual { en, ja }) = (show_name(&folder), io_words(error));
    both!("cannot read {folder}: {en}", "{folder} を読めません: {ja}")
}

/// Some versions keep the transcripts of subagents next to those of their sessions.
fn count_sessions(folder: &Path, names: &str, is_wanted: &mut dyn FnMut(&Path) -> bool) -> usize {
    let files = find_below(folder, [names].into_iter());
    files.iter().filter(|file| !is_of_agent(file) && is_wanted(file)).count()
}

fn is_of_agent(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"agent-"))
}

/// Hooks of plugins in folders that a list of an agent names.
fn hooks_of_listed(list: &Path) -> Vec<PathBuf> {
    fn folders(value: &Value, found: &mut Vec<PathBuf>) {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    match value.as_str().map(PathBuf::from).filter(|path| path.is_absolute()) {
                        Some(path) if ["path", "installPath", "installLocation"].contains(&key.as_str()) => {
                            found.push(path);
                        }
                        _ => folders(value, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| folders(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    let list = settings_file::read_text(list).and_then(|text| serde_json::from_str::<Value>(&text).ok());
    folders(&list.unwrap_or_default(), &mut found);
    let hooks = ["hooks/hooks.json", "plugin/hooks/hooks.json"];
    found
        .iter()
        .flat_map(|folder| hooks.map(|file| folder.join(file)))
        .filter(|file| file.is_file())
        .collect()
}

/// `*` is any name.
fn find_below<'a>(folder: &Path, patterns: impl Iterator<Item = &'a str>) -> Vec<PathBuf> {
    let files = patterns.flat_map(|pattern| {
        pattern.split('/').fold(vec![folder.to_owned()], |folders, part| match part.split_once('*') {
            None => folders.into_iter().map(|folder| folder.join(part)).collect(),
            Some((before, after)) => {
                folders.iter().flat_map(|folder| list_names(folder, before, after)).collect()
            }
        })
    });
    files.filter(|file| file.is_file()).collect()
}

fn list_names(folder: &Path, before: &str, after: &str) -> Vec<PathBuf> {
    /// More entries than this are not a list of plugins.
    const MOST: usize = 4096;
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST).map(|entry| entry.path());
    let fits = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(before) && name.ends_with(after)
    };
    let mut fitting: Vec<PathBuf> = entries.filter(fits).collect();
    fitting.sort();
    fitting
}

fn without_repeats(files: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for file in files {
        if !kept.contains(&file) {
            kept.push(file);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn transcripts_are_counted_by_their_names() {
        let home = tempfile::tempdir().unwrap();
        for file in [
            ".claude/projects/-p-shop/s1.jsonl",
            ".claude/projects/-p-shop/agent-a1.jsonl",
            ".claude/projects/-p-shop/s1/subagents/agent-a2.jsonl",
            ".claude/projects/-p-other/s2.jsonl",
            ".copilot/session-state/s3/events.jsonl",
            ".copilot/session-state/s3/notes.jsonl",
            "moved/sessions/2026/11/15/rollout-1.jsonl",
            ".codex/sessions/2026/11/15/rollout-2.jsonl",
        ] {
            let file = home.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let homes = AgentHomes {
            home: Some(home.path().to_owned()),
            client: Some(home.path().join(".claude")),
            moved: vec![(".codex", home.path().join("moved"))],
        };
        assert_eq!(homes.count_transcripts(&mut |_| true), 4);
        assert_eq!(homes.count_transcripts_of(Path::new("/p/shop"), &mut |_| true), 1);
        assert_eq!(homes.transcript_folders().len(), 3);
        assert_eq!(AgentHomes::default().count_transcripts(&mut |_| true), 0);
    }

    #[test]
    fn copies_are_found_wherever_agents_put_them() {
        let home = tempfile::tempdir().unwrap();
        let files = [
            ".codex/plugins/cache/market/tidegate/0.1.0/hooks/hooks.json",
            ".qwen/extensions/tidegate/hooks/hooks.json",
            ".claude/plugins/cache/market/tidegate/0.1.0/hooks/hooks.json",
            ".claude/plugins/cache/market/tidegate/0.1.0/hooks/other.json",
            ".copilot/hooks/a.json",
            ".copilot/hooks/a.txt",
            ".gemini/settings.json",
        ];
        for file in files {
            let path = home.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        let shown = |paths: Vec<PathBuf>| -> Vec<String> {
            let short =
                |path: PathBuf| path.strip_prefix(home.path()).unwrap().to_string_lossy().into_owned();
            paths.into_iter().map(short).collect()
        };
        let homes = AgentHomes {
            home: Some(home.path().to_owned()),
            client: Some(home.path().join(".claude")),
            moved: Vec::new(),
        };
        assert_eq!(shown(homes.plugin_copies()), files[..3]);
        // A project that is the home directory names each file once.
        assert_eq!(shown(homes.settings_of_others(Some(home.path()))), [files[6], files[4]]);
        fs::write(home.path().join(".claude/plugins/cache/market/tidegate/0.1.0/.orphaned_at"), "").unwrap();
        assert_eq!(shown(homes.plugin_copies()), files[..2]);
        let checkout = home.path().join("checkout");
        fs::create_dir_all(checkout.join("plugin/hooks")).unwrap();
        fs::write(checkout.join("plugin/hooks/hooks.json"), "{}").unwrap();
        let list = json!({ "extraKnownMarketplaces": { "t": { "source": { "source": "directory", "path": checkout } } } });
        fs::write(home.path().join(".copilot/settings.json"), list.to_string()).unwrap();
        assert_eq!(shown(homes.plugins_in_place()), ["checkout/plugin/hooks/hooks.json"]);
        let moved = vec![(".codex", home.path().join(".codex"))];
        let homes = AgentHomes { moved, ..AgentHomes::default() };
        assert_eq!(shown(homes.plugin_copies()), files[..1]);
    }
}

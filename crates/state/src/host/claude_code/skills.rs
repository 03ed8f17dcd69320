//! Skills and commands that Claude Code can find.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_core::text::skill_name::OWN_PREFIX;

use crate::file::bounded;

/// More than this is not a skill.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Folders with `skills` and `commands` in them: of the project, of the person, of Tidegate's plugin.
pub fn folders(project: Option<&Path>, host: Option<&Path>, plugin: Option<&Path>) -> Vec<PathBuf> {
    let project = project.map(|project| project.join(".claude"));
    [project.as_deref(), host, plugin].into_iter().flatten().map(Path::to_owned).collect()
}

/// True for `plugin:name`: plugins keep their skills in places of their own. Commands are invoked like skills.
pub fn is_installed(name: &str, folders: &[PathBuf], host: Option<&Path>) -> bool {
    if name.contains(['/', '\\', ':']) {
        return true;
    }
    let own = format!("{OWN_PREFIX}{name}");
    let is_in =
        |folder: &PathBuf| has_skill(folder, name) || has_command(folder, name) || has_skill(folder, &own);
    folders.iter().any(is_in) || host.is_some_and(|host| plugin_folders(host).iter().any(is_in))
}

/// The name of one of Tidegate's skills here: the longer one, if `init` had to give it that.
pub fn invocable_name(name: &str, folders: &[PathBuf]) -> String {
    let own = format!("{OWN_PREFIX}{name}");
    if folders.iter().any(|folder| has_skill(folder, &own)) { own } else { name.to_owned() }
}

/// Whether the client runs it in an agent of its own (`context: fork`). Its built-in skills have no file to look at.
pub fn runs_in_agent(name: &str, folders: &[PathBuf], host: Option<&Path>) -> bool {
    let (plugin, name) = name.split_once(':').map_or((None, name), |(plugin, name)| (Some(plugin), name));
    if name.contains(['/', '\\', ':']) || name.starts_with('.') {
        return false;
    }
    let of_plugins = || host.map(plugin_folders).unwrap_or_default();
    // A plugin's name is not always that of its folder, so every plugin counts.
    let mut places = if plugin.is_some() { of_plugins() } else { Vec::new() };
    places.extend(folders.iter().cloned());
    let forks = |folder: &PathBuf| {
        let files =
            [folder.join("skills").join(name).join("SKILL.md"), folder.join(format!("commands/{name}.md"))];
        files.iter().any(|file| bounded::read(file, LARGEST).is_ok_and(|text| forks_by_head(&text)))
    };
    places.iter().any(forks)
}

/// By the lines between `---` at the beginning.
fn forks_by_head(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return false;
    }
    lines.take_while(|line| line.trim_end() != "---").any(|line| {
        let value = line.strip_prefix("context:").map(|value| value.split(" #").next().unwrap_or_default());
        value.is_some_and(|value| value.trim().trim_matches(['"', '\'']) == "fork")
    })
}

/// An empty file is not a skill.
pub fn has_skill(folder: &Path, name: &str) -> bool {
    has_text(&folder.join("skills").join(name).join("SKILL.md"))
}

pub fn has_command(folder: &Path, name: &str) -> bool {
    has_text(&folder.join("commands").join(format!("{name}.md")))
}

fn has_text(path: &Path) -> bool {
    bounded::read(path, LARGEST).is_ok_and(|text| !text.trim_ascii().is_empty())
}

/// From the client's own list. Its form has changed over time: an entry per plugin, or a list of them.
fn plugin_folders(host: &Path) -> Vec<PathBuf> {
    let list = bounded::read(&host.join("plugins/installed_plugins.json"), LARGEST).unwrap_or_default();
    let list: Value = serde_json::from_slice(&list).unwrap_or_default();
    let plugins = list.get("plugins").unwrap_or(&list).as_object().into_iter().flatten();
    let entries = plugins.flat_map(|(_, entry)| match entry {
        Value::Array(entries) => entries.as_slice(),
        entry => std::slice::from_ref(entry),
    });
    entries.filter_map(|entry| Some(PathBuf::from(entry.get("installPath")?.as_str()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_skill_is_found_wherever_the_client_finds_it() {
        let base = tempfile::tempdir().unwrap();
        let at = |path: &str| base.path().join(path);
        let put = |path: &str, text: &str| {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), text).unwrap();
        };
        put("p/.claude/skills/of-project/SKILL.md", "x");
        put("p/.claude/skills/empty/SKILL.md", " \n");
        put("p/.claude/commands/typed.md", "x");
        put("host/skills/of-person/SKILL.md", "x");
        put("market/one/skills/of-plugin/SKILL.md", "x");
        let list = serde_json::json!({ "plugins": { "one@market": [{ "installPath": at("market/one") }] } });
        put("host/plugins/installed_plugins.json", &list.to_string());
        let (project, host) = (at("p"), at("host"));
        let places = folders(Some(&project), Some(&host), None);
        let found = |name: &str| is_installed(name, &places, Some(&host));
        for name in ["of-project", "typed", "of-person", "of-plugin", "another:one"] {
            assert!(found(name), "{name}");
        }
        put("p/.claude/skills/tidegate-ship/SKILL.md", "x");
        assert!(found("ship"), "under the name that `init` gave it");
        assert_eq!(["ship", "audit"].map(|name| invocable_name(name, &places)), ["tidegate-ship", "audit"]);
        for name in ["empty", "none"] {
            assert!(!found(name), "{name}");
        }
    }

    #[test]
    fn a_skill_that_runs_in_an_agent_says_so_in_its_head() {
        let base = tempfile::tempdir().unwrap();
        let at = |path: &str| base.path().join(path);
        let put = |path: &str, text: &str| {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), text).unwrap();
        };
        put("p/.claude/skills/plain/SKILL.md", "---\nname: plain\n---\ncontext: fork\n");
        put("p/.claude/skills/nested/SKILL.md", "---\nmetadata:\n  context: fork\n---\n");
        put("p/.claude/skills/headless/SKILL.md", "context: fork\n");
        put("p/.claude/skills/forked/SKILL.md", "---\nname: forked\ncontext: fork\nagent: Explore\n---\nx\n");
        put("p/.claude/commands/typed.md", "---\r\ncontext: \"fork\" # apart\r\n---\r\nx\r\n");
        put("market/one/skills/deep/SKILL.md", "---\ncontext: fork\n---\nx\n");
        let list = serde_json::json!({ "plugins": { "one@market": [{ "installPath": at("market/one") }] } });
        put("host/plugins/installed_plugins.json", &list.to_string());
        let (project, host) = (at("p"), at("host"));
        let places = folders(Some(&project), Some(&host), None);
        let forks = |name: &str| runs_in_agent(name, &places, Some(&host));
        for name in ["forked", "typed", "one:deep"] {
            assert!(forks(name), "{name}");
        }
        for name in ["plain", "nested", "headless", "none", "deep", "../skills/forked", ""] {
            assert!(!forks(name), "{name}");
        }
    }
}

//! Skills and commands that Claude Code can find.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_core::text::skill_name::OWN_PREFIX;
use tidegate_core::text::yaml;

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
    let is_safe = |part: &str| !part.is_empty() && !part.contains(['/', '\\']) && !part.starts_with('.');
    // Blanks around a name are no obstacle for the client.
    let name = name.trim();
    let parts: Vec<&str> = name.strip_prefix('/').unwrap_or(name).split(':').map(str::trim).collect();
    let below = if parts.len() > 1 { &parts[1..] } else { &parts[..] };
    if !below.iter().copied().all(is_safe) {
        return false;
    }
    let command = |parts: &[&str]| Path::new("commands").join(format!("{}.md", parts.join("/")));
    let mut files = vec![command(below)];
    if let [name] = below {
        files.push(Path::new("skills").join(name).join("SKILL.md"));
    }
    // A plugin's name is not always that of its folder, so every plugin counts. The first part can also be a folder of commands.
    let mut places = Vec::new();
    if parts.len() > 1 {
        places = host.map(plugin_folders).unwrap_or_default();
        if is_safe(parts[0]) {
            files.push(command(&parts));
        }
    }
    places.extend(folders.iter().cloned());
    places.iter().any(|folder| files.iter().any(|file| forks(&folder.join(file))))
}

/// Also if the file is there but cannot be read, or is too large: nothing shows that the skill stays in this session.
fn forks(file: &Path) -> bool {
    match bounded::read(file, LARGEST) {
        Ok(text) => forks_by_head(&text),
        Err(_) => fs::metadata(file).err().is_none_or(|error| error.kind() == ErrorKind::PermissionDenied),
    }
}

/// By the YAML between `---` at the beginning. The client may read more than [`yaml`] does, so a head that is not readable, has a
/// merged map or an unusual value does not show that the skill stays in this session.
fn forks_by_head(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let Some(head) = head(&text) else { return false };
    if head.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return false;
    }
    let Ok(head) = yaml::parse(head) else { return true };
    head.entries().iter().any(|(key, value)| match key.key().map(str::trim) {
        Some("context") if value.is_nothing() => false,
        Some("context") => value.text().is_none_or(|text| text.trim().eq_ignore_ascii_case("fork")),
        Some("<<") | None => true,
        Some(_) => false,
    })
}

/// Up to the line that ends it, or to the end.
fn head(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(|c: char| c == '\u{feff}' || c.is_whitespace());
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            break;
        }
        end += line.len();
    }
    Some(&rest[..end])
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
        put("p/.claude/skills/quoted/SKILL.md", "---\n\"context\": fork\n---\n");
        put("p/.claude/skills/spaced/SKILL.md", "---\ncontext : 'fork'\n---\n");
        put("p/.claude/skills/flow/SKILL.md", "---\n{name: fl, context: fork}\n---\nx\n");
        put("p/.claude/skills/folded/SKILL.md", "---\nname: f\ncontext: >-\n  fork\n---\nx\n");
        put("p/.claude/skills/literal/SKILL.md", "---\ncontext: |\n  fork\n---\nx\n");
        put("p/.claude/skills/anchored/SKILL.md", "---\nx: &a fork\ncontext: *a\n---\nx\n");
        put("p/.claude/skills/merged/SKILL.md", "---\n<<: {context: fork}\n---\nx\n");
        put("p/.claude/skills/tagged/SKILL.md", "---\n? !!str context\n: !!str fork\n---\nx\n");
        put("p/.claude/skills/listed/SKILL.md", "---\ncontext: [fork]\n---\nx\n");
        put("p/.claude/skills/escaped/SKILL.md", "---\n\"con\\x74ext\": \"for\\x6b\"\n---\nx\n");
        put("p/.claude/skills/twice/SKILL.md", "---\ncontext: here\ncontext: fork\n---\nx\n");
        put("p/.claude/skills/not yaml/SKILL.md", "---\ndescription: Use this: always\n---\nx\n");
        put("p/.claude/skills/endless/SKILL.md", "---\ncontext: fork\n");
        put("p/.claude/skills/late/SKILL.md", "\n---\ncontext: fork\n---\n");
        put("p/.claude/skills/with a blank/SKILL.md", "---\ncontext: fork\n---\n");
        put("p/.claude/skills/empty-head/SKILL.md", "---\n# nothing\n---\nx\n");
        put("p/.claude/skills/inline/SKILL.md", "---\ncontext: inline\n---\nx\n");
        put("p/.claude/skills/null/SKILL.md", "---\ncontext:\n---\nx\n");
        put("p/.claude/skills/large/SKILL.md", &"x".repeat(LARGEST as usize + 1));
        fs::create_dir_all(at("p/.claude/skills/unreadable/SKILL.md")).unwrap();
        put("p/.claude/commands/sub/inner.md", "---\ncontext: fork\n---\n");
        put("p/.claude/commands/sub/deeper/inmost.md", "---\ncontext: fork\n---\n");
        put("market/one/commands/ops/roll.md", "---\ncontext: fork\n---\n");
        let list = serde_json::json!({ "plugins": { "one@market": [{ "installPath": at("market/one") }] } });
        put("host/plugins/installed_plugins.json", &list.to_string());
        let (project, host) = (at("p"), at("host"));
        let places = folders(Some(&project), Some(&host), None);
        let forks = |name: &str| runs_in_agent(name, &places, Some(&host));
        for name in [
            "forked",
            "typed",
            "one:deep",
            "quoted",
            "spaced",
            "flow",
            "folded",
            "literal",
            "anchored",
            "merged",
            "tagged",
            "listed",
            "escaped",
            "twice",
            "not yaml",
            "endless",
            "late",
            "with a blank",
            " with a blank",
            "forked ",
            " /forked",
            "one: deep ",
            "sub : inner",
            "large",
            "unreadable",
            "sub:inner",
            "sub:deeper:inmost",
            "one:ops:roll",
        ] {
            assert!(forks(name), "{name}");
        }
        for name in [
            "plain",
            "empty-head",
            "inline",
            "null",
            "nested",
            "headless",
            "none",
            "deep",
            "../skills/forked",
            "",
            "..:x",
            "sub:",
            "sub:plain",
        ] {
            assert!(!forks(name), "{name}");
        }
    }
}
